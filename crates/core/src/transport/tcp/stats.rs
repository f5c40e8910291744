//! What the two ends count; counts of a warm-up are taken away with `since`.

use crate::units::{PS_PER_S, Span};

/// What a sender has counted since it was made, over all its connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct SenderStats {
    /// Segments with data that were sent, again or for the first time; a SYN is not counted.
    pub segments_sent: u64,
    /// Those of them whose first octet had been sent before.
    pub segments_retransmitted: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// Fast retransmissions, each of which starts a fast recovery.
    pub fast_retransmits: u64,
    /// Segments sent by the persist timer because the window was closed or too small.
    pub window_probes: u64,
    /// Delivery times of the timed segments.
    pub delivery_time: DeliveryTime,
}

impl SenderStats {
    /// What was counted after `earlier`, a copy of the same statistics.
    pub fn since(&self, earlier: &SenderStats) -> SenderStats {
        SenderStats {
            segments_sent: self.segments_sent - earlier.segments_sent,
            segments_retransmitted: self.segments_retransmitted - earlier.segments_retransmitted,
            timeouts: self.timeouts - earlier.timeouts,
            fast_retransmits: self.fast_retransmits - earlier.fast_retransmits,
            window_probes: self.window_probes - earlier.window_probes,
            delivery_time: self.delivery_time.since(&earlier.delivery_time),
        }
    }
}

/// Packet delivery time: from the first transmission of a timed segment to the ACK that covers it, its
/// retransmissions included (Kalampoukas and Varma 1995, section 4.4). Sums are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryTime {
    /// Segments measured.
    pub count: u64,
    /// Sum of their times, in ps.
    sum: u128,
    /// Sum of the squares, in ps².
    squares: u128,
}

impl DeliveryTime {
    /// One more segment.
    pub fn add(&mut self, time: Span) {
        self.count += 1;
        self.sum += u128::from(time.0);
        self.squares += u128::from(time.0) * u128::from(time.0);
    }

    /// What was added after `earlier`.
    pub fn since(&self, earlier: &DeliveryTime) -> DeliveryTime {
        DeliveryTime {
            count: self.count - earlier.count,
            sum: self.sum - earlier.sum,
            squares: self.squares - earlier.squares,
        }
    }

    /// Mean in seconds; `None` without a measurement.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / PS_PER_S as f64)
    }

    /// Standard deviation in seconds, of the segments measured; `None` without a measurement.
    pub fn sd_s(&self) -> Option<f64> {
        let n = u128::from(self.count);
        // Σx² − (Σx)²/n, the square split so that it cannot overflow
        let (mean, rest) = (self.sum.checked_div(n)?, self.sum % n.max(1));
        let spread = self.squares - (mean * (self.sum + rest) + rest * rest / n);
        Some((spread as f64 / self.count as f64).sqrt() / PS_PER_S as f64)
    }
}

/// What a receiver has counted since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Segments with data that arrived.
    pub segments: u64,
    /// Those of them that did not continue the data in order.
    pub out_of_order: u64,
    /// Octets that arrived more than once.
    pub duplicate_bytes: u64,
    /// ACKs sent, SYN-ACKs included.
    pub acks: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_of_delivery_times() {
        let mut times = DeliveryTime::default();
        assert_eq!((times.mean_s(), times.sd_s()), (None, None));
        times.add(Span::secs(100));
        let warm = times;
        [2, 4, 4, 4, 5, 5, 7, 9].iter().for_each(|s| times.add(Span::secs(*s)));
        let times = times.since(&warm);
        assert_eq!(times.count, 8);
        assert_eq!(times.mean_s(), Some(5.0));
        assert_eq!(times.sd_s(), Some(2.0));
    }

    #[test]
    fn the_deviation_is_exact_where_floating_point_sums_would_cancel() {
        let mut times = DeliveryTime::default();
        for i in 0..1000 {
            times.add(Span(Span::secs(1000).0 + i % 2 * 2));
        }
        assert!((times.sd_s().unwrap() - 1e-12).abs() < 1e-18);
    }
}
