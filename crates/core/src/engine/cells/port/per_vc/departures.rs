//! How cells leave: the line takes them in the order of the scheduler, and frames are handed on.
//!
//! A cell of which nobody needs to know yet starts by a count alone. The port, the policies and the next stop are told of
//! such cells together, when one starts that somebody has to know.

use super::PerVc;
use crate::buffer::admission::{Admission, Departure};
use crate::buffer::pushout::PushOut;
use crate::engine::cells::Fast;
use crate::engine::cells::topology::route::Handoff;
use crate::engine::cells::train::Run;
use crate::engine::exact::spacing::Beat;
use crate::link::port::{Port, Sending};
use crate::scheduler::Scheduler;
use crate::units::Time;

impl PerVc {
    /// The line works up to `until`, that instant included.
    pub(in crate::engine) fn serve(&mut self, engine: &mut Fast<'_>, index: usize, until: Time) {
        while self.ends <= until {
            if self.goes_round(&mut engine.network.ports[index]) {
                self.go_round(engine, index, until);
            } else {
                self.ask_for_next(engine, index);
            }
        }
    }

    /// The cell in transmission ends, and the scheduler says whose is next.
    fn ask_for_next(&mut self, engine: &mut Fast<'_>, index: usize) {
        let (port, now) = (&mut engine.network.ports[index], self.ends);
        self.leave(port, now);
        let Some(vc) = port.scheduler.turn(now) else {
            self.ends = Time::NEVER;
            return;
        };
        let starts = self.send(now);
        if !self.start_ahead(vc, starts) {
            self.start_one(engine, index, vc, starts);
        }
    }

    /// The cell in transmission leaves at `now`.
    #[inline]
    pub(in crate::engine) fn leave(&mut self, port: &mut Port, now: Time) {
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
        if let Some(missed) = &mut self.missed {
            missed.leave(now, vc);
        }
        if self.curious || port.pool.of(vc) == 0 {
            self.tell(port, now, vc, ends_frame);
        }
    }

    /// A cell has left, of which the policies may want to know; perhaps it ends a frame.
    pub(in crate::engine) fn tell(&self, port: &mut Port, now: Time, vc: usize, ends_frame: bool) {
        if self.interest.includes(ends_frame, vc, &port.pool) {
            let (unit, pool) = (&Run::of_unknown(ends_frame).unit, &port.pool);
            port.admission.departed(&Departure { now, unit, vc, size: 1, pool, sent: true });
        }
        if let Some(pushout) = &mut port.pushout {
            pushout.left(vc, &port.pool, true);
        }
    }

    /// The line sends one more cell; answers when it starts.
    #[inline]
    pub(in crate::engine) fn send(&mut self, now: Time) -> Beat {
        let starts = self.free.not_before(now);
        self.free = starts.next(&self.pace);
        self.ends = starts.time.later(self.pace.whole);
        starts
    }

    /// A cell starts of which nobody needs to know yet, if it is one.
    #[inline]
    fn start_ahead(&mut self, vc: usize, starts: Beat) -> bool {
        let turn = &mut self.turns[vc];
        if turn.left == 0 || self.cuts.last().is_some_and(|cut| *cut <= starts.time) {
            return false;
        }
        turn.serve(1, (starts, 0));
        self.ahead = Some(vc);
        true
    }

    /// The last cell of a frame or of its queue starts, or one that another port waits for.
    pub(in crate::engine) fn start_one(
        &mut self,
        engine: &mut Fast<'_>,
        index: usize,
        vc: usize,
        starts: Beat,
    ) {
        if self.cuts.last().is_some_and(|cut| *cut <= starts.time) {
            self.cut(engine, index, starts.time);
        }
        if self.turns[vc].grows {
            self.look_ahead(engine, index, vc);
            if self.start_ahead(vc, starts) {
                return;
            }
        }
        self.settle_one(engine, index, vc);
        let port = &mut engine.network.ports[index];
        let unit = port.queues[vc].pop().expect("a scheduler picks a queue that holds something");
        if port.queues[vc].is_empty() {
            self.end_round(port);
            port.scheduler.left(vc, true);
            self.undisturbed = Time::ZERO;
        }
        port.sending = Some(Sending { unit, vc, size: 1 });
        self.packets = self.packets.saturating_sub(unit.begins_frame().into());
        let run = Run { unit, units: 1 };
        if !self.was_foretold(vc, &run) {
            self.forward(engine, index, vc, run, starts.time);
        }
        self.look_ahead(engine, index, vc);
    }

