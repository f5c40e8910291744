//! Exact arithmetic for both fast engines: starts of units that are sent back to back, and the counts of a port.
//!
//! # What it assumes
//! Units of one size take one exact time on a line.
//!
//! # What it skips
//! A visit to each unit.
//!
//! # Why that is exact
//! Remainders of picoseconds are carried, and counts are sums.

pub(crate) mod accounting;
pub(crate) mod spacing;
