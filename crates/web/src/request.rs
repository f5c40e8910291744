//! Requests as JSON; times are picoseconds.
//!
//! | `do` | with | answer |
//! |---|---|---|
//! | `open` | a scenario, `port` | `handle`, `scenario` |
//! | `go` | `handle`, `to`, `have` | a picture: the buffer, windows, what was seen, figures over time behind the first `have` |
//! | `when` | `handle`, `event` (`unit`, `frame`, `drop`, `mark`, `round-trip`), `until` | `time`, just behind the next such event; null if none follows before `seen` |
//! | `close` | `handle` | nothing |
//! | `difference` | `a`, `b`: handles, `until` | where two runs differ first; null if they agree up to `seen` |
//! | `run` | a scenario | its document |
//! | `toml` | a scenario | `text`: the scenario with its overrides as a file of its own |
//! | `why` | a scenario, `question` (`why/request.rs` of the core), `rivals` (`[name, overrides]`) | which decisions would have saved a frame |
//! | `policies` | | the catalogue |
//!
//! A scenario is `text`, its `name` in messages, and as far as wanted `sets` (`key.path=value`), `seed` (a number or its
//! digits as a text) and `engine`. `until` is the end of the run if it is missing; a search that ended at `until` continues
//! from there when it is requested again. An answer has `error` if the request was wrong.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use pushout_core::api::{self, CheckedScenario, Request};
use pushout_core::engine::chosen;
use pushout_core::scenario::model::{Line, Scenario};
use pushout_core::units::{Span, Time};

use crate::compare::Comparison;
use crate::session::{Event, RecentEvents, Session};
use crate::show;
use crate::toml;
use pushout_core::units::ids::LineId;

/// The runs that are open.
#[derive(Debug, Default)]
pub struct OpenRuns {
    sessions: BTreeMap<u64, Session>,
    opened: u64,
    /// The latest comparison, of the runs under these handles.
    comparison: Option<([u64; 2], Comparison)>,
}

impl OpenRuns {
    /// Answer a request.
    pub fn answer(&mut self, text: &str) -> String {
        let answer = match serde_json::from_str(text) {
            Ok(Json::Object(request)) => self.handle(&request),
            Ok(_) => Err("a request is a JSON object".to_string()),
            Err(why) => Err(format!("a request is JSON: {why}")),
        };
        answer.unwrap_or_else(|why| json!({ "error": why }).to_string())
    }

    fn handle(&mut self, request: &Map<String, Json>) -> Result<String, String> {
        let answer = match word(request, "do")? {
            "open" => self.open(request)?,
            "go" => {
                let to = Time::ZERO + Span(number(request, "to")?);
                self.show(request, |session| session.go(to))?
            }
            "when" => self.when(request)?,
            "close" => self.close(request)?,
            "difference" => self.difference(request)?,
            "run" => return run(request),
            "toml" => written(request)?,
            "why" => why(request)?,
            "policies" => api::policies(),
            other => return Err(api::unknown("request", other, &REQUESTS)),
        };
        Ok(answer.to_string())
    }

    fn open(&mut self, request: &Map<String, Json>) -> Result<Json, String> {
        let sets = sets(request);
        let (scenario, warnings) = ask(request, &sets)?.scenario().map_err(|refusal| refusal.message)?;
        let port = port(&scenario, request.get("port").and_then(Json::as_str))?;
        let engine = chosen(&scenario).1.is_none();
        let session = Session::new(scenario, port);
        let shown = show::scenario(&session);
        self.opened += 1;
        self.sessions.insert(self.opened, session);
        let warnings: Json = warnings.iter().map(|warning| warning.json()).collect();
        Ok(json!({ "handle": self.opened, "scenario": shown, "warnings": warnings, "fast": engine }))
    }

    fn show(
        &mut self,
        request: &Map<String, Json>,
        go: impl FnOnce(&mut Session) -> RecentEvents,
    ) -> Result<Json, String> {
        let handle = number(request, "handle")?;
        let have = request.get("have").and_then(Json::as_u64).unwrap_or(0) as usize;
        let session = self.sessions.get_mut(&handle).ok_or_else(|| unknown_handle(handle))?;
        let seen = go(session);
        session.complete()?;
        Ok(show::picture(session, &seen, have))
    }

