"""Evaluate expressions over the replications of cases: estimates with intervals, and verdicts on claims."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from pushout.document import Document, figure
from pushout.stats import Interval, interval
from pushout.study.bootstrap import counts, means, reader, same
from pushout.study.by_run import by_run
from pushout.study.certificate import margin
from pushout.study.evidence import Comparison, evidence, unit
from pushout.study.expression import Expression, ExpressionError, Lookup, UnmeasuredError, Value

SURE = 0.95
"""A verdict is open if a smaller share of the resamples has it."""

UNITS = {r"[_.]bps$": "b/s", r"_s$": "s"}
"""Units by the suffix of a path in the JSON of a run."""


@dataclass(frozen=True)
class Verdict:
    """The result of a check: its truth, and the comparisons of the means, each with its truth.

    `sure` is the share of bootstrap resamples with the same verdict; None without resamples, or if every case ran once.
    `often` is the number of the `reps` replications in which the check is true by itself. `margin` is how far
    its sides must move to turn it, see `certificate`.
    """

    holds: bool
    sure: float | None
    often: int
    reps: int
    comparisons: tuple[Comparison, ...]
    margin: float | None = None


class Checked(TypedDict):
    """A check: whether it holds in at least 95 % of the resamples, the share that agrees with the means, and values."""

    holds: bool
    sure: float | None
    evidence: str


class Samples:
    """The figures of cases, replication by replication; equal seeds make cases comparable seed by seed.

    A figure is a path in the JSON of a run, or an expression over others of the same run. A mean uses every
    replication of its case; an expression evaluated in each run uses the replications that all of its cases have.
    Checks also evaluate functions over lists of one case in each run (see `by_run`). `sets` is the number of bootstrap
    resamples for the certainty of verdicts. `units` are those of figures whose path does not imply one.
    """

    def __init__(
        self,
        figures: Mapping[str, str | Expression],
        documents: Mapping[str, Sequence[Document]],
        sets: int = 0,
        units: Mapping[str, str] | None = None,
    ) -> None:
        self.figures = dict(figures)
        self.documents = documents
        self.sets = sets
        self.units = units or {}
        self._names: dict[str, str] = {}
        self._singles: dict[tuple[int, str, str], Value] = {}
        self._tables: dict[tuple[str, str], tuple[NDArray[np.float64], bool]] = {}

    def reps(self, expression: Expression) -> int:
        """Count the replications in which an expression has a value."""
        cases = {case for _, case in expression.uses} or self.documents.keys()
        return min((len(self.documents[case]) for case in cases), default=0)

    def each(self, expression: Expression) -> list[Value]:
        """List the values of an expression in the replications that measured it."""
        lookups = [partial(self._one, index) for index in range(self.reps(expression))]
        values = [_unless_unmeasured(partial(expression, lookup)) for lookup in lookups]
        return [value for value in values if value is not None]

    def curve(self, measures: Sequence[Expression], reps: int | None = None) -> list[Interval | None]:
        """Estimate every point: each measure, or each entry of the list that a single measure gives.

        A point that was not measured (no packet, no delay) is None. With `reps` only the first replications count.
        """
        columns = [self.each(measure)[:reps] for measure in measures]
        if len(columns) == 1 and columns[0] and isinstance(columns[0][0], tuple):
            shortest = min(map(len, columns[0]))
            columns = [list(column) for column in zip(*(values[:shortest] for values in columns[0]), strict=True)]
        known = [[value for value in column if value is not None] for column in columns]
        return [interval(values) if values else None for values in known]

    def estimate(self, expression: Expression) -> Interval:
        """Estimate a number of the prose: figures, and how often a comparison is true, run by run; the rest on means.

        So checks take means as well: a ratio of means is not a mean of ratios, and cases need not have the same number
        of replications. The interval is then that of the resamples.
        """
        figure = isinstance(expression.tree, ast.Subscript)
        often = any(isinstance(part, ast.Compare) for part in ast.walk(expression.tree))
        if len({case for _, case in expression.uses}) == 1 and (figure or often):
            return interval(_numbers(expression, self.each(expression)))
        means = by_run(expression, self._is_list, self._named)
        columns = {use: self._means(*use) for use in means.uses}
        mean, *others = _numbers(
            expression, [_known(means, partial(_entry, columns, place)) for place in range(self.sets + 1)]
        )
        n = min(len(self.documents[case]) for _, case in expression.uses)
        ends = [float(end) for end in np.percentile(others, (2.5, 97.5))] if n > 1 and others else None
        return {"mean": float(mean), "ci95": ends, "n": n}

    def checked(self, check: Expression) -> Checked:
        """Check on the means; a check that other replications may turn does not hold, nor one without a value."""
        try:
            found = self.check(check)
        except ExpressionError as error:
            return {"holds": False, "sure": None, "evidence": str(error)}
        sure = found.sure is None or found.sure >= SURE
        evidence = "; ".join(map(str, found.comparisons))
        return {"holds": found.holds and sure, "sure": found.sure, "evidence": evidence}

    def check(self, expression: Expression, share: float | None = None) -> Verdict:
        """Check an expression on the means; with `share`, check that it is true in that share of the replications.

        A replication without a value counts as false, and a resample without a value as another verdict.
        """
        means = by_run(expression, self._is_list, self._named)
        columns = {use: self._means(*use) for use in means.uses}
        looks: list[Lookup] = [partial(_entry, columns, place) for place in range(self.sets + 1)]
        holds = means(looks[0])
        if not isinstance(holds, bool):
            raise ExpressionError(f"the value of a claim must be true or false, not {holds!r}: {expression.text!r}")
        truths = [_known(expression, partial(self._one, index)) is True for index in range(self.reps(expression))]
        if share is None:
            verdicts = [holds, *(_known(means, look) for look in looks[1:])]
        else:
            wanted = share * len(truths) - 1e-9  # 0.28 · 25 is slightly more than 7
            verdicts = (counts(len(truths), self.sets) @ truths >= wanted).tolist()
        repeated = any(len(self.documents[case]) > 1 for _, case in expression.uses)
        sure = same(verdicts) if repeated and self.sets else None
        compared = evidence(expression, means.compared(looks[0]), self._unit)
        least = margin(means, looks[0]) if share is None else None
        return Verdict(verdicts[0], sure, sum(truths), len(truths), tuple(compared), least)

    def _is_list(self, name: str, case: str) -> bool:
        """Return whether the runs of a case give lists for a figure."""
        return any(isinstance(self._measured(index, name, case), tuple) for index in range(len(self.documents[case])))

    def _named(self, expression: Expression) -> str:
        """Name an expression over one run among the figures; the same text gets the same name."""
        name = self._names.setdefault(expression.text, f"_{len(self._names)}")
        self.figures.setdefault(name, expression)
        return name

    def _unit(self, name: str, case: str) -> str | None:
        """Return the unit of a figure, if it is given or its path implies it: an occupancy has that of its port."""
        if name in self.units:
            return self.units[name]
        what = self.figures[name]
        if isinstance(what, Expression):
            return unit(what.tree, (), lambda other, _: self._unit(other, case))
        port, occupancy, _ = what.partition(".occupancy")
        if occupancy:
            return str(figure(self.documents[case][0], f"{port}.occupancy_unit"))
        return next((unit for end, unit in UNITS.items() if re.search(end, what)), None)

    def _means(self, name: str, case: str) -> Callable[[int], Value]:
        if (name, case) not in self._tables:
            values = [self._measured(index, name, case) for index in range(len(self.documents[case]))]
            self._tables[name, case] = means(values, self.sets), not any(isinstance(each, tuple) for each in values)
        table, single = self._tables[name, case]
        return reader(table, single=single)

    def _measured(self, index: int, name: str, case: str) -> Value:
        """Return the value of a figure in a replication; None if something that it uses was not measured."""
        return _unless_unmeasured(partial(self._one, index, name, case))

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


def _numbers(expression: Expression, values: Sequence[Value]) -> list[float]:
    """Refuse values that are not numbers, or no values."""
    if not values or None in values:
        raise UnmeasuredError(f"{expression.text}: a reference must be measured, not without a value in a run")
    if wrong := [value for value in values if not isinstance(value, int | float)]:
        raise ExpressionError(f"{expression.text}: a reference must be one number in every run, not {wrong[0]!r:.40}")
    return list(values)


def _entry(columns: Mapping[tuple[str, str], Callable[[int], Value]], place: int, name: str, case: str) -> Value:
    """Average a figure of a case over one resample."""
    return columns[name, case](place)


def _unless_unmeasured(value: Callable[[], Value]) -> Value:
    """Call a function; return None if something that it uses was not measured."""
    try:
        return value()
    except UnmeasuredError:
        return None


def _known(expression: Expression, lookup: Lookup) -> Value:
    """Evaluate an expression; return None if it has no value because something was not measured."""
    try:
        return expression(lookup)
    except ExpressionError:
        return None
