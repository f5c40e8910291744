//! Routes among equals: at every node a hash of the flow, with a seed of that node, picks one of the lines on shortest routes.
//!
//! *Source*: C. Hopps, "Analysis of an Equal-Cost Multi-Path Algorithm", RFC 2992, 2000. With one seed for all switches the second one
//! would only see flows that the first one has sent its way, and use a part of its lines; so every node has a seed of its own, which
//! follows from that of the run.

use std::collections::BTreeMap;

use super::model::{Line, Node, NodeKind};
use crate::rng::{mix, path_key};

/// The lines of a network as such routes see them.
#[derive(Debug)]
pub(super) struct EqualRoutes<'a> {
    nodes: &'a [Node],
    lines: &'a [Line],
    seed: u64,
    /// For every node the lines that start there, and those that end there, in the order of declaration.
    out: Vec<Vec<usize>>,
    into: Vec<Vec<usize>>,
    /// The seed of every node.
    seeds: Vec<u64>,
    /// Hops from every node that forwards to some of them.
    tables: BTreeMap<usize, Vec<u32>>,
}

/// Entries of all tables together that are remembered.
const MOST_REMEMBERED: usize = 1 << 24;

const UNREACHED: u32 = u32::MAX;

impl<'a> EqualRoutes<'a> {
    /// The routes of a network in a run with this seed.
    pub(super) fn new(nodes: &'a [Node], lines: &'a [Line], seed: u64) -> EqualRoutes<'a> {
        let (mut out, mut into) = (vec![Vec::new(); nodes.len()], vec![Vec::new(); nodes.len()]);
        for (index, line) in lines.iter().enumerate() {
            out[line.from].push(index);
            into[line.to].push(index);
        }
        let seeds =
            nodes.iter().map(|node| path_key(seed, format_args!("node.{}.ecmp", node.name))).collect();
        EqualRoutes { nodes, lines, seed, out, into, seeds, tables: BTreeMap::new() }
    }

    /// The way of a flow from one node to another through the given nodes, in order; `Err` names the leg that does not exist.
    pub(super) fn through(
        &mut self,
        flow: &str,
        from: usize,
        via: &[usize],
        to: usize,
    ) -> Result<Vec<usize>, (usize, usize)> {
        let flow = path_key(self.seed, format_args!("flow.{flow}.route.{from}.{to}"));
        let (mut path, mut start) = (Vec::new(), from);
        for &end in via.iter().chain([&to]) {
            self.leg(flow, start, end, &mut path).ok_or((start, end))?;
            start = end;
        }
        Ok(path)
    }

    /// Append the lines from one node to another.
    fn leg(&mut self, flow: u64, from: usize, to: usize, path: &mut Vec<usize>) -> Option<()> {
        let goal = self.last_relay(to);
        self.prepare(goal);
        let hops = &self.tables[&goal];
        let mut at = from;
        while at != to {
            let direct = self.out[at].iter().filter(|line| self.lines[**line].to == to);
            let mut equal: Vec<usize> = direct.copied().collect();
            if equal.is_empty() {
                let ahead = |line: &usize| hops[self.lines[*line].to];
                let nearest = self.out[at].iter().map(ahead).min().filter(|hops| *hops != UNREACHED)?;
                equal.extend(self.out[at].iter().filter(|line| ahead(line) == nearest));
            }
            let line = equal[self.choice(flow, at, equal.len())];
            path.push(line);
            at = self.lines[line].to;
        }
        Some(())
    }

    /// Which of `count` lines a flow takes from a node.
    fn choice(&self, flow: u64, node: usize, count: usize) -> usize {
        let hash = mix(flow ^ self.seeds[node]);
        ((u128::from(hash) * count as u128) >> 64) as usize
    }

    /// The node whose table leads to a node: for a host with one link its switch, for others themselves.
    fn last_relay(&self, to: usize) -> usize {
        match self.into[to][..] {
            [only] if self.nodes[to].kind == NodeKind::Host => self.lines[only].from,
            _ => to,
        }
    }

    /// Find the hops from all nodes to one, unless they are known; hosts do not forward.
    fn prepare(&mut self, goal: usize) {
        if self.tables.contains_key(&goal) {
            return;
        }
        if (self.tables.len() + 1) * self.nodes.len() > MOST_REMEMBERED {
            self.tables.clear();
        }
        let mut hops = vec![UNREACHED; self.nodes.len()];
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
        self.tables.insert(goal, hops);
    }
}
