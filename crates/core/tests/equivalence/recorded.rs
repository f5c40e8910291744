//! Both engines record the same packets: at every port, and at those with a limited buffer.

use std::fs;

use pushout_core::engine::{self, LossRecord, Stopwatch};
use pushout_core::report::report;
use pushout_core::scenario::load;
use pushout_core::scenario::model::{EngineKind, Scenario};
use pushout_core::serde_json::Value as Json;
use pushout_core::trace::{TracedPackets, pcapng};
use pushout_core::units::Span;

use crate::equivalence::{compare, fabrics, random, seeds};
use pushout_core::units::ids::LineId;

/// What a recorded run leaves.
struct Recorded {
    capture: Vec<u8>,
    document: Json,
    losses: Vec<LossRecord>,
}

/// Run on an engine and record packets at these ports.
fn recorded(scenario: &Scenario, engine: EngineKind, ports: &[String]) -> Recorded {
    let scenario = Scenario { engine, ..scenario.clone() };
    let packets = TracedPackets::at(&scenario, ports).expect("names of ports");
    let (outcome, packets) = engine::run_recorded(&scenario, true, packets, &mut Stopwatch::default());
    let mut document = report(&scenario, &outcome, None);
    document["engine"]["name"] = Json::Null;
    document["engine"]["events"] = Json::Null;
    let ports: Vec<LineId> = packets.ports().collect();
    let capture = pcapng(&scenario, &ports, &packets.into_list());
    Recorded { capture, document, losses: outcome.losses }
}

/// Compare the engines over one scenario; returns whether there are packets to compare.
fn compared(name: &str, scenario: &Scenario) -> bool {
    if engine::recording(scenario) == EngineKind::Reference {
        return false;
    }
    for ports in [&[][..], &["*".to_string()][..]] {
        let fast = recorded(scenario, EngineKind::Fast, ports);
        let reference = recorded(scenario, EngineKind::Reference, ports);
        let mut found = Vec::new();
        compare("", &reference.document, &fast.document, &mut found);
        assert!(found.is_empty(), "{name}, ports {ports:?}:\n{}", found.join("\n"));
        assert!(fast.losses == reference.losses, "{name}, ports {ports:?}: other losses");
        let lengths = (fast.capture.len(), reference.capture.len());
        let first = fast.capture.iter().zip(&reference.capture).position(|(one, other)| one != other);
        assert!(fast.capture == reference.capture, "{name}, ports {ports:?}: {lengths:?}, from {first:?}");
    }
    true
}

#[test]
fn both_engines_record_the_same_packets_of_shipped_scenarios() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut count = 0;
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.display().to_string();
        let Ok(scenario) = fs::read_to_string(&path).map_err(drop).and_then(|text| {
            load(&text, &name, &[]).map_err(drop) // a sweep has no scenario of its own
        }) else {
            continue;
        };
        let duration = scenario.duration.min(Span::millis(100));
        let short = Scenario { duration, warmup: Span::ZERO, ..scenario };
        count += usize::from(compared(&name, &short));
    }
    assert!(count >= 10, "only {count} scenarios of packets");
}

#[test]
fn both_engines_record_the_same_packets_of_random_networks() {
    let mut count = 0;
    for seed in seeds(4) {
        let (text, scenario) = random::scenario(2_000_000 + seed);
        count += u64::from(compared(&format!("seed {seed}: {text:#}"), &scenario));
    }
    for seed in seeds(10) {
        let text = fabrics(seed);
        let Ok(scenario) = load(&text, "fabrics.toml", &[]) else { continue };
        count += u64::from(compared(&format!("fabric {seed}: {text}"), &scenario));
    }
    assert!(count > 20, "only {count} networks of packets");
}
