//! The worst case of a policy: a question and its answer are JSON texts.

use std::sync::{Mutex, PoisonError};

use pushout_worst::{Failure as Unanswered, Question, Watch};
use pyo3::prelude::*;

use crate::failure::{Failure, ScenarioError, guarded};

pyo3::import_exception!(pushout.errors, StatesError);

/// Answer a question without the interpreter's lock; signals, as from Ctrl-C, end the search.
pub(crate) fn ask(py: Python<'_>, question: &str) -> PyResult<String> {
    let signal = Mutex::new(None);
    let is_over = || match Python::attach(|py| py.check_signals()) {
        Ok(()) => false,
        Err(error) => {
            *signal.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            true
        }
    };
    let search = || Ok::<_, String>(Question::ask(question, Watch { is_over: &is_over }));
    let answer = py.detach(|| guarded(|| question.to_string(), search));
    match answer? {
        Ok(document) => Ok(document),
        Err(Unanswered::Interrupted) => {
            let signal = signal.into_inner().unwrap_or_else(PoisonError::into_inner);
            Err(signal.expect("a signal has ended the search"))
        }
        Err(limit @ Unanswered::States(_)) => Err(StatesError::new_err(limit.to_string())),
        Err(wrong @ Unanswered::Refused(_)) => Err(ScenarioError::new_err(wrong.to_string())),
        Err(fault @ Unanswered::Certificate(_)) => Err(Failure::Internal(fault.to_string()).into()),
    }
}
