//! A port with one queue: the departure of a unit can be computed when it arrives (Lindley's recursion).
//!
//! # What it assumes
//! The admission policy is a [`Rule`]: it depends only on the occupancy and never removes an accepted unit.
//!
//! # What it skips
//! Events for transmissions, and most cells: [`CellFifo::next_step`] decides what passes next, and in which of two
//! ways: by arithmetic where the line stays busy (`segment.rs`), otherwise in one loop over the cells
//! (`per_cell.rs`).
//!
//! # Why that is exact
//! A unit starts when the line has sent everything before it. Within a segment no train begins or ends, and no
//! sample, tick or end of the measured time falls into it, so everything is decided at its beginning.
//!
//! # What turns it off
//! A policy without a rule: `head_drop.rs` or `per_unit.rs` runs the port. Circuits with queues: `per_vc/` runs it.
//!
//! # What it saves
//! If the policy is called for every unit instead, W1-cell takes 32 times as long, the local network of study 000 11
//! times.

mod combs;
mod content;
mod per_cell;
mod segment;

use crate::buffer::admission::{InnerArrival, Rule, Shortcuts, Within};
use crate::buffer::capacity::Capacity;
use crate::buffer::size::Measure;
use crate::engine::cells::inbox::combs::Combs;
use crate::engine::cells::inbox::{ArrivalPlace, Arriving, Inbox};
use crate::engine::cells::port::context::{Context, PortSetup, Stops};
use crate::engine::cells::port::gathered::GatheredUnits;
use crate::engine::cells::port::outbox::Outbox;
use crate::engine::cells::topology::route::Handoff;
use crate::engine::cells::train::{CellSegment, CellTrain};
use crate::engine::exact::accounting::{Accounting, Progress, Sojourn, VcAccounting};
use crate::engine::exact::spacing::{ExactTime, Paces, TransmissionTime};
use crate::engine::forms::{Form, used};
use crate::scenario::model::Medium;
use crate::unit::{Flags, Unit};
use crate::units::{Span, Time};
use crate::verdict::Reason;

use content::Content;

/// A FIFO port of cells or packets.
#[derive(Debug)]
pub(crate) struct CellFifo {
    pub(crate) inbox: Inbox,
    /// The combs that arrive at the port, if nothing else does.
    pub(crate) combs: Option<Box<Combs>>,
    /// The local clock: everything up to this instant has happened.
    pub(crate) done: Option<Time>,
    books: Accounting,
    entry: Entry,
    paces: Paces,
    /// The exact time at which the line is free.
    free: ExactTime,
    content: Content,
    progress: Progress,
    /// Whether interleaved trains may pass by their ends: only their first and last cells are visited.
    by_ends: bool,
    /// The end of a train up to which inner cells were only counted; `None` if `books` counts all of them.
    counted: Option<ArrivalPlace>,
    /// No unit that is still unknown can start before this instant, since the line is busy until then.
    busy: Time,
    gathered: GatheredUnits,
    /// Whether some units in `gathered` are for another port.
    holds_back: bool,
    stops: Stops,
    /// Time at which the measured time begins; `Time::NEVER` once it has begun.
    begin: Time,
    /// The time up to which inner cells were checked for passing together.
    examined: Time,
    /// Whether a unit has passed since this check.
    looks_between: bool,
    segment: CellSegment,
    /// Work space for cells that a policy observes.
    met: Vec<InnerArrival>,
    /// The scheduled wake-up of the port.
    pub(crate) called: Time,
}

/// The conditions for accepting units into the buffer.
#[derive(Debug)]
struct Entry {
    rule: Rule,
    /// Whether the policy must judge every unit.
    by_unit: bool,
    /// The occupancies that the policy reads, if the rule must call the policy.
    ledger: Option<Box<VcAccounting>>,
    capacity: Capacity,
    measure: Measure,
}

