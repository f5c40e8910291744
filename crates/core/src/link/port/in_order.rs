//! A port with one queue whose engine keeps the waiting packets: it judges them and keeps the counts, but stores none.

use super::offer::Offer;
use super::{Handling, ONLY_QUEUE, Port, Started};
use crate::buffer::admission::{Admission, Arrival, Head, Settled};
use crate::buffer::queue::Queue;
use crate::scheduler;
use crate::unit::Unit;
use crate::units::ids::PortVc;
use crate::units::{Span, Time};
use crate::verdict::{HeadVerdict, Reason, Verdict};

/// What waits at such a port when a packet arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backlog {
    /// Octets that wait.
    pub(crate) octets: u64,
    /// The position that the packet gets if it is accepted.
    pub(crate) end: u64,
}

impl Port {
    /// Return whether an engine may keep the packets of this port: nothing but the admission policy judges them, they leave in
    /// order of arrival, and only the one at the head can be lost.
    pub(crate) fn keeps_order(&self) -> bool {
        let is_fifo = matches!(self.scheduler, scheduler::Policy::Fifo(_));
        self.handling == Handling::Weighed && is_fifo && self.queues.len() == 1 && self.gates.is_empty()
    }

    /// Judge an arriving packet; returns it as it is queued, perhaps with a mark. The error is the reason of its loss.
    #[inline]
    pub(crate) fn take_in_order(
        &mut self,
        now: Time,
        mut unit: Unit,
        vc: PortVc,
        backlog: Backlog,
    ) -> Result<Unit, Reason> {
        self.counters.arrived(&unit);
        let offer = Offer { now, unit, vc, size: self.size_of(&unit) };
        match self.judge_behind(&offer, backlog.octets) {
            Verdict::Accept => {}
            Verdict::Mark(reason) => self.mark(&mut unit, reason),
            Verdict::Discard(reason) => {
                self.counters.lost(reason);
                return Err(reason);
            }
            Verdict::Replace(..) => unreachable!("this policy never removes a packet that waits"),
        }
        self.take_in(now, vc, offer.size);
        self.admission.settled(&unit, vc, Settled::Queued { position: backlog.end });
        Ok(unit)
    }

    /// Return the verdict on an arriving packet; one that finds no room is lost although the policy accepts it.
    #[inline]
    fn judge_behind(&mut self, &Offer { now, ref unit, vc, size }: &Offer, octets: u64) -> Verdict {
        let (pool, queue) = (&self.pool, &self.queues[ONLY_QUEUE]);
        let waiting = if self.arrivals.is_empty() { 0 } else { octets };
        let place = ONLY_QUEUE;
        let mut arrival = Arrival { now, unit, vc, size, pool, queue, place, waiting, elastic: false };
        let verdict = self.admission.judge(&mut arrival);
        if self.pool.fits(size) || !matches!(verdict, Verdict::Accept | Verdict::Mark(_)) {
            return verdict;
        }
        self.admission.broken(vc, !unit.is_first());
        self.admission.settled(unit, vc, Settled::TurnedAway { size });
        Verdict::Discard(Reason::Overflow)
    }

    /// Judge the packet at the head, which arrived at `arrived` and leaves `behind` octets waiting, and start to send it. The error
    /// is the reason of its loss.
    #[inline]
    pub(crate) fn start_in_order(
        &mut self,
        now: Time,
        mut unit: Unit,
        vc: PortVc,
        (arrived, behind): (Time, u64),
    ) -> Result<Started, Reason> {
        let (size, pool, keeps_times) = (self.size_of(&unit), &self.pool, !self.arrivals.is_empty());
        let (arrived, behind) = if keeps_times { (Some(arrived), behind) } else { (None, 0) };
        let head = Head { now, arrived, unit: &unit, queue: ONLY_QUEUE, vc, size, behind, pool };
        match self.admission.at_head(&head) {
            HeadVerdict::Send => {}
            HeadVerdict::Mark(reason) => self.mark(&mut unit, reason),
            HeadVerdict::Discard(reason) => {
                self.give_up_head(&Offer { now, unit, vc, size }, reason);
                return Err(reason);
            }
        }
        Ok(self.send(now, unit, vc))
    }

    /// Count a packet that the policy has discarded at the head.
    #[cold]
    fn give_up_head(&mut self, offer: &Offer, reason: Reason) {
        let &Offer { now, unit, vc, size } = offer;
        self.counters.occupancy.change(now, self.pool.total(), self.pool.total() - size);
        self.pool.remove(vc, size);
        self.report_departure(offer, Some(ONLY_QUEUE));
        self.counters.gave_up(&unit, reason);
    }

    /// Run the clock of the admission policy, with the wait of the packet at the head; returns when it must run again.
    pub(crate) fn tick_in_order(&mut self, now: Time, wait: Span) -> Option<Time> {
        let wait = if self.arrivals.is_empty() { Span::ZERO } else { wait };
        self.admission.tick(now, &self.pool, wait)
    }

    /// Show these packets as the queue.
    pub(crate) fn line_up(&mut self, waiting: impl Iterator<Item = Unit>) {
        let mut queue = Queue::default();
        for unit in waiting {
            queue.push(unit);
        }
        self.queues[ONLY_QUEUE] = queue;
    }
}
