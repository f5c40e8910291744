//! Programs of schedulers: their choices, and those that are refused.

use super::super::tests::Bench;
use super::*;
use crate::serde_json::{Value as Json, json};
use crate::units::ids::QueueId;

/// The parameters of a program with these keys.
fn params(keys: &Json) -> Params {
    let mut table = json!({ "policy": "program" });
    table.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    let text = json!({ "scheduler": table }).to_string();
    let root = crate::language::read::read(&text, crate::language::read::Format::Json).unwrap();
    match <super::super::Spec as crate::language::spec::Field>::read(root.get("scheduler").unwrap(), "")
        .unwrap()
    {
        super::super::Spec::ProgramScheduler(params) => params,
        _ => unreachable!("it asks for a program"),
    }
}

fn bench(keys: &Json) -> Bench<Policy> {
    let params = params(keys);
    Bench::new(&Context::alone(100, 4), move |context| Policy::new(&params, context))
}

#[test]
fn without_code_the_queue_with_the_lowest_number_is_served() {
    let mut bench = bench(&json!({}));
    bench.join(&[3, 1, 1, 2]);
    assert_eq!(bench.serve(10), [1, 1, 2, 3]);
}

#[test]
fn the_next_backlogged_queue_is_the_one_behind_or_the_first_of_all() {
    let code = ["r0 = state.last", "r0 = next_backlogged r0", "state.last = r0", "choose r0"];
    let mut bench = bench(&json!({ "state": { "last": -1 }, "code": code }));
    bench.join(&[0, 0, 0, 1, 3, 3]);
    bench.blocked.push(1);
    assert_eq!(bench.serve(4), [0, 3, 0, 3]);
    bench.blocked.clear();
    assert_eq!(bench.serve(10), [0, 1]);
}

#[test]
fn the_state_that_trace_names_is_shown_as_figures() {
    let code = ["r0 = state.last", "r0 = next_backlogged r0", "state.last = r0", "choose r0"];
    let mut bench = bench(&json!({ "state": { "last": -1 }, "trace": ["last"], "code": code }));
    bench.join(&[0, 3]);
    bench.serve(2);
    let figures = bench.policy.state();
    assert_eq!((&*figures[0].name, figures[0].value, figures.len()), ("last", 3.0, 1));
}

#[test]
fn the_longest_queue_and_the_one_with_the_least_value_are_found_the_first_of_several() {
    let mut longest = bench(&json!({ "code": ["r0 = longest", "choose r0"] }));
    longest.join(&[1, 2, 2, 3, 3]);
    assert_eq!(longest.serve(10), [2, 3, 1, 2, 3]);
    let keys = json!({
        "per_queue": { "sent": 0 },
        "code": ["r0 = least queue.sent", "choose r0"],
        "sent": ["r0 = x.queue", "r1 = queue.sent[r0]", "r2 = x.bytes", "r1 = r1 + r2", "queue.sent[r0] = r1", "end"],
    });
    let mut least = bench(&keys);
    least.join(&[0, 0, 2, 2, 2]);
    for (expected, octets) in [(0, 500), (2, 100), (2, 100), (2, 100), (0, 1)] {
        let queue = least.serve_one().unwrap();
        assert_eq!(queue, expected);
        least.policy.sent(QueueId::new(queue), octets);
    }
}

#[test]
fn a_unit_that_joins_changes_state() {
    let keys = json!({
        "per_queue": { "came": 0 },
        "joined": ["r0 = x.queue", "r1 = x.length[r0]", "queue.came[r0] = r1", "end"],
    });
    let mut bench = bench(&keys);
    bench.join(&[1, 3, 1]);
    assert_eq!(bench.policy.memory.per_queue, [0, 2, 0, 1].map(Word::int));
}

