//! # Source
//! No publication: on a packet link a packet is sent as it is. The standard of the line says what it adds, for
//! Ethernet IEEE 802.3: preamble (8 octets), header (14), check sequence (4) and gap (12).
//!
//! # Idea
//! A packet, IP header included, and the octets that the line adds are one unit. It is stored, lost and delivered whole.
//! A shorter unit than the least one of the line is padded.
//!
//! # Parameters
//! `header`: octets that the line adds to each packet, 38 for Ethernet; by default none. They take time on the line and
//! room in buffers that are counted in octets. `minimum`: the least octets of a packet on the line, what the line adds
//! included; 84 for Ethernet, which pads packets below 46 octets.
//!
//! # Differences from the paper
//! There is no paper.
//!
//! # Complexity
//! Constant per packet.

use super::{MAX_PACKET, Shape};
use crate::refused::{Refused, refuse, refuse_if};
use crate::section;
use crate::units::Bytes;

section! {
    /// Packets travel whole.
    pub struct Params {
        /// Octets that the line adds to each packet: preamble, header, checksum, gap.
        pub header: Bytes = Bytes(0),
        /// Least octets of a packet with its header: shorter packets are padded, on lines and in buffers. 84 for Ethernet with a header
        /// of 38.
        pub minimum: Option<Bytes> = None,
    }
}

impl Params {
    /// Return how packets become units.
    pub fn padding(&self) -> Padding {
        let octets = |bytes: Bytes| u32::try_from(bytes.0).expect("a checked size");
        Padding { header: octets(self.header), minimum: self.minimum.map_or(0, octets) }
    }

    /// Refuse a header or a minimum that is too long.
    pub fn check(&self) -> Result<(), Refused> {
        if let Some(minimum) = self.minimum {
            check_minimum(minimum)?;
        }
        if self.header.0 > MAX_PACKET {
            return refuse(
                "header",
                format!("a packet has at most {MAX_PACKET} bytes, those of its line included"),
            );
        }
        Ok(())
    }
}

/// Refuse a least size of packets that changes nothing, or that no packet can have.
pub fn check_minimum(minimum: Bytes) -> Result<(), Refused> {
    refuse_if(
        minimum.0 == 0,
        "minimum",
        "must be greater than 0; leave the key out where packets are not padded",
    )?;
    refuse_if(
        minimum.0 > MAX_PACKET,
        "minimum",
        format!("must be at most {MAX_PACKET} bytes, the longest packet"),
    )
}

/// The octets that a line adds to packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Padding {
    /// Octets that are added to each packet.
    pub header: u32,
    /// Least octets of a packet, header included.
    pub minimum: u32,
}

impl Padding {
    /// Return the octets of the unit of a packet of `bytes` octets.
    #[inline]
    pub fn unit(self, bytes: u32) -> u16 {
        u16::try_from((bytes + self.header).max(self.minimum)).expect("a checked packet fits")
    }
}

/// Return the shape of the unit of a packet of `bytes` octets.
#[inline]
pub fn frame(bytes: u32, padding: Padding) -> Shape {
    Shape { units: 1, bytes: padding.unit(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_and_what_the_line_adds_are_one_unit() {
        assert_eq!(frame(1500, Padding { header: 38, minimum: 0 }), Shape { units: 1, bytes: 1538 });
    }

    #[test]
    fn on_ethernet_packets_below_46_octets_take_84() {
        let ethernet = Padding { header: 38, minimum: 84 };
        assert_eq!([28, 40, 46, 47, 1500].map(|bytes| ethernet.unit(bytes)), [84, 84, 84, 85, 1538]);
    }

    #[test]
    fn a_minimum_of_nothing_is_refused_and_one_that_no_packet_can_have() {
        let why = |octets| check_minimum(Bytes(octets)).map_err(|refused| refused.to_string());
        assert!(why(0).unwrap_err().starts_with("minimum: must be greater than 0"));
        assert!(why(65_536).unwrap_err().starts_with("minimum: must be at most 65535 bytes"));
        assert_eq!((why(1), why(65_535)), (Ok(()), Ok(())));
    }
}
