//! Reads and checks scenario files; later code needs no more checks.

mod misplaced;
mod mistakes;
pub mod model;

pub mod file;

pub mod topology;

pub mod contract;

mod round_trips;
pub mod route;

pub mod catalogue;

mod expand;

mod check;

mod links;

mod losses;

mod storms;

mod ports;

mod memories;

mod pacing;

mod pauses;

pub mod headroom;

mod listed;

mod flows;

mod credits;

mod ecmp;

mod spread;

mod drawn;

mod backlog;

mod measure;

mod warning;

mod warnings;

mod explain;

mod sections;

use crate::language::message::Sources;
use crate::language::read::{self, Format};
use crate::language::set::Set;
use crate::language::tree::{Fault, Node, Value};

use model::Scenario;

pub use crate::language::message::{Refusal, RequestPart};
pub(crate) use crate::language::names::name_fault;
pub use catalogue::policies;
pub use explain::{explain, thresholds};
pub use model::Origin;
pub use pacing::sentences as paced;
pub use sections::{docs, schema};
pub use warning::Warning;
pub use warnings::Checked;

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

/// The text of a scenario, read but not yet checked, so that it is read only once for many variations.
#[derive(Clone, Debug)]
pub struct File<'a> {
    text: &'a str,
    name: &'a str,
    root: Node,
}

impl<'a> File<'a> {
    /// Read a scenario, TOML or JSON; messages call the text `name`.
    pub fn read(text: &'a str, name: &'a str) -> Result<File<'a>, String> {
        let sources = Sources { name, text, sets: &[] };
        let root = read::read(text, Format::of(name, text)).map_err(|fault| sources.tell(fault, None))?;
        Ok(File { text, name, root })
    }

    /// Return the names of the hosts; nothing else is checked, and there may be no flows.
    pub fn hosts(&self) -> Result<Vec<String>, Refusal> {
        let refused = |fault| self.sources(&[]).refuse(misplaced::placed(fault), Some(&self.root));
        check::hosts(&self.root).map_err(refused)
    }

    /// Build a checker of variations of this file.
    pub fn variations(&self) -> Variations<'_> {
        Variations { file: self, known: Vec::new() }
    }

    /// Check the file; all overrides of `sets` except the `late` ones have already been applied to `root`.
    fn check(
        &self,
        root: &Node,
        late: &[Set],
        sets: &[String],
        known: Option<&mut Vec<check::StoredNetwork>>,
    ) -> Result<Checked, Refusal> {
        let is_alone = known.is_none();
        check::check(root, late, known).map_err(|fault| {
            let sources = self.sources(sets);
            let others = if is_alone { mistakes::further(root, late, &fault) } else { Vec::new() };
            let brief = |other| sources.tell_briefly(misplaced::placed(other), root);
            let further = others.into_iter().map(brief).collect();
            Refusal { further, ..sources.refuse(misplaced::placed(fault), Some(root)) }
        })
    }

    fn overridden(&self, sets: &[String]) -> Result<(Node, Vec<Set>), Refusal> {
        let mut root = self.root.clone();
        match override_all(&mut root, sets) {
            Ok(late) => Ok((root, late)),
            Err(fault) => Err(self.sources(sets).refuse(fault, Some(&root))),
        }
    }

    fn sources<'s>(&'s self, sets: &'s [String]) -> Sources<'s> {
        Sources { name: self.name, text: self.text, sets }
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
            key.spell(&mut text);
            node.spell(&mut text);
        });
    }
    for set in late {
        text.push('+');
        set.keys.iter().for_each(|key| key.spell(&mut text));
        set.value.spell(&mut text);
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

#[cfg(test)]
mod tests;
