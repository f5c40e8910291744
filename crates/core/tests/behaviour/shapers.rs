//! Ports that send at a rate of their own: the times of their departures, on every engine.

use crate::behaviour::both::{entry, run_on_both};
use pushout_core::scenario::load;
use pushout_core::serde_json::json;

/// Twenty cells arrive together; the bucket holds five and gets ten a second.
const CELLS: &str = r#"
    name = "shaper"
    duration = "3 s"
    adaptation = { kind = "aal5" }
    node = [{ name = "a", kind = "host" }, { name = "r", kind = "switch" }, { name = "b", kind = "host" }]
    link = [
        { from = "a", to = "r", rate = "1 Gb/s", delay = "0 s" },
        { name = "out", from = "r", to = "b", rate = "100 Mb/s", delay = "0 s" },
    ]
    port.out = { buffer = "100 cells", shaper = { rate = "4240 b/s", burst = "5 cells" } }
    [[flow]]
    name = "f"
    from = "a"
    to = "b"
    transport = { kind = "cells" }
    [flow.source]
    kind = "on-off"
    peak = "1 Gb/s"
    burst = 20
    off = "100 s"
    distribution = "periodic"
    phase = "aligned"
    total = 20
"#;

/// Ten TCP flows through a line of 100 Mb/s that sends at 10 Mb/s.
const PACKETS: &str = r#"
    name = "uplink"
    duration = "11 s"
    warmup = "1 s"
    adaptation = { kind = "packet" }
    flows = { source = { kind = "greedy" }, transport = { kind = "tcp" } }
    [topology]
    template = "dumbbell"
    sources = 10
    access = { rate = "1 Gb/s", delay = "1 ms" }
    bottleneck = { rate = "100 Mb/s", delay = "5 ms" }
    egress = { rate = "1 Gb/s", delay = "1 ms" }
    [port.bottleneck]
    buffer = "60 packets"
    shaper = { rate = "10 Mb/s", burst = "15 kB" }
"#;

#[test]
fn a_burst_of_a_full_bucket_goes_out_at_once_and_then_one_cell_each_tenth_of_a_second() {
    for (duration, sent) in [
        ("50 ms", 5),
        ("99 ms", 5),
        ("101 ms", 6),
        ("1.399 s", 18),
        ("1.499 s", 19),
        ("1.501 s", 20),
        ("3 s", 20),
    ] {
        let document = run_on_both(CELLS, &[&format!("duration={duration}")]);
        let out = entry(&document, "ports", "out");
        assert_eq!((&out["units_in"], &out["units_out"]), (&json!(20), &json!(sent)), "after {duration}");
        assert_eq!(out["lost"], json!({}), "none is lost");
    }
}

/// Ten packets of 1500 octets, 12 us apart, reach a port with two places whose bucket of tokens is full.
const FULL_BUCKET: &str = r#"
    name = "full-bucket"
    duration = "5 s"
    adaptation = { kind = "packet" }
    node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
    link = [
        { from = "a", to = "r", rate = "1 Gb/s", delay = "0 s" },
        { name = "out", from = "r", to = "b", rate = "1 Gb/s", delay = "0 s" },
    ]
    port.out = { buffer = "2 packets", shaper = { rate = "1 Mb/s", burst = "15000 B" } }
    [[flow]]
    name = "f"
    from = "a"
    to = "b"
    transport = { kind = "udp" }
    [flow.source]
    kind = "on-off"
    peak = "1 Gb/s"
    burst = 10
    off = "100 s"
    distribution = "periodic"
    phase = "aligned"
    total = 10
    size = "1472 bytes"
"#;

#[test]
fn packets_with_tokens_pass_a_short_queue_and_only_those_without_tokens_are_lost() {
    for (burst, sent, lost, longest) in
        [("15000 B", 10, json!({}), 1), ("7500 B", 7, json!({ "overflow": 3 }), 2)]
    {
        let document = run_on_both(FULL_BUCKET, &[&format!("port.out.shaper.burst='{burst}'")]);
        let out = entry(&document, "ports", "out");
        assert_eq!((&out["units_out"], &out["lost"]), (&json!(sent), &lost), "{burst}");
        assert_eq!(out["occupancy_max"], json!(longest), "{burst}");
    }
    let small = load(FULL_BUCKET, "shapers.toml", &["port.out.shaper.burst='1000 B'".to_string()]);
    let why = small.unwrap_err().to_string();
    assert!(why.contains("must be at least 1500 bytes"), "{why}");
}

#[test]
fn a_shaped_port_sends_at_its_own_rate_and_goodput_is_measured_against_that() {
    for scheduler in ["fifo", "drr"] {
        let set = format!("port.bottleneck.scheduler={{policy='{scheduler}'}}");
        let document = run_on_both(PACKETS, &[&set]);
        let bits = 8.0 * entry(&document, "ports", "bottleneck")["octets_out"].as_f64().unwrap() / 10.0;
        assert!((9.0e6..10.1e6).contains(&bits), "{scheduler}: {bits} b/s");
        let ratio = document["summary"]["goodput_ratio"].as_f64().unwrap();
        assert!((0.9..1.02).contains(&ratio), "{scheduler}: {ratio}");
    }
}

#[test]
fn a_bucket_through_which_a_packet_cannot_pass_is_refused() {
    let why = |text: &str, set: &str| load(text, "shapers.toml", &[set.to_string()]).unwrap_err().to_string();
    let small = why(PACKETS, "port.bottleneck.shaper.burst='1499 bytes'");
    assert!(
        small.ends_with("must be at least 1500 bytes, the largest packet on this line, not \"1499 bytes\""),
        "{small}"
    );
    let unit = why(CELLS, "port.out.shaper.burst='5 packets'");
    assert!(unit.contains("must be in bytes or cells"), "{unit}");
}
