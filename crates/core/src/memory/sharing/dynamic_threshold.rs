//! Dynamic thresholds in a pool, where a queue can have its own factor: see `buffer/admission/dynamic_threshold.rs`.

use super::{Context, Pool, Sharing};
use crate::buffer::admission::dynamic_threshold::DynamicThreshold;
use crate::buffer::capacity::Capacity;
use crate::refused::Refused;
use crate::units::ids::{IdVec, PoolQueue};

pub use crate::buffer::admission::dynamic_threshold::Params;

/// The scheme removes no packets.
pub const EXPELS: bool = false;

/// Dynamic thresholds of the queues of one pool.
#[derive(Clone, Debug)]
pub struct Policy {
    thresholds: Thresholds,
}

/// The threshold of every queue.
#[derive(Clone, Debug)]
pub(super) struct Thresholds {
    of: IdVec<PoolQueue, DynamicThreshold>,
    /// The lowest one, with the least factor; `None` without queues.
    lowest: Option<DynamicThreshold>,
}

impl Thresholds {
    /// Give each queue its own factor, or `alpha`; the error says why a factor cannot be used.
    pub(super) fn new(alpha: f64, context: &Context<'_>) -> Result<Thresholds, Refused> {
        let common = DynamicThreshold::new(alpha)?;
        let own = |alpha: Option<f64>| alpha.map_or(Ok(common), DynamicThreshold::new);
        let of: IdVec<_, _> =
            context.queues.iter().map(|queue| own(queue.alpha)).collect::<Result<_, _>>()?;
        let lowest = of.iter().copied().reduce(DynamicThreshold::lower);
        Ok(Thresholds { of, lowest })
    }

    /// Return the number of queues.
    pub(super) fn len(&self) -> usize {
        self.of.len()
    }

    /// Return whether a queue can be longer than its threshold: not if all together are within the lowest one.
    #[inline]
    pub(super) fn can_be_exceeded(&self, pool: &Pool) -> bool {
        self.lowest.is_some_and(|lowest| pool.total() as f64 > lowest.of(pool))
    }

    /// Return the greatest occupancy of a pool of `capacity` at which no queue can be longer than its threshold.
    pub(super) fn quiet_up_to(&self, capacity: u64) -> Option<u64> {
        let can_be_exceeded = |occupancy: u64| {
            let mut pool = Pool::new(Capacity::limited(capacity), 1);
            pool.add(PoolQueue(0), occupancy);
            self.can_be_exceeded(&pool)
        };
        // the occupancy grows and the threshold falls, so there is one border
        let (mut quiet, mut loud) = (0, capacity + 1);
        while loud - quiet > 1 {
            let middle = quiet + (loud - quiet) / 2;
            if can_be_exceeded(middle) { loud = middle } else { quiet = middle }
        }
        Some(quiet)
    }

    /// Return whether a queue is longer than its threshold.
    pub(super) fn is_exceeded(&self, pool: &Pool, queue: PoolQueue) -> bool {
        self.of[queue].is_exceeded(pool, queue)
    }

    /// Return the present threshold of a queue.
    #[inline]
    pub(super) fn of(&self, pool: &Pool, queue: PoolQueue) -> f64 {
        self.of[queue].of(pool)
    }
}

impl Policy {
    /// Build the scheme; the error says why a factor cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy { thresholds: Thresholds::new(params.alpha, context)? })
    }
}

impl Sharing for Policy {
    #[inline]
    fn threshold(&self, pool: &Pool, queue: PoolQueue) -> f64 {
        self.thresholds.of(pool, queue)
    }
}
