"""What a sweep varies: the keys `grid`, `axis`, `zip` and `random` of a sweep file, each read into factors.

A factor has levels, and the points of a sweep are all combinations of one level of each. A mistake is a `DesignError`
with the place where it stands.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pushout import _core
from pushout.errors import DesignError, ScenarioError
from pushout.excerpt import CONTROL, excerpt, quoted
from pushout.question import quantity
from pushout.question.table import Swept
from pushout.source import plain, toml

MOST_POINTS = 1_000_000

Value = bool | int | float | str

Place = tuple[str | int, ...]
"""Where something stands in a sweep: keys and, in lists, positions."""


@dataclass(frozen=True)
class Level:
    """One value of a factor: what its columns show, and the overrides that it stands for."""

    columns: Mapping[str, Value]
    sets: tuple[str, ...]
    places: tuple[Place, ...] = ()
    """Where each override stands; of a factor's levels alone, not of points."""


NOTHING = Level({}, ())
"""The scenario as it stands."""


@dataclass(frozen=True)
class Factor:
    """Levels that exclude each other, and where the keys and names stand that it gives columns to."""

    levels: tuple[Level, ...]
    keys: Mapping[str, Place] = field(default_factory=dict)

    @cached_property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Every column that the table will have of it, with the key or the name that it belongs to."""
        swept = (Swept(name, tuple(level.columns.get(name) for level in self.levels)) for name in self.keys)
        return tuple((column, one.name) for one in swept for column in one.names())


def factors(table: Mapping[str, Any]) -> Iterator[Factor]:
    """All factors of a sweep, in the order in which it has them."""
    for key, value in table.items():
        if key in KINDS:
            yield from KINDS[key](value)


# --- what is checked everywhere


def check_keys(table: Any, keys: Sequence[str], *at: str) -> None:
    """Refuse whatever is no table, or has a key that means nothing."""
    path = ".".join(at)
    if not isinstance(table, Mapping):
        raise DesignError(f"{path}: {quoted(table)} is not a table", at)
    for key in table:
        if key not in keys:
            message = _core.unknown("key", str(key), keys)
            raise DesignError(f"{path}: {message}" if path else message, (*at, str(key)), key=True)


def check_overrides(sets: Any, *at: str) -> None:
    """Refuse what is no list of overrides."""
    path = ".".join(at)
    if not isinstance(sets, list):
        raise DesignError(f"{path}: is a list of overrides, as in ['duration=1 s']", at)
    for row, change in enumerate(sets):
        if not isinstance(change, str) or "=" not in change.lstrip("="):
            message = f"{path}: {quoted(change)} is not an override key.path=value, as in 'duration=1 s'"
            raise DesignError(message, (*at, row))


def check_plain(text: str, *at: str, key: bool = False) -> None:
    """Refuse a text, or a key, that has control characters."""
    if CONTROL.search(text):
        path = excerpt(".".join(at))
        raise DesignError(f"{path} must be without control characters, not {quoted(text)}", at, key=key)


def check_word(word: Any, known: Sequence[str], *at: str) -> None:
    """Refuse what is none of these words."""
    path = ".".join(at)
    if not isinstance(word, str):
        raise DesignError(f"{path}: {quoted(word)} is not one of {', '.join(known)}", at)
    if word not in known:
        raise DesignError(f"{path}: {_core.unknown(at[-1], word, known)}", at)


def is_whole(value: Any) -> bool:
    """Whether this is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether this is a number that one can calculate with."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all others
        return False


# --- lists of values


def _grid(table: Any) -> Iterator[Factor]:
    """Every combination: a factor for each key."""
    for key, at, values in _lists(table, ("grid",)):
        levels = tuple(_together({key: value}, {key: (*at, row)}) for row, value in enumerate(values))
        _check_distinct(key, levels)
        yield Factor(levels, {key: at})


def _check_distinct(key: str, levels: Sequence[Level]) -> None:
    """Refuse a value that is named twice."""
    seen: set[tuple[str, ...]] = set()
    for level in levels:
        if level.sets in seen:
            raise DesignError(f"grid: {key} has {toml(level.columns[key])} twice", level.places[0])
        seen.add(level.sets)


def _zips(tables: Any) -> Iterator[Factor]:
    """Lists that go together: a factor for each table of them."""
    if not isinstance(tables, list):
        raise DesignError("zip: write [[zip]], with lists of one length", ("zip",))
    for index, table in enumerate(tables):
        lists = {key: (at, values) for key, at, values in _lists(table, ("zip", index))}
        lengths = {key: len(values) for key, (_, values) in lists.items()}
        if len(set(lengths.values())) != 1:
            said = ", ".join(f"{key} has {length}" for key, length in lengths.items()) or "there are none"
            message = f"zip[{index}]: lists go together value by value and have one length; {said}"
            raise DesignError(message, ("zip", index))
        levels = []
        for row in range(next(iter(lengths.values()))):
            values = {key: values[row] for key, (_, values) in lists.items()}
            levels.append(_together(values, {key: (*at, row) for key, (at, _) in lists.items()}))
        yield Factor(tuple(levels), {key: at for key, (at, _) in lists.items()})


