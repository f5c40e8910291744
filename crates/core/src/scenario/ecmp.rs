//! Routes among equals: at every node a hash of the flow and of the node's seed chooses one of the lines on shortest
//! routes, or every packet draws one.
//!
//! *Source*: C. Hopps, "Analysis of an Equal-Cost Multi-Path Algorithm", RFC 2992, 2000. If all switches had one
//! seed, the hash at the second switch of a route would repeat the choice of the first one, and the flows would use
//! only some of its lines. So every node has its own seed, which follows from the seed of the run. Lines may have
//! weights (J. Zhou et al., "WCMP: Weighted cost multipathing for improved fairness in data centers", EuroSys 2014).

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::hash::HashedFlow;
use super::model::{Line, NetworkNode, NodeKind, SharedRoute};
use crate::rng::{mix, path_key};
use crate::units::ids::{IdVec, LineId, NodeId};

/// The lines of a network for the choice among equal routes.
#[derive(Debug)]
pub(super) struct EqualRoutes<'a> {
    nodes: &'a IdVec<NodeId, NetworkNode>,
    lines: &'a IdVec<LineId, Line>,
    seed: u64,
    /// For every node the lines that start there, and those that end there, by name: so another order of declaration leaves
    /// every choice as it is.
    out: IdVec<NodeId, Vec<LineId>>,
    into: IdVec<NodeId, Vec<LineId>>,
    /// The seed of every node.
    seeds: IdVec<NodeId, u64>,
    /// For each node that was a destination so far, the number of hops to it from every node that forwards.
    tables: BTreeMap<NodeId, Rc<HopCounts>>,
}

/// Why the routes of packets cannot be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoRoutes {
    /// No route leads from one node to another.
    Between(NodeId, NodeId),
    /// There are more than [`MOST_ROUTES`] routes.
    TooMany,
}

/// Greatest number of routes of one circuit.
pub(super) const MOST_ROUTES: usize = 1024;

/// Greatest number of entries of all tables together.
const MOST_REMEMBERED: usize = 1 << 24;

const UNREACHED: u32 = u32::MAX;

/// For every node the number of hops to a destination.
type HopCounts = IdVec<NodeId, u32>;

/// A route as a list of lines, and the range of random numbers that selects it.
type Way = (Vec<LineId>, Range<u128>);

