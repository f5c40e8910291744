//! Arrival of cells in the queues of their circuits.
//!
//! # What it assumes
//! The rest of an accepted frame is accepted if there is room.
//!
//! # What it skips
//! Single joins: a train joins its queue as a whole when its first cell arrives (it is reserved ahead).
//!
//! # Why that is exact
//! If there is room and the queue does not become empty before the last cell arrives, it makes no difference that
//! cells join the queue before they arrive, as long as every reader of the occupancy sees it without them. If room
//! becomes short after all, the cells that have not arrived are taken back. The departures before the train's arrival
//! need not be computed either, if there is room for the train even without these departures, and if a policy that
//! accepts the train then also accepts it at a lower occupancy (`is_monotone`).
//!
//! # What turns it off
//! Room that may become short, a queue that may become empty, a policy that judges each cell, or a log of
//! losses.
//!
//! # What it saves
//! Without reservation W1 under DT-EPD and push-out takes 7 to 8 times the instructions, study 003 3 to 5 times.

use super::register_log::{FIRST, MORE};
use super::{Occupancy, PerVc};
use crate::buffer::admission::{Shortcuts, Within};
use crate::buffer::pushout::PushOut;
use crate::engine::cells::port::context::Context;
use crate::engine::cells::port::outbox::Outbox;
use crate::engine::cells::train::CellTrain;
use crate::engine::forms::{Form, allows, used};
use crate::link::port::{Offer, Port};
use crate::unit::Unit;
use crate::units::ids::PortVc;
use crate::units::{CELL_BYTES, Time};
use crate::verdict::Reason;

impl PerVc {
    /// Add the whole next train to its queue, or count it as lost, if that can be decided now; returns whether it was
    /// decided. Arrivals later than `known` are still unknown.
    pub(super) fn take_train(&mut self, cx: &mut Context<'_>, known: Time, occupancy: Occupancy) -> bool {
        // a policy with a clock may count accepted units, so a train joins only if no other unit arrives among its
        // units
        let counts = self.stops.tick < Time::NEVER;
        let next = if counts { self.inbox.alone_before(known) } else { self.inbox.next_train(cx.end) };
        let Some(next) = next.filter(|_| allows(Form::ReservedTrain)) else { return false };
        match self.fate_of(cx.port, &next, occupancy) {
            None => return false,
            Some(Err(reason)) => self.lose_train(cx, &next, reason),
            Some(Ok(())) => self.join_train(cx, &next),
        }
        used(Form::ReservedTrain);
        true
    }

    /// Return the decision about a train, if it can be made when the train begins.
    fn fate_of(
        &mut self,
        port: &mut Port,
        next: &CellTrain,
        occupancy: Occupancy,
    ) -> Option<Result<(), Reason>> {
        if next.lost.is_some() {
            return next.lost.map(Err);
        }
        match port.within(next.vc) {
            Within::Lost(reason) if !next.unit.is_first() => Some(Err(reason)),
            Within::Broken(_) if !next.unit.is_first() => None,
            Within::Asked => None,
            _ if !self.finds_queue(port, next) => None,
            _ if self.is_taken_anyway(port, next) => Some(Ok(())),
            _ if occupancy == Occupancy::UpperBound => None,
            _ => self.judge_train(port, next),
        }
    }

    /// Return whether the queue that a train joins cannot become empty before the whole train has arrived.
    fn finds_queue(&mut self, port: &Port, next: &CellTrain) -> bool {
        let &CellTrain { beat, vc, units, last, .. } = next;
        self.catch_up_with(vc);
        // arriving cells make up for departing cells, but those of a faster line only from their second one on
        self.stays_ahead(port, vc, units.into(), last)
            && (self.inbox.is_spaced(next) || self.stays_ahead(port, vc, 0, beat.time))
    }

    /// Return whether a train is accepted even at an upper bound of the occupancy: no cell has left since the line
    /// was last served, and every cell of the joined trains has arrived. The policy judges at the occupancies that
    /// the pool shows, which may count too much.
    fn is_taken_anyway(&mut self, port: &mut Port, next: &CellTrain) -> bool {
        let more = if self.inbox.is_spaced(next) { self.inbox.begun() + 3 } else { next.units.into() };
        if !self.traits.is_monotone || port.pool.total() - self.rotation.unbooked() + more > most(port) {
            return false;
        }
        if !port.pool.capacity().holds(port.pool.total() + more) {
            self.book_slots(port);
        }
        judge(port, next).is_ok()
    }

