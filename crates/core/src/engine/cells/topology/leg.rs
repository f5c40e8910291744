//! Stretches of paths between two ports at which units may wait, and the lanes at which they end.

use std::iter;
use std::ops::Range;
use std::rc::Rc;

use super::form::{PortForm, rule};
use super::policing::{PolicerUse, Policing};
use super::route::{DelayHop, Destination, Entrance, Handoff, RouteSegment};
use crate::engine::exact::spacing::SpacingTable;
use crate::engine::questions::latency;
use crate::police;
use crate::scenario::contract::{Passing, passing_circuits};
use crate::scenario::model::{Medium, Scenario};
use crate::transport::Transport;
use crate::units::Span;
use crate::units::ids::{CircuitId, IdSlice, IdVec, LineId, PortVc};

/// A lane: the units of a line that arrive at a port, or those of one circuit on this line if they may be held back.
///
/// Units of a line arrive in order; if units are held back, only the units of each circuit arrive in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lane {
    pub(crate) line: LineId,
    /// The circuit's number at the port; `None` for all circuits of the line.
    pub(crate) vc: Option<PortVc>,
}

/// The path of a circuit from one port, past those that only delay, to its next stop.
#[derive(Debug)]
struct Leg {
    vc: CircuitId,
    stop: Option<Stop>,
    /// The line that leads to the stop.
    line: LineId,
    /// The number of ports that a unit has passed when it arrives at the stop.
    hop: u8,
    hops: Range<usize>,
    /// The total delay at the ports that only delay; next, these ports.
    delay: Span,
}

/// A port at which units may wait.
#[derive(Clone, Copy, Debug)]
struct Stop {
    port: LineId,
    /// The circuit's number at this port.
    vc: PortVc,
}

/// The legs of all circuits.
#[derive(Debug)]
pub(crate) struct Legs {
    /// For every port the legs of the circuits that pass it, by the circuits' numbers there.
    from: IdVec<LineId, IdVec<PortVc, Leg>>,
    /// The ports on the legs that only delay.
    delay_hops: Vec<DelayHop>,
}

impl Legs {
    /// Find the legs in a network whose ports have these forms.
    pub(crate) fn new(
        scenario: &Scenario,
        passing: &Passing,
        forms: &IdVec<LineId, PortForm>,
        spacings: &IdVec<LineId, Rc<SpacingTable>>,
    ) -> Legs {
        let mut delay_hops = Vec::new();
        let mut leg = |line: LineId, vc: CircuitId| {
            let path = &scenario.vcs[vc].path;
            let place = path.iter().position(|&other| other == line).expect("the circuit passes the line");
            let (behind, first) = (&path[place + 1..], delay_hops.len());
            let delaying = behind.iter().take_while(|port| matches!(forms[**port], PortForm::Delay));
            delay_hops.extend(delaying.map(|&port| {
                let whole = spacings[port].pace.whole;
                let transit = whole + latency(scenario, &scenario.lines[port]);
                DelayHop { port, vc: passing.number(port, vc), whole, transit }
            }));
            let hops = first..delay_hops.len();
            let delay = delay_hops[hops.clone()].iter().fold(Span::ZERO, |delay, hop| delay + hop.transit);
            let on = place + 1 + hops.len();
            let stop = path.get(on).map(|&port| Stop { port, vc: passing.number(port, vc) });
            Leg { vc, stop, line: path[on - 1], hop: on as u8, hops, delay }
        };
        let legs_from = |(line, vcs): (LineId, IdSlice<'_, PortVc, CircuitId>)| {
            vcs.iter().map(|&vc| leg(line, vc)).collect()
        };
        let from = scenario.lines.keys().zip(passing.iter()).map(legs_from).collect();
        Legs { from, delay_hops }
    }

    /// Return the shortest delay between a port and the next stops of the circuits that pass it.
    pub(crate) fn min_delay(&self, port: LineId) -> Span {
        self.from[port].iter().map(|leg| leg.delay).min().unwrap_or_default()
    }

    /// Return for every port the ports directly before it at which units may wait, in ascending order.
    pub(crate) fn ports_before(&self, forms: &IdVec<LineId, PortForm>) -> IdVec<LineId, Vec<LineId>> {
        let mut before: IdVec<LineId, Vec<LineId>> = IdVec::filled(Vec::new(), self.from.len());
        for (from, legs) in self.from.pairs().filter(|(port, _)| forms[*port].has_time()) {
            for stop in legs.iter().filter_map(|leg| leg.stop) {
                let before = &mut before[stop.port];
                if before.last() != Some(&from) {
                    before.push(from);
                }
            }
        }
        before
    }

