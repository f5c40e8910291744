//! A scenario that has been checked: everything in it is valid.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

pub use super::file::{EngineKind, Medium, NodeKind, Routing};
use super::file::{FlowSection, LossSection, MemorySection, QueueSection};
use crate::adaptation::{self, Framing};
use crate::buffer::admission;
use crate::buffer::capacity::Capacity;
use crate::buffer::context::QueueTerms;
use crate::buffer::pushout;
use crate::buffer::size::{CellSize, Measure};
use crate::language::set::Set;
use crate::language::spec::Named;
use crate::language::tree;
use crate::link::gate::{self, loss};
use crate::memory::{self, QueueLimits, Side, ThresholdCheck, sharing};
use crate::police;
use crate::refused::Refused;
use crate::scheduler;
use crate::source::{self, Source};
use crate::transport::{self, Transport};
use crate::units::ids::{CircuitId, IdVec, PortVc};
use crate::units::{Rate, Span, Time};

/// Text of a scenario in which the seed decides about more than random streams: about routes.
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
    /// Adaptation of packets, unless a link has its own.
    pub adaptation: adaptation::Spec,
    /// Nodes; indices into this list name them elsewhere.
    pub nodes: Vec<NetworkNode>,
    /// Lines, one for each direction of each link; the sending port of line `i` is port `i`.
    pub lines: Vec<Line>,
    /// Virtual circuits.
    pub vcs: IdVec<CircuitId, Vc>,
    /// Flows.
    pub flows: Vec<Flow>,
    /// Flows whose transfers have been drawn, in their order.
    pub drawings: Vec<Drawing>,
    /// Memories that ports share; indices into this list name them elsewhere.
    pub memories: Vec<NodeMemory>,
    /// Losses by intent, in the order of the file.
    pub losses: Vec<loss::Spec>,
    /// The additional figures of the report.
    pub measure: Measures,
    /// The sections of memories and classes, as they were written.
    pub sections: Sections,
    /// Its text, if the seed decides about more than random streams.
    pub origin: Option<Arc<Origin>>,
}

/// Sections whose meaning depends on the rest of the scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sections {
    /// Sections of memories.
    pub memories: Named<MemorySection>,
    /// Sections of classes of traffic.
    pub queues: Named<QueueSection>,
    /// Sections of losses by intent.
    pub losses: Vec<LossSection>,
}

/// A memory of one node, or one of its partitions.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeMemory {
    /// Its name in the report.
    pub name: String,
    /// Its node.
    pub node: usize,
    /// Its cells.
    pub cells: u64,
    /// Cells that packets fill.
    pub cell: CellSize,
    /// Comparison of queues with their thresholds.
    pub check: ThresholdCheck,
    /// The policy of its pools.
    pub sharing: sharing::Spec,
    /// Its push-out policy, if it has one.
    pub pushout: Option<memory::pushout::Spec>,
    /// Its pools.
    pub pools: Vec<MemoryPool>,
    /// Its queues.
    pub queues: Vec<MemoryQueue>,
    /// The ports that share it, each with the queues of its circuits.
    pub ports: Vec<(usize, Arc<IdVec<PortVc, memory::Account>>)>,
}

impl NodeMemory {
    /// The section that describes it: its name without the node and the partition.
    pub fn section(&self) -> &str {
        self.name.split(['@', '/']).next().unwrap_or_default()
    }

    /// Build the scheme that divides the shared room of one of its pools; the error says why that is impossible.
    pub fn scheme(&self, pool: &MemoryPool) -> Result<sharing::Policy, Refused> {
        let capacity = Capacity::limited(pool.shared);
        let measure = Measure::MemoryCells(self.cell);
        self.sharing.build(&sharing::Context { capacity, measure, queues: &pool.terms })
    }
}

/// A counter over a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryPool {
    /// Its name.
    pub name: String,
    /// Side of a node on which it counts.
    pub side: Side,
    /// Its shared room in cells.
    pub shared: u64,
    /// Its headroom in cells.
    pub headroom: u64,
    /// Facts that its scheme may use about each of its queues.
    pub terms: Vec<QueueTerms>,
}

/// A queue of a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryQueue {
    /// Its class.
    pub class: String,
    /// Its port, or the line over which its packets arrive.
    pub line: usize,
    /// Its pool.
    pub pool: usize,
    /// Its number in that pool.
    pub number: usize,
    /// Its limits.
    pub limits: QueueLimits,
}

