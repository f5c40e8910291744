//! # Source
//! Paper 004 (S. Chatterjee, W. Xiao), section 4.1 and its footnotes 2 and 4; the numbering of cells after J. Escobar,
//! C. Partridge, "A segmentation and reassembly (SAR) protocol for use with ATM", 1990.
//!
//! # Idea
//! A frame of L cells is followed by p cells of parity. Cells are numbered by frame and position, so the receiver
//! knows which are missing: it has the frame as soon as any L of the L + p cells have arrived, with or without the
//! EOM. A cell of a later frame ends the collection of an earlier one and never joins it.
//!
//! # Parameters
//! `parity_cells` p of the transport `fec`.
//!
//! # Differences from the paper
//! Numbers take no room in cells; the paper's 32 cells per 1500 octets leave no room for them either.
//!
//! # Complexity
//! Constant per cell.

use crate::unit::Unit;

/// A code over blocks of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Packets of data in a block: K.
    pub data: u16,
    /// Packets of parity in a block: h.
    pub parity: u16,
}

impl Code {
    /// Return the number of packets of a block: K + h.
    pub fn packets(self) -> u16 {
        self.data + self.parity
    }

    /// Return whether any `arrived` packets of a block restore its data.
    pub fn decodes(self, arrived: u16) -> bool {
        arrived >= self.data
    }
}

/// The frames that the arrival of a cell completes or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collected {
    /// The frame of this cell has just become complete.
    pub whole: bool,
    /// An earlier frame, some of whose cells had arrived, will never be complete.
    pub given_up: bool,
}

/// The cells of the current frame of one circuit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Collection {
    frame: u32,
    cells: u16,
    needed: u16,
}

impl Collection {
    /// Add a cell whose frame can be restored from any `needed` cells.
    pub fn push(&mut self, unit: &Unit, needed: u16) -> Collected {
        let other = unit.frame != self.frame;
        let given_up = other && (1..self.needed).contains(&self.cells);
        if other {
            *self = Collection { frame: unit.frame, cells: 0, needed };
        }
        (self.cells, self.needed) = (self.cells + 1, needed);
        Collected { whole: self.cells == needed, given_up }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;
    use crate::unit::Flags;
    use crate::units::ids::CircuitId;

    /// Return the completed and the abandoned frames, for those cells of three frames of 2 + 1 cells that arrive.
    fn receive(arrived: [bool; 9]) -> (Vec<u32>, usize) {
        let frames = [0, 1, 2]
            .map(|frame| Shape { units: 3, bytes: 53 }.units(CircuitId(0), frame, frame, Flags::default()));
        let (mut collection, mut whole, mut given_up) = (Collection::default(), Vec::new(), 0);
        for (unit, _) in frames.into_iter().flatten().zip(arrived).filter(|(_, arrived)| *arrived) {
            let collected = collection.push(&unit, 2);
            whole.extend(collected.whole.then_some(unit.frame));
            given_up += usize::from(collected.given_up);
        }
        (whole, given_up)
    }

    #[test]
    fn a_frame_survives_the_loss_of_any_one_cell() {
        let all = [true; 9];
        assert_eq!(receive(all), (vec![0, 1, 2], 0));
        for lost in 0..9 {
            let mut arrived = all;
            arrived[lost] = false;
            assert_eq!(receive(arrived), (vec![0, 1, 2], 0));
        }
    }

    #[test]
    fn a_lost_eom_glues_no_frames() {
        let arrived = [true, false, false, true, true, false, true, true, true];
        assert_eq!(receive(arrived), (vec![1, 2], 1));
    }

    #[test]
    fn a_frame_of_which_nothing_arrives_is_passed_over() {
        let arrived = [true, true, true, false, false, false, true, false, true];
        assert_eq!(receive(arrived), (vec![0, 2], 0));
    }
}
