"""Goals for a figure, and whether runs meet them.

A goal is about the expectation of a figure, so a value is replicated until the 95 % interval of its mean lies on one
side of the goal. Equal runs give an interval of width 0: they suffice when enough of them agree (`AGREEING`).
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
from pushout.question.replications import is_alone, numbers
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
"""For figures whose names match: their unit, and the factors of other units."""

OPERATORS = {"≥": ">=", "≤": "<=", "=>": ">=", "=<": "<=", ">": ">=", "<": "<="}
"""Alternative signs and their meaning."""

FORMS = "write FIGURE>=NUMBER, FIGURE<=NUMBER, max FIGURE or min FIGURE"


@dataclass(frozen=True)
class Goal:
    """A goal for a figure: at least or at most a level, or the maximum or minimum."""

    text: str
    path: str
    relation: str
    level: float | None = None
    measure: str = ""
    """The measure in which the level of an occupancy was given: cells, packets or bytes; empty for a plain number."""

    @property
    def column(self) -> str:
        """The figure's column in tables."""
        return column_of(self.path)

    def meant(self) -> str:
        """Suggest a figure for one that does not exist; empty if none has this prefix."""
        level = "" if self.level is None else f"{self.level:.10g}"
        figure = nearest(self.column, level)
        goal = f"{self.relation} {figure}" if self.level is None else f"{figure}{self.relation}{level}"
        return "" if figure == self.column else f"there is no figure {self.column}; did you mean {goal}?"

    def meets(self, value: float) -> bool:
        """Return whether a mean meets the goal."""
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
    """Parse a level into the unit of its figure, and the measure of an occupancy."""
    try:
        number, unit = split(text)
    except QuestionError:
        raise QuestionError(f"goal {quoted(goal)}: the level must be a number, not {quoted(text)}") from None
    if not unit:
        return number, ""
    for pattern, what, units in UNITS:
        if re.search(pattern, steps(name)[-1]):
            if unit in units:
                return number * units[unit], ("bytes" if unit in SIZES else unit) if pattern == "^occupancy_" else ""
            known = ", ".join(units)
            raise QuestionError(
                f"goal {quoted(goal)}: {excerpt(name)} must be {what}, not {quoted(text)} (units: {known})"
            )
    raise QuestionError(
        f"goal {quoted(goal)}: {excerpt(name)} must be a number without unit, not {quoted(text)}: write {number:.10g}"
    )


def _meant(text: str) -> str:
    """Suggest a goal for one with another sign."""
    match = re.fullmatch(r"\s*([^\s<>=]+)\s*(>|<|=>|=<|==?)\s*([^\s<>=].*?)\s*", text)
    if not match:
        return ""
    name, sign, level = match[1], match[2], match[3]
    return f"did you mean {excerpt(nearest(name, level) + OPERATORS.get(sign, '>=') + level)}? "


def nearest(name: str, level: str = "") -> str:
    """Find the figure of the summary that starts with a name, a share if the level is one; else return the name."""
    properties = json.loads(_core.result_schema())["properties"]["summary"]["properties"]
    begin = [figure for figure in properties if figure.startswith(name)]
    shares = [figure for figure in begin if re.search(UNITS[3][0], figure)]
    try:
        is_share = 0 <= float(level) <= 1
    except ValueError:
        is_share = "%" in level
    return name if name in properties else next(iter([*(shares if is_share else []), *begin]), name)


def _one(goal: str, name: str) -> str:
    """Return the path of a single figure."""
    if "*" in name:
        raise QuestionError(f"goal {quoted(goal)}: {excerpt(name)} must name a single figure, not many")
    return path_of(name)


@dataclass(frozen=True)
class Tried:
    """A tried value: the mean of the figure, whether it meets the goal, and whether its `runs` make that sure.

    `unseen` is set if the goal is a level and all runs gave the same value, or none: the share of further runs that may
    differ. It is 0 where nothing is drawn, so that one run stands for all seeds.
    """

    value: float
    mean: Interval | None
    meets: bool
    sure: bool
    unseen: float | None = None
    runs: int = 0


@dataclass(frozen=True)
class Separate:
    """Replicate until it is sure on which side of the goal the mean is."""

    goal: Goal
    least: int = LEAST
    most: int = MOST

    def more(self, runs: Sequence[Run]) -> int:
        """Double the runs while they leave the goal open, unless none measured the figure: further ones hardly will."""
        found = judged(self.goal, runs, 0.0)
        return len(runs) if found.sure or found.mean is None else min(self.most, 2 * len(runs))


def judged(goal: Goal, runs: Sequence[Run], value: float) -> Tried:
    """Judge a value by its runs."""
    known, count = numbers(runs, goal.path), len(runs)
    if is_alone(runs):
        mean = interval(known) if known else None
        return Tried(value, mean, mean is not None and goal.meets(mean["mean"]), True, 0.0, count)
    if not known and goal.level is None:
        return Tried(value, None, False, True, runs=count)
    if not known:
        return Tried(value, None, False, count >= AGREEING, unseen(count), count)
    mean = interval(known)
    meets = goal.meets(mean["mean"])
    if goal.level is not None and min(known) == max(known):
        return Tried(value, mean, meets, len(known) >= AGREEING, unseen(len(known)), count)
    return Tried(value, mean, meets, all(goal.meets(end) == meets for end in mean["ci95"] or []), runs=count)
