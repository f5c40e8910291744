//! Messages about wrong scenarios: every message names the place, the value found and the values allowed.

use pushout_core::scenario::load;
use pushout_core::units::ids::CircuitId;

/// A valid scenario; every case below spoils it in one place.
const LAN: &str = r#"name = "lan"
duration = "40 s"

[topology]
template = "dumbbell"
sources = 3
access = { rate = "149.76 Mb/s", delay = "100 us" }
bottleneck = { rate = "149.76 Mb/s", delay = "100 us" }
egress = { rate = "149.76 Mb/s", delay = "100 us" }

[adaptation]
kind = "aal5"
llc_snap = true

[port.bottleneck]
buffer = "8192 cells"
admission = { policy = "epd", threshold = "7373 cells" }

[flows]
source = { kind = "greedy" }
transport = { kind = "tcp", mss = 1460 }
"#;

/// A network without a template.
const EXPLICIT: &str = r#"name = "two"
duration = "1 s"
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
from = "a"
to = "s"
rate = "10 Mb/s"
delay = "1 ms"
[[link]]
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
"#;

/// The whole message about a text.
fn refused(text: &str) -> String {
    let refusal = load(text, "lan.toml", &[]).err();
    refusal.unwrap_or_else(|| panic!("this should be refused:\n{text}")).message
}

/// Its first line.
fn first_line(text: &str) -> String {
    refused(text).lines().next().unwrap_or_default().to_string()
}

/// `text` with one part replaced, which must be there exactly once.
fn spoilt(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from:?} is not a single place");
    text.replace(from, to)
}

#[test]
fn the_examples_themselves_are_right() {
    load(LAN, "lan.toml", &[]).unwrap();
    load(EXPLICIT, "two.toml", &[]).unwrap();
}

#[test]
fn the_place_is_shown_below_the_message() {
    let message = refused(&spoilt(LAN, "8192 cells", "8192 cels"));
    let expected = r#"lan.toml:16:10: port.bottleneck.buffer: "8192 cels": unknown unit "cels" for a buffer; did you mean "cells"? (units: cells, packets, bytes, B, kB, KB, KiB, MB, MiB, GB, GiB, s, ms, us, BDP)
 16 | buffer = "8192 cels"
    |          ^"#;
    assert_eq!(message, expected);
}

/// A replacement in a text, and the first line of the message. The line may stop at "…", before a list of names that
/// grows with every policy.
type Case = (&'static str, &'static str, &'static str, &'static str);

fn is_as(message: &str, expected: &str) -> bool {
    expected.strip_suffix('…').map_or(message == expected, |start| message.starts_with(start))
}

