//! A cell port with a queue for each circuit, and with any scheduler, push-out and policy that looks at the books alone.
//!
//! What the port does when it cannot do otherwise is what the reference engine asks of it, unit by unit. But most cells
//! neither begin nor end a frame, and most of the time there is room: then cells come and go without anybody looking.
//! `early` lets trains join their queues when they begin, `bulk` parts of them, `rounds` gives slots to the queues in turn.
//! A policy that wants to know of each cell is asked in one loop (`asking`). What starts leaves the port in `leave`.
//! The queue itself, the counters and the host at the far end are told of such cells frame by frame.

mod arrivals;
mod asking;
mod departures;
mod early;
mod lookahead;
mod register_log;
mod rotation;

use std::rc::Rc;

use crate::buffer::admission::Interest;
use crate::engine::cells::Fast;
use crate::engine::cells::inbox::{Ahead, ArrivalTimes, Arriving, Inbox, Inner};
use crate::engine::cells::train::Run;
use crate::engine::exact::spacing::{Beat, Pace, SpacingTable};
use crate::engine::number_at_port;
use crate::link::port::Port;
use crate::network::Network;
use crate::scheduler::Scheduler;
use crate::units::{Span, Time};

use early::Occupancy;
use register_log::RegisterLog;
use rotation::Round;

/// The port.
#[derive(Debug)]
pub(in crate::engine) struct PerVc {
    pub(in crate::engine) inputs: Inbox,
    /// Up to here everything has happened.
    pub(in crate::engine) done: Option<Time>,
    /// When the cell in transmission ends, and when the line is free for the next one.
    ends: Time,
    free: Beat,
    /// Its circuit, if the port has not been told of it.
    ahead: Option<usize>,
    turns: Vec<Turn>,
    /// Slots that go round.
    round: Round,
    /// Which departures the policy wants to know of, and whether all of them concern somebody.
    interest: Interest,
    curious: bool,
    /// Whether the admission policy takes no less when there is less in the buffer.
    monotone: bool,
    /// Whether slots may go round without anybody knowing of each.
    unseen: bool,
    /// Whether cells join one by one, since somebody cares about their order or is asked about each; and whether that is all.
    one_by_one: bool,
    asked: bool,
    /// Whether units are policed on arrival.
    polices: bool,
    rhythm: Rc<SpacingTable>,
    pace: Pace,
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
    /// Lower bounds of the units of a frame that has its EOM in a queue, and of the number of entire packets in all queues,
    /// where there is push-out.
    shortest: u64,
    packets: u64,
    /// Most units of a frame.
    longest: u64,
    /// Cells that can arrive in one slot.
    influx: u64,
    /// Units in the port that make a host act when they arrive.
    awaited: u64,
    /// Before this time nothing arrives for a queue that is empty.
    undisturbed: Time,
    /// When to be there again, in time to see them start.
    pub(in crate::engine) called: Time,
    inner: Vec<Inner>,
    /// Cells in the order of their arrival, and whose each is.
    order: Vec<(Time, u32)>,
    /// Room for what is still to arrive of trains that have joined their queues.
    rests: Vec<Ahead>,
    /// What a register has not been told of, if there is one and it is not told of each cell.
    missed: Option<RegisterLog>,
}

/// Where a circuit stands of which the port has not been told everything.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// Cells at the head of its queue that may be sent like this, and whether there may be more when others have joined.
    left: u64,
    grows: bool,
    /// Cells there that have started.
    served: u64,
    /// When the last of them did: so many slots behind a beat.
    last: (Beat, u64),
    /// Frames at the head of its queue that have been handed on already to their end, and their cells.
    frames: usize,
    foretold: u64,
}

impl Turn {
    /// So many cells start, the last of them so many slots behind a beat.
    #[inline]
    fn serve(&mut self, cells: u64, last: (Beat, u64)) {
        (self.left, self.served, self.last) = (self.left - cells, self.served + cells, last);
    }
}

/// More cells than any frame has.
const MANY: u64 = 1 << 16;

