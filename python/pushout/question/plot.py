"""Drawings of answers, as one would put them in a paper: units on axes, 95 % bands, colours that all can tell apart."""

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import TYPE_CHECKING, Any

from pushout.document import steps
from pushout.question import QuestionError
from pushout.stats import Interval, interval
from pushout.study.plot import COLOURS, DASHES, FAINT, INK, MARKERS, SERIES, style

if TYPE_CHECKING:
    from pushout.question.compare import CompareResult
    from pushout.question.search import Space
    from pushout.question.size import Answer, SizeResult
    from pushout.question.sweep import SweepResult

GREY, LIGHT = COLOURS[INK][1], COLOURS[FAINT][1]
PALETTE = [COLOURS[colour][1] for colour in SERIES]

INTERVAL = "95 % interval"

DPI = 200
WIDTH_IN, HEIGHT_IN = 5.2, 3.6
LETTER_PT, MARK_PT, ROW_PT = 8.0, 40.0, 12.5
"""Letters of a legend; what an entry takes beside its name, and its height (points)."""

UNITS = {"_bps": "Mb/s", "_s": "s", "_cells": "cells", "_bytes": "bytes", "_percent": "%", "_us": "µs"}
"""Units of columns by the endings of their names; rates are drawn in millions, see `_millions`."""

TITLES = {
    "goodput_ratio": "goodput ÷ ideal",
    "fairness_jain": "fairness index (Jain)",
    "fairness_mean_deviation": "fairness φ (mean deviation)",
    "retransmission_ratio": "retransmitted ÷ sent segments",
    "packet_throughput": "packet throughput",
    "loss_ratio": "lost ÷ arrived units",
    "delay_s": "mean delay in the port (s)",
}


def label(name: str) -> str:
    """What an axis says of a column, with the unit if the name tells it."""
    if name in TITLES:
        return TITLES[name]
    part, *below = steps(name)
    if len(below) > 1 and (part in ("ports", "circuits") or below[0] == "*"):  # flows.transport.mss is a key
        what, bracket, unit = label(".".join(below[1:])).partition(" (")
        return f"{what} of {part if below[0] == '*' else below[0]}{bracket}{unit}"
    for ending, unit in UNITS.items():
        if name.endswith(ending):
            return f"{name.removesuffix(ending).replace('_', ' ')} ({unit})"
    return name.replace("_", " ")


def images(figure: Any) -> dict[str, bytes]:
    """A figure as SVG and as PNG; the same figure gives the same octets."""
    import matplotlib as mpl

    found = {}
    with mpl.rc_context(_style()):
        for kind, metadata in (("svg", ("Creator", "Date", "Format", "Type")), ("png", ("Software",))):
            data = io.BytesIO()
            figure.savefig(data, format=kind, dpi=DPI, metadata=dict.fromkeys(metadata))
            found[kind] = data.getvalue()
    return found


def _style() -> Any:
    """The style of all drawings, on white paper."""
    paper = dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "white")
    plain = {key: COLOURS[value][1] if value in COLOURS else value for key, value in style("answer").items()}
    return {**plain, **paper}