    /// Return for every leg the form in which units of one frame are forwarded.
    pub(crate) fn handoffs(
        &self,
        scenario: &Scenario,
        policing: &Policing,
        forms: &IdVec<LineId, PortForm>,
        is_circular: bool,
    ) -> IdVec<LineId, IdVec<PortVc, Handoff>> {
        let uniform = uniform(scenario);
        let may_hold_back = |port: LineId| {
            // where circuits form a cycle all ports advance together, so no port may hold units back
            let is_cell_fifo =
                matches!(forms[port], PortForm::Fifo(_)) && scenario.lines[port].medium == Medium::Cells;
            is_cell_fifo && !is_circular
        };
        let handoff = |port: LineId, leg: &Leg| match leg.stop {
            _ if !uniform[leg.vc] => Handoff::Singly,
            None => Handoff::Together,
            _ if policing.tags[leg.vc] => Handoff::Singly,
            Some(stop) if may_hold_back(port) && may_hold_back(stop.port) => Handoff::Timed,
            Some(_) => Handoff::Singly,
        };
        let from =
            |(port, legs): (LineId, &IdVec<PortVc, Leg>)| legs.iter().map(|leg| handoff(port, leg)).collect();
        self.from.pairs().map(from).collect()
    }

    /// Return the lanes of every port, in order.
    pub(crate) fn lanes(&self, handoffs: &IdVec<LineId, IdVec<PortVc, Handoff>>) -> IdVec<LineId, Vec<Lane>> {
        let mut lanes = IdVec::filled(Vec::new(), self.from.len());
        for (leg, &handoff) in self.from.iter().flatten().zip(handoffs.iter().flatten()) {
            if let Some(stop) = leg.stop {
                lanes[stop.port].push(leg.lane(stop, handoff));
            }
        }
        for lanes in lanes.iter_mut() {
            lanes.sort_unstable();
            lanes.dedup();
        }
        lanes
    }

    /// Return the ports that only delay, and the routes along these legs.
    pub(crate) fn routes(
        self,
        scenario: &Scenario,
        answerable: &IdVec<CircuitId, bool>,
        policing: &Policing,
        handoffs: &IdVec<LineId, IdVec<PortVc, Handoff>>,
        lanes: &IdVec<LineId, Vec<Lane>>,
    ) -> (Vec<DelayHop>, IdVec<LineId, IdVec<PortVc, RouteSegment>>) {
        let mut numbers = 0..;
        let mut route = |port: LineId, leg: Leg, handoff: Handoff| {
            let line = &scenario.lines[port];
            RouteSegment {
                to: leg.destination(policing, handoff, lanes),
                hop: leg.hop,
                answerable: answerable[leg.vc],
                handoff,
                number: numbers.next().expect("the numbers do not end"),
                medium: line.medium,
                latency: latency(scenario, line),
                hops: leg.hops,
                delay: leg.delay,
            }
        };
        let mut from = |port: LineId, legs: IdVec<PortVc, Leg>, handoffs: &IdVec<PortVc, Handoff>| {
            legs.into_iter().zip(handoffs).map(|(leg, &handoff)| route(port, leg, handoff)).collect()
        };
        let ports = scenario.lines.keys().zip(self.from.into_iter().zip(handoffs));
        let routes = ports.map(|(port, (legs, handoffs))| from(port, legs, handoffs)).collect();
        (self.delay_hops, routes)
    }
}

impl Leg {
    /// Return the lane at a stop.
    fn lane(&self, stop: Stop, handoff: Handoff) -> Lane {
        Lane { line: self.line, vc: (handoff == Handoff::Timed).then_some(stop.vc) }
    }

    /// Return where the leg ends: at a host, or at a port; for a port, the index of its lane in `lanes`, which lists
    /// the lanes of each port.
    fn destination(
        &self,
        policing: &Policing,
        handoff: Handoff,
        lanes: &IdVec<LineId, Vec<Lane>>,
    ) -> Destination {
        let Some(stop) = self.stop else { return Destination::Host { line: self.line } };
        let lane = lanes[stop.port].binary_search(&self.lane(stop, handoff));
        let lane = lane.expect("the lanes of a port are those of the legs to it") as u32;
        let (port, vc) = (stop.port, stop.vc);
        let is_policed = self.hop == police::HOP && policing.uses[self.vc] != PolicerUse::Never;
        let entrance = if is_policed { Entrance::Policer } else { Entrance::Trains };
        Destination::Port { port, lane, vc, entrance }
    }
}

/// Return for every circuit whether the units of a frame differ only in their position, as far as a host may see: no
/// port sets a congestion mark on some, and no code completes a frame without its last unit.
pub(super) fn uniform(scenario: &Scenario) -> IdVec<CircuitId, bool> {
    let mut uniform: IdVec<CircuitId, bool> =
        scenario.vcs.iter().map(|vc| vc.framing.parity() == 0).collect();
    let capable = || scenario.flows.iter().filter(|flow| flow.transport.ecn());
    if capable().next().is_some() {
        let may_mark = may_mark(scenario);
        for vc in capable().flat_map(|flow| iter::once(flow.vc).chain(flow.back)) {
            uniform[vc] &= !scenario.vcs[vc].path.iter().any(|&line| may_mark[line]);
        }
    }
    uniform
}

/// Return for every line whether its port may set congestion marks: a policy with a rule sets none.
fn may_mark(scenario: &Scenario) -> IdVec<LineId, bool> {
    let passing = passing_circuits(scenario);
    scenario.lines.iter().zip(passing.iter()).map(|(line, vcs)| rule(scenario, line, vcs).is_none()).collect()
}
