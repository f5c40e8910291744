"""Expressions over the replications of cases: estimates with confidence, and claims that hold or not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pushout.document import Document, figure
from pushout.stats import Interval, interval
from pushout.study.expression import Expression, ExpressionError, Lookup, Value
from pushout.study.redrawn import counts, means, reader, same


@dataclass(frozen=True)
class Verdict:
    """Whether a check is true of all replications, and what it compares for their means, each with its truth.

    `sure` is the share of the redrawn sets of replications with the same verdict; there is none without redrawing, or
    where everything was run once. `often` is in how many of `reps` replications the check is true by itself.
    """

    holds: bool
    sure: float | None
    often: int
    reps: int
    comparisons: tuple[tuple[str, Value], ...]


class Samples:
    """The figures of cases, replication by replication: equal seeds make the cases comparable pair by pair.

    A figure is a path in the JSON of a run, or an expression over others of the same run. A mean counts every
    replication of its case; what is worked out run by run counts those that all of its cases have. With `sets`, the
    replications are drawn again so many times to tell how sure a verdict is.
    """

    def __init__(
        self, figures: Mapping[str, str | Expression], documents: Mapping[str, Sequence[Document]], sets: int = 0
    ) -> None:
        self.figures = figures
        self.documents = documents
        self.sets = sets
        self._singles: dict[tuple[int, str, str], Value] = {}
        self._tables: dict[tuple[str, str], tuple[NDArray[np.float64], bool]] = {}

    def reps(self, expression: Expression) -> int:
        """In how many replications an expression has a value."""
        cases = {case for _, case in expression.uses} or self.documents.keys()
        return min((len(self.documents[case]) for case in cases), default=0)

    def each(self, expression: Expression) -> list[Value]:
        """The value of an expression in every replication."""
        return [expression(partial(self._one, index)) for index in range(self.reps(expression))]

    def curve(self, measures: Sequence[Expression]) -> list[Interval | None]:
        """An estimate per point: of each measure, or of each entry of the list that a single one gives.

        Where nothing was measured (no packet, no delay) there is none.
        """
        columns = [self.each(measure) for measure in measures]
        if len(columns) == 1 and isinstance(columns[0][0], tuple):
            shortest = min(map(len, columns[0]))
            columns = [list(column) for column in zip(*(values[:shortest] for values in columns[0]), strict=True)]
        known = [[value for value in column if value is not None] for column in columns]
        return [interval(values) if values else None for values in known]

    def check(self, expression: Expression, share: float | None = None) -> Verdict:
        """Whether it is true of the means; with `share`, whether it is in that part of the replications.

        A replication without a value of its own (nothing measured, say) counts as one in which it is not true, and a
        redrawn set as one with another verdict.
        """
        columns = {use: self._means(*use) for use in expression.uses}
        looks: list[Lookup] = [partial(_entry, columns, place) for place in range(self.sets + 1)]
        holds = expression(looks[0])
        if not isinstance(holds, bool):
            raise ExpressionError(f"{expression.text!r} gives {holds!r}: a claim is true or false")
        truths = [_known(expression, partial(self._one, index)) is True for index in range(self.reps(expression))]
        if share is None:
            verdicts = [holds, *(_known(expression, look) for look in looks[1:])]
        else:
            verdicts = (counts(len(truths), self.sets) @ truths >= share * len(truths)).tolist()
        repeated = any(len(self.documents[case]) > 1 for _, case in expression.uses)
        sure = same(verdicts) if repeated and self.sets else None
        return Verdict(verdicts[0], sure, sum(truths), len(truths), tuple(expression.comparisons(looks[0])))

    def _means(self, name: str, case: str) -> Callable[[int], Value]:
        if (name, case) not in self._tables:
            values = [self._one(index, name, case) for index in range(len(self.documents[case]))]
            self._tables[name, case] = means(values, self.sets), not isinstance(values[0], tuple)
        table, single = self._tables[name, case]
        return reader(table, single=single)

    def _one(self, index: int, name: str, case: str) -> Value:
        key = index, name, case
        if key not in self._singles:
            what = self.figures[name]
            if isinstance(what, Expression):
                value = what(lambda other, _: self._one(index, other, case))
            else:
                value = figure(self.documents[case][index], what)
            self._singles[key] = tuple(value) if isinstance(value, list) else value
        return self._singles[key]


def _entry(columns: Mapping[tuple[str, str], Callable[[int], Value]], place: int, name: str, case: str) -> Value:
    """The mean of a figure in a case over one of the sets."""
    return columns[name, case](place)


def _known(expression: Expression, lookup: Lookup) -> Value:
    """The value of an expression, or None where what it looks at leaves it without one, as nothing measured does."""
    try:
        return expression(lookup)
    except ExpressionError:
        return None
