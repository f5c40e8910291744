//! The harmonic policy in a pool: see `buffer/admission/harmonic.rs`.

use super::{Context, Pool, Sharing};
use crate::buffer::admission::harmonic::Limits;
use crate::refused::Refused;
use crate::units::ids::PoolQueue;

pub use crate::buffer::admission::harmonic::Params;

/// The scheme removes no packets.
pub const EXPELS: bool = false;

/// The limits of one pool.
#[derive(Clone, Debug)]
pub struct Policy {
    limits: Limits,
}

impl Policy {
    /// Build the scheme; every pool can have it.
    pub fn new(_: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy { limits: Limits::new(context.capacity, context.queues.len()) })
    }
}

impl Sharing for Policy {
    fn threshold(&self, pool: &Pool, queue: PoolQueue) -> f64 {
        self.limits.threshold(pool, queue)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{context, terms};
    use super::*;
    use crate::buffer::capacity::Capacity;
    use crate::units::ids::LineId;

    #[test]
    fn a_queue_may_have_what_longer_ones_leave_of_their_common_limit() {
        let queues = [terms(LineId(0), None), terms(LineId(1), None), terms(LineId(2), None)];
        let policy = Policy::new(&Params {}, &context(&queues)).unwrap();
        let mut pool = Pool::new(Capacity::limited(100), queues.len()); // limits 54, 81 and 100
        let thresholds = |pool: &Pool| [0, 1, 2].map(|queue| policy.threshold(pool, PoolQueue(queue)));
        assert_eq!(thresholds(&pool), [54.0; 3]);
        pool.add(PoolQueue(0), 50);
        assert_eq!(thresholds(&pool), [54.0, 31.0, 31.0]);
        pool.add(PoolQueue(1), 31);
        assert_eq!(thresholds(&pool), [50.0, 31.0, 19.0]);
    }
}
