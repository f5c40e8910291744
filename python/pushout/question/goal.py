"""Goals for a figure, and whether runs meet them.

A goal is about the expectation of a figure, so a value is replicated until the 95 % interval of its mean lies on one
side of the goal. Equal runs give an interval of width 0: they suffice when enough of them agree (`AGREEING`).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pushout import _core
from pushout.errors import Argument, QuestionError
from pushout.excerpt import excerpt, quoted
from pushout.names.figures import column_of, did_you_mean, near, path_of
from pushout.options import LEAST, MOST
from pushout.quantity import RATES, SECONDS, SIZES, split
from pushout.question.replications import is_alone, numbers
from pushout.question.store import Run
from pushout.stats import AGREEING, Interval, interval, unseen


class Unit(NamedTuple):
    """The unit of figures whose paths match, and the factors of other units."""

    pattern: str
    what: str
    factors: Mapping[str, float]
    is_occupancy: bool = False
    """Whether a level keeps its measure, because a port has one of its own."""


SHARES = r"_ratio$|_throughput$|_fairness$|^fairness_|\.fairness_|_deviation$"

UNITS = (
    Unit(r"_s$|^summary\.query\.(mean|p\d+)$", "in seconds", SECONDS),
    Unit(r"_bps$", "in b/s", RATES),
    Unit(r"\.octets_\w+$|_octets$|_bytes$", "in bytes", SIZES),
    Unit(SHARES, "a share", {"%": 0.01}),
    Unit(r"^memories\..*\.(occupancy_\w+|headroom_max|threshold_min)$", "in cells of the memory", {"cells": 1}),
    Unit(r"\.occupancy_\w+$", "in cells, packets or bytes", {**SIZES, "cells": 1, "packets": 1}, is_occupancy=True),
)
"""The units of levels."""

SPELLINGS = {
    r"([munp]?)s(?:ecs?|econds?)?": r"\1s",
    r"(m|n)(?:illi|ano)s(?:ecs?|econds?)?": r"\1s",
    r"micros(?:ecs?|econds?)?": "us",
    r"([kmgt]?)(?:b|bps|bits?|bits?/s|b/sec)?": r"\1b/s",
    r"([kmgt]?i?)(?:b|bytes?|octets?)?": r"\1B",
    r"(?:c|cells?)": "cells",
    r"(?:p|pkts?|packets?)": "packets",
    r"(?:p|pct|percent)": "%",
}
"""Other spellings of units, and ours."""

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
        """Suggest figures for one that no report has; empty if there is none like it."""
        if not (named := near(self.path)):
            return ""
        if len(named) == 1:
            named = [
                f"{self.relation} {named[0]}" if self.level is None else f"{named[0]}{self.relation}{self.level:.10g}"
            ]
        return f"there is no figure {excerpt(self.column)}; {did_you_mean(named)}"

    def _about(self, figure: str) -> str:
        """Write the goal for another figure."""
        return f"{self.relation} {figure}" if self.level is None else f"{figure}{self.relation}{self.level:.10g}"

    def meets(self, value: float) -> bool:
        """Return whether a mean meets the goal."""
        if self.level is None:
            return True
        return value >= self.level if self.relation == ">=" else value <= self.level


def read(text: str, port: str = "") -> Goal:
    """Read `goodput_ratio>=98 %`, `transfer_time_p99<=4 ms`, `ports.a.lost.overflow<=0` or `max goodput_ratio`.

    A figure that the summary does not have is that of `port`, as in `sojourn_p99<=5 ms`.
    """
    if re.search(r"[<>=≥≤].*(,|\band\b|&).*[<>=≥≤]", text):
        raise QuestionError(f"goal {quoted(text)}: write each comparison in its own ", Argument("goal"))
    if match := re.fullmatch(r"\s*(.*[^\s<>=≥≤])\s*(>=|<=|≥|≤)\s*([^\s<>=≥≤].*?)\s*", text):
        path, relation = _one(text, match[1], port), OPERATORS.get(match[2], match[2])
        _check_share(text, match[1], path, f"{relation}{match[3]}")
        level, measure = _level(text, match[1], path, match[3])
        _check_percent(text, match[1], path, f"{relation}{match[3]}", level)
        return Goal(text, path, relation, level, measure)
    if match := re.fullmatch(r"\s*(max|min)\s+(\S+)\s*", text):
        return Goal(text, _one(text, match[2], port), match[1])
    raise QuestionError(f"goal {quoted(text)}: {_meant(text)}{FORMS}")


def read_all(texts: Sequence[str], port: str = "") -> tuple[Goal, ...]:
    """Read goals that all must hold: one or more levels, or a single maximum or minimum."""
    goals = tuple(read(text, port) for text in texts)
    if not goals:
        raise QuestionError(f"goal must not be an empty list: {FORMS}")
    if twice := [text for text in texts if texts.count(text) > 1]:
        raise QuestionError(f"goal {quoted(twice[0])} must be given once, not twice")
    if alone := [goal for goal in goals if goal.level is None and len(goals) > 1]:
        which = alone[0]
        raise QuestionError(
            f"goal {quoted(which.text)}: {which.relation} must be the only goal; beside others write a level, as in "
            f"{excerpt(which.column)}>=NUMBER"
        )
    return goals


def _check_share(goal: str, name: str, path: str, rest: str) -> None:
    """Refuse a share for a rate whose unit the name leaves out: `goodput>=90 %` means another figure."""
    level = rest[2:]
    if path.endswith("_bps") and not name.endswith("_bps") and _is_share(level):
        share = f"{name}_ratio"
        meant = f"; did you mean {share}{rest}?" if not near(path_of(share)) else ""
        raise QuestionError(f"goal {quoted(goal)}: {excerpt(name)} is in b/s, not a share like {quoted(level)}{meant}")


HIGHEST = 2.0
"""A level of a share above this is taken for a percentage: a goodput may exceed its ideal only a little."""


def _check_percent(goal: str, name: str, path: str, rest: str, level: float) -> None:
    """Refuse a percentage without its sign: no run has `goodput_ratio>=95`, and every run has `loss<=5`."""
    if level > HIGHEST and "%" not in rest and re.search(SHARES, path):
        meant = excerpt(f"{name}{rest}%")
        raise QuestionError(
            f"goal {quoted(goal)}: {excerpt(name)} is a share, of which 1 is all; did you mean {meant}?"
        )


def _is_share(level: str) -> bool:
    """Return whether a level is a percentage or a number from 0 to 1."""
    try:
        return 0 <= float(level) <= 1
    except ValueError:
        return "%" in level


def _level(goal: str, name: str, path: str, text: str) -> tuple[float, str]:
    """Parse a level into the unit of its figure, and the measure of an occupancy."""
    try:
        number, unit = split(text)
    except QuestionError:
        raise QuestionError(f"goal {quoted(goal)}: the level must be a number, not {quoted(text)}") from None
    if not unit:
        return number, ""
    for known in UNITS:
        if re.search(known.pattern, path):
            if unit in known.factors:
                measure = ("bytes" if unit in SIZES else unit) if known.is_occupancy else ""
                return number * known.factors[unit], measure
            hint = _spelled(number, unit, known.factors) or f" (units: {', '.join(known.factors)})"
            raise QuestionError(f"goal {quoted(goal)}: {excerpt(name)} must be {known.what}, not {quoted(text)}{hint}")
    if named := near(path):
        raise QuestionError(f"goal {quoted(goal)}: unknown figure {excerpt(name)}; {did_you_mean(named)}")
    raise QuestionError(
        f"goal {quoted(goal)}: {excerpt(name)} must be a number without unit, not {quoted(text)}: write {number:.10g}"
    )


def _spelled(number: float, unit: str, known: Mapping[str, float]) -> str:
    """Suggest the level with our spelling of its unit; empty if it is another unit."""
    ours = {each.lower(): each for each in reversed(list(known))}  # kB rather than KB
    for pattern, spelling in SPELLINGS.items():
        match = re.fullmatch(pattern, unit, re.IGNORECASE)
        if match and (meant := ours.get(match.expand(spelling).lower())):
            return f": write {number:.10g} {meant}"
    return ""


def _meant(text: str) -> str:
    """Suggest a goal for one with another sign."""
    match = re.fullmatch(r"\s*([^\s<>=]+)\s*(>|<|=>|=<|==?)\s*([^\s<>=].*?)\s*", text)
    if not match:
        return ""
    name, sign, level = match[1], match[2], match[3]
    equal = "<=" if re.fullmatch(r"0+\.?0*\D*", level) else ">="  # nothing is less than 0
    return f"did you mean {excerpt(nearest(name, level) + OPERATORS.get(sign, equal) + level)}? "


def nearest(name: str, level: str = "") -> str:
    """Find the figure of the summary that starts with a name, a share if the level is one; else return the name."""
    properties = json.loads(_core.result_schema())["properties"]["summary"]["properties"]
    begin = [figure for figure in properties if figure.startswith(name)]
    shares = [figure for figure in begin if re.search(SHARES, figure)]
    return name if name in properties else next(iter([*(shares if _is_share(level) else []), *begin]), name)


def _one(goal: str, name: str, port: str) -> str:
    """Return the path of a single figure."""
    if "*" in name:
        raise QuestionError(f"goal {quoted(goal)}: {excerpt(name)} must name a single figure, not many")
    return path_of(name, port)


@dataclass(frozen=True)
class Tried:
    """A tried value: the mean of the figure, whether it meets the goal, and whether its `runs` make that sure.

    `unseen` is set if the goal is a level and all runs gave the same value, or none: the share of further runs that may
    differ. It is 0 where nothing is drawn, so that one run stands for all seeds. Of several goals, mean and `unseen`
    are those of the goal that decides, and `parts` judges each.
    """

    value: float
    mean: Interval | None
    meets: bool
    sure: bool
    unseen: float | None = None
    runs: int = 0
    parts: tuple["Tried", ...] = ()

    def of(self, goal: int) -> "Tried":
        """Return the judgement of one of the goals."""
        return self.parts[goal] if self.parts else self


@dataclass(frozen=True)
class Separate:
    """Replicate until it is sure on which side of the goals the means are."""

    goals: Sequence[Goal]
    least: int = LEAST
    most: int = MOST

    def more(self, runs: Sequence[Run]) -> int:
        """Double the runs while they leave the goals open, unless none measured a figure: further ones hardly will."""
        found = judged(self.goals, runs, 0.0)
        return len(runs) if found.sure or found.mean is None else min(self.most, 2 * len(runs))


def judged(goals: Sequence[Goal], runs: Sequence[Run], value: float) -> Tried:
    """Judge a value by its runs: all goals must hold."""
    return together([_judged(goal, runs, value) for goal in goals])


def together(parts: Sequence[Tried]) -> Tried:
    """Judge a value by its judgements for several goals, which must all hold."""
    if len(parts) == 1:
        return parts[0]
    missed = [part for part in parts if not part.meets]
    sure = any(part.sure for part in missed) if missed else all(part.sure for part in parts)
    # a sure miss decides; without a miss, a goal that is not sure
    decides = next((part for part in missed or parts if part.sure == bool(missed)), (missed or parts)[0])
    return replace(decides, meets=not missed, sure=sure, parts=tuple(parts))


def _judged(goal: Goal, runs: Sequence[Run], value: float) -> Tried:
    """Judge a value by its runs for one goal."""
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
