//! Credits of classes of packets (CBFC), by hand: an octet lasts 1 ns, a packet of 1000 octets 1 us, the cable 1 us each way.

use pushout_core::buffer::capacity::Capacity;
use pushout_core::engine::{Stopwatch, reference};
use pushout_core::network::circuit::Circuit;
use pushout_core::report::report;
use pushout_core::scenario::headroom::{Headroom, headrooms};
use pushout_core::scenario::model::Scenario;
use pushout_core::trace::{Tracer, What};
use pushout_core::unit::Unit;
use pushout_core::units::Time;
use pushout_core::units::ids::{CircuitId, IdVec, LineId};

use super::{load, port, run};

/// Host a sends to host b as much as the line carries.
fn direct(credit: &str, more: &str) -> Scenario {
    let text = format!(
        r#"
        name = "direct"
        duration = "2 ms"
        adaptation = {{ kind = "packet" }}
        node = [{{ name = "a", kind = "host" }}, {{ name = "b", kind = "host" }}]
        link = [{{ name = "line", from = "a", to = "b", rate = "8 Gb/s", delay = "1 us" }}]
        flows = {{ source = {{ kind = "cbr", rate = "8 Gb/s", size = "972 bytes" }}, transport = {{ kind = "udp" }} }}
        [port.line]
        credit = {{ policy = "cbfc", {credit} }}
        [[flow]]
        name = "there"
        from = "a"
        to = "b"
        {more}
        "#
    );
    load(&text, &[])
}

/// The times in nanoseconds at which packets start on a line.
struct Starts {
    line: LineId,
    at: Vec<u64>,
}

impl Tracer for Starts {
    fn see(&mut self, now: Time, line: LineId, unit: &Unit, what: What, _: &IdVec<CircuitId, Circuit>) {
        if line == self.line && what == What::Leaves {
            self.at.push(now.0 / 1000 - u64::from(unit.bytes));
        }
    }
}

/// The first packets that start on a line.
fn starts(scenario: &Scenario, name: &str, count: usize) -> Vec<u64> {
    let tracer = Starts { line: port(scenario, name), at: Vec::new() };
    let (_, tracer) = reference::run_traced(scenario, false, tracer, &mut Stopwatch::default());
    tracer.at.into_iter().take(count).collect()
}

#[test]
fn a_packet_starts_when_the_message_has_come_that_returns_its_credits() {
    // Two credits for each packet, and room for two packets. The first one reaches host b at 2000 ns; the message takes 8 ns and
    // is back at 3008.
    let scenario = direct("credit_size = '500 bytes', room = '2000 bytes', update = '8 bytes'", "");
    assert_eq!(starts(&scenario, "line", 6), [0, 1000, 3008, 4008, 6016, 7016]);
}

#[test]
fn a_message_waits_until_the_one_before_is_far_enough_away() {
    // Messages start at 2000, 4000, 6000 ns …: the second one cannot start at 3000, when the second packet has come.
    let scenario = direct("credit_size = '500 bytes', room = '2000 bytes', update = '2000 bytes'", "");
    assert_eq!(starts(&scenario, "line", 6), [0, 1000, 3008, 5008, 7008, 9008]);
}

#[test]
fn a_packet_that_ends_one_octet_into_a_credit_takes_it_whole() {
    // 1000 octets are three credits of 499, and the room is five of them: one packet at a time, and back after 3008 ns.
    let scenario = direct("credit_size = '499 bytes', room = '2500 bytes', update = '8 bytes'", "");
    assert_eq!(starts(&scenario, "line", 3), [0, 3008, 6016]);
    // octets that the receiver adds to a packet count
    let scenario =
        direct("credit_size = '500 bytes', overhead = '1 byte', room = '2500 bytes', update = '8 bytes'", "");
    assert_eq!(starts(&scenario, "line", 3), [0, 3008, 6016]);
}

#[test]
fn a_message_waits_for_the_packet_in_transmission_and_passes_those_that_wait() {
    // Host b sends all the time, packets start at 0, 1000, … ns: the packet that arrives at 2000 is answered at once,
    // since the departure of that instant comes first and the message is ready when the next packet starts.
    let back = "[[flow]]\nname = 'back'\nfrom = 'b'\nto = 'a'\nstart = '500 ns'";
    let scenario = direct("credit_size = '500 bytes', room = '1000 bytes', update = '8 bytes'", back);
    // At 2000 ns the line back is busy until 2500; then 8 and 1000.
    assert_eq!(starts(&scenario, "line", 2), [0, 3508]);
    assert_eq!(starts(&scenario, "line.back", 4), [500, 1500, 2508, 3508]);
}

#[test]
fn the_room_by_default_keeps_the_line_busy() {
    let back = "[[flow]]\nname = 'back'\nfrom = 'b'\nto = 'a'";
    for credit in [
        "credit_size = '254 bytes'",
        "credit_size = '999 bytes', update = '100 bytes'",
        "overhead = '20 bytes'",
    ] {
        let outcome = run(&direct(credit, back));
        let sent = outcome.network.ports[LineId(0)].counters().units_out;
        assert!(sent >= 1999, "{credit}: {sent} packets");
    }
}

