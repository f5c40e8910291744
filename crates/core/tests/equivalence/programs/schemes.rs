//! The schemes: each as a scenario asks for it, and as a program, some of which were written in Python.

use std::collections::BTreeMap;

use pushout_core::serde_json::{Value as Json, from_str, json};

use crate::equivalence::random::schema::Draw;

/// One scheme in both forms.
pub(crate) struct Pair {
    pub(crate) native: Json,
    pub(crate) program: Json,
}

type Scheme = (&'static str, fn(&mut Draw) -> Pair);

/// The key of a port under which a scheme stands.
pub(crate) fn key_of(name: &str) -> &'static str {
    match name {
        "round-robin" | "drr" => "scheduler",
        "longest-queue" => "pushout",
        _ => "admission",
    }
}

pub(crate) const SCHEMES: [Scheme; 14] = [
    ("tail-drop", tail_drop),
    ("ppd", ppd),
    ("epd", epd),
    ("step", step),
    ("selective-drop", selective_drop),
    ("fba", fba),
    ("dynamic-threshold", dynamic_threshold),
    ("dt-epd", dt_epd),
    ("red", red),
    ("codel", codel),
    ("pie", pie),
    ("round-robin", round_robin),
    ("drr", drr),
    ("longest-queue", longest_queue),
];

/// Instructions of a text in which `@place` at the start of a line names the next one, for `jump @place`.
fn code(text: &str) -> Vec<String> {
    let (mut lines, mut places) = (Vec::new(), BTreeMap::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_prefix('@') {
            Some(place) => _ = places.insert(place, lines.len()),
            None => lines.push(line),
        }
    }
    let resolved = |line: &str| match line.split_once('@') {
        Some((jump, place)) => format!("{jump}{}", places[place]),
        None => line.to_string(),
    };
    lines.into_iter().map(resolved).collect()
}

fn program(asks: &str, params: &Json, text: &str) -> Json {
    json!({ "policy": "program", "asks": asks, "params": params, "code": code(text) })
}

/// A scheme of `pushout.policy.published` with these parameters.
pub(crate) fn published(name: &str, params: &Json) -> Json {
    let mut all: Json = from_str(include_str!("published.json")).expect("the file is generated");
    let mut program = all[name].take();
    for (key, value) in params.as_object().expect("parameters have names") {
        assert!(program["params"].get(key).is_some(), "{name} has no parameter {key}");
        program["params"][key] = value.clone();
    }
    program
}

fn share(draw: &mut Draw) -> String {
    format!("{} %", draw.between(5, 100))
}

fn tail_drop(draw: &mut Draw) -> Pair {
    let threshold = share(draw);
    let text = "
        r0 = x.clp
        unless r0 jump @accept
        r1 = x.total
        r2 = params.threshold
        r0 = r1 >= r2
        unless r0 jump @accept
        refuse marked
        @accept
        accept";
    let native = json!({ "policy": "tail-drop", "clp_threshold": threshold });
    Pair { native, program: program("unit", &json!({ "threshold": threshold }), text) }
}

fn ppd(draw: &mut Draw) -> Pair {
    let keep = draw.chance(0.5);
    let mut program = program("frame", &json!({}), "accept");
    program["pass_eom"] = keep.into();
    Pair { native: json!({ "policy": "ppd", "pass_eom": keep }), program }
}

fn epd(draw: &mut Draw) -> Pair {
    let threshold = share(draw);
    let (action, answer) = *draw.of(&[("drop", "refuse"), ("mark", "mark")]);
    let text = format!(
        "r0 = x.total
        r1 = params.threshold
        r2 = r0 >= r1
        unless r2 jump @accept
        {answer}
        @accept
        accept"
    );
    let native = json!({ "policy": "epd", "threshold": threshold, "action": action });
    Pair { native, program: program("frame", &json!({ "threshold": threshold }), &text) }
}

fn step(draw: &mut Draw) -> Pair {
    let threshold = share(draw);
    let text = "
        r0 = x.total
        r1 = params.threshold
        r2 = r0 > r1
        unless r2 jump @accept
        mark early
        @accept
        accept";
    let native = json!({ "policy": "step", "threshold": threshold });
    Pair { native, program: program("frame", &json!({ "threshold": threshold }), text) }
}

