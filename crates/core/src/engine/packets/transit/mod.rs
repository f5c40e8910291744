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
//! A port where lines meet, a port that judges every packet, and a policer.

mod asked;
mod waiting;

use std::collections::BTreeMap;

use super::agenda::{Arrival, ArrivalAgenda};
use super::calendar::Calendar;
use super::host::{Host, SharedHost, hosts, tallies};
use super::lookahead::{AGENDAS, HOSTS, Lookahead};
use super::payload::PacketPayload;
use super::port::{PacketFifo, PacketQueue, Taken};
use super::route::{Head, Packet, PacketDestination, Step, StepClass, StepExtras, Steps};
use super::shared::SharedPorts;
use crate::buffer::admission::Rule;
use crate::engine::asked::{ActingMemories, Controls};
use crate::engine::exact::accounting::Window;
use crate::engine::outcome::LossRecord;
use crate::engine::questions::sampled_ports;
use crate::kernel::Ties;
use crate::kernel::queue::Event;
use crate::link::port::Loss;
use crate::network::Network;
use crate::network::circuit::{Marks, Tally};
use crate::network::end::End;
use crate::scenario::model::{self as scenario, Scenario};
use crate::unit::{Flags, Unit};
use crate::units::{Span, Time};
use crate::verdict::Reason;

use waiting::WaitingPackets;

/// The routes of circuits, the ports on them, and the packets in flight.
pub(crate) struct Transit {
    pub(crate) window: Window,
    /// The end of the part of the run that is being computed: up to there packets need no separate handling.
    pub(crate) edge: Time,
    /// The network except its flows; of its circuits only their paths are used.
    pub(crate) network: Network,
    pub(crate) steps: Vec<Step>,
    extras: Vec<StepExtras>,
    kinds: Vec<StepClass>,
    pub(crate) hosts: Vec<Host>,
    /// Hosts with several ends that act ahead of time, and for each end the number of its host, if it is one of them.
    pub(crate) shared_hosts: Vec<SharedHost>,
    shared_by: Vec<Option<u32>>,
    flow_routes: Vec<FlowRoute>,
    /// First steps of the routes of each circuit that has several.
    branches: BTreeMap<u32, Vec<u32>>,
    /// The circuit on which each end of a flow receives packets.
    circuits_to: Vec<u32>,
    /// Ports that accept packets by a rule; the others are not used here.
    fifos: Vec<PacketFifo>,
    queues: Vec<PacketQueue>,
    is_ruled: Vec<bool>,
    /// Ports that share a memory and decide by a rule.
    shared: SharedPorts,
    pub(crate) agendas: [ArrivalAgenda; AGENDAS],
    /// All arrivals, as soon as one has found no row.
    calendar: Option<Box<Calendar>>,
    pub(crate) division: Lookahead,
    pub(crate) packet_hops: u64,
    pub(crate) log: Option<Vec<LossRecord>>,
    losses: Vec<Loss>,
    asked: WaitingPackets,
    memories: ActingMemories,
    controls: Controls,
    /// Packets in flight on a line at the end of the run, by circuit.
    pub(crate) on_lines: Vec<u64>,
    /// Ports that judge every packet and whose occupancy is sampled, with the next sample and the interval.
    sampled: Vec<usize>,
    sample: Time,
    every: Span,
}

