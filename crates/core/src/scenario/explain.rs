//! The canonical form of a scenario: every node, link, flow and port spelled out, nothing left to a template.

use serde_json::{Map, Value as Json};

use super::file::{self, Back, Head};
use super::measure;
use super::model::{self, Flow, Line, Measures, Scenario};
use crate::buffer::size::{BufferSize, Measure};
use crate::language::spec::{Field, Nested, Section};
use crate::units::Rate;

/// A scenario as an explicit JSON document, which [`load`](super::load) reads back to an equal scenario.
pub fn explain(scenario: &Scenario) -> Json {
    let mut keys = Map::new();
    let s = scenario;
    let (name, title) = (s.name.clone(), s.title.clone());
    let Scenario { seed, duration, warmup, sample, engine, .. } = *s;
    let head = Head { name, title, seed, duration, warmup, sample, engine };
    head.put(&mut keys);
    keys.insert("adaptation".to_string(), s.adaptation.write());
    keys.insert("node".to_string(), s.nodes.iter().map(node).collect());
    keys.insert("link".to_string(), links(s));
    keys.insert("port".to_string(), s.lines.iter().map(|line| (line.name.clone(), port(line))).collect());
    keys.insert("flow".to_string(), s.flows.iter().map(|spec| flow(s, spec)).collect());
    if s.measure != Measures::default() {
        keys.insert("measure".to_string(), table(&measure::section(&s.measure, &s.lines, &s.flows)));
    }
    keys.into()
}

fn table(section: &impl Section) -> Json {
    let mut keys = Map::new();
    section.put(&mut keys);
    keys.into()
}

fn node(node: &model::Node) -> Json {
    table(&file::Node { name: node.name.clone(), kind: node.kind, latency: node.latency })
}

/// One link for each line that is not the other direction of an earlier one.
fn links(scenario: &Scenario) -> Json {
    let first = |(index, line): &(usize, &Line)| line.back.is_none_or(|back| *index < back);
    scenario.lines.iter().enumerate().filter(first).map(|(_, line)| link(scenario, line)).collect()
}

fn link(scenario: &Scenario, line: &Line) -> Json {
    let node = |index: usize| scenario.nodes[index].name.clone();
    let back = line.back.map(|back| &scenario.lines[back]);
    table(&file::Link {
        name: Some(line.name.clone()),
        class: line.class.clone(),
        from: node(line.from),
        to: node(line.to),
        rate: line.rate,
        delay: line.delay,
        medium: Some(line.medium),
        pause: line.pause,
        duplex: back.is_some(),
        back: back.map(|back| Nested(Back { rate: Some(back.rate), delay: Some(back.delay) })),
    })
}

fn port(line: &Line) -> Json {
    let port = &line.port;
    let buffer = match (port.capacity.limit(), port.measure) {
        (None, _) => BufferSize::Unlimited,
        (Some(cells), Measure::Cells) => BufferSize::Cells(cells),
        (Some(bytes), Measure::Bytes) => BufferSize::Bytes(bytes),
        (Some(packets), Measure::Packets) => BufferSize::Packets(packets),
    };
    let model::Port { admission, pushout, scheduler, shaper, credit, .. } = port.clone();
    table(&file::Port {
        buffer,
        discipline: None,
        admission,
        pushout,
        scheduler,
        shaper: shaper.map(Nested),
        credit,
    })
}

/// A flow whose route names every node on its way.
fn flow(scenario: &Scenario, flow: &Flow) -> Json {
    let node = |index: usize| scenario.nodes[index].name.clone();
    let vc = &scenario.vcs[flow.vc];
    let passed = vc.path.iter().skip(1).map(|line| node(scenario.lines[*line].from));
    table(&file::Flow {
        name: flow.name.clone(),
        from: node(flow.from),
        to: node(flow.to),
        via: passed.collect(),
        source: flow.source.clone(),
        transport: flow.transport.clone(),
        start: flow.start,
        start_spread: flow.start_spread,
        mcr: (vc.mcr > Rate(0)).then_some(vc.mcr),
        weight: vc.weight,
        priority: vc.priority,
        police: flow.police.clone(),
        pvc: (vc.name != flow.name).then(|| vc.name.clone()),
        connections: None,
        class: flow.class.clone(),
        processing: flow.processing,
        processing_variation: flow.processing_variation,
    })
}
