//! What a port may touch while it works, and where it puts what leaves it.
//!
//! # What it assumes
//! Nothing at a port depends on what happens at another one within one call: every line takes time.
//!
//! # What it skips
//! Calls from port to port. The loop delivers the outbox when the port has returned.
//!
//! # Why that is exact
//! An inbox keeps arrivals in order of time, so it does not matter when they are entered, as long as they have not happened.
//!
//! # What turns it off
//! Nothing.
//!
//! # What it saves
//! Nothing by itself: it keeps ports from reaching the loop. W1-cell pays for it with 3.4 % more instructions.

use crate::buffer::verdict::Reason;
use crate::engine::cells::inbox::Arriving;
use crate::engine::cells::topology::Plan;
use crate::engine::cells::topology::route::RouteSegment;
use crate::engine::exact::accounting::Window;
use crate::engine::outcome::LossRecord;
use crate::engine::timers::Timers;
use crate::link::port::{Loss, Port};
use crate::network::circuit::Circuit;
use crate::scenario::model::Scenario;
use crate::unit::Unit;
use crate::units::{Span, Time};

/// What one port may touch.
pub(crate) struct Context<'a> {
    /// The port: its policies, its queues and its counters.
    pub(crate) port: &'a mut Port,
    /// Its number.
    pub(crate) index: usize,
    pub(crate) circuits: &'a mut [Circuit],
    pub(crate) plan: &'a Plan,
    /// Where the units of its circuits go, by their number at the port.
    pub(crate) routes: &'a [RouteSegment],
    pub(crate) losses: &'a mut LossLog,
    pub(crate) timers: &'a Timers,
    /// Circuits of the units before which a host still rests when the run is over.
    pub(crate) resting: &'a mut Vec<u32>,
    /// The time between two samples.
    pub(crate) every: Span,
    pub(crate) window: Window,
    /// Where the part of the run that is being computed ends.
    pub(crate) end: Time,
    /// Where circuits form a circle, the first instant that has not happened at all ports.
    pub(crate) together: Option<Time>,
}

/// What was lost: every unit, if that is asked for, and those of the present moment.
#[derive(Debug)]
pub(crate) struct LossLog {
    pub(crate) log: Option<Vec<LossRecord>>,
    pub(crate) now: Vec<Loss>,
}

impl Context<'_> {
    /// Whether every loss is to be recorded.
    #[inline]
    pub(crate) fn is_logged(&self) -> bool {
        self.losses.log.is_some()
    }

    /// Record a unit that the port has lost on arrival.
    pub(crate) fn lose(&mut self, time: Time, unit: &Unit, reason: Reason) {
        self.circuits[unit.vc as usize].lost(unit);
        if let Some(log) = &mut self.losses.log {
            let (port, vc, frame, index) = (self.index as u32, unit.vc, unit.frame, unit.index);
            log.push(LossRecord { time, port, vc, frame, index, reason });
        }
    }

    /// Record what the port itself has just lost; answers for how many of these units a host waited.
    pub(crate) fn count_losses(&mut self, now: Time) -> u64 {
        let mut awaited = 0;
        let mut losses = std::mem::take(&mut self.losses.now);
        for Loss { unit, reason } in losses.drain(..) {
            awaited += self.awaits(&unit);
            self.lose(now, &unit, reason);
        }
        self.losses.now = losses;
        awaited
    }

    /// Mark or refuse a unit, if its circuit is policed here.
    pub(crate) fn police(&mut self, arriving: &mut Arriving) -> Result<(), Reason> {
        let &mut Arriving { time, unit, .. } = arriving;
        arriving.unit = self.circuits[unit.vc as usize].police(time, unit)?;
        Ok(())
    }

    /// Lose a unit before it enters the buffer.
    pub(crate) fn refuse(&mut self, arriving: &Arriving, reason: Reason) {
        self.port.refuse(arriving.unit, reason, &mut self.losses.now);
        self.count_losses(arriving.time);
    }

    /// How many hosts wait for a unit: one for the last unit of a frame that is to be answered.
    #[inline]
    pub(crate) fn awaits(&self, unit: &Unit) -> u64 {
        u64::from(unit.is_eom() && self.plan.answered[unit.vc as usize])
    }

    /// When the first unit sets out that the port does not know of yet, at the earliest, if it is brought up to `until`.
    pub(crate) fn unknown_from(&self, until: Time) -> Time {
        self.together.map_or(until, |together| together.min(until))
    }

    /// A time before which nothing is sent on a circuit, as far as that is known: nothing of its flow is under way, and no
    /// timer fires.
    pub(crate) fn rests_until(&self, circuit: usize) -> Time {
        let Some((end, [data, back])) = self.plan.actors[circuit] else { return Time::ZERO };
        let rests = |vc: u32| self.circuits[vc as usize].tally().under_way() == 0;
        if !rests(data) || !rests(back) {
            return Time::ZERO;
        }
        self.timers.at(end as usize).min(self.timers.at(end as usize ^ 1))
    }
}

/// What a port is built from.
pub(crate) struct PortSetup<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plan: &'a Plan,
    pub(crate) window: Window,
    pub(crate) index: usize,
    pub(crate) port: &'a mut Port,
}

impl PortSetup<'_> {
    /// When the occupancy is sampled first.
    pub(crate) fn first_sample(&self) -> Time {
        if self.scenario.lines[self.index].is_sampled() { Time::ZERO } else { Time::NEVER }
    }

    /// When the clock of the policy ticks first.
    pub(crate) fn first_tick(&mut self) -> Time {
        self.port.tick(Time::ZERO).unwrap_or(Time::NEVER)
    }

    /// Starts on either side of which units are handed on separately, the next one last.
    pub(crate) fn cuts(&self) -> Vec<Time> {
        let mut cuts = self.plan.cuts(self.index, self.window);
        cuts.reverse();
        cuts
    }
}
