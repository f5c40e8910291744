//! A port with one queue, whose admission policy is a [`Rule`].
//!
//! Nothing that was taken is ever removed, so a unit's departure is known as soon as it has arrived: it starts when the
//! line has sent everything before it. Cells need no queue at all, for they are equally long: how many there are, and
//! when the oldest one leaves, says everything.

mod asking;
mod crossing;
mod ledger;
mod per_cell;
mod segment;
mod whole;

use std::collections::VecDeque;
use std::rc::Rc;

use crate::buffer::admission::Rule;
use crate::buffer::capacity::Capacity;
use crate::buffer::size::Measure;
use crate::buffer::verdict::{Reason, Verdict};
use crate::engine::LossRecord;
use crate::engine::cells::Fast;
use crate::engine::cells::inbox::{Arriving, End, Inbox, Inner};
use crate::engine::cells::topology::route::Handoff;
use crate::engine::cells::train::{Gathering, Run};
use crate::engine::exact::accounting::{Accounting, Progress, Sojourn, Window};
use crate::engine::exact::spacing::{Beat, Pace, Paces, SpacingTable};
use crate::units::{Span, Time};

use ledger::VcAccounting;
use segment::SegmentStep;

/// The port.
#[derive(Debug)]
pub(in crate::engine) struct CellFifo {
    pub(in crate::engine) inputs: Inbox,
    /// Up to here everything has happened.
    pub(in crate::engine) done: Option<Time>,
    books: Accounting,
    rule: Rule,
    /// Whether the policy wants to be asked for every unit, or units are policed on arrival.
    by_unit: bool,
    polices: bool,
    /// What the policy knows of the buffer, if the rule is to ask it.
    ledger: Option<Box<VcAccounting>>,
    capacity: Capacity,
    measure: Measure,
    paces: Paces,
    /// When the line is free.
    free: Beat,
    content: Content,
    progress: Progress,
    /// Whether trains may pass abreast.
    abreast: bool,
    /// The last end of a train up to which cells have been counted, if some of them are not in the books yet.
    counted: Option<End>,
    /// Before this instant the line is not free for what is not known yet.
    busy: Time,
    /// Consecutive units of a frame, by circuit, that are handed on together.
    runs: Vec<Gathering>,
    /// Whether some of them are for another port.
    pub(in crate::engine) holds_back: bool,
    /// Starts on either side of which units are handed on separately, the next one last.
    cuts: Vec<Time>,
    /// When the occupancy is sampled next.
    sample: Time,
    /// When the clock of the policy ticks.
    tick: Time,
    /// When the measured time begins, if it has not.
    begin: Time,
    /// Up to here it is known whether arrivals can be skipped.
    examined: Time,
    inner: Vec<Inner>,
    /// Cells in the order of their arrival, and whose each is.
    order: Vec<(Time, u32)>,
    /// The instant for which the port is in the event queue.
    pub(in crate::engine) called: Time,
}

/// What is in the buffer.
#[derive(Debug)]
enum Content {
    /// So many cells, of which the oldest one ends at this beat.
    Cells { count: u64, ends: Beat, pace: Pace, rhythm: Rc<SpacingTable> },
    /// Units with their ends and sizes, and their size together.
    Packets { level: u64, units: VecDeque<(Time, u64)> },
}

/// What a FIFO port is made of.
#[derive(Debug)]
pub(in crate::engine) struct Parts {
    pub(in crate::engine) inputs: Inbox,
    pub(in crate::engine) window: Window,
    pub(in crate::engine) rule: Rule,
    /// Whether the policy wants to be asked for every unit.
    pub(in crate::engine) by_unit: bool,
    /// Whether units are policed on arrival.
    pub(in crate::engine) polices: bool,
    /// Whether some of them are handed on together to another port.
    pub(in crate::engine) holds_back: bool,
    /// Whether trains may pass abreast.
    pub(in crate::engine) abreast: bool,
    pub(in crate::engine) capacity: Capacity,
    pub(in crate::engine) measure: Measure,
    pub(in crate::engine) paces: Paces,
    pub(in crate::engine) vcs: usize,
    pub(in crate::engine) cuts: Vec<Time>,
    pub(in crate::engine) sampled: bool,
    /// When the clock of the policy ticks, if it does.
    pub(in crate::engine) tick: Option<Time>,
    /// The pace of its cells, if that is what it carries.
    pub(in crate::engine) cell: Option<Rc<SpacingTable>>,
}

