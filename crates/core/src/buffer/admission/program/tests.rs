//! Programs at a port of their own: their decisions, and those that are refused.

use super::*;
use crate::buffer::admission::tests::PolicyBench;
use crate::language::spec::Field;
use crate::language::tree::Node;
use crate::program::code::Type;
use crate::serde_json::{Value as Json, json};
use crate::units::ids::{CircuitId, PortVc, QueueId};

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

fn bench(code: &[&str], keys: &Json) -> PolicyBench<Policy> {
    let params = params(code, keys);
    PolicyBench::new(8, 2, move |context| Policy::new(&params, context))
}

/// Return the reason why a program is refused.
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
    assert_eq!(bench.policy.kept.state, [Word::int(3)]);
}

#[test]
fn the_state_that_trace_names_is_shown_as_figures_and_other_names_are_refused() {
    let code = ["r0 = state.all", "r1 = 1", "r0 = r0 + r1", "state.all = r0", "accept"];
    let state = json!({ "all": 0, "share": 0.5, "on": true });
    let mut bench = bench(
        &code,
        &json!({ "asks": "unit", "state": state, "per_queue": { "least": 7 }, "trace": ["least", "on", "all"] }),
    );
    bench.offer(0, "11");
    let figures = bench.policy.state();
    let shown: Vec<(&str, Option<usize>, f64)> =
        figures.iter().map(|figure| (&*figure.name, figure.queue, figure.value)).collect();
    let expected = [("on", None, 1.0), ("all", None, 2.0), ("least", Some(0), 7.0), ("least", Some(1), 7.0)];
    assert_eq!(shown, expected);
    let keys = json!({ "state": state, "per_vc": { "seen": 0 }, "trace": ["seen"] });
    let allowed = "must name state of the port or of queues, not \"seen\" (it has: all, share, on)";
    assert!(refused(&["accept"], &keys).contains(allowed), "{}", refused(&["accept"], &keys));
    let twice = refused(&["accept"], &json!({ "state": state, "trace": ["on", "on"] }));
    assert!(twice.contains("must name \"on\" once, not twice"), "{twice}");
}

#[test]
fn a_mark_is_for_units_whose_transport_reacts_to_marks() {
    let code = ["mark early"];
    for asks in ["frame", "unit"] {
        assert_eq!(bench(&code, &json!({ "asks": asks })).offer(0, "1"), "r", "it does not react");
    }
}

/// Compute an expression of two registers; the error says why the run fails.
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
        None => Ok(bench.policy.kept.state[0].shown(if is_float { Type::Float } else { Type::Int })),
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
fn instruction(draw: &mut crate::rng::Stream) -> String {
    const WORDS: [&str; 28] = [
        "r0", "r1", "r2", "r300", "=", "=", "=", "+", "//", "**", "jump", "unless", "0", "1", "-1", "1e999",
        "accept", "refuse", "mark", "x.total", "x.", "params.a", "state.a", "draw", "end", "queue.a",
        "x.waited", "x.queue",
    ];
    let words = 1 + draw.up_to(5);
    (0..words).map(|_| WORDS[draw.up_to(27) as usize]).collect::<Vec<_>>().join(" ")
}

