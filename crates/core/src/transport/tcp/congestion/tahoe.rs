//! # Source
//! V. Jacobson, "Congestion Avoidance and Control", ACM SIGCOMM 1988 (4.3BSD-Tahoe); K. Fall and S. Floyd, "Simulation-based
//! Comparisons of Tahoe, Reno, and SACK TCP", ACM CCR 26(3), 1996, section 2; ns-2's `TcpAgent` with its default `bugFix_`.
//!
//! # Idea
//! Three duplicate ACKs mean that a segment is lost. Halve the threshold, and begin again with a slow start from the first
//! unacknowledged segment, as after a timeout but without waiting for one.
//!
//! # Parameters
//! `dupack_threshold` (duplicate ACKs, 3).
//!
//! # Differences from the paper
//! Half the window is min(cwnd, advertised window)/2 in whole segments, as for `reno`. Duplicates of what was sent before the
//! last slow start begin no other one (ns-2's `bugFix_`), until more than everything sent by then is acknowledged.
//!
//! # Complexity
//! O(1) for each ACK; one sequence number for each connection.

use super::{Ack, Congestion, CongestionWindow, Facts, Reaction, Timeout};
use crate::transport::tcp::Params;

/// State of Tahoe; boxed because it is larger than that of `reno`, so that Reno senders need no room for it.
#[derive(Clone, Debug)]
pub struct Control(Box<TahoeState>);

#[derive(Clone, Debug)]
struct TahoeState {
    threshold: u32,
    /// The octet after the last one that had been sent when the last slow start began.
    recover: u64,
}

impl Control {
    pub(super) fn new(params: &Params) -> Control {
        Control(Box::new(TahoeState { threshold: params.dupack_threshold, recover: 0 }))
    }

    fn restart(&mut self, window: &mut CongestionWindow, facts: Facts, timeout: Timeout) {
        self.0.recover = facts.sent;
        window.collapse(facts.send_window, timeout);
    }
}

impl Congestion for Control {
    fn on_ack(&mut self, window: &mut CongestionWindow, ack: Ack) -> Reaction {
        window.grow(ack.acked);
        Reaction::Continue
    }

    fn on_duplicate(&mut self, window: &mut CongestionWindow, count: u32, facts: Facts) -> Reaction {
        let is_new = facts.unacknowledged > self.0.recover || self.0.recover == 0;
        if count != self.0.threshold || !is_new {
            return Reaction::Continue;
        }
        let repeated = if facts.is_reduced { Timeout::Repeated } else { Timeout::First };
        self.restart(window, facts, repeated);
        Reaction::GoBack
    }

    fn on_timeout(&mut self, window: &mut CongestionWindow, facts: Facts, timeout: Timeout) {
        self.restart(window, facts, timeout);
    }

    fn is_recovering(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::tests::defaults;

    const MSS: u64 = 1460;

    fn facts(unacknowledged: u64, sent: u64) -> Facts {
        Facts { unacknowledged: unacknowledged * MSS, sent: sent * MSS, ..Facts::plain() }
    }

    fn opened() -> (Control, CongestionWindow) {
        let params = defaults();
        let (tahoe, mut window) = (Control::new(&params), CongestionWindow::new(&params));
        window.cwnd = 10 * MSS;
        (tahoe, window)
    }

    #[test]
    fn the_third_duplicate_begins_a_slow_start_to_half_the_window() {
        let (mut tahoe, mut window) = opened();
        for count in [1, 2] {
            assert_eq!(tahoe.on_duplicate(&mut window, count, facts(5, 15)), Reaction::Continue);
        }
        assert_eq!(tahoe.on_duplicate(&mut window, 3, facts(5, 15)), Reaction::GoBack);
        assert_eq!((window.ssthresh, window.cwnd), (5 * MSS, MSS));
        assert_eq!(tahoe.on_duplicate(&mut window, 4, facts(5, 15)), Reaction::Continue);
        assert_eq!(window.usable(), MSS, "further duplicates do not inflate the window");
    }

    #[test]
    fn duplicates_of_what_was_sent_before_begin_no_other_one() {
        let (mut tahoe, mut window) = opened();
        tahoe.on_duplicate(&mut window, 3, facts(5, 15));
        assert_eq!(tahoe.on_duplicate(&mut window, 3, facts(9, 15)), Reaction::Continue);
        assert_eq!(tahoe.on_duplicate(&mut window, 3, facts(15, 18)), Reaction::Continue);
        assert_eq!(tahoe.on_duplicate(&mut window, 3, facts(16, 22)), Reaction::GoBack);
    }
}
