//! Checks losses by intent: on which line, and which units.

use super::file::LossSection;
use super::measure::{listed, no_port};
use super::model::{Flow, Line, Medium, Scenario};
use crate::language::item::{Item, entries};
use crate::language::spec::{Nested, Section};
use crate::language::tree::{Fault, Node, Value};
use crate::link::gate::loss::{Pattern, Spec};
use crate::units::Span;
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId};
use crate::words::nearest::unknown;

/// A period in which hosts send no packets over a line, because they have been notified that it is down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outage {
    /// The line.
    pub line: LineId,
    /// Beginning of this period.
    pub from: Span,
    /// End of this period.
    pub to: Span,
    /// The entry of `[[loss]]` that defines it.
    pub entry: usize,
}

/// The checked losses by intent.
#[derive(Debug, Default)]
pub(super) struct Intended {
    /// The entries of `[[loss]]`.
    pub entries: Vec<LossSection>,
    /// For every line that an entry names, the losses on it.
    pub specs: Vec<Spec>,
    /// Outages during which packets use other routes.
    pub outages: Vec<Outage>,
}

/// Check the entries of `[[loss]]`.
pub(super) fn check(list: Option<&Node>, scenario: &Scenario) -> Result<Intended, Fault> {
    let mut intended = Intended::default();
    for (index, entry) in entries(list, "loss")?.iter().enumerate() {
        let item = Item::<LossSection>::entry(entry, "loss", index)?;
        let lossless = scenario.lines.iter().all(|line| line.port.gates.credit.is_none());
        item.ensure(
            lossless,
            "link",
            "cannot lose units beside credits, which promise that nothing is lost",
        )?;
        let (lines, circuits) = (lines(&item, &item.it.link, &scenario.lines)?, circuits(&item, scenario)?);
        let pattern = pattern(&item)?;
        for line in lines {
            check_line(&item, &scenario.lines[line])?;
            let stream = stream(&item, line, &intended.specs);
            intended.specs.push(Spec { line, circuits: circuits.clone(), pattern: pattern.clone(), stream });
            intended.outages.extend(rerouted(&item, line, index, &pattern)?);
        }
        intended.entries.push(item.it);
    }
    Ok(intended)
}

