//! Templates: short forms of a network. A template expands to nodes, links and flows; the entries of a scenario are
//! added, and entries with the same name change those of the template.
//!
//! To add a template, write its file and add a line to the list below.

use serde_json::Value as Json;

use super::file::{BackSection, FlowSection};
use super::model::{NodeKind, Routing};
use crate::adaptation;
use crate::language::spec::{Field, Nested, Section, Shape, object_schema, read_section};
use crate::language::tree::{Fault, Key, Node, TextPlace, Value, arrow};
use crate::link::gate::delay::Delay;
use crate::link::gate::repeat;
use crate::link::law::Law;
use crate::refused::{Refused, refuse};
use crate::units::{Quantity, Rate, Span};
use crate::{choice, registry};

registry! {
    /// A template as a scenario specifies it.
    "template" by "template" {
        Dumbbell = "dumbbell" in dumbbell,
        ParkingLot = "parking-lot" in parking_lot,
        Iwu = "iwu" in iwu,
        LeafSpine = "leaf-spine" in leaf_spine,
        FatTree = "fat-tree" in fat_tree,
    }

    /// The interface of a template.
    pub trait Template for Spec {
        /// Expand the template to a network; the error says why its parameters are impossible.
        fn expand(&self, network: &mut NetworkSections) -> Result<(), Refused>;

        /// Return whether the template has its flows, or leaves them out.
        fn flows(&self) -> TemplateFlows;

        /// Return which of equally short routes flows take by default.
        fn routing(&self) -> Routing {
            Routing::First
        }

        /// Return the rate of links of this class without a given rate, if the template derives it from the flows
        /// that start at the link's first node. The error describes a fault of these flows.
        fn rate(&self, class: &str, flows: &[FlowSection], adaptation: &adaptation::Spec) -> Result<Option<Rate>, Refused> {
            Ok(None)
        }
    }
}

choice! {
    /// Flows of a template.
    pub enum TemplateFlows {
        /// Those that the template describes.
        Own = "own",
        /// None: the flows of the scenario alone are between its hosts.
        None = "none",
    }
}

/// Nodes, links and flows in explicit form, as they would stand in a file.
#[derive(Clone, Debug)]
pub struct NetworkSections {
    /// Entries of `[[node]]`.
    pub nodes: Vec<Node>,
    /// Entries of `[[link]]`.
    pub links: Vec<Node>,
    /// Entries of `[[flow]]`.
    pub flows: Vec<Node>,
    relay: NodeKind,
    place: TextPlace,
}

impl NetworkSections {
    /// Build an empty network; `relay` is the kind of nodes that forward: switches or routers. Faults have the
    /// position `place`.
    pub fn new(relay: NodeKind, place: TextPlace) -> NetworkSections {
        NetworkSections { nodes: Vec::new(), links: Vec::new(), flows: Vec::new(), relay, place }
    }

    /// Add a host.
    pub fn host(&mut self, name: &str) {
        self.node(name, NodeKind::Host);
    }

    /// Add a switch, or a router where packets travel whole.
    pub fn relay(&mut self, name: &str) {
        self.node(name, self.relay);
    }

    /// Add a link in both directions.
    pub fn link(&mut self, name: &str, class: &str, from: &str, to: &str, wire: &Wire) {
        let mut link = self.table(&[("name", name), ("class", class), ("from", from), ("to", to)]);
        if let (Value::Table(into), Value::Table(keys)) = (&mut link.value, &wire.0.value) {
            into.extend(keys.iter().cloned());
        }
        self.links.push(link);
    }

    /// Add parallel links between two nodes, with the names "a->b", "a->b.2", ….
    fn between(&mut self, class: &str, from: &str, to: &str, links: u32, wire: &Wire) {
        let name = arrow(from, to);
        self.link(&name, class, from, to, wire);
        (2..=links).for_each(|number| self.link(&format!("{name}.{number}"), class, from, to, wire));
    }

    /// Add a flow from each of the hosts `host1`, `host2`, … to the host `shift` places further; after the last host
    /// the first one follows.
    fn shifted_flows(&mut self, hosts: u64, shift: u64) {
        for host in 0..hosts {
            let to = (host + shift) % hosts + 1;
            self.flow(&format!("flow{}", host + 1), &format!("host{}", host + 1), &format!("host{to}"));
        }
    }

    /// Set the latency of all hosts, and of all switches or routers, that have been added so far.
    pub fn delay_nodes(&mut self, host: Span, relay: Span) {
        let is_host = |node: &Node| node.get("kind").and_then(Node::text) == NodeKind::Host.write().as_str();
        for node in &mut self.nodes {
            let latency = if is_host(node) { host } else { relay };
            if let (true, Value::Table(keys)) = (latency > Span::ZERO, &mut node.value) {
                let place = self.place;
                let text = Node { value: Value::Text(latency.show()), place };
                keys.push((Key { name: "latency".to_string(), place }, text));
            }
        }
    }

