//! Which queue of a port a unit joins, where all do not share one.

use crate::scheduler::{self, Scheduler};
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc, QueueId};

/// The queue of each circuit, or of each kind of unit.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// For each circuit its queue, unless each has its own.
    of_circuits: IdVec<PortVc, QueueId>,
    /// Whether the congestion notification of a unit, and not its circuit, chooses one of two queues for it.
    pub(super) by_notification: bool,
}

impl Places {
    /// The places that a scheduler gives.
    pub(super) fn new(scheduler: &scheduler::Policy) -> Places {
        let by_notification = scheduler.goes_by_notification();
        Places { of_circuits: scheduler.places(), by_notification }
    }

    /// Return the last queue that a circuit is given, if circuits share queues.
    pub(super) fn last(&self) -> Option<QueueId> {
        self.of_circuits.iter().copied().max()
    }

    /// Return whether each circuit has a queue of its own.
    pub(super) fn are_circuits(&self) -> bool {
        self.of_circuits.is_empty() && !self.by_notification
    }

    /// Return the queue that a unit joins.
    pub(super) fn of(&self, unit: &Unit, vc: PortVc) -> QueueId {
        if self.by_notification {
            return QueueId(u32::from(unit.is_l4s()));
        }
        self.of_circuits.get(vc).copied().unwrap_or(vc.queue())
    }
}
