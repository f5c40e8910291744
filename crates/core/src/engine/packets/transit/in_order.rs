//! Ports that judge every packet and serve each queue in order: the engine keeps their packets in rows.
//!
//! # What it assumes
//! A queue is served in order of arrival, and only the packet at its head can be lost.
//!
//! # What it skips
//! The queues of the port, the instants of arrival beside them, and the search for a packet's payload.
//!
//! # Why that is exact
//! Policy and scheduler get the same questions with the same figures; a row has what queue, instants and payloads have together.
//!
//! # What turns it off
//! A policy that removes other packets which wait, a gate, a policer, a memory, or a port of a host.
//!
//! # What it saves
//! A leaf-spine with CoDel at every port takes 1.3 times as many instructions without it.

use super::{Onward, Transit};
use crate::engine::forms::{Form, used};
use crate::engine::packets::agenda::Row;
use crate::engine::packets::route::Packet;
use crate::kernel::queue::{Class, Event};
use crate::link::port::fattest::{Heads, shorten_fattest};
use crate::link::port::{Backlog, Leader, Port};
use crate::network::Network;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{IdVec, LineId, PortVc, QueueId};
use crate::verdict::{Reason, Verdict, Victim};

/// The packets that wait at each such port.
#[derive(Debug)]
pub(super) struct OrderedPorts {
    /// For every port its queues, if it is such a port; empty if there is none.
    ports: IdVec<LineId, Option<IdVec<QueueId, OrderedQueue>>>,
}

/// The packets that wait in one queue.
#[derive(Clone, Debug, Default)]
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
    pub(super) fn new(ports: &IdVec<LineId, Port>, is_ordered: impl Fn(LineId) -> bool) -> OrderedPorts {
        let queues = |(number, port): (LineId, &Port)| {
            is_ordered(number).then(|| IdVec::filled(OrderedQueue::default(), port.queues.len()))
        };
        let ports: IdVec<LineId, Option<IdVec<QueueId, OrderedQueue>>> = ports.pairs().map(queues).collect();
        OrderedPorts { ports: if ports.iter().any(Option::is_some) { ports } else { IdVec::default() } }
    }

    /// Return whether a port is one of these.
    #[inline]
    pub(super) fn has(&self, port: LineId) -> bool {
        self.ports.get(port).is_some_and(Option::is_some)
    }

    /// Show each port the packets that wait there.
    pub(super) fn show(&self, network: &mut Network) {
        self.line_up(network, |queue| queue.packets.iter());
    }

    /// Show no packets at these ports.
    pub(super) fn hide(&self, network: &mut Network) {
        self.line_up(network, |_| [].iter());
    }

    /// Show each port the packets of its queues that `select` returns.
    fn line_up<'a, I: Iterator<Item = &'a WaitingPacket>>(
        &'a self,
        network: &mut Network,
        select: impl Fn(&'a OrderedQueue) -> I,
    ) {
        for (port, queues) in network.ports.iter_mut().zip(&self.ports) {
            for (number, queue) in queues.iter().flat_map(IdVec::pairs) {
                port.line_up(number, select(queue).map(|waiting| waiting.unit));
            }
        }
    }
}

impl Transit {
    /// Handle the arrival of a packet at a port whose packets are in rows; returns the packet that the port sends.
    #[inline]
    pub(super) fn arrive_in_order(&mut self, at: u32, packet: &Packet, now: Time) -> Option<Onward> {
        used(Form::OrderedPorts);
        let (place, extra) = (self.steps.port(at), self.steps.extras[at as usize]);
        let unit = packet.unit(&extra);
        let port = &mut self.network.ports[place];
        let number = port.queue_of(&unit, extra.number);
        let queue = &mut self.judging.ordered.ports[place].as_mut()?[number];
        let backlog = Backlog { queue: number, octets: queue.octets, end: queue.joined };
        let mark = match port.judge_in_order(now, &unit, extra.number, backlog) {
            Verdict::Accept => Ok(None),
            Verdict::Mark(reason) => Ok(Some(reason)),
            Verdict::Discard(reason) => Err(reason),
            Verdict::Replace(victim, reason) => {
                let arriving = ArrivingPacket { now, unit, vc: extra.number, queue: number };
                self.make_way(place, arriving, victim, reason)
            }
        };
        let port = &mut self.network.ports[place];
        match mark {
            Ok(mark) => {
                let unit = port.take_in_order(now, unit, extra.number, backlog, mark);
                let queue = &mut self.judging.ordered.ports[place].as_mut()?[number];
                *queue.packets.add() = WaitingPacket { packet: *packet, unit, at, arrived: now };
                (queue.octets, queue.joined) = (queue.octets + u64::from(unit.bytes), queue.joined + 1);
            }
            Err(reason) => {
                port.counters_mut().lost(reason);
                self.lost(place, unit, reason, now);
            }
        }
        if self.network.ports[place].is_busy() { None } else { self.start_in_order(place, now) }
    }

