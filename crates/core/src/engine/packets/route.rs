//! The route of every circuit, port by port.
//!
//! # What it assumes
//! A packet keeps the route on which it leaves its host; a policer is at its second port.
//!
//! # What it skips
//! Looking up ports, rates and delays for each packet.
//!
//! # Why that is exact
//! Steps at lines of one kind share these values, and none of them changes during a run.
//!
//! # What turns it off
//! A policer, a loss by intent or a policy that marks, at its step: that step is handled in the order of arrivals, like
//! one where lines meet. A policer before several ports, over which one circuit's packets are spread, sees the arrivals at
//! all of them: these ports judge every packet, in the common order.
//!
//! # What it saves
//! A policer as a step: W1-packet in which every flow is policed takes 1.2 times as long as without; on the engine
//! for cells it was 4.2 times. A loss as a step: with one that never acts W3-100 takes 1.2 times as many instructions, instead of
//! 1.9 times where its port judges every packet.

use std::collections::BTreeMap;
use std::iter;

use super::groups;
use super::lookahead::Lookahead;
use crate::adaptation::Framing;
use crate::adaptation::packet::Padding;
use crate::buffer::admission::{Rule, Shortcuts};
use crate::buffer::size::Measure;
use crate::engine::exact::spacing::{Paces, TransmissionTime};
use crate::engine::forms::{Form, allows};
use crate::engine::questions::{latency, policed_in_common, policed_ports};
use crate::link::gate::Gate;
use crate::link::port::Port;
use crate::memory::{Memory, Share};
use crate::network::Network;
use crate::network::branches::Hop;
use crate::police;
use crate::scenario::model::{Line, NodeKind, Scenario, Vc};
use crate::scheduler;
use crate::transport::cargo::Cargo;
use crate::unit::{Flags, Unit};
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId, MemoryId, NodeId, PortVc, StationId};
use crate::units::{Rate, Span, Time};

/// A packet in flight, with its payload, so that its arrival needs no search.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packet {
    pub(crate) cargo: Cargo,
    pub(crate) flow: FlowId,
    pub(crate) head: Head,
}

/// The properties of a packet that ports need.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Head {
    pub(crate) frame: u32,
    pub(crate) bytes: u16,
    pub(crate) flags: Flags,
}

/// A port on the route of a circuit, or the host at its end: all steps of a route and of the route back share a cache
/// line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// The port; at a host of one end of a flow the number of that end.
    pub(crate) place: u32,
    /// The index of the values that it shares with other steps.
    pub(crate) kind: u32,
}

/// The rarely needed values of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepExtras {
    pub(crate) circuit: CircuitId,
    /// The circuit's number at the port.
    pub(crate) number: PortVc,
    /// The number of ports that a unit has passed before this step.
    hop: u8,
    pub(crate) entrance: Entrance,
}

/// What may happen to a packet at a port before the port decides about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// Nothing.
    Open,
    /// Its link may lose it by its number or its time.
    Lossy,
    /// A policer may tag or lose it by its time and its size.
    Policed,
    /// A policer or the link may draw about it.
    Drawn,
}

/// Values that the steps at lines of one kind share for packets of one size; most lines of a network are of one kind.
#[derive(Debug)]
pub(crate) struct StepClass {
    pub(crate) stop: PacketDestination,
    /// What the first link of the route adds to a packet.
    pub(crate) padding: Padding,
    /// Whether the circuit numbers the packets that are sent here, or the port marks or judges them.
    pub(crate) is_special: bool,
    /// The transmission time of packets of the latest size: circuits of data and of acknowledgements have one kind
    /// each.
    bytes: u16,
    /// Least octets of a packet on the line.
    pub(crate) minimum: u16,
    /// Time from the end of a transmission to the arrival at the next step.
    pub(crate) latency: Span,
    /// A packet whose transmission ends before this instant arrives before [`Transit::edge`].
    ///
    /// [`Transit::edge`]: super::transit::Transit::edge
    pub(crate) edge: Time,
    pace: TransmissionTime,
    others: Paces,
}

