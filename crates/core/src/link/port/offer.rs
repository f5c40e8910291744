//! The arguments that functions of a port pass on: an arriving unit, a unit that has left its queue, and a unit to
//! lose.

use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{PortVc, QueueId};

/// A unit that arrives at a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    /// Time of arrival.
    pub(crate) now: Time,
    pub(crate) unit: Unit,
    /// Number of its circuit at the port.
    pub(crate) vc: PortVc,
    /// Size of the unit, in the measure of the port.
    pub(crate) size: u64,
}

/// A unit that the port has removed from a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) now: Time,
    pub(super) unit: Unit,
    pub(super) queue: QueueId,
    /// Number of its circuit at the port.
    pub(super) vc: PortVc,
    pub(super) exit: Exit,
}

/// How a unit leaves the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Exit {
    /// The line has sent it.
    Sent,
    /// The admission policy discarded it at the head of a queue.
    Discarded(QueueId),
    /// It was removed from this position of a queue.
    Removed(QueueId, u64),
    /// The headers of a refused packet, which waited apart from all queues, were sent or lost.
    Headers { sent: bool },
}

/// The place in a queue of a unit that the port discards.
#[derive(Clone, Copy, Debug)]
pub(super) enum Removal {
    /// The head of the queue.
    Head,
    /// The unit at this position.
    At(u64),
}
