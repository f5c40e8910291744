"""Run every point as often as its rule requires, and no run twice."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pushout.names.computed import Scenes, is_computed, sources_of, value
from pushout.question.executor import Done, Task, Variations
from pushout.question.replications import Replications
from pushout.question.session import Session
from pushout.question.store import Run
from pushout.simulate import TICK_S, check_room
from pushout.source import Source

SUMMARY = "summary."
"""The figures of the summary, which are always measured."""

CHUNK = 2000
"""Points handled at a time, so that the memory of a sweep does not grow with its size."""


Later = Callable[[int, Sequence[int]], float]
"""Returns the runs expected besides those ordered, given the number of points and the orders of unfinished ones."""


def _none(_points: int, _wanted: Sequence[int]) -> float:
    """Expect no further runs."""
    return 0.0


Owned = Callable[[int, int], bool]
"""Returns whether a replication, counted from 0, of a point is to be run here; other processes run the others."""


def every(_point: int, _replication: int) -> bool:
    """Run every replication here."""
    return True


@dataclass
class Counts:
    """The number of runs computed, of a campaign and of its pilots."""

    computed: int = 0


@dataclass
class Campaign:
    """Runs of one scenario: their store, their executor, and the figures measured besides the summary."""

    source: Source
    session: Session
    figures: Sequence[str] = ()
    engine: str | None = None
    seed: int | None = None
    counts: Counts = field(default_factory=Counts)
    scenes: Scenes = field(init=False)
    """The scenarios of its points, for figures that are computed."""

    def __post_init__(self) -> None:
        self.scenes = Scenes(self.source, self.engine)

    def prepare(self, points: Sequence[Sequence[str]]) -> "Chunk":
        """Check at most `CHUNK` points and look up their finished runs; valid until other points are prepared."""
        return Chunk(self, points)


class Chunk:
    """Prepared points and their finished runs."""

    def __init__(self, campaign: Campaign, points: Sequence[Sequence[str]]) -> None:
        self.campaign = campaign
        store = campaign.session.store
        variations = Variations(campaign.source, [list(sets) for sets in points], campaign.engine)
        self._sources = sources_of(campaign.figures)
        asked, measured = campaign.session.executor.prepare(variations, self._sources)
        self.figures = [*measured, *(path for path in campaign.figures if is_computed(path))]
        """The paths of all figures that runs of any point have."""
        self._scenes = [campaign.scenes.of(sets) for sets in points]
        self._computed: dict[tuple[int, int], dict[str, Any]] = {}
        self.seeds = [seed for seed, _ in asked]
        self.keys = [store.key(identity) for _, identity in asked]
        self._known = store.find(self.keys)
        self._orders: dict[tuple[str, ...], tuple[str, ...]] = {}

    def runs(self, rule: Replications, *, later: Later = _none, owned: Owned = every) -> Iterator[list[Run]]:
        """Yield the runs of each point, in order of their seeds, when they are complete; points come in order.

        `later` estimates the runs that follow those ordered, for the progress. Runs that are not `owned` are left out;
        if the rule looks at runs, all of a point must be owned, or none.
        """
        return _Work(self, rule, later, owned).runs()

    def first_seed(self, point: int) -> int:
        """Return the seed of a point's first replication."""
        return self.seeds[point] if self.campaign.seed is None else self.campaign.seed

    def run(self, point: int, seed: int) -> Run | None:
        """Return a finished run with the figures asked for, in this order, if it has all of them."""
        run = self._known[self.keys[point]].get(seed)
        if run is None or any(path not in run.figures for path in self._sources):
            return None
        names = tuple(run.figures)
        if names not in self._orders:
            summary = [path for path in names if path.startswith(SUMMARY)]
            self._orders[names] = tuple(dict.fromkeys((*summary, *self.campaign.figures)))
        wanted = self._orders[names]
        if wanted == names:
            return run
        figures = {**run.figures, **self._computed_of(point, run)}
        return run._replace(figures={path: figures[path] for path in wanted})

    def _computed_of(self, point: int, run: Run) -> dict[str, Any]:
        """Return the figures of a run that are computed from others; the store keeps only those."""
        if (point, run.seed) not in self._computed:
            paths = filter(is_computed, self.campaign.figures)
            self._computed[point, run.seed] = {path: value(path, run.figures, self._scenes[point]) for path in paths}
        return self._computed[point, run.seed]

    def keep(self, done: Sequence[tuple[int, int, str, float]]) -> None:
        """Store runs (point, seed, figures, time) together with figures of them stored before."""
        rows = []
        for point, seed, text, wall_s in done:
            known = self._known[self.keys[point]]
            figures: dict[str, Any] = json.loads(text)
            if before := known.get(seed):
                figures = {**before.figures, **figures}
                text = json.dumps(figures)
            known[seed] = Run(seed, figures, wall_s)
            rows.append((self.keys[point], seed, text, wall_s))
        if rows:
            self.campaign.session.store.put(rows)
        self.campaign.counts.computed += len(rows)


