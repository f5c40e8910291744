"""Bootstrap: resample replications with replacement to see how certain a verdict on their means is.

B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979. Cases with the same number
of replications are resampled with the same indices: replications that share a seed stay paired in every resample. Of
cases with equal means about 16 % seem settled after 10 replications, 12 % after 40; the limit is 10 %
(docs/concepts/statistics.md).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushout.study.expression import Value


@lru_cache(maxsize=64)
def counts(reps: int, sets: int) -> NDArray[np.float64]:
    """Count how often each resample (a row) contains each replication; the first row has every replication once."""
    places = np.random.RandomState(reps).randint(
        reps, size=(sets, reps)
    )  # its stream is the same in every version of numpy
    drawn = (places[:, :, None] == np.arange(reps)).sum(axis=1)
    return np.vstack([np.ones((1, reps)), drawn])


def means(values: Sequence[Value], sets: int) -> NDArray[np.float64]:
    """Average over every resample (a row): numbers, or lists entry by entry up to the length of the shortest.

    Values that were not measured are left out; where all are missing, the mean is NaN. The sums are of differences
    from the first known value, so that equal values have equal means and a constant is its own mean.
    """
    shortest = min((len(value) for value in values if isinstance(value, tuple)), default=1)
    rows = [value[:shortest] if isinstance(value, tuple) else (value,) * shortest for value in values]
    table = np.array(rows, dtype=float)  # None becomes NaN
    known = ~np.isnan(table)
    base = table[known.argmax(axis=0), np.arange(shortest)]
    above = np.where(known, table - base, 0.0)
    drawn = counts(len(values), sets)
    total, there = np.zeros((2, len(drawn), shortest))
    for times, entries, those in zip(drawn.T[:, :, None], above, known, strict=True):
        total += times * entries
        there += times * those
    with np.errstate(invalid="ignore"):  # 0 / 0
        found: NDArray[np.float64] = base + total / there
    return found


def reader(table: NDArray[np.float64], *, single: bool) -> Callable[[int], Value]:
    """Make a function from the index of a resample to its means, as expressions read them."""
    if single:
        column = _values(table[:, 0])
        return column.__getitem__
    return lambda place: tuple(_values(table[place]))


def _values(numbers: NDArray[np.float64]) -> list[Any]:
    found: list[Any] = numbers.tolist()
    return [None if value != value else value for value in found] if np.isnan(numbers).any() else found


def same(verdicts: Sequence[Value]) -> float:
    """Return the share of resamples with the verdict of the first row, which is all replications and not counted."""
    first, *others = verdicts
    return others.count(first) / len(others)
