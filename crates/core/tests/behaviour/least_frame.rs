//! The least size of a packet on a line, as of Ethernet, which pads what is shorter.

use crate::behaviour::both::{entry, run_on_both as run};
use pushout_core::scenario::load;
use pushout_core::serde_json::Value as Json;

/// Packets of 40 octets at 1 Gb/s before a line of 100 Mb/s. Ethernet pads each to 46 and adds 38: 84 octets on the line.
const SMALL: &str = r#"
    name = "least-frame"
    duration = "100 ms"
    adaptation = { kind = "packet", header = "38 bytes", minimum = "84 bytes" }
    node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
    port.out = { buffer = "100 packets" }
    [[link]]
    name = "in"
    from = "a"
    to = "r"
    rate = "10 Gb/s"
    delay = "0 s"
    [[link]]
    name = "out"
    from = "r"
    to = "b"
    rate = "100 Mb/s"
    delay = "0 s"
    [[flow]]
    name = "f"
    from = "a"
    to = "b"
    source = { kind = "cbr", rate = "1 Gb/s", size = "12 bytes" }
    transport = { kind = "udp" }
"#;

/// Overrides that give the minimum to the slow link alone; the adaptation still adds its header.
fn of_the_link(minimum: &str) -> [String; 2] {
    ["adaptation={kind='packet', header='38 bytes'}".to_string(), format!("link.out.minimum={minimum}")]
}

fn refused(sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    load(SMALL, "x.toml", &sets).unwrap_err().message.lines().next().unwrap().to_string()
}

fn sent(document: &Json) -> &Json {
    &entry(document, "ports", "out")["units_out"]
}

#[test]
fn packets_of_40_octets_leave_ethernet_at_100_megabits_148_809_times_a_second() {
    assert_eq!(*sent(&run(SMALL, &["duration=1 s"])), 148_809); // 100e6 / (8 · 84) = 148 809.5
}

#[test]
fn without_a_minimum_they_are_counted_too_short() {
    assert_eq!(*sent(&run(SMALL, &["adaptation={kind='packet', header='38 bytes'}"])), 16_025);
}

#[test]
fn the_minimum_of_a_link_holds_on_its_line_but_not_in_buffers() {
    let sets = of_the_link("84 bytes");
    let mut sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let document = run(SMALL, &sets);
    assert_eq!(*sent(&document), 14_880);
    sets.push("port.out.buffer=780 bytes");
    assert_eq!(entry(&run(SMALL, &sets), "ports", "out")["occupancy_max"], 780, "ten packets of 78 octets");
    let padded = ["port.out.buffer=840 bytes"];
    assert_eq!(entry(&run(SMALL, &padded), "ports", "out")["occupancy_max"], 840, "ten packets of 84 octets");
}

#[test]
fn a_shaper_takes_tokens_for_what_a_packet_takes_on_the_line() {
    let sets = of_the_link("84 bytes");
    let shaper = "port.out.shaper={rate='50 Mb/s', burst='84 bytes'}";
    let document = run(SMALL, &[&sets[0], &sets[1], shaper]);
    assert_eq!(*sent(&document), 7_440); // 50e6 / (8 · 84) a second
    let short = refused(&[&sets[0], &sets[1], "port.out.shaper={rate='50 Mb/s', burst='83 bytes'}"]);
    assert!(short.contains("must be at least 84 bytes, the largest packet on this line"), "{short}");
}

/// A second flow with packets of 1500 octets.
const LARGE: &str = "flow=[{name='f', from='a', to='b', source={kind='cbr', rate='1 Gb/s', size='12 bytes'}, transport={kind='udp'}}, \
     {name='g', from='a', to='b', source={kind='cbr', rate='1 Gb/s', size='1472 bytes'}, transport={kind='udp'}}]";

#[test]
fn a_scheduler_by_octets_charges_a_packet_what_it_takes_on_the_line() {
    let sets = of_the_link("84 bytes");
    let drr = "port.out.scheduler={policy='drr', quantum='1538 bytes'}";
    let buffer = "port.out.admission={policy='static-threshold', limit='50 packets'}";
    let document = run(SMALL, &[&sets[0], &sets[1], LARGE, drr, buffer]);
    let received = |name: &str| entry(&document, "flows", name)["segments_received"].as_f64().unwrap();
    let (small, large) = (84.0 * received("f"), 1538.0 * received("g"));
    assert!((small / large - 1.0).abs() < 1e-3, "half of the line each: {small} and {large}");
}

#[test]
fn the_ideal_counts_padding_as_other_overhead() {
    let sets = of_the_link("84 bytes");
    let by_link = run(SMALL, &[&sets[0], &sets[1]]);
    let by_adaptation = run(SMALL, &[]);
    let ideal = |document: &Json| document["summary"]["ideal_bps"].as_f64().unwrap();
    let payload = 100e6 * 12.0 / 84.0;
    for document in [&by_link, &by_adaptation] {
        assert!((ideal(document) / payload - 1.0).abs() < 1e-9, "{}", ideal(document));
    }
}

#[test]
fn a_minimum_that_makes_no_sense_is_refused_with_the_remedy() {
    let adaptation = |minimum: &str| {
        refused(&[&format!("adaptation={{kind='packet', header='38 bytes', minimum='{minimum}'}}")])
    };
    let zero = adaptation("0 bytes");
    assert!(
        zero.contains("adaptation.minimum")
            && zero.contains(
                "must be greater than 0, not \"0 bytes\"; leave the key out where packets are not padded"
            ),
        "{zero}"
    );
    assert!(adaptation("70000 bytes").contains("must be at most 65535 bytes, the longest packet"));
    let link = |minimum: &str| refused(&[&format!("link.out.minimum={minimum}")]);
    assert!(link("0 bytes").contains("must be greater than 0, not \"0 bytes\"; leave the key out"));
    assert!(
        link("64 bytes").contains("must be at least 84 bytes, to which the adaptation pads every packet")
    );
    let cells = refused(&[
        "adaptation={kind='aal5'}",
        "node=[{name='a', kind='host'}, {name='r', kind='switch'}, {name='b', kind='host'}]",
        "port.out.buffer=100 cells",
        "link.out.minimum=84 bytes",
    ]);
    assert!(cells.contains("must be left out on a link of cells"), "{cells}");
}
