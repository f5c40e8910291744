//! The reference engine: the simplest event loop over single units that a reader can check against the papers.
//!
//! One event for every unit and line: the unit arrives at the far end. The departure of a unit, and the start of the
//! next one, concern only its port, so the engine may handle them later, with their own time, when the port is next
//! used: before a unit arrives, before a sample, and before the line would run out of units. Only where credits
//! govern lines, or ports share a memory, does a departure concern other ports; there it is an event.
//!
//! # What it assumes
//! Only the order of events that `kernel` documents.
//!
//! # What it skips
//! Events for departures, as described above.
//!
//! # Why that is exact
//! It is the definition: the other engines are compared with it. It saves no work, and is short enough to be read next
//! to the papers.
//!
//! # What turns it off
//! `engine = "fast"`, the default, except where `engine/mod.rs` chooses this engine.

mod credits;

mod crossing;

mod held;

mod nics;

mod stepper;

pub use held::Offered;
pub use stepper::{Stepper, run, run_traced};

use std::collections::VecDeque;

use super::coupling::{self, ActingMemories, Controls, GateClocks};
use super::outcome::{LossRecord, Outcome, Stopwatch, Work};
use super::questions::sampled_ports;
use super::timers::Timers;
use super::waiting::Waiting;
use crate::host::end::End;
use crate::host::nic::Nics;
use crate::kernel::Ties;
use crate::kernel::queue::{Class, Event, EventQueue, Series};
use crate::link::control::Control;
use crate::link::port::{Loss, Started};
use crate::network::Network;
use crate::network::branches::Hop;
use crate::network::circuit::Emission;
use crate::network::outbox::Outbox;
use crate::scenario::model::{Line, Medium, Scenario};
use crate::trace::{Tracer, What};
use crate::unit::Unit;
use crate::units::ids::{FlowId, IdVec, LineId, MemoryId};
use crate::units::{Span, Time};
use crate::verdict::Reason;

use crossing::Crossing;

#[derive(Clone)]
pub(super) struct Engine<T> {
    pub(super) network: Network,
    queue: EventQueue,
    ties: Ties,
    lines: IdVec<LineId, Underway>,
    controls: Controls,
    /// Whether any line has credits.
    with_credits: bool,
    memories: ActingMemories,
    gates: GateClocks,
    timers: Timers,
    nics: Nics,
    /// Transfers that start when others have ended, if there are any.
    waiting: Option<Waiting>,
    /// Ports whose occupancy is sampled, with the next sample and the interval.
    sampled: Vec<LineId>,
    sample: Time,
    every: Span,
    /// The end of the run.
    end: Time,
    work: Work,
    log: Option<Vec<LossRecord>>,
    outbox: Outbox,
    losses: Vec<Loss>,
    pub(super) tracer: T,
}

/// Unit that a port has started to send.
#[derive(Clone)]
struct Underway {
    is_cells: bool,
    /// Whether other ports depend on this port's departures, or its gates act by time, so that each departure is an event.
    is_told: bool,
    /// End of the latest unit's transmission; `Time::NEVER` if the unit has left or if departures are events.
    ends: Time,
    /// Units on the line, in order. Each with its arrival, unless the event of this arrival is already in the event
    /// queue.
    units: VecDeque<(Option<Arrival>, Unit)>,
    /// Instead, the units of a line behind which they may pass each other.
    crossing: Option<Box<Crossing>>,
}

/// The arrival of a unit at the end of a line, and the time from adding its event to the event queue until the
/// arrival, without pauses and remainders: the event queue is fastest for events with equal such times.
#[derive(Clone, Copy)]
struct Arrival {
    time: Time,
    delay: Span,
}

impl Underway {
    fn new(line: &Line, is_told: bool, crosses: bool) -> Underway {
        Underway {
            is_cells: line.medium == Medium::Cells,
            is_told: is_told || crosses,
            ends: Time::NEVER,
            units: VecDeque::new(),
            crossing: crosses.then(Box::default),
        }
    }

    /// Return the units on the line.
    fn units(&self) -> impl Iterator<Item = &Unit> {
        let crossing = self.crossing.iter().flat_map(|crossing| crossing.units());
        self.units.iter().map(|(_, unit)| unit).chain(crossing)
    }
}

