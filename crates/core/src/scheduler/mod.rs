//! Scheduling: choice of the queue that the line serves next.

use std::collections::BTreeMap;

use crate::buffer::admission::Failure;
use crate::buffer::context::{Class, Context, Contract};
pub use crate::buffer::ring::Place;
use crate::choice;
use crate::language::spec::Nested;
use crate::metrics::state::Figure;
use crate::refused::{Refused, unfit};
use crate::registry;
use crate::units::Time;
use crate::units::ids::{IdVec, PortVc, QueueId};

registry! {
    /// A scheduler as a scenario specifies it.
    "scheduler" by "policy" {
        Fifo = "fifo" in fifo,
        RoundRobin = "round-robin" in round_robin,
        WrrMcr = "wrr-mcr" in wrr_mcr at "wrr_mcr/mod.rs",
        StrictPriority = "strict-priority" in strict_priority,
        Drr = "drr" in drr,
        Wrr = "wrr" in wrr,
        FairQueue = "fair-queue" in fair_queue,
        DualQueue = "dual-queue" in dual_queue,
        ProgramScheduler = "program" in program at "program/mod.rs",
    }

    /// The interface of a scheduler. With a shared queue the only queue is 0; otherwise queue `i` is circuit `i`.
    pub trait Scheduler for Policy {
        /// Record that a unit has joined this queue.
        fn joined(&mut self, queue: QueueId);

        /// Record that a unit has left this queue, sent or pushed out; `empty` if it was the last one.
        fn left(&mut self, queue: QueueId, empty: bool);

        /// Choose the queue to serve now among those with units to send; `may_send` says whether credits allow it.
        /// The port must follow the choice: the unit at the head of this queue leaves it, and the scheduler counts
        /// turns and credits accordingly.
        fn next(&mut self, now: Time, may_send: &mut dyn FnMut(QueueId) -> bool) -> Option<QueueId>;

        /// Like `next`, for a scheduler that uses `octets`, the octets of the unit at the head of a queue.
        fn next_by_size(
            &mut self,
            now: Time,
            may_send: &mut dyn FnMut(QueueId) -> bool,
            octets: &dyn Fn(QueueId) -> u64
        ) -> Option<QueueId> {
            self.next(now, may_send)
        }

        /// Like `turn`, for a scheduler that uses `octets`, the octets of the unit at the head of a queue.
        fn turn_by_size(&mut self, now: Time, octets: &dyn Fn(QueueId) -> u64) -> Option<QueueId> {
            self.next_by_size(now, &mut |_| true, octets)
        }

        /// Record that the port sends the unit that was at the head of this queue, of `octets` octets; the unit has
        /// already left the queue. Not called if the admission policy discards it instead.
        fn sent(&mut self, queue: QueueId, octets: u64) {}

        /// Return the reason why the scheduler could not compute a decision, if it failed: the run has no result.
        fn failure(&self) -> Option<&Failure> {
            None
        }

        /// Return for each circuit the queue that it joins; empty if each circuit has its own.
        fn places(&self) -> IdVec<PortVc, QueueId> {
            IdVec::default()
        }

        /// Return the queue of units that the port's policer has put into a lower class, if there is one.
        fn lowered(&self) -> Option<QueueId> {
            None
        }

        /// Return whether the congestion notification of a unit, and not its circuit, chooses one of two queues: 1 if
        /// it is [L4S](crate::unit::Unit::is_l4s), else 0.
        fn goes_by_notification(&self) -> bool {
            false
        }

        /// Choose the next queue when every queue may send.
        fn turn(&mut self, now: Time) -> Option<QueueId> {
            self.next(now, &mut |_| true)
        }

        /// Return the scheduler's variables, for reports over time: always the same figures in the same order.
        fn state(&self) -> Vec<Figure> {
            Vec::new()
        }

        /// Append to `round` the queues that are served in a fixed cycle from `now` on, if every queue may send: at
        /// most the first `most` queues of the cycle, in their order. The cycle is valid for slots before the
        /// returned instant, until a queue has sent the cells that its [`Place`] allows, and as long as no queue
        /// becomes empty or ceases to be empty. A queue that joins may delay the service of others, but never makes
        /// it earlier. If nothing is appended, the engine must call the scheduler for every slot.
        fn rounds(&mut self, now: Time, most: usize, round: &mut Vec<Place>) -> Time {
            Time::NEVER
        }

        /// Record that the queues of `round` have been served in turn for `slots` slots.
        fn went_round(&mut self, round: &[Place], slots: u64) {}

        /// Return whether the scheduler's choice depends only on which queues have units to send. An engine may then
        /// report changes of a queue that stays non-empty together; otherwise it must report each unit.
        fn goes_by_turns(&self) -> bool {
            false
        }
    }

    /// Return how the scheduler divides units into queues.
    pub const QUEUES: Queues as Kind::queues;

    /// Return whether the scheduler may count octets, so that the port must report every sent unit to it.
    pub const COUNTS_OCTETS: bool as Kind::counts_octets;
}

