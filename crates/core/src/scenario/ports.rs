//! The sections `[port.…]`, and the checks that each fits its ports.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::file::PortSection;
use super::memories::{Memories, MemoryCapacity, is_at_switch};
use super::model::{Line, Medium, NetworkNode, NodeKind, Port};
use super::round_trips::RoundTrips;
use crate::buffer::admission::{self, Admission};
use crate::buffer::capacity::Capacity;
use crate::buffer::context::Context;
use crate::buffer::size::{BufferSize, Measure, PortBuffer};
use crate::discipline;
use crate::language::item::Item;
use crate::language::set::Set;
use crate::language::spec::read_section;
use crate::language::tree::{self, Fault, Value, join};
use crate::link::gate::credit;
use crate::refused::{Refused, refuse, unfit};
use crate::units::ids::{IdVec, LineId, NodeId};
use crate::units::{CELL_BYTES, Span};
use crate::words::nearest::unknown;

/// The sections `[port.…]` of a scenario.
#[derive(Debug)]
pub(super) struct Ports<'a> {
    sections: Vec<(&'a str, Item<'a, PortSection>)>,
    /// For every line the section of its port.
    of_line: IdVec<LineId, Option<usize>>,
}

/// The section for the ports of switches and routers without a section of their own.
pub(super) const DEFAULT: &str = "default";

impl<'a> Ports<'a> {
    /// Read the sections and find the ports to which each applies.
    pub(super) fn read(
        port: Option<&'a tree::Node>,
        nodes: &IdVec<NodeId, NetworkNode>,
        lines: &IdVec<LineId, Line>,
    ) -> Result<Ports<'a>, Fault> {
        let mut sections = Vec::new();
        let known = known(port, lines);
        if let Some(node) = port {
            let Value::Table(entries) = &node.value else {
                return Err(
                    node.fault("port", format!("must be a table, not {}: write [port.NAME]", node.show()))
                );
            };
            for (key, section) in entries {
                let path = join("port", &key.name);
                if key.name != DEFAULT && !known.contains(key.name.as_str()) {
                    let message = unknown("port", &key.name, &port_names(lines));
                    return Err(Fault { place: key.place, path, message });
                }
                sections.push((key.name.as_str(), Item::read(section, path)?));
            }
        }
        let numbers: BTreeMap<&str, usize> = sections.iter().map(|(key, _)| *key).zip(0..).collect();
        let named = |name: &str| numbers.get(name).copied();
        let of_line = |line: &Line| {
            let default = || (nodes[line.from].kind != NodeKind::Host).then(|| named(DEFAULT)).flatten();
            named(&line.name).or_else(|| named(&line.class)).or_else(default)
        };
        let of_line = lines.iter().map(of_line).collect();
        Ok(Ports { sections, of_line })
    }

    /// Build a port without a section: unlimited and FIFO.
    pub(super) fn plain(medium: Medium) -> Port {
        let empty = tree::Node { value: Value::Table(Vec::new()), place: Default::default() };
        let section: PortSection = read_section(&empty, "port").expect("every key of a port has a default");
        let (measure, capacity) = unlimited(medium);
        described(section, measure, capacity)
    }

    /// Give every line the port that its section describes.
    pub(super) fn install(
        &self,
        lines: &mut IdVec<LineId, Line>,
        nodes: &IdVec<NodeId, NetworkNode>,
        memories: &Memories<'_>,
        round_trips: &RoundTrips<'_>,
    ) -> Result<(), Fault> {
        let mut last: Vec<Option<Arc<Port>>> = vec![None; self.sections.len()];
        for ((number, line), section) in lines.pairs_mut().zip(&self.of_line) {
            let Some(section) = *section else { continue };
            let (item, last) = (&self.sections[section].1, &mut last[section]);
            check_discipline(item, line)?;
            let (measure, capacity) = match &item.it.memory {
                None => size(item, line, || round_trips.at(number))?,
                Some(name) => shared(item, line, nodes, memories, name)?,
            };
            let same = last.take().filter(|port| port.measure == measure && port.capacity == capacity);
            line.port = same.unwrap_or_else(|| Arc::new(described(item.it.clone(), measure, capacity)));
            *last = Some(Arc::clone(&line.port));
        }
        Ok(())
    }

    /// Build the fault of a key in the section of line number `index`, which has a section.
    pub(super) fn refuse(&self, index: LineId, line: &Line, key: &str, refused: Refused) -> Fault {
        let (name, item) = self.section(index);
        item.refuse(key, Refused { why: refused.why + &here(name, line), ..refused })
    }

    fn section(&self, index: LineId) -> &(&'a str, Item<'a, PortSection>) {
        &self.sections[self.of_line[index].expect("only a port with a section is asked about")]
    }

    /// Return the lines whose ports have a section, with their numbers.
    pub(super) fn of<'l>(&self, lines: &'l IdVec<LineId, Line>) -> impl Iterator<Item = (LineId, &'l Line)> {
        lines.pairs().filter(|(index, _)| self.of_line[*index].is_some())
    }

    /// Refuse policies, or a largest frame, that cannot work at the port of line number `index`, which has a section.
    pub(super) fn check_policies(
        &self,
        index: LineId,
        line: &Line,
        context: &Context<'_>,
    ) -> Result<(), Fault> {
        let (name, item) = self.section(index);
        let largest = context.contracts.iter().map(|contract| contract.frame).max().unwrap_or(0);
        let key = if line.port.memory.is_some() { "memory" } else { "buffer" };
        let is_counted = matches!(line.port.measure, Measure::Bytes | Measure::MemoryCells(_));
        if is_counted && !line.port.capacity.holds(largest) {
            let (shown, word) = (item.node.along(key).show(), line.port.measure.word());
            let size = if line.port.memory.is_some() { " has a size that" } else { "" };
            let here = here(name, line);
            let message = format!(
                "{shown}{size} is smaller than a packet of {largest} {word}, which could never pass{here}"
            );
            return Err(item.fault(key, message));
        }
        let fault = |key| move |refused| self.refuse(index, line, key, refused);
        let admission = admission(line, context).map_err(fault("admission"))?;
        check_trimming(line, &admission).map_err(fault("admission"))?;
        check_pushout(line, context, &admission).map_err(fault("pushout"))?;
        check_gates(line, context).map_err(|(key, refused)| fault(key)(refused))?;
        check_scheduler(line, context).map_err(fault("scheduler"))
    }
}