/// Cell times that are worth a division to jump over.
const LONG: u64 = 12;
/// Cells over which one may jump at once without leaving 64 bits.
const FAR: u64 = 1 << 16;

impl Content {
    #[inline]
    fn level(&self) -> u64 {
        match self {
            Content::Cells { count, .. } => *count,
            Content::Packets { level, .. } => *level,
        }
    }

    /// What has ended before `time` leaves; answers when the last of it did.
    #[inline]
    fn drop_before(&mut self, time: Time) -> Time {
        let mut left = Time::ZERO;
        match self {
            Content::Cells { count, ends, pace, .. } => {
                while *count > 0 && ends.time < time {
                    let span = time.0 - 1 - ends.time.0;
                    let jump = span > LONG * pace.whole.0;
                    let gone = if jump { (span / (pace.whole.0 + 1) + 1).min(*count).min(FAR) } else { 1 };
                    *count -= gone;
                    let last = if jump { ends.skip(gone - 1, pace) } else { *ends };
                    (left, *ends) = (last.time, last.next(pace));
                }
            }
            Content::Packets { level, units } => {
                while let Some(&(ends, size)) = units.front()
                    && ends < time
                {
                    *level -= size;
                    left = ends;
                    units.pop_front();
                }
            }
        }
        left
    }

    /// So many cells join that start one behind the other, the first at `start`.
    fn join_many(&mut self, start: Beat, cells: u64) {
        if let Content::Cells { count, ends, pace, .. } = self {
            if *count == 0 {
                *ends = start.shifted(pace.whole);
            }
            *count += cells;
        }
    }

    /// A unit joins that starts at `start`, a picosecond or so before `ends` if it is a short one.
    #[inline]
    fn join(&mut self, start: Beat, whole: Span, size: u64) {
        match self {
            Content::Cells { count, ends, .. } => {
                if *count == 0 {
                    *ends = start.shifted(whole);
                }
                *count += 1;
            }
            Content::Packets { level, units } => {
                *level += size;
                units.push_back((start.time.later(whole), size));
            }
        }
    }
}

impl CellFifo {
    /// An empty port.
    pub(in crate::engine) fn new(parts: Parts) -> CellFifo {
        let Parts {
            inputs,
            window,
            rule,
            by_unit,
            polices,
            holds_back,
            abreast,
            capacity,
            measure,
            paces,
            vcs,
            mut cuts,
            sampled,
            tick,
            cell,
        } = parts;
        cuts.reverse();
        let content = match cell {
            Some(rhythm) => Content::Cells { count: 0, ends: Beat::default(), pace: rhythm.pace, rhythm },
            None => Content::Packets { level: 0, units: VecDeque::new() },
        };
        let ledger = match rule {
            Rule::Asked(interest) => Some(Box::new(VcAccounting::new(capacity, vcs, interest))),
            _ => None,
        };
        CellFifo {
            inputs,
            done: None,
            books: Accounting::new(window),
            rule,
            by_unit: by_unit || polices,
            polices,
            ledger,
            capacity,
            measure,
            paces,
            free: Beat::default(),
            content,
            progress: Progress::new(vcs),
            abreast: abreast && !polices && !by_unit,
            counted: None,
            busy: Time::ZERO,
            runs: vec![Gathering::default(); vcs],
            holds_back,
            cuts,
            sample: if sampled { Time::ZERO } else { Time::NEVER },
            tick: tick.unwrap_or(Time::NEVER),
            begin: window.from,
            examined: Time::ZERO,
            inner: Vec::new(),
            order: Vec::new(),
            called: Time::NEVER,
        }
    }

    /// Let happen what happens up to `until`, that instant included.
    pub(in crate::engine) fn step(&mut self, engine: &mut Fast<'_>, port: usize, until: Time) {
        loop {
            let stop = self.next_stop().min(Time(until.0 + 1));
            self.pass_before(engine, port, stop);
            if stop > until {
                break;
            }
            if self.begin != stop && self.sample == stop && self.sample_abreast(engine, port) {
                continue;
            }
            self.catch_up(engine, port, stop);
            self.drop_before(engine, port, stop);
            if self.begin == stop {
                self.begin = Time::NEVER;
                self.books.max = self.content.level();
            } else if self.sample == stop {
                self.take_samples(engine, port, until);
            } else {
                self.drop_before(engine, port, Time(stop.0 + 1));
                self.tick = engine.network.ports[port].tick(stop).unwrap_or(Time::NEVER);
            }
        }
        self.done = self.done.max(Some(until));
        self.busy = self.busy_until(until);
    }

