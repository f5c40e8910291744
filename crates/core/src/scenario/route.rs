//! Routes: the fewest hops; among equals the one whose lines were declared first.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::model::{Line, NetworkNode, NodeKind};
use crate::units::ids::{IdVec, LineId, NodeId};

/// The lines of a network for the search of routes: hosts do not forward.
#[derive(Clone, Debug)]
pub struct Routes<'a> {
    lines: &'a IdVec<LineId, Line>,
    /// For every node its number among the nodes that forward; `None` for hosts.
    relay: IdVec<NodeId, Option<usize>>,
    relays: usize,
    /// For every node its lines to nodes that forward, in the order of declaration.
    onward: IdVec<NodeId, Vec<LineId>>,
    /// For every node the lines to it from nodes that forward, in the order of declaration.
    into: IdVec<NodeId, Vec<LineId>>,
    /// For two nodes the first line between them, and the number of lines between them.
    direct: BTreeMap<(NodeId, NodeId), (LineId, u64)>,
    searches: RefCell<Searches>,
}

/// A route from one node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Lines of the route.
    pub path: Vec<LineId>,
    /// Number of routes with this number of hops, this one included.
    pub ways: u64,
}

impl<'a> Routes<'a> {
    /// Prepare the search of routes in a network, without the lines that are down.
    pub fn new(
        nodes: &IdVec<NodeId, NetworkNode>,
        lines: &'a IdVec<LineId, Line>,
        down: &[LineId],
    ) -> Routes<'a> {
        let mut relays = 0..;
        let mut number = |node: &NetworkNode| (node.kind != NodeKind::Host).then(|| relays.next()).flatten();
        let relay: IdVec<NodeId, Option<usize>> = nodes.iter().map(&mut number).collect();
        let (mut onward, mut into) =
            (IdVec::filled(Vec::new(), nodes.len()), IdVec::filled(Vec::new(), nodes.len()));
        let mut direct = BTreeMap::new();
        for (index, line) in lines.pairs().filter(|(index, _)| !down.contains(index)) {
            if relay[line.to].is_some() {
                onward[line.from].push(index);
            }
            if relay[line.from].is_some() {
                into[line.to].push(index);
            }
            direct.entry((line.from, line.to)).or_insert((index, 0)).1 += 1;
        }
        let searches = RefCell::default();
        Routes { lines, relays: relay.iter().flatten().count(), relay, onward, into, direct, searches }
    }

    /// Find the route from one node to another through the given nodes, in order; the error names the segment that does
    /// not exist.
    pub fn through(&self, from: NodeId, via: &[NodeId], to: NodeId) -> Result<Route, (NodeId, NodeId)> {
        let mut route = Route { path: Vec::new(), ways: 1 };
        let mut start = from;
        for &end in via.iter().chain([&to]) {
            let leg = self.leg(start, end).ok_or((start, end))?;
            route.path.extend(leg.path);
            route.ways = route.ways.saturating_mul(leg.ways);
            start = end;
        }
        Ok(route)
    }

    fn leg(&self, from: NodeId, to: NodeId) -> Option<Route> {
        if let Some(&(line, ways)) = self.direct.get(&(from, to)) {
            return Some(Route { path: vec![line], ways });
        }
        // all hosts of a switch share the switch's search
        match self.onward[from][..] {
            [first] if self.relay[from].is_none() => {
                let Route { mut path, ways } = self.leg(self.lines[first].to, to)?;
                path.insert(0, first);
                Some(Route { path, ways })
            }
            _ => self.searched(from, to),
        }
    }

    fn searched(&self, from: NodeId, to: NodeId) -> Option<Route> {
        let mut searches = self.searches.borrow_mut();
        let search = searches.from(self, from);
        let mut last = search.nearest(self, to);
        while last.is_none() && search.expand(self) {
            last = search.nearest(self, to);
        }
        last.map(|last| search.route(self, last, to))
    }
}

/// Searches that have been started; the search for another flow continues where the last one stopped.
#[derive(Clone, Debug, Default)]
struct Searches {
    begun: BTreeMap<NodeId, Search>,
}

/// Greatest number of nodes that all searches together store.
const MOST_REMEMBERED: usize = 1 << 22;

