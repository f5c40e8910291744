//! # Source
//! The usual discipline of switches with traffic classes. No paper of studies 000 to 004 uses it; it allows comparisons
//! of their traffic with prioritised traffic.
//!
//! # Idea
//! A queue is served only when no queue of a lower priority number has something to send; queues of the same priority
//! take turns. Below them all a group of classes may share what is left, in proportion to their weights, as in most switches
//! and in the queueing discipline ets of Linux. A class that has not had its minimum rate goes before all others.
//!
//! # Parameters
//! Each circuit's contract has a `priority`, 0 by default, and the lowest number goes first. `queues`: whether each circuit has a
//! queue, or each class of traffic, which has the least priority number of its circuits or that of its section. `group`: classes
//! below the others, of which a priority number does not count. Sections `[queue.NAME]` have the weights of a group and
//! minimum rates, both for `queues = "class"`:
//!
//! ```toml
//! [port.bottleneck]
//! scheduler = { policy = "strict-priority", queues = "class", group = { policy = "drr", queues = ["bulk", "web"] } }
//! [queue.control]
//! [queue.bulk]
//! weight = 3.0
//! minimum = "10 Mb/s"
//! [queue.web]
//! ```
//!
//! # Differences from the paper
//! There is no paper to differ from. A unit in transmission is not interrupted. A packet that goes first for a minimum rate takes
//! nothing from the share of its class in the group.
//!
//! # Complexity
//! Constant per unit, and one step more for every queue that has no credit.

use super::group::{self, Group};
use super::guarantee::Guarantees;
use super::{Context, Division, Place, QueueFor, Queues, Scheduler};
use crate::buffer::ring::Ring;
use crate::buffer::set::NumberSet;
use crate::language::spec::Nested;
use crate::metrics::state::Figure;
use crate::refused::{Refused, refuse_if};
use crate::section;
use crate::units::Time;
use crate::units::ids::{IdVec, Level, PortVc, QueueId};

section! {
    /// The lowest priority number first; turns among equals.
    pub struct Params {
        /// What has a queue of its own.
        pub queues: QueueFor = QueueFor::Circuit,
        /// Classes that share what all others leave; by default none.
        pub group: Option<Nested<group::Params>> = None,
    }
}

/// How this scheduler divides units into queues.
pub const QUEUES: Queues = Queues::PerCircuit;

/// Whether this scheduler counts octets.
pub const COUNTS_OCTETS: bool = false;

/// Strict priority at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    /// For every queue its level: that of all queues of its priority.
    levels: IdVec<QueueId, Level>,
    rings: IdVec<Level, Ring>,
    /// For every level the number of its queues with units.
    busy: IdVec<Level, usize>,
    /// The levels with units.
    served: NumberSet<Level>,
    /// For each circuit its queue, if circuits share queues.
    places: IdVec<PortVc, QueueId>,
    lowered: Option<QueueId>,
    below: Option<Box<Below>>,
}

/// What goes beyond priorities: a group below them, and claims before them.
#[derive(Clone, Debug)]
struct Below {
    group: Option<Group>,
    claims: Option<Guarantees>,
    /// Instant of the latest choice, and whether a claim made it.
    now: Time,
    by_claim: bool,
}

impl Below {
    /// Build what a port has, if it has anything; the error says what cannot be used.
    fn new(params: &Params, context: &Context<'_>) -> Result<Option<Box<Below>>, Refused> {
        let by_class = params.queues == QueueFor::Class;
        let why = "must stand beside queues = \"class\": a group is of classes";
        refuse_if(params.group.is_some() && !by_class, "group", why)?;
        let claims = if by_class { Guarantees::new(context)? } else { None };
        let group = params.group.as_ref().map(|Nested(group)| Group::new(group, context)).transpose()?;
        let is_plain = claims.is_none() && group.is_none();
        Ok((!is_plain).then(|| Box::new(Below { group, claims, now: Time::ZERO, by_claim: false })))
    }
}