/// A circuit: the beginning of its route, and counts that its hosts do not keep.
#[derive(Clone, Copy, Debug, Default)]
struct FlowRoute {
    first: u32,
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

/// The circuits on which the source and the sink of a flow receive packets.
fn circuits_to(flow: &scenario::Flow) -> [u32; 2] {
    [flow.back.unwrap_or(flow.vc) as u32, flow.vc as u32]
}

impl Transit {
    /// The network at time zero.
    pub(crate) fn new(scenario: &Scenario, log: bool) -> Transit {
        let window = Window { from: Time::ZERO + scenario.warmup, to: Time::ZERO + scenario.duration };
        let network = Network::between_hosts(scenario);
        let Steps { list, extras, first, branches, kinds, rules, memories, division, ends } =
            Steps::new(scenario, &network);
        let sampled = sampled_ports(scenario).into_iter().filter(|&port| rules[port].is_none());
        let flow_route = |&first: &u32| FlowRoute { first, ..FlowRoute::default() };
        let any_asked = rules.iter().any(Option::is_none);
        let mut transit = Transit {
            window,
            edge: Time::ZERO,
            asked: WaitingPackets::new(if any_asked { list.len() } else { 0 }),
            steps: list,
            extras,
            kinds,
            hosts: hosts(scenario, &first),
            shared_hosts: vec![SharedHost::default(); ends.shared],
            shared_by: ends.shared_by,
            flow_routes: first.iter().map(flow_route).collect(),
            branches,
            circuits_to: scenario.flows.iter().flat_map(circuits_to).collect(),
            memories: ActingMemories::new(scenario, &network),
            controls: Controls::new(scenario),
            on_lines: vec![0; first.len()],
            fifos: Vec::with_capacity(rules.len()),
            queues: Vec::with_capacity(rules.len()),
            is_ruled: rules.iter().map(Option::is_some).collect(),
            shared: SharedPorts::new(memories),
            agendas: std::array::from_fn(|_| ArrivalAgenda::new(Ties::new(scenario.seed))),
            calendar: None,
            division,
            packet_hops: 0,
            log: log.then(Vec::new),
            losses: Vec::new(),
            sampled: sampled.collect(),
            sample: Time::ZERO,
            every: scenario.sample,
            network,
        };
        for (port, rule) in rules.into_iter().enumerate() {
            let (rule, state) = (rule.unwrap_or(Rule::Fits), &transit.network.ports[port]);
            let (fifo, queue) = PacketFifo::new(scenario, port, rule, window, state);
            transit.fifos.push(fifo);
            transit.queues.push(queue);
            transit.tick(port, Time::ZERO);
        }
        transit
    }

    /// Return the agenda with the next event, and its time.
    #[inline(always)]
    pub(crate) fn first(&self) -> (usize, Time) {
        let (mut place, mut first) = (HOSTS, self.agendas[HOSTS].first_time());
        for (other, agenda) in self.agendas.iter().enumerate().skip(1) {
            let time = agenda.first_time();
            place = if time < first { other } else { place };
            first = first.min(time);
        }
        (place, first)
    }

    /// Return whether the row tables have overflowed.
    pub(crate) fn overflows(&self) -> bool {
        self.agendas.iter().any(ArrivalAgenda::overflows)
    }

    /// Return whether arrivals are in a calendar.
    pub(crate) fn has_calendar(&self) -> bool {
        self.calendar.is_some()
    }

    /// Move all arrivals to a calendar.
    pub(crate) fn open_calendar(&mut self, scenario: &Scenario) {
        let arrivals: Vec<Arrival> = self.agendas.iter_mut().flat_map(ArrivalAgenda::take_arrivals).collect();
        let first = arrivals.iter().map(|arrival| arrival.time).min();
        let mut calendar = Calendar::new(scenario, first.unwrap_or(Time::NEVER).min(self.first_call()));
        arrivals.into_iter().for_each(|arrival| calendar.add(arrival));
        self.calendar = Some(Box::new(calendar));
    }

    /// Take the arrivals of the first day with an event before `end`: see [`Calendar::take_first`].
    pub(crate) fn take_day(&mut self, end: Time, arrivals: &mut Vec<Arrival>) -> Option<(Time, Time)> {
        let call = self.first_call();
        self.calendar.as_mut()?.take_first(call, end, arrivals)
    }

    /// Return when the first call is due.
    fn first_call(&self) -> Time {
        Time((self.agendas[HOSTS].first_call() >> u64::BITS) as u64)
    }

    /// The place of an arrival in the order of the kernel.
    pub(crate) fn key(&self, time: Time, line: u32) -> u128 {
        self.agendas[HOSTS].event(time, line).key()
    }

