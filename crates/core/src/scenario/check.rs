//! Checks a file and builds the scenario; later code needs no more checks.

use std::sync::Arc;

use super::backlog;
use super::classes;
use super::contract::{Passing, context, contracts, passing_circuits};
use super::credits;
use super::expand::{Asked, SectionedFile};
use super::file::{HeadSection, NodeSection};
use super::flows::{self, Choice};
use super::links::{self, check_delay};
use super::losses;
use super::measure;
use super::memories::{Memories, note_trims, queue_names};
use super::model::{
    Drawing, Flow, Line, Measures, NetworkNode, NodeKind, Origin, Routing, Scenario, Vc, Workload,
};
use super::pacing;
use super::ports::{self, Ports};
use super::reorders;
use super::round_trips::RoundTrips;
use super::spread;
use super::storms;
use super::warnings::Checked;
use crate::language::item::Item;
use crate::language::message::Refusal;
use crate::language::names::{NameIndex, name_fault};
use crate::language::set::Set;
use crate::language::spec::Nested;
use crate::language::tree::{self, Fault, Key, Value};
use crate::rng::NameKeys;
use crate::units::Span;
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId, NodeId};

impl Scenario {
    /// Return this scenario with another seed, and with the routes and transfers that this seed determines.
    pub fn with_seed(&self, seed: u64) -> Result<Scenario, Refusal> {
        let Some(origin) = self.origin.as_ref().filter(|_| seed != self.seed) else {
            return Ok(Scenario { seed, ..self.clone() });
        };
        let root = with_key(&origin.root, "seed", Value::Integer(seed.into()));
        let drawn = check(&root, &origin.sets, None).map_err(|fault| {
            let message = format!("with seed {seed}: {fault}");
            Refusal { message, ..Refusal::default() }
        })?;
        let Scenario { duration, warmup, engine, .. } = *self;
        Ok(Scenario { duration, warmup, engine, ..drawn.scenario })
    }
}

/// Return a table with another value under a key.
fn with_key(table: &tree::Node, name: &str, value: Value) -> tree::Node {
    let Value::Table(keys) = &table.value else { unreachable!("a scenario is a table") };
    let others = keys.iter().filter(|(key, _)| key.name != name).cloned();
    let key = Key { name: name.to_string(), place: table.place };
    let own = (key, tree::Node { value, place: table.place });
    tree::Node { value: Value::Table(others.chain([own]).collect()), place: table.place }
}

/// A checked network with its traffic, and the sections that determine it.
#[derive(Clone, Debug)]
pub(super) struct StoredNetwork {
    asked: Asked,
    wired: Wired,
}

