"""The prose of a study: every text in which a reader finds numbers, its references, and what its words compare.

    [settings], [given], names      what holds a number that is not a reference; see `held`
    [[holds]]  text, check          a comparison that the prose makes in words, and the check that has to be true for it

Findings have their own cases and check their prose themselves; see `finding`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from pushout.stats import Interval
from pushout.study.charts import Chart, Level, Line
from pushout.study.expression import Expression, ExpressionError
from pushout.study.held import is_used, phrases_of, unheld
from pushout.study.reference import expression, filled, references, with_printed

Study = Any
"""A `Study`: `model`, which defines it, reads its prose with this module."""

FIELDS = {
    "Study": ("headline", "question"),
    "Conclusion": ("stands", "falls", "adds"),
    "Scheme": ("text",),
    "Assumption": ("value", "why"),
    "Override": ("printed",),
    "Number": ("label", "text", "note", "dependent", "derived"),
    "Null": ("why",),
    "Single": ("why",),
    "Claim": ("text", "why"),
    "Dots": ("title", "note"),
    "Chart": ("title", "note"),
    "Line": ("label",),
    "Level": ("label",),
    "Sensitivity": ("question",),
}
"""The prose of each part of a study. Names of categories and of values to try are labels of data, not prose."""

NAMES = ("id", "name", "title", "label")
"""What names a part in a message."""

Filler = Callable[[str], str]


@dataclass(frozen=True)
class Wording:
    """A comparison that the prose makes in words: a piece of the prose, and the check that has to be true for it."""

    text: str
    check: Expression


def sentences(part: Any) -> Iterator[tuple[Any, str, str]]:
    """Yield every text of a study with the part that has it and the name of its field; findings are left out."""
    for name in FIELDS.get(type(part).__name__, ()):
        yield part, name, getattr(part, name)
    for each in _parts(part):
        yield from sentences(each)


def _parts(part: Any) -> Iterator[Any]:
    for field in fields(part):
        value = getattr(part, field.name)
        each = value if isinstance(value, tuple) else (value,)
        yield from (one for one in each if is_dataclass(one) and type(one).__name__ in FIELDS)


def mapped(part: Any, change: Filler) -> Any:
    """Copy a study, or a part of one, with every text changed."""
    own: dict[str, Any] = {name: change(getattr(part, name)) for name in FIELDS.get(type(part).__name__, ())}
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, tuple):
            own[field.name] = tuple(mapped(one, change) if _is_part(one) else one for one in value)
        elif _is_part(value):
            own[field.name] = mapped(value, change)
    return replace(part, **{name: value for name, value in own.items() if value != getattr(part, name)})


def _is_part(value: Any) -> bool:
    return is_dataclass(value) and type(value).__name__ in FIELDS


def with_values(study: Study, values: Mapping[str, Interval]) -> Study:
    """Fill the references of a study's prose with what the runs gave."""
    return mapped(study, lambda text: filled(text, values))


def values(study: Study) -> dict[str, Expression]:
    """Compile every reference of the prose."""
    found: dict[str, Expression] = {}
    for part, field, text in sentences(study):
        for reference in references(text):
            if reference not in found:
                found[reference] = _compiled(reference, study, _place(part, field))
    return found


def _compiled(reference: str, study: Study, place: str) -> Expression:
    measures = {f"measured:{number.id}": number.measure.text for number in study.numbers}
    try:
        value = Expression(measures.get(reference) or expression(reference), study.figures, study.cases)
    except ExpressionError as error:
        raise TypeError(f"{place}: the reference {{{reference}}}: {error}; write {{FIGURE:CASE}}") from error
    if not value.uses:
        raise TypeError(f"{place}: the reference {{{reference}}} must use a figure of a case; write {{FIGURE:CASE}}")
    return value


def read(study: Study, wordings: Iterable[Wording]) -> Study:
    """Write the printed values into the prose, and check that something holds every number of it."""
    study = replace(study, wordings=tuple(wordings))
    phrases = phrases_of([setting.name for setting in study.settings], study.given, study.names)
    for part, field, text in sentences(study):
        if word := unheld(text, phrases, *_own(part, field)):
            raise TypeError(
                f"{_place(part, field)}: a number must be a reference, a setting, given or a name, not {word!r}; "
                "write {FIGURE:CASE} or {printed:NUMBER}, or name what sets it in [settings], or its source in [given]"
            )
    _check_use(study, phrases)
    published = {number.id: number.published for number in study.numbers}
    study = mapped(study, lambda text: with_printed(text, published))
    return replace(study, values=values(study))


def _check_use(study: Study, phrases: Iterable[str]) -> None:
    """Raise if a phrase, or the text of a comparison, is not in the prose."""
    prose = " ".join(" ".join(text for _, _, text in sentences(study)).split())
    for wording in study.wordings:
        if " ".join(wording.text.split()) not in prose:
            raise TypeError(f"holds: text must be a piece of the prose, not {wording.text!r}")
    for phrase in phrases:
        if not is_used(phrase, prose):
            raise TypeError(f"settings, given and names must occur in the prose, not {phrase!r}; remove it")


def _own(part: Any, field: str) -> tuple[tuple[Expression, ...], tuple[float, ...]]:
    """Return the checks and values that a text describes, which hold its numbers as well."""
    kind = type(part).__name__
    if kind == "Claim" and field == "text":
        return (part.check,), (part.share or 0,)
    if kind == "Number" and field in ("label", "text"):
        return (part.measure,), tuple(map(float, re.findall(r"\d+\.\d+|\d+", part.id)))
    match part:
        case Line():
            return part.measures, ()
        case Level():
            return (), (part.value,)
        case Chart() if field == "title":
            return tuple(measure for line in part.lines for measure in line.measures), ()
    return (), ()


def _place(part: Any, field: str) -> str:
    """Name a text for a message."""
    kind = type(part).__name__
    name = next((str(getattr(part, each)) for each in NAMES if hasattr(part, each)), "")
    return f"{kind.lower()} {name!r}, {field}" if kind != "Study" and name else f"{kind.lower()}.{field}"
