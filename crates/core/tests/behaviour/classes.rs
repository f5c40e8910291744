//! Schedulers with a queue for each class of traffic, which several flows share.

use crate::behaviour::both::{entry, run_on_both as run};
use pushout_core::scenario::load;
use pushout_core::serde_json::{self, Value as Json};

/// Three flows of 100 Mb/s each before a line of 100 Mb/s: two of the class gold and one of the class bulk.
const THREE: &str = r#"
    name = "classes"
    duration = "200 ms"
    warmup = "20 ms"
    adaptation = { kind = "packet" }
    node = [
        { name = "a", kind = "host" }, { name = "b", kind = "host" }, { name = "c", kind = "host" },
        { name = "r", kind = "router" }, { name = "z", kind = "host" },
    ]
    link = [
        { from = "a", to = "r", rate = "1 Gb/s", delay = "1 us" },
        { from = "b", to = "r", rate = "1 Gb/s", delay = "2 us" },
        { from = "c", to = "r", rate = "1 Gb/s", delay = "3 us" },
        { name = "out", from = "r", to = "z", rate = "100 Mb/s", delay = "0 s" },
    ]
    queue = { gold = {}, bulk = {} }
    flow = [
        { name = "a", from = "a", to = "z", queue = "gold" }, { name = "b", from = "b", to = "z", queue = "gold" },
        { name = "c", from = "c", to = "z", queue = "bulk" },
    ]
    [port.out]
    buffer = "1000 packets"
    admission = { policy = "static-threshold", limit = "50 packets" }
    scheduler = { policy = "drr", queues = "class" }
    [flows]
    source = { kind = "cbr", rate = "100 Mb/s", size = "972 bytes" }
    transport = { kind = "udp" }
"#;

/// Return the shares of the line that the three flows get.
fn shares(sets: &[&str]) -> [f64; 3] {
    let report = run(THREE, sets);
    let packets = |name| entry(&report, "flows", name)["segments_received"].as_f64().unwrap();
    let all: f64 = ["a", "b", "c"].map(packets).iter().sum();
    ["a", "b", "c"].map(|name| packets(name) / all)
}

fn is_near(found: [f64; 3], expected: [f64; 3]) {
    let alike = found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 0.01);
    assert!(alike, "{found:?} is not {expected:?}");
}

#[test]
fn classes_share_the_line_by_their_weights_and_flows_within_a_class_by_their_arrivals() {
    is_near(shares(&[]), [0.25, 0.25, 0.5]);
    is_near(shares(&["queue.gold.weight=3"]), [0.375, 0.375, 0.25]);
    is_near(shares(&["port.out.scheduler={policy='drr'}"]), [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
}

#[test]
fn the_class_with_the_lowest_priority_number_goes_first() {
    let strict = "port.out.scheduler={policy='strict-priority', queues='class'}";
    is_near(shares(&[strict, "queue.gold.priority=1"]), [0.0, 0.0, 1.0]);
    is_near(shares(&[strict, "queue.bulk.priority=1"]), [0.5, 0.5, 0.0]);
    is_near(
        shares(&[
            strict,
            "queue.bulk.priority=1",
            "flow.a.source.rate=20 Mb/s",
            "flow.b.source.rate=30 Mb/s",
        ]),
        [0.2, 0.3, 0.5],
    );
    is_near(shares(&[strict]), [0.25, 0.25, 0.5]);
}

#[test]
fn a_paused_class_holds_up_no_other_class_of_the_scheduler() {
    let storm = "storm=[{port='out', queue='gold', from='50 ms', to='150 ms'}]";
    let report = run(THREE, &[storm, "warmup=60 ms", "duration=140 ms"]);
    let received = |name: &str| entry(&report, "flows", name)["segments_received"].as_u64().unwrap();
    assert_eq!((received("a"), received("b")), (0, 0));
    assert_eq!(received("c"), 1000, "80 ms of packets of 80 us");
}

#[test]
fn push_out_still_needs_a_queue_for_each_circuit_and_weights_are_positive() {
    let refused = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        load(THREE, "x.toml", &sets).unwrap_err().message
    };
    let pushout = ["port.out.admission={policy='tail-drop'}", "port.out.pushout={policy='longest-queue'}"];
    assert!(
        refused(&pushout).contains("with the scheduler drr the circuits of a class share one queue"),
        "{}",
        refused(&pushout)
    );
    assert!(refused(&["queue.gold.weight=0"]).contains("must be greater than 0 and finite"));
    let memory = refused(&["queue.gold.limit=5 cells"]);
    assert!(
        memory.contains(
            "no memory is given that flows could share: write [memory.NAME], or leave only what schedulers"
        ),
        "{memory}"
    );
}

#[test]
fn explain_writes_classes_that_are_read_back() {
    let scenario = load(THREE, "x.toml", &["queue.gold.weight=3".to_string()]).unwrap();
    let text = pushout_core::scenario::explain(&scenario).to_string();
    assert_eq!(load(&text, "", &[]).unwrap(), scenario);
    let found: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(found["queue"]["gold"]["weight"], 3.0);
}
