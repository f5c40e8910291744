//! What travels: a unit is a cell on a cell link or a whole packet on a packet link.

/// A cell or a packet, as ports see it: sixteen octets, copied freely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The virtual circuit, an index into the network's circuits.
    pub vc: u32,
    /// Serial number of the frame on its circuit.
    pub frame: u32,
    /// Position within the frame, from 0; always 0 for a packet.
    pub index: u16,
    /// Octets on the line.
    pub bytes: u16,
    /// Which of the circuit's ports the unit meets next, from 0.
    pub hop: u8,
    /// First and last unit of the frame, priority and block marks.
    pub flags: Flags,
}

/// Marks of a unit, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// First unit of its frame.
    pub const FIRST: Flags = Flags(1);
    /// Last unit of its frame: the AAL5 user-to-user bit ("EOM").
    pub const EOM: Flags = Flags(2);
    /// Cell loss priority: this unit may be discarded before others.
    pub const CLP: Flags = Flags(4);
    /// A unit of the last packet of a forward error correction block.
    pub const BLOCK_END: Flags = Flags(8);

    /// These marks and those.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// These marks but not those.
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    /// Whether all of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl Unit {
    /// Whether this is the first unit of its frame.
    pub fn is_first(&self) -> bool {
        self.flags.has(Flags::FIRST)
    }

    /// Whether this is the last unit of its frame.
    pub fn is_eom(&self) -> bool {
        self.flags.has(Flags::EOM)
    }

    /// Whether this unit is marked as discardable before others.
    pub fn is_marked(&self) -> bool {
        self.flags.has(Flags::CLP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_fits_sixteen_octets() {
        assert_eq!(size_of::<Unit>(), 16);
    }

    #[test]
    fn a_single_cell_frame_is_first_and_last() {
        let unit =
            Unit { vc: 0, frame: 0, index: 0, bytes: 53, hop: 0, flags: Flags::FIRST.with(Flags::EOM) };
        assert!(unit.is_first() && unit.is_eom() && !unit.is_marked());
    }
}
