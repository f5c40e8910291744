//! Checks flows and builds their circuits: senders and receivers, routes, transports.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::drawn::{DrawingFlow, Drawn, Hosts};
use super::ecmp::EqualRoutes;
use super::expand::{Chance, MOST_FLOWS, SectionedFile};
use super::file::FlowSection;
use super::listed::{self, List};
use super::model::{Drawing, Flow, Line, Medium, NetworkNode, NodeKind, Routing, Transfer, Vc, Workload};
use super::pacing;
use super::route::{Route, Routes};
use crate::adaptation::{self, Framing, MAX_PACKET, aal5};
use crate::excerpt::excerpt;
use crate::language::item::Item;
use crate::language::names::{NameIndex, name_fault};
use crate::language::tree::{self, Fault};
use crate::link::law::FASTEST;
use crate::police;
use crate::rng::Stream;
use crate::source::arrivals::Destinations;
use crate::source::{self, Source};
use crate::transport::{self, Needs, Transport, udp};
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId, NodeId};
use crate::units::{Rate, Span};
use crate::words::nearest::unknown;

/// Number of lines on the longest route: units count their hops in eight bits.
pub(super) const MOST_HOPS: usize = 255;

/// Checked flows with their circuits, and a choice of routes that they leave open.
pub(super) struct CheckedTraffic {
    /// The flows.
    pub flows: IdVec<FlowId, Flow>,
    /// Their circuits: first the circuits of data, in the order of their first flows, then the circuits of
    /// acknowledgements.
    pub vcs: IdVec<CircuitId, Vc>,
    /// Flows that draw transfers, with the transfers drawn.
    pub drawings: Vec<Drawing>,
    /// The workload with its transfers.
    pub workload: Option<Workload>,
    /// A choice between equally short routes that flows leave open.
    pub choice: Option<Choice>,
    /// Keys of `[flows]` that each flow replaces.
    pub replaced: Vec<String>,
}

/// Equally short routes, of which a flow takes the first.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// First node of the routes.
    pub from: String,
    /// Last node of the routes.
    pub to: String,
    /// Number of routes.
    pub ways: u64,
    /// The nodes on the first of these routes.
    pub via: Vec<String>,
    /// Number of further flows that leave such a choice.
    pub others: usize,
}

/// Check the flows of a file; return them with their circuits.
pub(super) fn check(
    file: &SectionedFile<'_>,
    entries: &[tree::Node],
    nodes: &IdVec<NodeId, NetworkNode>,
    names: &NameIndex,
    lines: &IdVec<LineId, Line>,
    queues: &[&str],
) -> Result<CheckedTraffic, Fault> {
    let (adaptation, chance) = (&file.adaptation, file.chance());
    let routes = Routes::new(nodes, lines, &[]);
    let hashed = chance.routing != Routing::First;
    let equal = hashed.then(|| RefCell::new(EqualRoutes::new(nodes, lines, chance.seed, &[])));
    let hashes = chance.routing == Routing::Ecmp;
    let mut network =
        FlowNetwork { nodes, names, lines, adaptation, queues, routes, equal, hashes, choice: None };
    let hosts = Hosts::new(nodes, lines);
    let mut drawings = Vec::new();
    let mut read = FlowsRead::default();
    file.each_flow(entries, |entry, index| {
        let item = Item::<FlowSection>::entry(entry, "flow", index)?;
        read.names.add(&item.it.name).map_err(|why| item.fault("name", why))?;
        if !item.it.source.draws_transfers() {
            read.flows.push(network.flow(item, &mut read.circuits)?);
            return Ok(());
        }
        let first = read.flows.len();
        network.transfers(&item, &hosts, chance, &mut read)?;
        drawings.push(Drawing { asked: item.it, flows: first..read.flows.len() });
        Ok(())
    })?;
    let workload = match listed::read(file)? {
        Some(spec) => {
            let list = List::new(file, &spec, MOST_FLOWS - read.flows.len().min(MOST_FLOWS))?;
            let first = read.flows.len();
            network.workload(&list, &mut read)?;
            let order = list.order.map(Arc::new);
            Some(Workload { asked: list.flow, flows: first..read.flows.len(), order })
        }
        None => None,
    };
    if read.flows.is_empty() && entries.is_empty() {
        let remedy = match file.topology {
            Some(_) => "add a [[flow]], or leave out topology.flows = \"none\"",
            None => "add a [topology] or [[flow]]",
        };
        let message = format!("there is no flow, so nothing would happen: {remedy}");
        return Err(Fault::at(Default::default(), message));
    }
    let FlowsRead { flows, circuits, .. } = read;
    let mut flows: IdVec<FlowId, Flow> = flows.into();
    let vcs = circuits.number(&mut flows);
    let replaced = file.replaced_defaults(entries);
    Ok(CheckedTraffic { flows, vcs, drawings, workload, choice: network.choice, replaced })
}

