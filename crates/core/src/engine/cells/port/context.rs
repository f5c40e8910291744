//! Data that a running port may access, and the outbox for its departing units.
//!
//! # What it assumes
//! Within one call nothing at a port depends on another port: every line takes time.
//!
//! # What it skips
//! Calls from port to port. The loop delivers the outbox after the port has returned.
//!
//! # Why that is exact
//! An inbox sorts arrivals by time, so units may be added to it at any time before they arrive.
//!
//! # What it saves
//! No time: it keeps ports from accessing the event loop, and costs W1-cell 3.4 % more instructions.

use crate::engine::cells::inbox::Arriving;
use crate::engine::cells::topology::Plan;
use crate::engine::cells::topology::actor::Actor;
use crate::engine::cells::topology::route::RouteSegment;
use crate::engine::exact::accounting::Window;
use crate::engine::outcome::LossRecord;
use crate::engine::timers::Timers;
use crate::link::port::{Loss, Port};
use crate::network::circuit::Circuit;
use crate::scenario::model::Scenario;
use crate::unit::Unit;
use crate::units::ids::{CircuitId, IdSlice, IdVec, LineId, PortVc};
use crate::units::{Span, Time};
use crate::verdict::Reason;

/// Data that one port may access.
pub(crate) struct Context<'a> {
    /// The port: its policies, its queues and its counters.
    pub(crate) port: &'a mut Port,
    /// Number of the port.
    pub(crate) index: LineId,
    pub(crate) circuits: &'a mut IdVec<CircuitId, Circuit>,
    pub(crate) plan: &'a Plan,
    /// Routes of the units of its circuits, by their number at the port.
    pub(crate) routes: IdSlice<'a, PortVc, RouteSegment>,
    pub(crate) losses: &'a mut LossLog,
    pub(crate) timers: &'a Timers,
    /// Circuits of units that have arrived at hosts, where the run ended before the hosts acted on them, and of units that have left
    /// a queue, but would start at the end of the run.
    pub(crate) resting: &'a mut Vec<CircuitId>,
    /// The time between two samples.
    pub(crate) every: Span,
    pub(crate) window: Window,
    /// The end of the part of the run that is being computed.
    pub(crate) end: Time,
    /// First instant that not all ports have reached; `None` unless circuits form a cycle.
    pub(crate) together: Option<Time>,
}

/// The losses: a log of all, if the caller wants it, and the losses of the present call.
#[derive(Debug)]
pub(crate) struct LossLog {
    pub(crate) log: Option<Vec<LossRecord>>,
    pub(crate) now: Vec<Loss>,
}

impl Context<'_> {
    /// Return whether every loss is recorded.
    #[inline]
    pub(crate) fn is_logged(&self) -> bool {
        self.losses.log.is_some()
    }

    /// Record a unit that the port has lost on arrival.
    pub(crate) fn lose(&mut self, time: Time, unit: &Unit, reason: Reason) {
        self.circuits[unit.vc].lost(unit);
        if let Some(log) = &mut self.losses.log {
            let (port, vc, frame, index) = (self.index, unit.vc, unit.frame, unit.index);
            log.push(LossRecord { time, port, vc, frame, index, reason });
        }
    }

    /// Record the port's own latest losses; returns the number of hosts that awaited these units.
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

    /// Count a unit as lost before it reaches the buffer.
    pub(crate) fn refuse(&mut self, arriving: &Arriving, reason: Reason) {
        self.port.refuse(arriving.unit, reason, &mut self.losses.now);
        self.count_losses(arriving.time);
    }

    /// Return the number of hosts that await a unit: one for the last unit of a frame that a host may answer,
    /// otherwise none.
    #[inline]
    pub(crate) fn awaits(&self, unit: &Unit) -> u64 {
        u64::from(unit.is_eom() && self.plan.answerable[unit.vc])
    }

    /// Return the earliest time at which a unit that is still unknown to this port can depart from another port, if
    /// this port advances to `until`.
    pub(crate) fn unknown_from(&self, until: Time) -> Time {
        self.together.map_or(until, |together| together.min(until))
    }

    /// Return a lower bound of the next departure on a circuit: if its flow has nothing in flight, the time of the
    /// flow's next timer.
    pub(crate) fn rests_until(&self, circuit: CircuitId) -> Time {
        let Some(Actor { entity, circuits: [data, back] }) = self.plan.actors[circuit] else {
            return Time::ZERO;
        };
        let rests = |vc: CircuitId| self.circuits[vc].tally().under_way() == 0;
        if !rests(data) || !rests(back) {
            return Time::ZERO;
        }
        self.timers.at(entity as usize).min(self.timers.at(entity as usize ^ 1))
    }
}

/// The values from which a port is built.
pub(crate) struct PortSetup<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plan: &'a Plan,
    pub(crate) window: Window,
    pub(crate) index: LineId,
    pub(crate) port: &'a mut Port,
}

/// The next instants of a port at which something other than an arrival or a departure happens.
#[derive(Debug)]
pub(crate) struct Stops {
    /// When the occupancy is sampled.
    pub(crate) sample: Time,
    /// When the clock of the policy ticks.
    pub(crate) tick: Time,
}

impl Stops {
    /// Build the first instants of a port.
    pub(crate) fn new(setup: &mut PortSetup<'_>) -> Stops {
        let is_sampled = setup.scenario.lines[setup.index].is_sampled();
        Stops {
            sample: if is_sampled { Time::ZERO } else { Time::NEVER },
            tick: setup.port.tick(Time::ZERO).unwrap_or(Time::NEVER),
        }
    }

    /// Return the first of these instants.
    #[inline]
    pub(crate) fn first(&self) -> Time {
        self.sample.min(self.tick)
    }
}

impl PortSetup<'_> {
    /// Return the instants at which units are separated: units before and after such an instant are forwarded
    /// separately. The next instant is the last in the list.
    pub(crate) fn cuts(&self) -> Vec<Time> {
        let mut cuts = self.plan.cuts(self.index, self.window);
        cuts.reverse();
        cuts
    }
}
