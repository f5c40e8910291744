//! Python bindings: glue only. Texts go in, JSON texts come out; `python/pushout/_core.pyi` says the same in Python.

mod document;
mod failure;
mod memory;
mod path;
mod pool;
mod reached;
mod scenario;
mod trace;
mod worst;

use std::hint::black_box;
use std::time::Instant;

use pushout_core::api;
use pushout_core::engine;
use pushout_core::report::WAITING;
use pushout_core::scenario::model::EngineKind;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyTuple};

use failure::{described, guarded};

#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::document::Document;

    #[pymodule_export]
    use super::path::Path;

    #[pymodule_export]
    use super::pool::{Points, Pool};

    #[pymodule_export]
    use super::reached::Reached;

    #[pymodule_export]
    use super::scenario::Scenario;

    #[pymodule_export]
    use super::trace::Trace;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        failure::remember_panics();
        let engines = EngineKind::WORDS.iter().map(|(word, _)| word);
        module.add("ENGINES", PyTuple::new(module.py(), engines)?)?;
        module.add("WAITING", WAITING.into_py_dict(module.py())?)
    }

    /// Version of the simulator.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Panic inside a guarded call, as a run could: the test of the message needs no real mistake.
    #[pyfunction]
    fn panic(name: &str, message: &str) -> PyResult<()> {
        let panic = || -> Result<(), String> { panic!("{message}") };
        Ok(guarded(|| described(name, &[], None, None), panic)?)
    }

    /// End the process with a code and a message as soon as it has more octets in memory than `limit` (Linux).
    #[pyfunction]
    fn limit_memory(limit: u64, message: String, code: i32) {
        memory::limit(limit, message, code);
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

    /// Return the message about an unknown name, with the nearest of those allowed: "unknown key …".
    #[pyfunction]
    fn unknown(what: &str, name: &str, allowed: Vec<String>) -> String {
        let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
        api::unknown(what, name, &allowed)
    }

    /// Return the fault of a scenario's name, if it has one.
    #[pyfunction]
    fn name_fault(name: &str) -> Option<String> {
        api::name_fault(name)
    }

    /// Return the message about a name that a report does not have among these; for one that it could have had, say
    /// when.
    #[pyfunction]
    fn no_entry(name: &str, names: Vec<String>) -> String {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        api::no_entry(name, &names)
    }

    /// Answer a question about the worst case of a policy; both are JSON texts. `announce` receives the most states
    /// and megabytes that the search can need.
    #[pyfunction]
    fn worst(py: Python<'_>, question: &str, announce: &Bound<'_, PyAny>) -> PyResult<String> {
        super::worst::ask(py, question, announce)
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