@contextmanager
def _figure(columns: int = 1, rows: int = 1, **ratios: Sequence[float]) -> Iterator[tuple[Any, Any]]:
    """An empty figure and its axes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_style()):
        figure = Figure(figsize=(WIDTH_IN * columns, HEIGHT_IN * rows), layout="constrained")
        yield figure, figure.subplots(rows, columns, squeeze=False, gridspec_kw=ratios)


def _looks(count: int) -> list[dict[str, Any]]:
    """Colour, marker and line of each of several series: no two alike, also without colours."""
    colours, markers = cycle(PALETTE), cycle(MARKERS)
    return [
        {"color": next(colours), "marker": next(markers), "linestyle": DASHES[index % len(DASHES)]}
        for index in range(count)
    ]


def _bounds(value: Interval) -> tuple[float, float]:
    low, high = value["ci95"] or [value["mean"]] * 2
    return low, high


def _cross(axes: Any, x: Interval, y: Interval, look: Mapping[str, Any], name: str | None) -> None:
    """A point with its two intervals."""
    errors = {}
    for side, value in (("xerr", x), ("yerr", y)):
        low, high = _bounds(value)
        errors[side] = [[value["mean"] - low], [high - value["mean"]]]
    mark = {"color": look["color"], "marker": look["marker"], "linestyle": "none", "ms": 5, "capsize": 2.5}
    axes.errorbar(x["mean"], y["mean"], **errors, **mark, label=name)


def _band(
    axes: Any, xs: Sequence[float], values: Sequence[Interval], look: Mapping[str, Any], name: str | None
) -> None:
    """Means with their intervals as a band; the points are marked if there are few."""
    axes.fill_between(xs, *zip(*map(_bounds, values), strict=True), color=look["color"], alpha=0.2, linewidth=0)
    marker = look["marker"] if len(xs) <= 20 else ""
    line = {"color": look["color"], "linestyle": look["linestyle"], "marker": marker, "ms": 4, "linewidth": 1.3}
    axes.plot(xs, [value["mean"] for value in values], **line, label=name)


def _frame(axes: Any, x: str, y: str, *, grid: str = "both") -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(axis=grid)
    for axis, name in ((axes.xaxis, x), (axes.yaxis, y)):
        if name.endswith(f"({UNITS['_bps']})"):
            _millions(axis)


def _millions(axis: Any) -> None:
    """Rates are kept in b/s and named in Mb/s."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1e6:g}"))


def _from_zero(axes: Any, means: Sequence[float]) -> None:
    """An axis upwards from zero, for what is never negative; of bands that reach below, the rest is cut off."""
    if min(means, default=0.0) >= 0:
        axes.set_ylim(bottom=0)


def _log(axes: Any) -> None:
    """A logarithmic axis with plain numbers at 1, 2 and 5."""
    axes.set_xscale("log")
    _ticks(axes.xaxis)


def _ticks(axis: Any) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}".replace(",", " ")))
    axis.set_minor_formatter(NullFormatter())


def _legend(figure: Any, axes: Any, *, bands: bool = False, bars: bool = False) -> None:
    handles, labels = axes.get_legend_handles_labels()
    _listed(figure, dict(zip(labels, handles, strict=True)) | _interval(axes, bands=bands, bars=bars))


def _interval(axes: Any, *, bands: bool = False, bars: bool = False) -> dict[str, Any]:
    """What a band or a bar is, for the legend."""
    from matplotlib.patches import Patch

    if bands:
        return {INTERVAL: Patch(facecolor=GREY, alpha=0.2)}
    return (
        {INTERVAL: axes.errorbar([math.nan], [0.0], yerr=[0.0], fmt="none", ecolor=GREY, capsize=2.5)} if bars else {}
    )


def _listed(figure: Any, handles: Mapping[str, Any], **options: Any) -> None:
    """A legend above, to be read row by row; the figure grows by what many rows of it take."""
    if not handles:
        return
    from matplotlib.textpath import TextPath

    width = MARK_PT + max(TextPath((0, 0), name, size=LETTER_PT).get_extents().width for name in handles)
    most = max(1, int(72 * figure.get_figwidth() / width))
    rows = math.ceil(len(handles) / most)
    columns = math.ceil(len(handles) / rows)
    figure.set_figheight(figure.get_figheight() + ROW_PT / 72 * max(0, rows - 2))
    names = [name for column in range(columns) for name in list(handles)[column::columns]]
    ordered = [handles[name] for name in names]
    figure.legend(ordered, names, loc="outside upper left", ncols=columns, frameon=False, fontsize=LETTER_PT, **options)


