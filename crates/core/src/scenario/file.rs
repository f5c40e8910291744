//! The sections of a scenario file, except those that the registries and the templates declare.

use super::hash::Hash;
use crate::buffer::admission::{self, tail_drop};
use crate::buffer::pushout;
use crate::buffer::size::{BufferSize, Level, PortBuffer};
use crate::discipline;
use crate::language::spec::{Named, Nested};
use crate::link::gate::delay::Delay;
use crate::link::gate::{self, cbs, loss, repeat};
use crate::link::law::Law;
use crate::memory::response::{PauseLevel, Response};
use crate::memory::sharing::{self, complete_sharing};
use crate::memory::{self, Side, ThresholdCheck};
use crate::police;
use crate::scheduler::{self, fifo};
use crate::section;
use crate::source;
use crate::transport;
use crate::unit::CUT_BYTES;
use crate::units::{Bytes, PartsPerMillion, Rate, Span};

crate::choice! {
    /// How a run is computed. Both engines give the same result.
    pub enum EngineKind {
        /// The fast engine: one event per frame.
        Fast = "fast",
        /// The reference engine: one event per unit, checked against the papers.
        Reference = "reference",
    }
}

crate::choice! {
    /// Choice among equally short routes.
    pub enum Routing {
        /// The first in the order of links.
        First = "first",
        /// One that a hash of the flow picks at every node, with a seed of that node (ECMP).
        Ecmp = "ecmp",
        /// Another one for every packet, as if every node drew one of its equal lines (packet spraying).
        EcmpPacket = "ecmp-packet",
        /// Another one for every flowlet: packets of a flow that their host sends without a longer gap than `flowlet_gap`.
        EcmpFlowlet = "ecmp-flowlet",
    }
}

impl Routing {
    /// Return whether the packets of one flow may take several routes.
    pub(super) fn divides_flows(self) -> bool {
        matches!(self, Routing::EcmpPacket | Routing::EcmpFlowlet)
    }
}

crate::choice! {
    /// The kinds of nodes.
    pub enum NodeKind {
        /// Where flows start and end.
        Host = "host",
        /// A cell switch: output-buffered, non-blocking.
        Switch = "switch",
        /// A router: packets, stored and forwarded.
        Router = "router",
    }
}

crate::choice! {
    /// What a link carries.
    pub enum Medium {
        /// Cells of 53 octets.
        Cells = "cells",
        /// Whole packets.
        Packets = "packets",
    }
}

section! {
    /// The keys at the top of a scenario.
    pub struct HeadSection {
        /// Short name.
        pub name: String,
        /// One line for people.
        pub title: String = String::new(),
        /// Seed of every random stream.
        pub seed: u64 = 1,
        /// Simulated time.
        pub duration: Span,
        /// Initial period excluded from all figures.
        pub warmup: Span = Span::ZERO,
        /// Time between two samples of the occupancy of limited buffers, for its distribution. Shorter events may be
        /// missed; events whose period is a multiple of this time are always sampled at the same phase.
        pub sample: Span = Span::millis(1),
        /// Which of equally short routes flows take; by default the first, in a leaf-spine or a fat-tree those of ecmp. The choices of ecmp
        /// follow from the seed of the run.
        pub routing: Option<Routing> = None,
        /// With `routing = "ecmp-flowlet"` the longest gap between two packets of a flowlet; by default 500 us.
        pub flowlet_gap: Option<Span> = None,
        /// How the run is computed; both engines give the same result.
        pub engine: EngineKind = EngineKind::Fast,
    }
}

section! {
    /// A node.
    pub struct NodeSection {
        /// Its name.
        pub name: String,
        /// Its kind.
        pub kind: NodeKind,
        /// Time a unit spends inside before it reaches the output port or its host.
        pub latency: Span = Span::ZERO,
        /// How it hashes flows with `routing = "ecmp"`; by default with a seed of its own, which follows from that of the run.
        pub hash: Option<Nested<Hash>> = None,
    }
}