/// The load ratio of the circuit in r5, or `accept` at a total of at most the threshold.
const LOAD_RATIO: &str = "
        r0 = x.total
        r1 = params.threshold
        r2 = r0 > r1
        unless r2 jump @accept
        r3 = x.own
        r5 = float r3
        r3 = x.active
        r4 = float r3
        r5 = r5 * r4
        r4 = float r0
        r5 = r5 / r4";

const REFUSE_IF_R2: &str = "
        unless r2 jump @accept
        refuse
        @accept
        accept";

fn selective_drop(draw: &mut Draw) -> Pair {
    let (threshold, scale) = (share(draw), *draw.of(&[0.25, 0.8, 1.0]));
    let text = format!("{LOAD_RATIO}\nr6 = params.scale\nr2 = r5 > r6{REFUSE_IF_R2}");
    let native = json!({ "policy": "selective-drop", "threshold": threshold, "scale": scale });
    Pair { native, program: program("frame", &json!({ "threshold": threshold, "scale": scale }), &text) }
}

fn fba(draw: &mut Draw) -> Pair {
    let threshold = format!("{} %", draw.between(5, 60));
    let (capacity, scale) = (format!("{} %", draw.between(60, 100)), *draw.of(&[0.5, 0.9, 1.5]));
    let text = format!(
        "{LOAD_RATIO}
        r7 = params.capacity
        r7 = r7 - r1
        r8 = float r7
        r6 = params.scale
        r6 = r6 * r8
        r7 = r0 - r1
        r8 = float r7
        r6 = r6 / r8
        r2 = r5 > r6{REFUSE_IF_R2}"
    );
    let params = json!({ "threshold": threshold, "capacity": capacity, "scale": scale });
    let mut native = params.clone();
    native["policy"] = "fba".into();
    Pair { native, program: program("frame", &params, &text) }
}

/// Set r2 if the circuit's queue has reached the dynamic threshold.
const BLOCKED: &str = "
        r0 = x.capacity
        r1 = x.total
        r0 = r0 - r1
        r3 = float r0
        r4 = params.alpha
        r3 = r4 * r3
        r0 = x.own
        r4 = float r0
        r2 = r4 >= r3";

fn dynamic_threshold(draw: &mut Draw) -> Pair {
    let alpha = *draw.of(&[0.25, 1.0, 2.0]);
    let text = format!("{BLOCKED}\nunless r2 jump @accept\nrefuse overflow\n@accept\naccept");
    let native = json!({ "policy": "dynamic-threshold", "alpha": alpha });
    Pair { native, program: program("unit", &json!({ "alpha": alpha }), &text) }
}

fn dt_epd(draw: &mut Draw) -> Pair {
    let alpha = *draw.of(&[0.25, 1.0, 2.0]);
    let text = format!("{BLOCKED}{REFUSE_IF_R2}");
    let native = json!({ "policy": "dt-epd", "alpha": alpha });
    Pair { native, program: program("frame", &json!({ "alpha": alpha }), &text) }
}

/// Floyd and Jacobson's algorithm; a loss for want of room starts the count again.
const RED: &str = "
        r0 = x.total
        r3 = state.average
        r1 = 0
        r2 = r0 > r1
        unless r2 jump @empty
        r4 = params.kept
        r4 = r4 * r3
        r5 = params.weight
        r6 = float r0
        r5 = r5 * r6
        r3 = r4 + r5
        jump @counted
        @empty
        r7 = 0.0
        r2 = r3 > r7
        unless r2 jump @counted
        r8 = x.empty_since_ps
        r9 = state.since
        r8 = max r8 r9
        r9 = x.now_ps
        r8 = r9 - r8
        r4 = float r8
        r5 = params.slot
        r4 = r4 / r5
        r5 = params.kept
        r4 = r5 ** r4
        r3 = r3 * r4
        state.since = r9
        @counted
        state.average = r3
        r10 = state.count
        r11 = x.overflows
        r12 = state.seen
        r2 = r11 != r12
        unless r2 jump @known
        r10 = 0
        @known
        state.seen = r11
        r11 = params.min
        r12 = params.max
        r13 = float r11
        r2 = r3 < r13
        unless r2 jump @above
        r10 = -1
        state.count = r10
        accept
        @above
        r14 = 1
        r10 = r10 + r14
        state.count = r10
        r15 = 1.0
        r16 = float r12
        r2 = r3 < r16
        unless r2 jump @base
        r15 = r16 - r13
        r16 = 1.0
        r15 = r16 / r15
        r3 = r3 - r13
        r15 = r3 * r15
        r16 = params.max_p
        r15 = r16 * r15
        @base
        r16 = float r10
        r16 = r16 * r15
        r17 = 1.0
        r17 = r17 - r16
        r2 = r15 >= r17
        unless r2 jump @draw
        jump @refuse
        @draw
        r16 = draw
        r16 = r16 * r17
        r2 = r16 < r15
        unless r2 jump @accept
        @refuse
        r10 = 0
        state.count = r10
        refuse random
        @accept
        accept";