/// Name the random numbers of an entry on a line by its flow, and by the number of earlier entries there for this flow: an entry
/// for another flow does not change them.
fn stream(item: &Item<'_, LossSection>, line: LineId, earlier: &[Spec]) -> String {
    let flow = item.it.flow.as_ref().map_or(String::new(), |flow| format!("{flow}."));
    let draws = |spec: &&Spec| spec.line == line && matches!(spec.pattern, Pattern::Gilbert(_));
    let of_flow = |spec: &&Spec| {
        spec.stream
            .strip_prefix(&flow)
            .is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    format!("{flow}{}", earlier.iter().filter(draws).filter(of_flow).count())
}

/// Build a fault of an entry of `[[loss]]`.
pub(super) fn fault(list: Option<&Node>, entry: usize, key: &str, message: String) -> Fault {
    match list.map(|node| &node.value) {
        Some(Value::List(entries)) => entries[entry].fault_along(&format!("loss[{entry}]"), key, message),
        _ => unreachable!("an entry is in a list"),
    }
}

/// Return the periods in which packets use routes without this line.
fn rerouted(
    item: &Item<'_, LossSection>,
    line: LineId,
    entry: usize,
    pattern: &Pattern,
) -> Result<Vec<Outage>, Fault> {
    let Some(delay) = item.it.reroute_after else { return Ok(Vec::new()) };
    let Pattern::Down(times) = pattern else {
        return Err(item.fault("reroute_after", "belongs to outages: give their times in down"));
    };
    item.ensure(
        item.it.flow.is_none(),
        "reroute_after",
        "belongs to outages of a whole link: leave the key flow out",
    )?;
    let known = times.iter().filter(|[begin, end]| *begin + delay < *end);
    let outage = |&[begin, end]: &[Span; 2]| Outage { line, from: begin + delay, to: end + delay, entry };
    Ok(known.map(outage).collect())
}

/// Return the line that an entry names, or the lines of a class.
pub(super) fn lines(
    item: &Item<'_, impl Section>,
    link: &String,
    lines: &IdVec<LineId, Line>,
) -> Result<Vec<LineId>, Fault> {
    let known = lines.iter().map(|line| (line.name.as_str(), line.class.as_str()));
    let names = std::slice::from_ref(link);
    listed(names, known).map_err(|name| item.fault("link", no_link(name, lines)))
}

fn no_link(name: &str, lines: &IdVec<LineId, Line>) -> String {
    no_port(name, lines).replacen("unknown port", "unknown link", 1)
}

/// Return the circuits of the flow that an entry names, in both directions; `None` if it names no flow.
fn circuits(item: &Item<'_, LossSection>, scenario: &Scenario) -> Result<Option<Vec<CircuitId>>, Fault> {
    let Some(name) = &item.it.flow else { return Ok(None) };
    let batch = scenario.batches().find(|(batch, _)| batch == name);
    let named = || scenario.flows.iter().position(|flow| flow.name == *name).map(|index| index..index + 1);
    let Some(flows) = batch.map(|(_, flows)| flows.clone()).or_else(named) else {
        let names: Vec<&str> = scenario.flows.iter().map(|flow| flow.name.as_str()).collect();
        return Err(item.fault("flow", unknown("flow", name, &names)));
    };
    let both = |flow: &Flow| [Some(flow.vc), flow.back];
    let mut circuits: Vec<CircuitId> =
        scenario.flows.as_slice()[flows.clone()].iter().flat_map(both).flatten().collect();
    circuits.sort_unstable();
    let is_other =
        |(index, vc): (FlowId, CircuitId)| !flows.contains(&index.index()) && circuits.contains(&vc);
    let shared = scenario.flows.pairs().any(|(index, flow)| is_other((index, flow.vc)));
    let message =
        "this flow shares its circuit with another one; leave the key out to count all units of the link";
    item.ensure(!shared, "flow", message)?;
    Ok(Some(circuits))
}

/// Choose the pattern of the units that an entry loses.
fn pattern(item: &Item<'_, LossSection>) -> Result<Pattern, Fault> {
    let LossSection { packets, cells, frames, down, gilbert, .. } = &item.it;
    let given =
        [!packets.is_empty(), !cells.is_empty(), !frames.is_empty(), !down.is_empty(), gilbert.is_some()];
    if given.iter().filter(|is_given| **is_given).count() != 1 {
        let message =
            "give exactly one of the keys packets, cells, frames, down and gilbert, and no empty list";
        return Err(item.node.fault(&item.path, message));
    }
    if let Some(Nested(gilbert)) = gilbert {
        gilbert.check().map_err(|refused| item.refuse("gilbert", refused))?;
        return Ok(Pattern::Gilbert(gilbert.clone()));
    }
    if !down.is_empty() {
        return outages(item, down).map(Pattern::Down);
    }
    if !frames.is_empty() {
        item.ensure(item.it.flow.is_some(), "frames", "must be numbers of one flow: name it in flow")?;
        return numbers_of(item, "frames", frames).map(Pattern::Frames);
    }
    let (key, numbers) = if packets.is_empty() { ("cells", cells) } else { ("packets", packets) };
    numbers_of(item, key, numbers).map(Pattern::Numbers)
}

/// Check that numbers are in increasing order, from 1 on, and return them.
pub(super) fn numbers_of(
    item: &Item<'_, impl Section>,
    key: &str,
    numbers: &[u64],
) -> Result<Vec<u64>, Fault> {
    item.ensure(!numbers.contains(&0), key, "must be numbers from 1; the first unit has the number 1")?;
    if let Some(pair) = numbers.windows(2).find(|pair| pair[0] >= pair[1]) {
        let message = format!("{} stands before {}: give the numbers in increasing order", pair[0], pair[1]);
        return Err(item.fault(key, message));
    }
    Ok(numbers.to_vec())
}

/// Check that outages are in the order of time, and return them.
fn outages(item: &Item<'_, LossSection>, down: &[Vec<Span>]) -> Result<Vec<[Span; 2]>, Fault> {
    let mut last = Span::ZERO;
    let mut outages = Vec::with_capacity(down.len());
    for times in down {
        let &[begin, end] = &times[..] else {
            return Err(item.fault("down", "must be pairs of times, as in [[\"1 s\", \"2 s\"]]"));
        };
        let message = format!("an outage from {begin} to {end} must end after it begins");
        item.ensure(begin < end, "down", &message)?;
        let message = format!(
            "an outage from {begin} begins before the one ahead of it ends, at {last}; list them in order"
        );
        item.ensure(begin >= last, "down", &message)?;
        last = end;
        outages.push([begin, end]);
    }
    Ok(outages)
}

/// Refuse numbers of cells on a link of packets, and of packets on a link of cells.
fn check_line(item: &Item<'_, LossSection>, line: &Line) -> Result<(), Fault> {
    let (key, wanted, carried) = match line.medium {
        Medium::Cells => ("packets", &item.it.packets, "cells"),
        Medium::Packets => ("cells", &item.it.cells, "packets"),
    };
    let message = format!("the link {:?} carries {carried}: write {carried} = […]", line.name);
    item.ensure(wanted.is_empty(), key, &message)
}
