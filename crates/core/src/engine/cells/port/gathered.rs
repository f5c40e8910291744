//! Units that have started to leave a port and are forwarded frame by frame.

use super::context::PortSetup;
use super::outbox::Outbox;
use crate::engine::cells::topology::route::Handoff;
use crate::engine::cells::train::Gathering;
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc};
use crate::units::{Span, Time};

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

    /// Forward a unit that starts at `start`: at once to a port, to a host possibly later together with others of its
    /// frame; each of them takes the time `whole`.
    #[inline]
    pub(crate) fn forward(
        &mut self,
        out: &mut Outbox,
        (vc, handoff): (PortVc, Handoff),
        unit: &Unit,
        start: Time,
        whole: Span,
    ) {
        if self.separates(start) {
            self.pass_cuts(start);
            self.hand_on(out, whole);
        }
        if handoff != Handoff::Together {
            return out.send(vc, *unit, 1, start, whole);
        }
        let gathering = &mut self.by_vc[vc];
        gathering.join(out, vc, unit, 1, whole);
        gathering.last_starts(start);
        if unit.is_eom() {
            gathering.send(out, vc, whole);
        }
    }

    /// Forward all gathered units.
    pub(crate) fn hand_on(&mut self, out: &mut Outbox, whole: Span) {
        for (vc, gathering) in self.by_vc.pairs_mut() {
            gathering.send(out, vc, whole);
        }
    }

    /// Remove the instants up to `time`, after the units before them have been forwarded.
    pub(crate) fn pass_cuts(&mut self, time: Time) {
        while self.cuts.pop_if(|cut| *cut <= time).is_some() {}
    }
}