    /// Add a flow between two hosts.
    pub fn flow(&mut self, name: &str, from: &str, to: &str) {
        let flow = self.table(&[("name", name), ("from", from), ("to", to)]);
        self.flows.push(flow);
    }

    /// Add a flow that a report also counts together with others of its class.
    pub fn flow_of_class(&mut self, name: &str, class: &str, from: &str, to: &str) {
        let flow = self.table(&[("name", name), ("from", from), ("to", to), ("class", class)]);
        self.flows.push(flow);
    }

    fn node(&mut self, name: &str, kind: NodeKind) {
        let kind = kind.write();
        let node = self.table(&[("name", name), ("kind", kind.as_str().expect("a kind is a word"))]);
        self.nodes.push(node);
    }

    fn table(&self, entries: &[(&str, &str)]) -> Node {
        table(self.place, entries)
    }
}

fn table(place: TextPlace, entries: &[(&str, &str)]) -> Node {
    let entry = |(name, text): &(&str, &str)| {
        (Key { name: name.to_string(), place }, Node { value: Value::Text(text.to_string()), place })
    };
    Node { value: Value::Table(entries.iter().map(entry).collect()), place }
}

crate::section! {
    /// A link of a template, both ways: a table of these keys. Where there is one for each source, a list of such
    /// tables is allowed as well.
    pub struct WireKeys {
        /// Rate; only `access` of the template iwu can do without.
        pub rate: Law,
        /// Propagation delay.
        pub delay: Delay,
        /// Repetitions of a radio link, in order.
        pub repeat: Option<Nested<repeat::Params>> = None,
        /// Longest of the random pauses before each frame, for a link that starts at a host.
        pub pause: Span = Span::ZERO,
        /// Rate, delay and repetitions of the other direction where they differ.
        pub back: Option<Nested<BackSection>> = None,
    }
}

/// Rate and delay of a link of a template, with their place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Wire(Node);

impl Wire {
    /// Build a wire with equal values in both directions, with the position `place` for messages.
    fn new(rate: Rate, delay: Span, place: TextPlace) -> Wire {
        Wire(table(place, &[("rate", &rate.show()), ("delay", &delay.show())]))
    }

    /// Return this wire with a random pause before each frame.
    fn with_pause(self, pause: Span) -> Wire {
        let Wire(Node { mut value, place }) = self;
        if let Value::Table(keys) = &mut value {
            let text = Node { value: Value::Text(pause.show()), place };
            keys.push((Key { name: "pause".to_string(), place }, text));
        }
        Wire(Node { value, place })
    }

    /// Return this wire without its pause.
    fn without_pause(&self) -> Wire {
        let mut node = self.0.clone();
        if let Value::Table(keys) = &mut node.value {
            keys.retain(|(key, _)| key.name != "pause");
        }
        Wire(node)
    }
}

impl Field for Wire {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        read_section::<WireKeys>(node, path).map(|_| Wire(node.clone()))
    }

    fn write(&self) -> Json {
        self.0.json()
    }

    fn shape() -> Shape {
        Shape { unit: "link", schema: object_schema(&WireKeys::params()) }
    }
}

/// One value for all sources, or a list of values that repeats.
#[derive(Clone, Debug, PartialEq)]
pub enum Each<T> {
    /// One value for all.
    All(T),
    /// A list that repeats.
    List(Vec<T>),
}

impl<T> Each<T> {
    /// Return the value for source number `index`.
    pub fn of(&self, index: usize) -> &T {
        match self {
            Each::All(value) => value,
            Each::List(list) => &list[index % list.len()],
        }
    }

    /// Refuse a list whose length does not divide `count`, the number of sources.
    pub fn check(&self, key: &'static str, count: usize) -> Result<(), Refused> {
        match self {
            Each::List(list) if list.is_empty() || !count.is_multiple_of(list.len()) => refuse(
                key,
                format!(
                    "a list must have an entry for each of the {count} sources, or a number of entries that divides {count} \
                     and repeats, not {}; one table serves for all",
                    list.len()
                ),
            ),
            _ => Ok(()),
        }
    }
}

impl<T: Field> Field for Each<T> {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match node.value {
            Value::List(_) => Vec::read(node, path).map(Each::List),
            _ => T::read(node, path).map(Each::All),
        }
    }

    fn write(&self) -> Json {
        match self {
            Each::All(value) => value.write(),
            Each::List(list) => list.write(),
        }
    }

    fn shape() -> Shape {
        let (one, list) = (T::shape(), Vec::<T>::shape());
        Shape { unit: one.unit, schema: serde_json::json!({ "anyOf": [one.schema, list.schema] }) }
    }
}
