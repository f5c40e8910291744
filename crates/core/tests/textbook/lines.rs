//! Lines whose rate changes: when each packet leaves, by a second reader.
//!
//! The simulator moves a cursor along the rates, and computes a departure when a packet starts. This reader keeps the arrivals in a
//! list. For rates it searches, by halves, for the picosecond in which the integral of the rate reaches the octets so far; for
//! opportunities it is the loop of mahimahi's `link_queue.cc`, opportunity by opportunity.

use std::collections::VecDeque;
use std::fmt::Write;

use pushout_core::engine::{Stopwatch, reference};
use pushout_core::network::circuit::Circuit;
use pushout_core::rng::Stream;
use pushout_core::scenario::load;
use pushout_core::serde_json::{Value as Json, json};
use pushout_core::trace::{Tracer, What};
use pushout_core::unit::Unit;
use pushout_core::units::ids::{CircuitId, IdVec, LineId};
use pushout_core::units::{PerSecond, Quantity, Rate, Span, Time};

/// Arrivals (instant and octets) and departures at one port.
struct Passing {
    port: LineId,
    arrivals: Vec<(u64, u64)>,
    departures: Vec<u64>,
}

impl Tracer for Passing {
    fn see(&mut self, now: Time, line: LineId, unit: &Unit, what: What, _: &IdVec<CircuitId, Circuit>) {
        if line == self.port {
            match what {
                What::Arrives => self.arrivals.push((now.0, unit.bytes.into())),
                What::Leaves => self.departures.push(now.0),
                _ => {}
            }
        }
    }
}

/// The packets of a port whose line has this law, with the end of the run.
fn packets(law: &Json, seed: u64, micros: u64, flows: &Json) -> Passing {
    let text = json!({
        "name": "line", "duration": format!("{micros} us"), "seed": seed, "adaptation": { "kind": "packet" },
        "node": [{ "name": "a", "kind": "host" }, { "name": "r", "kind": "router" }, { "name": "b", "kind": "host" }],
        "link": [
            { "name": "in", "from": "a", "to": "r", "rate": "10 Gb/s", "delay": "0 s" },
            { "name": "out", "from": "r", "to": "b", "rate": law, "delay": "1 us" },
        ],
        "flow": flows,
    });
    let scenario = load(&text.to_string(), "line.json", &[]).unwrap_or_else(|why| panic!("{why}\n{law}"));
    let port = scenario.lines.position(|line| line.name == "out").unwrap();
    let passing = Passing { port, arrivals: Vec::new(), departures: Vec::new() };
    reference::run_traced(&scenario, false, passing, &mut Stopwatch::default()).1
}

/// A law whose rate changes several times in `micros` microseconds, or in most of the packets of a slow one.
pub(crate) fn law(draw: &mut Stream, micros: u64) -> Json {
    let rate = |draw: &mut Stream| format!("{} kb/s", 1_000 << draw.up_to(7));
    let stop = |draw: &mut Stream| if draw.chance(0.3) { "0 b/s".to_string() } else { rate(draw) };
    let last = (micros / 4).max(10);
    match draw.up_to(5) {
        0 => {
            let steps = (0..1 + draw.up_to(6)).map(|step| {
                let rate = if step == 0 { rate(draw) } else { stop(draw) };
                json!([format!("{} ns", step * (1 + draw.up_to(last) / 8) * 1_000 + step), rate])
            });
            let mut steps: Vec<Json> = steps.collect();
            steps.sort_by_key(|step| {
                step[0].as_str().and_then(|time| time.split(' ').next()?.parse::<u64>().ok())
            });
            steps.dedup_by(|one, other| one[0] == other[0]);
            let mut law = json!({ "steps": steps });
            if draw.chance(0.5) {
                law["period"] = format!("{} us", last + draw.up_to(99) + 1).into();
            } else {
                let end = law["steps"].as_array().map_or(0, Vec::len) - 1;
                law["steps"][end][1] = rate(draw).into();
            }
            law
        }
        1 => {
            let mut text = "# seconds, bits per second\n0, 8000000\n".to_string();
            let mut time = 0;
            for _ in 0..draw.up_to(9) {
                time += 1 + draw.up_to(last / 4);
                let _ = writeln!(text, "{time} us; {}", stop(draw));
            }
            json!({ "trace": "rates.csv", "data": text, "period": format!("{} us", time + 1 + draw.up_to(50)) })
        }
        2 | 3 => {
            let (mut text, mut time) = (String::new(), 0);
            for _ in 0..1 + draw.up_to(12) {
                let _ = writeln!(text, "{time}");
                time += draw.up_to(2);
            }
            let _ = writeln!(text, "{}", time.max(1));
            let mut law = json!({ "trace": "cell.trace", "data": text });
            if draw.chance(0.5) {
                law["period"] = if draw.chance(0.5) {
                    json!("as-read")
                } else {
                    json!(format!("{} us", time.max(1) * 1000 + draw.up_to(3)))
                };
            }
            law
        }
        4 => {
            let every = 1 + draw.up_to(last.min(4_000));
            json!({ "grants": { "every": format!("{every} us"), "size": format!("{} bytes", 40 + draw.up_to(9_000)) } })
        }
        _ => {
            let changes = |draw: &mut Stream| format!("{} per s", 1 + 8_000_000 / last / (1 + draw.up_to(9)));
            json!({ "states": { "good": rate(draw), "bad": stop(draw), "to_bad": changes(draw), "to_good": changes(draw) } })
        }
    }
}