/// The flows that have been read so far, with their circuits and their names.
#[derive(Default)]
struct FlowsRead {
    flows: Vec<Flow>,
    circuits: Circuits,
    names: NameIndex,
}

/// The network in which the routes of flows are searched.
struct FlowNetwork<'a> {
    nodes: &'a IdVec<NodeId, NetworkNode>,
    names: &'a NameIndex,
    lines: &'a IdVec<LineId, Line>,
    adaptation: &'a adaptation::Spec,
    queues: &'a [&'a str],
    routes: Routes<'a>,
    /// Equally short routes over which flows are spread.
    equal: Option<RefCell<EqualRoutes<'a>>>,
    /// Whether a hash of the flow chooses among them, and packets do not.
    hashes: bool,
    choice: Option<Choice>,
}

impl FlowNetwork<'_> {
    /// Draw the transfers of a flow, and add a flow with circuits for each.
    fn transfers(
        &mut self,
        item: &Item<'_, FlowSection>,
        hosts: &Hosts,
        chance: Chance,
        read: &mut FlowsRead,
    ) -> Result<(), Fault> {
        let (from, to) = (self.host(item, "from", &item.it.from)?, self.host(item, "to", &item.it.to)?);
        check_ends(item)?;
        item.ensure(
            item.it.pvc.is_none(),
            "pvc",
            "cannot be given, nor connections: every transfer has a circuit of its own",
        )?;
        item.ensure(item.it.via.is_empty(), "via", "cannot be given: every transfer has a route of its own")?;
        let (name, seed) = (&item.it.name, chance.seed);
        let spread = Stream::new(seed, format_args!("flow.{name}.start")).up_to(item.it.start_spread.0);
        let start = Span(item.it.start.0 + spread);
        let stop = item.it.stop.map_or(chance.duration, |stop| stop.min(chance.duration));
        let listed = &self.listed(item, from)?;
        let drawing = DrawingFlow { name, from, to, listed, start, stop, seed };
        let most = MOST_FLOWS - read.flows.len().min(MOST_FLOWS);
        let drawn = hosts.draw(&drawing, &item.it.source, most);
        let drawn = drawn.map_err(|(key, why)| item.fault(key, why))?;
        let too_many = format!("draws more than {MOST_FLOWS} transfers; shorten the run or lower the load");
        item.ensure(drawn.len() <= most, "source", &too_many)?;
        let (source, transport) = (Arc::new(item.it.source.clone()), Arc::new(item.it.transport.clone()));
        let police = item.it.police.clone().map(Arc::new);
        read.flows.reserve(drawn.len());
        for (number, one) in drawn.into_iter().enumerate() {
            let asked = self.asked(&item.it, number, &one);
            read.names.add(&asked.name).map_err(|why| item.fault("name", why))?;
            let own = Item { it: asked, node: item.node, path: item.path.clone() };
            let flow = self.flow(own, &mut read.circuits)?;
            let (source, transport, police) = (source.clone(), transport.clone(), police.clone());
            read.flows.push(Flow { transfer: Some(one.transfer), source, transport, police, ..flow });
        }
        Ok(())
    }

    /// Add a flow with circuits for each transfer of a list.
    fn workload(&mut self, list: &List<'_>, read: &mut FlowsRead) -> Result<(), Fault> {
        let is_host = |node: &&NetworkNode| node.kind == NodeKind::Host;
        let hosts: Vec<&str> = self.nodes.iter().filter(is_host).map(|node| node.name.as_str()).collect();
        let (source, transport) = (Arc::new(list.flow.source.clone()), Arc::new(list.flow.transport.clone()));
        let police = list.flow.police.clone().map(Arc::new);
        read.flows.reserve(list.rows.len());
        for (number, row) in list.rows.iter().enumerate() {
            let end =
                |key, name| self.end(name, &hosts).map_err(|why| list.fault(number, &format!("{key} {why}")));
            let item = list.flow(number, [end("from", row.from)?, end("to", row.to)?]);
            read.names.add(&item.it.name).map_err(|why| list.fault(number, &why))?;
            let flow = self.flow(item, &mut read.circuits).map_err(|wrong| list.blame(number, wrong))?;
            let transfer = Some(Transfer { octets: row.octets, query: None });
            let (source, transport, police) = (source.clone(), transport.clone(), police.clone());
            read.flows.push(Flow { transfer, source, transport, police, ..flow });
        }
        Ok(())
    }

    /// Return the name of a host that a list gives by its name, or by its number among the hosts.
    fn end<'n>(&self, name: &'n str, hosts: &[&'n str]) -> Result<&'n str, String> {
        if self.names.contains(name) || name.is_empty() || !name.bytes().all(|letter| letter.is_ascii_digit())
        {
            return Ok(name);
        }
        let host = name.parse().ok().and_then(|number: usize| hosts.get(number).copied());
        let last = hosts.len().saturating_sub(1);
        host.ok_or_else(|| {
            format!("must be a host, from 0 to {last} in this scenario, not {}", excerpt(name, 20))
        })
    }

    /// Return the hosts that a source of transfers lists as their destinations, except the sender.
    fn listed(&self, item: &Item<'_, FlowSection>, from: NodeId) -> Result<Vec<NodeId>, Fault> {
        let source::Spec::Arrivals(params) = &item.it.source else { return Ok(Vec::new()) };
        let Some(Destinations::Listed(names)) = &params.to else { return Ok(Vec::new()) };
        let key = "source.to";
        let mut hosts = Vec::with_capacity(names.len());
        for name in names {
            let host = self.host(item, key, name)?;
            item.ensure(!hosts.contains(&host), key, &format!("{name:?} is listed twice"))?;
            hosts.push(host);
        }
        hosts.retain(|host| *host != from);
        Ok(hosts)
    }

    /// Return a transfer as if the scenario listed it.
    fn asked(&self, flow: &FlowSection, number: usize, drawn: &Drawn) -> FlowSection {
        FlowSection {
            name: format!("{}.{}", flow.name, number + 1),
            from: self.nodes[drawn.from].name.clone(),
            to: self.nodes[drawn.to].name.clone(),
            start: drawn.at,
            start_spread: Span::ZERO,
            stop: None,
            ..flow.clone()
        }
    }

    fn flow(&mut self, mut item: Item<'_, FlowSection>, circuits: &mut Circuits) -> Result<Flow, Fault> {
        let (from, to) = (self.host(&item, "from", &item.it.from)?, self.host(&item, "to", &item.it.to)?);
        item.ensure(from != to, "to", "must be a host other than that of from")?;
        let needs = check_ends(&item)?;
        check_processing(&item)?;
        let runs = item.it.stop.is_none_or(|stop| stop > item.it.start);
        item.ensure(runs, "stop", &format!("must be later than start, which is {}", item.it.start))?;
        let via = self.via(&item)?;
        if item.it.connections.is_some() && self.divides(from, &via, to) {
            item.it.pvc = None;
        }
        let Route { path, ways } = self.route(&item, from, &via, to)?;
        if ways > 1 {
            self.note_choice(&path, ways);
        }
        let vc = self.circuit(&item, &needs, path)?;
        self.check_pacing(&item, &vc)?;
        let reverse = match needs.reverse {
            Some(packet) => Some(self.reverse(&item, &vc, packet, from, to)?),
            None => None,
        };
        let vc = circuits.join(&item, vc, reverse)?;
        let FlowSection { name, source, transport, start, start_spread, stop, police, class, .. } = item.it;
        let FlowSection { processing, processing_variation, .. } = item.it;
        Ok(Flow {
            name,
            from,
            to,
            via: if self.equal.is_some() { via } else { Vec::new() },
            vc,
            back: None,
            start,
            start_spread,
            stop,
            transfer: None,
            source: Arc::new(source),
            transport: Arc::new(transport),
            police: police.map(Arc::new),
            class,
            processing,
            processing_variation,
        })
    }

    fn host(&self, item: &Item<'_, FlowSection>, key: &str, name: &str) -> Result<NodeId, Fault> {
        let node = NodeId::new(self.names.find("node", name).map_err(|why| item.fault(key, why))?);
        let host = self.nodes[node].kind == NodeKind::Host;
        item.ensure(host, key, "must be a host; flows start and end at hosts")?;
        Ok(node)
    }

    /// Store the first choice between equally short routes, and count the others.
    fn note_choice(&mut self, path: &[LineId], ways: u64) {
        if let Some(choice) = &mut self.choice {
            choice.others += 1;
            return;
        }
        let name = |node: NodeId| self.nodes[node].name.clone();
        let (first, last) = (&self.lines[path[0]], &self.lines[path[path.len() - 1]]);
        let via = path.iter().skip(1).map(|line| name(self.lines[*line].from)).collect();
        self.choice = Some(Choice { from: name(first.from), to: name(last.to), ways, via, others: 0 });
    }

    /// Return the nodes that a flow's route must pass.
    fn via(&self, item: &Item<'_, FlowSection>) -> Result<Vec<NodeId>, Fault> {
        let mut via = Vec::with_capacity(item.it.via.len());
        for name in &item.it.via {
            let node = NodeId::new(self.names.find("node", name).map_err(|why| item.fault("via", why))?);
            let host = self.nodes[node].kind == NodeKind::Host;
            item.ensure(!host, "via", &format!("{name:?} is a host, and hosts do not forward"))?;
            item.ensure(!via.contains(&node), "via", &format!("{name:?} is listed twice"))?;
            via.push(node);
        }
        Ok(via)
    }

    /// Find the fewest hops between nodes that a flow passes: the first such route, or the one that the hash of the
    /// flow's name selects.
    fn fewest(
        &self,
        name: &str,
        from: NodeId,
        via: &[NodeId],
        to: NodeId,
    ) -> Result<Route, (NodeId, NodeId)> {
        match &self.equal {
            Some(equal) => Ok(Route { path: equal.borrow_mut().through(name, from, via, to)?, ways: 1 }),
            None => self.routes.through(from, via, to),
        }
    }

    /// Return whether a hash of flows may lead them from one node to another over different lines.
    fn divides(&self, from: NodeId, via: &[NodeId], to: NodeId) -> bool {
        self.equal.as_ref().is_some_and(|equal| self.hashes && equal.borrow_mut().divides(from, via, to))
    }

    /// Find the route of the flow's data.
    fn route(
        &self,
        item: &Item<'_, FlowSection>,
        from: NodeId,
        via: &[NodeId],
        to: NodeId,
    ) -> Result<Route, Fault> {
        let name = item.it.pvc.as_ref().unwrap_or(&item.it.name);
        let no_route = |(from, to)| item.fault("to", self.no_route(from, to));
        let route = self.fewest(name, from, via, to).map_err(no_route)?;
        let hops = route.path.len();
        item.ensure(
            hops <= MOST_HOPS,
            "to",
            &format!("the route has {hops} hops; at most {MOST_HOPS} are possible"),
        )?;
        let mut passed = vec![from];
        for &line in &route.path {
            let node = self.lines[line].to;
            let again = format!("the route passes {:?} twice; list other nodes", self.nodes[node].name);
            item.ensure(!passed.contains(&node), "via", &again)?;
            passed.push(node);
        }
        Ok(route)
    }

    fn no_route(&self, from: NodeId, to: NodeId) -> String {
        let (from, to) = (&self.nodes[from].name, &self.nodes[to].name);
        format!(
            "no route leads from {from:?} to {to:?}: some [[link]] is missing, or has duplex = false the other way"
        )
    }

    /// Build the circuit of the flow's data.
    fn circuit(&self, item: &Item<'_, FlowSection>, needs: &Needs, path: Vec<LineId>) -> Result<Vc, Fault> {
        let medium = self.medium(item, &path)?;
        let cells = medium == Medium::Cells;
        let only_cells = "this transport sends single cells, but the route goes over packet links";
        item.ensure(needs.packet.is_some() || cells, "transport", only_cells)?;
        self.check_packet(item, "the packets", needs.packet_key, needs.octets(), cells)?;
        self.check_police(item, &path)?;
        let flow = &item.it;
        item.ensure(flow.weight.is_finite() && flow.weight > 0.0, "weight", "must be greater than 0")?;
        let mcr = flow.mcr.unwrap_or(Rate(0));
        if let Some(line) = path.iter().map(|line| &self.lines[*line]).find(|line| line.rate.mean() < mcr) {
            let message = format!("must be at most {}, the rate of the line {:?}", line.rate, line.name);
            return Err(item.fault("mcr", message));
        }
        let name = flow.pvc.clone().unwrap_or_else(|| flow.name.clone());
        if let Some(why) = name_fault(&name) {
            return Err(item.fault("pvc", why));
        }
        let parity = self.parity_cells(item, needs, cells)?;
        let packet = u32::try_from(needs.octets()).expect("a packet of at most 65535 octets");
        let queue = self.queue(item)?;
        let unscheduled = self.unscheduled(item, queue)?;
        Ok(Vc {
            name,
            path,
            spread: None,
            mcr,
            weight: flow.weight,
            priority: flow.priority,
            queue,
            unscheduled,
            framing: needs.packet.map_or(Framing::Cell, |_| self.framing(medium, parity)),
            packet,
            payload: Some(packet - flow.transport.header_bytes()),
            flow: None,
        })
    }

    /// Return the class of a flow in shared memories.
    fn queue(&self, item: &Item<'_, FlowSection>) -> Result<usize, Fault> {
        let Some(name) = &item.it.queue else { return Ok(0) };
        let found = self.queues.iter().position(|queue| queue == name);
        found.ok_or_else(|| item.fault("queue", unknown("queue", name, self.queues)))
    }

    /// Return the class of the packets that the sender of a flow marks as unscheduled: the flow's own class if the
    /// sender marks none.
    fn unscheduled(&self, item: &Item<'_, FlowSection>, queue: usize) -> Result<usize, Fault> {
        let transport::Spec::Tcp(transport::tcp::Params { unscheduled: Some(name), .. }) = &item.it.transport
        else {
            return Ok(queue);
        };
        let key = "transport.unscheduled";
        let found = self.queues.iter().position(|queue| queue == name);
        let class = found.ok_or_else(|| item.fault(key, unknown("queue", name, self.queues)))?;
        let message = "must name another class than that of the flow, which is by default the first section [queue.NAME]";
        item.ensure(class != queue, key, message)?;
        Ok(class)
    }

    /// Return how packets become frames.
    fn framing(&self, medium: Medium, parity: u16) -> Framing {
        match medium {
            Medium::Cells => Framing::Aal5 { llc_snap: self.adaptation.llc_snap(), parity },
            Medium::Packets => Framing::Packet(self.adaptation.padding()),
        }
    }

    /// Return the number of parity cells of a frame; refuse them where they are impossible.
    fn parity_cells(&self, item: &Item<'_, FlowSection>, needs: &Needs, cells: bool) -> Result<u16, Fault> {
        let parity = item.it.transport.parity_cells();
        let key = "transport.parity_cells";
        let only_cells = "the route goes over packet links: packets have no parity cells, set 0";
        item.ensure(parity == 0 || cells, key, only_cells)?;
        let frame = aal5::cells(needs.octets(), self.adaptation.llc_snap());
        let total = u16::try_from(frame + u64::from(parity)).map(|_| parity as u16);
        total.map_err(|_| item.fault(key, "a frame has at most 65535 cells, parity included"))
    }

    /// Refuse a policer that cannot work.
    fn check_police(&self, item: &Item<'_, FlowSection>, path: &[LineId]) -> Result<(), Fault> {
        let Some(police) = &item.it.police else { return Ok(()) };
        let switched = path.len() > usize::from(police::HOP);
        item.ensure(switched, "police", "a policer stands at the first switch, and this route has none")?;
        let context = police::Context { seed: 0, flow: &item.it.name };
        police.build(&context).map(|_| ()).map_err(|refused| item.refuse("police", refused))
    }

    /// Refuse pacing where it cannot be exact.
    fn check_pacing(&self, item: &Item<'_, FlowSection>, vc: &Vc) -> Result<(), Fault> {
        if item.it.transport.pacing().is_none() {
            return Ok(());
        }
        let (setter, processes) = (item.it.transport.pace_setter(), item.it.processing > Span::ZERO);
        let why = pacing::misfit(vc, &self.lines[vc.path[0]].name, setter, processes);
        why.map_or(Ok(()), |(key, why)| Err(item.fault(key, why)))
    }

    /// Refuse packets longer than a frame; `key` determines their length.
    fn check_packet(
        &self,
        item: &Item<'_, FlowSection>,
        packets: &str,
        key: &str,
        packet: u64,
        cells: bool,
    ) -> Result<(), Fault> {
        let (more, what) = match (cells, self.adaptation.llc_snap()) {
            (true, true) => (aal5::LLC_SNAP, " with their LLC/SNAP header of 8"),
            (true, false) => (0, ""),
            (false, _) => (self.adaptation.header().0, " with the header of their line"),
        };
        let total = packet.saturating_add(more);
        let unit = if cells { "an AAL5 frame carries" } else { "a packet has" };
        let message = format!("{packets} become {total} bytes long{what}, and {unit} at most {MAX_PACKET}");
        item.ensure(total <= MAX_PACKET, key, &message)
    }

    /// Return the medium of all lines of a path; refuse a path with two media.
    fn medium(&self, item: &Item<'_, FlowSection>, path: &[LineId]) -> Result<Medium, Fault> {
        let first = &self.lines[path[0]];
        let Some(other) = path.iter().map(|line| &self.lines[*line]).find(|line| line.medium != first.medium)
        else {
            return Ok(first.medium);
        };
        let (cells, packets) = match first.medium {
            Medium::Cells => (first, other),
            Medium::Packets => (other, first),
        };
        Err(item.fault(
            "to",
            format!(
                "the route changes between cells (on {:?}) and packets (on {:?}); a route has one medium throughout",
                cells.name, packets.name
            ),
        ))
    }

    /// Find the circuit of the acknowledgements: over the reverse lines, or, if a line has no other direction or
    /// routes are hashed, over a route with the fewest hops.
    fn reverse(
        &self,
        item: &Item<'_, FlowSection>,
        data: &Vc,
        packet: u32,
        from: NodeId,
        to: NodeId,
    ) -> Result<Vc, Fault> {
        let same = self.equal.is_none() || !item.it.via.is_empty();
        let backwards = || data.path.iter().rev().map(|line| self.lines[*line].back).collect();
        let back: Option<Vec<LineId>> = if same { backwards() } else { None };
        let fewest = || self.fewest(&data.name, to, &[], from).map(|route| route.path);
        let path = back.map_or_else(fewest, Ok).map_err(|(from, to)| {
            item.fault("to", format!("{}; acknowledgements need a way back", self.no_route(from, to)))
        })?;
        let medium = self.medium(item, &path)?;
        let cells = medium == Medium::Cells;
        self.check_packet(item, "the acknowledgements", "transport", packet.into(), cells)?;
        Ok(Vc {
            name: format!("{}.back", data.name),
            path,
            spread: None,
            mcr: Rate(0),
            weight: 1.0,
            priority: 0,
            queue: data.queue,
            unscheduled: data.queue,
            framing: self.framing(medium, 0),
            packet,
            payload: None,
            flow: None,
        })
    }
}