    /// Return when ports that judge every packet are sampled next, if there are any.
    pub(crate) fn next_sample(&self) -> Option<Time> {
        (!self.sampled.is_empty()).then_some(self.sample)
    }

    /// Sample these ports.
    pub(crate) fn sample(&mut self) {
        self.shared.settle_before(&mut self.network, self.sample);
        self.sampled.iter().for_each(|&port| self.network.ports[port].sample());
        let now = self.sample;
        self.network.memories_mut().for_each(|memory| memory.sample(now));
        self.sample += self.every;
    }

    /// Begin the measured time.
    pub(crate) fn reset_counters(&mut self, scenario: &Scenario, now: Time) {
        self.shared.settle_before(&mut self.network, now);
        self.shared.show(&mut self.network);
        self.network.reset_counters(now);
        self.shared.hide(&mut self.network);
        let flow_routes = self.flow_routes.iter_mut().zip(tallies(scenario, &self.hosts));
        flow_routes
            .for_each(|(flow_route, tally)| (flow_route.unmeasured, flow_route.cut) = (tally.arrived, 0));
    }

    /// Transfer their books to the circuits and ports that have passed packets on by themselves, at the end of the run.
    pub(crate) fn close(mut self, scenario: &Scenario) -> Transit {
        self.shared.settle_before(&mut self.network, self.window.to);
        self.shared.show(&mut self.network);
        let fifos = self.fifos.drain(..).zip(self.queues.drain(..));
        let ports = fifos.zip(&mut self.network.ports).zip(&self.is_ruled);
        for (((fifo, queue), port), _) in ports.filter(|(_, is_ruled)| **is_ruled) {
            fifo.close(queue, self.window, port);
        }
        let circuits = self.network.circuits.iter_mut().zip(tallies(scenario, &self.hosts));
        for ((circuit, tally), &FlowRoute { lost, unmeasured, cut, marks, .. }) in
            circuits.zip(&self.flow_routes)
        {
            circuit.enter(Tally { lost, ..tally }, marks, tally.arrived - unmeasured - cut);
        }
        self
    }

    /// Return whether a flow with circuits of its own has no packet in flight.
    pub(crate) fn is_quiet(&self, flow: usize) -> bool {
        let [source, sink] = [End::Source, End::Sink].map(|end| end.entity(flow));
        let all_came = |from: usize, to: usize| {
            let lost = self.flow_routes[self.circuits_to[to] as usize].lost;
            self.hosts[from].sent() == self.hosts[to].arrived() + lost
        };
        all_came(source, sink) && all_came(sink, source)
    }

    /// Return how packets arrive at a step.
    #[inline(always)]
    pub(crate) fn stop(&self, at: u32) -> PacketDestination {
        self.kinds[self.steps[at as usize].kind as usize].stop
    }

    /// Send a packet of `bytes` octets, IP header included, from a host.
    #[inline(always)] // see `Row::add`
    pub(crate) fn send(&mut self, now: Time, entity: usize, bytes: u32, cargo: PacketPayload) {
        let (at, sent) = self.hosts[entity].send();
        let StepClass { header, is_special, .. } = self.kinds[self.steps[at as usize].kind as usize];
        let bytes = u16::try_from(bytes + header).expect("a checked packet fits");
        let head = Head { frame: sent as u32, bytes, flags: cargo.flags() };
        let flow = End::of_entity(entity).0 as u32;
        if is_special {
            return self.send_specially(at, Packet { cargo, flow, head }, now);
        }
        let Some(time) = self.cross(at, head, now) else { return };
        match self.stop(at + 1) {
            PacketDestination::Meet | PacketDestination::Marking | PacketDestination::Shared => {
                self.meet(at + 1, Packet { cargo, flow, head }, time)
            }
            PacketDestination::Alone => self.send_on(at + 1, Packet { cargo, flow, head }, time),
            PacketDestination::Asked
            | PacketDestination::Host
            | PacketDestination::End
            | PacketDestination::Ends => self.expect(at + 1, Packet { cargo, flow, head }, time),
        }
    }

