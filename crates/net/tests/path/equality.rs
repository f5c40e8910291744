//! Packets that are offered fare as those that a scenario sends at the same instants.

use std::collections::BTreeMap;

use crate::common::{Draws, later, network};
use pushout_core::engine::offer::{Ending, Fates};
use pushout_core::engine::reference::Stepper;
use pushout_core::scenario::load;
use pushout_core::scenario::model::Scenario;
use pushout_net::{Delivery, Fate, Path, Time};

/// Sixty networks, or a tenth of those of `make equivalence`.
fn networks() -> u64 {
    std::env::var("PUSHOUT_EQUIVALENCE").map_or(60, |count| count.parse::<u64>().unwrap() / 10)
}

/// What became of a packet: circuit, number, instant, ending, port that marked it.
type Line = (String, u32, u64, String, String);

/// The fates of a scenario's own packets on the circuits of recordings.
fn of_scenario(scenario: &Scenario) -> Vec<Line> {
    let is_recorded = |flow: &&pushout_core::units::ids::FlowId| scenario.flows[**flow].name.contains("ect");
    let flows: Vec<_> = scenario.flows.keys().collect();
    let watched: Vec<_> = flows.iter().filter(is_recorded).copied().collect();
    let mut stepper = Stepper::new(scenario, false, Fates::of(scenario, watched));
    stepper.advance(stepper.end());
    let name = |port| scenario.lines[port].name.clone();
    let line = |fate: pushout_core::engine::offer::Fate| {
        let ending = match fate.ending {
            Ending::Delivered => "delivered".to_string(),
            Ending::Cut => "cut".to_string(),
            Ending::Lost(port, reason) => format!("{} {}", name(port), reason.word()),
        };
        let mark = fate.mark.filter(|_| fate.ending == Ending::Delivered);
        let mark = mark.map_or(String::new(), |(port, at)| format!("{} {}", name(port), at.0));
        (scenario.vcs[fate.vc].name.clone(), fate.number, fate.time.0, ending, mark)
    };
    stepper.tracer_mut().take().into_iter().map(line).collect()
}

fn of_path(path: &Path, deliveries: &[Delivery], named: &BTreeMap<u64, (String, u32)>) -> Vec<Line> {
    let line = |delivery: &Delivery| {
        let (circuit, number) = named[&delivery.handle.number()].clone();
        let (ending, mark) = match delivery.fate {
            Fate::Delivered => ("delivered".to_string(), String::new()),
            Fate::Marked(mark) => {
                ("delivered".to_string(), format!("{} {}", path.port_name(mark.port), mark.at.picos()))
            }
            Fate::Cut => ("cut".to_string(), String::new()),
            Fate::Lost(loss) => (format!("{} {}", path.port_name(loss.port), loss.reason), String::new()),
            _ => unreachable!("all fates are here"),
        };
        (circuit, number, delivery.at.picos(), ending, mark)
    };
    deliveries.iter().map(line).collect()
}

#[test]
fn packets_have_the_fate_and_the_instant_that_they_have_in_a_scenario() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..networks() {
        let draws = &mut Draws::new(seed);
        let mut traffic = network(draws);
        let (mut now, mut deliveries, mut named) = (Time::ZERO, Vec::new(), BTreeMap::new());
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        for _ in 0..80 {
            now = later(draws, now);
            if draws.up_to(2) == 0 {
                deliveries.extend(traffic.path.take(now));
            }
            for (handle, flow, to) in traffic.offer(draws, now) {
                let circuit = traffic.path.flow_name(flow, to).unwrap().to_string();
                let number = numbers.entry(circuit.clone()).or_default();
                named.insert(handle.number(), (circuit, *number));
                *number += 1;
            }
        }
        deliveries.extend(traffic.path.take(now + std::time::Duration::from_millis(3)));
        let text = traffic.path.scenario_file();
        let scenario = load(&text, "scenario", &[]).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let (mut path, mut own) = (of_path(&traffic.path, &deliveries, &named), of_scenario(&scenario));
        path.sort();
        own.sort();
        assert_eq!(path, own, "seed {seed}:\n{text}");
        for (_, _, _, ending, mark) in path {
            *seen.entry(ending.split(' ').next_back().unwrap_or_default().to_string()).or_default() += 1;
            *seen.entry("marked".to_string()).or_default() += usize::from(!mark.is_empty());
        }
    }
    for what in ["delivered", "overflow", "marked", "link", "early", "delay", "random", "front"] {
        assert!(seen.get(what).is_some_and(|count| *count > 10), "too few are {what:?}: {seen:?}");
    }
}
