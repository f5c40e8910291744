//! Occupancy of a buffer: exact mean and maximum over time, and a sampled distribution.

use super::spread::Spread;
use crate::units::{Span, Time};

/// Statistics of an occupancy over the measured time.
#[derive(Clone, Debug)]
pub struct Occupancy {
    since: Time,
    last: Time,
    /// Integral of the level over time, in units times picoseconds; modulo 2¹²⁸, since arrivals recorded ahead of
    /// their time may make it negative for a while.
    area: u128,
    max: u64,
    /// The samples; allocated at the first sample, since most buffers of a large network are never sampled.
    samples: Option<Box<OccupancySamples>>,
}

/// The samples of an occupancy.
#[derive(Clone, Debug, Default)]
struct OccupancySamples {
    shift: u32,
    /// Number of samples in each bin of equal width, up to the highest bin so far.
    bins: Vec<u64>,
    /// The distribution from which percentiles are read, in bins less than 1 % wide.
    spread: Spread,
    /// Every sample in order, if the scenario records samples.
    trace: Option<Vec<u64>>,
}

impl Occupancy {
    /// Build statistics that start at time zero with an empty buffer.
    pub fn new() -> Occupancy {
        Occupancy { since: Time::ZERO, last: Time::ZERO, area: 0, max: 0, samples: None }
    }

    /// Store every sample from now on.
    pub fn keep_trace(&mut self) {
        self.samples.get_or_insert_default().trace.get_or_insert_default();
    }

    /// Return every sample since the last reset, if samples are stored.
    pub fn trace(&self) -> Option<&[u64]> {
        self.samples.as_ref()?.trace.as_deref()
    }

    /// Restart the statistics at `now`, with `level` in the buffer.
    pub fn reset(&mut self, now: Time, level: u64) {
        let is_traced = self.trace().is_some();
        *self = Occupancy { since: now, last: now, max: level, ..Occupancy::new() };
        if is_traced {
            self.keep_trace();
        }
    }

    /// Record that the occupancy changes at `now` from `before` to `after`.
    #[inline]
    pub fn change(&mut self, now: Time, before: u64, after: u64) {
        self.fall(now, before);
        self.max = self.max.max(after);
    }

    /// Record that the occupancy falls at `now` from `before` to its present value.
    #[inline]
    pub(crate) fn fall(&mut self, now: Time, before: u64) {
        let area = u128::from(before) * u128::from(now.since(self.last).0);
        self.area = self.area.wrapping_add(area);
        self.last = now;
    }

    /// Add to the integral `units` units that arrive one by one, at instants whose sum is `instants`; the level is
    /// raised from `now` on. The maximum does not change.
    pub(crate) fn rise(&mut self, now: Time, level: u64, units: u64, instants: u128) {
        self.fall(now, level);
        let missing = instants - u128::from(units) * u128::from(now.0);
        self.area = self.area.wrapping_sub(missing);
    }

    /// Lower the level by `units` units that leave one by one, at instants whose sum is `instants`; other changes may
    /// be recorded in any order.
    pub(crate) fn drain(&mut self, units: u64, instants: u128) {
        let counted = u128::from(units) * u128::from(self.last.0);
        self.area = self.area.wrapping_add(instants).wrapping_sub(counted);
    }

    /// Set the integral of the level up to `now`, in units times picoseconds, and the maximum, which the caller has
    /// computed.
    pub(crate) fn settle(&mut self, now: Time, area: u128, max: u64) {
        (self.last, self.area, self.max) = (now, area, max);
    }

    /// Take over mean and maximum of a level that has changed in the same way; samples stay.
    pub(crate) fn follow(&mut self, other: &Occupancy) {
        (self.since, self.last, self.area, self.max) = (other.since, other.last, other.area, other.max);
    }

    /// Add a sample of this level.
    pub fn sample(&mut self, level: u64) {
        self.sample_many(level, 1);
    }

    /// Add `samples` consecutive samples of a level.
    pub(crate) fn sample_many(&mut self, level: u64, samples: u64) {
        self.samples.get_or_insert_default().add(level, samples);
    }

    /// Return the time average over the measured time; 0 if no time has passed.
    pub fn mean(&self) -> f64 {
        let span = self.last.since(self.since);
        if span == Span::ZERO { 0.0 } else { self.area as f64 / span.0 as f64 }
    }

