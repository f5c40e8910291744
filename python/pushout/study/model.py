"""Read a study from its `study.toml`, and check it once.

    id, title, source, question, setup      what it is; `setup` names an SVG of each network
    headline, listed_figure                what the list of studies says of it, and the title of the plot it shows
    reps                                    number of replications (10)
    references                              the paper, the cited works that we used, texts that settle a reading
    [conclusion]    stands, falls, adds     what of the paper stands, what falls, what the study adds
    [[scheme]]      name, text              a compared scheme, in a sentence or two
    [[assumption]]  name, value, why        a detail that the paper leaves open; `fitted = true` if print decided
    [[override]]    see `settings`          a printed setting for which another value is taken
    [figure]        name = "path"           a name for a path in the JSON of a run
    [quantity]      name = "expression"     a name for an expression over figures of one run
    [unit]          name = "unit"           in checks, of a figure or quantity whose path does not imply it
    [[cases]]       id, scenario, axis      runs: `axis.NAME.VALUE` is a list of overrides, `{NAME}` in `id` its value
                    worst                   instead of `scenario`: a question about an exact worst case
                    reps                    number of replications, if it differs
                    full                    a larger number for `--full`
    [[number]]      id, label, text, unit, source, measure, published, note; see `tolerance`
                    dependent, exact        the reason if it is not independent; whether the settings alone imply it
                    derived                 the formula that gives `published`, if that is printed nowhere
                    idle_of                 the full rate as an expression: the number is judged by the share left idle
    [[table]]       many numbers in the form of a printed table; see `printed`
    [[null]]        what a calculation without a simulator gives for numbers; see `null`
    [[single]]      numbers that the paper took from one run each; see `single`
    [constant]      stated values of constants of the null model; see `constants`
    [[claim]]       id, source, text, check, share, why; `milder` has text and check of a form that is not counted
    [[remark]]      the same                a cause or an opinion; claims and remarks are the sentences of the paper
    [[plot]]        see `charts`
    [[sensitivity]] see `sensitivity`
    [settings], [given], names, [[holds]]   what holds the numbers of the prose, and its words; see `sentences`
    [[finding]]     see `finding`

A `published` table stands for several numbers: each key replaces `{}` in `measure`, `label` and `text` and is appended
to the id. `axis.NAME = { values = [1, 2], set = ["key={}"] }` is short for one entry per value. `why` explains a claim
that does not hold (first the difference, then the reason) or that stays open. It and `note` are Markdown, and the id of
a claim in backticks becomes a link. Numbers of the prose are references, see `reference`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from pushout import _core
from pushout.errors import PushoutError, ScenarioError
from pushout.shipped import STUDIES
from pushout.source import read as read_text
from pushout.study import charts, constants, printed, sentences, tolerance
from pushout.study.case import Case, counted
from pushout.study.case import cases as cases_of
from pushout.study.charts import Chart, Dots
from pushout.study.expression import Expression, ExpressionError
from pushout.study.finding import Change, Finding, Surroundings, changes
from pushout.study.held import check_names
from pushout.study.null import Null, linear_of, stated_constants
from pushout.study.sensitivity import Sensitivity
from pushout.study.settings import Assumption, Override, as_printed, fitted
from pushout.study.single import Single
from pushout.study.toml_entry import Entries, EntryError, each_of, keys, made, read

DEFAULT_REPS = 10


class StudyError(PushoutError, ValueError):
    """A study cannot be read."""


Figures = Mapping[str, str | Expression]
"""A figure of an expression: a path in the JSON of a run, or an expression over other figures of the same run."""


@dataclass(frozen=True)
class Scheme:
    """A scheme that the study compares, and its description."""

    name: str
    text: str


@dataclass(frozen=True)
class Conclusion:
    """Conclusion on a paper: the claims that stand, those that fall, and additions by the study."""

    stands: str
    falls: str
    adds: str


@dataclass(frozen=True)
class Number:
    """A printed number and its measure; `dependent` is the reason if another number or the settings imply it.

    A `derived` number is printed nowhere: we computed `published` from a formula, which the text names. `null` is its
    value by the null model of the study, None if that has none; `with_constants` that of the second null model.
    """

    id: str
    source: str
    label: str
    text: str
    unit: str
    published: float
    measure: Expression
    tolerance: tolerance.Tolerance
    note: str
    dependent: str = ""
    derived: str = ""
    null: float | None = None
    linear: constants.Linear | None = None
    with_constants: float | None = None

    @property
    def independent(self) -> bool:
        """True if it is printed, and neither the settings nor one other printed number imply it."""
        return not self.dependent and not self.derived

    @property
    def origin(self) -> str:
        """Name the origin of `published`: printed or derived."""
        return "derived" if self.derived else "printed"

    def allowed(self, share: float) -> float:
        """Return the difference that counts as within this share of print; what is exact or derived gets no share."""
        if self.tolerance.kind == "exact" or self.derived:
            return self.tolerance.of(self.published)
        return self.tolerance.near(self.published, share)

    @property
    def null_is_near(self) -> bool:
        """True if the null model is within 5 % of print; it misses a number for which it has no value."""
        return self._is_near(self.null)

    @property
    def constants_are_near(self) -> bool:
        """True if the null model with constants is within 5 % of print."""
        return self._is_near(self.with_constants)

    def _is_near(self, value: float | None) -> bool:
        return value is not None and abs(value - self.published) <= self.allowed(tolerance.NEAR)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper and its check.

    The check must hold for the means over the replications; with `share`, which is for events that do not occur in
    every run, in that share of the replications. A `milder` form stands beside it and is not counted.
    """

    id: str
    source: str
    text: str
    check: Expression
    share: float | None = None
    why: str = ""
    milder: "Claim | None" = None


