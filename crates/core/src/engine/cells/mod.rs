//! The fast engine: decisions are made for every unit, but the event queue sees only frames.
//!
//! It gives the same report and the same losses as the reference engine, to the picosecond and to the unit. Why it may do
//! less work and yet be exact:
//!
//! **Ports have a time of their own.** What happens at a port depends on what arrives there and on nothing else, and every
//! unit needs some time from one port to the next. So a port need not be computed when its units arrive, but only when
//! somebody wants to know, and then in one go: its arrivals, known as trains on each incoming line (`lanes`), are merged
//! with the ends of its transmissions, the ticks of its policy and the samples of its occupancy in the order that
//! [`crate::kernel`] documents. Before a port is brought up to an instant, the ports from which its units come are brought
//! there first. Where circuits go round in circles there is no such order; then all ports advance together in steps that
//! are shorter than the way from any port to the next.
//!
//! **Hosts act on frames.** A host does nothing but when one of its timers goes off or a frame is complete, which the last
//! unit of a frame decides. So a port has to be called only for the last units of frames, and not when one arrives, but
//! when its successor could arrive at the next stop at the earliest: a transmission and the delay of the line later. A
//! frame of a flow without acknowledgements makes nobody act; its units are looked after now and then, so that they do
//! not pile up, and at the ends of the warm-up and of the run.
//!
//! **Hosts have a time of their own, too.** What an end of a flow does depends on what arrives there and on its timers. So it
//! acts as soon as a port knows that a frame is on its way to it, if no timer goes off before that and nobody else sends over
//! the interface of its host, for then the order between them would matter (`hosts`). The event queue holds timers, calls of
//! ports and arrivals at the other hosts.
//!
//! **Some ports need no computing.** `plan` sorts them before the run:
//!
//! * The unlimited interface of a host (`nic`) knows everything about a frame as soon as it gets it. The frame leaves as
//!   one train, whose units start at whole picoseconds that a sum gives (`pace`).
//! * A port that gets its cells over one line no faster than its own, and takes everything, only delays them (`through`):
//!   the line in front has spaced them (see [`crate::link::line`]).
//! * A port with one queue and a policy that is a plain `Rule` never takes back what it
//!   has accepted, so departures are known on arrival (`fifo`). Units of one frame go on to a host as one run, and to
//!   another such port with the start of each, at the end of the frame or when that port wants to know of them. A train that
//!   nothing crosses passes in one go (`whole`). Of trains on several lanes only the ends are looked at while the line has
//!   work (`abreast`): how many cells come before each follows from how far the other lanes are. Where that does not
//!   do, cells are still not asked for while no frame begins or ends (`stretch`), and pass by numbers or in one loop; and so do
//!   short trains that cross each other on an idle line (`crossing`).
//!   If all its units come over one line, what arrives in future cannot be overtaken, and may be computed at once.
//!   A policy that looks at the books alone is asked as well, once for each frame where that suffices (`ledger` keeps the
//!   books), or about each cell in one loop (`asking`).
//!   Where circuits are policed, units are taken one by one, because their marks may differ; and they are handed on to a
//!   host one by one if any part of a frame may complete it.
//! * Any other port (`general`) is asked unit by unit what the reference engine asks, so every policy works there. Where
//!   each circuit has a queue (`turns`), the slots between two instants that matter to anybody go round in closed form
//!   (`rounds`), frames are handed on before they leave if it is sure when they do (`foretell`), and trains join the queues
//!   as such, if possible when they begin (`early`), or piece by piece (`bulk`); a policy that decides about each cell is
//!   asked in one loop (`asking`).
//!
//! **Some networks are simpler.** Where all links carry packets there are no trains to merge, and everything is computed
//! in the order of time (`packets`). Cells of sources that nobody answers need no event at all (`streams`).
//!
//! **Accounting are sums.** A port that is ahead of its time or counts by the frame enters for each unit what of its stay falls
//! into the measured time (`books`). A run or a train is split at the instants at which its units would begin to fall on
//! different sides of the ends of the warm-up or of the run, at any port on its way. At the end, what a port would still
//! hold is put into it, so that the report and the audit find everything where the reference engine leaves it.

