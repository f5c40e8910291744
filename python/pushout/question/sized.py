"""The answers of a search for a size, with their figure, and what their ends say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pushout.answer.frame import Framed, labelled
from pushout.document import Document
from pushout.names.computed import LOSS
from pushout.quantity import brief
from pushout.question import search
from pushout.question.goal import Goal, Tried
from pushout.question.search import SearchResult
from pushout.question.space import Space
from pushout.stats import Interval
from pushout.warning import HasWarnings

LOSING = 1e-3
"""From this share of lost units on, an answer mentions it unless a goal speaks of losses."""


@dataclass(frozen=True)
class Answer:
    """The answer for one policy; `rivals` are values that may be as good as the best.

    `beside` is a note about another policy that also decides at the port.
    """

    label: str
    value: float | None
    found: SearchResult
    sizes: dict[str, float]
    tried: list[Tried] = field(repr=False)
    rivals: list[float] = field(default_factory=list)
    beside: str = ""
    largest: bool = False
    """Whether the search was for the largest value."""
    loss: Interval | None = None
    """The share of the units that is lost at the answer; not measured if a goal speaks of losses."""

    @property
    def loses(self) -> str:
        """Return the share that the answer loses, in words; empty if it is at most `LOSING`."""
        share = self.loss["mean"] if self.loss else 0.0
        return f"{100 * share:.2g} % lost" if share > LOSING else ""

    @property
    def sure(self) -> bool:
        """Return whether the runs make sure the ends of the bracket, or which value is best."""
        return not self.rivals and all(end.sure for end in self.ends)

    @property
    def ends(self) -> list[Tried]:
        """List the values next to the answer, which decide whether it is sure."""
        found = self.found
        return [end for end in (found.best, found.below, found.opposed) if end is not None]

    @property
    def span(self) -> tuple[float | None, float | None]:
        """Return the range in which the runs place the answer: the sure ends, or the rivals."""
        if self.found.method == "bisect":
            if self.largest:
                low, high = search.between(map(search.turned, self.tried))
                return (None if high is None else -high, None if low is None else -low)
            return search.between(self.tried)
        values = [*self.rivals, *([] if self.value is None else [self.value])]
        return (min(values), max(values)) if self.rivals else (None, None)


@dataclass(frozen=True, eq=False, repr=False)
class SizeResult(HasWarnings, Framed):
    """The result of a search: an answer for every policy, and all values tried."""

    document: Document
    """As printed by `pushout size --json`."""
    goals: tuple[Goal, ...]
    over: str
    space: Space
    us_per_unit: float | None
    answers: list[Answer]
    pace: str = ""
    """What the rate is, in words, at which sizes are converted to time."""

    def __getitem__(self, label: str) -> Answer:
        """Find the answer of a policy by its label, as in `found["codel"].value`."""
        return labelled(label, {answer.label: answer for answer in self.answers})

    __iter__ = None
    """Raise `TypeError`: `answers` is the sequence."""

    def _brief(self) -> str:
        found = ", ".join(map(self._needs, self.answers))
        return f"{self.document['scenario']}: {self.wanted} over {self.over}: {found}; {super()._brief()}"

    @property
    def goal(self) -> Goal:
        """The only goal, or the first of several."""
        return self.goals[0]

    @property
    def largest(self) -> bool:
        """Return whether the answers are the largest values that meet the goals."""
        return any(answer.largest for answer in self.answers)

    @property
    def wanted(self) -> str:
        """Return the goals in words."""
        return " and ".join(goal.text for goal in self.goals)

    def _needs(self, answer: Answer) -> str:
        """Name a policy and its answer; an open one is marked as in the table."""
        needs = "no value suffices" if answer.value is None else brief(self.space.text(answer.value))
        needs = needs if answer.sure else f"{needs} ?"
        needs = f"{needs}, {answer.loses}" if answer.loses else needs
        return f"{answer.label}: {needs}" if answer.label else needs

    def plot(self) -> Any:
        """Draw every value of the search with its interval, the goals, and the answers at their curves.

        An answer that the runs leave open has a `?`, and its range is shaded. Every goal has a panel. A figure that
        spans decades has a logarithmic axis, on which the values near the goal can be read.
        """
        from pushout.answer import drawing

        with drawing.paper(rows=len(self.goals)) as (figure, grid):
            alike = drawing.named_alike([answer.label for answer in self.answers], [a.tried for a in self.answers])
            for number, (axes,) in enumerate(grid):
                self._draw_goal(axes, number, alike)
            if self.us_per_unit is not None:
                self._draw_time(grid[0][0], self.us_per_unit)
            drawing.legend(figure, grid[0][0], "bar")
            drawing.headed(figure, str(self.document.get("title") or self.document.get("scenario", "")))
        return figure

    def _draw_goal(self, axes: Any, number: int, labels: Sequence[str]) -> None:
        """Draw the figure of one goal over the values of all policies."""
        from pushout.answer import drawing

        goal = self.goals[number]
        parts = [[point.of(number) for point in answer.tried] for answer in self.answers]
        rows = zip(self.answers, labels, parts, drawing.looks(len(self.answers)), strict=True)
        for answer, label, tried, look in rows:
            self._draw_answer(axes, replace(answer, label=label), tried, look)
        means = [point.mean["mean"] for tried in parts for point in tried if point.mean]
        if goal.level is not None:
            axes.axhline(goal.level, color=drawing.GREY, linestyle=":", linewidth=1, label="goal")
        if self.space.log:
            drawing.log(axes)
        drawing.upward(axes, means, goal.level)
        for answer, tried, look in zip(self.answers, parts, drawing.looks(len(self.answers)), strict=True):
            self._note(axes, answer, tried, look, goal.level)
        over = drawing.label(self.over)
        across = f"{over} ({self.space.unit})" if self.space.unit else over
        drawing.frame(axes, across, drawing.label(goal.path if goal.path == LOSS else goal.column))

    def _draw_answer(self, axes: Any, answer: Answer, points: Sequence[Tried], look: Mapping[str, Any]) -> None:
        """Draw the values tried for one policy, judged for one goal, and its answer."""
        from pushout.answer import drawing

        name, span = self._needs(answer), None if answer.sure else self._span(answer)
        if span is not None:
            name = f"{name} ({' to '.join(brief(self.space.text(end)) for end in span)})"
            axes.axvspan(*span, color=look["color"], alpha=0.12, linewidth=0, zorder=0, label="range left open")
        tried = sorted(points, key=lambda point: point.value)
        known = [(point.value, point.mean) for point in tried if point.mean]
        mark = {"color": look["color"], "fmt": look["marker"], "capsize": 2.5, "ms": 4.5}
        for place, mean in known:
            axes.errorbar(place, mean["mean"], yerr=drawing.bar(mean), label=name, **mark)
        places, means = [place for place, _ in known], [mean["mean"] for _, mean in known]
        axes.plot(places, means, color=look["color"], lw=0.7)
        if answer.value is not None:
            # wide and pale, behind the interval at this value
            axes.axvline(answer.value, color=look["color"], linewidth=4, alpha=0.3, zorder=0.5, label="answer")

    def _note(
        self, axes: Any, answer: Answer, points: Sequence[Tried], look: Mapping[str, Any], goal: float | None
    ) -> None:
        """Write an answer at its point of the curve, not across the line of the goal."""
        from pushout.answer import drawing

        for point in points:
            if point.value == answer.value and point.mean:
                text = brief(self.space.text(point.value)) + ("" if answer.sure else " ?")
                drawing.noted(axes, (point.value, point.mean["mean"]), text, look, goal)

    def _span(self, answer: Answer) -> tuple[float, float]:
        """Return the range of an answer; an open end is that of the search."""
        low, high = answer.span
        return self.space.low if low is None else low, self.space.high if high is None else high

    def _draw_time(self, axes: Any, factor: float) -> None:
        """Add an upper axis with the sizes as time at the rate of the line or of its shaper."""
        from pushout.answer import drawing

        factor /= 1e6
        above = axes.secondary_xaxis("top", functions=(lambda value: value * factor, lambda value: value / factor))
        if self.space.log:
            drawing.log_ticks(above.xaxis, axes.get_xlim())
        drawing.titled(above.xaxis, f"time at {self.pace} (s)", axes.get_xlim()[1] * factor)


def binding(goals: Sequence[Goal], answer: Answer) -> list[Goal]:
    """List the goals that the value next to the answer misses: without them the answer would be smaller (or larger).

    Without an answer they are those that exclude each other, or that no value meets.
    """
    ends = [end for end in (answer.found.below, answer.found.opposed) if end is not None]
    return [goal for number, goal in enumerate(goals) if not all(end.of(number).meets for end in ends)]


def is_falling(answer: Answer) -> bool:
    """Return whether the smallest value tried meets the goals and a larger one misses them."""
    tried = sorted(answer.tried, key=lambda point: point.value)
    return tried[0].meets and not all(point.meets for point in tried)


def beyond_end(answer: Answer, goals: Sequence[Goal]) -> Literal["from", "to"]:
    """Return the end of the range beyond which a missed goal is nearer: the lower one if the figure is worse above."""
    number = goals.index(missed[0]) if (missed := binding(goals, answer)) else 0
    goal = goals[number]
    known = {point.value: mean for point in answer.tried if (mean := point.of(number).mean)}
    if goal.level is None or len(known) < 2:
        return "to"
    low, high = (mean["ci95"] or [mean["mean"]] for mean in (known[min(known)], known[max(known)]))
    is_nearer_below = max(low) < min(high) if goal.relation == "<=" else min(low) > max(high)
    return "from" if is_nearer_below else "to"