section! {
    /// A link: one line, or two in opposite directions. Without a name the line from a to b is "a->b"; the reverse of
    /// "a->b" is "b->a", that of a link N is "N.back".
    pub struct LinkSection {
        /// Its name, also that of its port.
        pub name: Option<String> = None,
        /// A name for the role that links share, for `[port.CLASS]`; reverse lines have the class "CLASS.back".
        pub class: String = String::new(),
        /// Node at which it starts.
        pub from: String,
        /// Node at which it ends.
        pub to: String,
        /// Rate: one for all time, or how it changes.
        pub rate: Law,
        /// Propagation delay: one for all time, or how it changes.
        pub delay: Delay,
        /// Repetitions of a radio link, in order.
        pub repeat: Option<Nested<repeat::Params>> = None,
        /// What it carries; by default cells with the adaptation aal5 and packets with the adaptation packet.
        pub medium: Option<Medium> = None,
        /// Before each frame the line pauses for a random time, uniform up to this one: for hosts, against phase
        /// effects (S. Floyd, V. Jacobson, 1992). The other direction never pauses.
        pub pause: Span = Span::ZERO,
        /// Least octets of a packet on its lines, the header of the adaptation included: a shorter packet takes as long. By default that
        /// of the adaptation, which pads packets in buffers as well.
        pub minimum: Option<Bytes> = None,
        /// Its weight among equal lines, with a routing of ecmp: a line of weight 2 is chosen twice as often as one of weight 1.
        pub weight: u32 = 1,
        /// Whether there is a line in the other direction as well.
        pub duplex: bool = true,
        /// Rate, delay and repetitions of the other direction where they differ.
        pub back: Option<Nested<BackSection>> = None,
    }
}

section! {
    /// The other direction of a link, where it differs.
    pub struct BackSection {
        /// Rate; by default that of the link.
        pub rate: Option<Law> = None,
        /// Propagation delay; by default that of the link.
        pub delay: Option<Delay> = None,
        /// Repetitions of a radio link; by default those of the link. A share of 0 % stands for none.
        pub repeat: Option<Nested<repeat::Params>> = None,
    }
}

section! {
    /// A port: of the line with this name, or else of every line of this class. `[port.default]` applies to all other
    /// ports of switches and routers. A port without a section, and any other port of a host, is unlimited and FIFO.
    /// An override of one key (`--set port.NAME.KEY=…`) leaves the other keys of that port as they are, in whichever
    /// section they are written.
    pub struct PortSection {
        /// Capacity of the buffer: a size, a time at the rate of the line or its shaper ("25 ms"), or a multiple of rate and base round trip ("1.5 BDP"),
        /// where the flows through the port have one; rounded down to octets. On packet links, cells of a packet memory, as in "100
        /// cells of 256 bytes", count packets in whole cells.
        pub buffer: PortBuffer = PortBuffer::Size(BufferSize::Unlimited),
        /// Name of a memory that the port shares with others of its node, instead of a buffer of its own.
        pub memory: Option<String> = None,
        /// Name of a queue discipline, instead of admission and scheduler. A port without `buffer` then has the
        /// buffer of the discipline. By default none.
        pub discipline: Option<discipline::Spec> = None,
        /// Admission policy: which arriving units are accepted, marked or discarded.
        pub admission: admission::Spec = admission::Spec::TailDrop(tail_drop::Params { clp_threshold: None }),
        /// Policy that removes queued units for an arriving one when the buffer is full; by default none.
        pub pushout: Option<pushout::Spec> = None,
        /// Scheduler: which queue the line serves next.
        pub scheduler: scheduler::Spec = scheduler::Spec::Fifo(fifo::Params {}),
    }
    with pub gates: gate::Keys
}

section! {
    /// A packet memory that ports of a node share. Each node whose ports name it has one. Ports of hosts have none.
    pub struct MemorySection {
        /// Capacity, in its cells or in bytes.
        pub size: BufferSize,
        /// Size of a cell: a packet takes whole cells. By default that of an ATM cell.
        pub cell: Bytes = Bytes(53),
        /// Octets that the memory stores with every packet in addition.
        pub header: Bytes = Bytes(0),
        /// Number of equal partitions, each with its part of every pool; the ports are assigned to them in turn.
        pub partitions: u32 = 1,
        /// Which length of a queue is compared with its threshold.
        pub dt_check: ThresholdCheck = ThresholdCheck::Before,
        /// How the shared room of every pool is divided among queues.
        pub admission: sharing::Spec = sharing::Spec::CompleteSharing(complete_sharing::Params {}),
        /// Policy that removes queued packets, at whichever port, for one that finds no room although its thresholds allow it. By
        /// default none. It needs pools of the egress side, and one that removes single units needs packet links.
        pub pushout: Option<memory::pushout::Spec> = None,
        /// Counters over the memory; by default one for everything, on the egress side.
        pub pool: Named<PoolSection> = Named::default(),
    }
}

