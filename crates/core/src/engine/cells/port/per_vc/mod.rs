//! A port of cells with a queue for each circuit.
//!
//! # What it assumes
//! The admission policy depends only on the occupancy; any scheduler and any push-out policy is possible.
//!
//! # What it skips
//! Visits to each cell: most cells neither begin nor end a frame, and most of the time there is room. The arrivals
//! (`arrivals.rs`) and departures (`departures.rs`) of such cells are only counted. Queues, counters and hosts
//! receive them frame by frame.
//!
//! # Why that is exact
//! A cell that joins a queue which is not empty changes only lengths until it reaches the head, and every reader of
//! lengths sees their true values.
//!
//! # What turns it off
//! A scheduler or a push-out policy that depends on each cell, a policy that judges each, a policer, a log of losses:
//! then cells join one by one. Ports of units of different sizes run in the form `per_unit.rs`.
//!
//! # What it saves
//! In the form `per_unit.rs`, W1 under DT-EPD takes 18 times as long, under push-out 8 times, study 003 5 times.

mod arrivals;
mod departures;
mod lookahead;
mod register_log;
mod rotation;

use std::rc::Rc;

use crate::buffer::admission::{Admission, Interest};
use crate::buffer::pushout::PushOut;
use crate::engine::cells::inbox::{Arriving, Inbox};
use crate::engine::cells::port::context::{Context, PortSetup, Stops};
use crate::engine::cells::port::gathered::GatheredUnits;
use crate::engine::cells::port::outbox::Outbox;
use crate::engine::cells::topology::route::Handoff;
use crate::engine::cells::train::CellTrain;
use crate::engine::exact::spacing::{ExactTime, SpacingTable};
use crate::link::port::Port;
use crate::scheduler::Scheduler;
use crate::units::ids::{IdVec, PortVc};
use crate::units::{Span, Time};

use register_log::RegisterLog;
use rotation::{MANY, Rotation, Turn};

/// A port of cells with a queue for each circuit.
#[derive(Debug)]
pub(crate) struct PerVc {
    pub(crate) inbox: Inbox,
    /// The local clock: everything up to this instant has happened.
    pub(crate) done: Option<Time>,
    /// End of the transmission of the present cell, and the time at which the line is free for the next one.
    ends: Time,
    free: ExactTime,
    /// Circuit of the present cell, if the start of the cell has not been reported to the port.
    ahead: Option<PortVc>,
    turns: IdVec<PortVc, Turn>,
    /// The rotation: slots that the queues get in turn.
    rotation: Rotation,
    traits: PolicyTraits,
    spacing: Rc<SpacingTable>,
    /// The least time from the start of a unit at another port to its arrival here.
    min_arrival_delay: Span,
    stops: Stops,
    /// Consecutive units of a frame for a host.
    gathered: GatheredUnits,
    frames: FrameBounds,
    /// Greatest number of cells that can arrive in one slot.
    influx: u64,
    /// Units in the port that make a host act when they arrive.
    awaited: u64,
    /// Time before which no unit arrives that joins an empty queue.
    undisturbed: Time,
    /// The scheduled wake-up of the port, in time for the starts of the awaited units.
    pub(crate) called: Time,
    /// Work space for a decision: cells of joined trains that are still to arrive.
    rests: Vec<CellTrain>,
    /// Changes of queues that have not been reported to the push-out policy's register; `None` without a register, or
    /// if each cell is reported.
    register_log: Option<RegisterLog>,
}

/// The properties of the port's policies that decide how cells join and leave.
#[derive(Debug)]
struct PolicyTraits {
    /// Departures that the admission policy observes.
    interest: Interest,
    /// Whether some policy observes every departure.
    observes_departures: bool,
    /// Whether the admission policy accepts at least as many units when the buffer holds less.
    is_monotone: bool,
    /// Whether slots may be assigned by counts, without a call of the policies for each.
    unseen: bool,
    /// Whether cells join one by one.
    one_by_one: bool,
}

/// Bounds of the frames in the queues.
#[derive(Debug)]
struct FrameBounds {
    /// Lower bounds, for ports with push-out: of the units of a queued frame with its EOM, and of the number of
    /// entire packets in all queues.
    shortest: u64,
    packets: u64,
    /// Greatest number of units of a frame.
    longest: u64,
}

