//! Where credits cannot work, and what people read then.

use pushout_core::scenario;

const RIGHT: &str = r#"name = "chain"
duration = "1 ms"
[[node]]
name = "a"
kind = "host"
[[node]]
name = "s"
kind = "switch"
[[node]]
name = "b"
kind = "host"
[[link]]
name = "in"
from = "a"
to = "s"
rate = "10 Mb/s"
delay = "1 ms"
[[link]]
name = "out"
from = "s"
to = "b"
rate = "10 Mb/s"
delay = "1 ms"
[[flow]]
name = "f"
from = "a"
to = "b"
source = { kind = "cbr", rate = "1 Mb/s" }
transport = { kind = "udp" }
[port.in]
scheduler = { policy = "round-robin" }
credit = { policy = "n23" }
[port.out]
scheduler = { policy = "round-robin" } # of the switch
credit = { policy = "n23", n2 = "20 cells" }
"#;

/// Another host, which sends without credits.
const STRANGER: &str = r#"[[node]]
name = "c"
kind = "host"
[[link]]
from = "c"
to = "s"
rate = "10 Mb/s"
delay = "1 ms"
[[flow]]
name = "g"
from = "c"
to = "b"
source = { kind = "cbr", rate = "1 Mb/s" }
transport = { kind = "udp" }
[[flow]]"#;

/// The first line of the message about the example with some parts replaced.
fn refused(changes: &[(&str, &str)]) -> String {
    let mut text = RIGHT.to_string();
    for (from, to) in changes {
        assert!(text.contains(from), "{from:?} is not there");
        text = text.replace(from, to);
    }
    let message =
        scenario::load(&text, "chain.toml", &[]).err().unwrap_or_else(|| panic!("{changes:?} is no fault"));
    message.message.lines().next().unwrap().to_string()
}

#[test]
fn the_example_itself_is_right() {
    scenario::load(RIGHT, "chain.toml", &[]).unwrap();
}

#[test]
fn a_fault_of_credits_names_the_place_and_the_way_out() {
    let simplex = [("delay = \"1 ms\"\n[[link]]", "delay = \"1 ms\"\nduplex = false\n[[link]]")];
    let packets =
        [("duration", "adaptation = { kind = \"packet\" }\nduration"), ("\"switch\"", "\"router\"")];
    let shared = [("scheduler = { policy = \"round-robin\" } # of the switch\n", "")];
    let behind = [
        (
            "scheduler = { policy = \"round-robin\" } # of the switch\ncredit = { policy = \"n23\", n2 = \"20 cells\" }",
            "",
        ),
        ("[port.out]", ""),
    ];
    let cases: [(&[(&str, &str)], &str); 10] = [
        (
            &[("20 cells", "0 cells")],
            r#"chain.toml:35:33: port.out.credit.n2 must be at least 1 cell, not "0 cells""#,
        ),
        (
            &[("n2 = \"20 cells\"", "peak = \"0 b/s\"")],
            r#"chain.toml:35:35: port.out.credit.peak must be greater than 0 b/s, not "0 b/s""#,
        ),
        (
            &[("n2 = ", "n4 = ")],
            r#"chain.toml:35:28: port.out.credit.n4: unknown key "n4"; did you mean "n2"? (allowed: policy, n2, n3, peak, charge); the policy is "n23""#,
        ),
        (
            &packets,
            r#"chain.toml:33:10: port.in.credit: credits count cells, and the line "in" carries packets"#,
        ),
        (
            &simplex,
            r#"chain.toml:33:10: port.in.credit: the line "in" has no other direction on which credits could come (its link has duplex = false)"#,
        ),
        (
            &shared,
            r#"chain.toml:34:10: port.out.credit: each circuit has its own credits, but all share one queue under the scheduler "fifo"; choose one with a queue for each, as in scheduler = { policy = "round-robin" }"#,
        ),
        (
            &behind,
            r#"chain.toml:32:10: port.in.credit: credits promise every circuit a queue of its own, but at the port "out" behind this line all share one under the scheduler "fifo"; choose one with a queue for each"#,
        ),
        (
            &[("# of the switch", "\nadmission = { policy = \"ppd\" }")],
            r#"chain.toml:32:10: port.in.credit: credits promise that nothing is lost, but the port "out" behind this line discards by "ppd"; give it admission = { policy = "tail-drop" }, which then has nothing to drop"#,
        ),
        (
            &[("# of the switch", "\nbuffer = \"60 cells\"")],
            r#"chain.toml:35:10: port.out.buffer: "60 cells": holds 60 cells, but the credits of its circuits promise 71; leave it out"#,
        ),
        (
            &[("# of the switch", "\nbuffer = \"90 cells\""), ("[[flow]]", STRANGER)],
            r#"chain.toml:49:10: port.out.buffer: "90 cells": the circuit "g" comes without credits and could take the room that others were promised; give credits to the port before, or leave this buffer unlimited"#,
        ),
    ];
    let mut wrong = String::new();
    for (changes, expected) in cases {
        let found = refused(changes);
        if found != expected {
            wrong += &format!("{changes:?}\n  FOUND    {found}\n  EXPECTED {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_port_whose_credits_give_it_its_buffer_may_be_sampled() {
    let text = format!("{RIGHT}[measure]\noccupancy = [\"out\"]\nlosses = [\"out\"]\n");
    let scenario = scenario::load(&text, "chain.toml", &[]).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(scenario.measure.occupancy.len(), 1);
}
