//! A port of any kind, unit by unit: whatever its policies are, it is asked exactly what the reference engine asks it.

use super::lanes::{Arriving, Inputs, Train};
use super::pace::Beat;
use super::plan::Stop;
use super::{Fast, Landing};
use crate::engine::LossRecord;
use crate::kernel::queue::{Class, Event};
use crate::link::port::Loss;
use crate::network::Network;
use crate::unit::Unit;
use crate::units::Time;

/// The local time of a port.
#[derive(Debug)]
pub(super) struct General {
    inputs: Inputs,
    /// Up to here everything has happened.
    done: Option<Time>,
    /// When the unit in transmission ends.
    ends: Time,
    /// When the clock of the policy ticks.
    tick: Time,
    /// When the occupancy is sampled next.
    sample: Time,
    /// Units in the port that make a host act when they arrive.
    awaited: u64,
    /// The instant for which the port is in the event queue to see them start.
    watch: Time,
}

impl General {
    /// A port at time zero.
    pub(super) fn new(inputs: Inputs, tick: Option<Time>, sampled: bool) -> General {
        General {
            inputs,
            done: None,
            ends: Time::NEVER,
            tick: tick.unwrap_or(Time::NEVER),
            sample: if sampled { Time::ZERO } else { Time::NEVER },
            awaited: 0,
            watch: Time::NEVER,
        }
    }

    /// Units on their way to the port.
    pub(super) fn on_lines(&self) -> impl Iterator<Item = Unit> {
        self.inputs.units().map(|(_, unit)| unit)
    }

    /// Whether nothing will happen before something arrives that is not known yet.
    pub(super) fn is_quiet(&self) -> bool {
        self.ends == Time::NEVER && self.tick == Time::NEVER && self.inputs.is_empty()
    }
}

impl Fast<'_> {
    /// Let happen what happens at a port up to `until`, that instant included.
    pub(super) fn step(&mut self, port: usize, until: Time) {
        let every = self.scenario.sample;
        loop {
            let it = &mut self.ports[port];
            let first = it.sample.min(it.ends).min(it.tick).min(Time(until.0 + 1));
            if let Some(Arriving { time, unit, vc }) = it.inputs.pop_before(first) {
                self.enter(port, unit, vc as usize, time);
            } else if first > until {
                break;
            } else if it.sample == first {
                self.network.ports[port].sample();
                it.sample += every;
            } else if it.ends == first {
                it.ends = Time::NEVER;
                self.network.ports[port].finish(first);
                self.start(port, first);
            } else {
                let next = self.network.ports[port].tick(first);
                it.tick = next.unwrap_or(Time::NEVER);
            }
            self.work.events += 1;
        }
        self.ports[port].done = Some(until);
    }

    /// Up to where a port has come.
    pub(super) fn has_reached(&self, port: usize, time: Time) -> bool {
        self.ports[port].done.is_some_and(|done| done >= time)
    }

    /// A unit enters the buffer of a port, or is lost there.
    pub(super) fn enter(&mut self, port: usize, unit: Unit, vc: usize, now: Time) {
        let awaited = |unit: &Unit| unit.is_eom() && self.answered[unit.vc as usize];
        let Network { ports, circuits, .. } = &mut self.network;
        ports[port].arrive(now, unit, vc, &mut self.losses);
        let mut gone = 0;
        for Loss { unit, reason } in self.losses.drain(..) {
            gone += u64::from(awaited(&unit));
            let Unit { vc, frame, index, .. } = unit;
            circuits[vc as usize].lost();
            if let Some(log) = &mut self.log {
                log.push(LossRecord { time: now, port: port as u32, vc, frame, index, reason });
            }
        }
        let it = &mut self.ports[port];
        it.awaited = it.awaited + u64::from(awaited(&unit)) - gone;
        self.start(port, now);
    }

    /// Let a port start the next unit, if its line is free.
    fn start(&mut self, port: usize, now: Time) {
        let Network { ports, circuits, .. } = &mut self.network;
        let vc_of = |unit: &Unit| {
            let hop = circuits[unit.vc as usize].hop(unit.hop);
            hop.expect("a queued unit has a port").vc as usize
        };
        let Some(started) = ports[port].start(now, vc_of) else { return };
        let vc = vc_of(&started.unit);
        let hops = if self.is_cells[port] { &mut self.work.cell_hops } else { &mut self.work.packet_hops };
        *hops += 1;
        let it = &mut self.ports[port];
        it.ends = started.sent.ends;
        it.awaited -= u64::from(started.unit.is_eom() && self.answered[started.unit.vc as usize]);
        self.land(port, vc, started.sent.arrives, started.unit);
    }

    /// A unit that has started will arrive at the next stop.
    fn land(&mut self, port: usize, vc: usize, time: Time, unit: Unit) {
        let leg = self.plan.legs[port][vc];
        let unit = Unit { hop: leg.hop, ..unit };
        match leg.to {
            Stop::Port { port, lane, vc } => {
                let train = Train { beat: Beat::at(time), unit, vc, left: 1 };
                let behind = self.ports[port as usize].inputs.push(lane as usize, train);
                if unit.is_eom() && leg.answered {
                    self.wake(port as usize, time + self.plan.reach[port as usize]);
                } else if behind.is_multiple_of(PATIENCE) {
                    self.wake(port as usize, time);
                }
            }
            Stop::Host { line } => {
                let inbox = &mut self.inboxes[line as usize];
                inbox.push_back(Landing { time, unit });
                if unit.is_eom() && leg.answered || inbox.len().is_multiple_of(PATIENCE) {
                    let rank = self.ties.rank(time, line);
                    self.queue.push(Event { time, class: Class::Arrive, rank, entity: line });
                }
            }
        }
    }

    /// Bring a port up to date at `time`.
    fn wake(&mut self, port: usize, time: Time) {
        self.queue.push(Event::new(time, Class::Free, port as u32));
    }

    /// Be there in time to hand on the units of a port that make a host act.
    ///
    /// The next one cannot start before the line is free, nor arrive earlier than the port's reach after that.
    pub(super) fn watch(&mut self, port: usize, now: Time) {
        let it = &mut self.ports[port];
        if it.watch <= now {
            it.watch = Time::NEVER;
        }
        if it.awaited == 0 {
            return;
        }
        let start = if it.ends < Time::NEVER { it.ends } else { Time(now.0 + 1) };
        let time = start + self.plan.reach[port];
        if time < it.watch {
            it.watch = time;
            self.wake(port, time);
        }
    }
}

/// Units that may wait on a lane or before a host that answers nothing, before somebody looks after them.
const PATIENCE: usize = 256;
