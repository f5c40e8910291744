//! The network of a run: circuits with their frames, ports, and the flows at the hosts.
//!
//! Nothing here depends on how time advances. An engine moves units between ports in the order that [`crate::kernel`]
//! documents, and gets the next frames from the hosts.

pub mod branches;

pub mod circuit;

pub mod outbox;

mod pause_cycle;

use crate::buffer::admission::{Expulsion, Failure};
use crate::buffer::pool::Pool;
use crate::host::flow::Flow;
use crate::host::outcome::FlowOutcome;
use crate::link::control::Control;
use crate::link::gate::credit::{self, CreditReceiver};
use crate::link::gate::{self, loss, reorder, storm};
use crate::link::line::{Line, Rest};
use crate::link::port::{Numbers, Parts, Port};
use crate::memory::pushout::{Content, Cut};
use crate::memory::{self, Memory, Share, SharedPool, SharedQueue, Signal};
use crate::rng::Keyed;
use crate::scenario::contract::{Passing, context, contracts, passing_circuits};
use crate::scenario::model::{self, Measures, Scenario};
use crate::unit::Unit;
use crate::units::ids::{CircuitId, FlowId, IdSlice, IdVec, LineId, MemoryId, PortVc};
use crate::units::{Span, Time};
use crate::verdict::Reason;

use branches::Hop;
use circuit::Circuit;

pub use pause_cycle::PauseCycle;

/// The state that a run changes.
#[derive(Clone, Debug)]
pub struct Network {
    /// One port for each line of the scenario.
    pub ports: IdVec<LineId, Port>,
    /// The memories that ports share; `None` while [`Network::at`] lends the memory to a port.
    memories: IdVec<MemoryId, Option<Box<Memory>>>,
    /// The first ports that have paused each other in a cycle.
    pub pause_cycle: Option<PauseCycle>,
    /// For each line under credit flow control the credit state of its receiver; empty if no line has credits.
    pub receivers: IdVec<LineId, Option<Box<CreditReceiver>>>,
    /// The circuits.
    pub circuits: IdVec<CircuitId, Circuit>,
    /// The flows.
    pub flows: IdVec<FlowId, Flow>,
}

impl Network {
    /// Build the network of a checked scenario, at time zero.
    pub fn new(scenario: &Scenario) -> Network {
        let flows = scenario.flows.keys().map(|index| Flow::new(scenario, index)).collect();
        Network { flows, ..Network::between_hosts(scenario) }
    }

    /// Build the network without the flows.
    pub(crate) fn between_hosts(scenario: &Scenario) -> Network {
        let passing = passing_circuits(scenario);
        let mut shares = shares(scenario);
        let ports = scenario.lines.iter().zip(passing.iter()).zip(shares.iter_mut());
        let ports = ports.zip(gates(scenario, &passing)).zip(scenario.lines.keys());
        let ports = ports.map(|((((line, vcs), share), gates), index)| {
            let times_waits = scenario.measure.sojourn.binary_search(&index).is_ok();
            port(scenario, line, vcs, Apart { share: share.take(), gates, times_waits })
        });
        let mut ports: IdVec<LineId, Port> = ports.collect();
        let memories = scenario.memories.iter().map(|spec| Some(Box::new(memory(scenario, spec)))).collect();
        let Measures { occupancy, marks, meter, state, .. } = &scenario.measure;
        occupancy.iter().for_each(|&line| ports[line].counters_mut().occupancy.keep_trace());
        marks.iter().for_each(|&line| ports[line].counters_mut().rare_mut().marks = Some(Vec::new()));
        meter.iter().for_each(|&line| ports[line].counters_mut().rare_mut().meter = Some(Vec::new()));
        state.ports.iter().for_each(|&line| ports[line].counters_mut().rare_mut().state = Some(Vec::new()));
        let receiver = |(line, vcs): (&model::Line, IdSlice<'_, PortVc, CircuitId>)| {
            let accounts = |credit: &credit::Spec| credit.accounts(&classes(scenario, vcs));
            let credit = line.port.gates.credit.as_ref();
            credit.map(|credit| Box::new(CreditReceiver::new(credit.terms(), accounts(credit))))
        };
        let has_credits = scenario.lines.iter().any(|line| line.port.gates.credit.is_some());
        let receivers = scenario.lines.iter().zip(passing.iter()).filter(|_| has_credits);
        let receivers = receivers.map(receiver).collect();
        let circuits = scenario.vcs.pairs().map(|(vc, spec)| Circuit::new(scenario, spec, vc, &passing));
        let circuits = circuits.collect();
        let (pause_cycle, flows) = (None, IdVec::default());
        let mut network = Network { ports, memories, pause_cycle, receivers, circuits, flows };
        let traced = |(number, memory): (MemoryId, &mut Memory)| {
            if scenario.measure.memories.contains(&number) {
                memory.keep_traces();
            }
        };
        scenario.memories.keys().zip(network.memories_mut()).for_each(traced);
        network
    }