impl Searches {
    fn from(&mut self, routes: &Routes<'_>, start: NodeId) -> &mut Search {
        if self.begun.len() * routes.relays > MOST_REMEMBERED {
            self.begun.clear();
        }
        self.begun.entry(start).or_insert_with(|| Search::new(routes, start))
    }
}

/// A search breadth first from one node, one hop further at a time, so that the first route found has the fewest hops.
#[derive(Clone, Debug)]
struct Search {
    /// The step that reached each node, by the node's number.
    reached: Vec<Option<Reached>>,
    /// Nodes at the current number of hops, in the order in which they were reached.
    frontier: Vec<NodeId>,
    count: usize,
    hops: u32,
}

/// The step by which the search reached a node.
#[derive(Clone, Copy, Debug)]
struct Reached {
    /// The line over which the node was first reached; `None` for the node where the search starts.
    last: Option<LineId>,
    /// Number of nodes that the search had reached before this one.
    order: usize,
    hops: u32,
    /// Number of routes to the node with this number of hops.
    ways: u64,
}

impl Search {
    fn new(routes: &Routes<'_>, start: NodeId) -> Search {
        let mut reached = vec![None; routes.relays];
        if let Some(number) = routes.relay[start] {
            reached[number] = Some(Reached { last: None, order: 0, hops: 0, ways: 1 });
        }
        Search { reached, frontier: vec![start], count: 1, hops: 0 }
    }

    /// Reach the nodes one hop further away; returns false if there are none.
    fn expand(&mut self, routes: &Routes<'_>) -> bool {
        self.hops += 1;
        let mut next = Vec::new();
        for node in std::mem::take(&mut self.frontier) {
            let ways = self.of(routes, node).map_or(1, |reached| reached.ways);
            for &line in &routes.onward[node] {
                let end = routes.lines[line].to;
                let reached = &mut self.reached[routes.relay[end].expect("hosts do not forward")];
                match reached {
                    None => {
                        *reached =
                            Some(Reached { last: Some(line), order: self.count, hops: self.hops, ways });
                        self.count += 1;
                        next.push(end);
                    }
                    Some(other) if other.hops == self.hops => other.ways = other.ways.saturating_add(ways),
                    Some(_) => {}
                }
            }
        }
        self.frontier = next;
        !self.frontier.is_empty()
    }

    fn of(&self, routes: &Routes<'_>, node: NodeId) -> Option<Reached> {
        self.reached[routes.relay[node]?]
    }

    /// Return the line to `to` from the first reached node that has such a line; `None` if no such node has been
    /// reached.
    fn nearest(&self, routes: &Routes<'_>, to: NodeId) -> Option<LineId> {
        let order = |line: LineId| Some((self.of(routes, routes.lines[line].from)?.order, line));
        routes.into[to].iter().filter_map(|&line| order(line)).min().map(|(_, line)| line)
    }

