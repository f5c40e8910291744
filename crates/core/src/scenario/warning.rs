//! A warning about a scenario: a word for programs, and a message for people.

use serde_json::{Value as Json, json};

/// A warning about a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// A word for programs, which stays the same.
    pub code: &'static str,
    /// A message for people: what may mislead, and what to do.
    pub message: String,
}

impl Warning {
    /// As reports and commands print it.
    pub fn json(&self) -> Json {
        json!({ "code": self.code, "message": self.message })
    }
}