section! {
    /// A counter over a memory. The pools of one memory may together be larger than it.
    pub struct PoolSection {
        /// Capacity, including reserved room of its queues and headroom.
        pub size: Level = Level::Percent(100.0),
        /// The side of the node on which it counts.
        pub side: Side = Side::Egress,
        /// Room beyond all thresholds: a queue uses it when it gets no more shared room, and continues until it has
        /// returned all of it. It is reserved for that. By default what its queues may take together (`pause.xoff`): if
        /// there is less, they share it.
        pub headroom: Option<Level> = None,
    }
}

section! {
    /// A class of traffic: it has its own queue at every port that shares a memory, or on the ingress side one for
    /// every incoming line, and at ports whose scheduler has a queue for each class. Without any such section, all flows are
    /// of one class.
    pub struct QueueSection {
        /// Pool from which it takes room, by default the first of every memory.
        pub pool: Option<String> = None,
        /// Factor of its dynamic threshold, by default that of the memory's policy.
        pub alpha: Option<f64> = None,
        /// Largest shared room of a queue, in addition to the limit of the policy.
        pub limit: Option<Level> = None,
        /// Room that is reserved for each of its queues.
        pub reserved: Level = Level::Size(BufferSize::Cells(0)),
        /// Its priority with the scheduler strict-priority: a lower number goes first. By default every flow has its own.
        pub priority: Option<u32> = None,
        /// Its weight with the schedulers drr and wrr, where these have a queue for each class, and in a group below strict priority.
        pub weight: f64 = 1.0,
        /// Rate that it gets before all other classes, with the scheduler strict-priority where that has a queue for each class.
        pub minimum: Option<Rate> = None,
        /// Rate that it does not exceed at ports whose scheduler has a queue for each class: there it waits, and others go on.
        pub maximum: Option<Rate> = None,
        /// Credit-based shaper (IEEE 802.1Qav) at ports whose scheduler has a queue for each class.
        pub cbs: Option<Nested<cbs::Params>> = None,
        /// Octets that it may send ahead of `maximum`, or catch up with behind `minimum`.
        pub burst: Bytes = Bytes(1514),
        /// Nothing of the class is lost: the port before each of its queues is stopped in time by pause frames (PFC).
        pub pause: Option<Nested<PauseSection>> = None,
        /// When a port of a memory decides whether to mark its packets: policies with `action = "mark"` do so when they arrive.
        pub mark: Option<Nested<MarkSection>> = None,
        /// What the memory refuses of the class is cut to its headers instead of being lost, as switch chips do. Headers go before
        /// everything else at their port.
        pub trim: Option<Nested<TrimSection>> = None,
        /// Pool of the other side in which its packets are counted as well, and must find room.
        pub opposite: Option<Nested<OppositeSection>> = None,
    }
}

section! {
    /// When the port before a queue is stopped, and when it goes on.
    pub struct PauseSection {
        /// Headroom that each of its queues may take. The port before is stopped when a queue takes the first cell of it. With "auto" each
        /// queue may take what its link needs.
        pub xoff: PauseLevel,
        /// What a queue may hold when the port before it goes on; it must have returned all headroom. With "auto" it is what leaves the queue
        /// at the rate of the link until packets come again.
        pub xon: PauseLevel = PauseLevel::Level(Level::Size(BufferSize::Cells(0))),
        /// Time that the port before needs to obey: as the standard permits for the rate of the line, that of octets on it, or a time. By
        /// default none.
        pub response: Option<Response> = None,
        /// The port before also goes on when the queue holds this much less than it may hold.
        pub xon_offset: Option<Level> = None,
    }
}

crate::choice! {
    /// When a port decides whether to mark a packet.
    pub enum MarkAt {
        /// When it arrives, by the queue that it finds.
        Arrival = "arrival",
        /// When it is sent, by the queue that it leaves behind: the sender learns of the queue earlier. For the policy step.
        Dequeue = "dequeue",
    }
}

section! {
    /// When packets of a class are marked.
    pub struct MarkSection {
        /// When the port decides.
        pub at: MarkAt = MarkAt::Arrival,
    }
}

