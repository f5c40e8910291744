//! Which scenarios are of this kind, and where their streams meet.

use std::collections::BTreeMap;

use crate::buffer::admission::Rule;
use crate::engine::cells::topology::{lines, rule};
use crate::engine::exact::spacing::Pace;
use crate::engine::latency;
use crate::scenario::contract::{Passing, passing_circuits};
use crate::scenario::model::{Flow, Medium, NodeKind, Scenario};
use crate::scheduler;
use crate::transport;
use crate::units::{CELL_BYTES, Span};

/// The ways of all streams, by the port where each meets others.
#[derive(Debug)]
pub(crate) struct Ways {
    pub(crate) meets: BTreeMap<usize, Vec<Way>>,
}

/// The way of one stream.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) flow: usize,
    pub(crate) vc: usize,
    /// How many ports come before that, over which line, and the circuit's number there.
    pub(crate) hop: usize,
    pub(crate) line: u32,
    pub(crate) number: u32,
    /// Ports before and behind that where it meets others, at which nothing ever waits but for the first one.
    pub(crate) before: Vec<Pass>,
    pub(crate) behind: Vec<Pass>,
}

/// A port that only delays cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    pub(crate) port: u32,
    /// The circuit's number there.
    pub(crate) vc: u32,
    /// Time that a cell takes on the line, and until it arrives at the end.
    pub(crate) whole: Span,
    pub(crate) transit: Span,
}

/// Streams that are merged by looking for a place among all others; with more of them a heap is better.
const MOST_STREAMS: usize = 64;

impl Ways {
    /// Those of a scenario, unless something in it waits for an answer, meets twice or has to be asked.
    pub(crate) fn of(scenario: &Scenario) -> Option<Ways> {
        let shared = scenario.vcs.len() != scenario.flows.len();
        if shared || scenario.measure.throughput.is_some() || !scenario.flows.iter().all(is_stream) {
            return None;
        }
        let search = Search { scenario, passing: passing_circuits(scenario), incoming: lines(scenario) };
        let mut meets: BTreeMap<usize, Vec<Way>> = BTreeMap::new();
        for index in 0..scenario.flows.len() {
            let (port, way) = search.way(index)?;
            let streams = meets.entry(port).or_default();
            streams.push(way);
            if streams.len() > MOST_STREAMS {
                return None;
            }
        }
        Some(Ways { meets })
    }
}

/// The rule by which the port of a line takes cells.
pub(crate) fn rule_of(scenario: &Scenario, line: usize) -> Option<Rule> {
    rule(scenario, &scenario.lines[line], &passing_circuits(scenario)[line])
}

/// Whether a flow sends single cells by a clock.
fn is_stream(flow: &Flow) -> bool {
    matches!(flow.transport, transport::Spec::Cells(_))
}

struct Search<'a> {
    scenario: &'a Scenario,
    passing: Passing,
    incoming: Vec<Vec<usize>>,
}

impl Search<'_> {
    /// The way of a flow and the port where it meets others: the first one that does not only delay, or else the last one.
    fn way(&self, index: usize) -> Option<(usize, Way)> {
        let Search { scenario, .. } = self;
        let vc = scenario.flows[index].vc;
        let path = &scenario.vcs[vc].path;
        let [interface, ..] = path[..] else { return None };
        let alone = self.passing[interface].len() == 1 && self.delays(interface, interface);
        let from_host = scenario.nodes[scenario.lines[interface].from].kind == NodeKind::Host;
        if !alone || !from_host {
            return None;
        }
        let place = path.iter().position(|&port| !self.delays(port, interface)).unwrap_or(path.len() - 1);
        let port = path[place];
        let suits = place > 0
            && path.iter().all(|&line| scenario.lines[line].medium == Medium::Cells)
            && path[..place].iter().all(|&line| self.passing[line].len() == 1)
            && path[place + 1..].iter().all(|&line| self.delays(line, port))
            && matches!(self.rule(port), Some(Rule::Fits | Rule::Frames { .. }));
        let passes = |lines: &[usize]| lines.iter().map(|&line| self.pass(line, vc)).collect();
        if !suits {
            return None;
        }
        let (before, behind) = (passes(&path[..place]), passes(&path[place + 1..]));
        let (line, number) = (path[place - 1] as u32, self.pass(port, vc).vc);
        Some((port, Way { flow: index, vc, hop: place, line, number, before, behind }))
    }

    /// Whether a port only delays cells that come spaced by the line `spaced`: it takes everything, gets it over one line and
    /// is no slower.
    fn delays(&self, line: usize, spaced: usize) -> bool {
        let (lines, port) = (&self.scenario.lines, &self.scenario.lines[line].port);
        let alone = line == spaced || self.incoming[line].len() == 1;
        let steady = lines[line].pause == Span::ZERO;
        let plain = steady && !port.capacity.is_limited() && matches!(self.rule(line), Some(Rule::Fits));
        alone && plain && lines[line].rate >= lines[spaced].rate
    }

    fn rule(&self, line: usize) -> Option<Rule> {
        let fifo = matches!(self.scenario.lines[line].port.scheduler, scheduler::Spec::Fifo(_));
        if fifo { rule(self.scenario, &self.scenario.lines[line], &self.passing[line]) } else { None }
    }

    fn pass(&self, line: usize, vc: usize) -> Pass {
        let number = self.passing[line].binary_search(&vc).expect("a circuit passes the lines of its path");
        let whole = Pace::of_bytes(self.scenario.lines[line].rate, CELL_BYTES as u16).whole;
        let transit = whole + latency(self.scenario, &self.scenario.lines[line]);
        Pass { port: line as u32, vc: number as u32, whole, transit }
    }
}
