//! The way of every circuit, port by port.

use std::collections::BTreeMap;

use super::super::pace::{Pace, Paces};
use super::super::plan::{latency, lines};
use super::cargo::Cargo;
use crate::buffer::admission::Rule;
use crate::link::port::Port;
use crate::network::Network;
use crate::scenario::model::{Line, NodeKind, Scenario};
use crate::scheduler;
use crate::unit::{Flags, Unit};
use crate::units::{Rate, Span};

/// A packet under way, with what it carries: so nothing has to be looked up when it arrives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    pub(super) cargo: Cargo,
    pub(super) flow: u32,
    pub(super) head: Head,
}

/// What ports want to know of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head {
    pub(super) frame: u32,
    pub(super) bytes: u16,
    pub(super) flags: Flags,
}

/// A port on the way of a circuit, or the host at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) circuit: u32,
    /// The port; at a host of one end of a flow the number of that end.
    pub(super) place: u32,
    /// Where the pace is that the circuit's packets have on the port's line.
    pub(super) pace: u32,
    pub(super) stop: Stop,
    /// How many ports a unit has behind it here.
    pub(super) hop: u8,
}

/// What lines of one kind, as most lines of a network are, and packets of one size have in common.
#[derive(Debug)]
pub(super) struct LinePace {
    /// Time from the end of a transmission to the arrival at the next step.
    pub(super) latency: u64,
    /// That of packets of the size that came last: circuits of data and of acknowledgements have one each.
    bytes: u16,
    pace: Pace,
    others: Paces,
}

/// How packets come to a step, and who handles them there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// A port that takes packets by a rule and gets them in order, over one line or from its own host.
    Alone,
    /// A port that takes packets by a rule, over several lines.
    Meet,
    /// A port that is asked about every packet.
    Asked,
    /// A host.
    Host,
    /// A host with one end of one flow and one line that leads to it: packets come in order, and nothing else but its own
    /// timers makes it act.
    End,
}

/// The ways of all circuits, one behind the other.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) list: Vec<Step>,
    /// By step the number of the circuit at the port.
    pub(super) numbers: Vec<u32>,
    /// Where that of each circuit begins.
    pub(super) first: Vec<u32>,
    pub(super) paces: Vec<LinePace>,
    /// For every port the rule by which it takes packets; none if it has to be asked.
    pub(super) rules: Vec<Option<Rule>>,
}

impl LinePace {
    fn new(rate: Rate, latency: u64) -> LinePace {
        LinePace { latency, bytes: 0, pace: Pace::default(), others: Paces::new(rate) }
    }

    /// The pace of packets of so many octets.
    #[inline(always)]
    pub(super) fn of(&mut self, bytes: u16) -> &Pace {
        if self.bytes != bytes {
            self.renew(bytes);
        }
        &self.pace
    }

    #[cold]
    fn renew(&mut self, bytes: u16) {
        (self.bytes, self.pace) = (bytes, self.others.of(bytes));
    }
}

impl Head {
    /// The unit that the packet is, at a step.
    #[inline]
    pub(super) fn unit(self, step: &Step) -> Unit {
        let Head { frame, bytes, flags } = self;
        Unit { vc: step.circuit, frame, index: 0, bytes, hop: step.hop, flags }
    }
}

impl Steps {
    /// The ways through a network before its start.
    pub(super) fn new(scenario: &Scenario, network: &Network) -> Steps {
        let lines = lines(scenario);
        let rule = |(line, port): (&Line, &Port)| {
            let fifo = matches!(line.port.scheduler, scheduler::Spec::Fifo(_));
            let rule = if fifo && line.pause == Span::ZERO { port.admission.rule() } else { None };
            rule.filter(|rule| matches!(rule, Rule::Fits | Rule::Frames { .. }))
        };
        let rules: Vec<Option<Rule>> = scenario.lines.iter().zip(&network.ports).map(rule).collect();
        let stop = |line: usize| {
            let from_host = scenario.nodes[scenario.lines[line].from].kind == NodeKind::Host;
            match rules[line] {
                None => Stop::Asked,
                Some(_) if from_host || lines[line].len() == 1 => Stop::Alone,
                Some(_) => Stop::Meet,
            }
        };
        let ends = ends(scenario, &rules);
        let (paces, place) = line_paces(scenario);
        let steps = scenario.vcs.iter().map(|vc| vc.path.len() + 1).sum();
        let (mut list, mut numbers) = (Vec::with_capacity(steps), Vec::with_capacity(steps));
        let mut first = Vec::with_capacity(scenario.vcs.len());
        for (vc, spec) in scenario.vcs.iter().enumerate() {
            first.push(list.len() as u32);
            for (hop, &line) in spec.path.iter().enumerate() {
                let port =
                    network.circuits[vc].hop(hop as u8).expect("a circuit passes the lines of its path");
                numbers.push(port.vc);
                list.push(Step {
                    stop: stop(line),
                    hop: hop as u8,
                    circuit: vc as u32,
                    place: line as u32,
                    pace: place[line] + u32::from(spec.payload == 0),
                });
            }
            let last = *list.last().expect("a circuit has a port");
            let host = scenario.lines[last.place as usize].to;
            let (stop, place) = ends[host].map_or((Stop::Host, 0), |end| (Stop::End, end));
            numbers.push(0);
            list.push(Step { stop, hop: last.hop + 1, place, ..last });
        }
        Steps { list, numbers, first, paces, rules }
    }
}

/// The paces of the kinds of lines, and for each line where those are of data; those of acknowledgements come behind them.
fn line_paces(scenario: &Scenario) -> (Vec<LinePace>, Vec<u32>) {
    let (mut paces, mut known) = (Vec::new(), BTreeMap::new());
    let mut place = |line: &Line| {
        let latency = latency(scenario, line).0;
        *known.entry((line.rate, latency)).or_insert_with(|| {
            paces.extend([0, 1].map(|_| LinePace::new(line.rate, latency)));
            paces.len() as u32 - 2
        })
    };
    let places = scenario.lines.iter().map(&mut place).collect();
    (paces, places)
}

/// For every node the one end of a flow that is there, as [`Step::place`] has it, if all that makes it act comes over one line
/// and what it sends need not wait to be asked about.
fn ends(scenario: &Scenario, rules: &[Option<Rule>]) -> Vec<Option<u32>> {
    let nodes = scenario.nodes.len();
    let (mut ends, mut count, mut line) = (vec![None; nodes], vec![0; nodes], vec![None; nodes]);
    for (index, flow) in scenario.flows.iter().enumerate() {
        let (source, sink) = (2 * index as u32, 2 * index as u32 + 1);
        for (node, end, sends) in [(flow.from, source, Some(flow.vc)), (flow.to, sink, flow.back)] {
            let asked = sends.is_some_and(|vc| rules[scenario.vcs[vc].path[0]].is_none());
            ends[node] = Some(end).filter(|_| flow.processing == Span::ZERO && !asked);
            count[node] += 1;
        }
    }
    for vc in &scenario.vcs {
        let last = *vc.path.last().expect("a circuit has a port");
        let node = scenario.lines[last].to;
        if line[node].replace(last).is_some_and(|other| other != last) {
            count[node] += 1;
        }
    }
    // a series records both ends in the order of time
    let in_order = scenario.measure.throughput.is_some();
    let suits = |(end, count): (Option<u32>, u32)| end.filter(|_| count == 1 && !in_order);
    ends.into_iter().zip(count).map(suits).collect()
}
