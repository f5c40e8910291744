"""Read the keys `grid`, `axis`, `zip` and `random` of a sweep file into factors.

A factor has levels, and the points of a sweep are all combinations of one level of each factor. A mistake raises a
`DesignError` with its position.
"""

import json
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pushout import _core, quantity
from pushout.errors import DesignError, ScenarioError
from pushout.excerpt import CONTROL, excerpt, quoted
from pushout.names.port import KINDS as KINDS_OF_POLICIES
from pushout.names.port import label
from pushout.question.table import Swept
from pushout.source import plain, toml

MOST_POINTS = 1_000_000

Value = bool | int | float | str

Place = tuple[str | int, ...]
"""A position in a sweep: keys and, in lists, indices."""


@dataclass(frozen=True)
class Level:
    """One level of a factor: the values of its columns and its overrides."""

    columns: Mapping[str, Value]
    sets: tuple[str, ...]
    places: tuple[Place, ...] = ()
    """The position of each override; only for the levels of factors, not for points."""


NOTHING = Level({}, ())
"""The level that changes nothing."""


@dataclass(frozen=True)
class Factor:
    """Alternative levels, and the positions of the keys and names that have columns."""

    levels: tuple[Level, ...]
    keys: Mapping[str, Place] = field(default_factory=dict)

    @cached_property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """List every column of the factor in the table, with its key or name."""
        swept = (Swept(name, tuple(level.columns.get(name) for level in self.levels)) for name in self.keys)
        return tuple((column, one.name) for one in swept for column in one.names())


def factors(table: Mapping[str, Any]) -> Iterator[Factor]:
    """Yield all factors of a sweep, in the order of the file."""
    for key, value in table.items():
        if key in KINDS:
            yield from KINDS[key](value)


# --- common checks


def check_keys(table: Any, keys: Sequence[str], *at: str) -> None:
    """Refuse a value that is not a table, or a table with an unknown key."""
    path = ".".join(at)
    if not isinstance(table, Mapping):
        raise DesignError(f"{path} must be a table, not {quoted(table)}", at)
    for key in table:
        if key not in keys:
            message = _core.unknown("key", str(key), keys)
            raise DesignError(f"{path}: {message}" if path else message, (*at, str(key)), key=True)


def check_overrides(sets: Any, *at: str) -> None:
    """Refuse a value that is not a list of overrides."""
    path = ".".join(at)
    if not isinstance(sets, list):
        raise DesignError(f"{path} must be a list of overrides, as in ['duration=1 s'], not {quoted(sets)}", at)
    for row, change in enumerate(sets):
        if not isinstance(change, str) or "=" not in change.lstrip("="):
            message = f"{path} must contain overrides key.path=value, as in 'duration=1 s', not {quoted(change)}"
            raise DesignError(message, (*at, row))


def check_plain(text: str, *at: str, key: bool = False) -> None:
    """Refuse a text or a key with control characters."""
    if CONTROL.search(text):
        path = excerpt(".".join(at))
        raise DesignError(f"{path} must be without control characters, not {quoted(text)}", at, key=key)


def check_word(word: Any, known: Sequence[str], *at: str) -> None:
    """Refuse a value that is not one of the known words."""
    path = ".".join(at)
    if not isinstance(word, str):
        raise DesignError(f"{path} must be one of {', '.join(known)}, not {quoted(word)}", at)
    if word not in known:
        raise DesignError(f"{path}: {_core.unknown(at[-1], word, known)}", at)


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer; true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the range of float
        return False


# --- lists of values


def _grid(table: Any) -> Iterator[Factor]:
    """Make a factor of each key: the points are every combination."""
    for key, at, values in _lists(table, ("grid",)):
        levels = tuple(_together({key: value}, {key: (*at, row)}) for row, value in enumerate(values))
        _check_distinct(key, levels)
        yield Factor(levels, {key: at})


def _check_distinct(key: str, levels: Sequence[Level]) -> None:
    """Refuse a repeated value, and programs that only their code tells apart."""
    seen: dict[str, tuple[str, ...]] = {}
    for level in levels:
        shown = level.columns[key]
        before = seen.setdefault(toml(shown), level.sets)
        if before is not level.sets:
            what = "each value once" if before == level.sets else "programs of different names"
            raise DesignError(f"grid: {key} must have {what}, not {toml(shown)} twice", level.places[0])


def _zips(tables: Any) -> Iterator[Factor]:
    """Make a factor of each table of lists in parallel."""
    if not isinstance(tables, list):
        raise DesignError("zip must be a list of tables: write [[zip]], with lists of equal length", ("zip",))
    for index, table in enumerate(tables):
        lists = {key: (at, values) for key, at, values in _lists(table, ("zip", index))}
        lengths = {key: len(values) for key, (_, values) in lists.items()}
        if len(set(lengths.values())) != 1:
            said = ", ".join(f"{key} has {length}" for key, length in lengths.items()) or "it has no list"
            message = f"zip[{index}] must have lists of equal length; {said}"
            raise DesignError(message, ("zip", index))
        levels = []
        for row in range(next(iter(lengths.values()))):
            values = {key: values[row] for key, (_, values) in lists.items()}
            levels.append(_together(values, {key: (*at, row) for key, (at, _) in lists.items()}))
        yield Factor(tuple(levels), {key: at for key, (at, _) in lists.items()})


