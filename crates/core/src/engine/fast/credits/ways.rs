//! The ways of units and of credits: what stays the same throughout a run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::link::credit::{Receiver, Terms};
use crate::network::Network;
use crate::network::circuit::{Circuit, Hop};
use crate::police;
use crate::scenario::model::{Line, Medium, Scenario};
use crate::unit::Unit;
use crate::units::{CELL_BYTES, Span};

/// The ways through a network.
#[derive(Debug)]
pub(super) struct Ways {
    /// The stops of one circuit after the other, and where those of each begin.
    stops: Vec<Stop>,
    first: Vec<usize>,
    /// Lanes of units, first those that end at hosts.
    pub(super) lanes: Vec<Way>,
    /// For each port the rows of its notes.
    pub(super) notes: Vec<Vec<Author>>,
    /// For each port where its credit cells are noted.
    pub(super) far: Vec<Option<Address>>,
    /// The ports in an order in which credits to be sent are handed on; ports stand together if neither is sure to come
    /// first.
    pub(super) groups: Vec<Vec<u32>>,
    /// Nothing gets from one node to another in less time.
    pub(super) span: Span,
}

/// What a line brings to one port, or to the host at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Way {
    pub(super) port: Option<u32>,
    pub(super) line: u32,
}

/// Where a unit stops: at a port, or in the end at a host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    /// The port, if it is one, and the circuit's number there.
    pub(super) hop: Option<Hop>,
    /// The lane in which units come over a line.
    pub(super) lane: u32,
    /// Whether the circuit is policed here.
    pub(super) polices: bool,
    /// What is due for a unit that leaves again, if credits govern the line over which it has come.
    pub(super) answer: Option<Answer>,
}

/// Who gets the credit for a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// The governed line, and the circuit's number there.
    line: Hop,
    pub(super) to: Address,
    pub(super) how: How,
}

/// How a credit travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// As a cell, which a port of this node has to send.
    Charged,
    /// Beside the line, for this time, straight to the port that waits for it.
    Beside(Span),
}

/// A row of the notes to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) port: u32,
    pub(super) row: u32,
}

/// Who writes the notes of a row. What has one place in the order of events comes in this order: a host gives back the
/// credit for a cell before it answers the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Author {
    /// Credits to be sent, for units that leave this port of the same node or end at the host behind this line.
    Due(u32),
    /// Credits that come back, for units that leave this port or end behind this line, or from the port that has sent them.
    Credit(u32),
    /// Frames, from the port's own host.
    Host,
}

impl Ways {
    /// The ways through the network of a scenario.
    pub(super) fn new(scenario: &Scenario, network: &Network) -> Ways {
        let visits: Vec<Visit> = network.circuits.iter().flat_map(visits).collect();
        let map = Map::new(scenario, network, &visits);
        let stops: Vec<Stop> = visits.iter().map(|visit| map.stop(visit)).collect();
        let starts = visits.iter().enumerate().filter(|(_, visit)| visit.behind.is_none());
        let mut far = vec![None; scenario.lines.len()];
        for (line, back) in charged(scenario, network) {
            far[back] = Some(map.address(line as u32, Author::Credit(back as u32)));
        }
        Ways {
            first: starts.map(|(at, _)| at).collect(),
            far,
            groups: groups(scenario, &stops),
            span: span(scenario, network),
            stops,
            lanes: map.lanes,
            notes: map.notes,
        }
    }

    /// Where a unit is.
    #[inline]
    pub(super) fn stop(&self, unit: &Unit) -> &Stop {
        &self.stops[self.first[unit.vc as usize] + usize::from(unit.hop)]
    }

    /// The number of a unit's circuit at the port where it is.
    #[inline]
    pub(super) fn number(&self, unit: &Unit) -> usize {
        self.stop(unit).number()
    }

    /// For each port its group and its place there.
    pub(super) fn places(&self) -> Vec<(usize, usize)> {
        let mut places = vec![(0, 0); self.notes.len()];
        for (number, group) in self.groups.iter().enumerate() {
            group.iter().enumerate().for_each(|(place, port)| places[*port as usize] = (number, place));
        }
        places
    }

    /// The lanes that lead to a port.
    pub(super) fn lanes_to(&self, port: usize) -> Range<u32> {
        let before = |bound: usize| {
            self.lanes.partition_point(|way| way.port.is_none_or(|port| (port as usize) < bound))
        };
        before(port) as u32..before(port + 1) as u32
    }

    /// Where the frames of a circuit are noted.
    pub(super) fn source(&self, vc: u32) -> Address {
        let hop = self.stops[self.first[vc as usize]].hop.expect("a circuit has a first port");
        let row = self.notes[hop.port as usize].binary_search(&Author::Host);
        Address { port: hop.port, row: row.expect("a first port gets frames") as u32 }
    }

