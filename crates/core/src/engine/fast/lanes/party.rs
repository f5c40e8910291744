//! Units that arrive at instants of their own.

use crate::unit::Unit;
use crate::units::Time;

/// Consecutive units of one frame that arrive with nothing in between. Its first and its last unit have given their marks
/// to `unit`, which is the first one otherwise.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Party<'a> {
    pub(in super::super) unit: Unit,
    /// Their circuit's number at the port.
    pub(in super::super) vc: u32,
    /// When each of them arrives.
    pub(in super::super) arrivals: &'a [Time],
}
