//! Networks of packet links, where every packet is a frame and hence a decision.
//!
//! There are no trains to merge and nothing to skip, so everything happens in the order of [`crate::kernel`], but as
//! little as possible is an event. A port that takes packets by a rule (`fifo`) knows on arrival when each will leave:
//! its transmissions need no events. Where packets come over one line only, or from the port's own host, they come in the
//! order in which they were sent, so that such a port is worked through as soon as a packet sets out for it: interfaces
//! of hosts, lines to hosts. The same goes for a host with one end of one flow: nothing but the packets that come over
//! its line and its own timers makes it act, so it may act ahead of time, up to the end of the warm-up or of the run. What
//! remains are arrivals where lines meet and at other hosts, and timers (`agenda`). Any other port is asked about every
//! packet as in the reference engine, with an event for the end of each transmission.
//!
//! What each packet touches is kept together and small, because with a thousand flows memory is what takes time.

mod agenda;
mod fifo;
mod steps;

use super::books::Window;
use crate::buffer::admission::Rule;
use crate::buffer::verdict::Reason;
use crate::engine::calls::Calls;
use crate::engine::{LossRecord, Outcome, Work, number_at_port, sampled_ports};
use crate::kernel::Ties;
use crate::kernel::queue::{Class, Event};
use crate::link::port::{Loss, Started};
use crate::network::Network;
use crate::network::flow::{End, Outbox};
use crate::scenario::model::{Medium, Scenario};
use crate::unit::{Flags, Unit};
use crate::units::{Span, Time};

use agenda::{Agenda, Due};
pub(super) use fifo::{Aside, Fifo};
use steps::Steps;
pub(super) use steps::{Packet, Step, Stop};

/// Whether a scenario is all packets.
pub(super) fn knows(scenario: &Scenario) -> bool {
    scenario.lines.iter().all(|line| line.medium == Medium::Packets)
}

/// Run such a scenario from its first instant to its last; with `log` every loss is recorded.
pub(super) fn run(scenario: &Scenario, log: bool) -> Outcome {
    let mut engine = Packets::new(scenario, log);
    let Window { from, to } = engine.window;
    engine.run_until(from);
    engine.network.reset_counters(from);
    engine.run_until(to);
    engine.close();
    engine.network.close_counters(to);
    let Packets { network, on_lines, work, log, .. } = engine;
    Outcome { network, on_lines, work, losses: log.unwrap_or_default() }
}

struct Packets {
    window: Window,
    network: Network,
    steps: Vec<Step>,
    /// The first step of each circuit.
    first: Vec<u32>,
    /// Ports that take packets by a rule, and whether they do; the others are not in use here.
    fifos: Vec<Fifo>,
    asides: Vec<Aside>,
    is_ruled: Vec<bool>,
    agenda: Agenda,
    ties: Ties,
    calls: Calls,
    work: Work,
    log: Option<Vec<LossRecord>>,
    outbox: Outbox,
    losses: Vec<Loss>,
    /// By line how many packets will arrive at a host that does not act ahead of them.
    awaited: Vec<u32>,
    /// Packets that are on a line at the end of the run, by circuit.
    on_lines: Vec<u64>,
    /// Ports that are asked and whose occupancy is sampled, when next and how often.
    sampled: Vec<usize>,
    sample: Time,
    every: Span,
    /// Where the part of the run that is being computed ends.
    end: Time,
}

impl Packets {
    fn new(scenario: &Scenario, log: bool) -> Packets {
        let window = Window { from: Time::ZERO + scenario.warmup, to: Time::ZERO + scenario.duration };
        let (network, Steps { list, first, rules }) = (Network::new(scenario), Steps::new(scenario));
        let mut sampled = sampled_ports(scenario);
        sampled.retain(|&port| rules[port].is_none());
        let mut engine = Packets {
            window,
            steps: list,
            first,
            fifos: Vec::with_capacity(rules.len()),
            asides: Vec::with_capacity(rules.len()),
            is_ruled: rules.iter().map(Option::is_some).collect(),
            agenda: Agenda::new(scenario.lines.len()),
            ties: Ties::new(scenario.seed),
            calls: Calls::new(network.flows.len()),
            work: Work::default(),
            log: log.then(Vec::new),
            outbox: Outbox::default(),
            losses: Vec::new(),
            awaited: vec![0; scenario.lines.len()],
            on_lines: vec![0; network.circuits.len()],
            sampled,
            sample: Time::ZERO,
            every: scenario.sample,
            end: Time::ZERO,
            network,
        };
        for (port, rule) in rules.into_iter().enumerate() {
            let line = &scenario.lines[port];
            let aside = Aside::new(scenario, line, window, &engine.network.ports[port]);
            engine.fifos.push(Fifo::new(line, rule.unwrap_or(Rule::Fits), &aside));
            engine.asides.push(aside);
            engine.tick(port, Time::ZERO);
        }
        for flow in 0..engine.network.flows.len() {
            engine.call(flow, End::Source);
        }
        engine
    }