def _lists(table: Any, at: Place) -> Iterator[tuple[str, Place, list[Any]]]:
    """Yield every key below a table with its position and its list of values."""
    path = f"{at[0]}[{at[1]}]" if len(at) > 1 else at[0]
    if not isinstance(table, Mapping):
        raise DesignError(f"{path} must be a table of keys with lists of values, not {quoted(table)}", at)
    for key, place, given in _leaves(table, "", at):
        value = _listed(given)
        if value is None:
            raise DesignError(f"{path}: {key} must be a list of values, not {quoted(given)}", place)
        if not value:
            raise DesignError(f"{path}: {key} must not be an empty list", place)
        _check_no_file(key, value, place)
        yield key, place, value


def _check_no_file(key: str, values: Sequence[Any], at: Place) -> None:
    """Refuse the file of a policy in Python as a value, and say where it can be one."""
    if key.rpartition(".")[2] not in KINDS_OF_POLICIES:
        return
    for row, value in enumerate(values):
        if isinstance(value, str) and re.search(r"\.py(:\w+)?$", value):
            program = f"policy.read({json.dumps(value)})"
            message = (
                f"{excerpt(key)} must not be a file, as {quoted(value)}: vary programs with pushout.sweep in Python"
            )
            raise DesignError(f"{message}, where a list takes {program}", (*at, row))


def _leaves(table: Mapping[str, Any], path: str, at: Place) -> Iterator[tuple[str, Place, Any]]:
    for name, value in table.items():
        key = f"{path}.{name}" if path else name
        if isinstance(value, Mapping):
            yield from _leaves(value, key, (*at, name))
        else:
            yield key, (*at, name), value