section! {
    /// How packets of a class are cut.
    pub struct TrimSection {
        /// Octets that are left of a packet; a refused packet that is no longer goes with the headers as it is.
        pub size: Bytes = Bytes(CUT_BYTES as u64),
        /// The class in which the headers are counted, and must find room like any packet of it. By default their own, without its limits.
        pub queue: Option<String> = None,
    }
}

section! {
    /// A class in a pool on the other side.
    pub struct OppositeSection {
        /// The pool.
        pub pool: String,
        /// Factor of its dynamic threshold there, by default that of the memory's policy.
        pub alpha: Option<f64> = None,
        /// Largest room of a queue there, in addition to the limit of the policy.
        pub limit: Option<Level> = None,
    }
}

section! {
    /// A flow. An entry with the name of a template's flow changes that flow.
    pub struct FlowSection {
        /// Its name.
        pub name: String,
        /// Host that sends.
        pub from: String,
        /// Host that receives.
        pub to: String,
        /// Nodes that its route must pass, in this order; between them the route with the fewest hops is taken.
        pub via: Vec<String> = Vec::new(),
        /// The application.
        pub source: source::Spec,
        /// The transport.
        pub transport: transport::Spec,
        /// When the application starts.
        pub start: Span = Span::ZERO,
        /// Length of the interval after `start` in which the start is drawn at random.
        pub start_spread: Span = Span::ZERO,
        /// When the application stops: from then on it writes no new data, and a file under way stays unfinished. What TCP has sent
        /// before is repeated until it has arrived.
        pub stop: Option<Span> = None,
        /// Minimum cell rate guaranteed to the flow's circuit.
        pub mcr: Option<Rate> = None,
        /// Share or weight of the flow's circuit.
        pub weight: f64 = 1.0,
        /// Priority of the flow's circuit with the scheduler strict-priority: a lower number goes first.
        pub priority: u32 = 0,
        /// Its class in shared memories and for schedulers of classes, also for its acknowledgements: the name of a section
        /// `[queue.NAME]`, by default the first.
        pub queue: Option<String> = None,
        /// Policer at the first switch that the flow's data reach.
        pub police: Option<police::Spec> = None,
        /// Name of the flow's circuit, by default that of the flow. Flows that name the same circuit share it, and
        /// also the circuit of their acknowledgements: they have the same ends, route, mcr, weight, priority, queue
        /// and policer. The circuit of acknowledgements has none of these contracts: no mcr, weight 1, priority 0 and
        /// no policer.
        pub pvc: Option<String> = None,
        /// Number of connections that this entry represents: flows NAME.1, NAME.2, … on one circuit, which is called
        /// NAME unless pvc is given. Where `routing = "ecmp"` has several routes for them, each has a circuit of its own, as
        /// connections with ports of their own have.
        pub connections: Option<u32> = None,
        /// Name of a class of flows; a report also gives their joint figures.
        pub class: String = String::new(),
        /// Mean time that the processor of either host takes for each segment or acknowledgement of the flow that it
        /// sends or receives, one after another; only for the transport tcp.
        pub processing: Span = Span::ZERO,
        /// Largest difference from that mean; each time is drawn uniformly around it.
        pub processing_variation: Span = Span::ZERO,
    }
}

section! {
    /// Losses by intent on a link: its port loses units before they enter its buffer. Each entry has one of the keys
    /// packets, cells, down and gilbert.
    pub struct LossSection {
        /// The link, or a class of links of which each loses units by itself.
        pub link: String,
        /// Only units of this flow are counted and lost: its data, or its acknowledgements where the link carries these. A flow that
        /// draws transfers stands for all of them.
        pub flow: Option<String> = None,
        /// Numbers of the packets that are lost, from 1, in the order in which they reach the port.
        pub packets: Vec<u64> = Vec::new(),
        /// Numbers of the cells that are lost, on a link of cells.
        pub cells: Vec<u64> = Vec::new(),
        /// Numbers of frames of the flow, from 1, in the order in which it sends them, as `pushout why` names them: all units of such a
        /// frame are lost. Needs `flow`.
        pub frames: Vec<u64> = Vec::new(),
        /// Times at which the link is down, each from its beginning to its end: what reaches the port is lost, and what waits there
        /// is still sent.
        pub down: Vec<Vec<Span>> = Vec::new(),
        /// How long after the beginning of an outage hosts send packets over the shortest routes that are left, and how long after its
        /// end over their own again; an outage that is over by then changes nothing. Without this key flows keep their routes. A packet keeps the
        /// route on which it leaves its host.
        pub reroute_after: Option<Span> = None,
        /// Random losses, single or in bursts.
        pub gilbert: Option<Nested<loss::Gilbert>> = None,
    }
}

