//! The part of the network between the hosts: ports, and packets in flight.
//!
//! # What it assumes
//! See `mod.rs`.
//!
//! # What it skips
//! Events at ports that can be handled as soon as a packet is sent.
//!
//! # Why that is exact
//! These ports get packets in order.
//!
//! # What turns it off
//! A port where lines meet, a port that judges every packet, a policer, and a loss by intent.

pub(crate) mod arrivals;
mod in_order;
mod judging;
mod quiet;
mod recorded;
mod ruled;
mod stations;
mod waiting;

use super::agenda::Arrival;
use super::host::{Hosts, tallies};
use super::lookahead::HOSTS;
use super::port::Taken;
use super::route::{Entrance, Head, Packet, PacketDestination, Routing, StepClass, Steps};
use super::shared::{Entered, SharedPorts};
use crate::engine::exact::accounting::Window;
use crate::engine::outcome::LossRecord;
use crate::engine::questions::sampled_ports;
use crate::host::end::End;
use crate::kernel::queue::Event;
use crate::network::Network;
use crate::network::branches::Hop;
use crate::network::circuit::{Marks, Tally};
use crate::scenario::model::Scenario;
use crate::trace::TracedPackets;
use crate::transport::cargo::Cargo;
use crate::unit::{Flags, Unit};
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId, StationId};
use crate::units::{Span, Time};
use crate::verdict::Reason;

use arrivals::PendingArrivals;
use judging::JudgingPorts;
use ruled::RuledPorts;

/// The routes of circuits, the ports on them, and the packets in flight.
pub(crate) struct Transit {
    pub(crate) window: Window,
    /// The end of the part of the run that is being computed: up to there packets need no separate handling.
    pub(crate) edge: Time,
    /// The network except its flows; of its circuits only their paths are used.
    pub(crate) network: Network,
    pub(crate) steps: Steps,
    pub(crate) hosts: Hosts,
    pub(crate) arrivals: PendingArrivals,
    circuits: IdVec<CircuitId, CircuitBooks>,
    ruled: RuledPorts,
    /// Ports that share a memory and decide by a rule.
    shared: SharedPorts,
    judging: JudgingPorts,
    sampled: SampledPorts,
    pub(crate) packet_hops: u64,
    pub(crate) log: Option<Vec<LossRecord>>,
    /// Packets in flight on a line at the end of the run, by circuit.
    pub(crate) on_lines: IdVec<CircuitId, u64>,
}

/// Ports that judge every packet and whose occupancy is sampled.
#[derive(Debug)]
struct SampledPorts {
    ports: Vec<LineId>,
    next: Time,
    every: Span,
}

/// The arrival of a packet at a step of its route, without its payload; `head` is as the ports so far have
/// left it (they may have marked it).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    pub(crate) at: u32,
    /// How packets arrive at that step.
    pub(crate) stop: PacketDestination,
    pub(crate) head: Head,
    pub(crate) time: Time,
}

/// A packet that will arrive at a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Onward {
    pub(crate) at: u32,
    pub(crate) packet: Packet,
    pub(crate) time: Time,
}

/// The counts of a circuit that its hosts do not keep.
#[derive(Clone, Copy, Debug, Default)]
struct CircuitBooks {
    /// Packets that were sent, where several flows share the route or a port judges every packet.
    sent: u64,
    lost: u64,
    /// Packets that had arrived when the measured time began.
    unmeasured: u64,
    /// Packets cut to their headers that have arrived since then.
    cut: u64,
    /// Packets with a congestion mark.
    marks: Marks,
}

