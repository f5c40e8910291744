"""Allowed distance of a measured mean from print: one rule for all numbers, which the score and the verdicts share.

A number is within its tolerance if it differs from print by at most 5 %, or by half a unit of the last printed digit if
that is more, but never by more than 10 %. What follows from the settings alone (`exact = true`), and what a formula
gives (`derived`), has to agree in every digit. `tolerance = { relative = … }` or `{ absolute = … }` stands for another
one; `note` gives the reason for one that is wider than the rule. A number of a nearly full link (`idle_of`) is held to
5 % of what the printed value leaves idle, which is less: links that are nearly full differ in that alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pushout.study.digits import decimals
from pushout.study.expression import Expression

NEAR = 0.05
"""The share of the printed value that a number may differ by."""

MOST = 0.10
"""Half a unit of the last printed digit counts up to this share of the printed value."""


@dataclass(frozen=True)
class Tolerance:
    """The allowed difference: by the `rule`, to every digit (`exact`), or by a `size` of its own.

    By the `rule` it is a share of the printed value, or of what that leaves of a `full` rate.
    """

    kind: str
    size: float = NEAR
    full: float | None = None

    def of(self, published: float) -> float:
        """The allowed difference in the unit of the number."""
        match self.kind:
            case "rule":
                return self.near(published, self.size)
            case "exact":
                return half_a_digit(published)
            case "relative":
                return self.size * abs(published)
        return self.size

    def share(self, published: float) -> float | None:
        """The allowed difference as a share of the printed value; None where it is not stated as one."""
        is_share = self.kind in ("rule", "relative") and published and self.full is None
        return self.of(published) / abs(published) if is_share else None

    def near(self, published: float, share: float) -> float:
        """The difference that counts as within this share of print, or of what print leaves idle."""
        if self.full is None:
            return near(published, share)
        idle = abs(self.full - published)
        return max(share * idle, min(half_a_digit(published), MOST * idle))


RULE = Tolerance("rule")


def near(published: float, share: float) -> float:
    """The difference that counts as within this share of print: half a unit of the last printed digit if it is more."""
    return max(share * abs(published), min(half_a_digit(published), MOST * abs(published)))


def half_a_digit(published: float) -> float:
    """Half a unit of the last printed digit; a whole number is taken as exact to one."""
    return float(f"0.5e-{decimals(published)}") * (1 + 1e-9)


def read(entry: Mapping[str, Any], published: Iterable[float]) -> Tolerance:
    """The tolerance of an entry of `[[number]]` with these printed values."""
    if "idle_of" in entry:
        if "tolerance" in entry or entry.get("exact"):
            raise TypeError(f"{entry['id']} must have either idle_of or a tolerance, not both")
        return Tolerance("rule", NEAR, float(Expression(entry["idle_of"], ())(lambda *_: None)))
    if "tolerance" not in entry:
        return Tolerance("exact", 0) if entry.get("exact") or entry.get("derived") else RULE
    ((kind, size),) = entry["tolerance"].items()
    if kind not in ("relative", "absolute"):
        raise TypeError(f"the tolerance of {entry['id']} is {kind}: it can be relative or absolute")
    own = Tolerance(kind, float(size))
    if not entry.get("note") and any(own.of(value) > RULE.of(value) for value in published):
        raise TypeError(
            f"the tolerance of {entry['id']} is wider than the default one: give the reason as note, "
            "or leave the tolerance out"
        )
    return own