    /// Return the route that ends with the line `last` to `to`.
    fn route(&self, routes: &Routes<'_>, last: LineId, to: NodeId) -> Route {
        let before = |line: &LineId| self.of(routes, routes.lines[*line].from)?.last;
        let mut path: Vec<LineId> = std::iter::successors(Some(last), before).collect();
        path.reverse();
        let from = |line: LineId| self.of(routes, routes.lines[line].from);
        let hops = from(last).map(|reached| reached.hops);
        let ends = routes.into[to].iter().filter_map(|&line| from(line));
        let equal = ends.filter(|reached| Some(reached.hops) == hops);
        Route { path, ways: equal.fold(0, |sum, reached| sum.saturating_add(reached.ways)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{checked, load};
    use crate::units::ids::FlowId;

    /// Two leaves with two hosts each, and three spines between them; `more` is appended.
    fn fabric(more: &str) -> String {
        let mut text = "name = 'fabric'\nduration = '1 ms'\nadaptation = { kind = 'packet' }\n".to_string();
        let link = |from: &str, to: &str| {
            format!("[[link]]\nfrom = '{from}'\nto = '{to}'\nrate = '1 Gb/s'\ndelay = '1 us'\n")
        };
        for host in ["a", "b", "c", "d"] {
            text += &format!("[[node]]\nname = '{host}'\nkind = 'host'\n");
        }
        for router in ["left", "right", "s0", "s1", "s2"] {
            text += &format!("[[node]]\nname = '{router}'\nkind = 'router'\n");
        }
        text += &[link("a", "left"), link("b", "left"), link("c", "right"), link("d", "right")].concat();
        for spine in ["s0", "s1", "s2"] {
            text += &[link("left", spine), link(spine, "right")].concat();
        }
        text + more
    }

    const TRAFFIC: &str = "[flows]\nsource = { kind = 'greedy' }\ntransport = { kind = 'tcp' }\n";

    fn flow(name: &str, from: &str, to: &str, via: &str) -> String {
        format!("[[flow]]\nname = '{name}'\nfrom = '{from}'\nto = '{to}'\nvia = [{via}]\n")
    }

    fn warnings(flows: &[String]) -> Vec<String> {
        let text = fabric(&[TRAFFIC, &flows.concat()].concat());
        let warnings = checked(&text, "x.toml", &[]).unwrap().warnings();
        warnings.into_iter().filter(|warning| warning.code == "equal-routes").map(|w| w.message).collect()
    }

    #[test]
    fn a_choice_between_equally_short_routes_is_reported_once_with_the_route_taken() {
        let told = warnings(&[
            flow("near", "a", "b", ""),
            flow("x", "a", "c", ""),
            flow("y", "b", "d", ""),
            flow("z", "d", "a", "'s2'"),
        ]);
        assert_eq!(
            told,
            [
                "3 equally short routes lead from \"a\" to \"c\", and all flows take the first, via left, s0, right; 1 other \
             flow has such a choice as well. To spread flows, set routing = \"ecmp\", or name nodes of their routes in via"
            ]
        );
    }

    #[test]
    fn a_route_that_names_its_nodes_is_no_choice() {
        assert!(warnings(&[flow("x", "a", "c", "'s1'"), flow("y", "a", "b", "")]).is_empty());
    }

    #[test]
    fn parallel_links_are_routes_of_their_own() {
        let more = "[[link]]\nname = 'second'\nfrom = 'left'\nto = 's1'\nrate = '1 Gb/s'\ndelay = '1 us'\n";
        let text = fabric(&[more, TRAFFIC, &flow("x", "a", "c", ""), &flow("y", "a", "c", "'s1'")].concat());
        let checked = checked(&text, "x.toml", &[]).unwrap();
        let told = &checked.warnings()[0].message;
        assert!(told.starts_with("4 equally short routes lead from \"a\" to \"c\""), "{told}");
        assert!(told.contains("; 1 other flow has"), "{told}");
    }

    #[test]
    fn among_equals_the_lines_that_were_declared_first_win() {
        let text = fabric(&[TRAFFIC, &flow("x", "c", "a", ""), &flow("y", "a", "d", "")].concat());
        let scenario = load(&text, "x.toml", &[]).unwrap();
        let names = |flow: FlowId| -> Vec<&str> {
            let path = &scenario.vcs[scenario.flows[flow].vc].path;
            path.iter().map(|line| scenario.lines[*line].name.as_str()).collect()
        };
        assert_eq!(names(FlowId(0)), ["c->right", "right->s0", "s0->left", "left->a"]);
        assert_eq!(names(FlowId(1)), ["a->left", "left->s0", "s0->right", "right->d"]);
    }

    #[test]
    fn flows_of_one_switch_share_a_search() {
        let flows: Vec<String> =
            (0..50).map(|i| flow(&format!("x{i}"), ["a", "b"][i % 2], "c", "")).collect();
        let text = fabric(&[TRAFFIC, &flows.concat()].concat());
        let scenario = load(&text, "x.toml", &[]).unwrap();
        let routes = Routes::new(&scenario.nodes, &scenario.lines, &[]);
        for flow in &scenario.flows {
            let route = routes.through(flow.from, &[], flow.to).unwrap();
            assert_eq!((route.path, route.ways), (scenario.vcs[flow.vc].path.clone(), 3));
        }
        let begun = &routes.searches.borrow().begun;
        assert_eq!(begun.values().map(|search| (search.count, search.hops)).collect::<Vec<_>>(), [(5, 2)]);
    }
}
