//! # Source
//! T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys and E. Dumazet, "The Flow Queue CoDel Packet Scheduler and Active
//! Queue Management Algorithm", RFC 8290, 2018, sections 4 and 5; `net/sched/sch_fq_codel.c` of Linux 6.
//!
//! # Idea
//! Circuits are hashed to queues, which take turns by octets, and queues that have just become active go first: a
//! flow that sends at most `quantum` octets a round waits at most for other new flows. A queue whose octets are used
//! up gets `quantum` more and goes to the end of the list of old queues. A new queue that is found empty passes
//! through that list once before it is removed, so that it cannot return as a new one and starve the others.
//!
//! # Parameters
//! `quantum`: 1514 octets and `buckets`: 1024, both those of tc-fq_codel(8). Each circuit is put into one of the buckets at
//! random, by the seed of the run, as if by a hash of its addresses; of 50 circuits two share a bucket with a probability of
//! 70 %.
//!
//! # Differences from the paper
//! A circuit stays in its bucket for the whole run, also if its flow opens several connections. Circuits of acknowledgements are
//! hashed like others. The order of service is that of RFC 8290 and of Linux, which agree.
//!
//! # Complexity
//! Constant per packet that is not longer than the quantum.

use std::collections::VecDeque;

use super::{Context, Queues, Scheduler};
use crate::buffer::context::Contract;
use crate::metrics::state::Figure;
use crate::refused::{Refused, refuse_if};
use crate::rng::Subject;
use crate::section;
use crate::units::ids::{IdVec, PortVc, QueueId};
use crate::units::{Bytes, Time};

section! {
    /// Serve hashed queues in turn by octets, those that have just become active first.
    pub struct Params {
        /// Octets that a queue may send in a round.
        pub quantum: Bytes = Bytes(1514),
        /// Buckets into which circuits are hashed.
        pub buckets: u64 = 1024,
    }
}

/// How this scheduler divides units into queues.
pub const QUEUES: Queues = Queues::PerFlow;

/// Whether this scheduler counts octets.
pub const COUNTS_OCTETS: bool = true;

/// Fair queueing at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    quantum: i64,
    /// For each circuit the queue of its bucket.
    places: IdVec<PortVc, QueueId>,
    queues: IdVec<QueueId, QueueState>,
    /// Queues that have just become active, in the order of service.
    new: VecDeque<QueueId>,
    /// The queues that have been active for longer, in the order of service.
    old: VecDeque<QueueId>,
}

/// The state of a queue.
#[derive(Clone, Copy, Debug, Default)]
struct QueueState {
    units: u64,
    /// Octets that the queue may still send; below 0 if it has sent more than its share.
    deficit: i64,
    is_listed: bool,
}

impl Policy {
    /// Build the scheduler of one port; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        refuse_if(params.quantum.0 == 0, "quantum", "must be at least 1 byte")?;
        refuse_if(params.buckets == 0, "buckets", "must be at least 1")?;
        let places = places(params.buckets, context);
        let queues = places.iter().map(|place| place.index() + 1).max().unwrap_or(0);
        Ok(Policy {
            quantum: i64::try_from(params.quantum.0).unwrap_or(i64::MAX / 2),
            places,
            queues: IdVec::filled(QueueState::default(), queues),
            new: VecDeque::new(),
            old: VecDeque::new(),
        })
    }

    /// Remove the queue that is served next from its list; returns whether it was new.
    fn pop(&mut self) -> bool {
        let is_new = self.new.pop_front().is_some();
        if !is_new {
            self.old.pop_front();
        }
        is_new
    }
}

/// Return the queue of each circuit: queues are numbered in the order in which their buckets first occur among the
/// circuits.
fn places(buckets: u64, context: &Context<'_>) -> IdVec<PortVc, QueueId> {
    let keyed = context.keyed("fair-queue");
    let mut known: Vec<u64> = Vec::new();
    let mut place = |contract: &Contract| {
        let bucket = keyed.up_to(Subject::circuit(contract.circuit), buckets - 1);
        QueueId::new(known.iter().position(|&other| other == bucket).unwrap_or_else(|| {
            known.push(bucket);
            known.len() - 1
        }))
    };
    context.contracts.iter().map(&mut place).collect()
}

impl Scheduler for Policy {
    fn joined(&mut self, queue: QueueId) {
        let state = &mut self.queues[queue];
        state.units += 1;
        if !state.is_listed {
            (state.is_listed, state.deficit) = (true, self.quantum);
            self.new.push_back(queue);
        }
    }

    fn left(&mut self, queue: QueueId, _: bool) {
        self.queues[queue].units -= 1;
    }

    fn state(&self) -> Vec<Figure> {
        Figure::of_queues("deficit", self.queues.iter().map(|state| state.deficit as f64)).collect()
    }

