//! Trains pass a FIFO port by arithmetic while its line stays busy.
//!
//! # What it assumes
//! Cells are equally long, and the line has work from the first cell of the segment to the last.
//!
//! # What it skips
//! Cells within frames. A train that no other crosses passes as a whole; of interleaved trains only the ends are
//! visited; the inner cells of a segment are counted by their number and the sum of their arrival times.
//!
//! # Why that is exact
//! On a busy line a cell starts one cell time after the preceding one, whatever its circuit. A decision at the first
//! cell of a frame needs the occupancy, the last cell needs the number of cells before it; both follow from the
//! progress of the other lanes. Cells that were only counted are added to `books` before anything else reads it.
//!
//! # What turns it off
//! A line that becomes idle, a buffer that may overflow or exceed its maximum so far, a measured time that begins or
//! ends before the cells have left, a log of every loss, or a policy that judges each cell: then `per_cell.rs`, or
//! unit by unit.
//!
//! # What it saves
//! Without this file W1-cell takes 8.1 times as long, the local network of study 000 3.5 times, multi-hop 2.3 times.
//! Of its three parts trains that no other crosses save WFEPD 1.2 times the instructions, ends of trains save `lan` 1.2
//! times, busy segments save multi-hop 1.2 to 1.3 times.

use super::{CellFifo, Content, SegmentStep};
use crate::buffer::admission::{Policy, Rule, Shortcuts, Within};
use crate::buffer::capacity::Capacity;
use crate::engine::cells::inbox::ArrivalPlace;
use crate::engine::cells::port::context::Context;
use crate::engine::cells::port::outbox::Outbox;
use crate::engine::cells::topology::route::{Handoff, RouteSegment};
use crate::engine::cells::train::CellTrain;
use crate::engine::exact::spacing::{ExactTime, TransmissionTime};
use crate::engine::forms::{Form, allows, used};
use crate::units::ids::{IdSlice, PortVc};
use crate::units::{CELL_BYTES, Span, Time};
use crate::verdict::Reason;

impl CellFifo {
    /// Choose to pass the next train as a whole, if it arrives before `stop` with no other unit in between.
    pub(super) fn step_of_whole_train(&mut self, cx: &mut Context<'_>, stop: Time) -> Option<SegmentStep> {
        let &Content::Cells { pace, .. } = &self.content else { return None };
        let train = self.inbox.alone_before(stop)?;
        let start = self.free.not_before(train.beat.time);
        if cx.is_logged() || !self.is_orderly(&train, start, &pace) || !allows(Form::WholeTrain) {
            return None;
        }
        // at most two cells wait, unless the incoming line is faster or the train has begun among others
        let most = if train.begun || !self.inbox.is_spaced(&train) { train.units } else { 2 };
        let has_room = |fifo: &CellFifo| fifo.has_room(start, most.into(), train.units.into());
        // departed cells matter only if all have left, if the buffer may be full, or if a policy reads the
        // occupancies
        if self.free.time < start.time || self.entry.ledger.is_some() || !has_room(self) {
            self.drop_before(cx, Time(train.beat.time.0 + 1));
            if !has_room(self) {
                return None;
            }
        }
        let fate = self.fate(cx, &train, 0)?;
        Some(SegmentStep::Whole { train, start, fate })
    }

    /// Return whether each cell of a train arrives before the line is ready for it, if the first one starts at
    /// `start`, so that the cells start back to back. Cells of a slower line may arrive too late for that.
    fn is_orderly(&self, train: &CellTrain, start: ExactTime, pace: &TransmissionTime) -> bool {
        let own = self.inbox.pace_of(train);
        if self.free.time > train.last || train.even && own.whole < pace.whole {
            return true;
        }
        match self.inbox.irregular(train) {
            None => own == *pace && self.free.time > train.beat.time,
            Some(mut arrivals) => {
                let mut starts = (start.time.0..).step_by(pace.whole.0 as usize);
                arrivals.all(|arrival| starts.next().is_some_and(|start| arrival.0 <= start))
            }
        }
    }

