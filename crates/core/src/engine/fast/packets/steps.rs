//! The way of every circuit, port by port.

use super::super::plan::{lanes, latency, rule};
use crate::buffer::admission::Rule;
use crate::scenario::contract::passing_circuits;
use crate::scenario::model::{NodeKind, Scenario};
use crate::scheduler;
use crate::unit::{Flags, Unit};
use crate::units::Span;

/// A packet under way: which step of its circuit it takes next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) step: u32,
    pub(super) frame: u32,
    pub(super) bytes: u16,
    pub(super) flags: Flags,
}

/// A port on the way of a circuit, or the host at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) stop: Stop,
    /// How many ports a unit has behind it here.
    pub(super) hop: u8,
    pub(super) circuit: u32,
    pub(super) port: u32,
    /// The circuit's number at the port.
    pub(super) vc: u32,
    /// Time from the end of a transmission to the arrival at the next step.
    pub(super) latency: u64,
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
    /// The host.
    Host,
}

/// The ways of all circuits, one behind the other.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) list: Vec<Step>,
    /// Where that of each circuit begins.
    pub(super) first: Vec<u32>,
    /// For every port the rule by which it takes packets; none if it has to be asked.
    pub(super) rules: Vec<Option<Rule>>,
}

impl Packet {
    /// The unit that it is, at a step.
    pub(super) fn unit(&self, step: &Step) -> Unit {
        let Packet { frame, bytes, flags, .. } = *self;
        Unit { vc: step.circuit, frame, index: 0, bytes, hop: step.hop, flags }
    }
}

impl Steps {
    /// The ways through a network.
    pub(super) fn new(scenario: &Scenario) -> Steps {
        let (passing, lanes) = (passing_circuits(scenario), lanes(scenario));
        let rules: Vec<Option<Rule>> = (scenario.lines.iter().zip(&passing))
            .map(|(line, vcs)| {
                let fifo =
                    matches!(line.port.scheduler, scheduler::Spec::Fifo(_)) && line.pause == Span::ZERO;
                let rule = if fifo { rule(scenario, line, vcs) } else { None };
                rule.filter(|rule| !matches!(rule, Rule::Asked(_)))
            })
            .collect();
        let stop = |line: usize| {
            let from_host = scenario.nodes[scenario.lines[line].from].kind == NodeKind::Host;
            match rules[line] {
                None => Stop::Asked,
                Some(_) if from_host || lanes[line].len() == 1 => Stop::Alone,
                Some(_) => Stop::Meet,
            }
        };
        let (mut list, mut first) = (Vec::new(), Vec::with_capacity(scenario.vcs.len()));
        for (vc, spec) in scenario.vcs.iter().enumerate() {
            first.push(list.len() as u32);
            for (hop, &line) in spec.path.iter().enumerate() {
                let number =
                    passing[line].binary_search(&vc).expect("a circuit passes the lines of its path");
                list.push(Step {
                    stop: stop(line),
                    hop: hop as u8,
                    circuit: vc as u32,
                    port: line as u32,
                    vc: number as u32,
                    latency: latency(scenario, &scenario.lines[line]).0,
                });
            }
            let last = *list.last().expect("a circuit has a port");
            list.push(Step { stop: Stop::Host, hop: last.hop + 1, ..last });
        }
        Steps { list, first, rules }
    }
}
