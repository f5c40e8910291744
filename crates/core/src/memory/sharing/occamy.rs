//! Occamy in a pool: see `buffer/admission/occamy/mod.rs`.

use super::dynamic_threshold::Thresholds;
use super::{Context, Expulsion, Leaving, Pool, Sharing};
use crate::buffer::admission::occamy::Expeller;
use crate::refused::Refused;
use crate::units::Time;
use crate::units::ids::PoolQueue;

pub use crate::buffer::admission::occamy::Params;

/// The scheme removes packets beyond the threshold of their queue.
pub const EXPELS: bool = true;

/// Occamy in one pool.
#[derive(Clone, Debug)]
pub struct Policy {
    thresholds: Thresholds,
    expeller: Expeller,
}

impl Policy {
    /// Build the scheme; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let expeller = Expeller::new(params)?;
        Ok(Policy { thresholds: Thresholds::new(params.alpha, context)?, expeller })
    }
}

impl Sharing for Policy {
    #[inline]
    fn threshold(&self, pool: &Pool, queue: PoolQueue) -> f64 {
        self.thresholds.of(pool, queue)
    }

    fn depends_on(&self) -> Option<&str> {
        Some("a bucket of tokens, which fills with time")
    }

    fn departed(&mut self, leaving: &Leaving<'_>, _: &Pool, _: PoolQueue) {
        self.expeller.departed(leaving.now, leaving.size);
    }

    fn quiet_up_to(&self, capacity: u64) -> Option<u64> {
        self.thresholds.quiet_up_to(capacity)
    }

    fn expels(
        &mut self,
        now: Time,
        pool: &Pool,
        head: &dyn Fn(PoolQueue) -> Option<u64>,
    ) -> Option<Expulsion> {
        let Policy { thresholds, expeller } = self;
        if !thresholds.can_be_exceeded(pool) {
            return None;
        }
        expeller.expels(now, thresholds.len(), |queue| thresholds.is_exceeded(pool, queue), head)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{context, terms};
    use super::*;
    use crate::buffer::capacity::Capacity;
    use crate::units::ids::LineId;
    use crate::units::{CellCount, PerSecond};

    #[test]
    fn up_to_its_bound_no_queue_can_exceed_its_threshold_and_beyond_it_one_does() {
        let queues = [terms(LineId(0), Some(0.5)), terms(LineId(1), None)];
        for (alpha, own) in [(8.0, None), (2.0, Some(0.5)), (0.1, None), (1e9, None)] {
            let params =
                Params { alpha, token_rate: PerSecond(1_000_000_000_000), token_depth: CellCount(10) };
            let queues = [terms(LineId(0), own), queues[1]];
            for capacity in [1, 2, 99, 1_250_000] {
                let policy = Policy::new(&params, &context(&queues)).unwrap();
                let bound = policy.quiet_up_to(capacity).unwrap();
                let expels = |held: u64| {
                    let mut pool = Pool::new(Capacity::limited(capacity), queues.len());
                    pool.add(PoolQueue(0), held);
                    policy.clone().expels(Time(0), &pool, &|_| Some(1)).is_some()
                };
                assert!(bound <= capacity && !expels(bound), "{alpha} of {capacity}: {bound}");
                assert!(bound == capacity || expels(bound + 1), "{alpha} of {capacity}: {bound}");
            }
        }
    }

    #[test]
    fn the_next_queue_in_turn_over_its_own_threshold_loses_a_packet_when_there_are_tokens_for_it() {
        let params =
            Params { alpha: 8.0, token_rate: PerSecond(1_000_000_000_000), token_depth: CellCount(10) };
        let queues = [terms(LineId(0), Some(0.5)), terms(LineId(1), None), terms(LineId(2), Some(0.5))];
        let mut policy = Policy::new(&params, &context(&queues)).unwrap();
        let mut pool = Pool::new(Capacity::limited(100), queues.len());
        (0..3).for_each(|queue| pool.add(PoolQueue(queue), 20)); // thresholds of 20, 320 and 20
        let mut expels = |pool: &Pool| policy.expels(Time(0), pool, &|_| Some(6));
        assert_eq!(expels(&pool), None, "a queue as long as its threshold stays");
        (0..3).for_each(|queue| pool.add(PoolQueue(queue), 1));
        assert_eq!(
            [expels(&pool), expels(&pool)],
            [0, 2].map(|queue| Some(Expulsion::Now(PoolQueue(queue))))
        );
    }
}
