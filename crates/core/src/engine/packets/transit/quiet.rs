//! Ports of a memory that removes packets, while nothing can be removed: the engine keeps their packets in rows.
//!
//! # What it assumes
//! A memory pushes out or expels nothing up to an occupancy that its policies name ([`Memory::quiet_bound`]). Each of its ports sends in order
//! of arrival, accepts every packet that fits, and gets its packets from other nodes.
//!
//! # What it skips
//! Up to that occupancy: the queues of the ports, the search for a victim before every arrival, the check after every arrival and
//! departure, and the list of payloads.
//!
//! # Why that is exact
//! Without removals such a memory only limits what enters, and a port sends what has entered in order. The books of ports and memory are
//! those of `link/port/ahead.rs`; the ends of transmissions are the same events in both states. An arrival that would make the occupancy
//! exceed the bound first puts the packets into the queues, and from then on the ports judge every packet, until the occupancy is within
//! three quarters of the bound.
//!
//! # What turns it off
//! Several pools, limits or pauses of classes, another policy or scheduler at one of the ports, a gate, a policer, packets that are
//! recorded: then all ports of the memory judge every packet.
//!
//! # What it saves
//! A leaf-spine whose memories drop from the longest queue takes 1.8 times as many instructions without it.

use super::waiting::WaitingPackets;
use super::{Onward, Transit};
use crate::engine::forms::{Form, used};
use crate::engine::packets::agenda::Row;
use crate::engine::packets::route::{Packet, Steps};
use crate::kernel::queue::{Class, Event};
use crate::memory::Memory;
use crate::network::Network;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{IdVec, LineId, MemoryId};

/// The memories that can be quiet, and their ports.
#[derive(Debug)]
pub(super) struct QuietMemories {
    /// For every port its memory, if that can be quiet, and the packets that wait while it is; empty if there is no such memory.
    ports: IdVec<LineId, Option<QuietPort>>,
    memories: IdVec<MemoryId, QuietMemory>,
}

/// A port of such a memory.
#[derive(Debug)]
struct QuietPort {
    memory: MemoryId,
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

/// The state of a memory.
#[derive(Clone, Debug, Default)]
struct QuietMemory {
    ports: Vec<LineId>,
    /// The greatest occupancy at which it is quiet.
    bound: u64,
    is_quiet: bool,
}

impl QuietMemories {
    /// Build the record of memories without packets; `memories` gives for every port its memory, if that can be quiet.
    pub(super) fn new(network: &Network, memories: IdVec<LineId, Option<MemoryId>>) -> QuietMemories {
        if memories.iter().all(Option::is_none) {
            return QuietMemories { ports: IdVec::default(), memories: IdVec::default() };
        }
        let state = |memory: &Memory| QuietMemory {
            bound: memory.quiet_bound().unwrap_or(0),
            ..QuietMemory::default()
        };
        let mut states: IdVec<MemoryId, QuietMemory> = network.memories().map(state).collect();
        for (port, memory) in memories.pairs().filter_map(|(port, memory)| Some((port, (*memory)?))) {
            states[memory].ports.push(port);
            states[memory].is_quiet = true;
        }
        let port =
            |memory: Option<MemoryId>| memory.map(|memory| QuietPort { memory, packets: Row::default() });
        QuietMemories { ports: memories.into_iter().map(port).collect(), memories: states }
    }

    /// Return the memory of a port, if that is quiet now.
    #[inline(always)]
    pub(super) fn quiet(&self, port: LineId) -> Option<MemoryId> {
        self.memory(port).filter(|memory| self.memories[*memory].is_quiet)
    }

    /// Return the memory of a port, if that can be quiet.
    #[inline(always)]
    fn memory(&self, port: LineId) -> Option<MemoryId> {
        Some(self.ports.get(port)?.as_ref()?.memory)
    }

    /// Show each port of a quiet memory the packets that wait there.
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
        ports.filter(|(_, port)| self.memories[port.memory].is_quiet)
    }

    /// Put the packets that wait at the ports of a memory into the queues of the ports.
    #[cold]
    fn raise(
        &mut self,
        number: MemoryId,
        network: &mut Network,
        steps: &Steps,
        waiting: &mut WaitingPackets,
    ) {
        let QuietMemories { ports, memories } = self;
        memories[number].is_quiet = false;
        for &port in &memories[number].ports {
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
    /// Return the memory of a port if it is quiet, and stays so when `bytes` octets arrive there.
    #[inline(always)]
    pub(super) fn stays_quiet(&mut self, port: LineId, bytes: u16) -> Option<MemoryId> {
        let number = self.judging.quiet.memory(port)?;
        let size = self.network.ports[port].size_of(&Unit { bytes, ..Unit::default() });
        let QuietMemory { bound, is_quiet, .. } = self.judging.quiet.memories[number];
        let used = self.network.cells_used(number);
        if is_quiet && used + size <= bound || !is_quiet && used + size <= bound / 4 * 3 && self.calm(number)
        {
            return Some(number);
        }
        if is_quiet {
            self.judging.quiet.raise(number, &mut self.network, &self.steps, &mut self.judging.waiting);
        }
        None
    }

    /// Take the packets that wait at the ports of a memory out of the queues of the ports; returns true.
    #[cold]
    fn calm(&mut self, number: MemoryId) -> bool {
        for index in 0..self.judging.quiet.memories[number].ports.len() {
            let port = self.judging.quiet.memories[number].ports[index];
            while let Some(unit) = self.network.ports[port].take_first() {
                let at = self.first_step(unit.vc, unit.frame) + u32::from(unit.hop);
                let mut packet = self.leave(at, unit.frame);
                packet.head.flags = unit.flags;
                if let Some(QuietPort { packets, .. }) = &mut self.judging.quiet.ports[port] {
                    *packets.add() = WaitingPacket { packet, at };
                }
            }
        }
        self.judging.quiet.memories[number].is_quiet = true;
        true
    }

    /// Handle the arrival of a packet at a port of a quiet memory; returns the packet that the port sends.
    #[inline]
    pub(super) fn arrive_quietly(
        &mut self,
        at: u32,
        packet: &Packet,
        number: MemoryId,
        now: Time,
    ) -> Option<Onward> {
        used(Form::QuietMemories);
        let (place, extra) = (self.steps.port(at), &self.steps.extras[at as usize]);
        let (unit, vc) = (packet.head.unit(extra), extra.number);
        let (memory, ports) = self.network.memory_and_ports(number);
        let port = &mut ports[place];
        if let Err(reason) = port.take_in_ahead(memory, now, &unit, vc) {
            self.lost(place, unit, reason, now);
            return None;
        }
        if port.is_busy() {
            if let Some(QuietPort { packets, .. }) = &mut self.judging.quiet.ports[place] {
                *packets.add() = WaitingPacket { packet: *packet, at };
            }
            return None;
        }
        self.send_quietly(place, at, packet, now)
    }

    /// Handle the end of a transmission at a port of a quiet memory; returns the packet that the port sends next.
    #[inline]
    pub(super) fn free_quietly(&mut self, place: LineId, number: MemoryId, now: Time) -> Option<Onward> {
        let (memory, ports) = self.network.memory_and_ports(number);
        ports[place].finish_ahead(memory, now);
        let QuietPort { packets, .. } = self.judging.quiet.ports[place].as_mut()?;
        let WaitingPacket { packet, at } = *packets.first()?;
        packets.drop_first();
        self.send_quietly(place, at, &packet, now)
    }

    /// Start to send a packet at a port of a quiet memory whose line is free.
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
