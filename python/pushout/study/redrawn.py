"""Replications drawn again with replacement: how sure it is what their means say.

B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979. Cases that were run equally
often are drawn alike: what they share in a replication, such as its seed, they share in every set, and stay compared
pair by pair. Of ten replications with equal means some 16 % seem settled, of forty 12 %; the limit is 10 %
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
    """How often each set (a row) has each replication; the first set is that of all replications, each once."""
    places = np.random.RandomState(reps).randint(reps, size=(sets, reps))  # a stream that no version of numpy changes
    drawn = (places[:, :, None] == np.arange(reps)).sum(axis=1)
    return np.vstack([np.ones((1, reps)), drawn])


def means(values: Sequence[Value], sets: int) -> NDArray[np.float64]:
    """The mean over every set (a row): of numbers, or of lists entry by entry as far as the shortest reaches.

    What was not measured does not count; where nothing was, the mean is not a number. The replications are added one
    after the other, as what they have above one of them: so equal values have equal means, and a constant itself.
    """
    shortest = min((len(value) for value in values if isinstance(value, tuple)), default=1)
    rows = [value[:shortest] if isinstance(value, tuple) else (value,) * shortest for value in values]
    table = np.array(rows, dtype=float)  # None becomes not a number
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
    """What gives the means over a set as expressions read them."""
    if single:
        column = _values(table[:, 0])
        return column.__getitem__
    return lambda place: tuple(_values(table[place]))


def _values(numbers: NDArray[np.float64]) -> list[Any]:
    found: list[Any] = numbers.tolist()
    return [None if value != value else value for value in found] if np.isnan(numbers).any() else found


def same(verdicts: Sequence[Value]) -> float:
    """In which share of the sets the verdict is that of the first, which is all replications and not counted."""
    first, *others = verdicts
    return others.count(first) / len(others)
