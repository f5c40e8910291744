//! A unit that arrives, and one that has left its queue, as the functions of a port pass them on.

use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{PortVc, QueueId};

/// A unit that arrives at a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    /// When it arrives.
    pub(crate) now: Time,
    pub(crate) unit: Unit,
    /// Number of its circuit at the port.
    pub(crate) vc: PortVc,
    /// Its size, in the measure of the port.
    pub(crate) size: u64,
}

/// A unit that the port has taken out of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) now: Time,
    pub(super) unit: Unit,
    pub(super) queue: QueueId,
    /// Number of its circuit at the port.
    pub(super) vc: PortVc,
}

/// The place in a queue of a unit that the port loses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Removal {
    /// The head.
    Head,
    /// The unit at this position.
    At(u64),
}
