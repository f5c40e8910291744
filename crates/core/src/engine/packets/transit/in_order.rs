//! Ports with one queue that judge every packet: the engine keeps their packets in a row.
//!
//! # What it assumes
//! Packets leave in order of arrival, and only the one at the head can be lost.
//!
//! # What it skips
//! The queue of the port, the instants of arrival beside it, the scheduler, and the search for a packet's payload.
//!
//! # Why that is exact
//! The policy gets the same questions with the same figures; a row has what queue, instants and payloads have together.
//!
//! # What turns it off
//! Another scheduler, a policy that removes packets which wait, a gate, a policer, a memory, or a port of a host.
//!
//! # What it saves
//! A leaf-spine with CoDel at every port takes 1.3 times as many instructions without it.

use super::{Onward, Transit};
use crate::engine::packets::agenda::Row;
use crate::engine::packets::route::Packet;
use crate::kernel::queue::{Class, Event};
use crate::link::port::{Backlog, Port};
use crate::network::Network;
use crate::unit::Unit;
use crate::units::Time;

/// The packets that wait at each such port.
#[derive(Debug)]
pub(super) struct OrderedPorts {
    /// For every port its queue, if it is such a port; empty if there is none.
    queues: Vec<Option<Box<OrderedQueue>>>,
}

/// The packets that wait at one port.
#[derive(Debug, Default)]
struct OrderedQueue {
    packets: Row<WaitingPacket>,
    octets: u64,
    /// The number of packets that have joined.
    joined: u64,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug, Default)]
struct WaitingPacket {
    packet: Packet,
    unit: Unit,
    /// The step of its route.
    at: u32,
    arrived: Time,
}

impl OrderedPorts {
    /// Empty queues for the ports that `is_ordered` selects.
    pub(super) fn new(ports: &[Port], is_ordered: impl Fn(usize) -> bool) -> OrderedPorts {
        let queue = |number: usize| is_ordered(number).then(Box::default);
        let queues: Vec<Option<Box<OrderedQueue>>> = (0..ports.len()).map(queue).collect();
        OrderedPorts { queues: if queues.iter().any(Option::is_some) { queues } else { Vec::new() } }
    }

    /// Return whether a port is one of these.
    #[inline]
    pub(super) fn has(&self, port: usize) -> bool {
        self.queues.get(port).is_some_and(Option::is_some)
    }

    /// Show each port the packets that wait there.
    pub(super) fn show(&self, network: &mut Network) {
        for (port, queue) in network.ports.iter_mut().zip(&self.queues) {
            queue.iter().for_each(|queue| port.line_up(queue.packets.iter().map(|waiting| waiting.unit)));
        }
    }

    /// Show no packets.
    pub(super) fn hide(&self, network: &mut Network) {
        for (port, _) in network.ports.iter_mut().zip(&self.queues).filter(|(_, queue)| queue.is_some()) {
            port.line_up(std::iter::empty());
        }
    }
}

impl Transit {
    /// Handle the arrival of a packet at a port whose packets are in a row; returns the packet that the port sends.
    #[inline]
    pub(super) fn ask_in_order(&mut self, at: u32, packet: &Packet, now: Time) -> Option<Onward> {
        let (place, extra) = (self.steps.place(at), self.steps.extras[at as usize]);
        let unit = packet.unit(&extra);
        let port = &mut self.network.ports[place as usize];
        let queue = self.asked.ordered.queues[place as usize].as_mut()?;
        let backlog = Backlog { octets: queue.octets, end: queue.joined };
        match port.take_in_order(now, unit, extra.number, backlog) {
            Ok(unit) => {
                *queue.packets.add() = WaitingPacket { packet: *packet, unit, at, arrived: now };
                (queue.octets, queue.joined) = (queue.octets + u64::from(unit.bytes), queue.joined + 1);
            }
            Err(reason) => self.lost(place, unit, reason, now),
        }
        if self.network.ports[place as usize].is_busy() { None } else { self.start_in_order(place, now) }
    }

    /// Handle the end of a transmission at such a port; returns the packet that it sends next.
    #[inline]
    pub(super) fn free_in_order(&mut self, place: u32, now: Time) -> Option<Onward> {
        self.network.ports[place as usize].finish(now);
        self.start_in_order(place, now)
    }

    /// Start the next packet at such a port, whose line is free.
    #[inline]
    fn start_in_order(&mut self, place: u32, now: Time) -> Option<Onward> {
        loop {
            let port = &mut self.network.ports[place as usize];
            let queue = self.asked.ordered.queues[place as usize].as_mut()?;
            let WaitingPacket { mut packet, unit, at, arrived } = *queue.packets.first()?;
            queue.packets.drop_first();
            queue.octets -= u64::from(unit.bytes);
            let number = self.steps.extras[at as usize].number;
            match port.start_in_order(now, unit, number, (arrived, queue.octets)) {
                Ok(started) => {
                    self.schedule(Event::new(started.sent.ends, Class::Free, place));
                    packet.head.flags = started.unit.flags;
                    return self.pass_sent(at, packet, unit.vc, started.sent);
                }
                Err(reason) => self.lost(place, unit, reason, now),
            }
        }
    }

    /// Run the clock of the policy of such a port; returns when it must run again.
    pub(super) fn tick_in_order(&mut self, port: usize, now: Time) -> Option<Time> {
        let queue = self.asked.ordered.queues[port].as_ref()?;
        let wait = queue.packets.first().map(|waiting| now.since(waiting.arrived));
        self.network.ports[port].tick_in_order(now, wait.unwrap_or_default())
    }
}