/// Arrival of packets at a step, and their handling there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PacketDestination {
    /// A port that accepts packets by a rule and gets them in order, over one line or from its own host.
    Alone,
    /// A port that accepts packets by a rule, over several lines.
    Meet,
    /// Such a port, where the packet may get another mark or be lost first: the circuit is policed, the link loses
    /// packets by intent, or the policy marks.
    Marking,
    /// A port that accepts packets by a rule and shares a memory with such ports: see `shared.rs`.
    Shared,
    /// A port that judges every packet, after the policer if the circuit has one there.
    Judging,
    /// A host.
    Host,
    /// A host with one end of one flow and one incoming line: packets arrive in order, and only its own timers make
    /// it act otherwise.
    End,
    /// A host with several ends of flows, under the same conditions.
    Ends,
}

/// The routes of all circuits in a row.
#[derive(Debug)]
pub(crate) struct Steps {
    pub(crate) list: Vec<Step>,
    pub(crate) extras: Vec<StepExtras>,
    pub(crate) kinds: Vec<StepClass>,
    /// First step of the first route of each circuit.
    first: IdVec<CircuitId, u32>,
    /// First steps of the routes of each circuit that has several.
    branches: BTreeMap<CircuitId, Vec<u32>>,
}

/// The routes, and the properties of ports and hosts on them.
#[derive(Debug)]
pub(crate) struct Routing {
    pub(crate) steps: Steps,
    /// For every port the rule by which it accepts packets; `None` if it judges every packet.
    pub(crate) rules: IdVec<LineId, Option<Rule>>,
    /// For every such port its memory, if it still decides by a rule.
    pub(crate) memories: IdVec<LineId, Option<MemoryId>>,
    /// For every port that judges every packet its group, if that can be quiet (`transit/quiet.rs`).
    pub(crate) quiet: IdVec<LineId, Option<StationId>>,
    /// For every port that judges every packet, then for every memory, the order in which it takes part, if that is not the common
    /// one; empty if there is no such port.
    pub(crate) stations: IdVec<StationId, Option<StationId>>,
    pub(crate) division: Lookahead,
    pub(crate) ends: Ends,
}

impl StepClass {
    fn new(way: RouteClass, stop: PacketDestination, line: &Line, latency: Span) -> StepClass {
        let (RouteClass { padding, is_counted, .. }, minimum) = (way, line.minimum);
        let (pace, others) = (TransmissionTime::default(), Paces::new(line.rate.mean()));
        let is_special =
            is_counted || matches!(stop, PacketDestination::Judging | PacketDestination::Marking);
        StepClass { stop, padding, is_special, bytes: 0, minimum, latency, edge: Time::ZERO, pace, others }
    }

    /// The transmission time of packets of `bytes` octets.
    #[inline(always)]
    pub(crate) fn pace_of(&mut self, bytes: u16) -> &TransmissionTime {
        if self.bytes != bytes {
            self.renew(bytes);
        }
        &self.pace
    }

    #[cold]
    fn renew(&mut self, bytes: u16) {
        (self.bytes, self.pace) = (bytes, self.others.of(bytes.max(self.minimum)));
    }
}

impl Packet {
    /// Return the unit that represents the packet at a step where a component may draw about it.
    #[inline]
    pub(crate) fn unit(&self, extra: &StepExtras) -> Unit {
        Unit { identity: self.cargo.identity(self.head.frame), ..self.head.unit(extra) }
    }
}

impl Head {
    /// Return the unit that represents the packet at a step where no component draws about it: without its identity.
    #[inline]
    pub(crate) fn unit(self, extra: &StepExtras) -> Unit {
        let Head { frame, bytes, flags } = self;
        Unit { vc: extra.circuit, frame, identity: frame, index: 0, bytes, hop: extra.hop, flags }
    }
}

impl Steps {
    /// Return how packets arrive at a step.
    #[inline(always)]
    pub(crate) fn stop(&self, at: u32) -> PacketDestination {
        self.kinds[self.list[at as usize].kind as usize].stop
    }

    /// Return the port or the host of a step: see [`Step::place`].
    #[inline(always)]
    pub(crate) fn place(&self, at: u32) -> u32 {
        self.list[at as usize].place
    }

