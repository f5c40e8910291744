//! Routes: the fewest hops; among equals the one whose lines were declared first.

use std::collections::{BTreeMap, VecDeque};

use super::model::{Line, Node, NodeKind};

/// The lines of a network as routes see them: hosts do not forward.
#[derive(Clone, Debug)]
pub struct Routes<'a> {
    lines: &'a [Line],
    /// For every node the lines that lead on to a switch or a router, in the order of declaration.
    onward: Vec<Vec<usize>>,
    /// For every node the lines that end there, by the node at which they start; the first declared wins.
    into: Vec<BTreeMap<usize, usize>>,
}

impl<'a> Routes<'a> {
    /// The routes of a network.
    pub fn new(nodes: &[Node], lines: &'a [Line]) -> Routes<'a> {
        let mut routes =
            Routes { lines, onward: vec![Vec::new(); nodes.len()], into: vec![BTreeMap::new(); nodes.len()] };
        for (index, line) in lines.iter().enumerate() {
            if nodes[line.to].kind != NodeKind::Host {
                routes.onward[line.from].push(index);
            }
            routes.into[line.to].entry(line.from).or_insert(index);
        }
        routes
    }

    /// The lines from one node to another through the given nodes, in order; `Err` names the leg that does not exist.
    pub fn through(&self, from: usize, via: &[usize], to: usize) -> Result<Vec<usize>, (usize, usize)> {
        let ends = via.iter().copied().chain([to]);
        let starts = [from].into_iter().chain(via.iter().copied());
        let legs = starts.zip(ends).map(|(start, end)| self.leg(start, end).ok_or((start, end)));
        Ok(legs.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Breadth first, so that the first way found has the fewest hops.
    fn leg(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut reached = BTreeMap::from([(from, None)]);
        let mut next = VecDeque::from([from]);
        while let Some(node) = next.pop_front() {
            if let Some(&last) = self.into[to].get(&node) {
                return Some(self.back_to_start(&reached, last));
            }
            for &line in &self.onward[node] {
                let end = self.lines[line].to;
                reached.entry(end).or_insert_with(|| {
                    next.push_back(end);
                    Some(line)
                });
            }
        }
        None
    }

    fn back_to_start(&self, reached: &BTreeMap<usize, Option<usize>>, last: usize) -> Vec<usize> {
        let before = |line: &usize| reached[&self.lines[*line].from];
        let mut path: Vec<usize> = std::iter::successors(Some(last), before).collect();
        path.reverse();
        path
    }
}
