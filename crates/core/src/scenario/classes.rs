//! What ports ask of classes of traffic: classes that schedulers name, and rates of classes.

use std::collections::{BTreeMap, BTreeSet};

use super::contract::Passing;
use super::file::QueueSection;
use super::memories::Memories;
use super::model::{Line, Medium, Port, Scenario, Vc};
use super::ports::Ports;
use crate::language::item::Item;
use crate::language::spec::Nested;
use crate::language::tree::Fault;
use crate::link::gate::{calendar, cbs};
use crate::refused::{Refused, refuse, unfit};
use crate::units::ids::{CircuitId, IdSlice, PortVc};
use crate::units::{CELL_BYTES, Span};
use crate::words::nearest::unknown;

/// Refuse schedulers that name classes wrongly, and rates of classes that no port keeps.
pub(super) fn check(
    scenario: &Scenario,
    ports: &Ports<'_>,
    passing: &Passing,
    memories: &Memories<'_>,
) -> Result<(), Fault> {
    for (index, line) in ports.of(&scenario.lines) {
        let fault = |refused| ports.refuse(index, line, "scheduler", refused);
        check_group(scenario, line).map_err(fault)?;
        check_lower(scenario, line).map_err(|refused| ports.refuse(index, line, "police", refused))?;
        if let Some(Nested(gates)) = &line.port.gates.gates {
            let fault = |refused| ports.refuse(index, line, "gates", refused);
            check_gates(scenario, line, gates, passing.at(index)).map_err(fault)?;
        }
    }
    memories.queues().iter().try_for_each(|(_, item)| check_rates(scenario, item))
}

/// Refuse a group below strict priority that is empty, or names a class twice or one that does not exist.
fn check_group(scenario: &Scenario, line: &Line) -> Result<(), Refused> {
    const KEY: &str = "group.queues";
    let Some(group) = line.port.scheduler.grouped() else { return Ok(()) };
    if group.is_empty() {
        return refuse(KEY, "must name at least one class; without a group leave the key group out");
    }
    check_names(scenario, group, KEY)
}

/// Refuse a policer with a lower class that does not exist, or that has no queue at its port.
fn check_lower(scenario: &Scenario, line: &Line) -> Result<(), Refused> {
    let Port { scheduler, memory, gates, .. } = &*line.port;
    let Some((key, lower)) = gates.police.as_ref().and_then(|Nested(police)| police.lower()) else {
        return Ok(());
    };
    check_names(scenario, &[lower.to_string()], key)?;
    let why = match line.medium {
        Medium::Cells => {
            "must not put packets into a class on a cell link, where the cells of a frame keep their order"
        }
        Medium::Packets if !scheduler.groups_classes() => {
            "must stand beside a scheduler with queues = \"class\": a lower class has a queue of its own there"
        }
        Medium::Packets if memory.is_some() => {
            "must not put packets into a class at a port that shares a memory, which counts them in the class of their flow"
        }
        Medium::Packets if gates.credit.is_some() => {
            "must not put packets into a class at a port with credits, which are of the class of their flow"
        }
        Medium::Packets => return Ok(()),
    };
    refuse(key, why)
}

