//! Ports whose memory removes no packet now and stops no sender, and which nothing stops: the engine keeps their packets in rows.
//!
//! # What it assumes
//! A memory pushes out or expels nothing up to an occupancy that its policies name ([`Memory::quiet_bound`]). Each of its ports sends in order
//! of arrival and accepts every packet that fits. A port with a buffer of its own is the same without a memory.
//!
//! # What it skips
//! While it is quiet: the queues of the ports, the search for a victim before every arrival, the check after every arrival and departure,
//! gates that are open, and the list of payloads.
//!
//! # Why that is exact
//! Without removals such a memory only limits what enters, and a port sends what has entered in order. The books of ports and memory are
//! those of `link/port/ahead.rs`; the ends of transmissions are the same events in both states. An arrival that would make the occupancy
//! exceed the bound first puts the packets into the queues, and from then on the ports judge every packet, until the occupancy is within
//! three quarters of the bound. So does an arrival that has stopped a sender, and whatever reaches or moves the gates of a port: these act
//! on what waits. They are quiet again when nothing is stopped.
//!
//! # What turns it off
//! With removals several pools or limits of classes; another policy or scheduler at one of the ports, a gate other than pauses, a
//! watchdog, a policer, packets that are recorded: then all ports of the memory judge every packet.
//!
//! # What it saves
//! Without it a leaf-spine whose memories drop from the longest queue takes 1.3 times as many instructions, and one whose memories could
//! stop senders and never do 1.8 times. Where they do all the time it costs 4 %.

use super::waiting::WaitingPackets;
use super::{Onward, Transit};
use crate::engine::forms::{Form, used};
use crate::engine::packets::agenda::Row;
use crate::engine::packets::route::{Packet, Steps};
use crate::kernel::queue::{Class, Event};
use crate::memory::Memory;
use crate::network::Network;
use crate::unit::Unit;
use crate::units::ids::{IdVec, LineId, MemoryId, StationId};
use crate::units::{Span, Time};

/// The ports that can be quiet, in groups: those of a memory together, others alone.
#[derive(Debug)]
pub(super) struct QuietPorts {
    /// For every port its group, if it can be quiet, and the packets that wait while it is; empty if there is no such port.
    ports: IdVec<LineId, Option<QuietPort>>,
    /// The groups, by the number of their port, or by that of their memory beyond those of ports.
    groups: IdVec<StationId, QuietGroup>,
}

/// A port that can be quiet.
#[derive(Debug)]
struct QuietPort {
    group: StationId,
    packets: Row<WaitingPacket>,
}

/// A packet that waits, with its marks.
#[derive(Clone, Copy, Debug, Default)]
struct WaitingPacket {
    packet: Packet,
    /// The step of its route.
    at: u32,
}

impl WaitingPacket {
    /// Return the unit that represents the packet.
    fn unit(&self, steps: &Steps) -> Unit {
        self.packet.unit(&steps.extras[self.at as usize])
    }
}

/// The state of a group.
#[derive(Clone, Debug, Default)]
struct QuietGroup {
    ports: Vec<LineId>,
    memory: Option<MemoryId>,
    /// The greatest occupancy at which it is quiet.
    bound: u64,
    is_quiet: bool,
    /// Whether its ports may be stopped, or the memory may stop senders.
    can_stop: bool,
    /// When it became quiet, or judges every packet, and how long the state before lasted.
    since: Time,
    before: Span,
    /// The number of arrivals that are judged before it looks again whether anything is stopped, and what it begins with.
    patience: u32,
    waits: u32,
}

/// Least and greatest number of arrivals that a group judges in which something has been stopped before it looks at all its ports again.
const PATIENCE: u32 = 32;
const MOST_PATIENCE: u32 = 4096;

impl QuietGroup {
    /// The group of a memory, or that of a port alone, without its ports.
    fn new(memory: Option<(MemoryId, &Memory)>) -> QuietGroup {
        let (bound, can_stop) = match memory {
            Some((_, memory)) => (memory.quiet_bound().unwrap_or(0), memory.is_pausing()),
            None => (u64::MAX, false),
        };
        let memory = memory.map(|(number, _)| number);
        QuietGroup { memory, bound, is_quiet: true, can_stop, ..QuietGroup::default() }
    }

