//! Where each circuit has its queue, cells within frames can join it all at once, as long as nobody looks.
//!
//! A cell that joins a queue which is not empty changes nothing but lengths until its turn comes. So it does not matter
//! when exactly the inner cells of a frame join, if there is room, their queue cannot run empty meanwhile, and lengths
//! are looked at only when the next frame begins.

use super::Fast;
use super::lanes::{Alone, Inner};
use super::turns::Turns;
use crate::buffer::admission::{Admission, Within};
use crate::buffer::pushout::PushOut;
use crate::buffer::verdict::{Reason, Verdict};
use crate::link::port::Port;
use crate::scheduler::Scheduler;
use crate::unit::{Flags, Unit};
use crate::units::{CELL_BYTES, Time};

/// Cells of one frame that are taken together.
struct Group {
    unit: Unit,
    vc: u32,
    units: u64,
    eom: bool,
}

impl Turns {
    /// Let the next train join its queue, if it arrives before `stop` with nothing else in between; answers whether it
    /// has come in.
    pub(super) fn pass_train(&mut self, engine: &mut Fast<'_>, index: usize, stop: Time) -> bool {
        let Some(alone) = self.inputs.alone_before(stop) else { return false };
        let Alone { beat, unit, vc, units, last, pace, .. } = alone;
        let port = &mut engine.network.ports[index];
        let gathered = if pace.is_faster_than(&self.pace) { u64::from(units) } else { 2 };
        if !has_room(port, gathered) || self.queued(port, vc) < self.slots(beat.time, last) {
            return false;
        }
        let fate = match within(port, vc as usize) {
            Within::Asked | Within::Broken(_) => return false,
            _ if unit.is_first() => port.judge(beat.time, &unit, vc as usize, 1, false),
            Within::Taken => Verdict::Accept,
            Within::Lost(reason) => Verdict::Discard(reason),
        };
        if let Verdict::Discard(reason) = fate {
            port.counters.frames_in += u64::from(unit.is_first());
            lose(engine, index, &unit, units.into(), reason);
        } else {
            let instants = self.inputs.arrivals(&alone);
            port.counters.occupancy.rise(beat.time, port.pool.total(), units.into(), instants);
            let asked = u64::from(unit.is_first());
            join(port, &Group { unit, vc, units: units.into(), eom: true }, asked);
            self.awaited += u64::from(engine.answered[unit.vc as usize]);
            if port.pushout.is_some() {
                self.closed(port, vc);
            }
        }
        self.inputs.pop_train();
        true
    }

    /// Let cells join up to the next end of a train and not beyond `stop`, if all is as it must be.
    pub(super) fn pass_inner(&mut self, engine: &mut Fast<'_>, index: usize, stop: Time) -> bool {
        let Some(first) = self.inputs.next_time() else { return false };
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

    /// Whether all these cells are either lost or can join their queues, whenever that is within this time.
    ///
    /// Meanwhile the line sends. Arrivals of each lane and departures are spaced evenly, so that the occupancy is never
    /// more than a cell for each lane and two above what it is at the beginning or at the end.
    fn can_join(&self, port: &mut Port, inner: &[Inner], (from, until): (Time, Time)) -> bool {
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
                    join(port, &Group { unit, vc, units, eom: false }, 0);
                    taken += units;
                }
            }
        }
        engine.network.ports[index].counters.occupancy.rise(first, level, taken, instants);
    }

    /// Cells that the line may start from `from` to `until`.
    fn slots(&self, from: Time, until: Time) -> u64 {
        (until.0 - from.0) / self.pace.whole + 2
    }
}

/// Whether more cells, of which no more than some are `gathered` in the buffer at a time, fit without a new largest
/// occupancy.
fn has_room(port: &Port, gathered: u64) -> bool {
    port.pool.total() + gathered <= port.pool.capacity().min(port.counters.occupancy.max())
}

/// What becomes of a unit within a circuit's frame.
fn within(port: &mut Port, vc: usize) -> Within {
    let frames = port.pushout.as_mut().and_then(PushOut::frames);
    match frames.map_or(Within::Taken, |frames| frames.within(vc)) {
        Within::Taken => port.admission.within(vc),
        other => other,
    }
}

/// These cells join, of which the policy has been asked for so many.
fn join(port: &mut Port, group: &Group, asked: u64) {
    let &Group { unit, vc, units, eom } = group;
    let others = units - asked;
    port.counters.units_in += units;
    port.counters.frames_in += u64::from(unit.is_first());
    port.admission.taken(vc as usize, others, others * CELL_BYTES);
    port.pool.add_ahead(vc as usize, units);
    let last = if eom { Flags::EOM } else { Flags::default() };
    port.queues[vc as usize].push_train(unit, units as u16, last);
    port.scheduler.joined(vc as usize);
    if let Some(pushout) = &mut port.pushout {
        pushout.joined(vc as usize, &port.pool);
    }
}

/// These cells of one frame are lost.
fn lose(engine: &mut Fast<'_>, index: usize, unit: &Unit, units: u64, reason: Reason) {
    let counters = &mut engine.network.ports[index].counters;
    counters.units_in += units;
    counters.lost_many(reason, units);
    engine.network.circuits[unit.vc as usize].lost_many(units);
}
