//! Delivery times of a report against those of a trace of the same run: from the instant at which new data enters the line of
//! the sending host until all data up to its last octet has left the line of the receiving host.

use std::collections::BTreeMap;

use crate::behaviour::both::run_on_both;
use pushout_core::engine::{self, Stopwatch, reference};
use pushout_core::report::report;
use pushout_core::rng::Stream;
use pushout_core::scenario::load;
use pushout_core::scenario::model::{EngineKind, Scenario};
use pushout_core::serde_json::Value as Json;
use pushout_core::trace::{TracedPacket, TracedPackets};
use pushout_core::units::ids::{FlowId, LineId};

/// The delivery times of flow number `flow` of a packet network, in ps, sorted: of what is delivered from the warm-up on.
fn of_trace(scenario: &Scenario, flow: usize) -> Vec<u64> {
    let tracer = TracedPackets::at(scenario, &["*".to_string()]).unwrap();
    let (_, tracer) = reference::run_traced(scenario, false, tracer, &mut Stopwatch::default());
    let packets = tracer.into_list();
    let path = &scenario.vcs[scenario.flows[FlowId::new(flow)].vc].path;
    let at = |line: LineId| {
        let is_data = move |packet: &&TracedPacket| {
            packet.port == line && packet.segment().is_some_and(|segment| segment.len > 0 && !segment.is_ack)
        };
        packets.iter().filter(is_data).filter(move |packet| packet.content.unwrap().0.index() == flow)
    };
    let (first, last) = (path[0], *path.last().unwrap());
    let delay = scenario.lines[last].delay.least().0;
    let end = scenario.duration.0;
    let came =
        at(last).filter(|packet| packet.sent == 1).map(|packet| (packet.done.0 + delay, range(packet)));
    delivered(&first_sent(at(first)), came.filter(|(at, _)| *at <= end))
        .filter(|(at, _)| *at >= scenario.warmup.0)
        .map(|(at, since)| at - since)
        .collect()
}

fn range(packet: &TracedPacket) -> (u64, u64) {
    let segment = packet.segment().unwrap();
    (segment.seq, segment.seq + u64::from(segment.len))
}

/// The octet after each piece of new data, and when it entered the first line.
fn first_sent<'a>(packets: impl Iterator<Item = &'a TracedPacket>) -> Vec<(u64, u64)> {
    let mut packets: Vec<_> =
        packets.map(|packet| (packet.arrived.0, packet.frame, range(packet).1)).collect();
    packets.sort();
    let mut sent = Vec::new();
    for (at, _, end) in packets {
        if sent.last().is_none_or(|(before, _)| end > *before) {
            sent.push((end, at));
        }
    }
    sent
}

/// Return when each piece of data has been delivered in order, and when it was sent first.
fn delivered(
    sent: &[(u64, u64)],
    came: impl Iterator<Item = (u64, (u64, u64))>,
) -> impl Iterator<Item = (u64, u64)> {
    let (mut next, mut pieces, mut out, mut waiting) =
        (0, sent.iter().peekable(), Vec::new(), BTreeMap::new());
    for (at, (start, end)) in came {
        let longest = waiting.entry(start).or_insert(end);
        *longest = end.max(*longest);
        while let Some((start, end)) = waiting.pop_first() {
            if start > next {
                waiting.insert(start, end);
                break;
            }
            next = next.max(end);
        }
        while let Some((_, since)) = pieces.next_if(|(end, _)| *end <= next) {
            out.push((at, *since));
        }
    }
    out.into_iter()
}

/// The reports of both engines, which must not differ.
fn document(scenario: &Scenario) -> Json {
    let [fast, slow] = [EngineKind::Fast, EngineKind::Reference].map(|engine| {
        let scenario = Scenario { engine, ..scenario.clone() };
        let mut document = report(&scenario, &engine::run(&scenario, false), None);
        document["engine"] = Json::Null;
        document
    });
    assert_eq!(fast, slow);
    fast
}

/// Compare a flow of a report with the trace; return how many segments it has delivered.
fn compare(scenario: &Scenario, document: &Json, flow: usize) -> usize {
    let mut times = of_trace(scenario, flow);
    times.sort();
    let entry = |key: &str| document["flows"][flow][format!("delivery_time_{key}_s")].as_f64();
    let seconds = |ps: u64| ps as f64 / 1e12;
    if times.is_empty() {
        assert_eq!(entry("mean"), None);
        return 0;
    }
    let near = |key: &str, wanted: f64| {
        let value = entry(key).unwrap_or_else(|| panic!("no {key}"));
        assert!((value - wanted).abs() <= 1e-9 * wanted, "{key} is {value}, and {wanted} in the trace");
    };
    let count = times.len();
    let mean = times.iter().map(|&time| seconds(time)).sum::<f64>() / count as f64;
    near("mean", mean);
    near("max", seconds(*times.last().unwrap()));
    let variance = times.iter().map(|&time| (seconds(time) - mean).powi(2)).sum::<f64>() / count as f64;
    assert!((entry("sd").unwrap() - variance.sqrt()).abs() <= 1e-6 * mean);
    for (key, percent) in [("p50", 50), ("p95", 95), ("p99", 99)] {
        let exact = seconds(times[(percent * count).div_ceil(100) - 1]);
        let value = entry(key).unwrap();
        assert!(
            value >= exact * (1.0 - 1e-9) && value <= exact * (1.0 + 1.0 / 128.0),
            "{key}: {value}, {exact}"
        );
    }
    count
}

