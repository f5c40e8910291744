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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pushout import _core, shipped
from pushout.errors import DesignError, ScenarioError
from pushout.excerpt import quoted
from pushout.limits import DEEPEST, MOST_REPS
from pushout.parsing import parsed
from pushout.question import mser
from pushout.question.factor import (
    MOST_POINTS,
    NOTHING,
    Factor,
    Level,
    Place,
    check_keys,
    check_overrides,
    check_plain,
    check_word,
    factors,
    is_number,
    is_whole,
    key_of,
)
from pushout.question.replications import Fixed, Precision, Replications
from pushout.question.table import column_of, path_of
from pushout.simulate import SEED_LIMIT, SeedError, check_room
from pushout.source import Source, overrides
from pushout.source import read as read_text

OWN = ("point", "seed", "wall_s")
"""The columns that every table has."""

RESULT = "this is a result, not a sweep: a sweep names a scenario and what to vary"

WARMUP = "warmup_s"
"""The column with the warm-up that was found."""

FOUND = "the warm-up is to be found, so nothing can set it: leave it out here, or give warmup as a time"


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
    common: Level = NOTHING
    """The overrides of every point."""
    factors: tuple[Factor, ...] = field(default=(), repr=False)
    """Of which the points are all combinations."""

    @property
    def columns(self) -> list[str]:
        """Every swept key and axis, in order."""
        return list(dict.fromkeys(name for point in self.points for name in point.columns))

    def places(self, point: int) -> list[Place]:
        """Where the overrides of a point stand."""
        combinations = itertools.product(*(factor.levels for factor in self.factors))
        levels = next(itertools.islice(combinations, point, None), ())
        return [place for level in (self.common, *levels) for place in level.places]

    def place_of_figure(self, path: str) -> Place:
        """Where a figure is named."""
        named = self.document.value().get("figures", []) if self.document else []
        if path in (paths := [path_of(name) for name in named]):
            return ("figures", paths.index(path))
        if isinstance(self.reps, Precision) and path == self.reps.of:
            return ("reps", "of")
        return ("warmup", "figure") if self.warmup and path == self.warmup.figure else ("figures",)

    def tell(self, at: Place, message: str, *, key: bool = False) -> str:
        """A message with the place in the file, if there is one: that of a value, or of its key."""
        return self.document.tell([str(name) for name in at], key, message) if self.document else message

    def check_figures(self, paths: Iterable[str]) -> None:
        """Refuse what is swept under the name of a figure that runs have."""
        figures = {column_of(path) for path in paths}
        for factor in self.factors:
            for column, name in factor.columns:
                if column in figures:
                    message = f'"{name}" has the column {column}, and so has the figure of this name'
                    instead = "give the axis another name, or leave the figure out"
                    raise DesignError(self.tell(factor.keys[name], f"{message}: {instead}", key=True))


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
    path = path if os.fspath(path) == "-" else shipped.resolved(path)
    try:
        text, name = read_text(os.fspath(path), "sweep")
        document = _core.Document(text, name)
    except ScenarioError as error:
        raise DesignError(f"{path}: {RESULT}" if looks_like(path) == "result" else str(error)) from None
    file = Path(path)
    stem = "sweep" if str(file) == "-" else file.stem
    try:
        found = design({"name": stem, **document.value()}, folder=file.parent, text=text)
    except DesignError as error:
        told = document.tell([str(name) for name in error.at], error.key, str(error))
        raise DesignError(told if error.at else f"{name}: {error}") from None
    return replace(found, origin=name, document=document)


def made(table: Mapping[str, Any]) -> Design:
    """A sweep from keys that were made in Python, where overrides can be mappings too, as those of a run."""
    _check_nesting(table)
    keys = dict(table)
    if "set" in table:
        keys["set"] = _listed(table["set"])
    if isinstance(axes := table.get("axis"), Mapping):
        keys["axis"] = {name: _listed_labels(labels) for name, labels in axes.items()}
    return design(keys)


def _check_nesting(table: Mapping[str, Any]) -> None:
    """Refuse tables and lists in one another, or in themselves, of more levels than a file may have."""
    inside: dict[int, Any] = {id(table): table}
    for _ in range(DEEPEST):
        entries = (each.values() if isinstance(each, Mapping) else each for each in inside.values())
        found = (entry for each in entries for entry in each if isinstance(entry, Mapping | list | tuple))
        inside = {id(entry): entry for entry in found}
    if inside:
        raise DesignError(f"tables and lists must be nested at most {DEEPEST} levels deep")


def _listed_labels(labels: Any) -> Any:
    return {label: _listed(sets) for label, sets in labels.items()} if isinstance(labels, Mapping) else labels


