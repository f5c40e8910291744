//! The unit of transport: a cell on a cell link or a whole packet on a packet link.

use crate::rng::Subject;
use crate::units::ids::CircuitId;

/// A cell or a packet, as ports see it: twenty octets, copied freely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// The virtual circuit, an index into the network's circuits.
    pub vc: CircuitId,
    /// Serial number of the frame on its circuit.
    pub frame: u32,
    /// Name of the unit's packet at its source, independent of losses of earlier packets: see `Cargo::identity`.
    /// Random draws about the unit depend on it.
    pub identity: u32,
    /// Position within the frame, from 0; always 0 for a packet.
    pub index: u16,
    /// Octets on the line.
    pub bytes: u16,
    /// Index on the circuit's path, from 0, of the port at which the unit is or arrives next.
    pub hop: u8,
    /// First and last unit of the frame, priority, block and congestion marks.
    pub flags: Flags,
}

/// Octets of a packet that has been cut to its headers: the smallest Ethernet frame.
pub const CUT_BYTES: u16 = 64;

/// Marks of a unit, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// First unit of a frame, as far as a node can infer: no header marks it, but the previous unit on its circuit
    /// ended a frame.
    pub const FIRST: Flags = Flags(1);
    /// Last unit of its frame: the AAL5 user-to-user bit ("EOM").
    pub const EOM: Flags = Flags(2);
    /// Cell loss priority: this unit may be discarded before others.
    pub const CLP: Flags = Flags(4);
    /// The sender marks the unit as sent before its first acknowledgement; memories count it in the class that
    /// `unscheduled` names.
    pub const UNSCHEDULED: Flags = Flags(8);
    /// The unit's transport reacts to congestion marks (RFC 3168, "ECT"), so a port may mark it instead of losing it.
    /// A cell has no such bit: there the flag stands for an agreement between circuit and switches.
    pub const ECT: Flags = Flags(16);
    /// A port has met congestion and has marked the unit: "CE" of a packet (RFC 3168), EFCI of a cell (ITU-T I.361).
    pub const CE: Flags = Flags(32);
    /// The unit's transport reacts to marks as a scalable congestion control does (RFC 9331, "ECT(1)"); set in
    /// addition to [`Flags::ECT`].
    pub const L4S: Flags = Flags(64);
    /// A port has cut the packet to its headers.
    pub const CUT: Flags = Flags(128);
    /// A unit of the last packet of a forward error correction block.
    pub const BLOCK_END: Flags = Flags(256);
    /// A policer has given the unit its worst colour; set in addition to [`Flags::CLP`].
    pub const RED: Flags = Flags(512);
    /// The policer of the port at which the unit is has put it into a lower class. Every policer that does so decides anew, and other
    /// ports ignore the mark.
    pub const LOWERED: Flags = Flags(1024);

    /// Return these marks with those of `other`.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// Return these marks without those of `other`.
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    /// Return whether all marks of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A colour of a policer, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    /// Within the committed rate.
    Green,
    /// Within the excess.
    Yellow,
    /// Beyond it.
    Red,
}

#[cfg(test)]
impl Flags {
    /// Return the marks of a cell as tests spell it: `f` first, `.` middle, `e` last, `1` a frame by itself; `F` `:`
    /// `E` `!` are the same cells with CLP = 1, `p` `-` `q` `2` the same cells of a transport that reacts to
    /// congestion marks.
    pub(crate) fn spelled(cell: char) -> Flags {
        match cell {
            'f' => Flags::FIRST,
            '.' => Flags::default(),
            'e' => Flags::EOM,
            '1' => Flags::FIRST.with(Flags::EOM),
            'F' => Flags::FIRST.with(Flags::CLP),
            ':' => Flags::CLP,
            'E' => Flags::EOM.with(Flags::CLP),
            '!' => Flags::spelled('1').with(Flags::CLP),
            'p' => Flags::FIRST.with(Flags::ECT),
            '-' => Flags::ECT,
            'q' => Flags::EOM.with(Flags::ECT),
            '2' => Flags::spelled('1').with(Flags::ECT),
            _ => panic!("no such cell: {cell}"),
        }
    }
}

impl Unit {
    /// Return the unit as the subject of random draws.
    #[inline]
    pub fn subject(&self) -> Subject {
        Subject::unit(self.vc.0, self.identity, self.index)
    }

    /// Return whether a frame begins with this unit, as far as a node can infer: see [`Boundary`].
    pub fn is_first(&self) -> bool {
        self.flags.has(Flags::FIRST)
    }

    /// Return whether this is the first unit of its frame, by the host's numbering.
    pub fn begins_frame(&self) -> bool {
        self.index == 0
    }

    /// Return whether this is the last unit of its frame.
    pub fn is_eom(&self) -> bool {
        self.flags.has(Flags::EOM)
    }

    /// Return whether this unit is marked as discardable before others.
    pub fn is_marked(&self) -> bool {
        self.flags.has(Flags::CLP)
    }

    /// Return the colour that policers have given this unit.
    #[inline]
    pub fn colour(&self) -> Colour {
        match (self.is_marked(), self.flags.has(Flags::RED)) {
            (_, true) => Colour::Red,
            (true, false) => Colour::Yellow,
            (false, false) => Colour::Green,
        }
    }

