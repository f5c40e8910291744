"""Read a sweep file `SWEEP.toml` into points, and check it.

    name, title         for people; the default name is that of the file
    scenario            path, relative to the sweep file
    seed                seed of the first replication, default: the scenario's
    reps                replications of each point, default 1; or { precision, of, min, max }
    warmup              "50 ms", or { method = "mser-5", figure, reps }
    engine              fast or reference
    figures             paths of figures besides those of the summary, which every row has
    set                 overrides of every point, a list of key.path=value
    [grid]              key.path = [values]: every combination
    [axis.NAME]         LABEL = [overrides]: one level for each label
    [[zip]]             key.path = [values]: lists of equal length, varied in parallel
    [random]            points, seed, method ("latin-hypercube" or "uniform") and
    [random.keys]       key.path = { from, to, unit, scale ("linear", "log"), whole } or { choose = [values] }

The points are all combinations of the grid's keys, the axes, the zips and the random points; the first varies slowest.
Every point runs with the same seeds: common random numbers.
"""

import itertools
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pushout import _core, kept, shipped
from pushout.errors import DesignError, ScenarioError
from pushout.excerpt import place, quoted
from pushout.limits import DEEPEST, MOST_REPS
from pushout.names.computed import needs
from pushout.names.figures import column_of, path_of
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
from pushout.question.replications import Drawn, Fixed, Precision, Replications
from pushout.simulate import SEED_LIMIT, SeedError, check_room
from pushout.source import HasSource, Source, overrides
from pushout.source import read as read_text

OWN = ("point", "seed", "wall_s")
"""The columns of every table."""

RESULT = "the file must be a sweep, not a result: a sweep names a scenario and the keys to vary"

WARMUP = "warmup_s"
"""The column with the computed warm-up."""

FOUND = "warmup cannot be set here, because MSER-5 computes it: leave it out here, or give warmup as a time"


@dataclass(frozen=True)
class Mser:
    """Warm-up computed by MSER-5 from a figure over time in pilot runs of each point."""

    figure: str
    reps: int = 5


@dataclass(frozen=True)
class Design:
    """A parsed sweep file."""

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
    """The name of the file, for messages."""
    document: "_core.Document | None" = field(default=None, repr=False, compare=False)
    """The parsed document."""
    common: Level = NOTHING
    """The overrides of every point."""
    factors: tuple[Factor, ...] = field(default=(), repr=False)
    """The factors whose combinations are the points."""
    allow_files: tuple[Path, ...] = ()
    """Folders, beside its own, of files that the scenario may name."""
    policies: tuple[str, ...] = ()
    """The policies in Python that it is given, as overrides; `points` and `common` contain them."""
    keys: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The keys that it was made of."""
    once_without_chance: bool = False
    """Whether a point runs once if its runs draw no random number; the figures must then contain `DRAWS`."""

    @property
    def rule(self) -> Replications:
        """Return the rule for the number of replications of each point."""
        return Drawn(self.reps) if self.once_without_chance else self.reps

    @property
    def columns(self) -> list[str]:
        """List every swept key and axis, in order."""
        return list(dict.fromkeys(name for point in self.points for name in point.columns))

    def places(self, point: int) -> list[Place]:
        """Return the positions of a point's overrides in the file."""
        combinations = itertools.product(*(factor.levels for factor in self.factors))
        levels = next(itertools.islice(combinations, point, None), ())
        return [place for level in (self.common, *levels) for place in level.places]

    def place_of_figure(self, path: str) -> Place:
        """Return the position of a figure in the file; an empty one if the file does not name it."""
        named = self.document.value().get("figures", []) if self.document else []
        wanting = [index for index, name in enumerate(named) if needs(path_of(name), path)]
        if wanting:
            return ("figures", wanting[0])
        if isinstance(self.reps, Precision) and needs(self.reps.of, path):
            return ("reps", "of")
        return ("warmup", "figure") if self.warmup and path == self.warmup.figure else ()

    def tell(self, at: Place, message: str, *, key: bool = False) -> str:
        """Add to a message the position of a value, or of its key, if there is a file."""
        return self.document.tell([str(name) for name in at], key, message) if self.document else message

    def check_figures(self, paths: Iterable[str]) -> None:
        """Refuse a swept key or axis with the name of a figure."""
        figures = {column_of(path) for path in paths}
        for factor in self.factors:
            for column, name in factor.columns:
                if column in figures:
                    message = f'"{name}" cannot have the column {column}, which is that of a figure'
                    instead = "rename the axis, or leave the figure out"
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


