//! Units that arrive at irregular instants.
//!
//! # What it assumes
//! The units are consecutive, belong to one frame, and no other unit of their circuit is among them.
//!
//! # What it skips
//! Forwarding single units between two FIFO ports: a frame is forwarded once, with a list of instants.
//!
//! # Why that is exact
//! The list gives each arrival; a lane keeps the lists of its trains in order.
//!
//! # What turns it off
//! A cycle of circuits, or a next port that is not a FIFO port of cells: then units are forwarded one by one.
//!
//! # What it saves
//! Multi-hop and access networks take 2 to 4 times as long with ports that handle single units.

use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::PortVc;

/// Irregular units. `unit` is the first of them, with the marks of the first and the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IrregularArrivals<'a> {
    pub(crate) unit: Unit,
    /// Number of their circuit at the port.
    pub(crate) vc: PortVc,
    /// Arrival time of each unit.
    pub(crate) arrivals: &'a [Time],
}
