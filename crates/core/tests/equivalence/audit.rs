//! The engine as a whole on a thousand random networks: nothing is lost sight of, and the same scenario gives the same
//! bytes.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pushout_core::audit::audit;
use pushout_core::engine::{self, Outcome};
use pushout_core::report::report;
use pushout_core::scenario::load;
use pushout_core::scenario::model::{EngineKind, Scenario};
use pushout_core::serde_json::Value as Json;
use pushout_core::unit::{Flags, Unit};
use pushout_core::units::ids::{CircuitId, LineId};
use pushout_core::verdict::Reason;

use crate::equivalence::random::schema::names;

const SCENARIOS: u64 = 1000;

/// Events in all runs together: a test without them proves nothing.
#[derive(Default)]
struct Seen {
    modules: BTreeMap<String, u32>,
    lost: BTreeMap<&'static str, u64>,
    figures: BTreeMap<&'static str, u64>,
}

impl Seen {
    fn add(&mut self, text: &Json, scenario: &Scenario, outcome: &Outcome) {
        let mut used = Vec::new();
        words(&text["port"], "policy", &mut used);
        words(&text["flow"], "kind", &mut used);
        used.into_iter().for_each(|name| *self.modules.entry(name).or_default() += 1);
        for port in &outcome.network.ports {
            for reason in Reason::ALL {
                *self.lost.entry(reason.word()).or_default() += port.counters().lost_for(reason);
            }
        }
        let mut count = |name, number: u64| *self.figures.entry(name).or_default() += number;
        for flow in &outcome.flows {
            let figures = &flow.figures;
            count("bytes", figures.bytes);
            count("retransmitted", figures.retransmitted);
            count("timeouts", figures.timeouts);
            count("fast retransmits", figures.fast_retransmits);
            count("transfers", figures.transfers);
        }
        for circuit in &outcome.network.circuits {
            count("frames of wrong length", circuit.received().wrong_length);
            count("frames of wrong CRC", circuit.received().wrong_crc);
        }
        count("cell hops", outcome.work.cell_hops);
        count("packet hops", outcome.work.packet_hops);
        count("warm-ups", u64::from(scenario.warmup.0 > 0));
    }
}

/// The words under `tag`: what a part of a scenario asks for.
fn words(json: &Json, tag: &str, found: &mut Vec<String>) {
    match json {
        Json::Object(table) => {
            found.extend(table.get(tag).and_then(Json::as_str).map(str::to_string));
            table.values().for_each(|value| words(value, tag, found));
        }
        Json::Array(list) => list.iter().for_each(|value| words(value, tag, found)),
        _ => {}
    }
}

/// Losses by port and reason: in the log, and in the books of the ports.
fn losses(outcome: &Outcome) -> [BTreeMap<(LineId, Reason), u64>; 2] {
    let (mut logged, mut booked) = (BTreeMap::new(), BTreeMap::new());
    for loss in &outcome.losses {
        *logged.entry((loss.port, loss.reason)).or_default() += 1;
    }
    for (index, port) in outcome.network.ports.pairs() {
        for reason in Reason::ALL {
            booked.insert((index, reason), port.counters().lost_for(reason));
        }
    }
    booked.retain(|_, number| *number > 0);
    [logged, booked]
}

/// Run a scenario twice and check everything that must hold.
fn check(text: &Json, scenario: &Scenario, seen: &mut Seen) {
    let outcome = engine::run(scenario, true);
    let audit = audit(scenario, &outcome);
    assert_eq!(audit.failures, [""; 0], "the audit fails");
    assert!(audit.checks > 0);
    assert!(outcome.losses.is_sorted_by_key(|loss| loss.time), "the log goes back in time");
    if scenario.warmup.0 == 0 {
        let [logged, booked] = losses(&outcome);
        assert_eq!(logged, booked, "the log and the books differ");
    }
    seen.add(text, scenario, &outcome);
    let again = crate::equivalence::random::load(text).unwrap();
    let mut once = report(scenario, &outcome, Some(&audit));
    let twice = report(&again, &engine::run(&again, true), Some(&audit));
    assert_eq!(once.to_string(), twice.to_string(), "the same scenario gives two results");
    // an engine that need not tell every loss may get by with fewer events
    let mut quiet = report(&again, &engine::run(&again, false), Some(&audit));
    for document in [&mut once, &mut quiet] {
        document["engine"]["events"] = Json::Null;
    }
    assert_eq!(once.to_string(), quiet.to_string(), "the log of losses changes the result");
}

