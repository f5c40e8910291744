"""A study as the report has it: what was found, and the drawings of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from pushout.study.charts import Chart, Dots
from pushout.study.outcome import Outcome, total
from pushout.study.plot import Drawing, chart, dots, reach, shared, spread

Plot = Dots | Chart


@dataclass(frozen=True)
class Chapter:
    """A study that has been run and drawn: its plots in their order, and one drawing per assumption that is varied."""

    outcome: Outcome
    plots: list[Drawing]
    spreads: list[Drawing]


ABREAST = 3
"""So many plots of one figure of a paper stand side by side."""


def rows(plots: Sequence[Plot]) -> list[list[Plot]]:
    """Plots that follow each other and belong to one figure of the paper, together."""
    return [list(run) for _, run in groupby(plots, key=lambda plot: plot.source or plot.title)]


def draw(outcome: Outcome) -> Chapter:
    """Make the drawings of a study."""
    by_id = {finding.number.id: finding for finding in outcome.findings}
    plots: list[Drawing] = []
    for run in rows(outcome.study.plots):
        curves = outcome.curves[len(plots) : len(plots) + len(run)]
        charts = [(plot, lines) for plot, lines in zip(run, curves, strict=True) if isinstance(plot, Chart)]
        alike = len({plot.y_label for plot, _ in charts}) == 1
        limits = shared([reach(plot, lines) for plot, lines in charts]) if alike else None
        for plot, lines in zip(run, curves, strict=True):
            if isinstance(plot, Dots):
                drawing = dots(plot.title, plot.axis, [by_id[number] for number in plot.numbers])
            else:
                drawing = chart(plot, lines, limits, narrow=len(run) == ABREAST)
            plots.append(replace(drawing, note=plot.note))
    return Chapter(outcome, plots, [spread(weighing) for weighing in outcome.weighings])


@dataclass(frozen=True)
class Reproduction:
    """All studies that were asked for."""

    chapters: list[Chapter]
    wall_s: float

    @property
    def outcomes(self) -> list[Outcome]:
        """What each of them found."""
        return [chapter.outcome for chapter in self.chapters]

    @property
    def failed(self) -> bool:
        """Whether a number is outside its tolerance or a claim does not hold."""
        return any(finding.verdict != "within" for outcome in self.outcomes for finding in outcome.findings) or any(
            not judgement.holds for outcome in self.outcomes for judgement in outcome.judgements
        )

    def beside(self, others: Iterable[Chapter]) -> "Reproduction":
        """The same together with other studies, in the order of their ids."""
        return replace(self, chapters=sorted([*self.chapters, *others], key=lambda each: each.outcome.study.id))

    def json(self) -> dict[str, Any]:
        """The document of `reproduce --json`."""
        studies = [outcome.json() for outcome in self.outcomes]
        return {"studies": studies, "score": total(self.outcomes), "wall_s": self.wall_s}
