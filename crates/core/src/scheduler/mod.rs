//! Scheduling: which queue the line serves next.

pub mod fifo;

use crate::buffer::admission::Context;
use crate::units::Time;
use crate::{dispatch, variants};

variants! {
    /// A scheduler as a scenario asks for it.
    "scheduler" by "policy" {
        Fifo = "fifo" in fifo,
    }
}

dispatch! {
    Scheduler for { Fifo = fifo }

    fn joined(&mut self, queue: usize);
    fn left(&mut self, queue: usize, empty: bool);
    fn next(&mut self, now: Time, may_send: &mut dyn FnMut(usize) -> bool) -> Option<usize>;
}

impl Spec {
    /// Whether all circuits share one queue; otherwise each has its own.
    pub fn shares_one_queue(&self) -> bool {
        matches!(self, Spec::Fifo(_))
    }
}

/// What a scheduler is told and asked. With a shared queue the only queue is 0; otherwise queue `i` is circuit `i`.
pub trait Scheduler {
    /// A unit has joined this queue.
    fn joined(&mut self, queue: usize);

    /// A unit has left this queue, sent or pushed out; `empty` if it was the last one.
    fn left(&mut self, queue: usize, empty: bool);

    /// The queue to serve now among those with something to send; `may_send` says whether credits allow it.
    fn next(&mut self, now: Time, may_send: &mut dyn FnMut(usize) -> bool) -> Option<usize>;
}
