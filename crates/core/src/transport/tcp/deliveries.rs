//! Delivery times of the segments of a sender: from the first sending of a segment until the receiver has passed its last octet
//! to the application.

use std::collections::VecDeque;

use crate::metrics::delivery::DeliveryTime;
use crate::units::Time;

/// The segments under way to the application, and the times of those that it has. New data is sent in order, so one entry a
/// segment suffices, however often the segment is sent again: no more entries than segments fit into a window.
#[derive(Clone, Debug, Default)]
pub(super) struct Deliveries {
    /// The octet after each segment, and when its last octet left first.
    awaited: VecDeque<(u64, Time)>,
    times: DeliveryTime,
}

impl Deliveries {
    /// Store that new data up to `end` leaves for the first time.
    #[inline]
    pub(super) fn sent(&mut self, end: u64, now: Time) {
        self.awaited.push_back((end, now));
    }

    /// Count the segments that end at or before `next`, the octet that the receiver expects at `now`.
    #[inline]
    pub(super) fn delivered(&mut self, next: u64, now: Time) {
        while let Some(&(_, since)) = self.awaited.front().filter(|(end, _)| *end <= next) {
            self.awaited.pop_front();
            self.times.add(now.since(since));
        }
    }

    pub(super) fn times(&self) -> &DeliveryTime {
        &self.times
    }

    /// Count into `times` from now on; segments under way stay.
    pub(super) fn record(&mut self, times: DeliveryTime) {
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
}
