//! # Source
//! J. Postel, "User Datagram Protocol", RFC 768, 1980; the unresponsive sources of paper 002, section VI.
//!
//! # Idea
//! Every datagram of the source is one packet, sent once: nobody acknowledges, nobody slows down.
//!
//! # Parameters
//! None; the source says how large its datagrams are.
//!
//! # Differences from the paper
//! None.
//!
//! # Complexity
//! Constant.

use super::{IP_HEADER, Needs, Transport};
use crate::section;
use crate::source::{self, Source, Traffic};

section! {
    /// Datagrams without feedback.
    pub struct Params {}
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
}
