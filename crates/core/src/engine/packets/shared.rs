//! Ports that share a memory which never removes an accepted packet: the departure of a packet is computed on arrival.
//!
//! # What it assumes
//! The memory only limits arrivals: it neither pushes packets out nor expels them, and stops no sender. Each of its
//! ports sends in order of arrival, accepts packets by a rule, and receives its packets from other nodes.
//!
//! # What it skips
//! The queues of these ports, and an event for the end of each transmission.
//!
//! # Why that is exact
//! A port with one queue sends a packet as soon as the previous one has left, whatever arrives later. A departure
//! affects the memory only by the room that it frees. So all departures up to an arrival are recorded just before
//! this arrival, and those before a sample just before the sample, in the order of the kernel.
//!
//! # What turns it off
//! Any other policy at one port of a memory: then all its ports judge each packet, with an event for each departure.
//!
//! # What it saves
//! W3-100 with a shared memory takes 1.7 times the instructions where its ports judge each packet.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};
use std::iter;

use crate::engine::forms::{Form, used};
use crate::link::line::Sent;
use crate::link::port::Port;
use crate::link::port::ahead::Accepted;
use crate::memory::Memory;
use crate::network::Network;
use crate::unit::{Flags, Unit};
use crate::units::Time;
use crate::units::ids::{IdVec, LineId, MemoryId, PortVc};
use crate::verdict::Reason;

/// The packets in the ports of such memories.
#[derive(Debug)]
pub(crate) struct SharedPorts {
    /// All ports; empty if none has such a memory.
    ports: IdVec<LineId, SharedPort>,
    /// For each memory its ports that hold packets, by the time at which the first one leaves.
    due: IdVec<MemoryId, BinaryHeap<Reverse<(Time, LineId)>>>,
}

/// The packets in a port.
#[derive(Debug)]
struct SharedPort {
    /// Its memory, if it is such a memory.
    memory: Option<MemoryId>,
    /// The latest departure.
    last: Time,
    /// The packets with their departures.
    stays: VecDeque<(Time, Accepted)>,
}

/// A packet that a port has accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entered {
    pub(crate) flags: Flags,
    pub(crate) sent: Sent,
    /// Departure of the packet before it.
    pub(crate) before: Time,
}

impl SharedPorts {
    /// Build empty ports; `memories` gives for each port the number of its memory, if it is such a memory.
    pub(crate) fn new(memories: IdVec<LineId, Option<MemoryId>>) -> SharedPorts {
        let count = memories.iter().flatten().max().map_or(0, |last| last.index() + 1);
        let port = |memory| SharedPort { memory, last: Time::ZERO, stays: VecDeque::new() };
        SharedPorts {
            due: iter::repeat_with(BinaryHeap::new).take(count).collect(),
            ports: memories.into_iter().map(port).collect(),
        }
    }

    /// Return the memory of a port, if it is one of these ports.
    #[inline]
    pub(crate) fn memory_of(&self, port: LineId) -> Option<MemoryId> {
        self.ports[port].memory
    }

    /// Handle the arrival of a packet at a port; the error is that of [`Port::accept`].
    #[inline(always)] // one caller
    pub(crate) fn arrive(
        &mut self,
        network: &mut Network,
        now: Time,
        port: LineId,
        unit: Unit,
        vc: PortVc,
    ) -> Result<Entered, Reason> {
        used(Form::SharedPorts);
        let number = self.memory_of(port).expect("a port of a memory");
        let (memory, ports) = network.memory_and_ports(number);
        self.settle(number, memory, ports, now);
        let (accepted, sent) = ports[port].accept(memory, now, unit, vc)?;
        let shared = &mut self.ports[port];
        if shared.stays.is_empty() {
            self.due[number].push(Reverse((sent.ends, port)));
        }
        shared.stays.push_back((sent.ends, accepted));
        let before = std::mem::replace(&mut shared.last, sent.ends);
        Ok(Entered { flags: accepted.unit.flags, sent, before })
    }

    /// Record all departures from the ports of a memory up to `until`.
    #[inline]
    fn settle(
        &mut self,
        number: MemoryId,
        memory: &mut Memory,
        ports: &mut IdVec<LineId, Port>,
        until: Time,
    ) {
        let due = &mut self.due[number];
        while due.peek().is_some_and(|first| first.0.0 <= until) {
            let mut first = due.peek_mut().expect("a port is due");
            let port = first.0.1;
            let packets = &mut self.ports[port].stays;
            let (ends, packet) = packets.pop_front().expect("a port that is due holds something");
            ports[port].release(memory, ends, &packet);
            match packets.front() {
                Some(&(ends, _)) => first.0.0 = ends,
                None => drop(PeekMut::pop(first)),
            }
        }
    }

    /// Record all departures before `now`, in all these memories.
    pub(crate) fn settle_before(&mut self, network: &mut Network, now: Time) {
        if let Some(until) = now.0.checked_sub(1) {
            for number in self.due.keys() {
                let (memory, ports) = network.memory_and_ports(number);
                self.settle(number, memory, ports, Time(until));
            }
        }
    }

    /// Put the packets that a memory holds into the queues of its ports, so that the ports can be read or reset as if
    /// they had queues.
    pub(crate) fn show(&self, network: &mut Network) {
        for (port, shared) in network.ports.iter_mut().zip(&self.ports).filter(is_shared) {
            port.show(shared.stays.iter().map(|(_, packet)| packet));
        }
    }

    /// Remove the packets that [`SharedPorts::show`] has put into the queues.
    pub(crate) fn hide(&self, network: &mut Network) {
        for (port, _) in network.ports.iter_mut().zip(&self.ports).filter(is_shared) {
            port.show(iter::empty());
        }
    }
}

/// Return whether a port is one of these.
fn is_shared((_, shared): &(&mut Port, &SharedPort)) -> bool {
    shared.memory.is_some()
}
