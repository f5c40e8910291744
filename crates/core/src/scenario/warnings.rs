//! What is no mistake in a scenario, but may mislead: said before a run, and in its report.

use serde_json::{Value as Json, json};

use super::check::Checked;
use super::flows::Choice;

/// Something to know before a run is trusted.
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

/// Everything to be said of a scenario.
pub(super) fn warnings(checked: &Checked) -> Vec<Warning> {
    checked.choice.iter().map(equal_routes).collect()
}

fn equal_routes(choice: &Choice) -> Warning {
    let Choice { from, to, ways, via, others } = choice;
    let more = match others {
        0 => String::new(),
        1 => "; 1 other flow has such a choice as well".to_string(),
        _ => format!("; {others} other flows have such a choice as well"),
    };
    let message = format!(
        "{ways} equally short routes lead from {from:?} to {to:?}, and all flows take the first, via {}{more}. To spread \
         flows, name nodes of their routes in via",
        via.join(", ")
    );
    Warning { code: "equal-routes", message }
}
