//! # Source
//! E. Blanton, M. Allman, L. Wang, I. Jarvinen, M. Kojo and Y. Nishida, "A Conservative Loss Recovery Algorithm Based on
//! Selective Acknowledgment (SACK) for TCP", RFC 6675, 2012.
//!
//! # Idea
//! A segment is lost when three separate blocks, or more than two full segments, have arrived above it. The window is
//! then the threshold. As far as it exceeds the octets in flight (the pipe), the sender sends first lost segments,
//! then new data, then segments that might be lost.
//!
//! # Parameters
//! `dupack_threshold` (blocks, 3). Losses of one window cost one reduction; the threshold is that of `congestion`.
//!
//! # Differences from the paper
//! Segments keep their boundaries when they are sent again. After a timeout blocks are kept, because no receiver here
//! withdraws a report. Limited transmit (step 3) follows from the pipe.
//!
//! # Complexity
//! O(1) for each ACK and each lost segment.

use super::{AckReport, Recovery};
use crate::transport::tcp::Params;
use crate::transport::tcp::congestion::CongestionWindow;
use crate::transport::tcp::scoreboard::Scoreboard;
use crate::units::Time;

/// State of RFC 6675.
#[derive(Clone, Debug)]
pub struct Control {
    threshold: u32,
}

impl Control {
    pub(super) fn new(params: &Params) -> Control {
        Control { threshold: params.dupack_threshold }
    }
}

impl Recovery for Control {
    fn find_losses(&mut self, board: &mut Scoreboard, report: &AckReport) -> Option<Time> {
        board.lose_by_blocks(self.threshold, report.mss);
        None
    }

    fn begin(&mut self, window: &CongestionWindow, _: u64) -> Option<u64> {
        Some(window.ssthresh())
    }
}
