//! A packet that leaves a memory.

use crate::unit::Unit;
use crate::units::Time;

/// A packet that leaves a memory.
#[derive(Clone, Copy, Debug)]
pub struct Leaving<'a> {
    /// Instant of the departure.
    pub now: Time,
    /// The packet.
    pub unit: &'a Unit,
    /// Cells that the packet occupies.
    pub size: u64,
    /// True if the packet was sent, false if it was lost.
    pub sent: bool,
}