    /// Return the port of a step that is at a port.
    #[inline(always)]
    pub(crate) fn port(&self, at: u32) -> LineId {
        LineId(self.place(at))
    }

    /// Return the transmission time of packets of `bytes` octets on the line of a step.
    #[inline(always)]
    pub(crate) fn pace_at(&mut self, at: u32, bytes: u16) -> &TransmissionTime {
        self.kinds[self.list[at as usize].kind as usize].pace_of(bytes)
    }

    /// Return the first step of the first route of each circuit.
    pub(crate) fn begins(&self) -> &IdVec<CircuitId, u32> {
        &self.first
    }

    /// Return whether a circuit has several routes.
    #[inline]
    pub(crate) fn has_branches(&self) -> bool {
        !self.branches.is_empty()
    }

    /// Return the step at which a packet of a circuit begins; `route` gives the number of its route, if there are
    /// several.
    #[inline]
    pub(crate) fn begin(&self, circuit: CircuitId, route: impl FnOnce() -> usize) -> u32 {
        match self.branches.get(&circuit) {
            Some(begins) => begins[route()],
            None => self.first[circuit],
        }
    }
}

impl Routing {
    /// The routes through a network before its start; ports whose packets are recorded judge every packet.
    pub(crate) fn new(
        scenario: &Scenario,
        network: &Network,
        is_recorded: impl Fn(LineId) -> bool,
    ) -> Routing {
        let ports = port_classes(scenario, network, is_recorded);
        let quiet = ports.iter().map(|port| port.quiet).collect();
        let division = Lookahead::new(scenario, |line| match ports[line].destination() {
            PacketDestination::Meet => Some(line.station()),
            PacketDestination::Shared => {
                ports[line].memory.map(|memory| StationId::new(scenario.lines.len() + memory.index()))
            }
            _ => None,
        });
        let stations = groups::stations(scenario, network, |port| ports[port].is_apart());
        let rules: IdVec<LineId, Option<Rule>> = ports.iter().map(|port| port.rule).collect();
        let memories = ports.iter().map(|port| port.memory);
        let memories = if ports.iter().any(|port| port.memory.is_some()) {
            memories.collect()
        } else {
            IdVec::default()
        };
        let ends = Ends::new(scenario, &rules);
        let mut rows = Rows::new(scenario, network, &ports, &ends);
        let mut first = IdVec::filled(0, scenario.vcs.len());
        let mut branches = BTreeMap::new();
        for (vc, way) in ways(scenario) {
            first[vc] = rows.list.len() as u32;
            let routes = scenario.vcs[vc].routes().zip(network.circuits[vc].routes());
            let begins = routes.map(|(path, hops)| rows.push(vc, way, path, hops)).collect();
            if scenario.vcs[vc].spread.is_some() {
                branches.insert(vc, begins);
            }
        }
        let Rows { list, extras, kinds, .. } = rows;
        let steps = Steps { list, extras, kinds: kinds.list, first, branches };
        Routing { steps, rules, memories, quiet, stations, division, ends }
    }
}

/// How a port handles packets.
#[derive(Clone, Copy, Debug, Default)]
struct PortClass {
    /// The rule by which it accepts packets, without a memory that it shares.
    rule: Option<Rule>,
    /// The memory that it shares, if all ports of that decide by a rule.
    memory: Option<MemoryId>,
    /// Its memory, or itself if it has a buffer of its own, if that can be quiet (`transit/quiet.rs`).
    quiet: Option<StationId>,
    /// Whether it belongs to a host.
    is_from_host: bool,
    /// Whether packets arrive over several lines.
    meets: bool,
    /// Whether a circuit is policed there.
    polices: bool,
    /// Whether a policer there polices at other ports too.
    polices_in_common: bool,
    /// Whether its link loses packets by intent, and whether it draws which ones.
    loses: bool,
    draws: bool,
    /// Whether its policy marks packets.
    marks: bool,
    /// Whether the rate of its line changes.
    changes: bool,
}

