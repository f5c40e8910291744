//! Losses by intent: the packets that a link loses, and the reactions of senders, on every engine.

use crate::behaviour::both::{entry, run_on_both};
use pushout_core::serde_json::{Value as Json, json};

/// A packet of 1000 octets of IP every millisecond, the first at the start, and a TCP transfer beside it.
const PACKETS: &str = r#"
    name = "lossy"
    duration = "1 s"
    adaptation = { kind = "packet" }
    node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
    link = [
        { name = "in", from = "a", to = "r", rate = "1 Gb/s", delay = "10 us" },
        { name = "out", from = "r", to = "b", rate = "100 Mb/s", delay = "1 ms" },
    ]
    [[flow]]
    name = "steady"
    from = "a"
    to = "b"
    source = { kind = "cbr", rate = "8 Mb/s", size = "972 bytes" }
    transport = { kind = "udp" }
    [[flow]]
    name = "file"
    from = "a"
    to = "b"
    start = "500 us"
    source = { kind = "file", size = "146 kB", off = "10 s" }
    transport = { kind = "tcp", congestion = "reno", handshake = false, initial_window = 4 }
"#;

/// The losses by intent of a port.
fn lost(report: &Json, port: &str) -> u64 {
    entry(report, "ports", port)["lost"]["link"].as_u64().unwrap_or(0)
}

fn flow<'a>(report: &'a Json, name: &str) -> &'a Json {
    entry(report, "flows", name)
}

#[test]
fn without_the_section_nothing_is_lost() {
    let report = run_on_both(PACKETS, &[]);
    assert_eq!((lost(&report, "in"), lost(&report, "out")), (0, 0));
    assert_eq!(flow(&report, "steady")["segments_received"], json!(999));
}

#[test]
fn packets_are_lost_by_number_at_the_link_that_is_named() {
    let report = run_on_both(PACKETS, &["loss=[{link='out', flow='steady', packets=[14, 28]}]"]);
    assert_eq!((lost(&report, "in"), lost(&report, "out")), (0, 2));
    assert_eq!(flow(&report, "steady")["segments_received"], json!(997));
    assert_eq!(flow(&report, "file")["segments_retransmitted"], json!(0));
}

#[test]
fn a_single_lost_segment_costs_one_fast_retransmission_and_no_timeout() {
    let report = run_on_both(PACKETS, &["loss=[{link='out', flow='file', packets=[14]}]"]);
    let file = flow(&report, "file");
    assert_eq!(file["fast_retransmits"], json!(1));
    assert_eq!(file["timeouts"], json!(0));
    assert_eq!(file["transfers"], json!(1));
}

#[test]
fn acknowledgements_are_lost_on_the_way_back() {
    let report = run_on_both(PACKETS, &["loss=[{link='out.back', flow='file', packets=[1, 2, 3]}]"]);
    assert_eq!((lost(&report, "out.back"), lost(&report, "out")), (3, 0));
}

#[test]
fn the_interface_of_a_host_can_lose_packets_as_well() {
    let report = run_on_both(PACKETS, &["loss=[{link='in', packets=[1, 2]}]"]);
    assert_eq!(lost(&report, "in"), 2);
}

/// From 100 ms to before 200 ms, 100 packets arrive at the far end of a delay of 18 µs.
#[test]
fn an_outage_loses_what_arrives_while_the_link_is_down() {
    let sets = ["flow.file.stop='1 ms'", "loss=[{link='out', down=[['100 ms', '200 ms']], flow='steady'}]"];
    let report = run_on_both(PACKETS, &sets);
    assert_eq!(lost(&report, "out"), 100);
    let sets = ["loss=[{link='out', flow='steady', down=[['100 ms', '200 ms'], ['300 ms', '310 ms']]}]"];
    assert_eq!(lost(&run_on_both(PACKETS, &sets), "out"), 110);
}

#[test]
fn losses_before_the_measured_time_are_not_reported_but_their_numbers_count() {
    let sets = ["warmup='20 ms'", "loss=[{link='out', flow='steady', packets=[14, 28]}]"];
    assert_eq!(lost(&run_on_both(PACKETS, &sets), "out"), 1);
}

