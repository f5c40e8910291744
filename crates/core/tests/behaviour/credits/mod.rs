//! Credits over whole networks: flow-controlled virtual channels of cells and of packets. Rates computed by hand, no
//! losses, the network of paper 001.

mod multi_hop;
mod network;
mod packets;
mod refused;
mod some_lines;
mod two_hosts;

use pushout_core::audit::audit;
use pushout_core::engine::{self, Outcome};
use pushout_core::scenario::{self, model::Scenario};
use pushout_core::units::ids::LineId;

/// The scenario of a text.
fn load(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let name = if text.starts_with('{') { "credits.json" } else { "credits.toml" };
    scenario::load(text, name, &sets).unwrap_or_else(|why| panic!("{why}\n{text}"))
}

/// A run that passes the audit.
fn run(scenario: &Scenario) -> Outcome {
    let outcome = engine::run(scenario, false);
    assert_eq!(audit(scenario, &outcome).failures, [""; 0], "{}", scenario.name);
    outcome
}

/// The port of a line.
fn port(scenario: &Scenario, name: &str) -> LineId {
    scenario.lines.position(|line| line.name == name).unwrap_or_else(|| panic!("no line {name}"))
}
