//! Flows and their circuits: who sends to whom, along which lines, and whether that can work.

use super::adaptation;
use super::check::Names;
use super::file;
use super::item::Item;
use super::links::FASTEST;
use super::model::{Flow, Line, Medium, Node, NodeKind, Vc};
use super::route::Routes;
use super::tree::{self, Fault};
use crate::adaptation::aal5;
use crate::network::circuit::POLICED_HOP;
use crate::police;
use crate::transport::Needs;
use crate::units::{Bytes, Rate};

/// Lines on the longest route: units count them in eight bits.
const MOST_HOPS: usize = 255;
/// Octets of the longest packet, or AAL5 payload.
const LONGEST: u64 = 65_535;

/// The flows and their circuits: that of flow `i` is circuit `i`, those of acknowledgements follow.
pub(super) fn check(
    entries: &[tree::Node],
    nodes: &[Node],
    names: &Names,
    lines: &[Line],
    adaptation: &adaptation::Spec,
) -> Result<(Vec<Flow>, Vec<Vc>), Fault> {
    let network = Network { nodes, names, lines, adaptation, routes: Routes::new(nodes, lines) };
    let (mut flows, mut vcs, mut back) = (Vec::new(), Vec::new(), Vec::new());
    let mut flow_names = Names::default();
    for (index, entry) in entries.iter().enumerate() {
        let item = Item::<file::Flow>::entry(entry, "flow", index)?;
        flow_names.add(&item.it.name).map_err(|why| item.fault("name", why))?;
        let (flow, vc, reverse) = network.flow(item, index)?;
        let reverse_vc = reverse.as_ref().map(|_| entries.len() + back.len());
        flows.push(Flow { back: reverse_vc, ..flow });
        vcs.push(vc);
        back.extend(reverse);
    }
    if flows.is_empty() {
        let message = "there is no flow, so nothing would happen: add a [topology] or [[flow]]".to_string();
        return Err(Fault { place: Default::default(), path: String::new(), message });
    }
    vcs.extend(back);
    Ok((flows, vcs))
}

struct Network<'a> {
    nodes: &'a [Node],
    names: &'a Names,
    lines: &'a [Line],
    adaptation: &'a adaptation::Spec,
    routes: Routes<'a>,
}

