//! From a file to a scenario that has been checked: parse once, then no more checks.

pub mod tree;

pub mod spec;

pub mod registry;

pub mod model;

pub mod read;

pub mod set;

pub mod adaptation;

pub mod file;

pub mod topology;

pub mod contract;

pub mod route;

pub mod catalogue;

mod message;

mod item;

mod expand;

mod check;

mod links;

mod ports;

mod flows;

mod credits;

mod measure;

mod explain;

mod schema;

mod docs;

pub use catalogue::policies;
pub use docs::docs;
pub use explain::explain;
pub use schema::schema;

use serde_json::{Value as Json, json};

use message::Sources;
use model::Scenario;
use read::Format;
use set::Set;
use tree::{Fault, Node};

/// Read and check a scenario.
///
/// `text` is TOML or JSON, `name` what messages call it, `sets` are overrides `key.path=value`. The error is one
/// message for people: where, what is wrong, what is allowed; the first line says it all, the next ones show the place.
pub fn load(text: &str, name: &str, sets: &[String]) -> Result<Scenario, String> {
    File::read(text, name)?.load(sets, None)
}

/// A scenario's text, read but not yet checked: who wants many variations of it reads it once.
#[derive(Clone, Debug)]
pub struct File<'a> {
    text: &'a str,
    name: &'a str,
    root: Node,
}

impl<'a> File<'a> {
    /// Read a scenario, TOML or JSON; `name` is what messages call it.
    pub fn read(text: &'a str, name: &'a str) -> Result<File<'a>, String> {
        let sources = Sources { name, text, sets: &[] };
        let root = read::read(text, Format::of(name, text)).map_err(|fault| sources.tell(fault, None))?;
        Ok(File { text, name, root })
    }

    /// What was asked for, overrides included, without the seed: as long as the simulator is the same, equal texts are
    /// equal scenarios. Far cheaper than to check it, so that whoever keeps results can look there first.
    pub fn identity(&self, sets: &[String]) -> Result<Json, String> {
        let (root, entries) = self.overridden(sets)?;
        let mut keys = root.json();
        if let Some(keys) = keys.as_object_mut() {
            keys.shift_remove("seed");
        }
        let entries = entries.iter().filter(|set| set.concerns_an_entry());
        let entries: Vec<Json> = entries.map(|set| json!([set.path(), set.value.json()])).collect();
        Ok(json!([keys, entries]))
    }

    /// Variations to be checked one after the other.
    pub fn variations(&self) -> Variations<'_> {
        Variations { file: self, known: Vec::new() }
    }

    fn load(&self, sets: &[String], known: Option<&mut Vec<check::Wired>>) -> Result<Scenario, String> {
        let (root, entries) = self.overridden(sets)?;
        let checked = check::check(&root, &entries, known);
        checked.map_err(|fault| self.sources(sets).tell(fault, Some(&root)))
    }

    fn overridden(&self, sets: &[String]) -> Result<(Node, Vec<Set>), String> {
        let mut root = self.root.clone();
        match override_all(&mut root, sets) {
            Ok(sets) => Ok((root, sets)),
            Err(fault) => Err(self.sources(sets).tell(fault, Some(&root))),
        }
    }

    fn sources<'s>(&'s self, sets: &'s [String]) -> Sources<'s> {
        Sources { name: self.name, text: self.text, sets }
    }
}

/// Checks variations of one file. Most of them have a network and traffic that others had before, and only other ports:
/// what was found out about network and traffic is kept.
#[derive(Debug)]
pub struct Variations<'a> {
    file: &'a File<'a>,
    known: Vec<check::Wired>,
}

impl Variations<'_> {
    /// The scenario with these overrides, as [`load`] has it.
    pub fn load(&mut self, sets: &[String]) -> Result<Scenario, String> {
        self.file.load(sets, Some(&mut self.known))
    }
}

/// Apply the overrides, but for those of entries that a template may make.
fn override_all(root: &mut Node, sets: &[String]) -> Result<Vec<Set>, Fault> {
    let sets = sets.iter().zip(1..).map(|(argument, source)| Set::parse(argument, source));
    let sets = sets.collect::<Result<Vec<_>, _>>()?;
    sets.iter().filter(|set| !set.concerns_an_entry()).try_for_each(|set| set.apply(root))?;
    Ok(sets)
}

#[cfg(test)]
mod tests;
