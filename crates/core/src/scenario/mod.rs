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
    let sources = Sources { name, text, sets };
    let mut root = read::read(text, Format::of(name, text)).map_err(|fault| sources.tell(fault, None))?;
    let checked = override_all(&mut root, sets).and_then(|sets| check::check(&root, &sets));
    checked.map_err(|fault| sources.tell(fault, Some(&root)))
}

/// What was asked for, overrides included, without the seed: as long as the simulator is the same, equal texts are
/// equal scenarios. Far cheaper than to check it, so that whoever keeps results can look there first.
pub fn identity(text: &str, name: &str, sets: &[String]) -> Result<Json, String> {
    let sources = Sources { name, text, sets };
    let mut root = read::read(text, Format::of(name, text)).map_err(|fault| sources.tell(fault, None))?;
    let sets = override_all(&mut root, sets).map_err(|fault| sources.tell(fault, Some(&root)))?;
    let mut keys = root.json();
    if let Some(keys) = keys.as_object_mut() {
        keys.shift_remove("seed");
    }
    let entries = sets.iter().filter(|set| set.concerns_an_entry());
    let entries: Vec<Json> = entries.map(|set| json!([set.path(), set.value.json()])).collect();
    Ok(json!([keys, entries]))
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