impl Transit {
    /// The network at time zero; with `log` losses are recorded, and with `record` packets at ports.
    pub(crate) fn new(scenario: &Scenario, log: bool, record: Option<TracedPackets>) -> Transit {
        let window = Window { from: Time::ZERO + scenario.warmup, to: Time::ZERO + scenario.duration };
        let network = Network::between_hosts(scenario);
        let Routing { steps, rules, memories, quiet, stations, division, ends } =
            Routing::new(scenario, &network, |port| record.as_ref().is_some_and(|record| record.has(port)));
        let sampled = sampled_ports(scenario).into_iter().filter(|&port| rules[port].is_none());
        let waiting_steps = if rules.iter().any(Option::is_none) { steps.list.len() } else { 0 };
        let mut transit = Transit {
            window,
            edge: Time::ZERO,
            hosts: Hosts::new(scenario, steps.begins(), ends),
            arrivals: PendingArrivals::new(scenario, division),
            circuits: IdVec::filled(CircuitBooks::default(), scenario.vcs.len()),
            sampled: SampledPorts { ports: sampled.collect(), next: Time::ZERO, every: scenario.sample },
            ruled: RuledPorts::new(scenario, rules, window, &network.ports),
            shared: SharedPorts::new(memories),
            judging: JudgingPorts::new(scenario, &network, waiting_steps, (stations, quiet), record),
            packet_hops: 0,
            log: log.then(Vec::new),
            on_lines: IdVec::filled(0, scenario.vcs.len()),
            steps,
            network,
        };
        for port in scenario.lines.keys() {
            transit.tick(port.index(), Time::ZERO);
            transit.call_gates(port);
        }
        transit
    }

    /// Set the end of the part of the run that is computed next.
    pub(crate) fn set_edge(&mut self, edge: Time) {
        self.edge = edge;
        self.steps.kinds.iter_mut().for_each(|kind| kind.edge = Time(edge.0.saturating_sub(kind.latency.0)));
    }

    /// Return when ports that judge every packet are sampled next, if there are any.
    pub(crate) fn next_sample(&self) -> Option<Time> {
        (!self.sampled.ports.is_empty()).then_some(self.sampled.next)
    }

    /// Sample these ports.
    pub(crate) fn sample(&mut self) {
        let now = self.sampled.next;
        self.settle_before(now);
        self.sampled.ports.iter().for_each(|&port| self.network.ports[port].sample());
        self.network.memories_mut().for_each(|memory| memory.sample(now));
        self.sampled.next += self.sampled.every;
    }

    /// Count the departures before `now` that no event has counted.
    fn settle_before(&mut self, now: Time) {
        self.shared.settle_before(&mut self.network, now);
        self.judging.ordered.settle_before(&mut self.network, now);
    }

    /// Begin the measured time.
    pub(crate) fn reset_counters(&mut self, scenario: &Scenario, now: Time) {
        self.settle_before(now);
        self.shared.show(&mut self.network);
        self.judging.show(&mut self.network, &self.steps);
        self.network.reset_counters(now);
        self.shared.hide(&mut self.network);
        self.judging.hide(&mut self.network, &self.steps);
        for (books, tally) in self.circuits.iter_mut().zip(tallies(scenario, &self.hosts.ends)) {
            (books.unmeasured, books.cut) = (tally.arrived, 0);
        }
    }

    /// Transfer their books to the circuits and ports that have passed packets on by themselves, at the end of the run.
    pub(crate) fn close(mut self, scenario: &Scenario) -> Transit {
        self.settle_before(self.window.to);
        self.shared.show(&mut self.network);
        self.judging.show(&mut self.network, &self.steps);
        self.ruled.close(self.window, &mut self.network.ports);
        let circuits = self.network.circuits.iter_mut().zip(tallies(scenario, &self.hosts.ends));
        for ((circuit, tally), books) in circuits.zip(&self.circuits) {
            let &CircuitBooks { lost, unmeasured, cut, marks, .. } = books;
            circuit.enter(Tally { lost, ..tally }, marks, tally.arrived - unmeasured - cut);
        }
        self
    }

    /// Return when a port has sent all its packets; `None` if it does not accept packets by a rule.
    #[inline]
    pub(crate) fn ends(&self, port: LineId) -> Option<Time> {
        self.ruled.ends(port)
    }

    /// Return when the line on which an end of a flow sends is free, given that its port accepts packets by a rule.
    #[inline]
    pub(crate) fn free_before(&self, entity: usize) -> Time {
        self.ruled.fifos[self.steps.port(self.hosts.ends[entity].first())].ends()
    }

    /// Return whether a flow with circuits of its own has no packet in flight.
    pub(crate) fn is_quiet(&self, flow: FlowId) -> bool {
        let [source, sink] = [End::Source, End::Sink].map(|end| end.entity(flow));
        let all_came = |from: usize, to: usize| {
            let lost = self.circuits[self.hosts.circuit_to(to)].lost;
            self.hosts.ends[from].sent() == self.hosts.ends[to].arrived() + lost
        };
        all_came(source, sink) && all_came(sink, source)
    }