    /// Return the credit state of a line's receiver, if the line has credit flow control.
    pub fn receiver(&self, line: LineId) -> Option<&CreditReceiver> {
        self.receivers.get(line)?.as_deref()
    }

    /// Return the memories that ports share.
    pub fn memories(&self) -> impl Iterator<Item = &Memory> {
        self.memories.iter().map(|memory| memory.as_deref().expect("no port works now"))
    }

    /// Return the cells of a memory that are in use.
    #[inline]
    pub(crate) fn cells_used(&self, memory: MemoryId) -> u64 {
        self.memories[memory].as_ref().expect("no port works now").used()
    }

    /// Return all memories, to change them.
    pub(crate) fn memories_mut(&mut self) -> impl Iterator<Item = &mut Memory> {
        self.memories.iter_mut().map(|memory| memory.as_deref_mut().expect("no port works now"))
    }

    /// Run `work` on a port with the memory that it shares, if it shares one.
    #[inline]
    pub(crate) fn at<R>(&mut self, port: LineId, work: impl FnOnce(&mut Port) -> R) -> R {
        let Network { ports, memories, .. } = self;
        let port = &mut ports[port];
        if let Some(share) = port.share_mut() {
            share.swap(memories);
        }
        let answer = work(port);
        if let Some(share) = port.share_mut() {
            share.swap(memories);
        }
        answer
    }

    /// Return a memory together with all ports.
    #[inline]
    pub(crate) fn memory_and_ports(&mut self, memory: MemoryId) -> (&mut Memory, &mut IdVec<LineId, Port>) {
        (self.memories[memory].as_deref_mut().expect("no port works now"), &mut self.ports)
    }

    /// Return whether the port shares a memory that makes room by push-out.
    #[inline]
    pub(crate) fn pushes_out(&self, port: LineId) -> bool {
        let Some(share) = self.ports[port].share() else { return false };
        self.memories[share.number()].as_ref().expect("no port works now").pushes_out()
    }

    /// Choose what the memory pushes out for an arriving packet of this port's circuit: the port and the part of its
    /// queue.
    pub(crate) fn victim(
        &mut self,
        now: Time,
        port: LineId,
        vc: PortVc,
        unit: &Unit,
    ) -> Option<(LineId, Cut)> {
        let share = self.ports[port].share()?;
        let (number, account) = (share.number(), share.account(unit, vc));
        let mut lent = self.memories[number].take().expect("no port works now");
        let cut = lent.victim(now, account, self.ports[port].size_of(unit), unit, &Shared(self));
        let cut = cut.map(|cut| (lent.queues()[cut.queue].line, cut));
        self.memories[number] = Some(lent);
        cut
    }

