"""Run scenarios, many at a time: the simulator lets go of the interpreter, so threads use every core."""

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import index
from typing import TYPE_CHECKING, TypeVar

from pushout import _core
from pushout.errors import ScenarioError
from pushout.excerpt import quoted
from pushout.limits import MOST_JOBS, MOST_REPS
from pushout.source import Source, plain

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pushout.document import Document

T = TypeVar("T")

SEED_LIMIT = 2**64

TICK_S = 0.2
"""How often the waiting thread looks up, to show progress and to notice Ctrl-C."""

AHEAD = 32
"""Tasks that wait for each thread, so that none has to wait for a task."""


class SeedError(ScenarioError):
    """A seed after which there are not enough."""


@dataclass(frozen=True)
class Job:
    """A scenario with its overrides: everything that defines a run but the seed."""

    source: Source
    sets: tuple[str, ...] = ()
    engine: str | None = None
    audit: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no engine's name, and what is neither true nor false."""
        if self.engine is not None:
            check_text("engine", self.engine)
        if not isinstance(plain(self.audit), bool):
            raise TypeError(f"audit is {quoted(self.audit)}: it is true or false")

    def report(self, seed: int | None, reached: _core.Reached | None = None) -> str:
        """Simulate once; the report is JSON. `reached` shows other threads how far the run has come."""
        source, reached = self.source, reached or _core.Reached()
        return _core.run(source.text, source.name, self.sets, seed, self.engine, self.audit, reached)

    def run(self, seed: int | None, reached: _core.Reached | None = None) -> "Document":
        """Simulate once."""
        document: Document = json.loads(self.report(seed, reached))
        return document

    def explain(self, seed: int | None = None) -> str:
        """The canonical JSON: two jobs with equal canonical JSON are the same experiment."""
        return _core.explain(self.source.text, self.source.name, self.sets, seed, self.engine)

    def seeds(self, first: int | None, reps: int) -> list[int]:
        """`first`, `first` + 1, …; the scenario's own seed is first unless one is given."""
        start = int(json.loads(self.explain())["seed"]) if first is None else first
        check_room(start, reps)
        return list(range(start, start + reps))


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_whole(name: str, value: int) -> None:
    """Refuse what is no whole number."""
    try:
        index(value)
    except TypeError:
        raise TypeError(f"{name} is {quoted(value)}: it is a whole number") from None


def check_text(name: str, value: str) -> str:
    """The value, unless it is no text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {quoted(value)}: it is a text")
    return value


def threads(jobs: int | None) -> int:
    """How many threads: `jobs`, or one for every core."""
    if jobs is None:
        return cores()
    check_whole("jobs", jobs)
    if not 1 <= jobs <= MOST_JOBS:
        raise ValueError(f"jobs is {jobs}: it takes from 1 to {MOST_JOBS} threads")
    return jobs


def check_seed(seed: int | None) -> None:
    """Refuse what is no seed."""
    if seed is None:
        return
    check_whole("seed", seed)
    if not 0 <= seed < SEED_LIMIT:
        raise ValueError(f"seed is {seed}: it is a whole number from 0 to 2^64 - 1")


def check_room(first: int, reps: int) -> None:
    """Refuse replications whose seeds would be too large."""
    if first + reps > SEED_LIMIT:
        raise SeedError(f"seed {first} leaves no room for {reps} replications below 2^64")


def check_reps(reps: int, least: int = 1) -> None:
    """Refuse too few replications, and more than anybody wants."""
    check_whole("reps", reps)
    if not least <= reps <= MOST_REPS:
        few = "a difference needs two replications at least" if least == 2 else "at least one replication is needed"
        raise ValueError(f"reps is {reps}: {few if reps < least else f'there can be {MOST_REPS}'}")


Progress = Callable[[float, float], None]
"""Called with how much is done and how much there is: runs (those under way by the part of them that is done), or the
simulated seconds of a single run."""


class UnderWay:
    """The runs that are under way, and how far each has come."""

    def __init__(self) -> None:
        self._runs: set[_core.Reached] = set()
        self._last = _core.Reached()

    def run(self, task: Callable[[_core.Reached], T]) -> T:
        """Do a task that runs once."""
        self._last = reached = _core.Reached()
        self._runs.add(reached)
        try:
            return task(reached)
        finally:
            self._runs.discard(reached)

    def share(self) -> float:
        """How many runs that comes to."""
        return sum(run.now_s / run.duration_s for run in list(self._runs) if run.duration_s)

    def telling(self, progress: Progress | None, total: int) -> Progress | None:
        """Have `progress` called with runs done and under way, or with the simulated time of a single one."""
        if progress is None:
            return None
        return partial(self._tell, progress) if total > 1 else partial(self._tell_seconds, progress)

    def _tell(self, progress: Progress, done: float, total: float) -> None:
        progress(min(done + self.share(), total), total)

    def _tell_seconds(self, progress: Progress, done: float, _total: float) -> None:
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
    """Do the tasks on `jobs` threads (default: every core) and give their results in order.

    Of tasks that are made on the way, `total` says how many there are. This thread only waits; it tells how many are
    done (`progress`) and which one was done now (`finished`). The first exception ends it: tasks that have not begun
    are dropped. So does Ctrl-C.
    """
    from concurrent.futures import ThreadPoolExecutor
    from queue import Empty, SimpleQueue

    count = threads(jobs)
    if total is None:
        tasks = list(tasks)
        total = len(tasks)
    pool = ThreadPoolExecutor(max_workers=count)
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