impl Entry {
    /// Build the conditions of a port with this rule.
    fn new(setup: &mut PortSetup<'_>, rule: Rule) -> Entry {
        let line = &setup.scenario.lines[setup.index];
        let vcs = setup.port.pool().vcs();
        let ledger = match rule {
            Rule::Asked(interest) => Some(Box::new(VcAccounting::new(line.port.capacity, vcs, interest))),
            Rule::Fits | Rule::Frames { .. } => None,
        };
        Entry {
            rule,
            by_unit: setup.port.admission_mut().asks_for_all(),
            ledger,
            capacity: line.port.capacity,
            measure: line.port.measure,
        }
    }
}

/// The next step of the port. Only [`CellFifo::next_step`] decides it.
#[derive(Debug)]
enum SegmentStep {
    /// Do nothing: no unit arrives before the limit.
    Nothing,
    /// First add the cells that were only counted so far to the occupancy and to `books`.
    Settle,
    /// Pass by arithmetic a train that no other crosses; its first cell starts at `start`.
    Whole { train: CellTrain, start: ExactTime, fate: Result<(), Reason> },
    /// Pass by arithmetic the first cell of a train that others cross.
    Begins { end: ArrivalPlace },
    /// Pass by arithmetic the last cell of a train that others cross, which completes the train; `ahead` cells before
    /// it are not in `books` yet.
    Ends { end: ArrivalPlace, train: CellTrain, ahead: u64, fate: Result<(), Reason> },
    /// Pass by arithmetic the segment up to the next end of a train; `taken` of its cells are accepted.
    Busy { taken: u64 },
    /// Pass in one loop the segment up to the next end of a train; each cell is accepted, or lost with its frame.
    Loop,
    /// Pass in one loop cells that a policy must observe, although it has already decided about them.
    Shown,
    /// Pass a single unit.
    Unit,
}

impl CellFifo {
    /// Build an empty port.
    pub(crate) fn new(setup: &mut PortSetup<'_>, rule: Rule) -> CellFifo {
        let PortSetup { scenario, plan, window, index, .. } = *setup;
        let (line, entry) = (&scenario.lines[index], Entry::new(setup, rule));
        CellFifo {
            inbox: Inbox::new(plan, index, &scenario.ties()),
            combs: Combs::of_port(plan, index, &scenario.ties()),
            done: None,
            books: Accounting::new(window),
            paces: Paces::new(line.rate.fixed()),
            free: ExactTime::default(),
            content: Content::new((line.medium == Medium::Cells).then(|| plan.spacing(index))),
            progress: Progress::new(setup.port.pool().vcs()),
            by_ends: plan.may_pass_by_ends(index) && !entry.by_unit,
            entry,
            counted: None,
            busy: Time::ZERO,
            gathered: GatheredUnits::new(setup),
            holds_back: plan.routes[index].iter().any(|route| route.handoff == Handoff::Timed),
            stops: Stops::new(setup),
            begin: window.from,
            examined: Time::ZERO,
            looks_between: false,
            segment: CellSegment::default(),
            met: Vec::new(),
            called: Time::NEVER,
        }
    }

    /// Advance to `until`, that instant included.
    pub(crate) fn step(&mut self, cx: &mut Context<'_>, out: &mut Outbox, until: Time) {
        if let Some(combs) = &mut self.combs {
            combs.arrive_before(Time(until.0 + 1));
        }
        loop {
            let stop = self.stops.first().min(self.begin).min(Time(until.0 + 1));
            self.pass_before(cx, out, stop, false);
            if stop > until {
                break;
            }
            if self.begin != stop && self.stops.sample == stop && self.sample_between(cx) {
                continue;
            }
            self.catch_up(cx, out, stop);
            self.drop_before(cx, stop);
            if self.begin == stop {
                self.begin = Time::NEVER;
                self.books.max = self.content.level();
            } else if self.stops.sample == stop {
                self.take_samples(cx, until);
            } else {
                self.drop_before(cx, Time(stop.0 + 1));
                self.stops.tick = cx.port.tick(stop).unwrap_or(Time::NEVER);
            }
        }
        self.done = self.done.max(Some(until));
        self.busy = self.busy_until(cx, until);
    }

