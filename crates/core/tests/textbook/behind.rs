//! What happens to packets behind a line: when each arrives, by a second reader.
//!
//! The simulator keeps the packets of such a line by their arrivals. This reader lists the departures of one port, adds to each the time that
//! the keys say, sorts, and compares with the arrivals at the next port.

use pushout_core::engine::{Stopwatch, reference};
use pushout_core::network::circuit::Circuit;
use pushout_core::rng::{Keyed, Stream};
use pushout_core::scenario::{load, model::Scenario};
use pushout_core::serde_json::{Value as Json, json};
use pushout_core::trace::{Tracer, What};
use pushout_core::unit::Unit;
use pushout_core::units::ids::{CircuitId, IdVec, LineId};
use pushout_core::units::{Quantity, Span, Time};

/// Packets at two ports: what leaves the first one, and what arrives at the second.
struct Passing {
    ports: [LineId; 2],
    departures: Vec<(u64, Unit)>,
    arrivals: Vec<(u64, Packet)>,
}

/// A packet by its circuit and its number there.
type Packet = (u32, u32);

fn named(unit: &Unit) -> Packet {
    (unit.vc.0, unit.frame)
}

impl Tracer for Passing {
    fn see(&mut self, now: Time, line: LineId, unit: &Unit, what: What, _: &IdVec<CircuitId, Circuit>) {
        match what {
            What::Leaves if line == self.ports[0] => self.departures.push((now.0, *unit)),
            What::Arrives if line == self.ports[1] => self.arrivals.push((now.0, named(unit))),
            _ => {}
        }
    }
}

const DELAY: u64 = 3_000_000_000;

/// Run packets through two routers with these keys of the line between them; returns also the scenario.
fn passing(seed: u64, keys: &Json, flows: &Json) -> (Passing, Scenario) {
    let mut text = json!({
        "name": "behind", "duration": "60 ms", "seed": seed, "adaptation": { "kind": "packet" },
        "node": [
            { "name": "a", "kind": "host" }, { "name": "r", "kind": "router" }, { "name": "s", "kind": "router" },
            { "name": "b", "kind": "host" },
        ],
        "link": [
            { "name": "in", "from": "a", "to": "r", "rate": "10 Gb/s", "delay": "0 s" },
            { "name": "out", "from": "r", "to": "s", "rate": "20 Mb/s", "delay": "3 ms" },
            { "name": "last", "from": "s", "to": "b", "rate": "10 Gb/s", "delay": "0 s" },
        ],
        "flow": flows,
    });
    for (key, value) in keys.as_object().unwrap() {
        text[key] = value.clone();
    }
    let scenario = load(&text.to_string(), "behind.json", &[]).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let port = |name: &str| scenario.lines.position(|line| line.name == name).unwrap();
    let passing =
        Passing { ports: [port("out"), port("last")], departures: Vec::new(), arrivals: Vec::new() };
    (reference::run_traced(&scenario, false, passing, &mut Stopwatch::default()).1, scenario)
}

fn flows(draw: &mut Stream) -> Json {
    let flow = |number: u64, draw: &mut Stream| {
        let (rate, size) = (500 << draw.up_to(4), 12 + draw.up_to(2_000));
        let kind = if draw.chance(0.5) { "cbr" } else { "poisson" };
        let source = json!({ "kind": kind, "rate": format!("{rate} kb/s"), "size": format!("{size} bytes") });
        json!({ "name": format!("f{number}"), "from": "a", "to": "b", "source": source, "transport": { "kind": "udp" } })
    };
    (0..1 + draw.up_to(3)).map(|number| flow(number, draw)).collect()
}

/// Arrivals of the packets in `late`, sorted by time; of one instant in the order of the line.
fn sorted(mut late: Vec<(u64, Packet)>, end: u64) -> Vec<(u64, Packet)> {
    late.sort_by_key(|(time, _)| *time);
    late.retain(|(time, _)| *time < end);
    late
}

#[test]
fn packets_that_are_held_back_arrive_as_the_second_reader_says() {
    let (mut passed, end) = (0, Span::millis(60).0);
    for seed in 0..400 {
        let draw = &mut Stream::new(seed, "behind");
        let flows = flows(draw);
        let rules: Vec<Json> = (0..1 + draw.up_to(2))
            .map(|_| {
                let by = format!("{} us", 1 + draw.up_to(9_000));
                match draw.chance(0.5) {
                    true => json!({ "link": "out", "by": by, "share": format!("{} %", 1 + draw.up_to(60)) }),
                    false => {
                        let first = 1 + draw.up_to(9);
                        json!({ "link": "out", "by": by, "packets": [first, first + 1 + draw.up_to(2), first + 9] })
                    }
                }
            })
            .collect();
        let (found, scenario) = passing(seed, &json!({ "reorder": rules }), &flows);
        let mut drawn = 0;
        let streams: Vec<Keyed> = rules
            .iter()
            .map(|rule| {
                let path = format!("line.out.reorder.{drawn}");
                drawn += u64::from(rule.get("share").is_some());
                Keyed::new(seed, path).about_circuits(&scenario.circuit_keys)
            })
            .collect();
        let late = (1u64..).zip(&found.departures).map(|(number, (time, unit))| {
            let by = rules.iter().zip(&streams).map(|(rule, stream)| {
                let share = rule["share"].as_str().and_then(|share| share.trim_end_matches(" %").parse::<f64>().ok());
                let is_held = match share {
                    Some(share) => stream.about(unit.subject()).unit() < share / 100.0,
                    None => rule["packets"].as_array().unwrap().contains(&number.into()),
                };
                if is_held { Span::parse(rule["by"].as_str().unwrap()).unwrap().0 } else { 0 }
            });
            (time + DELAY + by.max().unwrap(), named(unit))
        });
        let expected = sorted(late.collect(), end);
        assert_eq!(found.arrivals, expected, "seed {seed}: {rules:?}");
        passed += u64::from(!found.arrivals.is_sorted_by_key(|(_, (_, frame))| *frame));
    }
    assert!(passed > 100, "packets pass others in only {passed} runs");
}
