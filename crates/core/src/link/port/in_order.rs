//! A port whose engine keeps the waiting packets: it judges them, chooses the next queue and keeps the counts, but stores none.

use super::offer::{Exit, Offer};
use super::{Handling, ONLY_QUEUE, Port, Sending, Started};
use crate::buffer::admission::{Admission, Arrival, Departure, Head, Settled};
use crate::buffer::queue::Queue;
use crate::pace::TransmissionTime;
use crate::scheduler::{self, Scheduler};
use crate::unit::Unit;
use crate::units::ids::{PortVc, QueueId};
use crate::units::{Span, Time};
use crate::verdict::{HeadVerdict, Reason, Verdict};

/// The queue that an arriving packet joins if it is accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backlog {
    /// Number of the queue.
    pub(crate) queue: QueueId,
    /// Octets that wait in it.
    pub(crate) octets: u64,
    /// The position of the packet in it.
    pub(crate) end: u64,
}

/// A packet that has come to the head of its queue, which it has left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leader {
    /// The packet.
    pub(crate) unit: Unit,
    /// Number of its circuit at the port.
    pub(crate) vc: PortVc,
    /// Number of its queue.
    pub(crate) queue: QueueId,
    /// Its arrival.
    pub(crate) arrived: Time,
    /// Octets that still wait in its queue.
    pub(crate) behind: u64,
    /// Whether its queue is empty now.
    pub(crate) is_last: bool,
}

impl Port {
    /// Return whether an engine may keep the packets of this port: nothing but the admission policy judges them, each queue is
    /// served in order of arrival at a constant rate, and only packets at the heads can be lost.
    pub(crate) fn keeps_order(&self) -> bool {
        let is_open = self.gates.is_empty() && !self.line.changes();
        matches!(self.handling, Handling::Weighed | Handling::InTurn) && is_open
    }

    /// Judge an arriving packet; one that finds no room is discarded although the policy accepts it.
    #[inline(always)]
    pub(crate) fn judge_in_order(&mut self, now: Time, unit: &Unit, vc: PortVc, backlog: Backlog) -> Verdict {
        self.counters.arrived(unit);
        let size = self.size_of(unit);
        let fits = self.pool.fits(size);
        if self.handling == Handling::InTurn {
            return if fits { Verdict::Accept } else { Verdict::Discard(Reason::Overflow) };
        }
        let (pool, place) = (&self.pool, backlog.queue);
        let (queue, waiting) = (&self.queues[place], if self.keeps_times() { backlog.octets } else { 0 });
        let mut arrival = Arrival { now, unit, vc, size, pool, queue, place, waiting, elastic: false };
        let verdict = self.admission.judge(&mut arrival);
        if fits || !matches!(verdict, Verdict::Accept | Verdict::Mark(_)) {
            return verdict;
        }
        self.admission.broken(vc, !unit.is_first());
        self.admission.settled(unit, vc, Settled::TurnedAway { size });
        Verdict::Discard(Reason::Overflow)
    }

    /// Count a packet that has been accepted; returns it as it is queued, with a mark if there is a reason for one.
    #[inline(always)]
    pub(crate) fn take_in_order(
        &mut self,
        now: Time,
        mut unit: Unit,
        vc: PortVc,
        backlog: Backlog,
        mark: Option<Reason>,
    ) -> Unit {
        mark.into_iter().for_each(|reason| self.mark(now, &mut unit, reason));
        self.take_in(now, vc, self.size_of(&unit));
        if self.handling == Handling::Weighed {
            self.admission.settled(&unit, vc, Settled::Queued { position: backlog.end });
        }
        self.scheduler.joined(backlog.queue);
        unit
    }

    /// Return whether a packet that does not fit could find room if others made way.
    pub(crate) fn can_make_room(&self, unit: &Unit) -> bool {
        self.can_be_held(self.size_of(unit))
    }

    /// Return whether a packet fits.
    pub(crate) fn has_room(&self, unit: &Unit) -> bool {
        self.pool.fits(self.size_of(unit))
    }

    /// Lose a packet for which no room could be made.
    pub(crate) fn turn_away_in_order(&mut self, unit: &Unit, vc: PortVc) {
        self.admission.settled(unit, vc, Settled::TurnedAway { size: self.size_of(unit) });
    }