    /// Let units pass that arrive before `stop`; some may only have been counted, or may wait to be.
    fn pass_before(&mut self, engine: &mut Fast<'_>, port: usize, stop: Time) {
        loop {
            if !self.by_unit && self.pass_train(engine, port, stop) {
                continue;
            }
            if self.abreast {
                match self.pass_abreast(engine, port, stop) {
                    SegmentStep::Passed => continue,
                    SegmentStep::Matters => {
                        self.enter_counted(engine, port);
                        if self.pass_crossing(engine, port, stop) {
                            continue;
                        }
                    }
                    SegmentStep::Later => return,
                }
            }
            if !self.pass_unit(engine, port, stop) {
                return;
            }
        }
    }

    /// Let every unit pass that arrives before `stop`, and enter it in the books.
    fn catch_up(&mut self, engine: &mut Fast<'_>, port: usize, stop: Time) {
        self.enter_counted(engine, port);
        while self.pass_unit(engine, port, stop) {}
    }

    /// Let the next unit pass if it arrives before `stop`, and those behind it that do not matter one by one; answers
    /// whether there was one.
    #[inline]
    fn pass_unit(&mut self, engine: &mut Fast<'_>, port: usize, stop: Time) -> bool {
        let Some(mut arriving) = self.inputs.pop_before(stop) else { return false };
        self.arrive(engine, port, &mut arriving);
        if arriving.time >= self.examined && !self.polices {
            match self.by_unit {
                true => self.ask_calmly(engine, port, stop),
                false => self.skip_calm(engine, port, stop),
            }
        }
        true
    }

    /// Leave everything as if every unit had passed by itself.
    pub(in crate::engine) fn settle(&mut self, engine: &mut Fast<'_>, port: usize) {
        let stop = self.done.map_or(Time::ZERO, |done| Time(done.0 + 1));
        self.catch_up(engine, port, stop);
    }

    /// Take the samples that are due before anything else happens, up to `until`.
    fn take_samples(&mut self, engine: &mut Fast<'_>, port: usize, until: Time) {
        let next = self.inputs.next_time().unwrap_or(Time::NEVER);
        let stop = next.min(Time(until.0 + 1)).min(self.begin).min(self.tick);
        let every = engine.scenario.sample.0;
        loop {
            self.drop_before(engine, port, self.sample);
            let level = self.content.level();
            let left = stop.0.saturating_sub(self.sample.0 + 1) / every;
            let samples = if level == 0 { 1 + left } else { 1 };
            engine.network.ports[port].sample_level(level, samples);
            self.sample.0 += samples * every;
            if self.sample >= stop {
                return;
            }
        }
    }

    /// When something happens next that is not an arrival.
    fn next_stop(&self) -> Time {
        self.sample.min(self.begin).min(self.tick)
    }

    /// Everything has happened up to now: be there again before the next unit for which a host waits can have passed the port
    /// and, `reach` later, the line behind it.
    pub(in crate::engine) fn call_again(&mut self, engine: &mut Fast<'_>, port: usize, reach: Span) {
        let next = self.inputs.next_awaited().map(|next| self.not_out_before(next) + reach);
        self.called = next.unwrap_or(Time::NEVER);
        if let Some(next) = next {
            engine.wake(port as u32, next);
        }
    }

    /// The earliest start of a unit that arrives at `time` and is not known yet: behind everything that was taken.
    pub(in crate::engine) fn not_out_before(&self, time: Time) -> Time {
        time.max(self.busy)
    }

    /// At the end of the run.
    pub(in crate::engine) fn close(&mut self, engine: &mut Fast<'_>, port: usize) {
        self.hand_on(engine, port);
        self.books.close(&mut engine.network.ports[port]);
    }

    #[inline]
    fn arrive(&mut self, engine: &mut Fast<'_>, port: usize, arriving: &mut Arriving) {
        let refused = if self.polices { engine.police(arriving).err() } else { None };
        let &mut Arriving { time: now, unit, .. } = arriving;
        self.drop_before(engine, port, Time(now.0 + 1));
        let size = if self.measure == Measure::Bytes { u64::from(unit.bytes) } else { 1 };
        let verdict = match refused {
            None => self.judge(engine, port, arriving, size, self.content.level()),
            Some(reason) => Verdict::Discard(reason),
        };
        match verdict {
            Verdict::Discard(reason) => self.lose(engine, port, arriving, reason),
            _ => self.take(engine, port, arriving, size),
        }
    }