/// What such a port is made of.
#[derive(Debug)]
pub(in crate::engine) struct Parts {
    pub(in crate::engine) inputs: Inbox,
    pub(in crate::engine) interest: Interest,
    /// Whether cells join and leave one by one.
    pub(in crate::engine) by_cell: bool,
    /// Whether the admission policy is asked about each of them.
    pub(in crate::engine) asked: bool,
    /// Whether a push-out policy has a register.
    pub(in crate::engine) registers: bool,
    /// Whether units are policed on arrival.
    pub(in crate::engine) polices: bool,
    /// Whether the admission policy takes no less when there is less in the buffer.
    pub(in crate::engine) monotone: bool,
    /// Most units of a frame.
    pub(in crate::engine) longest: u64,
    /// Whether the units of every circuit are handed on together.
    pub(in crate::engine) together: bool,
    pub(in crate::engine) rhythm: Rc<SpacingTable>,
    /// The shortest time from the start of a unit somewhere else to its arrival here.
    pub(in crate::engine) notice: Span,
    pub(in crate::engine) vcs: usize,
    pub(in crate::engine) cuts: Vec<Time>,
    pub(in crate::engine) sampled: bool,
    pub(in crate::engine) tick: Option<Time>,
}

impl PerVc {
    /// An empty port.
    pub(in crate::engine) fn new(parts: Parts) -> PerVc {
        let Parts {
            inputs,
            interest,
            by_cell,
            asked,
            registers,
            polices,
            monotone,
            longest,
            together,
            rhythm,
            notice,
            vcs,
            mut cuts,
            sampled,
            tick,
        } = parts;
        cuts.reverse();
        let pace = rhythm.pace;
        let influx = inputs.influx(&pace);
        let curious = by_cell || matches!(interest, Interest::Ends | Interest::Every);
        PerVc {
            inputs,
            done: None,
            ends: Time::NEVER,
            free: Beat::default(),
            ahead: None,
            turns: vec![Turn { grows: true, ..Turn::default() }; vcs],
            round: Round::default(),
            interest,
            one_by_one: by_cell || asked || polices,
            asked: asked && !by_cell && !polices,
            polices,
            curious,
            monotone,
            unseen: together && !curious,
            rhythm,
            pace,
            notice,
            tick: tick.unwrap_or(Time::NEVER),
            sample: if sampled { Time::ZERO } else { Time::NEVER },
            runs: vec![(Run::default(), Time::ZERO); vcs],
            cuts,
            shortest: MANY,
            packets: 0,
            longest,
            influx,
            awaited: 0,
            undisturbed: Time::ZERO,
            called: Time::NEVER,
            inner: Vec::new(),
            order: Vec::new(),
            rests: Vec::new(),
            missed: (registers && !by_cell).then(RegisterLog::default),
        }
    }

    /// Let happen what happens up to `until`, that instant included.
    pub(in crate::engine) fn step(&mut self, engine: &mut Fast<'_>, port: usize, until: Time) {
        let alone = self.one_by_one || engine.log.is_some();
        let asks = self.asked && engine.log.is_none();
        loop {
            let look = self.sample.min(self.tick);
            let stop = look.min(Time(until.0 + 1));
            let known = look.min(engine.end).min(engine.unknown_from(until) + self.notice);
            while let Some(next) = self.inputs.next_time().filter(|next| *next < stop) {
                if asks && self.ask_inner(engine, port, stop) {
                    continue;
                }
                self.remind_in_time(engine, port, next);
                if !alone && self.take_train(engine, port, known, Occupancy::Behind) {
                    continue;
                }
                self.serve(engine, port, next);
                if !alone && self.take_train(engine, port, known, Occupancy::Exact) {
                    continue;
                }
                self.book_round(&mut engine.network.ports[port]);
                if alone || !self.pass_inner(engine, port, known) {
                    self.take_next(engine, port, next);
                }
            }
            if let Some(before) = stop.0.checked_sub(1) {
                self.serve(engine, port, Time(before));
            }
            if stop > until {
                break;
            }
            if self.sample == stop {
                self.sample_now(&mut engine.network.ports[port]);
                self.sample += engine.scenario.sample;
            } else {
                self.serve(engine, port, stop);
                self.book_round(&mut engine.network.ports[port]);
                self.tick = engine.network.ports[port].tick(stop).unwrap_or(Time::NEVER);
            }
        }
        self.done = self.done.max(Some(until));
    }

    /// Whether nothing will happen before something arrives that is not known yet.
    pub(in crate::engine) fn is_quiet(&self) -> bool {
        self.ends == Time::NEVER && self.tick == Time::NEVER && self.inputs.is_empty()
    }

    /// Units in a circuit's queue.
    fn queued(&self, port: &Port, vc: u32) -> u64 {
        port.queues[vc as usize].len() as u64 - self.turns[vc as usize].served
    }

