//! The canonical form of a scenario: every node, link, flow and port written out, without a template.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::file::{BackSection, FlowSection, HeadSection, LinkSection, NodeSection, OWN_KEYS, PortSection};
use super::headroom;
use super::listed;
use super::measure;
use super::model::{self, Flow, Line, Measures, MemoryQueue, NodeMemory, Routing, Scenario, Workload};
use crate::buffer::capacity::Capacity;
use crate::buffer::pool::Pool;
use crate::buffer::size::{BufferSize, Measure, PortBuffer};
use crate::language::spec::{Field, Nested, Section};
use crate::link::gate::repeat;
use crate::memory::sharing::{self, Sharing};
use crate::memory::{QueueLimits, ThresholdCheck};
use crate::units::ids::{FlowId, LineId, NodeId};
use crate::units::{Bytes, PartsPerMillion, Quantity, Rate};
use crate::workload::rows;

/// Return a scenario as an explicit JSON document, which [`load`](super::load) reads back to an equal scenario.
pub fn explain(scenario: &Scenario) -> Json {
    let mut keys = Map::new();
    let s = scenario;
    let (name, title) = (s.name.clone(), s.title.clone());
    let Scenario { seed, duration, warmup, sample, engine, routing, .. } = *s;
    let (routing, flowlet_gap) = (Some(routing), s.flowlet_gap);
    let head = HeadSection { name, title, seed, duration, warmup, sample, routing, flowlet_gap, engine };
    head.put(&mut keys);
    keys.insert("adaptation".to_string(), s.adaptation.write());
    keys.insert("node".to_string(), s.nodes.iter().map(node).collect());
    keys.insert("link".to_string(), links(s));
    keys.insert("port".to_string(), s.lines.iter().map(|line| (line.name.clone(), port(line))).collect());
    for (name, sections) in [("memory", s.sections.memories.write()), ("queue", s.sections.queues.write())] {
        if sections.as_object().is_some_and(|sections| !sections.is_empty()) {
            keys.insert(name.to_string(), sections);
        }
    }
    if let Some(workload) = &s.workload {
        keys.insert("workload".to_string(), json!({ "kind": "list", "data": rows(s, workload) }));
        keys.insert("flows".to_string(), defaults(workload));
    }
    keys.insert("flow".to_string(), flows(s));
    if !s.sections.losses.is_empty() {
        keys.insert("loss".to_string(), s.sections.losses.iter().map(table).collect());
    }
    if !s.sections.reorders.is_empty() {
        keys.insert("reorder".to_string(), s.sections.reorders.iter().map(table).collect());
    }
    if !s.sections.storms.is_empty() {
        keys.insert("storm".to_string(), s.sections.storms.iter().map(table).collect());
    }
    if s.measure != Measures::default() {
        keys.insert("measure".to_string(), table(&measure::section(s)));
    }
    keys.into()
}

/// List the room that the queues of shared memories may use: for every class of a pool the threshold with the pool's
/// shared room empty, half full and full, and, if the class can pause its links, the headroom that they need.
pub fn thresholds(scenario: &Scenario) -> Vec<String> {
    let of_memory = |spec: &NodeMemory| {
        let mut listed = BTreeSet::new();
        let queues = spec.queues.iter().filter(|queue| listed.insert((queue.pool, queue.class.as_str())));
        queues.map(|queue| threshold(scenario, spec, queue)).collect::<Vec<String>>()
    };
    scenario.memories.iter().flat_map(of_memory).chain(headroom::sentences(scenario)).collect()
}

