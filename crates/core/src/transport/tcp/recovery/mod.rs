//! Recovery with selective acknowledgements: the segments that count as lost, and the window that it proposes meanwhile.
//!
//! The [sender](super::Sender) keeps the scoreboard, sends and has the timers; the congestion control sets the threshold and the window. To add
//! an algorithm, write its file and add a line to the list below.

use super::Params;
use super::congestion::CongestionWindow;
use super::scoreboard::{Delivered, Scoreboard};
use crate::registry;
use crate::units::{Span, Time};

registry! {
    /// The recovery algorithms by name.
    "recovery" {
        /// Losses by blocks above them; the window falls at once.
        Rfc6675 = "rfc6675" in rfc6675,
        /// Losses by blocks above them; the window falls in proportion to what is delivered.
        Prr = "prr" in prr,
        /// Losses by time, tail-loss probes; the window falls as with `prr`.
        Rack = "rack" in rack,
    }

    /// The interface of an algorithm.
    pub trait Recovery for Control {
        /// Find losses after an ACK has been entered in the scoreboard. Returns the instant of the next search, if one
        /// is needed.
        fn find_losses(&mut self, board: &mut Scoreboard, report: &AckReport) -> Option<Time>;

        /// Record a round trip that was measured without the scoreboard: that of the handshake, or by a timestamp.
        fn measured(&mut self, now: Time, rtt: Span) {}

        /// Begin a recovery; the window's threshold is set, and `prior` octets is the window in use that was reduced.
        /// Returns the window that the algorithm proposes, if it proposes one.
        fn begin(&mut self, window: &CongestionWindow, prior: u64) -> Option<u64>;

        /// React to an ACK in recovery, or at its beginning. Returns the window that the algorithm proposes, if it proposes
        /// one.
        fn on_ack(&mut self, window: &CongestionWindow, progress: Progress) -> Option<u64> {
            None
        }

        /// Record that `octets` octets were sent in recovery.
        fn sent(&mut self, octets: u64) {}

        /// Return whether losses are found by blocks alone: an ACK without any needs no search.
        fn needs_blocks(&self) -> bool {
            true
        }

        /// Return whether a probe is sent when the last ACKs do not arrive (RFC 8985 section 7).
        fn probes(&self) -> bool {
            false
        }

        /// Return whether segments are sent again that are not declared lost, when there are no others to send (RFC
        /// 6675, `NextSeg`).
        fn fills_holes(&self) -> bool {
            true
        }
    }
}

/// Progress of a recovery by an ACK.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Octets that the ACK delivers.
    pub(super) delivered: u64,
    /// Octets in the network after the ACK.
    pub(super) pipe: u64,
    /// Whether the ACK acknowledges new data and reports no further loss.
    pub(super) is_safe: bool,
}

/// The content of an ACK.
#[derive(Clone, Copy, Debug)]
pub struct AckReport {
    pub(super) now: Time,
    pub(super) delivered: Delivered,
    pub(super) mss: u64,
    /// A recovery is in progress, after a loss or a timeout.
    pub(super) is_recovering: bool,
    /// The smoothed round-trip time.
    pub(super) smoothed: Option<Span>,
    /// The first octet that is not acknowledged, and the one after the last that was sent.
    pub(super) outstanding: (u64, u64),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::transport::tcp::SackBlocks;
    use crate::transport::tcp::tests::defaults;
    use crate::vectors::vector;

    const MSS: u64 = 1000;

    /// Find the losses that the algorithm of this name declares when these segments of ten arrive in order, all sent at
    /// once except the eleventh, with the block that reports each.
    fn found(name: &str, arrived: &[u64]) -> BTreeMap<String, u64> {
        let spec = Spec::from_word(name).unwrap();
        let mut recovery = spec.start(&defaults());
        let mut board = Scoreboard::new(MSS);
        (2..=10).for_each(|segment| board.sent(segment * MSS, Time::ZERO));
        board.sent(11 * MSS, Time::ZERO + Span::millis(10));
        let mut by = BTreeMap::new();
        for &segment in arrived {
            let mut delivered = Delivered::default();
            board.sack(&SackBlocks::of(&[((segment - 1) * MSS, segment * MSS)]), &mut delivered);
            let (now, is_recovering) = (Time::ZERO + Span::millis(10 + segment / 11 * 10), !by.is_empty());
            let (smoothed, outstanding) = (Some(Span::millis(10)), (MSS, 11 * MSS));
            let report = AckReport { now, delivered, mss: MSS, is_recovering, smoothed, outstanding };
            recovery.find_losses(&mut board, &report);
            while let Some(index) = board.next_lost() {
                by.entry((1 + board.piece(index).0 / MSS).to_string()).or_insert(segment);
                board.resend(index, now);
            }
        }
        by
    }

    #[test]
    fn four_losses_are_found_by_the_blocks_of_the_vectors() {
        for case in vector("recovery")["four_losses"].as_array().unwrap() {
            let arrived: Vec<u64> =
                case["arrived"].as_array().unwrap().iter().map(|segment| segment.as_u64().unwrap()).collect();
            let expected = case["found"].as_object().unwrap();
            let expected = expected.iter().map(|(lost, by)| (lost.clone(), by.as_u64().unwrap())).collect();
            assert_eq!(found(case["recovery"].as_str().unwrap(), &arrived), expected, "{case}");
        }
    }

    #[test]
    fn every_recovery_opens_with_the_same_five_headings() {
        for recovery in CATALOGUE {
            let header = recovery.header();
            let headings: Vec<&str> = header.lines().filter(|line| line.starts_with("# ")).collect();
            let expected =
                ["# Source", "# Idea", "# Parameters", "# Differences from the paper", "# Complexity"];
            assert_eq!(headings, expected, "{}", recovery.name);
        }
    }
}