    fn next(&mut self, _: Time, may_send: &mut dyn FnMut(QueueId) -> bool) -> Option<QueueId> {
        loop {
            let &queue = self.new.front().or(self.old.front())?;
            let state = &mut self.queues[queue];
            if state.deficit <= 0 {
                state.deficit += self.quantum;
                self.pop();
                self.old.push_back(queue);
            } else if state.units > 0 {
                return may_send(queue).then_some(queue);
            } else if self.pop() && !self.old.is_empty() {
                self.old.push_back(queue);
            } else {
                self.queues[queue].is_listed = false;
            }
        }
    }

    fn sent(&mut self, queue: QueueId, octets: u64) {
        self.queues[queue].deficit -= octets as i64;
    }

    fn places(&self) -> IdVec<PortVc, QueueId> {
        self.places.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queues of packets, driven by hand.
    struct Bench {
        policy: Policy,
        queues: IdVec<QueueId, VecDeque<u64>>,
    }

    impl Bench {
        fn new(quantum: u64, queues: usize) -> Bench {
            let params = Params { quantum: Bytes(quantum), buckets: u64::MAX };
            let policy = Policy::new(&params, &Context::alone(100, queues)).unwrap();
            Bench { policy, queues: IdVec::filled(VecDeque::new(), queues) }
        }

        fn join(&mut self, queue: usize, packets: usize, octets: u64) {
            let queue = QueueId::new(queue);
            for _ in 0..packets {
                self.queues[queue].push_back(octets);
                self.policy.joined(queue);
            }
        }

        /// Send this many packets; returns their queues.
        fn send(&mut self, packets: usize) -> Vec<usize> {
            (0..packets).map_while(|_| self.send_one()).collect()
        }

        fn send_one(&mut self) -> Option<usize> {
            let queue = self.policy.turn(Time::ZERO)?;
            let octets = self.queues[queue].pop_front().unwrap();
            self.policy.left(queue, self.queues[queue].is_empty());
            self.policy.sent(queue, octets);
            Some(queue.index())
        }
    }

    #[test]
    fn a_queue_sends_until_its_octets_are_used_up_and_may_exceed_them() {
        let mut bench = Bench::new(1000, 2);
        bench.join(0, 9, 700);
        bench.join(1, 9, 300);
        // A 1000: 700, 700, -400; B 1000: four, -200; A 600: one, -100; B 800: three, -100; A 900: two
        assert_eq!(bench.send(12), [0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0]);
    }

    #[test]
    fn a_flow_that_sends_little_waits_for_other_new_flows_only() {
        let mut bench = Bench::new(1500, 4);
        bench.join(0, 50, 1500);
        bench.join(1, 50, 1500);
        assert_eq!(bench.send(4), [0, 1, 0, 1]);
        bench.join(2, 1, 100);
        bench.join(3, 1, 100);
        assert_eq!(bench.send(4), [2, 3, 0, 1]);
    }

    #[test]
    fn a_new_queue_that_is_found_empty_passes_through_the_old_ones_once() {
        let mut bench = Bench::new(1500, 4);
        (0..3).for_each(|queue| bench.join(queue, 50, 1500));
        assert_eq!(bench.send(6), [0, 1, 2, 0, 1, 2]);
        bench.join(3, 1, 100);
        assert_eq!(bench.send(2), [3, 0], "then its queue was found empty");
        bench.join(3, 20, 100);
        assert_eq!(bench.send(3), [1, 3, 3], "in its place among the others, not ahead of them");
    }

    #[test]
    fn without_old_queues_an_empty_one_is_forgotten_at_once() {
        let mut bench = Bench::new(1500, 2);
        bench.join(0, 1, 100);
        assert_eq!(bench.send(2), [0]);
        bench.join(1, 1, 100);
        bench.join(0, 1, 100);
        assert_eq!(bench.send(3), [1, 0], "both are new");
        assert!(bench.policy.new.is_empty() && bench.policy.old.is_empty());
    }

    #[test]
    fn circuits_collide_as_often_as_the_number_of_buckets_says() {
        let collides = |vcs: usize, seed: u64| {
            let context = Context { seed, ..Context::alone(100, vcs) };
            Policy::new(&Params { quantum: Bytes(1514), buckets: 1024 }, &context).unwrap().queues.len() < vcs
        };
        for (vcs, percent) in [(10, 4.3), (50, 70.4)] {
            let share = (0..4000).filter(|&seed| collides(vcs, seed)).count() as f64 / 40.0;
            assert!((share - percent).abs() < 2.5, "{share} % of {vcs} circuits");
        }
        let one = Policy::new(&Params { quantum: Bytes(1), buckets: 1 }, &Context::alone(100, 9)).unwrap();
        assert_eq!(one.places(), [QueueId(0); 9].into());
    }
}