/// Build the port that a section describes.
fn described(section: PortSection, measure: Measure, capacity: Capacity) -> Port {
    let PortSection { memory, discipline, admission, pushout, scheduler, gates, .. } = section;
    let (admission, scheduler) = match discipline.map(discipline::Spec::composition) {
        Some(parts) => (parts.admission, parts.scheduler),
        None => (admission, scheduler),
    };
    let trims = admission.trims();
    Port { measure, capacity, memory, admission, pushout, scheduler, trims, gates }
}

/// Refuse a scheduler that cannot work at its port.
fn check_scheduler(line: &Line, context: &Context<'_>) -> Result<(), Refused> {
    let scheduler = &line.port.scheduler;
    if scheduler.splits_circuits() && line.medium == Medium::Cells {
        let name = scheduler.name();
        return unfit(format!(
            "{name} must be left out on a cell link, where the cells of a frame keep their order"
        ));
    }
    scheduler.build(context).map(|_| ())
}

/// Refuse gates through which some packet cannot pass, or that contradict each other.
fn check_gates(line: &Line, context: &Context<'_>) -> Result<(), (&'static str, Refused)> {
    let longest = context.contracts.iter().map(|contract| contract.octets).max().unwrap_or(0);
    line.port.gates.check(if line.medium == Medium::Cells { CELL_BYTES } else { line.octets(longest) })
}

/// Build the admission policy of a port; refuse one that cannot work with the port's scheduler.
fn admission(line: &Line, context: &Context<'_>) -> Result<admission::Policy, Refused> {
    let Port { admission, scheduler, .. } = &*line.port;
    let policy = admission.build(context)?;
    if policy.properties().one_queue && !scheduler.shares_one_queue() {
        return unfit(format!(
            "needs one queue that all circuits share, and the scheduler {:?} has several: choose the scheduler \"fifo\", or \
             another admission policy",
            scheduler.name()
        ));
    }
    Ok(policy)
}

/// Refuse `action = "trim"` on cell links, in policies that discard queued packets, and together with push-out.
fn check_trimming(line: &Line, admission: &admission::Policy) -> Result<(), Refused> {
    let Port { pushout, admission: spec, .. } = &*line.port;
    if !spec.trims() {
        return Ok(());
    }
    let why = match line.medium {
        Medium::Cells => "on a cell link, where a frame is no packet that could be cut",
        _ if admission.properties().decides_at_head => {
            "with this policy, which decides about packets that have been queued"
        }
        _ if pushout.is_some() => "beside pushout, which makes room for the packet",
        _ => return Ok(()),
    };
    refuse("action", format!("must be \"drop\" or \"mark\" {why}"))
}