    /// Begin to judge every packet: for twice as many arrivals as the last time if quiet did not last as long as unrest.
    fn raise(&mut self, now: Time) {
        let waits = if now.since(self.since) < self.before { 2 * self.waits } else { PATIENCE };
        self.waits = waits.clamp(PATIENCE, MOST_PATIENCE);
        self.patience = self.waits;
        self.turn(now);
    }

    /// Change the state.
    fn turn(&mut self, now: Time) {
        (self.since, self.before) = (now, now.since(self.since));
        self.is_quiet = !self.is_quiet;
    }
}

impl QuietPorts {
    /// Build the record of ports without packets; `groups` gives for every port its group, if it can be quiet.
    pub(super) fn new(network: &Network, groups: IdVec<LineId, Option<StationId>>) -> QuietPorts {
        if groups.iter().all(Option::is_none) {
            return QuietPorts { ports: IdVec::default(), groups: IdVec::default() };
        }
        let memories = network.memories().enumerate().map(|(number, memory)| (MemoryId::new(number), memory));
        let states = groups.iter().map(|_| None).chain(memories.map(Some)).map(QuietGroup::new);
        let mut states: IdVec<StationId, QuietGroup> = states.collect();
        for (port, group) in groups.pairs().filter_map(|(port, group)| Some((port, (*group)?))) {
            states[group].ports.push(port);
            states[group].can_stop |= !network.ports[port].gates().is_empty();
        }
        let port = |group: Option<StationId>| group.map(|group| QuietPort { group, packets: Row::default() });
        QuietPorts { ports: groups.into_iter().map(port).collect(), groups: states }
    }

    /// Return the group of a port, if that is quiet now.
    #[inline(always)]
    pub(super) fn quiet(&self, port: LineId) -> Option<StationId> {
        self.group(port).filter(|group| self.groups[*group].is_quiet)
    }

    /// Return the group of a port, if that can be quiet.
    #[inline(always)]
    fn group(&self, port: LineId) -> Option<StationId> {
        Some(self.ports.get(port)?.as_ref()?.group)
    }

    /// Show each quiet port the packets that wait there.
    pub(super) fn show(&self, network: &mut Network, steps: &Steps) {
        for (port, QuietPort { packets, .. }) in self.quiet_ports() {
            network.ports[port].line_up_only(packets.iter().map(|waiting| waiting.unit(steps)));
        }
    }

    /// Show no packets at these ports.
    pub(super) fn hide(&self, network: &mut Network) {
        self.quiet_ports().for_each(|(port, _)| network.ports[port].line_up_only([].into_iter()));
    }

    fn quiet_ports(&self) -> impl Iterator<Item = (LineId, &QuietPort)> {
        let ports = self.ports.pairs().filter_map(|(number, port)| Some((number, port.as_ref()?)));
        ports.filter(|(_, port)| self.groups[port.group].is_quiet)
    }

    /// Add a packet that waits at a quiet port.
    #[inline(always)]
    fn add(&mut self, port: LineId, packet: Packet, at: u32) {
        if let Some(QuietPort { packets, .. }) = &mut self.ports[port] {
            *packets.add() = WaitingPacket { packet, at };
        }
    }

    /// Put the packets that wait at the ports of a group into the queues of the ports.
    #[cold]
    fn raise(
        &mut self,
        (number, now): (StationId, Time),
        network: &mut Network,
        steps: &Steps,
        waiting: &mut WaitingPackets,
    ) {
        let QuietPorts { ports, groups } = self;
        groups[number].raise(now);
        for &port in &groups[number].ports {
            let Some(QuietPort { packets, .. }) = &mut ports[port] else { continue };
            network.ports[port].enqueue_ahead(packets.iter().map(|waiting| waiting.unit(steps)));
            while let Some(WaitingPacket { packet, at }) = packets.first() {
                waiting.push(*at, *packet);
                packets.drop_first();
            }
        }
    }
}

impl Transit {
    /// Return the group of a port if it is quiet, and stays so when `bytes` octets arrive there.
    #[inline(always)]
    pub(super) fn stays_quiet(&mut self, port: LineId, bytes: u16, now: Time) -> Option<StationId> {
        let number = self.judging.quiet.group(port)?;
        let &QuietGroup { memory, bound, is_quiet, .. } = &self.judging.quiet.groups[number];
        let needed = memory.map_or(0, |memory| {
            let size = self.network.ports[port].size_of(&Unit { bytes, ..Unit::default() });
            self.network.cells_used(memory) + size
        });
        if is_quiet && needed <= bound || !is_quiet && needed <= bound / 4 * 3 && self.calm(number, now) {
            return Some(number);
        }
        self.raise(port, now);
        None
    }

