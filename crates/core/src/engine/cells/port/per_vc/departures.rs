//! Departure of cells: the line sends them in the order of the scheduler, and frames are forwarded.
//!
//! # What it assumes
//! A cell that ends neither a frame nor its queue changes only counters when it starts.
//!
//! # What it skips
//! Queue, counters and policies: they are not called when such a cell starts; only a number of slots grows. All such
//! cells are reported together when the next cell starts that ends a frame or its queue.
//!
//! # Why that is exact
//! Counts that are reported later are sums, and the occupancy is updated for all past slots before anything reads it.
//!
//! # What turns it off
//! Cells that are forwarded one by one, and policies that observe every departure.

use super::PerVc;
use super::rotation::MOST_PLACES;
use crate::buffer::admission::{Admission, Departure};
use crate::buffer::pushout::PushOut;
use crate::engine::cells::port::context::Context;
use crate::engine::cells::port::outbox::Outbox;
use crate::engine::cells::topology::route::Handoff;
use crate::engine::exact::accounting::unknown_unit;
use crate::engine::exact::spacing::ExactTime;
use crate::engine::forms::{Form, allows, used};
use crate::link::port::{Port, Sending};
use crate::scheduler::{Scheduler, shares};
use crate::unit::{Flags, Unit};
use crate::units::Time;
use crate::units::ids::{PortVc, QueueId};

impl PerVc {
    /// Serve the line up to `until`, that instant included.
    pub(super) fn serve(&mut self, cx: &mut Context<'_>, out: &mut Outbox, until: Time) {
        while self.ends <= until {
            if self.rotates(cx.port) {
                self.rotate(cx, out, until);
            } else {
                self.ask_for_next(cx, out);
            }
        }
    }

    /// End the transmission of a cell, and call the scheduler for the next one.
    fn ask_for_next(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        let now = self.ends;
        self.leave(cx.port, now);
        let Some(vc) = cx.port.scheduler.turn(now).map(QueueId::vc) else {
            self.ends = Time::NEVER;
            return;
        };
        let starts = self.send(now);
        if !self.start_ahead(vc, starts) {
            self.start_one(cx, out, vc, starts);
        }
    }

    /// Count the departure of the cell in transmission, which leaves at `now`.
    #[inline]
    fn leave(&mut self, port: &mut Port, now: Time) {
        let (vc, ends_frame) = match self.ahead.take() {
            Some(vc) => (vc, false),
            None => {
                let Sending { unit, vc, .. } = port.sending.take().expect("a line ends what it has started");
                port.counters.departed(&unit, vc);
                (vc, unit.is_eom())
            }
        };
        port.counters.occupancy.drain(1, now.0.into());
        port.pool.remove(vc, 1);
        if let Some(log) = &mut self.register_log {
            log.leave(now, vc);
        }
        if self.traits.observes_departures || port.pool.of(vc) == 0 {
            self.report_departure(port, now, vc, ends_frame);
        }
    }

    /// Notify the policies of a departed cell, if they observe it; the cell may end a frame.
    pub(super) fn report_departure(&self, port: &mut Port, now: Time, vc: PortVc, ends_frame: bool) {
        if self.traits.interest.includes(ends_frame, vc, &port.pool) {
            let (unit, pool) = (&unknown_unit(ends_frame), &port.pool);
            port.admission.departed(&Departure::of_sent(now, unit, vc, 1, pool));
        }
        if let Some(pushout) = &mut port.pushout {
            pushout.left(vc, &port.pool, true);
        }
    }

    /// Occupy the line with one more cell; returns the start of the cell.
    #[inline]
    pub(super) fn send(&mut self, now: Time) -> ExactTime {
        let starts = self.free.not_before(now);
        self.free = starts.next(&self.spacing.pace);
        self.ends = starts.time.later(self.spacing.pace.whole);
        starts
    }

    /// Start the next cell, if it changes only counters.
    #[inline]
    fn start_ahead(&mut self, vc: PortVc, starts: ExactTime) -> bool {
        let turn = &mut self.turns[vc];
        if turn.left == 0 || self.gathered.separates(starts.time) {
            return false;
        }
        turn.serve(1, (starts, 0));
        self.ahead = Some(vc);
        true
    }

