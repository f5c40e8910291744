//! Sharing: schemes that divide the shared room of a pool among its queues.
//!
//! A scheme gives each queue a **threshold**; the memory compares it with the room that the queue uses, and counts
//! the cells in use. One scheme is one file. To add a scheme, write its file and add a line to the list below. A
//! scheme that ports with a buffer of their own can have as well takes its parameters and its arithmetic from its
//! file in `buffer/admission/`, which documents it. A scheme may also refuse single units (`program.rs`).

use super::leaving::Leaving;
use crate::buffer::admission::Failure;
use crate::buffer::capacity::Capacity;
use crate::buffer::context::QueueTerms;
use crate::buffer::size::Measure;
use crate::language::spec::Field;
use crate::registry;
use crate::rng::{Dice, Keyed, NameKeys};
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::PoolQueue;

/// The occupancy of a pool's shared room, by the numbers of its queues.
pub type Pool = crate::buffer::pool::Pool<PoolQueue>;

/// The answer of a scheme that expels packets.
pub type Expulsion = crate::buffer::admission::Expulsion<PoolQueue>;

registry! {
    /// A scheme of sharing as a scenario specifies it: the `admission` of a memory.
    "admission" by "policy" {
        CompleteSharing = "complete-sharing" in complete_sharing,
        StaticThreshold = "static-threshold" in static_threshold,
        Harmonic = "harmonic" in harmonic,
        DynamicThreshold = "dynamic-threshold" in dynamic_threshold,
        DtEpd = "dt-epd" in dt_epd,
        Abm = "abm" in abm,
        FollowLqd = "follow-lqd" in follow_lqd,
        Occamy = "occamy" in occamy,
        Program = "program" in program,
    }

    /// The interface of a scheme. Queues are numbered within the pool, from 0.
    pub trait Sharing for Policy {
        /// Return the shared room that a queue may have now; infinite if only the room itself limits it.
        fn threshold(&self, pool: &Pool, queue: PoolQueue) -> f64;

        /// Record that a unit of this size requests room in a queue, before the memory reads its threshold. The pool
        /// does not count the unit yet.
        fn offered(&mut self, now: Time, pool: &Pool, queue: PoolQueue, size: u64, unit: &Unit) {}

        /// Return whether the scheme has refused this unit when the unit was [`offered`](Sharing::offered), whatever
        /// the threshold of its queue.
        fn refuses(&self, unit: &Unit) -> bool {
            false
        }

        /// Call [`offered`](Sharing::offered), then return the result of [`threshold`](Sharing::threshold); below all
        /// lengths of queues if the scheme [refuses](Sharing::refuses) the unit.
        fn meets(&mut self, now: Time, pool: &Pool, queue: PoolQueue, size: u64, unit: &Unit) -> f64 {
            self.offered(now, pool, queue, size, unit);
            if self.refuses(unit) { f64::NEG_INFINITY } else { self.threshold(pool, queue) }
        }

        /// Return whether the scheme decides at the first unit of a frame: the rest is accepted as long as there is room.
        fn judges_frames(&self) -> bool {
            false
        }

        /// Record that a packet of a queue has left the memory; the pool no longer counts it.
        fn departed(&mut self, leaving: &Leaving<'_>, pool: &Pool, queue: PoolQueue) {}

        /// Return whether the scheme draws random numbers about the units that are offered.
        fn draws(&self) -> bool {
            false
        }

        /// Return what the decisions depend on besides the lengths of queues and the [variables](Sharing::variables).
        fn depends_on(&self) -> Option<&str> {
            None
        }

        /// Return the variables of the scheme.
        fn variables(&self) -> Variables {
            Variables::default()
        }

        /// Change the variables of the scheme to ones that it has returned.
        fn set_variables(&mut self, variables: &Variables) {}

        /// Return the reason why the scheme could not compute a decision, if it failed: the run has no result.
        fn failure(&self) -> Option<&Failure> {
            None
        }

        /// Advance thresholds that depend on time to `now`, before the memory takes a sample.
        fn catch_up(&mut self, now: Time, pool: &Pool) {}

        /// Return the queue whose head packet must be discarded now, although no packet arrives, or the instant of
        /// the next check. `head` returns the size of a queue's head packet, if one waits. The memory calls this
        /// after packets have joined or left, until no queue is returned, and at the returned instant.
        fn expels(&mut self, now: Time, pool: &Pool, head: &dyn Fn(PoolQueue) -> Option<u64>) -> Option<Expulsion> {
            None
        }

        /// Return the greatest occupancy of a pool of `capacity` at which a scheme that expels has nothing to expel, however the queues
        /// share it; `None` if it cannot name one.
        fn quiet_up_to(&self, capacity: u64) -> Option<u64> {
            None
        }
    }

    /// Return whether the scheme [expels](Sharing::expels) waiting packets.
    pub const EXPELS: bool as Kind::expels;
}

/// The variables of a scheme in one pool, as numbers of 64 bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// The variables of the pool.
    pub of_pool: Vec<u64>,
    /// The variables of each queue, one queue after the other.
    pub of_queues: Vec<u64>,
}

