"""A finding: a claim that a reader may forward, with its rival explanation and its range; `[[finding]]` of a study.

    id, title       the result with its condition
    text, limits    prose; every measured number in it is a reference
    comparison      the check that must hold
    control         text and check: the rival explanation, and what must hold if it is not the cause
    seeds           number of replications of every case (20, the least)
    random          false if nothing is drawn: two replications suffice then, which must agree
    figure          the title of the plot that shows it
    set             overrides of every case
    value           NAME = "expression": a number that the prose gives as `{NAME}`
    settings        "PHRASE" = overrides that must change nothing: a quantity of the prose that is set, not measured
    names           names with digits in the prose
    [[finding.cases]]   further cases, which only the finding runs; see `case`
    [[finding.range]]   name, set: overrides after which the comparison must hold
    [[finding.search]]  name, value."LABEL" = overrides: an axis that `--attack` searches, nearest values first

Overrides of a change and of a setting are a list for every case, or lists by patterns of cases: `set."CASES" = []`.

Numbers of the prose are references, see `reference`, or held as `held` says. Checks and values may use the cases of the
study and those of the finding.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pushout import _core
from pushout.study.case import Case, cases, counted
from pushout.study.expression import Expression
from pushout.study.held import check_names, unheld
from pushout.study.reference import expression, references, with_printed
from pushout.study.toml_entry import keys, made

SEEDS = 20
"""The least number of replications of a finding, and the default."""

AGREEING = 2
"""Replications of a finding in whose runs nothing is drawn; that they agree is checked."""

PROSE = ("title", "text", "limits")
"""The keys of a finding with prose; its control has some as well."""

Sets = Mapping[str, tuple[str, ...]]
"""Overrides by patterns of cases."""


@dataclass(frozen=True)
class Control:
    """The rival explanation in words, and the check that refutes it."""

    text: str
    check: Expression


@dataclass(frozen=True)
class Change:
    """Overrides by patterns of cases: an entry of a range, or those of a setting, whose name is its phrase."""

    name: str
    sets: Sets

    def of(self, case: Case) -> Case:
        """Apply the overrides to a case."""
        return case.changed(
            [each for pattern, sets in self.sets.items() if fnmatchcase(case.id, pattern) for each in sets]
        )


@dataclass(frozen=True)
class Axis:
    """A dimension of what an attack searches, with its values from the nearest on."""

    name: str
    values: tuple[Change, ...]


@dataclass(frozen=True)
class Finding:
    """A parsed `[[finding]]`; `cases` are those that it uses, with its overrides, and `values` its references."""

    id: str
    title: str
    text: str
    limits: str
    comparison: Expression
    control: Control
    range: tuple[Change, ...]
    seeds: int
    random: bool
    figure: str
    settings: tuple[Change, ...]
    values: Mapping[str, Expression]
    cases: Mapping[str, Case]
    search: tuple[Axis, ...] = ()

    @classmethod
    def read(cls, entry: dict[str, Any], of: "Surroundings") -> "Finding":
        """Read one `[[finding]]` of a study."""
        of, own = of.extended(entry.pop("cases", []))
        settings, names = keys("settings", entry.pop("settings", {})), tuple(entry.pop("names", ()))
        _check_prose([*(entry[key] for key in PROSE), entry["control"]["text"]], names, settings)
        prose = {key: of.line(entry.pop(key)) for key in PROSE}
        comparison, control = of.expression(entry.pop("comparison")), _control(entry.pop("control"), of)
        values = _values([*prose.values(), control.text], keys("value", entry.pop("value", {})), of)
        used = {case for check in (comparison, control.check, *values.values()) for _, case in check.uses}
        if idle := own - used:
            raise TypeError(f"a case of a finding must be used by a check or a value, not {min(idle)!r}")
        everywhere = tuple(entry.pop("set", ()))
        chosen = {name: case.changed(everywhere) for name, case in of.cases.items() if name in used}
        if entry["figure"] not in of.plots:
            raise TypeError(f"figure {_core.unknown('plot', entry['figure'], list(of.plots))}")
        parts = {
            **prose,
            "comparison": comparison,
            "control": control,
            "range": tuple(changes(entry.pop("range", []), chosen)),
            "search": tuple(_axes(entry.pop("search", []), chosen)),
            "seeds": _seeds(entry),
            "random": entry.pop("random", True),
            "settings": tuple(changes([{"name": name, "set": sets} for name, sets in settings.items()], chosen)),
            "values": values,
            "cases": chosen,
        }
        finding: Finding = made(cls, {**entry, **parts})
        return finding


@dataclass(frozen=True)
class Surroundings:
    """Parts of the study of a finding: folder, figures, cases, titles of its plots and printed numbers."""

    folder: Path
    figures: Collection[str]
    cases: Mapping[str, Case]
    plots: Collection[str]
    published: Mapping[str, float]

    def extended(self, grids: Iterable[dict[str, Any]]) -> tuple["Surroundings", set[str]]:
        """Add the cases of a finding; return their ids as well."""
        own = {case.id: case for grid in grids for case in cases(grid, self.folder, SEEDS)}
        if repeated := own.keys() & self.cases.keys():
            raise TypeError(f"a case of a finding must have a new id, not {min(repeated)!r}")
        return replace(self, cases={**self.cases, **own}), set(own)

    def expression(self, text: str) -> Expression:
        """Compile an expression over its figures and cases."""
        return Expression(text, self.figures, self.cases)

    def line(self, text: str) -> str:
        """Write prose in a line, with the printed values in it."""
        return with_printed(" ".join(text.split()), self.published)


def _control(entry: dict[str, Any], of: Surroundings) -> Control:
    parts = {"text": of.line(entry["text"]), "check": of.expression(entry["check"])}
    return made(Control, {**keys("control", entry), **parts})


def _values(prose: Iterable[str], named: Mapping[str, str], of: Surroundings) -> dict[str, Expression]:
    """Compile every reference of the prose; raise if a named value is used nowhere."""
    texts = dict.fromkeys(reference for text in prose for reference in references(text))
    found = {}
    for reference in texts:
        if reference.isidentifier() and reference not in named:
            raise TypeError(f"a reference {_core.unknown('value', reference, list(named))}; a figure needs a case")
        found[reference] = of.expression(named.get(reference) or expression(reference))
    for name in named:
        if name not in texts:
            raise TypeError(f"value {name} has no reference in the prose; write {{{name}}}, or remove the value")
    return found


def changes(entries: Iterable[dict[str, Any]], chosen: Mapping[str, Case]) -> Iterator[Change]:
    """Read the range or the settings; raise if one of them is for no case."""
    for entry in entries:
        sets = entry.pop("set")
        by_case = {pattern: tuple(each) for pattern, each in (sets if isinstance(sets, dict) else {"*": sets}).items()}
        for pattern in by_case:
            if not any(fnmatchcase(case, pattern) for case in chosen):
                raise TypeError(f"{entry['name']!r} must change a case: none fits {pattern!r}")
        yield made(Change, {**entry, "sets": by_case})


def _axes(entries: Iterable[dict[str, Any]], chosen: Mapping[str, Case]) -> Iterator[Axis]:
    """Read what an attack searches."""
    for entry in entries:
        values = [{"name": name, "set": sets} for name, sets in keys("value", entry.pop("value")).items()]
        yield made(Axis, {**entry, "values": tuple(changes(values, chosen))})


def _seeds(entry: dict[str, Any]) -> int:
    """Read the number of replications."""
    least = SEEDS if entry.get("random", True) else AGREEING
    seeds = counted(entry.pop("seeds", least), "seeds")
    if seeds < least:
        raise TypeError(f"seeds must be at least {least}, not {seeds}")
    return seeds


def _check_prose(texts: Iterable[str], names: Collection[str], settings: Collection[str]) -> None:
    """Raise if nothing holds a number of the prose, or if a name or a setting occurs nowhere."""
    prose = "\n".join(" ".join(text.split()) for text in texts)
    check_names(names)
    for phrase in (*names, *settings):
        if phrase not in prose:
            raise TypeError(f"names and settings must occur in the prose, not {phrase!r}")
    if word := unheld(prose, (*names, *settings)):
        raise TypeError(
            f"numbers of a finding must be references, settings or names, not {word!r}; write {{FIGURE:CASE}}"
        )