impl PortClass {
    /// Return how packets arrive there.
    fn destination(&self) -> PacketDestination {
        let is_alone = self.is_from_host || !(self.meets || self.polices || self.loses || self.marks);
        match self.rule {
            None if self.memory.is_some() => PacketDestination::Shared,
            None => PacketDestination::Judging,
            Some(_) if is_alone => PacketDestination::Alone,
            Some(_) => PacketDestination::Meet,
        }
    }

    /// Return whether it judges every packet, and depends only on frames from other nodes.
    fn is_apart(&self) -> bool {
        self.destination() == PacketDestination::Judging && !self.is_from_host && !self.polices_in_common
    }

    /// Return what may happen to packets of a circuit before the port decides, given what its policer may do.
    fn entrance_of(&self, policer: Entrance) -> Entrance {
        match policer {
            _ if self.draws => Entrance::Drawn,
            Entrance::Open if self.loses => Entrance::Lossy,
            policer => policer,
        }
    }

    /// Return how packets of a circuit arrive there, which may be policed.
    fn destination_of(&self, is_policed: bool) -> PacketDestination {
        match self.destination() {
            PacketDestination::Meet if is_policed => PacketDestination::Marking,
            PacketDestination::Meet | PacketDestination::Alone if self.marks || self.loses => {
                PacketDestination::Marking
            }
            destination => destination,
        }
    }
}

/// The classes of all ports.
fn port_classes(
    scenario: &Scenario,
    network: &Network,
    is_recorded: impl Fn(LineId) -> bool,
) -> IdVec<LineId, PortClass> {
    let (meets, takes_controls) = (meets(scenario), control_lines(scenario));
    let (polices, in_common) = (policed_ports(scenario), policed_in_common(scenario));
    let is_judging = |number: LineId| takes_controls[number] || in_common[number] || is_recorded(number);
    let of_port = |((number, line), port): ((LineId, &Line), &Port)| PortClass {
        rule: if is_judging(number) { None } else { rule(line, port) },
        memory: None,
        quiet: None,
        is_from_host: scenario.nodes[line.from].kind == NodeKind::Host,
        meets: meets[number],
        polices: polices[number],
        polices_in_common: in_common[number],
        loses: !port.gates().is_empty(),
        draws: port.gates().iter().any(Gate::draws),
        marks: port.admission.rule().is_none(),
        changes: !line.rate.is_constant(),
    };
    let lines = scenario.lines.pairs();
    let mut ports: IdVec<LineId, PortClass> = lines.zip(&network.ports).map(of_port).collect();
    let is_ruled = |port: &PortClass| {
        port.rule.is_some() && !port.polices && !port.loses && !port.is_from_host && !port.changes
    };
    // packets have no identity there, by which a scheme draws
    let limits = |memory: &Memory| allows(Form::SharedPorts) && !memory.acts() && !memory.draws();
    let memories = ruled_memories(network, limits, |port| is_ruled(&ports[port]));
    let takes_all = |number: LineId| {
        let (line, port, class) = (&scenario.lines[number], &network.ports[number], &ports[number]);
        let is_apart = !class.polices && !class.changes && !is_recorded(number);
        is_apart && port.has_open_gates() && matches!(rule_of_open(line, port), Some(Rule::Fits))
    };
    let can_be_quiet = |memory: &Memory| memory.acts() && !memory.draws() && memory.quiet_bound().is_some();
    let of_memories =
        ruled_memories(network, can_be_quiet, |port| !ports[port].is_from_host && takes_all(port));
    let quiet = |number: LineId| match of_memories.get(number).copied().flatten() {
        Some(memory) => Some(StationId::new(scenario.lines.len() + memory.index())),
        None => {
            let port = &network.ports[number];
            let can_stop = port.share().is_none() && !port.gates().is_empty();
            (can_stop && takes_all(number)).then(|| number.station())
        }
    };
    let quiet: Vec<_> =
        scenario.lines.keys().map(|port| quiet(port).filter(|_| allows(Form::QuietPorts))).collect();
    ports.iter_mut().zip(memories).for_each(|(port, memory)| port.memory = memory);
    ports.iter_mut().zip(quiet).for_each(|(port, group)| port.quiet = group);
    for (port, line) in ports.iter_mut().zip(&scenario.lines) {
        port.rule = port.rule.filter(|_| !matches!(line.port.measure, Measure::MemoryCells(_)));
    }
    ports
}