impl<'a> EqualRoutes<'a> {
    /// Prepare the choice of routes in a network for this seed, without the lines that are down.
    pub(super) fn new(
        nodes: &'a IdVec<NodeId, NetworkNode>,
        lines: &'a IdVec<LineId, Line>,
        seed: u64,
        down: &[LineId],
    ) -> EqualRoutes<'a> {
        let (mut out, mut into) =
            (IdVec::filled(Vec::new(), nodes.len()), IdVec::filled(Vec::new(), nodes.len()));
        for (index, line) in lines.pairs().filter(|(index, _)| !down.contains(index)) {
            out[line.from].push(index);
            into[line.to].push(index);
        }
        out.iter_mut().for_each(|own| own.sort_by(|one, other| lines[*one].name.cmp(&lines[*other].name)));
        let seeds =
            nodes.iter().map(|node| path_key(seed, format_args!("node.{}.ecmp", node.name))).collect();
        EqualRoutes { nodes, lines, seed, out, into, seeds, tables: BTreeMap::new() }
    }

    /// Find the route of a flow from one node to another through the given nodes, in order; the error names the leg
    /// that does not exist.
    pub(super) fn through(
        &mut self,
        flow: &str,
        from: NodeId,
        via: &[NodeId],
        to: NodeId,
    ) -> Result<Vec<LineId>, (NodeId, NodeId)> {
        let nodes = self.nodes;
        let ends = [from, to].map(|node| nodes[node].name.as_str());
        let key = path_key(self.seed, format_args!("flow.{flow}.route.{}.{}", ends[0], ends[1]));
        let flow = &HashedFlow { key, ends };
        let (mut path, mut start) = (Vec::new(), from);
        for &end in via.iter().chain([&to]) {
            self.leg(flow, start, end, &mut path).ok_or((start, end))?;
            start = end;
        }
        Ok(path)
    }

    /// Append the lines from one node to another.
    fn leg(&mut self, flow: &HashedFlow<'_>, from: NodeId, to: NodeId, path: &mut Vec<LineId>) -> Option<()> {
        let hops = self.hops_to(to);
        let mut at = from;
        while at != to {
            let equal = self.equal_lines(&hops, at, to)?;
            let line = self.choice(flow, at, &equal);
            path.push(line);
            at = self.lines[line].to;
        }
        Some(())
    }

    /// Return whether flows from one node to another through the given nodes may take different lines anywhere.
    pub(super) fn divides(&mut self, from: NodeId, via: &[NodeId], to: NodeId) -> bool {
        let mut at = from;
        for &end in via.iter().chain([&to]) {
            let hops = self.hops_to(end);
            while at != end {
                match self.equal_lines(&hops, at, end).as_deref() {
                    Some(&[only]) => at = self.lines[only].to,
                    several => return several.is_some(),
                }
            }
        }
        false
    }

    /// Return the lines on shortest routes from a node to another, if there are any.
    fn equal_lines(&self, hops: &HopCounts, at: NodeId, to: NodeId) -> Option<Vec<LineId>> {
        let own = || self.out[at].iter().copied();
        let direct: Vec<LineId> = own().filter(|line| self.lines[*line].to == to).collect();
        if !direct.is_empty() {
            return Some(direct);
        }
        let ahead = |line: &LineId| hops[self.lines[*line].to];
        let nearest = own().map(|line| ahead(&line)).min().filter(|hops| *hops != UNREACHED)?;
        Some(own().filter(|line| ahead(line) == nearest).collect())
    }

    /// List all routes from one node to another through the given nodes, in order. Every node divides the range of
    /// random numbers of a route among its lines, by their weights.
    pub(super) fn all(
        &mut self,
        from: NodeId,
        via: &[NodeId],
        to: NodeId,
    ) -> Result<Vec<SharedRoute>, NoRoutes> {
        let mut found = vec![(Vec::new(), 0..1 << u64::BITS)];
        let mut start = from;
        for &end in via.iter().chain([&to]) {
            let hops = self.hops_to(end);
            while found.iter().any(|(path, _)| self.end_of(path, from) != end) {
                found = self.divided(&hops, found, from, end).ok_or(NoRoutes::Between(start, end))?;
                if found.len() > MOST_ROUTES {
                    return Err(NoRoutes::TooMany);
                }
            }
            start = end;
        }
        let route =
            |(path, draws): (Vec<LineId>, Range<u128>)| SharedRoute { path, last: (draws.end - 1) as u64 };
        Ok(found.into_iter().map(route).collect())
    }

    /// Extend each route that has not reached its end by every equal line, in the order of their ranges.
    fn divided(&self, hops: &HopCounts, ways: Vec<Way>, from: NodeId, end: NodeId) -> Option<Vec<Way>> {
        let mut longer = Vec::with_capacity(ways.len());
        for (path, draws) in ways {
            let at = self.end_of(&path, from);
            if at == end {
                longer.push((path, draws));
                continue;
            }
            let equal = self.equal_lines(hops, at, end)?;
            let (all, width) = (self.weight(&equal), draws.end - draws.start);
            let border = |before: u64| draws.start + width * u128::from(before) / u128::from(all);
            let mut before = 0;
            for line in equal {
                let (path, after) =
                    (path.iter().copied().chain([line]).collect(), before + self.weight(&[line]));
                longer.push((path, border(before)..border(after)));
                before = after;
            }
        }
        Some(longer)
    }

    /// Return the last node of a route.
    fn end_of(&self, path: &[LineId], from: NodeId) -> NodeId {
        path.last().map_or(from, |line| self.lines[*line].to)
    }

    /// Choose which of equal lines a flow takes from a node, by their weights.
    fn choice(&self, flow: &HashedFlow<'_>, node: NodeId, equal: &[LineId]) -> LineId {
        let hash = match &self.nodes[node].hash {
            None => mix(flow.key ^ self.seeds[node]),
            Some(hash) => hash.number(flow),
        };
        let mut place = ((u128::from(hash) * u128::from(self.weight(equal))) >> 64) as u64;
        let chosen = equal.iter().find(|&&line| match place.checked_sub(self.weight(&[line])) {
            Some(rest) => {
                place = rest;
                false
            }
            None => true,
        });
        *chosen.expect("a place below the sum of all weights")
    }

    /// Return the weight of lines together.
    fn weight(&self, lines: &[LineId]) -> u64 {
        lines.iter().map(|&line| u64::from(self.lines[line].weight)).sum()
    }

    /// Return the node for which the table of hops to a node is stored: for a host with one link its switch,
    /// otherwise the node itself.
    fn last_relay(&self, to: NodeId) -> NodeId {
        match self.into[to][..] {
            [only] if self.nodes[to].kind == NodeKind::Host => self.lines[only].from,
            _ => to,
        }
    }

    /// Return the hops from all nodes to the node that [`EqualRoutes::last_relay`] returns; hosts do not forward.
    fn hops_to(&mut self, to: NodeId) -> Rc<HopCounts> {
        let goal = self.last_relay(to);
        if let Some(known) = self.tables.get(&goal) {
            return Rc::clone(known);
        }
        if (self.tables.len() + 1) * self.nodes.len() > MOST_REMEMBERED {
            self.tables.clear();
        }
        let mut hops = IdVec::filled(UNREACHED, self.nodes.len());
        hops[goal] = 0;
        let (mut frontier, mut count) = (vec![goal], 0);
        while !frontier.is_empty() {
            count += 1;
            let mut next = Vec::new();
            for line in frontier.iter().flat_map(|node| &self.into[*node]) {
                let node = self.lines[*line].from;
                if hops[node] == UNREACHED && self.nodes[node].kind != NodeKind::Host {
                    hops[node] = count;
                    next.push(node);
                }
            }
            frontier = next;
        }
        let hops = Rc::new(hops);
        self.tables.insert(goal, Rc::clone(&hops));
        hops
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;

    /// From a to b: directly through s, or over two parallel links through t, all with two hops behind r.
    const UNEQUAL: &str = "name = 'unequal'
        duration = '1 ms'
        adaptation = { kind = 'packet' }
        node = [{ name = 'a', kind = 'host' }, { name = 'r', kind = 'router' }, { name = 's', kind = 'router' },
            { name = 't', kind = 'router' }, { name = 'b', kind = 'host' }]
        link = [{ from = 'a', to = 'r', rate = '1 Gb/s', delay = '1 us' }, { from = 'r', to = 's', rate = '1 Gb/s', delay = '1 us' },
            { from = 'r', to = 't', rate = '1 Gb/s', delay = '1 us' }, { from = 's', to = 'b', rate = '1 Gb/s', delay = '1 us' },
            { from = 't', to = 'b', rate = '1 Gb/s', delay = '1 us' },
            { name = 'second', from = 't', to = 'b', rate = '1 Gb/s', delay = '1 us' }]
        flow = [{ name = 'x', from = 'a', to = 'b' }]
        flows = { source = { kind = 'greedy' }, transport = { kind = 'tcp' } }";

    /// The routes from a to b without these lines: the last line of each, and its share.
    fn shares(via: &[&str], down: &[&str]) -> Result<Vec<(String, f64)>, NoRoutes> {
        let scenario = load(UNEQUAL, "x.toml", &[]).unwrap_or_else(|why| panic!("{why}"));
        let (nodes, lines) = (&scenario.nodes, &scenario.lines);
        let node = |name: &str| nodes.position(|node| node.name == name).unwrap_or_default();
        let line = |name: &&str| lines.position(|line| line.name == *name).unwrap_or_default();
        let down: Vec<LineId> = down.iter().map(line).collect();
        let via: Vec<NodeId> = via.iter().map(|name| node(name)).collect();
        let found = EqualRoutes::new(nodes, lines, 1, &down).all(node("a"), &via, node("b"))?;
        let mut begin = 0.0;
        let share = |route: SharedRoute| {
            let end = (route.last as f64 + 1.0) / 2f64.powi(64);
            let share = end - std::mem::replace(&mut begin, end);
            (lines[route.path[route.path.len() - 1]].name.clone(), share)
        };
        Ok(found.into_iter().map(share).collect())
    }

    #[test]
    fn every_node_divides_what_reaches_it_equally_among_its_lines() {
        let named =
            |list: &[(&str, f64)]| list.iter().map(|(name, share)| (name.to_string(), *share)).collect();
        assert_eq!(shares(&[], &[]), Ok(named(&[("s->b", 0.5), ("second", 0.25), ("t->b", 0.25)])));
        assert_eq!(shares(&["t"], &[]), Ok(named(&[("second", 0.5), ("t->b", 0.5)])));
        assert_eq!(shares(&[], &["r->s"]), Ok(named(&[("second", 0.5), ("t->b", 0.5)])));
        assert_eq!(shares(&[], &["r->t", "r->s"]), Err(NoRoutes::Between(NodeId(0), NodeId(4))));
    }

    #[test]
    fn a_node_divides_by_the_weights_of_its_lines() {
        let sets = ["routing=ecmp", "link.second.weight=3", "link.\"r->s\".weight=2"].map(String::from);
        let scenario = load(UNEQUAL, "x.toml", &sets).unwrap_or_else(|why| panic!("{why}"));
        let routes = EqualRoutes::new(&scenario.nodes, &scenario.lines, 1, &[])
            .all(NodeId(0), &[], NodeId(4))
            .unwrap();
        let ends: Vec<f64> = routes.iter().map(|route| (route.last as f64 + 1.0) / 2f64.powi(64)).collect();
        assert_eq!(ends, [2.0 / 3.0, 2.0 / 3.0 + 1.0 / 4.0, 1.0], "2 : 1 at r, and 3 : 1 at t");
        let mut counts = BTreeMap::new();
        let mut equal = EqualRoutes::new(&scenario.nodes, &scenario.lines, 1, &[]);
        for flow in 0..12_000 {
            let path = equal.through(&format!("f{flow}"), NodeId(0), &[], NodeId(4)).unwrap();
            *counts.entry(path[path.len() - 1]).or_insert(0.0) += 1.0 / 12_000.0;
        }
        let expected = [2.0 / 3.0, 1.0 / 12.0, 1.0 / 4.0];
        assert!(
            counts
                .values()
                .zip(expected)
                .all(|(share, expected): (&f64, f64)| (share - expected).abs() < 0.015),
            "{counts:?}"
        );
    }
}
