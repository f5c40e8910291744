//! A port with one queue of cells that may lose cells at its head.
//!
//! # What it assumes
//! Every cell that fits is accepted, and a [`HeadRule`] says which waiting cells are lost.
//!
//! # What it skips
//! Events: arrivals join the queue in one loop, and departures up to an instant follow in another. The occupancy is
//! computed only where a cell may find the buffer full, or set a new maximum.
//!
//! # Why that is exact
//! A decision at the head depends on earlier arrivals and departures only; the queue stores when each cell has arrived,
//! so a later loop finds which cells were behind the head at an instant.
//!
//! # What turns it off
//! A policy that reads the occupancy, that judges each cell, or that marks: `per_unit.rs` runs the port.
//!
//! # What it saves
//! W1-cell with CoDel and with drop from front takes 4.5 times the instructions in the form `per_unit.rs`.

use std::collections::VecDeque;

use crate::buffer::admission::{Admission, Head, HeadRule, Shortcuts};
use crate::buffer::capacity::Capacity;
use crate::engine::cells::inbox::{Arriving, Inbox};
use crate::engine::cells::port::context::{Context, PortSetup, Stops};
use crate::engine::cells::port::gathered::GatheredUnits;
use crate::engine::cells::port::outbox::Outbox;
use crate::engine::cells::train::CellSegment;
use crate::engine::exact::accounting::{Accounting, Progress, Sojourn};
use crate::engine::exact::spacing::{ExactTime, TransmissionTime};
use crate::engine::forms::{Form, used};
use crate::link::port::Port;
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc, QueueId};
use crate::units::{CELL_BYTES, Span, Time};
use crate::verdict::{HeadVerdict, Reason};

/// A port of cells with one queue and a rule about its head, with its local clock.
#[derive(Debug)]
pub(crate) struct HeadDrop {
    pub(crate) inbox: Inbox,
    /// The local clock: everything up to this instant has happened.
    pub(crate) done: Option<Time>,
    /// The scheduled wake-up of the port.
    pub(crate) called: Time,
    rule: HeadRule,
    capacity: Capacity,
    /// Cells that have arrived and have not started, in order; some of them may have arrived after the last departure
    /// that is computed.
    queue: VecDeque<WaitingCell>,
    /// Number of cells that have left the queue, so that each cell has a number.
    gone: u64,
    /// Numbers of the waiting cells that make a host act.
    awaited: VecDeque<u64>,
    /// The exact time at which the line is free, and the end of the transmission before.
    free: ExactTime,
    ends: Time,
    pace: TransmissionTime,
    /// No unit that is still unknown can start before this instant.
    busy: Time,
    /// Greatest number of cells that arrive during the transmission of one.
    influx: u64,
    /// For every circuit whether the rest of the frame at the head is discarded.
    discards: IdVec<PortVc, bool>,
    books: Accounting,
    progress: Progress,
    gathered: GatheredUnits,
    stops: Stops,
    /// Time at which the measured time begins; `Time::NEVER` once it has begun.
    begin: Time,
    /// The time up to which inner cells have joined together.
    examined: Time,
    segment: CellSegment,
}

/// A cell that waits.
#[derive(Clone, Copy, Debug)]
struct WaitingCell {
    arrived: Time,
    unit: Unit,
    vc: PortVc,
}

impl HeadDrop {
    /// Build an empty port.
    pub(crate) fn new(setup: &mut PortSetup<'_>, rule: HeadRule) -> HeadDrop {
        let PortSetup { scenario, plan, window, index, .. } = *setup;
        let (inbox, pace) = (Inbox::new(plan, index, &scenario.ties()), plan.spacing(index).pace);
        let vcs = setup.port.pool().vcs();
        HeadDrop {
            influx: inbox.influx(&pace).max(1),
            inbox,
            done: None,
            called: Time::NEVER,
            rule,
            capacity: scenario.lines[index].port.capacity,
            queue: VecDeque::new(),
            gone: 0,
            awaited: VecDeque::new(),
            free: ExactTime::default(),
            ends: Time::ZERO,
            pace,
            busy: Time::ZERO,
            discards: IdVec::filled(false, vcs),
            books: Accounting::new(window),
            progress: Progress::new(vcs),
            gathered: GatheredUnits::new(setup),
            stops: Stops::new(setup),
            begin: window.from,
            examined: Time::ZERO,
            segment: CellSegment::default(),
        }
    }

    /// Return whether the port is idle until a unit arrives that is still unknown.
    pub(crate) fn is_quiet(&self) -> bool {
        self.queue.is_empty() && self.inbox.is_empty()
    }

