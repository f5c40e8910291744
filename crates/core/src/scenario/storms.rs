//! Checks pauses from outside, and watchdogs that could never act.

use std::sync::Arc;

use super::file::StormSection;
use super::measure::{listed, no_port};
use super::model::{Line, Medium, Port, Scenario};
use super::ports::Ports;
use crate::language::item::{Item, entries};
use crate::language::tree::{Fault, Node};
use crate::link::gate;
use crate::link::gate::storm::Spec;
use crate::refused::Refused;
use crate::units::Time;
use crate::units::ids::{IdVec, LineId};
use crate::words::nearest::unknown;

/// The checked pauses from outside.
#[derive(Debug, Default)]
pub(super) struct Storms {
    /// The entries of `[[storm]]`.
    pub entries: Vec<StormSection>,
    /// For every port that an entry names, the pause there.
    pub specs: Vec<Spec>,
}

/// Check the entries of `[[storm]]`.
pub(super) fn check(list: Option<&Node>, scenario: &Scenario) -> Result<Storms, Fault> {
    let mut storms = Storms::default();
    for (index, entry) in entries(list, "storm")?.iter().enumerate() {
        let item = Item::<StormSection>::entry(entry, "storm", index)?;
        let StormSection { from, to, .. } = item.it;
        let message = format!("must be later than {from}, when the storm begins");
        item.ensure(from < to, "to", &message)?;
        let message = format!("must be before the end of the run, at {}", scenario.duration);
        item.ensure(from < scenario.duration, "from", &message)?;
        let class = class(&item, scenario)?;
        for line in lines(&item, &scenario.lines)? {
            let (from, to) = (Time::ZERO + from, Time::ZERO + to);
            storms.specs.push(Spec { line, class, from, to });
        }
        storms.entries.push(item.it);
    }
    Ok(storms)
}

/// Return the class that an entry names; `None` if it names none, and so all classes.
fn class(item: &Item<'_, StormSection>, scenario: &Scenario) -> Result<Option<u32>, Fault> {
    let Some(name) = &item.it.queue else { return Ok(None) };
    let names: Vec<&str> = scenario.sections.queues.0.iter().map(|(name, _)| name.as_str()).collect();
    if names.is_empty() {
        let message =
            "must be left out without sections [queue.NAME]: then the storm stops all that the port sends";
        return Err(item.fault("queue", message));
    }
    let found = names.iter().position(|other| other == name);
    let class = found.ok_or_else(|| item.fault("queue", unknown("queue", name, &names)))?;
    Ok(Some(class as u32))
}

/// Return the line of the port that an entry names, or those of a class of ports; refuse lines of cells.
fn lines(item: &Item<'_, StormSection>, lines: &IdVec<LineId, Line>) -> Result<Vec<LineId>, Fault> {
    let known = lines.iter().map(|line| (line.name.as_str(), line.class.as_str()));
    let names = std::slice::from_ref(&item.it.port);
    let found = listed(names, known).map_err(|name| item.fault("port", no_port(name, lines)))?;
    if let Some(line) = found.iter().map(|&line| &lines[line]).find(|line| line.medium == Medium::Cells) {
        let message =
            format!("must be a port of packets: {:?} sends cells, and pauses are for packets", line.name);
        return Err(item.fault("port", message));
    }
    Ok(found)
}

/// Refuse watchdogs if no port with one is ever paused, and leave them out at the ports that are not.
pub(super) fn settle_watchdogs(scenario: &mut Scenario, ports: &Ports<'_>) -> Result<(), Fault> {
    let stopped = scenario.stopped_lines();
    let has_watchdog = |line: &Line| line.port.gates.watchdog.is_some();
    let watched = || scenario.lines.pairs().filter(|(_, line)| has_watchdog(line));
    if let Some((index, line)) = watched().next().filter(|_| !watched().any(|(line, _)| stopped[line])) {
        let why = "never acts, since nothing pauses the port: let a class of the memory behind it pause, add a \
                   [[storm]], or leave the key out";
        return Err(ports.refuse(index, line, "watchdog", Refused { key: None, why: why.to_string() }));
    }
    for (line, _) in
        scenario.lines.iter_mut().zip(stopped).filter(|(line, is_stopped)| !is_stopped && has_watchdog(line))
    {
        let gates = gate::Keys { watchdog: None, ..line.port.gates.clone() };
        line.port = Arc::new(Port { gates, ..Port::clone(&line.port) });
    }
    Ok(())
}
