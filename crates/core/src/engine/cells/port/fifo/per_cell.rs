//! Cells that cannot change a decision are skipped arithmetically.
//!
//! Between the cells that begin or end frames, a frame-aware port does with each cell what it does with its frame, as long
//! as the buffer cannot overflow. If the line has work for all that time, then every cell that is taken starts one cell
//! time after the one before, whichever circuit it belongs to; what counts is how many there are, and the sum of the times
//! that they spend in the buffer. If it may have none, or the buffer gets fuller than it ever was, they are put in order and
//! pass in one loop that decides nothing.

use super::{CellFifo, Content};
use crate::buffer::admission::{Policy, Rule, Shortcuts, Within};
use crate::buffer::capacity::Capacity;
use crate::buffer::verdict::Reason;
use crate::engine::cells::Fast;
use crate::engine::cells::inbox::Inner;
use crate::engine::cells::topology::route::{Handoff, RouteSegment};
use crate::engine::exact::spacing::{Beat, Pace};
use crate::units::{CELL_BYTES, Time};

impl CellFifo {
    /// Let cells pass up to the next end of a train and not beyond `stop`, if they do not matter one by one; otherwise
    /// remember that they do.
    pub(in crate::engine) fn skip_calm(&mut self, engine: &mut Fast<'_>, port: usize, stop: Time) {
        let mut inner = std::mem::take(&mut self.inner);
        let until = self.inputs.inner(stop, &mut inner);
        if !inner.is_empty() {
            self.examined = until;
            if let Some(taken) = self.count(engine, port, &mut inner) {
                if self.free.time >= until && self.has_room_for(&inner, taken, until) {
                    self.pass(engine, port, &inner, taken);
                } else if self.fits(self.free.not_before(until), taken) {
                    self.walk(engine, port, &inner);
                }
            }
        }
        inner.clear();
        self.inner = inner;
    }

    /// Find out how many cells are taken, and why others are lost; `None` if they matter one by one.
    pub(in crate::engine) fn count(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        inner: &mut [Inner],
    ) -> Option<u64> {
        let mut taken = 0;
        for &mut Inner { vc, units, ref mut lost, .. } in inner {
            *lost = refuses(&mut self.rule, engine.network.ports[port].admission_mut(), vc);
            if lost.is_some() {
                if engine.log.is_some() {
                    return None;
                }
                continue;
            }
            if engine.plan.legs[port][vc as usize].manner == Handoff::Singly {
                return None;
            }
            taken += units;
        }
        Some(taken)
    }

    /// Whether so many cells that start one behind the other, of which no more than some are `gathered` in the buffer at a
    /// time, fit without a new largest occupancy, and the measured time neither begins nor ends before they have left.
    pub(in crate::engine) fn has_room(&self, start: Beat, gathered: u64, taken: u64) -> bool {
        self.most().holds(self.content.level() + gathered) && self.leave_in_time(start, taken)
    }

    /// Whether so many cells fit that all start before they would behind `start`, and the same holds.
    pub(in crate::engine) fn fits(&self, start: Beat, taken: u64) -> bool {
        self.capacity.holds(self.content.level() + taken) && self.leave_in_time(start, taken)
    }

    /// Whether the measured time certainly neither begins nor ends before so many cells have left that start one behind the
    /// other.
    pub(in crate::engine) fn leave_in_time(&self, start: Beat, cells: u64) -> bool {
        let Content::Cells { pace, .. } = &self.content else { return false };
        let limit = if self.begin == Time::NEVER { self.books.window.to } else { self.begin };
        let last = Time(start.time.0 + (cells + 1) * (pace.whole.0 + 1));
        last < limit && self.cuts.last().is_none_or(|cut| last < *cut)
    }

    /// Cells that may be in the buffer without anybody's notice.
    pub(in crate::engine) fn most(&self) -> Capacity {
        let measured = || Capacity::limited(self.capacity.up_to(self.books.max));
        if self.begin == Time::NEVER { measured() } else { self.capacity }
    }

    /// Whether there is room for the cells found, if so many of them are taken up to `until`.
    ///
    /// Arrivals of each lane and departures are spaced evenly, so that the occupancy is never more than a cell for each lane
    /// and two above what it is at the beginning or at the end.
    fn has_room_for(&self, inner: &[Inner], taken: u64, until: Time) -> bool {
        let Content::Cells { count, ends, pace, .. } = &self.content else { return false };
        let even = inner.iter().all(|inner| inner.even);
        let gathered = if !even || self.most().holds(*count + taken) {
            taken
        } else {
            let gone = ends.count_before(until, pace).min(*count + taken);
            taken.saturating_sub(gone) + inner.len() as u64 + 2
        };
        self.has_room(self.free, gathered, taken)
    }

    /// Let them pass one behind the other, since the line has work for all of them.
    pub(in crate::engine) fn pass(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        inner: &[Inner],
        taken: u64,
    ) {
        let measured = self.begin == Time::NEVER;
        let Content::Cells { pace, .. } = self.content else { return };
        self.gather(engine, port, inner, &pace);
        if self.ledger.is_some() || self.holds_back {
            self.enter_in_order(engine, port, inner, &pace);
        }
        let arrivals = self.inputs.pass_inner(inner, |inner| measured && inner.lost.is_none());
        let (first, after) = (self.free, self.free.skip(taken, &pace));
        if measured {
            self.books.enter_train((first, after), taken, arrivals, &pace);
        }
        self.content.join_many(first, taken);
        self.free = after;
    }

