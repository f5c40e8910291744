"""Plots of sweeps: figures over swept keys, against each other, over time, and their distributions."""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from pushout import _core
from pushout.answer import drawing
from pushout.answer.drawing import Look, band, capped, cross, frame, from_zero, label, legend, looks, paper, spread
from pushout.answer.frame import Pointed
from pushout.document import steps
from pushout.errors import QuestionError
from pushout.literals import Drawing
from pushout.names.port import ports
from pushout.quantity import CELL_BYTES, content, readable, shown
from pushout.stats import Interval, interval


def draw(result: Pointed, y: str, x: str | None, by: str | None, kind: Drawing | None) -> Any:
    """Draw a plot of this kind; see `SweepResult.plot`."""
    chosen = kind or ("cdf" if x is None else "line" if _is_swept(result, x) else "cloud")
    if chosen not in DRAWINGS:
        raise QuestionError(_core.unknown("kind of plot", chosen, list(DRAWINGS)))
    y, x, by = result.column(y), x and result.column(x), by and result.column(by)
    with paper() as (figure, grid):
        DRAWINGS[chosen](figure, grid[0][0], result, y, x, by)
        drawing.headed(figure, _heading(result))
    return figure


def _heading(result: Pointed) -> str:
    """Return the heading of what was swept: the title of the sweep, else that of its scenario."""
    scenario = result.manifest.get("scenario", {})
    return str(result.manifest.get("title") or scenario.get("title") or scenario.get("name", ""))


def _is_swept(result: Pointed, name: str) -> bool:
    names = list(result.columns)
    return name in names and names.index(name) < names.index("seed")


def _values(result: Pointed, name: str) -> list[Any]:
    """List the value of a swept column at every point."""
    if not _is_swept(result, name):
        raise QuestionError(
            f"{name} must be the same in all runs of a point; swept columns: {', '.join(result.swept()) or 'none'}"
        )
    first = {point: row for row, point in reversed(list(enumerate(result.columns.plain("point"))))}
    column = result.columns.plain(name)
    return [column[first[point]] for point in range(len(result.points))]


class _Series(NamedTuple):
    """Points drawn in one style."""

    name: str | None
    points: list[int]
    look: Look


def _series(result: Pointed, names: Sequence[str]) -> list[_Series]:
    """Make a series of every combination of values of these columns."""
    columns = [list(map(shown, _values(result, name))) for name in names]
    groups: dict[str, list[int]] = {}
    for point, values in enumerate(zip(*columns, strict=True) if columns else [()] * len(result.points)):
        groups.setdefault(", ".join(values), []).append(point)
    pairs = zip(groups.items(), looks(len(groups)), strict=True)
    return [_Series(name or None, points, look) for (name, points), look in pairs]


def _title(result: Pointed, names: Sequence[str]) -> str:
    """Name a series by as few columns as possible; the labels of a single axis need no name of the axis."""
    if len(names) == 1 and all(isinstance(value, str) for value in _values(result, names[0])) and "." not in names[0]:
        return ""
    last = [steps(name)[-1] for name in names]
    return ", ".join(last if len(set(last)) == len(last) else names)


def _rooms(result: Pointed, figure: str) -> list[tuple[float, str] | None]:
    """For an occupancy: the size and measure of its port's buffer at every point, if it was swept."""
    part, *below = steps(figure)
    if part == "ports" and len(below) > 1 and below[1].startswith("occupancy"):
        for name in result.swept():
            if steps(name) == ["port", below[0], "buffer"]:
                rooms = [content(str(value)) for value in _values(result, name)]
                return list(map(_in_cells, rooms)) if _is_of_cells(result, below[0]) else rooms
    return [None] * len(result.points)


def _is_of_cells(result: Pointed, port: str) -> bool:
    """Return whether a port of the scenario counts cells."""
    known = ports(result.manifest["scenario"]) if "scenario" in result.manifest else {}
    return port in known and known[port].is_cells


