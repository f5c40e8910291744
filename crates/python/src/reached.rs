//! Progress of runs: numbers that simulating threads write and other threads read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use pushout_core::api::Caller;
use pushout_core::units::{Span, Time};
use pyo3::prelude::*;

/// Progress of one run.
#[pyclass(frozen)]
#[derive(Debug, Default)]
pub(crate) struct Reached {
    now_ps: AtomicU64,
    duration_ps: AtomicU64,
}

#[pymethods]
impl Reached {
    /// A run that has not begun.
    #[new]
    fn new() -> Reached {
        Reached::default()
    }

    /// Return the simulated time that it has reached, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        Span(self.now_ps.load(Ordering::Relaxed)).as_secs_f64()
    }

    /// The simulated time at which it ends, in seconds; 0 before it has begun.
    #[getter]
    fn duration_s(&self) -> f64 {
        Span(self.duration_ps.load(Ordering::Relaxed)).as_secs_f64()
    }
}

impl Reached {
    /// Return the share of the run that is done.
    pub(crate) fn share(&self) -> f64 {
        let (now, duration) = (self.now_s(), self.duration_s());
        if duration > 0.0 { now / duration } else { 0.0 }
    }

    /// Record that the run has reached this instant, and ends after `duration`.
    fn reach(&self, now: Time, duration: Span) {
        self.now_ps.store(now.since(Time::ZERO).0, Ordering::Relaxed);
        self.duration_ps.store(duration.0, Ordering::Relaxed);
    }

    /// Record that no run is in progress.
    pub(crate) fn clear(&self) {
        self.reach(Time::ZERO, Span::ZERO);
    }

    /// Run a function whose progress is reported here, with a clock that starts now.
    pub(crate) fn lend<T>(&self, run: impl FnOnce(Caller<'_>) -> T) -> T {
        let start = Instant::now();
        let seconds = || start.elapsed().as_secs_f64();
        run(Caller { seconds: &seconds, reached: &|now, duration| self.reach(now, duration) })
    }
}
