//! Dynamic thresholds for whole frames in a pool: see `buffer/admission/dt_epd.rs`.
//!
//! The threshold decides at the first cell of a frame. The rest is accepted as long as there is room, and the ports
//! discard what remains of a frame that was refused or cut short, so they need a policy for frames, such as partial
//! packet discard.

use super::dynamic_threshold::Thresholds;
use super::{Context, Pool, Sharing};
use crate::refused::Refused;
use crate::section;
use crate::units::ids::PoolQueue;

section! {
    /// Refuse whole frames of a queue that is longer than a multiple of the free room.
    pub struct Params {
        /// Length of a queue from which new frames are refused, as a multiple of the free room.
        pub alpha: f64 = 2.0,
    }
}

/// The scheme removes no packets.
pub const EXPELS: bool = false;

/// Dynamic thresholds of the queues of one pool, for frames.
#[derive(Clone, Debug)]
pub struct Policy(Thresholds);

impl Policy {
    /// Build the scheme; the error says why a factor cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        Thresholds::new(params.alpha, context).map(Policy)
    }
}

impl Sharing for Policy {
    #[inline]
    fn threshold(&self, pool: &Pool, queue: PoolQueue) -> f64 {
        self.0.of(pool, queue)
    }

    fn judges_frames(&self) -> bool {
        true
    }
}