#[test]
fn random_losses_are_those_of_their_chain_and_of_the_seed() {
    let gilbert = "loss=[{link='out', flow='steady', gilbert={to_bad=0.05, to_good=0.5}}]";
    let report = run_on_both(PACKETS, &["duration='20 s'", gilbert]);
    let share = lost(&report, "out") as f64 / 20_000.0;
    assert!((share - 0.05 / 0.55).abs() < 0.01, "{share}");
    let other = run_on_both(PACKETS, &["duration='20 s'", "seed=2", gilbert]);
    assert_ne!(lost(&report, "out"), lost(&other, "out"));
}

#[test]
fn a_frame_is_lost_by_its_number_at_the_source_whatever_was_lost_before() {
    let upstream = "{link='in', packets=[1, 2, 3, 4, 5]}";
    let frames = "{link='out', flow='steady', frames=[14, 28]}";
    let report = run_on_both(PACKETS, &[&format!("loss=[{upstream}, {frames}]")]);
    assert_eq!((lost(&report, "in"), lost(&report, "out")), (5, 2));
    let cells = [
        "adaptation={kind='aal5'}",
        "node=[{name='a', kind='host'}, {name='r', kind='switch'}, {name='b', kind='host'}]",
        "loss=[{link='out', flow='steady', frames=[2, 50]}]",
    ];
    assert_eq!(lost(&run_on_both(PACKETS, &cells), "out"), 2 * 21, "cells");
}

#[test]
fn a_lost_cell_costs_its_frame() {
    let cells = [
        "adaptation={kind='aal5'}",
        "node=[{name='a', kind='host'}, {name='r', kind='switch'}, {name='b', kind='host'}]",
        "loss=[{link='out', flow='steady', cells=[2, 50, 51]}]", // frames have 21 cells: the first and the third
    ];
    let report = run_on_both(PACKETS, &cells);
    assert_eq!(lost(&report, "out"), 3);
    let with = flow(&report, "steady")["goodput_bps"].as_f64().unwrap();
    let without = run_on_both(PACKETS, &cells[..2]);
    let without = flow(&without, "steady")["goodput_bps"].as_f64().unwrap();
    assert_eq!((without - with).round(), 2.0 * 972.0 * 8.0);
}

/// A TCP connection whose acknowledgements are lost in bursts, and a second host.
const LOST_ACKNOWLEDGEMENTS: &str = r#"
    name = "idle"
    duration = "3 s"
    adaptation = { kind = "packet" }
    node = [
        { name = "a", kind = "host" }, { name = "c", kind = "host" },
        { name = "r", kind = "router" }, { name = "b", kind = "host" },
    ]
    link = [
        { name = "in", from = "a", to = "r", rate = "100 Mb/s", delay = "1 ms" },
        { name = "in2", from = "c", to = "r", rate = "100 Mb/s", delay = "1 ms" },
        { name = "out", from = "r", to = "b", rate = "10 Mb/s", delay = "5 ms" },
    ]
    port.out.buffer = "30 packets"
    loss = [{ link = "out.back", gilbert = { to_bad = 0.05, to_good = 0.5 } }]
    flows = { transport = { kind = "tcp" }, source = { kind = "greedy" } }
"#;

#[test]
fn idle_flow_and_losses() {
    let (sending, idle) =
        ("{ name='f', from='a', to='b' }", "{ name='idle', from='c', to='b', start='100 s' }");
    for seed in 1..=5 {
        let seed = format!("seed={seed}");
        let sent = |flows: &str| {
            let report = run_on_both(LOST_ACKNOWLEDGEMENTS, &[&seed, &format!("flow=[{flows}]")]);
            let mut flow = entry(&report, "flows", "f").clone();
            flow["vc"] = json!(null); // a number among all
            (flow, entry(&report, "ports", "out.back").clone())
        };
        let alone = sent(sending);
        assert!(alone.1["lost"]["link"].as_u64() > Some(0), "{seed}: {:?}", alone.1);
        assert_eq!(alone, sent(&format!("{sending}, {idle}")), "{seed}");
        assert_eq!(alone, sent(&format!("{idle}, {sending}")), "{seed}");
    }
}