    /// Choose the queue (port and circuit) from which a memory discards a packet now, or return the instant of the
    /// next check.
    pub(crate) fn expulsion(&mut self, memory: MemoryId, now: Time) -> Option<Result<(LineId, usize), Time>> {
        let mut lent = self.memories[memory].take().expect("no port works now");
        let expulsion = lent.expulsion(now, |port, queue| self.ports[port].head_of(queue));
        let expulsion = expulsion.map(|expulsion| match expulsion {
            Expulsion::Now(queue) => Ok((lent.queues()[queue].line, queue)),
            Expulsion::At(time) => Err(time),
        });
        self.memories[memory] = Some(lent);
        expulsion
    }

    /// Repeat the pauses of a memory that are due; returns when the next one is due.
    pub(crate) fn repeat_pauses(&mut self, memory: MemoryId, now: Time) -> Option<Time> {
        self.memories[memory].as_mut().expect("no port works now").repeat_pauses(now)
    }

    /// Return whether a memory has pause signals for senders.
    #[inline]
    pub(crate) fn has_signals(&self, memory: MemoryId) -> bool {
        self.memories[memory].as_ref().expect("no port works now").has_signals()
    }

    /// Return whether a memory stops no sender, and has nothing to tell one.
    pub(crate) fn lets_all_send(&self, memory: MemoryId) -> bool {
        self.memories[memory].as_ref().expect("no port works now").lets_all_send()
    }

    /// Remove and return the pause signals that a memory has for senders, each with the line that carries it.
    pub(crate) fn take_signals(&mut self, memory: MemoryId) -> Vec<Signal> {
        self.memories[memory].as_mut().expect("no port works now").take_signals()
    }

    /// Return for each port the number of its shared memory, if that memory acts at instants of its own; empty if no
    /// memory does.
    pub(crate) fn acting_memories(&self) -> IdVec<LineId, Option<MemoryId>> {
        let acts = |memory: &Memory| memory.is_expelling() || memory.is_pausing();
        let acts: IdVec<MemoryId, bool> = self.memories().map(acts).collect();
        let of = |port: &Port| port.share().map(Share::number).filter(|&memory| acts[memory]);
        if acts.iter().any(|acts| *acts) { self.ports.iter().map(of).collect() } else { IdVec::default() }
    }

    /// Pass a unit to a port; the error is the reason for which the gates before the port lose the unit.
    #[inline(always)] // a loss that does not act must not cost a copy of the unit
    pub(crate) fn cross_link(&mut self, now: Time, hop: Hop, unit: Unit) -> Result<Unit, Reason> {
        self.ports[hop.port].enter(now, unit, hop.vc)
    }

    /// Let a port react to a control frame from the node at the far end.
    pub(crate) fn receive_control(&mut self, port: LineId, now: Time, control: Control) {
        self.ports[port].receive_control(now, control);
        if let Control::Pause(frame) = control {
            self.seek_pause_cycle(port, now, frame);
        }
    }

    /// Return an error with the place and the time of the first decision that a policy could not compute, if there is
    /// one: results after it are invalid. `flows` gives the first call of each flow's control that could not be computed.
    pub fn complete<'a>(
        &'a self,
        scenario: &'a Scenario,
        flows: impl Iterator<Item = Option<&'a Failure>>,
    ) -> Result<(), String> {
        let ports =
            self.ports.iter().zip(&scenario.lines).map(|(port, line)| ("port", &line.name, port.failure()));
        let memories = self.memories().zip(&scenario.memories);
        let memories = memories.map(|(memory, spec)| ("memory", &spec.name, memory.failure()));
        let flows = flows.zip(&scenario.flows).map(|(failure, spec)| ("flow", &spec.name, failure));
        let failures = ports
            .chain(memories)
            .chain(flows)
            .filter_map(|(kind, name, failure)| Some((kind, name, failure?)));
        match failures.min_by_key(|(_, _, failure)| failure.time) {
            None => Ok(()),
            Some((kind, name, Failure { time, why })) => {
                Err(format!("{kind} {name} at {} s: {why}", time.as_secs_f64()))
            }
        }
    }

    /// Like [`Network::complete`], during a run whose flows are in the network.
    pub fn complete_so_far(&self, scenario: &Scenario) -> Result<(), String> {
        self.complete(scenario, self.flows.iter().map(|flow| flow.sender()?.failure()))
    }

    /// Reset the counters: the measured time starts now.
    pub fn reset_counters(&mut self, now: Time) {
        self.ports.iter_mut().for_each(|port| port.reset_counters(now));
        self.memories_mut().for_each(|memory| memory.reset_counters(now));
        self.flows.iter_mut().for_each(|flow| flow.reset_counters(now));
        self.circuits.iter_mut().for_each(Circuit::reset_counters);
    }

    /// Take the outcomes of the flows, at the end of the run.
    pub(crate) fn take_outcomes(&mut self, now: Time) -> IdVec<FlowId, FlowOutcome> {
        let Network { flows, circuits, .. } = self;
        let outcome = |flow: Flow| {
            let circuit = flow.circuit();
            flow.outcome(now, circuits[circuit].is_quiet())
        };
        std::mem::take(flows).into_iter().map(outcome).collect()
    }

    /// Extend the time averages of all counters to the end of the run.
    pub fn close_counters(&mut self, now: Time) {
        self.ports.iter_mut().for_each(|port| port.close_counters(now));
        self.memories_mut().for_each(|memory| memory.close_counters(now));
    }
}

