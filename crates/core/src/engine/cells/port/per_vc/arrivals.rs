//! Where each circuit has its queue, cells within frames can join it all at once, as long as nobody looks.
//!
//! A cell that joins a queue which is not empty changes nothing but lengths until its turn comes. So it does not matter
//! when exactly the inner cells of a frame join, if there is room, their queue cannot run empty meanwhile, and lengths
//! are looked at only when the next frame begins. And where the line is idle, cells of one train pass one after the other.

use super::PerVc;
use crate::buffer::admission::{Shortcuts, Within};
use crate::buffer::verdict::Reason;
use crate::engine::cells::Fast;
use crate::engine::cells::inbox::{Ahead, Inner};
use crate::engine::cells::topology::route::Handoff;
use crate::engine::cells::train::Run;
use crate::link::port::Port;
use crate::unit::Unit;
use crate::units::{CELL_BYTES, Time};

/// Cells of one frame that are taken together.
pub(in crate::engine) struct Group {
    pub(in crate::engine) unit: Unit,
    pub(in crate::engine) vc: u32,
    pub(in crate::engine) units: u64,
    /// Whether the last one ends the frame.
    pub(in crate::engine) closed: bool,
}

impl PerVc {
    /// Let cells join up to the next end of a train and not beyond `stop`, if all is as it must be.
    pub(in crate::engine) fn pass_inner(&mut self, engine: &mut Fast<'_>, index: usize, stop: Time) -> bool {
        let Some(first) = self.inputs.next_time() else { return false };
        self.inputs.list_behind_next(&mut self.rests);
        let mut inner = std::mem::take(&mut self.inner);
        let joins = self.room_until(&engine.network.ports[index], first, stop).is_some_and(|stop| {
            let until = self.inputs.inner(stop, &mut inner);
            !inner.is_empty() && self.can_join(&mut engine.network.ports[index], &inner, (first, until))
        });
        if joins {
            self.join_inner(engine, index, &inner, first);
        }
        let idle = !joins && self.ends == Time::NEVER;
        let passes = idle && matches!(inner[..], [alone] if self.pass_idle(engine, index, alone));
        inner.clear();
        self.inner = inner;
        self.rests.clear();
        joins || passes
    }

    /// Cells of one train find the line idle: each starts as soon as it comes, and is gone when the next one does. The last one
    /// stays behind; answers whether any has passed.
    fn pass_idle(&mut self, engine: &mut Fast<'_>, index: usize, mut alone: Inner) -> bool {
        let (port, vc) = (&mut engine.network.ports[index], alone.vc as usize);
        let together = engine.plan.legs[index][vc].manner == Handoff::Together;
        let taken = matches!(port.within(vc), Within::Taken);
        if !together || !taken || !self.inputs.is_spaced(&alone, &self.pace) {
            return false;
        }
        let (mut passed, mut last) = (0, alone.comes);
        for now in self.inputs.times(&alone).take(alone.units as usize - 1) {
            let starts = self.free.not_before(now);
            if starts.time > now || self.cuts.last().is_some_and(|cut| *cut <= now) {
                break;
            }
            self.free = starts.next(&self.pace);
            port.visit(now, vc);
            port.admission.taken(vc, 1, CELL_BYTES);
            if let Some(missed) = &mut self.missed {
                missed.leave(now.later(self.pace.whole), vc);
            }
            self.tell(port, now.later(self.pace.whole), vc, false);
            (passed, last) = (passed + 1, now);
        }
        if passed == 0 {
            return false;
        }
        alone.units = passed;
        if let Some(missed) = &mut self.missed {
            missed.join(self.inputs.course_of(&alone));
        }
        let instants = self.inputs.pass_inner(&[alone], |_| true);
        port.counters.occupancy.rise(alone.comes, 0, passed, instants);
        port.counters.occupancy.drain(passed, instants + u128::from(passed * self.pace.whole.0));
        port.counters.units_in += passed;
        port.counters.departed_run(&alone.unit, passed as u16, vc);
        self.forward(engine, index, vc, Run { unit: alone.unit, units: passed as u16 }, last);
        true
    }

    /// The time before which cells of trains that are arriving, from the one that arrives at `first` on, can be expected to
    /// find room, but not beyond `stop`; if there may be none for the next of each, nothing is answered.
    fn room_until(&self, port: &Port, first: Time, stop: Time) -> Option<Time> {
        let lanes = self.inputs.in_midst() + self.rests.len() as u64;
        let room = most(port).checked_sub(self.arrived(port) + lanes)?;
        match lanes {
            0 => None,
            1 if room > 0 || self.inputs.keeps_behind(self.free, &self.pace) => Some(stop),
            // every slot a cell of each lane comes and one leaves, but for the first slot
            _ => {
                let slots = 1 + room.saturating_sub(1) / (lanes - 1).max(1);
                Some(stop.min(Time(first.0 + slots * self.pace.whole.0)))
            }
        }
    }

