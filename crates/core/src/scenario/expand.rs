//! Expands a file to its explicit form: the nodes, links and flows of the template and of the file, each flow with
//! the defaults of `[flows]`.

use std::collections::{BTreeMap, BTreeSet};

use super::file::{FlowSection, HeadSection, OWN_KEYS};
use super::model::{NodeKind, Routing};
use super::topology::{self, NetworkSections, Template, TemplateFlows};
use crate::adaptation;
use crate::excerpt::quoted;
use crate::language::item::Item;
use crate::language::merge::{merge, replaced};
use crate::language::set::Set;
use crate::language::spec::{Field, Section, Table, nested_keys, unknown_key};
use crate::language::tree::{Fault, Key, Node, Value, join};
use crate::refused::Refused;
use crate::source::replay;
use crate::transport::tcp;
use crate::units::{Quantity, Span};
use crate::words::nearest::unknown;
use crate::workload::list;

/// Inputs of the random choices before the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Chance {
    /// The seed of the run.
    pub seed: u64,
    /// The length of the run; no transfer starts later.
    pub duration: Span,
    /// Choice among equally short routes.
    pub routing: Routing,
}

/// A scenario file, read section by section as far as possible.
#[derive(Debug)]
pub(super) struct SectionedFile<'a> {
    /// The keys at the top of the file.
    pub head: HeadSection,
    /// Adaptation of packets.
    pub adaptation: adaptation::Spec,
    /// The table of ports.
    pub port: Option<&'a Node>,
    /// The table of memories that ports share.
    pub memory: Option<&'a Node>,
    /// The table of classes of traffic.
    pub queue: Option<&'a Node>,
    /// The list of losses by intent.
    pub loss: Option<&'a Node>,
    /// The list of reordering by intent.
    pub reorder: Option<&'a Node>,
    /// The list of pauses from outside.
    pub storm: Option<&'a Node>,
    /// The section of measures.
    pub measure: Option<&'a Node>,
    /// The section of the workload.
    pub workload: Option<&'a Node>,
    /// The table of texts of files: rows of a workload, sizes, and rates of lines.
    pub rows: Option<&'a Node>,
    /// The defaults of flows.
    pub flows: Option<&'a Node>,
    pub(super) topology: Option<(topology::Spec, &'a Node)>,
    recording: Option<&'a Node>,
    node: Option<&'a Node>,
    link: Option<&'a Node>,
    flow: Option<&'a Node>,
}

/// The entries of `[[node]]`, `[[link]]` and `[[flow]]`, together with those of the template.
#[derive(Debug)]
pub(super) struct Explicit {
    /// Nodes.
    pub nodes: Vec<Node>,
    /// Links.
    pub links: Vec<Node>,
    /// Flows, without the defaults of `[flows]`.
    pub flows: Vec<Node>,
}

/// The sections that determine nodes, links and flows.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    sections: Vec<Option<Node>>,
    adaptation: adaptation::Spec,
    sets: Vec<Set>,
    chance: Chance,
}

impl<'a> SectionedFile<'a> {
    /// Return the sections that determine nodes, links and flows.
    pub(super) fn asked(&self, sets: &[Set]) -> Asked {
        let sections = self.sections().map(|section| section.cloned()).to_vec();
        let sets = sets.iter().filter(|set| set.concerns_an_entry()).cloned().collect();
        Asked { sections, adaptation: self.adaptation.clone(), sets, chance: self.chance() }
    }

    /// Return the choice among equally short routes.
    pub(super) fn routing(&self) -> Routing {
        let by_template = || self.topology.as_ref().map(|(topology, _)| topology.routing());
        self.head.routing.or_else(by_template).unwrap_or(Routing::First)
    }

    /// Return the inputs of the random choices before the run.
    pub(super) fn chance(&self) -> Chance {
        Chance { seed: self.head.seed, duration: self.head.duration, routing: self.routing() }
    }

