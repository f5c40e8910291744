//! The form in which each port is run.

use crate::buffer::admission::{HeadRule, Interest, Policy, Rule, Shortcuts};
use crate::buffer::size::Measure;
use crate::engine::forms::{Form, allows};
use crate::engine::questions::policed_ports;
use crate::scenario::contract::{Passing, context, contracts};
use crate::scenario::model::{Line, Medium, NodeKind, Scenario};
use crate::scheduler;
use crate::units::ids::{CircuitId, IdSlice, IdVec, LineId, PortVc};

/// Form in which a port is run.
#[derive(Clone, Debug)]
pub(crate) enum PortForm {
    /// The unlimited interface of a host.
    HostInterface,
    /// A port at which no unit ever waits.
    Delay,
    /// One queue, and a rule that decides which units join it.
    Fifo(Rule),
    /// Cells, a queue for each circuit, and a policy whose decisions depend only on the occupancies.
    PerVc(Interest),
    /// One queue of cells, and a rule by which it loses cells at its head.
    HeadDrop(HeadRule),
    /// Any other port.
    PerUnit,
}

impl PortForm {
    /// Return whether the port has a local clock that must advance; other ports handle a unit immediately.
    pub(crate) fn has_time(&self) -> bool {
        !matches!(self, PortForm::HostInterface | PortForm::Delay)
    }
}

/// Choose the forms of all ports. Also return for every line the line that has set the spacing of its cells, since
/// ports that only delay keep the spacing.
pub(crate) fn forms(
    scenario: &Scenario,
    passing: &Passing,
    arriving: &IdVec<LineId, Vec<LineId>>,
) -> (IdVec<LineId, PortForm>, IdVec<LineId, LineId>) {
    let lines = scenario.lines.iter().zip(passing.iter());
    let alone: IdVec<LineId, PortForm> = lines.map(|(line, vcs)| form_alone(scenario, line, vcs)).collect();
    let delays = Delays { scenario, forms: &alone, arriving, policed: policed_ports(scenario) };
    let origins: IdVec<LineId, LineId> = alone.keys().map(|line| delays.origin(line)).collect();
    let with_delays = |(line, form)| if origins[line] == line { form } else { PortForm::Delay };
    ((0..).map(LineId).zip(alone).map(with_delays).collect(), origins)
}

/// Return the form of a port by its own properties.
fn form_alone(scenario: &Scenario, line: &Line, vcs: IdSlice<'_, PortVc, CircuitId>) -> PortForm {
    let from_host = scenario.nodes[line.from].kind == NodeKind::Host;
    let fifo = matches!(line.port.scheduler, scheduler::Spec::Fifo(_));
    let (policy, is_ungated) = (policy(scenario, line, vcs), line.port.gates.is_empty());
    match policy.rule().filter(|_| is_ungated) {
        Some(Rule::Fits) if fifo && from_host && is_unlimited(line) => PortForm::HostInterface,
        Some(rule) if fifo && !from_host => PortForm::Fifo(rule),
        Some(rule) if !from_host && has_turns(line) => PortForm::PerVc(rule.interest()),
        None if fifo && !from_host && is_ungated && counts_cells(line) && allows(Form::HeadDrop) => {
            policy.head_rule().map_or(PortForm::PerUnit, PortForm::HeadDrop)
        }
        _ => PortForm::PerUnit,
    }
}

/// The data for deciding which ports only delay.
struct Delays<'a> {
    scenario: &'a Scenario,
    forms: &'a IdVec<LineId, PortForm>,
    /// For every port the lines that bring units to it.
    arriving: &'a IdVec<LineId, Vec<LineId>>,
    policed: IdVec<LineId, bool>,
}

impl Delays<'_> {
    /// Return the line that has set the spacing of the cells of a line: the line itself, unless its port only delays.
    fn origin(&self, line: LineId) -> LineId {
        self.origin_before(line).unwrap_or(line)
    }

    /// If no unit ever waits at a port, return the line that has set the spacing of the cells that arrive there. This
    /// holds for a port with an unlimited buffer, without policing, whose cells all arrive over one line that is no
    /// faster than its own. No line precedes itself, so the search ends.
    fn origin_before(&self, port: LineId) -> Option<LineId> {
        let line = &self.scenario.lines[port];
        let is_ordinary = is_unlimited(line) && !self.policed[port] && line.medium == Medium::Cells;
        let (PortForm::Fifo(Rule::Fits), true, [only]) =
            (&self.forms[port], is_ordinary, &self.arriving[port][..])
        else {
            return None;
        };
        let origin = self.origin(*only);
        (self.scenario.lines[origin].rate.fixed() <= line.rate.fixed()).then_some(origin)
    }
}

/// Return the rule by which a line's port accepts units, if its admission policy has one and no other mechanism
/// decides about units.
pub(crate) fn rule(scenario: &Scenario, line: &Line, vcs: IdSlice<'_, PortVc, CircuitId>) -> Option<Rule> {
    policy(scenario, line, vcs).rule()
}

/// Build the admission policy of a line's port.
fn policy(scenario: &Scenario, line: &Line, vcs: IdSlice<'_, PortVc, CircuitId>) -> Policy {
    let contracts = contracts(scenario, line, vcs);
    let policy = line.port.admission.build(&context(scenario, line, &contracts));
    policy.expect("a checked scenario can be built")
}

/// Return whether a port counts cells, has a queue for each circuit, and only its scheduler decides about departures.
fn has_turns(line: &Line) -> bool {
    counts_cells(line) && !line.port.scheduler.kind().counts_octets() && !line.port.scheduler.groups_classes()
}

/// Return whether cells pass a port, and it counts them one by one.
fn counts_cells(line: &Line) -> bool {
    line.medium == Medium::Cells && line.port.measure == Measure::Cells
}

/// Return whether every unit fits into a port.
fn is_unlimited(line: &Line) -> bool {
    !line.port.capacity.is_limited()
}
