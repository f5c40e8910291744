//! Arrival times of queued units, and the number of octets that wait, for policies that use the waiting time of units.

use std::collections::VecDeque;

use crate::units::Time;

/// The arrival times of one queue, by position. A unit removed from the middle keeps its entry until the head of the
/// queue has passed it, so that the removal of a unit takes no time here.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrivalTimes {
    /// The position of the first entry.
    first: u64,
    times: VecDeque<Time>,
    /// Octets that wait in the queue.
    octets: u64,
}

impl ArrivalTimes {
    /// Add a unit of `bytes` octets at `position`; the head of the queue is at `head`.
    pub(super) fn joined(&mut self, head: u64, position: u64, now: Time, bytes: u16) {
        self.pass(head);
        debug_assert_eq!(position, self.first + self.times.len() as u64, "positions are consecutive");
        self.times.push_back(now);
        self.octets += u64::from(bytes);
    }

    /// Remove the unit at `head`; returns when it arrived.
    pub(super) fn left(&mut self, head: u64) -> Time {
        self.pass(head);
        self.first += 1;
        self.times.pop_front().expect("every queued unit has an arrival time")
    }

    /// Subtract a unit of `bytes` octets that has left the queue, from any position.
    pub(super) fn shrink(&mut self, bytes: u16) {
        self.octets -= u64::from(bytes);
    }

    /// Return when the unit at `head` arrived, if there is one.
    pub(super) fn oldest(&self, head: u64) -> Option<Time> {
        self.times.get((head - self.first) as usize).copied()
    }

    /// Return the octets that wait in the queue.
    pub(super) fn octets(&self) -> u64 {
        self.octets
    }

    /// Remove the entries before `head`.
    fn pass(&mut self, head: u64) {
        let gone = (head - self.first) as usize;
        self.times.drain(..gone);
        self.first = head;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_keeps_its_arrival_time_while_others_are_taken_out() {
        let mut times = ArrivalTimes::default();
        (0..5).for_each(|n| times.joined(0, n, Time(10 * n), 53));
        assert_eq!((times.oldest(0), times.oldest(2)), (Some(Time(0)), Some(Time(20))));
        assert_eq!(times.left(0), Time(0));
        assert_eq!(times.left(3), Time(30), "those at 1 and 2 were taken out");
        assert_eq!(times.left(4), Time(40));
        assert_eq!(times.oldest(5), None);
        times.joined(5, 5, Time(50), 53);
        assert_eq!(times.left(5), Time(50));
    }

    #[test]
    fn a_queue_from_which_units_are_only_pushed_out_keeps_no_old_times() {
        let mut times = ArrivalTimes::default();
        (0..1000).for_each(|n| times.joined(n, n, Time(n), 53));
        assert_eq!(times.times.len(), 1);
    }
}
