//! Units that arrive at instants of their own.

use crate::unit::Unit;
use crate::units::Time;

/// Consecutive units of one frame that arrive with nothing in between. Its first and its last unit have given their marks
/// to `unit`, which is the first one otherwise.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct IrregularArrivals<'a> {
    pub(in crate::engine) unit: Unit,
    /// Their circuit's number at the port.
    pub(in crate::engine) vc: u32,
    /// When each of them arrives.
    pub(in crate::engine) arrivals: &'a [Time],
}