/// The ports that share a memory.
struct Shared<'a>(&'a Network);

impl Content for Shared<'_> {
    fn has(&self, queues: &[SharedQueue], cut: Cut) -> bool {
        let Shared(network) = self;
        network.ports[queues[cut.queue].line].has_piece(cut)
    }

    fn in_transmission(&self, queues: &[SharedQueue], queue: usize) -> u64 {
        self.0.ports[queues[queue].line].in_transmission(queue)
    }
}

/// Build the gates of every line.
fn gates<'a>(
    scenario: &'a Scenario,
    passing: &'a Passing,
) -> impl Iterator<Item = Box<[gate::Policy]>> + use<'a> {
    let mut losses: IdVec<LineId, Vec<&loss::Spec>> = IdVec::filled(Vec::new(), scenario.lines.len());
    scenario.losses.iter().for_each(|spec| losses[spec.line].push(spec));
    let mut storms: IdVec<LineId, Vec<&storm::Spec>> = IdVec::filled(Vec::new(), scenario.lines.len());
    scenario.storms.iter().for_each(|spec| storms[spec.line].push(spec));
    let mut reorders: IdVec<LineId, Vec<&reorder::Spec>> = IdVec::filled(Vec::new(), scenario.lines.len());
    scenario.reorders.iter().for_each(|spec| reorders[spec.line].push(spec));
    let mut responses: IdVec<LineId, Vec<(u32, u32, Span)>> = IdVec::filled(Vec::new(), scenario.lines.len());
    for (number, memory) in scenario.memories.pairs() {
        let pauses = memory.queues.iter().filter_map(|queue| Some((queue.line, queue.limits.pause?)));
        for (line, pause) in pauses.filter(|(_, pause)| pause.response > Span::ZERO) {
            responses[line].push((pause.class, number.0, pause.response));
        }
    }
    let lines =
        scenario.lines.iter().zip(passing.iter()).zip(losses).zip(reorders).zip(storms).zip(responses);
    let lines = lines.zip(scenario.paused_lines()).zip(scenario.lines.keys());
    let names: Vec<&str> = scenario.sections.queues.0.iter().map(|(name, _)| name.as_str()).collect();
    lines.map(move |(((((((line, vcs), losses), reorders), storms), responses), is_paused), index)| {
        let (keys, classes) = (&line.port.gates, &classes(scenario, vcs));
        let (maxima, slopes) = (&scenario.maxima(&line.port), &scenario.slopes(&line.port));
        let rate = line.rate.mean();
        let (delay, repeat) = (&line.delay, line.repeat.as_deref());
        let (seed, minimum, line, losses) = (scenario.seed, line.minimum, line.name.as_str(), &losses);
        gate::build(&gate::Site {
            seed,
            circuits: &scenario.circuit_keys,
            line,
            keys,
            losses,
            delay,
            repeat,
            reorders: &reorders,
            classes,
            is_paused,
            logs_pauses: scenario.measure.pauses.binary_search(&index).is_ok(),
            storms: &storms,
            responses: &responses,
            minimum,
            maxima,
            slopes,
            rate,
            names: &names,
        })
    })
}