#[test]
fn a_thousand_random_networks_pass_the_audit_and_repeat_themselves() {
    let mut seen = Seen::default();
    for seed in 0..SCENARIOS {
        let (text, scenario) = crate::equivalence::random::scenario(seed);
        let checked = catch_unwind(AssertUnwindSafe(|| check(&text, &scenario, &mut seen)));
        assert!(checked.is_ok(), "seed {seed}, for the reason above:\n{text:#}");
    }
    let registered = [
        names(&crate::equivalence::random::port_schema(), "policy"),
        names(&crate::equivalence::random::flow_schema(), "kind"),
    ]
    .concat();
    let rare: Vec<_> = registered.iter().filter(|name| seen.modules.get(*name) < Some(&20)).collect();
    assert!(registered.len() > 10 && rare.is_empty(), "too rarely drawn: {rare:?} of {:?}", seen.modules);
    let missing: Vec<_> = seen.figures.iter().filter(|(_, number)| **number < 10).collect();
    assert!(missing.is_empty(), "hardly ever seen: {missing:?} of {:?}", seen.figures);
    for reason in [Reason::Overflow, Reason::Partial, Reason::Early] {
        assert!(seen.lost[reason.word()] > 1000, "hardly anything was lost: {:?}", seen.lost);
    }
}

/// A run with losses, and the failures of its audit after `meddle` has changed it.
fn meddled(meddle: impl Fn(&mut Outcome)) -> Vec<String> {
    let (_, scenario) = (0..)
        .map(crate::equivalence::random::scenario)
        .find(|(_, scenario)| scenario.lines.len() > 4)
        .unwrap();
    let mut outcome = engine::run(&scenario, false);
    meddle(&mut outcome);
    audit(&scenario, &outcome).failures
}

#[test]
fn the_audit_misses_a_unit_that_has_vanished_from_a_line() {
    let failures = meddled(|outcome| outcome.on_lines[CircuitId(0)] += 1);
    assert!(failures.len() == 1 && failures[0].contains("in flight"), "{failures:?}");
}

#[test]
fn the_audit_misses_a_loss_that_no_port_has_counted() {
    let cell = Unit {
        vc: CircuitId(0),
        frame: 0,
        identity: 0,
        index: 0,
        bytes: 53,
        hop: 0,
        flags: Flags::default(),
    };
    let failures = meddled(|outcome| outcome.network.circuits[CircuitId(0)].lost(&cell));
    assert!(failures.len() == 1 && failures[0].contains("lost"), "{failures:?}");
}

#[test]
fn the_audit_of_an_unchanged_run_finds_nothing() {
    assert_eq!(meddled(|_| ()), [""; 0]);
}

/// Two flows of cells, each with a queue; from 2800 µs on the line of 149.76 Mb/s is busy, and 7488 cells later are 24 ms, without a
/// remainder: the cell before it ends a picosecond earlier, and leaves the run no time for the next one.
#[test]
fn a_cell_that_would_begin_at_the_end_of_the_run_is_in_flight() {
    let text = r#"
        name = "ends-with-a-cell"
        duration = "24 ms"
        adaptation = { kind = "aal5" }
        [topology]
        template = "dumbbell"
        sources = 2
        access = { rate = "84.8 Mb/s", delay = "10 us" }
        bottleneck = { rate = "149.76 Mb/s", delay = "200 us" }
        egress = { rate = "149.76 Mb/s", delay = "10 us" }
        [port.bottleneck]
        buffer = "406 cells"
        scheduler = { policy = "round-robin" }
        [flows]
        source = { kind = "cbr", rate = "84.8 Mb/s", size = "1519 bytes" }
        transport = { kind = "udp" }
        start = "2785 us"
    "#;
    let scenario = load(text, "ends.toml", &[]).unwrap();
    for kind in [EngineKind::Fast, EngineKind::Reference] {
        let outcome = engine::run(&Scenario { engine: kind, ..scenario.clone() }, false);
        assert_eq!(audit(&scenario, &outcome).failures, [""; 0], "{kind:?}");
    }
}