#[test]
fn a_choice_that_cannot_be_served_ends_the_run() {
    for (code, expected) in [
        (vec!["r0 = 3", "choose r0"], "must be the number of a queue that may send, not 3"),
        (vec!["r0 = 9", "r0 = x.length[r0]", "choose r0"], "there is no such queue: the number of 9"),
        (
            vec!["r0 = 0", "r0 = r0 // r0", "choose r0"],
            "instruction 1 of \"program\": a divisor must not be 0",
        ),
    ] {
        let mut bench = bench(&json!({ "code": code }));
        bench.join(&[1, 2]);
        assert_eq!(bench.serve_one(), Some(1), "the run has no result, but goes on");
        let why = &bench.policy.failure().unwrap().why;
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn a_program_that_looks_at_what_there_is_not_is_refused() {
    let code = |code: &[&str]| json!({ "code": code, "per_queue": { "n": 0 } });
    let joined = |code: &[&str]| json!({ "joined": code, "per_queue": { "n": 0 } });
    let cases = [
        (code(&["accept"]), "must end every path with choose"),
        (code(&["r0 = 1.0", "choose r0"]), "the number of a queue must be int, not float"),
        (code(&["r0 = x.total", "choose r0"]), "a scheduler looks at now"),
        (code(&["r0 = queue.n", "choose r0"]), "needs the number of a queue, as in queue.NAME[r0]"),
        (code(&["r0 = 0", "r0 = x.octet[r0]", "choose r0"]), "unknown property of queues \"octet\""),
        (code(&["r0 = least queue.m", "choose r0"]), "unknown state of queues \"m\""),
        (code(&["r0 = least state.m", "choose r0"]), "only state of queues, `queue.NAME`, is meant"),
        (joined(&["r0 = longest", "end"]), "or a function that chooses a queue, can look for one"),
        (joined(&["r0 = x.bytes", "end"]), "joined and sent look at queue"),
        (
            joined(&["r0 = x.queue", "choose r0"]),
            "joined: instruction 1, \"choose r0\": must end every path with end",
        ),
    ];
    for (keys, expected) in cases {
        let why = Policy::new(&params(&keys), &Context::alone(8, 2)).unwrap_err().to_string();
        assert!(why.contains(expected), "{keys}: {why}");
    }
}

/// A random text that resembles an instruction.
fn instruction(draw: &mut crate::rng::Stream) -> String {
    const WORDS: [&str; 24] = [
        "r0",
        "r1",
        "r9",
        "=",
        "=",
        "=",
        "+",
        "//",
        "jump",
        "unless",
        "0",
        "-1",
        "99",
        "choose",
        "end",
        "x.length[r0]",
        "x.octets[r0",
        "queue.a[r0]",
        "queue.b[r1]",
        "next_backlogged",
        "least",
        "queue.a",
        "longest",
        "x.queue",
    ];
    let words = 1 + draw.up_to(4);
    (0..words).map(|_| WORDS[draw.up_to(23) as usize]).collect::<Vec<_>>().join(" ")
}

#[test]
fn any_text_as_code_serves_a_queue_or_is_refused_with_a_message() {
    let (mut draw, mut served) = (crate::rng::Stream::new(1, "hostile"), 0);
    for _ in 0..2000 {
        let own: Vec<String> = (0..draw.up_to(3)).map(|_| instruction(&mut draw)).collect();
        let code = |begin: &str, end: &str| {
            let own = own.iter().cloned();
            std::iter::once(begin.to_string()).chain(own).chain([end.to_string()]).collect::<Vec<_>>()
        };
        let key = *["code", "joined", "sent"].get(draw.up_to(2) as usize).unwrap();
        let code = code("r0 = 1", if key == "code" { "choose r0" } else { "end" });
        let keys = json!({ "per_queue": { "a": 0 }, key: code });
        match Policy::new(&params(&keys), &Context::alone(8, 4)) {
            Ok(_) => {
                let mut bench = bench(&keys);
                bench.join(&[1, 2, 1]);
                assert!(matches!(bench.serve_one(), Some(1 | 2)), "{keys}");
                bench.policy.sent(QueueId(1), 500);
                served += 1;
            }
            Err(refused) => assert!(refused.why.len() > 20, "{keys}: {refused}"),
        }
    }
    assert!(served > 200, "only {served} are programs");
}
