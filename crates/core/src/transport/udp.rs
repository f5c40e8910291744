//! # Source
//! J. Postel, "User Datagram Protocol", RFC 768, 1980; the unresponsive sources of paper 002, section VI.
//!
//! # Idea
//! Every datagram of the source is one packet, sent once: it is not acknowledged, and the source never slows down.
//!
//! # Parameters
//! `ecn`: whether its datagrams say that they react to congestion marks (RFC 3168, ECT), off; the source says how large they
//! are.
//!
//! # Differences from the paper
//! A sender whose datagrams say that they react to marks does not react: the application is the one that would have to.
//!
//! # Complexity
//! Constant.

use super::{IP_HEADER, Needs, Transport};
use crate::section;
use crate::source::{self, Source, Traffic};

section! {
    /// Datagrams without feedback.
    pub struct Params {
        /// Datagrams are ECN-capable (ECT): a port that marks keeps them, and the source sends on as before.
        pub ecn: bool = false,
    }
}

/// Octets of a UDP header.
pub const HEADER: u32 = 8;
/// Octets of the IP and UDP headers before the payload.
pub const HEADERS: u32 = IP_HEADER + HEADER;

impl Transport for Params {
    fn carries(&self) -> Traffic {
        Traffic::Datagrams
    }

    fn header_bytes(&self) -> u32 {
        HEADERS
    }

    fn needs_for(&self, source: &source::Spec) -> Option<Needs> {
        source.packet(HEADERS).map(Needs::one_way)
    }

    fn ecn(&self) -> bool {
        self.ecn
    }
}
