//! # Source
//! M. Mathis, N. Cardwell, Y. Cheng and N. Dukkipati, "Proportional Rate Reduction for TCP", RFC 9937, 2025, which obsoletes RFC
//! 6937.
//!
//! # Idea
//! Spread the reduction of the window over the round trip of the recovery: while more segments are in flight than the
//! threshold, send
//!
//! > ⌈delivered · ssthresh / cwnd⌉ − sent
//!
//! for the segments delivered and sent in this recovery, where cwnd was the window when it began. Below the threshold, send as many
//! as were delivered, and one segment more with each ACK that reports no further loss, up to the threshold.
//!
//! # Parameters
//! `dupack_threshold` (blocks that mean a loss, as for `rfc6675`).
//!
//! # Differences from the paper
//! Whole segments are counted and rounded up, and the window before the reduction stands for the octets in flight (RecoverFS), both as
//! in Linux (`tcp_cwnd_reduction`). RFC 9937 counts octets of RecoverFS, which leaves out what was selectively acknowledged before: its
//! segments leave an ACK later. Losses are found as by `rfc6675`.
//!
//! # Complexity
//! O(1) for each ACK; three numbers for each connection.

use super::{AckReport, Progress, Recovery};
use crate::transport::tcp::Params;
use crate::transport::tcp::congestion::CongestionWindow;
use crate::transport::tcp::scoreboard::Scoreboard;
use crate::units::Time;

/// State of PRR.
#[derive(Clone, Debug)]
pub struct Control {
    threshold: u32,
    rate: Proportional,
}

impl Control {
    pub(super) fn new(params: &Params) -> Control {
        Control { threshold: params.dupack_threshold, rate: Proportional::default() }
    }
}

impl Recovery for Control {
    fn find_losses(&mut self, board: &mut Scoreboard, report: &AckReport) -> Option<Time> {
        board.lose_by_blocks(self.threshold, report.mss);
        None
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
}

/// The window of a recovery, in octets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proportional {
    /// The window when the recovery began.
    prior: u64,
    delivered: u64,
    pub(super) sent: u64,
}

impl Proportional {
    pub(super) fn new(prior: u64) -> Proportional {
        Proportional { prior, delivered: 0, sent: 0 }
    }

    /// Return the window with which the sender may send what PRR allows after an ACK.
    pub(super) fn window(&mut self, window: &CongestionWindow, progress: Progress) -> u64 {
        let Progress { delivered, pipe, is_safe } = progress;
        let more = is_safe.then_some(window.mss());
        pipe + self.allowance(pipe, window.ssthresh(), delivered, more, window.mss())
    }

    /// Return the octets that may be sent after an ACK of `delivered` octets, `more` is given if this ACK reports no
    /// further loss. The first retransmission is always sent.
    fn allowance(&mut self, pipe: u64, threshold: u64, delivered: u64, more: Option<u64>, mss: u64) -> u64 {
        self.delivered += delivered;
        let allowed = if pipe > threshold {
            let due = u128::from(self.delivered) * u128::from(threshold);
            let segments = due.div_ceil(u128::from(self.prior.max(1)) * u128::from(mss)) as u64;
            (segments * mss).saturating_sub(self.sent)
        } else {
            let owed = self.delivered.saturating_sub(self.sent).max(delivered);
            (owed + more.unwrap_or(0)).min(threshold - pipe)
        };
        if self.sent == 0 { allowed.max(mss) } else { allowed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::{numbers, vector};

    const MSS: u64 = 1000;

    #[test]
    fn above_the_threshold_one_segment_is_sent_for_two_delivered() {
        let mut rate = Proportional::new(20 * MSS);
        let mut sent = Vec::new();
        for ack in 0..8 {
            let allowed = rate.allowance(19 * MSS - ack * MSS / 2, 10 * MSS, MSS, None, MSS) / MSS;
            rate.sent += allowed * MSS;
            sent.push(allowed);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0], "rounded up, as Linux does");
    }

    #[test]
    fn what_may_have_been_sent_is_that_of_the_vectors() {
        for case in vector("recovery")["proportional"].as_array().unwrap() {
            let [flight, threshold] = ["flight", "threshold"].map(|key| case[key].as_u64().unwrap() * MSS);
            let mut rate = Proportional::new(flight);
            for expected in numbers(&case["may_have_sent"]) {
                rate.sent += rate.allowance(flight, threshold, MSS, None, MSS);
                assert_eq!((rate.sent / MSS) as f64, expected, "{case}");
            }
        }
    }

    #[test]
    fn below_the_threshold_what_was_delivered_is_sent_and_one_more_with_a_safe_ack() {
        let mut rate = Proportional::new(20 * MSS);
        rate.sent = MSS;
        assert_eq!(rate.allowance(4 * MSS, 10 * MSS, MSS, None, MSS), MSS);
        assert_eq!(rate.allowance(4 * MSS, 10 * MSS, MSS, Some(MSS), MSS), 2 * MSS);
        assert_eq!(
            rate.allowance(9 * MSS, 10 * MSS, 5 * MSS, Some(MSS), MSS),
            MSS,
            "no further than the threshold"
        );
    }
}
