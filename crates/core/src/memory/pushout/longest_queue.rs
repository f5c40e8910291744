//! Longest queue drop in a memory: see `buffer/pushout/longest_queue.rs`.

use super::{Context, Cut, Full, Piece, PushOut};
use crate::buffer::pushout::longest_queue::End;
use crate::refused::Refused;

pub use crate::buffer::pushout::longest_queue::Params;

/// The policy removes single units.
pub const GOES_BY_FRAMES: bool = false;

/// Longest queue drop in one memory.
#[derive(Clone, Debug)]
pub struct Policy(Params);

impl Policy {
    /// Build the policy of one memory.
    pub fn new(params: &Params, _: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy(params.clone()))
    }
}

impl PushOut for Policy {
    fn choose(&mut self, full: &Full<'_>) -> Option<Cut> {
        let waits = |queue: usize| full.has(queue, Piece::Unit(End::Head));
        let queue = self.0.victim(full.lengths(), full.own, full.beyond(), waits)?;
        Some(Cut { queue, piece: Piece::Unit(self.0.end) })
    }
}