    /// Return the unit with a colour.
    pub fn coloured(self, colour: Colour) -> Unit {
        let plain = self.flags.without(Flags::CLP.with(Flags::RED));
        let own = match colour {
            Colour::Green => Flags(0),
            Colour::Yellow => Flags::CLP,
            Colour::Red => Flags::CLP.with(Flags::RED),
        };
        Unit { flags: plain.with(own), ..self }
    }

    /// Return whether the policer of its port has put this unit into a lower class.
    #[inline]
    pub fn is_lowered(&self) -> bool {
        self.flags.has(Flags::LOWERED)
    }

    /// Return the unit in a lower class, or in that of its circuit.
    pub fn lowered(self, lowered: bool) -> Unit {
        let plain = self.flags.without(Flags::LOWERED);
        Unit { flags: if lowered { plain.with(Flags::LOWERED) } else { plain }, ..self }
    }

    /// Return whether a port may set a congestion mark on this unit instead of losing it.
    pub fn is_ect(&self) -> bool {
        self.flags.has(Flags::ECT)
    }

    /// Return whether this unit joins a queue for scalable congestion controls, because it has ECT(1) or CE (RFC 9331
    /// section 5.1).
    pub fn is_l4s(&self) -> bool {
        self.is_ect() && self.flags.0 & (Flags::L4S.0 | Flags::CE.0) != 0
    }

    /// Return the unit with a congestion mark.
    pub fn marked(self) -> Unit {
        Unit { flags: self.flags.with(Flags::CE), ..self }
    }

    /// Return a packet without its data, cut to its headers.
    pub fn cut(self, bytes: u16) -> Unit {
        Unit { flags: self.flags.with(Flags::CUT), bytes, ..self }
    }

    /// Return whether a port has cut this packet to its headers.
    pub fn is_cut(&self) -> bool {
        self.flags.has(Flags::CUT)
    }

    /// Return whether the sender has marked this unit as sent before the first acknowledgement.
    #[inline]
    pub fn is_unscheduled(&self) -> bool {
        self.flags.has(Flags::UNSCHEDULED)
    }

    /// Return whether a port has set a congestion mark on this unit.
    pub fn is_ce(&self) -> bool {
        self.flags.has(Flags::CE)
    }
}

/// The boundary of frames at a place where units of a circuit pass on, possibly after losses: whether the latest unit
/// there ended a frame.
///
/// No cell is marked as the first of a frame. The next node infers this from the preceding cell, so a loss moves the
/// boundary: after a lost EOM the next frame continues the previous one, and after a lost first cell the frame begins
/// with the second.
#[derive(Clone, Copy, Debug)]
pub struct Boundary {
    ended: bool,
}

impl Default for Boundary {
    /// Build the boundary before the first unit.
    fn default() -> Boundary {
        Boundary { ended: true }
    }
}

impl Boundary {
    /// Record that a unit passes, or consecutive units of a frame; for these `unit` has the marks of the first and
    /// the last. Return the unit with the first-unit mark as the next node infers it.
    #[inline]
    pub fn pass(&mut self, unit: Unit) -> Unit {
        let first = if std::mem::replace(&mut self.ended, unit.is_eom()) { Flags::FIRST } else { Flags(0) };
        Unit { flags: unit.flags.without(Flags::FIRST).with(first), ..unit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_fits_twenty_octets() {
        assert_eq!(size_of::<Unit>(), 20);
    }

    #[test]
    fn l4s_is_what_bears_ect_1_or_ce() {
        let unit =
            |flags| Unit { vc: CircuitId(0), frame: 0, identity: 0, index: 0, bytes: 53, hop: 0, flags };
        let is_l4s = |flags: Flags| unit(flags).is_l4s();
        assert!(!is_l4s(Flags::default()) && !is_l4s(Flags::ECT));
        assert!(is_l4s(Flags::ECT.with(Flags::L4S)) && is_l4s(Flags::ECT.with(Flags::CE)));
    }

    #[test]
    fn a_single_cell_frame_is_first_and_last() {
        let unit = Unit {
            vc: CircuitId(0),
            frame: 0,
            identity: 0,
            index: 0,
            bytes: 53,
            hop: 0,
            flags: Flags::FIRST.with(Flags::EOM),
        };
        assert!(unit.is_first() && unit.is_eom() && !unit.is_marked());
    }

    /// Cells of frames of three, as (frame, index), that the next node takes for the first of a frame.
    fn firsts(cells: &[(u32, u16)]) -> Vec<(u32, u16)> {
        let mut boundary = Boundary::default();
        let flags = [Flags::FIRST, Flags::default(), Flags::EOM];
        let unit = |&(frame, index): &(u32, u16)| Unit {
            vc: CircuitId(0),
            frame,
            identity: frame,
            index,
            bytes: 53,
            hop: 0,
            flags: flags[usize::from(index)],
        };
        let seen = cells.iter().map(|cell| boundary.pass(unit(cell)));
        seen.filter(Unit::is_first).map(|unit| (unit.frame, unit.index)).collect()
    }

    #[test]
    fn a_frame_begins_behind_an_eom() {
        assert_eq!(firsts(&[(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]), [(0, 0), (1, 0)]);
    }

    #[test]
    fn a_frame_without_its_first_cell_begins_with_the_second() {
        assert_eq!(firsts(&[(0, 1), (0, 2), (1, 1), (1, 2)]), [(0, 1), (1, 1)]);
    }

    #[test]
    fn a_frame_behind_one_without_eom_goes_on_with_it() {
        assert_eq!(firsts(&[(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 0)]), [(0, 0), (2, 0)]);
    }
}
