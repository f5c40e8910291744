//! Every scenario file of the repository loads, passes the audit and gives the same bytes twice.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use pushout_core::api::{self, Caller, CheckedScenario, Request};
use pushout_core::report::Listing;
use pushout_core::units::{Span, Time};

/// Long enough for the first losses and retransmissions of a local network, short enough for a test.
const SHORT: [&str; 2] = ["duration=300 ms", "warmup=50 ms"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The TOML and JSON files of a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_scenario =
        |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml" || extension == "json");
    let mut files: Vec<_> = entries.filter(is_scenario).collect();
    files.sort();
    files
}

fn check(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let name = path.to_string_lossy();
    let sets = SHORT.map(String::from);
    let request = Request { text: &text, name: &name, sets: &sets, audit: true, ..Request::default() };
    let document = api::run(&request, || 0.0).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(document["audit"]["failures"].as_array().unwrap().len(), 0, "{name}: {:#}", document["audit"]);
    let hops = ["cell_hops", "packet_hops"].map(|hops| document["engine"][hops].as_u64().unwrap());
    assert!(hops.iter().sum::<u64>() > 0, "{name}: nothing happens in {SHORT:?}");
    assert_eq!(document.to_string(), api::run(&request, || 0.0).unwrap().to_string(), "{name}");
}

#[test]
fn every_named_scenario_passes_the_audit_and_repeats_itself() {
    let mut files = files(&root().join("scenarios"));
    files.retain(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("sweep")));
    assert!(!files.is_empty());
    files.iter().for_each(|path| check(path));
}

#[test]
fn every_scenario_of_a_study_passes_the_audit_and_repeats_itself() {
    let studies = fs::read_dir(root().join("studies")).unwrap().map(|entry| entry.unwrap().path());
    let mut studies: Vec<_> = studies.filter(|path| path.is_dir()).collect();
    studies.sort();
    assert!(!studies.is_empty());
    for study in studies {
        let others = ["study.toml", "findings.json", "full.json", "prose.json", "single.json"];
        let text = fs::read_to_string(study.join("study.toml")).unwrap();
        let asks_for_worst = |path: &PathBuf| {
            path.file_name().is_some_and(|name| text.contains(&format!("worst = \"{}\"", name.display())))
        };
        let is_scenario =
            |path: &PathBuf| !others.iter().any(|other| path.ends_with(other)) && !asks_for_worst(path);
        let scenarios = files(&study).into_iter().filter(is_scenario);
        scenarios.for_each(|path| check(&path));
    }
}

#[test]
fn a_run_reports_its_progress_and_gives_equal_bytes() {
    for (name, engine) in [
        ("lan.toml", "fast"),
        ("lan.toml", "reference"),
        ("w3-100.toml", "fast"),
        ("mux-poisson.toml", "fast"),
    ] {
        let text = fs::read_to_string(root().join("scenarios").join(name)).unwrap();
        let (sets, engine) = (SHORT.map(String::from), Some(engine));
        let request = Request { text: &text, name, sets: &sets, engine, ..Request::default() };
        let told = RefCell::new(Vec::new());
        let reached = |now: Time, duration: Span| told.borrow_mut().push((now, duration));
        let checked = CheckedScenario::of(&text, name, &sets, engine).unwrap();
        let caller = Caller { seconds: &|| 0.0, reached: &reached };
        let report = checked.run(None, false, Listing::All, caller).unwrap();
        assert_eq!(report, api::run(&request, || 0.0).unwrap().to_string(), "{name}");
        let told = told.into_inner();
        let (duration, end) = (Span::millis(300), Time::ZERO + Span::millis(300));
        assert!(told.iter().all(|(_, until)| *until == duration), "{name}");
        assert!(told.is_sorted_by_key(|(now, _)| *now), "{name}: time does not go back");
        assert_eq!((told[0].0, told[told.len() - 1].0), (Time::ZERO, end), "{name}");
        assert!(told.len() > 10, "{name}: told {} times", told.len());
    }
}
