"""A chapter of the report: the outcome of a study and its figures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from pushout.study.charts import Chart, Dots
from pushout.study.outcome import Outcome, together
from pushout.study.plot import Drawing, chart, dots, reach, shared, spread

Plot = Dots | Chart


@dataclass(frozen=True)
class Chapter:
    """A study after running and drawing: its plots in order, and one figure per varied assumption."""

    outcome: Outcome
    plots: list[Drawing]
    spreads: list[Drawing]


ABREAST = 3
"""Number of plots side by side that share one figure of the paper."""


def rows(plots: Sequence[Plot]) -> list[list[Plot]]:
    """Group consecutive plots that belong to the same figure of the paper."""
    return [list(run) for _, run in groupby(plots, key=lambda plot: plot.source or plot.title)]


def draw(outcome: Outcome) -> Chapter:
    """Draw the figures of a study."""
    by_id = {finding.number.id: finding for finding in outcome.findings}
    plots: list[Drawing] = []
    for run in rows(outcome.study.plots):
        curves = outcome.curves[len(plots) : len(plots) + len(run)]
        charts = [(plot, lines) for plot, lines in zip(run, curves, strict=True) if isinstance(plot, Chart)]
        alike = len({plot.y_label for plot, _ in charts}) == 1
        limits = shared([reach(plot, lines) for plot, lines in charts]) if alike else None
        for plot, lines in zip(run, curves, strict=True):
            if isinstance(plot, Dots):
                drawing = dots(plot.title, plot.axis, [by_id[number] for number in plot.numbers if number in by_id])
            else:
                drawing = chart(plot, lines, limits, narrow=len(run) == ABREAST)
            plots.append(replace(drawing, note=plot.note))
    return Chapter(outcome, plots, [spread(weighing) for weighing in outcome.weighings])


@dataclass(frozen=True)
class Reproduction:
    """All chosen studies."""

    chapters: list[Chapter]
    wall_s: float

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcome of each study."""
        return [chapter.outcome for chapter in self.chapters]

    @property
    def failed(self) -> bool:
        """Return whether a number is outside its tolerance or a claim does not hold."""
        return any(finding.verdict != "within" for outcome in self.outcomes for finding in outcome.findings) or any(
            not judgement.holds for outcome in self.outcomes for judgement in outcome.judgements
        )

    def beside(self, others: Iterable[Chapter]) -> "Reproduction":
        """Add other studies, in the order of their ids."""
        return replace(self, chapters=sorted([*self.chapters, *others], key=lambda each: each.outcome.study.id))

    def json(self) -> dict[str, Any]:
        """The document of `reproduce --json`."""
        studies = [outcome.json() for outcome in self.outcomes]
        return {"studies": studies, "score": together(self.outcomes), "wall_s": self.wall_s}