    fn when(&mut self, request: &Map<String, Json>) -> Result<Json, String> {
        let event = word(request, "event")?;
        let event = Event::of(event).ok_or_else(|| api::unknown("event", event, &Event::WORDS))?;
        let (handle, until) = (number(request, "handle")?, until(request)?);
        let session = self.sessions.get_mut(&handle).ok_or_else(|| unknown_handle(handle))?;
        let found = session.when(event, until);
        Ok(json!({ "time": found.time.map(show::time), "seen": show::time(found.seen) }))
    }

    fn difference(&mut self, request: &Map<String, Json>) -> Result<Json, String> {
        let handles = [number(request, "a")?, number(request, "b")?];
        let until = until(request)?;
        let earlier = self.comparison.take().filter(|(of, _)| *of == handles);
        let mut comparison = match earlier {
            Some((_, comparison)) => comparison,
            None => {
                let [a, b] = [self.session(request, "a")?, self.session(request, "b")?];
                Comparison::new([(&a.scenario, a.port), (&b.scenario, b.port)])
            }
        };
        let mut answer = show::difference(comparison.advance(until));
        answer["seen"] = json!(show::time(comparison.seen()));
        self.comparison = Some((handles, comparison));
        Ok(answer)
    }

    fn close(&mut self, request: &Map<String, Json>) -> Result<Json, String> {
        let handle = number(request, "handle")?;
        self.comparison.take_if(|(of, _)| of.contains(&handle));
        self.sessions.remove(&handle).ok_or_else(|| unknown_handle(handle))?;
        Ok(json!({}))
    }

    fn session(&self, request: &Map<String, Json>, key: &str) -> Result<&Session, String> {
        let handle = number(request, key)?;
        self.sessions.get(&handle).ok_or_else(|| unknown_handle(handle))
    }
}

/// The document of a run, whose wall time is null: a page has a clock, but the core does not.
fn run(request: &Map<String, Json>) -> Result<String, String> {
    let sets = sets(request);
    api::run_as_text(&ask(request, &sets)?, || 0.0).map_err(|refusal| refusal.message)
}

/// Which decisions would have saved a frame of a run, and which of the rivals' policies.
fn why(request: &Map<String, Json>) -> Result<Json, String> {
    let sets = sets(request);
    let asked = ask(request, &sets)?;
    let checked = |more: &[String]| {
        let sets = [&sets, more].concat();
        CheckedScenario::of(asked.text, asked.name, &sets, asked.engine).map_err(|refusal| refusal.message)
    };
    let rival = |entry: &Json| {
        let (name, more) = (entry[0].as_str().unwrap_or_default(), texts(&entry[1]));
        Ok((name.to_string(), checked(&more)?))
    };
    let rivals = request.get("rivals").and_then(Json::as_array).into_iter().flatten();
    let rivals: Vec<(String, CheckedScenario)> = rivals.map(rival).collect::<Result<_, String>>()?;
    let named: Vec<(&str, &CheckedScenario)> =
        rivals.iter().map(|(name, other)| (name.as_str(), other)).collect();
    let question = request.get("question").unwrap_or(&Json::Null);
    let answer = checked(&[])?.why(asked.seed, question, &named, &mut |_, _| true);
    answer.map_err(|refusal| refusal.message)
}

/// A scenario with its overrides, as a file.
fn written(request: &Map<String, Json>) -> Result<Json, String> {
    let sets = sets(request);
    let explicit = api::explain(&ask(request, &sets)?).map_err(|refusal| refusal.message)?;
    Ok(json!({ "text": toml::written(&explicit) }))
}

fn ask<'a>(request: &'a Map<String, Json>, sets: &'a [String]) -> Result<Request<'a>, String> {
    Ok(Request {
        text: word(request, "text")?,
        name: word(request, "name")?,
        sets,
        seed: seed(request)?,
        engine: request.get("engine").and_then(Json::as_str),
        audit: false,
    })
}

/// The seed, as a number or as a text of digits: a page cannot write numbers above 2^53.
fn seed(request: &Map<String, Json>) -> Result<Option<u64>, String> {
    let Some(given) = request.get("seed") else { return Ok(None) };
    let read = given.as_u64().or_else(|| given.as_str()?.parse().ok());
    let refused = || format!("seed must be a whole number from 0 to {}, not {given}", u64::MAX);
    read.map(Some).ok_or_else(refused)
}

