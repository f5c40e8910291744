//! A scenario that has been checked: everything in it is valid.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

pub use super::file::{EngineKind, Medium, NodeKind, Routing};
use super::file::{FlowSection, LossSection, MemorySection, QueueSection, ReorderSection, StormSection};
use super::hash::Hash;
use crate::adaptation::{self, Framing};
use crate::buffer::admission;
use crate::buffer::capacity::Capacity;
use crate::buffer::context::QueueTerms;
use crate::buffer::pushout;
use crate::buffer::size::{CellSize, Measure};
use crate::kernel::Ties;
use crate::language::set::Set;
use crate::language::spec::{Named, Nested};
use crate::language::tree;
use crate::link::gate::delay::Delay;
use crate::link::gate::{self, cbs, ceiling, loss, reorder, repeat, storm};
use crate::link::law::Law;
use crate::memory::{self, QueueLimits, Side, ThresholdCheck, sharing};
use crate::police;
use crate::refused::Refused;
use crate::rng::NameKeys;
use crate::scheduler;
use crate::source::{self, Source};
use crate::transport::{self, Transport};
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId, MemoryId, NodeId, PoolQueue, PortVc};
use crate::units::{Rate, Span, Time};
use crate::workload::order::Order;

/// The text of a scenario whose routes or transfers depend on the seed, so that it must be checked again for another
/// seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    pub(super) root: tree::Node,
    pub(super) sets: Vec<Set>,
}

/// A scenario, expanded and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Short name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Simulated time.
    pub duration: Span,
    /// Initial period excluded from all figures.
    pub warmup: Span,
    /// Time between two samples of the occupancy of limited buffers.
    pub sample: Span,
    /// Engine to run on.
    pub engine: EngineKind,
    /// Choice among equally short routes.
    pub routing: Routing,
    /// The longest gap between packets of a flowlet, if flowlets choose routes.
    pub flowlet_gap: Option<Span>,
    /// Adaptation of packets, unless a link has its own.
    pub adaptation: adaptation::Spec,
    /// Nodes; elsewhere a node is given by its index in this list.
    pub nodes: IdVec<NodeId, NetworkNode>,
    /// Lines, one for each direction of each link; the sending port of line `i` is port `i`.
    pub lines: IdVec<LineId, Line>,
    /// The keys of lines, by their names: they decide which line comes first at one instant.
    pub line_keys: NameKeys,
    /// Virtual circuits.
    pub vcs: IdVec<CircuitId, Vc>,
    /// The keys of circuits, by name and direction: random numbers about a circuit depend on them.
    pub circuit_keys: NameKeys,
    /// Flows.
    pub flows: IdVec<FlowId, Flow>,
    /// Flows that draw transfers, in the order of the file.
    pub drawings: Vec<Drawing>,
    /// The workload and its transfers, if the scenario has one.
    pub workload: Option<Workload>,
    /// Memories that ports share; elsewhere a memory is given by its index in this list.
    pub memories: IdVec<MemoryId, NodeMemory>,
    /// Losses by intent, in the order of the file.
    pub losses: Vec<loss::Spec>,
    /// Reordering by intent, in the order of the file.
    pub reorders: Vec<reorder::Spec>,
    /// Pauses from outside, in the order of the file.
    pub storms: Vec<storm::Spec>,
    /// The additional figures of the report.
    pub measure: Measures,
    /// The sections of memories and classes, as they were written.
    pub sections: Sections,
    /// The text of the scenario, if its routes or transfers depend on the seed.
    pub origin: Option<Arc<Origin>>,
}

/// Sections as written, whose meaning depends on the rest of the scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sections {
    /// Sections of memories.
    pub memories: Named<MemorySection>,
    /// Sections of classes of traffic.
    pub queues: Named<QueueSection>,
    /// Sections of losses by intent.
    pub losses: Vec<LossSection>,
    /// Sections of reordering by intent.
    pub reorders: Vec<ReorderSection>,
    /// Sections of pauses from outside.
    pub storms: Vec<StormSection>,
}

