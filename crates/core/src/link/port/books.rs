//! The books of a port: what it counts, and what it tells its policies about units that are gone.

use super::Loss;
use super::offer::Exit;
use super::offer::Offer;
use super::offer::Taken;
use super::{Port, Sending};
use crate::buffer::admission::Admission;
use crate::buffer::admission::Departure;
use crate::buffer::admission::Failure;
use crate::buffer::pushout::PushOut;
use crate::link::gate::Gate;
use crate::memory::Leaving;
use crate::metrics::port::Counters;
use crate::metrics::state::Figure;
use crate::scheduler::Scheduler;
use crate::unit::Unit;
use crate::units::Span;
use crate::units::Time;
use crate::units::ids::PortVc;
use crate::verdict::Reason;

impl Port {
    /// Return the counts since the last reset.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Run the clock of the admission policy; returns when it must run again.
    pub fn tick(&mut self, now: Time) -> Option<Time> {
        let wait = if self.arrivals.is_empty() { Span::ZERO } else { self.longest_wait(now) };
        self.admission.tick(now, &self.pool, wait)
    }

    /// The longest wait of the units at the heads of the queues.
    pub(super) fn longest_wait(&self, now: Time) -> Span {
        let heads = self.queues.iter().map(|queue| queue.positions().start).zip(&self.arrivals);
        let waits = heads.filter_map(|(head, times)| Some(now.since(times.oldest(head)?)));
        waits.max().unwrap_or(Span::ZERO)
    }

    /// Reset the counters; units in the buffer count as having just arrived.
    pub fn reset_counters(&mut self, now: Time) {
        let queued: Vec<Unit> = self.units().collect();
        self.counters.reset(now, queued.into_iter(), self.pool.total());
        self.gates.iter_mut().for_each(|gate| gate.reset(now));
        self.share.iter_mut().for_each(|share| share.reset_counters());
    }

    /// Take a sample of the occupancy for its distribution, and one for the admission policy.
    pub fn sample(&mut self) {
        self.sample_level(self.pool.total(), 1);
    }

    /// Add `samples` samples of a level, for an engine that tracks the occupancy itself and found it unchanged.
    pub(crate) fn sample_level(&mut self, level: u64, samples: u64) {
        self.counters.occupancy.sample_many(level, samples);
        if self.counters.rare().state.is_some() {
            let row = self.state();
            let rows = self.counters.rare_mut().state.get_or_insert_default();
            rows.extend((0..samples).map(|_| row.clone()));
        }
        if let Some(meter) = self.counters.meter_mut() {
            for _ in 0..samples {
                let reading = |vc| self.admission.meter(vc).unwrap_or_default();
                meter.extend(self.pool.keys().map(reading));
            }
        }
    }

    /// List the variables of the policies and the gates; of a policy by queues only for queues that exist.
    pub fn state(&self) -> Vec<Figure> {
        let is_known = |figure: &Figure| figure.queue.is_none_or(|queue| queue < self.queues.len());
        let of_pushout = self.pushout.as_ref().map(PushOut::state).unwrap_or_default();
        let policies = self.admission.state().into_iter().chain(self.scheduler.state()).chain(of_pushout);
        policies.filter(is_known).chain(self.gates.iter().flat_map(Gate::state)).collect()
    }

    /// Extend time averages to the end of the run.
    pub fn close_counters(&mut self, now: Time) {
        self.counters.occupancy.change(now, self.pool.total(), self.pool.total());
        self.gates.iter_mut().for_each(|gate| gate.close(now));
    }

    /// The counters, for an engine that keeps some of them itself.
    pub(crate) fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    /// The first decision that one of its policies could not compute.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        let of_pushout = self.pushout.as_ref().and_then(PushOut::failure);
        let all = [self.admission.failure(), self.scheduler.failure(), of_pushout];
        all.into_iter().flatten().min_by_key(|failure| failure.time)
    }

    /// Count a unit that waits or is in transmission without a recorded arrival: an engine that forwards units without
    /// the port reports at the end the units that the port would hold.
    pub(crate) fn restock(&mut self, unit: Unit, vc: PortVc, sending: bool) {
        let size = self.size_of(&unit);
        self.pool.add(vc, size);
        if sending {
            self.sending = Some(Sending { unit, vc, size });
        } else {
            let queue = self.queue_of(&unit, vc);
            self.queues[queue].push(unit);
        }
    }

    pub(super) fn lose(&mut self, unit: Unit, reason: Reason, losses: &mut Vec<Loss>) {
        self.counters.lost(reason);
        losses.push(Loss { unit, reason });
    }

    /// Lose a unit that has been taken out of a queue.
    pub(super) fn give_up(
        &mut self,
        &Taken { now, unit, vc, exit, .. }: &Taken,
        reason: Reason,
        losses: &mut Vec<Loss>,
    ) {
        let size = self.size_of(&unit);
        self.counters.occupancy.change(now, self.pool.total(), self.pool.total() - size);
        self.pool.remove(vc, size);
        self.report_departure(&Offer { now, unit, vc, size }, exit);
        self.counters.gave_up(&unit, reason);
        if reason != Reason::Watchdog {
            self.note_loss(&unit, vc); // those of a watchdog are intended, and no fault of the memory
        }
        losses.push(Loss { unit, reason });
    }

    /// Count the loss of a unit of a circuit at the shared memory, which counts losses by queue.
    pub(super) fn note_loss(&mut self, unit: &Unit, vc: PortVc) {
        if let Some(share) = &mut self.share {
            share.note_loss(unit, vc);
        }
    }

    /// Notify the policies that observe departures of a unit that was sent, or lost after it had been taken in.
    #[inline(never)]
    pub(super) fn report_departure(&mut self, &Offer { now, ref unit, vc, size }: &Offer, exit: Exit) {
        let sent = matches!(exit, Exit::Sent | Exit::Headers { sent: true });
        let accepted = !matches!(exit, Exit::Headers { .. });
        let (queue, position) = match exit {
            Exit::Sent | Exit::Headers { .. } => (None, None),
            Exit::Discarded(queue) => (Some(queue), None),
            Exit::Removed(queue, position) => (Some(queue), Some(position)),
        };
        if let Some(share) = &mut self.share {
            share.release(vc, &Leaving { now, unit, size, sent });
        }
        let of_sent = Departure::of_sent(now, unit, vc, size, &self.pool);
        self.admission.departed(&Departure { queue, position, sent, accepted, ..of_sent });
        if let Some(pushout) = &mut self.pushout {
            pushout.left(vc, &self.pool, sent);
        }
    }

    pub(super) fn note_pushed_out(&mut self, unit: &Unit, vc: PortVc) {
        if let Some(share) = &mut self.share {
            share.note_pushed_out(unit, vc);
        }
    }
}