def _listed(value: Any) -> list[Any] | None:
    """Convert a sequence such as a tuple, a range or an array to a list; None if it is not one."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else None


def _together(values: Mapping[str, Any], places: Mapping[str, Place]) -> Level:
    """Make a level that sets these keys; the places are those of the values."""
    columns, sets = {}, []
    for key, value in values.items():
        try:
            columns[key] = _shown(value)
            sets.append(f"{key}={toml(value)}")
        except (TypeError, ScenarioError) as error:
            raise DesignError(f"{excerpt(key)}: {error}", places[key]) from None
    return Level(columns, tuple(sets), tuple(places.values()))


def _shown(value: Any) -> Value:
    """Convert a value for a column: a program becomes its label, any other table or list TOML."""
    value = plain(value)
    if isinstance(value, bool | int | float | str):
        return value
    is_program = isinstance(value, Mapping) and value.get("policy") == "program"
    return label(toml(value)) if is_program else toml(value)


# --- labels


def _axes(table: Any) -> Iterator[Factor]:
    """Make a factor of each axis, whose labels stand for overrides."""
    if not isinstance(table, Mapping):
        raise DesignError(
            "axis must be a table of axes: write [axis.NAME] with a list of overrides for each LABEL", ("axis",)
        )
    for name, labels in table.items():
        check_plain(name, "axis", name, key=True)
        if not isinstance(labels, Mapping) or not labels:
            raise DesignError(
                f"axis.{name} must be a table with a list of overrides for each LABEL, not {quoted(labels)}",
                ("axis", name),
            )
        levels = tuple(_labelled(name, label, sets) for label, sets in labels.items())
        keys: dict[str, Place] = {name: ("axis", name)}
        for level in levels:
            for change, place in zip(level.sets, level.places, strict=True):
                keys.setdefault(key_of(change), place)
        yield Factor(levels, keys)


def _labelled(name: str, label: str, sets: Any) -> Level:
    """Make the level of a label; each key that it sets has a column as well."""
    check_plain(label, "axis", name, label, key=True)
    check_overrides(sets, "axis", name, label)
    places = tuple(("axis", name, label, row) for row in range(len(sets)))
    columns: dict[str, Value] = {name: label}
    for change, place in zip(sets, places, strict=True):
        if key_of(change) == name:
            message = f"axis.{name} must not set the key of its own name, which has a column already: rename the axis"
            raise DesignError(message, place)
        columns[key_of(change)] = change.partition("=")[2].strip()
    return Level(columns, tuple(sets), places)


def key_of(override: str) -> str:
    """Return the key that an override sets."""
    return override.partition("=")[0].strip()


# --- random points

METHODS = ("latin-hypercube", "uniform")
SCALES = ("linear", "log")
INDIVISIBLE = ("cell", "cells", "packet", "packets")
"""Units that are counted in integers."""


def _random(table: Any) -> Iterator[Factor]:
    """Make one factor of which each level is a random point."""
    check_keys(table, ("points", "seed", "method", "keys"), "random")
    points, seed, method = table.get("points"), table.get("seed", 1), table.get("method", METHODS[0])
    if points is None:
        raise DesignError(
            "random.points is missing: give the number of points to draw, as in points = 100", ("random",)
        )
    if not is_whole(points) or not 1 <= points <= MOST_POINTS:
        message = f"random.points must be an integer from 1 to {MOST_POINTS}, not {quoted(points)}"
        raise DesignError(message, ("random", "points"))
    if not is_whole(seed):
        raise DesignError(f"random.seed must be an integer, not {quoted(seed)}", ("random", "seed"))
    check_word(method, METHODS, "random", "method")
    ranges = list(_ranges(table.get("keys"), "", ("random", "keys")))
    if not ranges:
        message = "random.keys must give each key a range { from, to } or a choice { choose = [values] }"
        raise DesignError(message, ("random", "keys"))
    drawn = {}
    for key, at, spec in ranges:
        value = _choice(key, at, spec) if "choose" in spec else _range(key, at, spec)
        drawn[key] = [value(place) for place in _places(points, f"{seed}/{key}", method)]
    keys = {key: at for key, at, _ in ranges}
    yield Factor(tuple(_together({key: drawn[key][row] for key in keys}, keys) for row in range(points)), keys)


def _ranges(table: Any, path: str, at: Place) -> Iterator[tuple[str, Place, Mapping[str, Any]]]:
    """Yield the keys to draw, with their ranges or choices."""
    if not isinstance(table, Mapping):
        return
    for name, value in table.items():
        key = f"{path}.{name}" if path else name
        if isinstance(value, Mapping) and ("from" in value or "choose" in value):
            yield key, (*at, name), value
        elif isinstance(value, Mapping):
            yield from _ranges(value, key, (*at, name))
        else:
            message = f"random.keys: {key} must be {{ from, to }} or {{ choose = [values] }}, not {quoted(value)}"
            raise DesignError(message, (*at, name))


def _places(points: int, seed: str, method: str) -> list[float]:
    """Draw numbers between 0 and 1 for one key from a separate stream, so that other keys do not change them."""
    stream = random.Random(seed)  # noqa: S311  (a design, not a secret)
    places = [stream.random() for _ in range(points)]
    if method == "uniform":
        return places
    # Latin hypercube: one number in each of `points` strata, in random order.
    order = sorted(range(points), key=lambda _: stream.random())
    return [(stratum + place) / points for stratum, place in zip(order, places, strict=True)]


def _choice(key: str, at: Place, spec: Mapping[str, Any]) -> Callable[[float], Any]:
    """Make a function from a number between 0 and 1 to one of the values."""
    check_keys(spec, ("choose",), *map(str, at))
    choices = _listed(spec["choose"])
    if not choices:
        message = f"random.keys.{key}: choose must be a list of values, not {quoted(spec['choose'])}"
        raise DesignError(message, (*at, "choose"))
    return lambda place: choices[int(place * len(choices))]


def _range(key: str, at: Place, spec: Mapping[str, Any]) -> Callable[[float], Any]:
    """Make a function from a number between 0 and 1 to a value of the range."""
    path = f"random.keys.{key}"
    check_keys(spec, ("from", "to", "unit", "scale", "whole"), *map(str, at))
    given: dict[str, Any] = {"from": None, "to": None, "unit": "", "scale": SCALES[0], "whole": False, **spec}
    low, high, unit, scale, whole = (given[name] for name in ("from", "to", "unit", "scale", "whole"))
    check_word(scale, SCALES, *map(str, at), "scale")
    if not isinstance(unit, str) or not isinstance(whole, bool):
        raise DesignError(
            f"{path}: unit must be a string, and whole true or false, not {quoted(unit)} and {quoted(whole)}", at
        )
    if not (is_number(low) and is_number(high)) or not low < high or (scale == "log" and low <= 0):
        message = (
            f"{path}: from and to must be a range of numbers on a {scale} scale, not {quoted(low)} and {quoted(high)}"
        )
        hint = "; from must be less than to" if is_number(low) and is_number(high) and low >= high else ""
        raise DesignError(message + hint, at)

    if not math.isfinite(float(high) / low if scale == "log" else float(high) - low):
        raise DesignError(
            f"{path}: the range from {quoted(low)} to {quoted(high)} must be narrower: it exceeds floating point", at
        )
    first, last = math.ceil(low), math.floor(high)
    if whole := whole or unit in INDIVISIBLE:
        if first > last:
            raise DesignError(f"{path}: the range must contain an integer, not {quoted(low)} to {quoted(high)}", at)
        low, high = first - 0.5, last + 0.5  # so that the ends are as likely as other integers

    def value(place: float) -> Any:
        number = low * (high / low) ** place if scale == "log" else low + (high - low) * place
        number = min(max(first, math.floor(number + 0.5)), last) if whole else quantity.nearest(number, unit)
        return quantity.text(number, unit) if unit else number

    try:
        value(0.0), value(1.0)
    except OverflowError:
        message = f"{path}: from and to must be smaller numbers of {quoted(unit)}, not {quoted(low)} and {quoted(high)}"
        raise DesignError(message, at) from None
    return value


KINDS: dict[str, Callable[[Any], Iterator[Factor]]] = {"grid": _grid, "axis": _axes, "zip": _zips, "random": _random}
"""The reader of each key that makes factors."""