@dataclass(frozen=True)
class Study:
    """A parsed `study.toml`; `values` are the references of its prose, `wordings` the comparisons of its words."""

    id: str
    title: str
    source: str
    question: str
    setup: tuple[str, ...]
    headline: str
    listed_figure: str
    references: tuple[str, ...]
    conclusion: Conclusion | None
    schemes: tuple[Scheme, ...]
    assumptions: tuple[Assumption, ...]
    overrides: tuple[Override, ...]
    figures: Figures
    units: Mapping[str, str]
    cases: dict[str, Case]
    numbers: tuple[Number, ...]
    nulls: tuple[Null, ...]
    constants: tuple[constants.Constant, ...]
    claims: tuple[Claim, ...]
    remarks: tuple[Claim, ...]
    plots: tuple[Dots | Chart, ...]
    sensitivities: tuple[Sensitivity, ...]
    findings: tuple[Finding, ...] = ()
    singles: tuple[Single, ...] = ()
    settings: tuple[Change, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    wordings: tuple[sentences.Wording, ...] = ()
    values: Mapping[str, Expression] = field(default_factory=dict)

    def at_full_size(self) -> "Study":
        """The study with the larger numbers of replications that its cases and its single runs name for `--full`."""
        runs = {case: single.runs for number, single in self.of_one_run() for _, case in number.measure.uses}
        cases = {
            name: replace(case, reps=max(case.reps, case.full, runs.get(name, 0))) for name, case in self.cases.items()
        }
        return replace(self, cases=cases)

    def of_one_run(self) -> list[tuple[Number, Single]]:
        """List the numbers that come from one run of the paper each."""
        return [
            (number, single)
            for number in self.numbers
            for single in self.singles
            if any(fnmatchcase(number.id, pattern) for pattern in single.numbers)
        ]

    @property
    def grows(self) -> bool:
        """True if some case has more replications with `--full`."""
        return any(case.full > case.reps for case in self.cases.values())

    @property
    def compares(self) -> bool:
        """True if it compares with print; studies from 110 on ask questions of their own, which no score counts."""
        return not self.id.startswith("11")


def available(root: Path = STUDIES) -> list[str]:
    """List the ids of the available studies."""
    return sorted(file.parent.name for file in root.glob("*/study.toml"))


def load(study: str, root: Path = STUDIES) -> Study:
    """Read one study."""
    file = root / study / "study.toml"
    try:
        document = _core.Document(*read_text(str(file), "study"))
    except ScenarioError as error:
        raise StudyError(str(error)) from None
    try:
        return _study(document.value(), file.parent)
    except EntryError as error:
        raise StudyError(document.tell(error.at, False, str(error))) from error
    except (KeyError, TypeError, AttributeError) as error:
        why = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise StudyError(document.tell([], False, why)) from error
    except OSError as error:
        raise StudyError(f"{file}: {error.filename}: {error.strerror}") from error


def _study(table: dict[str, Any], folder: Path) -> Study:
    figures = _figures(table)
    cases = _cases(table, folder)
    named = stated_constants(keys("constant", table.pop("constant", {})))
    nulls = each_of(table, "null", lambda entry: Null.read(entry, named))
    numbers = _all_numbers(table, figures, cases, nulls)
    claims, remarks = (
        each_of(table, key, partial(_claim, figures=figures, cases=cases)) for key in ("claim", "remark")
    )
    with read(Entries(table, "plot")) as entries:
        plots = charts.read(entries, [number.id for number in numbers], figures, cases)
    settings = _settings(table, cases)
    chosen = constants.choose(numbers, fitted(settings["assumptions"], settings["overrides"]))
    numbers = tuple(replace(each, with_constants=constants.value_of(each, each.null, chosen)) for each in numbers)
    published = {number.id: number.published for number in numbers}
    surroundings = Surroundings(folder, figures, cases, [plot.title for plot in plots], published)
    findings = each_of(table, "finding", lambda entry: Finding.read(entry, surroundings))
    if table["id"] != folder.name:
        raise EntryError(f"id must be the name of the folder, not {table['id']!r}", ("id",))
    rest = {
        **_prose(table, folder, plots),
        **settings,
        "figures": figures,
        "units": _units(table, figures),
        "cases": cases,
        "numbers": numbers,
        "nulls": nulls,
        "constants": chosen,
        "claims": claims,
        "remarks": remarks,
        "plots": plots,
        "findings": findings,
        "singles": each_of(table, "single", lambda entry: _single(entry, [number.id for number in numbers])),
    }
    wordings = each_of(table, "holds", lambda entry: _wording(entry, figures, cases))
    study: Study = sentences.read(made(Study, {**table, **rest, **_holders(table, cases)}), wordings)
    return study


def _wording(entry: dict[str, Any], figures: Figures, cases: Mapping[str, Case]) -> sentences.Wording:
    return made(sentences.Wording, {**entry, "check": Expression(entry["check"], figures, cases)})


def _holders(table: dict[str, Any], cases: Mapping[str, Case]) -> dict[str, Any]:
    """Read what holds the numbers of the prose that are not references."""
    sets, given = keys("settings", table.pop("settings", {})), keys("given", table.pop("given", {}))
    if unsourced := next((phrase for phrase, source in given.items() if not str(source).strip()), None):
        raise TypeError(f"given must name the source of {unsourced!r}")
    names = tuple(table.pop("names", ()))
    check_names(names)
    settings = tuple(changes([{"name": name, "set": each} for name, each in sets.items()], cases))
    return {"settings": settings, "given": given, "names": names}


def _cases(table: dict[str, Any], folder: Path) -> dict[str, Case]:
    """Read the cases, each with the replications of the study unless it has its own."""
    try:
        reps = counted(table.pop("reps", DEFAULT_REPS))
    except TypeError as error:
        raise EntryError(str(error), ("reps",)) from error
    grids = each_of(table, "cases", lambda grid: list(cases_of(grid, folder, reps)))
    return {case.id: case for grid in grids for case in grid}


def _all_numbers(
    table: dict[str, Any], figures: Figures, cases: Mapping[str, Case], nulls: Sequence[Null]
) -> tuple[Number, ...]:
    """Read the printed numbers: those in tables, and those that stand alone."""
    columns = table.pop("column", {})
    with read(Entries(table, "table")) as entries:
        keys("column", columns)
        cells = (cell for entry in entries for cell in printed.numbers(entry, columns))
        in_tables = [number for cell in cells for number in _numbers(cell, figures, cases, nulls)]
    alone = each_of(table, "number", lambda entry: list(_numbers(entry, figures, cases, nulls)))
    numbers = (*in_tables, *(number for several in alone for number in several))
    _used(nulls, numbers)
    return numbers


def _settings(table: dict[str, Any], cases: Mapping[str, Case]) -> dict[str, Any]:
    """Read the schemes, the assumptions, and what changes or varies them."""
    schemes = each_of(table, "scheme", partial(made, Scheme))
    assumptions = each_of(table, "assumption", partial(made, Assumption))
    overrides = each_of(table, "override", lambda entry: Override.read(entry, assumptions, cases))
    names = [assumption.name for assumption in assumptions]
    printed_cases = as_printed(cases, overrides)
    sensitivities = each_of(table, "sensitivity", lambda entry: _sensitivity(entry, cases, printed_cases, names))
    return {
        "schemes": schemes,
        "assumptions": assumptions,
        "overrides": overrides,
        "sensitivities": sensitivities,
    }


def _prose(table: dict[str, Any], folder: Path, plots: Sequence[Dots | Chart]) -> dict[str, Any]:
    """Read the prose around the results: pictures of the set-up, list line, conclusion and references."""
    setup, figure = table.pop("setup"), table.pop("listed_figure", "")
    if figure and figure not in [plot.title for plot in plots]:
        raise EntryError(f"no plot has the title {figure!r}", ("listed_figure",))
    try:
        conclusion = made(Conclusion, table.pop("conclusion")) if "conclusion" in table else None
    except (KeyError, TypeError) as error:
        raise EntryError(f"conclusion: {error}", ("conclusion",)) from error
    return {
        "setup": tuple((folder / name).read_text(encoding="utf-8") for name in _several(setup)),
        "headline": table.pop("headline", ""),
        "listed_figure": figure,
        "references": tuple(table.pop("references", ())),
        "conclusion": conclusion,
    }


def _several(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


def _figures(table: dict[str, Any]) -> Figures:
    figures: dict[str, str | Expression] = dict(table.pop("figure", {}))
    for name, text in table.pop("quantity", {}).items():
        if name in figures:
            raise EntryError(f"quantity: {name!r} must not be the name of a figure", ("quantity", name))
        try:
            figures[name] = Expression(text, tuple(figures))
        except ExpressionError as error:
            raise EntryError(f"quantity: {error}", ("quantity", name)) from error
    return figures


def _units(table: dict[str, Any], figures: Figures) -> Mapping[str, str]:
    units: dict[str, str] = table.pop("unit", {})
    for name in units:
        if name not in figures:
            raise EntryError(f"unit: {_core.unknown('figure', name, list(figures))}", ("unit", name))
    return units


def _claim(entry: dict[str, Any], figures: Figures, cases: Mapping[str, Case]) -> Claim:
    milder = entry.pop("milder", None)
    if milder:
        milder = _claim({**milder, "id": f"{entry['id']}.milder", "source": entry["source"]}, figures, cases)
    return made(Claim, {**entry, "check": Expression(entry["check"], figures, cases), "milder": milder})


def _sensitivity(
    entry: dict[str, Any], cases: Mapping[str, Case], printed_cases: Mapping[str, Case], assumptions: Sequence[str]
) -> Sensitivity:
    sensitivity = Sensitivity.read(entry, cases, printed_cases)
    if sensitivity.assumption not in assumptions:
        raise TypeError(f"assumption of a sensitivity must be one of the study, not {sensitivity.assumption!r}")
    return sensitivity


def _single(entry: dict[str, Any], ids: Sequence[str]) -> Single:
    """Read one `[[single]]`; raise if one of its patterns fits no number."""
    single = Single.read(entry)
    for pattern in single.numbers:
        if not any(fnmatchcase(name, pattern) for name in ids):
            raise TypeError(f"numbers of single runs must match a number, not {pattern!r}")
    return single


def _used(nulls: Sequence[Null], numbers: Iterable[Number]) -> None:
    """Raise if a rule of the null model fits no number."""
    ids = [number.id for number in numbers]
    for index, rule in enumerate(nulls):
        if not any(map(rule.fits, ids)):
            message = f"numbers of a null must match a number, not {list(rule.numbers)!r}"
            raise EntryError(message, ("null", str(index)))


def _numbers(
    entry: dict[str, Any], figures: Figures, cases: Mapping[str, Case], nulls: Sequence[Null]
) -> Iterator[Number]:
    if "null" in entry:
        raise TypeError(f"{entry['id']}: a number must not have the key null; write [[null]] with its id in `numbers`")
    published = entry.pop("published")
    values = list(published.values()) if isinstance(published, dict) else [published]
    for value in values:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise TypeError(f"{entry['id']}: published must be a number, not {value!r}")
    rest = {"unit": "", "note": "", **entry, "tolerance": tolerance.read(entry, values)}
    for key in ("exact", "idle_of"):
        rest.pop(key, None)
    if not isinstance(published, dict):
        null, linear = linear_of(nulls, entry["id"], rest["text"])
        rest |= {"measure": Expression(entry["measure"], figures, cases), "null": null, "linear": linear}
        yield made(Number, {**rest, "published": published})
        return
    for key, value in published.items():
        own: dict[str, Any] = {name: rest[name].replace("{}", key) for name in ("label", "text")}
        measure = Expression(entry["measure"].replace("{}", key), figures, cases)
        name = f"{entry['id']}.{key}"
        null, linear = linear_of(nulls, name, own["text"], key)
        own |= {"id": name, "published": value, "measure": measure, "null": null, "linear": linear}
        yield made(Number, {**rest, **own})