    /// Let happen what happens before `end`, and take the samples that fall before it.
    fn run_until(&mut self, end: Time) {
        self.end = end;
        while !self.sampled.is_empty() && self.sample < end {
            self.handle_until(self.sample);
            self.sampled.iter().for_each(|&port| self.network.ports[port].sample());
            self.sample += self.every;
        }
        self.handle_until(end);
    }

    fn handle_until(&mut self, end: Time) {
        while let Some((now, due)) = self.agenda.pop_before(end) {
            self.work.events += 1;
            match due {
                Due::Packet(step, packet) => self.arrive(step, packet, now),
                Due::Call(event) => self.called(event, now),
            }
        }
    }

    fn called(&mut self, event: Event, now: Time) {
        let entity = event.entity as usize;
        match event.class {
            Class::Free => {
                self.network.ports[entity].finish(now);
                self.start(entity, now, true);
            }
            Class::Tick => self.tick(entity, now),
            Class::Timer => self.timer(entity, now),
            Class::Arrive | Class::Credit => unreachable!("nobody is called for these"),
        }
    }

    /// At the end of the run, ports that have passed packets on by themselves close their books.
    fn close(&mut self) {
        let ports = self.fifos.iter_mut().zip(&mut self.asides).zip(&mut self.network.ports);
        for (((fifo, aside), port), _) in ports.zip(&self.is_ruled).filter(|(_, is_ruled)| **is_ruled) {
            fifo.close(aside, self.window, port);
        }
    }

    #[inline]
    fn arrive(&mut self, at: u32, packet: Packet, now: Time) {
        let step = &self.steps[at as usize];
        match step.stop {
            Stop::Alone | Stop::Meet => self.pass(at, packet, now, true),
            Stop::Asked => self.enter(at, packet, now, true),
            Stop::Host => self.deliver(packet.frame, step.circuit, now),
            Stop::End => {
                self.awaited[step.port as usize] -= 1;
                self.deliver(packet.frame, step.circuit, now);
            }
        }
    }

    /// A packet comes to a port that takes it by a rule, and from there to whatever can be worked through; only if `ahead`
    /// that may be a host.
    fn pass(&mut self, mut at: u32, packet: Packet, mut now: Time, ahead: bool) {
        loop {
            let step = &self.steps[at as usize];
            let (fifo, aside) = (&mut self.fifos[step.port as usize], &mut self.asides[step.port as usize]);
            let sent = match fifo.take(aside, self.window, now, packet, step) {
                Ok(sent) => sent,
                Err(reason) => return self.lost(step.port, packet.unit(step), reason, now),
            };
            if sent.starts >= self.window.to {
                return;
            }
            self.work.packet_hops += 1;
            now = Time(sent.ends.0 + step.latency);
            at += 1;
            if self.steps[at as usize].stop != Stop::Alone || now >= self.window.to {
                return self.leave(at, packet, now, ahead);
            }
        }
    }

    /// A packet will come to its next step at `time`: that is worked through at once, if possible.
    #[inline]
    fn leave(&mut self, at: u32, packet: Packet, time: Time, ahead: bool) {
        let (next, line) = (&self.steps[at as usize], self.steps[at as usize - 1].port);
        if time >= self.window.to {
            self.on_lines[next.circuit as usize] += 1;
            return;
        }
        match next.stop {
            Stop::Alone => return self.pass(at, packet, time, ahead),
            Stop::End if ahead && time < self.end && self.awaited[line as usize] == 0 => {
                let circuit = next.circuit;
                self.ring_before(next.vc, time);
                return self.deliver(packet.frame, circuit, time);
            }
            Stop::End => self.awaited[line as usize] += 1,
            Stop::Meet | Stop::Asked | Stop::Host => {}
        }
        self.agenda.expect((at, packet), line, time, self.ties.rank(time, line));
    }