    /// How many cells of a circuit may start before anybody else has to know.
    pub(in crate::engine) fn look_ahead(&mut self, engine: &mut Fast<'_>, index: usize, vc: usize) {
        if self.turns[vc].served > 0 {
            self.settle_one(engine, index, vc);
        }
        if engine.plan.legs[index][vc].manner == Handoff::Together {
            let turn = &mut self.turns[vc];
            (turn.left, turn.grows) =
                engine.network.ports[index].queues[vc].inner_ahead((turn.frames, turn.foretold));
        }
    }

    /// Tell the port everything.
    pub(in crate::engine) fn settle(&mut self, engine: &mut Fast<'_>, index: usize) {
        self.end_round(&mut engine.network.ports[index]);
        (0..self.turns.len()).for_each(|vc| self.settle_one(engine, index, vc));
    }

    /// Tell the port which cells of a circuit have started.
    pub(in crate::engine) fn settle_one(&mut self, engine: &mut Fast<'_>, index: usize, vc: usize) {
        let turn = &mut self.turns[vc];
        let (mut served, (beat, slots)) = (turn.served, turn.last);
        (turn.left, turn.grows, turn.served) = (0, true, 0);
        while served > 0 {
            let port = &mut engine.network.ports[index];
            let popped = port.queues[vc].pop_run(served);
            let (unit, units) = popped.expect("what has started was in the queue");
            served -= u64::from(units);
            self.packets = self.packets.saturating_sub(unit.begins_frame().into());
            let run = Run { unit, units };
            self.count_run(port, vc, run, served == 0);
            if !self.was_foretold(vc, &run) {
                let last = self.rhythm.skip(beat, slots).time;
                self.forward(engine, index, vc, run, last);
            }
        }
    }

    /// Units of a frame have started, perhaps behind others the `last` of which is in transmission.
    fn count_run(&mut self, port: &mut Port, vc: usize, run: Run, last: bool) {
        if !last || self.ahead.take_if(|ahead| *ahead == vc).is_none() {
            return port.counters.departed_run(&run.unit, run.units, vc);
        }
        let (gone, unit) = run.split_last();
        if gone.units > 0 {
            port.counters.departed_run(&gone.unit, gone.units, vc);
        }
        port.sending = Some(Sending { unit, vc, size: 1 });
    }

    /// Whether the units at the head of a queue that start now have been handed on already.
    fn was_foretold(&mut self, vc: usize, run: &Run) -> bool {
        let turn = &mut self.turns[vc];
        if turn.foretold == 0 {
            return false;
        }
        turn.foretold -= u64::from(run.units);
        turn.frames -= usize::from(run.unit.is_eom());
        true
    }

    /// Units of a frame start, the last of them at `last`.
    pub(in crate::engine) fn forward(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        vc: usize,
        next: Run,
        last: Time,
    ) {
        self.awaited -= u64::from(next.unit.is_eom() && engine.answered[next.unit.vc as usize]);
        let whole = self.pace.whole;
        if engine.plan.legs[port][vc].manner == Handoff::Singly {
            return engine.send_on(port, vc as u32, next, Beat::at(last), last, whole);
        }
        let (run, before) = &mut self.runs[vc];
        if next.unit.is_eom() && run.units == 0 {
            return next.send(engine, port, vc as u32, last, whole); // nothing needs to be gathered
        }
        let before = std::mem::replace(before, last);
        if !run.join(&next.unit, next.units) {
            std::mem::replace(run, next).send(engine, port, vc as u32, before, whole);
        }
        if next.unit.is_eom() {
            std::mem::take(run).send(engine, port, vc as u32, last, whole);
        }
    }

    /// From `starts` on, cells are handed on separately from those before.
    #[cold]
    fn cut(&mut self, engine: &mut Fast<'_>, port: usize, starts: Time) {
        while self.cuts.pop_if(|cut| *cut <= starts).is_some() {}
        self.hand_on(engine, port);
    }

    /// Hand on every run as far as it goes.
    pub(in crate::engine) fn hand_on(&mut self, engine: &mut Fast<'_>, port: usize) {
        self.settle(engine, port);
        for (vc, (run, last)) in self.runs.iter_mut().enumerate() {
            std::mem::take(run).send(engine, port, vc as u32, *last, self.pace.whole);
        }
    }
}
