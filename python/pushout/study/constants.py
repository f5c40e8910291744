"""A second null model, with constants: as many as the study has fitted choices, chosen best with print in view.

    [constant]  NAME = 1                the stated value, which the first null model has
                NAME = "not printed"    the settings do not give it, so the first null model has no value

The expression of a `[[null]]` may use one constant, and is linear in it. A rule that uses none is multiplied by a
constant of its own, or has it as its value where the rule gives zero. Numbers that no rule fits have a constant for
each kind of number. A constant stands for all numbers that use it, or for those of one table of the paper alone.

The choice is exact: of all sets with at most this number of constants, none reaches more numbers. A
constant reaches a number on an interval of its values, so only the ends of these intervals need to be tried.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from pushout.study.tolerance import NEAR

UNKNOWN = "not printed"
"""Stands for the value of a constant that the settings do not give."""


@dataclass(frozen=True)
class Linear:
    """The null of a number by a constant, `base + slope * NAME`; `stated` is the value that the study states."""

    name: str
    base: float
    slope: float
    stated: float | None

    def at(self, value: float) -> float:
        """Compute the null for a value of the constant."""
        return self.base + self.slope * value


@dataclass(frozen=True)
class Constant:
    """A chosen constant: its name, the table for which it stands (empty: all), its value, and numbers it adds."""

    name: str
    table: str
    value: float
    adds: int


Number = Any
"""A `Number` of the module `model`, which chooses the constants of a study with this module."""

Range = tuple[float, float]


def choose(numbers: Iterable[Number], count: int) -> tuple[Constant, ...]:
    """Choose at most `count` constants that together reach the most independent numbers."""
    groups: dict[str, dict[str, list[Number]]] = {}
    for number in numbers:
        if number.independent and number.linear and number.linear.slope:
            groups.setdefault(number.linear.name, {}).setdefault(number.source, []).append(number)
    best: list[tuple[int, tuple[Constant, ...]]] = [(0, ())] * (count + 1)
    for name, tables in groups.items():
        own = _of_one(name, tables, count)
        best = [
            max(
                ((best[size - few][0] + gain, best[size - few][1] + chosen) for few, (gain, chosen) in own[: size + 1]),
                key=lambda found: found[0],
            )
            for size in range(count + 1)
        ]
    return best[count][1] if best else ()


def _of_one(
    name: str, tables: Mapping[str, Sequence[Number]], count: int
) -> list[tuple[int, tuple[int, tuple[Constant, ...]]]]:
    """Return for each number of constants of one name what they add at most, and these constants."""
    ranges = {table: [_range(number) for number in some] for table, some in tables.items()}
    stated = {table: sum(number.null_is_near for number in some) for table, some in tables.items()}
    alone = {table: _most(each) for table, each in ranges.items()}
    general = {value: {table: _hits(each, value) for table, each in ranges.items()} for value in _tries(ranges)}
    found: list[tuple[int, tuple[int, tuple[Constant, ...]]]] = [(0, (0, ()))]
    for few in range(1, count + 1):
        options = []
        for value, hits in general.items():
            gain, chosen = _special(name, hits, alone, few - 1)
            first = sum(hits.values()) - sum(stated.values())
            options.append((first + gain, (Constant(name, "", value, first), *chosen)))
        options.append(_special(name, stated, alone, few))
        found.append((few, max(options, key=lambda option: option[0])))
    return found


def _special(
    name: str, hits: Mapping[str, int], alone: Mapping[str, tuple[int, float]], few: int
) -> tuple[int, tuple[Constant, ...]]:
    """Give the tables that gain most a constant of their own, at most `few`."""
    gains = sorted(((alone[table][0] - own, table) for table, own in hits.items()), key=lambda each: -each[0])[:few]
    chosen = tuple(Constant(name, table, alone[table][1], gain) for gain, table in gains if gain > 0)
    return sum(constant.adds for constant in chosen), chosen


def _range(number: Number) -> Range:
    """Return the values of the constant with which the null is near print."""
    linear, allowed = number.linear, number.allowed(NEAR)
    ends = [(number.published + way * allowed - linear.base) / linear.slope for way in (-1, 1)]
    return min(ends), max(ends)


def _tries(ranges: Mapping[str, Sequence[Range]]) -> list[float]:
    """List a value for each set of numbers that a constant can reach: the middle between neighbouring ends."""
    ends = sorted({end for each in ranges.values() for some in each for end in some})
    return [(low + high) / 2 for low, high in pairwise(ends)] or ends


def _hits(ranges: Sequence[Range], value: float) -> int:
    return sum(low <= value <= high for low, high in ranges)


def _most(ranges: Sequence[Range]) -> tuple[int, float]:
    """Return the most numbers of a table that one value reaches, and the middle of the values that do."""
    scored = [(_hits(ranges, value), value) for value in _tries({"": ranges})]
    most = max(hits for hits, _ in scored)
    runs = [[value for _, value in run] for hits, run in groupby(scored, key=lambda each: each[0]) if hits == most]
    return most, runs[0][len(runs[0]) // 2]


def value_of(number: Number, null: float | None, chosen: Sequence[Constant]) -> float | None:
    """Return the null of a number with the chosen constants: that of its table first, then the general one."""
    if number.linear is None:
        return null
    values = {constant.table: constant.value for constant in chosen if constant.name == number.linear.name}
    own = values.get(number.source, values.get(""))
    return null if own is None else number.linear.at(own)
