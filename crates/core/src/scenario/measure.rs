//! Checks the additional figures of a report: whether the scenario can measure them.

use std::collections::BTreeMap;

use super::file::{FairSection, HeadSection, MeasureSection};
use super::model::{Fair, Flow, Line, Measures, NodeMemory, Scenario, States, Windows};
use crate::buffer::admission::{self, Admission};
use crate::buffer::context::Context;
use crate::buffer::pushout::PushOut;
use crate::language::item::Item;
use crate::language::spec::Nested;
use crate::language::tree::{self, Fault};
use crate::scheduler::Scheduler;
use crate::transport;
use crate::transport::tcp::congestion::Congestion;
use crate::units::Span;
use crate::units::ids::{FlowId, Id, IdVec, LineId, MemoryId};
use crate::words::nearest::{LISTED, listing, unknown};

/// Check the section `[measure]`.
pub(super) fn check(
    node: Option<&tree::Node>,
    head: &HeadSection,
    scenario: &Scenario,
) -> Result<Measures, Fault> {
    let Scenario { lines, flows, memories, .. } = scenario;
    let Some(node) = node else { return Ok(Measures::default()) };
    let item = Item::<MeasureSection>::read(node, "measure".to_string())?;
    let measures = Measures {
        throughput: windows(&item, head.duration - head.warmup)?,
        occupancy: ports(&item, "occupancy", &item.it.occupancy, lines)?,
        losses: ports(&item, "losses", &item.it.losses, lines)?,
        marks: ports(&item, "marks", &item.it.marks, lines)?,
        pauses: paused_ports(&item, scenario)?,
        sojourn: ports(&item, "sojourn", &item.it.sojourn, lines)?,
        memories: listed_memories(&item, memories)?,
        cwnd: tcp_flows(&item, flows)?,
        state: states(&item, lines, flows)?,
        transfers: item.it.transfers,
        meter: ports(&item, "meter", &item.it.meter, lines)?,
        delivery: item.it.delivery,
        reference: reference(&item, lines)?,
        fairness: fairness(&item, flows)?,
    };
    check_sampled(&item, "occupancy", &measures.occupancy, lines, head)?;
    check_sampled(&item, "meter", &measures.meter, lines, head)?;
    check_sampled(&item, "state", &measures.state.ports, lines, head)?;
    for (key, is_empty) in [
        ("losses", measures.losses.is_empty()),
        ("marks", measures.marks.is_empty()),
        ("pauses", measures.pauses.is_empty()),
        ("cwnd", measures.cwnd.is_empty()),
        ("memories", measures.memories.is_empty()),
        ("state", measures.state.flows.is_empty()),
    ] {
        check_few(&item, key, is_empty, head)?;
    }
    Ok(measures)
}

/// Return the memories that a list names; the name of a section stands for all memories that it describes.
pub(super) fn listed_memories(
    item: &Item<'_, MeasureSection>,
    memories: &IdVec<MemoryId, NodeMemory>,
) -> Result<Vec<MemoryId>, Fault> {
    let known = memories.iter().map(|memory| (memory.name.as_str(), memory.section()));
    listed(&item.it.memories, known).map_err(|name| {
        let names: Vec<&str> = memories.iter().map(|memory| memory.name.as_str()).collect();
        item.fault("memories", unknown("memory", name, &names))
    })
}

/// Refuse to report the measured rates of a policy that measures none. The policies of all ports have been checked
/// before.
pub(super) fn check_meter(
    node: Option<&tree::Node>,
    line: &Line,
    context: &Context<'_>,
) -> Result<(), Fault> {
    let has_meter = |spec: &admission::Spec| {
        spec.build(context)
            .is_ok_and(|mut policy| context.contracts.keys().all(|vc| policy.meter(vc).is_some()))
    };
    if has_meter(&line.port.admission) {
        return Ok(());
    }
    let others: Vec<&str> = admission::Spec::plain().filter(has_meter).map(|spec| spec.name()).collect();
    let name = line.port.admission.name();
    let message = format!(
        "{name:?} at the port {:?} has no meter; it can be read of: {}",
        line.name,
        others.join(", ")
    );
    Err(node.expect("a section asks for the meter").fault_along("measure", "meter", message))
}

/// Refuse to report the state of a port without state. The policies of all ports have been checked before.
pub(super) fn check_state(
    node: Option<&tree::Node>,
    line: &Line,
    context: &Context<'_>,
) -> Result<(), Fault> {
    let (admission, scheduler, pushout) = (&line.port.admission, &line.port.scheduler, &line.port.pushout);
    let is_kept = admission.build(context).is_ok_and(|policy| !policy.state().is_empty())
        || scheduler.build(context).is_ok_and(|policy| !policy.state().is_empty())
        || pushout
            .as_ref()
            .is_some_and(|spec| spec.build(context).is_ok_and(|policy| !policy.state().is_empty()));
    if is_kept || line.port.gates.credit.is_some() {
        return Ok(());
    }
    let message = format!(
        "the port {:?} keeps no state that can be read: neither its admission policy {:?} nor its scheduler {:?} has any; leave \
         the port out, or give it a policy that has, as \"codel\", or that names some in trace, as a \"program\"",
        line.name,
        admission.name(),
        scheduler.name()
    );
    Err(node.expect("a section asks for the state").fault_along("measure", "state", message))
}

