//! Warnings: settings that are valid but may mislead, reported before a run and in its report.

mod clocks;

mod growth;

mod phases;

mod promises;

mod routes;

use serde_json::{Value as Json, json};

use super::check::Checked;
use super::contract::{Passing, context, contracts, passing_circuits};
use super::model::{Line, Scenario};
use super::{credits, headroom};
use crate::buffer::context::Context;

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

/// All warnings about a scenario.
pub(super) fn warnings(checked: &Checked) -> Vec<Warning> {
    let Checked { scenario, choice } = checked;
    let passing = &passing_circuits(scenario);
    let routes = choice.iter().map(routes::equal);
    let ports = [clocks::samples(scenario), clocks::ticks(scenario, passing)];
    let others =
        [growth::warning(scenario), promises::broken(scenario, passing), phases::captured(scenario, passing)];
    let routes = routes.chain(headroom::warning(scenario)).chain(credits::warning(scenario, passing));
    routes.chain(ports.into_iter().chain(others).flatten()).collect()
}

/// The findings of `told` about ports, as one warning about the first of them.
fn of_ports(
    code: &'static str,
    scenario: &Scenario,
    passing: &Passing,
    told: impl Fn(&Line, &Context<'_>) -> Option<String>,
) -> Option<Warning> {
    let of_port = |(line, circuits): (&Line, &[usize])| {
        let contracts = contracts(scenario, line, circuits);
        told(line, &context(scenario, line, &contracts)).map(|what| format!("port {:?}: {what}", line.name))
    };
    let mut messages = scenario.lines.iter().zip(passing.iter()).filter_map(of_port);
    let first = messages.next()?;
    let message = match messages.count() {
        0 => first,
        1 => format!("{first} (1 other port likewise)"),
        others => format!("{first} ({others} other ports likewise)"),
    };
    Some(Warning { code, message })
}