    /// Return the decision about a train, if there is room for it.
    fn judge_train(&mut self, port: &mut Port, next: &CellTrain) -> Option<Result<(), Reason>> {
        self.book_slots(port);
        self.inbox.list_behind_next(&mut self.rests);
        let fits = self.has_room(port, next.units.into(), self.inbox.is_spaced(next));
        let fate = fits.then(|| {
            self.set_aside(port, next.beat.time);
            let fate = judge(port, next);
            self.bring_back(port);
            fate
        });
        self.rests.clear();
        fate
    }

    fn lose_train(&mut self, cx: &mut Context<'_>, next: &CellTrain, reason: Reason) {
        lose(cx, &next.unit, next.units.into(), reason);
        self.inbox.pop_train();
    }

    fn join_train(&mut self, cx: &mut Context<'_>, next: &CellTrain) {
        let &CellTrain { beat, unit, vc, units, closed, .. } = next;
        let (port, instants) = (&mut *cx.port, self.inbox.arrivals(next));
        port.counters.occupancy.rise(beat.time, port.pool.total(), units.into(), instants);
        if let Some(log) = &mut self.register_log {
            log.join(*next);
        }
        join(port, next, u64::from(unit.is_first()));
        self.awaited += u64::from(closed && cx.plan.answerable[unit.vc]);
        if cx.port.pushout.is_some() {
            self.closed(cx.port, vc);
        }
        self.inbox.reserve(next);
    }

    /// Return whether there is room, without a new maximum occupancy, for `units` more units and for all cells of
    /// joined trains that are still to arrive. `spaced` says that the units arrive at least as far apart as the line
    /// sends.
    ///
    /// Meanwhile the line sends, which makes up for the arrival of the longest spaced train.
    fn has_room(&self, port: &Port, units: u64, spaced: bool) -> bool {
        let rests = self.rests.iter().filter(|rest| self.inbox.is_spaced(rest));
        let longest = rests.map(|rest| rest.units.into()).chain(spaced.then_some(units)).max().unwrap_or(0);
        port.pool.total() + units + self.rests.len() as u64 + 3 <= most(port) + longest
    }

    /// Before a unit arrives, list the cells of joined trains that are then still to arrive. If these cells and the
    /// unit do not fit together, remove the cells from their queues again.
    pub(super) fn make_sure_of_room(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        self.inbox.list_behind_next(&mut self.rests);
        if !self.rests.is_empty() && !self.has_room(cx.port, 1, false) {
            self.take_back(cx, out);
        }
    }

    /// Remove the cells of joined trains that are still to arrive from their queues again.
    fn take_back(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        let rests = std::mem::take(&mut self.rests);
        if let Some(log) = &mut self.register_log {
            log.withdraw(&rests);
        }
        self.end_rotation(cx.port);
        for rest in &rests {
            let vc = rest.vc;
            self.settle_one(cx, out, vc);
            let (units, instants) = (u64::from(rest.units), self.inbox.arrivals_of(rest));
            cx.port.counters.occupancy.drain(units, instants);
            cx.port.counters.units_in -= units;
            cx.port.pool.remove(vc, units);
            cx.port.queues[vc.queue()].withdraw(rest.units);
            self.awaited -= u64::from(rest.closed && cx.plan.answerable[rest.unit.vc]);
        }
        self.inbox.put_back(&rests);
        self.rests = rests;
        self.rests.clear();
        if cx.port.pushout.is_some() {
            self.count_packets(cx.port);
        }
    }

    /// Subtract the listed cells, which are still to arrive, from the occupancies, so that policies read the values
    /// at `now`.
    pub(super) fn set_aside(&mut self, port: &mut Port, now: Time) {
        if !self.rests.is_empty() {
            port.counters.occupancy.fall(now, port.pool.total());
        }
        for rest in &self.rests {
            port.pool.remove(rest.vc, rest.units.into());
        }
    }

