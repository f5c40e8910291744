//! FollowLQD in a pool: see `buffer/admission/follow_lqd/mod.rs`.

use super::{Context, Leaving, Pool, Sharing};
use crate::buffer::admission::follow_lqd::VirtualBuffer;
use crate::refused::Refused;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::PoolQueue;

pub use crate::buffer::admission::follow_lqd::Params;

/// The scheme removes no packets.
pub const EXPELS: bool = false;

/// FollowLQD in one pool.
#[derive(Clone, Debug)]
pub struct Policy {
    buffer: VirtualBuffer<PoolQueue>,
}

impl Policy {
    /// Build the scheme; every pool can have it.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let outlets = context.queues.iter().map(|queue| queue.outlet);
        Ok(Policy { buffer: VirtualBuffer::new(params.rule(), context.capacity, outlets) })
    }
}

impl Sharing for Policy {
    fn threshold(&self, _: &Pool, queue: PoolQueue) -> f64 {
        self.buffer.length(queue) as f64
    }

    fn depends_on(&self) -> Option<&str> {
        Some("virtual queues, which drain with time")
    }

    fn offered(&mut self, now: Time, _: &Pool, queue: PoolQueue, size: u64, unit: &Unit) {
        self.buffer.offered(now, queue, size, unit.bytes);
    }

    fn departed(&mut self, leaving: &Leaving<'_>, _: &Pool, _: PoolQueue) {
        self.buffer.send_until(leaving.now);
    }

    fn catch_up(&mut self, now: Time, _: &Pool) {
        self.buffer.send_until(now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{context, terms};
    use super::*;
    use crate::buffer::capacity::Capacity;
    use crate::units::ids::LineId;

    #[test]
    fn queues_of_one_line_wait_for_each_other_and_those_of_another_do_not() {
        let queues = [terms(LineId(0), None), terms(LineId(0), None), terms(LineId(1), None)];
        let params = Params { counts_arrival: true };
        let mut policy = Policy::new(&params, &context(&queues)).unwrap();
        let pool = Pool::new(Capacity::limited(100), queues.len());
        let unit = Unit { bytes: 1000, ..Unit::default() };
        (0..3).for_each(|queue| policy.offered(Time(0), &pool, PoolQueue(queue), 10, &unit));
        policy.catch_up(Time(1_000_000_000), &pool); // 8000 bits at 8 Mb/s
        assert_eq!([0, 1, 2].map(|queue| policy.threshold(&pool, PoolQueue(queue))), [0.0, 10.0, 0.0]);
    }
}