    /// Lose the packet that has come to the head, for another one.
    #[cold]
    pub(crate) fn displace(&mut self, now: Time, leader: &Leader, reason: Reason) {
        let &Leader { unit, vc, queue, is_last, .. } = leader;
        self.scheduler.left(queue, is_last);
        self.give_up_head(&Offer { now, unit, vc, size: self.size_of(&unit) }, queue, reason);
    }

    /// Finish the transmission of a packet.
    #[inline(always)]
    pub(crate) fn finish_sent(&mut self, now: Time) {
        let Sending { unit, vc, size } = self.sending.take().expect("a line finishes what it has started");
        self.leave(now, &unit, vc, size);
        if self.handling == Handling::Weighed {
            self.admission.departed(&Departure::of_sent(now, &unit, vc, size, &self.pool));
        }
    }

    /// Finish the transmission of a packet behind which none waits; the scheduler finds no queue to serve, and may begin a new round.
    #[inline]
    pub(crate) fn finish_in_order(&mut self, now: Time) {
        self.finish_sent(now);
        let next = self.next_queue(now, |_| 0);
        debug_assert!(next.is_none(), "nothing waits");
    }

    /// Choose the queue that sends next, given the octets of the packet at the head of each queue.
    #[inline(always)]
    pub(crate) fn next_queue(&mut self, now: Time, octets: impl Fn(QueueId) -> u16) -> Option<QueueId> {
        if matches!(self.scheduler, scheduler::Policy::Fifo(_)) {
            return (octets(ONLY_QUEUE) > 0).then_some(ONLY_QUEUE);
        }
        let line = &self.line;
        self.scheduler.turn_by_size(now, &|queue| match octets(queue) {
            0 => 0,
            bytes => line.octets(bytes).into(),
        })
    }

    /// Judge the packet that has come to the head, and start to send it, which takes `pace`. The error is the reason of its loss.
    #[inline(always)]
    pub(crate) fn start_in_order(
        &mut self,
        now: Time,
        leader: Leader,
        pace: &TransmissionTime,
    ) -> Result<Started, Reason> {
        let Leader { mut unit, vc, queue, arrived, behind, is_last } = leader;
        self.scheduler.left(queue, is_last);
        if self.handling == Handling::Weighed {
            let size = self.size_of(&unit);
            let (arrived, behind) = if self.keeps_times() { (Some(arrived), behind) } else { (None, 0) };
            let head = Head { now, arrived, unit: &unit, queue, vc, size, behind, pool: &self.pool };
            match self.admission.at_head(&head) {
                HeadVerdict::Send => {}
                HeadVerdict::Mark(reason) => self.mark(now, &mut unit, reason),
                HeadVerdict::Discard(reason) => {
                    self.give_up_head(&Offer { now, unit, vc, size }, queue, reason);
                    return Err(reason);
                }
            }
        }
        if self.keeps_times() {
            self.counters.waited(now, arrived);
        }
        self.scheduler.sent(queue, self.line.octets(unit.bytes).into());
        if unit.begins_frame() {
            self.line.rest(now, unit.subject());
        }
        let sent = self.line.send_for(now, pace);
        self.sending = Some(Sending { unit, vc, size: self.size_of(&unit) });
        Ok(Started { unit: self.boundaries[vc].pass(unit), sent })
    }

    /// Count a packet that the policy has discarded at the head.
    #[cold]
    fn give_up_head(&mut self, offer: &Offer, queue: QueueId, reason: Reason) {
        let &Offer { now, unit, vc, size } = offer;
        self.counters.occupancy.change(now, self.pool.total(), self.pool.total() - size);
        self.pool.remove(vc, size);
        self.report_departure(offer, Exit::Discarded(queue));
        self.counters.gave_up(&unit, reason);
    }

    /// Return whether the admission policy sees instants of arrival and octets that wait.
    #[inline]
    fn keeps_times(&self) -> bool {
        !self.arrivals.is_empty()
    }

    /// Run the clock of the admission policy, with the longest wait of a packet at a head; returns when it must run again.
    pub(crate) fn tick_in_order(&mut self, now: Time, wait: Span) -> Option<Time> {
        let wait = if self.keeps_times() { wait } else { Span::ZERO };
        self.admission.tick(now, &self.pool, wait)
    }

    /// Show these packets as a queue.
    pub(crate) fn line_up(&mut self, number: QueueId, waiting: impl Iterator<Item = Unit>) {
        let mut queue = Queue::default();
        for unit in waiting {
            queue.push(unit);
        }
        self.queues[number] = queue;
    }
}