/// The rule by which a port accepts packets, if it has one and sends them in order, each as soon as the line is free.
fn rule(line: &Line, port: &Port) -> Option<Rule> {
    rule_of_open(line, port).filter(|_| port.gates().iter().all(Gate::only_loses))
}

/// The rule by which a port accepts packets whose gates are open, if it has one and sends them in order.
fn rule_of_open(line: &Line, port: &Port) -> Option<Rule> {
    let fifo = matches!(line.port.scheduler, scheduler::Spec::Fifo(_));
    let is_plain =
        fifo && line.rest == Span::ZERO && !line.rate.sends_at_once() && !port.trims() && !port.times_waits();
    let rule = if is_plain { port.admission.rule_for_packets() } else { None };
    rule.filter(|rule| matches!(rule, Rule::Fits | Rule::Frames { .. }))
}

/// The steps of the routes, as far as they are known.
struct Rows<'a> {
    scenario: &'a Scenario,
    ports: &'a IdVec<LineId, PortClass>,
    ends: &'a Ends,
    /// What the policer of each circuit may do to its packets.
    policers: IdVec<CircuitId, Entrance>,
    list: Vec<Step>,
    extras: Vec<StepExtras>,
    kinds: Kinds,
}

impl<'a> Rows<'a> {
    fn new(
        scenario: &'a Scenario,
        network: &Network,
        ports: &'a IdVec<LineId, PortClass>,
        ends: &'a Ends,
    ) -> Rows<'a> {
        let length = scenario.vcs.iter().flat_map(Vc::routes).map(|path| path.len() + 1).sum();
        let (list, extras) = (Vec::with_capacity(length), Vec::with_capacity(length));
        let (policers, kinds) = (policers(scenario, network), Kinds::default());
        Rows { scenario, ports, ends, policers, list, extras, kinds }
    }

    /// Add the steps of a route of a circuit; returns the first one.
    fn push(&mut self, vc: CircuitId, way: RouteClass, path: &[LineId], hops: &[Hop]) -> u32 {
        let first = self.list.len() as u32;
        for (hop, (&line, port)) in (0..).zip(path.iter().zip(hops)) {
            let policer = if hop == police::HOP { self.policers[vc] } else { Entrance::Open };
            let stop = self.ports[line].destination_of(policer != Entrance::Open);
            let kind = self.kinds.place(self.scenario, way, line, stop);
            let entrance = self.ports[line].entrance_of(policer);
            self.extras.push(StepExtras { circuit: vc, number: port.vc, hop, entrance });
            self.list.push(Step { place: line.0, kind });
        }
        let last = *path.last().expect("a circuit has a port");
        let (stop, place) = self.ends.hosts[self.scenario.lines[last].to];
        let kind = self.kinds.place(self.scenario, way, last, stop);
        let (number, hop, entrance) = (PortVc(0), path.len() as u8, Entrance::Open);
        self.extras.push(StepExtras { circuit: vc, number, hop, entrance });
        self.list.push(Step { place, kind });
        first
    }
}

/// For every port the memory that it shares, if the memory can be ruled, and all its ports are; empty if there is no such memory.
fn ruled_memories(
    network: &Network,
    can_be_ruled: impl Fn(&Memory) -> bool,
    is_ruled: impl Fn(LineId) -> bool,
) -> IdVec<LineId, Option<MemoryId>> {
    let mut ruled: IdVec<MemoryId, bool> = network.memories().map(can_be_ruled).collect();
    if !ruled.iter().any(|ruled| *ruled) {
        return IdVec::default();
    }
    let shares = network.ports.iter().map(|port| port.share().map(Share::number));
    let shares: IdVec<LineId, Option<MemoryId>> = shares.collect();
    for (port, memory) in shares.pairs().filter_map(|(port, memory)| Some((port, (*memory)?))) {
        ruled[memory] &= is_ruled(port);
    }
    shares.into_iter().map(|memory| memory.filter(|memory| ruled[*memory])).collect()
}