    /// Add the cells of `rests` to the occupancies again.
    pub(super) fn bring_back(&mut self, port: &mut Port) {
        for rest in self.rests.drain(..) {
            port.pool.add_ahead(rest.vc, rest.units.into());
        }
    }

    /// Return whether a queue that `units` cells join up to `until` cannot become empty before `until`, even if the
    /// line serves only this queue.
    fn stays_ahead(&self, port: &Port, vc: PortVc, units: u64, until: Time) -> bool {
        let queued = self.queued(port, vc);
        queued >= 3 && self.lasts_until(queued + units, until)
    }

    /// Return whether `cells` cells keep the line busy up to `until`, with a margin.
    fn lasts_until(&self, cells: u64, until: Time) -> bool {
        let starts = cells.saturating_sub(4) * self.spacing.pace.whole.0;
        until.0 < self.ends.0.saturating_add(starts)
    }

    /// Replay to the push-out policy's register of the longest queue the changes since its last update. The pool
    /// shows the occupancies at `now`, without the cells of `self.rests`, which are still to arrive.
    pub(super) fn remind(&mut self, port: &mut Port, now: Time) {
        let (Some(log), Some(pushout)) = (&mut self.register_log, &mut port.pushout) else { return };
        let Some(register) = pushout.register() else { return };
        log.withdraw(&self.rests);
        let mut slots = FIRST * self.turns.len() as u64;
        loop {
            let from = Time(now.0.saturating_sub(slots * self.spacing.pace.whole.0));
            let all = log.list_from(&self.inbox, from);
            if register.recall(&port.pool, &log.changes, all.then_some(log.before)) {
                break;
            }
            slots *= MORE;
        }
        log.begin(register.longest(), &self.rests);
    }

    /// Record that the register is up to date.
    pub(super) fn confirm_register(&mut self, port: &mut Port) {
        let register = port.pushout.as_mut().and_then(PushOut::register);
        if let (Some(log), Some(register)) = (&mut self.register_log, register) {
            log.before = register.longest();
        }
    }

    /// Replay changes to the register before the next unit arrives, if it has missed many.
    pub(super) fn remind_in_time(&mut self, cx: &mut Context<'_>, out: &mut Outbox, next: Time) {
        if self.register_log.as_ref().is_some_and(|log| log.is_long()) {
            self.serve(cx, out, next);
            self.book_slots(cx.port);
            self.inbox.list_behind_next(&mut self.rests);
            self.set_aside(cx.port, next);
            self.remind(cx.port, next);
            self.bring_back(cx.port);
        }
    }
}

/// Return the largest occupancy that fits into the buffer and sets no new maximum.
fn most(port: &Port) -> u64 {
    port.pool.capacity().up_to(port.counters.occupancy.max())
}

/// Add these cells to a queue that is not empty; the policy has already judged `asked` cells of them.
fn join(port: &mut Port, train: &CellTrain, asked: u64) {
    let &CellTrain { unit, vc, units, closed, .. } = train;
    let others = u64::from(units) - asked;
    port.counters.units_in += u64::from(units);
    port.counters.frames_in += u64::from(unit.begins_frame());
    port.admission.taken(vc, others, others * CELL_BYTES);
    port.pool.add_ahead(vc, units.into());
    port.queues[vc.queue()].push_train(unit, units, closed);
}

/// Count `units` cells of one frame as lost.
fn lose(cx: &mut Context<'_>, unit: &Unit, units: u64, reason: Reason) {
    cx.port.counters.frames_in += u64::from(unit.begins_frame());
    cx.port.counters.units_in += units;
    cx.port.counters.lost_many(reason, units);
    cx.circuits[unit.vc].lost_many(unit, units);
}

/// Judge a train for which there is room.
fn judge(port: &mut Port, next: &CellTrain) -> Result<(), Reason> {
    let &CellTrain { beat, unit, vc, .. } = next;
    if !unit.is_first() {
        return Ok(());
    }
    port.judge(&Offer { now: beat.time, unit, vc, size: 1 }, false).taken()
}
