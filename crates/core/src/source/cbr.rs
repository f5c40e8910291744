//! # Source
//! The periodic source of N·D/D/1 analyses: J. W. Roberts, J. T. Virtamo, "The superposition of periodic cell
//! arrival streams in an ATM multiplexer", IEEE Trans. Communications 39(2), 1991.
//!
//! # Idea
//! One unit every period, exactly.
//!
//! # Parameters
//! `rate` on the line, every octet counted; `size` of the payload of a datagram (single cells have a size of their
//! own). The phase is the flow's start.
//!
//! # Differences from the paper
//! None. The period is kept as an exact fraction, so that the rate does not drift.
//!
//! # Complexity
//! Constant per unit.

use crate::section;
use crate::units::{Bytes, Rate};

section! {
    /// A source that sends one unit every period.
    pub struct Params {
        /// Rate on the line, headers and padding included.
        pub rate: Rate,
        /// Payload of one datagram; a transport of single cells has 48 octets whatever this says.
        pub size: Bytes = Bytes(1460),
    }
}