    /// For each port whether it takes all units that come, as far as its policies let it: whether it polices none and,
    /// unless it has room for any number, has promised room for each.
    pub(super) fn take_all(&self, scenario: &Scenario) -> Vec<bool> {
        let mut take_all = vec![true; scenario.lines.len()];
        for Stop { hop, polices, answer, .. } in &self.stops {
            let Some(port) = hop.map(|hop| hop.port as usize) else { continue };
            let has_room = !scenario.lines[port].port.capacity.is_limited() || answer.is_some();
            take_all[port] &= has_room && !polices;
        }
        take_all
    }
}

impl Stop {
    /// The circuit's number at the port.
    #[inline]
    pub(super) fn number(&self) -> usize {
        self.hop.expect("a queued unit has a port").vc as usize
    }
}

impl Answer {
    /// The receiving end of the governed line, and the circuit's number there.
    #[inline]
    pub(super) fn receiver<'a>(&self, receivers: &'a mut [Option<Receiver>]) -> (&'a mut Receiver, usize) {
        let receiver = receivers[self.line.port as usize].as_mut();
        (receiver.expect("a governed line has a receiver"), self.line.vc as usize)
    }
}

/// A circuit on its way, between the hop behind it and that ahead.
#[derive(Clone, Copy, Debug)]
struct Visit {
    behind: Option<Hop>,
    ahead: Option<Hop>,
    polices: bool,
}

/// A circuit from its source to its destination.
fn visits(circuit: &Circuit) -> impl Iterator<Item = Visit> + '_ {
    let hop = |number: usize| circuit.hop(number as u8);
    (0..=circuit.hops()).map(move |at| Visit {
        behind: at.checked_sub(1).and_then(hop),
        ahead: hop(at),
        polices: circuit.is_policed() && at == usize::from(police::HOP),
    })
}

/// Where everything is found: lanes and rows by their numbers.
struct Map<'a> {
    scenario: &'a Scenario,
    network: &'a Network,
    lanes: Vec<Way>,
    notes: Vec<Vec<Author>>,
}

impl Map<'_> {
    fn new<'a>(scenario: &'a Scenario, network: &'a Network, visits: &[Visit]) -> Map<'a> {
        let lanes: BTreeSet<Way> = visits.iter().filter_map(Visit::way).collect();
        let notes = vec![Vec::new(); scenario.lines.len()];
        let mut map = Map { scenario, network, lanes: lanes.into_iter().collect(), notes };
        let answers = visits.iter().filter_map(|visit| map.answer(visit));
        let mut authors: BTreeSet<(u32, Author)> = answers.map(|(port, author, _)| (port, author)).collect();
        authors.extend(visits.iter().filter_map(Visit::setout).map(|port| (port, Author::Host)));
        let credit_cells = charged(scenario, network);
        authors.extend(credit_cells.map(|(line, back)| (line as u32, Author::Credit(back as u32))));
        authors.into_iter().for_each(|(port, author)| map.notes[port as usize].push(author));
        map
    }

    fn address(&self, port: u32, author: Author) -> Address {
        let row = self.notes[port as usize].binary_search(&author);
        Address { port, row: row.expect("every author has a row") as u32 }
    }

    fn stop(&self, visit: &Visit) -> Stop {
        let lane = visit.way().map(|way| self.lanes.binary_search(&way).expect("every way has a lane"));
        let answer = self.answer(visit).zip(visit.behind);
        Stop {
            hop: visit.ahead,
            lane: lane.unwrap_or_default() as u32,
            polices: visit.polices,
            answer: answer.map(|((port, author, how), line)| Answer {
                line,
                to: self.address(port, author),
                how,
            }),
        }
    }

    /// To which port the credit for a unit that leaves is noted, by whom, and how it travels, if one is due.
    fn answer(&self, visit: &Visit) -> Option<(u32, Author, How)> {
        let line = visit.behind?.port;
        let Terms { charge, .. } = self.network.receivers[line as usize].as_ref()?.terms();
        let author = visit.ahead.map_or(line, |hop| hop.port);
        let back =
            self.scenario.lines[line as usize].back.expect("a line with credits has another direction");
        if charge {
            return Some((back as u32, Author::Due(author), How::Charged));
        }
        let transit = self.network.ports[back].line().transit(CELL_BYTES as u16);
        Some((line, Author::Credit(author), How::Beside(transit)))
    }
}

impl Visit {
    /// How units come here over a line.
    fn way(&self) -> Option<Way> {
        self.behind.map(|line| Way { line: line.port, port: self.ahead.map(|hop| hop.port) })
    }

    /// The port at which the circuit begins, if this is where it does.
    fn setout(&self) -> Option<u32> {
        self.ahead.filter(|_| self.behind.is_none()).map(|hop| hop.port)
    }
}

