//! Trimming: a port cuts a packet that it would lose to its headers, and sends these first.
//!
//! There are two ports in a row, and the second gets headers from the first. The reference engine reports what arrives at each
//! port and what leaves it; from the arrivals the model computes which packets are lost and which packet is sent next.

use std::collections::VecDeque;
use std::fmt::Write;

use pushout_core::engine::{Stopwatch, reference};
use pushout_core::network::circuit::Circuit;
use pushout_core::rng::Stream;
use pushout_core::scenario::load;
use pushout_core::trace::{Tracer, What};
use pushout_core::unit::Unit;
use pushout_core::units::Time;
use pushout_core::units::ids::{CircuitId, IdVec, LineId};
use pushout_core::verdict::Reason;

/// Octets of the headers that a packet is cut to.
const HEADERS: u64 = 64;

/// The two ports.
const NAMES: [&str; 2] = ["first", "second"];

/// A packet, or its headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packet {
    vc: u32,
    frame: u32,
    octets: u64,
    is_cut: bool,
}

/// A port that refuses a packet if its occupancy is above a threshold.
#[derive(Debug)]
struct Port {
    trims: bool,
    /// Its capacity and its threshold are octets, not packets.
    in_octets: bool,
    capacity: u64,
    threshold: u64,
    headers: VecDeque<Packet>,
    waiting: VecDeque<Packet>,
    sending: Option<Packet>,
    cut: u64,
}

impl Port {
    fn draw(stream: &mut Stream) -> Port {
        let in_octets = stream.up_to(1) == 1;
        let capacity = if in_octets { 700 + stream.up_to(9000) } else { 1 + stream.up_to(29) };
        let (threshold, trims) = (stream.up_to(capacity), stream.up_to(3) > 0);
        let (headers, waiting) = (VecDeque::new(), VecDeque::new());
        Port { trims, in_octets, capacity, threshold, headers, waiting, sending: None, cut: 0 }
    }

    fn keys(&self) -> String {
        let unit = if self.in_octets { "bytes" } else { "packets" };
        let action = if self.trims { "trim" } else { "drop" };
        let Port { capacity, threshold, .. } = self;
        format!(
            "buffer = \"{capacity} {unit}\"\n\
             admission = {{ policy = \"step\", threshold = \"{threshold} {unit}\", action = \"{action}\" }}"
        )
    }

    fn size(&self, packet: &Packet) -> u64 {
        if self.in_octets { packet.octets } else { 1 }
    }

    fn occupancy(&self) -> u64 {
        let packets = self.headers.iter().chain(&self.waiting).chain(&self.sending);
        packets.map(|packet| self.size(packet)).sum()
    }

    fn fits(&self, packet: &Packet) -> bool {
        self.occupancy() + self.size(packet) <= self.capacity
    }

    /// Return the reason for which a packet is refused, if it is.
    fn refuses(&self, packet: &Packet) -> Option<Reason> {
        if packet.is_cut && self.trims {
            return Some(Reason::Overflow);
        }
        if self.occupancy() > self.threshold {
            return Some(Reason::Early);
        }
        (!self.fits(packet)).then_some(Reason::Overflow)
    }

    /// Accept a packet, cut it, or lose it: returns the reason of its loss.
    fn arrive(&mut self, packet: Packet) -> Option<Reason> {
        let Some(reason) = self.refuses(&packet) else {
            self.waiting.push_back(packet);
            return None;
        };
        let is_long = packet.octets > HEADERS;
        let headers = if is_long { Packet { octets: HEADERS, is_cut: true, ..packet } } else { packet };
        if !self.trims || !self.fits(&headers) {
            return Some(reason);
        }
        self.headers.push_back(headers);
        self.cut += u64::from(is_long);
        None
    }

    /// Send the next packet if the line is free.
    fn start(&mut self) {
        self.sending = self.sending.or_else(|| self.headers.pop_front()).or_else(|| self.waiting.pop_front());
    }
}

/// The engine's ports and their models.
struct Pair {
    ports: [Port; 2],
    /// Numbers of their lines in the scenario.
    lines: [LineId; 2],
    /// The loss that the engine has to report next.
    awaited: Option<(Packet, Reason)>,
    lost: u64,
    said: String,
}

