//! Where each circuit has its queue, a train can join it as a whole when its first cell arrives.
//!
//! Whether the rest of a frame gets in depends on nothing but room. So if there is room, and the queue does not run empty
//! before the last cell arrives, it makes no difference that cells are in the queue before they arrive, as long as everybody
//! who looks at the books is shown them without. Should room become short after all, what has not arrived goes back.
//!
//! Nor need anybody know what has left before, if there is room for the train even with that, and the policy would take it
//! then and all the more so with less in the buffer.

use super::PerVc;
use super::arrivals::{Group, join, lose, most};
use crate::buffer::admission::Within;
use crate::buffer::verdict::{Reason, Verdict};
use crate::engine::cells::Fast;
use crate::engine::cells::inbox::Alone;
use crate::link::port::Port;
use crate::units::Time;

/// What is known of the cells that have left before a train comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Occupancy {
    /// Some more may have.
    Behind,
    /// All of them.
    Exact,
}

impl PerVc {
    /// Let the next train join its queue, if all of it can, or be lost; answers whether it has. What is not `known` yet
    /// arrives no earlier than that.
    pub(in crate::engine) fn take_train(
        &mut self,
        engine: &mut Fast<'_>,
        index: usize,
        known: Time,
        books: Occupancy,
    ) -> bool {
        // a policy with a clock may count what it has taken
        let counts = self.tick < Time::NEVER;
        let next = if counts { self.inputs.alone_before(known) } else { self.inputs.next_train(engine.end) };
        let Some(next) = next else { return false };
        let port = &mut engine.network.ports[index];
        let fate = match port.within(next.vc as usize) {
            Within::Lost(reason) if !next.unit.is_first() => Verdict::Discard(reason),
            Within::Broken(_) if !next.unit.is_first() => return false,
            Within::Asked => return false,
            _ if !self.finds_queue(port, &next) => return false,
            _ if self.is_taken_anyway(port, &next) => Verdict::Accept,
            _ if books == Occupancy::Behind => return false,
            _ => match self.judge_train(port, &next) {
                Some(fate) => fate,
                None => return false,
            },
        };
        match fate {
            Verdict::Discard(reason) => self.lose_train(engine, index, &next, reason),
            _ => self.join_train(engine, index, &next),
        }
        true
    }

    /// Whether the queue that a train joins cannot run empty before all of it has arrived.
    fn finds_queue(&mut self, port: &Port, next: &Alone) -> bool {
        let Alone { beat, vc, units, last, pace, .. } = *next;
        self.catch_up_with(vc as usize);
        // what comes makes up for what leaves, but cells of a faster line not before the first of them
        self.stays_ahead(port, vc, units.into(), last)
            && (!pace.is_faster_than(&self.pace) || self.stays_ahead(port, vc, 0, beat.time))
    }

    /// Whether a train is taken even if nothing has left since the line was served, and all has arrived that has joined. The
    /// policy sees the books as they are, unless more seems to be in the buffer than it can hold.
    fn is_taken_anyway(&mut self, port: &mut Port, next: &Alone) -> bool {
        let spaced = !next.pace.is_faster_than(&self.pace);
        let more = if spaced { self.inputs.begun() + 3 } else { next.units.into() };
        if !self.monotone || port.pool.total() - self.unbooked() + more > most(port) {
            return false;
        }
        if !port.pool.capacity().holds(port.pool.total() + more) {
            self.book_round(port);
        }
        judge(port, next) == Verdict::Accept
    }

    /// What becomes of a train, if there is room for it.
    fn judge_train(&mut self, port: &mut Port, next: &Alone) -> Option<Verdict> {
        let &Alone { beat, units, pace, .. } = next;
        self.book_round(port);
        self.inputs.list_behind_next(&mut self.rests);
        let fits = self.has_room(port, units.into(), !pace.is_faster_than(&self.pace));
        let fate = fits.then(|| {
            self.set_aside(port, beat.time);
            let fate = judge(port, next);
            self.bring_back(port);
            fate
        });
        self.rests.clear();
        fate
    }

