//! # Source
//! J. Postel, "User Datagram Protocol", RFC 768, 1980; the unresponsive sources of paper 002, section VI.
//!
//! # Idea
//! Every datagram of the source is one packet, sent once: it is not acknowledged, and the source never slows down.
//!
//! # Parameters
//! `ecn`: whether its datagrams claim to react to congestion marks (RFC 3168, ECT), off. `l4s`: whether they claim with it
//! to react as a scalable congestion control does (RFC 9331, ECT(1)), off. The source determines their size.
//!
//! # Differences from the paper
//! Datagrams that claim to react to marks do not: that would be up to the application.
//!
//! # Complexity
//! Constant.

use super::ecn::Ecn;
use super::{IP_HEADER, Needs, Transport};
use crate::section;
use crate::source::{self, Source, Traffic};

section! {
    /// Datagrams without feedback.
    pub struct Params {
        /// Datagrams are ECN-capable (ECT): a port that marks keeps them, and the source sends on as before.
        pub ecn: bool = false,
        /// Datagrams that are ECN-capable bear ECT(1), so that `dualpi2` puts them into its queue of low latency.
        pub l4s: bool = false,
    }
}

/// Octets of a UDP header.
pub const HEADER: u32 = 8;
/// Octets of the IP and UDP headers before the payload.
pub const HEADERS: u32 = IP_HEADER + HEADER;

impl Transport for Params {
    fn carries(&self) -> Traffic {
        Traffic::Pieces
    }

    fn header_bytes(&self) -> u32 {
        HEADERS
    }

    fn needs_for(&self, source: &source::Spec) -> Option<Needs> {
        source.packet(HEADERS).map(|(octets, key)| Needs::one_way(octets, key))
    }

    fn ecn(&self) -> bool {
        self.ecn
    }

    fn ect(&self) -> Ecn {
        Ecn::ECT.with(Ecn::L4S.when(self.l4s)).when(self.ecn)
    }
}