/// The values that routes of one kind share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RouteClass {
    /// What the first link adds to a packet.
    padding: Padding,
    /// Whether it is a route of acknowledgements.
    answers: bool,
    /// Whether the circuit numbers its packets: several flows use it, or it has several routes.
    is_counted: bool,
}

/// The routes of the circuits; those of a flow are adjacent.
fn ways(scenario: &Scenario) -> Vec<(CircuitId, RouteClass)> {
    let circuits = || scenario.flows.iter().flat_map(|flow| iter::once(flow.vc).chain(flow.back));
    let mut flows = IdVec::filled(0, scenario.vcs.len());
    circuits().for_each(|vc| flows[vc] += 1);
    let way = |vc: CircuitId| {
        let (flows, Vc { framing, payload, spread, .. }) =
            (std::mem::take(&mut flows[vc]), &scenario.vcs[vc]);
        let &Framing::Packet(padding) = framing else { unreachable!("all lines carry packets") };
        let is_counted = flows > 1 || spread.is_some();
        (flows > 0).then_some((vc, RouteClass { padding, answers: payload.is_none(), is_counted }))
    };
    circuits().filter_map(way).collect()
}

/// For every line whether it can be paused, or may carry pauses for the other direction.
fn control_lines(scenario: &Scenario) -> IdVec<LineId, bool> {
    let paused = scenario.stopped_lines();
    let carries = |(line, of): (&bool, &Line)| *line || of.back.is_some_and(|back| paused[back]);
    paused.iter().zip(&scenario.lines).map(carries).collect()
}

/// For every circuit what its policer may do to its packets.
fn policers(scenario: &Scenario, network: &Network) -> IdVec<CircuitId, Entrance> {
    let mut policers = IdVec::filled(Entrance::Open, scenario.vcs.len());
    for flow in scenario.flows.iter().filter(|flow| flow.police.is_some()) {
        let draws = network.circuits[flow.vc].policer_draws();
        policers[flow.vc] = if draws { Entrance::Drawn } else { Entrance::Policed };
    }
    policers
}

/// Kinds of steps, and the index of each known one.
#[derive(Default)]
struct Kinds {
    list: Vec<StepClass>,
    known: BTreeMap<(RouteClass, Rate, u16, Span, PacketDestination), u32>,
}

impl Kinds {
    /// The index of the kind of steps at a line, or at the host at its end.
    fn place(&mut self, scenario: &Scenario, way: RouteClass, line: LineId, stop: PacketDestination) -> u32 {
        let line = &scenario.lines[line];
        let latency = latency(scenario, line);
        *self.known.entry((way, line.rate.mean(), line.minimum, latency, stop)).or_insert_with(|| {
            self.list.push(StepClass::new(way, stop, line, latency));
            self.list.len() as u32 - 1
        })
    }
}

/// For every port whether packets arrive over several lines.
fn meets(scenario: &Scenario) -> IdVec<LineId, bool> {
    let (mut meets, mut known) =
        (IdVec::filled(false, scenario.lines.len()), IdVec::filled(None, scenario.lines.len()));
    for path in scenario.vcs.iter().flat_map(Vc::routes) {
        for (&line, &port) in path.iter().zip(&path[1..]) {
            meets[port] |= known[port].replace(line).is_some_and(|other| other != line);
        }
    }
    meets
}

/// The hosts, by the ends that they have.
#[derive(Debug)]
pub(crate) struct Ends {
    /// For every node how packets arrive there, and the value of [`Step::place`]: the end, or the number of the host.
    hosts: IdVec<NodeId, (PacketDestination, u32)>,
    /// Hosts with several ends that act ahead of time, and for each end the number of such a host.
    pub(crate) shared: usize,
    pub(crate) shared_by: Vec<Option<u32>>,
    /// The lines on which several ends may pace, or at hosts that do not act ahead of time: their network interfaces are further ends,
    /// numbered behind those of all flows. A paced flow that has its host to itself takes its turns with its timers.
    pub(crate) nics: Vec<LineId>,
}

