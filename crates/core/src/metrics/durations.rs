//! Durations: exact mean and deviation, and percentiles if the scenario requests them.

use super::spread::Spread;
use crate::units::{PS_PER_S, Span};

/// Durations of one kind, such as the delivery times of a flow or the waits at a port. Sums are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    /// Durations measured.
    pub count: u64,
    /// Their sum, in ps.
    sum: u128,
    /// Sum of their squares, in ps².
    squares: u128,
    /// Their distribution, in ps, if the scenario requests percentiles.
    spread: Option<Box<Spread>>,
}

impl Durations {
    /// Build an empty record, with percentiles or without.
    pub fn new(percentiles: bool) -> Durations {
        Durations { spread: percentiles.then(Box::default), ..Durations::default() }
    }

    /// Return an empty record that also measures percentiles if this one does.
    pub fn fresh(&self) -> Durations {
        Durations::new(self.spread.is_some())
    }

    /// Add a duration.
    #[inline]
    pub fn add(&mut self, time: Span) {
        self.count += 1;
        self.sum += u128::from(time.0);
        self.squares += u128::from(time.0) * u128::from(time.0);
        if let Some(spread) = &mut self.spread {
            spread.add(time.0, 1);
        }
    }

    /// Add durations.
    pub(crate) fn add_all(&mut self, times: impl ExactSizeIterator<Item = Span> + Clone) {
        if let Some(spread) = &mut self.spread {
            times.clone().for_each(|time| spread.add(time.0, 1));
        }
        self.count += times.len() as u64;
        let (mut sum, mut squares) = (0, 0);
        for Span(time) in times {
            sum += u128::from(time);
            squares += u128::from(time) * u128::from(time);
        }
        self.sum += sum;
        self.squares += squares;
    }

    /// Add the durations of another record.
    pub fn merge(&mut self, other: &Durations) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
        if let (Some(spread), Some(other)) = (&mut self.spread, &other.spread) {
            spread.merge(other);
        }
    }

    /// Return the mean in seconds; `None` without a measurement.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / PS_PER_S as f64)
    }

    /// Return the standard deviation in seconds; `None` without a measurement.
    pub fn sd_s(&self) -> Option<f64> {
        let n = u128::from(self.count);
        // Σx² − (Σx)²/n, the square split so that it cannot overflow
        let (mean, rest) = (self.sum.checked_div(n)?, self.sum % n.max(1));
        let spread = self.squares - (mean * (self.sum + rest) + rest * rest / n);
        Some((spread as f64 / self.count as f64).sqrt() / PS_PER_S as f64)
    }

    /// Return the distribution, in ps, if the scenario requests percentiles.
    pub fn spread(&self) -> Option<&Spread> {
        self.spread.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_are_those_of_the_packets_since_the_last_reset() {
        let mut times = Durations::default();
        assert_eq!((times.mean_s(), times.sd_s()), (None, None));
        times.add(Span::secs(100));
        times = times.fresh();
        [2, 4, 4, 4, 5, 5, 7, 9].iter().for_each(|s| times.add(Span::secs(*s)));
        assert_eq!(times.count, 8);
        assert_eq!(times.mean_s(), Some(5.0));
        assert_eq!(times.sd_s(), Some(2.0));
        assert_eq!(times.spread(), None, "it is not measured");
    }

    #[test]
    fn durations_that_are_added_together_count_as_if_one_by_one() {
        for percentiles in [false, true] {
            let (mut together, mut single) = (Durations::new(percentiles), Durations::new(percentiles));
            let times = [7, 9, 40, u64::MAX / 2].map(Span);
            together.add_all(times[..1].iter().copied());
            together.add_all(times[1..].iter().copied());
            times.into_iter().for_each(|time| single.add(time));
            assert_eq!(together, single);
        }
    }

    #[test]
    fn the_deviation_is_exact_where_floating_point_sums_would_cancel() {
        let mut times = Durations::default();
        for i in 0..1000 {
            times.add(Span(Span::secs(1000).0 + i % 2 * 2));
        }
        assert!((times.sd_s().unwrap() - 1e-12).abs() < 1e-18);
    }

    #[test]
    fn what_begins_anew_remembers_neither_percentile_nor_maximum() {
        let mut times = Durations::new(true);
        times.add(Span::secs(9));
        times = times.fresh();
        times.add(Span::secs(2));
        let spread = times.spread().unwrap();
        assert_eq!((spread.percentile(99), spread.max()), (Some(Span::secs(2).0), Some(Span::secs(2).0)));
    }
}
