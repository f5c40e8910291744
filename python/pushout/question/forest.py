"""Forest plots: differences from a baseline with their intervals, a row for each policy, sorted."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from pushout.answer import drawing
from pushout.answer.drawing import Look
from pushout.quantity import percent, readable
from pushout.stats import Interval

MOST_NAMED = 3
"""Policies that a message names one by one; of more it names the two ends."""

ROW_IN = 0.3
"""Height of a row of a forest (inches)."""


class Effect(NamedTuple):
    """What a policy changes about one figure."""

    name: str
    difference: Interval
    look: Look
    is_exact: bool = False
    """Whether nothing is drawn at random, so that the difference needs no interval."""

    @property
    def is_clear(self) -> bool:
        """Return whether the difference is not zero: it is exact, or its interval excludes zero."""
        ends = self.difference["ci95"]
        if self.is_exact or ends is None:
            return self.is_exact and self.difference["mean"] != 0
        return ends[0] > 0 or ends[1] < 0


class Forest(NamedTuple):
    """One figure: its label with the unit in brackets, the baseline with its mean, and the effect of each policy."""

    label: str
    baseline: str
    mean: float
    effects: Sequence[Effect]

    @property
    def is_clear(self) -> bool:
        """Return whether any policy clearly differs from the baseline."""
        return any(effect.is_clear for effect in self.effects)

    @property
    def size(self) -> float:
        """Return the largest clear difference as a share of the baseline, infinite where that is zero."""
        sizes = [abs(effect.difference["mean"]) for effect in self.effects if effect.is_clear]
        return max(sizes, default=0.0) / abs(self.mean) if self.mean else float("inf")

    @property
    def what(self) -> str:
        """The name of the figure, without its unit."""
        return self.label.removesuffix(self.bracket)

    @property
    def bracket(self) -> str:
        """The unit at the end of the label, in brackets; empty without one."""
        found = UNIT.search(self.label)
        return found[0] if found else ""

    def said(self) -> str:
        """Name the policies that clearly differ, and by how much."""
        clear = sorted((each for each in self.effects if each.is_clear), key=lambda each: -each.difference["mean"])
        if len(clear) <= MOST_NAMED:
            return f"{self.what}: {', '.join(f'{effect.name} {self._share(effect)}' for effect in clear)}"
        ends = (f"{self._share(effect)} ({effect.name})" for effect in (clear[-1], clear[0]))
        return f"{self.what}: from {' to '.join(ends)}"

    def _share(self, effect: Effect) -> str:
        """Write a difference as a share of the baseline, or by itself if the baseline is zero."""
        mean = effect.difference["mean"]
        side = "more" if mean > 0 else "less"
        return f"{percent(abs(mean / self.mean))} {side}" if self.mean else f"{abs(mean):.2g} {side}"


WORTH_A_WORD = 0.01
"""Share of the baseline from which a difference is named in a title beside larger ones."""

FEW_TICKS = 5
"""Intervals between ticks at most, so that numbers such as −0.0075 do not touch in a third of a page."""

UNIT = re.compile(r" \((s|b/s|bytes|cells|memory cells|packets|%)\)$")
"""A unit at the end of a label; other brackets belong to the name, as in "fairness index (Jain)"."""


def message(forests: Sequence[Forest]) -> str:
    """State the clear differences of all figures; those below `WORTH_A_WORD` only if there are no others."""
    baseline = forests[0].baseline
    clear = [forest for forest in forests if forest.is_clear]
    if said := [forest for forest in clear if forest.size >= WORTH_A_WORD] or clear:
        return f"Compared with {baseline}: {'; '.join(forest.said() for forest in said)}"
    *first, last = (forest.what for forest in forests)
    return f"No clear difference from {baseline} in {' or '.join(filter(None, (', '.join(first), last)))}"


def order(forests: Sequence[Forest]) -> list[str]:
    """List the policies from the least to the greatest difference of the first figure that has each."""
    sizes = [sorted(forest.effects, key=lambda effect: effect.difference["mean"]) for forest in forests]
    return list(dict.fromkeys(effect.name for effects in sizes for effect in effects))


def panel(axes: Any, forest: Forest, names: Sequence[str], *, named: bool) -> None:
    """Draw the differences of one figure in rows of this order, from below; hollow marks are not clear."""
    axes.axvline(0, color=drawing.GREY, linewidth=0.9)
    for effect in forest.effects:
        fill = effect.look["color"] if effect.is_clear else "white"
        mark = {"color": effect.look["color"], "marker": effect.look["marker"], "markerfacecolor": fill}
        value = effect.difference
        axes.errorbar(value["mean"], names.index(effect.name), xerr=drawing.bar(value), capsize=2.5, ms=5.5, **mark)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_yticks(range(len(names)), names if named else [""] * len(names))
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.locator_params(axis="x", nbins=FEW_TICKS)
    title = f"{forest.what},\nminus {forest.baseline}{forest.bracket}"
    drawing.titled(axes.xaxis, title, max(map(abs, axes.get_xlim())))
    axes.set_title(f"{forest.baseline}: {_mean(forest)}", fontsize=drawing.LETTER_PT, loc="left")


def _mean(forest: Forest) -> str:
    """Write the mean of the baseline with its unit."""
    title, factor = readable(forest.bracket.strip(), abs(forest.mean))
    return f"{forest.mean * factor:.4g} {title.strip('()')}".strip()