mod guarantee;

pub(crate) mod group;

/// The division of a port's units into queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// One queue for all units.
    One,
    /// A queue for each circuit.
    PerCircuit,
    /// A queue for all flows with the same hash value.
    PerFlow,
    /// A queue for each kind of congestion notification.
    ByNotification,
}

choice! {
    /// What has a queue of its own at a port.
    pub enum QueueFor {
        /// Every circuit.
        Circuit = "circuit",
        /// Every class of traffic: the flows that name one section `[queue.NAME]` share a queue, in order of arrival.
        Class = "class",
    }
}

/// The queues of a port before the run.
struct Division {
    /// What a scheduler may use of each queue.
    queues: IdVec<QueueId, Terms>,
    /// For each circuit its queue, or none if each circuit has its own.
    places: IdVec<PortVc, QueueId>,
    /// The queue of units that the port's policer has put into a lower class, if there is one.
    lowered: Option<QueueId>,
}

/// What a scheduler may use of a queue: of its circuit, or of its class.
#[derive(Clone, Copy)]
struct Terms {
    weight: f64,
    /// Minimum rate in bits per second, 0 for none.
    minimum: u64,
    /// The least priority number of its circuits.
    priority: u32,
    class: Class,
}

impl Terms {
    fn of_class(class: Class, priority: u32) -> Terms {
        Terms { weight: class.weight, minimum: class.minimum.map_or(0, |minimum| minimum.0), priority, class }
    }
}

impl QueueFor {
    /// Return the queues of a port.
    fn divide(self, context: &Context<'_>) -> Division {
        let contracts = context.contracts.iter();
        if self == QueueFor::Circuit {
            let terms = |contract: &Contract| Terms {
                weight: contract.weight,
                minimum: contract.mcr.0,
                priority: contract.priority,
                class: contract.class,
            };
            return Division {
                queues: contracts.map(terms).collect(),
                places: IdVec::default(),
                lowered: None,
            };
        }
        let mut classes: BTreeMap<u32, Terms> = BTreeMap::new();
        for Contract { class, priority, .. } in contracts.clone() {
            let terms = classes.entry(class.number).or_insert_with(|| Terms::of_class(*class, *priority));
            terms.priority = terms.priority.min(*priority);
        }
        if let Some((class, priority)) = context.lowered {
            classes.entry(class.number).or_insert_with(|| Terms::of_class(class, priority));
        }
        let numbers: Vec<u32> = classes.keys().copied().collect();
        let place = |class: &Class| QueueId::new(numbers.partition_point(|&other| other < class.number));
        Division {
            queues: classes.values().copied().collect(),
            places: contracts.map(|contract| place(&contract.class)).collect(),
            lowered: context.lowered.map(|(class, _)| place(&class)),
        }
    }
}

impl Spec {
    /// Return whether each circuit has a queue of its own.
    pub fn has_queue_per_circuit(&self) -> bool {
        self.kind().queues() == Queues::PerCircuit && !self.groups_classes()
    }

    /// Return whether each class of traffic has a queue of its own, which its circuits share.
    pub fn groups_classes(&self) -> bool {
        let queues = match self {
            Spec::StrictPriority(params) => params.queues,
            Spec::Drr(params) => params.queues,
            Spec::Wrr(params) => params.queues,
            Spec::ProgramScheduler(params) => params.queues,
            _ => QueueFor::Circuit,
        };
        queues == QueueFor::Class
    }