def _in_cells(room: tuple[float, str] | None) -> tuple[float, str] | None:
    """Convert an amount for a port that counts cells."""
    return (room[0] // CELL_BYTES, "cells") if room and room[1] == "bytes" else room


def _means(result: Pointed, name: str) -> list[Interval | None]:
    """Average a figure at every point; the interval of an occupancy ends at the buffer size."""
    pairs = zip(result.means(name), _rooms(result, name), strict=True)
    return [mean and capped(mean, room and room[0]) for mean, room in pairs]


def label_of(result: Pointed, name: str) -> str:
    """Label an axis with a column; with the measure of an occupancy, if it is the same at all points."""
    measures = {room and room[1] for room in _rooms(result, name)}
    measure = measures.pop() if len(measures) == 1 else None
    return f"{label(name)} ({measure})" if measure and not name.endswith("_s") else label(name)


def _factors_shown_by(result: Pointed, by: str | None, x: str | None = None) -> list[str]:
    """Choose the columns that make series: `by`, or as many swept columns besides `x` as necessary."""
    if by is not None:
        return [by]
    swept = result.swept()
    across = {x} if x in swept else {name for name in swept if x is not None and x.startswith(f"{name}_")}
    return result.telling([name for name in swept if name not in across])


def _needed(name: str | None, kind: str) -> str:
    if name is None:
        raise QuestionError(f"a plot of kind {kind} needs x" + (" and by, two swept columns" if kind == "heat" else ""))
    return name


def _lines(figure: Any, axes: Any, result: Pointed, y: str, x: str | None, by: str | None) -> None:
    x = _needed(x, "line")
    places, names = _values(result, x), _factors_shown_by(result, by, x)
    means = _means(result, y)
    if any(isinstance(place, str) for place in places):
        numbers = [name for name in result.columns if name.startswith(f"{x}_")]
        instead = f"use {numbers[0]}" if numbers else f"use by={x!r} to draw a series for each value"
        raise QuestionError(f"the column {x} must hold numbers; {instead}")
    all_series, drawn = _series(result, names), []
    for series in all_series:
        known = {places[point]: mean for point in series.points if (mean := means[point]) and places[point] is not None}
        if by is not None and len({places[point] for point in series.points}) < len(series.points):
            raise QuestionError(
                f"by={by!r} leaves several points with the same {x}; leave out by to give each a series"
            )
        drawn.append([(place, known[place]) for place in sorted(known)])
    labels = drawing.named_alike([series.name or "" for series in all_series], drawn)
    intervals, count = "band", sum(map(bool, drawn))
    for series, label_, curve in zip(all_series, labels, drawn, strict=True):
        if curve:
            place, means_ = (all_series.index(series), count), [mean for _, mean in curve]
            intervals = band(axes, [at for at, _ in curve], means_, series.look, label_ or None, place=place)
    spread(axes, [place for place in places if place is not None])
    from_zero(axes, [mean["mean"] for mean in means if mean])
    frame(axes, label(x), label_of(result, y))
    legend(figure, axes, intervals, _title(result, names))


def _cloud(figure: Any, axes: Any, result: Pointed, y: str, x: str | None, by: str | None) -> None:
    x = _needed(x, "cloud")
    across, up = _means(result, x), _means(result, y)
    names = [by] if by else result.swept()[:1]
    for series in _series(result, names):
        for point in series.points:
            one, other = across[point], up[point]
            if one and other:
                cross(axes, one, other, series.look, series.name)
    drawing.not_below_zero(axes, [mean for mean in across if mean], [mean for mean in up if mean])
    frame(axes, label_of(result, x), label_of(result, y))
    legend(figure, axes, "bar", _title(result, names))


def _heat(figure: Any, axes: Any, result: Pointed, y: str, x: str | None, by: str | None) -> None:
    x, by = _needed(x, "heat"), _needed(by, "heat")
    columns, rows = _values(result, x), _values(result, by)
    across, up = list(dict.fromkeys(columns)), list(dict.fromkeys(rows))
    cells: list[list[list[float]]] = [[[] for _ in across] for _ in up]
    means = [mean and mean["mean"] for mean in result.means(y)]
    title, factor = readable(label_of(result, y), max((abs(mean) for mean in means if mean is not None), default=0.0))
    for column, row, mean in zip(columns, rows, means, strict=True):
        if mean is not None:
            cells[up.index(row)][across.index(column)].append(factor * mean)
    shades = [[sum(cell) / len(cell) if cell else float("nan") for cell in row] for row in cells]
    image = axes.imshow(shades, cmap="cividis", aspect="auto", origin="lower")
    _write_values(axes, shades, middle=sum(image.get_clim()) / 2)
    axes.set_xticks(range(len(across)), map(shown, across), rotation=30, ha="right")
    axes.set_yticks(range(len(up)), map(shown, up))
    axes.set_xlabel(label(x))
    axes.set_ylabel(label(by))
    together = max(len(cell) for row in cells for cell in row)
    means_of = f",\nmeans of up to {together} points" if together > 1 else ""
    figure.colorbar(image, ax=axes, label=f"{title}{means_of}")


def _write_values(axes: Any, shades: Sequence[Sequence[float]], middle: float) -> None:
    """Write the value into each field, with dark letters on the lighter half of the scale."""
    for row, values in enumerate(shades):
        for column, value in enumerate(values):
            ink = DARK if value > middle else LIGHT
            axes.text(column, row, f"{value:.3g}", ha="center", va="center", color=ink, fontsize=7)


DARK, LIGHT = "#000000", "#fefefe"
"""Inks on a field of colour; neither is a colour of pages, so both stay on a dark page."""


def _cdf(figure: Any, axes: Any, result: Pointed, y: str, x: str | None, by: str | None) -> None:
    if x is not None:
        raise QuestionError("x cannot be used with a distribution")
    result.is_list(y)  # either is fine, if it has numbers
    names = _factors_shown_by(result, by)
    for series in _series(result, names):
        values = sorted(_entries(result, y, series.points))
        shares = [(index + 1) / len(values) for index in range(len(values))]
        axes.step(values, shares, where="post", label=series.name, **drawing.line(series.look, len(values)))
    axes.set_ylim(0, drawing.WHOLE)
    if axes.dataLim.x0 >= 0:
        axes.set_xlim(left=0)
    share = "share of values ≤ x, all runs" if "*" in y else "share of runs ≤ x"
    frame(axes, label_of(result, y), share)
    legend(figure, axes, title=_title(result, names))


def _entries(result: Pointed, name: str, points: Sequence[int]) -> list[float]:
    """Yield every number of a column at some points, including those in lists."""
    found = [value for point in points for value in result.of_point(point).plain(name) if value is not None]
    return [entry for value in found for entry in (value if isinstance(value, list) else [value])]


def _time(figure: Any, axes: Any, result: Pointed, y: str, x: str | None, by: str | None) -> None:
    if x is not None:
        raise QuestionError("x cannot be used with a plot over time")
    if not result.is_list(y):
        raise QuestionError(f"{y} must be a list over time, not a single figure of every run")
    head, lowest = y.rsplit(".", 1)[0], list[float]()
    if f"{head}.step_s" not in result.columns:
        raise QuestionError(f"figures must include {head}.start_s and {head}.step_s to draw {y} over time")
    names, rooms, intervals = _factors_shown_by(result, by), _rooms(result, y), "band"
    all_series = _series(result, names)
    for index, series in enumerate(all_series):
        rows = result.of_point(series.points[0])
        start, step = (float(rows[f"{head}.{key}"][0]) for key in ("start_s", "step_s"))
        curves = _by_seed(result, y, series.points)
        held = [rooms[point] for point in series.points]
        most = max(room[0] for room in held if room) if all(held) else None
        means = [capped(interval(column), most) for column in zip(*curves, strict=True)]
        times = [start + number * step for number in range(len(means))]
        intervals = band(axes, times, means, series.look, series.name, place=(index, len(all_series)))
        axes.set_xlim(min(times), max(times))
        lowest.extend(mean["mean"] for mean in means)
    from_zero(axes, lowest)
    frame(axes, "time (s)", label_of(result, y))
    legend(figure, axes, intervals, _title(result, names))


def _by_seed(result: Pointed, name: str, points: Sequence[int]) -> list[list[float]]:
    """Average the curves of these points for each seed that all of them have.

    Runs of one seed share random numbers, so seeds are independent, but the runs of all points are not.
    """
    found: dict[int, list[list[float]]] = {}
    for point in points:
        rows = result.of_point(point)
        for seed, curve in zip(rows.plain("seed"), rows.plain(name), strict=True):
            found.setdefault(seed, []).append(curve)
    shared = [curves for curves in found.values() if len(curves) == len(points)]
    return [[fmean(entries) for entries in zip(*curves, strict=True)] for curves in shared]


DRAWINGS: dict[Drawing, Callable[..., None]] = {
    "line": _lines,
    "cloud": _cloud,
    "heat": _heat,
    "cdf": _cdf,
    "time": _time,
}
"""The function for each kind of plot."""