fn threshold(scenario: &Scenario, spec: &NodeMemory, queue: &MemoryQueue) -> String {
    let pool = &spec.pools[queue.pool];
    let scheme = spec.scheme(pool, scenario).expect("a checked scenario can be built");
    let QueueLimits { reserved, limit, .. } = queue.limits;
    let at = |used: u64| {
        let mut books = Pool::new(Capacity::limited(pool.shared), pool.terms.len());
        books.add(queue.number, used);
        scheme.threshold(&books, queue.number).min(limit.unwrap_or(pool.shared).min(pool.shared) as f64)
    };
    let (class, shared) = (&queue.class, pool.shared);
    let asked = match &spec.sharing {
        sharing::Spec::Program(program) => format!(", unless the program {:?} refuses it", program.name),
        _ => String::new(),
    };
    format!(
        "memory {:?}, pool {:?}, class {class:?}: reserved {reserved} cells, then shared up to a threshold of {} cells with \
         the {shared} shared cells empty, {} half full, {} full (a queue alone holds at most {}){asked}; headroom {} cells",
        spec.name,
        pool.name,
        at(0),
        at(shared / 2),
        at(shared),
        reserved + alone(spec.check, shared, at),
        pool.headroom,
    )
}

/// Return the shared room that a queue can take while no other queue holds any: packets of one cell are accepted
/// until the threshold at the occupancy so reached blocks them.
fn alone(check: ThresholdCheck, shared: u64, threshold: impl Fn(u64) -> f64) -> u64 {
    let (mut least, mut most) = (0, shared);
    while least < most {
        let held = u64::midpoint(least, most);
        let is_blocked = !check.allows(held, 1, threshold(held));
        (least, most) = if is_blocked { (least, held) } else { (held + 1, most) };
    }
    least
}

fn table(section: &impl Section) -> Json {
    let mut keys = Map::new();
    section.put(&mut keys);
    keys.into()
}

fn node(node: &model::NetworkNode) -> Json {
    let hash = node.hash.clone().map(Nested);
    table(&NodeSection { name: node.name.clone(), kind: node.kind, latency: node.latency, hash })
}

/// List the links: one for each line that is not the other direction of an earlier line.
fn links(scenario: &Scenario) -> Json {
    let first = |(index, line): &(LineId, &Line)| line.back.is_none_or(|back| *index < back);
    scenario.lines.pairs().filter(first).map(|(_, line)| link(scenario, line)).collect()
}

fn link(scenario: &Scenario, line: &Line) -> Json {
    let node = |index: NodeId| scenario.nodes[index].name.clone();
    let back = line.back.map(|back| &scenario.lines[back]);
    table(&LinkSection {
        name: Some(line.name.clone()),
        class: line.class.clone(),
        from: node(line.from),
        to: node(line.to),
        rate: line.rate.clone(),
        delay: line.delay.clone(),
        repeat: line.repeat.as_deref().cloned().map(Nested),
        medium: Some(line.medium),
        pause: line.rest,
        weight: line.weight,
        minimum: (line.minimum > 0).then_some(Bytes(line.minimum.into())),
        duplex: back.is_some(),
        back: back.map(|back| Nested(of_back(line, back))),
    })
}

/// Return what differs in the other direction; a share of 0 % says that only the first one repeats packets.
fn of_back(line: &Line, back: &Line) -> BackSection {
    let none =
        || Some(repeat::Params { share: PartsPerMillion(0), ..repeat::Params::clone(line.repeat.as_ref()?) });
    let repeat = back.repeat.as_deref().cloned().or_else(none).map(Nested);
    BackSection { rate: Some(back.rate.clone()), delay: Some(back.delay.clone()), repeat }
}

fn port(line: &Line) -> Json {
    let port = &line.port;
    let buffer = match (port.capacity.limit(), port.measure) {
        (None, _) => BufferSize::Unlimited,
        _ if port.memory.is_some() => BufferSize::Unlimited,
        (Some(cells), Measure::Cells) => BufferSize::Cells(cells),
        (Some(bytes), Measure::Bytes) => BufferSize::Bytes(bytes),
        (Some(packets), Measure::Packets) => BufferSize::Packets(packets),
        (Some(cells), Measure::MemoryCells(cell)) => BufferSize::MemoryCells(cells, cell.octets),
    };
    let model::Port { memory, admission, pushout, scheduler, gates, .. } = (**port).clone();
    let buffer = PortBuffer::Size(buffer);
    table(&PortSection { buffer, memory, discipline: None, admission, pushout, scheduler, gates })
}