class _Work:
    """The runs that a chunk still needs, and those submitted."""

    def __init__(self, chunk: Chunk, rule: Replications, later: Later, owned: Owned) -> None:
        self.chunk = chunk
        self.session = chunk.campaign.session
        self.counts = chunk.campaign.counts
        self.rule = rule
        self.later = later
        self.owned = owned
        points = len(chunk.keys)
        self.wanted = [0] * points
        self.missing: list[set[int]] = [set() for _ in range(points)]
        self.ready: dict[int, list[Run]] = {}
        self.tasks: list[Task] = []
        self.tags: list[tuple[int, int]] = []
        """The point and the seed of each submitted run."""
        self.waiting: dict[tuple[bytes, int], list[int]] = {}
        """The points that wait for a run: several may have the same scenario."""

    def runs(self) -> Iterator[list[Run]]:
        """The runs of each point, in the order of points."""
        points = range(len(self.wanted))
        for point in points:
            check_room(self.chunk.first_seed(point), self.rule.most)
        for point in points:
            self._want(point, self.rule.least)
        self._submit()
        following = 0
        try:
            while following < len(points):
                while following in self.ready:
                    yield self.ready.pop(following)
                    following += 1
                if self.waiting:
                    self._take(self.session.executor.wait(TICK_S))
        finally:
            if self.waiting:
                self._keep(self.session.executor.wait(0.0))

    def _want(self, point: int, count: int) -> None:
        """Order the missing runs of a point up to `count`, and more as long as the rule requires."""
        first = self.chunk.first_seed(point)
        while True:
            seeds = [first + number for number in range(count) if self.owned(point, number)]
            found = {seed: self.chunk.run(point, seed) for seed in seeds}
            runs = [run for run in found.values() if run is not None]
            if len(runs) < len(seeds):
                self.wanted[point] = count
                self.missing[point] = {seed for seed, run in found.items() if run is None}
                self._order(point)
                return
            more = self.rule.more(runs) if runs else count
            if more <= count:
                break
            count = more
        self.ready[point] = runs

    def _order(self, point: int) -> None:
        """Put the missing runs of a point into the next submission."""
        for seed in sorted(self.missing[point]):
            waiting = self.waiting.setdefault((self.chunk.keys[point], seed), [])
            waiting.append(point)
            if len(waiting) == 1:
                self.tasks.append(Task(len(self.tags), point, seed))
                self.tags.append((point, seed))

    def _submit(self) -> None:
        if self.tasks:
            self.session.executor.submit(self.tasks)
            self.tasks = []

    def _take(self, done: list[Done]) -> None:
        """Store finished runs and find the points that they complete."""
        self._keep(done)
        for tag, _, _ in done:
            point, seed = self.tags[tag]
            for other in self.waiting.pop((self.chunk.keys[point], seed)):
                self.missing[other].discard(seed)
                if not self.missing[other]:
                    self._want(other, self.wanted[other])
        self._submit()
        if self.session.progress:
            computed = self.counts.computed
            wanted = [count for point, count in enumerate(self.wanted) if self.missing[point]]
            total = computed + len(self.waiting) + self.later(len(self.wanted), wanted)
            self.session.progress(min(computed + self.session.executor.under_way(), total), total)

    def _keep(self, done: list[Done]) -> None:
        self.chunk.keep([(*self.tags[tag], text, wall_s) for tag, text, wall_s in done])
