//! Ports that judge every packet and serve each queue in order: the engine keeps their packets in rows.
//!
//! # What it assumes
//! A queue is served in order of arrival, and only the packet at its head can be lost. The port is a station of its own.
//!
//! # What it skips
//! The queues of the port, the instants of arrival beside them, and the search for a packet's payload. A packet that finds the port
//! empty joins no row, and the end of its transmission is an event only if another packet waits behind it.
//!
//! # Why that is exact
//! Policy and scheduler get the same questions with the same figures; a row has what queue, instants and payloads have together. The end
//! of a transmission behind which nothing waits only changes the port's own books: the port counts it before whatever comes next there,
//! be it an arrival, a tick or a sample, with the instant at which it happened.
//!
//! # What turns it off
//! A policy that removes other packets which wait, a gate, a policer, a memory, or a port of a host.
//!
//! # What it saves
//! A leaf-spine with CoDel at every port takes 1.3 times as many instructions without it.

use super::{Onward, Transit};
use crate::engine::forms::{Form, used};
use crate::engine::packets::agenda::Row;
use crate::engine::packets::route::{Packet, Steps};
use crate::link::port::fattest::{Heads, shorten_fattest};
use crate::link::port::{Backlog, Leader, Port};
use crate::network::Network;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{IdVec, LineId, PortVc, QueueId, StationId};
use crate::verdict::{Reason, Verdict, Victim};

/// The packets that wait at each such port.
#[derive(Debug)]
pub(super) struct OrderedPorts {
    /// For every port its packets, if it is such a port; empty if there is none.
    ports: IdVec<LineId, Option<OrderedPort>>,
    /// The numbers of these ports.
    numbers: Vec<LineId>,
}

/// The packets at one port.
#[derive(Debug)]
struct OrderedPort {
    queues: IdVec<QueueId, OrderedQueue>,
    /// The number of packets that wait.
    waiting: usize,
    /// When the packet in transmission leaves, which the port may count later; `Time::NEVER` if there is none.
    ends: Time,
}

/// The packets that wait in one queue.
#[derive(Clone, Debug, Default)]
struct OrderedQueue {
    packets: Row<WaitingPacket>,
    octets: u64,
    /// The number of packets that have joined.
    joined: u64,
}

/// A packet that waits, with its marks.
#[derive(Clone, Copy, Debug, Default)]
struct WaitingPacket {
    packet: Packet,
    /// The step of its route.
    at: u32,
    /// The number by which components draw about it.
    identity: u32,
    arrived: Time,
}

impl WaitingPacket {
    /// Return the unit that represents the packet.
    #[inline(always)]
    fn unit(&self, steps: &Steps) -> Unit {
        Unit { identity: self.identity, ..self.packet.head.unit(&steps.extras[self.at as usize]) }
    }
}

impl OrderedPort {
    /// Return when the next packet must be chosen; never if none waits or no transmission must end before.
    #[inline(always)]
    fn due(&self) -> Time {
        if self.waiting > 0 { self.ends } else { Time::NEVER }
    }

    /// Return when the transmission has ended that the port has not counted yet, if it has by `now`.
    #[inline(always)]
    fn take_ended(&mut self, now: Time) -> Option<Time> {
        (self.ends <= now).then(|| std::mem::replace(&mut self.ends, Time::NEVER))
    }
}

impl OrderedPorts {
    /// Empty queues for the ports that `is_ordered` selects.
    pub(super) fn new(ports: &IdVec<LineId, Port>, is_ordered: impl Fn(LineId) -> bool) -> OrderedPorts {
        let ordered = |(number, port): (LineId, &Port)| {
            let queues = || IdVec::filled(OrderedQueue::default(), port.queues.len());
            is_ordered(number).then(|| OrderedPort { queues: queues(), waiting: 0, ends: Time::NEVER })
        };
        let ports: IdVec<LineId, Option<OrderedPort>> = ports.pairs().map(ordered).collect();
        let numbers: Vec<LineId> =
            ports.pairs().filter_map(|(port, ordered)| ordered.as_ref().map(|_| port)).collect();
        OrderedPorts { ports: if numbers.is_empty() { IdVec::default() } else { ports }, numbers }
    }

