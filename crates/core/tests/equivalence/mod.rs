//! Whole networks, random and shipped: engines, programs, audit and bytes of a second run compared.
//!
//! The fast engine computes what the reference engine computes: the same report and the same losses, on random
//! scenarios, most of them short, one in a hundred long. `PUSHOUT_EQUIVALENCE=10000` tries that many instead of a few
//! hundred, `PUSHOUT_EQUIVALENCE_FIRST` others.

#![allow(clippy::unwrap_used)] // here a panic is the report

mod audit;
mod determinism;
pub(crate) mod generator;
mod laws;
mod longest_queue;
mod neighbours;
mod programs;
mod random;
mod recorded;
mod shipped;
mod why;

use std::ops::Range;

use generator::{
    circuits, credits, fabrics, lists, memories, pauses, policed, rings, scenario, streams, switches,
    together,
};
use pushout_core::audit::audit;
use pushout_core::engine::{self, LossRecord};
use pushout_core::report::report;
use pushout_core::scenario::load;
use pushout_core::scenario::model::{EngineKind, Line, NodeKind, Scenario};
use pushout_core::serde_json::Value as Json;
use pushout_core::units::Span;
use pushout_core::verdict::Reason;

/// Number of scenarios, unless the environment sets another one.
const A_FEW: u64 = 300;

/// Return the report and the losses of a run, without the engine's name and its number of events.
fn run(scenario: &Scenario, engine: EngineKind, log: bool) -> (Json, Vec<LossRecord>) {
    let scenario = Scenario { engine, ..scenario.clone() };
    let outcome = engine::run(&scenario, log);
    let audit = audit(&scenario, &outcome);
    let mut document = report(&scenario, &outcome, Some(&audit));
    document["engine"]["name"] = Json::Null;
    document["engine"]["events"] = Json::Null;
    (document, outcome.losses)
}

/// One scenario in this many also runs this many times as long: what a short run cannot show, a count that goes round after
/// 65536 cells or a timer of seconds, takes time.
const LONG: u64 = 100;

/// Differences between the two engines over scenario number `seed`, as lines for people.
fn differences_of(seed: u64, scenario: &Scenario) -> Vec<String> {
    let mut found = differences(scenario);
    if found.is_empty() && seed.is_multiple_of(LONG) {
        let times = |span: Span| Span(span.0 * LONG);
        let long = Scenario { duration: times(scenario.duration), ..scenario.clone() };
        found = differences(&long);
        if !found.is_empty() {
            found.insert(0, format!("running for {LONG} times as long:"));
        }
    }
    found
}

/// Differences between the two engines, as lines for people.
fn differences(scenario: &Scenario) -> Vec<String> {
    let (fast, reference) =
        (run(scenario, EngineKind::Fast, true), run(scenario, EngineKind::Reference, true));
    let audit = |document: &Json| document["audit"]["failures"].as_array().cloned().unwrap_or_default();
    let mut found: Vec<String> =
        audit(&reference.0).iter().map(|failure| format!("audit: {failure}")).collect();
    compare("", &reference.0, &fast.0, &mut found);
    compare(" without a log", &reference.0, &run(scenario, EngineKind::Fast, false).0, &mut found);
    let first = reference.1.iter().zip(&fast.1).position(|(one, other)| one != other);
    if let Some(at) = first {
        found.push(format!("loss {at}: {:?} became {:?}", reference.1[at], fast.1[at]));
    } else if reference.1.len() != fast.1.len() {
        found.push(format!("{} losses became {}", reference.1.len(), fast.1.len()));
    }
    found
}

fn compare(path: &str, one: &Json, other: &Json, found: &mut Vec<String>) {
    match (one, other) {
        (Json::Object(left), Json::Object(right)) if left.keys().eq(right.keys()) => {
            for (key, value) in left {
                compare(&format!("{path}.{key}"), value, &right[key], found);
            }
        }
        (Json::Array(left), Json::Array(right)) if left.len() == right.len() => {
            for (i, value) in left.iter().enumerate() {
                compare(&format!("{path}[{i}]"), value, &right[i], found);
            }
        }
        _ if one != other => found.push(format!("{path}: {one} became {other}")),
        _ => {}
    }
}

/// Return how many scenarios are asked for.
fn how_many() -> u64 {
    number("PUSHOUT_EQUIVALENCE").unwrap_or(A_FEW)
}