    /// Start the last cell of a frame or of its queue, or a cell that another port needs at once.
    pub(super) fn start_one(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Outbox,
        vc: PortVc,
        starts: ExactTime,
    ) {
        if self.gathered.separates(starts.time) {
            self.cut(cx, out, starts.time);
        }
        if self.turns[vc].grows {
            self.look_ahead(cx, out, vc);
            if self.start_ahead(vc, starts) {
                return;
            }
        }
        self.settle_one(cx, out, vc);
        let unit = cx.port.queues[vc.queue()].pop().expect("a scheduler picks a queue that holds something");
        if cx.port.queues[vc.queue()].is_empty() {
            self.end_rotation(cx.port);
            cx.port.scheduler.left(vc.queue(), true);
            self.undisturbed = Time::ZERO;
        }
        cx.port.sending = Some(Sending { unit, vc, size: 1 });
        self.frames.packets = self.frames.packets.saturating_sub(unit.begins_frame().into());
        if !self.was_foretold(vc, &unit, 1) {
            self.forward_started(cx, out, vc, &unit, 1, starts.time);
        }
        self.look_ahead(cx, out, vc);
    }

    /// Count the cells of a circuit that may start before the next one that changes more than counters.
    pub(super) fn look_ahead(&mut self, cx: &mut Context<'_>, out: &mut Outbox, vc: PortVc) {
        if self.turns[vc].served > 0 {
            self.settle_one(cx, out, vc);
        }
        if cx.routes[vc].handoff == Handoff::Together {
            let turn = &mut self.turns[vc];
            (turn.left, turn.grows) = cx.port.queues[vc.queue()].inner_ahead((turn.frames, turn.foretold));
        }
    }

    /// Report all pending starts to the port.
    pub(crate) fn settle(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        self.end_rotation(cx.port);
        self.turns.keys().for_each(|vc| self.settle_one(cx, out, vc));
    }

    /// Report the started cells of a circuit to the port.
    pub(super) fn settle_one(&mut self, cx: &mut Context<'_>, out: &mut Outbox, vc: PortVc) {
        let turn = &mut self.turns[vc];
        let (mut served, (beat, slots)) = (turn.served, turn.last);
        (turn.left, turn.grows, turn.served) = (0, true, 0);
        while served > 0 {
            let popped = cx.port.queues[vc.queue()].pop_run(served);
            let (unit, units) = popped.expect("what has started was in the queue");
            served -= u64::from(units);
            self.frames.packets = self.frames.packets.saturating_sub(unit.begins_frame().into());
            self.count_run(cx.port, vc, &unit, units, served == 0);
            if !self.was_foretold(vc, &unit, units) {
                let last = self.spacing.skip(beat, slots).time;
                self.forward_started(cx, out, vc, &unit, units, last);
            }
        }
    }

    /// Count units of a frame that have started; `last` says that the last of them is in transmission. `unit` has the
    /// marks of the first and of the last.
    fn count_run(&mut self, port: &mut Port, vc: PortVc, unit: &Unit, units: u16, last: bool) {
        if !last || self.ahead.take_if(|ahead| *ahead == vc).is_none() {
            return port.counters.departed_run(unit, units, vc);
        }
        let others = units - 1;
        if others > 0 {
            let gone = Unit { flags: unit.flags.without(Flags::EOM), ..*unit };
            port.counters.departed_run(&gone, others, vc);
        }
        let ahead = if others > 0 { Flags::FIRST } else { Flags::default() };
        let unit = Unit { index: unit.index + others, flags: unit.flags.without(ahead), ..*unit };
        port.sending = Some(Sending { unit, vc, size: 1 });
    }

    /// Return whether the units that start now at the head of a queue have already been forwarded.
    fn was_foretold(&mut self, vc: PortVc, unit: &Unit, units: u16) -> bool {
        let turn = &mut self.turns[vc];
        if turn.foretold == 0 {
            return false;
        }
        turn.foretold -= u64::from(units);
        turn.frames -= usize::from(unit.is_eom());
        true
    }

    /// Forward units that have left their queue; a unit whose start the remainder of the line moves to the end of the run stays
    /// where it is.
    fn forward_started(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Outbox,
        vc: PortVc,
        unit: &Unit,
        units: u16,
        last: Time,
    ) {
        if last < cx.window.to {
            return self.forward(cx, out, vc, unit, units, last);
        }
        debug_assert_eq!(units, 1, "the end of the run separates units");
        cx.resting.push(unit.vc);
    }