    /// Pass the units that arrive before `stop`. Unless they pass `singly`, inner cells may only be counted for now.
    fn pass_before(&mut self, cx: &mut Context<'_>, out: &mut Outbox, stop: Time, singly: bool) {
        if let Some(mut combs) = self.combs.take() {
            self.pass_combs(cx, &mut combs, stop);
            self.combs = Some(combs);
            return;
        }
        loop {
            match self.next_step(cx, stop, singly) {
                SegmentStep::Nothing => return,
                SegmentStep::Settle => self.enter_counted(cx, out),
                SegmentStep::Whole { train, start, fate } => self.pass_whole(cx, out, &train, start, fate),
                SegmentStep::Begins { end } => self.begin_train(end),
                SegmentStep::Ends { end, train, ahead, fate } => {
                    self.end_train(cx, out, end, &train, ahead, fate)
                }
                SegmentStep::Busy { taken } => {
                    used(Form::BusySegment);
                    self.pass_busy(cx, out, taken)
                }
                SegmentStep::Loop => self.pass_loop(cx, out),
                SegmentStep::Shown => self.show_each(cx, out),
                SegmentStep::Unit => {
                    if !self.pass_unit(cx, out, stop) {
                        return;
                    }
                }
            }
        }
    }

    /// Decide which cells pass next before `stop`, and how.
    fn next_step(&mut self, cx: &mut Context<'_>, stop: Time, singly: bool) -> SegmentStep {
        if std::mem::take(&mut self.looks_between)
            && let Some(step) = self.step_between(cx, stop)
        {
            return step;
        }
        if singly || self.entry.by_unit {
            return SegmentStep::Unit;
        }
        if let Some(step) = self.step_of_whole_train(cx, stop) {
            return step;
        }
        if !self.by_ends {
            return SegmentStep::Unit;
        }
        let Some(end) = self.inbox.next_end(stop) else { return SegmentStep::Nothing };
        if self.counted.is_some() && self.free.time < end.time {
            return SegmentStep::Settle;
        }
        if let Some(step) = self.step_of_train_end(cx, end) {
            return step;
        }
        if self.counted.is_some() { SegmentStep::Settle } else { SegmentStep::Unit }
    }

    /// Pass every unit that arrives before `stop`, and add all units that were only counted to `books`.
    fn catch_up(&mut self, cx: &mut Context<'_>, out: &mut Outbox, stop: Time) {
        self.enter_counted(cx, out);
        self.pass_before(cx, out, stop, true);
    }

    /// Pass the next unit alone if it arrives before `stop`; returns whether there was one.
    #[inline]
    fn pass_unit(&mut self, cx: &mut Context<'_>, out: &mut Outbox, stop: Time) -> bool {
        let Some(arriving) = self.inbox.pop_before(stop) else { return false };
        self.arrive(cx, out, &arriving);
        self.looks_between = arriving.time >= self.examined;
        true
    }

    /// Restore the state that the port would have if every unit had passed alone.
    pub(crate) fn settle(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        let stop = self.done.map_or(Time::ZERO, |done| Time(done.0 + 1));
        self.catch_up(cx, out, stop);
    }

    /// Take the samples that are due up to `until`, before any other event.
    fn take_samples(&mut self, cx: &mut Context<'_>, until: Time) {
        let next = match &self.combs {
            Some(combs) => combs.next_time(),
            None => self.inbox.next_time().unwrap_or(Time::NEVER),
        };
        let stop = next.min(Time(until.0 + 1)).min(self.begin).min(self.stops.tick);
        loop {
            self.drop_before(cx, self.stops.sample);
            let level = self.content.level();
            let left = stop.0.saturating_sub(self.stops.sample.0 + 1) / cx.every.0;
            let samples = if level == 0 { 1 + left } else { 1 };
            cx.port.sample_level(level, samples);
            self.stops.sample.0 += samples * cx.every.0;
            if self.stops.sample >= stop {
                return;
            }
        }
    }

