"""References to measured numbers in prose: `{FIGURE:CASE}` stands for the mean of a figure in a case."""

import re
from collections.abc import Iterator, Mapping

from pushout.stats import Interval
from pushout.study.digits import before_the_point, deserved, grouped

REFERENCE = re.compile(r"\{([^{}:]+)(?::([^{}]+))?\}")
"""A reference: `{figure:case}`, or in a finding `{name}` of a value."""

SIGNIFICANT = 3
"""Digits of a number in prose, unless its interval justifies fewer."""


def references(text: str) -> Iterator[str]:
    """List the references of a text, without braces."""
    return (match[0][1:-1] for match in REFERENCE.finditer(text))


def expression(reference: str) -> str:
    """Write the expression of a reference to a figure in a case."""
    figure, _, case = reference.partition(":")
    return f'{figure}["{case}"]'


def filled(text: str, values: Mapping[str, Interval]) -> str:
    """Replace every reference of a text by its measured mean."""
    return REFERENCE.sub(lambda match: written(values[match[0][1:-1]]), text)


def written(measured: Interval) -> str:
    """Write a mean with the digits that its interval justifies, three at most."""
    return grouped(measured["mean"], deserved(measured, max(0, SIGNIFICANT - before_the_point(measured["mean"]))))
