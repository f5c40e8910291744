//! Control frames, which travel against the data of a line: credits, and pauses. They are not units.

use super::gate::credit::{Credit, cbfc};
use super::gate::pause::{self, PauseFrame};
use crate::units::CELL_BYTES;

/// A control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// A credit cell.
    Credit(Credit),
    /// A message with freed credits, which is written when it starts.
    Message,
    /// A pause frame.
    Pause(PauseFrame),
}

impl Control {
    /// Octets on the line.
    pub(crate) fn octets(self) -> u16 {
        match self {
            Control::Credit(_) => CELL_BYTES as u16,
            Control::Message => cbfc::MESSAGE,
            Control::Pause(_) => pause::OCTETS,
        }
    }

    /// Return whether it makes an earlier frame that still waits superfluous.
    pub(crate) fn replaces(self, other: Control) -> bool {
        match (self, other) {
            (Control::Pause(new), Control::Pause(old)) => (new.class, new.memory) == (old.class, old.memory),
            _ => false,
        }
    }
}