/// A memory of one node, or one of its partitions.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeMemory {
    /// Name of the memory in the report.
    pub name: String,
    /// Node of the memory.
    pub node: NodeId,
    /// Number of cells.
    pub cells: u64,
    /// Size of the cells that packets fill, and overhead of a packet.
    pub cell: CellSize,
    /// Which length of a queue is compared with its threshold.
    pub check: ThresholdCheck,
    /// Scheme by which the shared room of each pool is divided.
    pub sharing: sharing::Spec,
    /// Push-out policy, if the memory has one.
    pub pushout: Option<memory::pushout::Spec>,
    /// Pools of the memory.
    pub pools: Vec<MemoryPool>,
    /// Queues of the memory.
    pub queues: Vec<MemoryQueue>,
    /// The ports that share the memory, each with the queues of its circuits.
    pub ports: Vec<(LineId, Arc<IdVec<PortVc, memory::Account>>)>,
    /// For those of these ports that cut packets the memory refuses, how they cut the packets of each circuit.
    pub trims: BTreeMap<LineId, Arc<IdVec<PortVc, Option<memory::Trim>>>>,
}

impl NodeMemory {
    /// Return the name of the section that describes the memory: the memory's name without the node and the
    /// partition.
    pub fn section(&self) -> &str {
        self.name.split(['@', '/']).next().unwrap_or_default()
    }

    /// Build the scheme that divides the shared room of one of its pools; the error says why that is impossible.
    pub fn scheme(&self, pool: &MemoryPool, scenario: &Scenario) -> Result<sharing::Policy, Refused> {
        let capacity = Capacity::limited(pool.shared);
        let measure = Measure::MemoryCells(self.cell);
        let name = [self.name.as_str(), &pool.name];
        let (seed, circuits) = (scenario.seed, &scenario.circuit_keys);
        self.sharing.build(&sharing::Context { capacity, measure, queues: &pool.terms, seed, name, circuits })
    }

    /// Build the push-out policy, if the memory has one; the error says why that is impossible.
    pub fn makes_room(&self, scenario: &Scenario) -> Result<Option<memory::pushout::Policy>, Refused> {
        let Some(pushout) = &self.pushout else { return Ok(None) };
        let rates: Vec<Rate> =
            self.queues.iter().map(|queue| scenario.lines[queue.line].rate.mean()).collect();
        let (seed, circuits) = (scenario.seed, &scenario.circuit_keys);
        let (name, measure) = (self.name.as_str(), Measure::MemoryCells(self.cell));
        let (cells, rates) = (self.cells, rates.as_slice());
        pushout.build(&memory::pushout::Context { cells, measure, rates, seed, name, circuits }).map(Some)
    }
}

/// A counter over a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryPool {
    /// Name of the pool.
    pub name: String,
    /// Side of the node on which the pool counts.
    pub side: Side,
    /// Shared room in cells.
    pub shared: u64,
    /// Headroom in cells.
    pub headroom: u64,
    /// Facts about each queue of the pool that the sharing scheme may use.
    pub terms: Vec<QueueTerms>,
}

/// A queue of a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryQueue {
    /// Name of the queue's class.
    pub class: String,
    /// The line of the queue's port; on the ingress side, the line over which its packets arrive.
    pub line: LineId,
    /// Index of the queue's pool.
    pub pool: usize,
    /// Number of the queue in its pool.
    pub number: PoolQueue,
    /// Limits of the queue.
    pub limits: QueueLimits,
}

/// The additional figures of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// Windows in which the throughput of every flow is reported over time.
    pub throughput: Option<Windows>,
    /// Ports whose sampled occupancy is reported over time.
    pub occupancy: Vec<LineId>,
    /// Ports whose losses are reported over time.
    pub losses: Vec<LineId>,
    /// Ports whose marks are reported over time.
    pub marks: Vec<LineId>,
    /// Ports whose pauses are reported over time.
    pub pauses: Vec<LineId>,
    /// Ports of which the distribution of sojourn times is reported.
    pub sojourn: Vec<LineId>,
    /// Memories whose occupancy and thresholds are reported over time.
    pub memories: Vec<MemoryId>,
    /// TCP flows whose congestion window is reported over time.
    pub cwnd: Vec<FlowId>,
    /// Ports and TCP flows whose state is reported over time.
    pub state: States,
    /// Whether the time of every transfer is reported.
    pub transfers: bool,
    /// Ports whose policy reports the rates that it measures over time.
    pub meter: Vec<LineId>,
    /// Whether percentiles of the time to deliver are reported.
    pub delivery: bool,
    /// Line whose rate is the unit of effective throughput.
    pub reference: Option<LineId>,
    /// Two classes of flows that are compared.
    pub fairness: Option<[Fair; 2]>,
}

