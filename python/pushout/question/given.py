"""Policies in Python and figures that a sweep is given beside its file."""

from collections.abc import Sequence
from dataclasses import replace

from pushout.errors import DesignError
from pushout.names.figures import paths_of
from pushout.question.design import Design
from pushout.question.factor import key_of

IN_PYTHON = "or vary both in Python, where a list of pushout.sweep takes programs"
"""The remedy where a policy of one's own is a value among others."""


def with_policies(design: Design, policies: Sequence[str]) -> Design:
    """Give ports their policies at every point; the overrides of the sweep may change their parameters."""
    if not policies:
        return design
    _check(design, [key_of(policy) for policy in policies])
    points = tuple(replace(point, sets=(*policies, *point.sets)) for point in design.points)
    # An empty place: the sweep file does not contain these overrides.
    common = replace(
        design.common, sets=(*policies, *design.common.sets), places=(*((),) * len(policies), *design.common.places)
    )
    return replace(design, points=points, common=common, policies=tuple(policies))


def with_columns(design: Design, names: str | Sequence[str]) -> Design:
    """Add columns of figures, named in a list or separated by commas."""
    figures = tuple(dict.fromkeys((*design.figures, *paths_of(names, argument="columns"))))
    return replace(design, figures=figures)


def _check(design: Design, ports: Sequence[str]) -> None:
    """Refuse a sweep that replaces a policy given by the caller."""
    levels = [design.common, *(level for factor in design.factors for level in factor.levels)]
    for level in levels:
        for change, at in zip(level.sets, level.places, strict=True):
            key = key_of(change)
            if any(port == key or port.startswith(f"{key}.") for port in ports):
                what = "control for the same flows" if key.endswith("congestion") else "policy for the same port"
                message = f"{key} must not be set by a sweep that is given a {what}: leave out one of them, {IN_PYTHON}"
                raise DesignError(design.tell(at, message))
