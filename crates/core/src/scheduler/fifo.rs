//! # Source
//! The discipline of papers 000 (section 3), 001 (section 3), 002 (section III) and 004 (section 5.1).
//!
//! # Idea
//! Units leave in the order in which they were taken, whatever their circuit.
//!
//! # Parameters
//! None.
//!
//! # Differences from the paper
//! None.
//!
//! # Complexity
//! Constant.

use super::{Context, Queues, Scheduler};
use crate::refused::Refused;
use crate::section;
use crate::units::Time;
use crate::units::ids::QueueId;

section! {
    /// First come, first served.
    pub struct Params {}
}

/// How this scheduler divides units into queues.
pub const QUEUES: Queues = Queues::One;

/// Whether this scheduler counts octets.
pub const COUNTS_OCTETS: bool = false;

/// Number of the only queue.
const ONLY: QueueId = QueueId(0);

/// FIFO service at one port: the only state is the number of waiting units.
#[derive(Clone, Debug)]
pub struct Policy {
    waiting: usize,
}

impl Policy {
    /// Build the scheduler of one port.
    pub fn new(_: &Params, _: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy { waiting: 0 })
    }
}

impl Scheduler for Policy {
    fn joined(&mut self, _: QueueId) {
        self.waiting += 1;
    }

    fn left(&mut self, _: QueueId, _: bool) {
        self.waiting -= 1;
    }

    fn next(&mut self, _: Time, may_send: &mut dyn FnMut(QueueId) -> bool) -> Option<QueueId> {
        (self.waiting > 0 && may_send(ONLY)).then_some(ONLY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_queue_is_served_as_long_as_something_waits() {
        let mut fifo = Policy::new(&Params {}, &Context::alone(10, 2)).unwrap();
        assert_eq!(fifo.next(Time::ZERO, &mut |_| true), None);
        fifo.joined(QueueId(0));
        assert_eq!(fifo.next(Time::ZERO, &mut |_| true), Some(ONLY));
        assert_eq!(fifo.next(Time::ZERO, &mut |_| false), None);
        fifo.left(QueueId(0), true);
        assert_eq!(fifo.next(Time::ZERO, &mut |_| true), None);
    }
}
