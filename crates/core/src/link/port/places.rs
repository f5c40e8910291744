//! The queue of a port that a unit joins, where units do not all share one queue.

use crate::scheduler::{self, Scheduler};
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc, QueueId};

/// The rule by which a unit's circuit, its ECN field or a policer determines its queue.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// For each circuit its queue; empty if each circuit has its own.
    of_circuits: IdVec<PortVc, QueueId>,
    split: Split,
}

/// What separates units of one circuit.
#[derive(Clone, Copy, Debug)]
enum Split {
    Nothing,
    /// The ECN field determines which of two queues a unit joins.
    Notification,
    /// Units that a policer has put into a lower class join this queue.
    Lowered(QueueId),
}

impl Places {
    /// Build the rule of a scheduler.
    pub(super) fn new(scheduler: &scheduler::Policy) -> Places {
        let split = match scheduler.lowered() {
            _ if scheduler.goes_by_notification() => Split::Notification,
            Some(queue) => Split::Lowered(queue),
            None => Split::Nothing,
        };
        Places { of_circuits: scheduler.places(), split }
    }

    /// Return the queue with the highest number, if circuits share queues.
    pub(super) fn last(&self) -> Option<QueueId> {
        let lowered = if let Split::Lowered(queue) = self.split { Some(queue) } else { None };
        self.of_circuits.iter().copied().chain(lowered).max()
    }

    /// Return whether each circuit has a queue of its own.
    pub(super) fn are_circuits(&self) -> bool {
        self.of_circuits.is_empty() && !self.go_by_notification()
    }

    /// Return whether the ECN field of a unit determines which of two queues it joins.
    pub(super) fn go_by_notification(&self) -> bool {
        matches!(self.split, Split::Notification)
    }

    /// Return whether units of one circuit may join different queues.
    pub(super) fn split_circuits(&self) -> bool {
        !matches!(self.split, Split::Nothing)
    }

    /// Return the queue that a unit joins.
    pub(super) fn of(&self, unit: &Unit, vc: PortVc) -> QueueId {
        match self.split {
            Split::Notification => QueueId(u32::from(unit.is_l4s())),
            Split::Lowered(queue) if unit.is_lowered() => queue,
            _ => self.of_circuits.get(vc).copied().unwrap_or(vc.queue()),
        }
    }
}
