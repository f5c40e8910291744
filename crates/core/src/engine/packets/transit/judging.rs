//! Ports that judge every packet, memories that act by themselves, and pauses.

use std::collections::BTreeSet;

use super::in_order::OrderedPorts;
use super::quiet::QuietPorts;
use super::stations::Stations;
use super::waiting::WaitingPackets;
use super::{Onward, Passed, Transit};
use crate::engine::coupling::{self, ActingMemories, Controls, GateClocks};
use crate::engine::forms::{Form, allows};
use crate::engine::packets::route::{Entrance, Packet, Steps};
use crate::engine::questions::policed_ports;
use crate::kernel::queue::{Class, Event};
use crate::link::line::Sent;
use crate::link::port::{Loss, Started};
use crate::network::Network;
use crate::network::branches::Hop;
use crate::scenario::model::Scenario;
use crate::trace::TracedPackets;
use crate::units::Time;
use crate::units::ids::{CircuitId, IdVec, LineId, MemoryId, StationId};

/// The state of ports that judge every packet, beyond that of the network.
pub(super) struct JudgingPorts {
    pub(super) waiting: WaitingPackets,
    memories: ActingMemories,
    controls: Controls,
    gates: GateClocks,
    /// Ports that could be part of a cycle of pauses: for each other port the network need not search for one.
    cyclic: BTreeSet<LineId>,
    /// The latest losses, before they are counted.
    losses: Vec<Loss>,
    pub(super) stations: Stations,
    pub(super) ordered: OrderedPorts,
    pub(super) quiet: QuietPorts,
    /// The record of packets at ports; packets pass ports that are recorded only here.
    pub(super) record: Option<Box<TracedPackets>>,
}

impl JudgingPorts {
    /// Empty ports; packets wait at these steps.
    pub(super) fn new(
        scenario: &Scenario,
        network: &Network,
        steps: usize,
        (stations, quiet): (IdVec<StationId, Option<StationId>>, IdVec<LineId, Option<StationId>>),
        record: Option<TracedPackets>,
    ) -> JudgingPorts {
        let (polices, stations) = (policed_ports(scenario), Stations::new(stations));
        let alone = stations.alone();
        let is_ordered = |port: LineId| {
            alone.get(port.station()).is_some_and(|alone| *alone)
                && !polices[port]
                && network.ports[port].keeps_order()
                && allows(Form::OrderedPorts)
        };
        let ordered = OrderedPorts::new(&network.ports, is_ordered);
        JudgingPorts {
            waiting: WaitingPackets::new(steps),
            memories: ActingMemories::new(scenario, network),
            controls: Controls::new(scenario),
            gates: GateClocks::new(scenario),
            cyclic: scenario.pause_cycles().into_iter().flatten().collect(),
            losses: Vec::new(),
            ordered,
            quiet: QuietPorts::new(network, quiet),
            stations,
            record: record.map(Box::new),
        }
    }

    /// Show each port the packets of its queues that the engine keeps.
    pub(super) fn show(&self, network: &mut Network, steps: &Steps) {
        self.ordered.show(network, steps);
        self.quiet.show(network, steps);
    }

    /// Show no packets at these ports.
    pub(super) fn hide(&self, network: &mut Network, steps: &Steps) {
        self.ordered.hide(network, steps);
        self.quiet.hide(network);
    }
}

impl Transit {
    /// Schedule an event of a port or a memory: in its station, if it has one.
    #[inline(always)]
    pub(super) fn schedule(&mut self, event: Event) {
        self.schedule_for(StationId(event.entity), event);
    }

    /// Schedule an event in the station of a port or a memory, if that has one.
    #[inline(always)]
    fn schedule_for(&mut self, member: StationId, event: Event) {
        if !self.judging.stations.push(member, event) {
            self.arrivals.call(event);
        }
    }

