//! Trains that nothing crosses pass a port at once.
//!
//! While the cells of one frame arrive and nothing else does, a port asks its policy once. The line is busy, so they start
//! one behind the other from the next free instant on; on their way in they keep the pace of their own line, so that not
//! more than a cell or two of them are ever in the buffer at a time, if that pace is not faster than the port's.

use super::Fast;
use super::fifo::{Content, Fifo};
use super::lanes::{Alone, Arriving};
use super::pace::{Beat, Pace};
use super::run::Run;
use crate::buffer::admission::{Admission, Rule, Within};
use crate::buffer::verdict::{Reason, Verdict};
use crate::unit::{Flags, Unit};
use crate::units::{CELL_BYTES, Time};

/// What becomes of a train.
enum Fate {
    /// All its cells are taken.
    Taken,
    /// None is.
    Refused(Reason),
}

impl Fifo {
    /// Let the next train pass, if it arrives before `stop` with nothing else in between and neither its cells nor their
    /// circumstances matter one by one; answers whether it has passed.
    pub(super) fn pass_train(&mut self, engine: &mut Fast<'_>, port: usize, stop: Time) -> bool {
        let &Content::Cells { pace, .. } = &self.content else { return false };
        let Some(alone) = self.inputs.alone_before(stop) else { return false };
        if !alone.is_orderly(self.free, &pace) || engine.log.is_some() {
            return false;
        }
        self.drop_before(engine, port, Time(alone.beat.time.0 + 1));
        let gathered = if alone.pace.is_faster_than(&pace) { u64::from(alone.units) } else { 2 };
        if !self.has_room(gathered, u64::from(alone.units)) {
            return false;
        }
        match self.fate(engine, port, &alone) {
            None => return false,
            Some(Fate::Taken) => self.take_train(engine, port, &alone, &pace),
            Some(Fate::Refused(reason)) => self.lose_train(engine, &alone, reason),
        }
        self.inputs.pop_train();
        true
    }

    /// What becomes of a train that fits; `None` if it has to be decided cell by cell.
    fn fate(&mut self, engine: &mut Fast<'_>, port: usize, alone: &Alone) -> Option<Fate> {
        let &Alone { unit, vc, .. } = alone;
        let frames = match &mut self.rule {
            Rule::Fits => return Some(Fate::Taken),
            Rule::Frames { frames, .. } => frames,
            Rule::Asked(_) => engine.network.ports[port].admission_mut().frames()?,
        };
        if !unit.is_first() {
            return match frames.within(vc as usize) {
                Within::Taken => Some(Fate::Taken),
                Within::Lost(reason) => Some(Fate::Refused(reason)),
                Within::Broken(_) | Within::Asked => None,
            };
        }
        let first = Arriving { time: alone.beat.time, unit, vc };
        Some(match self.judge(engine, port, &first, 1) {
            Verdict::Discard(reason) => Fate::Refused(reason),
            _ => Fate::Taken,
        })
    }

    fn take_train(&mut self, engine: &mut Fast<'_>, port: usize, alone: &Alone, pace: &Pace) {
        let &Alone { unit, vc, units, .. } = alone;
        let measured = self.begin == Time::NEVER;
        let first = self.free;
        let last = first.skip(u64::from(units) - 1, pace);
        self.free = last.next(pace);
        self.content.join_many(first, u64::from(units));
        if let Some(ledger) = &mut self.ledger {
            ledger.joined(vc, u64::from(units));
            let asked = u16::from(unit.is_first());
            let others = u64::from(units - asked);
            engine.network.ports[port].admission_mut().taken(vc as usize, others, others * CELL_BYTES);
        }
        let unit = Unit { flags: unit.flags.with(Flags::EOM), ..unit };
        let whole = self.progress.sent(&unit, units, vc as usize, measured);
        if measured {
            let arrivals = alone.beat.after_with(u64::from(units), &alone.pace, &mut self.known).1;
            self.books.enter_train((first, self.free), u64::from(units), arrivals, pace);
            self.books.frames_in += u64::from(unit.is_first());
            self.books.frames_whole_out += u64::from(whole);
        }
        let (run, before) = &mut self.runs[vc as usize];
        if run.units > 0 && !run.join(&unit, units) {
            std::mem::take(run).send(engine, port, vc, *before, pace.whole);
        }
        let run = if run.units > 0 { std::mem::take(run) } else { Run { unit, units } };
        engine.send_on(port, vc, run, first, last.time, pace.whole);
    }

    fn lose_train(&mut self, engine: &mut Fast<'_>, alone: &Alone, reason: Reason) {
        let &Alone { unit, units, .. } = alone;
        engine.network.circuits[unit.vc as usize].lost_many(units.into());
        if self.begin == Time::NEVER {
            self.books.lose_many(units.into(), reason);
            self.books.frames_in += u64::from(unit.is_first());
        }
    }
}

impl Alone {
    /// Whether the cells start one behind the other on a line that is free from `free` on.
    fn is_orderly(&self, free: Beat, pace: &Pace) -> bool {
        free.time > if self.pace == *pace { self.beat.time } else { self.last }
    }
}
