//! Names of nodes, lines and flows.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use crate::excerpt::is_control;
use crate::words::nearest::unknown;

/// Return the fault of a name, if it has one.
pub(crate) fn name_fault(name: &str) -> Option<String> {
    let fits = (1..=100).contains(&name.chars().count());
    let odd = name.chars().any(|c| is_control(c) || matches!(c, '"' | '\''));
    (!fits || odd)
        .then(|| "a name has 1 to 100 characters, without quotes and control characters".to_string())
}

/// The names of one kind, such as those of nodes, and the position of each in its list.
#[derive(Debug, Default)]
pub(crate) struct NameIndex {
    by_name: HashMap<Arc<str>, usize, BuildHasherDefault<DefaultHasher>>,
    in_order: Vec<Arc<str>>,
}

impl NameIndex {
    /// Add a name; the error is the fault in it.
    pub(crate) fn add(&mut self, name: &str) -> Result<(), String> {
        if let Some(message) = name_fault(name) {
            return Err(message);
        }
        let own: Arc<str> = name.into();
        if self.by_name.insert(Arc::clone(&own), self.in_order.len()).is_some() {
            return Err(format!("the name {name:?} is given twice"));
        }
        self.in_order.push(own);
        Ok(())
    }

    /// Return whether there is this name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Return the position of a name; the error is a message with the nearest valid name.
    pub(crate) fn find(&self, what: &str, name: &str) -> Result<usize, String> {
        self.by_name.get(name).copied().ok_or_else(|| {
            let allowed: Vec<&str> = self.in_order.iter().map(|name| &**name).collect();
            unknown(what, name, &allowed)
        })
    }
}
