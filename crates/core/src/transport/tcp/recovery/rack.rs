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
//! None of its own: the reordering window is 0 in a recovery or once `dupack_threshold` segments are selectively
//! acknowledged, and a quarter of the smallest round trip before. The probe is sent after twice the smoothed round
//! trip, and with one segment in flight later by `fast_timer`, the longest delay of its ACK.
//!
//! # Differences from the paper
//! A line keeps the order of its packets and receivers report no duplicates (RFC 2883), so the reordering window
//! never grows.
//!
//! # Complexity
//! O(1) for each transmission, on average.

use super::prr::Proportional;
use super::{Recovery, Told};
use crate::transport::tcp::Params;
use crate::transport::tcp::congestion::Window;
use crate::transport::tcp::scoreboard::Scoreboard;
use crate::units::{Span, Time};

/// State of RACK.
#[derive(Clone, Debug)]
pub struct Control {
    threshold: u64,
    rate: Proportional,
    /// When the latest of the delivered segments had been sent, and its end (RACK.xmit_ts, RACK.end_seq).
    latest: Option<(Time, u64)>,
    /// Its round trip (RACK.rtt), and the smallest of all.
    rtt: Span,
    smallest: Span,
}

impl Control {
    pub(super) fn new(params: &Params) -> Control {
        Control {
            threshold: params.dupack_threshold.into(),
            rate: Proportional::default(),
            latest: None,
            rtt: Span::ZERO,
            smallest: Span::FOREVER,
        }
    }

    /// RFC 8985 section 6.2, steps 1 and 2: the ACK of a retransmission that comes sooner than any round trip is that of the
    /// original.
    fn update(&mut self, told: &Told) {
        let Some((at, end, resent)) = told.delivered.newest else { return };
        let rtt = told.now.since(at);
        if resent && rtt < self.smallest {
            return;
        }
        if !resent {
            self.smallest = self.smallest.min(rtt);
        }
        if self.latest.is_none_or(|latest| latest < (at, end)) {
            (self.latest, self.rtt) = (Some((at, end)), rtt);
        }
    }

    /// Section 6.2, step 4.
    fn reordering(&self, board: &Scoreboard, told: &Told) -> Span {
        if told.is_recovering || board.sacked() >= self.threshold * told.mss {
            return Span::ZERO;
        }
        let quarter = if self.smallest == Span::FOREVER { Span::ZERO } else { Span(self.smallest.0 / 4) };
        told.smoothed.map_or(quarter, |smoothed| quarter.min(smoothed))
    }
}

impl Recovery for Control {
    fn find_losses(&mut self, board: &mut Scoreboard, told: &Told) -> Option<Time> {
        self.update(told);
        let latest = self.latest?;
        let age = self.rtt + self.reordering(board, told);
        board.lose_by_time(latest, told.now, |sent| sent + age)
    }

    fn begin(&mut self, window: &mut Window) {
        self.rate = Proportional::new(window.cwnd);
    }

    fn on_ack(&mut self, window: &mut Window, board: &Scoreboard, delivered: u64, is_safe: bool) {
        self.rate.set_window(window, board.pipe(), delivered, is_safe);
    }

    fn sent(&mut self, octets: u64) {
        self.rate.sent += octets;
    }

    fn probes(&self) -> bool {
        true
    }

    fn fills_holes(&self) -> bool {
        false
    }
}