/// Hosts a and c send two classes over a switch; the class "slow" has a line of a hundredth of the rate.
const CLASSES: &str = r#"
    name = "classes"
    duration = "4 ms"
    adaptation = { kind = "packet" }
    node = [
        { name = "a", kind = "host" }, { name = "s", kind = "router" },
        { name = "b", kind = "host" }, { name = "c", kind = "host" },
    ]
    link = [
        { name = "in", from = "a", to = "s", rate = "8 Gb/s", delay = "1 us" },
        { name = "fast", from = "s", to = "b", rate = "8 Gb/s", delay = "1 us" },
        { name = "slow", from = "s", to = "c", rate = "80 Mb/s", delay = "1 us" },
    ]
    flow = [{ name = "f", from = "a", to = "b", queue = "fast" }, { name = "g", from = "a", to = "c", queue = "slow" }]
    flows = { source = { kind = "cbr", rate = "3 Gb/s", size = "972 bytes" }, transport = { kind = "udp" } }
    [port.in]
    scheduler = { policy = "SCHEDULER" }
    credit = { policy = "cbfc", credit_size = "250 bytes", update = "8 bytes", room = "10 kB" }
    [port.default]
    memory = "chip"
    [memory.chip]
    size = "80 cells"
    cell = "250 bytes"
    pool.all = { side = "ingress" }
    [queue.fast]
    [queue.slow]
"#;

#[test]
fn a_class_without_credits_does_not_hold_up_others_unless_it_shares_their_queue() {
    for (scheduler, is_free) in
        [("round-robin", true), ("drr", true), ("strict-priority", true), ("fifo", false)]
    {
        let scenario = load(&CLASSES.replace("SCHEDULER", scheduler), &[]);
        let outcome = run(&scenario);
        let out = |name: &str| outcome.network.ports[port(&scenario, name)].counters().units_out;
        // 4 ms of 3 Gb/s are 1500 packets; the slow line sends one in 100 us
        assert!((38..=40).contains(&out("slow")), "{scheduler}: {}", out("slow"));
        assert_eq!(out("fast") > 1490, is_free, "{scheduler}: {}", out("fast"));
    }
}

#[test]
fn a_memory_reserves_what_the_credits_of_each_class_promise() {
    let text = CLASSES.replace("SCHEDULER", "round-robin");
    let reserved = |text: &str| -> Vec<u64> {
        let memory = load(text, &[]).memories.into_iter().next().unwrap();
        memory.queues.iter().map(|queue| queue.limits.reserved).collect()
    };
    assert_eq!(reserved(&text), [40, 40], "a credit is a cell");
    let smaller =
        text.replace("cell = \"250 bytes\"", "cell = \"208 bytes\"").replace("80 cells", "33280 bytes");
    assert_eq!(reserved(&smaller), [80, 80], "a packet of 209 to 250 octets takes one credit and two cells");
    let header = text.replace("cell = \"250 bytes\"", "cell = \"260 bytes\"\nheader = \"10 bytes\"");
    assert_eq!(reserved(&header), [40, 40]);
    let more =
        text.replace("[queue.slow]", "[queue.slow]\nreserved = \"50 cells\"").replace("80 cells", "90 cells");
    assert_eq!(reserved(&more), [40, 50], "what the class reserves is kept if it is more");
    let outcome = run(&load(&text, &[]));
    let memory = outcome.network.memories().next().unwrap();
    assert_eq!(memory.queues()[1].occupancy().max(), 40, "the slow class fills its room, and not more");
}

#[test]
fn a_buffer_behind_the_line_has_the_room_that_the_credits_promise_in_its_own_measure() {
    let text = r#"
        name = "slow"
        duration = "20 ms"
        adaptation = { kind = "packet" }
        node = [{ name = "a", kind = "host" }, { name = "c", kind = "host" }, { name = "s", kind = "router" }, { name = "b", kind = "host" }]
        link = [
            { name = "in", from = "a", to = "s", rate = "8 Gb/s", delay = "1 us" },
            { name = "in2", from = "c", to = "s", rate = "8 Gb/s", delay = "1 us" },
            { name = "out", from = "s", to = "b", rate = "80 Mb/s", delay = "1 us" },
        ]
        flow = [{ name = "f", from = "a", to = "b" }, { name = "g", from = "a", to = "b" }, { name = "h", from = "c", to = "b" }]
        flows = { source = { kind = "cbr", rate = "2 Gb/s", size = "972 bytes" }, transport = { kind = "udp" } }
        [port.in]
        credit = { policy = "cbfc", credit_size = "250 bytes", room = "10 kB" }
        [port.in2]
        credit = { policy = "cbfc", credit_size = "500 bytes", room = "4 kB" }
    "#;
    let scenario = load(text, &[]);
    let out = port(&scenario, "out");
    assert_eq!(
        scenario.lines[out].port.capacity,
        Capacity::limited(14_000),
        "two circuits of a line share its room"
    );
    let outcome = run(&scenario);
    let counters = outcome.network.ports[out].counters();
    assert_eq!((counters.lost_total(), counters.occupancy.max()), (0, 14_000));
    for (buffer, room) in [("48 packets", 40 + 8), ("136 cells of 128 bytes", 2 * 40 + 4 * 8 + 24)] {
        let given = format!("{text}\n[port.out]\nbuffer = \"{buffer}\"");
        assert_eq!(load(&given, &[]).lines[out].port.capacity, Capacity::limited(room), "{buffer}");
    }
}

