"""Which points a sweep is to cover: `SWEEP.toml`, checked when it is read.

    name, title         for people; the name is by default that of the file
    scenario            path, beside the sweep file
    seed                seed of the first replication, default: the scenario's
    reps                replications of each point, default 1; or { precision, of, min, max }
    warmup              "50 ms", or { method = "mser-5", figure, reps }
    engine              fast or reference
    figures             paths of figures besides those of the summary
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
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pushout import _core
from pushout.question import QuestionError
from pushout.question.campaign import Fixed, Precision, Replications
from pushout.source import Source, toml

MOST_POINTS = 1_000_000

RESERVED = frozenset(("point", "seed", "warmup_s", "wall_s"))

Value = bool | int | float | str


class DesignError(QuestionError):
    """A sweep file that cannot be read."""


@dataclass(frozen=True)
class Level:
    """One value of a factor: what its columns show, and the overrides that it stands for."""

    columns: Mapping[str, Value]
    sets: tuple[str, ...]


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

    @property
    def columns(self) -> list[str]:
        """Every swept key and axis, in order."""
        return list(dict.fromkeys(name for point in self.points for name in point.columns))


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
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise DesignError(f"{file}: cannot be read: {why}") from None
    try:
        table = tomllib.loads(text)
        return replace(design({"name": file.stem, **table}, folder=file.parent, text=text), origin=str(file))
    except (DesignError, tomllib.TOMLDecodeError) as error:
        raise DesignError(f"{file}: {error}") from None


def is_sweep(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like a sweep: it names a scenario instead of being one."""
    try:
        return "scenario" in tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False


def design(table: Mapping[str, Any], *, folder: Path = Path(), text: str = "") -> Design:
    """A sweep from its keys; `folder` is where a relative path of a scenario begins."""
    if "scenario" not in table and table.keys() & {"duration", "topology", "flows", "link"}:
        raise DesignError("this is a scenario, not a sweep: a sweep names a scenario and what to vary")
    _known(table, KEYS, "")
    scenario = _typed(table, "scenario", (str, dict), "a path")
    warmup = table.get("warmup")
    _check_set(table.get("set", []), "set")
    common = tuple(table.get("set", [])) + ((f"warmup={warmup}",) if isinstance(warmup, str) else ())
    figures = table.get("figures", [])
    if not isinstance(figures, list) or not all(isinstance(figure, str) for figure in figures):
        raise DesignError("figures: is a list of paths, as in ports.bottleneck.occupancy_mean")
    seed = table.get("seed")
    if seed is not None and (not _is_whole(seed) or not 0 <= seed < 2**64):
        raise DesignError(f"seed: {seed!r} is not a whole number from 0 to 2^64 - 1")
    return Design(
        name=_typed(table, "name", (str,), "a text", "sweep"),
        title=_typed(table, "title", (str,), "a text", ""),
        text=text,
        scenario=folder / scenario if isinstance(scenario, str) and "\n" not in scenario else scenario,
        points=tuple(_points(table, common)),
        reps=_replications(table.get("reps", 1)),
        seed=seed,
        warmup=None if warmup is None or isinstance(warmup, str) else _mser(warmup),
        engine=_typed(table, "engine", (str,), "the name of an engine") if "engine" in table else None,
        figures=tuple(dict.fromkeys(figure for figure in figures if not figure.startswith("summary."))),
    )


def _known(table: Any, keys: Sequence[str], path: str) -> None:
    """Refuse whatever is no table, or has a key that means nothing."""
    if not isinstance(table, Mapping):
        raise DesignError(f"{path}: {table!r} is not a table")
    for key in table:
        if key not in keys:
            near = _core.nearest(key, keys)
            hint = f'; did you mean "{near}"?' if near else ""
            raise DesignError(f'{path}{": " if path else ""}unknown key "{key}"{hint} (allowed: {", ".join(keys)})')


