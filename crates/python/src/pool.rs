//! Many short runs: scenarios checked once, threads that run them with one seed after another.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use pushout_core::api::{self, Base};
use pushout_core::scenario::Variation;
use pushout_core::scenario::model::Scenario;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::failure::{Failure, described, guarded};
use crate::reached::Reached;

/// A variation of a scenario that has been checked.
struct Point {
    scenario: Scenario,
    /// Identity without the seed; it holds for one version of the simulator.
    identity: String,
    /// Overrides of the request.
    sets: Vec<String>,
    asked: Arc<(String, Option<String>)>,
}

impl Point {
    /// Describe a request that repeats it.
    fn described(&self, seed: Option<u64>) -> String {
        let (name, engine) = &*self.asked;
        described(name, &self.sets, seed, engine.as_deref())
    }
}

/// Variations of one scenario, each checked once.
#[pyclass(frozen)]
pub(crate) struct Points {
    points: Vec<Arc<Point>>,
}

#[pymethods]
impl Points {
    /// Check every variation; the first that cannot be run raises `ScenarioError`, with its number as `point`.
    #[new]
    fn new(
        py: Python<'_>,
        text: String,
        name: String,
        points: Vec<Vec<String>>,
        engine: Option<String>,
        threads: usize,
    ) -> PyResult<Points> {
        let asked = Arc::new((name, engine));
        let (name, engine) = (asked.0.as_str(), asked.1.as_deref());
        let base = || Base::read(&text, name, engine);
        let points = py.detach(|| {
            let base = guarded(|| described(name, &[], None, engine), base)?;
            in_order(&points, threads, || {
                let mut check = base.checker();
                let asked = &asked;
                move |index, sets: &Vec<String>| {
                    let checked = guarded(|| described(name, sets, None, engine), || check(sets));
                    let Variation { scenario, identity } = checked.map_err(|failure| failure.at(index))?;
                    Ok(Arc::new(Point { scenario, identity, sets: sets.clone(), asked: Arc::clone(asked) }))
                }
            })
        });
        Ok(Points { points: points? })
    }

    /// Return the seed of each variation, and its identity without the seed; the identity holds for one version of the
    /// simulator.
    fn heads(&self) -> Vec<(u64, &str)> {
        self.points.iter().map(|point| (point.scenario.seed, point.identity.as_str())).collect()
    }

    /// Return the paths of all figures of runs of any variation: those of the summary, and these, which every variation
    /// must have; otherwise raise `ScenarioError`.
    fn figures(&self, py: Python<'_>, paths: Vec<String>, threads: usize) -> PyResult<Vec<String>> {
        let look = || {
            |_, point: &&Arc<Point>| {
                guarded(|| point.described(None), || api::figures(&point.scenario, &paths))
            }
        };
        let different: Vec<&Arc<Point>> = self.points.chunk_by(report_alike).map(|alike| &alike[0]).collect();
        let found = py.detach(|| in_order(&different, threads, look))?;
        Ok(found.into_iter().flatten().collect::<BTreeSet<String>>().into_iter().collect())
    }
}

/// Return whether the reports of two variations surely have figures with equal names: ports and rates do not change the
/// names, unless the readings of a policy are requested.
fn report_alike(one: &Arc<Point>, other: &Arc<Point>) -> bool {
    let (one, other) = (&one.scenario, &other.scenario);
    let metered = one.measure.meter.is_empty() || one.lines == other.lines;
    one.flows == other.flows
        && one.vcs == other.vcs
        && one.measure == other.measure
        && metered
        && one.lines.iter().map(|line| &line.name).eq(other.lines.iter().map(|line| &line.name))
}

/// Apply a function to items and their numbers on several threads, each of which makes its own function; returns the
/// results in order, or the first error.
fn in_order<T: Sync, R: Send, F: FnMut(usize, &T) -> Result<R, Failure>>(
    items: &[T],
    threads: usize,
    worker: impl Fn() -> F + Sync,
) -> Result<Vec<R>, Failure> {
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut function, mut done) = (worker(), Vec::new());
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return done };
            done.push((index, function(index, item)));
        }
    };
    let mut answers: Vec<(usize, Result<R, Failure>)> = thread::scope(|scope| {
        // if the system has no more threads, fewer do the work
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads.min(items.len())).map_while(spawn).collect();
        let mut answers = work();
        answers.extend(others.into_iter().flat_map(|other| other.join().expect("checks are guarded")));
        answers
    });
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// A run to be done.
struct Task {
    tag: u64,
    point: Arc<Point>,
    seed: u64,
    figures: Arc<Vec<String>>,
}