    /// Return the names of the classes that share what strict priority leaves, if there is such a group.
    pub(crate) fn grouped(&self) -> Option<&[String]> {
        let Spec::StrictPriority(strict_priority::Params { group: Some(Nested(group)), .. }) = self else {
            return None;
        };
        Some(&group.queues)
    }

    /// Return whether classes get their minimum rates first, or a program can see to it.
    pub(crate) fn guarantees(&self) -> bool {
        matches!(self, Spec::StrictPriority(_) | Spec::ProgramScheduler(_)) && self.groups_classes()
    }

    /// Return whether no queue has packets of several classes.
    pub fn separates_classes(&self) -> bool {
        self.kind().queues() == Queues::PerCircuit
    }

    /// Refuse this scheduler, unless it has a queue for each circuit, at a port with the push-out policy `pushout`.
    pub(crate) fn check_queues(&self, pushout: &str) -> Result<(), Refused> {
        if self.has_queue_per_circuit() {
            return Ok(());
        }
        let others = Spec::plain().filter(Spec::has_queue_per_circuit);
        let others: Vec<&str> = others.map(|other| other.name()).collect();
        let shared = if self.groups_classes() { "the circuits of a class" } else { "all circuits" };
        unfit(format!(
            "{pushout} shortens the queue of one circuit, but with the scheduler {} {shared} share one queue; choose one with a \
             queue for each: {}",
            self.name(),
            others.join(", "),
        ))
    }

    /// Return whether all circuits share one queue.
    pub fn shares_one_queue(&self) -> bool {
        self.kind().queues() == Queues::One
    }

    /// Return whether packets of one circuit may be in different queues and overtake each other.
    pub fn splits_circuits(&self) -> bool {
        self.kind().queues() == Queues::ByNotification
    }
}