/// Check a file and everything that it names; `known` stores the networks of earlier variations, if more will follow.
pub(super) fn check(
    root: &tree::Node,
    sets: &[Set],
    known: Option<&mut Vec<StoredNetwork>>,
) -> Result<Checked, Fault> {
    let file = SectionedFile::read(root)?;
    check_head(&file.head, root)?;
    let wired = match known {
        Some(known) => wired(&file, sets, known)?,
        None => Wired::new(&file, sets)?,
    };
    let is_drawn = wired.is_drawn(&file);
    let Wired { nodes, mut lines, flows, vcs, drawings, workload, choice, replaced } = wired;
    lines.iter_mut().for_each(|line| line.rate.settle(file.head.duration));
    let port = ports::overridden(file.port, sets, &nodes, &lines)?;
    let ports = Ports::read(port.as_deref(), &nodes, &lines)?;
    let memories = Memories::read(file.memory, file.queue)?;
    let round_trips = RoundTrips::new(&lines, &flows, &vcs);
    ports.install(&mut lines, &nodes, &memories, &round_trips)?;
    let head = file.head.clone();
    let line_keys = NameKeys::new(lines.iter().map(|line| &line.name));
    let circuit_keys = NameKeys::new(vcs.iter().map(Vc::directed_name));
    let mut scenario = Scenario {
        name: head.name,
        title: head.title,
        seed: head.seed,
        duration: head.duration,
        warmup: head.warmup,
        sample: head.sample,
        engine: head.engine,
        routing: file.routing(),
        flowlet_gap: flowlet_gap(&file, root)?,
        adaptation: file.adaptation.clone(),
        nodes,
        lines,
        line_keys,
        vcs,
        circuit_keys,
        flows,
        drawings,
        workload,
        memories: IdVec::default(),
        losses: Vec::new(),
        reorders: Vec::new(),
        storms: Vec::new(),
        measure: Measures::default(),
        sections: memories.sections(),
        origin: is_drawn.then(|| Arc::new(Origin { root: root.clone(), sets: sets.to_vec() })),
    };
    let intended = losses::check(file.loss, &scenario)?;
    spread::settle(&mut scenario, root, file.loss, &intended.outages)?; // first, since it decides which circuits pass a port
    pacing::check(&scenario, root)?;
    let passing = passing_circuits(&scenario);
    credits::settle(&mut scenario, &passing, &ports)?;
    scenario.memories = memories.settled(&scenario, &passing)?;
    note_trims(&mut scenario);
    credits::settle_buffers(&mut scenario, &passing, &ports)?; // before measures: which ports are sampled depends on the promised room
    (scenario.sections.losses, scenario.losses) = (intended.entries, intended.specs);
    let storms = storms::check(file.storm, &scenario)?;
    (scenario.sections.storms, scenario.storms) = (storms.entries, storms.specs);
    let reorders = reorders::check(file.reorder, &scenario)?;
    (scenario.sections.reorders, scenario.reorders) = (reorders.entries, reorders.specs);
    storms::settle_watchdogs(&mut scenario, &ports)?;
    scenario.measure = measure::check(file.measure, &file.head, &scenario)?;
    backlog::check(&scenario)?;
    classes::check(&scenario, &ports, &passing, &memories)?;
    check_ports(&scenario, &ports, &passing, file.measure)?;
    Ok(Checked { scenario, choice, replaced })
}

/// Refuse policies that cannot work at their ports, and figures in `measure` that the policy of a port does not have.
fn check_ports(
    scenario: &Scenario,
    ports: &Ports<'_>,
    passing: &Passing,
    measure: Option<&tree::Node>,
) -> Result<(), Fault> {
    for (index, line) in ports.of(&scenario.lines) {
        let contracts = contracts(scenario, line, passing.at(index));
        let context = context(scenario, line, &contracts);
        ports.check_policies(index, line, &context)?;
        if scenario.measure.meter.contains(&index) {
            measure::check_meter(measure, line, &context)?;
        }
        if scenario.measure.state.ports.contains(&index) {
            measure::check_state(measure, line, &context)?;
        }
    }
    Ok(())
}

/// A network and its traffic, before the sections of ports are applied.
#[derive(Clone, Debug)]
struct Wired {
    nodes: IdVec<NodeId, NetworkNode>,
    lines: IdVec<LineId, Line>,
    flows: IdVec<FlowId, Flow>,
    vcs: IdVec<CircuitId, Vc>,
    drawings: Vec<Drawing>,
    workload: Option<Workload>,
    choice: Option<Choice>,
    replaced: Vec<String>,
}

impl Wired {
    /// Return whether the network depends on the seed.
    fn is_drawn(&self, file: &SectionedFile<'_>) -> bool {
        file.routing() != Routing::First || !self.drawings.is_empty()
    }

    fn new(file: &SectionedFile<'_>, sets: &[Set]) -> Result<Wired, Fault> {
        let explicit = file.expand(sets)?;
        let (nodes, names) = nodes(&explicit.nodes, file.routing())?;
        let lines = links::check(&explicit.links, &nodes, &names, &file.adaptation)?;
        links::check_weights(&explicit.links, file.routing())?;
        drop((explicit.nodes, explicit.links)); // make room for the flows
        let queues = queue_names(file.queue);
        let traffic = flows::check(file, &explicit.flows, &nodes, &names, &lines, &queues)?;
        let flows::CheckedTraffic { flows, vcs, drawings, workload, choice, replaced } = traffic;
        Ok(Wired { nodes, lines, flows, vcs, drawings, workload, choice, replaced })
    }
}

