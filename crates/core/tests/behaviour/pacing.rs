//! Paced senders in networks: when their packets start on the line of their host, and what is refused.

use pushout_core::audit::audit;
use pushout_core::engine::{self, Stopwatch};
use pushout_core::scenario::load;
use pushout_core::scenario::model::{EngineKind, Scenario};
use pushout_core::trace::TracedPackets;

use crate::behaviour::both::{entry, run_on_both};
use pushout_core::serde_json::Value as Json;

/// A sender at 1 Gb/s, 1 ms from a router that forwards to the receiver at 10 Gb/s: no packet waits there.
const PATH: &str = r#"
    name = "path"
    duration = "40 ms"
    adaptation = { kind = "packet" }
    node = [
      { name = "a", kind = "host" }, { name = "c", kind = "host" },
      { name = "r", kind = "router" }, { name = "b", kind = "host" },
    ]
    link = [
      { name = "in", from = "a", to = "r", rate = "1 Gb/s", delay = "1 ms" },
      { name = "side", from = "c", to = "r", rate = "1 Gb/s", delay = "1 ms" },
      { name = "out", from = "r", to = "b", rate = "10 Gb/s", delay = "1 ms" },
    ]
    [flows]
    source = { kind = "greedy" }
    [flows.transport]
    kind = "tcp"
    sack = true
    window = "1 MiB"
    handshake = false
    delayed_ack = false
    initial_window = 10
    slow_timer = "1 ps"
    min_rto = "200 ms"
    pacing = true
    [[flow]]
    name = "f"
    from = "a"
    to = "b"
"#;

/// A second flow of the host.
const SECOND: &str = "[[flow]]\nname = \"g\"\nfrom = \"a\"\nto = \"b\"\n";

fn scenario(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    load(text, "path.toml", &sets).unwrap_or_else(|why| panic!("{why}"))
}

/// When segments with data arrive at a port, each with its flow and its number, on both engines. A port that is recorded judges every
/// packet on the fast engine; others compute when their line is free.
fn arrivals_on(text: &str, sets: &[&str], port: &str) -> Vec<(usize, u64, u64)> {
    let record = |engine: EngineKind| {
        let scenario = Scenario { engine, ..scenario(text, sets) };
        let packets = TracedPackets::at(&scenario, &[port.to_string()]).unwrap();
        let (outcome, packets) = engine::run_recorded(&scenario, true, packets, &mut Stopwatch::default());
        assert_eq!(audit(&scenario, &outcome).failures, Vec::<String>::new());
        let mut found: Vec<(u64, usize, u64)> = Vec::new();
        for packet in packets.into_list() {
            let segment = packet.segment().unwrap();
            if !segment.is_ack && segment.len > 0 {
                found.push((packet.arrived.0, packet.content.unwrap().0.index(), segment.seq));
            }
        }
        found.sort_unstable();
        found.into_iter().map(|(time, flow, seq)| (flow, seq, time)).collect::<Vec<_>>()
    };
    let (fast, reference) = (record(EngineKind::Fast), record(EngineKind::Reference));
    assert!(fast.len() >= 10);
    assert_eq!(fast, reference);
    fast
}

/// When segments with data start on the line of their host: recorded there, or at the router, where the packet arrives later by a constant.
fn starts(text: &str, sets: &[&str]) -> Vec<(usize, u64, u64)> {
    let first = arrivals_on(text, sets, "in");
    let later = arrivals_on(text, sets, "out");
    let delay = 1_000_000_000 + 12_000_000; // 1500 octets at 1 Gb/s, and 1 ms
    let same = first.iter().zip(&later).all(|(one, other)| one.2 + delay == other.2);
    assert!(same, "the port computes or judges, with one result:\n{:?}\n{:?}", &first[..10], &later[..10]);
    first
}

fn times(starts: &[(usize, u64, u64)]) -> Vec<u64> {
    starts.iter().map(|(.., time)| *time).collect()
}

#[test]
fn the_first_window_takes_a_millisecond_without_a_round_trip_and_its_distances_are_exact() {
    let starts = starts(PATH, &[]);
    // 10 · 1460 octets in 1 ms are 116.8 Mb/s; 1500 octets take 12 000 / 116.8 us
    let expected: Vec<u64> = (0..10).map(|n: u64| n * 12_000 * 1_000_000_000_000 / 116_800_000).collect();
    assert_eq!(times(&starts)[..10], expected);
}

#[test]
fn a_new_connection_paces_its_first_window_without_the_round_trips_of_the_last_one() {
    let files = "flows.source={kind=\"file\", size=\"14600 bytes\", at=[\"0 s\", \"20 ms\"]}";
    let times = times(&starts(PATH, &[files]));
    let (first, second) = times.split_at(times.len() / 2);
    let distances = |times: &[u64]| times.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
    assert_eq!((first.len(), second[0] - first[0]), (10, 20_000_000_000));
    assert_eq!(distances(second), distances(first));
}