section! {
    /// Reordering by intent on a link of packets: some of its packets are held back behind the line for a time, while others pass
    /// them. Each entry has one of the keys share and packets.
    pub struct ReorderSection {
        /// The link, or a class of links of which each reorders by itself.
        pub link: String,
        /// Share of the packets that are held back, drawn for each packet.
        pub share: Option<PartsPerMillion> = None,
        /// Numbers of the packets that are held back, from 1, in the order in which the line sends them.
        pub packets: Vec<u64> = Vec::new(),
        /// How much later than without this entry they arrive; of several entries the longest time counts.
        pub by: Span,
    }
}

section! {
    /// Pauses from outside (priority flow control): from one instant to another a port of packets does not send a class.
    pub struct StormSection {
        /// The port, or a class of ports.
        pub port: String,
        /// The class of traffic that is paused: the name of a section `[queue.NAME]`. By default all.
        pub queue: Option<String> = None,
        /// When the pause begins.
        pub from: Span,
        /// When the pause ends.
        pub to: Span,
    }
}

section! {
    /// Additional figures of a report.
    pub struct MeasureSection {
        /// Length of the windows in which the throughput of every flow is reported over time, and in the summary its
        /// deviation among the flows.
        pub window: Option<Span> = None,
        /// Time between the starts of two windows; a window is a multiple of it. By default the length of a window.
        pub step: Option<Span> = None,
        /// Ports, or classes of ports, whose sampled occupancy is reported over time.
        pub occupancy: Vec<String> = Vec::new(),
        /// Ports, or classes of ports, whose losses are reported over time: units in every `sample` interval, by reason.
        pub losses: Vec<String> = Vec::new(),
        /// Ports, or classes of ports, whose marks are reported over time: units in every `sample` interval, by reason.
        pub marks: Vec<String> = Vec::new(),
        /// Ports, or classes of ports, whose pauses are reported over time: the share of every `sample` interval in which a
        /// class was stopped. Ports that no memory can pause are left out.
        pub pauses: Vec<String> = Vec::new(),
        /// Ports, or classes of ports, of which the mean, percentiles and the maximum of the sojourn times are reported: how
        /// long a unit waited from its arrival until its transmission began.
        pub sojourn: Vec<String> = Vec::new(),
        /// Memories whose occupancy is reported over time, with the occupancy and the threshold of every queue.
        pub memories: Vec<String> = Vec::new(),
        /// TCP flows, or classes of flows, whose congestion window is reported over time, at every `sample`.
        pub cwnd: Vec<String> = Vec::new(),
        /// Ports and TCP flows, or classes of them, whose state is reported over time, at every `sample`: what their policy, their
        /// scheduler, their credits or their congestion control keeps in mind, such as a probability of discard.
        pub state: Vec<String> = Vec::new(),
        /// Whether the transfer time of every file is reported, by flow.
        pub transfers: bool = false,
        /// Ports whose policy measures the rates of circuits, as wfepd does: reports over time those rates, the part
        /// of the line that each circuit may have, the rate granted to it, and the probability with which its frames
        /// are refused.
        pub meter: Vec<String> = Vec::new(),
        /// Whether percentiles and the maximum of delivery times are reported: of each flow, of each class, and of
        /// all.
        pub delivery: bool = false,
        /// Line whose rate, without cell headers, is the unit of effective throughput.
        pub reference: Option<String> = None,
        /// Two classes of flows whose throughputs are compared, each relative to its fair share.
        pub fairness: Vec<Nested<FairSection>> = Vec::new(),
    }
}

section! {
    /// The fair share of a class of flows.
    pub struct FairSection {
        /// The class.
        pub class: String,
        /// Its share; only the ratio of the two shares matters.
        pub share: f64 = 1.0,
    }
}

/// Keys of a flow that are its own and so have no default in `[flows]`.
pub const OWN_KEYS: [&str; 4] = ["name", "from", "to", "via"];