impl<T: Tracer> Engine<T> {
    pub(super) fn new(scenario: &Scenario, log: bool, tracer: T) -> Engine<T> {
        let network = Network::new(scenario);
        let with_credits = scenario.lines.iter().any(|line| line.port.gates.credit.is_some());
        let controls = Controls::new(scenario);
        let with_controls = controls.can_be();
        let nics = Nics::new(scenario, &scenario.paced_lines());
        let underway = |(index, line): (LineId, &Line)| {
            let is_told = with_controls
                || line.port.memory.is_some()
                || nics.at(index).is_some()
                || line.port.has_timed_gates(&scenario.sections.queues);
            Underway::new(line, is_told, scenario.reorders_on(index))
        };
        let mut engine = Engine {
            queue: EventQueue::default(),
            ties: scenario.ties(),
            lines: scenario.lines.pairs().map(underway).collect(),
            controls,
            with_credits,
            memories: ActingMemories::new(scenario, &network),
            gates: GateClocks::new(scenario),
            timers: Timers::new(network.flows.len()).with_nics(nics.len()),
            nics,
            waiting: Waiting::new(scenario),
            sampled: sampled_ports(scenario),
            sample: Time::ZERO,
            every: scenario.sample,
            end: Time::ZERO + scenario.duration,
            work: Work::default(),
            log: log.then(Vec::new),
            outbox: Outbox::default(),
            losses: Vec::new(),
            tracer,
            network,
        };
        for port in engine.lines.keys() {
            engine.tick(port.index(), Time::ZERO);
            engine.call_gates(port);
        }
        for flow in engine.network.flows.keys() {
            engine.call(flow, End::Source);
        }
        engine
    }

    /// Handle every event before `end`, and take the samples that fall before it.
    pub(super) fn run_until(&mut self, end: Time, watch: &mut Stopwatch<'_>) {
        while self.sample < end {
            self.handle_until(self.sample, watch);
            self.take_sample();
        }
        self.handle_until(end, watch);
        self.lines.keys().for_each(|port| self.catch_up(port, end));
    }

    /// Return the instant of the next event, or of the next departure that is not an event.
    fn next(&self) -> Option<Time> {
        let departure = self.lines.iter().map(|line| line.ends).min().filter(|time| *time < Time::NEVER);
        self.queue.first_time().into_iter().chain(departure).min()
    }

    /// Handle events before `end` one by one, as long as `goes_on` allows another one.
    fn run_while(&mut self, end: Time, goes_on: impl Fn(&T) -> bool) {
        while goes_on(&self.tracer) {
            match self.queue.pop_before(end.min(self.sample)) {
                Some(event) => self.handle(event),
                None if self.sample < end => self.take_sample(),
                None => return self.lines.keys().for_each(|port| self.catch_up(port, end)),
            }
        }
    }

    /// Sample occupancies, at the instant at which the next sample is due.
    fn take_sample(&mut self) {
        let now = self.sample;
        for index in 0..self.sampled.len() {
            let port = self.sampled[index];
            self.catch_up(port, now);
            self.network.ports[port].sample();
        }
        self.network.memories_mut().for_each(|memory| memory.sample(now));
        self.sample += self.every;
    }

    fn handle_until(&mut self, end: Time, watch: &mut Stopwatch<'_>) {
        while let Some(event) = self.queue.pop_before(end) {
            watch.reach(event.time);
            self.handle(event);
        }
    }

    #[inline(always)] // in the loop
    fn handle(&mut self, event: Event) {
        self.work.events += 1;
        let entity = event.entity as usize;
        match event.class {
            Class::Free => self.free(LineId(event.entity), event.time),
            Class::Tick => self.tick(entity, event.time),
            Class::Credit => self.control(LineId(event.entity), event.time),
            Class::Arrive => self.arrive(LineId(event.entity), event.time),
            Class::Timer => self.timer(entity, event.time),
        }
    }

    pub(super) fn outcome(mut self) -> (Outcome, T) {
        let mut on_lines = IdVec::filled(0, self.network.circuits.len());
        for unit in self.lines.iter().flat_map(Underway::units) {
            on_lines[unit.vc] += 1;
        }
        let losses = self.log.unwrap_or_default();
        let flows = self.network.take_outcomes(self.end);
        (Outcome { network: self.network, flows, on_lines, work: self.work, losses }, self.tracer)
    }

    /// Handle the departures from a port before `end`, each at its time, and start the next units.
    #[inline]
    fn catch_up(&mut self, port: LineId, end: Time) {
        while self.lines[port].ends < end {
            self.free(port, self.lines[port].ends);
        }
    }

