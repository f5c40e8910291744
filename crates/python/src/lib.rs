//! Python bindings: glue only. Texts go in, JSON texts come out; `python/pushout/_core.pyi` says the same in Python.

mod document;
mod failure;
mod pool;
mod reached;
mod trace;

use std::hint::black_box;
use std::time::Instant;

use pushout_core::api::{self, Request};
use pushout_core::engine;
use pushout_core::scenario::model::Engine;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use failure::{described, guarded};

/// What the functions below have in common: the scenario's text, a name for messages, overrides, seed and engine.
fn request<'a>(
    text: &'a str,
    name: &'a str,
    sets: &'a [String],
    seed: Option<u64>,
    engine: Option<&'a str>,
    audit: bool,
) -> Request<'a> {
    Request { text, name, sets, seed, engine, audit }
}

#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::document::Document;

    #[pymodule_export]
    use super::pool::{Points, Pool};

    #[pymodule_export]
    use super::reached::Reached;

    #[pymodule_export]
    use super::trace::Trace;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        failure::remember_panics();
        let engines = Engine::WORDS.iter().map(|(word, _)| word);
        module.add("ENGINES", PyTuple::new(module.py(), engines)?)
    }

    /// Version of the simulator.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Simulate once; the result as a JSON text. Other Python threads run meanwhile, and see in `reached` how far it has
    /// come.
    #[pyfunction]
    fn run(
        text: &str,
        name: &str,
        sets: Vec<String>,
        seed: Option<u64>,
        engine: Option<&str>,
        audit: bool,
        reached: &Bound<'_, Reached>,
    ) -> PyResult<String> {
        let (request, py, reached) =
            (request(text, name, &sets, seed, engine, audit), reached.py(), reached.get());
        let run = || reached.lend(|caller| api::run_to_text(&request, caller));
        Ok(py.detach(|| guarded(|| described(name, &sets, seed, engine), run))?)
    }

    /// Raise `ScenarioError` unless the scenario could be run; its warnings as a JSON list.
    #[pyfunction]
    fn validate(py: Python<'_>, text: &str, name: &str, sets: Vec<String>) -> PyResult<String> {
        let validate = || api::validate(&request(text, name, &sets, None, None, false));
        let warnings = py.detach(|| guarded(|| described(name, &sets, None, None), validate))?;
        Ok(warnings.to_string())
    }

    /// The scenario in full as canonical JSON: templates expanded, overrides applied, defaults filled in.
    #[pyfunction]
    fn explain(
        py: Python<'_>,
        text: &str,
        name: &str,
        sets: Vec<String>,
        seed: Option<u64>,
        engine: Option<&str>,
    ) -> PyResult<String> {
        let explain = || api::explain(&request(text, name, &sets, seed, engine, false));
        let document = py.detach(|| guarded(|| described(name, &sets, seed, engine), explain))?;
        Ok(document.to_string())
    }

    /// Why a scenario runs on the reference engine although it asks for the fast one, if it does.
    #[pyfunction]
    fn reference_because(
        py: Python<'_>,
        text: &str,
        name: &str,
        sets: Vec<String>,
    ) -> PyResult<Option<&'static str>> {
        let because = || api::reference_because(&request(text, name, &sets, None, None, false));
        Ok(py.detach(|| guarded(|| described(name, &sets, None, None), because))?)
    }

    /// What the queues of shared memories may hold: a line for each class of every pool.
    #[pyfunction]
    fn thresholds(py: Python<'_>, text: &str, name: &str, sets: Vec<String>) -> PyResult<Vec<String>> {
        let thresholds = || api::thresholds(&request(text, name, &sets, None, None, false));
        Ok(py.detach(|| guarded(|| described(name, &sets, None, None), thresholds))?)
    }

    /// Panic, guarded as every run is: how a mistake of the simulator is told can be seen without one.
    #[pyfunction]
    fn panic(name: &str, message: &str) -> PyResult<()> {
        let panic = || -> Result<(), String> { panic!("{message}") };
        Ok(guarded(|| described(name, &[], None, None), panic)?)
    }

    /// Seconds that `cells` cells take through a ring with early packet discard and counters, and nothing else: a lower
    /// bound for every simulator that handles each cell.
    #[pyfunction]
    fn floor(py: Python<'_>, cells: u64) -> f64 {
        py.detach(|| {
            let start = Instant::now();
            black_box(engine::floor::floor(black_box(cells)));
            start.elapsed().as_secs_f64()
        })
    }

    /// The message about a name that means nothing, with the nearest of those allowed: "unknown key …".
    #[pyfunction]
    fn unknown(what: &str, name: &str, allowed: Vec<String>) -> String {
        let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
        api::unknown(what, name, &allowed)
    }

    /// What is wrong with the name of a scenario, if anything.
    #[pyfunction]
    fn name_fault(name: &str) -> Option<String> {
        api::name_fault(name)
    }

    /// The message about a name that a report does not have beside these; one that it could have had says when.
    #[pyfunction]
    fn no_entry(name: &str, names: Vec<String>) -> String {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        api::no_entry(name, &names)
    }

    /// The JSON Schema of the scenario file.
    #[pyfunction]
    fn schema() -> String {
        api::schema().to_string()
    }

    /// The JSON Schema of the document of a run.
    #[pyfunction]
    fn result_schema() -> String {
        api::result_schema().to_string()
    }

    /// The pages of the documentation that are written from the declarations: their paths below `docs/` and texts.
    #[pyfunction]
    fn docs() -> Vec<(String, String)> {
        api::docs()
    }

    /// Every policy, scheduler, source, … with its parameters and its documentation, as a JSON list.
    #[pyfunction]
    fn policies() -> String {
        api::policies().to_string()
    }
}