impl Policy {
    /// Build the scheduler of one port.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let Division { queues, places, lowered } = params.queues.divide(context);
        let of_queues: IdVec<QueueId, u32> = queues.iter().map(|terms| terms.priority).collect();
        let mut priorities: Vec<u32> = of_queues.iter().copied().collect();
        priorities.sort_unstable();
        priorities.dedup();
        let level = |priority| Level::new(priorities.partition_point(|&other| other < priority));
        Ok(Policy {
            levels: of_queues.iter().map(|&priority| level(priority)).collect(),
            rings: IdVec::filled(Ring::new(queues.len()), priorities.len()),
            busy: IdVec::filled(0, priorities.len()),
            served: NumberSet::new(priorities.len()),
            places,
            lowered,
            below: Below::new(params, context)?,
        })
    }

    /// Return the group, if this queue is in it.
    fn group_of(&mut self, queue: QueueId) -> Option<&mut Group> {
        self.below.as_mut()?.group.as_mut().filter(|group| group.has(queue))
    }

    /// Return the queue that goes before all others for its minimum rate, if one does.
    #[inline]
    fn claimed(&mut self, now: Time, may_send: &mut dyn FnMut(QueueId) -> bool) -> Option<QueueId> {
        let below = self.below.as_mut()?;
        let claimed = below.claims.as_ref().and_then(|claims| claims.next(now, may_send));
        (below.now, below.by_claim) = (now, claimed.is_some());
        claimed
    }

    /// Record whether a queue has units, for the claims.
    fn note(&mut self, queue: QueueId, waits: bool) {
        if let Some(claims) = self.below.as_mut().and_then(|below| below.claims.as_mut()) {
            claims.set(queue, waits);
        }
    }
}

impl Scheduler for Policy {
    fn joined(&mut self, queue: QueueId) {
        self.note(queue, true);
        if let Some(group) = self.group_of(queue) {
            return group.joined(queue);
        }
        let level = self.levels[queue];
        if !self.rings[level].members().contains(queue) {
            self.rings[level].insert(queue);
            self.busy[level] += 1;
            self.served.insert(level);
        }
    }

    fn left(&mut self, queue: QueueId, empty: bool) {
        self.note(queue, !empty);
        if let Some(group) = self.group_of(queue) {
            return group.left(queue, empty);
        }
        if empty {
            let level = self.levels[queue];
            self.rings[level].remove(queue);
            self.busy[level] -= 1;
            if self.busy[level] == 0 {
                self.served.remove(level);
            }
        }
    }

    fn next(&mut self, _: Time, may_send: &mut dyn FnMut(QueueId) -> bool) -> Option<QueueId> {
        self.served.iter().find_map(|level| self.rings[level].next(&mut *may_send))
    }

    fn next_by_size(
        &mut self,
        now: Time,
        may_send: &mut dyn FnMut(QueueId) -> bool,
        octets: &dyn Fn(QueueId) -> u64,
    ) -> Option<QueueId> {
        let first = self.claimed(now, may_send).or_else(|| self.next(now, may_send));
        first.or_else(|| self.below.as_mut()?.group.as_mut()?.next(now, may_send, octets))
    }

    fn turn_by_size(&mut self, now: Time, octets: &dyn Fn(QueueId) -> u64) -> Option<QueueId> {
        let all = &mut |_| true;
        let first = self.claimed(now, all).or_else(|| self.turn(now));
        first.or_else(|| self.below.as_mut()?.group.as_mut()?.turn(now, octets))
    }

    fn sent(&mut self, queue: QueueId, octets: u64) {
        let Some(below) = &mut self.below else { return };
        if let Some(claims) = &mut below.claims {
            claims.sent(below.now, queue, octets);
        }
        if let Some(group) = below.group.as_mut().filter(|group| !below.by_claim && group.has(queue)) {
            group.sent(queue, octets);
        }
    }

    fn state(&self) -> Vec<Figure> {
        let group = self.below.as_ref().and_then(|below| below.group.as_ref());
        group.map_or_else(Vec::new, Group::state)
    }

    fn rounds(&mut self, _: Time, most: usize, round: &mut Vec<Place>) -> Time {
        if let Some(level) = self.served.first_from(0) {
            self.rings[level].rounds(most, round);
        }
        Time::NEVER
    }

    fn went_round(&mut self, round: &[Place], slots: u64) {
        if let Some(level) = self.served.first_from(0) {
            self.rings[level].went_round(round, slots);
        }
    }

    fn goes_by_turns(&self) -> bool {
        self.below.is_none()
    }

    fn places(&self) -> IdVec<PortVc, QueueId> {
        self.places.clone()
    }

    fn lowered(&self) -> Option<QueueId> {
        self.lowered
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
        Bench::new(&context, |context| {
            Policy::new(&Params { queues: QueueFor::Circuit, group: None }, context)
        })
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
        let policy = Policy::new(&Params { queues: QueueFor::Class, group: None }, &context).unwrap();
        assert_eq!(policy.places(), [1, 0, 1, 0].map(QueueId).into());
        let mut bench = Bench::new(&context, |context| {
            Policy::new(&Params { queues: QueueFor::Class, group: None }, context)
        });
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