    /// A unit is lost on arrival.
    fn lose(&mut self, engine: &mut Fast<'_>, port: usize, arriving: &Arriving, reason: Reason) {
        let &Arriving { time, unit, .. } = arriving;
        self.books.lose(time, &unit, reason);
        engine.network.circuits[unit.vc as usize].lost();
        if let Some(log) = &mut engine.log {
            let (port, vc, frame, index) = (port as u32, unit.vc, unit.frame, unit.index);
            log.push(LossRecord { time, port, vc, frame, index, reason });
        }
    }

    /// Whether a unit is taken that finds this occupancy.
    #[inline]
    fn judge(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        arriving: &Arriving,
        size: u64,
        level: u64,
    ) -> Verdict {
        let &Arriving { time, unit, vc } = arriving;
        let fits = self.capacity.holds(level + size);
        match &mut self.rule {
            Rule::Fits if fits => Verdict::Accept,
            Rule::Fits => Verdict::Discard(Reason::Overflow),
            Rule::Frames { threshold, frames } => {
                let refuse = || threshold.filter(|threshold| level >= *threshold).map(|_| Reason::Early);
                frames.judge(&unit, vc as usize, fits, refuse)
            }
            Rule::Asked(_) => {
                let policy = engine.network.ports[port].admission_mut();
                let ledger = self.ledger.as_ref().expect("a policy that is asked has books");
                ledger.ask(policy, time, &unit, (vc as usize, size))
            }
        }
    }

    /// What has ended before `time` leaves.
    #[inline]
    fn drop_before(&mut self, engine: &mut Fast<'_>, port: usize, time: Time) {
        let Some(ledger) = &mut self.ledger else {
            self.content.drop_before(time);
            return;
        };
        let before = self.content.level();
        let last = self.content.drop_before(time);
        if self.content.level() < before {
            let policy = engine.network.ports[port].admission_mut();
            ledger.left(policy, before - self.content.level(), last);
        }
    }

    /// A unit is taken: enter it in the books and hand it on.
    #[inline]
    fn take(&mut self, engine: &mut Fast<'_>, port: usize, arriving: &Arriving, size: u64) {
        let &Arriving { time: arrived, unit, vc } = arriving;
        let pace = match &self.content {
            Content::Cells { pace, .. } => *pace,
            Content::Packets { .. } => self.paces.of(unit.bytes),
        };
        let start = self.free.not_before(arrived);
        self.free = start.next(&pace);
        self.content.join(start, pace.whole, size);
        if let Some(ledger) = &mut self.ledger {
            ledger.joined(vc, size);
            if unit.is_eom() {
                ledger.frame_ends();
            }
        }
        self.books.max = self.books.max.max(self.content.level());
        let (starts, ends) = (start.time, start.time.later(pace.whole));
        let stay = Sojourn { unit, vc, size, arrived, starts, ends };
        match &self.content {
            Content::Cells { .. } => self.books.enter_cell(&stay, (start, self.free), &pace),
            Content::Packets { .. } => self.books.enter(&stay),
        }
        let whole = self.progress.sent(&unit, 1, vc as usize, ends >= self.books.window.from);
        self.books.frames_whole_out += u64::from(whole && self.books.window.holds(ends));
        while self.cuts.last().is_some_and(|cut| *cut <= starts) {
            self.cuts.pop();
            self.hand_on(engine, port);
        }
        let manner = engine.plan.legs[port][vc as usize].manner;
        if manner == Handoff::Singly {
            return engine.send_on(port, vc, Run { unit, units: 1 }, Beat::at(starts), starts, pace.whole);
        }
        let gathering = &mut self.runs[vc as usize];
        gathering.join(engine, (port, vc), &unit, 1, pace.whole);
        match manner {
            Handoff::Timed => drop(gathering.start_many(start, 1, &pace)),
            _ => gathering.last_starts(starts),
        }
        if unit.is_eom() {
            gathering.send(engine, port, vc, pace.whole);
        }
    }

    /// Hand on every run as far as it goes.
    pub(in crate::engine) fn hand_on(&mut self, engine: &mut Fast<'_>, port: usize) {
        for (vc, gathering) in self.runs.iter_mut().enumerate() {
            if let Some(bytes) = gathering.bytes() {
                gathering.send(engine, port, vc as u32, self.paces.of(bytes).whole);
            }
        }
    }
}
