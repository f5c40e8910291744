//! # Source
//! The Poisson stream of M/D/1, as in L. Kleinrock, "Queueing Systems", vol. 1, 1975, section 2.4.
//!
//! # Idea
//! Independent, exponentially distributed gaps between units.
//!
//! # Parameters
//! Mean `rate` on the line, every octet counted; `size` of the payload of a datagram.
//!
//! # Differences from the paper
//! Gaps are rounded to whole picoseconds.
//!
//! # Complexity
//! Constant per unit: one logarithm.

use crate::section;
use crate::units::{Bytes, Rate};

section! {
    /// A source whose units form a Poisson stream.
    pub struct Params {
        /// Mean rate on the line, headers and padding included.
        pub rate: Rate,
        /// Payload of one datagram; a transport of single cells has 48 octets whatever this says.
        pub size: Bytes = Bytes(1460),
    }
}