/// The circuits so far, to which flows are added.
#[derive(Default)]
struct Circuits {
    by_name: BTreeMap<String, usize>,
    list: Vec<CircuitPair>,
}

/// A circuit of data, the circuit of its acknowledgements if it has any, and the first flow that named it.
struct CircuitPair {
    data: Vc,
    back: Option<Vc>,
    first: String,
    police: Option<police::Spec>,
    coded: bool,
}

impl Circuits {
    /// Return the circuit that a flow names: a new circuit, or that of an earlier flow if it can carry this flow as
    /// well.
    fn join(&mut self, item: &Item<'_, FlowSection>, data: Vc, back: Option<Vc>) -> Result<CircuitId, Fault> {
        let Some(&index) = self.by_name.get(&data.name) else {
            self.by_name.insert(data.name.clone(), self.list.len());
            let (first, police) = (item.it.name.clone(), item.it.police.clone());
            self.list.push(CircuitPair { data, back, first, police, coded: is_coded(&item.it.transport) });
            return Ok(CircuitId::new(self.list.len() - 1));
        };
        let circuit = &mut self.list[index];
        let alone = "blocks with parity need a circuit of their own";
        item.ensure(!circuit.coded && !is_coded(&item.it.transport), "pvc", alone)?;
        circuit.check(item, &data)?;
        circuit.data.packet = circuit.data.packet.max(data.packet);
        circuit.data.payload = circuit.data.payload.max(data.payload);
        circuit.back = match (circuit.back.take(), back) {
            (Some(one), Some(other)) => Some(Vc { packet: one.packet.max(other.packet), ..one }),
            (one, other) => one.or(other),
        };
        Ok(CircuitId::new(index))
    }