def _typed(table: Mapping[str, Any], key: str, types: tuple[type, ...], what: str, default: Any = None) -> Any:
    value = table.get(key, default)
    if value is None:
        raise DesignError(f'the key "{key}" is missing')
    if not isinstance(value, types):
        raise DesignError(f"{key}: {value!r} is not {what}")
    return value


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _replications(reps: Any) -> Replications:
    if _is_whole(reps):
        if reps < 1:
            raise DesignError(f"reps: {reps} is less than 1")
        return Fixed(reps)
    if not isinstance(reps, Mapping):
        raise DesignError(f"reps: {reps!r} is neither a whole number nor a table, as in {{ precision = 0.02 }}")
    _known(reps, ("precision", "of", "min", "max"), "reps")
    given: dict[str, Any] = {"precision": None, "of": "summary.goodput_ratio", "min": 5, "max": 100, **reps}
    precision, of, least, most = given["precision"], given["of"], given["min"], given["max"]
    if not _is_number(precision) or not 0 < precision < 1:
        raise DesignError(f"reps.precision: {precision!r} is not a share between 0 and 1, such as 0.02")
    if not isinstance(of, str):
        raise DesignError(f"reps.of: {of!r} is not the path of a figure")
    if not (_is_whole(least) and _is_whole(most) and 2 <= least <= most):
        raise DesignError(f"reps: min {least!r} and max {most!r} must be whole numbers with 2 ≤ min ≤ max")
    return Precision(precision, of, least, most)


def _mser(table: Any) -> Mser:
    _known(table, ("method", "figure", "reps"), "warmup")
    if table.get("method") != "mser-5":
        raise DesignError(f'warmup.method: {table.get("method")!r} is not "mser-5"')
    figure, reps = table.get("figure"), table.get("reps", 5)
    if not isinstance(figure, str):
        raise DesignError(
            "warmup.figure: is the path of a figure over time, as in ports.bottleneck.occupancy.values or "
            "flows.NAME.throughput.bps; [measure] of the scenario must ask for it"
        )
    if not _is_whole(reps) or reps < 1:
        raise DesignError(f"warmup.reps: {reps!r} is not a whole number from 1")
    return Mser(figure, reps)


def _points(table: Mapping[str, Any], common: tuple[str, ...]) -> Iterator[Level]:
    factors = list(_factors(table))
    count = math.prod(map(len, factors))
    if count > MOST_POINTS:
        raise DesignError(f"{count} points are more than {MOST_POINTS}")
    seen: set[str] = set()
    for factor in factors:
        own = {name for level in factor for name in level.columns}
        if twice := sorted(own & seen):
            raise DesignError(f'"{twice[0]}" is swept twice')
        if reserved := sorted(own & RESERVED):
            instead = "; reps = N runs every point with N seeds" if reserved[0] == "seed" else ""
            raise DesignError(f'"{reserved[0]}" cannot be swept: every row has a column of this name{instead}')
        seen |= own
    for levels in itertools.product(*factors):
        columns = {name: value for level in levels for name, value in level.columns.items()}
        yield Level(columns, common + tuple(change for level in levels for change in level.sets))


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
    for key, values in _lists(table, "grid"):
        yield tuple(Level({key: shown(value)}, (f"{key}={toml(value)}",)) for value in values)


def _axes(table: Any) -> Iterator[Factor]:
    if not isinstance(table, Mapping):
        raise DesignError("axis: write [axis.NAME] with a list of overrides for each LABEL")
    for name, labels in table.items():
        if not isinstance(labels, Mapping) or not labels:
            raise DesignError(f"axis.{name}: has a list of overrides for each LABEL")
        for label, sets in labels.items():
            _check_set(sets, f"axis.{name}.{label}")
        yield tuple(_labelled(name, label, sets) for label, sets in labels.items())


def _labelled(name: str, label: str, sets: list[str]) -> Level:
    """A label with its overrides; each key that it sets has a column as well."""
    pairs = dict(change.split("=", 1) for change in sets)
    return Level({name: label, **{key.strip(): value.strip() for key, value in pairs.items()}}, tuple(sets))


def _check_set(sets: Any, path: str) -> None:
    if not isinstance(sets, list) or not all(isinstance(change, str) and "=" in change for change in sets):
        raise DesignError(f"{path}: is a list of overrides, as in ['duration=1 s']")


def _zips(tables: Any) -> Iterator[Factor]:
    if not isinstance(tables, list):
        raise DesignError("zip: write [[zip]], with lists of one length")
    for index, table in enumerate(tables):
        columns = list(_lists(table, f"zip[{index}]"))
        lengths = {key: len(values) for key, values in columns}
        if len(set(lengths.values())) != 1:
            said = ", ".join(f"{key} has {length}" for key, length in lengths.items()) or "there are none"
            raise DesignError(f"zip[{index}]: lists go together value by value and have one length; {said}")
        yield tuple(_together({key: values[row] for key, values in columns}) for row in range(len(columns[0][1])))