mod forward;
mod hosts;
pub(in crate::engine) mod inbox;
pub(in crate::engine) mod port;
mod streams;
pub(in crate::engine) mod topology;
pub(in crate::engine) mod train;

use std::collections::VecDeque;

use super::timers::Calls;
use super::{LossRecord, Outcome, Stopwatch, Work};
use crate::buffer::admission::Shortcuts;
use crate::buffer::pushout::PushOut;
use crate::kernel::Ties;
use crate::kernel::queue::{Class, Event, EventQueue, Series};
use crate::link::port::{Loss, Port};
use crate::network::Network;
use crate::network::end::End;
use crate::network::flow::Outbox;
use crate::scenario::model::{Medium, Scenario};
use crate::scheduler::Scheduler;
use crate::unit::Boundary;
use crate::units::{Span, Time};

use crate::engine::exact::accounting::Window;
use crate::engine::exact::spacing::Paces;
use hosts::{Delivery, PendingDelivery};
use inbox::Inbox;
use port::delay::{Delay, Passed};
use port::fifo::{self, CellFifo};
use port::host_interface::HostInterface;
use port::per_unit::{self, PerUnit};
use port::per_vc::{self, PerVc};
use topology::route::Handoff;
use topology::{self as plan, Plan, PortForm};

/// Run a scenario from its first instant to its last; with `log` every loss is recorded. `watch` times the
/// event loop.
pub(in crate::engine) fn run(scenario: &Scenario, log: bool, watch: &mut Stopwatch<'_>) -> Outcome {
    let policed = scenario.flows.iter().any(|flow| flow.police.is_some());
    if !policed && let Some(outcome) = streams::run(scenario, log, watch) {
        return outcome;
    }
    let mut engine = Fast::new(scenario, log);
    watch.start();
    let Window { from, to } = engine.window;
    engine.run_until(from);
    engine.network.reset_counters(from);
    engine.run_until(to);
    watch.stop();
    engine.network.close_counters(to);
    engine.outcome()
}

pub(in crate::engine) struct Fast<'a> {
    scenario: &'a Scenario,
    window: Window,
    plan: Plan,
    network: Network,
    /// How each port is run.
    stations: Vec<PortProcess>,
    /// What will arrive at the host at the end of each line.
    inboxes: Vec<VecDeque<Delivery>>,
    /// What has just set out for a host.
    coming: Vec<PendingDelivery>,
    /// Circuits whose frames a host may answer.
    answered: Vec<bool>,
    /// For every leg the whole frames that were only counted.
    passed: Vec<Passed>,
    /// And where frames begin in what it sends.
    boundaries: Vec<Boundary>,
    queue: EventQueue,
    ties: Ties,
    calls: Calls,
    work: Work,
    log: Option<Vec<LossRecord>>,
    outbox: Outbox,
    losses: Vec<Loss>,
    /// Circuits of the units before which a host still rests when the run is over.
    resting: Vec<u32>,
    /// Where the part of the run that is being computed ends.
    end: Time,
    /// The first instant that has not happened yet at all ports together, where units can go round in circles.
    together: Time,
    /// The port with a queue for each circuit that is to be called first, and when.
    soonest: (Time, u32),
}

/// A port at work.
#[derive(Debug)]
pub(in crate::engine) enum PortProcess {
    HostInterface(Box<HostInterface>),
    Delay(Box<Delay>),
    Fifo(Box<CellFifo>),
    PerVc(Box<PerVc>),
    PerUnit(Box<PerUnit>),
    /// Busy elsewhere.
    Away,
}

