"""What panels have in common: how they are returned, and curves over time with their bands."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pushout.answer import drawing
from pushout.picture import series
from pushout.picture.series import Curve, Run


class Doubts(NamedTuple):
    """Meaning of the intervals of a panel, and their form: "band" or "bar"."""

    show: str = ""
    drawn: str = ""


class Drawn(NamedTuple):
    """One panel: the titles of its axes, the function that draws it, and its own title, if it has one."""

    y: str
    x: str
    draw: Callable[[Any, int], Doubts]
    """Draws the panel on axes with curves of this many points, and names what its bands or bars show, if any."""
    title: str = ""
    names: Sequence[str] = ()
    """Labels at 1, 2, … of the axis to the right instead of numbers."""
    is_map: bool = False
    """Whether it shows places, so that its axes mean nothing."""

    @property
    def is_over_time(self) -> bool:
        """True if it shows the course of the run."""
        return self.x == TIME


TIME = "time (s)"


def named(run: Run, name: str, runs: Sequence[Run], names: Sequence[str]) -> str:
    """Return the name of a series in a legend: the run, the port or flow, or both, if there are several."""
    if len(runs) == 1:
        return name
    return f"{run.name}, {name}" if len(names) > 1 else run.name


def over_time(axes: Any, curves: Sequence[tuple[str, Curve]], looks: Sequence[drawing.Look] | None = None) -> Doubts:
    """Draw lines over time with their bands, and of the ranges of several lines only the upper ends."""
    found = Doubts()
    for index, ((name, curve), look) in enumerate(zip(curves, looks or drawing.looks(len(curves)), strict=True)):
        if curve.band and curve.band_is == series.RANGE:
            found = _range(axes, curve.times, curve.band, look, len(curves))
        elif curve.band:
            drawn = drawing.doubt(axes, curve.times, curve.mean, curve.band, look, (index, len(curves)))
            found = Doubts(curve.band_is, drawn)
        axes.plot(curve.times, curve.mean, color=look["color"], linestyle=look["linestyle"], label=name)
    return found


def _range(axes: Any, times: Any, bounds: tuple[Any, Any], look: drawing.Look, lines: int) -> Doubts:
    """Draw the least and the greatest value of each stretch of time as a column, so that short peaks have a width."""
    low, high = bounds
    if lines > 1:
        axes.step(times, high, where="mid", color=look["color"], linewidth=0.4, alpha=0.7)
        return Doubts()
    axes.fill_between(times, low, high, step="mid", facecolor=(look["color"], 0.3), linewidth=0)
    return Doubts(series.RANGE, "band")


def alone(curve: Curve) -> Curve:
    """A curve without its range: what is itself a mean over windows, or moves in steps, has none worth showing."""
    return Curve(curve.times, curve.mean) if curve.band_is == series.RANGE else curve
