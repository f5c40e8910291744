"""The values of a figure as a table: for readers who cannot see it, or who want its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from pushout.stats import Interval
from pushout.study.charts import Chart, Dots
from pushout.study.digits import before_the_point, decimals, deserved, doubt, grouped
from pushout.study.outcome import Compared, Outcome, Variant, Weighing, score
from pushout.study.plot import Curves
from pushout.study.tables import row

SIGNIFICANT = 4
"""Digits of a mean, unless its interval justifies fewer."""

HELD = {True: "holds", False: "does not hold"}


@dataclass(frozen=True)
class Values:
    """The values of a figure; the first of the `heads` is that of the row labels, `levels` span all columns."""

    caption: str
    heads: list[str]
    rows: list[tuple[str, list[str]]]
    levels: list[tuple[str, str]]


def of_plot(outcome: Outcome, index: int) -> Values:
    """Tabulate a study's plot."""
    plot = outcome.study.plots[index]
    if isinstance(plot, Chart):
        return _of_chart(plot, outcome.curves[index])
    by_id = {finding.number.id: finding for finding in outcome.findings}
    return _of_dots(plot, [by_id[number] for number in plot.numbers if number in by_id])


def of_weighing(weighing: Weighing) -> Values:
    """Tabulate the distances from print for each value of an assumption; without numbers, the claims that hold."""
    verdicts = weighing.variants[0].judgements
    if weighing.supported is None:
        caption = "claims, numbered as above"
        heads = [f"claim {place}" for place, _ in enumerate(verdicts, start=1)]
        rows = [(each.value, [HELD[claim.holds] for claim in each.judgements]) for each in weighing.variants]
    else:
        caption = "absolute differences from print"
        heads = ["numbers within 5 %", "mean difference", *(["claims that hold"] if verdicts else [])]
        rows = [(each.value, _nearness(each)) for each in weighing.variants]
    return Values(caption, [weighing.sensitivity.assumption, *heads], rows, [])


def _nearness(variant: Variant) -> list[str]:
    own = score([variant])
    error = 100 * (variant.mean_error or 0)
    held = [f"{own['claims_held']} of {own['claims']}"] if own["claims"] else []
    return [f"{own['within_5pct']} of {own['numbers']}", f"{error:.1f} %", *held]


def _of_chart(plot: Chart, curves: Curves) -> Values:
    columns: list[tuple[str, dict[float, str]]] = []
    for line, values in zip(plot.lines, curves, strict=True):
        means = dict(zip(plot.places(len(values)), map(_mean, values), strict=True))
        columns.append((line.label, means))
        if line.printed:
            columns.append((f"{line.label}, {line.origin}", {place: _exact(value) for place, value in line.printed}))
    places = sorted({place for _, cells in columns for place in cells})
    names = plot.categories or [f"{place:g}" for place in places]
    rows = [(name, [cells.get(place, "") for _, cells in columns]) for name, place in zip(names, places, strict=True)]
    levels = [(level.label, _exact(level.value)) for level in plot.levels]
    return Values(plot.y_label, [plot.x_label, *(label for label, _ in columns)], rows, levels)


def _of_dots(plot: Dots, findings: Sequence[Compared]) -> Values:
    written = [(each.number.label, row(each)) for each in findings]
    rows = [(label, [f"{each.measured} {each.doubt}".rstrip(), each.printed]) for label, each in written]
    origins = dict.fromkeys(each.number.origin for each in findings)
    return Values(plot.axis, ["number", "measured", " or ".join(origins)], rows, [])


def _mean(measured: Interval | None) -> str:
    """Write a mean ± half of its interval; empty if it was not measured."""
    if measured is None:
        return ""
    digits = deserved(measured, max(0, SIGNIFICANT - before_the_point(measured["mean"])))
    return f"{grouped(measured['mean'], digits)} {doubt(measured, digits)}".rstrip()


def _exact(value: float) -> str:
    return grouped(value, decimals(value))
