//! Transports: they turn an application's data into packets or single cells.
//!
//! The properties of a transport that a scenario needs are in its file. The endpoints in `host/` run it.

pub mod cargo;

pub mod ecn;

use crate::refused::Refused;
use crate::registry;
use crate::source::{self, Traffic};
use crate::units::CELL_PAYLOAD;

use ecn::Ecn;

registry! {
    /// A transport as a scenario specifies it.
    "transport" by "kind" {
        Tcp = "tcp" in tcp at "tcp/mod.rs",
        Udp = "udp" in udp,
        Cells = "cells" in cells,
        Fec = "fec" in fec,
    }

    /// The interface of a transport.
    pub trait Transport for Spec {
        /// Return the traffic that the transport can carry.
        fn carries(&self) -> Traffic;

        /// Return the octets of IP and transport headers before options and payload; 0 for single cells.
        fn header_bytes(&self) -> u32;

        /// Return the needs of the transport for a source whose traffic it can carry.
        fn needs_for(&self, source: &source::Spec) -> Option<Needs>;

        /// Return the octets of options in every packet, which reduce its payload.
        fn option_bytes(&self) -> u32 {
            0
        }

        /// Return whether the transport reacts to congestion marks, or claims to, so that ports may mark its packets.
        fn ecn(&self) -> bool {
            false
        }

        /// Return the ECN field of the packets that ports may mark.
        fn ect(&self) -> Ecn {
            Ecn::ECT.when(self.ecn())
        }

        /// Return the number of parity cells that the transport adds to every frame.
        fn parity_cells(&self) -> u32 {
            0
        }

        /// Return the losses of packets from `source` that the transport repairs, if it repairs any.
        fn budget(&self, source: &source::Spec) -> Option<fec::Budget> {
            None
        }

        /// Return how the sender of the transport paces, if it does.
        fn pacing(&self) -> Option<&tcp::pacer::Settings> {
            None
        }

        /// Return the name of the congestion control that sets the rate of the sender, if one does.
        fn pace_setter(&self) -> Option<&'static str> {
            None
        }

        /// Refuse parameters that cannot work together.
        fn check(&self) -> Result<(), Refused> {
            Ok(())
        }
    }
}

/// Octets of an IP header without options (RFC 791).
pub const IP_HEADER: u32 = 20;

/// The properties of a transport that the rest of a scenario needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Octets of the largest packet, IP header included; `None` for single cells.
    pub packet: Option<u64>,
    /// The key of the flow that determines the size of the largest packet.
    pub packet_key: &'static str,
    /// Octets of the largest packet in the other direction; `None` without packets there.
    pub reverse: Option<u32>,
}

impl Needs {
    /// Build the needs for packets without acknowledgements; the key `packet_key` determines their size.
    fn one_way(octets: u64, packet_key: &'static str) -> Needs {
        Needs { packet: Some(octets), packet_key, reverse: None }
    }

    /// Return the octets of the largest packet, IP header included, or of a single cell's payload.
    pub fn octets(&self) -> u64 {
        self.packet.unwrap_or(CELL_PAYLOAD)
    }
}

impl Spec {
    /// Return the needs of the transport for `source`, if it can carry the source's traffic.
    pub fn needs(&self, source: &source::Spec) -> Option<Needs> {
        if source.kind().traffic().fits(self.carries()) { self.needs_for(source) } else { None }
    }
}
