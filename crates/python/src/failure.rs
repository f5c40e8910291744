//! Failures of a call: a refused scenario, or a fault of the simulator. A panic becomes one message, with its place and
//! the request, and never unwinds into Python.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};

use pushout_core::scenario::{Refusal, RequestPart};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pyo3::import_exception!(pushout.errors, ScenarioError);
pyo3::import_exception!(pushout.errors, InternalError);

/// Reason of a failed call.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The scenario is wrong.
    Scenario(Refusal),
    /// A variation of a scenario is wrong, the one with this number.
    Point(usize, Refusal),
    /// The simulator has a fault.
    Internal(String),
}

impl Failure {
    /// Say that the failure concerns the variation with this number.
    pub(crate) fn at(self, point: usize) -> Failure {
        match self {
            Failure::Scenario(refusal) => Failure::Point(point, refusal),
            other => other,
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        match failure {
            Failure::Scenario(refusal) => refused(refusal, None),
            Failure::Point(point, refusal) => refused(refusal, Some(point)),
            Failure::Internal(message) => InternalError::new_err(message),
        }
    }
}

/// Build the exception about a scenario, or about the variation of it with this number, with the part that is wrong.
fn refused(Refusal { message, part, further }: Refusal, point: Option<usize>) -> PyErr {
    let error = ScenarioError::new_err(message);
    let told = Python::attach(|py| {
        let value = error.value(py);
        value.setattr("point", point)?;
        value.setattr("further", PyTuple::new(py, further)?)?;
        match part {
            Some(RequestPart::Set(number)) => value.setattr("set", number),
            Some(RequestPart::Figure(path)) => value.setattr("figure", path),
            Some(RequestPart::Engine) => value.setattr("engine", true),
            None => Ok(()),
        }
    });
    told.err().unwrap_or(error)
}

thread_local! {
    /// The last panic of this thread, for the message: the result of unwinding does not say where it was.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Store panics instead of printing them. With `RUST_BACKTRACE` they are printed as well.
pub(crate) fn remember_panics() {
    let wanted = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    let print = wanted.then(panic::take_hook);
    panic::set_hook(Box::new(move |info| {
        PANIC.with(|panic| *panic.borrow_mut() = panic_message(info));
        if let Some(print) = &print {
            print(info);
        }
    }));
}

fn panic_message(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text =
        payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    let what = text.unwrap_or("a failure without words");
    match info.location() {
        Some(place) => format!("{what} ({}:{})", place.file(), place.line()),
        None => what.to_string(),
    }
}

/// Run a function; `asked` describes the request in the message of a panic.
pub(crate) fn guarded<T, E: Into<Refusal>>(
    asked: impl FnOnce() -> String,
    function: impl FnOnce() -> Result<T, E>,
) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(function)) {
        Ok(answer) => answer.map_err(|why| Failure::Scenario(why.into())),
        Err(_) => {
            let what = PANIC.with(|panic| panic.take());
            let version = env!("CARGO_PKG_VERSION");
            Err(Failure::Internal(format!(
                "internal error in Pushout {version}: {what}\nThis is a mistake of the simulator, not yours. Please \
                 report it together with the scenario: {}",
                asked()
            )))
        }
    }
}

/// Describe a scenario as the command line would name it, for a report.
pub(crate) fn described(name: &str, sets: &[String], seed: Option<u64>, engine: Option<&str>) -> String {
    let mut words = vec![if name.is_empty() { "(a mapping)".to_string() } else { quoted(name) }];
    words.extend(sets.iter().map(|set| format!("--set {}", quoted(set))));
    words.extend(engine.map(|engine| format!("--engine {}", quoted(engine))));
    words.extend(seed.map(|seed| format!("--seed {seed}")));
    words.join(" ")
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+./:=,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
