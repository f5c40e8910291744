//! Pauses: the conditions on which a memory stops the senders of its queues and lets them resume.
//!
//! *Source*: IEEE 802.1Qbb as switch chips implement it; the condition for resuming is that of the Switch Abstraction
//! Interface (SAI, `saibuffer.h`, `XON_TH` and `XON_OFFSET_TH`). The sender of a queue is stopped when the queue
//! takes its first cell of headroom, or when a packet finds no room. The sender may resume when the queue holds no
//! headroom, and no more than the larger of `xon` and the queue's limit less `xon_offset`. The memory checks this
//! whenever a packet leaves it.

use crate::units::ids::LineId;
use crate::units::{Span, Time};

/// The pause thresholds of a queue, in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePause {
    /// Number of the class in the scenario.
    pub class: u32,
    /// Headroom that the queue may take.
    pub xoff: u64,
    /// Occupancy at or below which the queue's sender may send again.
    pub xon: u64,
    /// Distance below the queue's limit from which on its sender may send again.
    pub xon_offset: Option<u64>,
    /// Time after which the sender obeys a pause frame.
    pub response: Span,
}

impl QueuePause {
    /// Return whether the sender of a queue may send again; the queue holds `held` cells, none of them headroom, and
    /// may hold `most`.
    pub(super) fn is_over(&self, held: u64, most: impl Fn() -> f64) -> bool {
        let is_below = |offset| held as f64 <= most() - offset as f64;
        held <= self.xon || self.xon_offset.is_some_and(is_below)
    }
}

/// A pause signal of a memory to the sender of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signal {
    /// The line of the sender to this node.
    pub(crate) line: LineId,
    pub(crate) class: u32,
    pub(crate) stops: bool,
}

/// A queue whose sender is stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopped {
    pub(super) queue: usize,
    /// Time at which the pause frame is repeated.
    pub(super) repeat: Time,
}