    fn free(&mut self, port: LineId, now: Time) {
        self.lines[port].ends = Time::NEVER;
        if let Some(unit) = self.network.at(port, |port| port.finish(now)) {
            self.tracer.see(now, port, &unit, What::Leaves, &self.network.circuits);
            self.forwarded(&unit, now);
        }
        self.start(port, now);
        self.settle(port, now);
        self.notify_nic(port, now);
    }

    /// Run the actions of a port's memory, if it acts at instants of its own, after a packet has joined or left the
    /// port.
    #[inline]
    fn settle(&mut self, port: LineId, now: Time) {
        if let Some(memory) = self.memories.of(port) {
            self.act(memory, now);
        }
    }

    /// Run the actions of a memory that are due now, and schedule its next action.
    #[inline(never)]
    fn act(&mut self, memory: MemoryId, now: Time) {
        let next = self.memories.act(&mut self.network, memory, now, &mut self.losses);
        self.count_losses(now);
        for (port, control) in self.controls.of_memory(&mut self.network, memory) {
            self.network.ports[port].queue_control(control);
            self.start(port, now);
        }
        next.into_iter().for_each(|event| self.queue.push(event));
    }

    /// Handle a clock event by its entity: first come the policies of ports, then memories, then messages of
    /// receivers, then gates of ports.
    fn tick(&mut self, entity: usize, now: Time) {
        if let Some(port) = self.gates.port_of(entity) {
            return self.act_gates(port, now);
        }
        if let Some(line) = entity.checked_sub(self.first_message()) {
            return self.send_back(LineId::new(line), Control::Message, now);
        }
        if let Some(memory) = self.memories.ticking(entity) {
            return self.act(memory, now);
        }
        let port = LineId::new(entity);
        self.catch_up(port, after(now));
        if let Some(time) = self.network.ports[port].tick(now) {
            self.queue.push(Event::new(time, Class::Tick, port.0));
        }
    }

    /// Have the gates of a port act that do so at this instant, and schedule their next action.
    #[inline(never)]
    fn act_gates(&mut self, port: LineId, now: Time) {
        if self.gates.act(&mut self.network, port, now, &mut self.losses) {
            self.count_losses(now);
            self.start(port, now);
            self.settle(port, now);
            self.call_gates(port);
        }
        self.notify_nic(port, now);
    }

    /// Schedule the next action of a port's gates, unless an earlier one is scheduled.
    fn call_gates(&mut self, port: LineId) {
        self.gates.next(&self.network, port).into_iter().for_each(|event| self.queue.push(event));
    }

    fn arrive(&mut self, line: LineId, now: Time) {
        let unit = self.take_off(line, now);
        let Network { receivers, circuits, .. } = &mut self.network;
        let circuit = &mut circuits[unit.vc];
        if self.with_credits
            && let Some(receiver) = &mut receivers[line]
        {
            let last = circuit.hop(&before(&unit)).expect("a unit comes over its circuit's lines");
            receiver.arrived(last.vc, &unit);
        }
        match circuit.hop(&unit) {
            Some(hop) => match circuit.police(now, unit) {
                Ok(unit) => self.enter(hop, unit, now),
                Err(reason) => self.refuse(hop, unit, reason, now),
            },
            None => {
                self.forwarded(&unit, now);
                self.deliver(unit, now);
            }
        }
    }

    /// Remove the first unit on a line, which arrives at the end of the line, and add the arrival event of the next
    /// unit.
    #[inline]
    fn take_off(&mut self, line: LineId, now: Time) -> Unit {
        if let Some(crossing) = &mut self.lines[line].crossing {
            return crossing.take();
        }
        if self.lines[line].units.len() == 1 {
            self.catch_up(line, after(now));
        }
        let units = &mut self.lines[line].units;
        let (_, unit) = units.pop_front().expect("an arriving unit was on the line");
        if let Some(arrival) = units.front_mut().and_then(|(arrival, _)| arrival.take()) {
            self.announce(line, arrival);
        }
        unit
    }

    /// Send a credit, if one is due, for a unit that has left the node at the end of its last line: sent, lost or
    /// delivered.
    #[inline]
    fn forwarded(&mut self, unit: &Unit, now: Time) {
        if self.with_credits {
            self.return_credit(unit, now);
        }
    }

