//! Cells of one frame that nothing crosses pass a port at once.
//!
//! While they arrive and nothing else does, a port asks its policy once. If each arrives before it can start, they start
//! one behind the other from the next free instant on.

use super::{CellFifo, Content};
use crate::buffer::admission::{Rule, Shortcuts, Within};
use crate::buffer::verdict::{Reason, Verdict};
use crate::engine::cells::Fast;
use crate::engine::cells::inbox::{Alone, Arriving};
use crate::engine::cells::topology::route::Handoff;
use crate::engine::cells::train::Run;
use crate::engine::exact::spacing::{Beat, Pace};
use crate::unit::{Flags, Unit};
use crate::units::{CELL_BYTES, Time};

/// Consecutive cells of one frame that arrive with nothing in between.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Group {
    /// The first one, with the marks of the first and of the last.
    pub(in crate::engine) unit: Unit,
    /// Their circuit's number at the port.
    pub(in crate::engine) vc: u32,
    /// How many there are.
    pub(in crate::engine) units: u16,
    /// When the first one arrives.
    pub(in crate::engine) comes: Time,
    /// When it starts.
    pub(in crate::engine) start: Beat,
    /// No more of them are ever in the buffer at a time.
    pub(in crate::engine) gathered: u16,
    /// Whether the policy has been asked about the first one.
    pub(in crate::engine) judged: bool,
    /// How many cells before it are in no book yet.
    pub(in crate::engine) ahead: u64,
}

/// What becomes of a group.
pub(in crate::engine) enum Fate {
    /// All its cells are taken.
    Taken,
    /// None is.
    Refused(Reason),
}

impl CellFifo {
    /// Let the next train pass, if it arrives before `stop` with nothing else in between and neither its cells nor their
    /// circumstances matter one by one; answers whether it has passed.
    pub(in crate::engine) fn pass_train(&mut self, engine: &mut Fast<'_>, port: usize, stop: Time) -> bool {
        let &Content::Cells { pace, .. } = &self.content else { return false };
        let Some(alone) = self.inputs.alone_before(stop) else { return false };
        let Alone { beat, unit, vc, units, begun, closed, pace: own, .. } = alone;
        let start = self.free.not_before(beat.time);
        if !self.is_orderly(&alone, start, &pace) {
            return false;
        }
        // at the pace of their own line not more than a cell or two of them gather, unless it is faster or they have begun
        // among others
        let gathered = if begun || own.is_faster_than(&pace) { units } else { 2 };
        let eom = if closed { Flags::EOM } else { Flags::default() };
        let group = Group {
            unit: Unit { flags: unit.flags.with(eom), ..unit },
            vc,
            units,
            comes: beat.time,
            start,
            gathered,
            judged: begun,
            ahead: 0,
        };
        let arrivals = self.inputs.arrivals(&alone);
        let passed = self.pass_group(engine, port, &group, || arrivals);
        if passed {
            self.counted = None;
            self.inputs.pop_train();
        }
        passed
    }

    /// Whether each cell arrives before it can start, the first of them at `start`: it has to wait for all before it there,
    /// but on a slower line only for those of its own frame.
    fn is_orderly(&self, alone: &Alone, start: Beat, pace: &Pace) -> bool {
        if self.free.time > alone.last || alone.pace.whole < pace.whole && self.inputs.uneven(alone).is_none()
        {
            return true;
        }
        match self.inputs.uneven(alone) {
            None => alone.pace == *pace && self.free.time > alone.beat.time,
            Some(mut arrivals) => {
                let mut starts = (start.time.0..).step_by(pace.whole.0 as usize);
                arrivals.all(|arrival| starts.next().is_some_and(|start| arrival.0 <= start))
            }
        }
    }

    /// Let a group pass whose cells start one behind the other, if neither they nor their circumstances matter one by one;
    /// answers whether it has passed. Their `arrivals` are summed up if that matters.
    pub(in crate::engine) fn pass_group(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        group: &Group,
        arrivals: impl FnOnce() -> u128,
    ) -> bool {
        if engine.log.is_some() {
            return false;
        }
        // what has left matters if all has, if the buffer may be full, and where a policy keeps books
        let idle = self.free.time < group.start.time;
        let has_room =
            |fifo: &CellFifo| fifo.has_room(group.start, group.gathered.into(), group.units.into());
        if idle || self.ledger.is_some() || !has_room(self) {
            self.drop_before(engine, port, Time(group.comes.0 + 1));
            if !has_room(self) {
                return false;
            }
        }
        match self.fate(engine, port, group) {
            None => return false,
            Some(Fate::Taken) => self.take_group(engine, port, group, |fifo, engine| {
                fifo.lay_chain(engine, port, group, arrivals)
            }),
            Some(Fate::Refused(reason)) => self.lose_group(engine, group, reason),
        }
        true
    }

