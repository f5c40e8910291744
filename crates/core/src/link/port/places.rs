//! The queue of a port that a unit joins, where units do not all share one queue.

use crate::scheduler::{self, Scheduler};
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc, QueueId};

/// The rule by which a unit's circuit, its ECN field or a policer determines its queue.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// For each circuit its queue; empty if each circuit has its own.
    of_circuits: IdVec<PortVc, QueueId>,
    /// Whether the ECN field of a unit, and not its circuit, determines which of two queues it joins.
    pub(super) by_notification: bool,
    /// The queue of units that a policer has put into a lower class, if there is one.
    lowered: Option<QueueId>,
}

impl Places {
    /// Build the rule of a scheduler.
    pub(super) fn new(scheduler: &scheduler::Policy) -> Places {
        let by_notification = scheduler.goes_by_notification();
        Places { of_circuits: scheduler.places(), by_notification, lowered: scheduler.lowered() }
    }

    /// Return the queue with the highest number, if circuits share queues.
    pub(super) fn last(&self) -> Option<QueueId> {
        self.of_circuits.iter().copied().chain(self.lowered).max()
    }

    /// Return whether each circuit has a queue of its own.
    pub(super) fn are_circuits(&self) -> bool {
        self.of_circuits.is_empty() && !self.by_notification
    }

    /// Return whether units of one circuit may join different queues.
    pub(super) fn split_circuits(&self) -> bool {
        self.by_notification || self.lowered.is_some()
    }

    /// Return the queue that a unit joins.
    pub(super) fn of(&self, unit: &Unit, vc: PortVc) -> QueueId {
        if self.by_notification {
            return QueueId(u32::from(unit.is_l4s()));
        }
        if let Some(lowered) = self.lowered
            && unit.is_lowered()
        {
            return lowered;
        }
        self.of_circuits.get(vc).copied().unwrap_or(vc.queue())
    }
}