/// Ports and flows whose state is reported over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct States {
    /// Ports.
    pub ports: Vec<LineId>,
    /// TCP flows.
    pub flows: Vec<FlowId>,
}

/// Windows of time, each beginning one step after the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Length of a window, a multiple of the step.
    pub window: Span,
    /// Time between the starts of two windows.
    pub step: Span,
}

/// The fair share of a class of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Fair {
    /// The class.
    pub class: String,
    /// Fair share of the class.
    pub share: f64,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkNode {
    /// Name of the node.
    pub name: String,
    /// Kind of node.
    pub kind: NodeKind,
    /// Time a unit spends inside before it reaches the output port, or its host.
    pub latency: Span,
    /// How it hashes flows, unless by a seed that follows from that of the run.
    pub hash: Option<Hash>,
}

/// One direction of a link, with the port that feeds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Name of the line and of its port.
    pub name: String,
    /// Name that lines of one role share, for `[port.…]` sections; empty if none.
    pub class: String,
    /// Node at which the line starts.
    pub from: NodeId,
    /// Node at which the line ends.
    pub to: NodeId,
    /// Rate over time.
    pub rate: Law,
    /// Propagation delay over time.
    pub delay: Delay,
    /// Repetitions of packets, if the link repeats any.
    pub repeat: Option<Arc<repeat::Params>>,
    /// Longest of the random rests of a host before each frame.
    pub rest: Span,
    /// Weight of the line among equal lines.
    pub weight: u32,
    /// Least octets of a unit on the line: shorter ones are padded. 0 on cell lines, and without padding.
    pub minimum: u16,
    /// Medium of the line.
    pub medium: Medium,
    /// The line of the same link in the other direction, if there is one.
    pub back: Option<LineId>,
    /// Port of the line; lines with one section share the value as long as their ports are equal.
    pub port: Arc<Port>,
}

impl Line {
    /// Return whether the occupancy of the line's port is sampled: it is if the buffer is limited.
    pub fn is_sampled(&self) -> bool {
        self.port.capacity.is_limited()
    }

    /// Return whether every unit arrives an equal time after it has left.
    pub fn keeps_its_delay(&self) -> bool {
        self.delay.is_constant() && self.repeat.is_none()
    }

    /// Return whether units are on the line for a time that depends on their size alone.
    pub fn is_steady(&self) -> bool {
        self.rate.is_constant() && self.keeps_its_delay()
    }

    /// Return the octets that a frame of this many octets takes on the line.
    pub fn octets(&self, octets: u64) -> u64 {
        octets.max(self.minimum.into())
    }

    /// Return the rate that the line can sustain: its own mean rate, or the rate of a gate of its port if that is less.
    pub fn sending_rate(&self) -> Rate {
        let mean = self.rate.mean();
        self.port.gates.rate().map_or(mean, |rate| rate.min(mean))
    }

    /// Return the rate, in bits per second, that the line can sustain over the measured time: its mean rate then, or the rate of a gate of its port if
    /// that is less.
    pub fn measured_rate(&self, scenario: &Scenario) -> f64 {
        let mean = self.rate.mean_between(scenario.warmup, scenario.duration);
        self.port.gates.rate().map_or(mean, |rate| rate.as_f64().min(mean))
    }
}

/// A port.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Measure in which the port counts.
    pub measure: Measure,
    /// Capacity in this measure; for a port that shares a memory, the capacity of the memory.
    pub capacity: Capacity,
    /// Section of the memory that the port shares, if it has no buffer of its own.
    pub memory: Option<String>,
    /// Admission policy.
    pub admission: admission::Spec,
    /// Push-out policy, which removes queued units when the buffer is full, if the port has one.
    pub pushout: Option<pushout::Spec>,
    /// Scheduler.
    pub scheduler: scheduler::Spec,
    /// Whether packets are cut to their headers instead of being lost.
    pub trims: bool,
    /// Gates that the port's section requests, with all parameters fixed for this line.
    pub gates: gate::Keys,
}

