//! Opportunities: instants at which a line may send a number of octets.
//!
//! # Source
//! K. Winstein, A. Sivaraman, H. Balakrishnan, "Stochastic forecasts achieve high throughput and low delay over cellular networks"
//! (NSDI 2013); R. Netravali et al., "Mahimahi: accurate record-and-replay for HTTP" (USENIX ATC 2015), `src/frontend/link_queue.cc`.
//!
//! # Idea
//! A unit may use several opportunities, and several units may share one. What an opportunity could still send when no unit waits is lost:
//! a line saves no opportunities. A unit that arrives at the instant of an opportunity misses it. After its last opportunity a list
//! begins again; the first opportunity of the next lap may fall on the instant of the last one of this lap, then both count.
//!
//! # Differences from the source
//! mahimahi counts the octets of a packet with the 4 octets of its TUN device, and refuses packets above an opportunity. Here an opportunity of a
//! trace sends 1500 octets of the line, headers of the adaptation included. The port chooses the unit in service when the line is free, not
//! when its first opportunity comes: so a policy at the head of the queue decides about it that much earlier.

use std::sync::Arc;

use super::MOST_ENTRIES;
use crate::refused::{Refused, refuse_if};
use crate::section;
use crate::units::{Bytes, PS_PER_S, Rate, Span, Time};

/// Octets of an opportunity in a trace.
pub const OPPORTUNITY: u64 = 1500;

section! {
    /// Octets that a shared medium lets the line send, again and again: units that wait leave together.
    pub struct Grants {
        /// Time between two grants; the first one comes after this time.
        pub every: Span,
        /// Octets of a grant.
        pub size: Bytes,
    }
}

impl Grants {
    /// Return the grants as opportunities.
    pub(super) fn opportunities(&self) -> Result<Opportunities, Refused> {
        refuse_if(self.every < Span::micros(1), "grants.every", "must be at least 1 us")?;
        refuse_if(self.every > Span::secs(3600), "grants.every", "must be at most an hour")?;
        refuse_if(self.size == Bytes(0), "grants.size", "must be at least 1 byte")?;
        refuse_if(self.size > Bytes(1 << 40), "grants.size", "must be at most 1 TiB")?;
        Ok(Opportunities { times: vec![self.every.0], period: self.every.0, octets: self.size.0 })
    }
}

/// Opportunities of one size, which repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// Their instants, none before the one ahead of it.
    times: Vec<u64>,
    /// Time after which they begin again, at least the last of them.
    period: u64,
    octets: u64,
}

impl Opportunities {
    /// Build the opportunities of a trace from checked instants, which repeat after `period`.
    pub(super) fn new(times: Vec<u64>, period: u64) -> Opportunities {
        debug_assert!(times.is_sorted() && times.len() <= MOST_ENTRIES && period > 0);
        Opportunities { times, period, octets: OPPORTUNITY }
    }

    /// Return the greatest rate over a millisecond, or over the period if that is shorter.
    pub(super) fn peak(&self) -> Rate {
        let window = self.period.min(Span::millis(1).0);
        let mut last = 0;
        let busiest = (0..self.times.len()).map(|first| {
            last = last.max(first);
            while last < self.times.len() && self.times[last] - self.times[first] < window {
                last += 1;
            }
            last - first
        });
        let bits = 8 * u128::from(self.octets) * busiest.max().unwrap_or_default() as u128;
        Rate(u64::try_from(bits * u128::from(PS_PER_S) / u128::from(window)).unwrap_or(u64::MAX))
    }

    /// Return the mean rate over a long time.
    pub(super) fn long_run(&self) -> Rate {
        let bits = 8 * u128::from(self.octets) * self.times.len() as u128;
        Rate((bits * u128::from(PS_PER_S) / u128::from(self.period)) as u64)
    }

    /// Return the mean rate from one instant to another.
    pub(super) fn mean_between(&self, from: Span, to: Span) -> f64 {
        let span = to.0.saturating_sub(from.0).max(1);
        let bits = 8 * u128::from(self.octets) * (self.before(to) - self.before(from));
        bits as f64 * PS_PER_S as f64 / span as f64
    }

    /// Return how many opportunities there are before an instant.
    fn before(&self, time: Span) -> u128 {
        let (laps, rest) = (time.0 / self.period, time.0 % self.period);
        // the last one of a lap may come at its end, which is the beginning of the next one
        let at_ends = self.times.len() - self.times.partition_point(|time| *time < self.period);
        let of_laps = u128::from(laps) * self.times.len() as u128;
        let late = if laps > 0 && rest == 0 { at_ends as u128 } else { 0 };
        of_laps - late + self.times.partition_point(|time| *time < rest) as u128
    }
}

/// The progress of a line from opportunity to opportunity.
#[derive(Clone, Debug)]
pub struct OpportunityCourse {
    opportunities: Arc<Opportunities>,
    /// The present opportunity: its place in the list, and the beginning of its lap.
    at: usize,
    base: u64,
    /// Octets that it can still send.
    left: u64,
    /// Whether no unit waits for the line.
    is_idle: bool,
}

impl OpportunityCourse {
    pub(super) fn new(opportunities: Arc<Opportunities>) -> OpportunityCourse {
        let left = opportunities.octets;
        OpportunityCourse { opportunities, at: 0, base: 0, left, is_idle: true }
    }

    /// Record that the line has rested: it begins with the next opportunity after its rest.
    pub(super) fn rest(&mut self) {
        self.is_idle = true;
    }

    /// Record that no unit waits: what is left of the present opportunity is lost.
    pub(super) fn idle(&mut self) {
        self.is_idle = true;
    }

    fn time(&self) -> u64 {
        self.base + self.opportunities.times[self.at]
    }

    /// Move on by a number of opportunities.
    fn advance(&mut self, by: u64) {
        let count = self.opportunities.times.len() as u64;
        let to = self.at as u64 + by;
        self.base += to / count * self.opportunities.period;
        self.at = (to % count) as usize;
        self.left = self.opportunities.octets;
    }

    /// Send `octets` octets; see [`super::Course::send`].
    pub(super) fn send(&mut self, now: Time, free: Time, octets: u16) -> (Time, Time) {
        if now > free || std::mem::take(&mut self.is_idle) {
            self.is_idle = false;
            self.miss(now.max(free).0);
        } else if self.left == 0 {
            self.advance(1);
        }
        let starts = Time(self.time());
        let octets = u64::from(octets);
        if octets > self.left {
            let behind = octets - self.left;
            self.advance(behind.div_ceil(self.opportunities.octets));
            let used = (behind - 1) % self.opportunities.octets + 1;
            self.left = self.opportunities.octets - used;
        } else {
            self.left -= octets;
        }
        (starts, Time(self.time()))
    }

    /// Move to the first opportunity after an instant.
    fn miss(&mut self, now: u64) {
        let laps = now.saturating_sub(self.time()) / self.opportunities.period;
        self.base += laps * self.opportunities.period;
        while self.time() <= now {
            self.advance(1);
        }
    }
}