/// Refuse a push-out policy that cannot work at its port, or would never act.
fn check_pushout(line: &Line, context: &Context<'_>, admission: &admission::Policy) -> Result<(), Refused> {
    let Port { pushout, scheduler, .. } = &*line.port;
    let Some(pushout) = pushout else { return Ok(()) };
    if let Some(why) = admission.properties().bars_pushout {
        return unfit(format!("never acts: {why}"));
    }
    scheduler.check_queues(pushout.name())?;
    pushout.build(context).map(|_| ())
}

/// Return the port that a message concerns, in brackets, unless the section has the name of the port.
fn here(section: &str, line: &Line) -> String {
    if section == line.name { String::new() } else { format!(" (at the port {:?})", line.name) }
}

/// Return the names of sections that are the name or the class of a line.
fn known<'a>(port: Option<&'a tree::Node>, lines: &IdVec<LineId, Line>) -> BTreeSet<&'a str> {
    let Some(Value::Table(entries)) = port.map(|node| &node.value) else { return BTreeSet::new() };
    let given: BTreeSet<&str> = entries.iter().map(|(key, _)| key.name.as_str()).collect();
    let own = lines.iter().flat_map(|line| [line.name.as_str(), line.class.as_str()]);
    own.filter(|name| !name.is_empty()).filter_map(|name| given.get(name).copied()).collect()
}

/// Return the table of ports after the overrides of ports without a section of their own. Such a port first gets a
/// copy of the section that applied to it, so that all its other keys keep their values.
pub(super) fn overridden<'a>(
    port: Option<&'a tree::Node>,
    sets: &[Set],
    nodes: &IdVec<NodeId, NetworkNode>,
    lines: &IdVec<LineId, Line>,
) -> Result<Option<Cow<'a, tree::Node>>, Fault> {
    let mut sets = sets.iter().filter_map(|set| Some((set, set.port()?))).peekable();
    if sets.peek().is_none() {
        return Ok(port.map(Cow::Borrowed));
    }
    let table = || tree::Node { value: Value::Table(Vec::new()), place: Default::default() };
    let mut root = table();
    if let Value::Table(keys) = &mut root.value {
        let key = tree::Key { name: "port".to_string(), place: Default::default() };
        keys.push((key, port.cloned().unwrap_or_else(table)));
    }
    for (set, name) in sets {
        if let Value::Table(keys) = &mut root.value
            && let Value::Table(sections) = &mut keys[0].1.value
            && !sections.iter().any(|(key, _)| key.name == name)
            && let Some(section) = stand_in(name, sections, nodes, lines)
        {
            sections.push((set.keys[1].clone(), section));
        }
        set.apply(&mut root)?;
    }
    let Value::Table(mut keys) = root.value else { unreachable!("an override leaves the root a table") };
    Ok(keys.pop().map(|(_, port)| Cow::Owned(port)))
}

/// Return the section that applies to a port, or to all ports of a class, without a section of its own.
fn stand_in(
    name: &str,
    sections: &[(tree::Key, tree::Node)],
    nodes: &IdVec<NodeId, NetworkNode>,
    lines: &IdVec<LineId, Line>,
) -> Option<tree::Node> {
    let section = |name: &str| Some(sections.iter().find(|(key, _)| key.name == name)?.1.clone());
    let mut own = lines.iter().filter(|line| line.name == name).peekable();
    let class = own.peek().and_then(|line| section(&line.class));
    let mut all = lines.iter().filter(|line| line.name == name || line.class == name);
    let by_default = all.all(|line| nodes[line.from].kind != NodeKind::Host);
    class.or_else(|| by_default.then(|| section(DEFAULT)).flatten())
}

/// Return the valid names of a section: the classes of lines first, then single lines.
fn port_names(lines: &IdVec<LineId, Line>) -> Vec<&str> {
    let mut names = vec![DEFAULT];
    let mut seen = BTreeSet::new();
    let classes = lines.iter().map(|line| line.class.as_str()).filter(|class| !class.is_empty());
    names.extend(classes.filter(|class| seen.insert(*class)));
    names.extend(lines.iter().filter(|line| line.class.is_empty()).map(|line| line.name.as_str()));
    names.extend(lines.iter().filter(|line| !line.class.is_empty()).map(|line| line.name.as_str()));
    names
}

/// Refuse a discipline together with parts that it contains, and a discipline on a cell link.
fn check_discipline(item: &Item<'_, PortSection>, line: &Line) -> Result<(), Fault> {
    if item.it.discipline.is_none() {
        return Ok(());
    }
    let parts = ["admission", "scheduler", "pushout", "credit"];
    if let Some(part) = parts.into_iter().find(|part| item.node.get(part).is_some()) {
        return Err(item.fault(part, "must be left out beside a discipline, which has its own"));
    }
    item.ensure(
        line.medium == Medium::Packets,
        "discipline",
        "must be left out on a cell link, for it judges packets; compose admission and scheduler instead",
    )
}

