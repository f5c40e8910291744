"""How often a point is run: so many times, or until its runs say enough."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pushout.errors import ScenarioError
from pushout.question.store import Run
from pushout.stats import AGREEING, interval


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


def numbers(runs: Sequence[Run], path: str) -> list[float]:
    """What runs measured of a single figure, but for those that measured nothing."""
    values = [run.figures[path] for run in runs if run.figures.get(path) is not None]
    if any(isinstance(value, list) for value in values):
        error = ScenarioError(f"{path} is a list in every run, and what is asked for is a single figure")
        error.figure = path
        raise error
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

    Stopping at the first interval that is narrow enough prefers those that are narrow by chance, the more so the fewer
    runs they may be of. At the precision for which that is worst, the intervals of normally distributed figures hold
    the mean in 92 % of all cases if `least` is 5, and in 94 % if it is 10; those of exponentially distributed ones in
    82 % and 86 %, of ten runs without stopping in 90 %.
    """

    relative: float
    of: str = "summary.goodput_ratio"
    least: int = 10
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