/// The seeds of a test: one for every `one_for` of the requested number.
fn seeds(one_for: u64) -> Range<u64> {
    let first = number("PUSHOUT_EQUIVALENCE_FIRST").unwrap_or(0);
    first..first + how_many() / one_for
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn both_engines_give_the_same_report_and_the_same_losses() {
    let count = how_many();
    let (mut compared, mut lossy) = (0, 0);
    for seed in seeds(1) {
        let text = scenario(seed);
        let Ok(checked) = load(&text, "random.toml", &[]) else { continue };
        let found = differences_of(seed, &checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text}", found.join("\n"));
        compared += 1;
        lossy += u64::from(!run(&checked, EngineKind::Fast, true).1.is_empty());
    }
    assert!(compared * 2 >= count, "only {compared} of {count} texts are scenarios");
    assert!(lossy * 4 >= compared, "only {lossy} of {compared} runs lose anything");
}

#[test]
fn both_engines_agree_on_switches_with_classes() {
    let (mut compared, mut lossy, mut used) = (0, 0, [0; 5]);
    for seed in seeds(1) {
        let text = switches(seed);
        let Ok(checked) = load(&text, "switches.toml", &[]) else { continue };
        let found = differences_of(seed, &checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text}", found.join("\n"));
        compared += 1;
        lossy += u64::from(!run(&checked, EngineKind::Fast, true).1.is_empty());
        let parts = ["group = ", "minimum = ", "maximum = ", "gates = ", "kind = \"trtcm"];
        used.iter_mut().zip(parts).for_each(|(used, part)| *used += u64::from(text.contains(part)));
    }
    assert!(compared * 2 >= how_many(), "only {compared} of {} texts are scenarios", how_many());
    assert!(
        lossy * 4 >= compared && used.iter().all(|used| used * 10 > compared),
        "{lossy} {used:?} of {compared}"
    );
}

#[test]
fn both_engines_agree_on_streams_without_feedback() {
    let count = how_many();
    let (mut lossy, mut policed) = (0, 0);
    for seed in seeds(2) {
        let text = streams(seed);
        let checked =
            load(&text, "streams.toml", &[]).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        let found = differences_of(seed, &checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text}", found.join("\n"));
        let losses = run(&checked, EngineKind::Fast, true).1;
        lossy += u64::from(!losses.is_empty());
        policed += u64::from(losses.iter().any(|loss| loss.reason == Reason::Policed));
    }
    assert!(lossy * 3 >= count / 2, "only {lossy} of {} runs lose anything", count / 2);
    assert!(policed * 10 >= count / 2, "policers lose cells in only {policed} of {} runs", count / 2);
}

#[test]
fn both_engines_agree_where_trains_are_policed() {
    let count = how_many();
    let (mut refused, mut untouched) = (0, 0);
    for seed in seeds(2) {
        let text = policed(seed);
        let checked =
            load(&text, "policed.toml", &[]).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        let found = differences_of(seed, &checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text}", found.join("\n"));
        let losses = run(&checked, EngineKind::Fast, true).1;
        let is_refused = |loss: &LossRecord| [Reason::Policed, Reason::Marked].contains(&loss.reason);
        refused += u64::from(losses.iter().any(is_refused));
        untouched += u64::from(text.contains("police") && !losses.iter().any(is_refused));
    }
    assert!(refused * 4 >= count / 2, "policers act in only {refused} of {} runs", count / 2);
    assert!(untouched * 10 >= count / 2, "policers do nothing in only {untouched} of {} runs", count / 2);
}

/// Two cells arrive at an idle line at the same instant, one of which sets out just when the port is looked at. A frame is
/// refused by DT-EPD while there is room, and there is none any more when its last cells come to a port with push-out.
const ONCE_DIFFERENT: [u64; 2] = [2998, 2724];

#[test]
fn both_engines_agree_where_circuits_have_queues() {
    let count = how_many();
    let mut lossy = 0;
    for seed in seeds(2).chain(ONCE_DIFFERENT) {
        let text = circuits(seed);
        let checked =
            load(&text, "circuits.toml", &[]).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        let found = differences_of(seed, &checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text}", found.join("\n"));
        lossy += u64::from(!run(&checked, EngineKind::Fast, true).1.is_empty());
    }
    assert!(lossy * 3 >= count / 2, "only {lossy} of {} runs lose anything", count / 2);
}

/// In a ring of circuits ports advance in steps, one after the other, and a port does not have the units that others
/// will still send in the same step. Cells of a frame are in their queue before they arrive, and may find no room:
/// forecasts for other queues must not count on them.
const ONCE_DIFFERENT_IN_A_RING: [u64; 3] = [12799, 20500, 36737];

#[test]
fn both_engines_agree_where_circuits_with_queues_go_round() {
    let (count, mut compared, mut lossy) = (how_many() / 2, 0, 0);
    for seed in seeds(2).chain(ONCE_DIFFERENT_IN_A_RING) {
        let text = rings(seed);
        let Ok(checked) = load(&text, "rings.toml", &[]) else { continue };
        let found = differences_of(seed, &checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text}", found.join("\n"));
        compared += 1;
        lossy += u64::from(!run(&checked, EngineKind::Fast, true).1.is_empty());
    }
    assert!(compared * 2 >= count, "only {compared} of {count} texts are scenarios");
    assert!(lossy * 3 >= compared, "only {lossy} of {compared} runs lose anything");
}

#[test]
fn both_engines_agree_where_flows_are_spread_over_a_fabric() {
    let (count, mut compared) = (how_many() / 4, 0);
    for seed in seeds(4) {
        let text = fabrics(seed);
        let Ok(checked) = load(&text, "fabrics.toml", &[]) else { continue };
        let found = differences_of(seed, &checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text}", found.join("\n"));
        compared += 1;
    }
    assert!(compared * 2 >= count, "only {compared} of {count} texts are scenarios");
}

#[test]
fn both_engines_agree_where_policers_memories_gates_and_routes_meet() {
    let (count, mut compared) = (how_many(), 0);
    for seed in seeds(1) {
        let text = together(seed);
        let Ok(checked) = load(&text, "together.toml", &[]) else { continue };
        let found = differences_of(seed, &checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text}", found.join("\n"));
        compared += 1;
    }
    assert!(compared * 3 >= count, "only {compared} of {count} texts are scenarios");
}

#[test]
fn both_engines_agree_where_memories_are_quiet_and_loud() {
    let (count, [mut compared, mut lossy, mut removing]) = (how_many(), [0; 3]);
    for seed in seeds(1) {
        let text = memories(seed);
        let Ok(checked) = load(&text, "memories.toml", &[]) else { continue };
        let found = differences_of(seed, &checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text}", found.join("\n"));
        let (_, losses) = run(&checked, EngineKind::Fast, true);
        let is_removed = |loss: &LossRecord| loss.reason == Reason::PushedOut;
        compared += 1;
        lossy += u64::from(!losses.is_empty());
        removing += u64::from(losses.iter().any(is_removed));
    }
    assert!(compared * 3 >= count * 2, "only {compared} of {count} texts are scenarios");
    assert!(lossy < compared, "memories reach their bounds in all {compared} runs");
    assert!(removing * 8 >= compared, "memories remove packets in only {removing} of {compared} runs");
}

#[test]
fn both_engines_agree_where_switches_pause_each_other() {
    let (count, mut compared) = (how_many(), 0);
    let [mut paused, mut lossy, mut cyclic, mut guarded] = [0; 4];
    for seed in seeds(1) {
        let text = pauses(seed);
        let Ok(checked) = load(&text, "pauses.toml", &[]) else { continue };
        let found = differences_of(seed, &checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text}", found.join("\n"));
        assert_eq!(engine::chosen(&checked).0, EngineKind::Fast, "seed {seed}");
        let (document, losses) = run(&checked, EngineKind::Fast, true);
        let warned = |code: &str| document["warnings"].to_string().contains(code);
        compared += 1;
        let is_paused = |line: &Line| {
            let mut ports = document["ports"].as_array().expect("a report lists its ports").iter();
            ports.any(|port| port["name"] == line.name && port["paused_s"].as_f64() > Some(0.0))
        };
        let from_switch = |line: &&Line| checked.nodes[line.from].kind == NodeKind::Router;
        paused += u64::from(checked.lines.iter().filter(from_switch).any(is_paused));
        lossy += u64::from(warned("lossless-drop"));
        cyclic += u64::from(warned("pause-cycle"));
        guarded += u64::from(losses.iter().any(|loss| loss.reason == Reason::Watchdog));
    }
    assert!(compared * 3 >= count * 2, "only {compared} of {count} texts are scenarios");
    assert!(paused * 2 >= compared, "switches pause each other in only {paused} of {compared} runs");
    assert!(lossy * 10 >= compared, "headroom is too small in only {lossy} of {compared} runs");
    assert!(cyclic * 50 >= compared, "pauses form a cycle in only {cyclic} of {compared} runs");
    assert!(guarded * 20 >= compared, "watchdogs act in only {guarded} of {compared} runs");
}

#[test]
fn both_engines_agree_on_lists_of_transfers_and_those_that_wait_start_when_the_last_has_ended() {
    let (count, mut compared, mut waited, mut local, mut remote) = (how_many() / 4, 0, 0, 0, 0);
    for seed in seeds(4) {
        let text = lists(seed);
        let Ok(checked) = load(&text, "lists.toml", &[]) else { continue };
        let found = differences(&checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text}", found.join("\n"));
        let whole = Scenario { warmup: Span::ZERO, ..checked };
        let started = waiting_transfers(&text, &run(&whole, EngineKind::Fast, false).0);
        waited += started;
        let is_fast = started > 0 && engine::chosen(&whole).0 == EngineKind::Fast;
        local += u64::from(is_fast);
        remote += u64::from(is_fast && whole.waits_across_hosts().next().is_some());
        compared += 1;
    }
    assert!(compared * 2 >= count, "only {compared} of {count} texts are scenarios");
    assert!(waited * 2 >= compared, "only {waited} transfers waited in {compared} runs");
    assert!(local * 10 >= compared, "in only {local} of {compared} runs the fast engine let transfers wait");
    assert!(
        remote * 40 >= compared,
        "in only {remote} of {compared} runs it let them wait for those of other hosts"
    );
}

/// Check the start of every transfer by the rows of the list alone, and return how many waited for others.
fn waiting_transfers(text: &str, document: &Json) -> u64 {
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with("from,to"))
        .skip(1)
        .take_while(|line| line.contains(','));
    let transfers = document["transfers"].as_array().expect("transfers are reported");
    let key = text.lines().find_map(|line| line.strip_prefix("after_delay = \"")?.strip_suffix(" us\""));
    let after: f64 = key.map_or(0.0, |delay| delay.parse().expect("a number of microseconds"));
    let mut waited = 0;
    for (row, transfer) in rows.zip(transfers) {
        let fields: Vec<&str> = row.split(',').collect();
        let delay: f64 = fields[3].trim_end_matches(" us").parse().expect("a number of microseconds");
        let end = |name: &str| {
            let other = transfers.iter().find(|other| other["name"] == name).expect("an awaited transfer");
            Some(other["start_s"].as_f64()? + other["time_s"].as_f64()?)
        };
        let ends: Option<Vec<f64>> = fields[5].split(';').filter(|name| !name.is_empty()).map(end).collect();
        let delay = if fields[5].is_empty() { delay } else { delay + after };
        let expected = ends.as_ref().map(|ends| ends.iter().copied().fold(0.0, f64::max) + delay * 1e-6);
        let duration = document["duration_s"].as_f64().expect("a duration");
        match (transfer["start_s"].as_f64(), expected) {
            (Some(start), Some(expected)) => {
                assert!((start - expected).abs() < 1e-11, "{row}: {start}, not {expected}");
                waited += u64::from(!fields[5].is_empty());
            }
            (None, None) => {}
            (start, expected) => {
                assert!(expected > Some(duration - 1e-11), "{row}: {start:?}, not {expected:?}")
            }
        }
    }
    waited
}