    /// Send a packet on to the next step, beyond an interface that is not the only port to be handled.
    #[inline(never)]
    fn send_on(&mut self, at: u32, packet: Packet, now: Time) {
        if let Some((at, time)) = self.pass(at, packet.head, now) {
            self.expect(at, packet, time);
        }
    }

    /// Send a packet whose circuit numbers its packets, or whose host interface marks or judges them.
    #[inline(never)]
    fn send_specially(&mut self, mut at: u32, mut packet: Packet, now: Time) {
        let circuit = self.extras[at as usize].circuit;
        let flow_route = &mut self.flow_routes[circuit as usize];
        packet.head.frame = flow_route.sent as u32;
        flow_route.sent += 1;
        if !self.branches.is_empty() {
            self.network.circuits[circuit as usize].depart(now, packet.head.frame);
            at = self.first_step(circuit, packet.head.frame);
        }
        let sent = match self.stop(at) {
            PacketDestination::Asked => self.enter(at, packet, now),
            PacketDestination::Marking => self
                .pass_marking(at, &packet, now)
                .map(|(at, head, time)| (at, Packet { head, ..packet }, time)),
            _ => return self.send_on(at, packet, now),
        };
        if let Some((at, packet, time)) = sent {
            self.expect(at, packet, time);
        }
    }

    /// The step at which the route of a packet begins.
    #[inline]
    fn first_step(&self, circuit: u32, frame: u32) -> u32 {
        if self.branches.is_empty() {
            return self.flow_routes[circuit as usize].first;
        }
        match self.branches.get(&circuit) {
            None => self.flow_routes[circuit as usize].first,
            Some(begins) => begins[self.network.circuits[circuit as usize].route_number(frame)],
        }
    }

    /// Pass a packet through a port that accepts it by a rule, and all later ports that can be handled now; returns the
    /// step that it reaches, and its arrival there, unless it is lost or the run is over.
    #[inline(always)] // keeps the result out of memory
    pub(crate) fn pass(&mut self, mut at: u32, head: Head, mut time: Time) -> Option<(u32, Time)> {
        loop {
            time = self.cross(at, head, time)?;
            at += 1;
            if self.stop(at) != PacketDestination::Alone {
                return Some((at, time));
            }
        }
    }

    /// Pass a packet whose circuit is policed, or that the policy may mark. Also return its head, which may bear a mark
    /// now.
    #[inline(always)]
    pub(crate) fn pass_marking(&mut self, at: u32, packet: &Packet, now: Time) -> Option<(u32, Head, Time)> {
        let head = self.police(at, packet, now)?;
        let (head, time) = match self.cross_quickly(at, head, now) {
            Some(time) => (head, time),
            None => self.cross_singly(at, head, now)?,
        };
        if self.stop(at + 1) != PacketDestination::Alone {
            return Some((at + 1, head, time));
        }
        self.pass(at + 1, head, time).map(|(at, time)| (at, head, time))
    }

    /// Pass a packet through such a port; returns its arrival at the next step.
    #[inline(always)]
    fn cross(&mut self, at: u32, head: Head, now: Time) -> Option<Time> {
        match self.cross_quickly(at, head, now) {
            None => self.cross_singly(at, head, now).map(|(_, time)| time),
            time => time,
        }
    }

    /// Cross the port with a packet that needs no separate handling; return `None` for another packet.
    #[inline(always)]
    fn cross_quickly(&mut self, at: u32, head: Head, now: Time) -> Option<Time> {
        let step = &self.steps[at as usize];
        let fifo = &mut self.fifos[step.place as usize];
        let kind = &mut self.kinds[step.kind as usize];
        let (latency, edge) = (kind.latency, Time(self.edge.0.saturating_sub(kind.latency.0)));
        let pace = kind.pace_of(head.bytes);
        let ends = match fifo.pass(now, head.bytes, pace, edge) {
            Some(ends) => ends,
            None => {
                let queue = &mut self.queues[step.place as usize];
                fifo.pass_first(queue, now, head.bytes, pace, edge)?
            }
        };
        self.packet_hops += 1;
        Some(ends.later(latency))
    }

