//! Trains on several lanes pass a port abreast: it looks at their ends, and only counts what comes between.
//!
//! While the line has work, a cell starts when everything taken before it has been sent, whichever circuit that belongs to.
//! So a decision at the first cell of a frame needs to know how many cells are in the buffer, and the last cell how many
//! come before it; both follow from how far the other lanes are. Each train is entered in the books once, when its last
//! cell arrives, and nothing is done about a cell between. When somebody wants to see the books, or cells matter one by
//! one, what has been counted so far is entered as it stands.

use super::whole::{Fate, Group};
use super::{CellFifo, Content};
use crate::engine::cells::Fast;
use crate::engine::cells::inbox::{End, Train};
use crate::unit::{Flags, Unit};
use crate::units::Time;

/// What has become of the next end of a train.
pub(in crate::engine) enum SegmentStep {
    /// It has passed.
    Passed,
    /// Cells matter one by one.
    Matters,
    /// It comes later.
    Later,
}

impl CellFifo {
    /// Let the next end of a train pass that arrives before `stop`, and with it the train if that is its last cell.
    pub(in crate::engine) fn pass_abreast(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        stop: Time,
    ) -> SegmentStep {
        let Some(end) = self.inputs.next_end(stop) else { return SegmentStep::Later };
        if self.free.time < end.time {
            self.enter_counted(engine, port);
        }
        let &train = self.inputs.train(end);
        let Train { beat, unit, vc, left, begun, closed, .. } = train;
        let begins = !begun && left > 1;
        let Some(ahead) = self.count_ahead(engine, end, if begins { 1 } else { left }) else {
            return SegmentStep::Matters;
        };
        let eom = if closed { Flags::EOM } else { Flags::default() };
        let group = Group {
            unit: Unit { flags: unit.flags.with(eom), ..unit },
            vc,
            units: left,
            comes: beat.time,
            start: self.free,
            gathered: left,
            judged: begun,
            ahead,
        };
        let Some(fate) = self.fate(engine, port, &group) else { return SegmentStep::Matters };
        if begins {
            self.inputs.begin_train(end);
        } else {
            let arrivals = self.inputs.sum_of_arrivals(end);
            self.inputs.pop_train();
            match fate {
                Fate::Taken => {
                    self.take_group(engine, port, &group, |fifo, _| fifo.lay_among(&group, arrivals))
                }
                Fate::Refused(reason) => self.lose_group(engine, &group, reason),
            }
        }
        self.counted = Some(end);
        SegmentStep::Passed
    }

    /// How many cells that are taken come before the end of a train, and with it `own` of that train, beyond those in the
    /// books; `None` if cells matter one by one.
    fn count_ahead(&mut self, engine: &Fast<'_>, end: End, own: u16) -> Option<u64> {
        if !self.is_calm(engine, end.time) {
            return None;
        }
        let ahead = self.inputs.ahead_of(end, |vc| self.rule.takes_rest(vc));
        self.let_go(Time(end.time.0 + 1), ahead + u64::from(own)).then_some(ahead)
    }

    /// Take the sample that is due before any train begins or ends, if cells do not matter one by one; answers whether it is
    /// taken.
    pub(in crate::engine) fn sample_abreast(&mut self, engine: &mut Fast<'_>, port: usize) -> bool {
        let time = self.sample;
        if !self.abreast || !self.is_calm(engine, time) {
            return false;
        }
        let ahead = self.inputs.before(time, |vc| self.rule.takes_rest(vc));
        let calm = self.let_go(time, ahead);
        if calm {
            self.counted = self.inputs.midst_before(time);
            self.content.drop_before(time);
            engine.network.ports[port].sample_level(self.content.level() + ahead, 1);
            self.sample += engine.scenario.sample;
        }
        calm
    }

    /// Whether cells may be counted up to `time`, as far as that is known beforehand: the line has work, nobody wants to know
    /// of each loss, and if something has passed in other ways just now, the buffer is not too full.
    ///
    /// The occupancy at the ends of trains bounds that between: see [`CellFifo::has_room_for`].
    fn is_calm(&self, engine: &Fast<'_>, time: Time) -> bool {
        let room = || self.counted.is_some() || self.has_room(self.free, self.beside(), 0);
        self.free.time >= time && engine.log.is_none() && room()
    }

    /// Whether so many cells beyond those in the books do not make the buffer fuller than it ever was, and the measured time
    /// neither begins nor ends before they have left. What has ended before `time` leaves if that matters.
    fn let_go(&mut self, time: Time, cells: u64) -> bool {
        let most = self.most().beside(self.beside());
        let in_time = self.leave_in_time(self.free, cells);
        let Content::Cells { count, ends, rhythm, .. } = &mut self.content else { return false };
        if *count + cells <= most {
            return in_time;
        }
        let (gone, next) = rhythm.count_before(*ends, time);
        let left = *count - gone.min(*count);
        let calm = in_time && left + cells <= most;
        if calm {
            (*count, *ends) = (left, next);
        }
        calm
    }

    /// By how much the occupancy between two ends of trains may exceed that at both of them.
    fn beside(&self) -> u64 {
        self.inputs.in_midst() + 3
    }

    /// A train has arrived among others, cells of which come before its last one: enter it in the books; answers when
    /// the last one starts.
    fn lay_among(&mut self, group: &Group, arrivals: u128) -> Time {
        let Content::Cells { pace, rhythm, .. } = &self.content else { return Time::ZERO };
        let (first, units) = (self.free, u64::from(group.units));
        let (after, last) = (rhythm.skip(first, units), rhythm.skip(first, group.ahead + units - 1));
        if self.begin == Time::NEVER {
            self.books.enter_train((first, after), units, arrivals, pace);
        }
        self.content.join_many(first, units);
        self.free = after;
        last.time
    }

    /// Enter in the books what has been counted.
    pub(in crate::engine) fn enter_counted(&mut self, engine: &mut Fast<'_>, port: usize) {
        let Some(end) = self.counted.take() else { return };
        let mut inner = std::mem::take(&mut self.inner);
        self.inputs.up_to(end, &mut inner);
        if let Some(taken) = self.count(engine, port, &mut inner) {
            self.pass(engine, port, &inner, taken);
        }
        inner.clear();
        self.inner = inner;
    }

    /// Before this instant the line is not free for what arrives after `time`. Of cells that have not been counted it is not
    /// known whether there will be room for them.
    pub(in crate::engine) fn busy_until(&self, time: Time) -> Time {
        match (&self.content, self.counted) {
            (Content::Cells { pace, .. }, Some(end)) => {
                let counted = self.inputs.before(end.time.min(time), |vc| self.rule.takes_rest(vc));
                Time(self.free.time.0 + counted * pace.whole.0)
            }
            _ => self.free.time,
        }
    }
}
