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

use super::cargo::{Cargo, Tag, Wire};
use super::ecn::Ecn;
use super::{IP_HEADER, Kind, Needs, Transport};
use crate::section;
use crate::source::{self, Source, Traffic};
use crate::units::Time;

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

/// A datagram, or a single cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Octets of the application's data.
    pub bytes: u32,
    /// Time at which the source handed over the datagram for sending.
    pub sent: Time,
    /// Congestion notification.
    pub ecn: Ecn,
}

impl Wire for Datagram {
    const TAG: Tag = Tag::of(Kind::Udp as u8);

    #[inline(always)] // see `Segment::pack`
    fn pack(&self) -> Cargo {
        let &Datagram { bytes, sent, ecn } = self;
        Cargo { stamp: sent, octets: bytes, tag: Self::TAG, ecn, ..Cargo::default() }
    }

    #[inline(always)]
    fn unpack(cargo: &Cargo) -> Datagram {
        Datagram { bytes: cargo.octets, sent: cargo.stamp, ecn: cargo.ecn }
    }
}

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
