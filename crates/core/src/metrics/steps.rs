//! A count over time, stored at fixed steps, and throughput in moving windows from octets: figures 21 and 22 of paper
//! 002.
//!
//! The count at a step excludes events at the instant of the step, as samples of the occupancy do. The flow records
//! every change when it happens, so engines need not stop at the steps.

use crate::units::{Span, Time};

/// Values of a count or of a state, one for each step since the last reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepSeries<T = u64> {
    step: Span,
    /// Time of the next step.
    next: Time,
    total: T,
    counts: Vec<T>,
}

impl<T: Clone + Default> StepSeries<T> {
    /// Build a series that starts at time zero.
    pub fn new(step: Span) -> StepSeries<T> {
        assert!(step > Span::ZERO, "steps take time");
        StepSeries { step, next: Time::ZERO, total: T::default(), counts: Vec::new() }
    }

    /// Set the total from `now` on.
    pub fn record(&mut self, now: Time, total: T) {
        self.catch_up(now);
        self.total = total;
    }

    /// Restart at `now` with this total.
    pub fn reset(&mut self, now: Time, total: T) {
        *self = StepSeries { next: now, total, ..StepSeries::new(self.step) };
    }

    /// Restart at `now`; the total has not changed since its last record.
    pub fn restart(&mut self, now: Time) {
        self.reset(now, self.total.clone());
    }

    /// Store the counts of all steps up to `now`.
    pub fn catch_up(&mut self, now: Time) {
        while self.next <= now {
            self.counts.push(self.total.clone());
            self.next += self.step;
        }
    }

    /// Return the count at each step.
    pub fn counts(&self) -> &[T] {
        &self.counts
    }
}

impl StepSeries {
    /// Return the throughput in bits per second in the `window`, a multiple of the step, that begins at each step.
    pub fn throughput(&self, window: Span) -> Vec<f64> {
        let steps = (window.0 / self.step.0) as usize;
        let rate = |first: u64, last: u64| (last - first) as f64 * 8.0 / window.as_secs_f64();
        self.counts.iter().zip(self.counts.iter().skip(steps)).map(|(&a, &b)| rate(a, b)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Span = Span::secs(1);

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::secs(seconds)
    }

    #[test]
    fn a_window_holds_what_comes_from_its_start_to_before_its_end() {
        let mut octets = StepSeries::new(SECOND);
        octets.record(at(1), 1000); // in the windows that begin at 1 s, not in that which ends there
        octets.record(Time(at(2).0 + 1), 3000);
        octets.catch_up(at(4));
        assert_eq!(octets.throughput(SECOND), [0.0, 8000.0, 16_000.0, 0.0]);
        assert_eq!(octets.throughput(Span::secs(2)), [4000.0, 12_000.0, 8000.0]);
        assert_eq!(octets.throughput(Span::secs(5)), [0.0; 0]);
    }

    #[test]
    fn what_came_before_a_reset_does_not_count() {
        let mut octets = StepSeries::new(SECOND);
        octets.record(at(1), 500);
        octets.reset(at(3), 700);
        octets.record(at(3), 1700);
        octets.catch_up(at(5));
        assert_eq!(octets.throughput(SECOND), [8000.0, 0.0]);
    }
}
