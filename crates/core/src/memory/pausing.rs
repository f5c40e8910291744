//! The pauses of a memory: its stopped senders, and the signals for them.

use super::pause::{Signal, Stopped};
use super::{Memory, SharedQueue};
use crate::units::Time;

impl Memory {
    /// Return whether the memory can stop senders.
    pub(crate) fn is_pausing(&self) -> bool {
        self.queues.iter().any(|queue| queue.limits.pause.is_some())
    }

    /// Return whether no sender is stopped, and none is to be told anything.
    pub(crate) fn lets_all_send(&self) -> bool {
        self.stopped.is_empty() && self.signals.is_empty()
    }

    /// Stop the sender of a queue, unless it has been stopped or its class has no pauses.
    pub(super) fn stop(&mut self, now: Time, queue: usize) {
        let SharedQueue { limits, refresh, .. } = self.queues[queue];
        if limits.pause.is_some() && !self.is_stopped(queue) {
            self.stopped.push(Stopped { queue, repeat: now + refresh });
            self.signal(queue, true);
        }
    }

    /// Permit senders to send again whose queues have become short enough.
    pub(super) fn let_go_on(&mut self) {
        let mut stopped = std::mem::take(&mut self.stopped);
        stopped.retain(|&Stopped { queue, .. }| {
            let goes_on = self.queues[queue].lets_go_on(|| self.threshold(queue));
            if goes_on {
                self.signal(queue, false);
            }
            !goes_on
        });
        self.stopped = stopped;
    }

    /// Repeat the pauses that are due by now; returns when the next one is due.
    pub(crate) fn repeat_pauses(&mut self, now: Time) -> Option<Time> {
        for index in 0..self.stopped.len() {
            let Stopped { queue, repeat } = self.stopped[index];
            if repeat <= now {
                self.stopped[index].repeat = now + self.queues[queue].refresh;
                self.signal(queue, true);
            }
        }
        self.stopped.iter().map(|stopped| stopped.repeat).min()
    }

    /// Return whether the sender of a queue is stopped.
    pub(crate) fn is_stopped(&self, queue: usize) -> bool {
        self.stopped.iter().any(|stopped| stopped.queue == queue)
    }

    /// Return whether there are signals for senders.
    #[inline]
    pub(crate) fn has_signals(&self) -> bool {
        !self.signals.is_empty()
    }

    /// Remove and return the signals for senders.
    pub(crate) fn take_signals(&mut self) -> Vec<Signal> {
        std::mem::take(&mut self.signals)
    }

    fn signal(&mut self, queue: usize, stops: bool) {
        let of = &self.queues[queue];
        if let Some(pause) = of.limits.pause {
            self.signals.push(Signal { line: of.line, class: pause.class, stops });
        }
    }
}
