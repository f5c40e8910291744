//! Traces of packets at ports.
//!
//! The reference engine notifies a [`Tracer`] of every unit at every port; `()` ignores this and costs nothing.
//! [`TracedPackets`] keeps an entry for every packet at the chosen ports: cells of one frame are one packet, as on a packet
//! link. Where all links carry packets the fast engine records them too. [`pcapng()`] writes them for Wireshark.

mod headers;

mod pcapng;

pub mod ring;

pub use pcapng::pcapng;

use std::collections::{BTreeMap, BTreeSet};

use crate::network::circuit::Circuit;
use crate::scenario::model::{Line, Scenario};
use crate::transport::cargo::Cargo;
use crate::transport::ecn::Ecn;
use crate::transport::tcp::Segment;
use crate::transport::udp::Datagram;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId};
use crate::verdict::Reason;
use crate::words::nearest::unknown;

/// Event of a unit at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The unit arrives at the port, where it is accepted or lost.
    Arrives,
    /// The last bit of the unit has been sent.
    Leaves,
    /// The unit is lost.
    Lost(Reason),
}

/// The observer of a trace.
pub trait Tracer {
    /// Observe an event of a unit at a port.
    fn see(&mut self, now: Time, port: LineId, unit: &Unit, what: What, circuits: &IdVec<CircuitId, Circuit>);

    /// Observe the last unit of a packet that reaches its host, and what the packet carries.
    #[inline(always)]
    fn delivers(&mut self, now: Time, unit: &Unit, cargo: &Cargo) {
        let _ = (now, unit, cargo);
    }

    /// Return whether the link loses a unit where it would enter a port, as a `[[loss]]` would: a run that differs
    /// from another in this alone.
    #[inline(always)]
    fn refuses(&self, port: LineId, unit: &Unit) -> bool {
        let _ = (port, unit);
        false
    }
}

impl Tracer for () {
    #[inline(always)]
    fn see(&mut self, _: Time, _: LineId, _: &Unit, _: What, _: &IdVec<CircuitId, Circuit>) {}
}

/// A packet at a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracedPacket {
    /// The port.
    pub port: LineId,
    /// Circuit of the packet.
    pub vc: CircuitId,
    /// Serial number of the packet's frame on the circuit.
    pub frame: u32,
    /// Flow of the packet, and what it carries.
    pub content: Option<(FlowId, Cargo)>,
    /// Arrival time of its first unit.
    pub arrived: Time,
    /// Time at which its last unit so far was sent, or lost.
    pub done: Time,
    /// Units that arrived.
    pub units: u16,
    /// Units that were sent.
    pub sent: u16,
    /// Units that were lost.
    pub lost: u16,
    /// Octets of one of its units on the line.
    pub unit_bytes: u16,
    /// Reason of the first loss of a unit.
    pub reason: Option<Reason>,
    /// Whether one of its units had a congestion mark, set at this port or before.
    pub is_ce: bool,
}

impl TracedPacket {
    /// Return the number of units that are still in the port.
    pub fn queued(&self) -> u16 {
        self.units - self.sent - self.lost
    }

    /// Return the TCP segment that the packet carries, if it carries one.
    pub fn segment(&self) -> Option<Segment> {
        self.content?.1.open()
    }

    /// Return the ECN field of the packet as it leaves the port.
    pub fn ecn(&self) -> Ecn {
        let sent = self.content.map_or_else(Ecn::default, |(_, cargo)| cargo.ecn());
        sent.with(Ecn::CE.when(self.is_ce))
    }

    /// Return the octets of the application's data in the packet, if it says how many.
    pub fn data(&self) -> Option<u32> {
        let (_, cargo) = self.content?;
        let in_segment = |segment: Segment| if segment.is_ack { 0 } else { segment.len.into() };
        cargo.open().map(in_segment).or_else(|| Some(cargo.open::<Datagram>()?.bytes))
    }
}

/// The packets at some ports.
#[derive(Clone, Debug)]
pub struct TracedPackets {
    wanted: IdVec<LineId, bool>,
    seen: BTreeMap<(LineId, CircuitId, u32), TracedPacket>,
}

impl TracedPackets {
    /// Trace the ports of these names; without names, all ports with a limited buffer; `*` stands for every port.
    pub fn at(scenario: &Scenario, ports: &[String]) -> Result<TracedPackets, String> {
        let names: BTreeSet<&str> = scenario.lines.iter().map(|line| line.name.as_str()).collect();
        if let Some(wrong) = ports.iter().find(|port| *port != "*" && !names.contains(port.as_str())) {
            let names: Vec<&str> = scenario.lines.iter().map(|line| line.name.as_str()).collect();
            return Err(unknown("port", wrong, &names));
        }
        let wanted: BTreeSet<&str> = ports.iter().map(String::as_str).collect();
        let is_wanted = |line: &Line| match ports {
            [] => line.is_sampled(),
            _ => wanted.contains("*") || wanted.contains(line.name.as_str()),
        };
        Ok(TracedPackets { wanted: scenario.lines.iter().map(is_wanted).collect(), seen: BTreeMap::new() })
    }

