//! What a port knows of the circuits that pass it.

use super::model::{Flow, Line, Scenario};
use crate::adaptation::Shape;
use crate::buffer::admission::{Context, Contract};
use crate::buffer::size::Measure;
use crate::units::CELL_PAYLOAD;

/// For every line the circuits that pass, in the order of the scenario: a circuit's place is its number at the port.
pub fn passing_circuits(scenario: &Scenario) -> Vec<Vec<usize>> {
    let mut passing = vec![Vec::new(); scenario.lines.len()];
    for (vc, spec) in scenario.vcs.iter().enumerate() {
        for &line in &spec.path {
            passing[line].push(vc);
        }
    }
    passing
}

/// The contracts of the circuits that pass a line.
pub fn contracts(scenario: &Scenario, line: &Line, vcs: &[usize]) -> Vec<Contract> {
    let contract = |&vc: &usize| {
        let spec = &scenario.vcs[vc];
        let shape = Shape::of(spec, line.medium, spec.packet);
        let (units, octets) = (u64::from(shape.units), shape.line_bytes());
        let frame = match line.port.measure {
            Measure::Packets => 1,
            Measure::Bytes => octets,
            Measure::Cells => units,
        };
        let (mcr, weight, priority) = (spec.mcr, spec.weight, spec.priority);
        let flow = scenario.flows.get(vc).filter(|flow| flow.vc == vc);
        let budget = flow.and_then(|flow| flow.transport.budget(&flow.source));
        Contract { mcr, weight, priority, frame, octets, payload: payload(scenario, vc), budget }
    };
    vcs.iter().map(contract).collect()
}

/// What the policies of a line's port may know, given its contracts.
pub fn context<'a>(scenario: &'a Scenario, line: &'a Line, contracts: &'a [Contract]) -> Context<'a> {
    Context {
        capacity: line.port.capacity,
        measure: line.port.measure,
        rate: line.rate,
        contracts,
        seed: scenario.seed,
        port: &line.name,
    }
}

/// Application octets in a full frame of a circuit; 0 if it only carries acknowledgements.
fn payload(scenario: &Scenario, vc: usize) -> u64 {
    let carried = |flow: &&Flow| flow.vc == vc;
    let flow = scenario.flows.get(vc).filter(carried).or_else(|| scenario.flows.iter().find(carried));
    flow.map_or(0, |flow| match scenario.vcs[vc].packet {
        0 => CELL_PAYLOAD,
        packet => u64::from(packet - flow.transport.header_bytes()),
    })
}