    /// Return the largest level so far.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Return the width of a bin, and the share of samples in each bin up to the last one that is not empty.
    pub fn distribution(&self) -> (u64, Vec<f64>) {
        let Some(OccupancySamples { shift, bins, .. }) = self.samples.as_deref() else {
            return (1, Vec::new());
        };
        let total: u64 = bins.iter().sum();
        (1 << shift, bins.iter().map(|&count| count as f64 / total as f64).collect())
    }

    /// Return the distribution of the samples, if there are any.
    pub fn spread(&self) -> Option<&Spread> {
        self.samples.as_ref().map(|samples| &samples.spread)
    }
}

impl OccupancySamples {
    /// Add `samples` consecutive samples of a level.
    fn add(&mut self, level: u64, samples: u64) {
        while level >> self.shift >= BINS as u64 {
            self.widen();
        }
        let bin = (level >> self.shift) as usize;
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += samples;
        self.spread.add(level, samples);
        if let Some(trace) = &mut self.trace {
            trace.extend(std::iter::repeat_n(level, samples as usize));
        }
    }

    /// Double the width of the bins.
    fn widen(&mut self) {
        self.bins = self.bins.chunks(2).map(|pair| pair.iter().sum()).collect();
        self.shift += 1;
    }
}

impl Default for Occupancy {
    fn default() -> Self {
        Occupancy::new()
    }
}

/// Largest number of bins of the distribution.
const BINS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_weighs_every_level_by_the_time_spent_there() {
        let mut occupancy = Occupancy::new();
        occupancy.change(Time(10), 0, 4);
        occupancy.change(Time(20), 4, 1);
        occupancy.change(Time(40), 1, 1);
        assert_eq!(occupancy.mean(), (4.0 * 10.0 + 20.0) / 40.0);
        assert_eq!(occupancy.max(), 4);
    }

    #[test]
    fn what_comes_and_goes_one_by_one_may_be_entered_at_once_and_in_any_order() {
        let (mut one, mut many) = (Occupancy::new(), Occupancy::new());
        let steps = [(10, 0, 1), (14, 1, 2), (20, 2, 3), (21, 3, 2), (27, 2, 1), (33, 1, 0)];
        steps.iter().for_each(|&(now, before, after)| one.change(Time(now), before, after));
        many.rise(Time(10), 0, 3, 10 + 14 + 20);
        many.rise(Time(22), 3, 0, 0);
        many.drain(2, 21 + 27);
        many.fall(Time(33), 1);
        assert_eq!(many.mean(), one.mean());
    }

    #[test]
    fn what_happened_before_a_reset_does_not_count() {
        let mut occupancy = Occupancy::new();
        occupancy.change(Time(10), 0, 100);
        occupancy.change(Time(20), 100, 2);
        occupancy.reset(Time(20), 2);
        occupancy.change(Time(30), 2, 2);
        assert_eq!((occupancy.mean(), occupancy.max()), (2.0, 2));
    }

    #[test]
    fn samples_are_kept_in_order_only_if_the_scenario_records_them() {
        let mut occupancy = Occupancy::new();
        occupancy.sample(1);
        assert_eq!(occupancy.trace(), None);
        occupancy.keep_trace();
        [7, 5].into_iter().for_each(|level| occupancy.sample(level));
        assert_eq!(occupancy.trace(), Some(&[7, 5][..]));
        occupancy.reset(Time(9), 3);
        occupancy.sample(3);
        assert_eq!(occupancy.trace(), Some(&[3][..]), "what came before a reset does not count");
    }

    #[test]
    fn bins_widen_until_everything_fits() {
        let mut occupancy = Occupancy::new();
        [1000, 1000, 1000, 0].into_iter().for_each(|level| occupancy.sample(level));
        let (width, shares) = occupancy.distribution();
        assert_eq!((width, shares.len(), shares[0], shares[250]), (4, 251, 0.25, 0.75));
    }

    #[test]
    fn what_was_sampled_before_bins_widened_is_where_it_would_be_otherwise() {
        let levels = [0, 1, 2, 3, 4, 100, 129, 200, 255, 300, 600, 1100];
        let (mut widened, mut wide) = (Occupancy::new(), Occupancy::new());
        levels.iter().for_each(|&level| widened.sample(level));
        levels.iter().rev().for_each(|&level| wide.sample(level));
        assert_eq!(widened.distribution(), wide.distribution());
        assert_eq!(wide.distribution().0, 8);
    }
}