    /// Cross the port with a packet that needs separate handling. Also return its head, which may bear a mark now.
    #[inline(never)]
    fn cross_singly(&mut self, at: u32, head: Head, now: Time) -> Option<(Head, Time)> {
        let (step, extra) = (&self.steps[at as usize], &self.extras[at as usize]);
        let (fifo, queue) = (&mut self.fifos[step.place as usize], &mut self.queues[step.place as usize]);
        let kind = &mut self.kinds[step.kind as usize];
        let (latency, pace) = (kind.latency, kind.pace_of(head.bytes));
        let unit = || (head.unit(extra), extra.number);
        let policy = self.network.ports[step.place as usize].admission_mut();
        match fifo.take((queue, policy), self.window, now, head.bytes, pace, unit) {
            Ok(Taken { starts, ends, mark }) => {
                let time = ends.later(latency);
                self.packet_hops += 1;
                let head = mark.map_or(head, |reason| self.mark(at, head, reason));
                if time < self.window.to { Some((head, time)) } else { self.stay(at, starts) }
            }
            Err(reason) => {
                let (port, unit) = (step.place, head.unit(extra));
                self.lost(port, unit, reason, now);
                None
            }
        }
    }

    /// Pass a packet at a port that shares a memory and decides by a rule; returns the result of
    /// [`Transit::pass_marking`].
    pub(crate) fn pass_shared(&mut self, at: u32, head: Head, now: Time) -> Option<(u32, Head, Time)> {
        let (port, extra) = (self.steps[at as usize].place, &self.extras[at as usize]);
        let (unit, vc) = (head.unit(extra), extra.number);
        let begins = now.max(self.shared.last(port)) < self.window.to; // its first bit may leave a picosecond later
        let accepted = self.shared.arrive(&mut self.network, now, (port, unit, vc));
        let Ok((unit, sent)) = accepted.map_err(|reason| self.lost(port, unit, reason, now)) else {
            return None;
        };
        self.packet_hops += u64::from(sent.starts < self.window.to);
        if sent.arrives >= self.window.to {
            self.on_lines[unit.vc as usize] += u64::from(begins);
            return None;
        }
        let head = Head { flags: unit.flags, ..head };
        match self.stop(at + 1) {
            PacketDestination::Alone => {
                self.pass(at + 1, head, sent.arrives).map(|(at, time)| (at, head, time))
            }
            _ => Some((at + 1, head, sent.arrives)),
        }
    }

    /// For a step at a port that accepts packets by a rule and takes part in no other order, return its number, or that
    /// of its memory beyond those of ports.
    #[inline]
    pub(crate) fn turn_of(&self, at: u32) -> Option<u32> {
        let place = self.steps[at as usize].place;
        match self.stop(at) {
            PacketDestination::Meet | PacketDestination::Marking => Some(place),
            PacketDestination::Shared => {
                self.shared.memory_of(place).map(|memory| (self.is_ruled.len() + memory) as u32)
            }
            _ => None,
        }
    }

    /// Count a packet that does not reach the next step before the end of the run.
    #[cold]
    fn stay<T>(&mut self, at: u32, starts: Time) -> Option<T> {
        if starts < self.window.to {
            self.on_lines[self.extras[at as usize].circuit as usize] += 1;
        } else {
            self.packet_hops -= 1;
        }
        None
    }

    /// Add a packet that will arrive at a port where lines meet.
    #[inline(always)] // see `Row::add`
    fn meet(&mut self, at: u32, packet: Packet, time: Time) {
        let line = self.steps[at as usize - 1].place;
        if self.calendar.is_some() {
            return self.add(Arrival { time, line, at, packet });
        }
        let agenda = self.division.packets[usize::from(packet.cargo.is_ack())];
        self.agendas[agenda].expect(Arrival { time, line, at, packet });
    }

