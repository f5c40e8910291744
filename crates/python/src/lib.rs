//! Python bindings: glue only. Texts go in, JSON texts come out; `python/pushout/_core.pyi` says the same in Python.

mod pool;
mod trace;

use std::hint::black_box;
use std::time::Instant;

use pushout_core::api::{self, Request};
use pushout_core::engine;
use pyo3::prelude::*;

pyo3::create_exception!(
    pushout._core,
    ScenarioError,
    pyo3::exceptions::PyValueError,
    "A scenario that cannot be read or run. The message names the file, line and column, the value and what is allowed."
);

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
    use super::ScenarioError;

    #[pymodule_export]
    use super::pool::{Points, Pool, identities};

    #[pymodule_export]
    use super::trace::Trace;

    /// Version of the simulator.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Simulate once; the result as a JSON text. Other Python threads run meanwhile.
    #[pyfunction]
    fn run(
        py: Python<'_>,
        text: &str,
        name: &str,
        sets: Vec<String>,
        seed: Option<u64>,
        engine: Option<&str>,
        audit: bool,
    ) -> PyResult<String> {
        py.detach(|| {
            let start = Instant::now();
            let clock = || start.elapsed().as_secs_f64();
            api::run(&request(text, name, &sets, seed, engine, audit), clock)
                .map(|document| document.to_string())
        })
        .map_err(ScenarioError::new_err::<String>)
    }

    /// Raise `ScenarioError` unless the scenario could be run.
    #[pyfunction]
    fn validate(py: Python<'_>, text: &str, name: &str, sets: Vec<String>) -> PyResult<()> {
        py.detach(|| api::validate(&request(text, name, &sets, None, None, false)))
            .map_err(ScenarioError::new_err::<String>)
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
        py.detach(|| api::explain(&request(text, name, &sets, seed, engine, false)))
            .map(|document| document.to_string())
            .map_err(ScenarioError::new_err::<String>)
    }

    /// Seconds that so many cells take through a ring with early packet discard and counters, and nothing else: the
    /// floor under every simulator that handles each cell.
    #[pyfunction]
    fn floor(py: Python<'_>, cells: u64) -> f64 {
        py.detach(|| {
            let start = Instant::now();
            black_box(engine::floor::floor(black_box(cells)));
            start.elapsed().as_secs_f64()
        })
    }

    /// The JSON Schema of the scenario file.
    #[pyfunction]
    fn schema() -> String {
        api::schema().to_string()
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
