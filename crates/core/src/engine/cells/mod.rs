//! Trains of cells that pass through port processes.
//!
//! # What it assumes
//! A port depends only on its arrivals, and every unit takes some time from one port to the next: conservative
//! parallel simulation on one thread.
//!
//! # What it skips
//! Most events: the queue holds only timers, wake-ups of ports and frames that a host may answer, one for 65 cells in
//! W1-cell. A port is woken at the earliest time at which the next unit that makes a host act could arrive at its next
//! stop. It then merges everything that has arrived meanwhile (`inbox/`). The plan (`topology/`) chooses the form of
//! each port (`port/`) before the run.
//!
//! # Why that is exact
//! Each port has a local clock. Before a port advances to an instant, the ports from which its units come advance to
//! it. Where circuits form a cycle, all ports advance together in steps shorter than the way from any port to the
//! next. Counts are sums, so units may be counted out of order. Units are counted one by one where the beginning or
//! end of the measured time falls between them.
//!
//! # What turns it off
//! Networks of packet links (`packets/`), and networks with credits (`reference/`).
//!
//! # What it saves
//! On the reference engine W1-cell takes 21 times as long, W1 under DT-EPD and push-out 14 times, study 003 10 times, the local
//! network of study 000 10 to 12 times, access and multi-hop 4 times.

mod combs;
mod forward;
mod hosts;
pub(crate) mod inbox;
mod open_loop;
pub(crate) mod port;
pub(crate) mod topology;
pub(crate) mod train;

use std::collections::VecDeque;

use crate::engine::exact::accounting::Window;
use crate::engine::outcome::{Outcome, Stopwatch, Work};
use crate::engine::timers::Timers;
use crate::host::end::End;
use crate::kernel::Ties;
use crate::kernel::queue::{Class, Event, EventQueue, Series};
use crate::network::Network;
use crate::network::outbox;
use crate::scenario::model::Scenario;
use crate::unit::Boundary;
use crate::units::ids::{CircuitId, IdVec, LineId};
use crate::units::{Span, Time};

use inbox::Inbox;
use port::PortProcess;
use port::context::{Context, LossLog, PortSetup};
use port::delay::PassedFrames;
use port::outbox::Outbox;
use topology::Plan;
use topology::policing::PolicerUse;
use train::Delivery;

/// Run a scenario from its first instant to its last; with `log` every loss is recorded. `watch` times the
/// event loop.
pub(crate) fn run(scenario: &Scenario, log: bool, watch: &mut Stopwatch<'_>) -> Outcome {
    let mut cells = Cells::new(scenario, log);
    watch.start();
    let Window { from, to } = cells.window;
    cells.run_until(from, watch);
    cells.network.reset_counters(from);
    cells.run_until(to, watch);
    watch.stop();
    cells.network.close_counters(to);
    cells.outcome()
}

/// The network and its ports, each with a local clock.
struct Cells<'a> {
    scenario: &'a Scenario,
    window: Window,
    plan: Plan,
    network: Network,
    ports: IdVec<LineId, PortProcess>,
    /// Units that ports have just started to send.
    out: Outbox,
    losses: LossLog,
    /// Pending deliveries to the host at the end of each line.
    deliveries: IdVec<LineId, VecDeque<Delivery>>,
    /// For every route the frames that have passed its ports that only delay and were only counted, and the frame
    /// boundaries on it.
    passed: Vec<PassedFrames>,
    boundaries: Vec<Boundary>,
    /// For every circuit when its policer must be asked.
    policers: IdVec<CircuitId, PolicerUse>,
    queue: EventQueue,
    ties: Ties,
    timers: Timers,
    work: Work,
    /// Frames that hosts have just sent.
    emitted: outbox::Outbox,
    /// Circuits of units that have arrived at hosts, where the run ended before the hosts acted on them, and of units that have left
    /// a queue, but would start at the end of the run.
    resting: Vec<CircuitId>,
    /// Work space for the instants at which a source sends cells.
    comb: Vec<Time>,
    /// The end of the part of the run that is being computed.
    end: Time,
    /// First instant that not all ports have reached; used only where circuits form a cycle.
    together: Time,
    /// The port with per-circuit queues that must be woken first, and the time.
    next_wakeup: (Time, LineId),
}

