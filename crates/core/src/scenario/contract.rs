//! What a port knows of the circuits that pass it.

use super::model::{Line, Scenario, Vc};
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
        Contract {
            mcr: spec.mcr,
            weight: spec.weight,
            priority: spec.priority,
            frame: full_frame(spec, line),
            payload: payload(scenario, vc),
        }
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
    let Some(flow) = scenario.flows.iter().find(|flow| flow.vc == vc) else { return 0 };
    match scenario.vcs[vc].packet {
        0 => CELL_PAYLOAD,
        packet => u64::from(packet - flow.transport.header_bytes()),
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
