//! Queue disciplines through whole networks: the meaning of their names, and their purpose.

use crate::behaviour::both::{entry, run_on_both};
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
    for (name, admission, scheduler, buffer) in [
        ("fq-codel", "codel", "fair-queue", "10240 packets"),
        ("fq-pie", "pie", "fair-queue", "10240 packets"),
        ("dualpi2", "pi2", "dual-queue", "10000 packets"),
    ] {
        let parts = explain(&scenario(&[&format!("port.bottleneck.discipline='{name}'")]).unwrap());
        let port = &parts["port"]["bottleneck"];
        assert_eq!(port["admission"]["policy"], admission);
        assert_eq!((&port["scheduler"]["policy"], &port["buffer"]), (&json!(scheduler), &json!(buffer)));
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
        // 12 ms without a wait, the target of 5 ms, and at most two packets of 1.2 ms above it
        assert!((17.0..19.4).contains(&call), "{law}: {call} ms");
    }
    let (call, _) = call_and_shares(&["port.bottleneck={buffer='1000 packets', admission={policy='pie'}}"]);
    // 12 ms without a wait and the target of 15 ms, to within a packet
    assert!((25.8..28.2).contains(&call), "pie: {call} ms");
}

/// Long and short packets, each at twice the rate of the line that they share.
const LONG_AND_SHORT: &str = r#"
    name = "drr"
    duration = "10 s"
    adaptation = { kind = "packet" }
    node = [
        { name = "a0", kind = "host" }, { name = "a1", kind = "host" }, { name = "r", kind = "router" },
        { name = "b", kind = "host" },
    ]
    link = [
        { from = "a0", to = "r", rate = "100 Mb/s", delay = "0 s" },
        { from = "a1", to = "r", rate = "100 Mb/s", delay = "0 s" },
        { name = "out", from = "r", to = "b", rate = "10 Mb/s", delay = "0 s" },
    ]
    [port.out]
    buffer = "200 packets"
    scheduler = { policy = "drr", quantum = "100 bytes" }
    admission = { policy = "dynamic-threshold", alpha = 0.5 }
    [flows]
    transport = { kind = "udp" }
    [[flow]]
    name = "long"
    from = "a0"
    to = "b"
    source = { kind = "cbr", rate = "20 Mb/s", size = "1472 bytes" }
    [[flow]]
    name = "short"
    from = "a1"
    to = "b"
    source = { kind = "cbr", rate = "20 Mb/s", size = "72 bytes" }
"#;

#[test]
fn a_quantum_far_below_the_packets_divides_the_line_by_weight_in_octets() {
    for (weights, shares) in
        [(&[][..], [5.0, 5.0]), (&["flow.long.weight=1", "flow.short.weight=3"], [2.5, 7.5])]
    {
        let document = run_on_both(LONG_AND_SHORT, weights);
        let octets =
            |name, size| size * entry(&document, "flows", name)["segments_received"].as_u64().unwrap();
        let received = [octets("long", 1500), octets("short", 100)];
        // a share differs by at most the deficits, one long packet; the line is never idle
        for (octets, share) in received.into_iter().zip(shares) {
            let wanted = (share * 1e6 / 8.0 * 10.0) as u64;
            assert!(octets.abs_diff(wanted) <= 3 * 1500, "{weights:?}: {octets} octets, not {wanted}");
        }
    }
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

/// A scalable upload and a call with ECT(1) beside a classic upload.
const L4S: [&str; 5] = [
    "port.bottleneck.discipline='dualpi2'",
    "flows.transport={ kind = 'tcp', window = '1 MB', min_rto = '200 ms', slow_timer = '1 ms', ecn = true }",
    "flow.flow1.transport.congestion='dctcp'",
    "flow.flow1.transport.l4s=true",
    "flow.flow3.transport={ kind = 'udp', ecn = true, l4s = true }",
];

#[test]
fn dualpi2_keeps_scalable_senders_from_waiting_and_classic_ones_from_starving() {
    let (call, _) = call_and_shares(&L4S);
    // 12 ms of propagation, its own transmissions, about 1 ms of queue and a classic packet of 1.2 ms before it
    assert!((12.0..16.0).contains(&call), "{call} ms");
    let document = run_on_both(UPLINK, &L4S);
    let goodput = |name| entry(&document, "flows", name)["goodput_bps"].as_f64().unwrap();
    assert!(goodput("flow2") > 1e6, "the classic share of a tenth: {}", goodput("flow2"));
    assert!(goodput("flow1") + goodput("flow2") > 8.5e6, "the line is full");
    let classic = [&L4S[..2], &["flow.flow3.transport.ecn=true"]].concat();
    let (late, _) = call_and_shares(&classic);
    assert!(late > call + 5.0, "without ECT(1) the call waits with the uploads: {late} ms");
}

#[test]
fn senders_of_one_kind_share_the_line_equally_under_dualpi2() {
    let scalable = [&L4S[..], &["flow.flow2.transport.congestion='dctcp'", "flow.flow2.transport.l4s=true"]];
    for sets in [scalable.concat(), L4S[..2].to_vec()] {
        let (_, ratio) = call_and_shares(&sets);
        assert!(ratio < 1.3, "{sets:?}: {ratio}");
    }
}

/// A sender whose packets are marked at a first port and wait at a second one.
const TWO_PORTS: &str = r#"
    name = "two-ports"
    duration = "5 s"
    adaptation = { kind = "packet" }
    node = [
        { name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "s", kind = "router" },
        { name = "b", kind = "host" },
    ]
    link = [
        { from = "a", to = "r", rate = "100 Mb/s", delay = "1 ms" },
        { name = "first", from = "r", to = "s", rate = "10 Mb/s", delay = "1 ms" },
        { name = "second", from = "s", to = "b", rate = "8 Mb/s", delay = "1 ms" },
    ]
    flow = [{ name = "f", from = "a", to = "b" }]
    [port.first]
    buffer = "100 packets"
    admission = { policy = "step", threshold = "3 packets" }
    [port.second]
    discipline = "dualpi2"
    [flows]
    source = { kind = "greedy" }
    transport = { kind = "tcp", ecn = true, min_rto = "200 ms", slow_timer = "1 ms" }
"#;

/// Segments lost and sent again.
fn losses_and_repairs(sets: &[&str]) -> (u64, u64) {
    let document = run_on_both(TWO_PORTS, sets);
    let ports = document["ports"].as_array().unwrap().iter();
    let lost = ports.flat_map(|port| port["lost"].as_object().unwrap().values());
    let flow = entry(&document, "flows", "f");
    assert!(flow["segments_marked"].as_u64().unwrap() > 10);
    (lost.map(|count| count.as_u64().unwrap()).sum(), flow["segments_retransmitted"].as_u64().unwrap())
}

#[test]
fn a_packet_that_was_marked_before_overtakes_others_of_its_flow() {
    let (lost, again) = losses_and_repairs(&[]);
    assert!(lost == 0 && again > 0, "three duplicate acknowledgements without a loss: {again}");
    let one_queue = "port.second={ buffer = '10000 packets', admission = { policy = 'pi2' } }";
    assert_eq!(losses_and_repairs(&[one_queue]), (0, 0), "in one queue they keep their order");
}