impl Ends {
    /// Build the ends. A host acts ahead of time if all arrivals that make it act come over one line, and if its port
    /// decides about its packets by a rule.
    fn new(scenario: &Scenario, rules: &IdVec<LineId, Option<Rule>>) -> Ends {
        let (mut ends, suits) = (ends(scenario), suits(scenario, rules));
        let is_alone = |line: &LineId| {
            let node = scenario.lines[*line].from;
            suits[node] && ends[node].len() == 1
        };
        let nics: Vec<LineId> = scenario.paced_lines().into_iter().filter(|line| !is_alone(line)).collect();
        for (nic, line) in (2 * scenario.flows.len() as u32..).zip(&nics) {
            ends[scenario.lines[*line].from].push(nic);
        }
        let mut shared_by = vec![None; ends.iter().map(Vec::len).sum()];
        let mut shared = 0;
        let host = |(ends, suits): (Vec<u32>, bool)| match ends.as_slice() {
            _ if !suits => (PacketDestination::Host, 0),
            &[end] => (PacketDestination::End, end),
            _ => {
                ends.iter().for_each(|end| shared_by[*end as usize] = Some(shared));
                shared += 1;
                (PacketDestination::Ends, shared - 1)
            }
        };
        let hosts = ends.into_iter().zip(suits).map(host).collect();
        Ends { hosts, shared: shared as usize, shared_by, nics }
    }
}

/// For every node the ends of flows that are there.
fn ends(scenario: &Scenario) -> IdVec<NodeId, Vec<u32>> {
    let mut ends = IdVec::filled(Vec::new(), scenario.nodes.len());
    for (source, flow) in (0..).step_by(2).zip(&scenario.flows) {
        ends[flow.from].push(source);
        ends[flow.to].push(source + 1);
    }
    ends
}

/// For every node whether exactly one line brings packets to it, its ports decide by rules, no segment takes time, and no transfer waits
/// for one of another host, there or elsewhere.
fn suits(scenario: &Scenario, rules: &IdVec<LineId, Option<Rule>>) -> IdVec<NodeId, bool> {
    let nodes = scenario.nodes.len();
    let (mut suits, mut line) = (IdVec::filled(true, nodes), IdVec::filled(None, nodes));
    for flow in &scenario.flows {
        for (node, sends) in [(flow.from, Some(flow.vc)), (flow.to, flow.back)] {
            let mut routes = sends.into_iter().flat_map(|vc| scenario.vcs[vc].routes());
            let is_judged = routes.any(|path| rules[path[0]].is_none());
            suits[node] &= flow.processing == Span::ZERO && !is_judged;
        }
    }
    for waits in scenario.waits_across_hosts() {
        waits.iter().for_each(|flow| suits[flow.from] = false);
    }
    for path in scenario.vcs.iter().flat_map(Vc::routes) {
        let last = *path.last().expect("a circuit has a port");
        let node = scenario.lines[last].to;
        suits[node] &= line[node].replace(last).is_none_or(|other| other == last);
    }
    suits.into_iter().zip(line).map(|(suits, line)| suits && line.is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_handled_by_what_arrives_there_and_what_its_policy_does() {
        use PacketDestination::{Alone, Judging, Marking, Meet, Shared};
        let ruled = PortClass { rule: Some(Rule::Fits), ..PortClass::default() };
        let cases = [
            (PortClass::default(), [Judging, Judging]),
            (PortClass { memory: Some(MemoryId(0)), ..PortClass::default() }, [Shared, Shared]),
            (ruled, [Alone, Alone]),
            (PortClass { meets: true, ..ruled }, [Meet, Marking]),
            (PortClass { polices: true, ..ruled }, [Meet, Marking]),
            (PortClass { marks: true, ..ruled }, [Marking, Marking]),
            (PortClass { loses: true, ..ruled }, [Marking, Marking]),
            (PortClass { loses: true, is_from_host: true, ..ruled }, [Marking, Marking]),
            (PortClass { meets: true, is_from_host: true, ..ruled }, [Alone, Alone]),
        ];
        for (port, expected) in cases {
            assert_eq!([false, true].map(|is_policed| port.destination_of(is_policed)), expected, "{port:?}");
        }
    }
}