/// A port need not be told for a second or more which cells of a queue have started: that is more than a frame can have.
#[test]
fn both_engines_agree_where_a_queue_is_looked_at_after_65536_cells() {
    let text = include_str!("../../../../scenarios/w1-cell.toml");
    let sets = [
        "duration='3 s'",
        "seed=3",
        "port.bottleneck.scheduler.policy='round-robin'",
        "port.bottleneck.admission={policy='dt-epd', alpha=0.1}",
        "flow.flow10.transport={kind='udp'}",
        "flow.flow10.source={kind='cbr', rate='100 Mb/s'}",
    ];
    let busy = load(text, "busy.toml", &sets.map(str::to_owned)).expect("a scenario");
    assert_eq!(differences(&busy), Vec::<String>::new());
}

/// The next call of a port must not depend on cells that may find no room: a host would act too late.
#[test]
fn both_engines_agree_where_a_small_buffer_overflows_within_trains() {
    let text = include_str!("../../../../scenarios/lan.toml");
    let port = ["port.bottleneck.admission={policy='ppd'}", "port.bottleneck.buffer='200 cells'"];
    let run = ["duration='48.8 s'", "seed=730859"];
    let sets: Vec<String> = port.iter().chain(&run).map(|&set| set.to_owned()).collect();
    let small = load(text, "small.toml", &sets).expect("a scenario");
    assert_eq!(differences(&small), Vec::<String>::new());
}

