//! Units that arrive at instants of their own.
//!
//! # What it assumes
//! The units are consecutive, belong to one frame, and no other unit of their circuit is among them.
//!
//! # What it skips
//! Handing on one unit at a time between two FIFO ports: a frame is handed on once, with a list of instants.
//!
//! # Why that is exact
//! The list gives each arrival; a lane keeps the lists of its trains one behind the other.
//!
//! # What turns it off
//! A circle of circuits, or a next port that is not a FIFO port of cells: then units are handed on one by one.
//!
//! # What it saves
//! Not measured by itself; multi-hop and access networks take 2 to 4 times as long with ports that are asked per unit.

use crate::unit::Unit;
use crate::units::Time;

/// Such units. The first and the last have given their marks to `unit`, which is the first one otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IrregularArrivals<'a> {
    pub(crate) unit: Unit,
    /// Their circuit's number at the port.
    pub(crate) vc: u32,
    /// When each of them arrives.
    pub(crate) arrivals: &'a [Time],
}