/// Return the measure of a port that shares a memory, and the capacity of the memory.
fn shared(
    item: &Item<'_, PortSection>,
    line: &Line,
    nodes: &IdVec<NodeId, NetworkNode>,
    memories: &Memories<'_>,
    name: &str,
) -> Result<(Measure, Capacity), Fault> {
    let MemoryCapacity { cell, cells } = memories.find(name).map_err(|why| item.fault("memory", why))?;
    let host = format!(
        "must be left out at the port {:?} of a host; a switch or router shares its memory",
        line.name
    );
    item.ensure(is_at_switch(line, nodes), "memory", &host)?;
    let own = "must be left out beside memory; a port has a buffer of its own or a share of one";
    item.ensure(item.it.buffer == PortBuffer::Size(BufferSize::Unlimited), "buffer", own)?;
    let pushout = "must be left out beside memory; it makes room only in a buffer of its own";
    item.ensure(item.it.pushout.is_none(), "pushout", pushout)?;
    item.ensure(item.it.discipline.is_none(), "discipline", pushout)?;
    let credit = "must be cbfc beside memory; other credits promise room in buffers of their own";
    let is_per_circuit = item.it.gates.credit.as_ref().is_some_and(credit::Spec::is_per_circuit);
    item.ensure(!is_per_circuit, "credit", credit)?;
    Ok((Measure::MemoryCells(cell), Capacity::limited(cells)))
}

/// Return the measure of a port with its own buffer, and its capacity; `round_trip` gives the base round trip of the
/// flows through it, or says why there is none.
fn size(
    item: &Item<'_, PortSection>,
    line: &Line,
    round_trip: impl Fn() -> Result<Span, String>,
) -> Result<(Measure, Capacity), Fault> {
    let cells = line.medium == Medium::Cells;
    let buffer = match (item.it.buffer, item.it.discipline) {
        (PortBuffer::Size(BufferSize::Unlimited), Some(discipline)) => discipline.composition().limit,
        (PortBuffer::Size(size), _) => size,
        (buffer, _) => BufferSize::Bytes(octets(item, line, buffer, round_trip)?),
    };
    let Some((measure, capacity)) = buffer.on_link(cells) else {
        let (travel, right) = match cells {
            true => ("cells", "cells or bytes, as in \"8192 cells\" or \"150 KB\""),
            false => ("packets", "packets or bytes, as in \"100 packets\" or \"150 KB\""),
        };
        let shown = item.node.along("buffer").show();
        return Err(item.fault(
            "buffer",
            format!("must be in {right}, not {shown}; the line {:?} carries {travel}", line.name),
        ));
    };
    if !capacity.is_limited() {
        return Ok(unlimited(line.medium)); // a buffer that no run can fill counts as unlimited
    }
    let least = if cells { "one cell (53 bytes)" } else { "one packet" };
    item.ensure(capacity.holds(1), "buffer", &format!("must have room for at least {least}"))?;
    Ok((measure, capacity))
}

/// Return the measure and the capacity of a port without limit.
fn unlimited(medium: Medium) -> (Measure, Capacity) {
    BufferSize::Unlimited.on_link(medium == Medium::Cells).expect("an unlimited buffer fits every link")
}

/// Return the octets of a buffer that is given as a time or as a multiple of rate and round trip, at the rate of the line or
/// of its shaper.
fn octets(
    item: &Item<'_, PortSection>,
    line: &Line,
    buffer: PortBuffer,
    round_trip: impl Fn() -> Result<Span, String>,
) -> Result<u64, Fault> {
    let shaped = item.it.gates.shaper.as_ref().map(|shaper| shaper.0.rate);
    let rate = shaped.map_or(line.rate.mean(), |shaped| shaped.min(line.rate.mean()));
    let octets = match buffer {
        PortBuffer::Size(_) => unreachable!("a size needs no rate"),
        PortBuffer::Time(time) => PortBuffer::octets_in(time, rate),
        PortBuffer::Product(parts) => {
            let round_trip = round_trip().map_err(|why| {
                let shown = item.node.along("buffer").show();
                item.fault("buffer", format!("{shown} at the port {:?}: {why}", line.name))
            })?;
            PortBuffer::octets_of_product(parts, rate, round_trip)
        }
    };
    octets.ok_or_else(|| item.fault("buffer", "must be smaller: it is more octets than can be counted"))
}