/// Refuse to report samples of a port with an unlimited buffer, which is not sampled.
fn check_sampled(
    item: &Item<'_, MeasureSection>,
    key: &str,
    ports: &[LineId],
    lines: &IdVec<LineId, Line>,
    head: &HeadSection,
) -> Result<(), Fault> {
    check_few(item, key, ports.is_empty(), head)?;
    ports.iter().map(|&line| &lines[line]).try_for_each(|line| {
        let message =
            format!("the port {:?} must have a limited buffer to be sampled: give it a buffer", line.name);
        item.ensure(line.is_sampled(), key, &message)
    })
}

/// Refuse more samples than a curve needs.
fn check_few(
    item: &Item<'_, MeasureSection>,
    key: &str,
    is_empty: bool,
    head: &HeadSection,
) -> Result<(), Fault> {
    let measured = head.duration - head.warmup;
    let many =
        format!("more than {MOST_STEPS} samples in the measured time of {measured}: make \"sample\" longer");
    item.ensure(is_empty || measured.0 / head.sample.0 <= MOST_STEPS, key, &many)
}

/// Return the section `[measure]` from which these measures would be read.
pub(super) fn section(scenario: &Scenario) -> MeasureSection {
    let Scenario { measure: measures, lines, flows, memories, .. } = scenario;
    let names = |list: &[LineId]| list.iter().map(|&line| lines[line].name.clone()).collect();
    let fair = |fair: &Fair| Nested(FairSection { class: fair.class.clone(), share: fair.share });
    MeasureSection {
        window: measures.throughput.map(|windows| windows.window),
        step: measures.throughput.map(|windows| windows.step),
        occupancy: names(&measures.occupancy),
        losses: names(&measures.losses),
        marks: names(&measures.marks),
        pauses: names(&measures.pauses),
        sojourn: names(&measures.sojourn),
        memories: measures.memories.iter().map(|&memory| memories[memory].name.clone()).collect(),
        cwnd: measures.cwnd.iter().map(|&flow| flows[flow].name.clone()).collect(),
        state: {
            let flow = |&flow: &FlowId| flows[flow].name.clone();
            let ports: Vec<String> = names(&measures.state.ports);
            ports.into_iter().chain(measures.state.flows.iter().map(flow)).collect()
        },
        transfers: measures.transfers,
        meter: names(&measures.meter),
        delivery: measures.delivery,
        reference: measures.reference.map(|line| lines[line].name.clone()),
        fairness: measures.fairness.iter().flatten().map(fair).collect(),
    }
}

fn windows(item: &Item<'_, MeasureSection>, measured: Span) -> Result<Option<Windows>, Fault> {
    let MeasureSection { window, step, .. } = item.it;
    let Some(window) = window else {
        item.ensure(step.is_none(), "step", "there is no window that could move by a step")?;
        return Ok(None);
    };
    let step = step.unwrap_or(window);
    let inside = format!("a window lasts longer than 0 s and at most the measured time of {measured}");
    item.ensure(Span::ZERO < window && window <= measured, "window", &inside)?;
    let whole = format!("a window of {window} is no multiple of it");
    item.ensure(step > Span::ZERO && window.0.is_multiple_of(step.0), "step", &whole)?;
    let many = format!("more than {MOST_STEPS} steps in the measured time of {measured}");
    item.ensure(measured.0 / step.0 <= MOST_STEPS, "step", &many)?;
    Ok(Some(Windows { window, step }))
}

/// Greatest number of points of a curve.
const MOST_STEPS: u64 = 1_000_000;

/// Return the ports that a list names, by line or by class of lines.
fn ports(
    item: &Item<'_, MeasureSection>,
    key: &str,
    names: &[String],
    lines: &IdVec<LineId, Line>,
) -> Result<Vec<LineId>, Fault> {
    let known = lines.iter().map(|line| (line.name.as_str(), line.class.as_str()));
    listed(names, known).map_err(|name| item.fault(key, no_port(name, lines)))
}

/// Return the ports that the list `pauses` names and that a memory or a storm can pause; refuse a list without any.
fn paused_ports(item: &Item<'_, MeasureSection>, scenario: &Scenario) -> Result<Vec<LineId>, Fault> {
    let named = ports(item, "pauses", &item.it.pauses, &scenario.lines)?;
    let paused = scenario.stopped_lines();
    let found: Vec<LineId> = named.iter().copied().filter(|&line| paused[line]).collect();
    let names: Vec<&str> = item.it.pauses.iter().map(String::as_str).collect();
    let message = format!(
        "no port of {} can be paused: that takes a [[storm]], or a memory at the far end of its line and a class with \
         \"pause\" that comes over it",
        listing(&names, LISTED)
    );
    item.ensure(named.is_empty() || !found.is_empty(), "pauses", &message)?;
    Ok(found)
}

