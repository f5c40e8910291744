//! The ports at which only single cells of clocked sources arrive: combs.
//!
//! # What it assumes
//! The cells come straight from their hosts and go straight to hosts, past ports that only delay.
//!
//! # What it skips
//! Everything but the instants of the cells: see `inbox/combs.rs` and `port/fifo/combs.rs`.
//!
//! # Why that is exact
//! Such a source depends only on its clock, its sink answers nothing, and a cell that is a frame has only a number.
//!
//! # What turns it off
//! A port where another circuit passes, a second port at which cells wait, a host with a processor, circuits in a cycle,
//! figures of a flow over time.

use super::form::PortForm;
use super::policing::Policing;
use super::route::{Destination, Entrance, RouteSegment};
use crate::buffer::size::Measure;
use crate::engine::forms::{Form, allows};
use crate::scenario::contract::Passing;
use crate::scenario::model::{Line, Medium, Scenario};
use crate::transport;
use crate::units::Span;
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId, PortVc};

/// A circuit of single cells, at the port where they may wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CombCircuit {
    pub(crate) circuit: CircuitId,
    /// Its number at the port, and the index of the port on its path.
    pub(crate) vc: PortVc,
    pub(crate) hop: u8,
    /// Index of the flow that it carries.
    pub(crate) flow: FlowId,
    /// Whether cells in excess of its contract are lost.
    pub(crate) drops_excess: bool,
}

/// The facts about a network from which combs follow.
pub(super) struct CombSearch<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) forms: &'a IdVec<LineId, PortForm>,
    pub(super) passing: &'a Passing,
    /// For every flow whether its source sends ahead.
    pub(super) open_loop: &'a IdVec<FlowId, bool>,
    pub(super) policing: &'a Policing,
}

impl CombSearch<'_> {
    /// Return for every port where only combs arrive the circuits of its lanes, and make the routes from their hosts lead to them.
    pub(super) fn lanes(
        &self,
        routes: &mut IdVec<LineId, IdVec<PortVc, RouteSegment>>,
    ) -> IdVec<LineId, Option<Vec<CombCircuit>>> {
        let mut lanes: IdVec<LineId, Vec<(u32, CombCircuit)>> = IdVec::filled(Vec::new(), routes.len());
        for (from, routes) in routes.pairs().filter(|(from, _)| self.is_interface(*from)) {
            for (vc, route) in routes.pairs() {
                let circuit = self.passing.at(from)[vc];
                if let Destination::Port { port, lane, vc, .. } = route.to
                    && let Some(flow) = self.flow_of_comb(circuit)
                {
                    let drops_excess = !self.policing.tags[circuit];
                    let comb = CombCircuit { circuit, vc, hop: route.hop, flow, drops_excess };
                    lanes[port].push((lane, comb));
                }
            }
        }
        let is_comb_port = |port: LineId, lanes: &[(u32, CombCircuit)]| {
            let ends = || routes[port].iter().all(|route| matches!(route.to, Destination::Host { .. }));
            let form =
                || matches!(self.forms[port], PortForm::Fifo(_)) && is_cells(&self.scenario.lines[port]);
            !lanes.is_empty() && lanes.len() == self.passing.at(port).len() && form() && ends()
        };
        let mut found = Vec::with_capacity(lanes.len());
        for (port, mut lanes) in (0..).map(LineId).zip(lanes) {
            let is_comb_port = allows(Form::Combs) && is_comb_port(port, &lanes);
            lanes.sort_unstable_by_key(|(lane, _)| *lane);
            found.push(is_comb_port.then(|| lanes.into_iter().map(|(_, lane)| lane).collect()));
        }
        let found: IdVec<LineId, Option<Vec<CombCircuit>>> = found.into();
        for (_, route) in routes.iter_mut().flat_map(IdVec::pairs_mut) {
            if let Destination::Port { port, entrance, .. } = &mut route.to
                && found[*port].is_some()
            {
                *entrance = Entrance::Combs;
            }
        }
        found
    }

    fn is_interface(&self, port: LineId) -> bool {
        matches!(self.forms[port], PortForm::HostInterface) && is_cells(&self.scenario.lines[port])
    }

    /// Return the flow of a circuit that carries only single cells of a clocked source, if nothing else influences it.
    fn flow_of_comb(&self, circuit: CircuitId) -> Option<FlowId> {
        let (vc, measure) = (&self.scenario.vcs[circuit], &self.scenario.measure);
        let index = vc.flow?;
        let flow = &self.scenario.flows[index];
        let is_followed = measure.throughput.is_some()
            || measure.cwnd.contains(&index)
            || measure.state.flows.contains(&index);
        let is_comb = self.open_loop[index]
            && flow.vc == circuit
            && matches!(*flow.transport, transport::Spec::Cells(_))
            && flow.processing == Span::ZERO
            && vc.framing.parity() == 0
            && !is_followed;
        is_comb.then_some(index)
    }
}

fn is_cells(line: &Line) -> bool {
    line.medium == Medium::Cells && line.port.measure == Measure::Cells
}