    fn lose_train(&mut self, engine: &mut Fast<'_>, index: usize, next: &Alone, reason: Reason) {
        let &Alone { unit, units, .. } = next;
        engine.network.ports[index].counters.frames_in += u64::from(unit.begins_frame());
        lose(engine, index, &unit, units.into(), reason);
        self.inputs.pop_train();
    }

    fn join_train(&mut self, engine: &mut Fast<'_>, index: usize, next: &Alone) {
        let &Alone { beat, unit, vc, units, closed, .. } = next;
        let port = &mut engine.network.ports[index];
        let instants = self.inputs.arrivals(next);
        port.counters.occupancy.rise(beat.time, port.pool.total(), units.into(), instants);
        if let Some(missed) = &mut self.missed {
            missed.join(self.inputs.course_of_train(next));
        }
        let group = Group { unit, vc, units: units.into(), closed };
        join(port, &group, u64::from(unit.is_first()));
        self.awaited += u64::from(closed && engine.answered[unit.vc as usize]);
        if port.pushout.is_some() {
            self.closed(port, vc);
        }
        self.inputs.take_ahead(next, &self.pace);
    }

    /// Whether there is room for so many units more, `spaced` no more closely than those that the port sends, and for all
    /// that is still to arrive of trains that have joined, without a new largest occupancy.
    ///
    /// Meanwhile the line sends. While the longest of the spaced trains arrives, it makes up for it.
    fn has_room(&self, port: &Port, units: u64, spaced: bool) -> bool {
        let rests = self.rests.iter().filter(|rest| rest.spaced).map(|rest| rest.train.left.into());
        let longest = rests.chain(spaced.then_some(units)).max().unwrap_or(0);
        port.pool.total() + units + self.rests.len() as u64 + 3 <= most(port) + longest
    }

    /// Before a unit arrives: list what of trains that have joined is still to arrive then. If both do not fit, it goes back
    /// to where it comes from.
    pub(in crate::engine) fn make_sure_of_room(&mut self, engine: &mut Fast<'_>, index: usize) {
        self.inputs.list_behind_next(&mut self.rests);
        if !self.rests.is_empty() && !self.has_room(&engine.network.ports[index], 1, false) {
            self.take_back(engine, index);
        }
    }

    /// What is still to arrive of trains that have joined does so as if they had not.
    fn take_back(&mut self, engine: &mut Fast<'_>, index: usize) {
        self.miss_rests();
        let rests = std::mem::take(&mut self.rests);
        self.end_round(&mut engine.network.ports[index]);
        for rest in &rests {
            let (train, vc) = (&rest.train, rest.train.vc as usize);
            self.settle_one(engine, index, vc);
            let port = &mut engine.network.ports[index];
            let (units, instants) = (u64::from(train.left), self.inputs.arrivals_of(rest));
            port.counters.occupancy.drain(units, instants);
            port.counters.units_in -= units;
            port.pool.remove(vc, units);
            port.queues[vc].withdraw(train.left);
            if train.closed && engine.answered[train.unit.vc as usize] {
                self.awaited -= 1;
            }
        }
        self.inputs.put_back(&rests);
        self.rests = rests;
        self.rests.clear();
        if engine.network.ports[index].pushout.is_some() {
            self.count_packets(&engine.network.ports[index]);
        }
    }

    /// The books as they are at `now`, without the cells listed that are still to arrive.
    pub(in crate::engine) fn set_aside(&mut self, port: &mut Port, now: Time) {
        if !self.rests.is_empty() {
            port.counters.occupancy.fall(now, port.pool.total());
        }
        for rest in &self.rests {
            port.pool.remove(rest.train.vc as usize, rest.train.left.into());
        }
    }

    /// The books with these cells again.
    pub(in crate::engine) fn bring_back(&mut self, port: &mut Port) {
        for rest in self.rests.drain(..) {
            port.pool.add_ahead(rest.train.vc as usize, rest.train.left.into());
        }
    }
}

/// What becomes of a train that there is room for.
fn judge(port: &mut Port, next: &Alone) -> Verdict {
    let &Alone { beat, unit, vc, .. } = next;
    if unit.is_first() { port.judge(beat.time, &unit, vc as usize, 1, false) } else { Verdict::Accept }
}
