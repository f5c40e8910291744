//! Queue disciplines through whole networks: what their names stand for, and what they are for.

#![allow(clippy::unwrap_used)] // here a panic is the report

mod both;

use both::{entry, run_on_both};
use pushout_core::scenario::model::Scenario;
use pushout_core::scenario::{explain, load};
use pushout_core::serde_json::{Value as Json, json};

/// A home uplink: two uploads, and a call of 100 kb/s.
const UPLINK: &str = r#"
    name = "uplink"
    duration = "12 s"
    warmup = "2 s"
    adaptation = { kind = "packet" }
    [topology]
    template = "dumbbell"
    sources = 3
    access = { rate = "1 Gb/s", delay = "1 ms" }
    bottleneck = { rate = "10 Mb/s", delay = "10 ms" }
    egress = { rate = "1 Gb/s", delay = "1 ms" }
    [port.bottleneck]
    discipline = "fq-codel"
    [flows]
    source = { kind = "greedy" }
    transport = { kind = "tcp", window = "1 MB", window_scaling = true, min_rto = "200 ms", slow_timer = "10 ms" }
    [[flow]]
    name = "flow3"
    source = { kind = "cbr", rate = "100 kb/s", size = "172 bytes" }
    transport = { kind = "udp" }
    [measure]
    delivery = true
"#;

fn scenario(sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    load(UPLINK, "disciplines.toml", &sets).map_err(|why| why.to_string())
}

/// Mean time in ms that packets of the call take, and the ratio of the uploads' goodputs.
fn call_and_shares(sets: &[&str]) -> (f64, f64) {
    let document = run_on_both(UPLINK, sets);
    let goodput = |name| entry(&document, "flows", name)["goodput_bps"].as_f64().unwrap();
    let ratio = goodput("flow1") / goodput("flow2");
    let delivery = &entry(&document, "flows", "flow3")["delivery_time_mean_s"];
    (
        1000.0 * delivery.as_f64().unwrap_or_else(|| panic!("{}", entry(&document, "flows", "flow3"))),
        ratio.max(1.0 / ratio),
    )
}

#[test]
fn a_discipline_is_written_out_as_its_parts() {
    for (name, admission, buffer) in
        [("fq-codel", "codel", "10240 packets"), ("fq-pie", "pie", "10240 packets")]
    {
        let parts = explain(&scenario(&[&format!("port.bottleneck.discipline='{name}'")]).unwrap());
        let port = &parts["port"]["bottleneck"];
        assert_eq!(port["admission"]["policy"], admission);
        assert_eq!((&port["scheduler"]["policy"], &port["buffer"]), (&json!("fair-queue"), &json!(buffer)));
        assert!(port.get("discipline").is_none_or(Json::is_null), "{port}");
    }
    let own = explain(&scenario(&["port.bottleneck.buffer='99 packets'"]).unwrap());
    assert_eq!(own["port"]["bottleneck"]["buffer"], "99 packets");
}

#[test]
fn a_discipline_stands_alone_and_on_packet_links() {
    let why = |sets: &[&str]| scenario(sets).unwrap_err();
    let both = why(&["port.bottleneck.scheduler={policy='fifo'}"]);
    assert!(both.contains("must be left out beside a discipline"), "{both}");
    let cells = why(&["adaptation.kind='aal5'"]);
    assert!(cells.contains("must be left out on a cell link"), "{cells}");
}

#[test]
fn a_call_beside_uploads_waits_for_neither_of_them() {
    let (fifo, _) = call_and_shares(&["port.bottleneck={buffer='300 packets'}"]);
    assert!(fifo > 50.0, "bufferbloat: {fifo} ms");
    for discipline in ["fq-codel", "fq-pie"] {
        let (call, ratio) = call_and_shares(&[&format!("port.bottleneck.discipline='{discipline}'")]);
        // 12 ms of propagation, its own transmissions, and at most two packets of 1.2 ms before it
        assert!((12.0..15.0).contains(&call), "{discipline}: {call} ms");
        assert!(ratio < 1.1, "{discipline}: {ratio}");
    }
}

#[test]
fn codel_alone_holds_the_wait_near_its_target() {
    for law in ["exact", "linux"] {
        let port =
            format!("port.bottleneck={{buffer='1000 packets', admission={{policy='codel', law='{law}'}}}}");
        let (call, _) = call_and_shares(&[&port]);
        assert!((12.0..40.0).contains(&call), "{law}: {call} ms");
    }
    let (call, _) = call_and_shares(&["port.bottleneck={buffer='1000 packets', admission={policy='pie'}}"]);
    assert!((12.0..60.0).contains(&call), "pie: {call} ms");
}

#[test]
fn when_the_buffer_is_full_the_longest_queue_gives_way_at_its_head() {
    let document = run_on_both(UPLINK, &["port.bottleneck.buffer='5 packets'"]);
    let lost = &entry(&document, "ports", "bottleneck")["lost"];
    assert!(lost["pushed-out"].as_u64().unwrap() > 10, "{lost}");
    assert_eq!(lost.get("overflow"), None, "{lost}");
    let call = entry(&document, "flows", "flow3")["goodput_bps"].as_f64().unwrap();
    assert!(call > 85.9e3, "the call loses nothing: {call} b/s of 86 kb/s");
}
