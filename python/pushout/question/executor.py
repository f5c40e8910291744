"""Where runs are done: threads of the simulator, or whatever else can do the same."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pushout import _core
from pushout.simulate import threads
from pushout.source import Source

LINGER_S = 0.1
"""Results are collected this long before they are written down together: a commit costs as much as many rows."""


class Variations(NamedTuple):
    """Points of one scenario: what each of them overrides."""

    source: Source
    points: Sequence[Sequence[str]]
    engine: str | None


class Task(NamedTuple):
    """A run to be done: a tag that comes back with it, the index of its point, its seed."""

    tag: int
    point: int
    seed: int


Asked = tuple[int, str]
"""What a point asks for: the seed that it names, and what identifies it apart from seed and simulator."""


class Prepared(NamedTuple):
    """Points that have been checked."""

    asked: list[Asked]
    figures: list[str]
    """The paths of all figures that runs of any of them measure."""


Done = tuple[int, str, float]
"""A run that is done: its tag, its figures as JSON, the time of its event loop in seconds."""


def check(variations: Variations, figures: Sequence[str], threads: int) -> tuple[_core.Points, Prepared]:
    """Check points on threads of this process: a mistake is found before anything runs anywhere."""
    source, sets, engine = variations
    points = _core.Points(source.text, source.name, sets, engine, threads)
    measured = points.figures(list(figures), threads)
    return points, Prepared(points.heads(), measured)


class Executor(Protocol):
    """What does runs."""

    def prepare(self, variations: Variations, figures: Sequence[str]) -> Prepared:
        """Check points, and that they have these figures, and make them the current ones."""
        ...

    def submit(self, tasks: Sequence[Task]) -> None:
        """Add runs of the current points."""
        ...

    def wait(self, timeout_s: float) -> list[Done]:
        """The runs that have been done since; waits for the first."""
        ...

    def under_way(self) -> float:
        """The runs that are under way, each counted by the part of it that is done, as far as that is known."""
        ...

    def close(self) -> None:
        """Drop what has not begun."""
        ...


class Local:
    """Threads in this process. They do not need the interpreter, so `jobs` of them use as many cores."""

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = threads(jobs)
        self._pool = _core.Pool(self.jobs)
        self._points: _core.Points | None = None
        self._figures: list[str] = []

    def prepare(self, variations: Variations, figures: Sequence[str]) -> Prepared:
        """Check points and figures, both at once for all."""
        self._points, prepared = check(variations, figures, self.jobs)
        self._figures = list(figures)
        return prepared

    def submit(self, tasks: Sequence[Task]) -> None:
        """Add runs of the current points."""
        assert self._points is not None, "points are prepared before they are run"  # noqa: S101
        self._pool.submit(self._points, tasks, self._figures)

    def wait(self, timeout_s: float) -> list[Done]:
        """The runs that have been done since."""
        return self._pool.wait(timeout_s, LINGER_S)

    def under_way(self) -> float:
        """The runs that are under way, each counted by the part of it that is done."""
        return self._pool.under_way()

    def close(self) -> None:
        """Drop what has not begun; a run under way ends by itself."""
        self._pool.close()
