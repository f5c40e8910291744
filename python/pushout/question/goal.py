"""What is wanted of a figure, and whether runs say that it is so.

A goal is about the expectation of a figure, so a value is run until the 95 % interval of its mean lies on one side of
the goal. Runs that all give the same have no such interval: they are believed when there are enough of them that hardly
any other run can give something else.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pushout import _core
from pushout.document import steps
from pushout.errors import QuestionError
from pushout.excerpt import excerpt, quoted
from pushout.question import LEAST, MOST
from pushout.question.quantity import RATES, SECONDS, SIZES, split
from pushout.question.replications import numbers
from pushout.question.store import Run
from pushout.question.table import column_of, path_of
from pushout.stats import AGREEING, Interval, interval, unseen

UNITS: tuple[tuple[str, str, Mapping[str, float]], ...] = (
    (r"_s$", "in seconds", SECONDS),
    (r"_bps$", "in b/s", RATES),
    (r"^octets_|_bytes$", "in bytes", SIZES),
    (r"_ratio$|_throughput$|_fairness$|^fairness_|_deviation$", "a share", {"%": 0.01}),
    (r"^occupancy_", "in cells, packets or bytes", {**SIZES, "cells": 1, "packets": 1}),
)
"""In what figures of such names are, and how much of it other units are."""

OPERATORS = {"≥": ">=", "≤": "<=", "=>": ">=", "=<": "<=", ">": ">=", "<": "<="}
"""What other signs stand for."""

FORMS = "write FIGURE>=NUMBER, FIGURE<=NUMBER, max FIGURE or min FIGURE"


@dataclass(frozen=True)
class Goal:
    """What is wanted of a figure: at least or at most a level, or as much or as little as can be."""

    text: str
    path: str
    relation: str
    level: float | None = None
    measure: str = ""
    """What the level of an occupancy was given in: cells, packets or bytes; nothing if it was a plain number."""

    @property
    def column(self) -> str:
        """The figure, as tables name it."""
        return column_of(self.path)

    def meant(self) -> str:
        """What to say of a figure that is not there: which one was probably meant; nothing if none begins like it."""
        level = "" if self.level is None else f"{self.level:.10g}"
        figure = nearest(self.column, level)
        goal = f"{self.relation} {figure}" if self.level is None else f"{figure}{self.relation}{level}"
        return "" if figure == self.column else f"there is no figure {self.column}; did you mean {goal}?"

    def meets(self, value: float) -> bool:
        """Whether a mean does."""
        if self.level is None:
            return True
        return value >= self.level if self.relation == ">=" else value <= self.level


def read(text: str) -> Goal:
    """Read `goodput_ratio>=98 %`, `transfer_time_p99_s<=4 ms`, `ports.a.lost.overflow<=0` or `max goodput_ratio`."""
    if match := re.fullmatch(r"\s*(.*[^\s<>=≥≤])\s*(>=|<=|≥|≤)\s*([^\s<>=≥≤].*?)\s*", text):
        level, measure = _level(text, match[1], match[3])
        return Goal(text, _one(text, match[1]), OPERATORS.get(match[2], match[2]), level, measure)
    if match := re.fullmatch(r"\s*(max|min)\s+(\S+)\s*", text):
        return Goal(text, _one(text, match[2]), match[1])
    raise QuestionError(f"goal {quoted(text)}: {_meant(text)}{FORMS}")


def _level(goal: str, name: str, text: str) -> tuple[float, str]:
    """A level in the unit of its figure, and the measure that an occupancy was given in."""
    try:
        number, unit = split(text)
    except QuestionError:
        raise QuestionError(f"goal {quoted(goal)}: {quoted(text)} is not a number") from None
    if not unit:
        return number, ""
    for pattern, what, units in UNITS:
        if re.search(pattern, steps(name)[-1]):
            if unit in units:
                return number * units[unit], ("bytes" if unit in SIZES else unit) if pattern == "^occupancy_" else ""
            known = ", ".join(units)
            raise QuestionError(f"goal {quoted(goal)}: {excerpt(name)} is {what}, not {quoted(text)} (units: {known})")
    raise QuestionError(f"goal {quoted(goal)}: {excerpt(name)} has no unit: write {number:.10g}")


def _meant(text: str) -> str:
    """What a goal with another sign was probably meant to be."""
    match = re.fullmatch(r"\s*([^\s<>=]+)\s*(>|<|=>|=<|==?)\s*([^\s<>=].*?)\s*", text)
    if not match:
        return ""
    name, sign, level = match[1], match[2], match[3]
    return f"did you mean {excerpt(nearest(name, level) + OPERATORS.get(sign, '>=') + level)}? "


def nearest(name: str, level: str = "") -> str:
    """The figure of the summary of which a name is the beginning, a share if the level is one; else the name itself."""
    properties = json.loads(_core.result_schema())["properties"]["summary"]["properties"]
    begin = [figure for figure in properties if figure.startswith(name)]
    shares = [figure for figure in begin if re.search(UNITS[3][0], figure)]
    try:
        is_share = 0 <= float(level) <= 1
    except ValueError:
        is_share = "%" in level
    return name if name in properties else next(iter([*(shares if is_share else []), *begin]), name)


def _one(goal: str, name: str) -> str:
    """The path of a single figure."""
    if "*" in name:
        raise QuestionError(f"goal {quoted(goal)}: {excerpt(name)} names many figures, and a goal is about one")
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