    /// Return all circuits, those of acknowledgements last, and set the numbers of its circuits in every flow.
    fn number(self, flows: &mut IdVec<FlowId, Flow>) -> IdVec<CircuitId, Vc> {
        let (mut vcs, mut back) = (Vec::new(), Vec::new());
        let count = self.list.len();
        let number = |circuit: CircuitPair| {
            vcs.push(circuit.data);
            let number = circuit.back.is_some().then_some(CircuitId::new(count + back.len()));
            back.extend(circuit.back);
            number
        };
        let numbers: IdVec<CircuitId, Option<CircuitId>> = self.list.into_iter().map(number).collect();
        for (index, flow) in flows.pairs_mut() {
            vcs[flow.vc.index()].flow.get_or_insert(index);
            let needs = flow.transport.needs(&flow.source);
            flow.back = numbers[flow.vc].filter(|_| needs.is_some_and(|needs| needs.reverse.is_some()));
        }
        vcs.extend(back);
        vcs.into()
    }
}

impl CircuitPair {
    /// Refuse a flow whose contract or route differs from that of the circuit's first flow.
    fn check(&self, item: &Item<'_, FlowSection>, asked: &Vc) -> Result<(), Fault> {
        let CircuitPair { data, first, .. } = self;
        let single_cells = |vc: &Vc| vc.framing == Framing::Cell;
        let differs = [
            ("pvc", data.path != asked.path, "the ends and the route"),
            ("mcr", data.mcr != asked.mcr, "the mcr"),
            ("weight", data.weight != asked.weight, "the weight"),
            ("priority", data.priority != asked.priority, "the priority"),
            ("queue", data.queue != asked.queue, "the class"),
            (
                "transport.unscheduled",
                data.unscheduled != asked.unscheduled,
                "the class of unscheduled packets",
            ),
            ("police", self.police != item.it.police, "the policer"),
            ("transport", single_cells(data) != single_cells(asked), "the kind of units, cells or packets,"),
        ];
        match differs.into_iter().find(|(_, differs, _)| *differs) {
            None => Ok(()),
            Some((key, _, what)) => {
                let why = format!("{what} of the flow {first:?}, which shares the circuit {:?}", data.name);
                Err(item.fault(
                    key,
                    format!("must match {why}: give both flows the same, or each a circuit (pvc) of its own"),
                ))
            }
        }
    }
}