/// A small packet network with losses: rates and buffers that make segments wait for repeated ones.
fn random(seed: u64) -> String {
    let mut draw = Stream::new(seed, "deliveries");
    let mut pick = |list: &[&'static str]| list[draw.up_to(list.len() as u64 - 1) as usize];
    let (rate, delay) = (pick(&["2 Mb/s", "10 Mb/s", "40 Mb/s"]), pick(&["0 s", "1 ms", "7 ms"]));
    let buffer = pick(&["3 kB", "8 kB", "40 kB"]);
    let (header, warmup) = (pick(&["0 bytes", "14 bytes"]), pick(&["0 s", "300 ms"]));
    let congestion = pick(&["reno", "new-reno", "cubic", "tahoe"]);
    let recovery =
        pick(&["sack = false", "sack = true, recovery = \"rack\"", "sack = true", "timestamps = true"]);
    let small = pick(&["200 bytes", "3000 bytes"]);
    let source = pick(&["{ kind = \"greedy\" }", "{ kind = \"file\", size = \"70 kB\", off = \"30 ms\" }"]);
    format!(
        r#"
        name = "deliveries"
        seed = {seed}
        duration = "1 s"
        warmup = "{warmup}"
        [topology]
        template = "dumbbell"
        sources = 3
        access = {{ rate = "100 Mb/s", delay = "{delay}" }}
        bottleneck = {{ rate = "{rate}", delay = "1 ms" }}
        egress = {{ rate = "100 Mb/s", delay = "10 us" }}
        [adaptation]
        kind = "packet"
        header = "{header}"
        [port.bottleneck]
        buffer = "{buffer}"
        [flows]
        source = {source}
        transport = {{ kind = "tcp", congestion = "{congestion}", mss = 1000, min_rto = "50 ms", slow_timer = "10 ms", {recovery} }}
        [[flow]]
        name = "flow3"
        source = {{ kind = "cbr", rate = "400 kb/s", size = "{small}" }}
        [measure]
        delivery = true
        "#
    )
}

/// Number of random networks, unless the environment sets another one.
const A_FEW: u64 = 20;

#[test]
fn delivery_times_on_random_networks_are_those_of_every_segment_in_the_trace() {
    let count = std::env::var("PUSHOUT_EQUIVALENCE").ok().and_then(|count| count.parse().ok());
    let count = count.unwrap_or(A_FEW);
    let mut segments = 0;
    for seed in 0..count {
        let text = random(seed);
        let scenario = load(&text, "deliveries.toml", &[]).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let document = document(&scenario);
        let all = 0..scenario.flows.len();
        segments += all.map(|flow| compare(&scenario, &document, flow)).sum::<usize>();
    }
    assert!(segments as u64 > 100 * count, "only {segments} segments");
}

#[test]
fn small_writes_beside_a_bulk_flow_count_each_of_their_segments() {
    let text = r#"
        name = "small-writes"
        duration = "10 s"
        [topology]
        template = "dumbbell"
        sources = 2
        access = { rate = "100 Mb/s", delay = "5 ms" }
        bottleneck = { rate = "10 Mb/s", delay = "5 ms" }
        egress = { rate = "100 Mb/s", delay = "10 us" }
        [adaptation]
        kind = "packet"
        [port.bottleneck]
        buffer = "60 kB"
        [flows]
        source = { kind = "greedy" }
        transport = { kind = "tcp", profile = "linux" }
        [[flow]]
        name = "flow2"
        source = { kind = "cbr", rate = "400 kb/s", size = "200 bytes" }
        [measure]
        delivery = true
        "#;
    let scenario = load(text, "small-writes.toml", &[]).unwrap_or_else(|why| panic!("{why}"));
    let document = document(&scenario);
    let counted = compare(&scenario, &document, 1);
    let sent = &document["flows"][1];
    let new = sent["segments_sent"].as_u64().unwrap() - sent["segments_retransmitted"].as_u64().unwrap();
    assert!(counted as u64 + 50 >= new, "{counted} of {new}: all but those under way");
}

#[test]
fn round_trips_are_named_where_every_transfer_ended_before_the_measured_time() {
    let report = run_on_both(
        "name = 'early'\nduration = '2 s'\nwarmup = '1 s'\nadaptation = { kind = 'packet' }\n\
         node = [{ name = 'a', kind = 'host' }, { name = 'r', kind = 'router' }, { name = 'b', kind = 'host' }]\n\
         link = [{ from = 'a', to = 'r', rate = '1 Gb/s', delay = '1 us' }, { from = 'r', to = 'b', rate = '1 Gb/s', delay = '1 us' }]\n\
         flows = { transport = { kind = 'tcp' } }\nmeasure = { delivery = true }\n\
         workload = { kind = 'list', data = \"from,to,bytes,start\\na,b,30000,0 s\\n\" }\n",
        &[],
    );
    let text = report.to_string();
    let missing = ["round_trip_min_s", "round_trip_mean_s", "round_trip_p99_s", "rpm"];
    assert!(missing.iter().all(|key| text.contains(&format!("\"{key}\":null"))), "{report:#}");
}
