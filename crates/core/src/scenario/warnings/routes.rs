//! Warns of equally short routes, of which all flows take the first.

use crate::scenario::flows::Choice;
use crate::scenario::warning::Warning;

/// Warn that flows leave open which of several equally short routes they take.
pub(super) fn equal(choice: &Choice) -> Warning {
    let Choice { from, to, ways, via, others } = choice;
    let more = match others {
        0 => String::new(),
        1 => "; 1 other flow has such a choice as well".to_string(),
        _ => format!("; {others} other flows have such a choice as well"),
    };
    let message = format!(
        "{ways} equally short routes lead from {from:?} to {to:?}, and all flows take the first, via {}{more}. To spread \
         flows, set routing = \"ecmp\", or name nodes of their routes in via",
        via.join(", ")
    );
    Warning { code: "equal-routes", message }
}
