//! Round robin over the member queues.

use super::set::NumberSet;
use crate::units::ids::{Id, QueueId};

/// A queue in the order of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<K = QueueId> {
    /// The queue.
    pub queue: K,
    /// Number of cells that the queue may send before the order changes; `None` without a limit.
    pub cells: Option<u64>,
}

/// Queues that are served in turn, in the order of their numbers.
///
/// A queue that joins with a higher number than that of the queue served last is still served in the present round.
#[derive(Clone, Debug)]
pub(crate) struct Ring<K = QueueId> {
    members: NumberSet<K>,
    /// Number from which the search for the next queue begins.
    from: usize,
}

impl<K: Id> Ring<K> {
    /// Build a ring without members, for queues with numbers below `bound`.
    pub(crate) fn new(bound: usize) -> Ring<K> {
        Ring { members: NumberSet::new(bound), from: 0 }
    }

    /// Add a queue.
    pub(crate) fn insert(&mut self, queue: K) {
        self.members.insert(queue);
    }

    /// Remove a queue.
    pub(crate) fn remove(&mut self, queue: K) {
        self.members.remove(queue);
    }

    /// Add or remove a queue.
    #[inline]
    pub(crate) fn set(&mut self, queue: K, member: bool) {
        if member { self.insert(queue) } else { self.remove(queue) }
    }

    /// Return the member queues.
    pub(crate) fn members(&self) -> &NumberSet<K> {
        &self.members
    }

    /// Return the next queue in turn that may send, and continue after it the next time.
    #[inline]
    pub(crate) fn next(&mut self, mut may_send: impl FnMut(K) -> bool) -> Option<K> {
        let first = self.members.next_round(self.from)?;
        let queue = if may_send(first) { first } else { self.search(may_send)? };
        self.from = queue.index() + 1;
        Some(queue)
    }

    /// Append to `round` the next `most` queues in turn, each without a limit of cells.
    pub(crate) fn rounds(&self, most: usize, round: &mut Vec<Place<K>>) {
        let behind = self.members.iter().take_while(|queue| queue.index() < self.from);
        let queues = self.members.from(self.from).chain(behind);
        round.extend(queues.take(most).map(|queue| Place { queue, cells: None }));
    }

    /// Record that the queues of `round` have been served in turn for `slots` slots.
    pub(crate) fn went_round(&mut self, round: &[Place<K>], slots: u64) {
        if let Some(last) = slots.checked_sub(1) {
            self.from = round[last as usize % round.len()].queue.index() + 1;
        }
    }

    fn search(&self, mut may_send: impl FnMut(K) -> bool) -> Option<K> {
        let ahead = self.members.from(self.from);
        let behind = self.members.iter().take_while(|queue| queue.index() < self.from);
        ahead.chain(behind).find(|&queue| may_send(queue))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_go_round_a_ring_of_any_size() {
        let any = |_| true;
        let mut ring = Ring::new(130);
        assert_eq!(ring.next(any), None);
        [3, 64, 100, 129].iter().for_each(|&queue| ring.set(QueueId(queue), true));
        let turns: Vec<_> = (0..6).map(|_| ring.next(any).unwrap().0).collect();
        assert_eq!(turns, [3, 64, 100, 129, 3, 64]);
        [100, 129].iter().for_each(|&queue| ring.set(QueueId(queue), false));
        assert_eq!(ring.next(any), Some(QueueId(3)));
        assert_eq!([ring.next(any), ring.next(any)], [Some(QueueId(64)), Some(QueueId(3))]);
        let mut full = Ring::new(64);
        full.set(QueueId(63), true);
        assert_eq!([full.next(any), full.next(any)], [Some(QueueId(63)); 2], "the last of a word, alone");
    }
}