    /// Pass a train that no other crosses.
    pub(super) fn pass_whole(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Outbox,
        train: &CellTrain,
        start: ExactTime,
        fate: Result<(), Reason>,
    ) {
        match fate {
            Ok(()) => {
                let arrivals = if self.is_measured() { self.inbox.arrivals(train) } else { 0 };
                let routes = cx.routes;
                self.take_train(cx, out, train, start, |fifo| fifo.lay_whole(routes, train, start, arrivals));
            }
            Err(reason) => self.lose_train(cx, train, reason),
        }
        used(Form::WholeTrain);
        self.counted = None;
        self.inbox.pop_train();
    }

    /// Start the cells of a whole train back to back; returns the start of the last one.
    fn lay_whole(
        &mut self,
        routes: IdSlice<'_, PortVc, RouteSegment>,
        train: &CellTrain,
        start: ExactTime,
        arrivals: u128,
    ) -> Time {
        let Content::Cells { pace, spacing, .. } = &self.content else { return Time::ZERO };
        let (vc, units, pace) = (train.vc, u64::from(train.units), *pace);
        let (last, starts) = spacing.run(start, units);
        self.free = last.next(&pace);
        self.content.join_many(start, units);
        if let Some(ledger) = &mut self.entry.ledger {
            ledger.joined(vc, units);
        }
        if self.is_measured() {
            self.enter_busy(units, starts, arrivals, pace.whole);
        }
        if routes[vc].handoff == Handoff::Timed {
            self.gathered.by_vc[vc].start_many(start, units, &pace);
        }
        last.time
    }

    /// Choose to pass the next end of a train among others; with the last cell the whole train passes.
    pub(super) fn step_of_train_end(
        &mut self,
        cx: &mut Context<'_>,
        end: ArrivalPlace,
    ) -> Option<SegmentStep> {
        let &train = self.inbox.train(end);
        let begins = !train.begun && train.units > 1;
        if !self.may_count_until(cx, end.time) || !allows(Form::TrainEnds) {
            return None;
        }
        let ahead = self.inbox.ahead_of(end, |vc| self.entry.rule.takes_rest(cx.port.admission_mut(), vc));
        let own = if begins { 1 } else { u64::from(train.units) };
        if !self.leave_room(Time(end.time.0 + 1), ahead + own) {
            return None;
        }
        let fate = self.fate(cx, &train, ahead)?;
        Some(if begins { SegmentStep::Begins { end } } else { SegmentStep::Ends { end, train, ahead, fate } })
    }

    /// Begin a train among others: its first cell arrives.
    pub(super) fn begin_train(&mut self, end: ArrivalPlace) {
        used(Form::TrainEnds);
        self.inbox.begin_train(end);
        self.counted = Some(end);
    }

    /// End a train among others: its last cell arrives.
    pub(super) fn end_train(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Outbox,
        end: ArrivalPlace,
        train: &CellTrain,
        ahead: u64,
        fate: Result<(), Reason>,
    ) {
        let arrivals = self.inbox.arrivals(train);
        self.inbox.pop_train();
        match fate {
            Ok(()) => {
                let start = self.free;
                self.take_train(cx, out, train, start, |fifo| fifo.lay_among(train, ahead, arrivals));
            }
            Err(reason) => self.lose_train(cx, train, reason),
        }
        self.counted = Some(end);
    }

    /// Count cells in `books`, given the sums of their starts and of their arrival times. Starts and arrivals may
    /// belong to different cells, so a single difference may wrap; the total is right.
    #[inline]
    fn enter_busy(&mut self, cells: u64, starts: u128, arrivals: u128, whole: Span) {
        let ends = starts + u128::from(cells) * u128::from(whole.0);
        self.books.enter_inner(cells, ends.wrapping_sub(arrivals), 0);
    }

    /// Start the cells of a train among others; `ahead` cells of other trains start before its last one. Returns the
    /// start of the last one.
    fn lay_among(&mut self, train: &CellTrain, ahead: u64, arrivals: u128) -> Time {
        let Content::Cells { pace, spacing, .. } = &self.content else { return Time::ZERO };
        let (first, units, whole) = (self.free, u64::from(train.units), pace.whole);
        let ((after, starts), last) = (spacing.after(first, units), spacing.skip(first, ahead + units - 1));
        if self.is_measured() {
            self.enter_busy(units, starts, arrivals, whole);
        }
        self.content.join_many(first, units);
        self.free = after;
        last.time
    }

