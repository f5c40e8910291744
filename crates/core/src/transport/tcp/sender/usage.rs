//! How much of its window a sender uses, which says whether the application limits the flow.

use crate::units::{Span, Time};

/// Use of the window by the data in flight, over a round trip (like `tcp_cwnd_validate` of Linux).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Whether the window, and not the application, limited the flow.
    pub(super) is_full: bool,
    /// Greatest number of octets in flight.
    pub(super) most: u64,
    /// The octet whose acknowledgement begins the next round trip.
    end: u64,
    /// Time since which the application has limited the flow, and the greatest number of octets in flight since then.
    limited_since: Time,
    used: u64,
}

impl Usage {
    /// Record `flight` octets in flight, and whether the window is full. `unacknowledged` is the first octet that is
    /// not acknowledged, `sent` the octet after the last one sent.
    pub(super) fn note(&mut self, flight: u64, is_full: bool, unacknowledged: u64, sent: u64) {
        if unacknowledged >= self.end || is_full || (!self.is_full && flight > self.most) {
            (self.is_full, self.most, self.end) = (is_full, flight, sent);
        }
    }

    /// Return what has been in flight at most, if the application has limited the flow for a timeout `rto` (`tcp_cwnd_validate` of
    /// Linux).
    pub(super) fn unused(&mut self, now: Time, rto: Span, flight: u64, is_full: bool) -> Option<u64> {
        self.used = if is_full { 0 } else { self.used.max(flight) };
        self.limited_since = if is_full { now } else { self.limited_since };
        let is_due = now.since(self.limited_since) >= rto;
        is_due.then(|| {
            self.limited_since = now;
            std::mem::take(&mut self.used)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_in_flight_at_most_counts_after_a_timeout_without_a_full_window() {
        let (mut usage, rto) = (Usage::default(), Span::millis(200));
        let mut at = |ms: u64, flight: u64, is_full: bool| {
            usage.unused(Time::ZERO + Span::millis(ms), rto, flight, is_full)
        };
        assert_eq!([at(0, 9, true), at(100, 5, false), at(199, 3, false)], [None; 3]);
        assert_eq!(at(200, 4, false), Some(5));
        assert_eq!(
            [at(300, 4, false), at(399, 9, true), at(500, 2, false)],
            [None; 3],
            "a full window begins anew"
        );
        assert_eq!(at(599, 1, false), Some(2));
    }
}