    /// Make room for an arriving packet; the error says why it is lost.
    #[cold]
    fn make_way(
        &mut self,
        place: LineId,
        arriving: ArrivingPacket,
        victim: Victim,
        reason: Reason,
    ) -> Result<Option<Reason>, Reason> {
        let Victim::FattestQueue(batch) = victim else { unreachable!("only heads of queues can be lost") };
        let can_be_held = self.network.ports[place].can_make_room(&arriving.unit);
        let mut heads = TransitHeads { transit: self, place, arriving, reason };
        if can_be_held && (heads.fits() || shorten_fattest(&mut heads, batch)) {
            return Ok(None);
        }
        self.network.ports[place].turn_away_in_order(&arriving.unit, arriving.vc);
        Err(Reason::Overflow)
    }

    /// Take the packet at the head of a queue out of its row.
    #[inline(always)] // its result would be copied through memory
    fn take_head(&mut self, place: LineId, number: QueueId) -> Option<(WaitingPacket, Leader)> {
        let queue = &mut self.judging.ordered.ports[place].as_mut()?[number];
        let waiting = *queue.packets.first()?;
        queue.packets.drop_first();
        queue.octets -= u64::from(waiting.unit.bytes);
        let leader = Leader {
            unit: waiting.unit,
            vc: self.steps.extras[waiting.at as usize].number,
            queue: number,
            arrived: waiting.arrived,
            behind: queue.octets,
            is_last: queue.packets.first().is_none(),
        };
        Some((waiting, leader))
    }

    /// Handle the end of a transmission at a port whose packets are in rows; returns the packet that the port
    /// sends next.
    #[inline]
    pub(super) fn free_in_order(&mut self, place: LineId, now: Time) -> Option<Onward> {
        self.network.ports[place].finish(now);
        self.start_in_order(place, now)
    }

    /// Start the next packet at a port whose packets are in rows and whose line is free.
    #[inline]
    fn start_in_order(&mut self, place: LineId, now: Time) -> Option<Onward> {
        loop {
            let port = &mut self.network.ports[place];
            let queues = self.judging.ordered.ports[place].as_ref()?;
            let octets = |queue: QueueId| queues[queue].packets.first().map_or(0, |first| first.unit.bytes);
            let number = port.next_queue(now, octets)?;
            let (WaitingPacket { mut packet, unit, at, .. }, leader) = self.take_head(place, number)?;
            match self.network.ports[place].start_in_order(now, leader) {
                Ok(started) => {
                    self.schedule(Event::new(started.sent.ends, Class::Free, place.0));
                    packet.head.flags = started.unit.flags;
                    return self.pass_sent(at, packet, unit.vc, started.sent);
                }
                Err(reason) => self.lost(place, unit, reason, now),
            }
        }
    }

    /// Run the clock of the policy of a port whose packets are in rows; returns when it must run again.
    pub(super) fn tick_in_order(&mut self, port: LineId, now: Time) -> Option<Time> {
        let queues = self.judging.ordered.ports[port].as_ref()?;
        let waits = queues.iter().filter_map(|queue| Some(now.since(queue.packets.first()?.arrived)));
        let longest = waits.max().unwrap_or_default();
        self.network.ports[port].tick_in_order(now, longest)
    }
}

/// A packet that does not fit into the port where it arrives; the port keeps its packets in rows.
#[derive(Clone, Copy, Debug)]
struct ArrivingPacket {
    now: Time,
    unit: Unit,
    /// Number of its circuit at the port, and of the queue that it would join.
    vc: PortVc,
    queue: QueueId,
}

/// The rows of a port at which a packet arrives that does not fit.
struct TransitHeads<'a> {
    transit: &'a mut Transit,
    place: LineId,
    arriving: ArrivingPacket,
    /// Why packets are lost for it.
    reason: Reason,
}

impl TransitHeads<'_> {
    fn queues(&self) -> Option<&IdVec<QueueId, OrderedQueue>> {
        self.transit.judging.ordered.ports[self.place].as_ref()
    }
}

impl Heads for TransitHeads<'_> {
    fn count(&self) -> usize {
        self.queues().map_or(0, IdVec::len)
    }

    fn octets(&self, queue: QueueId) -> u64 {
        let ArrivingPacket { unit, queue: own, .. } = self.arriving;
        let waiting = self.queues().map_or(0, |queues| queues[queue].octets);
        waiting + if queue == own { unit.bytes.into() } else { 0 }
    }

    fn lose_head(&mut self, queue: QueueId) -> Option<u16> {
        let (now, reason, place) = (self.arriving.now, self.reason, self.place);
        let (_, leader) = self.transit.take_head(place, queue)?;
        self.transit.network.ports[place].displace(now, &leader, reason);
        self.transit.lost(place, leader.unit, reason, now);
        Some(leader.unit.bytes)
    }

    fn fits(&mut self) -> bool {
        self.transit.network.ports[self.place].has_room(&self.arriving.unit)
    }
}
