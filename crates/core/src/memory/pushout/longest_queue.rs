//! Longest queue drop in a memory: see `buffer/pushout/longest_queue.rs`.

use super::{Cut, Full, Piece, PushOut};
use crate::buffer::pushout::longest_queue::End;

pub use crate::buffer::pushout::longest_queue::Params;

/// The policy removes single units.
pub const KEEPS_PACKETS: bool = false;

impl PushOut for Params {
    fn choose(&self, full: &Full<'_>) -> Option<Cut> {
        let waits = |queue: usize| full.ports.has(queue, Piece::Unit(End::Head));
        let queue = self.victim(full.lengths(), full.own, full.beyond(), waits)?;
        Some(Cut { queue, piece: Piece::Unit(self.end) })
    }
}
