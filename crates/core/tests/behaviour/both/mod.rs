//! One scenario on both engines, audited: for tests of whole networks.

use pushout_core::audit::audit;
use pushout_core::engine;
use pushout_core::report::report;
use pushout_core::scenario::load;
use pushout_core::scenario::model::{EngineKind, Scenario};
use pushout_core::serde_json::{Value as Json, json};

/// Return the report of a scenario with these overrides, without the engine's own entries; its audit has no failures.
fn run(text: &str, sets: &[&str], engine: EngineKind) -> Json {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let scenario = Scenario { engine, ..load(text, "test.toml", &sets).unwrap() };
    let outcome = engine::run(&scenario, true);
    let mut document = report(&scenario, &outcome, Some(&audit(&scenario, &outcome)));
    assert_eq!(document["audit"]["failures"], json!([]), "{sets:?}");
    document["engine"] = Json::Null;
    document
}

/// Run both engines, check that their reports are equal, and return the report.
pub(crate) fn run_on_both(text: &str, sets: &[&str]) -> Json {
    let document = run(text, sets, EngineKind::Fast);
    assert_eq!(document, run(text, sets, EngineKind::Reference), "{sets:?}");
    document
}

/// The entry of this name in a list of a report.
pub(crate) fn entry<'a>(document: &'a Json, list: &str, name: &str) -> &'a Json {
    document[list].as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap()
}
