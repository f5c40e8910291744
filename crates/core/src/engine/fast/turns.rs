//! A cell port with a queue for each circuit, and with any scheduler, push-out and policy that looks at the books alone.
//!
//! What the port does when it cannot do otherwise is what the reference engine asks of it, unit by unit. But most cells
//! neither begin nor end a frame, and most of the time there is room: then a slot of the line is no more than the
//! scheduler's choice and one cell less in the books. The queue itself, the counters and the host at the far end are told
//! of such cells frame by frame.

use super::Fast;
use super::lanes::{Inner, Inputs};
use super::pace::{Beat, Pace};
use super::plan::Manner;
use super::run::Run;
use crate::buffer::admission::{Admission, Departure, Interest};
use crate::buffer::pushout::{Bite, PushOut};
use crate::engine::number_at_port;
use crate::link::port::{Port, Sending};
use crate::network::Network;
use crate::scheduler::Scheduler;
use crate::unit::{Flags, Unit};
use crate::units::{CELL_BYTES, Span, Time};

/// The port.
#[derive(Debug)]
pub(super) struct Turns {
    pub(super) inputs: Inputs,
    /// Up to here everything has happened.
    pub(super) done: Option<Time>,
    /// When the cell in transmission ends.
    pub(super) ends: Time,
    /// Its circuit, if the port has not been told of it.
    ahead: Option<usize>,
    turns: Vec<Turn>,
    /// Which departures the policy wants to know of, and whether all of them concern somebody.
    interest: Interest,
    curious: bool,
    /// Whether the push-out policy cares about the order of arrivals and departures.
    pub(super) ordered: bool,
    /// Whether units are policed on arrival.
    polices: bool,
    pub(super) pace: Pace,
    /// The shortest time from the start of a unit somewhere else to its arrival here.
    notice: Span,
    /// When the clock of the policy ticks.
    tick: Time,
    /// When the occupancy is sampled next.
    sample: Time,
    /// Consecutive units of a frame for a host, by circuit, and when the last one starts; handed on together.
    runs: Vec<(Run, Time)>,
    /// Starts on either side of which units are handed on separately, the next one last.
    cuts: Vec<Time>,
    /// A lower bound of the units of a frame that has its EOM in a queue, where there is push-out.
    shortest: u64,
    /// Cells that can arrive in one slot.
    influx: u64,
    /// Units in the port that make a host act when they arrive.
    pub(super) awaited: u64,
    /// When to be there again, in time to see them start.
    pub(super) called: Time,
    pub(super) inner: Vec<Inner>,
}

/// Where a circuit stands of which the port has not been told everything.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// Cells at the head of its queue that may be sent like this.
    left: u64,
    /// Cells there that have started.
    served: u64,
    /// When the last of them did.
    last: Time,
}

/// More cells than any frame has.
const MANY: u64 = 1 << 16;

/// What such a port is made of.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) inputs: Inputs,
    pub(super) interest: Interest,
    /// Whether the push-out policy wants to know of every cell.
    pub(super) ordered: bool,
    /// Whether units are policed on arrival.
    pub(super) polices: bool,
    pub(super) pace: Pace,
    /// The shortest time from the start of a unit somewhere else to its arrival here.
    pub(super) notice: Span,
    pub(super) vcs: usize,
    pub(super) cuts: Vec<Time>,
    pub(super) sampled: bool,
    pub(super) tick: Option<Time>,
}

impl Turns {
    /// An empty port.
    pub(super) fn new(parts: Parts) -> Turns {
        let Parts { inputs, interest, ordered, polices, pace, notice, vcs, mut cuts, sampled, tick } = parts;
        cuts.reverse();
        let influx = inputs.influx(&pace);
        Turns {
            inputs,
            done: None,
            ends: Time::NEVER,
            ahead: None,
            turns: vec![Turn::default(); vcs],
            interest,
            ordered,
            polices,
            curious: ordered || interest == Interest::Every,
            pace,
            notice,
            tick: tick.unwrap_or(Time::NEVER),
            sample: if sampled { Time::ZERO } else { Time::NEVER },
            runs: vec![(Run::default(), Time::ZERO); vcs],
            cuts,
            shortest: MANY,
            influx,
            awaited: 0,
            called: Time::NEVER,
            inner: Vec::new(),
        }
    }

