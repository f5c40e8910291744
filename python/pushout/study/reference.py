"""References in prose: `{…}` stands for a number that the runs of a study give, or that the paper prints.

{FIGURE:CASE}       the mean of a figure in a case
{EXPRESSION}        an expression over figures of cases, such as `{100 * (1 - goodput['lan.UBR'])}`
{NAME}              in a finding, one of its values
{measured:NUMBER}   what the study measures for a number
{printed:NUMBER}    the printed value of a number of the study; in an expression `printed['NUMBER']`
{…|2}               with two decimals; without it, three digits, or fewer if the interval justifies fewer
"""

import re
from collections.abc import Iterator, Mapping

from pushout import _core
from pushout.stats import Interval
from pushout.study.digits import before_the_point, decimals, deserved, grouped
from pushout.study.expression import Expression

REFERENCE = re.compile(r"\{([^{}|]+)(?:\|(\d))?\}")

PRINTED = re.compile(r"\bprinted\[(['\"])(.+?)\1\]")
"""A printed value within an expression."""

FIGURE = re.compile(r"(\w+):([^\[\]()'\"]+)")
"""A figure in a case."""

SIGNIFICANT = 3
"""Digits of a number in prose, unless its interval justifies fewer."""

UNKNOWN = "?"
"""Stands for a value before the runs that give it; generated files with it count as stale."""


def references(text: str) -> Iterator[str]:
    """List the references of a text, without braces and decimals."""
    return (match[1] for match in REFERENCE.finditer(text))


def expression(reference: str) -> str:
    """Write the expression of a reference; a figure in a case is short for one."""
    match = FIGURE.fullmatch(reference)
    return f'{match[1]}["{match[2]}"]' if match else reference


def with_printed(text: str, published: Mapping[str, float]) -> str:
    """Write the printed values into the references of a text: they need no run."""

    def value(name: str) -> float:
        if name not in published:
            raise TypeError(f"printed: {_core.unknown('number', name, list(published))}")
        return published[name]

    def reference(match: re.Match[str]) -> str:
        kind, _, name = match[1].partition(":")
        if kind == "printed":
            return grouped(value(name), decimals(value(name)) if match[2] is None else int(match[2]))
        text = PRINTED.sub(lambda part: repr(value(part[2])), match[1])
        if text != match[1] and "[" not in text:
            only: Interval = {"mean": Expression(text, (), ())(_nowhere), "ci95": None, "n": 1}
            return written(only, match[2])
        return match[0].replace(match[1], text)

    return REFERENCE.sub(reference, text)


def _nowhere(figure: str, case: str) -> None:
    """Look up a figure for an expression that has none."""


def filled(text: str, values: Mapping[str, Interval]) -> str:
    """Replace every reference of a text by its measured value."""
    return REFERENCE.sub(lambda match: written(values.get(match[1]), match[2]), text)


def written(measured: Interval | None, decimals: str | None = None) -> str:
    """Write a mean with the digits that its interval justifies, three at most, or with these decimals."""
    if measured is None:
        return UNKNOWN
    if decimals is not None:
        return grouped(measured["mean"], int(decimals))
    return grouped(measured["mean"], deserved(measured, max(0, SIGNIFICANT - before_the_point(measured["mean"]))))
