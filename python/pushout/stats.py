"""Means with confidence intervals: Student's t over independent replications."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TypedDict


class Interval(TypedDict):
    """A mean over `n` replications and the 95 % confidence interval of the expectation; none for `n` = 1."""

    mean: float
    ci95: list[float] | None
    n: int


def mean(values: Sequence[float]) -> float:
    """Average values (at least one) with a single rounding of their sum, as `statistics.fmean`, which loads slowly."""
    return math.fsum(values) / len(values)


def interval(values: Sequence[float]) -> Interval:
    """Estimate the expectation of independent, identically distributed values (at least one)."""
    n = len(values)
    middle = mean(values)
    if n == 1:
        return {"mean": middle, "ci95": None, "n": 1}
    from statistics import stdev

    half = student_t(0.95, n - 1) * stdev(values) / math.sqrt(n)
    return {"mean": middle, "ci95": [middle - half, middle + half], "n": n}


def unseen(n: int) -> float:
    """Bound the share of runs with another value, with 95 % confidence, when all of `n` runs gave the same.

    The one-sided bound of C. J. Clopper and E. S. Pearson (1934) for none among `n`: 1 − 0.05^(1/n), about 3/n for more
    than ten runs (the "rule of three"). Equal values give an interval of width 0; this bound is the remaining doubt.
    """
    return float(1 - 0.05 ** (1 / n))


def share_interval(count: int, of: int) -> tuple[float, float]:
    """Compute the exact 95 % interval of a probability, `count` times among `of` trials (Clopper and Pearson, 1934)."""

    def at_most(seen: int, share: float) -> float:
        return math.fsum(math.comb(of, each) * share**each * (1 - share) ** (of - each) for each in range(seen + 1))

    def solved(seen: int, target: float) -> float:
        low, high = 0.0, 1.0
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if at_most(seen, middle) > target else (low, middle)
        return middle

    return solved(count - 1, 0.975) if count else 0.0, solved(count, 0.025) if count < of else 1.0


def agreeing(share: float) -> int:
    """Count the equal runs that are needed to bound the share of other values by `share`."""
    return math.ceil(math.log(0.05) / math.log(1 - share))


AGREEING = agreeing(0.05)
"""Number of equal runs that suffice: with 95 % confidence at most 5 % of further runs differ."""


@lru_cache(maxsize=1024)
def student_t(confidence: float, dof: int) -> float:
    """Compute the t for which `P(|T| < t)` = `confidence` with `dof` degrees of freedom, to about 14 digits.

    With t = √dof · tan θ the probability is a finite sum in θ (`_within`), so the quantile needs no approximation:
    bisect in θ, where the real line is the interval (0, π/2).
    """
    if dof < 1 or not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1 and dof at least 1, not {confidence} and {dof}")
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        if _within(middle, dof) < confidence:
            low = middle
        else:
            high = middle
    return math.sqrt(dof) * math.tan(low)


def _within(theta: float, dof: int) -> float:
    """P(|T| < √dof · tan θ), Abramowitz & Stegun 26.7.3 (odd) and 26.7.4 (even)."""
    sin, cos = math.sin(theta), math.cos(theta)
    odd = dof % 2
    term = total = cos if odd else 1.0
    for k in range(2 + odd, dof - 1, 2):
        term *= cos * cos * (k - 1) / k
        total += term
    if not odd:
        return sin * total
    return 2 / math.pi * (theta + (sin * total if dof > 1 else 0.0))