    /// What becomes of a group that fits; `None` if it has to be decided cell by cell.
    pub(in crate::engine) fn fate(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        group: &Group,
    ) -> Option<Fate> {
        let &Group { unit, vc, comes, judged, ahead, .. } = group;
        if engine.plan.legs[port][vc as usize].is_collected() {
            return None;
        }
        let frames = match &mut self.rule {
            Rule::Fits => return Some(Fate::Taken),
            Rule::Frames { frames, .. } => frames,
            Rule::Asked(_) => engine.network.ports[port].admission_mut().frames()?,
        };
        if !unit.is_first() || judged {
            return match frames.within(vc as usize) {
                Within::Taken => Some(Fate::Taken),
                Within::Lost(reason) => Some(Fate::Refused(reason)),
                Within::Broken(_) | Within::Asked => None,
            };
        }
        let unit = Unit { flags: Flags(unit.flags.0 & !Flags::EOM.0), ..unit };
        if self.rule.may_refuse(self.content.level() + ahead) {
            self.drop_before(engine, port, Time(comes.0 + 1));
        }
        let level = self.content.level() + ahead;
        Some(match self.judge(engine, port, &Arriving { time: comes, unit, vc }, 1, level) {
            Verdict::Discard(reason) => Fate::Refused(reason),
            _ => Fate::Taken,
        })
    }

    /// A group is taken: enter it in the books and hand it on. To `lay` it is to find a start for each cell; the answer is
    /// the last one.
    pub(in crate::engine) fn take_group(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        group: &Group,
        lay: impl FnOnce(&mut Self, &mut Fast<'_>) -> Time,
    ) {
        let (&Content::Cells { pace, .. }, &Group { unit, vc, units, start, .. }) = (&self.content, group)
        else {
            return;
        };
        if self.ledger.is_some() {
            let others = u64::from(units - u16::from(unit.is_first()));
            engine.network.ports[port].admission_mut().taken(vc as usize, others, others * CELL_BYTES);
        }
        let measured = self.begin == Time::NEVER;
        let whole = self.progress.sent(&unit, units, vc as usize, measured);
        if measured {
            self.books.frames_in += u64::from(unit.begins_frame());
            self.books.frames_whole_out += u64::from(whole);
        }
        // nothing needs to be gathered of a frame that is whole
        let at_once = match engine.plan.legs[port][vc as usize].manner {
            Handoff::Singly => true,
            Handoff::Together => unit.begins_frame() && unit.is_eom() && self.runs[vc as usize].is_empty(),
            Handoff::Timed => false,
        };
        if at_once {
            let last = lay(self, engine);
            return engine.send_on(port, vc, Run { unit, units }, start, last, pace.whole);
        }
        self.runs[vc as usize].join(engine, (port, vc), &unit, units, pace.whole);
        let last = lay(self, engine);
        let gathering = &mut self.runs[vc as usize];
        gathering.last_starts(last);
        if unit.is_eom() {
            gathering.send(engine, port, vc, pace.whole);
        }
    }

    /// Cells of a group that is taken start one behind the other; answers when the last one does.
    fn lay_chain(
        &mut self,
        engine: &Fast<'_>,
        port: usize,
        group: &Group,
        arrivals: impl FnOnce() -> u128,
    ) -> Time {
        let (&Content::Cells { pace, .. }, &Group { vc, start, .. }) = (&self.content, group) else {
            return Time::ZERO;
        };
        let units = u64::from(group.units);
        let last = start.skip(units - 1, &pace);
        self.free = last.next(&pace);
        self.content.join_many(start, units);
        if let Some(ledger) = &mut self.ledger {
            ledger.joined(vc, units);
        }
        if self.begin == Time::NEVER {
            self.books.enter_train((start, self.free), units, arrivals(), &pace);
        }
        if engine.plan.legs[port][vc as usize].manner == Handoff::Timed {
            self.runs[vc as usize].start_many(start, units, &pace);
        }
        last.time
    }

    pub(in crate::engine) fn lose_group(&mut self, engine: &mut Fast<'_>, group: &Group, reason: Reason) {
        let &Group { unit, units, .. } = group;
        engine.network.circuits[unit.vc as usize].lost_many(units.into());
        if self.begin == Time::NEVER {
            self.books.lose_many(units.into(), reason);
            self.books.frames_in += u64::from(unit.begins_frame());
        }
    }
}