/// Return how many of `slots` slots each place of a round gets.
pub(crate) fn shares(places: usize, slots: u64) -> impl Iterator<Item = u64> {
    let (each, more) = (slots / places.max(1) as u64, slots % places.max(1) as u64);
    (0..places as u64).map(move |place| each + u64::from(place < more))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::context::Contract;
    use crate::units::ids::IdSlice;
    use crate::units::{PartsPerMillion, Rate, Span};
    use proptest::prelude::*;

    #[test]
    fn push_out_needs_a_queue_for_each_circuit() {
        assert_eq!(Spec::RoundRobin(round_robin::Params {}).check_queues("pushout-2"), Ok(()));
        let why = Spec::Fifo(fifo::Params {}).check_queues("pushout-2").unwrap_err().why;
        assert!(
            why.starts_with(
                "pushout-2 shortens the queue of one circuit, but with the scheduler fifo all circuits share one queue; \
                 choose one with a queue for each: round-robin, wrr-mcr, "
            ),
            "{why}"
        );
    }

    /// A scheduler driven by tests: units join, and the served queues are recorded.
    pub(super) struct Bench<P> {
        pub(super) policy: P,
        pub(super) lengths: IdVec<QueueId, u32>,
        pub(super) blocked: Vec<usize>,
        pub(super) now: Time,
    }

    impl<P: Scheduler> Bench<P> {
        pub(super) fn new(
            context: &Context<'_>,
            build: impl Fn(&Context<'_>) -> Result<P, Refused>,
        ) -> Bench<P> {
            let (policy, lengths) = (build(context).unwrap(), IdVec::filled(0, context.vcs()));
            Bench { policy, lengths, blocked: Vec::new(), now: Time::ZERO }
        }

        /// Let a unit join each of these queues.
        pub(super) fn join(&mut self, queues: &[usize]) {
            for queue in queues.iter().copied().map(QueueId::new) {
                self.lengths[queue] += 1;
                self.policy.joined(queue);
            }
        }

        /// Serve up to `units` units, all at the present instant; returns their queues.
        pub(super) fn serve(&mut self, units: usize) -> Vec<usize> {
            (0..units).map_while(|_| self.serve_one()).collect()
        }

        pub(super) fn serve_one(&mut self) -> Option<usize> {
            let queue = self.policy.next(self.now, &mut |queue| !self.blocked.contains(&queue.index()))?;
            self.push_out(queue);
            Some(queue.index())
        }

        /// Remove a unit without service.
        pub(super) fn push_out(&mut self, queue: QueueId) {
            self.lengths[queue] -= 1;
            self.policy.left(queue, self.lengths[queue] == 0);
        }
    }

    /// Every scheduler with a queue for each of these contracts, in all its variants.
    fn all(context: &Context<'_>) -> Vec<Policy> {
        let wrr = |realisation, carry| {
            Spec::WrrMcr(wrr_mcr::Params {
                realisation,
                period: Span::micros(100),
                carry,
                mcr_plus: false,
                reserved: PartsPerMillion(0),
                layer: wrr_mcr::Layer::Cells,
            })
        };
        let specs = [
            Spec::RoundRobin(round_robin::Params {}),
            Spec::StrictPriority(strict_priority::Params { queues: QueueFor::Circuit, group: None }),
            wrr(wrr_mcr::Realisation::Credits, wrr_mcr::Carry::Exact),
            wrr(wrr_mcr::Realisation::Credits, wrr_mcr::Carry::Floor),
            wrr(wrr_mcr::Realisation::VirtualClock, wrr_mcr::Carry::Exact),
        ];
        specs.iter().map(|spec| spec.build(context).unwrap()).collect()
    }

    /// Assign the slots of one round, of `most` places, as long as they are certain; returns the turns and the time
    /// of the next slot.
    fn go_round(policy: &mut Policy, most: usize, mut now: Time) -> (Vec<QueueId>, Time) {
        let mut round = Vec::new();
        let until = policy.rounds(now, most, &mut round);
        let limit = |(at, place): (usize, &Place)| {
            place.cells.map_or(u64::MAX, |cells| cells * round.len() as u64 + at as u64)
        };
        let unlisted = if round.len() == most { most as u64 } else { 50 };
        let sure = round.iter().enumerate().map(limit).fold(unlisted, u64::min);
        let mut turns = Vec::new();
        while (turns.len() as u64) < sure && now < until && !round.is_empty() {
            turns.push(round[turns.len() % round.len()].queue);
            now += SLOT;
        }
        policy.went_round(&round, turns.len() as u64);
        (turns, now)
    }

    const SLOT: Span = Span(2_726_337);

    proptest! {
        #[test]
        fn rounds_are_the_turns_that_would_be_taken(
            joins in prop::collection::vec((0_u32..6, 0u64..8), 1..30),
            most in 1usize..8,
        ) {
            let plain = Context::alone(1, 1).contracts[PortVc(0)];
            let contract = |vc| Contract { mcr: Rate(7_000_000 * (vc % 4)), priority: vc as u32 / 4, ..plain };
            let contracts: Vec<Contract> = (0..6u64).map(contract).collect();
            for mut rounds in all(&Context { contracts: IdSlice::new(&contracts), ..Context::alone(3000, 0) }) {
                let (mut turns, mut now) = (rounds.clone(), Time::ZERO);
                for &(queue, times) in &joins {
                    turns.joined(QueueId(queue));
                    rounds.joined(QueueId(queue));
                    for _ in 0..times {
                        let (round, next) = go_round(&mut rounds, most, now);
                        for queue in round {
                            prop_assert_eq!(turns.turn(now), Some(queue));
                            now += SLOT;
                        }
                        prop_assert_eq!(now, next);
                        prop_assert_eq!(turns.turn(now), rounds.turn(now));
                        now += SLOT;
                    }
                }
            }
        }
    }

    /// Contracts with these minimum cell rates, in kilobits per second, and frames of 2048 octets.
    pub(super) fn contracts(mcr: &[u64]) -> Vec<Contract> {
        let plain = Contract {
            frame: 44,
            octets: 44 * 53,
            payload: Some(2048),
            ..Context::alone(1, 1).contracts[PortVc(0)]
        };
        mcr.iter().map(|kbps| Contract { mcr: Rate(kbps * 1000), ..plain }).collect()
    }
}