    /// Send a packet of `bytes` octets, IP header included, from a host.
    #[inline(always)] // see `Row::add`
    pub(crate) fn send(&mut self, now: Time, entity: usize, bytes: u32, cargo: Cargo) {
        let (at, sent) = self.hosts.ends[entity].send();
        let StepClass { padding, is_special, .. } =
            self.steps.kinds[self.steps.list[at as usize].kind as usize];
        let head = Head {
            frame: sent as u32,
            bytes: padding.unit(bytes),
            flags: cargo.marks().with(Flags::FIRST).with(Flags::EOM),
        };
        let flow = End::of_entity(entity).0;
        if is_special {
            return self.send_specially(at, Packet { cargo, flow, head }, now);
        }
        let Some((_, time)) = self.cross(at, head, now) else { return };
        match self.steps.stop(at + 1) {
            PacketDestination::Meet | PacketDestination::Marking | PacketDestination::Shared => {
                self.meet(at + 1, Packet { cargo, flow, head }, time)
            }
            _ => self.send_on(at + 1, Packet { cargo, flow, head }, time),
        }
    }

    /// Send a packet on to a step that is not a port where lines meet.
    #[inline(never)]
    fn send_on(&mut self, at: u32, packet: Packet, now: Time) {
        if let Some(Passed { at, head, time, .. }) = self.pass_on(at, packet.head, now) {
            self.expect(at, Packet { head, ..packet }, time);
        }
    }

    /// Send a packet whose circuit numbers its packets, or whose host interface marks or judges them.
    #[inline(never)]
    fn send_specially(&mut self, mut at: u32, mut packet: Packet, now: Time) {
        let circuit = self.steps.extras[at as usize].circuit;
        let books = &mut self.circuits[circuit];
        packet.head.frame = books.sent as u32;
        books.sent += 1;
        if self.steps.has_branches() {
            self.network.circuits[circuit].depart(now, packet.head.frame);
            at = self.first_step(circuit, packet.head.frame);
        }
        if let Some(Onward { at, packet, time }) = self.enter(at, &packet, now) {
            self.expect(at, packet, time);
        }
    }

    /// The step at which the route of a packet begins.
    #[inline]
    fn first_step(&self, circuit: CircuitId, frame: u32) -> u32 {
        self.steps.begin(circuit, || self.network.circuits[circuit].route_number(frame))
    }

    /// Handle the arrival of a packet at a port of any kind; returns the packet that the port sends.
    fn enter(&mut self, at: u32, packet: &Packet, now: Time) -> Option<Onward> {
        if self.steps.stop(at) == PacketDestination::Judging {
            return self.judge(at, packet, now);
        }
        let Passed { at, head, time, .. } = self.pass_any(at, packet, now)?;
        Some(Onward { at, packet: Packet { head, ..*packet }, time })
    }

    /// Like `pass`, for a port of any kind that decides by a rule.
    #[inline(always)]
    pub(crate) fn pass_any(&mut self, at: u32, packet: &Packet, now: Time) -> Option<Passed> {
        match self.steps.stop(at) {
            PacketDestination::Shared => self.pass_shared(at, packet.head, now),
            PacketDestination::Marking => {
                let head = self.approach(at, packet, now)?;
                self.pass(at, head, now)
            }
            _ => self.pass(at, packet.head, now),
        }
    }

    /// Pass a packet through a port that accepts it by a rule, and all later ports that can be handled now, unless it
    /// is lost or the run is over.
    #[inline(always)] // keeps the result out of memory
    pub(crate) fn pass(&mut self, at: u32, head: Head, now: Time) -> Option<Passed> {
        let (head, time) = self.cross(at, head, now)?;
        self.pass_on(at + 1, head, time)
    }

    /// Pass a packet through all ports that can be handled now, from a step on.
    #[inline(always)]
    fn pass_on(&mut self, mut at: u32, mut head: Head, mut time: Time) -> Option<Passed> {
        let mut stop = self.steps.stop(at);
        while stop == PacketDestination::Alone {
            (head, time) = self.cross(at, head, time)?;
            at += 1;
            stop = self.steps.stop(at);
        }
        Some(Passed { at, stop, head, time })
    }