impl Tracer for Pair {
    fn see(&mut self, _: Time, line: LineId, unit: &Unit, what: What, _: &IdVec<CircuitId, Circuit>) {
        let Some(port) = self.lines.iter().position(|own| *own == line) else { return };
        let Pair { ports, awaited, said, .. } = self;
        let port = &mut ports[port];
        let packet =
            Packet { vc: unit.vc.0, frame: unit.frame, octets: unit.bytes.into(), is_cut: unit.is_cut() };
        if let What::Lost(reason) = what {
            assert_eq!(awaited.take(), Some((packet, reason)), "{said}: the next loss");
            self.lost += 1;
            return;
        }
        assert_eq!(*awaited, None, "{said}: it should be lost");
        match what {
            What::Leaves => assert_eq!(port.sending.take(), Some(packet), "{said}: what leaves"),
            _ => *awaited = port.arrive(packet).map(|reason| (packet, reason)),
        }
        port.start();
    }
}

/// Some senders, and the two ports on the way to their receiver.
fn scenario(stream: &mut Stream, ports: &[Port; 2]) -> String {
    let mut text = String::from("name = \"row\"\nduration = \"30 ms\"\nadaptation = { kind = \"packet\" }\n");
    for (name, port) in NAMES.iter().zip(ports) {
        writeln!(text, "[port.{name}]\n{}", port.keys()).unwrap();
    }
    for (name, kind) in [("r", "router"), ("q", "router"), ("b", "host")] {
        writeln!(text, "[[node]]\nname = \"{name}\"\nkind = \"{kind}\"").unwrap();
    }
    for (name, from, to) in [(NAMES[0], "r", "q"), (NAMES[1], "q", "b")] {
        writeln!(text, "[[link]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"").unwrap();
        writeln!(text, "rate = \"{} Mb/s\"\ndelay = \"1 us\"", 1 + stream.up_to(7)).unwrap();
    }
    for n in 0..=stream.up_to(4) {
        let (size, burst, off) = (1 + stream.up_to(600), 1 + stream.up_to(40), 1 + stream.up_to(8000));
        writeln!(text, "[[node]]\nname = \"a{n}\"\nkind = \"host\"\n[[link]]\nfrom = \"a{n}\"\nto = \"r\"")
            .unwrap();
        writeln!(text, "rate = \"100 Mb/s\"\ndelay = \"1 us\"\n[[flow]]\nname = \"f{n}\"\nfrom = \"a{n}\"")
            .unwrap();
        writeln!(text, "to = \"b\"\ntransport = {{ kind = \"udp\" }}\n[flow.source]\nkind = \"on-off\"")
            .unwrap();
        writeln!(text, "peak = \"100 Mb/s\"\nburst = {burst}\noff = \"{off} us\"\nsize = \"{size} bytes\"")
            .unwrap();
    }
    text
}

/// Compare a random row of ports with their models; returns how many packets they lost and how many they cut.
fn compare(seed: u64) -> (u64, u64) {
    let mut stream = Stream::new(seed, "trimming");
    let ports = [Port::draw(&mut stream), Port::draw(&mut stream)];
    let text = scenario(&mut stream, &ports);
    let scenario = load(&text, "row.toml", &[]).unwrap_or_else(|wrong| panic!("{}\n{text}", wrong.message));
    let lines = NAMES.map(|name| scenario.lines.position(|line| line.name == name).unwrap());
    let said = format!("seed {seed}, {}, {}", ports[0].keys(), ports[1].keys());
    let pair = Pair { ports, lines, awaited: None, lost: 0, said };
    let (outcome, pair) = reference::run_traced(&scenario, false, pair, &mut Stopwatch::default());
    assert_eq!(pair.awaited, None, "{}: it should be lost", pair.said);
    for (port, line) in pair.ports.iter().zip(lines) {
        assert_eq!(outcome.network.ports[line].counters().rare().trimmed, port.cut, "{}", pair.said);
    }
    (pair.lost, pair.ports.iter().map(|port| port.cut).sum())
}

#[test]
fn ports_cut_packets_that_they_would_lose_and_send_the_headers_first() {
    let many = std::env::var("PUSHOUT_EQUIVALENCE").map_or(200, |count| count.parse().unwrap());
    let (mut lost, mut cut) = (0, 0);
    for seed in 0..many {
        let (of_row, cut_of_row) = compare(seed);
        (lost, cut) = (lost + of_row, cut + cut_of_row);
    }
    assert!(lost > 20 * many && cut > 20 * many, "{lost} lost and {cut} cut");
}