    /// Let happen what happens up to `until`, that instant included.
    pub(super) fn step(&mut self, engine: &mut Fast<'_>, port: usize, until: Time) {
        loop {
            let look = self.sample.min(self.tick);
            let stop = look.min(Time(until.0 + 1));
            // what is not known yet cannot come earlier than this
            let known = look.min(engine.end).min(stop + self.notice);
            while let Some(next) = self.inputs.next_time().filter(|next| *next < stop) {
                self.serve(engine, port, next);
                let alone = self.polices || self.ordered || engine.log.is_some();
                if alone || !self.pass_train(engine, port, known) && !self.pass_inner(engine, port, known) {
                    self.take_next(engine, port, stop);
                }
            }
            if let Some(before) = stop.0.checked_sub(1) {
                self.serve(engine, port, Time(before));
            }
            if stop > until {
                break;
            }
            if self.sample == stop {
                engine.network.ports[port].sample();
                self.sample += engine.scenario.sample;
            } else {
                self.serve(engine, port, stop);
                self.tick = engine.network.ports[port].tick(stop).unwrap_or(Time::NEVER);
            }
        }
        self.done = self.done.max(Some(until));
    }

    /// Whether nothing will happen before something arrives that is not known yet.
    pub(super) fn is_quiet(&self) -> bool {
        self.ends == Time::NEVER && self.tick == Time::NEVER && self.inputs.is_empty()
    }

    /// Units in a circuit's queue.
    pub(super) fn queued(&self, port: &Port, vc: u32) -> u64 {
        port.queues[vc as usize].len() as u64 - self.turns[vc as usize].served
    }

    /// The next unit arrives.
    fn take_next(&mut self, engine: &mut Fast<'_>, port: usize, stop: Time) {
        let Some(mut arriving) = self.inputs.pop_before(stop) else { return };
        if self.polices
            && let Err(reason) = engine.police(&mut arriving)
        {
            return engine.refuse(port, &arriving, reason);
        }
        let (now, unit, vc) = (arriving.time, arriving.unit, arriving.vc as usize);
        let full = !engine.network.ports[port].pool.fits(1);
        if full {
            self.settle(engine, port);
        }
        self.awaited += u64::from(unit.is_eom() && engine.answered[unit.vc as usize]);
        let Network { ports, circuits, .. } = &mut engine.network;
        ports[port].arrive(now, unit, vc, number_at_port(circuits), &mut engine.losses);
        if full && !engine.losses.is_empty() && engine.network.ports[port].pushout.is_some() {
            self.find_shortest(&engine.network.ports[port]);
        } else if unit.is_eom() && engine.network.ports[port].pushout.is_some() {
            self.closed(&engine.network.ports[port], vc as u32);
        }
        self.awaited -= engine.count_losses(port, now);
        if self.ends == Time::NEVER
            && let Some(vc) = engine.network.ports[port].scheduler.turn(now)
        {
            let starts = self.send(&mut engine.network.ports[port], now);
            self.start_one(engine, port, vc, starts);
        }
    }

    /// The line works up to `until`, that instant included.
    fn serve(&mut self, engine: &mut Fast<'_>, index: usize, until: Time) {
        while self.ends <= until {
            let now = self.ends;
            let port = &mut engine.network.ports[index];
            let next = if self.ahead.is_some() && !self.curious {
                self.serve_ahead(port, until)
            } else {
                self.leave(port, now);
                let next = port.scheduler.turn(now).map(|vc| (vc, self.send(port, now)));
                if next.is_none() {
                    self.ends = Time::NEVER;
                }
                next
            };
            if let Some((vc, starts)) = next
                && !self.start_ahead(vc, starts)
            {
                self.start_one(engine, index, vc, starts);
            }
        }
    }

    /// Slots follow each other of which nobody needs to know yet, up to the first one behind `until`. If a cell starts
    /// before that somebody needs to know of, the answer is whose it is and when it starts.
    ///
    /// The queues of all cells before it hold something more, so there is always a next one.
    fn serve_ahead(&mut self, port: &mut Port, until: Time) -> Option<(usize, Time)> {
        let Port { scheduler, pool, line, counters, .. } = port;
        let Turns { turns, ahead, ends, cuts, .. } = self;
        let cut = cuts.last().copied().unwrap_or(Time::NEVER);
        let mut next = None;
        scheduler.turns(*ends, &mut |vc| {
            counters.occupancy.fall(*ends, pool.total());
            pool.remove(ahead.take()?, 1);
            let sent = line.send(*ends, CELL_BYTES as u16);
            *ends = sent.ends;
            let turn = &mut turns[vc];
            if turn.left == 0 || cut <= sent.starts {
                next = Some((vc, sent.starts));
                return None;
            }
            (turn.left, turn.served, turn.last) = (turn.left - 1, turn.served + 1, sent.starts);
            *ahead = Some(vc);
            (*ends <= until).then_some(*ends)
        });
        next
    }

