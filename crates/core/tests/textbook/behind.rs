//! What happens to packets behind a line, by a changing delay, repetitions and reordering: when each arrives, by a second reader.
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

/// Run packets through two routers with these keys of the line between them, and this reordering there; returns also the scenario.
fn passing(seed: u64, line: &Json, rules: &[Json], flows: &Json) -> (Passing, Scenario) {
    let mut out = json!({ "name": "out", "from": "r", "to": "s", "rate": "20 Mb/s", "delay": "3 ms" });
    line.as_object().unwrap().iter().for_each(|(key, value)| out[key] = value.clone());
    let text = json!({
        "name": "behind", "duration": "60 ms", "seed": seed, "adaptation": { "kind": "packet" },
        "node": [
            { "name": "a", "kind": "host" }, { "name": "r", "kind": "router" }, { "name": "s", "kind": "router" },
            { "name": "b", "kind": "host" },
        ],
        "link": [
            { "name": "in", "from": "a", "to": "r", "rate": "10 Gb/s", "delay": "0 s" },
            out,
            { "name": "last", "from": "s", "to": "b", "rate": "10 Gb/s", "delay": "0 s" },
        ],
        "flow": flows,
        "reorder": rules,
    });
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

/// Random entries of `[[reorder]]`.
fn rules(draw: &mut Stream) -> Vec<Json> {
    let rule = |draw: &mut Stream| {
        let by = format!("{} us", 1 + draw.up_to(9_000));
        match draw.chance(0.5) {
            true => json!({ "link": "out", "by": by, "share": format!("{} %", 1 + draw.up_to(60)) }),
            false => {
                let first = 1 + draw.up_to(9);
                json!({ "link": "out", "by": by, "packets": [first, first + 1 + draw.up_to(2), first + 9] })
            }
        }
    };
    (0..1 + draw.up_to(2)).map(|_| rule(draw)).collect()
}

/// A random delay that changes, or repetitions, or both.
fn keys(draw: &mut Stream) -> Json {
    let mut keys = json!({});
    if draw.chance(0.7) {
        let mut time = 0;
        let mut steps = Vec::new();
        for _ in 0..1 + draw.up_to(9) {
            steps.push(json!([format!("{time} us"), format!("{} us", draw.up_to(20) * draw.up_to(1_000))]));
            time += 1 + draw.up_to(9_000);
        }
        keys["delay"] = json!({ "steps": steps });
        if draw.chance(0.5) {
            keys["delay"]["period"] = format!("{} us", time + draw.up_to(9)).into();
        }
    }
    if keys.get("delay").is_none() || draw.chance(0.5) {
        let (share, delay, most) = (draw.up_to(80), 1 + draw.up_to(8_000), 1 + draw.up_to(4));
        keys["repeat"] =
            json!({ "share": format!("{share} %"), "delay": format!("{delay} us"), "most": most });
    }
    keys
}

fn ps(value: &Json) -> u64 {
    Span::parse(value.as_str().unwrap()).unwrap().0
}

fn share(value: &Json) -> f64 {
    value.as_str().unwrap().trim_end_matches(" %").parse::<f64>().unwrap() / 100.0
}

/// The delay of a line at an instant: that of the last step before it.
fn delay_at(keys: &Json, time: u64) -> u64 {
    let Some(law) = keys.get("delay") else { return 3_000_000_000 };
    let time = law.get("period").map_or(time, |period| time % ps(period));
    let mut found = 0;
    for step in law["steps"].as_array().unwrap() {
        if ps(&step[0]) <= time {
            found = ps(&step[1]);
        }
    }
    found
}

/// When packets arrive that leave at these times, by these keys and rules, and in which order; until the end of the run.
fn expected(found: &Passing, keys: &Json, rules: &[Json], scenario: &Scenario) -> Vec<(u64, Packet)> {
    let drawn = |what: &str| {
        Keyed::new(scenario.seed, format!("line.out.{what}")).about_circuits(&scenario.circuit_keys)
    };
    let repeats = drawn("repeat");
    let mut number = 0;
    let streams = rules.iter().map(|rule| {
        number += u64::from(rule.get("share").is_some());
        drawn(&format!("reorder.{}", number.max(1) - 1))
    });
    let streams: Vec<Keyed> = streams.collect();
    let (mut late, mut in_order, mut repeated) = (Vec::new(), 0, 0);
    for (number, (time, unit)) in (1u64..).zip(&found.departures) {
        in_order = in_order.max(time + delay_at(keys, *time));
        let mut arrives = in_order;
        if let Some(repeat) = keys.get("repeat") {
            let mut draws = repeats.about(unit.subject());
            for _ in 0..repeat["most"].as_u64().unwrap() {
                if draws.unit() >= share(&repeat["share"]) {
                    break;
                }
                arrives += ps(&repeat["delay"]);
            }
            repeated = repeated.max(arrives);
            arrives = repeated;
        }
        let by = rules.iter().zip(&streams).map(|(rule, stream)| {
            let is_held = match rule.get("share") {
                Some(part) => stream.about(unit.subject()).unit() < share(part),
                None => rule["packets"].as_array().unwrap().contains(&number.into()),
            };
            if is_held { ps(&rule["by"]) } else { 0 }
        });
        late.push((arrives + by.max().unwrap_or(0), named(unit)));
    }
    late.sort_by_key(|(time, _)| *time); // stable: of one instant in the order of the line
    late.retain(|(time, _)| *time < scenario.duration.0);
    late
}

#[test]
fn packets_that_are_held_back_arrive_as_the_second_reader_says() {
    let mut passed = 0;
    for seed in 0..400 {
        let draw = &mut Stream::new(seed, "behind");
        let (flows, rules) = (flows(draw), rules(draw));
        let (found, scenario) = passing(seed, &json!({}), &rules, &flows);
        assert_eq!(found.arrivals, expected(&found, &json!({}), &rules, &scenario), "seed {seed}: {rules:?}");
        passed += u64::from(!found.arrivals.is_sorted_by_key(|(_, (_, frame))| *frame));
    }
    assert!(passed > 100, "packets pass others in only {passed} runs");
}

#[test]
fn packets_arrive_by_a_changing_delay_and_repetitions_as_the_second_reader_says() {
    let (mut packets, mut together) = (0, 0);
    for seed in 0..600 {
        let draw = &mut Stream::new(seed, "delays");
        let (flows, keys) = (flows(draw), keys(draw));
        let rules = if draw.chance(0.3) { rules(draw) } else { Vec::new() };
        let (found, scenario) = passing(seed, &keys, &rules, &flows);
        assert_eq!(
            found.arrivals,
            expected(&found, &keys, &rules, &scenario),
            "seed {seed}: {keys} {rules:?}"
        );
        packets += found.arrivals.len();
        together += found.arrivals.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
    }
    assert!(
        packets > 10_000 && together > 100,
        "{packets} packets, {together} at the instant of another one"
    );
}
