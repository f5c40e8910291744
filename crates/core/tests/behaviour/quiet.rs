//! Ports of memories that may be quiet: what acts on packets before they reach the memory, or on the line, still does, on both engines.

use crate::behaviour::both::{entry, run_on_both as run};
use crate::behaviour::pauses::CHAIN;

#[test]
fn a_policer_acts_before_a_memory_that_pauses() {
    let police = "flow.f.police={kind='gcra', rate='4 Mb/s', tolerance='1 us', action='drop'}";
    let document = run(CHAIN, &[police]);
    let lost = &entry(&document, "ports", "out")["lost"];
    assert!(lost["policed"].as_u64() > Some(0), "{lost}");
}

/// Two senders, each as fast as the port after them, whose memory removes packets.
const CROWDED: &str = r#"
    name = "crowded"
    duration = "40 ms"
    adaptation = { kind = "packet" }
    node = [
        { name = "a", kind = "host" }, { name = "b", kind = "host" }, { name = "r", kind = "router" }, { name = "c", kind = "host" },
    ]
    link = [
        { from = "a", to = "r", rate = "10 Mb/s", delay = "0 s" },
        { from = "b", to = "r", rate = "10 Mb/s", delay = "0 s" },
        { name = "out", from = "r", to = "c", rate = "10 Mb/s", delay = "0 s" },
    ]
    port.out = { memory = "chip" }
    memory.chip = { size = "40 kB", cell = "1 byte", pushout = { policy = "longest-queue" } }
    flow = [{ name = "f", from = "a", to = "c" }, { name = "g", from = "b", to = "c" }]
    [flows]
    source = { kind = "cbr", rate = "5 Mb/s", size = "972 bytes" }
    transport = { kind = "udp" }
"#;

#[test]
fn a_line_that_changes_sends_by_its_course_from_a_memory_that_removes_packets() {
    let stops = "link.out.rate={ steps = [['0 s', '10 Mb/s'], ['10 ms', '0 b/s'], ['30 ms', '10 Mb/s']] }";
    let [sent, of_stopped] = [run(CROWDED, &[]), run(CROWDED, &[stops])]
        .map(|document| entry(&document, "ports", "out")["units_out"].as_u64());
    assert!(of_stopped < sent, "{of_stopped:?} of {sent:?}");
}

/// Packets of 1000 octets, a millisecond each on the slower line, in bursts that it cannot hold.
const BURSTS: &str = r#"
    name = "bursts"
    duration = "2 s"
    sample = "500 us"
    adaptation = { kind = "packet" }
    node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
    link = [
        { from = "a", to = "r", rate = "16 Mb/s", delay = "0 s" },
        { name = "out", from = "r", to = "b", rate = "8 Mb/s", delay = "0 s" },
    ]
    port.out.buffer = "60 kB"
    flow = [{ name = "f", from = "a", to = "b" }, { name = "g", from = "a", to = "b", start = "3 ms" }]
    [flows]
    transport = { kind = "udp" }
    [flows.source]
    kind = "on-off"
    peak = "8 Mb/s"
    burst = 100
    off = "50 ms"
    distribution = "periodic"
    phase = "aligned"
    size = "972 bytes"
"#;

#[test]
fn a_sample_at_the_end_of_a_transmission_still_counts_the_packet() {
    for port in ["port.out.admission={policy='codel'}", "port.out={memory='chip'}"] {
        let memory = ["memory.chip={size='60 kB', cell='1 byte'}"];
        let more = if port.contains("chip") { &memory[..] } else { &[] };
        let document = run(BURSTS, &[&[port], more].concat());
        assert!(entry(&document, "ports", "out")["occupancy_p50"].as_f64() > Some(0.0), "{document}");
    }
}

#[test]
fn a_clock_that_is_due_at_the_end_of_a_transmission_finds_the_packet_gone() {
    let document = run(BURSTS, &["port.out.admission={policy='pi2', target='2 ms', update='500 us'}"]);
    assert!(entry(&document, "ports", "out")["lost"]["random"].as_u64() > Some(10), "{}", document["ports"]);
}

#[test]
fn a_clock_looks_at_the_longest_wait_of_all_queues() {
    let pi2 = "port.out.admission={policy='pi2', target='2 ms', update='500 us'}";
    let weights = ["flow.f.weight=9.0", "port.out.scheduler={policy='drr'}"];
    let document = run(BURSTS, &[&[pi2], &weights[..]].concat());
    assert!(entry(&document, "ports", "out")["lost"]["random"].as_u64() > Some(10), "{}", document["ports"]);
}
