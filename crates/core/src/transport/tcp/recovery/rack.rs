//! # Source
//! Y. Cheng, N. Cardwell, N. Dukkipati and P. Jha, "The RACK-TLP Loss Detection Algorithm for TCP", RFC 8985, 2021; RFC 9937 for
//! the window.
//!
//! # Idea
//! A segment is lost when one that was sent later has been delivered and its own age exceeds a round trip by the time
//! within which packets may be reordered. So a lost retransmission is found as well. When the last ACKs of a window
//! are missing, a probe is sent long before the timeout, so that its ACK reports the loss.
//!
//! # Parameters
//! None of its own: as long as no segment has overtaken another, the reordering window is 0 in a recovery or once
//! `dupack_threshold` segments are selectively acknowledged, and else a quarter of the smallest round trip. With `dsack` it grows by a
//! quarter in each round trip in which a segment has arrived twice, for sixteen recoveries, up to the smoothed round trip. The probe is
//! sent after twice the smoothed round trip, and with one segment in flight later by `fast_timer`, the longest delay of its ACK. With
//! `laws = "linux"` that is `min_rto`, and timers for reordering and probes expire 2 ms and a `kernel_tick` later.
//!
//! # Differences from the paper
//! An ACK counts by the segment that was sent last of all that it delivers: if that one is a retransmission that came sooner than any
//! round trip, the RFC goes on to the others. An ACK that reports the probe as a duplicate ends the episode only if it has no other
//! blocks, and reduces the window if it acknowledges more than the probe. The smallest round trip is that of the last five to ten minutes;
//! the RFC leaves the window open.
//!
//! # Complexity
//! O(1) for each transmission, on average.

use super::prr::Proportional;
use super::{AckReport, Progress, Recovery};
use crate::transport::tcp::Params;
use crate::transport::tcp::congestion::CongestionWindow;
use crate::transport::tcp::scoreboard::Scoreboard;
use crate::units::{Span, Time};

/// State of RACK.
#[derive(Clone, Debug)]
pub struct Control {
    threshold: u64,
    rate: Proportional,
    /// Sending of the latest of the delivered segments, and its end (RACK.xmit_ts, RACK.end_seq).
    latest: Option<(Time, u64)>,
    /// Its round trip (RACK.rtt), and the smallest of all measurements (RACK.min_RTT).
    rtt: Span,
    smallest: SmallestRtt,
    order: RackOrder,
}

/// The smallest of the round trips measured in the last five to ten minutes (RFC 8985 section 6.2 asks for a windowed
/// minimum; the window is that of Linux, `tcp_min_rtt_wlen`).
#[derive(Clone, Copy, Debug)]
struct SmallestRtt {
    rtt: Span,
    since: Time,
    /// The smallest one since then, which is next.
    next: Span,
}

impl SmallestRtt {
    const NONE: SmallestRtt = SmallestRtt { rtt: Span::FOREVER, since: Time::ZERO, next: Span::FOREVER };
    const WINDOW: Span = Span::secs(300);

    #[inline]
    fn add(&mut self, now: Time, rtt: Span) {
        if rtt <= self.rtt {
            *self = SmallestRtt { rtt, since: now, next: Span::FOREVER };
            return;
        }
        self.next = self.next.min(rtt);
        if now.since(self.since) > SmallestRtt::WINDOW {
            *self = SmallestRtt { rtt: self.next, since: now, next: Span::FOREVER };
        }
    }
}

/// Facts about packets that overtake others (RFC 8985 section 6.2, step 4).
#[derive(Clone, Copy, Debug)]
struct RackOrder {
    /// Segments have overtaken others (RACK.reordering_seen).
    is_overtaken: bool,
    /// Quarters of the smallest round trip (RACK.reo_wnd_mult), and the recoveries for which they hold (RACK.reo_wnd_persist).
    quarters: u64,
    persist: u32,
    /// No further quarter before this octet is acknowledged (RACK.dsack_round).
    round: Option<u64>,
    was_recovering: bool,
}

/// Recoveries after which the reordering window is small again.
const PERSIST: u32 = 16;