impl PortProcess {
    fn new(scenario: &Scenario, plan: &Plan, window: Window, index: usize, port: &mut Port) -> PortProcess {
        let sampled = scenario.lines[index].is_sampled();
        let line = &scenario.lines[index];
        let (measure, vcs) = (line.port.measure, port.pool().vcs());
        let inputs = || plan.inputs(index, Ties::new(scenario.seed));
        let (paces, cuts) = (Paces::new(line.rate), plan.cuts(index, window));
        match plan.kinds[index].clone() {
            PortForm::HostInterface => {
                let paces = (paces, (line.medium == Medium::Cells).then(|| plan.rhythm(index)));
                PortProcess::HostInterface(Box::new(HostInterface::new(
                    window,
                    paces,
                    port.line().pause().cloned(),
                    measure,
                    cuts,
                )))
            }
            PortForm::Delay => PortProcess::Delay(Box::new(Delay::new(window, vcs))),
            PortForm::Fifo(rule) => PortProcess::Fifo(Box::new(CellFifo::new(fifo::Parts {
                inputs: inputs(),
                window,
                rule,
                by_unit: port.admission_mut().asks_for_all(),
                polices: plan.polices(index),
                holds_back: plan.legs[index].iter().any(|leg| leg.manner == Handoff::Timed),
                abreast: plan.may_pass_abreast(index),
                capacity: line.port.capacity,
                measure,
                paces,
                vcs,
                cuts,
                sampled,
                tick: port.tick(Time::ZERO),
                cell: (line.medium == Medium::Cells).then(|| plan.rhythm(index)),
            }))),
            PortForm::PerVc(interest) => PortProcess::PerVc(Box::new(PerVc::new(per_vc::Parts {
                inputs: inputs(),
                interest,
                by_cell: goes_by_cell(port),
                asked: port.admission.asks_for_all(),
                registers: port.pushout.as_mut().is_some_and(|pushout| pushout.register().is_some()),
                polices: plan.polices(index),
                monotone: port.admission.is_monotone(),
                longest: plan.longest_frame(scenario, index),
                together: plan.legs[index].iter().all(|leg| leg.manner == Handoff::Together),
                rhythm: plan.rhythm(index),
                notice: plan.notice(index),
                vcs,
                cuts,
                sampled,
                tick: port.tick(Time::ZERO),
            }))),
            PortForm::PerUnit => {
                let (whole, tick) = (plan.rhythm(index).pace.whole, port.tick(Time::ZERO));
                let parts = per_unit::Parts { inputs: inputs(), vcs, cuts, whole, sampled, tick };
                PortProcess::PerUnit(Box::new(PerUnit::new(parts)))
            }
        }
    }

    fn inputs(&self) -> Option<&Inbox> {
        match self {
            PortProcess::Fifo(fifo) => Some(&fifo.inputs),
            PortProcess::PerVc(turns) => Some(&turns.inputs),
            PortProcess::PerUnit(general) => Some(&general.inputs),
            _ => None,
        }
    }

    /// Up to where it has come; the others are always up to date.
    fn has_reached(&self, time: Time) -> bool {
        match self {
            PortProcess::Fifo(fifo) => fifo.done.is_some_and(|done| done >= time),
            PortProcess::PerVc(turns) => turns.done.is_some_and(|done| done >= time),
            PortProcess::PerUnit(general) => general.done.is_some_and(|done| done >= time),
            _ => true,
        }
    }

    /// Whether nothing will happen before something arrives that is not known yet.
    fn is_quiet(&self) -> bool {
        match self {
            PortProcess::Fifo(fifo) => fifo.inputs.is_empty(),
            PortProcess::PerVc(turns) => turns.is_quiet(),
            PortProcess::PerUnit(general) => general.is_quiet(),
            _ => true,
        }
    }
}

/// Whether the cells of a port with a queue for each circuit join and leave one by one: because its scheduler or its push-out
/// policy could tell otherwise, or because the admission policy decides about each of those that push-out leaves to it.
fn goes_by_cell(port: &mut Port) -> bool {
    let in_turn = port.scheduler.goes_by_turns();
    let by_queues = port.pushout.as_ref().is_none_or(PushOut::goes_by_queues);
    !(in_turn && by_queues) || port.pushout.is_some() && port.admission.asks_for_all()
}