impl Port {
    /// Return whether packets of one circuit may overtake each other at the port.
    pub fn lets_overtake(&self) -> bool {
        self.scheduler.splits_circuits() || self.trims || self.gates.lower().is_some()
    }

    /// Return whether gates of the port let waiting units start at instants of their own.
    pub(crate) fn has_timed_gates(&self, queues: &Named<QueueSection>) -> bool {
        let limits = || queues.0.iter().any(|(_, queue)| queue.maximum.is_some() || queue.cbs.is_some());
        self.gates.gates.is_some() || self.scheduler.groups_classes() && limits()
    }
}

/// A virtual circuit: a path through the network, or several.
#[derive(Clone, Debug, PartialEq)]
pub struct Vc {
    /// Name of the circuit.
    pub name: String,
    /// Lines from source host to destination host; the first route if there are several.
    pub path: Vec<LineId>,
    /// Routes of the circuit, if it has several.
    pub spread: Option<Box<RouteSpread>>,
    /// Minimum cell rate; zero without a guarantee.
    pub mcr: Rate,
    /// Share or weight.
    pub weight: f64,
    /// Priority: a lower number is served first by schedulers with priorities.
    pub priority: u32,
    /// Class of the circuit in shared memories.
    pub queue: usize,
    /// Class of the packets that the circuit's senders mark as unscheduled; `queue` if they mark none.
    pub unscheduled: usize,
    /// Framing of the circuit's packets, on every line of the path.
    pub framing: Framing,
    /// Octets of the largest packet that the circuit's flows send, IP header included; for single cells their
    /// payload.
    pub packet: u32,
    /// Octets of application data in a full packet; `None` if the circuit only carries acknowledgements.
    pub payload: Option<u32>,
    /// First flow whose data the circuit carries; `None` if it only carries acknowledgements.
    pub flow: Option<FlowId>,
}

impl Vc {
    /// Return the name with the direction: a flow may have the name of another one's acknowledgements.
    pub(super) fn directed_name(&self) -> String {
        format!("{}.{}", if self.flow.is_some() { "data" } else { "acknowledgements" }, self.name)
    }

    /// Return the routes of the circuit, each as a list of lines.
    pub fn routes(&self) -> impl Iterator<Item = &[LineId]> {
        let only = self.spread.is_none().then_some(&self.path[..]);
        let several = self.spread.iter().flat_map(|spread| &spread.periods);
        let several = several.flat_map(|period| period.routes.iter().map(|route| &route.path[..]));
        only.into_iter().chain(several)
    }

    /// Return the lines of the circuit, each once; with a single route, in the order of the route.
    pub fn lines(&self) -> Cow<'_, [LineId]> {
        if self.spread.is_none() {
            return Cow::Borrowed(&self.path);
        }
        let lines: BTreeSet<LineId> = self.routes().flatten().copied().collect();
        Cow::Owned(lines.into_iter().collect())
    }

    /// Return the routes at the beginning of the run, each with its share of the packets.
    pub fn shares(&self) -> Vec<(&[LineId], f64)> {
        let Some(period) = self.spread.as_ref().map(|spread| &spread.periods[0]) else {
            return vec![(&self.path, 1.0)];
        };
        let ends = period.routes.iter().map(|route| (route.last as f64 + 1.0) / 2f64.powi(64));
        let begins = std::iter::once(0.0).chain(ends.clone());
        let shares = ends.zip(begins).map(|(end, begin)| end - begin);
        period.routes.iter().map(|route| &route.path[..]).zip(shares).collect()
    }
}

/// The routes of a circuit that has several: its packets are divided among them, or they replace each other in time.
/// A packet keeps the route on which it leaves its host.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteSpread {
    /// Key of a hash that turns the serial number of a packet into a random number of 64 bits.
    pub key: u64,
    /// The longest gap between packets of a flowlet, if the packets of a flowlet have one route.
    pub flowlet_gap: Option<Span>,
    /// Periods in the order of time; the first period begins with the run.
    pub periods: Vec<Period>,
}

