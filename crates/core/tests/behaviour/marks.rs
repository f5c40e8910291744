//! Congestion marks through whole networks: the marks of ports arrive, senders react, and both engines agree.

use crate::behaviour::both::{entry, run_on_both};
use pushout_core::engine;
use pushout_core::scenario::load;
use pushout_core::serde_json::{Value as Json, json};

/// Four datagrams meet at a port every 40 ms, and the fourth finds three; after a public report about ECN in RED.
pub(crate) const DATAGRAMS: &str = r#"
    name = "datagrams"
    duration = "400 s"
    adaptation = { kind = "packet" }
    node = [
        { name = "a0", kind = "host" }, { name = "a1", kind = "host" }, { name = "a2", kind = "host" },
        { name = "a3", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" },
    ]
    link = [
        { from = "a0", to = "r", rate = "100 Mb/s", delay = "0 s" },
        { from = "a1", to = "r", rate = "100 Mb/s", delay = "0 s" },
        { from = "a2", to = "r", rate = "100 Mb/s", delay = "0 s" },
        { from = "a3", to = "r", rate = "100 Mb/s", delay = "0 s" },
        { name = "out", from = "r", to = "b", rate = "1 Mb/s", delay = "0 s" },
    ]
    flow = [
        { name = "f0", from = "a0", to = "b" }, { name = "f1", from = "a1", to = "b" },
        { name = "f2", from = "a2", to = "b" }, { name = "f3", from = "a3", to = "b" },
    ]
    [port.out]
    buffer = "100 packets"
    [port.out.admission]
    policy = "red"
    min_threshold = "2 packets"
    max_threshold = "4 packets"
    weight = 1.0
    max_p = 0.5
    action = "mark"
    [flows]
    source = { kind = "cbr", rate = "200 kb/s", size = "972 bytes" }
    transport = { kind = "udp", ecn = true }
"#;

fn sum(table: &Json) -> u64 {
    table.as_object().map_or(0, |table| table.values().map(|count| count.as_u64().unwrap()).sum())
}

/// A figure of all flows together.
fn of_flows(document: &Json, key: &str) -> u64 {
    let flows = document["flows"].as_array().unwrap();
    flows.iter().map(|flow| flow[key].as_u64().unwrap()).sum()
}

#[test]
fn a_third_of_the_packets_that_meet_three_is_marked_and_none_is_lost() {
    let document = run_on_both(DATAGRAMS, &[]);
    let port = entry(&document, "ports", "out");
    assert_eq!(port["lost"], json!({}));
    let (marked, arrived) = (sum(&port["marked"]) as f64, port["units_in"].as_u64().unwrap() as f64);
    assert!((4.0 * marked / arrived - 1.0 / 3.0).abs() < 0.005, "{marked} of {arrived}");
    let received = of_flows(&document, "segments_marked");
    assert!(received.abs_diff(marked as u64) <= 4, "{received} of {marked}");
    assert_eq!(of_flows(&document, "mark_reactions"), 0, "datagrams do not react");
}

#[test]
fn packets_that_do_not_react_to_marks_are_lost_instead() {
    let document = run_on_both(DATAGRAMS, &["flows.transport.ecn=false"]);
    let port = entry(&document, "ports", "out");
    let (lost, arrived) =
        (port["lost"]["random"].as_u64().unwrap() as f64, port["units_in"].as_u64().unwrap());
    assert!((4.0 * lost / arrived as f64 - 1.0 / 3.0).abs() < 0.005, "{lost} of {arrived}");
    assert!(port.get("marked").is_none() && document["flows"][0].get("segments_marked").is_none());
}

/// Two senders fill a line twice, the second one half a packet behind the first; the port marks from one threshold on.
const ONE_THRESHOLD: &str = r#"
    name = "one-threshold"
    duration = "1 ms"
    adaptation = { kind = "packet" }
    node = [
        { name = "a0", kind = "host" }, { name = "a1", kind = "host" }, { name = "r", kind = "router" },
        { name = "b", kind = "host" },
    ]
    link = [
        { from = "a0", to = "r", rate = "1 Gb/s", delay = "0 s" },
        { from = "a1", to = "r", rate = "1 Gb/s", delay = "0 s" },
        { name = "out", from = "r", to = "b", rate = "1 Gb/s", delay = "0 s" },
    ]
    flow = [{ name = "f0", from = "a0", to = "b" }, { name = "f1", from = "a1", to = "b", start = "4 us" }]
    [port.out]
    buffer = "1000000 B"
    [port.out.admission]
    policy = "red"
    min_threshold = "80000 B"
    max_threshold = "80000 B"
    weight = 1.0
    max_p = 1.0
    action = "mark"
    [flows]
    source = { kind = "cbr", rate = "1 Gb/s", size = "972 bytes" }
    transport = { kind = "udp", ecn = true }
"#;

#[test]
fn with_equal_thresholds_red_marks_every_packet_that_finds_that_many_octets_and_no_other() {
    // packet n of a sender arrives at 8 (n + 1) us, or 4 us later, and one leaves every 8 us from 8 us on
    let arrivals = (2..).map(|n| 4 * n).take_while(|&us| us < 1000);
    let found = |us: u64| {
        let before = us / 4 - 2; // packets that came earlier
        1000 * (before - (us / 8 - 1).min(before))
    };
    let marked = arrivals.clone().filter(|&us| found(us) >= 80_000).count();
    let document = run_on_both(ONE_THRESHOLD, &[]);
    let port = entry(&document, "ports", "out");
    assert_eq!((sum(&port["marked"]), port["units_in"].as_u64().unwrap()), (89, 248));
    assert_eq!((marked, arrivals.count()), (89, 248));
    assert_eq!(port["lost"], json!({}));
}

/// Three senders over one bottleneck.
const SENDERS: &str = r#"
    name = "senders"
    duration = "5 s"
    warmup = "500 ms"
    [topology]
    template = "dumbbell"
    sources = 3
    access = { rate = "20 Mb/s", delay = "1 ms" }
    bottleneck = { rate = "10 Mb/s", delay = "2 ms" }
    egress = { rate = "20 Mb/s", delay = "1 ms" }
    [adaptation]
    kind = "packet"
    [port.bottleneck]
    buffer = "200 packets"
    admission = { policy = "step", threshold = "20 packets" }
    [flows]
    source = { kind = "greedy" }
    transport = { kind = "tcp", ecn = true, min_rto = "200 ms", slow_timer = "1 ms" }
"#;

const EARLY: [&str; 7] = ["step", "red", "atm-red", "fred", "epd", "fba", "selective-drop"];

#[test]
fn senders_that_react_to_marks_fill_the_line_without_losses() {
    let document = run_on_both(SENDERS, &[]);
    let port = entry(&document, "ports", "bottleneck");
    assert_eq!(port["lost"], json!({}));
    assert!(sum(&port["marked"]) > 100);
    assert!(port["occupancy_max"].as_u64().unwrap() < 100);
    assert!(of_flows(&document, "mark_reactions") > 30);
    assert_eq!(of_flows(&document, "segments_retransmitted"), 0);
    assert!(document["summary"]["goodput_ratio"].as_f64().unwrap() > 0.97);
}

#[test]
fn every_early_policy_marks_on_both_kinds_of_link_and_both_engines_agree() {
    for (kind, buffer) in [("packet", "40 packets"), ("packet", "60000 bytes"), ("aal5", "1280 cells")] {
        for policy in EARLY {
            let sets = [
                format!("adaptation.kind={kind}"),
                format!("port.bottleneck.buffer={buffer}"),
                format!("port.bottleneck.admission={{ policy = '{policy}', action = 'mark' }}"),
            ];
            let document = run_on_both(SENDERS, &sets.each_ref().map(String::as_str));
            let port = entry(&document, "ports", "bottleneck");
            let least = if ["red", "atm-red", "fred"].contains(&policy) { 1 } else { 20 };
            assert!(sum(&port["marked"]) >= least, "{policy} on {kind}: {}", port["marked"]);
            assert!(of_flows(&document, "mark_reactions") > 0, "{policy} on {kind}");
        }
    }
}

#[test]
fn two_ports_may_mark_one_packet_which_then_counts_once_on_arrival() {
    let sets = [
        "port.default.admission={ policy = 'step', threshold = '2 packets' }",
        "port.default.buffer=99 packets",
        "topology.access.rate=4 Mb/s",
    ];
    let document = run_on_both(SENDERS, &sets);
    let marked = document["ports"].as_array().unwrap().iter().map(|port| sum(&port["marked"])).sum::<u64>();
    assert!(marked > of_flows(&document, "segments_marked"));
}

/// Two senders of a data centre in a rack, at 1 Gb/s with a threshold of 20 packets.
const RACK: &str = r#"
    name = "rack"
    duration = "1 s"
    warmup = "200 ms"
    adaptation = { kind = "packet" }
    [topology]
    template = "dumbbell"
    sources = 2
    access = { rate = "10 Gb/s", delay = "10 us" }
    bottleneck = { rate = "1 Gb/s", delay = "10 us" }
    egress = { rate = "10 Gb/s", delay = "10 us" }
    [port.bottleneck]
    buffer = "250 packets"
    admission = { policy = "step", threshold = "20 packets" }
    [flows]
    source = { kind = "greedy" }
    transport = { kind = "tcp", profile = "datacenter" }
"#;

#[test]
fn dctcp_keeps_the_queue_at_the_threshold_and_the_line_full() {
    let document = run_on_both(RACK, &[]);
    let port = entry(&document, "ports", "bottleneck");
    assert_eq!(port["lost"], json!({}));
    let (mean, most) = (port["occupancy_mean"].as_f64().unwrap(), port["occupancy_max"].as_u64().unwrap());
    // a mark acts a round trip later, and by then each of the two windows has grown by a packet, and the queue by as
    // many
    assert!((19.0..21.0).contains(&mean), "{mean}");
    assert!((21..=25).contains(&most), "{most}");
    assert!(document["summary"]["goodput_ratio"].as_f64().unwrap() > 0.98);
    let halving = run_on_both(RACK, &["flows.transport.congestion=new-reno"]);
    let reno = entry(&halving, "ports", "bottleneck")["occupancy_mean"].as_f64().unwrap();
    assert!(reno < mean, "halving empties the queue: {reno}");
}

#[test]
fn profiles_run_on_both_engines_and_both_kinds_of_link() {
    for profile in ["bsd-1993", "linux", "datacenter"] {
        for (kind, buffer) in [("packet", "60 packets"), ("aal5", "2000 cells")] {
            let sets = [
                format!("adaptation.kind={kind}"),
                format!("port.bottleneck.buffer={buffer}"),
                "port.bottleneck.admission.threshold=\"50 %\"".to_string(),
                format!("flows.transport={{ kind = 'tcp', profile = '{profile}' }}"),
            ];
            let document = run_on_both(SENDERS, &sets.each_ref().map(String::as_str));
            assert!(document["summary"]["goodput_ratio"].as_f64().unwrap() > 0.5, "{profile} on {kind}");
        }
    }
}

#[test]
fn on_packet_links_a_port_that_marks_takes_no_more_events_than_one_that_drops() {
    for policy in ["epd", "step"] {
        let events = |action: &str| {
            let admission = format!(
                "port.bottleneck.admission={{policy='{policy}', threshold='100 %', action='{action}'}}"
            );
            let scenario = load(SENDERS, "test.toml", &[admission]).unwrap();
            engine::run(&scenario, false).work.events
        };
        assert_eq!(events("mark"), events("drop"), "{policy}: the same run");
    }
}

/// A burst of ten packets of 1000 octets at 80 Mb/s into a memory before a line of 8 Mb/s, which marks above three.
const CLASSES: &str = r#"
    name = "burst"
    duration = "50 ms"
    adaptation = { kind = "packet" }
    node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
    link = [
        { name = "in", from = "a", to = "r", rate = "80 Mb/s", delay = "0 s" },
        { name = "out", from = "r", to = "b", rate = "8 Mb/s", delay = "10 us" },
    ]
    memory.chip = { size = "100 cells", cell = "1000 bytes" }
    queue.data = {}
    [port.out]
    memory = "chip"
    admission = { policy = "step", threshold = "3 cells" }
    [[flow]]
    name = "f"
    from = "a"
    to = "b"
    transport = { kind = "udp", ecn = true }
    [flow.source]
    kind = "on-off"
    peak = "80 Mb/s"
    burst = 10
    total = 10
    off = "100 s"
    distribution = "periodic"
    phase = "aligned"
    size = "972 bytes"
"#;

#[test]
fn a_class_can_be_marked_by_the_queue_that_its_packets_leave_behind() {
    let marked = |sets: &[&str]| {
        let document = run_on_both(CLASSES, sets);
        let port = entry(&document, "ports", "out").clone();
        (sum(&port["marked"]), port["lost"].clone())
    };
    // the 5th to the 10th packet meet more than three; when the 2nd to the 6th leave, more than three stay behind
    assert_eq!(marked(&[]), (6, json!({})));
    assert_eq!(marked(&["queue.data.mark={at='arrival'}"]), (6, json!({})));
    assert_eq!(marked(&["queue.data.mark={at='dequeue'}"]), (5, json!({})));
    let deaf = ["queue.data.mark={at='dequeue'}", "flow.f.transport.ecn=false"];
    assert_eq!(
        marked(&deaf),
        (0, json!({ "early": 6 })),
        "a packet that cannot be marked is judged on arrival"
    );
    let drop = ["queue.data.mark={at='dequeue'}", "port.out.admission.action=drop"];
    assert_eq!(marked(&drop), (0, json!({ "early": 6 })), "nothing is marked");
}

#[test]
fn marks_when_packets_leave_are_refused_where_a_port_cannot_set_them() {
    let sets = ["queue.data.mark={at='dequeue'}", "port.out.admission={policy='red', action='mark'}"]
        .map(String::from);
    let told = load(CLASSES, "x.toml", &sets).unwrap_err().message;
    assert!(
        told.contains(
            "queue.data.mark.at must be \"arrival\" at the port \"out\", whose policy \"red\" decides"
        ),
        "{told}"
    );
    assert!(told.contains("the policy step can decide when they leave"), "{told}");
    let drop = ["queue.data.mark={at='dequeue'}", "port.out.admission={policy='red', action='drop'}"]
        .map(String::from);
    assert!(load(CLASSES, "x.toml", &drop).is_ok(), "a port that marks nothing need not be able to");
}
