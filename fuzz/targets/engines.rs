//! Whatever a scenario says, both engines give the same report, the same losses and an audit without complaints.
//!
//! The input is a list of overrides, one on each line, of `lan.toml`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pushout_core::audit::audit;
use pushout_core::engine::{self, LossRecord};
use pushout_core::report::report;
use pushout_core::scenario::load;
use pushout_core::scenario::model::{Engine, Scenario};
use pushout_core::serde_json::Value as Json;

const LAN: &str = include_str!("../../scenarios/lan.toml");

/// Few enough to be run thousands of times a minute.
const MOST_FLOWS: usize = 20;
const MOST_LINES: usize = 100;
const FIRST: &str = "flows.start_spread=0 s";
const LAST: [&str; 2] = ["warmup=200 us", "duration=3 ms"];

fn run(scenario: &Scenario, engine: Engine) -> (Json, Vec<LossRecord>) {
    let scenario = Scenario { engine, ..scenario.clone() };
    let outcome = engine::run(&scenario, true);
    let audit = audit(&scenario, &outcome);
    let mut document = report(&scenario, &outcome, Some(&audit));
    assert!(audit.failures.is_empty(), "the books do not balance: {:?}", audit.failures);
    (document["engine"]["name"], document["engine"]["events"]) = (Json::Null, Json::Null);
    (document, outcome.losses)
}

fuzz_target!(|overrides: &str| {
    let sets = [FIRST].into_iter().chain(overrides.lines()).chain(LAST);
    let sets: Vec<String> = sets.map(str::to_string).collect();
    let Ok(scenario) = load(LAN, "lan.toml", &sets) else { return };
    if scenario.flows.len() > MOST_FLOWS || scenario.lines.len() > MOST_LINES {
        return;
    }
    let (reference, fast) = (run(&scenario, Engine::Reference), run(&scenario, Engine::Fast));
    assert_eq!(reference.1, fast.1, "other losses");
    assert_eq!(reference.0, fast.0, "another report");
});