    /// Forward units of a frame that have started, the last of them at `last`.
    pub(super) fn forward(
        &mut self,
        cx: &Context<'_>,
        out: &mut Outbox,
        vc: PortVc,
        unit: &Unit,
        units: u16,
        last: Time,
    ) {
        self.awaited -= cx.awaits(unit);
        let whole = self.spacing.pace.whole;
        let gathering = &mut self.gathered.by_vc[vc];
        let at_once = unit.is_eom() && gathering.is_empty(); // nothing needs to be gathered
        if at_once || cx.routes[vc].handoff == Handoff::Singly {
            return out.send(vc, *unit, units, last, whole);
        }
        gathering.join(out, vc, unit, units, whole);
        gathering.last_starts(last);
        if unit.is_eom() {
            gathering.send(out, vc, whole);
        }
    }

    /// Forward the gathered cells now, so that cells from `starts` on are forwarded separately from those before.
    #[cold]
    fn cut(&mut self, cx: &mut Context<'_>, out: &mut Outbox, starts: Time) {
        self.gathered.pass_cuts(starts);
        self.hand_on(cx, out);
    }

    /// Forward all gathered units.
    pub(crate) fn hand_on(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        self.settle(cx, out);
        for (vc, gathering) in self.gathered.by_vc.pairs_mut() {
            gathering.send(out, vc, self.spacing.pace.whole);
        }
    }

    /// Return whether the next slot belongs to a rotation; call the scheduler if no rotation covers it.
    #[inline]
    pub(super) fn rotates(&mut self, port: &mut Port) -> bool {
        let rotation = &self.rotation;
        let known =
            !rotation.places.is_empty() && rotation.slots < rotation.sure && self.ends < rotation.change;
        known || self.traits.unseen && allows(Form::Rotation) && self.begin_rotation(port)
    }

    /// Ask the scheduler for a rotation from the next slot on; returns whether the scheduler has one.
    fn begin_rotation(&mut self, port: &mut Port) -> bool {
        self.end_rotation(port);
        let rotation = &mut self.rotation;
        rotation.change = port.scheduler.rounds(self.ends, MOST_PLACES, &mut rotation.places);
        rotation.begin(&self.turns);
        let sending = self.ahead.or(port.sending.map(|sending| sending.vc));
        rotation.sending = sending.expect("a line ends what it has started");
        (rotation.first, rotation.ends, rotation.free) = (self.free, self.ends, self.free);
        !rotation.places.is_empty()
    }

    /// Assign the slots up to `until` whose cells change only counters, and the next slot if its cell changes more.
    fn rotate(&mut self, cx: &mut Context<'_>, out: &mut Outbox, until: Time) {
        let (stop, sure, given) = (self.rotation.stop, self.rotation.sure, self.rotation.slots);
        let until = until.min(Time(self.rotation.change.0 - 1));
        let slots = self.slots_within(stop.min(sure) - given, until);
        if slots > 0 {
            used(Form::Rotation);
            self.give_away(slots);
            self.has_left(cx.port);
            self.ahead = Some(self.rotation.vc(given + slots - 1));
        }
        if slots == 0 || given + slots == stop && stop < sure && self.ends <= until {
            self.stop_at_next(cx, out);
        }
    }

    /// Record that all assigned slots are counted in the pool, and that the last one went to the queue of `vc`.
    fn note_booked(&mut self, vc: PortVc) {
        let rotation = &mut self.rotation;
        (rotation.booked, rotation.sending) = (rotation.slots, vc);
        (rotation.ends, rotation.free) = (self.ends, self.free);
    }

    /// Return the number of future slots that certainly belong to the rotation and begin before the next instant that
    /// separates cells.
    pub(super) fn slots_sure(&self) -> u64 {
        let rotation = &self.rotation;
        self.slots_within(rotation.sure - rotation.slots, Time(rotation.change.0 - 1))
    }

    /// Assign the next `slots` slots of the rotation.
    fn give_away(&mut self, slots: u64) {
        let last = self.spacing.skip(self.free, slots - 1);
        self.ends = last.time.later(self.spacing.pace.whole);
        self.free = last.next(&self.spacing.pace);
        self.rotation.slots += slots;
    }

