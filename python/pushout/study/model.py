"""A study as its folder describes it: `study.toml`, checked once when it is read.

    id, title, source, question, setup      what it is; `setup` names an SVG of the topology
    reps                                    least number of replications (10)
    [[scheme]]      name, text              what is compared, in a sentence or two
    [[assumption]]  name, value, why        what the paper leaves open
    [figure]        name = "path"           a name for a path in the JSON of a run
    [[cases]]       id, scenario, axis      runs: `axis.NAME.VALUE` is a list of overrides, `{NAME}` in `id` its value
    [[number]]      id, label, text, unit, source, measure, published, tolerance, note
    [[claim]]       id, source, text, check, share, why
    [[plot]]        see `charts`
    [[sensitivity]] see `sensitivity`

A `published` table stands for several numbers: each key takes the place of `{}` in `measure`, `label` and `text` and
is appended to the id. `axis.NAME = { values = [1, 2], set = ["key={}"] }` is short for one entry per value. `why` is
shown with a claim that does not hold: first what differs, then why. It and `note` are Markdown, and the id of a claim
in backticks leads there.
"""

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pushout.study import charts
from pushout.study.case import Case
from pushout.study.charts import Chart, Dots
from pushout.study.expression import Expression, ExpressionError
from pushout.study.sensitivity import Sensitivity

STUDIES = Path(__file__).parent.parent / "studies"
"""In a checkout a link to the repository's `studies/`, in an installed package a copy."""

DEFAULT_REPS = 10


class StudyError(ValueError):
    """A study that cannot be read."""


@dataclass(frozen=True)
class Scheme:
    """Something that the study compares, and what it does."""

    name: str
    text: str


@dataclass(frozen=True)
class Assumption:
    """What the paper does not say, what we take, and why."""

    name: str
    value: str
    why: str


@dataclass(frozen=True)
class Tolerance:
    """How far a measured mean may be from print: a share of the printed value, or an absolute difference."""

    kind: str
    size: float

    def of(self, published: float) -> float:
        """The allowed difference in the unit of the number."""
        return self.size * abs(published) if self.kind == "relative" else self.size


@dataclass(frozen=True)
class Number:
    """A printed number and how we measure it."""

    id: str
    source: str
    label: str
    text: str
    unit: str
    published: float
    measure: Expression
    tolerance: Tolerance
    note: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper and its check.

    The check is to hold for the means over the replications; with `share`, which is for what happens in some runs and
    not in others, in that part of the replications.
    """

    id: str
    source: str
    text: str
    check: Expression
    share: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Study:
    """All that a `study.toml` says."""

    id: str
    title: str
    source: str
    question: str
    setup: str
    schemes: tuple[Scheme, ...]
    assumptions: tuple[Assumption, ...]
    figures: dict[str, str]
    cases: dict[str, Case]
    numbers: tuple[Number, ...]
    claims: tuple[Claim, ...]
    plots: tuple[Dots | Chart, ...]
    sensitivities: tuple[Sensitivity, ...]
    reps: int = DEFAULT_REPS


def available(root: Path = STUDIES) -> list[str]:
    """The ids of the studies that are there."""
    return sorted(file.parent.name for file in root.glob("*/study.toml"))


def load(study: str, root: Path = STUDIES) -> Study:
    """Read one study."""
    file = root / study / "study.toml"
    try:
        return _study(tomllib.loads(file.read_text(encoding="utf-8")), file.parent)
    except (KeyError, TypeError, tomllib.TOMLDecodeError, ExpressionError, OSError) as error:
        why = f"the key {error} is missing" if isinstance(error, KeyError) else error
        raise StudyError(f"{file}: {why}") from error


def _study(table: dict[str, Any], folder: Path) -> Study:
    figures: dict[str, str] = table.pop("figure", {})
    cases = {case.id: case for grid in table.pop("cases", ()) for case in _cases(grid, folder)}
    numbers = tuple(number for entry in table.pop("number", ()) for number in _numbers(entry, figures, cases))
    claims = tuple(
        Claim(**{**entry, "check": Expression(entry["check"], figures, cases)}) for entry in table.pop("claim", ())
    )
    ids = [number.id for number in numbers]
    plots = charts.read(table.pop("plot", ()), ids, figures, cases)
    schemes = tuple(Scheme(**entry) for entry in table.pop("scheme", ()))
    assumptions = tuple(Assumption(**entry) for entry in table.pop("assumption", ()))
    sensitivities = tuple(Sensitivity.read(entry, cases) for entry in table.pop("sensitivity", ()))
    _known(sensitivities, assumptions)
    table["setup"] = (folder / table["setup"]).read_text(encoding="utf-8")
    if table["id"] != folder.name:
        raise TypeError(f"the id {table['id']!r} is not the name of the folder")
    return Study(
        **table,
        schemes=schemes,
        assumptions=assumptions,
        figures=figures,
        cases=cases,
        numbers=numbers,
        claims=claims,
        plots=plots,
        sensitivities=sensitivities,
    )


def _known(sensitivities: tuple[Sensitivity, ...], assumptions: tuple[Assumption, ...]) -> None:
    names = [assumption.name for assumption in assumptions]
    for sensitivity in sensitivities:
        if sensitivity.assumption not in names:
            raise TypeError(f"the sensitivity {sensitivity.assumption!r} is to no assumption of the study")


def _cases(grid: dict[str, Any], folder: Path) -> Iterator[Case]:
    axes: Mapping[str, Mapping[str, list[str]]] = {name: _axis(values) for name, values in grid.pop("axis", {}).items()}
    pattern, scenario = grid.pop("id"), folder / grid.pop("scenario")
    if grid:
        raise TypeError(f"unknown key of [[cases]]: {', '.join(grid)}")
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        sets = tuple(change for axis, value in chosen.items() for change in axes[axis][value])
        yield Case(pattern.format(**chosen), scenario, sets)


def _axis(values: Mapping[str, Any]) -> Mapping[str, list[str]]:
    if values.keys() != {"values", "set"}:
        return values
    return {str(value): [change.replace("{}", str(value)) for change in values["set"]] for value in values["values"]}


def _numbers(entry: dict[str, Any], figures: dict[str, str], cases: dict[str, Case]) -> Iterator[Number]:
    published = entry.pop("published")
    ((kind, size),) = entry.pop("tolerance").items()
    if kind not in ("relative", "absolute"):
        raise TypeError(f"the tolerance of {entry['id']} is {kind}: it can be relative or absolute")
    rest = {"unit": "", "note": "", **entry, "tolerance": Tolerance(kind, float(size))}
    if not isinstance(published, dict):
        yield Number(**{**rest, "published": published, "measure": Expression(entry["measure"], figures, cases)})
        return
    for key, value in published.items():
        own = {name: rest[name].replace("{}", key) for name in ("label", "text")}
        measure = Expression(entry["measure"].replace("{}", key), figures, cases)
        yield Number(**{**rest, **own, "id": f"{entry['id']}.{key}", "published": value, "measure": measure})