/// Return the TCP flows that a list names, by flow or by class; other transports have no congestion window.
fn tcp_flows(item: &Item<'_, MeasureSection>, flows: &IdVec<FlowId, Flow>) -> Result<Vec<FlowId>, Fault> {
    let known = flows.iter().map(|flow| (flow.name.as_str(), flow.class.as_str()));
    let found: Vec<FlowId> = listed(&item.it.cwnd, known).map_err(|name| {
        let names: Vec<&str> = flows.iter().map(|flow| flow.name.as_str()).collect();
        item.fault("cwnd", unknown("flow", name, &names))
    })?;
    found.iter().map(|&flow| &flows[flow]).try_for_each(|flow| {
        let message = format!("the flow {:?} has no congestion window: its transport is not TCP", flow.name);
        item.ensure(matches!(*flow.transport, transport::Spec::Tcp(_)), "cwnd", &message)
    })?;
    Ok(found)
}

/// Return the ports and TCP flows that the list `state` names, by name or by class.
fn states(
    item: &Item<'_, MeasureSection>,
    lines: &IdVec<LineId, Line>,
    flows: &IdVec<FlowId, Flow>,
) -> Result<States, Fault> {
    let known_ports = || lines.iter().map(|line| (line.name.as_str(), line.class.as_str()));
    let known_flows = || flows.iter().map(|flow| (flow.name.as_str(), flow.class.as_str()));
    let mut states = States::default();
    for name in item.it.state.chunks(1) {
        match (listed::<LineId>(name, known_ports()), listed::<FlowId>(name, known_flows())) {
            (Ok(ports), _) => states.ports.extend(ports),
            (Err(_), Ok(flows)) => states.flows.extend(flows),
            (Err(name), Err(_)) => {
                let names: Vec<&str> = known_ports().chain(known_flows()).map(|(name, _)| name).collect();
                return Err(item.fault("state", unknown("port or flow", name, &names)));
            }
        }
    }
    states.flows.iter().map(|&flow| &flows[flow]).try_for_each(|flow| {
        let message = format!("the flow {:?} has no congestion control: its transport is not TCP", flow.name);
        let transport::Spec::Tcp(params) = &*flow.transport else { return Err(item.fault("state", message)) };
        let message =
            format!("the congestion control of the flow {:?} keeps no state that can be read", flow.name);
        item.ensure(!params.congestion.start(params).state().is_empty(), "state", &message)
    })?;
    states.ports.sort_unstable();
    states.ports.dedup();
    states.flows.sort_unstable();
    states.flows.dedup();
    Ok(states)
}

/// Find the entries of a list among all names and classes; the error is the name that matches none of them.
pub(super) fn listed<'a, 'n, K: Id>(
    names: &'n [String],
    known: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<K>, &'n str> {
    let mut by_name: BTreeMap<&str, K> = BTreeMap::new();
    let mut by_class: BTreeMap<&str, Vec<K>> = BTreeMap::new();
    for (index, (name, class)) in known.enumerate() {
        by_name.insert(name, K::new(index));
        if !class.is_empty() {
            by_class.entry(class).or_default().push(K::new(index));
        }
    }
    let mut found = Vec::new();
    for name in names.iter().map(String::as_str) {
        match (by_name.get(name), by_class.get(name)) {
            (Some(entry), _) => found.push(*entry),
            (None, Some(entries)) => found.extend(entries),
            (None, None) => return Err(name),
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

pub(super) fn no_port(name: &str, lines: &IdVec<LineId, Line>) -> String {
    let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
    unknown("port", name, &names)
}

fn reference(item: &Item<'_, MeasureSection>, lines: &IdVec<LineId, Line>) -> Result<Option<LineId>, Fault> {
    let Some(name) = &item.it.reference else { return Ok(None) };
    let line = lines.position(|line| line.name == *name);
    line.map(Some).ok_or_else(|| item.fault("reference", no_port(name, lines)))
}

fn fairness(
    item: &Item<'_, MeasureSection>,
    flows: &IdVec<FlowId, Flow>,
) -> Result<Option<[Fair; 2]>, Fault> {
    let shares = &item.it.fairness;
    let pair = matches!(shares.len(), 0 | 2);
    item.ensure(pair, "fairness", &format!("two classes can be compared, not {}", shares.len()))?;
    for Nested(FairSection { class, share }) in shares {
        let mut classes: Vec<&str> = flows.iter().map(|flow| flow.class.as_str()).collect();
        classes.retain(|class| !class.is_empty());
        classes.sort_unstable();
        classes.dedup();
        if !classes.contains(&class.as_str()) {
            return Err(item.fault("fairness", unknown("class", class, &classes)));
        }
        let positive = share.is_finite() && *share > 0.0;
        item.ensure(positive, "fairness", &format!("a fair share is greater than 0, not {share}"))?;
    }
    let fair = |Nested(fair): &Nested<FairSection>| Fair { class: fair.class.clone(), share: fair.share };
    Ok(match &shares[..] {
        [one, other] => Some([fair(one), fair(other)]),
        _ => None,
    })
}