    /// Handle the arrival of a packet at a port that judges it; returns the result of [`Transit::start`].
    pub(crate) fn judge(&mut self, at: u32, packet: &Packet, now: Time) -> Option<Onward> {
        let (port, extra) = (self.steps.port(at), self.steps.extras[at as usize]);
        if self.judging.record.is_some() {
            self.record_arrival(at, packet, now);
        }
        if self.judging.ordered.has(port) {
            return self.arrive_in_order(at, packet, now);
        }
        if let Some(group) = self.stays_quiet(port, packet.head.bytes, now) {
            return self.arrive_quietly(at, packet, group, now);
        }
        let (unit, number) = (packet.unit(&extra), extra.number);
        let hop = Hop { port, vc: number };
        let entered = match extra.entrance {
            Entrance::Open => Ok(unit),
            Entrance::Lossy => self.network.cross_link(now, hop, unit),
            Entrance::Policed | Entrance::Drawn => {
                let policed = self.network.circuits[extra.circuit].police(now, unit);
                policed.and_then(|unit| self.network.cross_link(now, hop, unit))
            }
        };
        let unit = match entered {
            Ok(unit) => unit,
            Err(reason) => {
                self.network.ports[port].refuse(unit, reason, &mut self.judging.losses);
                self.enter_losses(now);
                return None;
            }
        };
        self.judging.waiting.push(at, *packet);
        coupling::arrive(&mut self.network, now, (port, number), unit, &mut self.judging.losses);
        let started = self.start(port, now);
        self.settle(port, now);
        started
    }

    /// Handle the end of a transmission at a port that judges every packet; returns the result of [`Transit::start`].
    pub(crate) fn free(&mut self, port: LineId, now: Time) -> Option<Onward> {
        if let Some(group) = self.judging.quiet.quiet(port) {
            return self.free_quietly(port, group, now);
        }
        self.network.at(port, |port| port.finish(now));
        let started = self.start(port, now);
        self.settle(port, now);
        started
    }

    /// Make a memory that acts by itself act now, after a packet has joined or left a port.
    #[inline]
    pub(super) fn settle(&mut self, port: LineId, now: Time) {
        let JudgingPorts { memories, .. } = &self.judging;
        if let Some(memory) = memories.of(port).filter(|memory| memories.are_due(&self.network, *memory, now))
        {
            self.act(memory, now);
        }
    }

    /// Run the actions of a memory that are due now, and schedule its next one.
    #[inline(never)]
    fn act(&mut self, memory: MemoryId, now: Time) {
        let next = self.judging.memories.act(&mut self.network, memory, now, &mut self.judging.losses);
        self.count_losses(now);
        if self.judging.controls.can_be() {
            self.signal(memory, now);
        }
        next.into_iter().for_each(|event| self.schedule(event));
    }

    /// Send the pause frames for which a memory has signals.
    fn signal(&mut self, memory: MemoryId, now: Time) {
        for (port, control) in self.judging.controls.of_memory(&mut self.network, memory) {
            self.raise(port, now); // it may share no memory, or another one
            self.network.ports[port].queue_control(control);
            self.start_control(port, now);
        }
    }

    /// Start the next packet at a port that judges every packet, if its line is free; returns the packet's next step,
    /// and when, unless it is lost or the run is over.
    fn start(&mut self, port: LineId, now: Time) -> Option<Onward> {
        if self.network.ports[port].is_busy() || self.start_control(port, now) {
            self.count_losses(now);
            return None;
        }
        let losses = &mut self.judging.losses;
        let started = self.network.at(port, |port| port.start(now, losses));
        self.count_losses(now);
        if started.is_none()
            && let Some(event) = self.judging.gates.opening(&self.network, port, now)
        {
            self.schedule_for(port.station(), event);
        }
        self.pass_started(port, started?)
    }

    /// Pass a packet on that a port has started to send; returns its next step, and when, unless it is lost or the run is over.
    #[inline]
    fn pass_started(&mut self, port: LineId, started: Started) -> Option<Onward> {
        let Started { unit, sent } = started;
        self.schedule(Event::new(sent.ends, Class::Free, port.0));
        let at = self.first_step(unit.vc, unit.frame) + u32::from(unit.hop);
        let mut packet = self.leave(at, unit.frame);
        (packet.head.flags, packet.head.bytes) = (unit.flags, unit.bytes);
        self.pass_sent(at, packet, unit.vc, sent)
    }

    /// Pass a packet on that a port has started to send at a step of its route.
    #[inline(always)] // a packet that is handed on must not pass through memory
    pub(super) fn pass_sent(
        &mut self,
        at: u32,
        packet: Packet,
        circuit: CircuitId,
        sent: Sent,
    ) -> Option<Onward> {
        if self.judging.record.is_some() {
            self.record_departure(at, &packet, sent);
        }
        self.packet_hops += u64::from(sent.starts < self.window.to); // a host may still be resting then
        if sent.arrives >= self.window.to {
            self.on_lines[circuit] += 1;
            return None;
        }
        let Passed { at, time, .. } = self.pass_on(at + 1, packet.head, sent.arrives)?;
        Some(Onward { at, packet, time })
    }