def _lists(table: Any, at: Place) -> Iterator[tuple[str, Place, list[Any]]]:
    """The keys below a table that hold lists, dotted or quoted as they may be, and where they stand."""
    path = f"{at[0]}[{at[1]}]" if len(at) > 1 else at[0]
    if not isinstance(table, Mapping):
        raise DesignError(f"{path}: is a table of keys with lists of values", at)
    for key, place, given in _leaves(table, "", at):
        value = _listed(given)
        if value is None:
            raise DesignError(f"{path}: {key} has {quoted(given)}, which is not a list of values", place)
        if not value:
            raise DesignError(f"{path}: {key} has an empty list, which leaves nothing to run", place)
        yield key, place, value


def _leaves(table: Mapping[str, Any], path: str, at: Place) -> Iterator[tuple[str, Place, Any]]:
    for name, value in table.items():
        key = f"{path}.{name}" if path else name
        if isinstance(value, Mapping):
            yield from _leaves(value, key, (*at, name))
        else:
            yield key, (*at, name), value


def _listed(value: Any) -> list[Any] | None:
    """A list, from whatever Python has of the kind: tuples, ranges, arrays."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else None


def _together(values: Mapping[str, Any], places: Mapping[str, Place]) -> Level:
    """Keys that have these values; the places are those of the values."""
    columns, sets = {}, []
    for key, value in values.items():
        try:
            columns[key] = _shown(value)
            sets.append(f"{key}={toml(value)}")
        except (TypeError, ScenarioError) as error:
            raise DesignError(f"{excerpt(key)}: {error}", places[key]) from None
    return Level(columns, tuple(sets), tuple(places.values()))


def _shown(value: Any) -> Value:
    """A value as a column has it: plain as it is, a table or a list as TOML."""
    value = plain(value)
    return value if isinstance(value, bool | int | float | str) else toml(value)


# --- labels


def _axes(table: Any) -> Iterator[Factor]:
    """Labels that stand for overrides: a factor for each axis."""
    if not isinstance(table, Mapping):
        raise DesignError("axis: write [axis.NAME] with a list of overrides for each LABEL", ("axis",))
    for name, labels in table.items():
        check_plain(name, "axis", name, key=True)
        if not isinstance(labels, Mapping) or not labels:
            raise DesignError(f"axis.{name}: has a list of overrides for each LABEL", ("axis", name))
        levels = tuple(_labelled(name, label, sets) for label, sets in labels.items())
        keys: dict[str, Place] = {name: ("axis", name)}
        for level in levels:
            for change, place in zip(level.sets, level.places, strict=True):
                keys.setdefault(key_of(change), place)
        yield Factor(levels, keys)


def _labelled(name: str, label: str, sets: Any) -> Level:
    """A label with its overrides; each key that it sets has a column as well."""
    check_plain(label, "axis", name, label, key=True)
    check_overrides(sets, "axis", name, label)
    places = tuple(("axis", name, label, row) for row in range(len(sets)))
    columns: dict[str, Value] = {name: label}
    for change, place in zip(sets, places, strict=True):
        if key_of(change) == name:
            message = f"axis.{name}: sets the key of its own name, which has a column already: rename the axis"
            raise DesignError(message, place)
        columns[key_of(change)] = change.partition("=")[2].strip()
    return Level(columns, tuple(sets), places)


def key_of(override: str) -> str:
    """The key that an override sets."""
    return override.partition("=")[0].strip()


# --- random points

METHODS = ("latin-hypercube", "uniform")
SCALES = ("linear", "log")
INDIVISIBLE = ("cell", "cells", "packet", "packets")
"""Units of which there are only whole numbers."""


def _random(table: Any) -> Iterator[Factor]:
    """Random points: one factor of which each level is one of them."""
    check_keys(table, ("points", "seed", "method", "keys"), "random")
    points, seed, method = table.get("points"), table.get("seed", 1), table.get("method", METHODS[0])
    if points is None:
        raise DesignError("random: says how many points to draw, as in points = 100; that is missing", ("random",))
    if not is_whole(points) or not 1 <= points <= MOST_POINTS:
        message = f"random.points: {quoted(points)} is not a whole number from 1 to {MOST_POINTS}"
        raise DesignError(message, ("random", "points"))
    if not is_whole(seed):
        raise DesignError(f"random.seed: {quoted(seed)} is not a whole number", ("random", "seed"))
    check_word(method, METHODS, "random", "method")
    ranges = list(_ranges(table.get("keys"), "", ("random", "keys")))
    if not ranges:
        message = "random.keys: says for each key from where to where, or what to choose from"
        raise DesignError(message, ("random", "keys"))
    drawn = {}
    for key, at, spec in ranges:
        value = _choice(key, at, spec) if "choose" in spec else _range(key, at, spec)
        drawn[key] = [value(place) for place in _places(points, f"{seed}/{key}", method)]
    keys = {key: at for key, at, _ in ranges}
    yield Factor(tuple(_together({key: drawn[key][row] for key in keys}, keys) for row in range(points)), keys)


def _ranges(table: Any, path: str, at: Place) -> Iterator[tuple[str, Place, Mapping[str, Any]]]:
    """The keys that are drawn, and what says from what."""
    if not isinstance(table, Mapping):
        return
    for name, value in table.items():
        key = f"{path}.{name}" if path else name
        if isinstance(value, Mapping) and ("from" in value or "choose" in value):
            yield key, (*at, name), value
        elif isinstance(value, Mapping):
            yield from _ranges(value, key, (*at, name))
        else:
            message = f"random.keys: {key} has {quoted(value)}, not {{ from, to }} or {{ choose = [values] }}"
            raise DesignError(message, (*at, name))


def _places(points: int, seed: str, method: str) -> list[float]:
    """Places between 0 and 1 of one key, from a stream of its own: another key draws nothing away from it."""
    stream = random.Random(seed)  # noqa: S311  (a design, no secret)
    places = [stream.random() for _ in range(points)]
    if method == "uniform":
        return places
    # One place in each of as many strata, in random order.
    order = sorted(range(points), key=lambda _: stream.random())
    return [(stratum + place) / points for stratum, place in zip(order, places, strict=True)]


def _choice(key: str, at: Place, spec: Mapping[str, Any]) -> Callable[[float], Any]:
    """What turns a place between 0 and 1 into one of some values."""
    check_keys(spec, ("choose",), *map(str, at))
    choices = _listed(spec["choose"])
    if not choices:
        message = f"random.keys.{key}: choose has {quoted(spec['choose'])}, which is not a list of values"
        raise DesignError(message, (*at, "choose"))
    return lambda place: choices[int(place * len(choices))]


def _range(key: str, at: Place, spec: Mapping[str, Any]) -> Callable[[float], Any]:
    """What turns a place between 0 and 1 into a value of a range."""
    path = f"random.keys.{key}"
    check_keys(spec, ("from", "to", "unit", "scale", "whole"), *map(str, at))
    given: dict[str, Any] = {"from": None, "to": None, "unit": "", "scale": SCALES[0], "whole": False, **spec}
    low, high, unit, scale, whole = (given[name] for name in ("from", "to", "unit", "scale", "whole"))
    check_word(scale, SCALES, *map(str, at), "scale")
    if not isinstance(unit, str) or not isinstance(whole, bool):
        raise DesignError(f"{path}: unit is a text, and whole is true or false", at)
    if not (is_number(low) and is_number(high)) or not low < high or (scale == "log" and low <= 0):
        message = f"{path}: from {quoted(low)} to {quoted(high)} is no range of numbers on a {scale} scale"
        hint = "; from is the smaller one" if is_number(low) and is_number(high) and low >= high else ""
        raise DesignError(message + hint, at)

    if not math.isfinite(float(high) / low if scale == "log" else float(high) - low):
        raise DesignError(f"{path}: the range from {quoted(low)} to {quoted(high)} is too wide to calculate with", at)
    first, last = math.ceil(low), math.floor(high)
    if whole := whole or unit in INDIVISIBLE:
        if first > last:
            raise DesignError(f"{path}: there is no whole number from {quoted(low)} to {quoted(high)}", at)
        low, high = first - 0.5, last + 0.5  # what is rounded to the ends is as much as what is rounded to others

    def value(place: float) -> Any:
        number = low * (high / low) ** place if scale == "log" else low + (high - low) * place
        number = min(max(first, math.floor(number + 0.5)), last) if whole else quantity.nearest(number, unit)
        return quantity.text(number, unit) if unit else number

    try:
        value(0.0), value(1.0)
    except OverflowError:
        message = f"{path}: {quoted(low)} or {quoted(high)} is too large a number of {quoted(unit)}"
        raise DesignError(message, at) from None
    return value


KINDS: dict[str, Callable[[Any], Iterator[Factor]]] = {"grid": _grid, "axis": _axes, "zip": _zips, "random": _random}
"""What reads each key of a sweep that makes factors."""