    /// Let them pass as they come, since the line may have nothing to do between them, or the buffer may get fuller than it
    /// ever was.
    fn walk(&mut self, engine: &mut Fast<'_>, port: usize, inner: &[Inner]) {
        let Content::Cells { pace, .. } = self.content else { return };
        self.gather(engine, port, inner, &pace);
        self.tell_taken(engine, port, inner);
        let mut order = std::mem::take(&mut self.order);
        self.inputs.in_order(inner, &mut order);
        self.pass_each(engine, port, order.iter().map(|&(time, place)| (inner[place as usize].vc, time)));
        self.order = order;
        self.inputs.pass_inner(inner, |_| false);
    }

    /// These cells that are taken pass as they come; each is given by its circuit and its arrival. Answers when the last one
    /// starts.
    pub(in crate::engine) fn pass_each(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        arrivals: impl Iterator<Item = (u32, Time)>,
    ) -> Time {
        let Content::Cells { pace, .. } = self.content else { return Time::ZERO };
        let (mut cells, mut stays, mut most, mut last) = (0, 0, 0, Time::ZERO);
        for (vc, time) in arrivals {
            self.drop_before(engine, port, Time(time.0 + 1));
            let start = self.free.not_before(time);
            self.content.join(start, pace.whole, 1);
            self.free = start.next(&pace);
            if let Some(ledger) = &mut self.ledger {
                ledger.joined(vc, 1);
            }
            if self.holds_back && engine.plan.legs[port][vc as usize].manner == Handoff::Timed {
                self.runs[vc as usize].start_many(start, 1, &pace);
            }
            last = start.time;
            (cells, stays) = (cells + 1, stays + u128::from(last.0 + pace.whole.0 - time.0));
            most = most.max(self.content.level());
        }
        if self.begin == Time::NEVER {
            self.books.enter_inner(cells, stays, most);
        }
        last
    }

    /// Enter in the books what becomes of them but for the time that they take.
    pub(in crate::engine) fn gather(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        inner: &[Inner],
        pace: &Pace,
    ) {
        for inner in inner {
            if self.begin == Time::NEVER {
                self.books.frames_in += u64::from(inner.unit.begins_frame());
            }
            match inner.lost {
                Some(reason) => {
                    engine.network.circuits[inner.unit.vc as usize].lost_many(inner.units);
                    if self.begin == Time::NEVER {
                        self.books.lose_many(inner.units, reason);
                    }
                }
                None => self.pass_one(engine, port, inner, pace),
            }
        }
    }

    /// Enter those that are taken where it matters whose cell comes first: in the books of a policy, or because the next
    /// port wants to know when each of them starts.
    fn enter_in_order(&mut self, engine: &mut Fast<'_>, port: usize, inner: &[Inner], pace: &Pace) {
        self.tell_taken(engine, port, inner);
        let mut taken = inner.iter().filter(|inner| inner.lost.is_none());
        let (first, second) = (taken.next(), taken.next());
        let legs = &engine.plan.legs[port];
        if let (Some(only), None) = (first, second) {
            self.enter_some(legs, only.vc, only.units, self.free, pace);
        } else if second.is_some() {
            let mut order = std::mem::take(&mut self.order);
            self.inputs.in_order(inner, &mut order);
            let mut start = self.free;
            for &(_, place) in &order {
                start = self.enter_some(legs, inner[place as usize].vc, 1, start, pace);
            }
            self.order = order;
        }
    }

    /// The same for cells of one circuit, the first of which starts at `start`; answers when the next one can.
    fn enter_some(&mut self, legs: &[RouteSegment], vc: u32, cells: u64, start: Beat, pace: &Pace) -> Beat {
        if let Some(ledger) = &mut self.ledger {
            ledger.joined(vc, cells);
        }
        match legs[vc as usize].manner {
            Handoff::Timed => self.runs[vc as usize].start_many(start, cells, pace),
            _ if self.holds_back => start.skip(cells, pace),
            _ => start, // of no interest
        }
    }

    /// Tell a policy that is asked which of them are taken.
    fn tell_taken(&self, engine: &mut Fast<'_>, port: usize, inner: &[Inner]) {
        if self.ledger.is_some() {
            let policy = engine.network.ports[port].admission_mut();
            for inner in inner.iter().filter(|inner| inner.lost.is_none()) {
                policy.taken(inner.vc as usize, inner.units, inner.units * CELL_BYTES);
            }
        }
    }

    /// Let those of one lane pass, which are taken.
    fn pass_one(&mut self, engine: &mut Fast<'_>, port: usize, inner: &Inner, pace: &Pace) {
        let &Inner { unit, vc, units, .. } = inner;
        self.progress.sent(&unit, units as u16, vc as usize, self.begin == Time::NEVER);
        let gathering = &mut self.runs[vc as usize];
        gathering.join(engine, (port, vc), &unit, units as u16, pace.whole);
        gathering.last_starts(self.free.time);
    }
}

/// Why an inner cell of a circuit's frame would be discarded now, if it would.
fn refuses(rule: &mut Rule, policy: &mut Policy, vc: u32) -> Option<Reason> {
    match rule {
        Rule::Fits => None,
        Rule::Frames { frames, .. } => refusal(frames.within(vc as usize)),
        Rule::Asked(_) => refusal(policy.within(vc as usize)),
    }
}

fn refusal(within: Within) -> Option<Reason> {
    match within {
        Within::Lost(reason) | Within::Broken(reason) => Some(reason),
        Within::Taken | Within::Asked => None,
    }
}