/// Flows of packets of several sizes.
fn flows(draw: &mut Stream) -> Json {
    let flow = |number: u64, draw: &mut Stream| {
        let rate = format!("{} kb/s", 400 << draw.up_to(5));
        let source = match draw.up_to(2) {
            0 => json!({ "kind": "cbr", "rate": rate, "size": format!("{} bytes", 12 + draw.up_to(2_000)) }),
            _ => {
                json!({ "kind": "poisson", "rate": rate, "size": format!("{} bytes", 12 + draw.up_to(5_000)) })
            }
        };
        json!({ "name": format!("f{number}"), "from": "a", "to": "b", "source": source, "transport": { "kind": "udp" } })
    };
    (0..1 + draw.up_to(2)).map(|number| flow(number, draw)).collect()
}

/// The rates of a law from each instant on, until some time after the end of a run.
fn table(law: &Json, seed: u64, until: u64) -> Vec<(u64, u64)> {
    let time = |text: &str| Span::parse(text).or_else(|_| Span::parse(&format!("{text} s"))).unwrap().0;
    let rate = |text: &str| Rate::parse(text).or_else(|_| Rate::parse(&format!("{text} b/s"))).unwrap().0;
    let text = |value: &Json| value.as_str().unwrap().to_string();
    if let Some(states) = law.get("states") {
        let mut stream = Stream::new(seed, "line.out.rate");
        let (mut found, mut now) = (Vec::new(), 0);
        for at in 0.. {
            let [name, leaves] = if at % 2 == 0 { ["good", "to_bad"] } else { ["bad", "to_good"] };
            found.push((now, rate(&text(&states[name]))));
            let changes = PerSecond::parse(&text(&states[leaves])).unwrap().as_f64();
            now += ((stream.exponential() * 1e12 / changes) as u64).max(1);
            if now > until {
                return found;
            }
        }
    }
    let steps: Vec<(u64, u64)> = match law.get("steps") {
        Some(steps) => {
            let steps = steps.as_array().unwrap().iter();
            steps.map(|step| (time(&text(&step[0])), rate(&text(&step[1])))).collect()
        }
        None => {
            let data = text(&law["data"]);
            let lines = data.lines().filter(|line| !line.starts_with('#'));
            let pair = |line: &str| {
                let (first, second) = line.split_once([',', ';']).unwrap();
                (time(first.trim()), rate(second.trim()))
            };
            lines.map(pair).collect()
        }
    };
    let Some(period) = law.get("period").map(|period| time(&text(period))) else { return steps };
    let laps = (0..=until / period).map(|lap| lap * period);
    laps.flat_map(|base| steps.iter().map(move |&(time, rate)| (base + time, rate))).collect()
}

