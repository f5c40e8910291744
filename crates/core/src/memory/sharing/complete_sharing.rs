//! Complete sharing of a pool: see `buffer/admission/complete_sharing.rs`.

use super::{Context, Pool, Sharing};
use crate::refused::Refused;
use crate::units::ids::PoolQueue;

pub use crate::buffer::admission::complete_sharing::Params;

/// The scheme removes no packets.
pub const EXPELS: bool = false;

/// Complete sharing of one pool.
#[derive(Clone, Debug)]
pub struct Policy;

impl Policy {
    /// Build the scheme; every pool can have it.
    pub fn new(_: &Params, _: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy)
    }
}

impl Sharing for Policy {
    #[inline]
    fn threshold(&self, _: &Pool, _: PoolQueue) -> f64 {
        f64::INFINITY
    }
}
