//! Ends of flows that act alone: no other flow sends over the interface of their host.

use std::iter;

use super::form::PortForm;
use crate::host::end::End;
use crate::scenario::model::{Flow, Scenario};
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId};

/// An end of a flow that depends only on its own timers and on the frames of one circuit, whose only receiver it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Actor {
    /// Number of this end among the ends of all flows.
    pub(crate) entity: u32,
    /// The circuits of the flow: data, and acknowledgements.
    pub(crate) circuits: [CircuitId; 2],
}

/// How many flows use each circuit and the interface at its beginning.
pub(crate) struct Usage<'a> {
    scenario: &'a Scenario,
    forms: &'a IdVec<LineId, PortForm>,
    of_circuits: IdVec<CircuitId, u32>,
    of_interfaces: IdVec<LineId, u32>,
}

impl<'a> Usage<'a> {
    /// Count the flows of a scenario.
    pub(crate) fn new(scenario: &'a Scenario, forms: &'a IdVec<LineId, PortForm>) -> Usage<'a> {
        let mut of_circuits = IdVec::filled(0, scenario.vcs.len());
        let mut of_interfaces = IdVec::filled(0, scenario.lines.len());
        for vc in scenario.flows.iter().flat_map(|flow| iter::once(flow.vc).chain(flow.back)) {
            of_circuits[vc] += 1;
            of_interfaces[scenario.vcs[vc].path[0]] += 1;
        }
        Usage { scenario, forms, of_circuits, of_interfaces }
    }

    /// Return for every flow whether its source receives no acknowledgements and is the only sender over an unlimited
    /// interface.
    pub(crate) fn open_loop(&self) -> IdVec<FlowId, bool> {
        let is_open = |flow: &Flow| flow.back.is_none() && self.sends_alone(flow.vc);
        self.scenario.flows.iter().map(is_open).collect()
    }

    /// Return for every circuit the end that receives its frames, if this end depends on nothing else.
    pub(crate) fn actors(&self) -> IdVec<CircuitId, Option<Actor>> {
        let mut actors = IdVec::filled(None, self.scenario.vcs.len());
        for (index, flow) in self.scenario.flows.pairs() {
            let Some(back) = flow.back else { continue };
            let circuits = [flow.vc, back];
            let actor = |end: End| Actor { entity: end.entity(index) as u32, circuits };
            actors[flow.vc] = self.acts_alone(flow.vc, back).then(|| actor(End::Sink));
            actors[back] = self.acts_alone(back, flow.vc).then(|| actor(End::Source));
        }
        actors
    }

    /// Return whether only one flow receives the frames of a circuit, and only its acknowledgements use their
    /// interface.
    fn acts_alone(&self, vc: CircuitId, answers: CircuitId) -> bool {
        self.of_circuits[vc] == 1 && self.sends_alone(answers)
    }

    /// Return whether only one flow sends over the interface at the beginning of a circuit, and the interface is
    /// unlimited.
    fn sends_alone(&self, vc: CircuitId) -> bool {
        let interface = self.scenario.vcs[vc].path[0];
        self.of_interfaces[interface] == 1 && matches!(self.forms[interface], PortForm::HostInterface)
    }
}

/// Return the circuits whose frames a host may answer: those of flows with acknowledgements, in both directions.
pub(crate) fn answerable(scenario: &Scenario) -> IdVec<CircuitId, bool> {
    let mut answerable = IdVec::filled(false, scenario.vcs.len());
    for flow in &scenario.flows {
        if let Some(back) = flow.back {
            (answerable[flow.vc], answerable[back]) = (true, true);
        }
    }
    answerable
}
