"""Executors of runs: threads of the simulator, or any other `Executor`."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pushout import _core
from pushout.errors import ScenarioError
from pushout.excerpt import excerpt
from pushout.names.figures import computed, did_you_mean, near
from pushout.simulate import threads
from pushout.source import Source

LINGER_S = 0.1
"""Time for which results are collected before they are stored: a commit costs as much as many rows."""


class Variations(NamedTuple):
    """Points of one scenario: the overrides of each."""

    source: Source
    points: Sequence[Sequence[str]]
    engine: str | None


class Task(NamedTuple):
    """A run to execute: a tag that its result repeats, the index of its point, its seed."""

    tag: int
    point: int
    seed: int


Head = tuple[int, str]
"""A point's own seed, and its identity apart from seed and simulator."""


class Prepared(NamedTuple):
    """Checked points."""

    heads: list[Head]
    figures: list[str]
    """The paths of all figures that runs of any point measure."""


Done = tuple[int, str, float]
"""A finished run: its tag, its figures as JSON, the time of its event loop in seconds."""


def check(variations: Variations, figures: Sequence[str], threads: int) -> tuple[_core.Points, Prepared]:
    """Check points on threads of this process, so that mistakes are found before anything runs."""
    source, sets, engine = variations
    points = _core.Points(source.text, source.name, sets, engine, threads)
    try:
        measured = points.figures(list(figures), threads)
    except ScenarioError as error:
        raise _suggested(error) from None
    return points, Prepared(points.heads(), measured)


def _suggested(error: ScenarioError) -> ScenarioError:
    """Name in an error about a figure those that are near it."""
    if error.figure is not None and (named := near(error.figure)):
        error.args = (f"no figure {excerpt(error.figure)}: {did_you_mean(named)}",)
    elif error.figure is not None and (own := computed(error.figure)):
        error.args = (f"{error.args[0]}; computed: {', '.join(own)}",)
    return error


class Executor(Protocol):
    """Executes runs."""

    def prepare(self, variations: Variations, figures: Sequence[str]) -> Prepared:
        """Check points and that they have these figures, and make them the current points."""
        ...

    def submit(self, tasks: Sequence[Task]) -> None:
        """Submit runs of the current points."""
        ...

    def wait(self, timeout_s: float) -> list[Done]:
        """Return the runs finished since the last call; wait for the first."""
        ...

    def under_way(self) -> float:
        """Add up the fractions done of the runs in progress, as far as they are known."""
        ...

    def close(self) -> None:
        """Drop runs that have not begun."""
        ...


class Local:
    """Threads in this process. They do not hold the interpreter lock, so `jobs` threads use `jobs` cores."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = threads(jobs)
        self._pool = _core.Pool(self.jobs)
        self._points: _core.Points | None = None
        self._figures: list[str] = []

    def prepare(self, variations: Variations, figures: Sequence[str]) -> Prepared:
        """Check points and figures together."""
        self._points, prepared = check(variations, figures, self.jobs)
        self._figures = list(figures)
        return prepared

    def submit(self, tasks: Sequence[Task]) -> None:
        """Submit runs of the current points."""
        assert self._points is not None, "points are prepared before they are run"  # noqa: S101
        self._pool.submit(self._points, tasks, self._figures)

    def wait(self, timeout_s: float) -> list[Done]:
        """Return the runs finished since the last call."""
        return self._pool.wait(timeout_s, LINGER_S)

    def under_way(self) -> float:
        """Add up the fractions done of the runs in progress."""
        return self._pool.under_way()

    def close(self) -> None:
        """Drop runs that have not begun; a run in progress ends by itself."""
        self._pool.close()
