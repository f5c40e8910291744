//! A warning about a scenario: a word for programs, and a message for people.

use serde_json::{Value as Json, json};

/// A warning about a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// A word for programs, which does not change between versions.
    pub code: &'static str,
    /// A message for people: the setting that may mislead, and the remedy.
    pub message: String,
}

impl Warning {
    /// Return the form that reports and commands print.
    pub fn json(&self) -> Json {
        json!({ "code": self.code, "message": self.message })
    }
}
