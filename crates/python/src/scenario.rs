//! A scenario that is checked once, however often it runs.

use std::time::{Duration, Instant};

use pushout_core::api::CheckedScenario;
use pushout_core::report::Listing;
use pushout_core::serde_json;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::failure::{Failure, described, guarded};
use crate::reached::Reached;

/// A scenario that has been checked.
#[pyclass(frozen)]
pub(crate) struct Scenario {
    checked: CheckedScenario,
    /// Name of the request.
    name: String,
    sets: Vec<String>,
    engine: Option<String>,
}

#[pymethods]
impl Scenario {
    /// Check a scenario with its overrides; raises `ScenarioError` unless it could be run.
    #[new]
    fn new(
        py: Python<'_>,
        text: &str,
        name: String,
        sets: Vec<String>,
        engine: Option<String>,
    ) -> PyResult<Scenario> {
        let check = || CheckedScenario::of(text, &name, &sets, engine.as_deref());
        let asked = || described(&name, &sets, None, engine.as_deref());
        let checked = py.detach(|| guarded(asked, check))?;
        Ok(Scenario { checked, name, sets, engine })
    }

    /// The seed that it names.
    #[getter]
    fn seed(&self) -> u64 {
        self.checked.seed()
    }

    /// Its warnings as a JSON list.
    fn warnings(&self) -> String {
        self.checked.warnings().to_string()
    }

    /// The scenario in full as canonical JSON: templates expanded, overrides applied, defaults filled in.
    fn explain(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<String> {
        let document = py.detach(|| self.guarded(seed, || self.checked.explain(seed)))?;
        Ok(document.to_string())
    }

    /// Simulate once; returns the result as a JSON text, brief if `flows` limits the number of listed flows. Meanwhile
    /// other Python threads run and read the progress in `reached`.
    fn run(
        &self,
        seed: Option<u64>,
        audit: bool,
        flows: Option<usize>,
        reached: &Bound<'_, Reached>,
    ) -> PyResult<String> {
        let listing = flows.map_or(Listing::All, |flows| Listing::Brief { flows });
        let (py, reached) = (reached.py(), reached.get());
        let run = || reached.lend(|caller| self.checked.run(seed, audit, listing, caller));
        Ok(py.detach(|| self.guarded(seed, run))?)
    }

    /// Answer why a frame was lost, as JSON. `request` is JSON too; `rivals` are this scenario with other policies, each
    /// with its name. `progress` is called in turn with the number of a counterfactual and that of all; what it raises,
    /// and an interrupt, ends the search.
    fn why(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        request: &str,
        rivals: Vec<(String, Py<Scenario>)>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let request: serde_json::Value = serde_json::from_str(request).map_err(|why| value_error(&why))?;
        let rivals: Vec<(&str, &CheckedScenario)> =
            rivals.iter().map(|(name, other)| (name.as_str(), &other.get().checked)).collect();
        let mut teller = Teller { progress, last: Instant::now(), raised: None };
        let ask =
            || self.checked.why(seed, &request, &rivals, &mut |done, total| teller.goes_on(done, total));
        let answer = py.detach(|| self.guarded(seed, ask));
        match teller.raised {
            Some(raised) => Err(raised),
            None => Ok(answer?.to_string()),
        }
    }

    /// Return the reason for which it runs on the reference engine although it names the fast one, if it does.
    fn reference_because(&self) -> Option<&'static str> {
        self.checked.reference_because()
    }

    /// List the limits of the queues of shared memories: a line for each class of every pool.
    fn thresholds(&self) -> Vec<String> {
        self.checked.thresholds()
    }

    /// Write the delivery opportunities of a line as mahimahi does, until the end of the run.
    fn opportunities(&self, line: &str) -> PyResult<String> {
        Ok(self.guarded(None, || self.checked.opportunities(line))?)
    }

    /// Say which senders pace and by which rate: a line for each size of bursts.
    fn paced(&self) -> Vec<String> {
        self.checked.paced()
    }
}

/// Calls a function of Python from time to time, and notices interrupts.
struct Teller {
    progress: Option<Py<PyAny>>,
    last: Instant,
    raised: Option<PyErr>,
}

impl Teller {
    fn goes_on(&mut self, done: usize, total: usize) -> bool {
        if self.last.elapsed() < PAUSE && done > 0 {
            return true;
        }
        self.last = Instant::now();
        let tell = |py: Python<'_>| -> PyResult<()> {
            py.check_signals()?;
            self.progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (done, total)).map(drop))
        };
        self.raised = Python::attach(tell).err();
        self.raised.is_none()
    }
}

/// Time between two calls of a function that shows progress.
const PAUSE: Duration = Duration::from_millis(100);

fn value_error(why: &serde_json::Error) -> PyErr {
    PyValueError::new_err(format!("a request is JSON: {why}"))
}

impl Scenario {
    pub(crate) fn checked(&self) -> &CheckedScenario {
        &self.checked
    }

    /// Describe a request that repeats the run.
    pub(crate) fn described(&self, seed: Option<u64>, engine: Option<&str>) -> String {
        described(&self.name, &self.sets, seed, engine)
    }

    fn guarded<T>(
        &self,
        seed: Option<u64>,
        function: impl FnOnce() -> Result<T, pushout_core::scenario::Refusal>,
    ) -> Result<T, Failure> {
        guarded(|| self.described(seed, self.engine.as_deref()), function)
    }
}
