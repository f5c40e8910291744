"""What is wanted of a figure, and whether runs say that it is so.

A goal is about the expectation of a figure, so a value is run until the 95 % interval of its mean lies on one side of
the goal. Runs that all give the same have no such interval: they are believed when there are enough of them that hardly
any other run can give something else.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pushout.errors import QuestionError
from pushout.question import LEAST, MOST
from pushout.question.quantity import QUANTITY, RATES, SECONDS, SIZES, split
from pushout.question.replications import numbers
from pushout.question.store import Run
from pushout.question.table import column_of, path_of
from pushout.stats import AGREEING, Interval, interval, unseen

UNITS: dict[str, tuple[str, Mapping[str, float]]] = {
    "_s": ("in seconds", SECONDS),
    "_bps": ("in b/s", RATES),
    "_bytes": ("in bytes", SIZES),
    "_ratio": ("a share", {"%": 0.01}),
}
"""In what figures with such endings are, and how much of it other units are."""


@dataclass(frozen=True)
class Goal:
    """What is wanted of a figure: at least or at most a level, or as much or as little as can be."""

    text: str
    path: str
    relation: str
    level: float | None = None

    @property
    def column(self) -> str:
        """The figure, as tables name it."""
        return column_of(self.path)

    def meets(self, value: float) -> bool:
        """Whether a mean does."""
        if self.level is None:
            return True
        return value >= self.level if self.relation == ">=" else value <= self.level


def read(text: str) -> Goal:
    """Read `goodput_ratio>=0.98`, `ports.bottleneck.lost.overflow<=0` or `max packet_throughput`."""
    if match := re.fullmatch(r"\s*(.*\S)\s*(>=|<=|≥|≤)\s*(\S.*?)\s*", text):
        try:
            level = float(match[3])
        except ValueError:
            level = math.nan
        if not math.isfinite(level):
            raise QuestionError(f"goal {text!r}: {match[3]!r} is not a number{_instead(match[1], match[3])}")
        return Goal(text, _one(text, match[1]), {"≥": ">=", "≤": "<="}.get(match[2], match[2]), level)
    if match := re.fullmatch(r"\s*(max|min)\s+(\S+)\s*", text):
        return Goal(text, _one(text, match[2]), match[1])
    raise QuestionError(f"goal {text!r}: write FIGURE>=NUMBER, FIGURE<=NUMBER, max FIGURE or min FIGURE")


def _instead(name: str, level: str) -> str:
    """What to write instead of a level with a unit, which figures do not have."""
    match = QUANTITY.fullmatch(level)
    for end, (unit, units) in UNITS.items():
        if match and name.endswith(end) and match[2] in units:
            return f": {name} is {unit}: write {split(level)[0] * units[match[2]]:.10g}"
    return ": write it without a unit" if match else ""


def _one(goal: str, name: str) -> str:
    """The path of a single figure."""
    if "*" in name:
        raise QuestionError(f"goal {goal!r}: {name} names many figures, and a goal is about one")
    return path_of(name)


@dataclass(frozen=True)
class Tried:
    """A value that was tried: the mean of the figure, whether it meets the goal, whether its `runs` leave no doubt.

    `unseen` is there if all runs gave the same, or nothing at all, and a goal is to be met: the share of runs that may
    give something else.
    """

    value: float
    mean: Interval | None
    meets: bool
    sure: bool
    unseen: float | None = None
    runs: int = 0


@dataclass(frozen=True)
class Separate:
    """Replications until they leave no doubt on which side of the goal the mean is."""

    goal: Goal
    least: int = LEAST
    most: int = MOST

    def more(self, runs: Sequence[Run]) -> int:
        """Twice as many as there are, as long as they leave it open; where none measured anything, few ever will."""
        found = judged(self.goal, runs, 0.0)
        return len(runs) if found.sure or found.mean is None else min(self.most, 2 * len(runs))


def judged(goal: Goal, runs: Sequence[Run], value: float) -> Tried:
    """What the runs of a value say about the goal."""
    known, count = numbers(runs, goal.path), len(runs)
    if not known and goal.level is None:
        return Tried(value, None, False, True, runs=count)
    if not known:
        return Tried(value, None, False, count >= AGREEING, unseen(count), count)
    mean = interval(known)
    meets = goal.meets(mean["mean"])
    if goal.level is not None and min(known) == max(known):
        return Tried(value, mean, meets, len(known) >= AGREEING, unseen(len(known)), count)
    return Tried(value, mean, meets, all(goal.meets(end) == meets for end in mean["ci95"] or []), runs=count)