/// The instant at which a search stops.
fn until(request: &Map<String, Json>) -> Result<Time, String> {
    if request.contains_key("until") {
        Ok(Time::ZERO + Span(number(request, "until")?))
    } else {
        Ok(Time::NEVER)
    }
}

fn sets(request: &Map<String, Json>) -> Vec<String> {
    request.get("sets").map(texts).unwrap_or_default()
}

/// The texts of a list.
fn texts(list: &Json) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten();
    texts.filter_map(|text| text.as_str().map(String::from)).collect()
}

/// The port of this name; without one the first that has a limited buffer, or else the first of all.
fn port(scenario: &Scenario, name: Option<&str>) -> Result<LineId, String> {
    let lines = &scenario.lines;
    let Some(name) = name else { return Ok(lines.position(Line::is_sampled).unwrap_or_default()) };
    lines.position(|line| line.name == name).ok_or_else(|| {
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        api::unknown("port", name, &names)
    })
}

fn word<'a>(request: &'a Map<String, Json>, key: &str) -> Result<&'a str, String> {
    let missing = || format!("a request needs {key}, a text");
    request.get(key).and_then(Json::as_str).ok_or_else(missing)
}

fn number(request: &Map<String, Json>, key: &str) -> Result<u64, String> {
    let missing = || format!("a request needs {key}, a whole number from 0 on");
    request.get(key).and_then(Json::as_u64).ok_or_else(missing)
}

fn unknown_handle(handle: u64) -> String {
    format!("no run is open under the handle {handle}")
}

const REQUESTS: [&str; 9] = ["open", "go", "when", "close", "difference", "run", "toml", "why", "policies"];

#[cfg(test)]
mod tests {
    use super::*;

    const LAN: &str = include_str!("../../../scenarios/lan.toml");

    fn ask(runs: &mut OpenRuns, request: &Json) -> Json {
        serde_json::from_str(&runs.answer(&request.to_string())).unwrap()
    }

    fn open(runs: &mut OpenRuns, policy: &str) -> Json {
        let policy = format!("port.bottleneck.admission={{policy='{policy}'}}");
        let sets = ["duration=300 ms", "warmup=50 ms", &policy];
        ask(runs, &json!({ "do": "open", "text": LAN, "name": "lan.toml", "sets": sets }))
    }

    #[test]
    fn a_run_is_opened_looked_at_and_closed() {
        let mut runs = OpenRuns::default();
        let opened = open(&mut runs, "epd");
        assert_eq!(
            opened["scenario"]["ports"][opened["scenario"]["port"].as_u64().unwrap() as usize]["name"],
            "bottleneck"
        );
        assert_eq!(opened["scenario"]["thresholds"], json!([["threshold", 6554.0]]));
        assert_eq!(opened["scenario"]["policies"]["admission"]["policy"], "epd");
        let go = |to: u64| json!({ "do": "go", "handle": 1, "to": to, "have": 1 });
        let picture = ask(&mut runs, &go(200_000_000_000));
        assert_eq!(picture["now"], 200_000_000_000_u64);
        let (units, cells) = (picture["units"].as_array().unwrap(), picture["occupancy"].as_u64().unwrap());
        assert_eq!(units.len() as u64, 6 * cells);
        assert!(
            picture["records"].as_array().unwrap().len() == 7 * 4096 && picture["missed"].as_u64() > Some(0)
        );
        assert!(picture["flows"][0]["window"]["cwnd"].as_u64() > Some(0));
        assert!(picture["rows"].as_array().unwrap().len() > 1300);
        assert_eq!(ask(&mut runs, &json!({ "do": "close", "handle": 1 })), json!({}));
        assert_eq!(ask(&mut runs, &go(0))["error"], "no run is open under the handle 1");
    }

