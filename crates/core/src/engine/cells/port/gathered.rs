//! Units that have started to leave a port and are forwarded frame by frame.

use super::context::PortSetup;
use crate::engine::cells::train::Gathering;
use crate::units::Time;
use crate::units::ids::{IdVec, PortVc};

/// For every circuit the units that have started but are not forwarded yet, and the instants at which units are
/// separated.
#[derive(Debug)]
pub(crate) struct GatheredUnits {
    /// Consecutive units of a frame, by circuit.
    pub(crate) by_vc: IdVec<PortVc, Gathering>,
    /// Units before and after one of these instants are forwarded separately. The next instant is the last in the
    /// list.
    cuts: Vec<Time>,
}

impl GatheredUnits {
    /// Build the record without units.
    pub(crate) fn new(setup: &PortSetup<'_>) -> GatheredUnits {
        GatheredUnits {
            by_vc: IdVec::filled(Gathering::default(), setup.port.pool().vcs()),
            cuts: setup.cuts(),
        }
    }

    /// Return the next instant at which units are separated.
    #[inline]
    pub(crate) fn next_cut(&self) -> Option<Time> {
        self.cuts.last().copied()
    }

    /// Return whether a unit that starts at `time` must be separated from the units before it.
    #[inline]
    pub(crate) fn separates(&self, time: Time) -> bool {
        self.cuts.last().is_some_and(|cut| *cut <= time)
    }

    /// Remove the instants up to `time`, after the units before them have been forwarded.
    pub(crate) fn pass_cuts(&mut self, time: Time) {
        while self.cuts.pop_if(|cut| *cut <= time).is_some() {}
    }
}
