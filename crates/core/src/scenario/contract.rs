//! What a port knows of the circuits that pass it.

use super::model::{Line, Scenario, Vc};
use crate::adaptation::Shape;
use crate::buffer::admission::{Context, Contract};
use crate::buffer::size::Measure;

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
        let flow = scenario.flows.get(vc).filter(|flow| flow.vc == vc);
        let budget = flow.and_then(|flow| flow.transport.budget(&flow.source));
        Contract { mcr: spec.mcr, weight: spec.weight, frame: full_frame(spec, line), budget }
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

/// A full frame of a circuit in the measure of a line's port.
fn full_frame(vc: &Vc, line: &Line) -> u64 {
    let shape = Shape::of(vc, line.medium, vc.packet);
    match line.port.measure {
        Measure::Packets => 1,
        Measure::Bytes => u64::from(shape.bytes),
        Measure::Cells => u64::from(shape.units),
    }
}