    /// Remove the record of a packet that leaves a port that judges every packet. A circuit keeps its order, so records
    /// before it belong to packets that the port has lost, and go too; at a port that lets packets overtake, only this
    /// record goes.
    pub(super) fn leave(&mut self, at: u32, frame: u32) -> Packet {
        let place = self.steps.port(at);
        if self.network.ports[place].lets_overtake() {
            return self.judging.waiting.remove(at, frame).expect("a packet that is sent has come");
        }
        loop {
            let packet = self.judging.waiting.pop(at).expect("a packet that is sent has come");
            if packet.head.frame == frame {
                return packet;
            }
        }
    }

    /// Start the next pause frame at a port whose line is free, if there is one; returns whether there is.
    fn start_control(&mut self, port: LineId, now: Time) -> bool {
        let Some((control, sent)) = self.network.ports[port].start_control(now) else { return false };
        self.schedule(Event::new(sent.ends, Class::Free, port.0));
        let to = self.judging.controls.back(port);
        if let Some(event) = self.judging.controls.send(to, sent.arrives, control) {
            self.schedule(event);
            self.note_frame(to, event.time);
        }
        true
    }

    /// Handle a pause at the port that it is for; returns the result of [`Transit::start`].
    pub(crate) fn control(&mut self, port: LineId, now: Time) -> Option<Onward> {
        self.raise(port, now);
        let (control, next) = self.judging.controls.arrive(port);
        next.into_iter().for_each(|event| self.schedule(event));
        match self.judging.cyclic.contains(&port) {
            true => self.network.receive_control(port, now, control),
            false => self.network.ports[port].receive_control(now, control),
        }
        let started = self.start(port, now);
        self.settle(port, now);
        self.call_gates(port);
        started
    }

    /// Return the port whose gates have this event entity of a clock, if there is one.
    #[inline]
    pub(crate) fn gates_of(&self, entity: usize) -> Option<LineId> {
        self.judging.gates.port_of(entity)
    }

    /// Have the gates of a port act that do so at this instant; returns the result of [`Transit::start`].
    pub(crate) fn act_gates(&mut self, port: LineId, now: Time) -> Option<Onward> {
        self.raise(port, now);
        if !self.judging.gates.act(&mut self.network, port, now, &mut self.judging.losses) {
            return None;
        }
        self.count_losses(now);
        let started = self.start(port, now);
        self.settle(port, now);
        self.call_gates(port);
        started
    }

    /// Schedule the next action of a port's gates, unless an earlier one is scheduled.
    pub(super) fn call_gates(&mut self, port: LineId) {
        let next = self.judging.gates.next(&self.network, port);
        next.into_iter().for_each(|event| self.schedule_for(port.station(), event));
    }

    /// Run the clock of a port's policy or, beyond those numbers, of a memory.
    pub(crate) fn tick(&mut self, entity: usize, now: Time) {
        if let Some(memory) = self.judging.memories.ticking(entity) {
            return self.act(memory, now);
        }
        let port = LineId::new(entity);
        let next = match self.judging.ordered.has(port) {
            true => self.tick_in_order(port, now),
            false => self.network.ports[port].tick(now),
        };
        if let Some(time) = next {
            self.schedule(Event::new(time, Class::Tick, port.0));
        }
    }

    /// Count the latest losses, if there are any.
    #[inline]
    fn count_losses(&mut self, now: Time) {
        if !self.judging.losses.is_empty() {
            self.enter_losses(now);
        }
    }

    /// Count the losses of a port that judges every packet, and of others that share its memory.
    fn enter_losses(&mut self, now: Time) {
        for Loss { unit, reason } in std::mem::take(&mut self.judging.losses) {
            let hop = self.network.circuits[unit.vc].hop(&unit);
            let port = hop.expect("a unit is lost at a port").port;
            if self.network.ports[port].lets_overtake() {
                let at = self.first_step(unit.vc, unit.frame) + u32::from(unit.hop);
                self.judging.waiting.remove(at, unit.frame);
            }
            self.lost(port, unit, reason, now);
        }
    }
}
