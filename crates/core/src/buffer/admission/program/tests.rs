//! Programs at a port of their own: what they decide, and which are refused.

use super::*;
use crate::buffer::admission::tests::Bench;
use crate::language::spec::Field;
use crate::language::tree::Node;
use crate::serde_json::{Value as Json, json};

/// The parameters of a program, with these keys beside its code.
fn params(code: &[&str], keys: &Json) -> Params {
    let mut table = json!({ "policy": "program", "code": code });
    table.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    let text = json!({ "admission": table }).to_string();
    let root = crate::language::read::read(&text, crate::language::read::Format::Json).unwrap();
    match super::super::Spec::read(root.get("admission").unwrap(), "admission").unwrap() {
        super::super::Spec::Program(params) => params,
        _ => unreachable!("it asks for a program"),
    }
}

fn bench(code: &[&str], keys: &Json) -> Bench<Policy> {
    let params = params(code, keys);
    Bench::new(8, 2, move |context| Policy::new(&params, context))
}

/// Why a program is refused.
fn refused(code: &[&str], keys: &Json) -> String {
    Policy::new(&params(code, keys), &Context::alone(8, 2)).unwrap_err().to_string()
}

const EPD: [&str; 6] =
    ["r0 = x.total", "r1 = params.threshold", "r2 = r0 >= r1", "unless r2 jump 5", "refuse", "accept"];

#[test]
fn a_program_asked_by_the_frame_decides_at_its_first_unit_and_the_frame_rule_about_the_rest() {
    let mut bench = bench(&EPD, &json!({ "params": { "threshold": "50 %" } }));
    assert_eq!(bench.offer(0, "f..e"), "AAAA");
    assert_eq!(bench.offer(1, "f..e"), "rrrr");
    bench.depart(0);
    assert_eq!(bench.offer(1, "f....e"), "AAAAAo");
}

#[test]
fn a_program_asked_by_the_unit_decides_about_each() {
    let mut bench = bench(&EPD, &json!({ "asks": "unit", "params": { "threshold": 2 } }));
    assert_eq!(bench.offer(0, "f..e"), "AArr");
}

#[test]
fn state_is_kept_for_the_port_and_for_each_circuit() {
    let code = [
        "r0 = vc.frames",
        "r1 = 1",
        "r0 = r0 + r1",
        "vc.frames = r0",
        "r2 = state.all",
        "r2 = r2 + r1",
        "state.all = r2",
        "r3 = r0 > r1",
        "unless r3 jump 10",
        "refuse random",
        "accept",
    ];
    let mut bench = bench(&code, &json!({ "state": { "all": 0 }, "per_vc": { "frames": 0 } }));
    assert_eq!(
        (bench.offer(0, "1"), bench.offer(1, "1"), bench.offer(1, "1")),
        ("A".into(), "A".into(), "m".into())
    );
    assert_eq!(bench.policy.state, [Word::int(3)]);
}

#[test]
fn a_mark_is_for_units_whose_transport_reacts_to_marks() {
    let code = ["mark early"];
    for asks in ["frame", "unit"] {
        assert_eq!(bench(&code, &json!({ "asks": asks })).offer(0, "1"), "r", "it does not react");
    }
}

/// What an expression of two registers gives, or why the run fails.
fn value(left: &str, operator: &str, right: &str) -> Result<String, String> {
    let (left, right) = (format!("r0 = {left}"), format!("r1 = {right}"));
    let expression = match operator {
        "min" | "max" => format!("r2 = {operator} r0 r1"),
        _ => format!("r2 = r0 {operator} r1"),
    };
    let is_float = left.contains('.');
    let code = [left.as_str(), &right, &expression, "state.result = r2", "accept"];
    let initial = if is_float { json!(0.0) } else { json!(0) };
    let mut bench = bench(&code, &json!({ "asks": "unit", "state": { "result": initial } }));
    bench.offer(0, "1");
    match bench.policy.failure() {
        Some(failure) => Err(failure.why.clone()),
        None => Ok(bench.policy.state[0].shown(if is_float { code::Type::Float } else { code::Type::Int })),
    }
}

#[test]
fn quotients_and_remainders_are_those_of_python() {
    let cases = [
        ("7", "//", "-2", "-4"),
        ("-7", "//", "2", "-4"),
        ("-7", "%", "3", "2"),
        ("7", "%", "-3", "-2"),
        ("6", "//", "-2", "-3"),
        ("-7.5", "//", "2.0", "-4.0"),
        ("-7.5", "%", "2.0", "0.5"),
        ("7.5", "%", "-2.0", "-0.5"),
        ("-0.0", "//", "1.0", "-0.0"),
        ("2", "**", "10", "1024"),
        ("2.0", "**", "0.5", "1.4142135623730951"),
        ("3", "min", "-3", "-3"),
        ("3.5", "max", "-3.0", "3.5"),
    ];
    for (left, operator, right, expected) in cases {
        assert_eq!(value(left, operator, right).as_deref(), Ok(expected), "{left} {operator} {right}");
    }
}

#[test]
fn what_cannot_be_computed_fails_with_its_place_and_values() {
    let cases = [
        ("5", "//", "0", "a divisor must not be 0: quotient of 5 and 0"),
        ("-9223372036854775808", "//", "-1", "an integer of 64 bits cannot hold the result"),
        ("-9223372036854775808", "%", "-1", "an integer of 64 bits cannot hold the result"),
        (
            "9223372036854775807",
            "+",
            "1",
            "an integer of 64 bits cannot hold the result of 9223372036854775807 and 1",
        ),
        ("3", "**", "-1", "an integer of 64 bits cannot hold the result"),
        ("1.5", "/", "0.0", "a divisor must not be 0"),
        ("-2.0", "**", "0.5", "no number is the result of -2.0 and 0.5"),
    ];
    for (left, operator, right, expected) in cases {
        let why = value(left, operator, right).unwrap_err();
        assert!(why.contains(expected), "{left} {operator} {right}: {why}");
        assert!(why.starts_with("instruction 2 of \"program\": "), "{why}");
    }
}

