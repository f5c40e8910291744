//! A port of any kind, unit by unit: whatever its policies are, it is asked exactly what the reference engine asks it.

use crate::buffer::verdict::Reason;
use crate::engine::cells::Fast;
use crate::engine::cells::inbox::{Arriving, Inbox};
use crate::engine::cells::topology::route::Handoff;
use crate::engine::cells::train::{Gathering, Run};
use crate::engine::{LossRecord, number_at_port};
use crate::link::port::{Loss, Started};
use crate::network::Network;
use crate::unit::Unit;
use crate::units::{Span, Time};

/// The local time of a port.
#[derive(Debug)]
pub(in crate::engine) struct PerUnit {
    pub(in crate::engine) inputs: Inbox,
    /// Up to here everything has happened.
    pub(in crate::engine) done: Option<Time>,
    /// When the unit in transmission ends.
    ends: Time,
    /// When the clock of the policy ticks.
    tick: Time,
    /// When the occupancy is sampled next.
    sample: Time,
    /// Units in the port that make a host act when they arrive.
    awaited: u64,
    /// The instant for which the port is in the event queue to see them start.
    called: Time,
    /// Consecutive cells of a frame for a host, by circuit; handed on together.
    runs: Vec<Gathering>,
    /// Starts on either side of which they are handed on separately, the next one last.
    cuts: Vec<Time>,
    /// Time that a cell takes on the line.
    whole: Span,
}

/// What such a port is made of.
#[derive(Debug)]
pub(in crate::engine) struct Parts {
    pub(in crate::engine) inputs: Inbox,
    pub(in crate::engine) vcs: usize,
    pub(in crate::engine) cuts: Vec<Time>,
    /// Time that a cell takes on the line.
    pub(in crate::engine) whole: Span,
    pub(in crate::engine) sampled: bool,
    /// When the clock of the policy ticks, if it does.
    pub(in crate::engine) tick: Option<Time>,
}

impl PerUnit {
    /// A port at time zero.
    pub(in crate::engine) fn new(parts: Parts) -> PerUnit {
        let Parts { inputs, vcs, mut cuts, whole, sampled, tick } = parts;
        cuts.reverse();
        PerUnit {
            inputs,
            done: None,
            ends: Time::NEVER,
            tick: tick.unwrap_or(Time::NEVER),
            sample: if sampled { Time::ZERO } else { Time::NEVER },
            awaited: 0,
            called: Time::NEVER,
            runs: vec![Gathering::default(); vcs],
            cuts,
            whole,
        }
    }

    /// Whether nothing will happen before something arrives that is not known yet.
    pub(in crate::engine) fn is_quiet(&self) -> bool {
        self.ends == Time::NEVER && self.tick == Time::NEVER && self.inputs.is_empty()
    }

    /// Let happen what happens up to `until`, that instant included.
    pub(in crate::engine) fn step(&mut self, engine: &mut Fast<'_>, port: usize, until: Time) {
        loop {
            let first = self.sample.min(self.ends).min(self.tick).min(Time(until.0 + 1));
            if let Some(mut arriving) = self.inputs.pop_before(first) {
                match engine.police(&mut arriving) {
                    Ok(()) => self.enter(engine, port, &arriving),
                    Err(reason) => engine.refuse(port, &arriving, reason),
                }
            } else if first > until {
                break;
            } else if self.sample == first {
                self.sample += engine.scenario.sample;
                engine.network.ports[port].sample();
            } else if self.ends == first {
                self.ends = Time::NEVER;
                engine.network.ports[port].finish(first);
                self.start(engine, port, first);
            } else {
                self.tick = engine.network.ports[port].tick(first).unwrap_or(Time::NEVER);
            }
        }
        self.done = Some(until);
    }

