//! Single figures of a run, by their paths in the report, as in `ports.bottleneck.lost.early`.

use serde_json::{Map, Value as Json};

use super::keys::when;
use super::{Flows, plain_port, report, summary};
use crate::engine::Outcome;
use crate::excerpt::{VALUE, excerpt, fitted, quoted};
use crate::language::set::steps;
use crate::scenario::model::Scenario;
use crate::scenario::{Refusal, RequestPart};
use crate::verdict::Reason;
use crate::words::nearest::{LISTED, listing, unknown};

/// Return every figure of the summary under its path, then the figures at `paths`.
///
/// An entry of a list is addressed by its name; `*` stands for every entry and gives a list. A figure is a number,
/// null if there was nothing to measure, or a list of those.
pub fn figures(
    scenario: &Scenario,
    outcome: &Outcome,
    paths: &[String],
) -> Result<Map<String, Json>, Refusal> {
    let mut found = Map::new();
    flatten("summary", &summary(scenario, outcome, &Flows::new(scenario, outcome)), &mut found);
    let mut whole = None;
    for path in paths.iter().filter(|path| !path.is_empty()) {
        if found.contains_key(path) {
            continue;
        }
        let refusal = |message| Refusal {
            message: fitted(message),
            part: Some(RequestPart::Figure(path.clone())),
            ..Refusal::default()
        };
        let names =
            steps(path).ok_or_else(|| refusal(format!("{} is not the path of a figure", quoted(path))))?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let figure = match of_port(scenario, outcome, &names) {
            Some(figure) => figure,
            None => {
                let whole = whole.get_or_insert_with(|| report(scenario, outcome, None));
                let found = walk(whole, "", &names).and_then(plain);
                found.map_err(|why| refusal(format!("no figure {}: {why}", excerpt(path, VALUE))))?
            }
        };
        found.insert(path.clone(), figure);
    }
    Ok(found)
}

/// Collect every number below a node under its path.
fn flatten(path: &str, node: &Json, found: &mut Map<String, Json>) {
    for (name, entry) in entries(node) {
        let path = format!("{path}.{name}");
        match entry {
            Json::Number(_) | Json::Null => drop(found.insert(path, entry.clone())),
            _ => flatten(&path, entry, found),
        }
    }
}

/// Return the figure at a path below one port without building the rest of the report; `None` if the path needs more
/// than this port's entry.
fn of_port(scenario: &Scenario, outcome: &Outcome, names: &[&str]) -> Option<Json> {
    let ["ports", name, rest @ ..] = names else { return None };
    let index = scenario.lines.position(|line| line.name == *name)?;
    walk(&plain_port(&scenario.lines[index], outcome, index), name, rest).and_then(plain).ok()
}

/// The parts of a report with figures, except the summary.
const PARTS: [&str; 5] = ["flows", "ports", "memories", "circuits", "engine"];

/// Follow the path `names` from `node`, which is named `at`, and return the value there.
fn walk(node: &Json, at: &str, names: &[&str]) -> Result<Json, String> {
    let Some((name, rest)) = names.split_first() else { return Ok(node.clone()) };
    let entries = entries(node);
    if *name == "*" {
        return entries.iter().map(|(entry_name, entry)| walk(entry, entry_name, rest)).collect();
    }
    match entries.iter().find(|(found, _)| found == name) {
        Some((_, entry)) => walk(entry, name, rest),
        // a table of losses or marks omits reasons that did not occur, and a port without marks has no such table
        None if *name == "marked" && entries.iter().any(|(key, _)| *key == "lost") => {
            walk(&Json::Object(Map::new()), name, rest)
        }
        None if at == "lost" || at == "marked" => {
            let reasons = Reason::ALL.map(Reason::word);
            let is_reason = reasons.contains(name) && rest.is_empty();
            if is_reason { Ok(0.into()) } else { Err(unknown("reason", name, &reasons)) }
        }
        None => {
            // a name without a part of the report is searched in the summary
            let parts = if at == "summary" { &PARTS[..] } else { &[] };
            let names: Vec<&str> =
                entries.iter().map(|(name, _)| *name).chain(parts.iter().copied()).collect();
            Err(no_entry(name, &names))
        }
    }
}

/// Return the message for a name that is not among `names`. If other scenarios have this key in their report, the
/// message says when.
pub fn no_entry(name: &str, names: &[&str]) -> String {
    match when(name, names) {
        Some(when) => format!("{} is there only {when} in the scenario", quoted(name)),
        None => unknown("entry", name, names),
    }
}

fn entries(node: &Json) -> Vec<(&str, &Json)> {
    match node {
        Json::Object(keys) => keys.iter().map(|(key, entry)| (key.as_str(), entry)).collect(),
        Json::Array(list) => list.iter().filter_map(|entry| Some((entry["name"].as_str()?, entry))).collect(),
        _ => Vec::new(),
    }
}