def _together(values: Mapping[str, Any]) -> Level:
    columns = {key: shown(value) for key, value in values.items()}
    return Level(columns, tuple(f"{key}={toml(value)}" for key, value in values.items()))


def _lists(table: Any, path: str) -> Iterator[tuple[str, list[Any]]]:
    """The keys below a table that hold lists, dotted or quoted as they may be."""
    if not isinstance(table, Mapping):
        raise DesignError(f"{path}: is a table of keys with lists of values")
    for key, value in _leaves(table, ""):
        if not isinstance(value, list) or not value:
            raise DesignError(f"{path}: {key} has {value!r}, which is not a list of values")
        yield key, value


def _leaves(table: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        key = f"{path}.{name}" if path else name
        if isinstance(value, Mapping):
            yield from _leaves(value, key)
        else:
            yield key, value


def shown(value: Any) -> Value:
    """A value as a column has it: plain as it is, a table or a list as TOML."""
    return value if isinstance(value, bool | int | float | str) else toml(value)


METHODS = ("latin-hypercube", "uniform")


def _random(table: Any) -> Iterator[Factor]:
    _known(table, ("points", "seed", "method", "keys"), "random")
    points, seed = table.get("points"), table.get("seed", 1)
    method = table.get("method", METHODS[0])
    if not _is_whole(points) or not 1 <= points <= MOST_POINTS:
        raise DesignError(f"random.points: {points!r} is not a whole number from 1")
    if not _is_whole(seed):
        raise DesignError(f"random.seed: {seed!r} is not a whole number")
    if method not in METHODS:
        raise DesignError(f"random.method: {method!r} is not one of {', '.join(METHODS)}")
    ranges = list(_ranges(table.get("keys"), ""))
    if not ranges:
        raise DesignError("random.keys: says for each key from where to where, or what to choose from")
    drawn = {key: _draw(key, spec, points, f"{seed}/{key}", method) for key, spec in ranges}
    yield tuple(_together({key: values[row] for key, values in drawn.items()}) for row in range(points))


def _ranges(table: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(table, Mapping):
        return
    for name, value in table.items():
        key = f"{path}.{name}" if path else name
        if isinstance(value, Mapping) and ("from" in value or "choose" in value):
            yield key, value
        elif isinstance(value, Mapping):
            yield from _ranges(value, key)
        else:
            raise DesignError(f"random.keys: {key} has {value!r}, not {{ from, to }} or {{ choose = [values] }}")


def _draw(key: str, spec: Mapping[str, Any], points: int, seed: str, method: str) -> list[Any]:
    """Values of one key, from a stream of its own: another key draws nothing away from it."""
    stream = random.Random(seed)  # noqa: S311  (a design, no secret)
    places = [stream.random() for _ in range(points)]
    if method == METHODS[0]:  # one place in each of as many strata, in random order
        order = sorted(range(points), key=lambda _: stream.random())
        places = [(stratum + place) / points for stratum, place in zip(order, places, strict=True)]
    return [value(place) for value in [_range(key, spec)] for place in places]


def _range(key: str, spec: Mapping[str, Any]) -> Callable[[float], Any]:
    """What turns a place between 0 and 1 into a value."""
    path = f"random.keys.{key}"
    if "choose" in spec:
        _known(spec, ("choose",), path)
        choices = spec["choose"]
        if not isinstance(choices, list) or not choices:
            raise DesignError(f"{path}: choose has {choices!r}, which is not a list of values")
        return lambda place: choices[int(place * len(choices))]
    _known(spec, ("from", "to", "unit", "scale", "whole"), path)
    given: dict[str, Any] = {"from": None, "to": None, "unit": "", "scale": "linear", "whole": False, **spec}
    low, high, unit, scale, whole = (given[key] for key in ("from", "to", "unit", "scale", "whole"))
    if not (_is_number(low) and _is_number(high)) or not low < high or (scale == "log" and low <= 0):
        raise DesignError(f"{path}: from {low!r} to {high!r} is no range of numbers on a {scale} scale")
    if scale not in ("linear", "log") or not isinstance(unit, str) or not isinstance(whole, bool):
        raise DesignError(f'{path}: scale is "linear" or "log", unit a text, whole true or false')

    def value(place: float) -> Any:
        number = low * (high / low) ** place if scale == "log" else low + (high - low) * place
        number = int(number + 0.5) if whole else float(f"{number:.6g}")
        return f"{number} {unit}" if unit else number

    return value
