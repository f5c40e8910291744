//! Transports: what turns an application's data into packets or single cells.

use crate::buffer::admission::Budget;
use crate::refused::Refused;
use crate::registry;
use crate::source;

registry! {
    /// A transport as a scenario asks for it.
    "transport" by "kind" {
        Tcp = "tcp" in tcp at "tcp/mod.rs",
        Udp = "udp" in udp,
        Cells = "cells" in cells,
        Fec = "fec" in fec,
    }
}

/// Octets of an IP header without options (RFC 791).
pub const IP_HEADER: u32 = 20;

/// What the rest of a scenario must know of a transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Octets of the largest packet, IP header included; 0 for single cells.
    pub packet: u64,
    /// The key of the flow that decides about it.
    pub packet_key: &'static str,
    /// Octets of the largest packet that comes back, if any does.
    pub reverse: Option<u32>,
    /// Sources that this transport can carry.
    pub sources: &'static [&'static str],
}

impl Spec {
    /// Octets of IP and transport headers before options and payload; a single cell has none.
    pub fn header_bytes(&self) -> u32 {
        match self {
            Spec::Tcp(_) => tcp::HEADERS,
            Spec::Udp(_) => udp::HEADERS,
            Spec::Cells(_) => 0,
            Spec::Fec(_) => udp::HEADERS,
        }
    }

    /// Octets of options in every packet, which its payload gives up.
    pub fn option_bytes(&self) -> u32 {
        match self {
            Spec::Tcp(params) => params.option_bytes(),
            _ => 0,
        }
    }

    /// What this transport needs to carry `source`.
    pub fn needs(&self, source: &source::Spec) -> Needs {
        let sources = &["cbr", "poisson", "on-off"];
        let clocked = Needs { packet: 0, packet_key: "source.size", reverse: None, sources };
        match self {
            Spec::Tcp(params) => Needs {
                packet: u64::from(tcp::HEADERS) + u64::from(params.mss),
                packet_key: "transport.mss",
                reverse: Some(tcp::HEADERS + params.option_bytes()),
                sources: &["greedy", "file"],
            },
            Spec::Udp(_) => {
                let payload = source.datagram().map_or(0, |size| size.0);
                Needs { packet: payload.saturating_add(udp::HEADERS.into()), ..clocked }
            }
            Spec::Cells(_) => clocked,
            Spec::Fec(_) => {
                let packet = match source {
                    source::Spec::FecBlock(blocks) => blocks.mtu.0,
                    _ => 0,
                };
                Needs { packet, packet_key: "source.mtu", reverse: None, sources: &["fec-block"] }
            }
        }
    }

    /// Parity cells that this transport adds to every frame.
    pub fn parity_cells(&self) -> u32 {
        match self {
            Spec::Fec(params) => params.parity_cells,
            Spec::Tcp(_) | Spec::Udp(_) | Spec::Cells(_) => 0,
        }
    }

    /// What switches may lose of this transport's packets from `source`, if it repairs losses.
    pub fn budget(&self, source: &source::Spec) -> Option<Budget> {
        match (self, source) {
            (Spec::Fec(params), source::Spec::FecBlock(blocks)) => Some(params.budget(fec::Code::of(blocks))),
            _ => None,
        }
    }

    /// Refuse parameters that cannot work together.
    pub fn check(&self) -> Result<(), Refused> {
        match self {
            Spec::Tcp(params) => params.check(),
            Spec::Fec(params) => params.check(),
            Spec::Udp(_) | Spec::Cells(_) => Ok(()),
        }
    }
}