def _keys(figure: Any, axes: Any, names: Sequence[str], looks: Sequence[Mapping[str, Any]]) -> None:
    """A legend of markers and lines together, for series that appear as both."""
    from matplotlib.lines import Line2D

    handles: dict[str, Any] = {name: Line2D([], [], ms=5, **look) for name, look in zip(names, looks, strict=True)}
    _listed(figure, handles | _interval(axes, bands=True), handlelength=3)


# --- compare


def comparison(result: "CompareResult") -> Any:
    """Goodput against fairness and against delay, and the occupancy of the port over time."""
    from pushout.question.quantity import octets, split

    known = result.figures()
    good = next(name for name in ("packet_throughput", "goodput_ratio") if name in known)
    others = [name for name in ("fairness_jain", "delay_s") if name in known]
    looks = _looks(len(result.policies))
    with _figure(columns=2, rows=2, height_ratios=(1.15, 1)) as (figure, grid):
        for axes, other in zip(grid[0], others, strict=False):
            for policy, look in zip(result.policies, looks, strict=True):
                x, y = policy.mean(other), policy.mean(good)
                assert x is not None  # noqa: S101  (`figures` are those that all have)
                assert y is not None  # noqa: S101
                _cross(axes, x, y, look, policy.choice.label)
            _frame(axes, label(other), label(good))
        for axes in [*grid[0][len(others) :], *grid[1]]:
            axes.remove()
        below = figure.add_subplot(grid[1][0].get_gridspec()[1, :])
        for policy, look in zip(result.policies, looks, strict=True):
            means = [interval(column) for column in zip(*policy.occupancy, strict=True)]
            times = [result.start_s + index * result.step_s for index in range(len(means))]
            _band(below, times, means, look, policy.choice.label)
        unit = "bytes" if octets(result.port.buffer) is not None else split(result.port.buffer)[1]
        _frame(below, "time (s)", f"occupancy ({unit})", grid="y")
        below.set_ylim(bottom=0)
        _keys(figure, below, [policy.choice.label for policy in result.policies], looks)
    return figure


# --- sweep

KINDS = ("line", "cloud", "heat", "cdf", "time")


def sweep(
    result: "SweepResult", y: str, x: str | None = None, *, by: str | None = None, kind: str | None = None
) -> Any:
    """Draw a sweep.

    `line`: a figure `y` over a swept number `x`; `cloud`: two figures against each other; `heat`: a figure `y` over
    two swept columns `x` and `by`; `cdf`: the distribution of `y` over runs (or over the entries of a list); `time`: a
    list `y` over time. A series for every value of the column `by`, by default of all swept columns but `x`. Without
    `kind` it is a line if `x` is swept, a cloud if `x` is a figure, and a distribution if there is no `x`.
    """
    drawings = {"line": _lines, "cloud": _cloud, "heat": _heat, "cdf": _cdf, "time": _time}
    chosen = kind or ("cdf" if x is None else "line" if _is_swept(result, x) else "cloud")
    if chosen not in drawings:
        raise QuestionError(f"no kind of drawing is called {chosen!r} (there are: {', '.join(KINDS)})")
    for name in filter(None, (y, x, by)):
        result.check_column(name)
    return drawings[chosen](result, y, x, by)


def _is_swept(result: "SweepResult", name: str) -> bool:
    names = result.table.column_names
    return name in names and names.index(name) < names.index("seed")


def _values(result: "SweepResult", name: str) -> list[Any]:
    """The value of a swept column at every point."""
    first = {point: row for row, point in reversed(list(enumerate(result.table["point"].to_pylist())))}
    column = result.table[name]
    return [column[first[point]].as_py() for point in range(len(result.points))]


def _series(result: "SweepResult", x: str | None, by: str | None) -> dict[str, list[int]]:
    """The points of each series, under the name of the series."""
    if by is not None:
        names = [by]
    else:
        names = [name for name in result.swept() if x is None or not (name == x or x.startswith(f"{name}_"))]
        tables = [name for name in names if any(str(point.get(name)).startswith("{") for point in result.points)]
        names = [name for name in names if name not in tables or len(names) == len(tables)]
    columns = [_values(result, name) for name in names]
    groups: dict[str, list[int]] = {}
    for point, values in enumerate(zip(*columns, strict=True) if columns else [()] * len(result.points)):
        groups.setdefault(", ".join(map(str, values)), []).append(point)
    return groups


