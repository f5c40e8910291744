//! Many short runs: scenarios checked once, threads that run them with one seed after another.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pushout_core::api::{self, Request};
use pushout_core::scenario::model::Scenario;
use pyo3::prelude::*;

use crate::ScenarioError;

/// Variations of one scenario, each checked once.
#[pyclass(frozen)]
pub(crate) struct Points {
    scenarios: Vec<Arc<Scenario>>,
}

#[pymethods]
impl Points {
    /// Check every variation; the first that cannot be run raises `ScenarioError`.
    #[new]
    fn new(
        py: Python<'_>,
        text: String,
        name: String,
        points: Vec<Vec<String>>,
        engine: Option<String>,
        threads: usize,
    ) -> PyResult<Points> {
        let check = |sets: &Vec<String>| {
            let engine = engine.as_deref();
            let request = Request { text: &text, name: &name, sets, seed: None, engine, audit: false };
            request.scenario().map(Arc::new)
        };
        py.detach(|| in_order(&points, threads, check))
            .map(|scenarios| Points { scenarios })
            .map_err(ScenarioError::new_err::<String>)
    }

    /// Seed, duration (s) and warm-up (s) that each variation names.
    fn heads(&self) -> Vec<(u64, f64, f64)> {
        let head = |s: &Arc<Scenario>| (s.seed, s.duration.as_secs_f64(), s.warmup.as_secs_f64());
        self.scenarios.iter().map(head).collect()
    }

    /// Raise `ScenarioError` unless every variation has these figures.
    fn check(&self, py: Python<'_>, figures: Vec<String>, threads: usize) -> PyResult<()> {
        let check = |scenario: &Arc<Scenario>| api::check_figures(scenario, &figures);
        py.detach(|| in_order(&self.scenarios, threads, check))
            .map(drop)
            .map_err(ScenarioError::new_err::<String>)
    }
}

/// What identifies each variation of a scenario, seed apart, as long as the simulator is the same.
#[pyfunction]
pub(crate) fn identities(
    py: Python<'_>,
    text: &str,
    name: &str,
    points: Vec<Vec<String>>,
    engine: Option<&str>,
    threads: usize,
) -> PyResult<Vec<String>> {
    let identity = |sets: &Vec<String>| {
        let request = Request { text, name, sets, seed: None, engine, audit: false };
        api::identity(&request).map(|identity| identity.to_string())
    };
    py.detach(|| in_order(&points, threads, identity)).map_err(ScenarioError::new_err::<String>)
}

/// Apply a function on several threads; the answers in order, or the first error.
fn in_order<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    function: impl Fn(&T) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return done };
            done.push((index, function(item)));
        }
    };
    let mut answers: Vec<(usize, Result<R, String>)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(items.len())).map(|_| scope.spawn(work)).collect();
        let mut answers = work();
        answers.extend(others.into_iter().flat_map(|other| other.join().expect("no check panics")));
        answers
    });
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// A run to be done.
struct Task {
    tag: u64,
    scenario: Arc<Scenario>,
    seed: u64,
    figures: Arc<Vec<String>>,
}

/// A run that is done: its tag, its figures as JSON or what went wrong, and how long it took in seconds.
type Done = (u64, Result<String, String>, f64);

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    done: Vec<Done>,
    closed: bool,
}

/// What the threads of a pool share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// There is a task, or the pool is closed.
    wanted: Condvar,
    /// A run is done.
    finished: Condvar,
}

impl Shared {
    /// No thread panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Run one task after another until the pool is closed.
    fn work(&self) {
        let mut state = self.lock();
        while !state.closed {
            let Some(task) = state.tasks.pop_front() else {
                state = self.wanted.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let done = task.run();
            state = self.lock();
            state.done.push(done);
            self.finished.notify_one();
        }
    }
}

impl Task {
    fn run(self) -> Done {
        let start = Instant::now();
        let clock = || start.elapsed().as_secs_f64();
        let measure = || api::measure(&self.scenario, self.seed, &self.figures, clock);
        match catch_unwind(AssertUnwindSafe(measure)) {
            Ok(Ok((figures, wall))) => (self.tag, Ok(figures.to_string()), wall),
            Ok(Err(why)) => (self.tag, Err(why), 0.0),
            Err(_) => (self.tag, Err(format!("the simulator failed with seed {}", self.seed)), 0.0),
        }
    }
}

/// Threads that run tasks in the order in which they were submitted.
#[pyclass(frozen)]
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

#[pymethods]
impl Pool {
    #[new]
    fn new(threads: usize) -> PyResult<Pool> {
        let shared = Arc::new(Shared::default());
        for _ in 0..threads.max(1) {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name("pushout".to_string()).spawn(move || shared.work())?;
        }
        Ok(Pool { shared })
    }

    /// Add runs, each a tag, the index of a point and a seed, that are to measure these figures.
    fn submit(&self, points: &Points, tasks: Vec<(u64, usize, u64)>, figures: Vec<String>) {
        let figures = Arc::new(figures);
        let task = |(tag, point, seed): (u64, usize, u64)| Task {
            tag,
            scenario: Arc::clone(&points.scenarios[point]),
            seed,
            figures: Arc::clone(&figures),
        };
        self.shared.lock().tasks.extend(tasks.into_iter().map(task));
        self.shared.wanted.notify_all();
    }

    /// Wait up to `timeout` seconds for a run to be done, then a little for more, and hand over what there is.
    fn wait(&self, py: Python<'_>, timeout: f64, linger: f64) -> PyResult<Vec<(u64, String, f64)>> {
        let done = py.detach(|| {
            let timeout = Duration::from_secs_f64(timeout);
            let none = |state: &mut State| state.done.is_empty();
            let waited = self.shared.finished.wait_timeout_while(self.shared.lock(), timeout, none);
            let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !state.tasks.is_empty() && linger > 0.0 {
                drop(state);
                thread::sleep(Duration::from_secs_f64(linger));
                state = self.shared.lock();
            }
            std::mem::take(&mut state.done)
        });
        let done = done.into_iter().map(|(tag, figures, wall)| figures.map(|figures| (tag, figures, wall)));
        done.collect::<Result<_, _>>().map_err(ScenarioError::new_err::<String>)
    }

    /// Forget the tasks that have not begun; the threads end with the run that they are at.
    fn close(&self) {
        let mut state = self.shared.lock();
        state.tasks.clear();
        state.closed = true;
        self.shared.wanted.notify_all();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}