    /// Whether all these cells are either lost or can join their queues, whenever that is within this time.
    ///
    /// Meanwhile cells arrive of trains that have joined, and the line sends. While the longest of the trains arrives whose
    /// cells are spaced no more closely than those that leave, it makes up for it but for two cells, or for one if every
    /// cell of the only train comes behind one that leaves.
    fn can_join(&mut self, port: &mut Port, inner: &[Inner], (from, until): (Time, Time)) -> bool {
        let slots = (until.0 - from.0) / self.pace.whole.0 + 2;
        let (mut taken, mut longest) = (0, 0);
        for &Ahead { train, spaced, .. } in &self.rests {
            let units = if spaced { slots.min(train.left.into()) } else { train.left.into() };
            (taken, longest) = (taken + units, longest.max(if spaced { units } else { 0 }));
        }
        for next in inner {
            self.catch_up_with(next.vc as usize);
            match port.within(next.vc as usize) {
                Within::Asked => return false,
                Within::Taken if !self.stays_ahead(port, next.vc, next.units, until) => return false,
                Within::Taken => {
                    taken += next.units;
                    longest =
                        longest.max(if self.inputs.is_spaced(next, &self.pace) { next.units } else { 0 });
                }
                Within::Lost(_) | Within::Broken(_) => {}
            }
        }
        let alone = inner.len() + self.rests.len() == 1;
        let behind = alone && self.inputs.keeps_behind(self.free, &self.pace);
        let sent = longest.saturating_sub(if behind { 1 } else { 2 });
        self.arrived(port) + taken - sent <= most(port)
    }

    /// What is in the buffer without the cells listed that are still to arrive.
    fn arrived(&self, port: &Port) -> u64 {
        let coming: u64 = self.rests.iter().map(|rest| u64::from(rest.train.left)).sum();
        port.pool.total() - coming
    }

    fn join_inner(&mut self, engine: &mut Fast<'_>, index: usize, inner: &[Inner], first: Time) {
        let port = &mut engine.network.ports[index];
        let mut taken = 0;
        let mut is_taken = |inner: &Inner| matches!(port.within(inner.vc as usize), Within::Taken);
        if let Some(missed) = &mut self.missed {
            let taken = inner.iter().filter(|inner| is_taken(inner));
            taken.for_each(|inner| missed.join(self.inputs.course_of(inner)));
        }
        let instants = self.inputs.pass_inner(inner, is_taken);
        let level = port.pool.total();
        for &Inner { unit, vc, units, .. } in inner {
            let port = &mut engine.network.ports[index];
            match port.within(vc as usize) {
                Within::Lost(reason) | Within::Broken(reason) => lose(engine, index, &unit, units, reason),
                _ => {
                    join(port, &Group { unit, vc, units, closed: false }, 0);
                    taken += units;
                }
            }
        }
        engine.network.ports[index].counters.occupancy.rise(first, level, taken, instants);
    }

    /// Whether a queue that so many cells join up to `until` cannot run empty before, even if the line sends no others.
    pub(in crate::engine) fn stays_ahead(&self, port: &Port, vc: u32, units: u64, until: Time) -> bool {
        let queued = self.queued(port, vc);
        queued >= 3 && self.lasts_until(queued + units, until)
    }

    /// Whether so many cells keep the line busy up to then, with some to spare.
    pub(in crate::engine) fn lasts_until(&self, cells: u64, until: Time) -> bool {
        let starts = cells.saturating_sub(4) * self.pace.whole.0;
        until.0 < self.ends.0.saturating_add(starts)
    }
}

/// The occupancy that neither needs another place in the buffer nor sets a new maximum.
pub(in crate::engine) fn most(port: &Port) -> u64 {
    port.pool.capacity().up_to(port.counters.occupancy.max())
}

/// These cells join a queue that is not empty, of which the policy has been asked for so many.
pub(in crate::engine) fn join(port: &mut Port, group: &Group, asked: u64) {
    let &Group { unit, vc, units, closed } = group;
    let others = units - asked;
    port.counters.units_in += units;
    port.counters.frames_in += u64::from(unit.begins_frame());
    port.admission.taken(vc as usize, others, others * CELL_BYTES);
    port.pool.add_ahead(vc as usize, units);
    port.queues[vc as usize].push_train(unit, units as u16, closed);
}

/// These cells of one frame are lost.
pub(in crate::engine) fn lose(engine: &mut Fast<'_>, index: usize, unit: &Unit, units: u64, reason: Reason) {
    let counters = &mut engine.network.ports[index].counters;
    counters.units_in += units;
    counters.lost_many(reason, units);
    engine.network.circuits[unit.vc as usize].lost_many(units);
}