    /// Advance to `until`, that instant included.
    pub(crate) fn step(&mut self, cx: &mut Context<'_>, out: &mut Outbox, until: Time) {
        used(Form::HeadDrop);
        loop {
            let stop = self.stops.sample.min(self.begin).min(Time(until.0 + 1));
            self.join_before(cx, out, stop);
            if stop > until {
                break;
            }
            let level = self.level_before(cx, out, stop);
            if self.begin == stop {
                self.begin = Time::NEVER;
                self.books.max = level;
            } else {
                cx.port.sample_level(level, 1);
                self.stops.sample += cx.every;
            }
        }
        self.depart_until(cx, out, until);
        self.done = Some(until);
    }

    /// Return the occupancy just before `time`, when each cell that has arrived before has joined the queue.
    fn level_before(&mut self, cx: &mut Context<'_>, out: &mut Outbox, time: Time) -> u64 {
        time.0.checked_sub(1).map_or(0, |last| self.level_at(cx, out, Time(last)))
    }

    /// Return the occupancy at `time`, without a cell that arrives then.
    fn level_at(&mut self, cx: &mut Context<'_>, out: &mut Outbox, time: Time) -> u64 {
        self.depart_until(cx, out, time);
        self.queue.len() as u64 + u64::from(self.ends > time)
    }

    /// Let the cells that arrive before `stop` join the queue.
    fn join_before(&mut self, cx: &mut Context<'_>, out: &mut Outbox, stop: Time) {
        while let Some(arriving) = self.inbox.pop_before(stop) {
            match arriving.lost {
                None => self.join(cx, out, &arriving),
                Some(reason) => self.lose(cx, &arriving, reason),
            }
            if arriving.time >= self.examined {
                self.join_inner(cx, out, stop);
            }
        }
    }

    /// Let the cells up to the next end of a train join the queue, but not beyond `stop`.
    fn join_inner(&mut self, cx: &mut Context<'_>, out: &mut Outbox, stop: Time) {
        let CellSegment { mut trains, mut order } = std::mem::take(&mut self.segment);
        trains.clear();
        let until = self.inbox.inner(stop, &mut trains);
        if !trains.is_empty() {
            self.examined = until;
        }
        if trains.iter().all(|train| train.lost.is_none()) {
            self.inbox.in_order(&trains, &mut order);
            self.inbox.pass_inner(&trains, |_| false);
            for &(time, place) in &order {
                let train = &mut trains[place as usize];
                self.join(cx, out, &Arriving { time, unit: train.unit, vc: train.vc, lost: None });
                train.unit.index += 1;
            }
        }
        self.segment = CellSegment { trains, order };
    }

    /// Let a cell join the queue, if there is room for it or if it may take the place of another one.
    #[inline]
    fn join(&mut self, cx: &mut Context<'_>, out: &mut Outbox, arriving: &Arriving) {
        let &Arriving { time: arrived, unit, vc, .. } = arriving;
        // the queue, the cell in transmission and this one
        let most = self.queue.len() as u64 + 2;
        if most > self.capacity.up_to(self.books.max) && !self.make_room(cx, out, arriving) {
            return self.lose(cx, arriving, Reason::Overflow);
        }
        if unit.is_eom() && cx.awaits(&unit) > 0 {
            self.awaited.push_back(self.gone + self.queue.len() as u64);
        }
        self.queue.push_back(WaitingCell { arrived, unit, vc });
    }

    /// Make room for a cell in a buffer that may be full; returns whether there is room.
    #[inline(never)]
    fn make_room(&mut self, cx: &mut Context<'_>, out: &mut Outbox, arriving: &Arriving) -> bool {
        let level = self.level_at(cx, out, arriving.time);
        if self.capacity.holds(level + 1) {
            self.books.max = self.books.max.max(level + 1);
            return true;
        }
        match self.rule {
            HeadRule::JudgesFrames => false,
            HeadRule::GivesUp(reason) => {
                let head = self.queue.front().copied();
                if let Some(head) = &head {
                    self.leave_queue(head);
                    self.give_up(cx, arriving.time, head, reason);
                }
                head.is_some()
            }
        }
    }