impl Spec {
    /// Return whether a queue can have its own factor instead of that of the scheme.
    pub fn takes_alpha(&self) -> bool {
        self.write().get("alpha").is_some()
    }
}

/// Facts about its pool that a scheme may use before the run.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The shared room of the pool.
    pub capacity: Capacity,
    /// Unit in which the memory counts.
    pub measure: Measure,
    /// The terms of every queue, by its number within the pool.
    pub queues: &'a [QueueTerms],
    /// Seed of the run.
    pub seed: u64,
    /// Names of the memory and of the pool.
    pub name: [&'a str; 2],
    /// Keys of the circuits of the network, by their names.
    pub circuits: &'a NameKeys,
}

impl Context<'_> {
    /// Return random numbers for a policy in this pool, each keyed by the unit about which it decides.
    pub fn dice(&self, policy: &str) -> Dice {
        let [memory, pool] = self.name;
        let keyed = Keyed::new(self.seed, format_args!("memory.{memory}.{pool}.{policy}"));
        Dice::new(keyed.about_circuits(self.circuits))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::buffer::admission;
    use crate::buffer::context::Outlet;
    use crate::buffer::size::CellSize;
    use crate::language::spec::ParamSpec;
    use crate::language::tree::Node;
    use crate::rng::UNNAMED;
    use crate::units::Rate;
    use crate::units::ids::LineId;

    /// Build the context of a pool of 100 cells for queues of lines of 8 Mb/s, each with a factor of its own or none.
    pub(crate) fn context(queues: &[QueueTerms]) -> Context<'_> {
        let measure = Measure::MemoryCells(CellSize { octets: 100, header: 0 });
        Context {
            capacity: Capacity::limited(100),
            measure,
            queues,
            seed: 1,
            name: ["chip", "all"],
            circuits: &UNNAMED,
        }
    }

    /// Build the terms of a queue at a line of 8 Mb/s.
    pub(crate) fn terms(line: LineId, alpha: Option<f64>) -> QueueTerms {
        QueueTerms { alpha, priority: 0, outlet: Outlet { line, rate: Rate(8_000_000), minimum: 0 } }
    }

    fn spec(name: &str) -> Spec {
        Spec::read(&Node::named("policy", name), "").unwrap()
    }

    /// Return the names and defaults of parameters.
    fn outside(params: fn() -> Vec<ParamSpec>) -> Vec<(&'static str, Option<serde_json::Value>)> {
        params().into_iter().map(|param| (param.name, param.default)).collect()
    }

    #[test]
    fn every_scheme_has_its_page_among_the_policies_of_ports() {
        for entry in CATALOGUE {
            let page = admission::CATALOGUE.iter().find(|page| page.name == entry.name);
            let page = page.unwrap_or_else(|| panic!("{}: list it in scenario/catalogue.rs", entry.name));
            let known = outside(page.params);
            for param in outside(entry.params) {
                assert!(known.contains(&param), "{}: {param:?}", entry.name);
            }
        }
    }

    #[test]
    fn a_pool_that_no_flow_uses_can_have_every_scheme() {
        for entry in CATALOGUE {
            let mut scheme = spec(entry.name).build(&context(&[])).unwrap();
            let pool = Pool::new(Capacity::limited(100), 1);
            scheme.catch_up(Time(1), &pool);
            assert_eq!(scheme.expels(Time(1), &pool, &|_| Some(1)), None, "{}", entry.name);
        }
    }

    #[test]
    fn a_factor_of_its_own_changes_the_threshold_of_its_queue_alone_where_a_scheme_has_factors() {
        for entry in CATALOGUE {
            let pool = Pool::new(Capacity::limited(100), 2);
            let threshold = |own: Option<f64>, queue: u32| {
                let queues = [terms(LineId(0), own), terms(LineId(1), None)];
                spec(entry.name).build(&context(&queues)).unwrap().threshold(&pool, PoolQueue(queue))
            };
            let takes_alpha = spec(entry.name).takes_alpha();
            assert_eq!(threshold(Some(0.25), 0) != threshold(None, 0), takes_alpha, "{}", entry.name);
            assert_eq!(threshold(Some(0.25), 1), threshold(None, 1), "{}", entry.name);
            assert!(!takes_alpha || threshold(Some(0.25), 0) == 25.0, "{}: 100 / 4", entry.name);
        }
    }

    #[test]
    fn a_scheme_that_does_not_expel_never_names_a_queue() {
        for entry in CATALOGUE {
            let mut pool = Pool::new(Capacity::limited(100), 2);
            pool.add(PoolQueue(0), 99);
            let mut scheme =
                spec(entry.name).build(&context(&[terms(LineId(0), None), terms(LineId(1), None)])).unwrap();
            let expelled = scheme.expels(Time(1), &pool, &|_| Some(1));
            let expected = scheme.kind().expels().then_some(Expulsion::Now(PoolQueue(0)));
            assert_eq!(expelled, expected, "{}", entry.name);
        }
    }
}
