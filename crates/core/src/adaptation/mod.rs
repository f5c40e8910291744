//! Adaptation: how a packet becomes units, and how units become a packet again.
//!
//! On cell links the ATM adaptation layer 5 cuts a packet into cells and joins the cells that arrive up to the next
//! EOM; a code may add parity cells to a frame. On packet links a packet is one unit.

pub mod coded;

use crate::refused::Refused;
use crate::registry;
use crate::unit::{Flags, Unit};
use crate::units::ids::CircuitId;
use crate::units::{Bytes, CELL_BYTES};

registry! {
    /// The adaptation of packets to links, unless a link has its own.
    "adaptation" by "kind" {
        Aal5 = "aal5" in aal5,
        Packet = "packet" in packet,
    }
}

impl Default for Spec {
    fn default() -> Spec {
        Spec::Aal5(aal5::Params { llc_snap: false })
    }
}

/// Greatest length of a packet on a line, and of the payload of an AAL5 frame, in octets: the length field has
/// sixteen bits.
pub const MAX_PACKET: u64 = 65_535;

impl Spec {
    /// Refuse parameters that cannot work.
    pub fn check(&self) -> Result<(), Refused> {
        match self {
            Spec::Aal5(_) => Ok(()),
            Spec::Packet(packet) => packet.check(),
        }
    }

    /// Return whether frames carry an LLC/SNAP header.
    pub fn llc_snap(&self) -> bool {
        matches!(self, Spec::Aal5(aal5::Params { llc_snap: true }))
    }

    /// Return the octets that a packet line adds to each packet.
    pub fn header(&self) -> Bytes {
        match self {
            Spec::Aal5(_) => Bytes(0),
            Spec::Packet(packet) => packet.header,
        }
    }

    /// Return the least octets of a packet on packet lines; 0 if packets are not padded.
    pub fn minimum(&self) -> Bytes {
        match self {
            Spec::Aal5(_) => Bytes(0),
            Spec::Packet(packet) => packet.minimum.unwrap_or_default(),
        }
    }

    /// Return how packets become units on packet lines.
    pub fn padding(&self) -> packet::Padding {
        match self {
            Spec::Aal5(_) => packet::Padding::default(),
            Spec::Packet(packet) => packet.padding(),
        }
    }
}

/// The shape of a frame on its first link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of units.
    pub units: u16,
    /// Octets of each unit on the line.
    pub bytes: u16,
}

/// Framing of the packets of one circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Single cells without adaptation: every packet is one cell.
    Cell,
    /// AAL5.
    Aal5 {
        /// Whether an LLC/SNAP header of eight octets precedes the packet.
        llc_snap: bool,
        /// Number of parity cells that a code adds to each frame.
        parity: u16,
    },
    /// Whole packets with what the link adds.
    Packet(packet::Padding),
}

impl Framing {
    /// Return the shape of the frame of a packet of `packet` octets, IP header included; a single cell always carries
    /// 48 octets.
    #[inline]
    pub fn shape(self, packet: u32) -> Shape {
        match self {
            Framing::Cell => Shape { units: 1, bytes: CELL_BYTES as u16 },
            Framing::Aal5 { llc_snap, parity } => {
                let shape = aal5::segment(packet, llc_snap);
                Shape { units: shape.units + parity, ..shape }
            }
            Framing::Packet(padding) => packet::frame(packet, padding),
        }
    }

    /// Return the octets that are added to a packet before it becomes units.
    pub fn added(self) -> u32 {
        match self {
            Framing::Cell => 0,
            Framing::Aal5 { llc_snap, .. } => {
                if llc_snap {
                    aal5::LLC_SNAP as u32
                } else {
                    0
                }
            }
            Framing::Packet(padding) => padding.header,
        }
    }

    /// Return the number of parity cells that a code adds to each frame.
    #[inline]
    pub fn parity(self) -> u16 {
        match self {
            Framing::Aal5 { parity, .. } => parity,
            Framing::Cell | Framing::Packet(_) => 0,
        }
    }

    /// Return this framing without the parity cells of a code.
    pub fn without_parity(self) -> Framing {
        match self {
            Framing::Aal5 { llc_snap, .. } => Framing::Aal5 { llc_snap, parity: 0 },
            Framing::Cell | Framing::Packet(_) => self,
        }
    }
}

impl Shape {
    /// Return the units of frame number `frame` of circuit `vc`, first to last; each has the `identity` of its
    /// packet, and the marks `flags` besides those of its place in the frame.
    pub fn units(self, vc: CircuitId, frame: u32, identity: u32, flags: Flags) -> impl Iterator<Item = Unit> {
        (0..self.units).map(move |index| Unit {
            vc,
            frame,
            identity,
            index,
            bytes: self.bytes,
            hop: 0,
            flags: flags.with(ends(index, self.units)),
        })
    }

    /// Return the octets of the whole frame on the line.
    pub fn line_bytes(self) -> u64 {
        u64::from(self.units) * u64::from(self.bytes)
    }
}

/// Return the marks for the first and the last unit that unit `index` of `units` has.
fn ends(index: u16, units: u16) -> Flags {
    let first = if index == 0 { Flags::FIRST } else { Flags::default() };
    if index + 1 == units { first.with(Flags::EOM) } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_cell_of_a_frame_is_its_eom() {
        let units: Vec<Unit> =
            Shape { units: 3, bytes: 53 }.units(CircuitId(7), 9, 9, Flags::default()).collect();
        assert_eq!(units.iter().map(|unit| unit.index).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(units.iter().map(Unit::is_first).collect::<Vec<_>>(), [true, false, false]);
        assert_eq!(units.iter().map(Unit::is_eom).collect::<Vec<_>>(), [false, false, true]);
        assert!(units.iter().all(|unit| unit.vc == CircuitId(7) && unit.frame == 9));
    }
}