    /// Start the cells that can start by `until`.
    fn depart_until(&mut self, cx: &mut Context<'_>, out: &mut Outbox, until: Time) {
        while let Some(&cell) = self.queue.front() {
            let now = cell.arrived.max(self.ends);
            if now > until {
                break;
            }
            self.leave_queue(&cell);
            if self.rule == HeadRule::JudgesFrames
                && let Some(reason) = self.refusal(cx, now, &cell)
            {
                self.give_up(cx, now, &cell, reason);
                continue;
            }
            let WaitingCell { arrived, unit, vc } = cell;
            let starts = self.free.not_before(now);
            self.free = starts.next(&self.pace);
            let (starts, whole) = (starts.time, self.pace.whole);
            self.ends = starts.later(whole);
            self.count(&Sojourn { unit, vc, size: 1, arrived, starts, ends: self.ends });
            self.gathered.forward(out, (vc, cx.routes[vc].handoff), &unit, starts, whole);
        }
    }

    /// Remove the cell at the head of the queue, which is this one.
    #[inline]
    fn leave_queue(&mut self, cell: &WaitingCell) {
        self.queue.pop_front();
        if cell.unit.is_eom() && self.awaited.front() == Some(&self.gone) {
            self.awaited.pop_front();
        }
        self.gone += 1;
    }

    /// Return the reason why a cell is lost that has come to the head at `now` and left the queue.
    #[inline]
    fn refusal(&mut self, cx: &mut Context<'_>, now: Time, cell: &WaitingCell) -> Option<Reason> {
        if !cell.unit.is_first() {
            return self.discards[cell.vc].then_some(Reason::Partial);
        }
        let verdict = self.judge(cx, now, cell);
        self.discards[cell.vc] = matches!(verdict, HeadVerdict::Discard(_));
        if let HeadVerdict::Discard(reason) = verdict { Some(reason) } else { None }
    }

    /// Let the policy judge a frame whose first cell has come to the head.
    fn judge(&self, cx: &mut Context<'_>, now: Time, cell: &WaitingCell) -> HeadVerdict {
        let &WaitingCell { arrived, ref unit, vc } = cell;
        let behind = self.queue.partition_point(|other| other.arrived < now) as u64 * CELL_BYTES;
        let (arrived, queue, size) = (Some(arrived), QueueId(0), 1);
        let Port { admission, pool, .. } = &mut *cx.port;
        admission.at_head(&Head { now, arrived, unit, queue, vc, size, behind, pool })
    }

    /// Count a cell that is sent.
    #[inline]
    fn count(&mut self, stay: &Sojourn) {
        self.books.enter(stay);
        let measured = stay.ends >= self.books.window.from;
        let whole = self.progress.sent(&stay.unit, 1, stay.vc, measured);
        self.books.frames_whole_out += u64::from(whole && self.books.window.holds(stay.ends));
    }

    /// Lose a cell that arrives.
    fn lose(&mut self, cx: &mut Context<'_>, arriving: &Arriving, reason: Reason) {
        self.books.lose(arriving.time, &arriving.unit, reason);
        cx.lose(arriving.time, &arriving.unit, reason);
    }

    /// Lose a cell that has waited.
    fn give_up(&mut self, cx: &mut Context<'_>, now: Time, cell: &WaitingCell, reason: Reason) {
        self.books.give_up(cell.arrived, now, &cell.unit, reason);
        cx.lose(now, &cell.unit, reason);
    }

    /// Return the next wake-up of a port that has advanced to `now`: no later than the next awaited unit can have
    /// passed the port and, `reach` later, the line after it.
    pub(crate) fn next_wakeup(&mut self, cx: &Context<'_>, now: Time, reach: Span) -> Option<Time> {
        self.busy = self.starts_from(cx, now, self.queue.len() as u64);
        let waiting = self.awaited.front().map(|number| self.starts_from(cx, now, number - self.gone));
        let coming = self.inbox.next_awaited().map(|time| self.not_out_before(time));
        let next = waiting.into_iter().chain(coming).min().map(|start| start + reach);
        self.called = next.unwrap_or(Time::NEVER);
        next
    }

    /// Return the earliest start of a unit that arrives at `time` and is still unknown.
    fn not_out_before(&self, time: Time) -> Time {
        time.max(self.busy)
    }

    /// Return an instant before which a cell cannot start that has `ahead` cells before it, if the port has advanced to
    /// `now`.
    fn starts_from(&self, cx: &Context<'_>, now: Time, ahead: u64) -> Time {
        let after = |cells: u64| Time(self.free.time.0 + cells * self.pace.whole.0);
        let start = match self.rule {
            HeadRule::JudgesFrames if self.discards.iter().any(|discards| *discards) => now,
            HeadRule::JudgesFrames => after(ahead).min(cx.port.admission.spares_until(now)),
            HeadRule::GivesUp(_) => {
                // the cells that start before the buffer can be full; then each cell that arrives may remove another one,
                // and at first each line may bring one more
                let sure = ahead.min(self.room_at(now).saturating_sub(4 * self.influx) / self.influx);
                after(sure + (ahead - sure).saturating_sub(2 * self.influx) / (1 + self.influx))
            }
        };
        start.max(self.ends)
    }