#[test]
fn what_the_line_adds_counts() {
    let sets = ["adaptation.header='38 bytes'"];
    let starts = arrivals_on(PATH, &sets, "in");
    let expected: Vec<u64> = (0..10).map(|n: u64| n * 12_304 * 1_000_000_000_000 / 116_800_000).collect();
    assert_eq!(times(&starts)[..10], expected);
}

#[test]
fn after_a_handshake_the_first_window_is_sent_at_twice_its_rate_in_a_round_trip() {
    let starts = starts(PATH, &["flows.transport.handshake=true"]);
    // the SYN of 40 octets takes 320 ns + 1 ms and 32 ns + 1 ms, and so does its answer
    let rtt: u64 = 2 * (2_000_000 + 320 + 32);
    let rate = 2 * 10 * 1460 * 8 * 1_000_000_000 / rtt;
    let expected: Vec<u64> =
        (0..10).map(|n: u64| 1000 * rtt + n * 12_000 * 1_000_000_000_000 / rate).collect();
    assert_eq!(times(&starts)[..10], expected);
}

#[test]
fn beyond_half_of_the_threshold_the_rate_is_a_fifth_above_the_window() {
    let sets = ["flows.transport.handshake=true", "flows.transport.initial_ssthresh='20000 bytes'"];
    let starts = starts(PATH, &sets);
    let rtt: u64 = 2 * (2_000_000 + 320 + 32);
    let rate = 10 * 1460 * 8 * 1_200_000_000 / rtt;
    let expected: Vec<u64> =
        (0..10).map(|n: u64| 1000 * rtt + n * 12_000 * 1_000_000_000_000 / rate).collect();
    assert_eq!(times(&starts)[..10], expected);
}

#[test]
fn a_window_that_opens_late_sends_no_burst_beyond_the_one_that_is_allowed() {
    // the ACKs of the second round trip are lost but for the last one, which opens the whole window
    let lost: Vec<String> = (11..28).map(|packet| packet.to_string()).collect();
    let text = format!("{PATH}\n[[loss]]\nlink = \"out.back\"\npackets = [{}]\n", lost.join(", "));
    for (burst, packets) in [("1 packet", 1), ("3 packets", 3), ("4500 bytes", 3), ("5999 bytes", 3)] {
        let starts = starts(&text, &[&format!("flows.transport.pacing={{burst='{burst}'}}")]);
        let times: Vec<u64> = times(&starts).into_iter().filter(|time| *time < 12_000_000_000).collect();
        let back_to_back = |pair: &[u64]| pair[1] - pair[0] <= 12_000_000;
        let mut longest = 1;
        let mut run = 1;
        for pair in times[10..].windows(2) {
            run = if back_to_back(pair) { run + 1 } else { 1 };
            longest = longest.max(run);
        }
        assert_eq!(longest, packets, "{burst}");
        let unpaced = arrivals_on(&text, &["flows.transport.pacing=false"], "in");
        assert!(unpaced.windows(8).any(|part| part[7].2 == part[0].2), "at once without pacing");
    }
}

#[test]
fn two_flows_at_half_the_rate_of_their_line_take_turns() {
    let text = format!("{PATH}{SECOND}");
    // each has a first window of 10 · 1460 octets in 1 ms; the line has the rate of two, headers included
    let sets = ["link.in.rate='240 Mb/s'"];
    let starts = arrivals_on(&text, &sets, "in");
    let flows: Vec<usize> = starts[..20].iter().map(|(flow, ..)| *flow).collect();
    assert_eq!(flows, [0, 1].repeat(10));
    let one: Vec<u64> = starts[..20].iter().filter(|(flow, ..)| *flow == 0).map(|(.., time)| *time).collect();
    let expected: Vec<u64> = (0..10).map(|n: u64| n * 12_000 * 1_000_000_000_000 / 116_800_000).collect();
    assert_eq!(one, expected);
    let other: Vec<u64> =
        starts[..20].iter().filter(|(flow, ..)| *flow == 1).map(|(.., time)| *time).collect();
    assert_eq!(other[0], 50_000_000, "when the line is free");
}

#[test]
fn acknowledgements_of_the_host_pass_the_data_that_wait() {
    // b sends to a as well, so that a acknowledges while its own flows wait for a slow line
    let text = format!("{PATH}{SECOND}[[flow]]\nname = \"back\"\nfrom = \"b\"\nto = \"a\"\n");
    let document = run_on_both(&text, &["link.in.rate='20 Mb/s'", "measure.delivery=true"]);
    assert!(document["flows"][0]["goodput_bps"].as_f64().unwrap() > 1e6);
    let unpaced = run_on_both(&text, &["link.in.rate='20 Mb/s'", "flows.transport.pacing=false"]);
    let waits = |document: &Json| entry(document, "ports", "in")["occupancy_max"].as_u64();
    // a packet in transmission and acknowledgements, never a second packet; otherwise the windows of both flows
    assert!(
        waits(&document) < Some(2 * 1500) && waits(&unpaced) > Some(20_000),
        "{:?} {:?}",
        waits(&document),
        waits(&unpaced)
    );
}

