//! Packets that a link holds back, while others pass them.

use crate::behaviour::both::{entry, run_on_both as run};
use pushout_core::scenario::load;
use pushout_core::serde_json::Value as Json;

/// A packet of 1250 octets each millisecond over a line of 10 Mb/s, which takes a millisecond for it, and 5 ms of delay.
const LINE: &str = r#"
    name = "reordering"
    duration = "1 s"
    adaptation = { kind = "packet" }
    node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
    link = [
        { name = "in", from = "a", to = "r", rate = "1 Gb/s", delay = "0 s" },
        { name = "out", from = "r", to = "b", rate = "10 Mb/s", delay = "5 ms" },
    ]
    [[flow]]
    name = "f"
    from = "a"
    to = "b"
    source = { kind = "cbr", rate = "8 Mb/s", size = "1222 bytes" }
    transport = { kind = "udp" }
    [measure]
    delivery = true
"#;

/// TCP over the same network: a transfer of 100 packets, with the acknowledgements on the line back.
const TCP: [&str; 2] = [
    "flow.f.source={ kind = 'file', size = '146000 bytes' }",
    "flow.f.transport={ kind = 'tcp', congestion = 'new-reno', mss = 1460 }",
];

fn held(document: &Json) -> u64 {
    entry(document, "ports", "out")["held_back"].as_u64().unwrap()
}

fn run_with(sets: &[&str], reorder: &str) -> Json {
    let reorder = format!("reorder=[{reorder}]");
    run(LINE, &[sets, &[&reorder]].concat())
}

#[test]
fn a_packet_that_is_held_back_is_late_by_this_time_and_no_other_one_is() {
    let document = run_with(&[], "{ link = 'out', packets = [3, 7], by = '20 ms' }");
    assert_eq!(held(&document), 2);
    let flow = entry(&document, "flows", "f");
    let delay = |key: &str| flow[key].as_f64().unwrap();
    // 6 ms on the line, and 10 us before; two of 800 packets lie above the 99th percentile
    assert!((delay("delivery_time_max_s") - 0.026_01).abs() < 1e-6, "{}", delay("delivery_time_max_s"));
    assert!((delay("delivery_time_p99_s") - 0.006_01).abs() < 6e-5, "{}", delay("delivery_time_p99_s"));
}

#[test]
fn a_sender_takes_reordering_for_loss_and_sends_again_what_has_arrived() {
    let sent_again = |reorder: &str| {
        let document = run_with(&TCP, reorder);
        let flow = entry(&document, "flows", "f");
        (flow["segments_retransmitted"].as_u64().unwrap(), flow["timeouts"].as_u64().unwrap())
    };
    assert_eq!(
        sent_again("{ link = 'in', packets = [200], by = '10 ms' }"),
        (0, 0),
        "no packet has this number"
    );
    assert_eq!(sent_again("{ link = 'out', packets = [30], by = '2 ms' }"), (0, 0), "one packet passes it");
    let (again, timeouts) = sent_again("{ link = 'out', packets = [30], by = '20 ms' }");
    assert!(again >= 1 && timeouts == 0, "{again} {timeouts}");
}

#[test]
fn the_share_of_packets_that_are_held_back_is_the_one_asked_for() {
    let sets = ["duration=100 s"];
    let document = run_with(&sets, "{ link = 'out', share = '10 %', by = '5 ms' }");
    let (held, all) = (held(&document), entry(&document, "ports", "out")["units_out"].as_u64().unwrap());
    // 80000 packets: a deviation of 0.106 %
    assert!((held as f64 / all as f64 - 0.1).abs() < 0.0045, "{held} of {all}");
    assert_eq!(entry(&document, "ports", "out")["lost"], pushout_core::serde_json::json!({}));
}

#[test]
fn of_two_entries_the_longest_time_counts() {
    let two =
        "{ link = 'out', packets = [3], by = '20 ms' }, { link = 'out', packets = [3, 5], by = '30 ms' }";
    let document = run_with(&[], two);
    assert_eq!(held(&document), 2);
    let most = entry(&document, "flows", "f")["delivery_time_max_s"].as_f64().unwrap();
    assert!((most - 0.036_01).abs() < 1e-6, "{most}");
}

#[test]
fn entries_that_cannot_be_meant_are_refused_with_the_remedy() {
    let told =
        |reorder: &str| load(LINE, "x.toml", &[format!("reorder=[{{ {reorder} }}]")]).unwrap_err().message;
    for (reorder, why) in [
        ("link = 'out', by = '1 ms'", "must have exactly one of the keys share and packets"),
        ("link = 'out', by = '1 ms', share = '1 %', packets = [1]", "must have exactly one of the keys"),
        ("link = 'out', by = '0 s', share = '1 %'", "reorder[0].by must be greater than 0 s, not \"0 s\""),
        ("link = 'out', by = '7200 s', share = '1 %'", "by must be at most an hour"),
        ("link = 'out', by = '1 ms', share = '0 %'", "share must be greater than 0 % and at most 100 %"),
        ("link = 'out', by = '1 ms', share = '101 %'", "share must be greater than 0 % and at most 100 %"),
        ("link = 'out', by = '1 ms', packets = [3, 3]", "give the numbers in increasing order"),
        ("link = 'out', by = '1 ms', packets = [0]", "must be numbers from 1"),
        ("link = 'ouf', by = '1 ms', packets = [1]", "unknown link \"ouf\""),
        ("link = 'out', packets = [1]", "by"),
    ] {
        assert!(told(reorder).contains(why), "{reorder}: {}", told(reorder));
    }
}

#[test]
fn cells_of_a_frame_are_not_reordered() {
    let lan = include_str!("../../../../scenarios/lan.toml");
    let set = "reorder=[{ link = 'bottleneck', by = '1 ms', share = '1 %' }]".to_string();
    let why = load(lan, "x.toml", &[set]).unwrap_err().message;
    assert!(why.contains("\"bottleneck\" carries cells, and the cells of a frame keep their order"), "{why}");
}
