//! # Source
//! V. Rosolen, O. Bonaventure, G. Leduc, "Impact of cell discard strategies on TCP/IP in ATM UBR networks", 1998
//! (paper 000), section 3: an on-off model whose on period is the transfer of a file.
//!
//! # Idea
//! Send a file; when its last byte has been acknowledged, rest; then send the next one. Or send one
//! at fixed intervals, as servers do that answer the same question together (incast), or one at each instant of a list.
//!
//! # Parameters
//! `size` of a file (5 MB in the LAN, 512 kB in the access network), `off` time between two files (null in the
//! paper), `reconnect`: whether each file opens a connection of its own, which slow-starts, or reuses the idle one, which
//! slow-starts after a pause longer than its retransmission timeout only (RFC 5681 section 4.1). `every`: the interval from
//! one file to the next, instead of `off`; `at`: the instants of all files, counted from the `start` of the flow, instead of
//! both. A file that is wanted while the previous one is in transfer waits for its end, and that wait counts in the time
//! that it takes.
//!
//! # Differences from the paper
//! The paper does not say whether a transfer opens a new connection; BSD applications of the time did. It has no
//! fixed intervals.
//!
//! # Complexity
//! Constant per file.

use super::{Source, Traffic};
use crate::refused::{Refused, refuse, refuse_if};
use crate::section;
use crate::units::{Bytes, Span};

section! {
    /// An application that sends one file after another.
    pub struct Params {
        /// Octets of one file.
        pub size: Bytes,
        /// Pause between the last acknowledgement of a file and the start of the next.
        pub off: Span = Span::ZERO,
        /// Interval from one file to the next; a file that is wanted before the last one has ended starts when that
        /// ends.
        pub every: Option<Span> = None,
        /// Instants at which files are wanted, counted from the start of the flow: one file for each, and no others.
        pub at: Option<Vec<Span>> = None,
        /// Whether every file opens a new connection with fresh estimators. If not, the old connection continues with
        /// its window and its estimate; after a pause longer than its retransmission timeout it slow-starts.
        pub reconnect: bool = true,
    }
}

/// Latest instant, equal to the longest run.
const LATEST: Span = Span::secs(50 * 86_400);

/// Kind of traffic, which decides the transports that can carry it.
pub const TRAFFIC: Traffic = Traffic::Data;

impl Source for Params {
    fn check(&self, _: u32) -> Result<(), Refused> {
        if self.size == Bytes(0) {
            return refuse("size", "must be at least 1 byte");
        }
        if let Some(at) = &self.at {
            refuse_if(at.is_empty(), "at", "must have an instant for each file, as in [\"1 s\", \"2 s\"]")?;
            refuse_if(!at.is_sorted(), "at", "must have the instants in the order of time")?;
            refuse_if(at[at.len() - 1] > LATEST, "at", "must have instants up to 50 days")?;
            let rule = "cannot be combined with at, which has the instants of all files";
            refuse_if(self.every.is_some(), "every", rule)?;
            return refuse_if(self.off > Span::ZERO, "off", rule);
        }
        match self.every {
            Some(Span::ZERO) => refuse("every", "must be longer than 0 s"),
            Some(_) if self.off > Span::ZERO => {
                refuse("off", "cannot be combined with every: files then start at fixed times")
            }
            _ => Ok(()),
        }
    }

    /// Return the mean rate of the application's data if files start at given instants; otherwise it has no limit.
    fn mean_rate(&self, _: f64, _: u64) -> Option<f64> {
        let between = |at: &Vec<Span>| match (at.first(), at.last()) {
            (Some(first), Some(last)) if last > first => {
                Some((*last - *first).as_secs_f64() / (at.len() - 1) as f64)
            }
            _ => None,
        };
        let every = self.every.map(Span::as_secs_f64).or_else(|| self.at.as_ref().and_then(between));
        every.map(|every| 8.0 * self.size.0 as f64 / every)
    }

    /// Return how long after the start of the flow the first file is wanted.
    fn first(&self) -> Span {
        self.at.as_ref().and_then(|at| at.first().copied()).unwrap_or_default()
    }
}
