"""What may hold a number in prose: a reference, a setting of the runs, a given value with its source, or a name.

    settings    "PHRASE" = overrides that must change nothing: a quantity of the prose that is set, not measured
    given       "PHRASE" = its source: a quantity of the paper or of a standard that no number of the study has
    names       names with digits

A phrase with a unit holds the number of a list before the unit as well: "50 to 200 kbytes" needs "50 kbytes" and
"200 kbytes". Every other digit is refused, so that prose cannot differ from the runs.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from math import isclose

from pushout.study.expression import Expression
from pushout.study.reference import REFERENCE

NUMBER = r"(?<![\d.])\d+(?:[ \N{NO-BREAK SPACE}]\d{3}(?!\d))*(?:\.\d+)?"

BETWEEN = r"(?:,? (?:and|or|to|nor|against|instead of) |, |–)"
"""What stands between the numbers of a list with one unit."""

WITH_DIGIT = re.compile(r"\S*\d\S*")

FREE = {
    "years": r"\b(?:19|20)\d\d\b",
    "documents": r"\b(?:RFC|[A-Z]{3,}(?:-[A-Z]+)*|G\.|IEEE|Volume) ?-?\d[\d.-]*",
    "places in a paper": (
        r"\b(?:[Ss]ections?|[Ff]igures?|[Tt]ables?|[Ee]quations?|eq\.|sec|[Aa]ppendix|[Cc]hapter|[Tt]heorem|[Ll]emma)"
        r"[ \N{NO-BREAK SPACE}]\(?\d[\d.]*[a-z]?\)?(?:(?:,? and |, | to |–)\(?\d[\d.]*[a-z]?\)?)*"
    ),
    "studies": r"\b[Ss]tud(?:y|ies) \d{3}(?:(?:,? and |, | to )\d{3})*",
    "questions": r"\(\d\)|\b[Qq]uestions? \d(?:(?:,? and |, | to )\d)*",
    "ids of claims": r"`[^`]*`",
    "words of a name": r"(?<=[A-Za-zα-ω])\d+|\b\d+(?:st|nd|rd|th)\b|\b4\.[34]BSD\b",
}
"""Kinds of digits that state no result and no setting, by pattern."""


def unheld(text: str, phrases: Collection[str], own: Iterable[Expression] = (), also: Iterable[float] = ()) -> str:
    """Return the first word with a digit that nothing holds; empty if there is none.

    `own` are the checks or measures that the text describes: their constants, shares also as percent, and the numbers
    in the ids of their cases hold equal numbers of the text.
    """
    rest = _without_free(_without(REFERENCE.sub(" ", text), phrases))
    values = [*also, *(value for expression in own for value in _values(expression))]
    rest = re.sub(
        rf"({NUMBER})( %)?", lambda match: " " if _is_among(match[1], values, bool(match[2])) else match[0], rest
    )
    found = WITH_DIGIT.search(rest)
    return found[0] if found else ""


def quantities(text: str) -> list[str]:
    """List the numbers of a text that need a setting or a source."""
    return re.findall(NUMBER, _without_free(REFERENCE.sub(" ", text)))


def _without_free(text: str) -> str:
    for pattern in FREE.values():
        text = re.sub(pattern, " ", text)
    return text


def _without(text: str, phrases: Collection[str]) -> str:
    """Remove the phrases of a text, and the numbers of lists before their units."""
    units: dict[str, set[str]] = {}
    for phrase in phrases:
        if match := re.match(NUMBER, phrase):
            units.setdefault(phrase[match.end() :], set()).add(match[0])
        else:
            text = _replaced(text, phrase)
    for unit in sorted(units, key=len, reverse=True):
        for number in sorted(units[unit], key=len, reverse=True) if not unit else ():
            text = _replaced(text, number)
        if unit:
            text = _listed(text, unit, units[unit])
    return text


def _replaced(text: str, phrase: str) -> str:
    before = r"(?<![\d.])(?<!\d\s)" if phrase[0].isdigit() else ""
    return re.sub(rf"{before}{re.escape(phrase)}(?!\d|\.\d)", " ", text)


def _listed(text: str, unit: str, numbers: Collection[str]) -> str:
    """Remove the numbers of this unit, and those of a list that ends with one of them."""
    pattern = rf"((?:{NUMBER}{BETWEEN})*{NUMBER}){re.escape(unit)}(?!\w)"
    return re.sub(
        pattern,
        lambda match: re.sub(NUMBER, lambda each: "" if each[0] in numbers else each[0] + unit, match[1]) + " ",
        text,
    )


def _values(expression: Expression) -> Iterator[float]:
    """Yield the numbers of an expression, those in the names of its cases among them."""
    text = expression.text
    yield from (float(match[0]) for match in re.finditer(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?", text))
    for name in re.findall(r'"([^"]*)"', text):
        yield from (float(number) for number in re.findall(r"(?<!\w)\d+", name))


def _is_among(text: str, values: Iterable[float], is_percent: bool) -> bool:
    """Return whether a number is one of these values, also in a larger unit; as percent, a share or its complement."""
    number = float(re.sub(r"\s", "", text))
    forms = [form for value in values for form in (value, value / 1e3, value / 1e6)]
    if is_percent:
        forms += [form for value in values for form in (100 * value, 100 * abs(1 - value))]
    return any(isclose(number, form) for form in forms)


def check_names(names: Iterable[str]) -> None:
    """Raise if a name begins like a quantity."""
    for name in names:
        if not name[:1].isalpha():
            raise TypeError(f"names must begin with a letter, not {name!r}; a quantity is a setting")


def is_used(phrase: str, prose: str) -> bool:
    """Return whether a phrase is in the prose, or its number in a list before its unit."""
    number = re.match(NUMBER, phrase)
    return phrase in prose or bool(number and number[0] in prose and phrase[number.end() :] in prose)


def phrases_of(*tables: Mapping[str, object] | Iterable[str]) -> list[str]:
    """List the phrases of tables and lists."""
    return [phrase for table in tables for phrase in table]
