//! Control frames, which travel against the data of a line: credits, and pauses. They are not units.

use crate::metrics::port::RareCounters;
use crate::units::CELL_BYTES;

/// Length in octets of a message with freed credits.
pub(crate) const MESSAGE_OCTETS: u16 = 8;
/// Length in octets of a pause frame.
pub const PAUSE_OCTETS: u16 = 64;

/// A credit: the report of a receiver about an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Number of the account on its line.
    pub account: u32,
    /// Units that have left the receiver's buffer since the start of the run, modulo a power of two if the scheme
    /// sends only some bits of this count.
    pub forwarded: u64,
}

/// A pause frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseFrame {
    /// Number of the class in the scenario.
    pub class: u32,
    /// The memory that sends the frame: a node may have several memories, and a class may send again when all of them
    /// permit it.
    pub memory: u32,
    /// True if the class must stop, false if it may send again.
    pub stops: bool,
}

/// A control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// A credit cell.
    Credit(Credit),
    /// A message with freed credits, whose content is written when its transmission starts.
    Message,
    /// A pause frame.
    Pause(PauseFrame),
}

impl Control {
    /// Return the length of the frame on the line, in octets.
    pub(crate) fn octets(self) -> u16 {
        match self {
            Control::Credit(_) => CELL_BYTES as u16,
            Control::Message => MESSAGE_OCTETS,
            Control::Pause(_) => PAUSE_OCTETS,
        }
    }

    /// Count the frame among the control frames that its port has sent.
    pub(super) fn count(self, sent: &mut RareCounters) {
        match self {
            Control::Credit(_) | Control::Message => sent.credit_cells += 1,
            Control::Pause(_) => sent.pause_frames += 1,
        }
    }

    /// Return whether this frame makes an earlier frame superfluous that still waits.
    pub(crate) fn replaces(self, other: Control) -> bool {
        match (self, other) {
            (Control::Pause(new), Control::Pause(old)) => (new.class, new.memory) == (old.class, old.memory),
            _ => false,
        }
    }
}
