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

mod reorders;

mod storms;

mod ports;

mod classes;

mod memories;

mod pacing;

mod pauses;

pub mod headroom;

mod listed;

mod flows;

mod credits;

mod ecmp;

pub mod hash;

mod spread;

mod drawn;

mod backlog;

mod measure;

mod warning;

mod warnings;

mod explain;

mod sections;

#[cfg(feature = "scenario")]
mod text;

use crate::language::message::Sources;
use crate::language::set::Set;
use crate::language::tree::Node;

use model::Scenario;

pub use crate::language::message::{Refusal, RequestPart};
pub use catalogue::policies;
pub use explain::{explain, thresholds};
pub use model::Origin;
pub use pacing::sentences as paced;
pub use sections::{docs, schema};
#[cfg(feature = "scenario")]
pub use text::{Variation, Variations, checked, load};
pub use warning::Warning;
pub use warnings::Checked;

/// A scenario that is not checked yet: the tree of its values, and the text of the file, if it was read from one.
#[derive(Clone, Debug)]
pub struct File<'a> {
    text: &'a str,
    name: &'a str,
    root: Node,
}

impl<'a> File<'a> {
    /// Take a scenario that a program has built, or a part of it: what was read from `text` has messages with the name of that text
    /// and the line, what has the place [`TextPlace::NONE`](crate::language::tree::TextPlace::NONE) has them with its path.
    pub fn of(root: Node, text: &'a str, name: &'a str) -> File<'a> {
        File { text, name, root }
    }

    /// Return the values.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Check the scenario as it is.
    pub fn load(&self) -> Result<Scenario, Refusal> {
        self.check(&self.root, &[], &[], None).map(|checked| checked.scenario)
    }

    /// Return the names of the hosts; nothing else is checked, and there may be no flows.
    pub fn hosts(&self) -> Result<Vec<String>, Refusal> {
        let refused = |fault| self.sources(&[]).refuse(misplaced::placed(fault), Some(&self.root));
        check::hosts(&self.root).map_err(refused)
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

    fn sources<'s>(&'s self, sets: &'s [String]) -> Sources<'s> {
        Sources { name: self.name, text: self.text, sets }
    }
}

#[cfg(test)]
mod tests;