    /// A unit enters the buffer, or is lost there.
    pub(in crate::engine) fn enter(&mut self, engine: &mut Fast<'_>, port: usize, arriving: &Arriving) {
        let &Arriving { time, unit, vc } = arriving;
        self.awaited += engine.awaits(&unit);
        let Network { ports, circuits, .. } = &mut engine.network;
        ports[port].arrive(time, unit, vc as usize, number_at_port(circuits), &mut engine.losses);
        self.start(engine, port, time);
    }

    /// The next unit starts, if the line is free.
    fn start(&mut self, engine: &mut Fast<'_>, port: usize, now: Time) {
        let Network { ports, circuits, .. } = &mut engine.network;
        let started = ports[port].start(now, number_at_port(circuits), &mut engine.losses);
        self.awaited -= engine.count_losses(port, now);
        let Some(started) = started else { return };
        self.ends = started.sent.ends;
        self.awaited -= engine.awaits(&started.unit);
        match started.sent.starts < engine.window.to {
            true => self.forward(engine, port, &started),
            false => engine.resting.push(started.unit.vc),
        }
    }

    /// A unit that has started is handed on, perhaps together with those behind it.
    fn forward(&mut self, engine: &mut Fast<'_>, port: usize, &Started { unit, sent }: &Started) {
        let vc = number_at_port(&engine.network.circuits)(&unit);
        let whole = sent.ends.since(sent.starts);
        if self.cuts.last().is_some_and(|cut| *cut <= sent.starts) {
            while self.cuts.pop_if(|cut| *cut <= sent.starts).is_some() {}
            self.hand_on(engine, port);
        }
        if engine.plan.legs[port][vc].manner != Handoff::Together {
            let run = Run { unit, units: 1 };
            return run.send(engine, port, vc as u32, sent.starts, whole);
        }
        let run = &mut self.runs[vc];
        run.join(engine, (port, vc as u32), &unit, 1, whole);
        run.last_starts(sent.starts);
        if unit.is_eom() {
            run.send(engine, port, vc as u32, whole);
        }
    }

    /// Hand on what has been gathered.
    pub(in crate::engine) fn hand_on(&mut self, engine: &mut Fast<'_>, port: usize) {
        for (vc, run) in self.runs.iter_mut().enumerate() {
            run.send(engine, port, vc as u32, self.whole);
        }
    }

    /// Everything has happened up to `now`: be there again in time to hand on the units that make a host act. The next one
    /// cannot start before the line is free, nor arrive earlier than `reach` after that.
    pub(in crate::engine) fn call_again(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        now: Time,
        reach: Span,
    ) {
        if self.called <= now {
            self.called = Time::NEVER;
        }
        if self.awaited == 0 {
            return;
        }
        let start = if self.ends < Time::NEVER { self.ends } else { Time(now.0 + 1) };
        let time = start + reach;
        if time < self.called {
            self.called = time;
            engine.wake(port as u32, time);
        }
    }
}

impl Fast<'_> {
    /// How many hosts wait for a unit: one for the last unit of a frame that is to be answered.
    fn awaits(&self, unit: &Unit) -> u64 {
        u64::from(unit.is_eom() && self.answered[unit.vc as usize])
    }

    /// If a unit arrives where its circuit is policed, it may be marked or has to go.
    pub(in crate::engine) fn police(&mut self, arriving: &mut Arriving) -> Result<(), Reason> {
        let &mut Arriving { time, unit, .. } = arriving;
        arriving.unit = self.network.circuits[unit.vc as usize].police(time, unit)?;
        Ok(())
    }

    /// A unit is lost before it enters the buffer of a port.
    pub(in crate::engine) fn refuse(&mut self, port: usize, arriving: &Arriving, reason: Reason) {
        self.network.ports[port].refuse(arriving.unit, reason, &mut self.losses);
        self.count_losses(port, arriving.time);
    }

    /// Tell the circuits what a port has lost; answers how many of these units would have made a host act.
    pub(in crate::engine) fn count_losses(&mut self, port: usize, now: Time) -> u64 {
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
}