    /// Return the free room, if the port has advanced to `now`.
    fn room_at(&self, now: Time) -> u64 {
        self.capacity.beside(self.queue.len() as u64 + u64::from(self.ends > now))
    }

    /// Return a wake-up that the port needs earlier than the scheduled one, because a unit arrives at `time`.
    pub(crate) fn earlier_wakeup(&mut self, time: Time, reach: Span) -> Option<Time> {
        let wakeup = self.not_out_before(time) + reach;
        let is_earlier = wakeup < self.called;
        self.called = self.called.min(wakeup);
        is_earlier.then_some(wakeup)
    }

    /// Finish the run.
    pub(crate) fn close(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        self.gathered.hand_on(out, self.pace.whole);
        for WaitingCell { arrived, unit, vc } in self.queue.drain(..) {
            self.books.leave_waiting(unit, vc, arrived);
        }
        self.books.close(cx.port);
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::cells::port::scripted::{Script, used};
    use crate::engine::forms::{Form, switch_off};

    const FRONT: &str = "buffer = '3 cells'\nadmission = { policy = 'drop-from-front' }";
    const CODEL: &str = "buffer = '20 cells'
        admission = { policy = 'codel', target = '30 us', interval = '60 us', mtu = '53 bytes' }";
    /// A line on which a cell takes 20 µs; cells arrive every 10 µs.
    const SLOW: &str = "21.2 Mb/s";

    /// Run frames, each given by its lane, its first arrival in µs and its cells, with the form and in the form
    /// `per_unit.rs`. Return the departures and the losses of the first two circuits.
    fn run(keys: &str, frames: &[(u32, u64, u16)]) -> (String, [u64; 2]) {
        let run_now = |is_used: bool| {
            let mut port = Script::new(keys, SLOW, 2);
            frames.iter().for_each(|&(lane, us, units)| {
                port.frame(lane, us, units);
            });
            let sent = port.run(5000);
            assert_eq!(used(Form::HeadDrop) > 0, is_used);
            (sent, [port.lost(0), port.lost(1)])
        };
        let with = run_now(true);
        switch_off(Some(Form::HeadDrop));
        assert_eq!(run_now(false), with, "each cell is judged alone");
        with
    }

    #[test]
    fn a_cell_that_finds_the_buffer_full_takes_the_place_of_the_one_at_the_head() {
        // at 50 µs the third cell is on the line, and the fourth and fifth wait: the fourth is lost
        assert_eq!(run(FRONT, &[(0, 0, 6)]), ("0x3@40 0x2e@80".to_owned(), [1, 0]));
    }

    #[test]
    fn a_buffer_of_one_cell_gives_up_none() {
        let one = FRONT.replace("3 cells", "1 cell");
        assert_eq!(run(&one, &[(0, 0, 4), (0, 100, 1)]), ("0x1@0 0x1@20 0x1e@100".to_owned(), [2, 0]));
    }

    #[test]
    fn an_idle_line_sends_a_cell_when_it_arrives() {
        assert_eq!(run(FRONT, &[(0, 0, 1), (0, 100, 1)]), ("0x1e@0 0x1e@100".to_owned(), [0, 0]));
    }

    #[test]
    fn a_frame_that_has_waited_too_long_is_discarded_as_it_comes_to_the_head() {
        // the first cells of the second frames have waited 80 and 98 µs at 120 and 140 µs, that of the third one 160 µs
        // at 240 µs: more than an interval after the first wait above the target
        let frames = [(0, 0, 3), (1, 2, 3), (0, 40, 3), (1, 42, 3), (0, 80, 3), (1, 82, 3)];
        let sent = "0x3e@80 1x3e@100 0x3e@200 1x3e@220 1x3e@280";
        assert_eq!(run(CODEL, &frames), (sent.to_owned(), [3, 0]));
    }

    #[test]
    fn a_cell_that_does_not_fit_is_lost_and_the_rest_of_its_frame_is_queued() {
        let few = CODEL.replace("20 cells", "2 cells");
        let sent = "0x3@40 0x1@60 0x1e@100";
        assert_eq!(run(&few, &[(0, 0, 6), (0, 100, 1)]), (sent.to_owned(), [2, 0]));
    }
}
