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
    /// How packets travel, unless a link says otherwise.
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

/// Octets of the longest packet on a line, and of the longest payload of an AAL5 frame, whose length field has sixteen bits.
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

    /// Octets that a packet line adds to each packet.
    pub fn header(&self) -> Bytes {
        match self {
            Spec::Aal5(_) => Bytes(0),
            Spec::Packet(packet) => packet.header,
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
    /// Every packet is one cell.
    Cell,
    /// AAL5.
    Aal5 {
        /// Whether eight octets of LLC/SNAP precede the packet.
        llc_snap: bool,
        /// Cells that a code adds.
        parity: u16,
    },
    /// Packets with a header of this many octets.
    Packet {
        /// Octets that the link adds.
        header: u32,
    },
}

impl Framing {
    /// The frame of a packet of `packet` octets, IP header included; a single cell always has its 48.
    #[inline]
    pub fn shape(self, packet: u32) -> Shape {
        match self {
            Framing::Cell => Shape { units: 1, bytes: CELL_BYTES as u16 },
            Framing::Aal5 { llc_snap, parity } => {
                let shape = aal5::segment(packet, llc_snap);
                Shape { units: shape.units + parity, ..shape }
            }
            Framing::Packet { header } => packet::frame(packet, header),
        }
    }

    /// Cells that a code adds to each frame.
    #[inline]
    pub fn parity(self) -> u16 {
        match self {
            Framing::Aal5 { parity, .. } => parity,
            Framing::Cell | Framing::Packet { .. } => 0,
        }
    }

    /// Return this framing without the parity cells of a code.
    pub fn without_parity(self) -> Framing {
        match self {
            Framing::Aal5 { llc_snap, .. } => Framing::Aal5 { llc_snap, parity: 0 },
            Framing::Cell | Framing::Packet { .. } => self,
        }
    }
}

impl Shape {
    /// The units of frame number `frame` of circuit `vc`, first to last; each carries the `identity` of its packet, and
    /// `flags` in addition to its own.
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

    /// Octets of the whole frame on the line.
    pub fn line_bytes(self) -> u64 {
        u64::from(self.units) * u64::from(self.bytes)
    }
}

/// First and last marks of the unit at `index` of `units`.
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