    /// Return the next wake-up of the port: no later than the next awaited unit can have passed the port and, `reach`
    /// later, the line after it.
    pub(crate) fn next_wakeup(&mut self, reach: Span) -> Option<Time> {
        let next = self.inbox.next_awaited().map(|next| self.not_out_before(next) + reach);
        self.called = next.unwrap_or(Time::NEVER);
        next
    }

    /// Return the earliest start of a unit that arrives at `time` and is still unknown: it starts after all accepted
    /// units.
    pub(crate) fn not_out_before(&self, time: Time) -> Time {
        time.max(self.busy)
    }

    /// Finish the run.
    pub(crate) fn close(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        self.hand_on(out);
        self.books.close(cx.port);
    }

    #[inline]
    fn arrive(&mut self, cx: &mut Context<'_>, out: &mut Outbox, arriving: &Arriving) {
        let &Arriving { time: now, unit, lost, .. } = arriving;
        self.drop_before(cx, Time(now.0 + 1));
        let size = if self.entry.measure == Measure::Bytes { u64::from(unit.bytes) } else { 1 };
        let verdict = match lost {
            None => self.judge(cx, arriving, size, self.content.level()),
            Some(reason) => Err(reason),
        };
        match verdict {
            Ok(()) => self.take(cx, out, arriving, size),
            Err(reason) => self.lose(cx, arriving, reason),
        }
    }

    /// Count a unit as lost on arrival.
    fn lose(&mut self, cx: &mut Context<'_>, arriving: &Arriving, reason: Reason) {
        self.books.lose(arriving.time, &arriving.unit, reason);
        cx.lose(arriving.time, &arriving.unit, reason);
    }

    /// Judge a unit that meets this occupancy; the error is the reason for its loss.
    #[inline]
    fn judge(&self, cx: &mut Context<'_>, arriving: &Arriving, size: u64, level: u64) -> Result<(), Reason> {
        let &Arriving { time, unit, vc, .. } = arriving;
        let policy = cx.port.admission_mut();
        match &self.entry.ledger {
            Some(ledger) => ledger.ask(policy, time, &unit, vc, size),
            None => {
                self.entry.rule.judge(policy, &unit, vc, (level, self.entry.capacity.holds(level + size)))
            }
        }
    }

    /// Remove the cells that ended before `time`.
    #[inline]
    fn drop_before(&mut self, cx: &mut Context<'_>, time: Time) {
        let Some(ledger) = &mut self.entry.ledger else {
            self.content.drop_before(time);
            return;
        };
        let before = self.content.level();
        let last = self.content.drop_before(time);
        if self.content.level() < before {
            ledger.left(cx.port.admission_mut(), before - self.content.level(), last);
        }
    }

    /// Accept a unit: count it in `books` and forward it.
    #[inline]
    fn take(&mut self, cx: &mut Context<'_>, out: &mut Outbox, arriving: &Arriving, size: u64) {
        let &Arriving { time: arrived, unit, vc, .. } = arriving;
        let pace = match &self.content {
            Content::Cells { pace, .. } => *pace,
            Content::Packets { .. } => self.paces.of(unit.bytes),
        };
        let start = self.free.not_before(arrived);
        self.free = start.next(&pace);
        self.content.join(start, pace.whole, size);
        if let Some(ledger) = &mut self.entry.ledger {
            ledger.joined(vc, size);
            if unit.is_eom() {
                ledger.frame_ends();
            }
        }
        self.books.max = self.books.max.max(self.content.level());
        let (starts, ends) = (start.time, start.time.later(pace.whole));
        self.enter(&Sojourn { unit, vc, size, arrived, starts, ends });
        if self.gathered.separates(starts) {
            self.gathered.pass_cuts(starts);
            self.hand_on(out);
        }
        self.send(cx, out, arriving, start, &pace);
    }