def _needed(name: str | None, kind: str) -> str:
    if name is None:
        raise QuestionError(f"a drawing of the kind {kind} needs x" + (" and by" if kind == "heat" else ""))
    return name


def _lines(result: "SweepResult", y: str, x: str | None, by: str | None) -> Any:
    x = _needed(x, "line")
    places, means = _values(result, x), result.means(y)
    if any(isinstance(place, str) for place in places):
        numbers = [name for name in result.table.column_names if name.startswith(f"{x}_")]
        instead = f"{numbers[0]} does" if numbers else f"as by={x!r} it makes a series for each value"
        raise QuestionError(f"the column {x} holds no numbers; {instead}")
    groups = _series(result, x, by)
    with _figure() as (figure, grid):
        axes = grid[0][0]
        for (name, points), look in zip(groups.items(), _looks(len(groups)), strict=True):
            known = sorted(
                (places[point], means[point]) for point in points if means[point] and places[point] is not None
            )
            if known:
                _band(axes, [place for place, _ in known], [mean for _, mean in known if mean], look, name or None)
        numbers = [place for place in places if place is not None]
        if numbers and min(numbers) > 0 and max(numbers) >= 8 * min(numbers):
            _log(axes)
        _from_zero(axes, [mean["mean"] for mean in means if mean])
        _frame(axes, label(x), label(y))
        _legend(figure, axes, bands=True)
    return figure


def _cloud(result: "SweepResult", y: str, x: str | None, by: str | None) -> Any:
    x = _needed(x, "cloud")
    across, up = result.means(x), result.means(y)
    swept = result.swept()
    groups = _series(result, None, by or (swept[0] if swept else None))
    with _figure() as (figure, grid):
        axes = grid[0][0]
        for (name, points), look in zip(groups.items(), _looks(len(groups)), strict=True):
            for point in points:
                one, other = across[point], up[point]
                if one and other:
                    _cross(axes, one, other, look, name or None)
        _frame(axes, label(x), label(y))
        _legend(figure, axes, bars=True)
    return figure


def _heat(result: "SweepResult", y: str, x: str | None, by: str | None) -> Any:
    x, by = _needed(x, "heat"), _needed(by, "heat")
    columns, rows = _values(result, x), _values(result, by)
    across, up = list(dict.fromkeys(columns)), list(dict.fromkeys(rows))
    cells: list[list[list[float]]] = [[[] for _ in across] for _ in up]
    for column, row, mean in zip(columns, rows, result.means(y), strict=True):
        if mean:
            cells[up.index(row)][across.index(column)].append(mean["mean"])
    shades = [[sum(cell) / len(cell) if cell else float("nan") for cell in row] for row in cells]
    with _figure() as (figure, grid):
        axes = grid[0][0]
        image = axes.imshow(shades, cmap="cividis", aspect="auto", origin="lower")
        middle = sum(image.get_clim()) / 2
        for row, values in enumerate(shades):
            for column, value in enumerate(values):
                ink = "black" if value > middle else "white"
                axes.text(column, row, f"{value:.3g}", ha="center", va="center", color=ink, fontsize=7)
        axes.set_xticks(range(len(across)), map(_plain, across), rotation=30, ha="right")
        axes.set_yticks(range(len(up)), map(_plain, up))
        axes.set_xlabel(label(x))
        axes.set_ylabel(label(by))
        figure.colorbar(image, ax=axes, label=label(y))
    return figure


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _cdf(result: "SweepResult", y: str, x: str | None, by: str | None) -> Any:
    if x is not None:
        raise QuestionError("a distribution has no x")
    groups = _series(result, None, by)
    with _figure() as (figure, grid):
        axes = grid[0][0]
        for (name, points), look in zip(groups.items(), _looks(len(groups)), strict=True):
            values = sorted(_entries(result, y, points))
            shares = [(index + 1) / len(values) for index in range(len(values))]
            axes.step(
                values, shares, where="post", color=look["color"], linestyle=look["linestyle"], label=name or None
            )
        axes.set_ylim(0, 1)
        _frame(
            axes, label(y), "share of values up to this, all runs" if "*" in y else "share of runs with at most this"
        )
        _legend(figure, axes)
    return figure


