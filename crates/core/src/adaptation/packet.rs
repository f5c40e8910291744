//! # Source
//! No publication: on a packet link a packet is sent as it is. The standard of the line says what it adds, for
//! Ethernet IEEE 802.3: preamble (8 octets), header (14), check sequence (4) and gap (12).
//!
//! # Idea
//! A packet, IP header included, and the octets that the line adds are one unit. It is stored, lost and delivered whole.
//!
//! # Parameters
//! `header`: octets that the line adds to each packet, 38 for Ethernet; by default none. They take time on the line and
//! room in buffers that are counted in octets.
//!
//! # Differences from the paper
//! There is no paper. Packets are not padded to a least size, as Ethernet does below 46 octets.
//!
//! # Complexity
//! Constant per packet.

use super::{MAX_PACKET, Shape};
use crate::refused::{Refused, refuse};
use crate::section;
use crate::units::Bytes;

section! {
    /// Packets travel whole.
    pub struct Params {
        /// Octets that the line adds to each packet: preamble, header, checksum, gap.
        pub header: Bytes = Bytes(0),
    }
}

impl Params {
    /// Refuse a header that is too long.
    pub fn check(&self) -> Result<(), Refused> {
        if self.header.0 > MAX_PACKET {
            return refuse(
                "header",
                format!("a packet has at most {MAX_PACKET} bytes, those of its line included"),
            );
        }
        Ok(())
    }
}

/// Return the shape of the unit of a packet of `bytes` octets, with `header` octets of the line.
#[inline]
pub fn frame(bytes: u32, header: u32) -> Shape {
    Shape { units: 1, bytes: u16::try_from(bytes + header).expect("a checked packet fits") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_and_what_the_line_adds_are_one_unit() {
        assert_eq!(frame(1500, 38), Shape { units: 1, bytes: 1538 });
    }
}
