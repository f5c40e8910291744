//! A port of any kind, unit by unit: whatever its policies are, it is asked exactly what the reference engine asks it.

use super::Fast;
use super::lanes::{Arriving, Inputs};
use super::pace::Beat;
use super::run::Run;
use crate::buffer::verdict::Reason;
use crate::engine::{LossRecord, number_at_port};
use crate::link::port::{Loss, Started};
use crate::network::Network;
use crate::unit::Unit;
use crate::units::Time;

/// The local time of a port.
#[derive(Debug)]
pub(super) struct General {
    pub(super) inputs: Inputs,
    /// Up to here everything has happened.
    pub(super) done: Option<Time>,
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

    /// Whether nothing will happen before something arrives that is not known yet.
    pub(super) fn is_quiet(&self) -> bool {
        self.ends == Time::NEVER && self.tick == Time::NEVER && self.inputs.is_empty()
    }
}

impl Fast<'_> {
    /// Let happen what happens at a port up to `until`, that instant included.
    pub(super) fn step_general(&mut self, port: usize, until: Time) {
        let every = self.scenario.sample;
        loop {
            let it = self.general(port);
            let first = it.sample.min(it.ends).min(it.tick).min(Time(until.0 + 1));
            if let Some(mut arriving) = it.inputs.pop_before(first) {
                match self.police(&mut arriving) {
                    Ok(()) => self.enter(port, arriving.unit, arriving.vc as usize, arriving.time),
                    Err(reason) => self.refuse(port, &arriving, reason),
                }
            } else if first > until {
                break;
            } else if it.sample == first {
                it.sample += every;
                self.network.ports[port].sample();
            } else if it.ends == first {
                it.ends = Time::NEVER;
                self.network.ports[port].finish(first);
                self.start(port, first);
            } else {
                let next = self.network.ports[port].tick(first);
                self.general(port).tick = next.unwrap_or(Time::NEVER);
            }
        }
        self.general(port).done = Some(until);
    }

    /// A unit enters the buffer of a port, or is lost there.
    pub(super) fn enter(&mut self, port: usize, unit: Unit, vc: usize, now: Time) {
        let came = u64::from(unit.is_eom() && self.answered[unit.vc as usize]);
        let Network { ports, circuits, .. } = &mut self.network;
        ports[port].arrive(now, unit, vc, number_at_port(circuits), &mut self.losses);
        self.general(port).awaited += came;
        self.start(port, now);
    }

    /// If a unit arrives where its circuit is policed, it may be marked or has to go.
    pub(super) fn police(&mut self, arriving: &mut Arriving) -> Result<(), Reason> {
        let &mut Arriving { time, unit, .. } = arriving;
        arriving.unit = self.network.circuits[unit.vc as usize].police(time, unit)?;
        Ok(())
    }

    /// A unit is lost before it enters the buffer of a port.
    pub(super) fn refuse(&mut self, port: usize, arriving: &Arriving, reason: Reason) {
        self.network.ports[port].refuse(arriving.unit, reason, &mut self.losses);
        self.count_losses(port, arriving.time);
    }

    /// Tell the circuits what a port has lost; answers how many of these units would have made a host act.
    pub(super) fn count_losses(&mut self, port: usize, now: Time) -> u64 {
        let mut gone = 0;
        for Loss { unit, reason } in self.losses.drain(..) {
            let Unit { vc, frame, index, .. } = unit;
            gone += u64::from(unit.is_eom() && self.answered[vc as usize]);
            self.network.circuits[vc as usize].lost();
            if let Some(log) = &mut self.log {
                log.push(LossRecord { time: now, port: port as u32, vc, frame, index, reason });
            }
        }
        gone
    }

    /// Let a port start the next unit, if its line is free.
    fn start(&mut self, port: usize, now: Time) {
        let Network { ports, circuits, .. } = &mut self.network;
        let started = ports[port].start(now, number_at_port(circuits), &mut self.losses);
        let gone = self.count_losses(port, now);
        self.general(port).awaited -= gone;
        let Some(started) = started else { return };
        let vc = number_at_port(&self.network.circuits)(&started.unit);
        let Started { unit, sent } = started;
        let went = u64::from(unit.is_eom() && self.answered[unit.vc as usize]);
        let it = self.general(port);
        it.ends = sent.ends;
        it.awaited -= went;
        if sent.starts >= self.window.to {
            return self.resting.push(unit.vc);
        }
        let whole = sent.ends.since(sent.starts).0;
        self.send_on(port, vc as u32, Run { unit, units: 1 }, Beat::at(sent.starts), sent.starts, whole);
    }

    /// Be there in time to hand on the units of a port that make a host act.
    ///
    /// The next one cannot start before the line is free, nor arrive earlier than the port's reach after that.
    pub(super) fn watch(&mut self, port: usize, now: Time) {
        let reach = self.plan.reach[port];
        let it = self.general(port);
        if it.watch <= now {
            it.watch = Time::NEVER;
        }
        if it.awaited == 0 {
            return;
        }
        let start = if it.ends < Time::NEVER { it.ends } else { Time(now.0 + 1) };
        let time = start + reach;
        if time < it.watch {
            it.watch = time;
            self.wake(port as u32, time);
        }
    }
}
