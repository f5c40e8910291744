//! What of a network never changes during a run: where units go from each port, and which ports wait for which.

use super::lanes::{Inputs, Lane};
use super::pace::Pace;
use crate::kernel::Ties;
use crate::link::line::Line;
use crate::scenario::contract::passing_circuits;
use crate::scenario::model::{Medium, Scenario};
use crate::units::{CELL_BYTES, Span};

/// Where the units of one circuit go from one port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    /// Where they arrive next.
    pub(super) to: Stop,
    /// How many ports they will have behind them there.
    pub(super) hop: u8,
    /// Whether a host may answer to a frame of the circuit.
    pub(super) answered: bool,
}

/// Where units arrive.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    /// At a port, on one of its lanes, with the circuit's number there.
    Port { port: u32, lane: u32, vc: u32 },
    /// At the host at the end of a line.
    Host { line: u32 },
}

/// The unchanging part of a network.
#[derive(Debug)]
pub(super) struct Plan {
    /// For every port the legs of the circuits that pass it, by their number there.
    pub(super) legs: Vec<Vec<Leg>>,
    /// For every port the shortest time between the start of a unit and its arrival at the next stop.
    pub(super) reach: Vec<Span>,
    /// For every port those from which units come, directly or not, in an order in which each can be brought up to date;
    /// the port itself is the last one.
    pub(super) upstream: Vec<Vec<u32>>,
    /// If units can go round in circles: a time in which none of them gets from one port to the next.
    pub(super) circle: Option<Span>,
    lanes: Vec<Vec<(usize, Pace)>>,
}

impl Plan {
    /// The plan of a scenario.
    pub(super) fn new(scenario: &Scenario) -> Plan {
        let passing = passing_circuits(scenario);
        let mut plan = Plan {
            legs: passing.iter().map(|vcs| Vec::with_capacity(vcs.len())).collect(),
            reach: scenario.lines.iter().map(reach).collect(),
            upstream: Vec::new(),
            circle: None,
            lanes: vec![Vec::new(); scenario.lines.len()],
        };
        plan.find_lanes(scenario);
        plan.find_legs(scenario, &passing);
        plan.find_upstream();
        plan
    }

    /// The lanes of a port, empty.
    pub(super) fn inputs(&self, port: usize, ties: Ties) -> Inputs {
        Inputs::new(self.lanes[port].iter().map(|&(line, pace)| Lane::new(line, pace)).collect(), ties)
    }

    /// A lane for every line from which a port gets units, in the order of the scenario.
    fn find_lanes(&mut self, scenario: &Scenario) {
        for vc in &scenario.vcs {
            for (&line, &port) in vc.path.iter().zip(&vc.path[1..]) {
                let pace = Pace::of(scenario.lines[line].rate, CELL_BYTES as u16);
                if let Err(place) = self.lanes[port].binary_search_by_key(&line, |&(line, _)| line) {
                    self.lanes[port].insert(place, (line, pace));
                }
            }
        }
    }

    fn find_legs(&mut self, scenario: &Scenario, passing: &[Vec<usize>]) {
        let answered: Vec<bool> = answered(scenario);
        for (line, vcs) in passing.iter().enumerate() {
            for &vc in vcs {
                let path = &scenario.vcs[vc].path;
                let place =
                    path.iter().position(|&other| other == line).expect("the circuit passes the line");
                let to = match path.get(place + 1) {
                    Some(&port) => self.stop(line, port, &passing[port], vc),
                    None => Stop::Host { line: line as u32 },
                };
                self.legs[line].push(Leg { to, hop: place as u8 + 1, answered: answered[vc] });
            }
        }
    }

    fn stop(&self, line: usize, port: usize, vcs: &[usize], vc: usize) -> Stop {
        let lane = self.lanes[port].binary_search_by_key(&line, |&(line, _)| line);
        let lane = lane.expect("every line of a path has a lane") as u32;
        let vc = vcs.binary_search(&vc).expect("a circuit passes the lines of its path") as u32;
        Stop::Port { port: port as u32, lane, vc }
    }

    /// Depth first over the ports before a port; one that is met again while it is open is on a circle.
    fn find_upstream(&mut self) {
        let ports = self.legs.len();
        let mut before = vec![Vec::new(); ports];
        for (from, legs) in self.legs.iter().enumerate() {
            for leg in legs {
                if let Stop::Port { port, .. } = leg.to
                    && !before[port as usize].contains(&(from as u32))
                {
                    before[port as usize].push(from as u32);
                }
            }
        }
        for port in 0..ports as u32 {
            let mut visit = Visit { before: &before, seen: vec![Seen::Never; ports], order: Vec::new() };
            if visit.is_on_a_circle(port) {
                let shortest = self.reach.iter().min().expect("a network has lines");
                self.circle = Some(*shortest);
            }
            self.upstream.push(visit.order);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Never,
    Open,
    Done,
}

struct Visit<'a> {
    before: &'a [Vec<u32>],
    seen: Vec<Seen>,
    order: Vec<u32>,
}

impl Visit<'_> {
    fn is_on_a_circle(&mut self, port: u32) -> bool {
        self.seen[port as usize] = Seen::Open;
        let mut circle = false;
        for &other in &self.before[port as usize] {
            circle |= match self.seen[other as usize] {
                Seen::Never => self.is_on_a_circle(other),
                Seen::Open => true,
                Seen::Done => false,
            };
        }
        self.seen[port as usize] = Seen::Done;
        self.order.push(port);
        circle
    }
}

/// Circuits whose frames a host may answer: those of flows with acknowledgements, in both directions.
pub(super) fn answered(scenario: &Scenario) -> Vec<bool> {
    let mut answered = vec![false; scenario.vcs.len()];
    for flow in &scenario.flows {
        if let Some(back) = flow.back {
            (answered[flow.vc], answered[back]) = (true, true);
        }
    }
    answered
}

/// The shortest time between the start of a unit and its arrival at the end of a line.
fn reach(line: &crate::scenario::model::Line) -> Span {
    let bytes = if line.medium == Medium::Cells { CELL_BYTES as u16 } else { 1 };
    Line::new(line.rate, line.delay).transit(bytes)
}