    /// Pass a packet through a port that accepts it by a rule; returns its head, which may bear a mark now, and its
    /// arrival at the next step.
    #[inline(always)]
    fn cross(&mut self, at: u32, head: Head, now: Time) -> Option<(Head, Time)> {
        let step = &self.steps.list[at as usize];
        let kind = &mut self.steps.kinds[step.kind as usize];
        let (latency, edge) = (kind.latency, kind.edge);
        match self.ruled.pass(LineId(step.place), now, head.bytes, kind.pace_of(head.bytes), edge) {
            Some(ends) => {
                self.packet_hops += 1;
                Some((head, ends.later(latency)))
            }
            None => self.cross_singly(at, head, now),
        }
    }

    /// Like `cross`, for a packet that needs separate handling.
    #[inline(never)]
    fn cross_singly(&mut self, at: u32, head: Head, now: Time) -> Option<(Head, Time)> {
        let (step, extra) = (self.steps.list[at as usize], self.steps.extras[at as usize]);
        let port = LineId(step.place);
        let (fifo, queue, course) = self.ruled.parts(port);
        let kind = &mut self.steps.kinds[step.kind as usize];
        let course = course.map(|course| (course, head.bytes.max(kind.minimum)));
        let (latency, pace) = (kind.latency, kind.pace_of(head.bytes));
        let unit = || (head.unit(&extra), extra.number);
        let policy = self.network.ports[port].admission_mut();
        match fifo.take((queue, policy), self.window, now, head.bytes, (pace, course), unit) {
            Ok(Taken { starts, ends, mark }) => {
                let time = ends.later(latency);
                self.packet_hops += 1;
                let head = mark.map_or(head, |reason| self.mark(at, head, reason, now));
                if time < self.window.to { Some((head, time)) } else { self.stay(at, starts) }
            }
            Err(reason) => {
                self.lost(port, head.unit(&extra), reason, now);
                None
            }
        }
    }

    /// Like `pass`, for a port that shares a memory and decides by a rule.
    fn pass_shared(&mut self, at: u32, head: Head, now: Time) -> Option<Passed> {
        let (port, extra) = (self.steps.port(at), &self.steps.extras[at as usize]);
        let (unit, vc) = (head.unit(extra), extra.number);
        let accepted = self.shared.arrive(&mut self.network, now, port, unit, vc);
        let Ok(Entered { flags, sent, before }) =
            accepted.map_err(|reason| self.lost(port, unit, reason, now))
        else {
            return None;
        };
        self.packet_hops += u64::from(sent.starts < self.window.to);
        if sent.arrives >= self.window.to {
            let begins = now.max(before) < self.window.to; // its first bit may leave a picosecond later
            self.on_lines[unit.vc] += u64::from(begins);
            return None;
        }
        self.pass_on(at + 1, Head { flags, ..head }, sent.arrives)
    }

    /// For a step at a port that accepts packets by a rule and takes part in no other order, return its number, or that
    /// of its memory beyond those of ports.
    #[inline]
    pub(crate) fn turn_of(&self, at: u32) -> Option<StationId> {
        let place = self.steps.port(at);
        match self.steps.stop(at) {
            PacketDestination::Meet | PacketDestination::Marking => Some(place.station()),
            PacketDestination::Judging => self.judging.stations.of(place),
            PacketDestination::Shared => {
                self.shared.memory_of(place).map(|memory| StationId::new(self.ruled.count() + memory.index()))
            }
            _ => None,
        }
    }

    /// Count a packet that does not reach the next step before the end of the run.
    #[cold]
    fn stay<T>(&mut self, at: u32, starts: Time) -> Option<T> {
        if starts < self.window.to {
            self.on_lines[self.steps.extras[at as usize].circuit] += 1;
        } else {
            self.packet_hops -= 1;
        }
        None
    }

    /// Add a packet that will arrive at a port where lines meet.
    #[inline(always)] // see `Row::add`
    fn meet(&mut self, at: u32, packet: Packet, time: Time) {
        let line = self.steps.port(at - 1);
        self.arrivals.meet(Arrival { time, line, at, packet });
    }