    /// A packet comes to a port that is asked about it.
    fn enter(&mut self, at: u32, packet: Packet, now: Time, ahead: bool) {
        let step = self.steps[at as usize];
        let (port, unit) = (step.port as usize, packet.unit(&step));
        let Network { ports, circuits, .. } = &mut self.network;
        ports[port].arrive(now, unit, step.vc as usize, number_at_port(circuits), &mut self.losses);
        self.start(port, now, ahead);
    }

    /// Let a port that is asked start the next packet, if its line is free.
    fn start(&mut self, port: usize, now: Time, ahead: bool) {
        let Network { ports, circuits, .. } = &mut self.network;
        let started = ports[port].start(now, number_at_port(circuits), &mut self.losses);
        for Loss { unit, reason } in std::mem::take(&mut self.losses) {
            self.lost(port as u32, unit, reason, now);
        }
        let Some(Started { unit, sent }) = started else { return };
        self.work.packet_hops += u64::from(sent.starts < self.window.to); // a host may still be resting then
        self.agenda.call(Event::new(sent.ends, Class::Free, port as u32));
        let at = self.first[unit.vc as usize] + u32::from(unit.hop) + 1;
        let packet = Packet { frame: unit.frame, bytes: unit.bytes, flags: unit.flags };
        self.leave(at, packet, sent.arrives, ahead);
    }

    fn tick(&mut self, port: usize, now: Time) {
        if let Some(time) = self.network.ports[port].tick(now) {
            self.agenda.call(Event::new(time, Class::Tick, port as u32));
        }
    }

    /// A port has lost a packet.
    fn lost(&mut self, port: u32, unit: Unit, reason: Reason, time: Time) {
        let Unit { vc, frame, index, .. } = unit;
        self.network.circuits[vc as usize].lost();
        if let Some(log) = &mut self.log {
            log.push(LossRecord { time, port, vc, frame, index, reason });
        }
    }

    /// A packet arrives at the host where its circuit ends.
    fn deliver(&mut self, frame: u32, circuit: u32, now: Time) {
        let Network { flows, circuits, .. } = &mut self.network;
        let frame = circuits[circuit as usize].receive_packet(frame);
        let flow = frame.flow as usize;
        let end = flows[flow].deliver(now, &frame, circuits, &mut self.outbox);
        self.emit(now);
        self.call(flow, end);
    }

    /// The end of a flow acts ahead of time: timers that go off before `time` do so now.
    #[inline]
    fn ring_before(&mut self, entity: u32, time: Time) {
        if self.calls.at(entity as usize) >= time {
            return;
        }
        let (flow, end) = End::of_entity(entity as usize);
        while let Some(due) = self.network.flows[flow].next_timer(end).filter(|due| *due < time) {
            let Network { flows, circuits, .. } = &mut self.network;
            flows[flow].on_timer(end, due, circuits, &mut self.outbox);
            self.emit(due);
        }
    }

    /// A timer of one end of a flow goes off, unless it has gone off before.
    fn timer(&mut self, entity: usize, now: Time) {
        let rung = self.calls.ring(&mut self.network, entity, now, &mut self.outbox);
        if let Some((flow, end)) = rung {
            self.emit(now);
            self.call(flow, end);
        }
    }

    /// Call a flow's end for its next timer.
    #[inline]
    fn call(&mut self, flow: usize, end: End) {
        if let Some(event) = self.calls.next(&self.network.flows, flow, end) {
            self.agenda.call(event);
        }
    }

    /// Hand the packets that a host has written to its network interface.
    #[inline]
    fn emit(&mut self, now: Time) {
        for place in 0..self.outbox.emissions.len() {
            let emission = self.outbox.emissions[place];
            let flags = emission.marks.with(Flags::FIRST).with(Flags::EOM);
            let at = self.first[emission.vc as usize];
            let packet = Packet { frame: emission.frame, bytes: emission.shape.bytes, flags };
            match self.steps[at as usize].stop {
                Stop::Asked => self.enter(at, packet, now, false),
                _ => self.pass(at, packet, now, false),
            }
        }
        self.outbox.emissions.clear();
    }
}