impl Fast<'_> {
    fn new(scenario: &Scenario, log: bool) -> Fast<'_> {
        let plan = Plan::new(scenario);
        let window = Window { from: Time::ZERO + scenario.warmup, to: Time::ZERO + scenario.duration };
        let mut network = Network::new(scenario);
        let ports = network.ports.iter_mut().enumerate();
        let stations =
            ports.map(|(index, port)| PortProcess::new(scenario, &plan, window, index, port)).collect();
        let legs = plan.legs.iter().map(Vec::len).sum();
        let mut engine = Fast {
            scenario,
            window,
            stations,
            inboxes: vec![VecDeque::new(); scenario.lines.len()],
            coming: Vec::new(),
            answered: plan::answered(scenario),
            passed: vec![Passed::default(); legs],
            boundaries: vec![Boundary::default(); legs],
            queue: EventQueue::default(),
            ties: Ties::new(scenario.seed),
            calls: Calls::new(network.flows.len()),
            work: Work::default(),
            log: log.then(Vec::new),
            outbox: Outbox::default(),
            losses: Vec::new(),
            resting: Vec::new(),
            end: Time::ZERO,
            together: Time::ZERO,
            soonest: (Time::NEVER, 0),
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
        self.end = end;
        loop {
            self.act_ahead();
            let (call, port) = self.soonest;
            let Some(event) = self.queue.pop_before(end.min(call)) else {
                if call >= end {
                    break;
                }
                self.work.events += 1;
                self.bring(port as usize, call);
                continue;
            };
            self.work.events += 1;
            let entity = event.entity as usize;
            match event.class {
                Class::Free | Class::Tick => self.bring(entity, event.time),
                Class::Arrive => self.arrive(entity, event.time),
                Class::Timer => self.timer(entity, event.time),
                Class::Credit => unreachable!("the reference engine runs networks with credits"),
            }
        }
        let Some(last) = end.0.checked_sub(1) else { return };
        (0..self.stations.len()).for_each(|port| self.advance(port, Time(last)));
        (0..self.stations.len()).for_each(|port| self.settle(port));
        if end == self.window.to {
            (0..self.stations.len()).for_each(|port| self.close(port));
        }
        self.act_ahead();
        (0..self.stations.len()).for_each(|line| self.arrive(line, Time(last)));
        debug_assert!(self.coming.is_empty(), "whatever a host answers, it has answered in time");
    }

    /// Bring a port up to `time` and see to it that it will be called again.
    fn bring(&mut self, port: usize, time: Time) {
        if let PortProcess::Fifo(fifo) = &self.stations[port]
            && fifo.called != time
        {
            return; // it has been called before
        }
        self.advance(port, time);
        let reach = self.plan.reach[port];
        self.with(port, |station, engine| match station {
            PortProcess::Fifo(fifo) => fifo.call_again(engine, port, reach),
            PortProcess::PerVc(turns) => turns.call_again(engine, port, time, reach),
            PortProcess::PerUnit(general) => general.call_again(engine, port, time, reach),
            _ => {}
        });
        if let PortProcess::PerVc(_) = self.stations[port] {
            self.find_soonest();
        }
    }

    /// Bring a port up to `time`, and before it all from which units come to it.
    fn advance(&mut self, port: usize, time: Time) {
        if self.stations[port].has_reached(time) {
            return;
        }
        if let Some(span) = self.plan.circle {
            return self.advance_all(span, time);
        }
        for i in 0..self.plan.upstream[port].len() {
            let other = self.plan.upstream[port][i] as usize;
            if !self.stations[other].has_reached(time) {
                self.step(other, time);
            }
            if other != port {
                self.release(other);
            }
        }
    }

    /// Bring all ports up to `time`, in steps in which no unit gets from one to another.
    fn advance_all(&mut self, span: Span, time: Time) {
        while self.together <= time {
            let quiet = self.stations.iter().all(PortProcess::is_quiet);
            let last = Time(self.together.0 + span.0 - 1);
            let last = if quiet { time } else { last.min(time) };
            (0..self.stations.len()).for_each(|port| self.step(port, last));
            self.together = Time(last.0 + 1);
        }
    }

    /// When a unit that a port does not know of yet, because those before it are to send it, sets out at the earliest, if the
    /// port is brought up to `until`: those before it have been there, but where units go round in circles not all of them.
    fn unknown_from(&self, until: Time) -> Time {
        if self.plan.circle.is_some() { self.together.min(until) } else { until }
    }

    /// Let happen what happens at a port up to `until`, that instant included.
    fn step(&mut self, port: usize, until: Time) {
        self.with(port, |station, engine| match station {
            PortProcess::Fifo(fifo) => fifo.step(engine, port, until),
            PortProcess::PerVc(turns) => turns.step(engine, port, until),
            PortProcess::PerUnit(general) => general.step(engine, port, until),
            _ => {}
        });
    }

    /// Let another port know of the units that a port holds back from it.
    fn release(&mut self, port: usize) {
        self.with(port, |station, engine| {
            if let PortProcess::Fifo(fifo) = station
                && fifo.holds_back
            {
                fifo.hand_on(engine, port);
            }
        });
    }

    /// Leave a port as if it had done everything by itself.
    fn settle(&mut self, port: usize) {
        self.with(port, |station, engine| match station {
            PortProcess::Fifo(fifo) => fifo.settle(engine, port),
            PortProcess::PerVc(turns) => turns.settle(engine, port),
            _ => {}
        });
    }

    /// At the end of the run, leave everything as if every port had done its own books.
    fn close(&mut self, port: usize) {
        self.with(port, |station, engine| match station {
            PortProcess::HostInterface(nic) => nic.close(&mut engine.network.ports[port]),
            PortProcess::Fifo(fifo) => fifo.close(engine, port),
            PortProcess::PerVc(turns) => turns.hand_on(engine, port),
            PortProcess::PerUnit(general) => general.hand_on(engine, port),
            _ => {}
        });
    }

    /// Let a port work with the engine.
    fn with(&mut self, port: usize, work: impl FnOnce(&mut PortProcess, &mut Self)) {
        let mut station = std::mem::replace(&mut self.stations[port], PortProcess::Away);
        work(&mut station, self);
        self.stations[port] = station;
    }

    /// Which port with a queue for each circuit is to be called first.
    ///
    /// They are called often and are few, so that they need no place in the event queue.
    fn find_soonest(&mut self) {
        let call = |&port: &u32| match &self.stations[port as usize] {
            PortProcess::PerVc(turns) => (turns.called, port),
            _ => (Time::NEVER, port),
        };
        self.soonest = self.plan.turns.iter().map(call).min().unwrap_or((Time::NEVER, 0));
    }

    /// Bring a port up to date at `time`.
    fn wake(&mut self, port: u32, time: Time) {
        self.queue.push_next(Series::behind(port, Span::ZERO), Event::new(time, Class::Free, port));
    }

    fn outcome(mut self) -> Outcome {
        self.enter_passed();
        let mut on_lines = vec![0; self.network.circuits.len()];
        for unit in self.stations.iter().filter_map(PortProcess::inputs).flat_map(Inbox::units) {
            on_lines[unit.vc as usize] += 1;
        }
        self.resting.iter().for_each(|&vc| on_lines[vc as usize] += 1);
        for Delivery { run, .. } in self.inboxes.iter().flatten() {
            on_lines[run.unit.vc as usize] += u64::from(run.units);
        }
        for (station, port) in self.stations.iter_mut().zip(&mut self.network.ports) {
            if let PortProcess::Delay(through) = station {
                self.work.cell_hops += through.hops;
                through.books.close(port);
            }
        }
        let Fast { network, work, log, .. } = self;
        Outcome { network, on_lines, work, losses: log.unwrap_or_default() }
    }
}