    /// Return whether a port is one of these.
    #[inline]
    pub(super) fn has(&self, port: LineId) -> bool {
        self.ports.get(port).is_some_and(Option::is_some)
    }

    /// Return when a port must choose its next packet: never if it is none of these or nothing waits for its line.
    #[inline]
    pub(super) fn due(&self, port: LineId) -> Time {
        self.ports.get(port).and_then(Option::as_ref).map_or(Time::NEVER, OrderedPort::due)
    }

    /// Count the transmissions that have ended before `now`.
    pub(super) fn settle_before(&mut self, network: &mut Network, now: Time) {
        let Some(until) = now.0.checked_sub(1) else { return };
        for &number in &self.numbers {
            if let Some(ended) =
                self.ports[number].as_mut().and_then(|ordered| ordered.take_ended(Time(until)))
            {
                network.ports[number].finish_in_order(ended);
            }
        }
    }

    /// Show each port the packets that wait there.
    pub(super) fn show(&self, network: &mut Network, steps: &Steps) {
        self.line_up(network, steps, |queue| queue.packets.iter());
    }

    /// Show no packets at these ports.
    pub(super) fn hide(&self, network: &mut Network, steps: &Steps) {
        self.line_up(network, steps, |_| [].iter());
    }

    /// Show each port the packets of its queues that `select` returns.
    fn line_up<'a, I: Iterator<Item = &'a WaitingPacket>>(
        &'a self,
        network: &mut Network,
        steps: &Steps,
        select: impl Fn(&'a OrderedQueue) -> I,
    ) {
        for &port in &self.numbers {
            for (number, queue) in self.ports[port].iter().flat_map(|ordered| ordered.queues.pairs()) {
                network.ports[port].line_up(number, select(queue).map(|waiting| waiting.unit(steps)));
            }
        }
    }
}

impl Transit {
    /// Return whether a station is one port whose packets are in rows, and return that port.
    #[inline]
    pub(crate) fn ordered_station(&self, station: StationId) -> Option<LineId> {
        let port = LineId::new(station.index());
        self.judging.ordered.has(port).then_some(port)
    }

    /// Return when the next event of a port whose packets are in rows is due: it must choose a packet, or its policy ticks.
    #[inline(always)]
    pub(crate) fn next_in_order(&self, port: LineId) -> Time {
        self.judging.ordered.due(port).min(self.judging.stations.next_of(port.station()))
    }

    /// Return when a port whose packets are in rows must choose its next packet, if that is before `until` and the port's policy does not
    /// tick before.
    #[inline(always)]
    pub(crate) fn due_in_order(&self, port: LineId, until: Time) -> Option<Time> {
        let due = self.judging.ordered.due(port);
        (due < until && due <= self.judging.stations.next_of(port.station())).then_some(due)
    }

