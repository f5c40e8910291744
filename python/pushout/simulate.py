"""Run many scenarios at a time: the simulator releases the interpreter lock, so threads use every core."""

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from operator import index
from typing import TYPE_CHECKING, TypeVar

from pushout import _core
from pushout.errors import Argument, QuestionError, ScenarioError
from pushout.excerpt import quoted
from pushout.limits import MOST_JOBS, MOST_REPS
from pushout.running import NAME
from pushout.source import Source, plain

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pushout.document import Document
    from pushout.warning import Warned

T = TypeVar("T")

SEED_LIMIT = 2**64

TICK_S = 0.2
"""Interval at which the waiting thread wakes to show progress and to notice Ctrl-C."""

AHEAD = 32
"""Tasks queued for each thread, so that no thread runs dry."""


class SeedError(ScenarioError):
    """A seed is too large for the number of replications."""


@dataclass(frozen=True)
class Job:
    """A scenario with its overrides: everything that defines a run except the seed."""

    source: Source
    sets: tuple[str, ...] = ()
    engine: str | None = None
    audit: bool = False

    def __post_init__(self) -> None:
        """Refuse an engine that is not a string and an `audit` that is not a boolean."""
        if self.engine is not None:
            check_text("engine", self.engine)
        if not isinstance(plain(self.audit), bool):
            raise TypeError(f"audit must be true or false, not {quoted(self.audit)}")

    def __getstate__(self) -> dict[str, object]:
        """Leave out the checked scenario: another process checks it again."""
        return {name: value for name, value in vars(self).items() if name != "scenario"}

    @cached_property
    def scenario(self) -> _core.Scenario:
        """Check the scenario, once for all runs."""
        return _core.Scenario(*self.source, self.sets, self.engine)

    def warnings(self) -> list["Warned"]:
        """Return warnings about anything that may mislead."""
        warnings: list[Warned] = json.loads(self.scenario.warnings())
        return warnings

    def run(self, seed: int | None, reached: _core.Reached | None = None, *, flows: int | None = None) -> "Document":
        """Simulate once and return the document.

        `reached` shows other threads the progress of the run. With `flows` the document lists only this number of
        flows, ports that lost, marked or often queued units, and no circuits; `omitted` counts the others.
        """
        document: Document = json.loads(self.report(seed, reached, flows=flows))
        return document

    def report(self, seed: int | None, reached: _core.Reached | None = None, *, flows: int | None = None) -> str:
        """Simulate once and return the document as JSON."""
        return self.scenario.run(seed, self.audit, flows, reached or _core.Reached())

    def explain(self, seed: int | None = None) -> str:
        """Return the canonical JSON: two jobs with equal canonical JSON are the same experiment."""
        return self.scenario.explain(seed)

    def seeds(self, first: int | None, reps: int) -> list[int]:
        """List the seeds `first`, `first` + 1, …; by default the first is the scenario's own."""
        start = self.scenario.seed if first is None else first
        check_room(start, reps)
        return list(range(start, start + reps))


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_whole(name: str, value: int) -> None:
    """Refuse a value that is not an integer."""
    try:
        index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {quoted(value)}") from None


def check_text(name: str, value: str) -> str:
    """Return the value; refuse it if it is not a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {quoted(value)}")
    return value


def listed(argument: str, names: str | Iterable[str]) -> list[str]:
    """Return the names of an argument, which may be one text with commas; an empty one among them is a mistake."""
    parts = names.split(",") if isinstance(names, str) else list(names)
    found = [check_text(argument, part).strip() for part in parts]
    if found == [""]:
        return []
    if "" in found:
        raise QuestionError(Argument(argument), f" must have a name on each side of a comma, not {quoted(names)}")
    return found


def threads(jobs: int | None) -> int:
    """Return the number of threads: `jobs`, or one for every core."""
    if jobs is None:
        return cores()
    check_whole("jobs", jobs)
    if not 1 <= jobs <= MOST_JOBS:
        raise ValueError(f"jobs must be from 1 to {MOST_JOBS} threads, not {jobs}")
    return jobs


def check_seed(seed: int | None) -> None:
    """Refuse an invalid seed."""
    if seed is None:
        return
    check_whole("seed", seed)
    if not 0 <= seed < SEED_LIMIT:
        raise ValueError(f"seed must be an integer from 0 to 2^64 - 1, not {seed}")


def check_room(first: int, reps: int) -> None:
    """Refuse replications whose seeds would be too large."""
    if first + reps > SEED_LIMIT:
        raise SeedError(f"seed must be at most 2^64 - {reps} for {reps} replications, not {first}")


def check_reps(reps: int, least: int = 1) -> None:
    """Refuse too few replications, and more than any user can mean."""
    check_whole("reps", reps)
    if not least <= reps <= MOST_REPS:
        why = "; a difference needs two replications" if reps < least == 2 else ""
        raise ValueError(f"reps must be from {least} to {MOST_REPS}, not {reps}{why}")


Progress = Callable[[float, float], None]
"""Called with (done, total): runs, where a running one counts by the fraction done, or the simulated seconds of a
single run."""


class UnderWay:
    """The runs in progress, and how far each has come."""

    def __init__(self) -> None:
        self._runs: set[_core.Reached] = set()
        self._last = _core.Reached()

    def run(self, task: Callable[[_core.Reached], T]) -> T:
        """Run a task that makes one run."""
        self._last = reached = _core.Reached()
        self._runs.add(reached)
        try:
            return task(reached)
        finally:
            self._runs.discard(reached)

    def share(self) -> float:
        """Add up the fractions done of all runs in progress."""
        return sum(run.now_s / run.duration_s for run in list(self._runs) if run.duration_s)

    def telling(self, progress: Progress | None, total: int) -> Progress | None:
        """Wrap `progress` to receive runs done and in progress, or the simulated time of a single run."""
        if progress is None:
            return None
        return partial(self._tell, progress) if total > 1 else partial(self._show_seconds, progress)

    def _tell(self, progress: Progress, done: float, total: float) -> None:
        progress(min(done + self.share(), total), total)

    def _show_seconds(self, progress: Progress, done: float, _total: float) -> None:
        if self._last.duration_s:
            progress(self._last.now_s, self._last.duration_s)


def run_all(
    tasks: Iterable[Callable[[], T]],
    *,
    total: int | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    finished: Callable[[int], None] | None = None,
) -> list[T]:
    """Run the tasks on `jobs` threads (default: every core) and return their results in order.

    If `tasks` is lazy, `total` is its length. The calling thread only waits; it calls `progress` with the number done,
    and `finished` with the index of each task when it ends. The first exception, or Ctrl-C, ends the call: tasks that
    have not begun are dropped.
    """
    from concurrent.futures import ThreadPoolExecutor
    from queue import Empty, SimpleQueue

    count = threads(jobs)
    if total is None:
        tasks = list(tasks)
        total = len(tasks)
    pool = ThreadPoolExecutor(max_workers=count, thread_name_prefix=NAME)
    ended: SimpleQueue[Future[T]] = SimpleQueue()
    places: dict[Future[T], int] = {}
    results: dict[int, T] = {}
    following = iter(enumerate(tasks))

    def submit(most: int) -> None:
        for place, task in islice(following, most):
            future = pool.submit(task)
            places[future] = place
            future.add_done_callback(ended.put)

    try:
        submit(AHEAD * count)
        while len(results) < total:
            with suppress(Empty):
                future = ended.get(timeout=TICK_S)
                place = places.pop(future)
                results[place] = future.result()
                submit(1)
                if finished:
                    finished(place)
            if progress:
                progress(len(results), total)
        return [results[place] for place in range(total)]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
