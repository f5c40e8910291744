//! Round robin over the queues that take part at present.

use super::Place;
use crate::buffer::set::Set;

/// Queues that are served one after the other, in the order of their numbers.
///
/// Whoever joins behind the one that was served last has its turn in the same round.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    members: Set,
    from: usize,
}

impl Ring {
    /// A ring of queues below `bound`, of which none takes part.
    pub(super) fn new(bound: usize) -> Ring {
        Ring { members: Set::new(bound), from: 0 }
    }

    /// The queue takes part from now on.
    pub(super) fn insert(&mut self, queue: usize) {
        self.members.insert(queue);
    }

    /// The queue takes part no longer.
    pub(super) fn remove(&mut self, queue: usize) {
        self.members.remove(queue);
    }

    /// Queues that take part.
    pub(super) fn members(&self) -> &Set {
        &self.members
    }

    /// Serve the next queue that may send.
    #[inline]
    pub(super) fn next(&mut self, mut may_send: impl FnMut(usize) -> bool) -> Option<usize> {
        let first = self.members.next_round(self.from)?;
        let queue = if may_send(first) { first } else { self.search(may_send)? };
        self.from = queue + 1;
        Some(queue)
    }

    /// The `most` queues at the beginning of the next round, each of which may go on for ever.
    pub(super) fn rounds(&self, most: usize, round: &mut Vec<Place>) {
        let behind = self.members.iter().take_while(|&queue| queue < self.from);
        let queues = self.members.from(self.from).chain(behind);
        round.extend(queues.take(most).map(|queue| Place { queue, cells: u64::MAX }));
    }

    /// So many slots have gone round.
    pub(super) fn went_round(&mut self, round: &[Place], slots: u64) {
        if let Some(last) = slots.checked_sub(1) {
            self.from = round[last as usize % round.len()].queue + 1;
        }
    }

    fn search(&self, mut may_send: impl FnMut(usize) -> bool) -> Option<usize> {
        let ahead = self.members.from(self.from);
        let behind = self.members.iter().take_while(|&queue| queue < self.from);
        ahead.chain(behind).find(|&queue| may_send(queue))
    }
}