    /// Take the sample that is due before any train begins or ends, if inner cells may be counted up to it; returns
    /// whether it was taken.
    pub(super) fn sample_between(&mut self, cx: &mut Context<'_>) -> bool {
        let time = self.stops.sample;
        if !self.by_ends || !self.may_count_until(cx, time) {
            return false;
        }
        let ahead = self.inbox.before(time, |vc| self.entry.rule.takes_rest(cx.port.admission_mut(), vc));
        let has_margin = self.leave_room(time, ahead);
        if has_margin {
            self.counted = self.inbox.midst_before(time);
            self.content.drop_before(time);
            cx.port.sample_level(self.content.level() + ahead, 1);
            self.stops.sample += cx.every;
        }
        has_margin
    }

    /// Return whether inner cells may be only counted up to `time`, as far as this can be decided in advance: the
    /// line is busy until then, losses are not logged, and if units have just passed one by one, the buffer is not
    /// too full.
    ///
    /// The occupancy at the ends of trains bounds the occupancy between them: see [`CellFifo::has_room_between`].
    fn may_count_until(&self, cx: &Context<'_>, time: Time) -> bool {
        let room = || self.counted.is_some() || self.has_room(self.free, self.beside(), 0);
        self.free.time >= time && !cx.is_logged() && room()
    }

    /// Return whether `cells` cells beyond the present content set no new maximum occupancy, and leave before the
    /// measured time begins or ends. Removes cells that ended before `time` if the answer depends on them.
    fn leave_room(&mut self, time: Time, cells: u64) -> bool {
        let most = self.most().beside(self.beside());
        let in_time = self.leave_in_time(self.free, cells);
        let Content::Cells { count, ends, spacing, .. } = &mut self.content else { return false };
        if *count + cells <= most {
            return in_time;
        }
        let (gone, next) = spacing.count_before(*ends, time);
        let left = *count - gone.min(*count);
        let has_margin = in_time && left + cells <= most;
        if has_margin {
            (*count, *ends) = (left, next);
        }
        has_margin
    }

    /// Return the greatest number of cells by which the occupancy between two ends of trains may exceed the occupancy
    /// at both of them.
    fn beside(&self) -> u64 {
        self.inbox.count_within() + 3
    }

    /// Add the cells that were only counted to `books`.
    pub(super) fn enter_counted(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        let Some(end) = self.counted.take() else { return };
        self.segment.trains.clear();
        self.inbox.up_to(end, &mut self.segment.trains);
        if let Some(taken) = self.count_taken(cx) {
            self.pass_busy(cx, out, taken);
        }
    }

    /// Return the instant before which no unit that arrives after `time` can start. Cells that were only counted may
    /// still be lost.
    pub(super) fn busy_until(&self, cx: &mut Context<'_>, time: Time) -> Time {
        match (&self.content, self.counted) {
            (Content::Cells { pace, .. }, Some(end)) => {
                let takes_rest = |vc| self.entry.rule.takes_rest(cx.port.admission_mut(), vc);
                let counted = self.inbox.before(end.time.min(time), takes_rest);
                Time(self.free.time.0 + counted * pace.whole.0)
            }
            _ => self.free.time,
        }
    }

    /// Choose how to pass the segment up to the next end of a train, but not beyond `stop`, if its cells can pass
    /// together.
    pub(super) fn step_between(&mut self, cx: &mut Context<'_>, stop: Time) -> Option<SegmentStep> {
        self.segment.trains.clear();
        let until = self.inbox.inner(stop, &mut self.segment.trains);
        if self.segment.trains.is_empty() {
            return None;
        }
        self.examined = until;
        if self.entry.by_unit {
            return self.step_of_asked(cx, until);
        }
        let taken = self.count_taken(cx)?;
        if self.free.time >= until && self.has_room_between(taken, until) && allows(Form::BusySegment) {
            return Some(SegmentStep::Busy { taken });
        }
        let fits = self.fits(self.free.not_before(until), taken);
        (fits && allows(Form::LoopedSegment)).then_some(SegmentStep::Loop)
    }