    /// Send a credit or a pause to a port.
    fn send_control(&mut self, port: LineId, arrives: Time, control: Control) {
        self.controls.send(port, arrives, control).into_iter().for_each(|event| self.queue.push(event));
    }

    /// Handle a credit or a pause that reaches its port.
    fn control(&mut self, port: LineId, now: Time) {
        let (control, next) = self.controls.arrive(port);
        next.into_iter().for_each(|event| self.queue.push(event));
        self.network.receive_control(port, now, control);
        self.start(port, now);
        self.settle(port, now);
        self.call_gates(port);
        self.notify_nic(port, now);
    }

    fn timer(&mut self, entity: usize, now: Time) {
        if let Some(nic) = entity.checked_sub(self.first_nic()) {
            return self.serve(nic, now);
        }
        let rung = self.timers.ring(&mut self.network, entity, now, &mut self.outbox);
        if let Some((flow, end)) = rung {
            self.emit(now);
            self.call(flow, end);
            self.await_nic(flow, now);
            self.release(flow, now);
        }
    }

    /// Offer a unit to a port, which queues or loses it.
    #[inline(always)]
    fn enter(&mut self, hop: Hop, unit: Unit, now: Time) {
        let unit = match self.network.cross_link(now, hop, unit) {
            Ok(unit) if self.tracer.refuses(hop.port, &unit) => {
                return self.refuse(hop, unit, Reason::Link, now);
            }
            Ok(unit) => unit,
            Err(reason) => return self.refuse(hop, unit, reason, now),
        };
        self.admit(hop, unit, now);
    }

    /// Offer a unit that has crossed its link to its port.
    #[inline(always)]
    fn admit(&mut self, hop: Hop, unit: Unit, now: Time) {
        self.catch_up(hop.port, after(now));
        self.tracer.see(now, hop.port, &unit, What::Arrives, &self.network.circuits);
        let (port, vc, losses) = (hop.port, hop.vc, &mut self.losses);
        let started = if self.network.pushes_out(port) {
            coupling::arrive(&mut self.network, now, (port, vc), unit, losses);
            self.network.at(port, |port| port.start(now, losses))
        } else {
            self.network.at(port, |port| port.pass(now, unit, vc, losses))
        };
        self.started(port, started, now, Announced::AtOnce);
        self.settle(port, now);
    }

    /// Count a unit as lost before it reaches the buffer of a port.
    fn refuse(&mut self, hop: Hop, unit: Unit, reason: Reason, now: Time) {
        self.catch_up(hop.port, after(now));
        self.tracer.see(now, hop.port, &unit, What::Arrives, &self.network.circuits);
        self.network.ports[hop.port].refuse(unit, reason, &mut self.losses);
        self.count_losses(now);
    }

    /// Start to send the next control frame, or if none waits the next unit, at a port whose line is free.
    #[inline(always)]
    fn start(&mut self, port: LineId, now: Time) {
        if self.controls.can_be() && (self.network.ports[port].is_busy() || self.start_control(port, now)) {
            return;
        }
        let losses = &mut self.losses;
        let started = self.network.at(port, |port| port.start(now, losses));
        self.started(port, started, now, Announced::ByTheUnitAhead);
    }

    /// Start to send the next control frame at a port; returns whether there was one.
    #[inline(never)]
    fn start_control(&mut self, port: LineId, now: Time) -> bool {
        let Some((control, sent)) = self.network.ports[port].start_control(now) else { return false };
        self.work.cell_hops += u64::from(matches!(control, Control::Credit(_)));
        self.queue.push(Event::new(sent.ends, Class::Free, port.0));
        let to = self.controls.back(port);
        let control = if control == Control::Message { self.message(to, sent.starts) } else { control };
        self.send_control(to, sent.arrives, control);
        true
    }