def _listed(sets: Any) -> Any:
    return overrides(sets) if isinstance(sets, Mapping | tuple) else sets


def looks_like(path: str | os.PathLike[str]) -> str:
    """What a file is that names a scenario instead of being one: a sweep or a result; never the standard input."""
    if os.fspath(path) == "-":
        return ""
    try:
        text, name = read_text(os.fspath(path))
        # Results have nulls, which scenarios and sweeps do not.
        table = parsed(text) if text.lstrip().startswith("{") else _core.Document(text, name).value()
    except (ScenarioError, ValueError):
        return ""
    return ("result" if _is_result(table) else "sweep") if "scenario" in table else ""


def _is_result(table: Mapping[str, Any]) -> bool:
    """Whether this is what a run, a comparison or a search has written: it says more of the engine than its name."""
    return isinstance(table.get("engine"), Mapping)


def design(table: Mapping[str, Any], *, folder: Path = Path(), text: str = "") -> Design:
    """A sweep from its keys; `folder` is where a relative path of a scenario begins."""
    if "scenario" not in table and table.keys() & {"duration", "topology", "flows", "link"}:
        raise DesignError("this is a scenario, not a sweep: a sweep names a scenario and what to vary")
    if "scenario" in table and _is_result(table):
        raise DesignError(RESULT)
    check_keys(table, KEYS)
    reps, warmup, common = _replications(table.get("reps", 1)), _warmup(table.get("warmup")), _common(table)
    varied = tuple(factors(table))
    _check_columns(varied, warmup)
    return Design(
        name=_name(table),
        title=_title(table),
        text=text,
        scenario=_scenario(table, folder),
        points=tuple(_points(varied, common)),
        reps=reps,
        seed=_seed(table.get("seed"), reps),
        warmup=warmup,
        engine=_typed(table, "engine", (str,), "the name of an engine") if "engine" in table else None,
        figures=_figures(table.get("figures", []), warmup),
        common=common,
        factors=varied,
    )


def _typed(table: Mapping[str, Any], key: str, types: tuple[type, ...], what: str, default: Any = None) -> Any:
    value = table.get(key, default)
    if value is None:
        raise DesignError(f'the key "{key}" is missing')
    if not isinstance(value, types):
        raise DesignError(f"{key}: {quoted(value)} is not {what}", (key,))
    return value


def _name(table: Mapping[str, Any]) -> str:
    """What the sweep is called; its results go to a folder of this name unless another is named."""
    name: str = _typed(table, "name", (str,), "a text", "sweep")
    if why := _core.name_fault(name):
        raise DesignError(f"name: {quoted(name)}: {why}", ("name",))
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise DesignError(f"name: {quoted(name)} is not the name of a folder in results", ("name",))
    return name


def _title(table: Mapping[str, Any]) -> str:
    title: str = _typed(table, "title", (str,), "a text", "")
    check_plain(title, "title")
    return title


def _scenario(table: Mapping[str, Any], folder: Path) -> Path | Mapping[str, Any] | str:
    """The scenario: a path, beside the sweep file, or from Python also a text or the keys."""
    scenario: Mapping[str, Any] | str | os.PathLike[str]
    scenario = _typed(table, "scenario", (str, Mapping, os.PathLike), "a path")
    if isinstance(scenario, Mapping) or (isinstance(scenario, str) and "\n" in scenario):
        return scenario
    return shipped.resolved(scenario, folder)


def _seed(seed: Any, reps: Replications) -> int | None:
    if seed is None:
        return None
    if not is_whole(seed) or not 0 <= seed < SEED_LIMIT:
        raise DesignError(f"seed: {quoted(seed)} is not a whole number from 0 to 2^64 - 1", ("seed",))
    try:
        check_room(seed, reps.most)
    except SeedError as error:
        raise DesignError(str(error), ("seed",)) from None
    return int(seed)


def _figures(figures: Any, warmup: Mser | None) -> tuple[str, ...]:
    if not isinstance(figures, list) or not all(isinstance(figure, str) for figure in figures):
        raise DesignError("figures: is a list of paths, as in ports.bottleneck.occupancy_mean", ("figures",))
    if warmup and WARMUP in figures:
        message = f"figures: {WARMUP} has a column already, because warmup asks for it to be found: leave it out"
        raise DesignError(message, ("figures", figures.index(WARMUP)))
    return tuple(dict.fromkeys(map(path_of, figures)))


def _common(table: Mapping[str, Any]) -> Level:
    """What every point overrides."""
    sets = table.get("set", [])
    check_overrides(sets, "set")
    places: list[Place] = [("set", index) for index in range(len(sets))]
    warmup = table.get("warmup")
    own = [place for place, change in zip(places, sets, strict=True) if key_of(change) == "warmup"]
    if own and isinstance(warmup, Mapping):
        raise DesignError(f"set: {FOUND}", own[0])
    if isinstance(warmup, str):
        return Level({}, (*sets, f"warmup={warmup}"), (*places, ("warmup",)))
    return Level({}, tuple(sets), tuple(places))


