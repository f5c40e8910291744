//! Static thresholds in a pool: see `buffer/admission/static_threshold.rs`.

use super::{Context, Pool, Sharing};
use crate::buffer::admission::static_threshold::checked;
use crate::refused::{Refused, refuse};
use crate::units::ids::PoolQueue;

pub use crate::buffer::admission::static_threshold::Params;

/// The scheme removes no packets.
pub const EXPELS: bool = false;

/// Static threshold of the queues of one pool.
#[derive(Clone, Debug)]
pub struct Policy {
    limit: f64,
}

impl Policy {
    /// Build the scheme; the error says why its limit cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let limit = params.limit.within(context.measure, context.capacity);
        let limit = checked(limit.or_else(|why| refuse("limit", why))?)?;
        Ok(Policy { limit: limit as f64 })
    }
}

impl Sharing for Policy {
    #[inline]
    fn threshold(&self, _: &Pool, _: PoolQueue) -> f64 {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::context;
    use super::*;
    use crate::buffer::size::Level;

    #[test]
    fn a_limit_is_a_share_of_the_pool_and_holds_at_least_a_cell() {
        let limit = |percent| Policy::new(&Params { limit: Level::Percent(percent) }, &context(&[]));
        assert_eq!(limit(60.0).unwrap().limit, 60.0);
        assert_eq!(limit(0.0).unwrap_err().key, Some("limit"));
        assert_eq!(limit(101.0).unwrap_err().key, Some("limit"));
    }
}
