//! Pauses: when a memory stops the senders of its queues, and when it lets them resume.
//!
//! *Source*: IEEE 802.1Qbb as switch chips implement it; the condition to go on is that of the Switch Abstraction Interface (SAI,
//! `saibuffer.h`, `XON_TH` and `XON_OFFSET_TH`). The sender of a queue is stopped when the queue takes its first cell of headroom, or
//! when a packet finds no room. It may go on when the queue holds no headroom and no more than the larger of `xon` and what the queue
//! may hold less `xon_offset`. The memory checks this whenever a packet leaves it.

use crate::units::Time;

/// The pauses of a queue, in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePause {
    /// The class, numbered within the scenario.
    pub class: u32,
    /// Headroom that the queue may take.
    pub xoff: u64,
    /// Occupancy at which its sender may send again.
    pub xon: u64,
    /// Distance below its limit at which its sender may send again.
    pub xon_offset: Option<u64>,
}

impl QueuePause {
    /// Return whether the sender of a queue may send again; the queue holds `held` without headroom and may hold
    /// `most`.
    pub(super) fn is_over(&self, held: u64, most: f64) -> bool {
        let below = self.xon_offset.map_or(0.0, |offset| most - offset as f64);
        held <= self.xon || held as f64 <= below
    }
}

/// Signal of a memory to the sender of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signal {
    /// The line over which the sender sends.
    pub(crate) line: usize,
    pub(crate) class: u32,
    pub(crate) stops: bool,
}

/// A queue whose sender is stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopped {
    pub(super) queue: usize,
    /// Time at which the frame that stopped it is repeated.
    pub(super) repeat: Time,
}
