"""Which points a sweep is to cover: `SWEEP.toml`, checked when it is read.

    name, title         for people; the name is by default that of the file
    scenario            path, beside the sweep file
    seed                seed of the first replication, default: the scenario's
    reps                replications of each point, default 1; or { precision, of, min, max }
    warmup              "50 ms", or { method = "mser-5", figure, reps }
    engine              fast or reference
    figures             paths of figures besides those of the summary, which every row has
    set                 list of overrides of every point, key.path=value
    [grid]              key.path = [values]: every combination
    [axis.NAME]         LABEL = [overrides]: one label after the other
    [[zip]]             key.path = [values]: lists of one length that go together
    [random]            points, seed, method ("latin-hypercube" or "uniform") and
    [random.keys]       key.path = { from, to, unit, scale ("linear", "log"), whole } or { choose = [values] }

The points are all combinations of the grid's keys, the axes, the zips and the random points, the first of them
varying slowest. Every point is run with the same seeds: common random numbers.
"""

import itertools
import math
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pushout import _core
from pushout.limits import MOST_REPS
from pushout.question import QuestionError
from pushout.question.campaign import Fixed, Precision, Replications
from pushout.question.table import path_of
from pushout.source import Source, plain, toml
from pushout.source import read as read_text

MOST_POINTS = 1_000_000

RESERVED = frozenset(("point", "seed", "warmup_s", "wall_s"))

Value = bool | int | float | str


Place = tuple[str | int, ...]
"""Where something stands in a sweep: keys and, in lists, positions."""


class DesignError(QuestionError):
    """A sweep file that cannot be read: what is wrong, and where in it; `key` if with the key, not with its value."""

    def __init__(self, message: str, at: Place = (), *, key: bool = False) -> None:
        super().__init__(message)
        self.at = at
        self.key = key


@dataclass(frozen=True)
class Level:
    """One value of a factor: what its columns show, and the overrides that it stands for."""

    columns: Mapping[str, Value]
    sets: tuple[str, ...]
    places: tuple[Place, ...] = ()
    """Where each override stands; of a factor's levels alone, not of points."""


Factor = tuple[Level, ...]


@dataclass(frozen=True)
class Mser:
    """Warm-up found by MSER-5 in pilot runs of each point, from a figure over time."""

    figure: str
    reps: int = 5


@dataclass(frozen=True)
class Design:
    """All that a sweep file says."""

    name: str
    title: str
    text: str
    scenario: Source | Path | Mapping[str, Any] | str
    points: tuple[Level, ...]
    reps: Replications
    seed: int | None = None
    warmup: Mser | None = None
    engine: str | None = None
    figures: tuple[str, ...] = ()
    origin: str = ""
    """The file that says it, for messages."""
    document: "_core.Document | None" = field(default=None, repr=False, compare=False)
    """What was read from it."""
    common: Level = Level({}, ())
    """The overrides of every point."""
    factors: tuple[Factor, ...] = field(default=(), repr=False)
    """Of which the points are all combinations."""

    @property
    def columns(self) -> list[str]:
        """Every swept key and axis, in order."""
        return list(dict.fromkeys(name for point in self.points for name in point.columns))

    def places(self, point: int) -> list[Place]:
        """Where the overrides of a point stand."""
        levels = next(itertools.islice(itertools.product(*self.factors), point, None), ())
        return [place for level in (self.common, *levels) for place in level.places]

    def tell(self, at: Place, message: str) -> str:
        """A message with the place in the file, if there is one."""
        return self.document.tell([str(name) for name in at], False, message) if self.document else message


KEYS = (
    "name",
    "title",
    "scenario",
    "seed",
    "reps",
    "warmup",
    "engine",
    "figures",
    "set",
    "grid",
    "axis",
    "zip",
    "random",
)


