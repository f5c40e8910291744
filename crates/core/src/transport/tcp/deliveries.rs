//! Delivery times of the segments of a sender: from the first sending of a segment until the receiver has passed its last octet
//! to the application.

use std::collections::VecDeque;

use crate::metrics::durations::Durations;
use crate::units::Time;

/// Without percentiles, every 13th segment is counted, since counting every one costs 5 % more instructions. Unlike
/// the segments that are timed for the round trip, these are a fair sample of lost segments. A prime number avoids
/// coincidence with the period of bursts.
const STRIDE: u32 = 13;

/// The counted segments that the receiver has not passed to the application yet, and the delivery times of those that
/// it has. New data is sent in order, so one entry per segment suffices, even if the segment is sent again; there are
/// at most as many entries as segments fit into a window.
#[derive(Clone, Debug)]
pub(super) struct Deliveries {
    /// Number of new segments up to and including the next counted one; every `stride`-th is counted.
    left: u32,
    stride: u32,
    /// The octet after the first segment of `awaited`; [`u64::MAX`] if `awaited` is empty.
    first_end: u64,
    /// The octet after each segment, and the first sending of its last octet.
    awaited: VecDeque<(u64, Time)>,
    times: Durations,
}

impl Default for Deliveries {
    fn default() -> Deliveries {
        let times = Durations::default();
        Deliveries { left: 1, stride: STRIDE, first_end: u64::MAX, awaited: VecDeque::new(), times }
    }
}

impl Deliveries {
    /// Record that a segment of new data up to `end` is sent for the first time, if its turn to be counted has come.
    #[inline(always)] // every segment passes here, few are stored
    pub(super) fn sent(&mut self, end: u64, now: Time) {
        self.left -= 1;
        if self.left == 0 {
            self.store(end, now);
        }
    }

    #[inline(never)]
    fn store(&mut self, end: u64, now: Time) {
        self.left = self.stride;
        self.first_end = self.first_end.min(end);
        self.awaited.push_back((end, now));
    }

    /// Count the segments that end at or before `next`, the octet that the receiver expects at `now`.
    #[inline(always)] // every segment passes here, few are counted
    pub(super) fn delivered(&mut self, next: u64, now: Time) {
        if self.first_end <= next {
            self.count(next, now);
        }
    }

    #[inline(never)]
    fn count(&mut self, next: u64, now: Time) {
        while let Some(&(_, since)) = self.awaited.front().filter(|(end, _)| *end <= next) {
            self.awaited.pop_front();
            self.times.add(now.since(since));
        }
        self.first_end = self.awaited.front().map_or(u64::MAX, |(end, _)| *end);
    }

    pub(super) fn times(&self) -> &Durations {
        &self.times
    }

    /// Begin to collect delivery times in `times`: of every new segment if `times` has percentiles, otherwise of
    /// one in `STRIDE`. Segments already being followed still count when they are delivered.
    pub(super) fn record(&mut self, times: Durations) {
        self.stride = if times.spread().is_some() { 1 } else { STRIDE };
        self.times = times;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    #[test]
    fn each_segment_counts_from_its_first_sending_to_its_delivery_in_order() {
        let at = |ms| Time::ZERO + Span::millis(ms);
        let mut deliveries = Deliveries::default();
        deliveries.record(Durations::new(true));
        [(1000, 0), (2000, 0), (2500, 30)].iter().for_each(|&(end, ms)| deliveries.sent(end, at(ms)));
        deliveries.delivered(999, at(10));
        assert_eq!(deliveries.times().count, 0, "half a segment is not delivered");
        deliveries.delivered(1000, at(20));
        deliveries.delivered(2500, at(50)); // a hole is filled
        assert_eq!(deliveries.times().count, 3);
        assert_eq!(deliveries.times().mean_s(), Some(0.030), "20, 50 and 20 ms");
        deliveries.delivered(2500, at(60));
        assert_eq!(deliveries.times().count, 3, "data that arrives again");
    }

    #[test]
    fn without_percentiles_the_first_of_thirteen_segments_counts() {
        let mut deliveries = Deliveries::default();
        (1..=27).for_each(|segment| deliveries.sent(1000 * segment, Time(segment)));
        deliveries.delivered(14_000, Time(100));
        assert_eq!(
            (deliveries.times().count, deliveries.awaited.len()),
            (2, 1),
            "1 and 14, and 27 is under way"
        );
        deliveries.delivered(27_000, Time(100));
        assert_eq!((deliveries.times().count, deliveries.first_end), (3, u64::MAX));
    }
}