def read(path: str | os.PathLike[str], allow_files: Iterable[str | os.PathLike[str]] = ()) -> Design:
    """Read a sweep file; its scenario lies below its folder, is shipped, or lies below one of `allow_files`."""
    allowed = tuple(map(Path, allow_files))
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
        _check_inside(found.scenario, [file.parent, shipped.SCENARIOS, *allowed])
    except DesignError as error:
        told = document.tell([str(name) for name in error.at], error.key, str(error))
        raise DesignError(told if error.at else f"{name}: {error}") from None
    return replace(found, origin=name, document=document, allow_files=allowed)


def _check_inside(scenario: Any, folders: Sequence[Path]) -> None:
    """Refuse a scenario that the command does not name: a sweep may come from another person."""
    if not isinstance(scenario, Path):
        return
    try:
        inside = kept.is_inside(scenario, folders) and (scenario.is_file() or not scenario.exists())
    except (OSError, ValueError, RuntimeError):  # a NUL, or links in a circle
        inside = False
    if not inside:
        why = "must be a regular file below the folder of the sweep; allow another folder"
        how = "--allow-files DIR, in Python allow_files"
        raise DesignError(f"scenario: {place(str(scenario))} {why} ({how})", ("scenario",))


def made(table: Mapping[str, Any]) -> Design:
    """Make a sweep from a mapping, in which overrides may be mappings as well."""
    _check_nesting(table)
    keys = dict(table)
    if "set" in table:
        keys["set"] = _listed(table["set"])
    if isinstance(axes := table.get("axis"), Mapping):
        keys["axis"] = {name: _listed_labels(labels) for name, labels in axes.items()}
    return design(keys)


def _check_nesting(table: Mapping[str, Any]) -> None:
    """Refuse tables and lists that are nested too deep, or within themselves."""
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
    """Return whether a file that names a scenario is a sweep or a result; standard input is neither."""
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
    """Return whether a table is the result of a run, a comparison or a search: its engine is a table."""
    return isinstance(table.get("engine"), Mapping)


def design(table: Mapping[str, Any], *, folder: Path = Path(), text: str = "") -> Design:
    """Make a sweep from its keys; a relative path of the scenario starts at `folder`."""
    if "scenario" not in table and table.keys() & {"duration", "topology", "flows", "link"}:
        raise DesignError("the file must be a sweep, not a scenario: a sweep names a scenario and the keys to vary")
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
        keys=table,
    )


def _typed(table: Mapping[str, Any], key: str, types: tuple[type, ...], what: str, default: Any = None) -> Any:
    value = table.get(key, default)
    if value is None:
        raise DesignError(f'the key "{key}" is missing')
    if not isinstance(value, types):
        raise DesignError(f"{key} must be {what}, not {quoted(value)}", (key,))
    return value


def _name(table: Mapping[str, Any]) -> str:
    """Return the name of the sweep, which is also the default folder of its results."""
    name: str = _typed(table, "name", (str,), "a string", "sweep")
    if why := _core.name_fault(name):
        raise DesignError(f"name: {quoted(name)}: {why}", ("name",))
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise DesignError(f"name must be a folder inside results, not {quoted(name)}", ("name",))
    return name


def _title(table: Mapping[str, Any]) -> str:
    title: str = _typed(table, "title", (str,), "a string", "")
    check_plain(title, "title")
    return title


def _scenario(table: Mapping[str, Any], folder: Path) -> Source | Path | Mapping[str, Any] | str:
    """Return the scenario: a path relative to the sweep file, or from Python also a text, a mapping or an object."""
    scenario: Mapping[str, Any] | str | os.PathLike[str] | HasSource
    scenario = _typed(table, "scenario", (str, Mapping, os.PathLike, HasSource), "a path")
    if isinstance(scenario, HasSource):
        return scenario.source
    if isinstance(scenario, Mapping) or (isinstance(scenario, str) and "\n" in scenario):
        return scenario
    return shipped.resolved(scenario, folder)


def _seed(seed: Any, reps: Replications) -> int | None:
    if seed is None:
        return None
    if not is_whole(seed) or not 0 <= seed < SEED_LIMIT:
        raise DesignError(f"seed must be an integer from 0 to 2^64 - 1, not {quoted(seed)}", ("seed",))
    try:
        check_room(seed, reps.most)
    except SeedError as error:
        raise DesignError(str(error), ("seed",)) from None
    return int(seed)


def _figures(figures: Any, warmup: Mser | None) -> tuple[str, ...]:
    if not isinstance(figures, list) or not all(isinstance(figure, str) for figure in figures):
        raise DesignError("figures must be a list of paths, as in ports.bottleneck.occupancy_mean", ("figures",))
    if warmup and WARMUP in figures:
        message = f"figures must not name {WARMUP}, which has a column because MSER-5 computes it: leave it out"
        raise DesignError(message, ("figures", figures.index(WARMUP)))
    return tuple(dict.fromkeys(map(path_of, figures)))


