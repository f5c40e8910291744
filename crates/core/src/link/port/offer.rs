//! An arriving unit, as the functions of a port pass it on.

use crate::unit::Unit;
use crate::units::Time;

/// A unit that arrives at a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    /// When it arrives.
    pub(crate) now: Time,
    pub(crate) unit: Unit,
    /// Number of its circuit at the port.
    pub(crate) vc: usize,
    /// Its size, in the measure of the port.
    pub(crate) size: u64,
}
