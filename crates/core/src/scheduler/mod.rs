//! Scheduling: which queue the line serves next.

pub mod fifo;

pub mod round_robin;

pub mod wrr_mcr;

pub mod strict_priority;

mod ring;

use crate::buffer::admission::Context;
use crate::units::Time;
use crate::{dispatch, variants};

variants! {
    /// A scheduler as a scenario asks for it.
    "scheduler" by "policy" {
        Fifo = "fifo" in fifo,
        RoundRobin = "round-robin" in round_robin,
        WrrMcr = "wrr-mcr" in wrr_mcr at "wrr_mcr/mod.rs",
        StrictPriority = "strict-priority" in strict_priority,
    }
}

dispatch! {
    Scheduler for {
        Fifo = fifo,
        RoundRobin = round_robin,
        WrrMcr = wrr_mcr,
        StrictPriority = strict_priority,
    }

    fn joined(&mut self, queue: usize);
    fn left(&mut self, queue: usize, empty: bool);
    fn next(&mut self, now: Time, may_send: &mut dyn FnMut(usize) -> bool) -> Option<usize>;
    fn turn(&mut self, now: Time) -> Option<usize>;
    fn turns(&mut self, now: Time, slot: &mut dyn FnMut(usize) -> Option<Time>);
    fn goes_round(&mut self) -> bool;
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

    /// The queue to serve now among those with something to send; `may_send` says whether credits allow it. The answer
    /// is a promise: the unit at the head of that queue leaves it, and turns and credits are counted on that.
    fn next(&mut self, now: Time, may_send: &mut dyn FnMut(usize) -> bool) -> Option<usize>;

    /// The same where everybody may send.
    fn turn(&mut self, now: Time) -> Option<usize> {
        self.next(now, &mut |_| true)
    }

    /// The same for slots that follow each other, the first of them `now`: every queue that is served holds something more,
    /// and `slot` answers when the next slot is, unless that was the last one.
    #[inline]
    fn turns(&mut self, now: Time, slot: &mut dyn FnMut(usize) -> Option<Time>) {
        let mut next = Some(now);
        while let Some(now) = next
            && let Some(queue) = self.turn(now)
        {
            next = slot(queue);
        }
    }

    /// Whether it serves every queue that holds something once, where everybody may send, before it serves any again.
    fn goes_round(&mut self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::admission::Contract;
    use crate::units::Rate;

    /// A scheduler driven by hand: units join, the queues served come out.
    pub(super) struct Bench<P> {
        pub(super) policy: P,
        pub(super) lengths: Vec<u32>,
        pub(super) blocked: Vec<usize>,
        pub(super) now: Time,
    }

    impl<P: Scheduler> Bench<P> {
        pub(super) fn new(
            context: &Context<'_>,
            build: impl Fn(&Context<'_>) -> Result<P, String>,
        ) -> Bench<P> {
            let (policy, lengths) = (build(context).unwrap(), vec![0; context.vcs()]);
            Bench { policy, lengths, blocked: Vec::new(), now: Time::ZERO }
        }

        /// A unit joins each of these queues.
        pub(super) fn join(&mut self, queues: &[usize]) {
            for &queue in queues {
                self.lengths[queue] += 1;
                self.policy.joined(queue);
            }
        }

        /// Serve up to so many units, all at the present instant; answers their queues.
        pub(super) fn serve(&mut self, units: usize) -> Vec<usize> {
            (0..units).map_while(|_| self.serve_one()).collect()
        }

        pub(super) fn serve_one(&mut self) -> Option<usize> {
            let queue = self.policy.next(self.now, &mut |queue| !self.blocked.contains(&queue))?;
            self.push_out(queue);
            Some(queue)
        }

        /// A unit leaves without being served.
        pub(super) fn push_out(&mut self, queue: usize) {
            self.lengths[queue] -= 1;
            self.policy.left(queue, self.lengths[queue] == 0);
        }
    }

    /// Contracts with these minimum cell rates, in kilobits per second, and frames of 2048 octets.
    pub(super) fn contracts(mcr: &[u64]) -> Vec<Contract> {
        let plain =
            Contract { frame: 44, octets: 44 * 53, payload: 2048, ..Context::alone(1, 1).contracts[0] };
        mcr.iter().map(|kbps| Contract { mcr: Rate(kbps * 1000), ..plain }).collect()
    }
}