/// Return the names of the hosts of a file, whose flows may be missing.
pub(super) fn hosts(root: &tree::Node) -> Result<Vec<String>, Fault> {
    let file = SectionedFile::read(root)?;
    let (nodes, _) = nodes(&file.expand(&[])?.nodes, file.routing())?;
    let hosts = nodes.into_iter().filter(|node| node.kind == NodeKind::Host);
    Ok(hosts.map(|host| host.name).collect())
}

/// The gap of E. Vanini, R. Pan, M. Alizadeh, P. Taheri and T. Edsall, "Let it flow" (NSDI 2017), section 3.
const FLOWLET_GAP: Span = Span::micros(500);

/// Number of networks that are stored: a sweep may return to the traffic of a few points earlier.
const MOST_KNOWN: usize = 4;

/// Find the file's network among the stored networks, or build it.
fn wired(file: &SectionedFile<'_>, sets: &[Set], known: &mut Vec<StoredNetwork>) -> Result<Wired, Fault> {
    if let Some(found) = known.iter().find(|known| file.asks(&known.asked, sets, known.wired.is_drawn(file)))
    {
        return Ok(found.wired.clone());
    }
    let wired = Wired::new(file, sets)?;
    known.truncate(MOST_KNOWN - 1);
    known.insert(0, StoredNetwork { asked: file.asked(sets), wired: wired.clone() });
    Ok(wired)
}

/// Return the longest gap of a flowlet, if flowlets choose routes.
fn flowlet_gap(file: &SectionedFile<'_>, root: &tree::Node) -> Result<Option<Span>, Fault> {
    let fault = |message: &str| Err(root.fault_along("", "flowlet_gap", message));
    match (file.routing(), file.head.flowlet_gap) {
        (Routing::EcmpFlowlet, Some(Span::ZERO)) => {
            fault("must be longer than 0 s; routing = \"ecmp-packet\" has every packet draw a route")
        }
        (Routing::EcmpFlowlet, gap) => Ok(Some(gap.unwrap_or(FLOWLET_GAP))),
        (_, Some(_)) => {
            fault("must be left out unless flowlets choose routes: set routing = \"ecmp-flowlet\"")
        }
        (_, None) => Ok(None),
    }
}

fn check_head(head: &HeadSection, root: &tree::Node) -> Result<(), Fault> {
    let fault = |key: &str, message: &str| Err(root.fault_along("", key, message));
    if head.duration == Span::ZERO {
        return fault("duration", "must be longer than 0 s");
    }
    if head.duration > backlog::LONGEST {
        return fault("duration", "must be at most 50 days");
    }
    if head.warmup >= head.duration {
        let message = format!("must be shorter than the duration of {}", head.duration);
        return fault("warmup", &message);
    }
    if head.sample == Span::ZERO {
        return fault("sample", "must be longer than 0 s");
    }
    match name_fault(&head.name) {
        Some(message) => fault("name", &message),
        None => Ok(()),
    }
}

fn nodes(entries: &[tree::Node], routing: Routing) -> Result<(IdVec<NodeId, NetworkNode>, NameIndex), Fault> {
    let mut names = NameIndex::default();
    let mut nodes = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let item = Item::<NodeSection>::entry(entry, "node", index)?;
        names.add(&item.it.name).map_err(|why| item.fault("name", why))?;
        check_delay(&item, "latency", item.it.latency)?;
        let empty = item.it.hash.as_ref().is_some_and(|Nested(hash)| hash.fields.is_empty());
        item.ensure(!empty, "hash.fields", "must name at least one of from, to and port")?;
        let useless = item.it.hash.is_some() && routing != Routing::Ecmp;
        item.ensure(
            !useless,
            "hash",
            "must stand beside routing = \"ecmp\", where nodes choose by a hash of flows",
        )?;
        let NodeSection { name, kind, latency, hash } = item.it;
        nodes.push(NetworkNode { name, kind, latency, hash: hash.map(|Nested(hash)| hash) });
    }
    Ok((nodes.into(), names))
}
