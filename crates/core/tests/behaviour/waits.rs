//! Waits of units at ports, marks and pauses over time, and round trips: against sequences by hand, and beside runs that do not
//! measure them.

use crate::behaviour::both::{entry, run_on_both};
use crate::behaviour::marks::DATAGRAMS;
use crate::behaviour::pauses::CHAIN;
use pushout_core::scenario::load;
use pushout_core::serde_json::Value as Json;

fn number(table: &Json, key: &str) -> f64 {
    table[key].as_f64().unwrap_or_else(|| panic!("{key} of {table}"))
}

fn sum(list: &Json) -> f64 {
    list.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).sum()
}

fn near(value: f64, wanted: f64) {
    assert!((value / wanted - 1.0).abs() < 0.01, "{value} instead of {wanted}");
}

/// Packets take 8 ms on the line: of four that meet, the last one waits 24 ms.
#[test]
fn of_four_packets_that_meet_each_waits_for_those_before_it() {
    for scheduler in ["fifo", "round-robin", "drr"] {
        let scheduler = format!("port.out.scheduler={{ policy = \"{scheduler}\" }}");
        let sets = [
            "port.out.admission={ policy = \"tail-drop\" }",
            "measure.sojourn=[\"out\"]",
            "duration=4 s",
            &scheduler,
        ];
        let document = run_on_both(DATAGRAMS, &sets);
        let port = entry(&document, "ports", "out");
        near(number(port, "sojourn_mean_s"), 0.012);
        near(number(port, "sojourn_p50_s"), 0.008);
        near(number(port, "sojourn_p95_s"), 0.024);
        near(number(port, "sojourn_p999_s"), 0.024);
        near(number(port, "sojourn_max_s"), 0.024);
    }
}

#[test]
fn a_packet_that_begins_to_be_sent_at_once_waits_for_nothing() {
    let sets =
        ["flow=[{ name = \"f0\", from = \"a0\", to = \"b\" }]", "measure.sojourn=[\"out\"]", "duration=4 s"];
    let document = run_on_both(DATAGRAMS, &sets);
    assert_eq!(number(entry(&document, "ports", "out"), "sojourn_max_s"), 0.0);
}

#[test]
fn marks_over_time_add_up_to_the_marks() {
    let sets = ["duration=10 s", "warmup=1 s", "sample=30 ms", "measure.marks=[\"out\"]"];
    let document = run_on_both(DATAGRAMS, &sets);
    let port = entry(&document, "ports", "out");
    assert_eq!(sum(&port["marks"]["units"]["random"]), number(&port["marked"], "random"));
    assert!(number(&port["marked"], "random") > 50.0);
    assert_eq!(port["marks"]["units"]["random"].as_array().unwrap().len(), 300);
}

#[test]
fn pauses_over_time_add_up_to_the_time_in_which_the_port_is_paused() {
    for warmup in ["0 s", "20 ms"] {
        let sets = ["sample=700 us", "measure.pauses=[\"in\"]", &format!("warmup={warmup}")];
        let document = run_on_both(CHAIN, &sets);
        let port = entry(&document, "ports", "in");
        let [class] = &port["pauses"]["classes"].as_array().unwrap()[..] else { panic!("one class pauses") };
        assert_eq!(class["name"], "rdma");
        let paused = sum(&class["share"]) * 0.0007;
        assert!((paused - number(port, "paused_s")).abs() < 1e-9 && paused > 0.01, "{paused} of {port}");
        assert!(class["share"].as_array().unwrap().iter().all(|share| share.as_f64().unwrap() <= 1.0 + 1e-9));
    }
    let why = load(CHAIN, "chain.toml", &["measure.pauses=[\"out\"]".to_string()]).unwrap_err().message;
    assert!(why.contains("no port of out can be paused"), "{why}");
}

/// One sender behind an empty path: 100 Mb/s access, then 10 Mb/s, and 10 ms from end to end in both directions.
const ALONE: &str = r#"
    name = "alone"
    duration = "5 s"
    adaptation = { kind = "packet" }
    [topology]
    template = "dumbbell"
    sources = 1
    access = { rate = "100 Mb/s", delay = "1 ms" }
    bottleneck = { rate = "10 Mb/s", delay = "8 ms" }
    egress = { rate = "100 Mb/s", delay = "1 ms" }
    [flows]
    source = { kind = "greedy" }
    transport = { kind = "tcp", profile = "linux", mss = 1460, window = "2920 bytes", delayed_ack = false }
    [measure]
    delivery = true
"#;

/// A segment of 1500 octets takes 120 us, 1.2 ms and 120 us to be sent, and its ACK of 52 octets 4.2, 41.6 and 4.2 us; two are
/// under way, and one may wait for the other. The SYN, which is measured too, is as short as an ACK.
#[test]
fn a_round_trip_is_that_of_the_path() {
    let document = run_on_both(ALONE, &["flows.transport.timestamps=true"]);
    let flow = &document["flows"][0];
    assert!((0.02..0.0202).contains(&number(flow, "round_trip_min_s")), "{flow}");
    assert!((0.021_48..0.0217).contains(&number(flow, "round_trip_p50_s")), "{flow}");
    assert!((0.021_48..0.0228).contains(&number(flow, "round_trip_max_s")), "{flow}");
    let summary = &document["summary"];
    assert_eq!(summary["rpm"], flow["rpm"]);
    assert_eq!(number(flow, "rpm"), 60.0 / number(flow, "round_trip_mean_s"));
}

/// Every unit passes the queues of a port that measures waits, whatever rule the port has otherwise.
#[test]
fn measuring_waits_changes_no_other_figure() {
    let policies = [
        "policy = \"tail-drop\"",
        "policy = \"codel\"",
        "policy = \"pie\"",
        "policy = \"red\"",
        "policy = \"drop-from-front\"",
        "policy = \"epd\"",
        "policy = \"step\", threshold = \"4 packets\", action = \"trim\"",
    ];
    for policy in policies {
        let sets = [
            format!("port.bottleneck.admission={{ {policy} }}"),
            "topology.sources=5".to_string(),
            "port.bottleneck.buffer=20 packets".to_string(),
            "flows.transport={ kind = \"tcp\", profile = \"linux\" }".to_string(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let plain = run_on_both(ALONE, &sets);
        let mut timed = run_on_both(ALONE, &[&sets[..], &["measure.sojourn=[\"bottleneck\"]"]].concat());
        let ports = timed["ports"].as_array_mut().unwrap();
        let port = ports.iter_mut().find(|port| port["name"] == "bottleneck").unwrap();
        let longest = number(port, "sojourn_max_s");
        assert!(longest > 0.0 && longest < 0.0012 * 20.1, "{policy}: {longest}");
        port.as_object_mut().unwrap().retain(|key, _| !key.starts_with("sojourn"));
        assert_eq!(plain, timed, "{policy}");
    }
}
