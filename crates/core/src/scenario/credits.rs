//! Checks of credits: the parameters for each line, the buffers that they need, and the lines on which they cannot
//! work.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::contract::Passing;
use super::model::{Line, Medium, MemoryQueue, NodeMemory, Scenario};
use super::ports::Ports;
use super::warning::Warning;
use crate::buffer::admission::{self, tail_drop};
use crate::buffer::capacity::Capacity;
use crate::buffer::pushout;
use crate::language::tree::Fault;
use crate::link::gate::credit::{HopContext, Spec};
use crate::memory::Side;
use crate::refused::{Refused, unfit};
use crate::units::ids::{CircuitId, IdSlice, IdVec, LineId, PortVc};

/// Fix the credit parameters of every line.
pub(super) fn settle(scenario: &mut Scenario, passing: &Passing, ports: &Ports<'_>) -> Result<(), Fault> {
    for index in scenario.lines.keys() {
        let line = &scenario.lines[index];
        let Some(spec) = &line.port.gates.credit else { continue };
        let settled = settled(scenario, passing, index, spec)
            .map_err(|refused| ports.refuse(index, line, "credit", refused))?;
        if settled != *spec {
            Arc::make_mut(&mut scenario.lines[index].port).gates.credit = Some(settled);
        }
    }
    Ok(())
}

/// Set the buffers of the ports after lines with credits to the space that the credits grant; shared memories have
/// already reserved this space.
pub(super) fn settle_buffers(
    scenario: &mut Scenario,
    passing: &Passing,
    ports: &Ports<'_>,
) -> Result<(), Fault> {
    for memory in &scenario.memories {
        check_memory(scenario, passing, memory)
            .map_err(|(index, refused)| ports.refuse(index, &scenario.lines[index], "credit", refused))?;
    }
    let promised = promised(scenario, ports)?;
    for (index, promised) in scenario.lines.keys().zip(promised).filter(|(_, promised)| promised.room > 0) {
        let line = &scenario.lines[index];
        let capacity = capacity(scenario, line, &promised);
        let capacity = capacity.map_err(|refused| ports.refuse(index, line, "buffer", refused))?;
        if capacity != line.port.capacity {
            Arc::make_mut(&mut scenario.lines[index].port).capacity = capacity;
        }
    }
    Ok(())
}

/// Return the credit scheme of a line with every parameter set; what the scenario leaves open is computed
/// from the hop.
fn settled(scenario: &Scenario, passing: &Passing, index: LineId, spec: &Spec) -> Result<Spec, Refused> {
    let line = &scenario.lines[index];
    let Some(back) = line.back else {
        return unfit(format!(
            "the line {:?} has no other direction on which credits could come (its link has duplex = false)",
            line.name
        ));
    };
    check_line(line, &scenario.lines[back], spec)?;
    check_classes(scenario, passing.at(index))?;
    let latencies = scenario.nodes[line.to].latency + scenario.nodes[line.from].latency;
    let largest = |line: LineId| {
        let octets = |&vc: &CircuitId| scenario.vcs[vc].framing.shape(scenario.vcs[vc].packet).line_bytes();
        passing.at(line).iter().map(octets).max().unwrap_or(0)
    };
    let classes: BTreeSet<usize> = passing.at(index).iter().map(|&vc| scenario.vcs[vc].queue).collect();
    let back_line = &scenario.lines[back];
    spec.settled(&HopContext {
        rate: line.rate.fixed(),
        back: back_line.rate.fixed(),
        delay: line.delay.least() + back_line.delay.least() + latencies,
        largest: [largest(index), largest(back)],
        classes: classes.len() as u64,
    })
}

/// Refuse credits for circuits whose packets belong to two classes, since an account can count only one class.
fn check_classes(scenario: &Scenario, circuits: IdSlice<'_, PortVc, CircuitId>) -> Result<(), Refused> {
    let has_two = |vc: &&CircuitId| scenario.vcs[**vc].unscheduled != scenario.vcs[**vc].queue;
    circuits.iter().find(has_two).map_or(Ok(()), |&vc| {
        unfit(format!(
            "must be left out: credits count packets of one class for each circuit, and {:?} has transport.unscheduled",
            scenario.vcs[vc].name
        ))
    })
}

/// Refuse credits on a line on which they cannot work.
fn check_line(line: &Line, back: &Line, spec: &Spec) -> Result<(), Refused> {
    if let Some(changing) = [line, back].into_iter().find(|line| !line.is_steady()) {
        return unfit(format!(
            "must be left out: credits cover a constant round trip at a constant rate, and rate or delay of the line {:?} changes",
            changing.name
        ));
    }
    if !spec.is_per_circuit() {
        return check_packet_line(line, back);
    }
    if line.medium == Medium::Packets {
        return unfit(format!(
            "must be cbfc, not {}, on a line of packets: its credits count cells, and the line {:?} carries packets",
            spec.name(),
            line.name
        ));
    }
    if !line.port.scheduler.has_queue_per_circuit() {
        return unfit(format!(
            "each circuit has its own credits, but all share one queue under the scheduler {:?}; \
             choose one with a queue for each, as in scheduler = {{ policy = \"round-robin\" }}",
            line.port.scheduler.name()
        ));
    }
    Ok(())
}

/// Check the credits of classes of packets.
fn check_packet_line(line: &Line, back: &Line) -> Result<(), Refused> {
    if line.medium == Medium::Cells {
        return unfit(format!(
            "must be n23, not cbfc, on a line of cells: its credits are for packets, and the line {:?} carries cells",
            line.name
        ));
    }
    match back.port.gates.delays_controls() {
        None => Ok(()),
        Some(gate) => unfit(format!(
            "must be left out: the port {:?}, which sends the credits, has {gate} that would delay them",
            back.name
        )),
    }
}

