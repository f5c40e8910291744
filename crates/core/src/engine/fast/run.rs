//! Consecutive units of one frame that are handed on together.

use super::Fast;
use super::pace::Beat;
use crate::unit::{Flags, Unit};
use crate::units::Time;

/// A run of consecutive units of one frame. Its first and its last unit have given the mark to `unit`, which is the first
/// one otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) unit: Unit,
    pub(super) units: u16,
}

impl Default for Run {
    fn default() -> Run {
        let unit = Unit { vc: 0, frame: 0, index: 0, bytes: 0, hop: 0, flags: Flags::default() };
        Run { unit, units: 0 }
    }
}

impl Run {
    /// Whether `unit` is the next one; then it belongs to the run with so many consecutive units.
    #[inline]
    pub(super) fn join(&mut self, unit: &Unit, units: u16) -> bool {
        let next = self.units > 0
            && self.unit.frame == unit.frame
            && u32::from(self.unit.index) + u32::from(self.units) == u32::from(unit.index);
        if next {
            self.units += units;
            self.unit.flags = self.unit.flags.with(unit.flags);
        }
        next
    }

    /// Hand it on, if there is anything, knowing when its last unit starts.
    pub(super) fn send(self, engine: &mut Fast<'_>, port: usize, vc: u32, last: Time, whole: u64) {
        if self.units > 0 {
            engine.send_on(port, vc, self, Beat::at(last), last, whole);
        }
    }
}