impl Network<'_> {
    fn flow(&self, item: Item<'_, file::Flow>, index: usize) -> Result<(Flow, Vc, Option<Vc>), Fault> {
        let (from, to) = (self.host(&item, "from", &item.it.from)?, self.host(&item, "to", &item.it.to)?);
        item.ensure(from != to, "to", "a flow goes to another host, not back to its own")?;
        let needs = check_ends(&item)?;
        let path = self.path(&item, from, to)?;
        let vc = self.circuit(&item, &needs, path)?;
        let reverse = match needs.reverse {
            Some(packet) => Some(self.reverse(&item, &vc, packet, from, to)?),
            None => None,
        };
        let file::Flow { name, source, transport, start, start_spread, police, .. } = item.it;
        let flow =
            Flow { name, from, to, vc: index, back: None, start, start_spread, source, transport, police };
        Ok((flow, vc, reverse))
    }

    fn host(&self, item: &Item<'_, file::Flow>, key: &str, name: &str) -> Result<usize, Fault> {
        let node = self.names.find("node", name).map_err(|why| item.fault(key, why))?;
        let host = self.nodes[node].kind == NodeKind::Host;
        item.ensure(host, key, &format!("{name:?} is no host: flows start and end at hosts"))?;
        Ok(node)
    }

    /// The lines of the flow's data.
    fn path(&self, item: &Item<'_, file::Flow>, from: usize, to: usize) -> Result<Vec<usize>, Fault> {
        let mut via = Vec::with_capacity(item.it.via.len());
        for name in &item.it.via {
            let node = self.names.find("node", name).map_err(|why| item.fault("via", why))?;
            let host = self.nodes[node].kind == NodeKind::Host;
            item.ensure(!host, "via", &format!("{name:?} is a host, and hosts do not forward"))?;
            item.ensure(!via.contains(&node), "via", &format!("{name:?} is listed twice"))?;
            via.push(node);
        }
        let path = self.routes.through(from, &via, to).map_err(|leg| item.fault("to", self.no_route(leg)))?;
        let hops = path.len();
        item.ensure(
            hops <= MOST_HOPS,
            "to",
            &format!("the route has {hops} hops; at most {MOST_HOPS} are possible"),
        )?;
        let mut passed = vec![from];
        for &line in &path {
            let node = self.lines[line].to;
            let again = format!("the route passes {:?} twice; list other nodes", self.nodes[node].name);
            item.ensure(!passed.contains(&node), "via", &again)?;
            passed.push(node);
        }
        Ok(path)
    }

    fn no_route(&self, (from, to): (usize, usize)) -> String {
        let (from, to) = (&self.nodes[from].name, &self.nodes[to].name);
        format!(
            "no route leads from {from:?} to {to:?}: some [[link]] is missing, or has duplex = false the other way"
        )
    }

    /// The circuit of the flow's data.
    fn circuit(&self, item: &Item<'_, file::Flow>, needs: &Needs, path: Vec<usize>) -> Result<Vc, Fault> {
        let medium = self.medium(item, &path)?;
        let cells = medium == Medium::Cells;
        let only_cells = "this transport sends single cells, but the route goes over packet links";
        item.ensure(needs.packet > 0 || cells, "transport", only_cells)?;
        self.check_packet(item, needs, cells)?;
        self.check_police(item, &path)?;
        let flow = &item.it;
        item.ensure(flow.weight.is_finite() && flow.weight > 0.0, "weight", "a weight is greater than 0")?;
        let mcr = flow.mcr.unwrap_or(Rate(0));
        if let Some(line) = path.iter().map(|line| &self.lines[*line]).find(|line| line.rate < mcr) {
            let message = format!("the line {:?} has only {} to promise", line.name, line.rate);
            return Err(item.fault("mcr", message));
        }
        let packet = u32::try_from(needs.packet).expect("a packet of at most 65535 octets");
        let vc = Vc {
            name: flow.name.clone(),
            path,
            mcr,
            weight: flow.weight,
            priority: flow.priority,
            llc_snap: false,
            header: 0,
            parity_cells: self.parity_cells(item, needs, cells)?,
            packet,
        };
        Ok(self.framed(vc, cells))
    }

    /// What the adaptation adds to the packets of a circuit.
    fn framed(&self, vc: Vc, cells: bool) -> Vc {
        match cells {
            true => Vc { llc_snap: self.adaptation.llc_snap(), ..vc },
            false => Vc { header: self.adaptation.header().0 as u32, ..vc },
        }
    }

    /// Parity cells of a frame, if they can be.
    fn parity_cells(&self, item: &Item<'_, file::Flow>, needs: &Needs, cells: bool) -> Result<u16, Fault> {
        let parity = item.it.transport.parity_cells();
        let key = "transport.parity_cells";
        let only_cells = "the route goes over packet links: packets have no parity cells, set 0";
        item.ensure(parity == 0 || cells, key, only_cells)?;
        let frame = aal5::cells(needs.packet, self.adaptation.llc_snap());
        let total = u16::try_from(frame + u64::from(parity)).map(|_| parity as u16);
        total.map_err(|_| item.fault(key, "a frame has at most 65535 cells, parity included"))
    }

    /// Refuse a policer that cannot work.
    fn check_police(&self, item: &Item<'_, file::Flow>, path: &[usize]) -> Result<(), Fault> {
        let Some(police) = &item.it.police else { return Ok(()) };
        let switched = path.len() > usize::from(POLICED_HOP);
        item.ensure(switched, "police", "a policer stands at the first switch, and this route has none")?;
        let context = police::Context { seed: 0, flow: &item.it.name };
        police.build(&context).map(|_| ()).map_err(|why| item.refuse("police", why))
    }

    /// Refuse a packet that is longer than a frame can say.
    fn check_packet(&self, item: &Item<'_, file::Flow>, needs: &Needs, cells: bool) -> Result<(), Fault> {
        let (more, what) = match (cells, self.adaptation.llc_snap()) {
            (true, true) => (8, " with their LLC/SNAP header of 8"),
            (true, false) => (0, ""),
            (false, _) => (self.adaptation.header().0, " with the header of their line"),
        };
        let total = needs.packet.saturating_add(more);
        let unit = if cells { "an AAL5 frame carries" } else { "a packet has" };
        let message = format!("the packets become {total} bytes long{what}, and {unit} at most {LONGEST}");
        item.ensure(total <= LONGEST, needs.packet_key, &message)
    }

    /// What all lines of a path carry.
    fn medium(&self, item: &Item<'_, file::Flow>, path: &[usize]) -> Result<Medium, Fault> {
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

    /// The circuit of the acknowledgements: the same lines backwards, or where one of them has no other direction the
    /// fewest hops.
    fn reverse(
        &self,
        item: &Item<'_, file::Flow>,
        data: &Vc,
        packet: u32,
        from: usize,
        to: usize,
    ) -> Result<Vc, Fault> {
        let back: Option<Vec<usize>> = data.path.iter().rev().map(|line| self.lines[*line].back).collect();
        let fewest = || self.routes.through(to, &[], from);
        let path = back.map_or_else(fewest, Ok).map_err(|leg| {
            item.fault("to", format!("{}; acknowledgements need a way back", self.no_route(leg)))
        })?;
        let cells = self.medium(item, &path)? == Medium::Cells;
        let name = format!("{}.back", data.name);
        let vc = Vc {
            name,
            path,
            mcr: Rate(0),
            weight: 1.0,
            priority: 0,
            llc_snap: false,
            header: 0,
            parity_cells: 0,
            packet,
        };
        Ok(self.framed(vc, cells))
    }
}

/// What the transport needs, once source and transport fit each other.
fn check_ends(item: &Item<'_, file::Flow>) -> Result<Needs, Fault> {
    let (source, transport) = (&item.it.source, &item.it.transport);
    source.check().map_err(|why| item.refuse("source", why))?;
    transport.check().map_err(|why| item.refuse("transport", why))?;
    let needs = transport.needs(source);
    if !needs.sources.contains(&source.name()) {
        let message = format!(
            "the source {:?} does not fit the transport {:?}, which takes: {}",
            source.name(),
            transport.name(),
            needs.sources.join(", ")
        );
        return Err(item.fault("source.kind", message));
    }
    if let Some((key, rate)) = source.rate() {
        let key = format!("source.{key}");
        item.ensure(rate > Rate(0), &key, "a rate of zero never sends anything")?;
        item.ensure(rate <= FASTEST, &key, "a source has at most 100 Tb/s")?;
    }
    item.ensure(source.datagram() != Some(Bytes(0)), "source.size", "a datagram has at least one byte")?;
    Ok(needs)
}