/// The additional figures of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// Windows in which the throughput of every flow is reported over time.
    pub throughput: Option<Windows>,
    /// Ports whose sampled occupancy is reported over time.
    pub occupancy: Vec<usize>,
    /// Ports whose losses are reported over time.
    pub losses: Vec<usize>,
    /// Memories whose occupancy and thresholds are reported over time.
    pub memories: Vec<usize>,
    /// TCP flows whose congestion window is reported over time.
    pub cwnd: Vec<usize>,
    /// Ports and TCP flows whose state is reported over time.
    pub state: States,
    /// Whether the time of every transfer is reported.
    pub transfers: bool,
    /// Ports whose policy reports the rates that it measures over time.
    pub meter: Vec<usize>,
    /// Whether percentiles of the time to deliver are reported.
    pub delivery: bool,
    /// Line whose rate is the unit of effective throughput.
    pub reference: Option<usize>,
    /// Two classes of flows that are compared.
    pub fairness: Option<[Fair; 2]>,
}

/// Ports and flows whose state is reported over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct States {
    /// Ports.
    pub ports: Vec<usize>,
    /// TCP flows.
    pub flows: Vec<usize>,
}

/// Windows that follow each other by a step.
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
    /// Its share.
    pub share: f64,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkNode {
    /// Its name.
    pub name: String,
    /// Kind of node.
    pub kind: NodeKind,
    /// Time a unit spends inside before it reaches the output port, or its host.
    pub latency: Span,
}

/// One direction of a link, with the port that feeds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Name of the line and of its port.
    pub name: String,
    /// Name that lines of one role share, for `[port.…]` sections; empty if none.
    pub class: String,
    /// Node at which it starts.
    pub from: usize,
    /// Node at which it ends.
    pub to: usize,
    /// Rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Longest of the random pauses before each frame.
    pub pause: Span,
    /// Medium of the line.
    pub medium: Medium,
    /// The line of the same link in the other direction, if there is one.
    pub back: Option<usize>,
    /// Its port, which lines of one section share as long as they have equal ports.
    pub port: Arc<Port>,
}

impl Line {
    /// Return whether the occupancy of its port is sampled: where the buffer is limited.
    pub fn is_sampled(&self) -> bool {
        self.port.capacity.is_limited()
    }

    /// The rate that it can sustain: its own, or that of a gate of its port if that is less.
    pub fn sending_rate(&self) -> Rate {
        self.port.gates.rate().map_or(self.rate, |rate| rate.min(self.rate))
    }
}

/// A port.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Unit in which it counts.
    pub measure: Measure,
    /// Capacity in that measure; of a port that shares a memory, all of it.
    pub capacity: Capacity,
    /// The section of the memory that it shares, if it has no buffer of its own.
    pub memory: Option<String>,
    /// Its admission policy.
    pub admission: admission::Spec,
    /// Policy that removes queued units when the buffer is full, if any.
    pub pushout: Option<pushout::Spec>,
    /// Its scheduler.
    pub scheduler: scheduler::Spec,
    /// Whether packets are cut to their headers instead of being lost.
    pub trims: bool,
    /// What loses, holds or delays its units by its section, with all parameters fixed for this line.
    pub gates: gate::Keys,
}

impl Port {
    /// Return whether packets of one circuit may overtake each other there.
    pub fn lets_overtake(&self) -> bool {
        self.scheduler.splits_circuits() || self.trims
    }
}

/// A virtual circuit: a path through the network, or several.
#[derive(Clone, Debug, PartialEq)]
pub struct Vc {
    /// Its name.
    pub name: String,
    /// Lines from source host to destination host; the first route if there are several.
    pub path: Vec<usize>,
    /// Its routes, if there are several.
    pub spread: Option<Box<RouteSpread>>,
    /// Minimum cell rate; zero without a guarantee.
    pub mcr: Rate,
    /// Share or weight.
    pub weight: f64,
    /// Priority: a lower number is served first by schedulers with priorities.
    pub priority: u32,
    /// Its class in shared memories.
    pub queue: usize,
    /// The class of packets that its senders mark as unscheduled; `queue` if they mark none.
    pub unscheduled: usize,
    /// Framing of its packets, on every line of the path.
    pub framing: Framing,
    /// Octets of the largest packet that its flows send, IP header included; for single cells their payload.
    pub packet: u32,
    /// Octets of application data in a full packet; none if it only carries acknowledgements.
    pub payload: Option<u32>,
    /// The first flow whose data it carries; none if it only carries acknowledgements.
    pub flow: Option<usize>,
}

impl Vc {
    /// Its routes, each as a list of lines.
    pub fn routes(&self) -> impl Iterator<Item = &[usize]> {
        let only = self.spread.is_none().then_some(&self.path[..]);
        let several = self.spread.iter().flat_map(|spread| &spread.periods);
        let several = several.flat_map(|period| period.routes.iter().map(|route| &route.path[..]));
        only.into_iter().chain(several)
    }