def _entries(result: "SweepResult", name: str, points: Sequence[int]) -> list[float]:
    found = [value for point in points for value in result.of_point(point)[name].to_pylist() if value is not None]
    return [entry for value in found for entry in (value if isinstance(value, list) else [value])]


def _time(result: "SweepResult", y: str, x: str | None, by: str | None) -> Any:
    groups = _series(result, None, by)
    head, lowest = y.rsplit(".", 1)[0], list[float]()
    if f"{head}.step_s" not in result.table.column_names:
        raise QuestionError(f"to draw {y} over time, {head}.start_s and {head}.step_s must be among the figures")
    with _figure() as (figure, grid):
        axes = grid[0][0]
        for (name, points), look in zip(groups.items(), _looks(len(groups)), strict=True):
            rows = result.of_point(points[0])
            start, step = (rows[f"{head}.{key}"][0].as_py() for key in ("start_s", "step_s"))
            curves = [curve for point in points for curve in result.of_point(point)[y].to_pylist()]
            means = [interval(column) for column in zip(*curves, strict=True)]
            _band(axes, [start + index * step for index in range(len(means))], means, look, name or None)
            lowest.extend(mean["mean"] for mean in means)
        _from_zero(axes, lowest)
        _frame(axes, "time (s)", label(y))
        _legend(figure, axes, bands=True)
    return figure


# --- size


def size(result: "SizeResult") -> Any:
    """Every point of the search with its interval, the goal, and the answers as vertical lines."""
    looks = _looks(len(result.answers))
    with _figure() as (figure, grid):
        axes = grid[0][0]
        for answer, look in zip(result.answers, looks, strict=True):
            tried = sorted(answer.tried, key=lambda point: point.value)
            known = [(point.value, point.mean) for point in tried if point.mean]
            for place, mean in known:
                low, high = _bounds(mean)
                doubt = {"yerr": [[mean["mean"] - low], [high - mean["mean"]]], "capsize": 2.5, "ms": 4.5}
                name = _answer(answer, result.space)
                axes.errorbar(place, mean["mean"], color=look["color"], fmt=look["marker"], label=name, **doubt)
            axes.plot(*zip(*((place, mean["mean"]) for place, mean in known), strict=True), color=look["color"], lw=0.7)
            if answer.value is not None:
                axes.axvline(answer.value, color=look["color"], linestyle=look["linestyle"], linewidth=1)
        if result.goal.level is not None:
            axes.axhline(result.goal.level, color=GREY, linestyle=":", linewidth=1, label="goal")
        if result.space.log:
            _log(axes)
        _frame(
            axes,
            f"{result.over} ({result.space.unit})" if result.space.unit else result.over,
            label(result.goal.column),
        )
        _microseconds(axes, result)
        _legend(figure, axes, bars=True)
    return figure


def _answer(answer: "Answer", space: "Space") -> str:
    """A policy and what it needs."""
    needs = "more" if answer.value is None else space.text(answer.value)
    return f"{answer.label}: {needs}" if answer.label else needs


def _microseconds(axes: Any, result: "SizeResult") -> None:
    """The same amounts as time at the rate of the line, above."""
    if (factor := result.us_per_unit) is None:
        return
    above = axes.secondary_xaxis("top", functions=(lambda value: value * factor, lambda value: value / factor))
    above.set_xlabel("µs at the rate of the line")
    if result.space.log:
        _ticks(above.xaxis)