#[test]
fn both_engines_agree_where_credits_govern_lines() {
    let count = how_many();
    let (mut compared, mut lossy, mut credit_cells) = (0, 0, 0);
    for seed in seeds(1) {
        let text = credits(seed);
        let Ok(checked) = load(&text, "credits.toml", &[]) else { continue };
        let found = differences_of(seed, &checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text}", found.join("\n"));
        let (document, losses) = run(&checked, EngineKind::Fast, true);
        compared += 1;
        lossy += u64::from(!losses.is_empty());
        let ports = document["ports"].as_array().expect("a report lists its ports");
        credit_cells += ports.iter().filter_map(|port| port["credit_cells"].as_u64()).sum::<u64>();
    }
    assert!(compared * 3 >= count * 2, "only {compared} of {count} texts are scenarios");
    assert!(lossy * 4 >= compared, "only {lossy} of {compared} runs lose anything");
    assert!(credit_cells > 100 * compared, "only {credit_cells} credit cells in {compared} runs");
}

#[test]
fn both_engines_agree_on_whatever_a_scenario_can_say() {
    for seed in seeds(2) {
        let (text, checked) = random::scenario(1_000_000 + seed);
        let found = differences_of(seed, &checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text:#}", found.join("\n"));
    }
}

#[test]
fn both_engines_agree_on_shipped_scenarios_with_other_ports() {
    for seed in seeds(LONG) {
        let (text, checked) = shipped::scenario(seed);
        let found = differences(&checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{text:#}", found.join("\n"));
    }
}

/// A policer of packets is a step of their route: those that it drops and those that it marks, one by one.
#[test]
fn both_engines_agree_where_packets_are_policed() {
    let text = include_str!("../../../../scenarios/w1-packet.toml");
    let ports = ["{policy='tail-drop'}", "{policy='tail-drop', clp_threshold='20 %'}", "{policy='ppd'}"];
    for ((probability, action), port) in [(0.0, "drop"), (0.1, "tag"), (0.02, "drop")].into_iter().zip(ports)
    {
        let police = format!("{{ kind = 'random', probability = {probability}, action = '{action}' }}");
        let sets = [
            "duration='2 s'".to_owned(),
            format!("flow.flow1.police={police}"),
            format!("flow.flow2.police={police}"),
            format!("port.bottleneck.admission={port}"),
        ];
        let policed = load(text, "policed.toml", &sets).expect("a scenario");
        assert_eq!(differences(&policed), Vec::<String>::new(), "{police}");
    }
}

#[test]
fn units_that_could_go_round_in_a_ring_are_computed_in_step() {
    let mut text = "name = \"ring\"\nduration = \"50 ms\"\nwarmup = \"7 ms\"\n".to_string();
    for i in 0..3 {
        let next = (i + 1) % 3;
        text += &format!(
            "[[node]]\nname = \"s{i}\"\nkind = \"switch\"\n[[node]]\nname = \"h{i}\"\nkind = \"host\"\n"
        );
        for (from, to) in [(format!("s{i}"), format!("s{next}")), (format!("h{i}"), format!("s{i}"))] {
            text += &format!(
                "[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"42.4 Mb/s\"\ndelay = \"10 us\"\n"
            );
        }
    }
    text += "[port.default]\nbuffer = \"50 cells\"\nadmission = { policy = \"ppd\" }\n";
    for i in 0..3 {
        let (next, to) = ((i + 1) % 3, (i + 2) % 3);
        text += &format!("[[flow]]\nname = \"f{i}\"\nfrom = \"h{i}\"\nto = \"h{to}\"\nvia = [\"s{next}\"]\n");
        text += "source = { kind = \"greedy\" }\n";
        text += "transport = { kind = \"tcp\", slow_timer = \"1 ms\", fast_timer = \"1 ms\", min_rto = \"2 ms\" }\n";
    }
    let ring = load(&text, "ring.toml", &[]).expect("a ring is a scenario");
    assert_eq!(differences(&ring), Vec::<String>::new());
    assert!(!run(&ring, EngineKind::Fast, true).1.is_empty(), "something is lost");
}
