//! Thresholds of early packet discard from which synchronised senders can keep a port from delivering any whole frame.
//!
//! B cells, V circuits with frames of L cells: while the occupancy rises from T − 1 to T, each circuit begins a frame. Up to
//! L − 2 further cells of each can arrive before any frame is complete. If they fill the buffer, T + V (L − 2) ≥ B, every
//! frame loses a cell, and the input repeats when the queue has drained. Below this threshold at least one of V accepted
//! frames is delivered. `pushout worst epd --frames L --circuits V` finds the same limit by a visit to all states.

use super::of_ports;
use crate::buffer::admission::{self, Rule, Shortcuts};
use crate::buffer::context::{Context, Contract};
use crate::buffer::size::Measure;
use crate::scenario::contract::{Passing, carried};
use crate::scenario::model::{Line, Scenario};
use crate::scenario::warning::Warning;
use crate::transport;
use crate::units::ids::{CircuitId, LineId};

/// Cells of a frame that do not count: the first one has been accepted, and the last one completes the frame.
const ENDS: u64 = 2;

/// Warn of ports with early packet discard whose threshold leaves too little room for the frames of its sources, if none of
/// them reacts to losses. TCP sources do not stay synchronised and do not meet the worst case.
pub(super) fn beyond(scenario: &Scenario, passing: &Passing) -> Option<Warning> {
    of_ports("epd-cliff", scenario, passing, |line, context| {
        let threshold = threshold(line, context)?;
        let frames = persistent(scenario, context)?;
        let capacity = context.capacity.limit()?;
        let rest: u64 = frames.iter().map(|contract| contract.frame.saturating_sub(ENDS)).sum();
        let cliff = capacity.saturating_sub(rest);
        let is_beyond = threshold >= cliff && rest > 0 && can_overload(scenario, line, &frames);
        is_beyond.then(|| message([threshold, capacity, cliff], &frames))
    })
}

/// Return the threshold of a port that refuses frames by its occupancy alone, in one queue of cells.
fn threshold(line: &Line, context: &Context<'_>) -> Option<u64> {
    let port = &line.port;
    let is_early = matches!(port.admission, admission::Spec::Epd(_)) && port.pushout.is_none();
    let is_alone =
        port.memory.is_none() && port.scheduler.shares_one_queue() && context.measure == Measure::Cells;
    let policy = (is_early && is_alone).then(|| port.admission.build(context).ok())??;
    match policy.rule() {
        Some(Rule::Frames { threshold }) => threshold,
        _ => None,
    }
}

/// Return the circuits that carry data through a port; `None` if the source of one reacts to losses.
fn persistent<'a>(scenario: &Scenario, context: &Context<'a>) -> Option<Vec<&'a Contract>> {
    let flows = context
        .contracts
        .iter()
        .filter_map(|contract| Some((carried(scenario, contract.circuit)?, contract)));
    flows
        .map(|(flow, contract)| matches!(*flow.transport, transport::Spec::Udp(_)).then_some(contract))
        .collect()
}

/// Return whether the lines over which circuits reach a port bring cells faster than it sends them; a circuit that begins
/// at the port is limited by no line.
fn can_overload(scenario: &Scenario, line: &Line, frames: &[&Contract]) -> bool {
    let before = |circuit: CircuitId| {
        let path = &scenario.vcs[circuit].path;
        let place = path.iter().position(|&each| std::ptr::eq(&scenario.lines[each], line))?;
        path.get(place.checked_sub(1)?).copied()
    };
    let lines: Option<Vec<LineId>> = frames.iter().map(|contract| before(contract.circuit)).collect();
    let Some(mut lines) = lines else { return true };
    lines.sort_unstable();
    lines.dedup();
    lines.iter().map(|&each| scenario.lines[each].rate.mean().0).sum::<u64>() > line.rate.mean().0
}

/// Say what can happen, and which threshold would be safe.
fn message([threshold, capacity, cliff]: [u64; 3], frames: &[&Contract]) -> String {
    let longest = frames.iter().map(|contract| contract.frame).max().unwrap_or(0);
    let circuits =
        if frames.len() == 1 { "1 circuit".to_string() } else { format!("{} circuits", frames.len()) };
    let senders = format!("{circuits} with frames of up to {longest} cells over udp");
    if cliff <= 1 {
        return format!(
            "buffer must be larger than {capacity} cells, or frames be shorter, for {senders}: at any threshold synchronised \
             frames can fill the buffer, and then no frame arrives whole"
        );
    }
    format!(
        "threshold must be less than {cliff} of {capacity} cells, not {threshold}, for {senders}: synchronised frames can fill \
         the rest, and then no frame arrives whole; set threshold = \"{} cells\" or less",
        cliff - 1
    )
}