/// The lines whose credits travel as cells, each with that over which they come.
fn charged(scenario: &Scenario, network: &Network) -> impl Iterator<Item = (usize, usize)> {
    let receivers = network.receivers.iter().zip(&scenario.lines).enumerate();
    receivers.filter_map(|(line, (receiver, spec))| {
        let charge = receiver.as_ref()?.terms().charge;
        spec.back.filter(|_| charge).map(|back| (line, back))
    })
}

/// Ports in an order in which those that hand on credits come before those that send them; what is left, because credits
/// go both ways or behind such ports, stands together by nodes.
fn groups(scenario: &Scenario, stops: &[Stop]) -> Vec<Vec<u32>> {
    let handed_on = |stop: &Stop| match (stop.hop, stop.answer) {
        (Some(hop), Some(Answer { to, how: How::Charged, .. })) => Some((hop.port, to.port)),
        _ => None,
    };
    let mut edges: BTreeSet<(u32, u32)> = stops.iter().filter_map(handed_on).collect();
    let mut left: BTreeSet<u32> = (0..scenario.lines.len() as u32).collect();
    let mut groups = Vec::new();
    loop {
        let waiting: BTreeSet<u32> = edges.iter().map(|(_, to)| *to).collect();
        let ready: BTreeSet<u32> = left.difference(&waiting).copied().collect();
        if ready.is_empty() {
            break;
        }
        edges.retain(|(from, _)| !ready.contains(from));
        left.retain(|port| !ready.contains(port));
        groups.extend(ready.into_iter().map(|port| vec![port]));
    }
    let mut nodes = BTreeMap::<usize, Vec<u32>>::new();
    left.into_iter().for_each(|port| nodes.entry(scenario.lines[port as usize].from).or_default().push(port));
    groups.extend(nodes.into_values());
    groups
}

/// The shortest time that anything takes from the port of one node to the next node.
fn span(scenario: &Scenario, network: &Network) -> Span {
    let transit = |(line, spec): (usize, &Line)| {
        let smallest = if spec.medium == Medium::Cells { CELL_BYTES as u16 } else { 1 };
        network.ports[line].line().transit(smallest)
    };
    scenario.lines.iter().enumerate().map(transit).min().expect("a network has lines")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;

    /// The groups of ports, by the names of their lines, where data go from a over s and t to b: credits on the lines of
    /// these ports.
    fn groups(governed: &[&str]) -> Vec<Vec<String>> {
        let mut text = String::from(
            r#"
            name = "chain"
            duration = "1 ms"
            node = [
                { name = "a", kind = "host" },
                { name = "s", kind = "switch" },
                { name = "t", kind = "switch" },
                { name = "b", kind = "host" },
            ]
            link = [
                { name = "in", class = "in", from = "a", to = "s", rate = "42.4 Mb/s", delay = "1 us" },
                { name = "mid", class = "mid", from = "s", to = "t", rate = "42.4 Mb/s", delay = "3 us" },
                { name = "out", class = "out", from = "t", to = "b", rate = "42.4 Mb/s", delay = "2 us" },
            ]
            flow = [{ name = "f", from = "a", to = "b", source = { kind = "greedy" }, transport = { kind = "tcp" } }]
            [port.default]
            scheduler = { policy = "round-robin" }
            "#,
        );
        for port in governed {
            text += &format!(
                "[port.\"{port}\"]\nscheduler = {{ policy = \"round-robin\" }}\ncredit = {{ policy = \"n23\" }}\n"
            );
        }
        let scenario = load(&text, "chain.toml", &[]).unwrap_or_else(|why| panic!("{why}\n{text}"));
        let ways = Ways::new(&scenario, &Network::new(&scenario));
        assert_eq!(ways.span, Span::micros(11), "ten for a cell, one for the shortest line");
        let name = |port: &u32| scenario.lines[*port as usize].name.clone();
        ways.groups.iter().map(|ports| ports.iter().map(name).collect()).collect()
    }

    #[test]
    fn a_port_that_hands_on_credits_comes_before_those_that_send_them() {
        let groups = groups(&["in", "mid", "out"]);
        assert!(groups.iter().all(|group| group.len() == 1), "{groups:?}");
        let place = |name: &str| groups.iter().position(|group| group[0] == name).unwrap();
        assert!(place("mid") < place("in.back"), "what leaves over mid has come over in");
        assert!(place("out") < place("mid.back"));
    }

    #[test]
    fn ports_that_hand_on_credits_to_each_other_stand_together() {
        let groups = groups(&["in", "mid", "out", "in.back", "mid.back", "out.back"]);
        for group in [["mid", "in.back"], ["out", "mid.back"]] {
            let found = groups
                .iter()
                .any(|found| found.len() == 2 && group.iter().all(|name| found.contains(&name.to_string())));
            assert!(found, "{group:?} in {groups:?}");
        }
    }
}