#[test]
fn any_text_as_code_runs_or_is_refused_with_a_message() {
    let mut draw = crate::rng::Stream::new(1, "hostile");
    for _ in 0..2000 {
        let code: Vec<String> = (0..1 + draw.up_to(6)).map(|_| instruction(&mut draw)).collect();
        let end_with = |end: &'static str| code.iter().map(String::as_str).chain([end]).collect::<Vec<_>>();
        let tick = json!({ "every": "1 ms", "code": end_with("end") });
        let keys = [json!({}), json!({ "at_head": end_with("accept") }), json!({ "tick": tick })];
        let (code, mut keys) = (
            if draw.chance(0.5) { end_with("accept") } else { vec!["accept"] },
            keys[draw.up_to(2) as usize].clone(),
        );
        (keys["asks"], keys["per_queue"]) = ("unit".into(), json!({ "a": 0 }));
        match Policy::new(&params(&code, &keys), &Context::alone(8, 2)) {
            Ok(_) => {
                let mut bench = bench(&code, &keys);
                bench.offer(0, "f..e");
                bench.tick(Time(1_000_000_000));
                head(&mut bench.policy, 1, '1');
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

/// A unit of circuit 0 that has waited since time zero, at the head of queue 1.
fn head(policy: &mut Policy, now: u64, cell: char) -> HeadVerdict {
    let flags = crate::unit::Flags::spelled(cell);
    let unit =
        crate::unit::Unit { vc: CircuitId(0), frame: 0, identity: 0, index: 0, bytes: 53, hop: 0, flags };
    let mut pool: Pool = Pool::new(Context::alone(8, 2).capacity, 2);
    pool.add(PortVc(0), 1);
    let (now, arrived) = (Time(now), Some(Time::ZERO));
    policy.at_head(&Head {
        now,
        arrived,
        unit: &unit,
        queue: QueueId(1),
        vc: PortVc(0),
        size: 1,
        behind: 500,
        pool: &pool,
    })
}

/// Discard units that have waited for more than a second, and record their queue.
const LATE: [&str; 8] = [
    "r0 = x.waited",
    "r1 = 1.0",
    "r2 = r0 > r1",
    "unless r2 jump 7",
    "r3 = x.waiting",
    "queue.behind = r3",
    "refuse delay",
    "accept",
];

#[test]
fn a_function_at_the_head_discards_a_unit_or_with_it_its_frame() {
    const SECOND: u64 = 1_000_000_000_000;
    for (asks, rest) in [("frame", HeadVerdict::Discard(Reason::Partial)), ("unit", HeadVerdict::Send)] {
        let keys = json!({ "asks": asks, "at_head": LATE, "per_queue": { "behind": 0 } });
        let policy = &mut bench(&["accept"], &keys).policy;
        assert_eq!(head(policy, SECOND, '1'), HeadVerdict::Send, "{asks}");
        assert_eq!(head(policy, SECOND + 1, 'f'), HeadVerdict::Discard(Reason::Delay), "{asks}");
        assert_eq!(head(policy, SECOND, '.'), rest, "{asks}");
        assert_eq!(policy.kept.per_queue, [Word::int(0), Word::int(500)], "{asks}");
    }
}

#[test]
fn a_clock_runs_at_its_times_once_or_for_each_queue() {
    let count = |scope: &str| {
        let (load, store) = (format!("r0 = {scope}.n"), format!("{scope}.n = r0"));
        json!({ "every": "2 ms", "code": [load, "r1 = 1", "r0 = r0 + r1", store, "end"] })
    };
    let (two, four) = (Time(2_000_000_000), Time(4_000_000_000));
    let mut of_port = bench(&["accept"], &json!({ "state": { "n": 5 }, "tick": count("state") }));
    assert_eq!((of_port.tick(Time::ZERO), of_port.tick(two)), (Some(two), Some(four)));
    assert_eq!(of_port.policy.kept.state, [Word::int(6)]);
    let mut of_queues = bench(&["accept"], &json!({ "per_queue": { "n": 5 }, "tick": count("queue") }));
    of_queues.tick(two);
    assert_eq!(of_queues.policy.kept.per_queue, [Word::int(6); 2]);
}

#[test]
fn a_function_names_itself_where_it_fails() {
    let failing = ["r0 = 1", "r1 = 0", "r0 = r0 // r1"];
    let tick = json!({ "every": "1 ms", "code": [failing[0], failing[1], failing[2], "end"] });
    let mut clock = bench(&["accept"], &json!({ "tick": tick }));
    clock.tick(Time(1_000_000_000));
    let why = &clock.policy.failure().unwrap().why;
    assert!(why.starts_with("instruction 2 of \"program\", tick: a divisor must not be 0"), "{why}");
    let at_head = json!({ "file": "other.py", "lines": [3, 3, 4, 5] });
    let source = json!({ "file": "mine.py", "lines": [1], "at_head": at_head });
    let head_code = [failing[0], failing[1], failing[2], "accept"];
    let policy = &mut bench(&["accept"], &json!({ "at_head": head_code, "source": source })).policy;
    assert_eq!(head(policy, 1, '1'), HeadVerdict::Send, "the run has no result, but goes on");
    assert!(policy.failure().unwrap().why.starts_with("other.py:4: a divisor"), "{:?}", policy.failure());
}

#[test]
fn a_function_sees_only_what_there_is_when_it_is_called() {
    let tick = |code: &[&str]| json!({ "tick": { "every": "1 ms", "code": code }, "per_vc": { "n": 0 }, "state": { "m": 0 } });
    let head = |code: &[&str]| json!({ "at_head": code });
    let mut both = tick(&["r0 = state.m", "state.m = r0", "end"]);
    both["per_queue"] = json!({ "q": 0 });
    let mut short = tick(&["end"]);
    short["tick"]["every"] = json!("1 ns");
    let cases = [
        (
            tick(&["r0 = x.own", "end"]),
            "tick: instruction 0, \"r0 = x.own\": a clock has neither a unit nor a circuit",
        ),
        (tick(&["r0 = vc.n", "end"]), "a clock has no circuit"),
        (tick(&["accept"]), "must end every path with end"),
        (both, "the clock runs once for each queue and can assign queue.NAME only"),
        (short, "every must be at least 1 us"),
        (head(&["r0 = x.every", "accept"]), "only the function of a clock can look at this"),
        (head(&["end"]), "at_head: instruction 0, \"end\": must end every path with accept, refuse or mark"),
        (head(&["r0 = x.fits", "accept"]), "a unit at the head is in the buffer already"),
        (head(&["r0 = x.index", "accept"]), "cannot look at units within it"),
        (json!({ "at_head": ["accept"], "looks_at": "own" }), "looks_at: must be \"queues\""),
    ];
    for (keys, expected) in cases {
        let why = refused(&["accept"], &keys);
        assert!(why.contains(expected), "{keys}: {why}");
    }
    assert!(refused(&["r0 = x.waited", "accept"], &json!({})).contains("only at_head can look at this"));
}

#[test]
fn a_parameter_beyond_its_limits_is_refused() {
    let code = ["r0 = params.weight", "r1 = params.wait", "r2 = params.on", "accept"];
    let limited = |weight: Json, wait: &str, limits: Json| {
        let params = json!({ "weight": weight, "wait": wait, "on": true });
        let keys = json!({ "params": params, "limits": limits });
        Policy::new(&self::params(&code, &keys), &Context::alone(8, 2)).map(drop)
    };
    let both = || json!({ "weight": { "low": -1, "high": 1 }, "wait": { "high": 0.5 } });
    assert_eq!(limited(json!(1), "500 ms", both()), Ok(()));
    let cases = [
        (limited(json!(2), "5 ms", both()), "params: weight must be at most 1, not 2"),
        (limited(json!(-1.5), "5 ms", both()), "params: weight must be at least -1, not -1.5"),
        (limited(json!(0), "600 ms", both()), "params: wait must be at most 0.5, not 0.6"),
        (
            limited(json!(0), "5 ms", json!({ "wieght": {} })),
            "limits: unknown parameter \"wieght\"; did you mean",
        ),
        (limited(json!(0), "5 ms", json!({ "on": { "low": 0 } })), "limits: on must have none"),
    ];
    for (found, expected) in cases {
        let why = found.unwrap_err().to_string();
        assert!(why.contains(expected), "{why}");
    }
}
