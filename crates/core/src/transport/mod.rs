//! Transports: what turns an application's data into packets or single cells.

use crate::refused::Refused;
use crate::registry;
use crate::source;
use crate::units::CELL_PAYLOAD;

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
    /// Octets of the largest packet, IP header included; none if it sends single cells.
    pub packet: Option<u64>,
    /// The key of the flow that decides about it.
    pub packet_key: &'static str,
    /// Octets of the largest packet that comes back, if any does.
    pub reverse: Option<u32>,
}

impl Needs {
    /// Octets of the largest packet, IP header included, or those that a single cell carries.
    pub fn octets(&self) -> u64 {
        self.packet.unwrap_or(CELL_PAYLOAD)
    }
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

    /// Whether it can carry what such a source sends.
    pub fn carries(&self, source: source::Kind) -> bool {
        use source::Kind::{Cbr, FecBlock, File, Greedy, OnOff, Poisson};
        match source {
            Greedy | File => matches!(self, Spec::Tcp(_)),
            Cbr | Poisson | OnOff => matches!(self, Spec::Udp(_) | Spec::Cells(_)),
            FecBlock => matches!(self, Spec::Fec(_)),
        }
    }

    /// What it needs to carry `source`, if it can.
    pub fn needs(&self, source: &source::Spec) -> Option<Needs> {
        let one_way = |packet, packet_key| Some(Needs { packet, packet_key, reverse: None });
        match (self, source) {
            _ if !self.carries(source.kind()) => None,
            (Spec::Tcp(params), _) => Some(Needs {
                packet: Some(u64::from(tcp::HEADERS) + u64::from(params.mss)),
                packet_key: "transport.mss",
                reverse: Some(tcp::HEADERS + params.option_bytes()),
            }),
            (Spec::Udp(_), _) => {
                let packet = source.datagram()?.0.saturating_add(udp::HEADERS.into());
                one_way(Some(packet), "source.size")
            }
            (Spec::Cells(_), _) => one_way(None, "source.size"),
            (Spec::Fec(_), source::Spec::FecBlock(blocks)) => one_way(Some(blocks.mtu.0), "source.mtu"),
            (Spec::Fec(_), _) => None,
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
    pub fn budget(&self, source: &source::Spec) -> Option<fec::Budget> {
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