def _common(table: Mapping[str, Any]) -> Level:
    """Collect the overrides of every point."""
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
            raise DesignError(f"reps must be at least 1, not {reps}", ("reps",))
        if reps > MOST_REPS:
            raise DesignError(f"reps must be at most {MOST_REPS}, not {reps}", ("reps",))
        return Fixed(reps)
    if not isinstance(reps, Mapping):
        message = f"reps must be an integer or a table such as {{ precision = 0.02 }}, not {quoted(reps)}"
        raise DesignError(message, ("reps",))
    return _precision(reps)


def _precision(reps: Mapping[str, Any]) -> Precision:
    check_keys(reps, ("precision", "of", "min", "max"), "reps")
    given: dict[str, Any] = {"precision": None, "of": Precision.of, "max": Precision.most, **reps}
    precision, of, most = given["precision"], given["of"], given["max"]
    least = given.get("min", min(Precision.least, most) if is_whole(most) else Precision.least)
    if not is_number(precision) or not 0 < precision < 1:
        message = f"reps.precision must be a share between 0 and 1, such as 0.02, not {quoted(precision)}"
        raise DesignError(message, ("reps", "precision"))
    if not isinstance(of, str) or "*" in of:
        raise DesignError(f"reps.of must be the path of a single figure, not {quoted(of)}", ("reps", "of"))
    if not (is_whole(least) and is_whole(most) and 2 <= least <= most <= MOST_REPS):
        message = (
            f"reps.min and reps.max must be integers with 2 ≤ min ≤ max ≤ {MOST_REPS}, "
            f"not {quoted(least)} and {quoted(most)}"
        )
        raise DesignError(message, ("reps",))
    return Precision(precision, path_of(of), least, most)


def _warmup(warmup: Any) -> Mser | None:
    """Read how to compute the warm-up; None if it is given as a time, which is an ordinary override."""
    if isinstance(warmup, str) and warmup.strip().lower().startswith("mser"):
        message = f'warmup must be a time or {{ method = "mser-5", figure = "PATH" }}, not {quoted(warmup)}'
        raise DesignError(message, ("warmup",))
    if warmup is None or isinstance(warmup, str):
        return None
    check_keys(warmup, ("method", "figure", "reps"), "warmup")
    check_word(warmup.get("method"), ("mser-5",), "warmup", "method")
    figure, reps = warmup.get("figure"), warmup.get("reps", Mser.reps)
    if not isinstance(figure, str):
        raise DesignError(
            "warmup.figure must be the path of a figure over time, as in ports.bottleneck.occupancy.values or "
            "flows.NAME.throughput.bps, that [measure] of the scenario records",
            ("warmup", "figure"),
        )
    try:
        mser.clock(figure)
    except mser.WarmupError as error:
        raise DesignError(f"warmup.figure: {error}", ("warmup", "figure")) from None
    if not is_whole(reps) or not 1 <= reps <= MOST_REPS:
        raise DesignError(
            f"warmup.reps must be an integer from 1 to {MOST_REPS}, not {quoted(reps)}", ("warmup", "reps")
        )
    return Mser(figure, reps)


def _check_columns(varied: Sequence[Factor], warmup: Mser | None) -> None:
    """Refuse two columns of the same name."""
    own = (*OWN, WARMUP) if warmup else OWN
    seen: set[str] = set()
    for factor in varied:
        for column, name in factor.columns:
            if warmup and name == "warmup":
                raise DesignError(f"{factor.keys[name][0]}: {FOUND}", factor.keys[name], key=True)
            if column in seen:
                raise DesignError(f'"{column}" must be swept once, not twice', factor.keys[name], key=True)
            if column in own:
                instead = "; reps = N runs every point with N seeds" if column == "seed" else ""
                message = f'"{name}" cannot be swept, because every row has a column {column}{instead}'
                raise DesignError(message, factor.keys[name], key=True)
            seen.add(column)


def _points(varied: Sequence[Factor], common: Level) -> Iterator[Level]:
    """Yield all combinations of the factors' levels."""
    count = math.prod(len(factor.levels) for factor in varied)
    if count > MOST_POINTS:
        raise DesignError(f"a sweep must have at most {MOST_POINTS} points, not {count}")
    for levels in itertools.product(*(factor.levels for factor in varied)):
        columns = {name: value for level in levels for name, value in level.columns.items()}
        yield Level(columns, common.sets + tuple(change for level in levels for change in level.sets))