    /// Return how many of the next `slots` slots are to be assigned up to `until` and begin before the next instant
    /// that separates cells.
    fn slots_within(&self, slots: u64, until: Time) -> u64 {
        let Some(last) = slots.checked_sub(1) else { return 0 };
        let begins = self.spacing.skip(self.free, last).time;
        let before = |time: Time| self.spacing.count_before(self.free, time).0;
        let given = if begins <= until {
            slots
        } else {
            slots.min(1 + before(Time(until.0 + 1 - self.spacing.pace.whole.0)))
        };
        match self.gathered.next_cut() {
            Some(cut) if cut <= begins => given.min(before(cut)),
            _ => given,
        }
    }

    /// Assign the next slot, whose cell changes more than counters.
    fn stop_at_next(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        self.has_left(cx.port);
        self.ahead = None;
        let place = self.rotation.place(self.rotation.slots);
        self.catch_up(place);
        let starts = self.send(self.ends);
        self.rotation.slots += 1;
        self.rotation.reported[place] += 1;
        let vc = self.rotation.places[place].queue.vc();
        self.start_one(cx, out, vc, starts);
        if !self.rotation.places.is_empty() {
            self.rotation.set_stop(place, self.turns[vc].left);
        }
    }

    /// Count the departure of the cell that the port records as in transmission, if there is one.
    fn has_left(&self, port: &mut Port) {
        if let Some(Sending { unit, vc, .. }) = port.sending.take() {
            port.counters.departed(&unit, vc);
        }
    }

    /// Record in the state of a place's queue the cells that it has sent by now.
    pub(super) fn catch_up(&mut self, place: usize) {
        self.report_turns(place, self.rotation.turns(place, self.rotation.slots));
    }

    /// Record in the state of a place's queue that it has had `turns` slots.
    #[inline]
    fn report_turns(&mut self, place: usize, turns: u64) {
        let rotation = &mut self.rotation;
        let reported = rotation.reported[place];
        if turns > reported {
            let last = (turns - 1) * rotation.places.len() as u64 + place as u64;
            self.turns[rotation.places[place].queue.vc()].serve(turns - reported, (rotation.first, last));
            rotation.reported[place] = turns;
        }
    }

    /// Record the slots that one circuit's queue has had.
    pub(super) fn catch_up_with(&mut self, vc: PortVc) {
        if let Some(place) = self.rotation.find(vc) {
            self.catch_up(place);
        }
    }

    /// Record the slots that each queue has had.
    pub(super) fn catch_up_all(&mut self) {
        for (place, turns) in shares(self.rotation.places.len(), self.rotation.slots).enumerate() {
            self.report_turns(place, turns);
        }
    }

    /// Count the departures of all assigned slots in the pool.
    pub(super) fn book_slots(&mut self, port: &mut Port) {
        let Some(behind) = self.rotation.unbooked().checked_sub(1) else { return };
        let (slots, booked, sending) = (self.rotation.slots, self.rotation.booked, self.rotation.sending);
        let (ends, free) = (self.rotation.ends, self.rotation.free);
        let later =
            self.spacing.after(free, behind).1 + u128::from(behind) * u128::from(self.spacing.pace.whole.0);
        port.counters.occupancy.drain(slots - booked, u128::from(ends.0) + later);
        port.pool.remove(sending, 1);
        if port.pool.of(sending) == 0 {
            self.report_departure(port, ends, sending, false);
        }
        for (vc, cells) in self.rotation.shares(booked, slots - booked) {
            port.pool.remove(vc, cells);
        }
        self.log_slots(booked..slots);
        let sending = self.rotation.vc(slots - 1);
        port.pool.add_ahead(sending, 1);
        self.note_booked(sending);
    }

    /// Record for the register the departures of these slots, which the pool does not count yet.
    fn log_slots(&mut self, slots: std::ops::Range<u64>) {
        let (rotation, Some(log)) = (&self.rotation, &mut self.register_log) else { return };
        log.leave(rotation.ends, rotation.sending);
        let mut starts = rotation.free;
        for slot in slots.start..slots.end - 1 {
            log.leave(starts.time.later(self.spacing.pace.whole), rotation.vc(slot));
            starts = starts.next(&self.spacing.pace);
        }
    }

    /// End the rotation, since the scheduler must be called again: report the past slots to it and to the queues.
    pub(super) fn end_rotation(&mut self, port: &mut Port) {
        self.catch_up_all();
        self.book_slots(port);
        let rotation = &mut self.rotation;
        if rotation.slots > 0 {
            port.scheduler.went_round(&rotation.places, rotation.slots);
        }
        rotation.places.clear();
        (rotation.slots, rotation.booked) = (0, 0);
    }
}
