//! From a file to the checked model: parse once, then no more checks.

use std::collections::BTreeMap;

use super::contract::{context, contracts, passing_circuits};
use super::credits;
use super::expand::{Asked, File};
use super::file;
use super::flows;
use super::item::Item;
use super::links;
use super::measure;
use super::model::{Flow, Line, Node, Scenario, Vc};
use super::ports::Ports;
use super::set::Set;
use super::spec::unknown;
use super::tree::{self, Fault};
use crate::units::Span;

/// A network and its traffic, with plain ports.
#[derive(Clone, Debug)]
struct Wired {
    nodes: Vec<Node>,
    lines: Vec<Line>,
    flows: Vec<Flow>,
    vcs: Vec<Vc>,
}

/// A network with its traffic, and what it was made of.
#[derive(Clone, Debug)]
pub(super) struct Known {
    asked: Asked,
    wired: Wired,
}

impl Wired {
    fn new(file: &File<'_>, sets: &[Set]) -> Result<Wired, Fault> {
        let explicit = file.expand(sets)?;
        let (nodes, names) = nodes(&explicit.nodes)?;
        let lines = links::check(&explicit.links, &nodes, &names, &file.adaptation)?;
        let (flows, vcs) = flows::check(&explicit.flows, &nodes, &names, &lines, &file.adaptation)?;
        Ok(Wired { nodes, lines, flows, vcs })
    }
}

/// So many networks are remembered: a sweep comes back to the traffic that it had a few points before.
const MOST_KNOWN: usize = 4;

/// What the file asks for, from among what is known or anew.
fn wired(file: &File<'_>, sets: &[Set], known: &mut Vec<Known>) -> Result<Wired, Fault> {
    if let Some(found) = known.iter().find(|known| file.asks(&known.asked, sets)) {
        return Ok(found.wired.clone());
    }
    let wired = Wired::new(file, sets)?;
    known.truncate(MOST_KNOWN - 1);
    known.insert(0, Known { asked: file.asked(sets), wired: wired.clone() });
    Ok(wired)
}

/// Check a file and everything that it names; `known` is what files before it had, if others will follow.
pub(super) fn check(
    root: &tree::Node,
    sets: &[Set],
    known: Option<&mut Vec<Known>>,
) -> Result<Scenario, Fault> {
    let file = File::read(root)?;
    check_head(&file.head, root)?;
    let wired = match known {
        Some(known) => wired(&file, sets, known)?,
        None => Wired::new(&file, sets)?,
    };
    let Wired { nodes, mut lines, flows, vcs } = wired;
    let ports = Ports::read(file.port, &nodes, &lines)?;
    ports.install(&mut lines)?;
    let measure = measure::check(file.measure, &file.head, &lines, &flows)?;
    let head = file.head;
    let mut scenario = Scenario {
        name: head.name,
        title: head.title,
        seed: head.seed,
        duration: head.duration,
        warmup: head.warmup,
        sample: head.sample,
        engine: head.engine,
        adaptation: file.adaptation,
        nodes,
        lines,
        vcs,
        flows,
        measure,
    };
    credits::settle(&mut scenario, &ports)?;
    let passing = passing_circuits(&scenario);
    for (index, line) in ports.of(&scenario.lines) {
        let contracts = contracts(&scenario, line, &passing[index]);
        ports.check_policies(index, line, &context(&scenario, line, &contracts))?;
    }
    Ok(scenario)
}

fn check_head(head: &file::Head, root: &tree::Node) -> Result<(), Fault> {
    let fault = |key: &str, message: &str| Err(root.fault_along("", key, message));
    if head.duration == Span::ZERO {
        return fault("duration", "nothing happens in no time: it must be longer than 0 s");
    }
    if head.warmup >= head.duration {
        let message =
            format!("nothing is left to measure: it must end before the duration of {}", head.duration);
        return fault("warmup", &message);
    }
    if head.sample == Span::ZERO {
        return fault("sample", "samples without time between them never end: it must be longer than 0 s");
    }
    match name_fault(&head.name) {
        Some(message) => fault("name", &message),
        None => Ok(()),
    }
}

/// What is wrong with a name, if anything.
pub(super) fn name_fault(name: &str) -> Option<String> {
    let fits = (1..=100).contains(&name.chars().count());
    let odd = name.chars().any(|c| c.is_control() || matches!(c, '"' | '\''));
    (!fits || odd)
        .then(|| "a name has 1 to 100 characters, without quotes and control characters".to_string())
}

/// Names of one kind and the positions of what has them.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_name: BTreeMap<String, usize>,
    in_order: Vec<String>,
}

impl Names {
    /// One more name, or what is wrong with it.
    pub(super) fn add(&mut self, name: &str) -> Result<(), String> {
        if let Some(message) = name_fault(name) {
            return Err(message);
        }
        if self.by_name.insert(name.to_string(), self.in_order.len()).is_some() {
            return Err(format!("the name {name:?} is given twice"));
        }
        self.in_order.push(name.to_string());
        Ok(())
    }

    /// The position of a name, or a message with the nearest one.
    pub(super) fn find(&self, what: &str, name: &str) -> Result<usize, String> {
        self.by_name.get(name).copied().ok_or_else(|| {
            let allowed: Vec<&str> = self.in_order.iter().map(String::as_str).collect();
            unknown(what, name, &allowed)
        })
    }
}

fn nodes(entries: &[tree::Node]) -> Result<(Vec<Node>, Names), Fault> {
    let mut names = Names::default();
    let mut nodes = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let item = Item::<file::Node>::entry(entry, "node", index)?;
        names.add(&item.it.name).map_err(|why| item.fault("name", why))?;
        nodes.push(Node { name: item.it.name, kind: item.it.kind, latency: item.it.latency });
    }
    Ok((nodes, names))
}