/// Return a number as it is, and 1 and 0 for true and false; refuse other values.
fn plain(found: Json) -> Result<Json, String> {
    match &found {
        Json::Bool(flag) => Ok(u8::from(*flag).into()),
        Json::Number(_) | Json::Null => Ok(found),
        Json::Array(list) if list.iter().all(|entry| entry.is_number() || entry.is_null()) => Ok(found),
        Json::Object(keys) => {
            let names: Vec<&str> = keys.keys().map(String::as_str).collect();
            Err(format!("that is a table of {}", listing(&names, LISTED)))
        }
        other => Err(format!("{} is not a number", excerpt(&other.to_string(), VALUE))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine;
    use crate::scenario::load;

    const LAN: &str = include_str!("../../../../scenarios/lan.toml");

    fn ask(paths: &[&str]) -> Result<Map<String, Json>, String> {
        let scenario = load(LAN, "lan.toml", &["duration=0.1 s".to_string()]).unwrap();
        let paths: Vec<String> = paths.iter().map(|path| path.to_string()).collect();
        Ok(figures(&scenario, &engine::run(&scenario, false), &paths)?)
    }

    #[test]
    fn every_figure_is_that_of_the_report() {
        let scenario = load(LAN, "lan.toml", &["duration=0.1 s".to_string()]).unwrap();
        let whole = report(&scenario, &engine::run(&scenario, false), None);
        let found =
            ask(&["flows.*.goodput_bps", "ports.bottleneck.units_in", "engine.cell_hops", "circuits.vc1.x"]);
        assert!(found.unwrap_err().contains("no figure circuits.vc1.x: unknown entry \"vc1\""));
        let found = ask(&["flows.*.goodput_bps", "ports.bottleneck.units_in", "engine.cell_hops"]).unwrap();
        assert_eq!(found["summary.goodput_ratio"], whole["summary"]["goodput_ratio"]);
        assert_eq!(found["engine.cell_hops"], whole["engine"]["cell_hops"]);
        let port =
            whole["ports"].as_array().unwrap().iter().find(|port| port["name"] == "bottleneck").unwrap();
        assert_eq!(found["ports.bottleneck.units_in"], port["units_in"]);
        assert_eq!(found["flows.*.goodput_bps"].as_array().unwrap().len(), 10);
        assert_eq!(found["flows.*.goodput_bps"][9], whole["flows"][9]["goodput_bps"]);
    }

    #[test]
    fn a_refusal_names_the_figure_that_is_not_there() {
        let scenario = load(LAN, "lan.toml", &["duration=0.1 s".to_string()]).unwrap();
        let paths = ["summary.goodput_ratio".to_string(), "ports.x.units_in".to_string()];
        let refusal = figures(&scenario, &engine::run(&scenario, false), &paths).unwrap_err();
        assert_eq!(refusal.part, Some(RequestPart::Figure(paths[1].clone())));
    }

    #[test]
    fn a_reason_for_which_nothing_was_lost_counts_zero() {
        let found = ask(&["ports.bottleneck.lost.random"]).unwrap();
        assert_eq!(found["ports.bottleneck.lost.random"], 0);
        let why = ask(&["ports.bottleneck.lost.rain"]).unwrap_err();
        assert!(why.contains("unknown reason \"rain\"") && why.contains("overflow"), "{why}");
    }

    #[test]
    fn marks_of_a_port_at_which_nothing_was_marked_count_zero() {
        assert_eq!(ask(&["ports.bottleneck.marked.early"]).unwrap()["ports.bottleneck.marked.early"], 0);
        let why = ask(&["ports.bottleneck.marked.rain"]).unwrap_err();
        assert!(why.contains("unknown reason \"rain\"") && why.contains("overflow"), "{why}");
        let why = ask(&["flows.flow1.marked.early"]).unwrap_err();
        assert!(why.contains("unknown entry \"marked\""), "{why}");
    }

    #[test]
    fn what_is_no_number_is_no_figure() {
        for (path, why) in [
            ("ports.bottleneck.name", "\"bottleneck\" is not a number"),
            ("ports.botleneck.units_in", "did you mean \"bottleneck\"?"),
            ("summary.flow.flow1.timeouts", "unknown entry \"flow\"; did you mean \"flows\"?"),
            ("summary", "that is a table of goodput_bps"),
            ("ports..units_in", "is not the path of a figure"),
            ("summary.delivery_time_p99_s", "is there only with `measure.delivery` in the scenario"),
            ("flows.flow1.throughput", "is there only with `measure.window` in the scenario"),
            ("ports.access1.occupancy_p99", "is there only with a limited buffer in the scenario"),
            ("ports.bottleneck.delivery_time_p99_s", "unknown entry \"delivery_time_p99_s\""),
            ("ports.bottleneck.units_in.deeper", "unknown entry \"deeper\""),
        ] {
            let message = ask(&[path]).unwrap_err();
            assert!(message.contains(why), "{message}");
        }
    }
}
