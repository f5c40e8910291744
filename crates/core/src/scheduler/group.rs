//! The classes that share what strict priority leaves, in proportion to their weights.

use super::{Context, QueueFor, Scheduler, drr, wrr};
use crate::choice;
use crate::metrics::state::Figure;
use crate::refused::Refused;
use crate::section;
use crate::units::ids::{IdVec, QueueId};
use crate::units::{Bytes, Time};

choice! {
    /// How a group divides the line.
    pub enum Sharing {
        /// By octets: deficit round robin.
        Drr = "drr",
        /// By packets: weighted round robin.
        Wrr = "wrr",
    }
}

section! {
    /// Classes below those with strict priority.
    pub struct Params {
        /// How they share what the others leave, in proportion to the weights of their sections.
        pub policy: Sharing = Sharing::Drr,
        /// Their names, as in `["bulk", "web"]`.
        pub queues: Vec<String>,
        /// With the policy drr, the octets that a queue of weight 1 may send in a round.
        pub quantum: Bytes = Bytes(1514),
    }
}

/// The group at one port.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// For each queue of the port whether it is in the group.
    has: IdVec<QueueId, bool>,
    turns: Turns,
}

#[derive(Clone, Debug)]
enum Turns {
    Drr(drr::Policy),
    Wrr(wrr::Policy),
}

impl Group {
    /// Build the group of one port; the error says what cannot be used.
    pub(super) fn new(params: &Params, context: &Context<'_>) -> Result<Group, Refused> {
        let queues = QueueFor::Class;
        let turns = match params.policy {
            Sharing::Drr => {
                Turns::Drr(drr::Policy::new(&drr::Params { quantum: params.quantum, queues }, context)?)
            }
            Sharing::Wrr => Turns::Wrr(wrr::Policy::new(&wrr::Params { queues }, context)?),
        };
        let has = queues.divide(context).queues.iter().map(|terms| terms.class.grouped).collect();
        Ok(Group { has, turns })
    }

    /// Return whether a queue is in the group.
    pub(super) fn has(&self, queue: QueueId) -> bool {
        self.has[queue]
    }

    /// Record that a unit has joined this queue.
    pub(super) fn joined(&mut self, queue: QueueId) {
        match &mut self.turns {
            Turns::Drr(policy) => policy.joined(queue),
            Turns::Wrr(policy) => policy.joined(queue),
        }
    }

    /// Record that a unit has left this queue; `empty` if it was the last one.
    pub(super) fn left(&mut self, queue: QueueId, empty: bool) {
        match &mut self.turns {
            Turns::Drr(policy) => policy.left(queue, empty),
            Turns::Wrr(policy) => policy.left(queue, empty),
        }
    }

    /// Choose the queue to serve.
    pub(super) fn next(
        &mut self,
        now: Time,
        may_send: &mut dyn FnMut(QueueId) -> bool,
        octets: &dyn Fn(QueueId) -> u64,
    ) -> Option<QueueId> {
        match &mut self.turns {
            Turns::Drr(policy) => policy.next_by_size(now, may_send, octets),
            Turns::Wrr(policy) => policy.next(now, may_send),
        }
    }

    /// Choose the next queue when every queue may send.
    pub(super) fn turn(&mut self, now: Time, octets: &dyn Fn(QueueId) -> u64) -> Option<QueueId> {
        match &mut self.turns {
            Turns::Drr(policy) => policy.turn_by_size(now, octets),
            Turns::Wrr(policy) => policy.turn_by_size(now, octets),
        }
    }

    /// Record that the port sends a unit of this queue for which the group was chosen.
    pub(super) fn sent(&mut self, queue: QueueId, octets: u64) {
        match &mut self.turns {
            Turns::Drr(policy) => policy.sent(queue, octets),
            Turns::Wrr(policy) => policy.sent(queue, octets),
        }
    }

    /// Return the variables of its queues.
    pub(super) fn state(&self) -> Vec<Figure> {
        match &self.turns {
            Turns::Drr(policy) => policy.state(),
            Turns::Wrr(policy) => policy.state(),
        }
    }
}