/// List the flows; a flow that draws transfers is listed instead of its transfers, and those of a workload are not listed.
fn flows(scenario: &Scenario) -> Json {
    let (mut entries, mut next) = (Vec::new(), 0);
    for drawing in &scenario.drawings {
        entries.extend(
            scenario.flows.as_slice()[next..drawing.flows.start].iter().map(|spec| flow(scenario, spec)),
        );
        entries.push(table(&drawing.asked));
        next = drawing.flows.end;
    }
    let end = scenario.workload.as_ref().map_or(scenario.flows.len(), |workload| workload.flows.start);
    entries.extend(scenario.flows.as_slice()[next..end].iter().map(|spec| flow(scenario, spec)));
    entries.into()
}

/// List the transfers of a workload as rows, with all their columns.
fn rows(scenario: &Scenario, workload: &Workload) -> String {
    let name = |number: usize| &*scenario.flows[FlowId::new(workload.flows.start + number)].name;
    let mut after = vec![Vec::new(); workload.flows.len()];
    if let Some(order) = &workload.order {
        for number in 0..workload.flows.len() {
            order.next(number).iter().for_each(|&next| after[next as usize].push(name(number)));
        }
    }
    let mut text = rows::COLUMNS.join(",") + "\n";
    for (flow, after) in scenario.flows.as_slice()[workload.flows.clone()].iter().zip(after) {
        let (from, to) = (&scenario.nodes[flow.from].name, &scenario.nodes[flow.to].name);
        let octets = flow.transfer.map_or(0, |transfer| transfer.octets).to_string();
        let queue = scenario.sections.queues.0.get(scenario.vcs[flow.vc].queue).map_or("", |(name, _)| name);
        let fields =
            [from, to, &octets, &flow.start.show(), &flow.name, queue, &flow.class, &after.join(";")];
        text += &(fields.map(rows::field).join(",") + "\n");
    }
    text
}

/// Return what the transfers of a workload have in common, as defaults of flows.
fn defaults(workload: &Workload) -> Json {
    let mut keys = Map::new();
    workload.asked.put(&mut keys);
    keys.retain(|key, _| !OWN_KEYS.contains(&key.as_str()) && !listed::GIVEN.contains(&key.as_str()));
    keys.into()
}

/// Return a flow whose route names every node, unless the run may choose other routes for it.
fn flow(scenario: &Scenario, flow: &Flow) -> Json {
    let node = |index: NodeId| scenario.nodes[index].name.clone();
    let vc = &scenario.vcs[flow.vc];
    let passed = vc.path.iter().skip(1).map(|line| scenario.lines[*line].from);
    let is_rerouted = scenario.sections.losses.iter().any(|loss| loss.reroute_after.is_some());
    let via: Vec<NodeId> = match scenario.routing {
        Routing::First if !is_rerouted => passed.collect(),
        _ => flow.via.clone(),
    };
    table(&FlowSection {
        name: flow.name.clone(),
        from: node(flow.from),
        to: node(flow.to),
        via: via.into_iter().map(node).collect(),
        source: flow.source.as_ref().clone(),
        transport: flow.transport.as_ref().clone(),
        start: flow.start,
        start_spread: flow.start_spread,
        stop: flow.stop,
        mcr: (vc.mcr > Rate(0)).then_some(vc.mcr),
        weight: vc.weight,
        priority: vc.priority,
        queue: scenario.sections.queues.0.get(vc.queue).map(|(name, _)| name.clone()),
        police: flow.police.as_deref().cloned(),
        pvc: (vc.name != flow.name).then(|| vc.name.clone()),
        connections: None,
        class: flow.class.clone(),
        processing: flow.processing,
        processing_variation: flow.processing_variation,
    })
}