    /// Add an arrival to the calendar.
    #[inline(never)] // so that rows do not pay for it
    pub(crate) fn add(&mut self, arrival: Arrival) {
        if let Some(calendar) = &mut self.calendar {
            calendar.add(arrival);
        }
    }

    /// Add a packet that will arrive at a step that cannot be handled ahead of time.
    #[inline(never)] // hosts rarely use it
    pub(crate) fn expect(&mut self, at: u32, packet: Packet, time: Time) {
        let Step { place, .. } = self.steps[at as usize];
        match self.stop(at) {
            PacketDestination::Meet | PacketDestination::Marking | PacketDestination::Shared => {
                return self.meet(at, packet, time);
            }
            PacketDestination::End => self.hosts[place as usize].awaited += 1,
            PacketDestination::Ends => self.shared_hosts[place as usize].awaited += 1,
            PacketDestination::Alone | PacketDestination::Asked | PacketDestination::Host => {}
        }
        let line = self.steps[at as usize - 1].place;
        if self.calendar.is_some() {
            return self.add(Arrival { time, line, at, packet });
        }
        self.agendas[HOSTS].expect(Arrival { time, line, at, packet });
    }

    /// Add a call of an end of a flow.
    #[inline]
    pub(crate) fn call(&mut self, event: Event) {
        self.agendas[HOSTS].call(event);
        if let Some(host) = self.shared_by[event.entity as usize] {
            self.shared_hosts[host as usize].call(&self.hosts, event.time, event.entity);
        }
    }

    /// Set a congestion mark of a port on a packet; returns its head with the mark.
    #[cold]
    fn mark(&mut self, at: u32, head: Head, reason: Reason) -> Head {
        let (port, extra) = (self.steps[at as usize].place, self.extras[at as usize]);
        self.network.ports[port as usize].counters_mut().marked(&head.unit(&extra), reason);
        Head { flags: head.flags.with(Flags::CE), ..head }
    }

    /// Police a packet at a port where its circuit may be policed; returns its head as it continues, unless it is lost.
    fn police(&mut self, at: u32, packet: &Packet, now: Time) -> Option<Head> {
        let (port, extra) = (self.steps[at as usize].place, self.extras[at as usize]);
        let unit = packet.unit(&extra);
        match self.network.circuits[extra.circuit as usize].police(now, unit) {
            Ok(unit) => Some(Head { flags: unit.flags, ..packet.head }),
            Err(reason) => {
                self.queues[port as usize].lose(self.window, now, &unit, reason);
                self.lost(port, unit, reason, now);
                None
            }
        }
    }

    /// Return the payload of a packet that arrives with a congestion mark, or cut, at the end of its circuit.
    #[cold]
    pub(crate) fn receive_marked(&mut self, packet: &Packet) -> PacketPayload {
        let end = if packet.cargo.is_ack() { End::Source } else { End::Sink };
        let circuit = self.circuits_to[end.entity(packet.flow as usize)];
        let flow_route = &mut self.flow_routes[circuit as usize];
        flow_route.marks.arrived += u64::from(packet.head.flags.has(Flags::CE));
        flow_route.cut += u64::from(packet.head.flags.has(Flags::CUT));
        packet.cargo.marked_by(packet.head.flags)
    }

    /// Count a packet that a port has lost.
    #[cold]
    fn lost(&mut self, port: u32, unit: Unit, reason: Reason, time: Time) {
        let Unit { vc, frame, index, .. } = unit;
        let flow_route = &mut self.flow_routes[vc as usize];
        flow_route.lost += 1;
        flow_route.marks.lost += u64::from(unit.is_ce());
        if let Some(log) = &mut self.log {
            log.push(LossRecord { time, port, vc, frame, index, reason });
        }
    }
}