fn red(draw: &mut Draw) -> Pair {
    let (min, max) = (format!("{} %", draw.between(5, 25)), format!("{} %", draw.between(60, 100)));
    let (weight, max_p) = (*draw.of(&[0.5, 0.2, 0.002]), *draw.of(&[0.02, 0.3]));
    let native = json!({
        "policy": "red", "weight": weight, "max_p": max_p, "packet_time": "10 us", "min_threshold": min,
        "max_threshold": max,
    });
    let params = json!({
        "weight": weight, "kept": 1.0 - weight, "max_p": max_p, "slot": 1e7, "min": min, "max": max,
    });
    let mut program = program("frame", &params, RED);
    program["state"] = json!({ "average": 0.0, "since": 0, "count": -1, "seen": 0 });
    program["stream"] = "red".into();
    Pair { native, program }
}

fn action(marks: bool) -> &'static str {
    if marks { "mark" } else { "drop" }
}

fn codel(draw: &mut Draw) -> Pair {
    let target = *draw.of(&["10 us", "300 us", "5 ms"]);
    let (interval, marks) = (*draw.of(&["300 us", "2 ms", "100 ms"]), draw.chance(0.5));
    let native =
        json!({ "policy": "codel", "target": target, "interval": interval, "action": action(marks) });
    let params = json!({ "target": target, "interval": interval, "marks": marks });
    Pair { native, program: published("codel", &params) }
}

fn pie(draw: &mut Draw) -> Pair {
    let (target, update) = (*draw.of(&["10 us", "300 us", "15 ms"]), *draw.of(&["300 us", "2 ms", "15 ms"]));
    let (burst, marks) = (*draw.of(&["0 s", "2 ms", "150 ms"]), draw.chance(0.5));
    let (alpha, mark_limit) = (*draw.of(&[0.125, 20.0]), *draw.of(&[0.1, 0.01]));
    let params = json!({
        "target": target, "burst": burst, "alpha": alpha, "beta": 10.0 * alpha, "mark_limit": mark_limit,
    });
    let mut native = params.clone();
    (native["policy"], native["action"]) = ("pie".into(), action(marks).into());
    native["update"] = update.into();
    let mut program = published("pie", &params);
    (program["params"]["marks"], program["tick"]["every"]) = (marks.into(), update.into());
    Pair { native, program }
}

fn round_robin(_: &mut Draw) -> Pair {
    Pair { native: json!({ "policy": "round-robin" }), program: published("round-robin", &json!({})) }
}

fn drr(draw: &mut Draw) -> Pair {
    // No packet is longer, as the program demands: at most 65 535 octets, of flows whose weight is ½ or more.
    let quantum = *draw.of(&[140_000, 300_000]);
    let native = json!({ "policy": "drr", "quantum": format!("{quantum} bytes") });
    Pair { native, program: published("drr", &json!({ "quantum": quantum })) }
}

fn longest_queue(draw: &mut Draw) -> Pair {
    let end = *draw.of(&["tail", "head"]);
    let mut program = published("longest-queue", &json!({}));
    program["end"] = end.into();
    Pair { native: json!({ "policy": "longest-queue", "end": end }), program }
}