    /// The cell in transmission has left.
    #[inline]
    fn leave(&mut self, port: &mut Port, now: Time) {
        let vc = match self.ahead.take() {
            Some(vc) => vc,
            None => {
                let Sending { unit, vc, .. } = port.sending.take().expect("a line ends what it has started");
                port.counters.departed(&unit, vc);
                vc
            }
        };
        port.counters.occupancy.fall(now, port.pool.total());
        port.pool.remove(vc, 1);
        if self.curious || port.pool.of(vc) == 0 {
            self.tell(port, now, vc);
        }
    }

    /// A cell has left that the policies want to know of.
    fn tell(&self, port: &mut Port, now: Time, vc: usize) {
        if self.interest == Interest::Every || port.pool.total() == 0 {
            let (unit, pool) = (&Run::default().unit, &port.pool);
            port.admission.departed(&Departure { now, unit, vc, size: 1, pool, sent: true });
        }
        if let Some(pushout) = &mut port.pushout {
            pushout.left(vc, &port.pool, true);
        }
    }

    /// The line sends one more cell; answers when it starts.
    #[inline]
    fn send(&mut self, port: &mut Port, now: Time) -> Time {
        let sent = port.line.send(now, CELL_BYTES as u16);
        self.ends = sent.ends;
        sent.starts
    }

    /// A cell starts of which nobody needs to know yet, if it is one.
    #[inline]
    fn start_ahead(&mut self, vc: usize, starts: Time) -> bool {
        let turn = &mut self.turns[vc];
        if turn.left == 0 || self.cuts.last().is_some_and(|cut| *cut <= starts) {
            return false;
        }
        (turn.left, turn.served, turn.last) = (turn.left - 1, turn.served + 1, starts);
        self.ahead = Some(vc);
        true
    }

    /// The last cell of a frame or of its queue starts, or one that another port waits for.
    fn start_one(&mut self, engine: &mut Fast<'_>, index: usize, vc: usize, starts: Time) {
        if self.cuts.last().is_some_and(|cut| *cut <= starts) {
            self.cut(engine, index, starts);
        }
        self.look_ahead(engine, index, vc);
        if self.start_ahead(vc, starts) {
            return;
        }
        let port = &mut engine.network.ports[index];
        let unit = port.queues[vc].pop().expect("a scheduler picks a queue that holds something");
        port.scheduler.left(vc, port.queues[vc].is_empty());
        port.sending = Some(Sending { unit, vc, size: 1 });
        self.awaited -= u64::from(unit.is_eom() && engine.answered[unit.vc as usize]);
        self.forward(engine, index, vc, Run { unit, units: 1 }, starts);
    }

    /// How many cells of a circuit may start before anybody else has to know.
    fn look_ahead(&mut self, engine: &mut Fast<'_>, index: usize, vc: usize) {
        self.settle_one(engine, index, vc);
        if engine.plan.legs[index][vc].manner == Manner::Together {
            self.turns[vc].left = engine.network.ports[index].queues[vc].inner_ahead() as u64;
        }
    }

    /// Tell the port everything.
    pub(super) fn settle(&mut self, engine: &mut Fast<'_>, index: usize) {
        (0..self.turns.len()).for_each(|vc| self.settle_one(engine, index, vc));
    }

    /// Tell the port which cells of a circuit have started.
    fn settle_one(&mut self, engine: &mut Fast<'_>, index: usize, vc: usize) {
        let Turn { served, last, .. } = std::mem::take(&mut self.turns[vc]);
        if served == 0 {
            return;
        }
        let port = &mut engine.network.ports[index];
        let first = port.queues[vc].skip(served as usize).expect("what has started was in the queue");
        let gone = served - u64::from(self.ahead == Some(vc));
        port.counters.departed_run(&first, gone as u16, vc);
        if self.ahead.take_if(|ahead| *ahead == vc).is_some() {
            let flags = if gone == 0 { first.flags } else { Flags(first.flags.0 & !Flags::FIRST.0) };
            let unit = Unit { index: first.index + gone as u16, flags, ..first };
            port.sending = Some(Sending { unit, vc, size: 1 });
        }
        self.forward(engine, index, vc, Run { unit: first, units: served as u16 }, last);
    }