    /// Return the number of accepted cells of the segment, and store in each other train the reason for its loss;
    /// `None` if the cells need single decisions.
    fn count_taken(&mut self, cx: &mut Context<'_>) -> Option<u64> {
        let mut taken = 0;
        for train in &mut self.segment.trains {
            let refused = || refusal(self.entry.rule, cx.port.admission_mut(), train.vc);
            train.lost = train.lost.or_else(refused);
            if train.lost.is_some() {
                if cx.is_logged() {
                    return None;
                }
                continue;
            }
            if cx.routes[train.vc].handoff == Handoff::Singly {
                return None;
            }
            taken += u64::from(train.units);
        }
        Some(taken)
    }

    /// Return whether `taken` cells that start back to back at `start`, at most `gathered` of them in the buffer at a
    /// time, set no new maximum occupancy and leave before the measured time begins or ends.
    fn has_room(&self, start: ExactTime, gathered: u64, taken: u64) -> bool {
        self.most().holds(self.content.level() + gathered) && self.leave_in_time(start, taken)
    }

    /// Return the largest occupancy that sets no new maximum.
    fn most(&self) -> Capacity {
        let measured = || Capacity::limited(self.entry.capacity.up_to(self.books.max));
        if self.is_measured() { measured() } else { self.entry.capacity }
    }

    /// Return whether the segment sets no new maximum occupancy, if `taken` of its cells are accepted up to `until`.
    ///
    /// Arrivals on each lane and departures are evenly spaced, so the occupancy never exceeds its value at the
    /// beginning or at the end by more than a cell for each lane and two.
    fn has_room_between(&self, taken: u64, until: Time) -> bool {
        let Content::Cells { count, ends, pace, .. } = &self.content else { return false };
        let even = self.segment.trains.iter().all(|train| train.even);
        let gathered = if !even || self.most().holds(*count + taken) {
            taken
        } else {
            let gone = ends.count_before(until, pace).min(*count + taken);
            taken.saturating_sub(gone) + self.segment.trains.len() as u64 + 2
        };
        self.has_room(self.free, gathered, taken)
    }

    /// Pass the segment by arithmetic, since the line is busy all the time.
    pub(super) fn pass_busy(&mut self, cx: &mut Context<'_>, out: &mut Outbox, taken: u64) {
        let (measured, segment) = (self.is_measured(), std::mem::take(&mut self.segment.trains));
        let Content::Cells { pace, spacing, .. } = &self.content else { return };
        let (pace, first, (after, starts)) = (*pace, self.free, spacing.after(self.free, taken));
        self.gather(cx, out, &segment, &pace);
        if self.entry.ledger.is_some() || self.holds_back {
            self.enter_in_order(cx, &segment, &pace);
        }
        let arrivals = self.inbox.pass_inner(&segment, |train| measured && train.lost.is_none());
        if measured {
            self.enter_busy(taken, starts, arrivals, pace.whole);
        }
        self.content.join_many(first, taken);
        self.free = after;
        self.segment.trains = segment;
    }

    /// Count the segment in `books`, except for the sojourn times of its cells.
    pub(super) fn gather(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Outbox,
        segment: &[CellTrain],
        pace: &TransmissionTime,
    ) {
        let measured = self.is_measured();
        for train in segment {
            let &CellTrain { unit, vc, units, .. } = train;
            if let Some(reason) = train.lost {
                self.lose_train(cx, train, reason);
                continue;
            }
            if measured {
                self.books.frames_in += u64::from(unit.begins_frame());
            }
            self.progress.sent(&unit, units, vc, measured);
            let gathering = &mut self.gathered.by_vc[vc];
            gathering.join(out, vc, &unit, units, pace.whole);
            gathering.last_starts(self.free.time);
        }
    }