def _replications(reps: Any) -> Replications:
    if is_whole(reps):
        if reps < 1:
            raise DesignError(f"reps: {reps} is less than 1", ("reps",))
        if reps > MOST_REPS:
            raise DesignError(f"reps: {reps} replications are more than {MOST_REPS}", ("reps",))
        return Fixed(reps)
    if not isinstance(reps, Mapping):
        message = f"reps: {quoted(reps)} is neither a whole number nor a table, as in {{ precision = 0.02 }}"
        raise DesignError(message, ("reps",))
    return _precision(reps)


def _precision(reps: Mapping[str, Any]) -> Precision:
    check_keys(reps, ("precision", "of", "min", "max"), "reps")
    given: dict[str, Any] = {"precision": None, "of": Precision.of, "max": Precision.most, **reps}
    precision, of, most = given["precision"], given["of"], given["max"]
    least = given.get("min", min(Precision.least, most) if is_whole(most) else Precision.least)
    if not is_number(precision) or not 0 < precision < 1:
        message = f"reps.precision: {quoted(precision)} is not a share between 0 and 1, such as 0.02"
        raise DesignError(message, ("reps", "precision"))
    if not isinstance(of, str) or "*" in of:
        raise DesignError(f"reps.of: {quoted(of)} is not the path of a single figure", ("reps", "of"))
    if not (is_whole(least) and is_whole(most) and 2 <= least <= most <= MOST_REPS):
        message = (
            f"reps: min {quoted(least)} and max {quoted(most)} must be whole numbers with 2 ≤ min ≤ max ≤ {MOST_REPS}"
        )
        raise DesignError(message, ("reps",))
    return Precision(precision, path_of(of), least, most)


def _warmup(warmup: Any) -> Mser | None:
    """How the warm-up is found, unless it is given as a time: then it is an override like others."""
    if isinstance(warmup, str) and warmup.strip().lower().startswith("mser"):
        message = (
            f'warmup: {quoted(warmup)} is no time; to have it found write {{ method = "mser-5", figure = "PATH" }}'
        )
        raise DesignError(message, ("warmup",))
    if warmup is None or isinstance(warmup, str):
        return None
    check_keys(warmup, ("method", "figure", "reps"), "warmup")
    check_word(warmup.get("method"), ("mser-5",), "warmup", "method")
    figure, reps = warmup.get("figure"), warmup.get("reps", Mser.reps)
    if not isinstance(figure, str):
        raise DesignError(
            "warmup.figure: is the path of a figure over time, as in ports.bottleneck.occupancy.values or "
            "flows.NAME.throughput.bps; [measure] of the scenario must ask for it",
            ("warmup", "figure"),
        )
    try:
        mser.clock(figure)
    except mser.WarmupError as error:
        raise DesignError(f"warmup.figure: {error}", ("warmup", "figure")) from None
    if not is_whole(reps) or not 1 <= reps <= MOST_REPS:
        raise DesignError(
            f"warmup.reps: {quoted(reps)} is not a whole number from 1 to {MOST_REPS}", ("warmup", "reps")
        )
    return Mser(figure, reps)


def _check_columns(varied: Sequence[Factor], warmup: Mser | None) -> None:
    """Refuse names of columns that come twice."""
    own = (*OWN, WARMUP) if warmup else OWN
    seen: set[str] = set()
    for factor in varied:
        for column, name in factor.columns:
            if warmup and name == "warmup":
                raise DesignError(f"{factor.keys[name][0]}: {FOUND}", factor.keys[name], key=True)
            if column in seen:
                raise DesignError(f'"{column}" is swept twice', factor.keys[name], key=True)
            if column in own:
                instead = "; reps = N runs every point with N seeds" if column == "seed" else ""
                message = f'"{name}" cannot be swept: every row has a column {column}{instead}'
                raise DesignError(message, factor.keys[name], key=True)
            seen.add(column)


def _points(varied: Sequence[Factor], common: Level) -> Iterator[Level]:
    """All combinations of the factors' levels."""
    count = math.prod(len(factor.levels) for factor in varied)
    if count > MOST_POINTS:
        raise DesignError(f"{count} points are more than {MOST_POINTS}")
    for levels in itertools.product(*(factor.levels for factor in varied)):
        columns = {name: value for level in levels for name, value in level.columns.items()}
        yield Level(columns, common.sets + tuple(change for level in levels for change in level.sets))
