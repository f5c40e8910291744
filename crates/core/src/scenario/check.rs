//! From a file to the checked model: parse once, then no more checks.

use std::collections::BTreeMap;

use super::adaptation;
use super::contract::{context, contracts, passing_circuits};
use super::expand::File;
use super::file;
use super::flows;
use super::item::Item;
use super::model::{Line, Medium, Node, NodeKind, Scenario};
use super::ports::Ports;
use super::set::Set;
use super::spec::{Field, unknown};
use super::tree::{self, Fault, arrow};
use crate::units::{Rate, Span};

/// Check a file and everything that it names.
pub(super) fn check(root: &tree::Node, sets: &[Set]) -> Result<Scenario, Fault> {
    let file = File::read(root)?;
    check_head(&file.head, root)?;
    let explicit = file.expand(sets)?;
    let (nodes, names) = nodes(&explicit.nodes)?;
    let mut lines = lines(&explicit.links, &nodes, &names, &file.adaptation)?;
    let ports = Ports::read(file.port, &nodes, &lines)?;
    ports.install(&mut lines)?;
    let (flows, vcs) = flows::check(&explicit.flows, &nodes, &names, &lines, &file.adaptation)?;
    let head = file.head;
    let scenario = Scenario {
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
    };
    let passing = passing_circuits(&scenario);
    for (index, line) in scenario.lines.iter().enumerate() {
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
fn name_fault(name: &str) -> Option<String> {
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

fn lines(
    entries: &[tree::Node],
    nodes: &[Node],
    node_names: &Names,
    adaptation: &adaptation::Spec,
) -> Result<Vec<Line>, Fault> {
    let mut names = Names::default();
    let mut lines = Vec::with_capacity(2 * entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let item = Item::<file::Link>::entry(entry, "link", index)?;
        let both = link(&item, nodes, node_names, adaptation, lines.len())?;
        for line in &both {
            let more = if item.it.name.is_none() { "; give this link a name of its own" } else { "" };
            names.add(&line.name).map_err(|why| item.fault("name", why + more))?;
        }
        lines.extend(both);
    }
    Ok(lines)
}

/// The lines of one link, of which the first has number `first`.
fn link(
    item: &Item<'_, file::Link>,
    nodes: &[Node],
    names: &Names,
    adaptation: &adaptation::Spec,
    first: usize,
) -> Result<Vec<Line>, Fault> {
    let link = &item.it;
    let end = |key, name: &str| names.find("node", name).map_err(|why| item.fault(key, why));
    let (from, to) = (end("from", &link.from)?, end("to", &link.to)?);
    item.ensure(from != to, "to", "a link leads to another node, not back to its own")?;
    let default = match adaptation {
        adaptation::Spec::Aal5(_) => Medium::Cells,
        adaptation::Spec::Packet(_) => Medium::Packets,
    };
    let medium = link.medium.unwrap_or(default);
    [from, to].into_iter().try_for_each(|end| check_medium(item, &nodes[end], medium))?;
    let name = link.name.clone().unwrap_or_else(|| arrow(&link.from, &link.to));
    let reserved = "\"default\" stands for all ports without a section of their own; choose another name";
    item.ensure(name != "default", "name", reserved)?;
    item.ensure(link.class != "default", "class", reserved)?;
    item.ensure(
        link.duplex || link.back.is_none(),
        "back",
        "a link with duplex = false has no other direction",
    )?;
    let line = |name, class, from, to, rate, delay, back| Line {
        name,
        class,
        from,
        to,
        rate,
        delay,
        medium,
        back,
        port: Ports::plain(medium),
    };
    let reverse = link.duplex.then_some(first + 1);
    let mut lines = vec![line(
        name.clone(),
        link.class.clone(),
        from,
        to,
        rate(item, "rate", link.rate)?,
        link.delay,
        reverse,
    )];
    if link.duplex {
        let back = link.back.as_ref().map(|back| &back.0);
        let back_rate = back.and_then(|back| back.rate).unwrap_or(link.rate);
        let delay = back.and_then(|back| back.delay).unwrap_or(link.delay);
        let name = if name == arrow(&link.from, &link.to) {
            arrow(&link.to, &link.from)
        } else {
            format!("{name}.back")
        };
        let class = if link.class.is_empty() { String::new() } else { format!("{}.back", link.class) };
        lines.push(line(name, class, to, from, rate(item, "back.rate", back_rate)?, delay, Some(first)));
    }
    Ok(lines)
}

/// The fastest line: a cell still lasts four picoseconds.
pub(super) const FASTEST: Rate = Rate(100_000_000_000_000);

fn rate(item: &Item<'_, file::Link>, key: &str, rate: Rate) -> Result<Rate, Fault> {
    item.ensure(rate > Rate(0), key, "a rate of zero never sends anything")?;
    item.ensure(rate <= FASTEST, key, "a line has at most 100 Tb/s")?;
    Ok(rate)
}

/// Switches forward cells, routers packets; hosts do with both.
fn check_medium(item: &Item<'_, file::Link>, node: &Node, medium: Medium) -> Result<(), Fault> {
    let (forwards, other) = match (node.kind, medium) {
        (NodeKind::Switch, Medium::Packets) => ("cells", "router"),
        (NodeKind::Router, Medium::Cells) => ("packets", "switch"),
        _ => return Ok(()),
    };
    let carries = medium.write();
    Err(item.fault(
        "medium",
        format!(
            "this link carries {}, but {:?} is a {} and forwards {forwards}; make it a {other}, or set medium = {forwards:?}",
            carries.as_str().unwrap_or_default(),
            node.name,
            node.kind.write().as_str().unwrap_or_default(),
        ),
    ))
}