/// Refuse a calendar at a line where no instant is certain, that names classes wrongly, or by which packets of a class would wait for
/// ever.
fn check_gates(
    scenario: &Scenario,
    line: &Line,
    gates: &calendar::Params,
    vcs: IdSlice<'_, PortVc, CircuitId>,
) -> Result<(), Refused> {
    if !line.rate.is_constant() {
        return unfit(
            "must be left out at a line whose rate changes, where no frame can be sure to end in its window",
        );
    }
    if line.rest > Span::ZERO {
        return unfit(
            "must be left out at a line that pauses before frames (pause), beyond the ends of windows",
        );
    }
    gates.classes().try_for_each(|classes| check_names(scenario, classes, "windows"))?;
    let mut largest: BTreeMap<usize, u64> = BTreeMap::new();
    let queues = scenario.sections.queues.0.iter();
    let lower =
        line.port.gates.lower().and_then(|lower| (0..).zip(queues).find(|(_, (name, _))| name == lower));
    let lower = lower.map(|(class, _)| class);
    for (&circuit, class) in vcs.iter().flat_map(|circuit| [(circuit, None), (circuit, lower)]) {
        let Vc { queue, framing, packet, .. } = &scenario.vcs[circuit];
        let cells = line.medium == Medium::Cells;
        let octets = if cells { CELL_BYTES } else { line.octets(framing.shape(*packet).line_bytes()) };
        let known = largest.entry(class.unwrap_or(*queue)).or_default();
        *known = octets.max(*known);
    }
    largest.into_iter().try_for_each(|(class, octets)| {
        let name = scenario.sections.queues.0.get(class).map(|(name, _)| name.as_str());
        gates.check_class(name, octets, line.rate.fixed())
    })
}

/// Refuse a list of classes with a class that does not exist, or twice.
fn check_names(scenario: &Scenario, list: &[String], key: &'static str) -> Result<(), Refused> {
    let names: Vec<&str> = scenario.sections.queues.0.iter().map(|(name, _)| name.as_str()).collect();
    let mut seen = BTreeSet::new();
    for name in list {
        if names.is_empty() {
            let why = format!("must name sections [queue.NAME], and there are none: write [queue.{name}]");
            return refuse(key, why);
        }
        if !names.contains(&name.as_str()) {
            return refuse(key, unknown("queue", name, &names));
        }
        if !seen.insert(name) {
            return refuse(key, format!("must name each class once, not {name:?} twice"));
        }
    }
    Ok(())
}

/// Refuse rates of a class that are impossible, or that no port keeps.
fn check_rates(scenario: &Scenario, item: &Item<'_, QueueSection>) -> Result<(), Fault> {
    let QueueSection { minimum, maximum, .. } = item.it;
    for (key, rate) in [("minimum", minimum), ("maximum", maximum)] {
        item.ensure(
            rate.is_none_or(|rate| rate.0 > 0),
            key,
            "must be greater than 0; for no limit leave the key out",
        )?;
    }
    if let (Some(minimum), Some(maximum)) = (minimum, maximum) {
        let message = format!("must be at most the maximum of the class, {maximum}");
        item.ensure(minimum <= maximum, "minimum", &message)?;
    }
    let any = |keeps: fn(&Port) -> bool| scenario.lines.iter().any(|line| keeps(&line.port));
    let message = "is kept at no port: give one scheduler = { policy = \"strict-priority\", queues = \"class\" }, or leave the key out";
    item.ensure(minimum.is_none() || any(|port| port.scheduler.guarantees()), "minimum", message)?;
    let message = "is kept at no port: give one a scheduler with queues = \"class\", or leave the key out";
    item.ensure(maximum.is_none() || any(|port| port.scheduler.groups_classes()), "maximum", message)?;
    let Some(Nested(cbs)) = &item.it.cbs else { return Ok(()) };
    item.ensure(any(|port| port.scheduler.groups_classes()), "cbs", message)?;
    check_slope(scenario, cbs).map_err(|refused| item.refuse("cbs", refused))
}

/// Refuse a credit-based shaper that a line cannot keep.
fn check_slope(scenario: &Scenario, cbs: &cbs::Params) -> Result<(), Refused> {
    let mut lines = scenario.lines.iter().filter(|line| line.port.scheduler.groups_classes());
    if let Some(line) = lines.clone().find(|line| !line.rate.is_constant()) {
        return unfit(format!(
            "must be left out while a port of classes feeds a line whose rate changes, as {:?}: the send slope is that of one rate",
            line.name
        ));
    }
    lines.try_for_each(|line| cbs.check(line.rate.fixed()))
}