#[test]
fn paced_flows_of_classes_that_pause_obey_one_by_one() {
    let text = format!(
        "{PATH}queue = \"one\"\n{SECOND}queue = \"two\"\n\
         [queue.one]\n[queue.two]\n\
         [memory.chip]\nsize = \"2 MB\"\npool.all = {{}}\n\
         [port.out]\nmemory = \"chip\"\n\
         [[storm]]\nport = \"in\"\nqueue = \"one\"\nfrom = \"300 us\"\nto = \"900 us\"\n"
    );
    let starts = arrivals_on(&text, &[], "in");
    let of = |flow: usize| -> Vec<u64> {
        starts.iter().filter(|(own, ..)| *own == flow).map(|(.., time)| *time / 1_000_000).collect()
    };
    assert!(of(0).iter().all(|at| *at <= 300 || *at >= 900) && of(0).contains(&900), "{:?}", of(0));
    assert!(of(1).iter().filter(|at| (301..900).contains(*at)).count() >= 5, "{:?}", of(1));
}

#[test]
fn an_unpaced_flow_keeps_every_figure_beside_other_hosts_that_pace() {
    let side = "[[flow]]\nname = \"s\"\nfrom = \"c\"\nto = \"b\"\ntransport.pacing = true\n";
    let plain = PATH.replace("pacing = true", "pacing = \"auto\"");
    let alone = run_on_both(&plain, &[]);
    let off = run_on_both(&plain, &["flows.transport.pacing=false"]);
    assert_eq!(alone["flows"], off["flows"]);
    let beside = run_on_both(&format!("{plain}{side}"), &["link.out.rate='100 Gb/s'"]);
    let alone = run_on_both(&plain, &["link.out.rate='100 Gb/s'"]);
    assert_eq!(alone["flows"][0]["goodput_bps"], beside["flows"][0]["goodput_bps"]);
}

#[test]
fn files_of_paced_senders_end_and_lose_nothing_that_stays_lost() {
    let sets = [
        "flows.source={kind='file', size='300 kB', off='1 ms'}",
        "duration='300 ms'",
        "link.out.rate='20 Mb/s'",
        "port.out.buffer='12 packets'",
    ];
    for kind in ["sack=true", "sack=false", "congestion='cubic'", "congestion='tahoe'", "recovery='rack'"] {
        let kind = format!("flows.transport.{kind}");
        let document = run_on_both(PATH, &[&sets[..], &[kind.as_str()]].concat());
        let flow = &document["flows"][0];
        assert!(flow["transfers"]["count"].as_u64().is_none_or(|count| count >= 1), "{kind}: {flow:#}");
        assert!(flow["goodput_bps"].as_f64().unwrap() > 4e6, "{kind}: {flow:#}");
    }
}

fn refused(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    load(text, "path.toml", &sets).expect_err("the scenario is refused").message
}

#[test]
fn pacing_is_refused_where_it_cannot_be() {
    let cases: [(&[&str], &[&str]); 7] = [
        (
            &["flows.transport.pacing={burst='1499 bytes'}"],
            &["transport.pacing.burst", "at least 1 packet, which has 1500 bytes"],
        ),
        (&["flows.transport.pacing={burst='0 packets'}"], &["transport.pacing.burst", "at least 1 packet"]),
        (
            &["flows.transport.pacing={burst='two'}"],
            &["pacing.burst", "must be packets or octets", "\"two\""],
        ),
        (
            &["flows.transport.pacing='yes'"],
            &["transport.pacing", "must be true, false, \"auto\" or a table", "\"yes\""],
        ),
        (&["flows.transport.pacing={bursts='1 packet'}"], &["bursts", "did you mean \"burst\""]),
        (&["flows.processing='1 us'"], &["transport.pacing", "processing = \"0 s\""]),
        (&["flows.transport.paced=true"], &["unknown key \"paced\": it is called \"pacing\" here"]),
    ];
    for (sets, parts) in cases {
        let message = refused(PATH, sets);
        assert!(parts.iter().all(|part| message.contains(part)), "{sets:?}: {message}");
    }
    let cells = PATH.replace("router", "switch").replace("kind = \"packet\"", "kind = \"aal5\"");
    let message = refused(&cells, &[]);
    let parts = ["transport.pacing", "line \"in\" carries cells", "medium of the route to \"packets\""];
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    for (kind, source) in [
        ("udp", "'cbr', rate='1 Mb/s'"),
        ("cells", "'cbr', rate='1 Mb/s'"),
        ("fec", "'fec-block', peak='1 Mb/s', activity=0.5"),
    ] {
        let source = format!("flows.source={{kind={source}}}");
        let message = refused(PATH, &[&source, &format!("flows.transport={{kind='{kind}', pacing=true}}")]);
        let told = "unknown key \"pacing\": only a sender with a window paces: it is a key of transport = { kind = \"tcp\" }";
        assert!(message.contains(told), "{kind}: {message}");
    }
}
