//! # Source
//! J. Nagle, "On packet switches with infinite storage", IEEE Transactions on Communications 35(4), 1987; the
//! discipline of paper 001 (L. Kalampoukas, A. Varma, 1995) with credits and, for the bandwidth in excess of
//! guarantees, of paper 003 (D. Wu, H. J. Chao, 1998).
//!
//! # Idea
//! Queues that hold something send one unit each, in turn. A queue without credit loses its turn, not its place.
//!
//! # Parameters
//! None.
//!
//! # Differences from the paper
//! None. The order of turns is that of the circuits' numbers; a packet counts as one unit, whatever its length.
//!
//! # Complexity
//! Constant per unit, and one step more for every queue that has no credit.

use super::{Context, Place, Queues, Scheduler};
use crate::buffer::ring::Ring;
use crate::refused::Refused;
use crate::section;
use crate::units::Time;
use crate::units::ids::QueueId;

section! {
    /// One unit of each queue in turn.
    pub struct Params {}
}

/// How this scheduler divides units into queues.
pub const QUEUES: Queues = Queues::PerCircuit;

/// Whether this scheduler counts octets.
pub const COUNTS_OCTETS: bool = false;

/// Round robin at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    ring: Ring,
}

impl Policy {
    /// Build the scheduler of one port.
    pub fn new(_: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy { ring: Ring::new(context.vcs()) })
    }
}

impl Scheduler for Policy {
    fn joined(&mut self, queue: QueueId) {
        self.ring.insert(queue);
    }

    fn left(&mut self, queue: QueueId, empty: bool) {
        if empty {
            self.ring.remove(queue);
        }
    }

    fn next(&mut self, _: Time, may_send: &mut dyn FnMut(QueueId) -> bool) -> Option<QueueId> {
        self.ring.next(may_send)
    }

    #[inline]
    fn turn(&mut self, _: Time) -> Option<QueueId> {
        self.ring.next(|_| true)
    }

    fn rounds(&mut self, _: Time, most: usize, round: &mut Vec<Place>) -> Time {
        self.ring.rounds(most, round);
        Time::NEVER
    }

    fn went_round(&mut self, round: &[Place], slots: u64) {
        self.ring.went_round(round, slots);
    }

    fn goes_by_turns(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::*;

    fn bench(vcs: usize) -> Bench<Policy> {
        Bench::new(&Context::alone(100, vcs), |context| Policy::new(&Params {}, context))
    }

    #[test]
    fn queues_take_turns_and_an_empty_one_is_skipped() {
        let mut bench = bench(4);
        bench.join(&[0, 0, 0, 1, 3, 3]);
        assert_eq!(bench.serve(10), [0, 1, 3, 0, 3, 0]);
    }

    #[test]
    fn a_queue_that_joins_ahead_of_the_turn_is_served_in_the_same_round() {
        let mut bench = bench(4);
        bench.join(&[1, 1, 3, 3]);
        assert_eq!(bench.serve(1), [1]);
        bench.join(&[0, 2]);
        assert_eq!(bench.serve(10), [2, 3, 0, 1, 3]);
    }

    #[test]
    fn a_queue_that_may_not_send_loses_its_turn_but_not_its_place() {
        let mut bench = bench(3);
        bench.join(&[0, 0, 1, 1, 2, 2]);
        bench.blocked.push(1);
        assert_eq!(bench.serve(3), [0, 2, 0]);
        bench.blocked.clear();
        assert_eq!(bench.serve(10), [1, 2, 1]);
    }

    #[test]
    fn nothing_is_served_when_no_queue_may_send() {
        let mut bench = bench(2);
        bench.join(&[0, 1]);
        bench.blocked.extend([0, 1]);
        assert_eq!(bench.serve_one(), None);
    }

    #[test]
    fn a_queue_that_was_pushed_out_leaves_the_round() {
        let mut bench = bench(2);
        bench.join(&[0, 1]);
        bench.push_out(QueueId(0));
        assert_eq!(bench.serve(5), [1]);
    }
}