    /// Handle the arrival of a packet at a port whose packets are in rows; returns the packet that the port sends.
    #[inline]
    pub(super) fn arrive_in_order(&mut self, at: u32, packet: &Packet, now: Time) -> Option<Onward> {
        used(Form::OrderedPorts);
        let (place, extra) = (self.steps.port(at), self.steps.extras[at as usize]);
        let unit = packet.unit(&extra);
        let port = &mut self.network.ports[place];
        let number = port.queue_of(&unit, extra.number);
        let ordered = self.judging.ordered.ports[place].as_mut()?;
        if let Some(ended) = ordered.take_ended(now) {
            port.finish_in_order(ended);
        }
        let queue = &ordered.queues[number];
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
        let mark = match mark {
            Ok(mark) => mark,
            Err(reason) => {
                port.counters_mut().lost(reason);
                self.lost(place, unit, reason, now);
                return None;
            }
        };
        let unit = port.take_in_order(now, unit, extra.number, backlog, mark);
        let ordered = self.judging.ordered.ports[place].as_mut()?;
        ordered.queues[number].joined += 1;
        let is_idle = ordered.ends == Time::NEVER;
        if is_idle
            && ordered.waiting == 0
            && port.next_queue(now, |queue| if queue == number { unit.bytes } else { 0 }).is_some()
        {
            let leader =
                Leader { unit, vc: extra.number, queue: number, arrived: now, behind: 0, is_last: true };
            let launched = self.launch(place, at, *packet, leader, now);
            return launched.unwrap_or_else(|Discarded| self.start_in_order(place, now));
        }
        let queue = &mut ordered.queues[number];
        let waiting = queue.packets.add();
        *waiting = WaitingPacket { packet: *packet, at, identity: unit.identity, arrived: now };
        waiting.packet.head.flags = unit.flags;
        queue.octets += u64::from(unit.bytes);
        ordered.waiting += 1;
        if is_idle { self.start_in_order(place, now) } else { None }
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
    fn take_head(&mut self, place: LineId, number: QueueId) -> Option<(u32, Packet, Leader)> {
        let ordered = self.judging.ordered.ports[place].as_mut()?;
        let queue = &mut ordered.queues[number];
        let waiting = queue.packets.first()?;
        let (at, packet, arrived, unit) =
            (waiting.at, waiting.packet, waiting.arrived, waiting.unit(&self.steps));
        queue.packets.drop_first();
        queue.octets -= u64::from(unit.bytes);
        ordered.waiting -= 1;
        let vc = self.steps.extras[at as usize].number;
        let is_last = queue.packets.first().is_none();
        Some((at, packet, Leader { unit, vc, queue: number, arrived, behind: queue.octets, is_last }))
    }

    /// Handle the end of a transmission at a port whose packets are in rows and where a packet waits; returns the packet that the port
    /// sends next.
    #[inline]
    pub(crate) fn free_in_order(&mut self, place: LineId, now: Time) -> Option<Onward> {
        self.judging.ordered.ports[place].as_mut()?.ends = Time::NEVER;
        self.network.ports[place].finish_sent(now);
        self.start_in_order(place, now)
    }

    /// Start the next packet at a port whose packets are in rows and whose line is free.
    #[inline]
    fn start_in_order(&mut self, place: LineId, now: Time) -> Option<Onward> {
        loop {
            let queues = &self.judging.ordered.ports[place].as_ref()?.queues;
            let octets =
                |queue: QueueId| queues[queue].packets.first().map_or(0, |first| first.packet.head.bytes);
            let number = self.network.ports[place].next_queue(now, octets)?;
            let (at, packet, leader) = self.take_head(place, number)?;
            if let Ok(started) = self.launch(place, at, packet, leader, now) {
                return started;
            }
        }
    }

    /// Judge a packet that has come to the head, and start to send it; returns the packet as it travels on. The error says that the policy
    /// has discarded it.
    #[inline(always)] // its arguments would be copied through memory
    fn launch(
        &mut self,
        place: LineId,
        at: u32,
        mut packet: Packet,
        leader: Leader,
        now: Time,
    ) -> Result<Option<Onward>, Discarded> {
        let unit = leader.unit;
        let pace = self.steps.pace_at(at, unit.bytes);
        match self.network.ports[place].start_in_order(now, leader, pace) {
            Ok(started) => {
                if let Some(ordered) = &mut self.judging.ordered.ports[place] {
                    ordered.ends = started.sent.ends;
                }
                packet.head.flags = started.unit.flags;
                Ok(self.pass_sent(at, packet, unit.vc, started.sent))
            }
            Err(reason) => {
                self.lost(place, unit, reason, now);
                Err(Discarded)
            }
        }
    }

    /// Run the clock of the policy of a port whose packets are in rows; returns when it must run again.
    pub(super) fn tick_in_order(&mut self, port: LineId, now: Time) -> Option<Time> {
        let ordered = self.judging.ordered.ports[port].as_mut()?;
        if let Some(ended) = ordered.take_ended(now) {
            self.network.ports[port].finish_in_order(ended);
        }
        let waits = ordered.queues.iter().filter_map(|queue| Some(now.since(queue.packets.first()?.arrived)));
        let longest = waits.max().unwrap_or_default();
        self.network.ports[port].tick_in_order(now, longest)
    }
}

/// The policy has discarded a packet at the head of its queue.
struct Discarded;

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
        Some(&self.transit.judging.ordered.ports[self.place].as_ref()?.queues)
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
        let (_, _, leader) = self.transit.take_head(place, queue)?;
        self.transit.network.ports[place].displace(now, &leader, reason);
        self.transit.lost(place, leader.unit, reason, now);
        Some(leader.unit.bytes)
    }

    fn fits(&mut self) -> bool {
        self.transit.network.ports[self.place].has_room(&self.arriving.unit)
    }
}
