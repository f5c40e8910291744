//! Credits: their guarantee on each line, the buffers that it needs, and where they cannot work.

use super::model::{Line, Medium, Scenario};
use super::ports::Ports;
use crate::buffer::admission::{self, tail_drop};
use crate::buffer::capacity::Capacity;
use crate::buffer::pushout;
use crate::language::tree::Fault;
use crate::link::credit::{Spec, Way};
use crate::refused::{Refused, unfit};

/// Fix the credits of every line, and give the ports behind them the buffers that the credits guarantee.
pub(super) fn settle(scenario: &mut Scenario, ports: &Ports<'_>) -> Result<(), Fault> {
    for index in 0..scenario.lines.len() {
        let line = &scenario.lines[index];
        let Some(spec) = &line.port.credit else { continue };
        let settled =
            settled(scenario, line, spec).map_err(|refused| ports.refuse(index, line, "credit", refused))?;
        scenario.lines[index].port.credit = Some(settled);
    }
    let promised = promised(scenario, ports)?;
    for (index, promised) in promised.into_iter().enumerate().filter(|(_, promised)| promised.room > 0) {
        let line = &scenario.lines[index];
        let capacity = capacity(scenario, line, &promised);
        let capacity = capacity.map_err(|refused| ports.refuse(index, line, "buffer", refused))?;
        scenario.lines[index].port.capacity = capacity;
    }
    Ok(())
}

/// The credits of a line with every parameter fixed.
fn settled(scenario: &Scenario, line: &Line, spec: &Spec) -> Result<Spec, Refused> {
    if line.medium == Medium::Packets {
        return unfit(format!("credits count cells, and the line {:?} carries packets", line.name));
    }
    if !line.port.scheduler.has_queue_per_circuit() {
        return unfit(format!(
            "each circuit has its own credits, but all share one queue under the scheduler {:?}; \
             choose one with a queue for each, as in scheduler = {{ policy = \"round-robin\" }}",
            line.port.scheduler.name()
        ));
    }
    let Some(back) = line.back.map(|back| &scenario.lines[back]) else {
        return unfit(format!(
            "the line {:?} has no other direction on which credits could come (its link has duplex = false)",
            line.name
        ));
    };
    let latencies = scenario.nodes[line.to].latency + scenario.nodes[line.from].latency;
    spec.settled(&Way { rate: line.rate, back: back.rate, delay: line.delay + back.delay + latencies })
}

/// The guarantees of the lines into a port.
#[derive(Clone, Debug, Default)]
struct Promised {
    /// Cells of all circuits together.
    room: u64,
    /// A circuit that arrives without credits.
    stranger: Option<usize>,
}

/// For every port the guarantees for the circuits that reach it.
fn promised(scenario: &Scenario, ports: &Ports<'_>) -> Result<Vec<Promised>, Fault> {
    let mut promised = vec![Promised::default(); scenario.lines.len()];
    for (number, vc) in scenario.vcs.iter().enumerate() {
        let from = std::iter::once(None).chain(vc.path.iter().copied().map(Some));
        for (from, &to) in from.zip(&vc.path) {
            let credit = from.and_then(|from| Some((from, scenario.lines[from].port.credit.as_ref()?)));
            let Some((from, credit)) = credit else {
                promised[to].stranger = Some(number);
                continue;
            };
            check_behind(&scenario.lines[to])
                .map_err(|refused| ports.refuse(from, &scenario.lines[from], "credit", refused))?;
            promised[to].room = promised[to].room.saturating_add(credit.terms().room);
        }
    }
    Ok(promised)
}

/// Whether a port can keep room for each circuit and lose nothing.
fn check_behind(line: &Line) -> Result<(), Refused> {
    let Line { name, port, .. } = line;
    if !port.scheduler.has_queue_per_circuit() {
        return unfit(format!(
            "credits promise every circuit a queue of its own, but at the port {name:?} behind this line all share one \
             under the scheduler {:?}; choose one with a queue for each",
            port.scheduler.name()
        ));
    }
    let plain = admission::Spec::TailDrop(tail_drop::Params { clp_threshold: None });
    let pushout = port.pushout.as_ref().map(pushout::Spec::name);
    match pushout.or((port.admission != plain).then(|| port.admission.name())) {
        None => Ok(()),
        Some(policy) => unfit(format!(
            "credits promise that nothing is lost, but the port {name:?} behind this line discards by {policy:?}; \
             give it admission = {{ policy = \"tail-drop\" }}, which then has nothing to drop"
        )),
    }
}

/// The capacity of a port: the guaranteed room, unless the scenario gives it more.
fn capacity(scenario: &Scenario, line: &Line, promised: &Promised) -> Result<Capacity, Refused> {
    let Promised { room, stranger } = promised;
    match (line.port.capacity.limit(), stranger) {
        (None, None) => Ok(Capacity::limited(*room)),
        (None, Some(_)) => Ok(Capacity::UNLIMITED),
        (Some(_), Some(vc)) => unfit(format!(
            "the circuit {:?} comes without credits and could take the room that others were promised; give credits to \
             the port before, or leave this buffer unlimited",
            scenario.vcs[*vc].name
        )),
        (Some(given), None) if given < *room => unfit(format!(
            "holds {given} cells, but the credits of its circuits promise {room}; leave it out"
        )),
        (Some(_), None) => Ok(line.port.capacity),
    }
}