/// A part of the run with constant routes.
#[derive(Clone, Debug, PartialEq)]
pub struct Period {
    /// Beginning of the period.
    pub since: Span,
    /// The routes.
    pub routes: Arc<[SharedRoute]>,
}

/// One of several routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRoute {
    /// Lines of the route.
    pub path: Vec<LineId>,
    /// The largest random number that selects this route; smaller numbers may select an earlier route.
    pub last: u64,
}

/// A transfer that a source has drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Size of the transfer in octets.
    pub octets: u64,
    /// Number of the query to which the transfer belongs, among the queries of its source.
    pub query: Option<u32>,
}

/// A flow that draws transfers; each of its transfers is a flow as well.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// The flow as the scenario gives it.
    pub asked: FlowSection,
    /// The transfers, as a range of indices in the list of flows.
    pub flows: Range<usize>,
}

/// A workload with its transfers; each of them is a flow as well.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// What all transfers have in common.
    pub asked: FlowSection,
    /// The transfers, as a range of indices in the list of flows.
    pub flows: Range<usize>,
    /// Which transfers wait for others, if any do.
    pub order: Option<Arc<Order>>,
}

impl Workload {
    /// Name of the workload where flows are named, and the beginning of the names of transfers that have no name of
    /// their own.
    pub const NAME: &'static str = "workload";
}

impl Scenario {
    /// Return whether packets may pass others behind this line, by intent.
    pub(crate) fn reorders_on(&self, line: LineId) -> bool {
        self.reorders.iter().any(|spec| spec.line == line)
    }

    /// Return the order of units that reach the ends of different lines at one instant.
    pub(crate) fn ties(&self) -> Ties {
        Ties::new(self.seed, &self.line_keys)
    }

    /// Return whether gates of any port let waiting units start at instants of their own.
    pub(crate) fn has_timed_gates(&self) -> bool {
        self.lines.iter().any(|line| line.port.has_timed_gates(&self.sections.queues))
    }

    /// Return the maximum rates of classes at a port.
    pub(crate) fn maxima(&self, port: &Port) -> Vec<ceiling::Maximum> {
        let queues = self.sections.queues.0.iter().filter(|_| port.scheduler.groups_classes());
        let maximum = |(class, (_, queue)): (u32, &(String, QueueSection))| {
            Some(ceiling::Maximum { class, rate: queue.maximum?, burst: queue.burst.0 })
        };
        (0..).zip(queues).filter_map(maximum).collect()
    }

    /// Return the credit-based shapers of classes at a port.
    pub(crate) fn slopes(&self, port: &Port) -> Vec<cbs::Slope> {
        let queues = self.sections.queues.0.iter().filter(|_| port.scheduler.groups_classes());
        let slope = |(class, (_, queue)): (u32, &(String, QueueSection))| {
            let Nested(cbs::Params { idle_slope, hi_credit, lo_credit }) = queue.cbs.as_ref()?;
            let bounds = [hi_credit, lo_credit].map(|bound| Some(bound.as_ref()?.0));
            Some(cbs::Slope { class, idle: *idle_slope, bounds })
        };
        (0..).zip(queues).filter_map(slope).collect()
    }

    /// Return the names of flows that stand for several transfers, each with these transfers as a range of indices in
    /// the list of flows.
    pub fn batches(&self) -> impl Iterator<Item = (&str, &Range<usize>)> {
        let drawings = self.drawings.iter().map(|drawing| (drawing.asked.name.as_str(), &drawing.flows));
        drawings.chain(self.workload.iter().map(|workload| (Workload::NAME, &workload.flows)))
    }

    /// Return whether flows are transfers, which have a connection of their own each.
    pub fn has_transfers(&self) -> bool {
        !self.drawings.is_empty() || self.workload.is_some()
    }

    /// Return the order of transfers that wait for others, with the index of the first transfer of the workload.
    pub fn order(&self) -> Option<(usize, &Order)> {
        let workload = self.workload.as_ref()?;
        Some((workload.flows.start, workload.order.as_deref()?))
    }