    /// Have the ports of a quiet group judge every packet from now on, given one of them.
    #[inline]
    pub(super) fn raise(&mut self, port: LineId, now: Time) {
        if let Some(number) = self.judging.quiet.quiet(port) {
            self.judging.quiet.raise(
                (number, now),
                &mut self.network,
                &self.steps,
                &mut self.judging.waiting,
            );
        }
    }

    /// Return whether nothing is stopped in a group that has not been quiet, and it tells its senders nothing.
    fn is_at_rest(&mut self, number: StationId) -> bool {
        let group = &mut self.judging.quiet.groups[number];
        if group.patience > 0 {
            group.patience -= 1;
            return false;
        }
        group.patience = group.waits;
        let is_open = |port: &LineId| {
            let port = &self.network.ports[*port];
            port.has_open_gates() && !port.has_controls()
        };
        group.ports.iter().all(is_open)
            && group.memory.is_none_or(|memory| self.network.lets_all_send(memory))
    }

    /// Take the packets that wait at the ports of a group out of the queues of the ports, unless something is stopped there; returns
    /// whether it is quiet.
    #[cold]
    fn calm(&mut self, number: StationId, now: Time) -> bool {
        if self.judging.quiet.groups[number].can_stop && !self.is_at_rest(number) {
            return false;
        }
        for index in 0..self.judging.quiet.groups[number].ports.len() {
            let port = self.judging.quiet.groups[number].ports[index];
            while let Some(unit) = self.network.ports[port].take_first() {
                let at = self.first_step(unit.vc, unit.frame) + u32::from(unit.hop);
                let mut packet = self.leave(at, unit.frame);
                packet.head.flags = unit.flags;
                self.judging.quiet.add(port, packet, at);
            }
        }
        self.judging.quiet.groups[number].turn(now);
        true
    }

    /// Handle the arrival of a packet at a quiet port; returns the packet that the port sends.
    #[inline]
    pub(super) fn arrive_quietly(
        &mut self,
        at: u32,
        packet: &Packet,
        number: StationId,
        now: Time,
    ) -> Option<Onward> {
        used(Form::QuietPorts);
        let (place, extra) = (self.steps.port(at), &self.steps.extras[at as usize]);
        let (unit, vc) = (packet.head.unit(extra), extra.number);
        let (taken, stops) = match self.judging.quiet.groups[number].memory {
            Some(memory) => {
                let (memory, ports) = self.network.memory_and_ports(memory);
                (ports[place].take_in_ahead(memory, now, &unit, vc), memory.has_signals())
            }
            None => (self.network.ports[place].take_in_alone(now, &unit, vc), false),
        };
        let sent = match taken {
            Ok(()) if !self.network.ports[place].is_busy() => self.send_quietly(place, at, packet, now),
            Ok(()) => {
                self.judging.quiet.add(place, *packet, at);
                None
            }
            Err(reason) => {
                self.lost(place, unit, reason, now);
                None
            }
        };
        if stops {
            self.raise(place, now);
            self.settle(place, now);
        }
        sent
    }

    /// Handle the end of a transmission at a quiet port; returns the packet that the port sends next.
    #[inline]
    pub(super) fn free_quietly(&mut self, place: LineId, number: StationId, now: Time) -> Option<Onward> {
        match self.judging.quiet.groups[number].memory {
            Some(memory) => {
                let (memory, ports) = self.network.memory_and_ports(memory);
                ports[place].finish_ahead(memory, now);
            }
            None => self.network.ports[place].finish_alone(now),
        }
        let QuietPort { packets, .. } = self.judging.quiet.ports[place].as_mut()?;
        let WaitingPacket { packet, at } = *packets.first()?;
        packets.drop_first();
        self.send_quietly(place, at, &packet, now)
    }

    /// Start to send a packet at a quiet port whose line is free.
    #[inline(always)]
    fn send_quietly(&mut self, place: LineId, at: u32, packet: &Packet, now: Time) -> Option<Onward> {
        let extra = &self.steps.extras[at as usize];
        let (unit, vc) = (packet.head.unit(extra), extra.number);
        let pace = self.steps.pace_at(at, unit.bytes);
        let sent = self.network.ports[place].send_ahead(now, unit, vc, pace);
        self.schedule(Event::new(sent.ends, Class::Free, place.0));
        self.pass_sent(at, *packet, unit.vc, sent)
    }
}
