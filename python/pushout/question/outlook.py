"""Estimate the runs that a search still needs, for the progress."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from pushout.question.goal import Tried
from pushout.question.search import CONFIRMED, GRID, TRIALS, Range, by_goals, is_monotone, rising


@dataclass
class Outlook:
    """The expected runs of the searches for several policies.

    A value takes between `least` and `most` runs; values near the goal take more.
    """

    space: Range
    """The range; turned for the largest value, as are the points."""
    resolution: float
    least: int
    most: int
    policies: int
    """Searches that have not begun."""
    has_level: bool = True
    """Whether the goal is a level; for the best value, the leading values run again, `most` times."""
    by_halves: bool = True
    """Whether a search halves a range; otherwise Optuna tries one value after the other."""
    left: int = 0
    """Values that the present search has not tried."""
    counts: list[int] = field(default_factory=list)
    """The runs of each finished value, in all searches."""

    def begin(self) -> None:
        """Begin the search for the next policy."""
        self.policies -= 1
        self.left = self._values()

    def tried(self, points: Sequence[Tried], so_far: Sequence[Tried]) -> None:
        """Record finished values; `so_far` are all of this search.

        The first values of a bisection are mostly far from the goal, so they do not predict the runs of the others.
        """
        if all(point.unseen == 0 for point in points):  # nothing is drawn: one run of a value stands for all
            self.least = self.most = 1
        if not (self.by_halves and len(points) == len(so_far)):
            self.counts += [point.runs for point in points]
        halves = self.by_halves and is_monotone(sorted(so_far, key=lambda point: point.value))
        self.left = self._halvings(so_far) if halves else max(0, TRIALS - len(so_far))

    def later(self, values: int, wanted: Sequence[int]) -> float:
        """Estimate the runs besides those ordered for the `values` in progress.

        `wanted` has the runs ordered for each unfinished value.
        """
        expected = self.least + self._growth(self.least)
        growth = sum(map(self._growth, wanted))
        again = 0.0 if self.has_level else CONFIRMED * max(0.0, self.most - expected)
        rest = max(0, self.left - values) * expected + (again if self.left > values else 0.0)
        return growth + rest + self.policies * (self._values() * expected + again)

    def _growth(self, count: int) -> float:
        """Estimate the further runs of a value that has `count`, from earlier values that had as many.

        Two imagined values, one that stops and one that takes all runs, serve as a start.
        """
        grown = [each - count for each in self.counts if each >= count]
        return (self.most - count + sum(grown)) / (2 + len(grown))

    def _values(self) -> int:
        """Estimate the values of a complete search: it halves one of the gaps between the first values."""
        if not self.by_halves:
            return TRIALS
        first = sorted({self.space.at(index / (GRID - 1)) for index in range(GRID)})
        return len(first) + (halvings(self.space, first[-2], first[-1], self.resolution) if len(first) > 1 else 0)

    def _halvings(self, so_far: Sequence[Tried]) -> int:
        """Count the values that bisection still tries, as `search` does it."""
        goals = rising(sorted(so_far, key=lambda point: point.value))
        judged = [by_goals(point, goals) for point in so_far]
        last_miss = max((point.value for point in judged if not point.meets), default=None)
        best = min(
            (
                point.value
                for point in judged
                if point.meets and point.value > (-math.inf if last_miss is None else last_miss)
            ),
            default=None,
        )
        if last_miss is None or best is None:
            return 0
        return halvings(self.space, last_miss, best, self.resolution)


def halvings(space: Range, below: float, best: float, resolution: float) -> int:
    """Count the halvings until the ends differ by at most this share of the upper one."""
    count = 0
    while best - below > resolution * abs(best):
        middle = space.between(below, best)
        if not below < middle < best:
            break
        below, count = middle, count + 1
    return count