    /// Count a unit in `books`.
    #[inline(always)] // once for each cell that passes alone
    fn enter(&mut self, stay: &Sojourn) {
        self.books.enter(stay);
        let measured = stay.ends >= self.books.window.from;
        let whole = self.progress.sent(&stay.unit, 1, stay.vc, measured);
        self.books.frames_whole_out += u64::from(whole && self.books.window.holds(stay.ends));
    }

    /// Forward a unit that starts at `start`, possibly later, together with others of its frame.
    #[inline]
    fn send(
        &mut self,
        cx: &Context<'_>,
        out: &mut Outbox,
        arriving: &Arriving,
        start: ExactTime,
        pace: &TransmissionTime,
    ) {
        let &Arriving { unit, vc, .. } = arriving;
        let handoff = cx.routes[vc].handoff;
        if handoff == Handoff::Singly {
            return out.send(vc, unit, 1, start.time, pace.whole);
        }
        let gathering = &mut self.gathered.by_vc[vc];
        gathering.join(out, vc, &unit, 1, pace.whole);
        match handoff {
            Handoff::Timed => gathering.starts_at(start.time),
            _ => gathering.last_starts(start.time),
        }
        if unit.is_eom() {
            gathering.send(out, vc, pace.whole);
        }
    }

    /// Return whether gathered units for another port wait to be forwarded.
    pub(crate) fn holds_back(&self) -> bool {
        self.holds_back
    }

    /// Forward all units that have started and are not forwarded yet.
    pub(crate) fn hand_on(&mut self, out: &mut Outbox) {
        for (vc, gathering) in self.gathered.by_vc.pairs_mut() {
            if let Some(bytes) = gathering.bytes() {
                gathering.send(out, vc, self.paces.of(bytes).whole);
            }
        }
    }

    /// Return the decision about a train that fits; `ahead` cells before it are not in `books` yet. Return `None` if
    /// the cells need single decisions.
    fn fate(&mut self, cx: &mut Context<'_>, train: &CellTrain, ahead: u64) -> Option<Result<(), Reason>> {
        let &CellTrain { unit, vc, beat, begun, .. } = train;
        if train.lost.is_some() {
            return train.lost.map(Err);
        }
        if cx.routes[vc].is_collected() {
            return None;
        }
        if let Rule::Fits = self.entry.rule {
            return Some(Ok(()));
        }
        let frames = cx.port.admission_mut().frames()?;
        if !unit.is_first() || begun {
            return match frames.within(vc) {
                Within::Taken => Some(Ok(())),
                Within::Lost(reason) => Some(Err(reason)),
                Within::Broken(_) | Within::Asked => None,
            };
        }
        if self.entry.rule.may_refuse(self.content.level() + ahead) {
            self.drop_before(cx, Time(beat.time.0 + 1));
        }
        let level = self.content.level() + ahead;
        let unit = Unit { flags: unit.flags.without(Flags::EOM), ..unit };
        Some(self.judge(cx, &Arriving { time: beat.time, unit, vc, lost: None }, 1, level))
    }

    /// Return whether `cells` cells that start back to back at `start` certainly leave before the measured time
    /// begins or ends.
    fn leave_in_time(&self, start: ExactTime, cells: u64) -> bool {
        let Content::Cells { pace, .. } = &self.content else { return false };
        let limit = if self.begin == Time::NEVER { self.books.window.to } else { self.begin };
        let last = Time(start.time.0 + (cells + 1) * (pace.whole.0 + 1));
        last < limit && !self.gathered.separates(last)
    }

    /// Return whether `taken` cells fit into the buffer and, started back to back at `start`, leave before the
    /// measured time begins or ends.
    fn fits(&self, start: ExactTime, taken: u64) -> bool {
        self.entry.capacity.holds(self.content.level() + taken) && self.leave_in_time(start, taken)
    }

    /// Return whether the measured time has begun.
    fn is_measured(&self) -> bool {
        self.begin == Time::NEVER
    }
}

#[cfg(test)]
mod tests;