/// The work done until an instant, in bits times 10^12.
fn work(table: &[(u64, u64)], until: u64) -> u128 {
    let mut sum = 0;
    for (at, &(from, rate)) in table.iter().enumerate() {
        let to = table.get(at + 1).map_or(until, |next| next.0.min(until));
        sum += u128::from(rate) * u128::from(to.saturating_sub(from));
    }
    sum
}

/// Departures of a line with these rates.
fn by_rates(table: &[(u64, u64)], arrivals: &[(u64, u64)], until: u64) -> Vec<u64> {
    let (mut done, mut found, mut free) = (0, Vec::new(), 0);
    for &(arrival, octets) in arrivals {
        if arrival > free {
            done = done.max(work(table, arrival));
        }
        done += u128::from(octets) * 8 * 1_000_000_000_000;
        if work(table, until) < done {
            break; // it leaves after the run
        }
        // the first picosecond at whose end as much is done; its beginning, unless it ends exactly there
        let (mut low, mut high) = (0, until);
        while low < high {
            let middle = low + (high - low) / 2;
            if work(table, middle) >= done { high = middle } else { low = middle + 1 }
        }
        free = if work(table, low) == done { low } else { low - 1 };
        found.push(free);
    }
    found
}

/// Departures of a line with these opportunities, after mahimahi's `link_queue.cc`.
fn by_opportunities(times: &[u64], period: u64, size: u64, arrivals: &[(u64, u64)], until: u64) -> Vec<u64> {
    let (mut next, mut base, mut left, mut queue, mut found) = (0, 0, 0, VecDeque::new(), Vec::new());
    let mut rationalise = |now: u64, queue: &mut VecDeque<u64>, found: &mut Vec<u64>| {
        while base + times[next] <= now {
            let (time, mut budget) = (base + times[next], size);
            next += 1;
            if next == times.len() {
                (next, base) = (0, base + period);
            }
            while budget > 0 {
                if left == 0 {
                    let Some(head) = queue.pop_front() else { break };
                    left = head;
                }
                let used = budget.min(left);
                (left, budget) = (left - used, budget - used);
                if left == 0 {
                    found.push(time);
                }
            }
        }
    };
    for &(arrival, octets) in arrivals {
        rationalise(arrival, &mut queue, &mut found);
        queue.push_back(octets);
    }
    rationalise(until, &mut queue, &mut found);
    found
}

/// Departures by the second reader.
fn expected(law: &Json, seed: u64, arrivals: &[(u64, u64)], until: u64) -> Vec<u64> {
    let time = |value: &Json| Span::parse(value.as_str().unwrap()).unwrap().0;
    if let Some(grants) = law.get("grants") {
        let size = grants["size"].as_str().unwrap().trim_end_matches(" bytes").parse().unwrap();
        return by_opportunities(&[time(&grants["every"])], time(&grants["every"]), size, arrivals, until);
    }
    if law["trace"] == "cell.trace" {
        let text = law["data"].as_str().unwrap();
        let times: Vec<u64> = text.lines().map(|line| line.parse::<u64>().unwrap() * 1_000_000_000).collect();
        let period =
            law.get("period").filter(|period| *period != "as-read").map_or(*times.last().unwrap(), time);
        return by_opportunities(&times, period, 1500, arrivals, until);
    }
    by_rates(&table(law, seed, until), arrivals, until)
}

#[test]
fn a_thousand_random_laws_deliver_as_the_second_reader_says_to_the_picosecond() {
    let (mut packets_seen, micros) = (0, 30_000);
    for seed in 0..1000 {
        let draw = &mut Stream::new(seed, "lines");
        let (law, flows) = (law(draw, micros), flows(draw));
        let Passing { arrivals, departures, .. } = packets(&law, seed, micros, &flows);
        let until = Span::micros(micros).0 - 1;
        assert_eq!(departures, expected(&law, seed, &arrivals, until), "seed {seed}: {law}");
        packets_seen += departures.len();
    }
    assert!(packets_seen > 20_000, "{packets_seen}");
}