/// Refuse credits of classes for which a memory cannot reserve room; the error contains the line.
fn check_memory(
    scenario: &Scenario,
    passing: &Passing,
    memory: &NodeMemory,
) -> Result<(), (LineId, Refused)> {
    for (port, accounts) in &memory.ports {
        for (&vc, account) in passing.at(*port).iter().zip(&**accounts) {
            let Some(line) = before(scenario, vc, *port).filter(|line| has_class_credits(scenario, *line))
            else {
                continue;
            };
            let MemoryQueue { pool, class, .. } = &memory.queues[account.queue()];
            if memory.pools[*pool].side == Side::Egress || account.other().is_some() {
                let why = format!(
                    "must be left out unless the class {class:?} takes its room from a pool of the ingress side alone \
                     (side = \"ingress\"), which it does not in the memory {:?}",
                    memory.name
                );
                return Err((line, Refused { key: None, why }));
            }
        }
    }
    Ok(())
}

/// Return the line over which a circuit arrives at a port, unless it begins there.
fn before(scenario: &Scenario, vc: CircuitId, port: LineId) -> Option<LineId> {
    scenario.vcs[vc].path.windows(2).find(|pair| pair[1] == port).map(|pair| pair[0])
}

/// Return whether a line has separate credits for each class.
fn has_class_credits(scenario: &Scenario, line: LineId) -> bool {
    scenario.lines[line].port.gates.credit.as_ref().is_some_and(|credit| !credit.is_per_circuit())
}

/// Warn of a class that arrives over some lines with credits and over others without: the latter can fill the memory.
pub(super) fn warning(scenario: &Scenario, passing: &Passing) -> Option<Warning> {
    let has_credits = |line| has_class_credits(scenario, line);
    let with_credits = scenario.lines.keys().zip(passing.iter()).filter(|(line, _)| has_credits(*line));
    let promised: BTreeSet<usize> =
        with_credits.flat_map(|(_, circuits)| circuits.iter().map(|&vc| scenario.vcs[vc].queue)).collect();
    let mut open = BTreeMap::new();
    for memory in &scenario.memories {
        for (port, accounts) in &memory.ports {
            for (&vc, account) in passing.at(*port).iter().zip(&**accounts) {
                let queue = &memory.queues[account.queue()];
                let line = before(scenario, vc, *port).filter(|line| !has_credits(*line));
                let line = line
                    .filter(|_| queue.limits.pause.is_none() && promised.contains(&scenario.vcs[vc].queue));
                if let Some(line) = line {
                    open.entry((line, &queue.class)).or_insert(memory);
                }
            }
        }
    }
    let (&(line, class), memory) = open.first_key_value()?;
    let Line { name, class: role, .. } = &scenario.lines[line];
    let others = match open.len() - 1 {
        0 => String::new(),
        1 => " (1 other line likewise)".to_string(),
        others => format!(" ({others} other lines likewise)"),
    };
    let message = format!(
        "class {class:?} may lose packets although it has credits: the line {name:?} brings it to the memory {:?} without \
         credits{others}; give that line credits too, in port.{}.credit",
        memory.name,
        if role.is_empty() { name } else { role }
    );
    Some(Warning { code: "credits", message })
}

/// The buffer space that credits grant on the lines into a port.
#[derive(Clone, Debug, Default)]
struct Promised {
    /// Space for all circuits together, in the measure of the port.
    room: u64,
    /// A circuit that arrives over a line without credits, if there is one.
    stranger: Option<CircuitId>,
}

/// For each port with its own buffer, return the space that credits on the lines into it grant to circuits.
fn promised(scenario: &Scenario, ports: &Ports<'_>) -> Result<IdVec<LineId, Promised>, Fault> {
    let mut promised = IdVec::filled(Promised::default(), scenario.lines.len());
    let mut known = BTreeSet::new();
    for (number, vc) in scenario.vcs.pairs() {
        let from = std::iter::once(None).chain(vc.path.iter().copied().map(Some));
        for (from, &to) in from.zip(&vc.path) {
            let credit = from.and_then(|from| Some((from, scenario.lines[from].port.gates.credit.as_ref()?)));
            let Some((from, credit)) = credit else {
                promised[to].stranger = Some(number);
                continue;
            };
            let behind = &scenario.lines[to];
            check_behind(behind, credit)
                .map_err(|refused| ports.refuse(from, &scenario.lines[from], "credit", refused))?;
            let account = if credit.is_per_circuit() { number.index() } else { vc.queue };
            if behind.port.memory.is_none() && known.insert((from, account, to)) {
                let room = credit.promised(behind.port.measure);
                promised[to].room = promised[to].room.saturating_add(room);
            }
        }
    }
    Ok(promised)
}

/// Check that a port can provide the space that credits grant, and loses no unit.
fn check_behind(line: &Line, credit: &Spec) -> Result<(), Refused> {
    let Line { name, port, .. } = line;
    if let Some(memory) = port.memory.as_ref().filter(|_| credit.is_per_circuit()) {
        return unfit(format!(
            "must be left out: credits promise every circuit room in a buffer of its own, and the port {name:?} behind this \
             line shares the memory {memory:?}"
        ));
    }
    if credit.is_per_circuit() && !port.scheduler.has_queue_per_circuit() {
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

/// Return the capacity of a port: the granted space, unless the scenario gives the port more.
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
            "holds {given} {}, but the credits of its circuits promise {room}; leave it out",
            line.port.measure.word()
        )),
        (Some(_), None) => Ok(line.port.capacity),
    }
}
