//! The worst case of a policy: a question and its answer are JSON texts.

use std::sync::{Mutex, PoisonError};

use pushout_worst::{Failure as Unanswered, Need, Question, Watch};
use pyo3::prelude::*;

use crate::failure::{Failure, ScenarioError, guarded};

pyo3::import_exception!(pushout.errors, StatesError);

/// Answer a question without the interpreter's lock; signals, as from Ctrl-C, end the search. Before it begins,
/// `announce` receives the most states that it can visit, and the megabytes that they take.
pub(crate) fn ask(py: Python<'_>, question: &str, announce: &Bound<'_, PyAny>) -> PyResult<String> {
    let signal = Mutex::new(None);
    let announce = announce.clone().unbind();
    let run = |action: &dyn Fn(Python<'_>) -> PyResult<()>| {
        let mut first = signal.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() {
            *first = Python::attach(action).err();
        }
        first.is_some()
    };
    let pass_on = |need: Need| {
        run(&|py| announce.call1(py, (need.states, need.megabytes())).map(|_| ()));
    };
    let is_over = || run(&|py| py.check_signals());
    let search = || Ok::<_, String>(Question::ask(question, Watch { is_over: &is_over, announce: &pass_on }));
    let answer = py.detach(|| guarded(|| question.to_string(), search));
    if let Some(error) = signal.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    match answer? {
        Ok(document) => Ok(document),
        Err(limit @ Unanswered::States(_)) => Err(StatesError::new_err(limit.to_string())),
        Err(wrong @ Unanswered::Refused(_)) => Err(ScenarioError::new_err(wrong.to_string())),
        Err(fault @ (Unanswered::Certificate(_) | Unanswered::Interrupted)) => {
            Err(Failure::Internal(fault.to_string()).into())
        }
    }
}
