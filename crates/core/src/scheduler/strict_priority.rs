//! # Source
//! The usual discipline of switches with traffic classes. No paper of studies 000 to 004 uses it; it allows comparisons
//! of their traffic with prioritised traffic.
//!
//! # Idea
//! A queue is served only when no queue of a lower priority number has something to send; queues of the same priority
//! take turns.
//!
//! # Parameters
//! Each circuit's contract has a `priority`, 0 by default, and the lowest number goes first. `queues`: whether each circuit has a
//! queue, or each class of traffic, which has the least priority number of its circuits or that of its section.
//!
//! # Differences from the paper
//! There is no paper to differ from. A unit in transmission is not interrupted.
//!
//! # Complexity
//! Constant per unit, and one step more for every queue that has no credit.

use super::{Context, Place, QueueFor, Queues, Scheduler};
use crate::buffer::ring::Ring;
use crate::buffer::set::NumberSet;
use crate::refused::Refused;
use crate::section;
use crate::units::Time;
use crate::units::ids::{IdVec, PortVc, QueueId};

section! {
    /// The lowest priority number first; turns among equals.
    pub struct Params {
        /// What has a queue of its own.
        pub queues: QueueFor = QueueFor::Circuit,
    }
}

/// How this scheduler divides units into queues.
pub const QUEUES: Queues = Queues::PerCircuit;

/// Whether this scheduler counts octets.
pub const COUNTS_OCTETS: bool = false;

/// Strict priority at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    /// For every queue its class: queues of equal priority form a class, and classes are numbered in the order of
    /// priorities.
    class: IdVec<QueueId, usize>,
    rings: Vec<Ring>,
    /// For every class the number of its queues with units.
    busy: Vec<usize>,
    classes: NumberSet<usize>,
    /// For each circuit its queue, if circuits share queues.
    places: IdVec<PortVc, QueueId>,
}

impl Policy {
    /// Build the scheduler of one port.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let (queues, places) = params.queues.divide(context);
        let least = |circuits: &Vec<PortVc>| circuits.iter().map(|&vc| context.contracts[vc].priority).min();
        let of_queues: IdVec<QueueId, u32> =
            queues.iter().map(|circuits| least(circuits).unwrap_or_default()).collect();
        let mut priorities: Vec<u32> = of_queues.iter().copied().collect();
        priorities.sort_unstable();
        priorities.dedup();
        let class = |priority| priorities.partition_point(|&other| other < priority);
        Ok(Policy {
            class: of_queues.iter().map(|&priority| class(priority)).collect(),
            rings: vec![Ring::new(queues.len()); priorities.len()],
            busy: vec![0; priorities.len()],
            classes: NumberSet::new(priorities.len()),
            places,
        })
    }
}

impl Scheduler for Policy {
    fn joined(&mut self, queue: QueueId) {
        let class = self.class[queue];
        if !self.rings[class].members().contains(queue) {
            self.rings[class].insert(queue);
            self.busy[class] += 1;
            self.classes.insert(class);
        }
    }

    fn left(&mut self, queue: QueueId, empty: bool) {
        if empty {
            let class = self.class[queue];
            self.rings[class].remove(queue);
            self.busy[class] -= 1;
            if self.busy[class] == 0 {
                self.classes.remove(class);
            }
        }
    }

    fn next(&mut self, _: Time, may_send: &mut dyn FnMut(QueueId) -> bool) -> Option<QueueId> {
        self.classes.iter().find_map(|class| self.rings[class].next(&mut *may_send))
    }

    fn rounds(&mut self, _: Time, most: usize, round: &mut Vec<Place>) -> Time {
        if let Some(class) = self.classes.first_from(0) {
            self.rings[class].rounds(most, round);
        }
        Time::NEVER
    }

    fn went_round(&mut self, round: &[Place], slots: u64) {
        if let Some(class) = self.classes.first_from(0) {
            self.rings[class].went_round(round, slots);
        }
    }

    fn goes_by_turns(&self) -> bool {
        true
    }

    fn places(&self) -> IdVec<PortVc, QueueId> {
        self.places.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, contracts};
    use super::*;
    use crate::units::ids::IdSlice;

    fn bench(priorities: &[u32]) -> Bench<Policy> {
        let mut contracts = contracts(&vec![0; priorities.len()]);
        contracts.iter_mut().zip(priorities).for_each(|(contract, &priority)| contract.priority = priority);
        let context = Context { contracts: IdSlice::new(&contracts), ..Context::alone(100, 0) };
        Bench::new(&context, |context| Policy::new(&Params { queues: QueueFor::Circuit }, context))
    }

    #[test]
    fn the_lowest_number_goes_first_and_equals_take_turns() {
        let mut bench = bench(&[7, 1, 1, 0]);
        bench.join(&[0, 0, 1, 1, 2, 2, 3]);
        assert_eq!(bench.serve(10), [3, 1, 2, 1, 2, 0, 0]);
    }

    #[test]
    fn an_arrival_of_a_higher_class_is_next() {
        let mut bench = bench(&[1, 0]);
        bench.join(&[0, 0, 0]);
        assert_eq!(bench.serve(1), [0]);
        bench.join(&[1]);
        assert_eq!(bench.serve(10), [1, 0, 0]);
    }

    #[test]
    fn a_class_that_may_not_send_does_not_hold_up_the_next() {
        let mut bench = bench(&[0, 1]);
        bench.join(&[0, 1]);
        bench.blocked.push(0);
        assert_eq!(bench.serve(10), [1]);
        bench.blocked.clear();
        assert_eq!(bench.serve(10), [0]);
    }

    #[test]
    fn circuits_of_one_class_share_a_queue_with_the_least_of_their_priorities() {
        let mut contracts = contracts(&[0; 4]);
        for (contract, (class, priority)) in contracts.iter_mut().zip([(5, 2), (3, 1), (5, 0), (3, 9)]) {
            (contract.class.number, contract.priority) = (class, priority);
        }
        let context = Context { contracts: IdSlice::new(&contracts), ..Context::alone(100, 0) };
        let policy = Policy::new(&Params { queues: QueueFor::Class }, &context).unwrap();
        assert_eq!(policy.places(), [1, 0, 1, 0].map(QueueId).into());
        let mut bench =
            Bench::new(&context, |context| Policy::new(&Params { queues: QueueFor::Class }, context));
        bench.join(&[0, 0, 1, 1]);
        assert_eq!(bench.serve(10), [1, 1, 0, 0]);
    }

    #[test]
    fn without_priorities_it_is_round_robin() {
        let mut bench = bench(&[0, 0, 0]);
        bench.join(&[0, 0, 1, 2, 2]);
        assert_eq!(bench.serve(10), [0, 1, 2, 0, 2]);
    }
}
