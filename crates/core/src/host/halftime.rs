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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_at_the_middle_belongs_to_the_second_half() {
        let mut count = HalfTimeCount { due: Time(5), octets: 0 };
        assert_eq!([4, 5, 6].map(|now| count.is_due(Time(now))), [false, true, true]);
        count.pass(700);
        assert!(!count.is_due(Time(6)));
        count.finish(900);
        assert_eq!(count.octets(), 700);
    }

    #[test]
    fn a_sink_that_nothing_reaches_after_the_middle_counts_at_the_end() {
        let mut count = HalfTimeCount { due: Time(5), octets: 0 };
        count.finish(300);
        assert_eq!(count.octets(), 300);
    }
}
