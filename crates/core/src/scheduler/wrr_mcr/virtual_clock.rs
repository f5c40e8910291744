//! The realisation `virtual-clock`: the guaranteed cells of a circuit become due one by one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Carry;
use crate::buffer::ring::Ring;
use crate::buffer::set::NumberSet;
use crate::pace::{ExactTime, TransmissionTime};
use crate::units::ids::{IdVec, QueueId};
use crate::units::{CELL_BYTES, Rate, Span, Time};

/// Instants at which the next guaranteed cell of every circuit becomes due.
#[derive(Clone, Debug)]
pub(super) struct VirtualClock {
    carry: Carry,
    accounts: IdVec<QueueId, CircuitClock>,
    /// Circuits whose next cell is not due yet, each at most once, so that the heap stays bounded.
    waiting: BinaryHeap<Reverse<(Time, QueueId)>>,
}

#[derive(Clone, Debug)]
struct CircuitClock {
    /// Time between two guaranteed cells; without a minimum rate there are none.
    interval: TransmissionTime,
    due: ExactTime,
    owed: bool,
}

impl VirtualClock {
    pub(super) fn new(rates: &[Rate], carry: Carry) -> VirtualClock {
        let account = |&rate: &Rate| {
            let owed = rate > Rate(0);
            let interval =
                if owed { TransmissionTime::of(rate, CELL_BYTES * 8) } else { TransmissionTime::default() };
            CircuitClock { interval, due: ExactTime::default(), owed }
        };
        let accounts: IdVec<QueueId, CircuitClock> = rates.iter().map(account).collect();
        VirtualClock { carry, waiting: BinaryHeap::with_capacity(accounts.len()), accounts }
    }

    pub(super) fn advance(&mut self, now: Time, busy: &NumberSet<QueueId>, owed: &mut Ring) {
        while let Some(&Reverse((due, queue))) = self.waiting.peek().filter(|next| next.0.0 <= now) {
            debug_assert_eq!(due, self.accounts[queue].due.time);
            self.waiting.pop();
            self.accounts[queue].owed = true;
            if busy.contains(queue) {
                owed.insert(queue);
            }
        }
    }

    /// Return when the next cell becomes due.
    pub(super) fn next_due(&self) -> Time {
        self.waiting.peek().map_or(Time::NEVER, |next| next.0.0)
    }

    pub(super) fn owes(&self, queue: QueueId) -> bool {
        self.accounts[queue].owed
    }

    /// Choose, of the circuits to which a cell is owed, the one whose following cell becomes due first: VirtualClock
    /// stamps a cell with this time.
    #[inline]
    pub(super) fn first(
        &self,
        owed: &NumberSet<QueueId>,
        mut may_send: impl FnMut(QueueId) -> bool,
    ) -> Option<QueueId> {
        let stamp = |queue: QueueId| self.accounts[queue].due.time.later(self.accounts[queue].interval.whole);
        owed.iter().filter(|&queue| may_send(queue)).min_by_key(|&queue| stamp(queue))
    }

    /// Return when the circuit's next guaranteed cell becomes due.
    #[cfg(test)]
    pub(super) fn due(&self, queue: QueueId) -> Time {
        self.accounts[queue].due.time
    }

    pub(super) fn charge(&mut self, queue: QueueId, now: Time) {
        let account = &mut self.accounts[queue];
        account.charge(now, self.carry);
        account.owed = account.due.time <= now;
        if !account.owed {
            self.waiting.push(Reverse((account.due.time, queue)));
        }
    }
}

impl CircuitClock {
    /// Set the due time of the next cell one interval after that of the cell sent now, but no earlier than `carry`
    /// allows.
    fn charge(&mut self, now: Time, carry: Carry) {
        let kept = if carry == Carry::Exact { self.interval.whole } else { Span::ZERO };
        let earliest = Time(now.0.saturating_sub(kept.0));
        self.due = self.due.not_before(earliest).next(&self.interval);
    }
}
