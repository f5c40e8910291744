"""The number of replications of a point: fixed, or until its runs are precise enough."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pushout.errors import ScenarioError
from pushout.question.store import Run
from pushout.stats import AGREEING, interval


class Replications(Protocol):
    """A rule for the number of replications of a point."""

    @property
    def least(self) -> int:
        """The number of replications to begin with."""
        ...

    @property
    def most(self) -> int:
        """The largest number of replications."""
        ...

    def more(self, runs: Sequence[Run]) -> int:
        """Return the number of replications required, given the present ones."""
        ...


def numbers(runs: Sequence[Run], path: str) -> list[float]:
    """List the values of a single figure in the runs that measured it."""
    values = [run.figures[path] for run in runs if run.figures.get(path) is not None]
    if any(isinstance(value, list) for value in values):
        error = ScenarioError(f"{path} must be a single figure of every run, not a list")
        error.figure = path
        raise error
    return values


@dataclass(frozen=True)
class Fixed:
    """A fixed number of replications of every point."""

    reps: int

    @property
    def least(self) -> int:
        """The number of replications to begin with."""
        return self.reps

    @property
    def most(self) -> int:
        """The largest number of replications."""
        return self.reps

    def more(self, runs: Sequence[Run]) -> int:
        """Return the number of replications required, given the present ones."""
        return self.reps


@dataclass(frozen=True)
class Precision:
    """Replications until the 95 % interval of the mean of a figure is within ± `relative` of it (sequential stopping).

    A. M. Law, "Simulation Modeling and Analysis", section 9.4.1. The number of runs follows from the runs of the
    point alone, so it does not depend on what else is run, nor where. Equal runs have an interval of width 0, which
    does not prove precision: they suffice when there are `AGREEING` of them.

    Stopping at the first interval that is narrow enough favours those that are narrow by chance, the more so the fewer
    runs they have. At the worst precision, the 95 % interval of a normally distributed figure contains the mean in 92 %
    of all cases if `least` is 5, and in 94 % if it is 10; for an exponentially distributed figure in 82 % and 86 %, and
    with ten runs without stopping in 90 %.
    """

    relative: float
    of: str = "summary.goodput_ratio"
    least: int = 10
    most: int = 100

    def more(self, runs: Sequence[Run]) -> int:
        """Estimate the number required, since the interval shrinks like 1/√n; at most twice the present number."""
        values = numbers(runs, self.of)
        if len(values) < 2:
            return self.most if len(runs) >= self.least else self.least
        if min(values) == max(values):
            wanted = len(runs) + AGREEING - len(values)  # runs that measured nothing do not count
            return len(runs) if wanted <= len(runs) else min(self.most, wanted, 2 * len(runs))
        estimate = interval(values)
        mean, (_, high) = estimate["mean"], estimate["ci95"] or (0.0, math.inf)
        half, allowed = high - mean, self.relative * abs(mean)
        if half <= allowed:
            return len(runs)
        growth = min(2.0, (half / allowed) ** 2) if allowed else 2.0
        return min(self.most, max(len(runs) + 1, math.ceil(len(runs) * growth)))


DRAWS = "engine.draws"
"""1 if a run drew a random number, else 0: runs with other seeds are equal to it."""


def is_alone(runs: Sequence[Run]) -> bool:
    """Return whether the one run stands for all seeds, since nothing was drawn in it."""
    return len(runs) == 1 and runs[0].figures.get(DRAWS) == 0


@dataclass
class Drawn:
    """Another rule for points whose runs draw random numbers, and one run of all others.

    The first points begin with one run; from the first run that draws on, points begin as the other rule has it.
    """

    rule: Replications
    _begins: bool = field(default=False, init=False)

    @property
    def least(self) -> int:
        """The number of replications to begin with."""
        return self.rule.least if self._begins else 1

    @property
    def most(self) -> int:
        """The largest number of replications."""
        return self.rule.most

    def more(self, runs: Sequence[Run]) -> int:
        """Return the number of replications required, given the present ones."""
        if runs[0].figures.get(DRAWS) == 0:
            return 1
        self._begins = True
        return self.rule.more(runs) if len(runs) >= self.rule.least else self.rule.least