    /// Schedule the departure and the arrival of a unit that a port has started to send, and count the port's losses.
    #[inline(always)]
    fn started(&mut self, port: LineId, started: Option<Started>, now: Time, announced: Announced) {
        if let Some(Started { unit, sent }) = started {
            let Underway { is_cells, is_told, ends, units, crossing } = &mut self.lines[port];
            let hops = if *is_cells { &mut self.work.cell_hops } else { &mut self.work.packet_hops };
            *hops += u64::from(sent.starts < self.end); // a host may still be resting then
            let (time, transmission) = (sent.arrives, sent.ends.since(sent.starts));
            let next = Unit { hop: unit.hop + 1, ..unit };
            if *is_told {
                self.queue.push_next(Series::of(transmission), Event::new(sent.ends, Class::Free, port.0));
            } else {
                *ends = sent.ends;
            }
            if announced == Announced::ByTheUnitAhead && !*is_told && !units.is_empty() {
                units.push_back((Some(Arrival { time, delay: transmission }), next));
            } else {
                match crossing {
                    Some(crossing) => crossing.add(time, next),
                    None => units.push_back((None, next)),
                }
                self.announce(port, Arrival { time, delay: time.since(sent.starts) });
            }
        } else {
            let opening = self.gates.opening(&self.network, port, now);
            opening.into_iter().for_each(|event| self.queue.push(event));
        }
        if !self.losses.is_empty() {
            self.count_losses(now);
        }
    }

    #[inline]
    fn announce(&mut self, line: LineId, Arrival { time, delay }: Arrival) {
        let rank = self.ties.rank(time, line);
        self.queue.push_next(Series::of(delay), Event { time, class: Class::Arrive, rank, entity: line.0 });
    }

    /// Count the latest losses of a port, on arrival or at the head of a queue, and of the ports that share its
    /// memory.
    #[cold]
    fn count_losses(&mut self, now: Time) {
        let mut losses = std::mem::take(&mut self.losses);
        for Loss { unit, reason } in losses.drain(..) {
            let Unit { vc, frame, index, .. } = unit;
            let hop = self.network.circuits[vc].hop(&unit).expect("a unit is lost at a port");
            let port = hop.port;
            self.tracer.see(now, port, &unit, What::Lost(reason), &self.network.circuits);
            self.network.circuits[vc].lost(&unit);
            if let Some(log) = &mut self.log {
                log.push(LossRecord { time: now, port, vc, frame, index, reason });
            }
            self.forwarded(&unit, now);
        }
        self.losses = losses;
    }

    /// Deliver a unit to the host where its circuit ends.
    fn deliver(&mut self, unit: Unit, now: Time) {
        let Network { flows, circuits, .. } = &mut self.network;
        let Some(frame) = circuits[unit.vc].receive(&unit) else { return };
        self.tracer.delivers(now, &unit, &frame.cargo);
        let flow = frame.flow;
        let end = self.outbox.deliver(&mut flows[flow], now, &frame.cargo, circuits);
        self.emit(now);
        self.call(flow, end);
        self.await_nic(flow, now);
        self.release(flow, now);
    }

    /// Start the transfers that waited for the transfer of this flow, if it has ended.
    #[inline]
    fn release(&mut self, flow: FlowId, now: Time) {
        let Some(waiting) = &mut self.waiting else { return };
        for (next, start) in waiting.release(&self.network.flows[flow], now) {
            self.network.flows[next].start_at(start);
            self.call(next, End::Source);
        }
    }

    /// Hand the frames that a host has written to its network interface.
    fn emit(&mut self, now: Time) {
        let emissions = std::mem::take(&mut self.outbox.emissions);
        emissions.iter().for_each(|&emission| self.hand_over(emission, now));
        self.outbox.emissions = emissions;
        self.outbox.emissions.clear();
    }

    /// Put the units of a frame into the first port of its circuit.
    pub(super) fn hand_over(&mut self, emission: Emission, now: Time) {
        let circuit = &mut self.network.circuits[emission.vc];
        circuit.depart(now, emission.frame);
        let hop = circuit.route(emission.frame)[0];
        emission.units().for_each(|unit| self.enter(hop, unit, now));
    }

    /// Schedule the next timer of a flow's end, unless an earlier call is already scheduled.
    fn call(&mut self, flow: FlowId, end: End) {
        if let Some(event) = self.timers.next(&self.network.flows, flow, end) {
            self.queue.push(event);
        }
    }
}

/// When the arrival event of a unit is added to the event queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Announced {
    /// At the start of the unit, a constant time before it arrives.
    AtOnce,
    /// When the unit before it on the line arrives, because the unit waited and its start had no event. It arrives
    /// one transmission time after the unit before it.
    ByTheUnitAhead,
}

/// Return a unit as it was at the previous port.
fn before(unit: &Unit) -> Unit {
    Unit { hop: unit.hop - 1, ..*unit }
}

/// Return the first instant after `now`, before which transmissions that end at `now` have ended.
fn after(now: Time) -> Time {
    now + Span(1)
}
