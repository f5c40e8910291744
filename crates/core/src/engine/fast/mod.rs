//! The fast engine.

mod general;
mod lanes;
mod pace;
mod plan;

use std::collections::VecDeque;

use super::{LossRecord, Outcome, Work, sampled_ports};
use crate::kernel::Ties;
use crate::kernel::queue::{Class, Event, EventQueue};
use crate::link::port::Loss;
use crate::network::Network;
use crate::network::circuit::Emission;
use crate::network::flow::End;
use crate::scenario::model::{Medium, Scenario};
use crate::unit::Unit;
use crate::units::Time;

use general::General;
use plan::Plan;

/// Run a scenario from its first instant to its last; with `log` every loss is recorded.
pub fn run(scenario: &Scenario, log: bool) -> Outcome {
    let mut engine = Fast::new(scenario, log);
    let (warm, end) = (Time::ZERO + scenario.warmup, Time::ZERO + scenario.duration);
    engine.run_until(warm);
    engine.network.reset_counters(warm);
    engine.run_until(end);
    engine.network.close_counters(end);
    engine.outcome()
}

struct Fast<'a> {
    scenario: &'a Scenario,
    plan: Plan,
    network: Network,
    ports: Vec<General>,
    /// Units that will arrive at the host at the end of each line.
    inboxes: Vec<VecDeque<Landing>>,
    is_cells: Vec<bool>,
    /// Circuits whose frames a host may answer.
    answered: Vec<bool>,
    queue: EventQueue,
    ties: Ties,
    /// The instant for which each flow end is in the queue; an event for any other instant is out of date.
    called: Vec<Time>,
    work: Work,
    log: Option<Vec<LossRecord>>,
    emissions: Vec<Emission>,
    losses: Vec<Loss>,
    /// The first instant that has not happened yet at all ports together, where units can go round in circles.
    together: Time,
}

/// A unit that will arrive at a host.
#[derive(Clone, Copy, Debug)]
struct Landing {
    time: Time,
    unit: Unit,
}

impl Fast<'_> {
    fn new(scenario: &Scenario, log: bool) -> Fast<'_> {
        let plan = Plan::new(scenario);
        let mut network = Network::new(scenario);
        let ties = Ties::new(scenario.seed);
        let sampled = sampled_ports(scenario);
        let port = |(index, port): (usize, &mut crate::link::port::Port)| {
            General::new(plan.inputs(index, ties), port.tick(Time::ZERO), sampled.contains(&index))
        };
        let ports = network.ports.iter_mut().enumerate().map(port).collect();
        let mut engine = Fast {
            scenario,
            ports,
            inboxes: vec![VecDeque::new(); scenario.lines.len()],
            is_cells: scenario.lines.iter().map(|line| line.medium == Medium::Cells).collect(),
            answered: plan::answered(scenario),
            queue: EventQueue::default(),
            ties,
            called: vec![Time::NEVER; 2 * network.flows.len()],
            work: Work::default(),
            log: log.then(Vec::new),
            emissions: Vec::new(),
            losses: Vec::new(),
            together: Time::ZERO,
            plan,
            network,
        };
        for flow in 0..engine.network.flows.len() {
            engine.call(flow, End::Source);
        }
        engine
    }

    /// Let happen what happens before `end`.
    fn run_until(&mut self, end: Time) {
        while let Some(event) = self.queue.pop_before(end) {
            self.work.events += 1;
            let entity = event.entity as usize;
            match event.class {
                Class::Free | Class::Tick => {
                    self.advance(entity, event.time);
                    self.watch(entity, event.time);
                }
                Class::Arrive => self.arrive(entity, event.time),
                Class::Timer => self.timer(entity, event.time),
            }
        }
        let Some(last) = end.0.checked_sub(1) else { return };
        (0..self.ports.len()).for_each(|port| self.advance(port, Time(last)));
        (0..self.ports.len()).for_each(|line| self.arrive(line, Time(last)));
    }

    /// Bring a port up to `time`, and before it all from which units come to it.
    fn advance(&mut self, port: usize, time: Time) {
        if self.has_reached(port, time) {
            return;
        }
        if let Some(span) = self.plan.circle {
            return self.advance_all(span, time);
        }
        for i in 0..self.plan.upstream[port].len() {
            let other = self.plan.upstream[port][i] as usize;
            if !self.has_reached(other, time) {
                self.step(other, time);
            }
        }
    }

    /// Bring all ports up to `time`, in steps in which no unit gets from one to another.
    fn advance_all(&mut self, span: crate::units::Span, time: Time) {
        while self.together <= time {
            let quiet = self.ports.iter().all(General::is_quiet);
            let last = Time(self.together.0 + span.0 - 1);
            let last = if quiet { time } else { last.min(time) };
            (0..self.ports.len()).for_each(|port| self.step(port, last));
            self.together = Time(last.0 + 1);
        }
    }

    fn outcome(self) -> Outcome {
        let mut on_lines = vec![0; self.network.circuits.len()];
        let mut count = |unit: &Unit| on_lines[unit.vc as usize] += 1;
        self.ports.iter().for_each(|port| port.on_lines().for_each(|unit| count(&unit)));
        self.inboxes.iter().flatten().for_each(|landing| count(&landing.unit));
        Outcome { network: self.network, on_lines, work: self.work, losses: self.log.unwrap_or_default() }
    }

    /// Units arrive at the host at the end of a line.
    fn arrive(&mut self, line: usize, now: Time) {
        while let Some(&Landing { time, unit }) = self.inboxes[line].front()
            && time <= now
        {
            self.inboxes[line].pop_front();
            self.deliver(unit, time);
        }
    }

    fn deliver(&mut self, unit: Unit, now: Time) {
        let Network { flows, circuits, .. } = &mut self.network;
        let Some(frame) = circuits[unit.vc as usize].receive(&unit) else { return };
        let flow = frame.flow as usize;
        let end = flows[flow].deliver(now, &frame, circuits, &mut self.emissions);
        self.emit(now);
        self.call(flow, end);
    }

    fn timer(&mut self, entity: usize, now: Time) {
        if self.called[entity] != now {
            return;
        }
        self.called[entity] = Time::NEVER;
        let (flow, end) = (entity / 2, if entity.is_multiple_of(2) { End::Source } else { End::Sink });
        let Network { flows, circuits, .. } = &mut self.network;
        if flows[flow].next_timer(end).is_some_and(|due| due <= now) {
            flows[flow].on_timer(end, now, circuits, &mut self.emissions);
            self.emit(now);
        }
        self.call(flow, end);
    }

    /// Hand the frames that a host has written to its network interface.
    fn emit(&mut self, now: Time) {
        let emissions = std::mem::take(&mut self.emissions);
        for emission in &emissions {
            let circuit = &self.network.circuits[emission.vc as usize];
            let hop = circuit.hop(0).expect("a circuit has a first port");
            let port = hop.port as usize;
            self.advance(port, now);
            emission.units().for_each(|unit| self.enter(port, unit, hop.vc as usize, now));
            self.watch(port, now);
        }
        self.emissions = emissions;
        self.emissions.clear();
    }

    /// Put a flow's end into the queue for its next timer, unless it will be called before that anyway.
    fn call(&mut self, flow: usize, end: End) {
        let entity = 2 * flow + usize::from(end == End::Sink);
        let Some(time) = self.network.flows[flow].next_timer(end) else { return };
        if time < self.called[entity] {
            self.called[entity] = time;
            self.queue.push(Event::new(time, Class::Timer, entity as u32));
        }
    }
}
