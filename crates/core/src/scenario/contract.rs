//! The properties of circuits that a port can use.

use super::file::{MarkAt, QueueSection};
use super::model::{Flow, Line, Scenario};
use crate::buffer::context::{Class, Context, Contract};
use crate::buffer::size::Measure;
use crate::language::spec::Nested;
use crate::transport::Transport;
use crate::units::ids::{CircuitId, IdSlice, IdVec, LineId, PortVc};

/// For every line the circuits that pass, in the order of the scenario: a circuit's place is its number at the port.
#[derive(Debug, Default)]
pub struct Passing {
    /// The circuits of all lines, line after line.
    circuits: Vec<CircuitId>,
    /// The index at which each line's circuits begin, and the end of the list.
    begins: Vec<usize>,
}

/// Return the circuits that pass each line.
pub fn passing_circuits(scenario: &Scenario) -> Passing {
    let mut begins = vec![0; scenario.lines.len() + 1];
    scenario.vcs.iter().for_each(|vc| vc.lines().iter().for_each(|&line| begins[line.index()] += 1));
    let mut passed = 0;
    for begin in &mut begins {
        passed += *begin;
        *begin = passed;
    }
    let mut circuits = vec![CircuitId(0); passed];
    for vc in scenario.vcs.keys().rev() {
        for &line in scenario.vcs[vc].lines().iter().rev() {
            begins[line.index()] -= 1;
            circuits[begins[line.index()]] = vc;
        }
    }
    Passing { circuits, begins }
}

impl Passing {
    /// Return the circuits of each line, in the order of lines.
    pub fn iter(&self) -> impl Iterator<Item = IdSlice<'_, PortVc, CircuitId>> {
        self.begins.windows(2).map(|ends| IdSlice::new(&self.circuits[ends[0]..ends[1]]))
    }

    /// Return the circuits of a line.
    pub fn at(&self, line: LineId) -> IdSlice<'_, PortVc, CircuitId> {
        IdSlice::new(self.of_line(line))
    }

    fn of_line(&self, line: LineId) -> &[CircuitId] {
        &self.circuits[self.begins[line.index()]..self.begins[line.index() + 1]]
    }

    /// Return the number of a circuit at the port of a line on its path.
    pub(crate) fn number(&self, line: LineId, circuit: CircuitId) -> PortVc {
        PortVc::new(
            self.of_line(line).binary_search(&circuit).expect("a circuit passes the lines of its path"),
        )
    }
}

/// Return the contracts of the circuits that pass a line.
pub fn contracts(
    scenario: &Scenario,
    line: &Line,
    vcs: IdSlice<'_, PortVc, CircuitId>,
) -> IdVec<PortVc, Contract> {
    let contract = |&circuit: &CircuitId| {
        let spec = &scenario.vcs[circuit];
        let shape = spec.framing.shape(spec.packet);
        let (units, octets) = (u64::from(shape.units), shape.line_bytes());
        let frame = match line.port.measure {
            Measure::Packets => 1,
            Measure::Bytes => octets,
            Measure::Cells => units,
            Measure::MemoryCells(cell) => cell.cells(octets),
        };
        let priority = priority_at(scenario, line, spec.queue).unwrap_or(spec.priority);
        let class = class_at(scenario, line, spec.queue);
        let (mcr, weight) = (spec.mcr, spec.weight);
        let budget = carried(scenario, circuit).and_then(|flow| flow.transport.budget(&flow.source));
        let payload = spec.payload.map(u64::from);
        Contract { circuit, mcr, weight, priority, frame, octets, payload, class, budget }
    };
    vcs.iter().map(contract).collect()
}

/// Return the section of a class, by its number, if the port of a line treats classes apart.
fn section_at<'a>(scenario: &'a Scenario, line: &Line, class: usize) -> Option<&'a QueueSection> {
    let (_, section) = scenario.sections.queues.0.get(class)?;
    (line.port.memory.is_some() || line.port.scheduler.groups_classes()).then_some(section)
}

/// Return the priority that a class has at the port of a line, if its section gives one.
fn priority_at(scenario: &Scenario, line: &Line, class: usize) -> Option<u32> {
    section_at(scenario, line, class)?.priority
}

/// Return a class at the port of a line, by its number.
fn class_at(scenario: &Scenario, line: &Line, number: usize) -> Class {
    let named = scenario.sections.queues.0.get(number);
    let section = named.map(|(_, section)| section);
    let mark = section_at(scenario, line, number).and_then(|class| class.mark.as_ref());
    let group = || line.port.scheduler.grouped();
    let (minimum, burst) = section.map_or((None, 0), |class| (class.minimum, class.burst.0));
    Class {
        number: number as u32,
        weight: section.map_or(1.0, |class| class.weight),
        marks_leaving: mark.is_some_and(|Nested(mark)| mark.at == MarkAt::Dequeue),
        grouped: named.is_some_and(|(name, _)| group().is_some_and(|group| group.contains(name))),
        minimum,
        burst,
    }
}

/// Return the facts that the policies of a line's port may use, given the contracts of its circuits.
pub fn context<'a>(
    scenario: &'a Scenario,
    line: &'a Line,
    contracts: &'a IdVec<PortVc, Contract>,
) -> Context<'a> {
    let lower = line.port.gates.lower();
    let lowered =
        lower.and_then(|lower| scenario.sections.queues.0.iter().position(|(name, _)| name == lower));
    let lowered = lowered.map(|class| {
        (class_at(scenario, line, class), priority_at(scenario, line, class).unwrap_or_default())
    });
    Context {
        capacity: line.port.capacity,
        measure: line.port.measure,
        rate: line.sending_rate(),
        minimum: line.minimum,
        contracts: contracts.view(),
        lowered,
        seed: scenario.seed,
        port: &line.name,
        circuits: &scenario.circuit_keys,
    }
}

/// Return the first flow whose data a circuit carries; `None` if the circuit only carries acknowledgements.
pub(crate) fn carried(scenario: &Scenario, vc: CircuitId) -> Option<&Flow> {
    scenario.vcs[vc].flow.map(|flow| &scenario.flows[flow])
}
