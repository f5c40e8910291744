//! ABM in a pool: see `buffer/admission/abm.rs`.

use super::{Context, Leaving, Pool, Sharing};
use crate::buffer::admission::abm::{SentOctets, Shares, congested};
use crate::refused::Refused;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::PoolQueue;

pub use crate::buffer::admission::abm::Params;

/// The scheme removes no packets.
pub const EXPELS: bool = false;

/// ABM in one pool.
#[derive(Clone, Debug)]
pub struct Policy {
    shares: Shares<PoolQueue>,
}

impl Policy {
    /// Build the scheme; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let congested = congested(params, context.measure, 1);
        Ok(Policy { shares: Shares::new(params, context.queues, congested)? })
    }
}

impl Sharing for Policy {
    fn threshold(&self, pool: &Pool, queue: PoolQueue) -> f64 {
        self.shares.threshold(pool, queue)
    }

    fn depends_on(&self) -> Option<&str> {
        Some("the octets that each queue has sent in the last interval, and the instant")
    }

    fn offered(&mut self, now: Time, pool: &Pool, queue: PoolQueue, _: u64, _: &Unit) {
        self.shares.offered(now, pool, queue);
    }

    fn departed(&mut self, leaving: &Leaving<'_>, pool: &Pool, queue: PoolQueue) {
        let octets = if leaving.sent { leaving.unit.bytes } else { 0 };
        self.shares.departed(leaving.now, pool, SentOctets { queue, octets });
    }

    fn catch_up(&mut self, now: Time, pool: &Pool) {
        self.shares.advance(now, pool, None);
    }
}