fn is_coded(transport: &transport::Spec) -> bool {
    matches!(transport, transport::Spec::Fec(_))
}

/// Refuse an impossible processor.
fn check_processing(item: &Item<'_, FlowSection>) -> Result<(), Fault> {
    let FlowSection { processing, processing_variation: variation, transport, .. } = &item.it;
    let tcp = matches!(transport, transport::Spec::Tcp(_));
    let only_tcp = "only the transport \"tcp\" has a processor; set \"0 s\" for this flow";
    item.ensure(tcp || *processing == Span::ZERO, "processing", only_tcp)?;
    let too_much = format!("no time is shorter than 0 s: at most the mean of {processing}");
    item.ensure(variation <= processing, "processing_variation", &too_much)
}

/// Check that source and transport fit together, and return the needs of the transport.
fn check_ends(item: &Item<'_, FlowSection>) -> Result<Needs, Fault> {
    let (source, transport) = (&item.it.source, &item.it.transport);
    source.check(udp::HEADERS).map_err(|refused| item.refuse("source", refused))?;
    transport.check().map_err(|refused| item.refuse("transport", refused))?;
    let Some(needs) = transport.needs(source) else {
        let carried = source::Kind::ALL.iter().filter(|kind| kind.traffic().fits(transport.carries()));
        let message = format!(
            "the source {:?} does not fit the transport {:?}, which takes: {}",
            source.name(),
            transport.name(),
            carried.map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
        );
        return Err(item.fault("source.kind", message));
    };
    if let (source::Spec::Replay(replay), transport::Spec::Udp(_)) = (source, transport) {
        replay.check_headers(udp::HEADERS).map_err(|refused| item.refuse("source", refused))?;
    }
    if let Some((key, rate)) = source.peak() {
        let key = format!("source.{key}");
        item.ensure(rate > Rate(0), &key, "must be greater than 0 b/s")?;
        item.ensure(rate <= FASTEST, &key, "a source has at most 100 Tb/s")?;
    }
    Ok(needs)
}