#[test]
fn a_program_that_has_failed_names_the_line_of_its_source() {
    let source = json!({ "file": "my_epd.py", "lines": [4, 5, 6, 7] });
    let code = ["r0 = 1", "r1 = x.index", "r0 = r0 // r1", "accept"];
    let mut bench = bench(&code, &json!({ "asks": "unit", "source": source }));
    assert_eq!(bench.offer(0, "1"), "A", "the run has no result, but goes on");
    assert!(bench.policy.failure().unwrap().why.starts_with("my_epd.py:6: a divisor must not be 0"));
}

#[test]
fn a_program_that_could_go_wrong_is_refused_with_the_instruction() {
    let none = json!({});
    let long = vec!["r0 = 1"; 2000];
    let cases: [(&[&str], &str); 19] = [
        (&[], "code: must have 1 to 1024 instructions, not 0"),
        (&long, "code: must have 1 to 1024 instructions, not 2000"),
        (&["r0 = 1"], "must end every path with accept, refuse or mark"),
        (&["jump 0"], "a jump must lead forward"),
        (&["jump 7", "accept"], "one of the instructions 1 to 1, not 7"),
        (&["accept", "accept"], "instruction 1, \"accept\": must be reachable"),
        (&["r0 = r1", "accept"], "r1 must be assigned on every path before it is read"),
        (
            &["r0 = true", "unless r0 jump 3", "r1 = 1", "r2 = r1", "accept"],
            "r1 must be assigned on every path",
        ),
        (&["r0 = 1", "r0 = 2.0", "accept"], "r0 must be int, not float"),
        (&["r0 = 1", "r1 = 2.0", "r2 = r0 + r1", "accept"], "the right side must be int, not float"),
        (&["r0 = 1", "unless r0 jump 2", "accept"], "the condition must be bool, not int"),
        (&["r0 = x.totl", "accept"], "unknown attribute \"totl\"; did you mean \"total\"?"),
        (&["r0 = params.alpha", "accept"], "unknown parameter \"alpha\""),
        (&["r0 = state.alpha", "accept"], "unknown state \"alpha\""),
        (&["r0 = 1", "r1 = r0 / r0", "accept"], "takes floats; convert with `float`, or use `//`"),
        (&["r256 = 1", "accept"], "a register must be one of r0 to r255, not \"r256\""),
        (&["r0 = 99999999999999999999", "accept"], "an integer of 64 bits or a finite float"),
        (&["r0 = x.index", "accept"], "a program asked once a frame cannot look at units within it"),
        (&["r0 = import os", "accept"], "unknown function \"import\""),
    ];
    for (code, expected) in cases {
        let why = refused(code, &none);
        assert!(why.contains(expected), "{code:?}: {why}");
    }
}

#[test]
fn names_types_and_what_it_looks_at_are_checked() {
    let cases = [
        (json!({ "params": { "treshold": 5 } }), "params: unknown parameter \"treshold\""),
        (json!({ "looks_at": "total" }), "looks_at: must be \"own\""),
        (
            json!({ "source": { "file": "a.py", "lines": [1] } }),
            "source: must have a line for each of 2 instructions",
        ),
    ];
    for (keys, expected) in cases {
        let why = refused(&["r0 = x.own", "accept"], &keys);
        assert!(why.contains(expected), "{keys}: {why}");
    }
    let why = refused(&["r0 = 1.5", "state.n = r0", "accept"], &json!({ "state": { "n": 0 } }));
    assert!(why.contains("n must be int, not float"), "{why}");
}

/// A random text that resembles an instruction.
fn instruction(draw: &mut Stream) -> String {
    const WORDS: [&str; 24] = [
        "r0", "r1", "r2", "r300", "=", "=", "=", "+", "//", "**", "jump", "unless", "0", "1", "-1", "1e999",
        "accept", "refuse", "mark", "x.total", "x.", "params.a", "state.a", "draw",
    ];
    let words = 1 + draw.up_to(5);
    (0..words).map(|_| WORDS[draw.up_to(23) as usize]).collect::<Vec<_>>().join(" ")
}

#[test]
fn any_text_as_code_runs_or_is_refused_with_a_message() {
    let mut draw = Stream::new(1, "hostile");
    for _ in 0..2000 {
        let code: Vec<String> = (0..1 + draw.up_to(6)).map(|_| instruction(&mut draw)).collect();
        let code: Vec<&str> = code.iter().map(String::as_str).chain(["accept"]).collect();
        match Policy::new(&params(&code, &json!({ "asks": "unit" })), &Context::alone(8, 2)) {
            Ok(_) => {
                bench(&code, &json!({ "asks": "unit" })).offer(0, "f..e");
            }
            Err(refused) => assert!(refused.why.len() > 20, "{code:?}: {refused}"),
        }
    }
}

#[test]
fn the_default_program_accepts_what_fits() {
    let named = Node::named("policy", "program");
    assert!(matches!(super::super::Spec::read(&named, "admission"), Ok(super::super::Spec::Program(_))));
    assert_eq!(bench(&["accept"], &json!({})).offer(0, "f..e1"), "AAAAA");
}