    /// Return whether the sections and overrides that determine the network are those of `asked`; with `is_drawn`,
    /// also whether the inputs of random choices are equal.
    pub(super) fn asks(&self, asked: &Asked, sets: &[Set], is_drawn: bool) -> bool {
        let sections = self.sections().into_iter().eq(asked.sections.iter().map(Option::as_ref));
        let sets = || sets.iter().filter(|set| set.concerns_an_entry());
        let same_chance =
            self.routing() == asked.chance.routing && (!is_drawn || self.chance() == asked.chance);
        sections && self.adaptation == asked.adaptation && same_chance && sets().eq(&asked.sets)
    }

    fn sections(&self) -> [Option<&'a Node>; 9] {
        let topology = self.topology.as_ref().map(|(_, node)| *node);
        let SectionedFile { recording, flows, node, link, flow, workload, rows, queue, .. } = *self;
        [topology, recording, flows, node, link, flow, workload, rows, queue]
    }

    /// Read the sections of a file.
    pub(super) fn read(root: &'a Node) -> Result<SectionedFile<'a>, Fault> {
        let mut table = Table::new(root, "")?;
        let head = HeadSection::take(&mut table)?;
        let topology = match table.take("topology") {
            Some(node) => Some((topology::Spec::read(node, "topology")?, node)),
            None => None,
        };
        let adaptation = match table.take("adaptation") {
            Some(node) => adaptation_of(node)?,
            None => adaptation::Spec::default(),
        };
        let port = table.take("port");
        let (memory, queue) = (table.take("memory"), table.take("queue"));
        let (flows, node) = (table.take("flows"), table.take("node"));
        let (link, flow) = (table.take("link"), table.take("flow"));
        let workload = table.take("workload");
        let (loss, reorder) = (table.take("loss"), table.take("reorder"));
        let (storm, measure) = (table.take("storm"), table.take("measure"));
        let (recording, rows) = (table.take(replay::Params::TABLE), table.take(list::Params::TABLE));
        table.finish()?;
        Ok(SectionedFile {
            head,
            adaptation,
            port,
            memory,
            queue,
            loss,
            reorder,
            storm,
            measure,
            workload,
            rows,
            topology,
            recording,
            flows,
            node,
            link,
            flow,
        })
    }

    /// Return the explicit form, after the overrides of single entries.
    pub(super) fn expand(&self, sets: &[Set]) -> Result<Explicit, Fault> {
        self.check_defaults()?;
        let network = self.network()?;
        let mut explicit = Node {
            place: Default::default(),
            value: Value::Table(vec![
                list("node", absorb("node", network.nodes, self.node)?),
                list("link", absorb("link", network.links, self.link)?),
                list("flow", absorb("flow", network.flows, self.flow)?),
            ]),
        };
        sets.iter().filter(|set| set.concerns_an_entry()).try_for_each(|set| set.apply(&mut explicit))?;
        let [nodes, mut links, flows] =
            ["node", "link", "flow"].map(|name| take_entries(&mut explicit, name));
        self.set_rates(&mut links, &flows)?;
        self.add_traces(&mut links);
        Ok(Explicit { nodes, links, flows })
    }

    /// Complete the entries of flows with the defaults of `[flows]`, and pass each flow with its number to the
    /// caller: one by one, since all flows together can fill the memory.
    pub(super) fn each_flow(
        &self,
        entries: &[Node],
        mut take: impl FnMut(&Node, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut count = 0;
        for (index, entry) in entries.iter().enumerate() {
            for flow in multiply(self.with_defaults(entry, index)?)? {
                if count == MOST_FLOWS {
                    let path = entry.label().map_or_else(|| "flow".to_string(), |label| join("flow", &label));
                    let message = format!("there are more than {MOST_FLOWS} flows, connections counted");
                    return Err(entry.along("connections").fault(&path, message));
                }
                take(&flow, count)?;
                count += 1;
            }
        }
        Ok(())
    }

    /// Give links the rates that the template derives from the traffic on them.
    fn set_rates(&self, links: &mut [Node], flows: &[Node]) -> Result<(), Fault> {
        let Some((topology, place)) = &self.topology else { return Ok(()) };
        let mut lacking = links.iter_mut().filter(|link| link.get("rate").is_none()).peekable();
        if lacking.peek().is_none() {
            return Ok(());
        }
        let mut starting: BTreeMap<String, Vec<FlowSection>> = BTreeMap::new();
        self.each_flow(flows, |flow, index| {
            let flow = Item::<FlowSection>::entry(flow, "flow", index)?.it;
            starting.entry(flow.from.clone()).or_default().push(flow);
            Ok(())
        })?;
        for link in lacking {
            let text = |key| link.get(key).and_then(Node::text).unwrap_or_default();
            let here = starting.get(text("from")).map_or(&[][..], Vec::as_slice);
            let rate = topology.rate(text("class"), here, &self.adaptation);
            let rate = rate.map_err(|refused| fault(place, "topology", "template", refused))?;
            if let (Some(rate), Value::Table(keys)) = (rate, &mut link.value) {
                let place = link.place;
                keys.push((
                    Key { name: "rate".to_string(), place },
                    Node { value: Value::Text(rate.show()), place },
                ));
            }
        }
        Ok(())
    }

    fn network(&self) -> Result<NetworkSections, Fault> {
        let relay = match self.adaptation {
            adaptation::Spec::Aal5(_) => NodeKind::Switch,
            adaptation::Spec::Packet(_) => NodeKind::Router,
        };
        let place = self.topology.as_ref().map(|(_, node)| node.place).unwrap_or_default();
        let mut network = NetworkSections::new(relay, place);
        if let Some((topology, node)) = &self.topology {
            topology.expand(&mut network).map_err(|refused| fault(node, "topology", "template", refused))?;
        }
        let are_left_out = |(topology, _): &(topology::Spec, &Node)| topology.flows() == TemplateFlows::None;
        if self.workload.is_some() || self.topology.as_ref().is_some_and(are_left_out) {
            network.flows.clear();
        }
        Ok(network)
    }

    /// Refuse keys that cannot have a default.
    fn check_defaults(&self) -> Result<(), Fault> {
        let Some(defaults) = self.flows else { return Ok(()) };
        let Value::Table(keys) = &defaults.value else {
            let message =
                format!("must be a table of keys, not {}: list flows under [[flow]]", defaults.show());
            return Err(defaults.fault("flows", message));
        };
        let allowed: Vec<&str> =
            FlowSection::KEYS.iter().filter(|name| !OWN_KEYS.contains(name)).copied().collect();
        match keys.iter().find(|(key, _)| !allowed.contains(&key.name.as_str())) {
            None => Ok(()),
            Some((key, _)) => {
                let message = unknown_key(&key.name, &allowed, nested_keys::<FlowSection>);
                let path = join("flows", &key.name);
                Err(Fault { place: key.place, path, message })
            }
        }
    }

    /// Return a flow with the defaults of `[flows]`.
    pub(super) fn with_defaults(&self, flow: &Node, index: usize) -> Result<Node, Fault> {
        let merged = self.flows.map_or_else(|| flow.clone(), |defaults| merge(defaults, flow));
        for key in ["source", "transport"] {
            if matches!(merged.value, Value::Table(_)) && merged.get(key).is_none() {
                let path =
                    flow.label().map_or_else(|| format!("flow[{index}]"), |label| join("flow", &label));
                let is_of_template = self.topology.as_ref().is_some_and(|(_, node)| node.place == flow.place);
                let of_template = match is_of_template {
                    true => ", or leave out the flows of the template with topology.flows = \"none\"",
                    false => "",
                };
                let message = format!(
                    "the key {key:?} is missing: give it in [flows] for all, or in the flow{of_template}"
                );
                return Err(self.flows.unwrap_or(flow).fault(&path, message));
            }
        }
        Ok(self.with_files(with_profile(merged)))
    }

    /// Return the keys of `[flows]` that each of these flows replaces: an override of them changes nothing.
    pub(super) fn replaced_defaults(&self, flows: &[Node]) -> Vec<String> {
        let (Some(defaults), None) = (self.flows, self.workload) else { return Vec::new() };
        replaced(defaults, flows)
    }

    /// Add to the rates of links the texts of the files that they name, if the scenario contains them.
    fn add_traces(&self, links: &mut [Node]) {
        let Some(rows) = self.rows else { return };
        let add = |table: &mut Node| {
            let Value::Table(keys) = &mut table.value else { return };
            if let Some((_, rate)) = keys.iter_mut().find(|(key, _)| key.name == "rate") {
                let data = rate.get("trace").and_then(Node::text).and_then(|file| rows.get(file));
                add_data(rate, data);
            }
        };
        for link in links {
            add(link);
            let Value::Table(keys) = &mut link.value else { continue };
            keys.iter_mut().filter(|(key, _)| key.name == "back").for_each(|(_, back)| add(back));
        }
    }

    /// Add to a flow whose source replays a file the packets of this file, or to one whose sizes are in a file the text of
    /// this file, if the scenario contains them.
    fn with_files(&self, mut flow: Node) -> Node {
        if self.recording.is_none() && self.rows.is_none() {
            return flow;
        }
        let Value::Table(keys) = &mut flow.value else { return flow };
        let Some((_, source)) = keys.iter_mut().find(|(key, _)| key.name == "source") else { return flow };
        let text = |key| source.get(key).and_then(Node::text);
        if let (Some("replay"), Some(file)) = (text("kind"), text("file")) {
            let name = replay::Params::recording_name(file, text("flow"));
            add_data(source, self.recording.and_then(|recordings| recordings.get(&name)));
        }
        let Value::Table(keys) = &mut source.value else { return flow };
        if let Some((_, sizes)) = keys.iter_mut().find(|(key, _)| key.name == "sizes") {
            let file = sizes.get("file").and_then(Node::text);
            add_data(sizes, file.and_then(|file| self.rows?.get(file)));
        }
        flow
    }
}

/// Add what a file contains to the table that names it, unless the table has it already.
fn add_data(table: &mut Node, data: Option<&Node>) {
    let is_there = table.get("data").is_some();
    if let (false, Some(data), Value::Table(keys)) = (is_there, data, &mut table.value) {
        keys.push((Key { name: "data".to_string(), place: data.place }, data.clone()));
    }
}

/// Return a flow with the defaults of its transport's profile.
fn with_profile(flow: Node) -> Node {
    let is_filled =
        |transport: &&Node| ["profile", "congestion"].iter().any(|key| transport.get(key).is_some());
    let Some(transport) = flow.get("transport").filter(is_filled) else {
        return flow;
    };
    let filled = tcp::with_profile(transport);
    let Value::Table(mut keys) = flow.value else { unreachable!("it has keys") };
    keys.iter_mut().filter(|(key, _)| key.name == "transport").for_each(|(_, node)| *node = filled.clone());
    Node { value: Value::Table(keys), place: flow.place }
}

fn adaptation_of(node: &Node) -> Result<adaptation::Spec, Fault> {
    let adaptation = adaptation::Spec::read(node, "adaptation")?;
    adaptation.check().map_err(|refused| fault(node, "adaptation", "kind", refused))?;
    Ok(adaptation)
}

/// Build the fault of the table `node` at `path`: of the key that is refused or, without one, of the key `tag`.
fn fault(node: &Node, path: &str, tag: &str, refused: Refused) -> Fault {
    node.fault_along(path, refused.key.unwrap_or(tag), refused.why)
}

/// Return the flows of an entry: the entry itself or, with `connections`, one flow for each connection, all on
/// one circuit. If the entry names no circuit they keep the key, since each may get a circuit of its own.
fn multiply(flow: Node) -> Result<Vec<Node>, Fault> {
    let (Some(connections), Some(name)) = (flow.get("connections"), flow.get("name").and_then(Node::text))
    else {
        return Ok(vec![flow]);
    };
    let path = join(&join("flow", name), "connections");
    let count = u32::read(connections, &path)?;
    if !(1..=MOST_CONNECTIONS).contains(&count) {
        let message = format!("must be from 1 to {MOST_CONNECTIONS}, not {count}");
        return Err(connections.fault(&path, message));
    }
    let text = |text: String| Node { value: Value::Text(text), place: connections.place };
    let connection = |number: u32| {
        let mut one = flow.clone();
        let Value::Table(keys) = &mut one.value else { unreachable!("it has keys") };
        keys.retain(|(key, _)| key.name != "connections" || flow.get("pvc").is_none());
        keys.iter_mut().filter(|(key, _)| key.name == "name").for_each(|(_, node)| {
            node.value = Value::Text(format!("{name}.{number}"));
        });
        if flow.get("pvc").is_none() {
            let key = Key { name: "pvc".to_string(), place: connections.place };
            keys.push((key, text(name.to_string())));
        }
        one
    };
    Ok((1..=count).map(connection).collect())
}

/// Largest number of connections on one circuit; more are rejected as a mistake.
const MOST_CONNECTIONS: u32 = 100_000;
/// Largest number of flows in one network; more are rejected as a mistake.
pub(super) const MOST_FLOWS: usize = 1_000_000;

fn list(name: &str, items: Vec<Node>) -> (Key, Node) {
    let key = Key { name: name.to_string(), place: Default::default() };
    (key, Node { value: Value::List(items), place: Default::default() })
}

/// Remove and return the entries of a list in a table.
fn take_entries(explicit: &mut Node, name: &str) -> Vec<Node> {
    let Value::Table(keys) = &mut explicit.value else { return Vec::new() };
    match keys.iter_mut().find(|(key, _)| key.name == name) {
        Some((_, Node { value: Value::List(items), .. })) => std::mem::take(items),
        _ => Vec::new(),
    }
}

/// Merge the entries that a file lists into those of the template: an entry with the name of a template's entry
/// changes it, other entries are added.
fn absorb(list: &str, mut made: Vec<Node>, listed: Option<&Node>) -> Result<Vec<Node>, Fault> {
    let Some(listed) = listed else { return Ok(made) };
    let Value::List(items) = &listed.value else {
        return Err(listed.fault(list, format!("must be a list, not {}: write [[{list}]]", listed.show())));
    };
    let known: BTreeMap<String, usize> =
        made.iter().enumerate().filter_map(|(index, node)| Some((node.label()?, index))).collect();
    let mut changed = BTreeSet::new();
    for item in items {
        match item.label().and_then(|label| known.get(&label).map(|index| (label, *index))) {
            Some((label, index)) => {
                if !changed.insert(index) {
                    let path = join(&join(list, &label), "name");
                    return Err(item
                        .along("name")
                        .fault(&path, format!("the name {} is given twice", quoted(&label))));
                }
                made[index] = merge(&made[index], item);
            }
            None => {
                refuse_stray(list, item, &made[..known.len()])?;
                made.push(item.clone());
            }
        }
    }
    Ok(made)
}

/// Refuse an entry that was probably meant to change an entry of the template, but has another name.
fn refuse_stray(list: &str, item: &Node, made: &[Node]) -> Result<(), Fault> {
    let Some(name) = item.get("name").and_then(Node::text) else { return Ok(()) };
    let stands_alone = match list {
        "node" => item.get("kind").is_some(),
        _ => item.get("from").is_some() || item.get("to").is_some(),
    };
    if made.is_empty() || stands_alone {
        return Ok(());
    }
    let labels: Vec<String> = made.iter().filter_map(Node::label).collect();
    let allowed: Vec<&str> = labels.iter().map(String::as_str).collect();
    let message = format!("the template makes no such {list}: {}", unknown(list, name, &allowed));
    Err(item.along("name").fault(&join(&join(list, name), "name"), message))
}