    /// Return whether packets are recorded at a port.
    pub(crate) fn has(&self, port: LineId) -> bool {
        self.wanted[port]
    }

    /// Return the traced ports.
    pub fn ports(&self) -> impl Iterator<Item = LineId> {
        self.wanted.keys().filter(|&port| self.wanted[port])
    }

    /// Return every packet, ordered by the time at which its last unit was sent or lost.
    pub fn into_list(self) -> Vec<TracedPacket> {
        let mut list: Vec<TracedPacket> = self.seen.into_values().collect();
        list.sort_by_key(|packet| packet.done); // stable: by port, circuit and number at one instant
        list
    }

    /// Record an event of a unit at a port; `content` returns flow and payload of its packet, and is called for the first
    /// unit of a packet.
    pub(crate) fn record(
        &mut self,
        now: Time,
        port: LineId,
        unit: &Unit,
        what: What,
        content: impl FnOnce() -> Option<(FlowId, Cargo)>,
    ) {
        if !self.wanted[port] {
            return;
        }
        let packet =
            self.seen.entry((port, unit.vc, unit.frame)).or_insert_with(|| first(now, port, unit, content()));
        match what {
            What::Arrives => packet.units += 1,
            What::Leaves => packet.sent += 1,
            What::Lost(reason) => {
                packet.lost += 1;
                packet.reason.get_or_insert(reason);
            }
        }
        packet.is_ce |= unit.is_ce();
        packet.done = now;
    }
}

impl Tracer for TracedPackets {
    fn see(
        &mut self,
        now: Time,
        port: LineId,
        unit: &Unit,
        what: What,
        circuits: &IdVec<CircuitId, Circuit>,
    ) {
        let content = || circuits[unit.vc].frame(unit.frame).map(|frame| (frame.flow, frame.cargo));
        self.record(now, port, unit, what, content);
    }
}

/// Build the record of a packet whose first unit arrives.
fn first(now: Time, port: LineId, unit: &Unit, content: Option<(FlowId, Cargo)>) -> TracedPacket {
    TracedPacket {
        port,
        vc: unit.vc,
        frame: unit.frame,
        content,
        arrived: now,
        done: now,
        units: 0,
        sent: 0,
        lost: 0,
        unit_bytes: unit.bytes,
        reason: None,
        is_ce: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine;
    use crate::scenario::load;

    const LAN: &str = include_str!("../../../../scenarios/lan.toml");

    fn traced(ports: &[&str]) -> (Scenario, engine::Outcome, Vec<TracedPacket>) {
        let scenario = load(LAN, "lan.toml", &["duration=0.3 s".to_string()]).unwrap();
        let ports: Vec<String> = ports.iter().map(|port| port.to_string()).collect();
        let (outcome, packets) = engine::reference::run_traced(
            &scenario,
            true,
            TracedPackets::at(&scenario, &ports).unwrap(),
            &mut engine::Stopwatch::default(),
        );
        (scenario, outcome, packets.into_list())
    }

    #[test]
    fn the_books_of_the_trace_are_those_of_the_ports() {
        let (scenario, outcome, packets) = traced(&["*"]);
        for port in scenario.lines.keys() {
            let here = || packets.iter().filter(|packet| packet.port == port);
            let sum =
                |count: fn(&TracedPacket) -> u16| here().map(|packet| u64::from(count(packet))).sum::<u64>();
            let counters = outcome.network.ports[port].counters();
            assert_eq!(sum(|packet| packet.units), counters.units_in, "{}", scenario.lines[port].name);
            assert_eq!(sum(|packet| packet.sent), counters.units_out);
            assert_eq!(sum(TracedPacket::queued), outcome.network.ports[port].units_queued());
            let losses = outcome.losses.iter().filter(|loss| loss.port == port);
            assert_eq!(sum(|packet| packet.lost), losses.count() as u64);
        }
        assert!(packets.iter().any(|packet| packet.reason == Some(Reason::Early)));
    }

    #[test]
    fn listening_changes_nothing() {
        let (scenario, traced, _) = traced(&["*"]);
        let plain = engine::reference::run(&scenario, true, &mut engine::Stopwatch::default());
        assert_eq!(plain.losses, traced.losses);
        assert_eq!(plain.work, traced.work);
        let report = |outcome| crate::report::report(&scenario, outcome, None);
        assert_eq!(report(&plain), report(&traced));
    }

    #[test]
    fn without_names_it_listens_where_the_buffer_is_limited() {
        let (scenario, _, packets) = traced(&[]);
        let names: Vec<&str> =
            packets.iter().map(|packet| scenario.lines[packet.port].name.as_str()).collect();
        assert!(!names.is_empty() && names.iter().all(|name| *name == "bottleneck"));
        assert!(packets.is_sorted_by_key(|packet| packet.done));
        let wrong = TracedPackets::at(&scenario, &["botleneck".to_string()]).unwrap_err();
        assert!(wrong.contains("did you mean \"bottleneck\""), "{wrong}");
    }
}