/// Build the random rests of a host before its line, with their own stream of random numbers.
fn rest(scenario: &Scenario, line: &model::Line) -> Option<Rest> {
    let keyed = || Keyed::new(scenario.seed, format_args!("line.{}.pause", line.name));
    (line.rest > Span::ZERO).then(|| Rest::new(line.rest, keyed().about_circuits(&scenario.circuit_keys)))
}

/// Build each port's share in a memory.
fn shares(scenario: &Scenario) -> IdVec<LineId, Option<Share>> {
    let mut shares = IdVec::filled(None, scenario.lines.len());
    for (number, memory) in scenario.memories.pairs() {
        let by_packets = memory.pushout.as_ref().is_some_and(|pushout| pushout.kind().goes_by_frames());
        for (port, accounts) in &memory.ports {
            let trims = memory.trims.get(port).cloned().unwrap_or_default();
            let share = Share::new(number, accounts.clone()).with_trims(trims);
            shares[*port] = Some(if by_packets { share.keeping_frames() } else { share });
        }
    }
    shares
}

/// Build the memory of a scenario's node.
fn memory(scenario: &Scenario, spec: &model::NodeMemory) -> Memory {
    let pool = |pool: &model::MemoryPool| {
        let scheme = spec.scheme(pool, scenario).expect("a checked scenario can be built");
        SharedPool::new(pool.shared, pool.terms.len(), pool.headroom, scheme)
    };
    let queue = |queue: &model::MemoryQueue| {
        let rate = scenario.lines[queue.line].rate.mean();
        SharedQueue::new(queue.limits, queue.line, rate, queue.pool, queue.number)
    };
    let pushout = spec.makes_room(scenario).expect("a checked scenario can be built");
    let (pools, queues) = (spec.pools.iter().map(pool).collect(), spec.queues.iter().map(queue).collect());
    Memory::new(memory::MemoryParts { cells: spec.cells, check: spec.check, pools, queues, pushout })
}

/// Return the class of each circuit at a port.
fn classes(scenario: &Scenario, vcs: IdSlice<'_, PortVc, CircuitId>) -> IdVec<PortVc, u32> {
    vcs.iter().map(|&vc| scenario.vcs[vc].queue as u32).collect()
}

/// The parts of a port that do not follow from its line alone.
struct Apart {
    share: Option<Share>,
    gates: Box<[gate::Policy]>,
    times_waits: bool,
}

fn port(scenario: &Scenario, line: &model::Line, vcs: IdSlice<'_, PortVc, CircuitId>, apart: Apart) -> Port {
    let Apart { share, gates, times_waits } = apart;
    let contracts = contracts(scenario, line, vcs);
    let context = context(scenario, line, &contracts);
    let latency = line.delay.least() + scenario.nodes[line.to].latency;
    let pushout =
        line.port.pushout.as_ref().map(|spec| spec.build(&context).expect("a checked scenario can be built"));
    Port::new(Parts {
        numbers: Numbers::new(vcs),
        share,
        pushout,
        shared_queue: line.port.scheduler.shares_one_queue(),
        gates,
        trims: line.port.admission.trims(),
        times_waits,
        ..Parts::plain(
            line.port.measure,
            Pool::new(line.port.capacity, vcs.len()),
            line.port.admission.build(&context).expect("a checked scenario can be built"),
            line.port.scheduler.build(&context).expect("a checked scenario can be built"),
            Line::new(line.rate.mean(), latency)
                .with_rest(rest(scenario, line))
                .with_minimum(line.minimum)
                .with_course(line.rate.course(scenario.seed, &line.name)),
        )
    })
}