impl PolicyTraits {
    /// Return the properties of a port's policies.
    fn new(setup: &mut PortSetup<'_>, interest: Interest) -> PolicyTraits {
        let by_cell = goes_by_cell(setup.port);
        let observes_departures = by_cell || matches!(interest, Interest::Ends | Interest::Every);
        let routes = &setup.plan.routes[setup.index];
        let together = routes.iter().all(|route| route.handoff == Handoff::Together);
        PolicyTraits {
            interest,
            observes_departures,
            is_monotone: setup.port.admission.properties().is_monotone,
            unseen: together && !observes_departures,
            one_by_one: by_cell || setup.port.admission.asks_for_all(),
        }
    }
}

/// Whether the occupancy is exact when a train arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occupancy {
    /// An upper bound: more cells may have left.
    UpperBound,
    Exact,
}

impl PerVc {
    /// Build an empty port.
    pub(crate) fn new(setup: &mut PortSetup<'_>, interest: Interest) -> PerVc {
        let PortSetup { scenario, plan, index, .. } = *setup;
        let (spacing, vcs) = (plan.spacing(index), setup.port.pool().vcs());
        let inbox = Inbox::new(plan, index, &scenario.ties());
        let by_cell = goes_by_cell(setup.port);
        let registers = setup.port.pushout.as_mut().is_some_and(|pushout| pushout.register().is_some());
        PerVc {
            done: None,
            ends: Time::NEVER,
            free: ExactTime::default(),
            ahead: None,
            turns: IdVec::filled(Turn { grows: true, ..Turn::default() }, vcs),
            rotation: Rotation::default(),
            traits: PolicyTraits::new(setup, interest),
            min_arrival_delay: plan.min_arrival_delay(index),
            stops: Stops::new(setup),
            gathered: GatheredUnits::new(setup),
            frames: FrameBounds { shortest: MANY, packets: 0, longest: plan.longest_frame(scenario, index) },
            influx: inbox.influx(&spacing.pace),
            awaited: 0,
            undisturbed: Time::ZERO,
            called: Time::NEVER,
            rests: Vec::new(),
            register_log: (registers && !by_cell).then(RegisterLog::default),
            inbox,
            spacing,
        }
    }

    /// Advance to `until`, that instant included.
    pub(crate) fn step(&mut self, cx: &mut Context<'_>, out: &mut Outbox, until: Time) {
        loop {
            let look = self.stops.first();
            let stop = look.min(Time(until.0 + 1));
            let known = look.min(cx.end).min(cx.unknown_from(until) + self.min_arrival_delay);
            while let Some(next) = self.inbox.next_time().filter(|next| *next < stop) {
                self.pass_next(cx, out, next, known);
            }
            if let Some(before) = stop.0.checked_sub(1) {
                self.serve(cx, out, Time(before));
            }
            if stop > until {
                break;
            }
            if self.stops.sample == stop {
                self.sample_now(cx.port);
                self.stops.sample += cx.every;
            } else {
                self.serve(cx, out, stop);
                self.book_slots(cx.port);
                self.stops.tick = cx.port.tick(stop).unwrap_or(Time::NEVER);
            }
        }
        self.done = self.done.max(Some(until));
    }

    /// Pass the next arrival, at `next`; a train may be joined as a whole only if its units arrive before `known`, the
    /// first unknown arrival.
    fn pass_next(&mut self, cx: &mut Context<'_>, out: &mut Outbox, next: Time, known: Time) {
        let alone = self.traits.one_by_one || cx.is_logged();
        self.remind_in_time(cx, out, next);
        if !alone && self.take_train(cx, known, Occupancy::UpperBound) {
            return;
        }
        self.serve(cx, out, next);
        if !alone && self.take_train(cx, known, Occupancy::Exact) {
            return;
        }
        self.book_slots(cx.port);
        self.take_next(cx, out, next);
    }

    /// Return whether the port is idle until a unit arrives that is still unknown.
    pub(crate) fn is_quiet(&self) -> bool {
        self.ends == Time::NEVER && self.stops.tick == Time::NEVER && self.inbox.is_empty()
    }

    /// Return the number of units in a circuit's queue.
    fn queued(&self, port: &Port, vc: PortVc) -> u64 {
        port.queues[vc.queue()].len() as u64 - self.turns[vc].served
    }

    fn sample_now(&mut self, port: &mut Port) {
        self.book_slots(port);
        self.inbox.list_from(self.stops.sample, &mut self.rests);
        self.set_aside(port, self.stops.sample);
        port.sample();
        self.bring_back(port);
    }

    /// Remove the next unit, which arrives at `now`, from the inbox.
    fn take_next(&mut self, cx: &mut Context<'_>, out: &mut Outbox, now: Time) {
        self.make_sure_of_room(cx, out);
        let noted = self.register_log.as_ref().and_then(|_| self.inbox.next_unit());
        let Some(arriving) = self.inbox.pop_before(Time(now.0 + 1)) else { return };
        if let Some(reason) = arriving.lost {
            return cx.refuse(&arriving, reason);
        }
        self.enter(cx, out, &arriving, noted);
    }