    fn sample_now(&mut self, port: &mut Port) {
        self.book_round(port);
        self.inputs.list_from(self.sample, &mut self.rests);
        self.set_aside(port, self.sample);
        port.sample();
        self.bring_back(port);
    }

    /// The next unit arrives, at `now`.
    fn take_next(&mut self, engine: &mut Fast<'_>, port: usize, now: Time) {
        self.make_sure_of_room(engine, port);
        let course = self.missed.as_ref().and_then(|_| self.inputs.course_of_next());
        let Some(mut arriving) = self.inputs.pop_before(Time(now.0 + 1)) else { return };
        if self.polices
            && let Err(reason) = engine.police(&mut arriving)
        {
            return engine.refuse(port, &arriving, reason);
        }
        self.enter(engine, port, &arriving, course);
    }

    /// A unit arrives at the buffer, where it may be lost; perhaps a register is to be told of it.
    fn enter(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        &Arriving { time: now, unit, vc }: &Arriving,
        course: Option<ArrivalTimes>,
    ) {
        let vc = vc as usize;
        if engine.network.ports[port].queues[vc].is_empty() {
            self.end_round(&mut engine.network.ports[port]);
        }
        self.set_aside(&mut engine.network.ports[port], now);
        let full = !engine.network.ports[port].pool.fits(1);
        if full {
            self.settle(engine, port);
            self.remind(&mut engine.network.ports[port], now);
        }
        let before = engine.network.ports[port].pool.of(vc);
        self.awaited += u64::from(unit.is_eom() && engine.answered[unit.vc as usize]);
        let Network { ports, circuits, .. } = &mut engine.network;
        ports[port].arrive(now, unit, vc, number_at_port(circuits), &mut engine.losses);
        if full {
            self.was_told(&mut ports[port]);
        } else if let (Some(missed), Some(course)) = (&mut self.missed, course)
            && ports[port].pool.of(vc) > before
        {
            missed.join(course);
        }
        if full && !engine.losses.is_empty() && engine.network.ports[port].pushout.is_some() {
            self.count_packets(&engine.network.ports[port]);
        } else if unit.is_eom() && engine.network.ports[port].pushout.is_some() {
            self.closed(&engine.network.ports[port], vc as u32);
        }
        if !engine.losses.is_empty() {
            self.undisturbed = Time::ZERO; // a queue may be empty now
        }
        self.awaited -= engine.count_losses(port, now);
        self.bring_back(&mut engine.network.ports[port]);
        if self.ends == Time::NEVER
            && let Some(vc) = engine.network.ports[port].scheduler.turn(now)
        {
            let starts = self.send(now);
            self.start_one(engine, port, vc, starts);
        }
    }

    /// A train is under way for which a host waits, or so many that somebody has to look after them: to be there by `time`.
    /// Answers whether that is sooner than it was to be.
    pub(in crate::engine) fn call_by(&mut self, time: Time) -> bool {
        let sooner = time < self.called;
        self.called = self.called.min(time);
        sooner
    }

    /// Everything has happened up to `now`: find out when to be there again, in time to hand on the units that make a host
    /// act. None of them arrives earlier at the next stop than `reach` after it starts.
    pub(in crate::engine) fn call_again(
        &mut self,
        engine: &mut Fast<'_>,
        index: usize,
        now: Time,
        reach: Span,
    ) {
        let nobody = self.awaited == 0 && self.inputs.next_awaited().is_none();
        let first = if nobody { Time::NEVER } else { self.earliest_eom(engine, index, now) };
        self.called = if first < Time::NEVER { first + reach } else { first };
    }

    /// A circuit's frame may have come to its end in the queue.
    fn closed(&mut self, port: &Port, vc: u32) {
        let runs = port.queues[vc as usize].runs();
        if let Some(run) = runs.last().and_then(|last| runs.get(last)).filter(|run| run.is_closed()) {
            self.shortest = self.shortest.min(run.units() as u64);
            self.packets += u64::from(run.is_whole());
        }
    }

    /// Something was taken out of a queue, or has not come yet.
    fn count_packets(&mut self, port: &Port) {
        let shortest = port.queues.iter().filter_map(|queue| queue.runs().shortest()).min();
        self.shortest = shortest.map_or(MANY, |units| units as u64);
        self.packets = port.queues.iter().map(|queue| queue.runs().whole() as u64).sum();
    }
}
