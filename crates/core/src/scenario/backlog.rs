//! Limits of the backlog before a line: instants have 64 bits, so the last waiting unit must leave before the largest
//! instant.

use super::model::{Flow, Line, Scenario, Vc};
use crate::buffer::size::Measure;
use crate::language::tree::{Fault, TextPlace};
use crate::source::Source;
use crate::transport;
use crate::units::ids::{IdVec, LineId};
use crate::units::{CELL_BYTES, PS_PER_S, Rate, Span};

/// The longest run, and the longest wait for a line: together half of the largest instant.
pub(super) const LONGEST: Span = Span::secs(50 * 86_400);
/// Octets of the smallest packet: IP and UDP headers.
const SMALLEST: u64 = 28;

/// Refuse a line if more units may wait for it than it can send in [`LONGEST`].
pub(super) fn check(scenario: &Scenario) -> Result<(), Fault> {
    let mut waiting: IdVec<LineId, u128> = IdVec::filled(0, scenario.lines.len());
    for flow in &scenario.flows {
        let packets = packets(scenario, flow);
        for vc in [Some(flow.vc), flow.back].into_iter().flatten().map(|vc| &scenario.vcs[vc]) {
            vc.lines().iter().for_each(|&line| waiting[line] += packets * time(&scenario.lines[line], vc));
        }
    }
    let lines = scenario.lines.iter().zip(waiting);
    match lines
        .into_iter()
        .find(|(line, all)| most(line).map_or(*all, |most| most.min(*all)) > u128::from(LONGEST.0))
    {
        None => Ok(()),
        Some((line, _)) => {
            let message = format!(
                "the line {:?} with its rate of {} may need more than 50 days for what waits: give it a higher rate or a \
                 smaller buffer, or its flows lower rates, smaller windows or less pause",
                line.name, line.rate
            );
            Err(Fault::at(TextPlace::default(), message))
        }
    }
}

/// Return the number of a flow's packets that can wait: all packets that its source sends by itself in the run, or
/// with TCP twice its window and every retransmission.
fn packets(scenario: &Scenario, flow: &Flow) -> u128 {
    let run = u128::from(scenario.duration.0);
    let in_run = |rate: Rate| {
        let octets = scenario.vcs[flow.vc].framing.shape(flow.packet()).line_bytes();
        u128::from(rate.0) * run / (8 * u128::from(octets) * u128::from(PS_PER_S)) + 1
    };
    match (&*flow.transport, flow.source.peak()) {
        (transport::Spec::Tcp(tcp), _) => {
            let window = u128::from(tcp.advertised_window().div_ceil(tcp.segment_data()));
            2 * window + run / u128::from(tcp.max_rto.max(tcp.slow_timer).0)
        }
        (_, Some((_, rate))) => in_run(rate) * libm::ceil(flow.source.redundancy()) as u128,
        (_, None) => flow.source.packets().unwrap_or(0).into(),
    }
}

/// Return the picoseconds that a line takes for the largest packet of a circuit, with the rest before it.
fn time(line: &Line, vc: &Vc) -> u128 {
    of_octets(line, line.octets(vc.framing.shape(vc.packet).line_bytes()))
}

/// Return the picoseconds that a line takes for the full buffer of its port; `None` for an unlimited buffer.
fn most(line: &Line) -> Option<u128> {
    let octets = match line.port.measure {
        Measure::Cells => CELL_BYTES,
        Measure::Bytes => u64::from(line.minimum).div_ceil(SMALLEST).max(1), // padding multiplies octets by this at most
        Measure::Packets => u16::MAX.into(),
        Measure::MemoryCells(cell) => line.octets(cell.octets.into()),
    };
    line.port.capacity.limit().map(|limit| u128::from(limit) * of_octets(line, octets))
}

fn of_octets(line: &Line, octets: u64) -> u128 {
    (8 * u128::from(octets) * u128::from(PS_PER_S)).div_ceil(line.rate.mean().0.into())
        + u128::from(line.rest.0)
}