def read(path: str | os.PathLike[str]) -> Design:
    """Read a sweep file."""
    try:
        text, name = read_text(os.fspath(path), "sweep")
        document = _core.Document(text, name)
    except _core.ScenarioError as error:
        raise DesignError(str(error)) from None
    file = Path(path)
    stem = "sweep" if str(file) == "-" else file.stem
    try:
        found = design({"name": stem, **document.value()}, folder=file.parent, text=text)
    except DesignError as error:
        told = document.tell([str(name) for name in error.at], error.key, str(error))
        raise DesignError(told if error.at else f"{name}: {error}") from None
    return replace(found, origin=name, document=document)


def is_sweep(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like a sweep: it names a scenario instead of being one; never the standard input."""
    if os.fspath(path) == "-":
        return False
    try:
        text, name = read_text(os.fspath(path))
        return "scenario" in _core.Document(text, name).value()
    except _core.ScenarioError:
        return False


def design(table: Mapping[str, Any], *, folder: Path = Path(), text: str = "") -> Design:
    """A sweep from its keys; `folder` is where a relative path of a scenario begins."""
    if "scenario" not in table and table.keys() & {"duration", "topology", "flows", "link"}:
        raise DesignError("this is a scenario, not a sweep: a sweep names a scenario and what to vary")
    _known(table, KEYS)
    scenario = _typed(table, "scenario", (str, Mapping, os.PathLike), "a path")
    scenario = os.fspath(scenario) if isinstance(scenario, os.PathLike) else scenario
    warmup = table.get("warmup")
    common = _common(table)
    figures = table.get("figures", [])
    if not isinstance(figures, list) or not all(isinstance(figure, str) for figure in figures):
        raise DesignError("figures: is a list of paths, as in ports.bottleneck.occupancy_mean", ("figures",))
    seed = table.get("seed")
    if seed is not None and (not _is_whole(seed) or not 0 <= seed < 2**64):
        raise DesignError(f"seed: {seed!r} is not a whole number from 0 to 2^64 - 1", ("seed",))
    factors = tuple(_factors(table))
    return Design(
        name=_typed(table, "name", (str,), "a text", "sweep"),
        title=_typed(table, "title", (str,), "a text", ""),
        text=text,
        scenario=folder / scenario if isinstance(scenario, str) and "\n" not in scenario else scenario,
        points=tuple(_points(factors, common)),
        reps=_replications(table.get("reps", 1)),
        seed=seed,
        warmup=None if warmup is None or isinstance(warmup, str) else _mser(warmup),
        engine=_typed(table, "engine", (str,), "the name of an engine") if "engine" in table else None,
        figures=tuple(dict.fromkeys(map(path_of, figures))),
        common=common,
        factors=factors,
    )


def _common(table: Mapping[str, Any]) -> Level:
    """What every point overrides."""
    sets = table.get("set", [])
    _check_set(sets, "set")
    places: list[Place] = [("set", index) for index in range(len(sets))]
    if isinstance(warmup := table.get("warmup"), str):
        return Level({}, (*sets, f"warmup={warmup}"), (*places, ("warmup",)))
    return Level({}, tuple(sets), tuple(places))


def _known(table: Any, keys: Sequence[str], *at: str) -> None:
    """Refuse whatever is no table, or has a key that means nothing."""
    path = ".".join(at)
    if not isinstance(table, Mapping):
        raise DesignError(f"{path}: {table!r} is not a table", at)
    for key in table:
        if key not in keys:
            message = _core.unknown("key", str(key), keys)
            raise DesignError(f"{path}: {message}" if path else message, (*at, str(key)), key=True)


def _typed(table: Mapping[str, Any], key: str, types: tuple[type, ...], what: str, default: Any = None) -> Any:
    value = table.get(key, default)
    if value is None:
        raise DesignError(f'the key "{key}" is missing')
    if not isinstance(value, types):
        raise DesignError(f"{key}: {value!r} is not {what}", (key,))
    return value


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _replications(reps: Any) -> Replications:
    if _is_whole(reps):
        if reps < 1:
            raise DesignError(f"reps: {reps} is less than 1", ("reps",))
        if reps > MOST_REPS:
            raise DesignError(f"reps: {reps} replications are more than {MOST_REPS}", ("reps",))
        return Fixed(reps)
    if not isinstance(reps, Mapping):
        message = f"reps: {reps!r} is neither a whole number nor a table, as in {{ precision = 0.02 }}"
        raise DesignError(message, ("reps",))
    _known(reps, ("precision", "of", "min", "max"), "reps")
    given: dict[str, Any] = {"precision": None, "of": "summary.goodput_ratio", "min": 5, "max": 100, **reps}
    precision, of, least, most = given["precision"], given["of"], given["min"], given["max"]
    if not _is_number(precision) or not 0 < precision < 1:
        message = f"reps.precision: {precision!r} is not a share between 0 and 1, such as 0.02"
        raise DesignError(message, ("reps", "precision"))
    if not isinstance(of, str):
        raise DesignError(f"reps.of: {of!r} is not the path of a figure", ("reps", "of"))
    if not (_is_whole(least) and _is_whole(most) and 2 <= least <= most <= MOST_REPS):
        message = f"reps: min {least!r} and max {most!r} must be whole numbers with 2 ≤ min ≤ max ≤ {MOST_REPS}"
        raise DesignError(message, ("reps",))
    return Precision(precision, path_of(of), least, most)


def _mser(table: Any) -> Mser:
    _known(table, ("method", "figure", "reps"), "warmup")
    if table.get("method") != "mser-5":
        raise DesignError(f'warmup.method: {table.get("method")!r} is not "mser-5"', ("warmup", "method"))
    figure, reps = table.get("figure"), table.get("reps", 5)
    if not isinstance(figure, str):
        raise DesignError(
            "warmup.figure: is the path of a figure over time, as in ports.bottleneck.occupancy.values or "
            "flows.NAME.throughput.bps; [measure] of the scenario must ask for it",
            ("warmup", "figure"),
        )
    if not _is_whole(reps) or not 1 <= reps <= MOST_REPS:
        raise DesignError(f"warmup.reps: {reps!r} is not a whole number from 1 to {MOST_REPS}", ("warmup", "reps"))
    return Mser(figure, reps)


def _points(factors: Sequence[Factor], common: Level) -> Iterator[Level]:
    count = math.prod(map(len, factors))
    if count > MOST_POINTS:
        raise DesignError(f"{count} points are more than {MOST_POINTS}")
    seen: set[str] = set()
    for factor in factors:
        own = {name for level in factor for name in level.columns}
        at: Place = next((level.places[0][:-1] for level in factor if level.places), ())
        if twice := sorted(own & seen):
            raise DesignError(f'"{twice[0]}" is swept twice', at, key=True)
        if reserved := sorted(own & RESERVED):
            instead = "; reps = N runs every point with N seeds" if reserved[0] == "seed" else ""
            message = f'"{reserved[0]}" cannot be swept: every row has a column of this name{instead}'
            raise DesignError(message, at, key=True)
        seen |= own
    for levels in itertools.product(*factors):
        columns = {name: value for level in levels for name, value in level.columns.items()}
        yield Level(columns, common.sets + tuple(change for level in levels for change in level.sets))


def _factors(table: Mapping[str, Any]) -> Iterator[Factor]:
    kinds: dict[str, Callable[[Any], Iterator[Factor]]] = {
        "grid": _grid,
        "axis": _axes,
        "zip": _zips,
        "random": _random,
    }
    for key, value in table.items():
        if key in kinds:
            yield from kinds[key](value)


def _grid(table: Any) -> Iterator[Factor]:
    for key, at, values in _lists(table, ("grid",)):
        yield tuple(_together({key: value}, {key: (*at, row)}) for row, value in enumerate(values))


def _axes(table: Any) -> Iterator[Factor]:
    if not isinstance(table, Mapping):
        raise DesignError("axis: write [axis.NAME] with a list of overrides for each LABEL", ("axis",))
    for name, labels in table.items():
        if not isinstance(labels, Mapping) or not labels:
            raise DesignError(f"axis.{name}: has a list of overrides for each LABEL", ("axis", name))
        for label, sets in labels.items():
            _check_set(sets, "axis", name, label)
        yield tuple(_labelled(name, label, sets) for label, sets in labels.items())


def _labelled(name: str, label: str, sets: list[str]) -> Level:
    """A label with its overrides; each key that it sets has a column as well."""
    pairs = dict(change.split("=", 1) for change in sets)
    columns = {name: label, **{key.strip(): value.strip() for key, value in pairs.items()}}
    return Level(columns, tuple(sets), tuple(("axis", name, label, row) for row in range(len(sets))))


def _check_set(sets: Any, *at: str) -> None:
    path = ".".join(at)
    if not isinstance(sets, list):
        raise DesignError(f"{path}: is a list of overrides, as in ['duration=1 s']", at)
    for row, change in enumerate(sets):
        if not isinstance(change, str) or "=" not in change:
            message = f"{path}: {change!r} is not an override key.path=value, as in 'duration=1 s'"
            raise DesignError(message, (*at, row))


def _zips(tables: Any) -> Iterator[Factor]:
    if not isinstance(tables, list):
        raise DesignError("zip: write [[zip]], with lists of one length", ("zip",))
    for index, table in enumerate(tables):
        columns = list(_lists(table, ("zip", index)))
        lengths = {key: len(values) for key, _, values in columns}
        if len(set(lengths.values())) != 1:
            said = ", ".join(f"{key} has {length}" for key, length in lengths.items()) or "there are none"
            message = f"zip[{index}]: lists go together value by value and have one length; {said}"
            raise DesignError(message, ("zip", index))
        yield tuple(
            _together({key: values[row] for key, _, values in columns}, {key: (*at, row) for key, at, _ in columns})
            for row in range(len(columns[0][2]))
        )


def _together(values: Mapping[str, Any], places: Mapping[str, Place]) -> Level:
    """Keys that have these values; the places are those of the values."""
    columns, sets = {}, []
    for key, value in values.items():
        try:
            columns[key] = shown(value)
            sets.append(f"{key}={toml(value)}")
        except TypeError as error:
            raise DesignError(f"{key}: {error}", places[key]) from None
    return Level(columns, tuple(sets), tuple(places.values()))


def _lists(table: Any, at: Place) -> Iterator[tuple[str, Place, list[Any]]]:
    """The keys below a table that hold lists, dotted or quoted as they may be, and where they stand."""
    path = f"{at[0]}[{at[1]}]" if len(at) > 1 else at[0]
    if not isinstance(table, Mapping):
        raise DesignError(f"{path}: is a table of keys with lists of values", at)
    for key, place, given in _leaves(table, "", at):
        value = _listed(given)
        if value is None:
            raise DesignError(f"{path}: {key} has {given!r}, which is not a list of values", place)
        if not value:
            raise DesignError(f"{path}: {key} has an empty list, which leaves nothing to run", place)
        yield key, place, value


def _listed(value: Any) -> list[Any] | None:
    """A list, from whatever Python has of the kind: tuples, ranges, arrays."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else None


def _leaves(table: Mapping[str, Any], path: str, at: Place) -> Iterator[tuple[str, Place, Any]]:
    for name, value in table.items():
        key = f"{path}.{name}" if path else name
        if isinstance(value, Mapping):
            yield from _leaves(value, key, (*at, name))
        else:
            yield key, (*at, name), value


def shown(value: Any) -> Value:
    """A value as a column has it: plain as it is, a table or a list as TOML."""
    value = plain(value)
    return value if isinstance(value, bool | int | float | str) else toml(value)


METHODS = ("latin-hypercube", "uniform")


def _random(table: Any) -> Iterator[Factor]:
    _known(table, ("points", "seed", "method", "keys"), "random")
    points, seed = table.get("points"), table.get("seed", 1)
    method = table.get("method", METHODS[0])
    if not _is_whole(points) or not 1 <= points <= MOST_POINTS:
        message = f"random.points: {points!r} is not a whole number from 1 to {MOST_POINTS}"
        raise DesignError(message, ("random", "points"))
    if not _is_whole(seed):
        raise DesignError(f"random.seed: {seed!r} is not a whole number", ("random", "seed"))
    if method not in METHODS:
        raise DesignError(f"random.method: {method!r} is not one of {', '.join(METHODS)}", ("random", "method"))
    ranges = list(_ranges(table.get("keys"), "", ("random", "keys")))
    if not ranges:
        message = "random.keys: says for each key from where to where, or what to choose from"
        raise DesignError(message, ("random", "keys"))
    places = {key: at for key, at, _ in ranges}
    drawn = {key: _draw(key, at, spec, points, f"{seed}/{key}", method) for key, at, spec in ranges}
    yield tuple(_together({key: values[row] for key, values in drawn.items()}, places) for row in range(points))


def _ranges(table: Any, path: str, at: Place) -> Iterator[tuple[str, Place, Mapping[str, Any]]]:
    if not isinstance(table, Mapping):
        return
    for name, value in table.items():
        key = f"{path}.{name}" if path else name
        if isinstance(value, Mapping) and ("from" in value or "choose" in value):
            yield key, (*at, name), value
        elif isinstance(value, Mapping):
            yield from _ranges(value, key, (*at, name))
        else:
            message = f"random.keys: {key} has {value!r}, not {{ from, to }} or {{ choose = [values] }}"
            raise DesignError(message, (*at, name))


def _draw(key: str, at: Place, spec: Mapping[str, Any], points: int, seed: str, method: str) -> list[Any]:
    """Values of one key, from a stream of its own: another key draws nothing away from it."""
    stream = random.Random(seed)  # noqa: S311  (a design, no secret)
    places = [stream.random() for _ in range(points)]
    if method == METHODS[0]:  # one place in each of as many strata, in random order
        order = sorted(range(points), key=lambda _: stream.random())
        places = [(stratum + place) / points for stratum, place in zip(order, places, strict=True)]
    return [value(place) for value in [_range(key, at, spec)] for place in places]


def _range(key: str, at: Place, spec: Mapping[str, Any]) -> Callable[[float], Any]:
    """What turns a place between 0 and 1 into a value."""
    path = f"random.keys.{key}"
    if "choose" in spec:
        _known(spec, ("choose",), *map(str, at))
        choices = _listed(spec["choose"])
        if not choices:
            message = f"{path}: choose has {spec['choose']!r}, which is not a list of values"
            raise DesignError(message, (*at, "choose"))
        return lambda place: choices[int(place * len(choices))]
    _known(spec, ("from", "to", "unit", "scale", "whole"), *map(str, at))
    given: dict[str, Any] = {"from": None, "to": None, "unit": "", "scale": "linear", "whole": False, **spec}
    low, high, unit, scale, whole = (given[key] for key in ("from", "to", "unit", "scale", "whole"))
    if not (_is_number(low) and _is_number(high)) or not low < high or (scale == "log" and low <= 0):
        message = f"{path}: from {low!r} to {high!r} is no range of numbers on a {scale} scale"
        hint = "; from is the smaller one" if _is_number(low) and _is_number(high) and low >= high else ""
        raise DesignError(message + hint, at)
    if scale not in ("linear", "log") or not isinstance(unit, str) or not isinstance(whole, bool):
        raise DesignError(f'{path}: scale is "linear" or "log", unit a text, whole true or false', at)

    def value(place: float) -> Any:
        number = low * (high / low) ** place if scale == "log" else low + (high - low) * place
        number = int(number + 0.5) if whole else float(f"{number:.6g}")
        return f"{number} {unit}" if unit else number

    return value