impl RackOrder {
    fn new() -> RackOrder {
        RackOrder { is_overtaken: false, quarters: 1, persist: PERSIST, round: None, was_recovering: false }
    }

    /// Adapt the reordering window: `RACK_update_reo_wnd`.
    fn update(&mut self, report: &AckReport) {
        let (unacknowledged, sent) = report.outstanding;
        self.is_overtaken |= report.delivered.is_overtaken;
        self.round = self.round.filter(|round| unacknowledged < *round);
        let ends_recovery =
            std::mem::replace(&mut self.was_recovering, report.is_recovering) && !report.is_recovering;
        if report.delivered.is_duplicate && self.round.is_none() {
            (self.round, self.quarters, self.persist) = (Some(sent), self.quarters + 1, PERSIST);
        } else if ends_recovery {
            self.persist = self.persist.saturating_sub(1);
            self.quarters = if self.persist == 0 { 1 } else { self.quarters };
        }
    }
}

impl Control {
    pub(super) fn new(params: &Params) -> Control {
        Control {
            threshold: params.dupack_threshold.into(),
            rate: Proportional::default(),
            latest: None,
            rtt: Span::ZERO,
            smallest: SmallestRtt::NONE,
            order: RackOrder::new(),
        }
    }

    /// Update by RFC 8985 section 6.2, steps 1 and 2: the ACK of a retransmission that arrives sooner than any round
    /// trip is that of the original.
    fn update(&mut self, report: &AckReport) {
        let Some((at, end, resent)) = report.delivered.newest else { return };
        let rtt = report.now.since(at);
        if resent && rtt < self.smallest.rtt {
            return;
        }
        if !resent {
            self.smallest.add(report.now, rtt);
        }
        if self.latest.is_none_or(|latest| latest < (at, end)) {
            (self.latest, self.rtt) = (Some((at, end)), rtt);
        }
    }

    /// Compute the reordering window: section 6.2, step 4.
    fn reordering(&self, board: &Scoreboard, report: &AckReport) -> Span {
        let RackOrder { is_overtaken, quarters, .. } = self.order;
        if !is_overtaken && (report.is_recovering || board.sacked() >= self.threshold * report.mss) {
            return Span::ZERO;
        }
        let window = match self.smallest.rtt {
            Span::FOREVER => Span::ZERO,
            smallest => Span((smallest.0 / 4).saturating_mul(quarters)),
        };
        report.smoothed.map_or(window, |smoothed| window.min(smoothed))
    }
}

impl Recovery for Control {
    fn measured(&mut self, now: Time, rtt: Span) {
        self.smallest.add(now, rtt);
    }

    fn find_losses(&mut self, board: &mut Scoreboard, report: &AckReport) -> Option<Time> {
        self.update(report);
        self.order.update(report);
        let latest = self.latest?;
        let age = self.rtt + self.reordering(board, report);
        board.lose_by_time(latest, report.now, |sent| sent + age)
    }

    fn begin(&mut self, _: &CongestionWindow, prior: u64) -> Option<u64> {
        self.rate = Proportional::new(prior);
        None
    }

    fn on_ack(&mut self, window: &CongestionWindow, progress: Progress) -> Option<u64> {
        Some(self.rate.window(window, progress))
    }

    fn sent(&mut self, octets: u64) {
        self.rate.sent += octets;
    }

    fn needs_blocks(&self) -> bool {
        false
    }

    fn probes(&self) -> bool {
        true
    }

    fn fills_holes(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_round_trip_is_that_of_a_window_of_time() {
        let mut smallest = SmallestRtt::NONE;
        let mut add = |s: u64, ms: u64| {
            smallest.add(Time::ZERO + Span::secs(s), Span::millis(ms));
            smallest.rtt
        };
        assert_eq!([add(0, 100), add(1, 120), add(2, 90)].map(|rtt| rtt.0 / 1_000_000_000), [100, 100, 90]);
        assert_eq!([add(100, 130), add(302, 140)].map(|rtt| rtt.0 / 1_000_000_000), [90, 90]);
        assert_eq!(add(303, 150), Span::millis(130), "300 s after the smallest, the smallest since then");
    }
}
