"""Have points run often enough, and nothing twice."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pushout import _core
from pushout.question import QuestionError
from pushout.question.executor import Done, Task, Variations
from pushout.question.session import Session
from pushout.question.store import Run
from pushout.simulate import SEED_LIMIT, TICK_S
from pushout.source import Source
from pushout.stats import AGREEING, interval

SUMMARY = "summary."
"""Figures of the summary are always measured."""

CHUNK = 2000
"""Points that are worth looking after at a time; the memory that a sweep needs does not grow with it."""


def numbers(runs: Sequence[Run], path: str) -> list[float]:
    """What runs measured of a single figure, but for those that measured nothing."""
    values = [run.figures[path] for run in runs if run.figures.get(path) is not None]
    if any(isinstance(value, list) for value in values):
        raise QuestionError(f"{path} is a list in every run, and what is asked for is a single figure")
    return values


@dataclass(frozen=True)
class Fixed:
    """So many replications of every point."""

    reps: int

    @property
    def least(self) -> int:
        """With how many to begin."""
        return self.reps

    @property
    def most(self) -> int:
        """How many there may be."""
        return self.reps

    def more(self, runs: Sequence[Run]) -> int:
        """How many there should be, given those that there are."""
        return self.reps


@dataclass(frozen=True)
class Precision:
    """Replications until the 95 % interval of the mean of a figure is within ± `relative` of it (sequential stopping).

    A. M. Law, "Simulation Modeling and Analysis", section 9.4.1. The number of runs follows from the runs of the
    point alone, so it does not depend on what else is run, nor where. Runs that all give the same have an interval
    without width and are no proof of precision: they are believed when there are `AGREEING` of them.
    """

    relative: float
    of: str = "summary.goodput_ratio"
    least: int = 5
    most: int = 100

    def more(self, runs: Sequence[Run]) -> int:
        """How many there should be: as the interval shrinks like 1/√n, but at most twice as many at once."""
        values = numbers(runs, self.of)
        if len(values) < 2:
            return self.most if len(runs) >= self.least else self.least
        if min(values) == max(values):
            wanted = len(runs) + AGREEING - len(values)  # those that measured nothing do not count
            return len(runs) if wanted <= len(runs) else min(self.most, wanted, 2 * len(runs))
        estimate = interval(values)
        mean, (_, high) = estimate["mean"], estimate["ci95"] or (0.0, math.inf)
        half, allowed = high - mean, self.relative * abs(mean)
        if half <= allowed:
            return len(runs)
        growth = min(2.0, (half / allowed) ** 2) if allowed else 2.0
        return min(self.most, max(len(runs) + 1, math.ceil(len(runs) * growth)))


class Replications(Protocol):
    """How often a point is run."""

    @property
    def least(self) -> int:
        """With how many to begin."""
        ...

    @property
    def most(self) -> int:
        """How many there may be."""
        ...

    def more(self, runs: Sequence[Run]) -> int:
        """How many there should be, given those that there are."""
        ...


@dataclass
class Counts:
    """How many runs there were: in all, and of them how many had to be computed."""

    runs: int = 0
    computed: int = 0


@dataclass
class Campaign:
    """Runs of one scenario: where they are kept, where they are done, what is measured besides the summary."""

    source: Source
    session: Session
    figures: Sequence[str] = ()
    engine: str | None = None
    seed: int | None = None
    counts: Counts = field(default_factory=Counts)

    def measure(self, points: Sequence[Sequence[str]], rule: Replications, *, later: int = 0) -> Iterator[list[Run]]:
        """The runs of each point, in order of their seeds, as they are complete; points come in their order.

        They are all looked after at once: no more than `CHUNK` of them. `later` is how many runs are known to
        follow, for the progress.
        """
        return _Chunk(self, points, rule, later).runs()


class _Chunk:
    """Some points, all of them prepared: what each has, what it still wants, what is on its way."""

    def __init__(self, campaign: Campaign, points: Sequence[Sequence[str]], rule: Replications, later: int) -> None:
        self.campaign = campaign
        self.rule = rule
        self.variations = Variations(campaign.source, [list(sets) for sets in points], campaign.engine)
        asked = campaign.session.executor.prepare(self.variations, campaign.figures)
        self.seeds = [seed for seed, _ in asked]
        self.keys = [campaign.session.store.key(identity) for _, identity in asked]
        self.kept = campaign.session.store.find(self.keys)
        self.wanted = [0] * len(points)
        self.missing: list[set[int]] = [set() for _ in points]
        self.tags: list[tuple[int, int]] = []
        self.tasks: list[Task] = []
        self.waiting: dict[tuple[bytes, int], list[int]] = {}
        self.ready: dict[int, list[Run]] = {}
        self.later = later
        self.orders: dict[tuple[str, ...], tuple[str, ...]] = {}

    def runs(self) -> Iterator[list[Run]]:
        """The runs of each point, in the order of points."""
        executor = self.campaign.session.executor
        for point in range(len(self.keys)):
            self._want(point, self.rule.least)
        self._submit()
        following = 0
        try:
            while following < len(self.keys):
                while following in self.ready:
                    yield self.ready.pop(following)
                    following += 1
                if self.waiting:
                    self._take(executor.wait(TICK_S))
        finally:
            if self.waiting:
                self._keep(executor.wait(0.0))

    def _want(self, point: int, count: int) -> None:
        """A point is to have so many runs: submit those that are not kept, or see whether these are enough."""
        first = self.campaign.seed if self.campaign.seed is not None else self.seeds[point]
        if first + self.rule.most > SEED_LIMIT:
            raise _core.ScenarioError(f"seed {first} leaves no room for {self.rule.most} replications below 2^64")
        kept = self.kept[self.keys[point]]
        while True:
            seeds = range(first, first + count)
            self.missing[point] = {seed for seed in seeds if not self._serves(kept.get(seed))}
            self.wanted[point] = count
            if self.missing[point]:
                return self._order(point)
            runs = [self._trimmed(kept[seed]) for seed in seeds]
            more = self.rule.more(runs)
            if more <= count:
                break
            count = more
        self.campaign.counts.runs += len(runs)
        self.ready[point] = runs
        return None

    def _serves(self, run: Run | None) -> bool:
        """Whether a run that is kept has all figures that are asked for."""
        return run is not None and all(path in run.figures for path in self.campaign.figures)

    def _trimmed(self, run: Run) -> Run:
        """A run with what is asked for now, in this order; the store may know more of it."""
        names = tuple(run.figures)
        if names not in self.orders:
            summary = [path for path in names if path.startswith(SUMMARY)]
            self.orders[names] = tuple(dict.fromkeys((*summary, *self.campaign.figures)))
        wanted = self.orders[names]
        return run if wanted == names else run._replace(figures={path: run.figures[path] for path in wanted})

    def _order(self, point: int) -> None:
        """Have the missing runs of a point done with the next ones that are submitted."""
        for seed in sorted(self.missing[point]):
            waiting = self.waiting.setdefault((self.keys[point], seed), [])
            waiting.append(point)
            if len(waiting) == 1:
                self.tasks.append(Task(len(self.tags), point, seed))
                self.tags.append((point, seed))

    def _submit(self) -> None:
        if self.tasks:
            self.campaign.session.executor.submit(self.tasks)
            self.tasks = []

    def _take(self, done: list[Done]) -> None:
        """Runs are done: keep them, and see which points they complete."""
        for key, run in self._keep(done):
            for point in self.waiting.pop((key, run.seed)):
                self.missing[point].discard(run.seed)
                if not self.missing[point]:
                    self._want(point, self.wanted[point])
        self._submit()
        if self.campaign.session.progress:
            computed = self.campaign.counts.computed
            self.campaign.session.progress(computed, computed + len(self.waiting) + self.later)

    def _keep(self, done: list[Done]) -> list[tuple[bytes, Run]]:
        """Have the store keep runs, together with what it knows of them from before."""
        rows, runs = [], []
        for tag, text, wall_s in done:
            point, seed = self.tags[tag]
            key = self.keys[point]
            figures = _figures(text)
            if before := self.kept[key].get(seed):
                figures = {**before.figures, **figures}
                text = json.dumps(figures)
            rows.append((key, seed, text, wall_s))
            runs.append((key, Run(seed, figures, wall_s)))
        if rows:
            self.campaign.session.store.put(rows)
        for key, run in runs:
            self.kept[key][run.seed] = run
        self.campaign.counts.computed += len(runs)
        return runs


def _figures(text: str) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads(text)
    return figures
