//! Where each circuit has its queue, cells within frames can join it all at once, as long as nobody looks.
//!
//! A cell that joins a queue which is not empty changes nothing but lengths until its turn comes. So it does not matter
//! when exactly the inner cells of a frame join, if there is room, their queue cannot run empty meanwhile, and lengths
//! are looked at only when the next frame begins.

use super::Fast;
use super::lanes::Inner;
use super::turns::Turns;
use crate::buffer::admission::{Admission, Within};
use crate::buffer::pushout::PushOut;
use crate::buffer::verdict::Reason;
use crate::link::port::Port;
use crate::unit::Unit;
use crate::units::{CELL_BYTES, Time};

/// Cells of one frame that are taken together.
pub(super) struct Group {
    pub(super) unit: Unit,
    pub(super) vc: u32,
    pub(super) units: u64,
    /// Whether the last one ends the frame.
    pub(super) closed: bool,
}

impl Turns {
    /// Let cells join up to the next end of a train and not beyond `stop`, if all is as it must be.
    pub(super) fn pass_inner(&mut self, engine: &mut Fast<'_>, index: usize, stop: Time) -> bool {
        let Some(first) = self.inputs.next_time() else { return false };
        let stop = stop.min(self.full_from(&engine.network.ports[index], first));
        let mut inner = std::mem::take(&mut self.inner);
        let until = self.inputs.inner(stop, &mut inner);
        let calm =
            !inner.is_empty() && self.can_join(&mut engine.network.ports[index], &inner, (first, until));
        if calm {
            self.join_inner(engine, index, &inner, first);
        }
        inner.clear();
        self.inner = inner;
        calm
    }

    /// When there may be no room any more for the cells of trains that are arriving, from the one that arrives at `first` on.
    fn full_from(&self, port: &Port, first: Time) -> Time {
        let lanes = self.inputs.in_midst();
        let room = most(port).saturating_sub(port.pool.total() + lanes + 2);
        Time(first.0 + room / lanes.max(1) * self.pace.whole)
    }

    /// Whether all these cells are either lost or can join their queues, whenever that is within this time.
    ///
    /// Meanwhile the line sends. Arrivals of each lane and departures are spaced evenly, so that the occupancy is never
    /// more than a cell for each lane and two above what it is at the beginning or at the end.
    fn can_join(&mut self, port: &mut Port, inner: &[Inner], (from, until): (Time, Time)) -> bool {
        self.catch_up_all();
        let slots = self.slots(from, until);
        let mut taken = 0;
        for &Inner { vc, units, .. } in inner {
            match within(port, vc as usize) {
                Within::Asked => return false,
                Within::Taken if self.queued(port, vc) < slots => return false,
                Within::Taken => taken += units,
                Within::Lost(_) | Within::Broken(_) => {}
            }
        }
        let sent = until.0.saturating_sub(self.ends.0) / (self.pace.whole + 1);
        has_room(port, taken.saturating_sub(sent) + inner.len() as u64 + 2)
    }

    fn join_inner(&mut self, engine: &mut Fast<'_>, index: usize, inner: &[Inner], first: Time) {
        let port = &mut engine.network.ports[index];
        let mut taken = 0;
        let is_taken = |inner: &Inner| matches!(within(port, inner.vc as usize), Within::Taken);
        let instants = self.inputs.pass_inner(inner, is_taken);
        let level = port.pool.total();
        for &Inner { unit, vc, units, .. } in inner {
            let port = &mut engine.network.ports[index];
            match within(port, vc as usize) {
                Within::Lost(reason) | Within::Broken(reason) => lose(engine, index, &unit, units, reason),
                _ => {
                    join(port, &Group { unit, vc, units, closed: false }, 0);
                    taken += units;
                }
            }
        }
        engine.network.ports[index].counters.occupancy.rise(first, level, taken, instants);
    }

    /// Cells that the line may start from `from` to `until`.
    pub(super) fn slots(&self, from: Time, until: Time) -> u64 {
        (until.0 - from.0) / self.pace.whole + 2
    }
}

/// Whether more cells, of which no more than some are `gathered` in the buffer at a time, fit without a new largest
/// occupancy.
fn has_room(port: &Port, gathered: u64) -> bool {
    port.pool.total() + gathered <= most(port)
}

/// The occupancy that neither needs another place in the buffer nor sets a new maximum.
pub(super) fn most(port: &Port) -> u64 {
    port.pool.capacity().min(port.counters.occupancy.max())
}

/// What becomes of a unit within a circuit's frame.
pub(super) fn within(port: &mut Port, vc: usize) -> Within {
    let frames = port.pushout.as_mut().and_then(PushOut::frames);
    match frames.map_or(Within::Taken, |frames| frames.within(vc)) {
        Within::Taken => port.admission.within(vc),
        other => other,
    }
}

/// These cells join a queue that is not empty, of which the policy has been asked for so many.
pub(super) fn join(port: &mut Port, group: &Group, asked: u64) {
    let &Group { unit, vc, units, closed } = group;
    let others = units - asked;
    port.counters.units_in += units;
    port.counters.frames_in += u64::from(unit.is_first());
    port.admission.taken(vc as usize, others, others * CELL_BYTES);
    port.pool.add_ahead(vc as usize, units);
    port.queues[vc as usize].push_train(unit, units as u16, closed);
}

/// These cells of one frame are lost.
pub(super) fn lose(engine: &mut Fast<'_>, index: usize, unit: &Unit, units: u64, reason: Reason) {
    let counters = &mut engine.network.ports[index].counters;
    counters.units_in += units;
    counters.lost_many(reason, units);
    engine.network.circuits[unit.vc as usize].lost_many(units);
}