    /// Units of a frame have started, the last of them at `last`.
    fn forward(&mut self, engine: &mut Fast<'_>, port: usize, vc: usize, next: Run, last: Time) {
        let whole = self.pace.whole;
        if engine.plan.legs[port][vc].manner == Manner::Singly {
            return engine.send_on(port, vc as u32, next, Beat::at(last), last, whole);
        }
        let (run, before) = &mut self.runs[vc];
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
    pub(super) fn hand_on(&mut self, engine: &mut Fast<'_>, port: usize) {
        self.settle(engine, port);
        for (vc, (run, last)) in self.runs.iter_mut().enumerate() {
            std::mem::take(run).send(engine, port, vc as u32, *last, self.pace.whole);
        }
    }

    /// A train is under way for which a host waits, or so many that somebody has to look after them: to be there by `time`.
    /// Answers whether that is sooner than it was to be.
    pub(super) fn call_by(&mut self, time: Time) -> bool {
        let sooner = time < self.called;
        self.called = self.called.min(time);
        sooner
    }

    /// Everything has happened up to `now`: find out when to be there again, in time to hand on the units that make a host
    /// act. None of them arrives earlier at the next stop than `reach` after it starts.
    pub(super) fn call_again(&mut self, engine: &mut Fast<'_>, index: usize, now: Time, reach: Span) {
        let coming = self.inputs.next_awaited(now).unwrap_or(Time::NEVER);
        let queued = if self.awaited == 0 { Time::NEVER } else { self.earliest_eom(engine, index, now) };
        let first = coming.min(queued);
        self.called = if first < Time::NEVER { first + reach } else { first };
    }

    /// The earliest instant at which an EOM can start that is in a queue.
    ///
    /// The frame's other cells go first. If the scheduler goes round, then so do meanwhile as many cells of every other
    /// queue, or what it holds.
    fn earliest_eom(&mut self, engine: &mut Fast<'_>, index: usize, now: Time) -> Time {
        if self.ends == Time::NEVER {
            return Time(now.0 + 1);
        }
        let bite = engine.network.ports[index].pushout.as_mut().map(PushOut::bite);
        let mut least = match bite {
            None => u64::MAX,
            Some(Bite::AllButEom) => 0,
            Some(_) => self.shortest - 1, // of a frame that comes to the head when others are pushed out
        };
        for vc in 0..self.turns.len() {
            let port = &engine.network.ports[index];
            if self.queued(port, vc as u32) > 0 {
                if self.turns[vc].left == 0 {
                    self.look_ahead(engine, index, vc);
                }
                least = least.min(self.turns[vc].left);
            }
        }
        let port = &mut engine.network.ports[index];
        let goes_round = port.scheduler.goes_round();
        let round = || (0..self.turns.len()).map(|vc| self.queued(port, vc as u32).min(least)).sum();
        let slots = match bite {
            None if goes_round => round(),
            Some(Bite::Packets) if goes_round => least.max(self.slots_despite_cuts(port, least, round())),
            _ => least,
        };
        Time(self.ends.0.saturating_add(slots.saturating_mul(self.pace.whole)))
    }

    /// Of so many `slots` in which all queues together send up to `least` cells each, those that remain if some of the
    /// queues are pushed out.
    ///
    /// Every cut costs one queue its part. After the first one there is no other before as many cells have arrived as it
    /// took out, so with n slots there are at most 1 + influx · (n + 2) / shortest of them, if there are enough packets.
    fn slots_despite_cuts(&self, port: &Port, least: u64, slots: u64) -> u64 {
        let (influx, shortest) = (self.influx, self.shortest);
        let remain = (slots * shortest).saturating_sub(least * (shortest + 2 * influx));
        let slots = remain / (shortest + least * influx);
        let whole: usize = port.queues.iter().map(|queue| queue.runs().whole()).sum();
        if whole as u64 * shortest >= shortest + influx * (slots + 2) { slots } else { 0 }
    }

    /// A circuit's frame may have come to its end in the queue.
    pub(super) fn closed(&mut self, port: &Port, vc: u32) {
        let runs = port.queues[vc as usize].runs();
        if let Some(run) = runs.last().and_then(|last| runs.get(last)).filter(|run| run.is_closed()) {
            self.shortest = self.shortest.min(run.units() as u64);
        }
    }

    /// Something was pushed out.
    fn find_shortest(&mut self, port: &Port) {
        let shortest = port.queues.iter().filter_map(|queue| queue.runs().shortest()).min();
        self.shortest = shortest.map_or(MANY, |units| units as u64);
    }
}