/// A finished run: its tag, its figures as JSON, and its seconds; or its failure.
type Done = Result<(u64, String, f64), Failure>;

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    done: Vec<Done>,
    closed: bool,
}

/// State that the threads of a pool share.
struct Shared {
    state: Mutex<State>,
    /// There is a task, or the pool is closed.
    wanted: Condvar,
    /// A run is done.
    finished: Condvar,
    /// The last task has begun.
    drained: Condvar,
    /// Progress of the run of each thread.
    reached: Vec<Reached>,
}

impl Shared {
    /// No thread panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Run one task after another until the pool is closed.
    fn work(&self, reached: &Reached) {
        let mut state = self.lock();
        while !state.closed {
            let Some(task) = state.tasks.pop_front() else {
                state = self.wanted.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if state.tasks.is_empty() {
                self.drained.notify_one();
            }
            drop(state);
            let done = task.run(reached);
            state = self.lock();
            reached.clear();
            state.done.push(done);
            self.finished.notify_one();
        }
    }
}

impl Task {
    fn run(self, reached: &Reached) -> Done {
        let point = &self.point;
        let measure =
            || reached.lend(|caller| api::measure(&point.scenario, self.seed, &self.figures, caller));
        let (figures, wall) = guarded(|| point.described(Some(self.seed)), measure)?;
        Ok((self.tag, figures.to_string(), wall))
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
        let reached = (0..threads.max(1)).map(|_| Reached::default()).collect();
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            wanted: Condvar::new(),
            finished: Condvar::new(),
            drained: Condvar::new(),
            reached,
        });
        for thread in 0..shared.reached.len() {
            let shared = Arc::clone(&shared);
            let work = move || shared.work(&shared.reached[thread]);
            thread::Builder::new().name("pushout".to_string()).spawn(work)?;
        }
        Ok(Pool { shared })
    }

    /// Add runs that measure these figures; each has a tag, the index of a point and a seed.
    fn submit(&self, points: &Points, tasks: Vec<(u64, usize, u64)>, figures: Vec<String>) -> PyResult<()> {
        let figures = Arc::new(figures);
        let task = |(tag, point, seed): (u64, usize, u64)| {
            let point = points.points.get(point).ok_or_else(|| format!("there is no point {point}"))?;
            Ok(Task { tag, point: Arc::clone(point), seed, figures: Arc::clone(&figures) })
        };
        let tasks: Vec<Task> =
            tasks.into_iter().map(task).collect::<Result<_, String>>().map_err(PyIndexError::new_err)?;
        self.shared.lock().tasks.extend(tasks);
        self.shared.wanted.notify_all();
        Ok(())
    }

    /// Wait up to `timeout` seconds for a finished run, then up to `linger` seconds for more as long as tasks wait for
    /// a thread, and return the finished runs. A failed run raises only after all runs finished before have been
    /// returned.
    fn wait(&self, py: Python<'_>, timeout: f64, linger: f64) -> PyResult<Vec<(u64, String, f64)>> {
        let done = py.detach(|| {
            let timeout = Duration::from_secs_f64(timeout);
            let none = |state: &mut State| state.done.is_empty();
            let waited = self.shared.finished.wait_timeout_while(self.shared.lock(), timeout, none);
            let state = waited.unwrap_or_else(PoisonError::into_inner).0;
            let (linger, more) =
                (Duration::from_secs_f64(linger), |state: &mut State| !state.tasks.is_empty());
            let waited = self.shared.drained.wait_timeout_while(state, linger, more);
            let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
            let (whole, failed): (Vec<Done>, Vec<Done>) = state.done.drain(..).partition(Result::is_ok);
            if whole.is_empty() {
                return failed;
            }
            state.done = failed;
            whole
        });
        Ok(done.into_iter().collect::<Result<_, _>>()?)
    }

    /// Return the number of runs in progress, each counted by the share of it that is done.
    fn under_way(&self) -> f64 {
        self.shared.reached.iter().map(Reached::share).sum()
    }

    /// Drop the tasks that have not begun; each thread ends with its present run.
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
