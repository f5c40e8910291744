//! What a scenario can say about adaptation: with `aal5` links carry cells, with `packet` packets, unless they say
//! otherwise.

use crate::units::Bytes;

/// Cells.
pub mod aal5 {
    crate::section! {
        /// Packets travel as AAL5 frames in cells.
        pub struct Params {
            /// Whether each frame carries an LLC/SNAP header of 8 octets (RFC 1483).
            pub llc_snap: bool = false,
        }
    }
}

/// Packets.
pub mod packet {
    use super::Bytes;

    crate::section! {
        /// Packets travel whole.
        pub struct Params {
            /// Octets that the line adds to each packet: preamble, header, checksum, gap.
            pub header: Bytes = Bytes(0),
        }
    }
}

crate::variants! {
    /// How packets travel, unless a link says otherwise.
    "adaptation" by "kind" {
        Aal5 = "aal5" in aal5 at "../adaptation/aal5.rs",
        Packet = "packet" in packet at "../adaptation/packet.rs",
    }
}

impl Default for Spec {
    fn default() -> Spec {
        Spec::Aal5(aal5::Params { llc_snap: false })
    }
}

impl Spec {
    /// Whether frames carry an LLC/SNAP header.
    pub fn llc_snap(&self) -> bool {
        matches!(self, Spec::Aal5(aal5::Params { llc_snap: true }))
    }

    /// Octets that a packet line adds to each packet.
    pub fn header(&self) -> Bytes {
        match self {
            Spec::Aal5(_) => Bytes(0),
            Spec::Packet(packet) => packet.header,
        }
    }
}