    /// Return the pairs of transfers that different hosts send and of which the second waits for the first.
    pub fn waits_across_hosts(&self) -> impl Iterator<Item = [&Flow; 2]> {
        let pairs = self.order().into_iter().flat_map(move |(first, order)| {
            let flow = move |number: usize| &self.flows[FlowId::new(first + number)];
            let pairs_of = move |number: usize| {
                order.next(number).iter().map(move |&next| [flow(number), flow(next as usize)])
            };
            (0..order.waits().len()).flat_map(pairs_of)
        });
        pairs.filter(|[awaited, waiting]| awaited.from != waiting.from)
    }

    /// Return whether a flow is a transfer that waits for others.
    pub fn waits(&self, flow: FlowId) -> bool {
        let waits = |(first, order): (usize, &Order)| {
            flow.index()
                .checked_sub(first)
                .and_then(|number| order.waits().get(number))
                .is_some_and(|waits| *waits > 0)
        };
        self.order().is_some_and(waits)
    }
}

/// A flow: an application, its transport and the circuits it uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Name of the flow.
    pub name: String,
    /// Host that sends.
    pub from: NodeId,
    /// Host that receives.
    pub to: NodeId,
    /// Nodes that the flow's route must pass, if a hash chooses between the routes through them.
    pub via: Vec<NodeId>,
    /// Circuit of the data.
    pub vc: CircuitId,
    /// Circuit of the acknowledgements, if the transport has acknowledgements.
    pub back: Option<CircuitId>,
    /// Start of the application.
    pub start: Span,
    /// Length of the interval after `start` in which the start is drawn at random.
    pub start_spread: Span,
    /// Time at which the application stops; `None` if it does not stop.
    pub stop: Option<Span>,
    /// The application.
    pub source: Arc<source::Spec>,
    /// The flow's only transfer, if a source has drawn it.
    pub transfer: Option<Transfer>,
    /// The transport.
    pub transport: Arc<transport::Spec>,
    /// The policer at the first switch, if there is one.
    pub police: Option<Arc<police::Spec>>,
    /// Name of the flow's class, whose joint figures a report gives; empty if none.
    pub class: String,
    /// Mean time that either host needs for each segment that it sends or receives; zero if segments take no time.
    pub processing: Span,
    /// Largest difference of such a time from the mean.
    pub processing_variation: Span,
}

impl Flow {
    /// Return when the flow's application stops; `Time::NEVER` if it does not.
    pub fn stops_at(&self) -> Time {
        self.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop)
    }

    /// Return the octets of the flow's largest packet, IP header included; for single cells their payload.
    pub fn packet(&self) -> u32 {
        let needs = self.transport.needs(&self.source).expect("a transport that carries its source");
        u32::try_from(needs.octets()).expect("a packet of at most 65535 octets")
    }

    /// Return the mean of a quantity that depends on the octets of a full packet, IP header included.
    pub fn mean_of_packet(&self, quantity: impl Fn(u32) -> f64) -> f64 {
        let headers = self.transport.header_bytes();
        match self.source.length().filter(|_| matches!(*self.transport, transport::Spec::Udp(_))) {
            Some(length) => length.mean_of(headers, |data| quantity(data as u32 + headers)),
            None => quantity(self.packet()),
        }
    }

    /// Return the bits of a mean packet on lines with this framing, or over TCP the bits of the data that the
    /// application writes at a time, without headers.
    pub fn mean_bits(&self, framing: Framing) -> u64 {
        let octets = match self.source.length().filter(|_| matches!(*self.transport, transport::Spec::Tcp(_)))
        {
            Some(length) => length.mean_of(0, |data| data as f64),
            None => self.mean_of_packet(|packet| framing.shape(packet).line_bytes() as f64),
        };
        libm::round(8.0 * octets) as u64
    }

    /// Return the octets of the flow's largest packet after IP and transport headers; options count as data here.
    pub fn payload(&self) -> u32 {
        self.packet() - self.transport.header_bytes()
    }

    /// Return the octets of IP packets per octet of data in full packets; options count as overhead. Single cells
    /// have no such headers and give 1.
    pub fn ip_overhead(&self) -> f64 {
        f64::from(self.packet()) / f64::from(self.payload() - self.transport.option_bytes())
    }
}