impl Cells<'_> {
    fn new(scenario: &Scenario, log: bool) -> Cells<'_> {
        let plan = Plan::new(scenario);
        let window = Window { from: Time::ZERO + scenario.warmup, to: Time::ZERO + scenario.duration };
        let mut network = Network::new(scenario);
        let ports = network.ports.pairs_mut();
        let setup =
            |(index, port)| PortProcess::new(PortSetup { scenario, plan: &plan, window, index, port });
        let ports = ports.map(setup).collect();
        let routes = plan.routes.iter().map(IdVec::len).sum();
        let mut cells = Cells {
            scenario,
            window,
            ports,
            out: Outbox::default(),
            losses: LossLog { log: log.then(Vec::new), now: Vec::new() },
            deliveries: IdVec::filled(VecDeque::new(), scenario.lines.len()),
            passed: vec![PassedFrames::default(); routes],
            boundaries: vec![Boundary::default(); routes],
            policers: plan.policers.clone(),
            queue: EventQueue::default(),
            ties: scenario.ties(),
            timers: Timers::new(network.flows.len()),
            work: Work::default(),
            emitted: outbox::Outbox::default(),
            resting: Vec::new(),
            comb: Vec::new(),
            end: Time::ZERO,
            together: Time::ZERO,
            next_wakeup: (Time::NEVER, LineId(0)),
            plan,
            network,
        };
        for flow in cells.network.flows.keys() {
            cells.set_timer(flow, End::Source);
        }
        cells
    }

    /// Handle everything that happens before `end`.
    fn run_until(&mut self, end: Time, watch: &mut Stopwatch<'_>) {
        self.end = end;
        loop {
            let (wakeup, port) = self.next_wakeup;
            let Some(event) = self.queue.pop_before(end.min(wakeup)) else {
                if wakeup >= end {
                    break;
                }
                self.work.events += 1;
                watch.reach(wakeup);
                self.wake(port, wakeup);
                continue;
            };
            self.work.events += 1;
            watch.reach(event.time);
            let line = LineId(event.entity);
            match event.class {
                Class::Free | Class::Tick => self.wake(line, event.time),
                Class::Arrive => self.arrive(line, event.time),
                Class::Timer => self.ring(event.entity as usize, event.time),
                Class::Credit => unreachable!("the reference engine runs networks with credits"),
            }
        }
        if let Some(last) = end.0.checked_sub(1) {
            self.finish_part(Time(last));
        }
    }

    /// Finish a part of the run; `last` is its last instant.
    fn finish_part(&mut self, last: Time) {
        let ports = self.ports.keys();
        ports.clone().for_each(|port| self.advance_to(port, last));
        ports.clone().for_each(|port| self.work_at(port, |process, cx, out| process.settle(cx, out)));
        if self.end == self.window.to {
            ports.clone().for_each(|port| self.work_at(port, |process, cx, out| process.close(cx, out)));
            ports.clone().for_each(|port| self.leave_combs(port));
        }
        ports.for_each(|line| self.arrive(line, last));
    }

    /// Advance a port to `time` and schedule its next wake-up.
    fn wake(&mut self, port: LineId, time: Time) {
        if self.ports[port].called().is_some_and(|called| called != time) {
            return; // already woken
        }
        self.advance_to(port, time);
        self.schedule(port, time);
        if let PortProcess::PerVc(_) = self.ports[port] {
            self.find_next_wakeup();
        }
    }

    /// Schedule the next wake-up of a port that has advanced to `now`.
    fn schedule(&mut self, port: LineId, now: Time) {
        let reach = self.plan.reach[port];
        if let Some(next) = self.work_at(port, |process, cx, out| process.next_wakeup(cx, out, now, reach)) {
            self.wake_at(port, next);
        }
    }

    /// Advance a port to `time`, and before it all ports that send units to it.
    fn advance_to(&mut self, port: LineId, time: Time) {
        if self.ports[port].has_reached(time) {
            return;
        }
        if let Some(span) = self.plan.circle {
            return self.advance_all(span, time);
        }
        for i in 0..self.plan.upstream[port].len() {
            let other = self.plan.upstream[port][i];
            if !self.ports[other].has_reached(time) {
                self.step(other, time);
            }
            if other != port {
                self.work_at(other, |process, _, out| process.release(out));
            }
        }
    }

    /// Advance all ports to `time`, in steps so short that no unit gets from one port to another within a step.
    fn advance_all(&mut self, span: Span, time: Time) {
        while self.together <= time {
            let quiet = self.ports.iter().all(PortProcess::is_quiet);
            let last = Time(self.together.0 + span.0 - 1);
            let last = if quiet { time } else { last.min(time) };
            self.ports.keys().for_each(|port| self.step(port, last));
            self.together = Time(last.0 + 1);
        }
    }

    /// Advance a port to `until`, that instant included.
    fn step(&mut self, port: LineId, until: Time) {
        self.work_at(port, |process, cx, out| process.step(cx, out, until));
        if self.plan.combs[port].is_some() {
            self.deliver_combs(port);
        }
    }

    /// Run a port, and deliver the units that leave it.
    #[inline]
    fn work_at<R>(
        &mut self,
        index: LineId,
        work: impl FnOnce(&mut PortProcess, &mut Context<'_>, &mut Outbox) -> R,
    ) -> R {
        let from = self.out.length();
        let Network { ports, circuits, .. } = &mut self.network;
        let mut cx = Context {
            port: &mut ports[index],
            index,
            circuits,
            plan: &self.plan,
            routes: self.plan.routes[index].view(),
            losses: &mut self.losses,
            timers: &self.timers,
            resting: &mut self.resting,
            every: self.scenario.sample,
            window: self.window,
            end: self.end,
            together: self.plan.circle.map(|_| self.together),
        };
        let answer = work(&mut self.ports[index], &mut cx, &mut self.out);
        self.deliver_from(index, from);
        answer
    }

    /// Find the port with per-circuit queues that must be woken first.
    ///
    /// These ports are woken often and are few, so a search is cheaper than the event queue.
    fn find_next_wakeup(&mut self) {
        let wakeup = |&port: &LineId| match &self.ports[port] {
            PortProcess::PerVc(per_vc) => (per_vc.called, port),
            _ => (Time::NEVER, port),
        };
        self.next_wakeup = self.plan.per_vc.iter().map(wakeup).min().unwrap_or((Time::NEVER, LineId(0)));
    }

    /// Wake a port at `time`.
    fn wake_at(&mut self, port: LineId, time: Time) {
        self.queue.push_next(Series::behind(port, Span::ZERO), Event::new(time, Class::Free, port.0));
    }

    fn outcome(mut self) -> Outcome {
        self.enter_passed();
        let mut on_lines = IdVec::filled(0, self.network.circuits.len());
        for unit in self.ports.iter().filter_map(PortProcess::inbox).flat_map(Inbox::units) {
            on_lines[unit.vc] += 1;
        }
        for lane in self.ports.iter().filter_map(PortProcess::combs).flat_map(|combs| &combs.lanes) {
            on_lines[lane.of.circuit] += lane.pending().len() as u64;
        }
        self.resting.iter().for_each(|&vc| on_lines[vc] += 1);
        for Delivery { unit, units, .. } in self.deliveries.iter().flatten() {
            on_lines[unit.vc] += u64::from(*units);
        }
        for (process, port) in self.ports.iter_mut().zip(self.network.ports.iter_mut()) {
            if let PortProcess::Delay(delay) = process {
                self.work.cell_hops += delay.hops;
                delay.books.close(port);
            }
        }
        let Cells { mut network, window, work, losses, .. } = self;
        Outcome {
            flows: network.take_outcomes(window.to),
            network,
            on_lines,
            work,
            losses: losses.log.unwrap_or_default(),
        }
    }
}
