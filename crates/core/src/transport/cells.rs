//! # Source
//! The single cells of queueing analyses, as in J. W. Roberts, J. T. Virtamo, IEEE Trans. Communications 39(2), 1991.
//!
//! # Idea
//! Every unit of the source is one cell with 48 octets of payload, a frame by itself and without adaptation trailer.
//!
//! # Parameters
//! None.
//!
//! # Differences from the paper
//! None.
//!
//! # Complexity
//! Constant.

use super::{Needs, Transport};
use crate::section;
use crate::source::{self, Traffic};

section! {
    /// Single cells without adaptation.
    pub struct Params {}
}

impl Transport for Params {
    fn carries(&self) -> Traffic {
        Traffic::Pieces
    }

    fn header_bytes(&self) -> u32 {
        0
    }

    fn needs_for(&self, _: &source::Spec) -> Option<Needs> {
        Some(Needs { packet: None, packet_key: "source.size", reverse: None })
    }
}
