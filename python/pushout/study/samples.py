"""Expressions over the replications of cases: estimates with confidence, and claims that hold or not."""

from collections.abc import Mapping, Sequence
from functools import partial

from pushout.document import Document, figure
from pushout.stats import Interval, interval
from pushout.study.expression import Expression, ExpressionError, Lookup, Value


class Samples:
    """The figures of cases, replication by replication: equal seeds make the cases comparable pair by pair.

    A figure is a path in the JSON of a run, or an expression over others of the same run. Where an expression looks at
    cases that were run more and less often, the replications count that all of them have.
    """

    def __init__(self, figures: Mapping[str, str | Expression], documents: Mapping[str, Sequence[Document]]) -> None:
        self.figures = figures
        self.documents = documents
        self._averages: dict[tuple[str, str, int], Value] = {}

    def reps(self, expression: Expression) -> int:
        """In how many replications an expression has a value."""
        cases = {case for _, case in expression.uses} or self.documents.keys()
        return min((len(self.documents[case]) for case in cases), default=0)

    def each(self, expression: Expression) -> list[Value]:
        """The value of an expression in every replication."""
        return [expression(partial(self._one, index)) for index in range(self.reps(expression))]

    def interval(self, expression: Expression) -> Interval:
        """An estimate of a number."""
        return interval(self.each(expression))

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

    def check(self, expression: Expression) -> tuple[bool, int, str]:
        """Whether it is true of the means, in how many replications it is, and what both sides amount to."""
        average = self._average(expression)
        holds = expression(average)
        if not isinstance(holds, bool):
            raise ExpressionError(f"{expression.text!r} gives {holds!r}: a claim is true or false")
        return holds, sum(self.each(expression)), expression.evidence(average)

    def comparisons(self, expression: Expression) -> tuple[tuple[str, Value], ...]:
        """What an expression compares, for the means."""
        return tuple(expression.comparisons(self._average(expression)))

    def _one(self, index: int, name: str, case: str) -> Value:
        what = self.figures[name]
        if isinstance(what, Expression):
            return what(lambda other, _: self._one(index, other, case))
        value = figure(self.documents[case][index], what)
        return tuple(value) if isinstance(value, list) else value

    def _average(self, expression: Expression) -> Lookup:
        reps = self.reps(expression)

        def mean(name: str, case: str) -> Value:
            if (name, case, reps) not in self._averages:
                self._averages[name, case, reps] = _mean([self._one(index, name, case) for index in range(reps)])
            return self._averages[name, case, reps]

        return mean


def _mean(values: Sequence[Value]) -> Value:
    """The mean of numbers, or of lists entry by entry as far as the shortest reaches."""
    if isinstance(values[0], tuple):
        return tuple(map(_mean, zip(*values, strict=False)))
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