    #[test]
    fn the_state_of_policies_and_the_losses_by_intent_are_shown() {
        let sets = [
            "duration=200 ms",
            "warmup=0 s",
            "port.bottleneck.admission={policy='red'}",
            "loss=[{link='bottleneck',flow='flow1',cells=[2]}]",
        ];
        let mut runs = OpenRuns::default();
        let opened = ask(&mut runs, &json!({ "do": "open", "text": LAN, "name": "lan.toml", "sets": sets }));
        let scenario = &opened["scenario"];
        assert_eq!(scenario["state"], json!([["average", null], ["max_p", null]]));
        let losses = [r#"{ link = "bottleneck", flow = "flow1", cells = [2] }"#];
        assert_eq!(scenario["losses"], json!(losses));
        let picture =
            ask(&mut runs, &json!({ "do": "go", "handle": 1, "to": 199_000_000_000_u64, "have": 0 }));
        let averages = picture["rows"].as_array().unwrap().iter().map(|row| row[6][0].as_f64().unwrap());
        assert!(averages.clone().fold(0.0, f64::max) > 100.0, "cells");
        assert_eq!(averages.take(1).collect::<Vec<_>>(), [0.0]);
    }

    #[test]
    fn of_many_flows_those_that_pass_the_port_are_listed() {
        let text = include_str!("../../../scenarios/chip.toml");
        let open = |port: &str| {
            let request = json!({ "do": "open", "text": text, "name": "chip.toml", "port": port });
            ask(&mut OpenRuns::default(), &request)["scenario"].clone()
        };
        let scenario = open("to-store1");
        let names = |list: &str| -> Vec<String> {
            let numbers = scenario[list].as_array().unwrap().iter();
            numbers.map(|at| scenario["flows"][at.as_u64().unwrap() as usize].to_string()).collect()
        };
        assert!(scenario["flows"].as_array().unwrap().len() > 16);
        assert_eq!(names("listed"), names("passing"));
        assert!(names("passing").len() < 16, "{:?}", names("passing"));
        let all: Vec<u64> = (0..16).collect();
        assert_eq!(open("to-aggregator")["listed"], json!(all));
    }

    #[test]
    fn a_seed_of_64_bits_is_a_text_of_digits() {
        let mut runs = OpenRuns::default();
        let sets = ["duration=20 ms", "warmup=0 s"];
        let mut run = |seed: Json| {
            ask(
                &mut runs,
                &json!({ "do": "run", "text": LAN, "name": "lan.toml", "sets": sets, "seed": seed }),
            )
        };
        assert_eq!(run(json!(u64::MAX.to_string()))["seed"], u64::MAX);
        assert_eq!(run(json!("9007199254740993"))["seed"], 9_007_199_254_740_993_u64);
        for wrong in
            [json!("abc"), json!("18446744073709551616"), json!(-1), json!(1.5), json!(null), json!("")]
        {
            let refused = format!("seed must be a whole number from 0 to 18446744073709551615, not {wrong}");
            assert_eq!(run(wrong)["error"], refused);
        }
    }

    #[test]
    fn a_search_ends_at_its_limit_and_continues() {
        let mut runs = OpenRuns::default();
        open(&mut runs, "epd");
        open(&mut runs, "ppd");
        let when = |until: u64| json!({ "do": "when", "handle": 1, "event": "drop", "until": until });
        assert_eq!(ask(&mut runs, &when(2_000_000_000)), json!({ "time": null, "seen": 2_000_000_000_u64 }));
        let compare = |until: u64| json!({ "do": "difference", "a": 1, "b": 2, "until": until });
        let part = ask(&mut runs, &compare(2_000_000_000));
        assert_eq!((&part["difference"], &part["seen"]), (&Json::Null, &json!(2_000_000_000_u64)));
        let whole = ask(&mut runs, &json!({ "do": "difference", "a": 1, "b": 2 }));
        assert_eq!(ask(&mut runs, &compare(300_000_000_000)), whole);
        assert!(whole["difference"]["time"].as_u64() > Some(2_000_000_000));
    }

    #[test]
    fn a_program_that_cannot_compute_a_decision_is_reported_as_by_a_run() {
        let code = "['r0 = x.now_ps', 'r1 = 100000000000', 'r0 = r0 // r1', 'r1 = r1 // r0', 'accept']";
        let program = format!("port.bottleneck.admission={{policy='program',asks='unit',code={code}}}");
        let scenario =
            json!({ "text": LAN, "name": "lan.toml", "sets": ["duration=300 ms", "warmup=50 ms", program] });
        let with = |what: &str| {
            let mut request = scenario.clone();
            request["do"] = what.into();
            request
        };
        let mut runs = OpenRuns::default();
        let run = ask(&mut runs, &with("run"))["error"].clone();
        assert!(run.as_str().unwrap().contains("a divisor must not be 0"), "{run}");
        ask(&mut runs, &with("open"));
        let mut go = |to: u64| ask(&mut runs, &json!({ "do": "go", "handle": 1, "to": to }));
        assert_eq!(go(200_000_000_000)["error"], run);
        assert_eq!(go(0)["now"], 0, "before the failure there is something to see");
    }

    #[test]
    fn the_policy_of_a_port_that_shares_a_memory_is_that_of_the_memory() {
        let text = include_str!("../../../scenarios/chip.toml");
        let opened =
            ask(&mut OpenRuns::default(), &json!({ "do": "open", "text": text, "name": "chip.toml" }));
        assert_eq!(opened["scenario"]["policies"]["admission"]["policy"], "dynamic-threshold");
    }

    #[test]
    fn two_runs_are_compared_by_their_handles() {
        let mut runs = OpenRuns::default();
        open(&mut runs, "epd");
        open(&mut runs, "ppd");
        let compare = |b: u64| json!({ "do": "difference", "a": 1, "b": b });
        assert_eq!(ask(&mut runs, &compare(1))["difference"], Json::Null);
        let found = ask(&mut runs, &compare(2))["difference"].clone();
        assert!(
            found["time"].as_u64() > Some(0) && found["records"][0]["what"] != found["records"][1]["what"]
        );
    }

    #[test]
    fn a_run_gives_the_document_of_the_command() {
        let request = json!({ "do": "run", "text": LAN, "name": "lan.toml", "sets": ["duration=100 ms", "warmup=0 s"] });
        let sets = ["duration=100 ms", "warmup=0 s"].map(String::from);
        let native = Request { text: LAN, name: "lan.toml", sets: &sets, ..Request::default() };
        assert_eq!(
            OpenRuns::default().answer(&request.to_string()),
            api::run(&native, || 0.0).unwrap().to_string()
        );
    }

    #[test]
    fn a_scenario_that_is_written_runs_as_the_one_with_overrides() {
        let scenario =
            json!({ "text": LAN, "name": "lan.toml", "sets": ["duration=100 ms", "warmup=0 s"], "seed": 5 });
        let with = |what: &str| {
            let mut request = scenario.clone();
            request["do"] = what.into();
            request
        };
        let mut runs = OpenRuns::default();
        let text = ask(&mut runs, &with("toml"))["text"].clone();
        let again = ask(&mut runs, &json!({ "do": "run", "text": text, "name": "written.toml" }));
        let expected = ask(&mut runs, &with("run"));
        assert_eq!(again["seed"], 5);
        assert_eq!((&again["ports"], &again["flows"]), (&expected["ports"], &expected["flows"]));
    }

    #[test]
    fn what_is_wrong_with_a_scenario_is_said_with_its_place() {
        let mut runs = OpenRuns::default();
        let wrong = LAN.replace("epd", "eqd");
        let answer = ask(&mut runs, &json!({ "do": "open", "text": wrong, "name": "mine.toml" }));
        let error = answer["error"].as_str().unwrap();
        assert!(error.starts_with("mine.toml:") && error.contains("epd"), "{error}");
        let answer =
            ask(&mut runs, &json!({ "do": "open", "text": LAN, "name": "lan.toml", "port": "bottlneck" }));
        assert!(answer["error"].as_str().unwrap().contains("did you mean \"bottleneck\""), "{answer}");
    }

    #[test]
    fn a_request_that_lacks_something_says_what() {
        let mut runs = OpenRuns::default();
        for (request, part) in [
            (json!({}), "needs do"),
            (json!({ "do": "go", "handle": -1, "to": 0 }), "needs handle"),
            (json!({ "do": "go", "handle": 1, "to": "1 s" }), "needs to"),
            (json!({ "do": "when", "handle": 1, "event": "dorp" }), "did you mean \"drop\""),
            (json!([]), "JSON object"),
            (json!({ "do": "opne" }), "did you mean \"open\""),
        ] {
            let answer = ask(&mut runs, &request);
            assert!(answer["error"].as_str().unwrap().contains(part), "{request}: {answer}");
        }
        assert!(runs.answer("{").contains("a request is JSON"));
    }
}