    /// Record the accepted cells one by one where their order matters: because a policy reads the occupancies, or
    /// because the next port needs each start.
    fn enter_in_order(&mut self, cx: &mut Context<'_>, segment: &[CellTrain], pace: &TransmissionTime) {
        self.report_accepted(cx, segment);
        let mut taken = segment.iter().filter(|train| train.lost.is_none());
        let (first, second) = (taken.next(), taken.next());
        if let (Some(only), None) = (first, second) {
            self.enter_some(cx.routes, only.vc, only.units.into(), self.free, pace);
        } else if second.is_some() {
            let mut order = std::mem::take(&mut self.segment.order);
            self.inbox.in_order(segment, &mut order);
            let mut start = self.free;
            for &(_, place) in &order {
                start = self.enter_some(cx.routes, segment[place as usize].vc, 1, start, pace);
            }
            self.segment.order = order;
        }
    }

    /// Record cells of one circuit, the first of which starts at `start`. Return when the next cell can start.
    fn enter_some(
        &mut self,
        routes: IdSlice<'_, PortVc, RouteSegment>,
        vc: PortVc,
        cells: u64,
        start: ExactTime,
        pace: &TransmissionTime,
    ) -> ExactTime {
        if let Some(ledger) = &mut self.entry.ledger {
            ledger.joined(vc, cells);
        }
        match routes[vc].handoff {
            Handoff::Timed => self.gathered.by_vc[vc].start_many(start, cells, pace),
            _ if self.holds_back => start.skip(cells, pace),
            _ => start, // of no interest
        }
    }

    /// Report the accepted cells to a policy that judges cells one by one.
    pub(super) fn report_accepted(&self, cx: &mut Context<'_>, segment: &[CellTrain]) {
        if self.entry.ledger.is_some() {
            for train in segment.iter().filter(|train| train.lost.is_none()) {
                let units = u64::from(train.units);
                cx.port.admission_mut().taken(train.vc, units, units * CELL_BYTES);
            }
        }
    }

    /// Accept a train that starts at `start`: count it in `books` and forward it. `lay` assigns a start to each cell
    /// and returns the last start.
    pub(super) fn take_train(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Outbox,
        train: &CellTrain,
        start: ExactTime,
        lay: impl FnOnce(&mut Self) -> Time,
    ) {
        let &Content::Cells { pace, .. } = &self.content else { return };
        let (unit, &CellTrain { vc, units, .. }) = (train.with_marks(), train);
        if self.entry.ledger.is_some() {
            let others = u64::from(units - u16::from(unit.is_first()));
            cx.port.admission_mut().taken(vc, others, others * CELL_BYTES);
        }
        let measured = self.is_measured();
        let whole = self.progress.sent(&unit, units, vc, measured);
        if measured {
            self.books.frames_in += u64::from(unit.begins_frame());
            self.books.frames_whole_out += u64::from(whole);
        }
        // a train that is a whole frame is forwarded at once
        let at_once = match cx.routes[vc].handoff {
            Handoff::Singly => true,
            Handoff::Together => unit.begins_frame() && unit.is_eom() && self.gathered.by_vc[vc].is_empty(),
            Handoff::Timed => false,
        };
        if at_once {
            let last = lay(self);
            return out.send_train(vc, unit, units, start, last, pace.whole);
        }
        self.gathered.by_vc[vc].join(out, vc, &unit, units, pace.whole);
        let last = lay(self);
        let gathering = &mut self.gathered.by_vc[vc];
        gathering.last_starts(last);
        if unit.is_eom() {
            gathering.send(out, vc, pace.whole);
        }
    }

    /// Count all cells of a train as lost.
    fn lose_train(&mut self, cx: &mut Context<'_>, train: &CellTrain, reason: Reason) {
        let &CellTrain { unit, units, .. } = train;
        cx.circuits[unit.vc].lost_many(&unit, units.into());
        if self.is_measured() {
            self.books.lose_many(units.into(), reason);
            self.books.frames_in += u64::from(unit.begins_frame());
        }
    }
}

/// Return the reason for which an inner cell of a circuit's frame would be discarded now; `None` if it is accepted.
fn refusal(rule: Rule, policy: &mut Policy, vc: PortVc) -> Option<Reason> {
    let within = match rule {
        Rule::Fits => return None,
        Rule::Frames { .. } | Rule::Asked(_) => policy.within(vc),
    };
    match within {
        Within::Lost(reason) | Within::Broken(reason) => Some(reason),
        Within::Taken | Within::Asked => None,
    }
}
