//! The octets of a sink at half of the measured time, from which the drift of a run's goodput follows.
//!
//! Ends of flows have their own local time, so the sink takes this count itself, just before the first arrival at or
//! after the middle of the measured time. Engines need not stop at the middle.

use crate::scenario::model::Scenario;
use crate::units::{Span, Time};

/// The middle of the measured time, and the octets that the sink has received by then.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfTimeCount {
    /// The middle of the measured time; `Time::NEVER` once the count is taken.
    due: Time,
    octets: u64,
}

impl HalfTimeCount {
    /// Prepare the count, before the middle.
    pub(super) fn of(scenario: &Scenario) -> HalfTimeCount {
        let measured = scenario.duration - scenario.warmup;
        HalfTimeCount { due: Time::ZERO + scenario.warmup + Span(measured.0.div_ceil(2)), octets: 0 }
    }

    /// Return whether the count is due at `now`.
    #[inline(always)] // called for every arrival
    pub(super) fn is_due(&self, now: Time) -> bool {
        now >= self.due
    }

    /// Record the octets received by half-time.
    #[cold]
    pub(super) fn pass(&mut self, octets: u64) {
        *self = HalfTimeCount { due: Time::NEVER, octets };
    }

    /// Record the octets at the end of the run, if nothing reached the sink after the middle.
    pub(super) fn finish(&mut self, octets: u64) {
        if self.due < Time::NEVER {
            self.pass(octets);
        }
    }

    /// Return the octets that the sink had received at half-time.
    pub(super) fn octets(&self) -> u64 {
        self.octets
    }
}