    /// Its lines, each once: in the order of the route, if there is only one.
    pub fn lines(&self) -> Cow<'_, [usize]> {
        if self.spread.is_none() {
            return Cow::Borrowed(&self.path);
        }
        let lines: BTreeSet<usize> = self.routes().flatten().copied().collect();
        Cow::Owned(lines.into_iter().collect())
    }

    /// The routes at the beginning of the run, each with its share of the packets.
    pub fn shares(&self) -> Vec<(&[usize], f64)> {
        let Some(period) = self.spread.as_ref().map(|spread| &spread.periods[0]) else {
            return vec![(&self.path, 1.0)];
        };
        let ends = period.routes.iter().map(|route| (route.last as f64 + 1.0) / 2f64.powi(64));
        let begins = std::iter::once(0.0).chain(ends.clone());
        let shares = ends.zip(begins).map(|(end, begin)| end - begin);
        period.routes.iter().map(|route| &route.path[..]).zip(shares).collect()
    }
}

/// The routes of a circuit among which its packets are divided, or that replace each other. A packet keeps the route on
/// which it leaves its host.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteSpread {
    /// Key that gives a draw from all numbers of 64 bits for the serial number of a packet.
    pub key: u64,
    /// Periods in the order of time; the first one begins with the run.
    pub periods: Vec<Period>,
}

/// A part of the run with constant routes.
#[derive(Clone, Debug, PartialEq)]
pub struct Period {
    /// Its beginning.
    pub since: Span,
    /// The routes.
    pub routes: Arc<[SharedRoute]>,
}

/// One of several routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRoute {
    /// Its lines.
    pub path: Vec<usize>,
    /// The largest draw that selects it, unless one of the routes before is selected.
    pub last: u64,
}

/// A transfer that a source has drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Its size.
    pub octets: u64,
    /// The query that it is a part of, by its number among those of its source.
    pub query: Option<u32>,
}

/// A flow whose transfers have been drawn: each is a flow by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// The flow as the scenario gives it.
    pub asked: FlowSection,
    /// Its first transfer among all flows, and the one after the last.
    pub flows: std::ops::Range<usize>,
}

/// A flow: an application, its transport and the circuits it uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name.
    pub name: String,
    /// Host that sends.
    pub from: usize,
    /// Host that receives.
    pub to: usize,
    /// Nodes that its route has to pass, where a hash decides about the rest of it.
    pub via: Vec<usize>,
    /// Circuit of the data.
    pub vc: CircuitId,
    /// Circuit of the acknowledgements, if the transport has any.
    pub back: Option<CircuitId>,
    /// Start of the application.
    pub start: Span,
    /// Length of the interval after `start` in which the start is drawn at random.
    pub start_spread: Span,
    /// Time at which the application stops, if it does.
    pub stop: Option<Span>,
    /// The application.
    pub source: Arc<source::Spec>,
    /// The only transfer of its connection, if its source has drawn that.
    pub transfer: Option<Transfer>,
    /// The transport.
    pub transport: Arc<transport::Spec>,
    /// The policer at the first switch, if there is one.
    pub police: Option<Arc<police::Spec>>,
    /// Name of its class, whose joint figures a report gives; empty if none.
    pub class: String,
    /// Mean time that either host needs for each segment that it sends or receives; zero for no time at all.
    pub processing: Span,
    /// Largest difference from that mean.
    pub processing_variation: Span,
}

impl Flow {
    /// Return when its application stops; `Time::NEVER` if it does not.
    pub fn stops_at(&self) -> Time {
        self.stop.map_or(Time::NEVER, |stop| Time::ZERO + stop)
    }

    /// Octets of its largest packet, IP header included; for single cells their payload.
    pub fn packet(&self) -> u32 {
        let needs = self.transport.needs(&self.source).expect("a transport that carries its source");
        u32::try_from(needs.octets()).expect("a packet of at most 65535 octets")
    }

    /// The mean of a quantity that depends on the octets of a full packet, IP header included.
    pub fn mean_of_packet(&self, quantity: impl Fn(u32) -> f64) -> f64 {
        let headers = self.transport.header_bytes();
        match self.source.length().filter(|_| matches!(*self.transport, transport::Spec::Udp(_))) {
            Some(length) => length.mean_of(headers, |data| quantity(data as u32 + headers)),
            None => quantity(self.packet()),
        }
    }

    /// Bits of a mean packet on lines with this framing, or of the data that the application writes to TCP at a time,
    /// whose headers do not count.
    pub fn mean_bits(&self, framing: Framing) -> u64 {
        let octets = match self.source.length().filter(|_| matches!(*self.transport, transport::Spec::Tcp(_)))
        {
            Some(length) => length.mean_of(0, |data| data as f64),
            None => self.mean_of_packet(|packet| framing.shape(packet).line_bytes() as f64),
        };
        libm::round(8.0 * octets) as u64
    }

    /// Octets of data in its largest packet, without IP and transport headers, but with options.
    pub fn payload(&self) -> u32 {
        self.packet() - self.transport.header_bytes()
    }

    /// Octets of IP packets that carry one octet of data in full packets, options counted; 1 for single cells, which
    /// have no such headers.
    pub fn ip_overhead(&self) -> f64 {
        f64::from(self.packet()) / f64::from(self.payload() - self.transport.option_bytes())
    }
}