#[test]
fn a_report_counts_messages_and_the_room_in_credits() {
    let scenario = direct("credit_size = '500 bytes', room = '2000 bytes', update = '8 bytes'", "");
    let document = report(&scenario, &run(&scenario), None);
    assert_eq!(document["engine"]["name"], "reference");
    let ports = document["ports"].as_array().unwrap();
    assert_eq!((&ports[0]["credit_room"], &ports[0]["credit_cells"]), (&4.into(), &0.into()));
    let packets = ports[0]["units_out"].as_u64().unwrap();
    let messages = ports[1]["credit_cells"].as_u64().unwrap();
    assert!((packets - 2..=packets).contains(&messages), "one for each packet: {messages} of {packets}");
}

#[test]
fn headers_of_packets_that_were_cut_wait_for_credits_like_others() {
    let text = r#"
        name = "cut"
        duration = "1 ms"
        adaptation = { kind = "packet" }
        node = [{ name = "a", kind = "host" }, { name = "s", kind = "router" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
        link = [
            { name = "in", from = "a", to = "s", rate = "8 Gb/s", delay = "1 us" },
            { name = "mid", from = "s", to = "r", rate = "8 Gb/s", delay = "1 us" },
            { name = "out", from = "r", to = "b", rate = "80 Mb/s", delay = "1 us" },
        ]
        flow = [{ name = "f", from = "a", to = "b", source = { kind = "cbr", rate = "8 Gb/s", size = "972 bytes" }, transport = { kind = "udp" } }]
        [port.mid]
        buffer = "5 packets"
        admission = { policy = "step", threshold = "2 packets", action = "trim" }
        credit = { policy = "cbfc", credit_size = "100 bytes", room = "3 kB" }
    "#;
    let scenario = load(text, &[]);
    let outcome = run(&scenario);
    let cut = outcome.network.ports[port(&scenario, "mid")].counters().rare().trimmed;
    assert!(cut > 20, "{cut}");
    assert_eq!(outcome.network.ports[port(&scenario, "out")].counters().lost_total(), 0);
}

/// Compute the need of a class on a link of 100 Gb/s with this delay each way: headroom and threshold with pauses, room
/// with credits; in cells.
fn needs(delay_ns: u64) -> [u64; 3] {
    let text = format!(
        r#"
        name = "needs"
        duration = "1 us"
        adaptation = {{ kind = "packet" }}
        node = [{{ name = "a", kind = "host" }}, {{ name = "s", kind = "router" }}, {{ name = "b", kind = "host" }}]
        link = [
            {{ name = "in", from = "a", to = "s", rate = "100 Gb/s", delay = "{delay_ns} ns" }},
            {{ name = "out", from = "s", to = "b", rate = "100 Gb/s", delay = "1 us" }},
        ]
        flow = [{{ name = "there", from = "a", to = "b" }}, {{ name = "back", from = "b", to = "a" }}]
        flows = {{ source = {{ kind = "cbr", rate = "1 Gb/s", size = "1472 bytes" }}, transport = {{ kind = "udp" }} }}
        [port.in]
        credit = {{ policy = "cbfc", credit_size = "254 bytes" }}
        [port.default]
        memory = "chip"
        [memory.chip]
        size = "100 MB"
        cell = "254 bytes"
        pool.all = {{ side = "ingress" }}
        [queue.all]
        pause = {{ xoff = "1 MB" }}
        "#
    );
    let scenario = load(&text, &[]);
    let line = &scenario.lines[port(&scenario, "in")];
    let of_line = |headroom: &Headroom| {
        let (memory, queue) = headroom.queue;
        scenario.memories[memory].queues[queue].line == port(&scenario, "in")
    };
    let headroom = headrooms(&scenario).into_iter().find(of_line).unwrap().needed;
    let octets = 2 * delay_ns * 100 / 8; // of a round trip
    [headroom, octets.div_ceil(1500) * 6, line.port.gates.credit.as_ref().unwrap().terms().room]
}

#[test]
fn the_page_about_memories_says_what_links_need_with_pauses_and_with_credits() {
    let page = include_str!("../../../../../docs/concepts/memory.md");
    for (cable, delay_ns) in [("100 m", 500), ("2 km", 10_000), ("40 km", 200_000)] {
        let [headroom, threshold, room] = needs(delay_ns);
        let row = format!("| {cable} | {headroom} | {threshold} | {room} |");
        assert!(page.contains(&row), "{row}");
    }
}
