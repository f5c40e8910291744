//! Transports: what turns an application's data into packets or single cells.

pub mod tcp;

pub mod udp;

pub mod cells;

crate::variants! {
    /// A transport as a scenario asks for it.
    "transport" by "kind" {
        Tcp = "tcp" in tcp at "tcp/mod.rs",
        Udp = "udp" in udp,
        Cells = "cells" in cells,
    }
}

impl Spec {
    /// Octets of IP and transport headers before the payload; a single cell has none.
    pub fn header_bytes(&self) -> u32 {
        match self {
            Spec::Tcp(_) => tcp::HEADERS,
            Spec::Udp(_) => udp::HEADERS,
            Spec::Cells(_) => 0,
        }
    }
}
