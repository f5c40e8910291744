//! A section that has been read, together with its place in the text, so that messages of later checks can give this
//! place.

use super::spec::{Section, read_section};
use super::tree::{Fault, Node, Value, join};
use crate::refused::Refused;

/// A section and its position.
#[derive(Clone, Debug)]
pub(crate) struct Item<'a, T> {
    /// The section.
    pub it: T,
    /// The table from which it was read.
    pub node: &'a Node,
    /// Path of the section.
    pub path: String,
}

/// Return the entries of the list of tables called `name`, if there is one.
pub(crate) fn entries<'a>(list: Option<&'a Node>, name: &str) -> Result<&'a [Node], Fault> {
    match list.map(|node| (&node.value, node)) {
        None => Ok(&[]),
        Some((Value::List(entries), _)) => Ok(entries),
        Some((_, node)) => {
            Err(node.fault(name, format!("must be a list, not {}: write [[{name}]]", node.show())))
        }
    }
}

impl<'a, T: Section> Item<'a, T> {
    /// Read the table at `path`.
    pub(crate) fn read(node: &'a Node, path: String) -> Result<Self, Fault> {
        Ok(Item { it: read_section(node, &path)?, node, path })
    }

    /// Read an entry of the list `list`, whose path has its label, or its position if it has no label.
    pub(crate) fn entry(node: &'a Node, list: &str, index: usize) -> Result<Self, Fault> {
        let path = node.label().map_or_else(|| format!("{list}[{index}]"), |label| join(list, &label));
        Item::read(node, path)
    }

    /// Build the fault of one of the section's keys, as in "transport.mss"; its position is that of the key, or of
    /// the section if the key is missing.
    pub(crate) fn fault(&self, key: &str, message: impl Into<String>) -> Fault {
        self.node.fault_along(&self.path, key, message)
    }

    /// Build the fault of the table under `key`, or of the key in this table that is refused.
    pub(crate) fn refuse(&self, key: &str, refused: Refused) -> Fault {
        match refused.key {
            Some(name) => self.fault(&format!("{key}.{name}"), refused.why),
            None => self.fault(key, refused.why),
        }
    }

    /// Refuse the value of `key` unless it is `right`.
    pub(crate) fn ensure(&self, right: bool, key: &str, message: &str) -> Result<(), Fault> {
        if right { Ok(()) } else { Err(self.fault(key, message)) }
    }
}
