//! # Source
//! ITU-T Recommendation I.363 (1993), AAL type 5; paper 001 (L. Kalampoukas, A. Varma, 1995), section 3, for the
//! number of cells; RFC 1483 (1993) for the LLC/SNAP header.
//!
//! # Idea
//! A packet and its trailer of eight octets fill whole cells; the last one is marked (EOM). The receiver collects
//! cells up to an EOM and then checks the length and the CRC in the trailer. It cannot see which cell was lost:
//! without the EOM of one frame the cells of the next one join it, and both are lost.
//!
//! # Parameters
//! `llc_snap`: eight octets more for each packet.
//!
//! # Differences from the paper
//! A wrong frame never passes the CRC, which happens with a probability of 2⁻³². A frame counts as marked (EFCI) if
//! any of its cells is; I.363 takes the bit of the last one.
//!
//! # Complexity
//! Constant per cell.

use super::Shape;
use crate::section;
use crate::unit::{Flags, Unit};
use crate::units::{CELL_BYTES, CELL_PAYLOAD};

section! {
    /// Packets travel as AAL5 frames in cells.
    pub struct Params {
        /// Whether each frame carries an LLC/SNAP header of 8 octets (RFC 1483).
        pub llc_snap: bool = false,
    }
}

/// Octets of the trailer: user-to-user, common part, length and CRC.
pub const TRAILER: u64 = 8;
/// Octets of an LLC/SNAP header.
pub const LLC_SNAP: u64 = 8;

/// Return the number of cells of a packet of `bytes` octets: ⌈(n + 8) / 48⌉, and with LLC/SNAP ⌈(n + 16) / 48⌉.
pub fn cells(bytes: u64, llc_snap: bool) -> u64 {
    let header = if llc_snap { LLC_SNAP } else { 0 };
    (bytes + header + TRAILER).div_ceil(CELL_PAYLOAD)
}

/// Return the shape of the frame of a packet of `bytes` octets.
pub fn segment(bytes: u32, llc_snap: bool) -> Shape {
    let units = cells(u64::from(bytes), llc_snap);
    Shape { units: u16::try_from(units).expect("a checked packet fits a frame"), bytes: CELL_BYTES as u16 }
}

/// The receiver's finding about the cells up to an EOM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reassembled {
    /// All cells of one frame and no others.
    Whole,
    /// The number of cells does not match the length in the trailer.
    WrongLength,
    /// The length matches, but the cells are not those of one frame.
    WrongCrc,
}

/// The reassembly buffer of one circuit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reassembly {
    cells: u64,
    frame: u32,
    gap: bool,
    marks: Flags,
}

impl Reassembly {
    /// Add consecutive cells of a frame; `unit` has the marks of the first and the last. At an EOM the receiver
    /// checks the collected cells against the trailer, which says that the frame has `length` cells.
    pub fn push(&mut self, unit: &Unit, cells: u16, length: u16) -> Option<Reassembled> {
        if self.cells == 0 {
            (self.frame, self.gap, self.marks) = (unit.frame, unit.index != 0, Flags::default());
        }
        self.gap |= unit.frame != self.frame || u64::from(unit.index) != self.cells;
        self.marks.0 |= unit.flags.0 & (Flags::CE.0 | Flags::CUT.0);
        self.cells += u64::from(cells);
        if !unit.is_eom() {
            return None;
        }
        let collected = std::mem::take(&mut self.cells);
        Some(if collected != u64::from(length) {
            Reassembled::WrongLength
        } else if self.gap {
            Reassembled::WrongCrc
        } else {
            Reassembled::Whole
        })
    }

    /// Return the marks that ports have set on the cells of the last frame, or on the packet: a congestion mark, or a
    /// cut to the headers.
    #[inline]
    pub fn marks(&self) -> Flags {
        self.marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ids::CircuitId;

    #[test]
    fn packets_need_the_cells_of_the_papers() {
        let sizes = [40, 552, 576, 1064, 1500, 2088, 4352, 9180];
        assert_eq!(sizes.map(|n| cells(n, false)), [1, 12, 13, 23, 32, 44, 91, 192]);
        assert_eq!(sizes.map(|n| cells(n, true)), [2, 12, 13, 23, 32, 44, 91, 192]);
        assert_eq!([512, 2048].map(|n| cells(n, false)), [11, 43]);
    }

    /// Deliver those cells of two consecutive frames of three cells that have arrived, and return the receiver's
    /// answers.
    fn receive(arrived: [bool; 6]) -> Vec<Reassembled> {
        let frames = [0, 1]
            .map(|frame| Shape { units: 3, bytes: 53 }.units(CircuitId(0), frame, frame, Flags::default()));
        let mut reassembly = Reassembly::default();
        let cells = frames.into_iter().flatten().zip(arrived).filter(|(_, arrived)| *arrived);
        cells.filter_map(|(unit, _)| reassembly.push(&unit, 1, 3)).collect()
    }

    use Reassembled::{Whole, WrongCrc, WrongLength};

    #[test]
    fn complete_frames_are_whole() {
        assert_eq!(receive([true; 6]), [Whole, Whole]);
    }

    #[test]
    fn a_lost_middle_cell_costs_one_frame() {
        assert_eq!(receive([true, false, true, true, true, true]), [WrongLength, Whole]);
    }

    #[test]
    fn a_lost_eom_glues_two_frames_and_costs_both() {
        assert_eq!(receive([true, true, false, true, true, true]), [WrongLength]);
    }

    #[test]
    fn a_tail_glued_to_a_truncated_frame_of_matching_length_fails_its_crc() {
        assert_eq!(receive([true, false, false, false, true, true]), [WrongCrc]);
    }

    #[test]
    fn a_frame_lost_as_a_whole_costs_nothing_else() {
        assert_eq!(receive([false, false, false, true, true, true]), [Whole]);
    }
}