fn check(cases: &[Case]) {
    let mut wrong = String::new();
    for (text, from, to, expected) in cases {
        let message = first_line(&spoilt(text, from, to));
        if !is_as(&message, expected) {
            wrong += &format!("{from:?} -> {to:?}\n  FOUND    {message}\n  EXPECTED {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn values_say_what_they_should_have_been() {
    #[rustfmt::skip]
    check(&[
        (LAN, "duration = \"40 s\"", "duration = 40",
            r#"lan.toml:2:12: duration must be a time with a unit, as in "100 us", not 40"#),
        (LAN, "\"40 s\"", "\"40\"",
            r#"lan.toml:2:12: duration: "40": the unit is missing: a time is written as in "100 us" (units: s, ms, us, ns, ps)"#),
        (LAN, "\"40 s\"", "\"40 sec\"",
            r#"lan.toml:2:12: duration: "40 sec": unknown unit "sec" for a time: write "40 s" (units: s, ms, us, ns, ps)"#),
        (LAN, "\"40 s\"", "\"-1 s\"",
            r#"lan.toml:2:12: duration: "-1 s": a time cannot be negative"#),
        (LAN, "\"40 s\"", "\"0 s\"",
            r#"lan.toml:2:12: duration must be longer than 0 s, not "0 s""#),
        (LAN, "\"40 s\"", "\"40 s\"\nwarmup = \"40 s\"",
            r#"lan.toml:3:10: warmup must be shorter than the duration of 40 s, not "40 s""#),
        (LAN, "\"40 s\"", "\"40 s\"\nseed = -1",
            "lan.toml:3:8: seed must be an integer from 0 to 18446744073709551615, not -1"),
        (LAN, "\"40 s\"", "\"40 s\"\nengine = \"quick\"",
            r#"lan.toml:3:10: engine: unknown value "quick" (allowed: fast, reference)"#),
        (LAN, "\"40 s\"", "2026-01-01",
            "lan.toml:2:12: 2026-01-01 is a date, and a scenario has none; quote it if it is a text"),
        (LAN, "\"lan\"", "7",
            "lan.toml:1:8: name must be a string, not 7"),
        (LAN, "\"lan\"", "\"\"",
            r#"lan.toml:1:8: name: "": a name has 1 to 100 characters, without quotes and control characters"#),
        (LAN, "sources = 3", "sources = \"3\"",
            r#"lan.toml:6:11: topology.sources must be an integer from 0 to 4294967295, not "3""#),
        (LAN, "sources = 3", "sources = 0",
            "lan.toml:6:11: topology.sources must be from 1 to 100000, not 0"),
        (LAN, "sources = 3", "sources = 2.5",
            "lan.toml:6:11: topology.sources must be an integer from 0 to 4294967295, not 2.5"),
        (LAN, "\"8192 cells\"", "\"-5 cells\"",
            r#"lan.toml:16:10: port.bottleneck.buffer: "-5 cells": a number of cells cannot be negative"#),
        (LAN, "\"8192 cells\"", "8192",
            r#"lan.toml:16:10: port.bottleneck.buffer must be a size with a unit, as in "8192 cells" or "150 KB", not 8192"#),
        (LAN, "\"8192 cells\"", "\"0 cells\"",
            r#"lan.toml:16:10: port.bottleneck.buffer must have room for at least one cell (53 bytes), not "0 cells""#),
        (LAN, "\"8192 cells\"", "\"52 bytes\"",
            r#"lan.toml:16:10: port.bottleneck.buffer must have room for at least one cell (53 bytes), not "52 bytes""#),
        (LAN, "\"8192 cells\"", "\"100 packets\"",
            r#"lan.toml:16:10: port.bottleneck.buffer must be in cells or bytes, as in "8192 cells" or "150 KB", not "100 packets"; the line "bottleneck" carries cells"#),
        (LAN, "llc_snap = true", "llc_snap = \"yes\"",
            r#"lan.toml:13:12: adaptation.llc_snap must be true or false, not "yes""#),
        (LAN, "mss = 1460", "mss = \"1460\"",
            r#"lan.toml:21:35: flows.transport.mss must be an integer from 0 to 4294967295, not "1460""#),
        (EXPLICIT, "rate = \"1 Mb/s\"", "rate = \"0 b/s\"",
            r#"lan.toml:26:33: flow.f.source.rate must be greater than 0 b/s, not "0 b/s""#),
        (EXPLICIT, "rate = \"1 Mb/s\"", "rate = \"1 Mb/s\", size = \"0 B\"",
            r#"lan.toml:26:50: flow.f.source.size must be at least 1 byte, not "0 B""#),
        (EXPLICIT, "name = \"f\"", "name = \"f\"\nweight = 0",
            "lan.toml:24:10: flow.f.weight must be greater than 0, not 0"),
        (EXPLICIT, "name = \"f\"", "name = \"f\"\nweight = nan",
            "lan.toml:24:10: flow.f.weight must be a number, not NaN"),
        (EXPLICIT, "name = \"f\"", "name = \"f\"\nmcr = \"11 Mb/s\"",
            r#"lan.toml:24:7: flow.f.mcr must be at most 10 Mb/s, the rate of the line "a->s", not "11 Mb/s""#),
        (EXPLICIT, "to = \"s\"\nrate = \"10 Mb/s\"", "to = \"s\"\nrate = \"0 Mb/s\"",
            r#"lan.toml:15:8: link.a->s.rate must be greater than 0 b/s, not "0 Mb/s""#),
        (EXPLICIT, "to = \"s\"\nrate = \"10 Mb/s\"", "to = \"s\"\nrate = \"900 Tb/s\"",
            r#"lan.toml:15:8: link.a->s.rate must be at most 100 Tb/s, not "900 Tb/s""#),
        (EXPLICIT, "to = \"s\"\nrate = \"10 Mb/s\"", "to = \"s\"\nrate = \"999 b/s\"",
            r#"lan.toml:15:8: link.a->s.rate must be at least 1 kb/s, not "999 b/s""#),
        (EXPLICIT, "to = \"s\"\nrate = \"10 Mb/s\"\ndelay = \"1 ms\"", "to = \"s\"\nrate = \"10 Mb/s\"\ndelay = \"3601 s\"",
            r#"lan.toml:16:9: link.a->s.delay must be at most an hour, not "3601 s""#),
        (EXPLICIT, "kind = \"switch\"", "kind = \"switch\"\nlatency = \"3601 s\"",
            r#"lan.toml:9:11: node.s.latency must be at most an hour, not "3601 s""#),
        (LAN, "\"40 s\"", "\"5000000 s\"",
            r#"lan.toml:2:12: duration must be at most 50 days, not "5000000 s""#),
        (LAN, "\"40 s\"", "\"40 s\"\nsample = \"1 us\"\nmeasure = { occupancy = [\"bottleneck\"] }",
            r#"lan.toml:4:25: measure.occupancy: more than 1000000 samples in the measured time of 40 s: make "sample" longer"#),
    ]);
}

#[test]
fn keys_and_names_that_do_not_exist_come_with_the_nearest_one() {
    #[rustfmt::skip]
    check(&[
        (LAN, "duration", "duratoin",
            r#"lan.toml:2:1: duratoin: unknown key "duratoin"; did you mean "duration", which is missing?"#),
        (LAN, "[port.bottleneck]", "[port.bottlneck]",
            r#"lan.toml:15:7: port.bottlneck: unknown port "bottlneck"; did you mean "bottleneck"? (allowed: default, access, access.back, egress, egress.back, bottleneck, bottleneck.back, access1, access1.back, access2 and 9 more)"#),
        (LAN, "buffer =", "bufer =",
            r#"lan.toml:16:1: port.bottleneck.bufer: unknown key "bufer"; did you mean "buffer"? (allowed: …"#),
        (LAN, "\"epd\"", "\"edp\"",
            r#"lan.toml:17:24: port.bottleneck.admission.policy: unknown admission "edp"; did you mean "epd"? (allowed: …"#),
        (LAN, "threshold =", "treshold =",
            r#"lan.toml:17:31: port.bottleneck.admission.treshold: unknown key "treshold"; did you mean "threshold"? (allowed: …"#),
        (LAN, "\"dumbbell\"", "\"dumbell\"",
            r#"lan.toml:5:12: topology.template: unknown template "dumbell"; did you mean "dumbbell"? (allowed: …"#),
        (LAN, "\"greedy\"", "\"gready\"",
            r#"lan.toml:20:19: flows.source.kind: unknown source "gready"; did you mean "greedy"? (allowed: …"#),
        (LAN, "\"tcp\", mss", "\"tpc\", mss",
            r#"lan.toml:21:22: flows.transport.kind: unknown transport "tpc"; did you mean "tcp"? (allowed: …"#),
        (LAN, "[topology]", "[topologie]",
            r#"lan.toml:4:2: topologie: unknown key "topologie"; did you mean "topology"? (allowed: name, title, …"#),
        (LAN, "access = {", "acess = {",
            r#"lan.toml:7:1: topology.acess: unknown key "acess"; did you mean "access", which is missing?"#),
        (LAN, "[flows]", "[flows]\nvia = []",
            r#"lan.toml:20:1: flows.via: unknown key "via" (allowed: source, transport, start, start_spread, …"#),
        (LAN, "[flows]", "[[flow]]\nname = \"flow4\"\nweight = 2\n[flows]",
            r#"lan.toml:20:8: flow.flow4.name: the template makes no such flow: unknown flow "flow4"; did you mean "flow1"? (allowed: flow1, flow2, flow3)"#),
        (EXPLICIT, "to = \"s\"", "to = \"sw\"",
            r#"lan.toml:14:6: link.a->sw.to: unknown node "sw"; did you mean "s"? (allowed: a, s, b)"#),
        (EXPLICIT, "from = \"a\"\nto = \"b\"", "from = \"c\"\nto = \"b\"",
            r#"lan.toml:24:8: flow.f.from: unknown node "c"; did you mean "a"? (allowed: a, s, b)"#),
        (EXPLICIT, "kind = \"switch\"", "kind = \"swich\"",
            r#"lan.toml:8:8: node.s.kind: unknown value "swich"; did you mean "switch"? (allowed: host, switch, router)"#),
    ]);
}

#[test]
fn what_is_missing_is_named() {
    #[rustfmt::skip]
    check(&[
        (LAN, "name = \"lan\"", "",
            r#"lan.toml:1:1: the key "name" is missing: a scenario begins with a name, as in name = "my-lab""#),
        (LAN, "policy = \"epd\", ", "",
            r#"lan.toml:17:13: port.bottleneck.admission: the key "policy" is missing (one of: …"#),
        (LAN, "kind = \"aal5\"", "",
            r#"lan.toml:11:2: adaptation: the key "kind" is missing (one of: …"#),
        (LAN, "source = { kind = \"greedy\" }", "",
            r#"lan.toml:19:2: flow.flow1: the key "source" is missing: give it in [flows] for all, or in the flow, or leave out the flows of the template with topology.flows = "none""#),
        (LAN, "transport = { kind = \"tcp\", mss = 1460 }", "",
            r#"lan.toml:19:2: flow.flow1: the key "transport" is missing: give it in [flows] for all, or in the flow, or leave out the flows of the template with topology.flows = "none""#),
        (LAN, "{ kind = \"greedy\" }", "{ kind = \"file\" }",
            r#"lan.toml:20:10: flows.source: the key "size" is missing"#),
        (EXPLICIT, "name = \"f\"", "",
            r#"lan.toml:22:3: flow.a->b: the key "name" is missing"#),
        (EXPLICIT, "name = \"f\"\nfrom = \"a\"", "name = \"f\"",
            r#"lan.toml:22:3: flow.f: the key "from" is missing"#),
        (EXPLICIT, "to = \"s\"", "",
            r#"lan.toml:12:3: link[0]: the key "to" is missing"#),
    ]);
}

#[test]
fn what_cannot_work_together_is_refused_with_the_reason() {
    #[rustfmt::skip]
    check(&[
        (LAN, "7373 cells", "9000 cells",
            r#"lan.toml:17:43: port.bottleneck.admission.threshold: "9000 cells": 9000 is above the buffer of 8192 cells"#),
        (LAN, "7373 cells", "10 packets",
            r#"lan.toml:17:43: port.bottleneck.admission.threshold: "10 packets": this port counts cells, not packets"#),
        (LAN, "buffer = \"8192 cells\"\nadmission = { policy = \"epd\", threshold = \"7373 cells\" }", "admission = { policy = \"epd\" }",
            "lan.toml:16:13: port.bottleneck.admission.threshold: a share of an unlimited buffer is no threshold; give the port a buffer"),
        (LAN, "{ policy = \"epd\", threshold = \"7373 cells\" }", "{ policy = \"dynamic-threshold\" }\npushout = { policy = \"pushout-2\" }\nscheduler = { policy = \"round-robin\" }",
            "lan.toml:18:11: port.bottleneck.pushout: never acts: when the buffer is full, the dynamic threshold of every queue is 0"),
        (LAN, "{ policy = \"epd\", threshold = \"7373 cells\" }", "{ policy = \"drop-from-front\" }\npushout = { policy = \"pushout-2\" }\nscheduler = { policy = \"round-robin\" }",
            "lan.toml:18:11: port.bottleneck.pushout: never acts: drop-from-front makes the room itself; use tail-drop with push-out"),
        (EXPLICIT, "rate = \"1 Mb/s\" }\ntransport", "rate = \"50 Tb/s\" }\ntransport",
            r#"lan.toml:1:1: the line "a->s" with its rate of 10 Mb/s may need more than 50 days for what waits: give it a higher rate or a smaller buffer, or its flows lower rates, smaller windows or less pause"#),
        (LAN, "\"40 s\"", "\"40 s\"\nmeasure = { meter = [\"bottleneck\"] }",
            r#"lan.toml:3:21: measure.meter: "epd" at the port "bottleneck" has no meter; it can be read of: wfepd…"#),
        (LAN, "mss = 1460", "mss = 65490",
            "lan.toml:21:35: flows.transport.mss: 65490: the packets become 65538 bytes long with their LLC/SNAP header of 8, and an AAL5 frame carries at most 65535"),
        (LAN, "mss = 1460", "mss = 0",
            "lan.toml:21:35: flows.transport.mss must be at least 1 byte, not 0"),
        (LAN, "mss = 1460", "mss = 1460, window = \"1 kB\"",
            r#"lan.toml:21:50: flows.transport.window must hold at least one segment (mss), not "1 kB""#),
        (LAN, "{ kind = \"greedy\" }", "{ kind = \"fec-block\", peak = \"1 Mb/s\", burst = 9, activity = 0.5 }",
            r#"lan.toml:20:19: flows.source.kind: the source "fec-block" does not fit the transport "tcp", which takes: greedy, file, cbr, poisson, on-off, arrivals, query, replay"#),
        (LAN, "{ kind = \"greedy\" }", "{ kind = \"greedy\" }\nstart = \"2 s\"\nstop = \"1 s\"",
            r#"lan.toml:22:8: flows.stop must be later than start, which is 2 s, not "1 s""#),
        (LAN, "{ kind = \"greedy\" }", "{ kind = \"cbr\", rate = \"1 Mb/s\", size = { mix = [[\"64 bytes\", 0]] } }",
            r#"lan.toml:20:58: flows.source.size.mix must have a length with a weight greater than 0"#),
        (LAN, "kind = \"aal5\"\nllc_snap = true", "kind = \"packet\"",
            r#"lan.toml:15:10: port.bottleneck.buffer must be in packets or bytes, as in "100 packets" or "150 KB", not "8192 cells"; the line "bottleneck" carries packets"#),
        (LAN, "\naccess = { rate = \"149.76 Mb/s\"", "\naccess = { rate = \"0 b/s\"",
            r#"lan.toml:7:19: topology.access.rate must be greater than 0 b/s, not "0 b/s""#),
        (LAN, "access = { rate = \"149.76 Mb/s\", delay = \"100 us\" }", "access = [{ rate = \"1 Mb/s\", delay = \"1 us\" }, { rate = \"1 Mb/s\", delay = \"2 us\" }]",
            "lan.toml:7:10: topology.access: a list must have an entry for each of the 3 sources, or a number of entries that divides 3 and repeats, not 2; one table serves for all"),
        (EXPLICIT, "{ kind = \"udp\" }", "{ kind = \"udp\", mss = 5 }",
            r#"lan.toml:27:29: flow.f.transport.mss: unknown key "mss" (allowed: kind, ecn, l4s); the kind is "udp""#),
        (EXPLICIT, "rate = \"1 Mb/s\"", "rate = \"1 Mb/s\", size = \"65508 bytes\"",
            r#"lan.toml:26:50: flow.f.source.size: "65508 bytes": the packets become 65536 bytes long, and an AAL5 frame carries at most 65535"#),
        (EXPLICIT, "[[flow]]", "[adaptation]\nkind = \"packet\"\n[[flow]]",
            r#"lan.toml:12:3: link.a->s.medium: this link carries packets, but "s" is a switch and forwards cells; make it a router, or set medium = "cells""#),
    ]);
}

#[test]
fn losses_by_intent_say_what_they_may_be() {
    let end = "transport = { kind = \"udp\" }\n";
    for (loss, expected) in [
        (
            "link = \"a->t\"\ncells = [1]",
            r#"link: unknown link "a->t"; did you mean "a->s"? (allowed: a->s, s->a, s->b, b->s)"#,
        ),
        (
            "link = \"a->s\"",
            "give exactly one of the keys packets, cells, frames, down and gilbert, and no empty list",
        ),
        ("link = \"a->s\"\nframes = [1]", "frames must be numbers of one flow: name it in flow"),
        ("link = \"a->s\"\ncells = [1]\ndown = [[\"1 ms\", \"2 ms\"]]", "give exactly one of the keys…"),
        ("link = \"a->s\"\npackets = [1]", r#"packets: the link "a->s" carries cells: write cells = […]"#),
        ("link = \"a->s\"\ncells = [0]", "cells must be numbers from 1; the first unit has the number 1"),
        ("link = \"a->s\"\ncells = [3, 2]", "cells: 3 stands before 2: give the numbers in increasing order"),
        (
            "link = \"a->s\"\ncells = [1]\nflow = \"g\"",
            r#"flow: unknown flow "g"; did you mean "f"? (allowed: f)"#,
        ),
        ("link = \"a->s\"\ndown = [[\"1 s\"]]", r#"down must be pairs of times, as in [["1 s", "2 s"]]"#),
        (
            "link = \"a->s\"\ndown = [[\"2 s\", \"1 s\"]]",
            "down: an outage from 2 s to 1 s must end after it begins",
        ),
        (
            "link = \"a->s\"\ndown = [[\"1 s\", \"3 s\"], [\"2 s\", \"4 s\"]]",
            "down: an outage from 2 s begins before the one ahead of it ends, at 3 s; list them in order",
        ),
        (
            "link = \"a->s\"\ngilbert = { to_bad = 2, to_good = 0.5 }",
            "gilbert.to_bad must be from 0 to 1, not 2",
        ),
    ] {
        let message = first_line(&spoilt(EXPLICIT, end, &format!("{end}[[loss]]\n{loss}\n")));
        let (_, told) = message.split_once(": loss[0]").unwrap_or_default();
        let told = told.trim_start_matches(['.', ':', ' ']);
        assert!(is_as(told, expected), "{loss:?}\n  FOUND    {message}\n  EXPECTED {expected}");
    }
}

#[test]
fn networks_must_hang_together() {
    #[rustfmt::skip]
    check(&[
        (EXPLICIT, "to = \"b\"\nrate", "to = \"a\"\nrate",
            r#"lan.toml:17:3: link.s->a.name: the name "s->a" is given twice; give this link a name of its own"#),
        (EXPLICIT, "from = \"s\"\nto = \"b\"", "from = \"b\"\nto = \"s\"\nduplex = false",
            r#"lan.toml:26:6: flow.f.to: no route leads from "a" to "b": some [[link]] is missing, or has duplex = false the other way"#),
        (EXPLICIT, "from = \"s\"", "from = \"b\"",
            r#"lan.toml:19:6: link.b->b.to must be a node other than that of from, not "b""#),
        (EXPLICIT, "to = \"b\"\nsource", "to = \"s\"\nsource",
            r#"lan.toml:25:6: flow.f.to must be a host, not "s"; flows start and end at hosts"#),
        (EXPLICIT, "to = \"b\"\nsource", "to = \"a\"\nsource",
            r#"lan.toml:25:6: flow.f.to must be a host other than that of from, not "a""#),
        (EXPLICIT, "to = \"b\"\nsource", "to = \"b\"\nvia = [\"b\"]\nsource",
            r#"lan.toml:26:7: flow.f.via: "b" is a host, and hosts do not forward"#),
        (EXPLICIT, "to = \"b\"\nsource", "to = \"b\"\nvia = [\"s\", \"s\"]\nsource",
            r#"lan.toml:26:7: flow.f.via: "s" is listed twice"#),
        (EXPLICIT, "name = \"b\"\nkind", "name = \"a\"\nkind",
            r#"lan.toml:10:8: node.a.name: the name "a" is given twice"#),
        (EXPLICIT, "from = \"s\"\nto = \"b\"", "from = \"s\"\nto = \"b\"\nname = \"a->s\"",
            r#"lan.toml:20:8: link.a->s.name: the name "a->s" is given twice"#),
        (EXPLICIT, "from = \"s\"\nto = \"b\"", "from = \"s\"\nto = \"b\"\nname = \"default\"",
            r#"lan.toml:20:8: link.default.name: "default": this stands for all ports without a section of their own; choose another name"#),
        (EXPLICIT, "from = \"s\"\nto = \"b\"", "from = \"s\"\nto = \"b\"\nduplex = false\nback = {}",
            "lan.toml:21:8: link.s->b.back: a link with duplex = false has no other direction"),
        (EXPLICIT, "from = \"s\"\nto = \"b\"", "from = \"s\"\nto = \"b\"\nmedium = \"packets\"",
            r#"lan.toml:20:10: link.s->b.medium: "packets": this link carries packets, but "s" is a switch and forwards cells; make it a router, or set medium = "cells""#),
        (EXPLICIT, "kind = \"switch\"", "kind = \"host\"",
            r#"lan.toml:25:6: flow.f.to: no route leads from "a" to "b": some [[link]] is missing, or has duplex = false the other way"#),
        (EXPLICIT, "[[flow]]\nname = \"f\"", "[flow]\nname = \"f\"",
            "lan.toml:22:2: flow must be a list, not a table: write [[flow]]"),
        (EXPLICIT, "[[flow]]\nname = \"f\"", "[[flows]]\nname = \"f\"",
            "lan.toml:22:3: flows must be a table of keys, not a list: list flows under [[flow]]"),
    ]);
}

/// Two hosts beside each other, with packets.
const PACKETS: &str = r#"name = "packets"
duration = "1 s"
adaptation = { kind = "packet", header = "38 bytes" }
node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
link = [
  { from = "a", to = "r", rate = "10 Mb/s", delay = "1 ms" },
  { name = "out", from = "r", to = "b", rate = "10 Mb/s", delay = "1 ms" },
]
flow = [{ name = "f", from = "a", to = "b", source = { kind = "greedy" }, transport = { kind = "tcp" } }]
port.out = { buffer = "150 KB" }
"#;

#[test]
fn packets_must_fit_where_they_go() {
    #[rustfmt::skip]
    check(&[
        (PACKETS, "\"150 KB\"", "\"1500 bytes\"",
            r#"lan.toml:10:23: port.out.buffer: "1500 bytes" is smaller than a packet of 1538 bytes, which could never pass"#),
        (PACKETS, "\"150 KB\"", "\"0 packets\"",
            r#"lan.toml:10:23: port.out.buffer must have room for at least one packet, not "0 packets""#),
        (PACKETS, "\"150 KB\"", "\"10 cells\"",
            r#"lan.toml:10:23: port.out.buffer must be in packets or bytes, as in "100 packets" or "150 KB", not "10 cells"; the line "out" carries packets"#),
        (PACKETS, "kind = \"tcp\"", "kind = \"tcp\", mss = 65458",
            "lan.toml:9:109: flow.f.transport.mss: 65458: the packets become 65536 bytes long with the header of their line, and a packet has at most 65535"),
        (PACKETS, "\"tcp\"", "\"cells\"",
            r#"lan.toml:9:63: flow.f.source.kind: the source "greedy" does not fit the transport "cells", which takes: …"#),
        (PACKETS, "\"greedy\" }, transport = { kind = \"tcp\"", "\"cbr\", rate = \"1 b/s\" }, transport = { kind = \"cells\"",
            "lan.toml:9:100: flow.f.transport: this transport sends single cells, but the route goes over packet links"),
        (PACKETS, "router\" }, { name = \"b\", kind = \"host\" }]", "host\" }, { name = \"b\", kind = \"host\" }]\nflows.via = []",
            r#"lan.toml:5:7: flows.via: unknown key "via" (allowed: source, transport, start, start_spread, …"#),
        (PACKETS, "delay = \"1 ms\" },\n]", "delay = \"1 ms\", duplex = false },\n]",
            r#"lan.toml:9:40: flow.f.to: no route leads from "b" to "a": some [[link]] is missing, or has duplex = false the other way; acknowledgements need a way back"#),
        (PACKETS, "{ name = \"out\"", "{ medium = \"cells\", name = \"out\"",
            r#"lan.toml:7:14: link.out.medium: "cells": this link carries cells, but "r" is a router and forwards packets; make it a switch, or set medium = "packets""#),
        (PACKETS, "port.out = { buffer = \"150 KB\" }", "port = 5",
            "lan.toml:10:8: port must be a table, not 5: write [port.NAME]"),
        (PACKETS, "port.out", "port.in",
            r#"lan.toml:10:6: port.in: unknown port "in" (allowed: default, a->r, r->a, out, out.back)"#),
        (PACKETS, "flow = [{", "flow = [5, {",
            "lan.toml:9:9: flow[0] must be a table of keys, not 5"),
        (PACKETS, "flow = [{ name = \"f\",", "flow = [{ name = \"f\", from = \"a\", to = \"b\", source = { kind = \"greedy\" }, transport = { kind = \"tcp\" } }, { name = \"f\",",
            r#"lan.toml:9:116: flow.f.name: the name "f" is given twice"#),
    ]);
    let host = spoilt(PACKETS, "\"router\"", "\"host\"");
    let direct = spoilt(&host, "from = \"a\", to = \"b\"", "from = \"a\", to = \"r\"");
    let mixed = spoilt(&direct, "from = \"r\", to = \"b\"", "medium = \"cells\", from = \"r\", to = \"b\"");
    let mixed = spoilt(&mixed, "150 KB", "9 cells");
    load(&mixed, "mixed.toml", &[]).unwrap_or_else(|why| panic!("hosts may have links of both kinds: {why}"));
}

/// Data in cells one way, acknowledgements as packets the other.
const TWO_MEDIA: &str = r#"name = "media"
duration = "10 ms"
adaptation = { kind = "packet", header = "38 bytes" }
node = [{ name = "a", kind = "host" }, { name = "s", kind = "switch" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
link = [
  { from = "a", to = "s", rate = "100 Mb/s", delay = "1 us", duplex = false, medium = "cells" },
  { from = "s", to = "b", rate = "100 Mb/s", delay = "1 us", duplex = false, medium = "cells" },
  { from = "b", to = "r", rate = "100 Mb/s", delay = "1 us", duplex = false, medium = "packets" },
  { from = "r", to = "a", rate = "100 Mb/s", delay = "1 us", duplex = false, medium = "packets" },
]
flow = [{ name = "f", from = "a", to = "b", source = { kind = "greedy" }, transport = { kind = "tcp" } }]
"#;

#[test]
fn acknowledgements_must_fit_where_they_go() {
    #[rustfmt::skip]
    check(&[
        (TWO_MEDIA, "38 bytes", "65496 bytes",
            "lan.toml:11:87: flow.f.transport: the acknowledgements become 65536 bytes long with the header of their line, and a packet has at most 65535"),
        (TWO_MEDIA, "38 bytes", "70000 bytes",
            r#"lan.toml:3:42: adaptation.header: "70000 bytes": a packet has at most 65535 bytes, those of its line included"#),
        (TWO_MEDIA, "38 bytes", "4294967290 bytes",
            r#"lan.toml:3:42: adaptation.header: "4294967290 bytes": a packet has at most 65535 bytes, those of its line included"#),
        (TWO_MEDIA, "38 bytes", "4294967296 bytes",
            r#"lan.toml:3:42: adaptation.header: "4294967296 bytes": a packet has at most 65535 bytes, those of its line included"#),
    ]);
    load(&spoilt(TWO_MEDIA, "38 bytes", "65495 bytes"), "media.toml", &[]).expect("it just fits");
}

#[test]
fn a_route_has_at_most_255_hops() {
    let chain = |nodes: usize| {
        let name = |i: usize| if i == 0 || i == nodes { format!("h{i}") } else { format!("s{i}") };
        let kind = |i: usize| if i == 0 || i == nodes { "host" } else { "switch" };
        let node = |i| format!("[[node]]\nname = \"{}\"\nkind = \"{}\"\n", name(i), kind(i));
        let line = "rate = \"1 Mb/s\"\ndelay = \"0 s\"";
        let link = |i| format!("[[link]]\nfrom = \"{}\"\nto = \"{}\"\n{line}\n", name(i), name(i + 1));
        let network: String = (0..=nodes).map(node).chain((0..nodes).map(link)).collect();
        let ends = format!("from = \"h0\"\nto = \"h{nodes}\"");
        let flow = "source = { kind = \"greedy\" }\ntransport = { kind = \"tcp\" }\n";
        format!("name = \"chain\"\nduration = \"1 s\"\n{network}[[flow]]\nname = \"f\"\n{ends}\n{flow}")
    };
    assert_eq!(load(&chain(255), "chain.toml", &[]).unwrap().vcs[CircuitId(0)].path.len(), 255);
    assert!(first_line(&chain(256)).ends_with("the route has 256 hops; at most 255 are possible"));
}

#[test]
fn what_is_no_scenario_at_all_gets_one_message() {
    #[rustfmt::skip]
    let cases = [
        ("", "lan.toml", r#"lan.toml:1:1: the key "name" is missing: a scenario begins with a name, as in name = "my-lab""#),
        ("hello world", "lan.toml", "lan.toml:1:7: this is not TOML: key with no value, expected `=`"),
        ("name = \"x", "lan.toml", "lan.toml:1:8: this is not TOML: a quote on this line is not closed"),
        ("\u{0}\u{1}\u{2}", "lan.toml", "lan.toml:1:4: this is not TOML: key with no value, expected `=`"),
        ("a = 1\na = 2", "lan.toml", "lan.toml:2:1: the key \"a\" is given twice, first in line 1"),
        ("{ \"name\": }", "lan.toml", "lan.toml:1:11: this is not JSON: Unexpected close brace"),
        ("name = 'x'", "lan.json", "lan.json:1:1: this is not JSON: Unexpected word"),
        ("[1, 2]", "lan.json", "lan.json:1:1: must be a table of keys, not a list"),
        ("{ \"name\": null }", "lan.json", "lan.json:1:11: null is no value: leave the key out"),
        ("{}", "lan.json", r#"lan.json:1:1: the key "name" is missing: a scenario begins with a name, as in name = "my-lab""#),
    ];
    let mut wrong = String::new();
    for (text, name, expected) in cases {
        let message = load(text, name, &[]).unwrap_err().message;
        let first = message.lines().next().unwrap();
        if !is_as(first, expected) {
            wrong += &format!("{text:?}\n  FOUND    {first}\n  EXPECTED {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_text_without_a_name_has_no_lines_and_columns() {
    let refused =
        |set: &str| load(&LAN.replace("8192 cells", "8192 cels"), "", &[set.to_string()]).unwrap_err();
    let in_the_text = refused("seed=5").message;
    assert!(in_the_text.starts_with("port.bottleneck.buffer: \"8192 cels\": unknown unit"), "{in_the_text}");
    assert_eq!(in_the_text.lines().count(), 1);
    assert!(
        refused("seed=x")
            .message
            .starts_with("seed=x: must be an integer from 0 to 18446744073709551615, not \"x\"")
    );
}

#[test]
fn overrides_are_located_by_themselves() {
    #[rustfmt::skip]
    let cases = [
        ("port.bottleneck.buffer=lots",
            r#"port.bottleneck.buffer=lots: "lots": a buffer is a size, as in "8192 cells" or "150 KB", a time at the rate of the line ("25 ms"), a multiple of its BDP ("1.5 BDP") or "unlimited""#),
        ("port.bottlneck.buffer=9 cells",
            r#"port.bottlneck.buffer=9 cells: port.bottlneck: unknown port "bottlneck"; did you mean "bottleneck"? (allowed: default, access, access.back, egress, egress.back, bottleneck, bottleneck.back, access1, access1.back, access2 and 9 more)"#),
        ("port.bottleneck.admission={policy=\"edp\"}",
            r#"port.bottleneck.admission={policy="edp"}: port.bottleneck.admission.policy: unknown admission "edp"; did you mean "epd"? (allowed: …"#),
        ("port.bottleneck.admission=epd",
            r#"port.bottleneck.admission=epd: must be a table of keys, not "epd": write { policy = "epd" }"#),
        ("port.bottleneck.admission=bfifo",
            r#"port.bottleneck.admission=bfifo: must be a table of keys, not "bfifo": write { policy = "tail-drop" }"#),
        ("port.bottleneck.admission=choke",
            r#"port.bottleneck.admission=choke: must be a table of keys, not "choke": not modelled yet, see docs/limits.md"#),
        ("port.bottleneck.admission=fq_codel",
            r#"port.bottleneck.admission=fq_codel: must be a table of keys, not "fq_codel": it is the discipline "fq-codel" here"#),
        ("port.bottleneck.scheduler=robin",
            r#"port.bottleneck.scheduler=robin: must be a table of keys, not "robin", as in { policy = "fifo" }"#),
        ("flows.source=9",
            r#"flows.source=9: must be a table of keys, not 9, as in { kind = "greedy" }"#),
        ("port.bottleneck.admission.threshold=3 apples",
            r#"port.bottleneck.admission.threshold=3 apples: "3 apples": unknown unit "apples" for a threshold (units: cells, packets, bytes, B, kB, KB, KiB, MB, MiB, GB, GiB, %)"#),
        ("port.bottleneck.admission={policy=\"red\", min_threshold=\"60 cells\", max_threshold=\"24 cells\"}",
            r#"port.bottleneck.admission={policy="red", min_threshold="60 cells", max_threshold="24 cells"}: port.bottleneck.admission.max_threshold must be at least `min_threshold` of 60 cells, not "24 cells""#),
        ("seed=18446744073709551616",
            r#"seed=18446744073709551616: must be an integer from 0 to 18446744073709551615, not "18446744073709551616""#),
        ("port.bottleneck.admission.threshold=9000 cells",
            r#"port.bottleneck.admission.threshold=9000 cells: "9000 cells": 9000 is above the buffer of 8192 cells"#),
        ("port.bottleneck.admission.policy=ppd",
            r#"lan.toml:17:31: port.bottleneck.admission.threshold: unknown key "threshold" (allowed: policy, pass_eom); the policy is "ppd"…"#),
        ("port.bottleneck.admission={policy=",
            r#"port.bottleneck.admission={policy=: "{policy=" is not a TOML value; texts inside have quotes, …"#),
        ("flow.flow2.weight=0",
            "flow.flow2.weight=0: must be greater than 0, not 0"),
        ("flow.flow4.weight=2",
            r#"flow.flow4.weight=2: flow.flow4: unknown entry "flow4"; did you mean "flow1"? (allowed: flow1, flow2, flow3)"#),
        ("flow.7.weight=2",
            r#"flow.7.weight=2: flow.7: unknown entry "7" (allowed: flow1, flow2, flow3)"#),
        ("link.access2.delay=5",
            r#"link.access2.delay=5: must be a time with a unit, as in "100 us", not 5"#),
        ("flows.transport.mss=70000",
            "flows.transport.mss=70000: must be at most 65535 bytes, not 70000"),
        ("topology.sources=many",
            r#"topology.sources=many: must be an integer from 0 to 4294967295, not "many""#),
        ("duration.x=5",
            r#"duration.x=5: there is no such key: "40 s" is not a table"#),
        ("duratoin=5 s",
            r#"duratoin=5 s: unknown key "duratoin"; did you mean "duration"? (allowed: name, title, …"#),
        ("warmup=41 s",
            r#"warmup=41 s: must be shorter than the duration of 40 s, not "41 s""#),
        ("no equals sign",
            r#"no equals sign: an override is written key.path=value, as in port.bottleneck.buffer="8192 cells""#),
    ];
    let mut wrong = String::new();
    for (set, expected) in cases {
        let message = load(LAN, "lan.toml", &[set.to_string()]).unwrap_err().message;
        if !is_as(&message, expected) {
            wrong += &format!("{set:?}\n  FOUND    {message}\n  EXPECTED {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Places where a scenario has texts, or names of its own.
const TEXTS: [&str; 9] = [
    "name=@",
    "title=@",
    "flow.f.class=@",
    "flow.f.pvc=@",
    "flow.f.name=@",
    "node.a.name=@",
    "link.0.class=@",
    "link.0.name=@",
    "measure={ reference = @ }",
];

#[test]
fn no_text_has_control_characters() {
    for set in TEXTS {
        for control in ["\\u0000", "\\u001b[2J", "\\u0007", "\\n", "\\u007f", "\\u009b", "\\u2028", "\\u202e"]
        {
            let set = set.replace('@', &format!("\"x{control}y\""));
            let message = load(EXPLICIT, "two.toml", std::slice::from_ref(&set)).unwrap_err().message;
            assert!(message.contains("must be without control characters, not \"x\\"), "{set}: {message}");
            assert!(!message.contains(char::is_control), "{message:?}");
        }
    }
    let file = EXPLICIT.replace("class", "").replace("duration", "title = \"\\u001B\"\nduration");
    let told = "two.toml:2:9: title must be without control characters, not \"\\u{1b}\"\n 2 | ";
    assert!(load(&file, "two.toml", &[]).unwrap_err().message.starts_with(told));
}

#[test]
fn keys_with_control_characters_are_shown_with_escapes() {
    for key in ["x", "port.x", "flows.x", "port.s->b.x", "topology.x"] {
        let set = format!("{}=1", key.replace('x', "\"\u{1b}[2J\u{9b}\""));
        let message = load(EXPLICIT, "two.toml", &[set]).unwrap_err().message;
        assert!(!message.contains(char::is_control) && message.contains("\\u{1b}[2J"), "{message:?}");
    }
}

#[test]
fn a_message_has_at_most_300_characters_and_keeps_both_ends() {
    let long = "x".repeat(10_000);
    let text = LAN.replace("duration", &format!("{long} = 1\nduration"));
    let message = load(&text, "lan.toml", &[]).unwrap_err().message;
    assert!(message.starts_with("lan.toml:2:1: xxx"), "{message}");
    assert!(message.contains("xxx…xxx") && message.contains("xxx: unknown key \"xxx"), "{message}");
    assert!(message.contains("(allowed: name, title, ") && message.ends_with(" more)"), "{message}");
    assert!(message.chars().count() <= 300, "{message}");
    for set in [
        format!("{long}=1"),
        format!("name=\"{long}\""),
        format!("duration={long}"),
        format!("title=[{long}]"),
    ] {
        let message = load(LAN, &long, &[set]).unwrap_err().message;
        assert!(message.chars().count() <= 300, "{message}");
    }
    let message = load(&text, &long, &[]).unwrap_err().message;
    assert!(
        message.starts_with("xxx") && message.contains(":2:1: ") && message.chars().count() <= 300,
        "{message}"
    );
}

#[test]
fn names_from_the_literature_that_are_not_modelled_say_so() {
    for (from, to, told) in [
        (
            "\"epd\", threshold = \"7373 cells\"",
            "\"blue\"",
            "unknown admission \"blue\": not modelled yet, see docs/limits.md",
        ),
        (
            "mss = 1460",
            "congestion = \"hpcc\"",
            "unknown value \"hpcc\": not modelled yet, see docs/limits.md",
        ),
        (
            "kind = \"greedy\"",
            "kind = \"voip\"",
            "unknown source \"voip\": not modelled yet, see docs/limits.md",
        ),
    ] {
        let line = first_line(&spoilt(LAN, from, to));
        assert!(line.contains(told), "{line}");
    }
}

#[test]
fn a_key_of_a_table_in_this_one_is_suggested_with_its_path() {
    let far = "start = \"0 s\"\nwindw = \"64 KiB\"";
    let line = first_line(&EXPLICIT.replace("name = \"f\"", &format!("name = \"f\"\n{far}")));
    assert!(
        line.contains("flow.f.windw: unknown key \"windw\"; did you mean \"transport.window\"?"),
        "{line}"
    );
    let line = first_line(&spoilt(LAN, "[flows]\n", "[flows]\nmss = 1460\n"));
    assert!(line.contains("flows.mss: unknown key \"mss\"; did you mean \"transport.mss\"?"), "{line}");
    let line = first_line(&spoilt(
        LAN,
        "buffer = \"8192 cells\"\n",
        "buffer = \"8192 cells\"\nthreshold = \"90 %\"\n",
    ));
    assert!(line.contains("unknown key \"threshold\"; did you mean \"admission.threshold\"?"), "{line}");
}

#[test]
fn the_unit_or_the_part_of_a_number_that_is_wrong_is_named() {
    for (buffer, told) in [
        ("64 kb", "unknown unit \"kb\" for a buffer; did you mean \"kB\"?"),
        ("10 pakets", "unknown unit \"pakets\" for a buffer; did you mean \"packets\"?"),
        ("50,000 bytes", "the comma in \"50,000\" must be removed: write 50000 or, as a decimal, 50.000"),
        ("1,5 MB", "the comma in \"1,5\" must be a point: write 1.5"),
        ("8 192 cells", "the blank in \"8 192\" must be removed: write 8192 or 8_192"),
        ("0.5 packets", "packets are whole"),
    ] {
        let line = first_line(&spoilt(LAN, "8192 cells", buffer));
        assert!(line.contains(told), "{line}");
    }
    let line = first_line(&spoilt(LAN, "7373 cells", "90,5 %"));
    assert!(line.contains("the comma in \"90,5\" must be a point: write 90.5"), "{line}");
}

#[test]
fn what_other_programs_write_is_accepted() {
    for (from, to) in [
        ("8192 cells", "8.192e3 cells"),
        ("8192 cells", "5e5 bytes"),
        ("7373 cells", "9e1 %"),
        ("40 s", "4e+01 s"),
        ("40 s", "4E7 µs"),
        ("40 s", "40000000 μs"),
    ] {
        load(&spoilt(LAN, from, to), "lan.toml", &[]).unwrap();
    }
    let rate = LAN.replace("149.76 Mb/s", "149759999.99999997 b/s");
    let scenario = load(&rate, "lan.toml", &[]).unwrap();
    assert!(scenario.lines.iter().all(|line| line.rate.fixed().0 == 149_760_000));
}

#[test]
fn a_whole_number_may_have_an_exponent() {
    for (mss, told) in
        [("1.46e3", None), ("1460.0", None), ("1460.5", Some("not 1460.5")), ("-1e3", Some("-1000.0"))]
    {
        let message = load(&spoilt(LAN, "mss = 1460", &format!("mss = {mss}")), "lan.toml", &[]).err();
        let message = message.map(|refusal| refusal.message);
        assert_eq!(message.is_some(), told.is_some(), "{mss}: {message:?}");
        assert!(told.is_none_or(|told| message.is_some_and(|message| message.contains(told))), "{mss}");
    }
}

/// The message about an admission policy at a port of octets.
fn about(admission: &str) -> String {
    let text = LAN
        .replace("kind = \"aal5\"\nllc_snap = true", "kind = \"packet\"")
        .replace("8192 cells", "150 kB")
        .replace("{ policy = \"epd\", threshold = \"7373 cells\" }", admission);
    let line = first_line(&text);
    line.split_once("port.bottleneck.admission.").map_or(line.clone(), |(_, message)| message.to_string())
}

#[test]
fn a_value_with_which_a_policy_means_nothing_is_refused() {
    for (admission, told) in [
        (r#"{ policy = "codel", interval = "0 s" }"#, r#"interval must be greater than 0, not "0 s""#),
        (
            r#"{ policy = "codel", target = "200 ms" }"#,
            r#"target must be at most the interval of 100 ms, not "200 ms""#,
        ),
        (
            r#"{ policy = "dfba", low = "90 %", high = "50 %" }"#,
            r#"high must be at least `low` of 135000 bytes, not "50 %""#,
        ),
        (r#"{ policy = "red", weight = 0 }"#, "weight must be greater than 0 and at most 1, not 0"),
        (r#"{ policy = "fred", weight = 0 }"#, "weight must be greater than 0 and at most 1, not 0"),
        (r#"{ policy = "red", packet_time = "0 s" }"#, r#"packet_time must be greater than 0, not "0 s""#),
        (
            r#"{ policy = "pie", alpha = 0, beta = 0 }"#,
            "alpha must be greater than 0 where beta is 0, not 0: the probability would never change",
        ),
        (
            r#"{ policy = "pi2", alpha = 0, beta = 0 }"#,
            "alpha must be greater than 0 where beta is 0, not 0: the probability would never change",
        ),
        (
            r#"{ policy = "static-threshold", limit = "0 %" }"#,
            r#"limit must be greater than 0, not "0 %": no queue could hold anything"#,
        ),
    ] {
        assert_eq!(about(admission), told, "{admission}");
    }
}

#[test]
fn packets_at_a_port_that_counts_octets_are_refused_with_the_octets() {
    assert_eq!(
        about(r#"{ policy = "step", threshold = "20 packets" }"#),
        r#"threshold: "20 packets": this port counts bytes, not packets; write "30 kB""#
    );
}
