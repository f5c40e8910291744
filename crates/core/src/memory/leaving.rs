//! A packet that leaves a memory.

use crate::unit::Unit;
use crate::units::Time;

/// A packet that leaves a memory.
#[derive(Clone, Copy, Debug)]
pub struct Leaving<'a> {
    /// Its departure.
    pub now: Time,
    /// The packet.
    pub unit: &'a Unit,
    /// Its cells.
    pub size: u64,
    /// True if it was sent, false if it was lost.
    pub sent: bool,
}