    /// Offer an arriving unit to the port, which queues or loses it; record the change if a register needs it.
    fn enter(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Outbox,
        arriving: &Arriving,
        noted: Option<CellTrain>,
    ) {
        let &Arriving { time: now, unit, vc, .. } = arriving;
        if cx.port.queues[vc.queue()].is_empty() {
            self.end_rotation(cx.port);
        }
        self.set_aside(cx.port, now);
        let full = !cx.port.pool.fits(1);
        if full {
            self.settle(cx, out);
            self.remind(cx.port, now);
        }
        let before = cx.port.pool.of(vc);
        self.awaited += cx.awaits(&unit);
        cx.port.arrive(now, unit, vc, &mut cx.losses.now);
        if full {
            self.confirm_register(cx.port);
        } else if let (Some(log), Some(noted)) = (&mut self.register_log, noted)
            && cx.port.pool.of(vc) > before
        {
            log.join(noted);
        }
        self.count_after(cx, arriving, full);
        self.awaited -= cx.count_losses(now);
        self.bring_back(cx.port);
        self.start_if_idle(cx, out, now);
    }

    /// After an arrival, update the count of entire packets, and record whether a queue may be empty.
    fn count_after(&mut self, cx: &Context<'_>, arriving: &Arriving, full: bool) {
        let lost = !cx.losses.now.is_empty();
        if full && lost && cx.port.pushout.is_some() {
            self.count_packets(cx.port);
        } else if arriving.unit.is_eom() && cx.port.pushout.is_some() {
            self.closed(cx.port, arriving.vc);
        }
        if lost {
            self.undisturbed = Time::ZERO;
        }
    }

    /// Start the next unit at `now`, if the line is idle and a unit waits.
    fn start_if_idle(&mut self, cx: &mut Context<'_>, out: &mut Outbox, now: Time) {
        if self.ends == Time::NEVER
            && let Some(queue) = cx.port.scheduler.turn(now)
        {
            let starts = self.send(now);
            self.start_one(cx, out, queue.vc(), starts);
        }
    }

    /// Schedule a wake-up of the port at `time` or earlier, since a host awaits a train, or too many units have
    /// accumulated. Returns whether the wake-up has moved to an earlier time.
    pub(crate) fn call_by(&mut self, time: Time) -> bool {
        let sooner = time < self.called;
        self.called = self.called.min(time);
        sooner
    }

    /// Find the next wake-up of a port that has advanced to `now`, in time to forward the units that make a host act.
    /// No unit arrives at the next stop earlier than `reach` after its start.
    pub(crate) fn find_wakeup(&mut self, cx: &mut Context<'_>, out: &mut Outbox, now: Time, reach: Span) {
        let none = self.awaited == 0 && self.inbox.next_awaited().is_none();
        let first = if none { Time::NEVER } else { self.earliest_eom(cx, out, now) };
        self.called = if first < Time::NEVER { first + reach } else { first };
    }

    /// Update the counts of frames after the EOM of a circuit's frame may have joined its queue.
    fn closed(&mut self, port: &Port, vc: PortVc) {
        let runs = port.queues[vc.queue()].runs();
        if let Some(run) = runs.last().and_then(|last| runs.get(last)).filter(|run| run.is_closed()) {
            self.frames.shortest = self.frames.shortest.min(run.units() as u64);
            self.frames.packets += u64::from(run.is_whole());
        }
    }

    /// Count the packets of all queues again, after units have been removed from the middle or the end of a queue.
    fn count_packets(&mut self, port: &Port) {
        let shortest = port.queues.iter().filter_map(|queue| queue.runs().shortest()).min();
        self.frames.shortest = shortest.map_or(MANY, |units| units as u64);
        self.frames.packets = port.queues.iter().map(|queue| queue.runs().whole() as u64).sum();
    }
}

/// Return whether cells join and leave one by one: because the scheduler or the push-out policy depends on each cell,
/// or because the admission policy judges each cell that the push-out policy's frame rule does not discard.
fn goes_by_cell(port: &mut Port) -> bool {
    let in_turn = port.scheduler.goes_by_turns();
    let by_queues = port.pushout.as_ref().is_none_or(PushOut::goes_by_queues);
    !(in_turn && by_queues) || port.pushout.is_some() && port.admission.asks_for_all()
}

#[cfg(test)]
mod tests;
