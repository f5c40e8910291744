//! Scenarios in which credits cannot work, and their messages.

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
            r#"chain.toml:33:10: port.in.credit must be cbfc, not n23, on a line of packets: its credits count cells, and the line "in" carries packets"#,
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
fn credits_of_circuits_cannot_promise_room_in_a_shared_memory() {
    let memory = "[port.out]\nmemory = \"chip\"\nscheduler = { policy = \"round-robin\" } # of the switch\n[memory.chip]\nsize = \"1 MB\"\n";
    let (kept, _) = RIGHT.split_once("[port.out]").unwrap();
    let why = scenario::load(&(kept.to_string() + memory), "chain.toml", &[]).unwrap_err().message;
    let first = why.lines().next().unwrap();
    assert_eq!(
        first,
        r#"chain.toml:32:10: port.in.credit must be left out: credits promise every circuit room in a buffer of its own, and the port "out" behind this line shares the memory "chip""#
    );
}

/// The example with credits for classes of packets, and a memory behind the first line.
const PACKETS: &str = r#"name = "chain"
duration = "1 ms"
adaptation = { kind = "packet" }
[[node]]
name = "a"
kind = "host"
[[node]]
name = "s"
kind = "router"
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
credit = { policy = "cbfc", room = "6 kB" }
[port."in.back"]
[port.out]
memory = "chip" # of the router
[memory.chip]
size = "100 kB"
pool.all = { side = "ingress" }
[queue.bulk]
"#;

#[test]
fn a_fault_of_credits_for_packets_names_the_place_and_the_way_out() {
    scenario::load(PACKETS, "chain.toml", &[]).unwrap();
    let cases: [(&str, &str, &str); 9] = [
        (
            "6 kB",
            "1535 bytes",
            r#"chain.toml:32:36: port.in.credit.room must be at least 1536 bytes, which the largest packet takes, not "1535 bytes""#,
        ),
        (
            "\"6 kB\"",
            "\"6 kB\", credit_size = \"0 bytes\"",
            r#"chain.toml:32:58: port.in.credit.credit_size must be from 1 to 65535 bytes, not "0 bytes""#,
        ),
        (
            "\"6 kB\"",
            "\"6 kB\", update = \"7 bytes\"",
            r#"chain.toml:32:53: port.in.credit.update must be from 8 bytes, the length of a message, to 1048576 bytes, not "7 bytes""#,
        ),
        (
            "[port.\"in.back\"]",
            "[port.\"in.back\"]\nshaper = { rate = \"1 Mb/s\", burst = \"2 kB\" }",
            r#"chain.toml:32:10: port.in.credit must be left out: the port "in.back", which sends the credits, has a shaper that would delay them"#,
        ),
        (
            "side = \"ingress\"",
            "side = \"egress\"",
            r#"chain.toml:32:10: port.in.credit must be left out unless the class "bulk" takes its room from a pool of the ingress side alone (side = "ingress"), which it does not in the memory "chip""#,
        ),
        (
            "pool.all = {",
            "pool.other = {}\npool.all = {",
            r#"chain.toml:32:10: port.in.credit must be left out unless the class "bulk" takes its room from a pool of the ingress side alone (side = "ingress"), which it does not in the memory "chip""#,
        ),
        (
            "100 kB",
            "5 kB",
            r#"chain.toml:39:8: queue.bulk.reserved must leave shared room in the pool "all"; its queues reserve 138 cells, as credits of lines promise, and without headroom it has 94"#,
        ),
        ("[queue.bulk]\n", "", "right"),
        (
            "memory = \"chip\" # of the router",
            "memory = \"chip\"\ncredit = { policy = \"n23\" }",
            r#"chain.toml:36:10: port.out.credit must be cbfc beside memory; other credits promise room in buffers of their own"#,
        ),
    ];
    let mut wrong = String::new();
    for (from, to, expected) in cases {
        let text = PACKETS.replacen(from, to, 1);
        assert_ne!(text, PACKETS, "{from:?} is not there");
        let found =
            scenario::load(&text, "chain.toml", &[]).map_or_else(|why| why.message, |_| "right".to_string());
        let found = found.lines().next().unwrap();
        if found != expected {
            wrong += &format!("{from:?} to {to:?}\n  FOUND    {found}\n  EXPECTED {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn credits_without_classes_that_reserve_more_than_a_pool_has_are_refused_at_the_pool() {
    let text = PACKETS.replace("[queue.bulk]\n", "").replace("100 kB", "5 kB");
    let why = scenario::load(&text, "chain.toml", &[]).unwrap_err().message;
    assert!(why.contains(": memory.chip.pool.all.size must leave shared room in the pool \"all\"; its queues reserve 138 cells, as credits"), "{why}");
}

#[test]
fn a_port_whose_credits_give_it_its_buffer_may_be_sampled() {
    let text = format!("{RIGHT}[measure]\noccupancy = [\"out\"]\nlosses = [\"out\"]\n");
    let scenario = scenario::load(&text, "chain.toml", &[]).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(scenario.measure.occupancy.len(), 1);
}
