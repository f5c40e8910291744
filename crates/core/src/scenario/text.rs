//! Scenarios as texts: TOML or JSON, overrides, and many variations of one file.

use std::fmt::Write;

use super::model::Scenario;
use super::{Checked, File, check};
use crate::language::message::{Refusal, Sources};
use crate::language::read::{self, Format};
use crate::language::set::Set;
use crate::language::tree::{Fault, Key, Node, Value};

/// Read and check a scenario.
///
/// `text` is TOML or JSON, `name` its name in messages, `sets` are overrides `key.path=value`. The error has one
/// message for people: position, fault, and what is allowed; the first line is complete, further lines show the
/// position. An empty name means that a program made the text: then messages give paths without line and column.
pub fn load(text: &str, name: &str, sets: &[String]) -> Result<Scenario, Refusal> {
    checked(text, name, sets).map(|checked| checked.scenario)
}

/// Like [`load`], but also return the findings from which warnings are made.
pub fn checked(text: &str, name: &str, sets: &[String]) -> Result<Checked, Refusal> {
    let file = File::read(text, name)?;
    let (root, late) = file.overridden(sets)?;
    file.check(&root, &late, sets, None)
}

impl<'a> File<'a> {
    /// Read a scenario, TOML or JSON; messages call the text `name`.
    pub fn read(text: &'a str, name: &'a str) -> Result<File<'a>, String> {
        let sources = Sources { name, text, sets: &[] };
        let root = read::read(text, Format::of(name, text)).map_err(|fault| sources.tell(fault, None))?;
        Ok(File { text, name, root })
    }

    /// Build a checker of variations of this file.
    pub fn variations(&self) -> Variations<'_> {
        Variations { file: self, known: Vec::new() }
    }

    fn overridden(&self, sets: &[String]) -> Result<(Node, Vec<Set>), Refusal> {
        let mut root = self.root.clone();
        match override_all(&mut root, sets) {
            Ok(late) => Ok((root, late)),
            Err(fault) => Err(self.sources(sets).refuse(fault, Some(&root))),
        }
    }
}

/// A checker of variations of one file. Most variations have the network and the traffic of an earlier one and differ
/// only in ports, so the checked networks with their traffic are stored.
#[derive(Debug)]
pub struct Variations<'a> {
    file: &'a File<'a>,
    known: Vec<check::StoredNetwork>,
}

/// A variation that has been checked.
#[derive(Clone, Debug)]
pub struct Variation {
    /// The scenario, as [`load`] returns it.
    pub scenario: Scenario,
    /// A text that identifies the request, overrides included, without the seed: with one version of the simulator,
    /// equal texts stand for equal scenarios.
    pub identity: String,
}

impl Variations<'_> {
    /// Check the file with these overrides.
    pub fn load(&mut self, sets: &[String]) -> Result<Variation, Refusal> {
        let (root, late) = self.file.overridden(sets)?;
        let Checked { scenario, .. } = self.file.check(&root, &late, sets, Some(&mut self.known))?;
        Ok(Variation { scenario, identity: identity(&root, &late) })
    }
}

/// Return the text that identifies a variation: its keys without the seed, then the overrides that depend on the
/// network.
fn identity(root: &Node, late: &[Set]) -> String {
    let mut text = String::new();
    if let Value::Table(keys) = &root.value {
        keys.iter().filter(|(key, _)| key.name != "seed").for_each(|(key, node)| {
            spell_key(key, &mut text);
            spell(node, &mut text);
        });
    }
    for set in late {
        text.push('+');
        set.keys.iter().for_each(|key| spell_key(key, &mut text));
        spell(&set.value, &mut text);
    }
    text
}

/// Apply the overrides, except those that need the network, and return the latter: overrides of entries that a
/// template may make, and of ports that have no section of their own yet.
fn override_all(root: &mut Node, sets: &[String]) -> Result<Vec<Set>, Fault> {
    let sets = sets.iter().zip(1..).map(|(argument, source)| Set::parse(argument, source));
    let mut late: Vec<Set> = Vec::new();
    for set in sets.collect::<Result<Vec<_>, _>>()? {
        let has_section = |name| root.get("port").is_some_and(|port| port.get(name).is_some());
        let waits = |name| late.iter().any(|other| other.port() == Some(name));
        let is_late = |name| waits(name) || set.concerns_a_part() && !has_section(name);
        if set.concerns_an_entry() || set.port().is_some_and(is_late) {
            late.push(set);
        } else {
            set.apply(root)?;
        }
    }
    Ok(late)
}

/// Append the value to `text` in a form that only an equal value has, independent of its position.
fn spell(node: &Node, text: &mut String) {
    let spelled = match &node.value {
        Value::Bool(b) => write!(text, "{b} "),
        Value::Integer(i) => write!(text, "{i} "),
        Value::Float(x) => write!(text, "{x:?} "),
        Value::Text(own) => write!(text, "{own:?} "),
        Value::List(items) => {
            text.push('[');
            items.iter().for_each(|item| spell(item, text));
            text.write_char(']')
        }
        Value::Table(entries) => {
            text.push('{');
            let labels = labels(node);
            for (key, node) in entries.iter().filter(|(key, _)| !labels.contains(&key.name.as_str())) {
                spell_key(key, text);
                spell(node, text);
            }
            text.write_char('}')
        }
    };
    spelled.expect("a text takes everything");
}

/// Append the name to `text` in a form that only an equal name has.
fn spell_key(key: &Key, text: &mut String) {
    write!(text, "{:?}=", key.name).expect("a text takes everything");
}

/// Return the keys of a table that are only used in messages: the name of a program, and the place of its text.
fn labels(table: &Node) -> &'static [&'static str] {
    let is_program = table.get("policy").and_then(Node::text) == Some("program");
    if is_program { &["name", "source"] } else { &[] }
}