    /// Add a packet that will arrive at a step that cannot be handled ahead of time.
    #[inline(never)] // hosts rarely use it
    pub(crate) fn expect(&mut self, at: u32, packet: Packet, time: Time) {
        let place = self.steps.place(at);
        match self.steps.stop(at) {
            PacketDestination::Meet | PacketDestination::Marking | PacketDestination::Shared => {
                return self.meet(at, packet, time);
            }
            PacketDestination::End => self.hosts.ends[place as usize].awaited += 1,
            PacketDestination::Ends => self.hosts.shared[place as usize].awaited += 1,
            PacketDestination::Alone | PacketDestination::Judging | PacketDestination::Host => {}
        }
        let line = self.steps.port(at - 1);
        self.arrivals.expect(HOSTS, Arrival { time, line, at, packet });
    }

    /// Add a call of an end of a flow.
    #[inline]
    pub(crate) fn call(&mut self, event: Event) {
        self.arrivals.call(event);
        self.hosts.called(&event);
    }

    /// Set a congestion mark of a port on a packet; returns its head with the mark.
    #[cold]
    fn mark(&mut self, at: u32, head: Head, reason: Reason, now: Time) -> Head {
        let (port, extra) = (self.steps.port(at), self.steps.extras[at as usize]);
        self.network.ports[port].counters_mut().marked(now, &head.unit(&extra), reason);
        Head { flags: head.flags.with(Flags::CE), ..head }
    }

    /// Pass a packet by the policer and the gates before a port that decides by a rule; returns its head as it continues,
    /// unless it is lost.
    #[inline(always)] // one caller
    fn approach(&mut self, at: u32, packet: &Packet, now: Time) -> Option<Head> {
        let (port, extra) = (self.steps.port(at), self.steps.extras[at as usize]);
        let hop = Hop { port, vc: extra.number };
        let entered = match extra.entrance {
            Entrance::Open => return Some(packet.head),
            Entrance::Lossy => {
                let entered = self.network.cross_link(now, hop, packet.head.unit(&extra));
                entered.map(|_| packet.head) // a packet is a whole frame, whose marks stay
            }
            Entrance::Policed | Entrance::Drawn => {
                let is_drawn = extra.entrance == Entrance::Drawn;
                let unit = if is_drawn { packet.unit(&extra) } else { packet.head.unit(&extra) };
                let policed = self.network.circuits[extra.circuit].police(now, unit);
                let entered = policed.and_then(|unit| self.network.cross_link(now, hop, unit));
                entered.map(|unit| Head { flags: unit.flags, ..packet.head })
            }
        };
        entered.map_err(|reason| self.lose_before(port, packet.head.unit(&extra), reason, now)).ok()
    }

    /// Count a packet that is lost before it reaches a port that decides by a rule.
    #[cold]
    fn lose_before(&mut self, port: LineId, unit: Unit, reason: Reason, now: Time) {
        self.ruled.queues[port].lose(self.window, now, &unit, reason);
        self.lost(port, unit, reason, now);
    }

    /// Return the payload of a packet that arrives with a congestion mark, or cut, at the end of its circuit.
    #[cold]
    pub(crate) fn receive_marked(&mut self, packet: &Packet) -> Cargo {
        let end = if packet.cargo.is_back() { End::Source } else { End::Sink };
        let circuit = self.hosts.circuit_to(end.entity(packet.flow));
        let books = &mut self.circuits[circuit];
        books.marks.arrived += u64::from(packet.head.flags.has(Flags::CE));
        books.cut += u64::from(packet.head.flags.has(Flags::CUT));
        packet.cargo.marked_by(packet.head.flags)
    }

    /// Count a packet that a port has lost.
    #[cold]
    fn lost(&mut self, port: LineId, unit: Unit, reason: Reason, time: Time) {
        let Unit { vc, frame, index, .. } = unit;
        let books = &mut self.circuits[vc];
        books.lost += 1;
        books.marks.lost += u64::from(unit.is_ce());
        if let Some(log) = &mut self.log {
            log.push(LossRecord { time, port, vc, frame, index, reason });
        }
        self.record_loss(port, &unit, reason, time);
    }
}
