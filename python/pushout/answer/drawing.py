"""The parts of figures: units on axes, 95 % bands, colours that all readers can distinguish, as in a paper.

This module handles numbers and intervals, and does not depend on the questions whose answers it draws.
"""

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from textwrap import wrap
from typing import Any

from pushout.document import steps
from pushout.quantity import FINEST, readable, word
from pushout.stats import Interval
from pushout.style import COLOURS, DASHES, FONT_PT, INK, MARKERS, SERIES, Theme, style
from pushout.svg import compact

GREY = COLOURS[INK][1]
PALETTE = [COLOURS[colour][1] for colour in SERIES]

INTERVAL = "95 % interval"

DPI = 200
WIDTH_IN, HEIGHT_IN = 5.2, 3.6
LETTER_PT, MARK_PT, ROW_PT = 8.0, 40.0, 12.5
"""Font size of a legend; width of an entry besides its name, and its height (points)."""

LINE_PT = 0.14
"""Line width for a font size of one point."""

BANDS = 2
"""Largest number of bands that are distinct on the same axes."""

WHOLE = 1.02
"""End of an axis of shares, so that a line at 1 has its full width."""

APART_PT = 2.5
"""Distance of bars at the same position (points)."""

MARKED, MARKS = 20, 8
"""Markers on a line with more points than this."""

DECADE = 8
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""

DECADES = 500
"""Ratio from which an axis has too many decades for three numbers in each."""

ENDINGS = {f"_{word(unit)}": unit for unit in (*FINEST, "%")} | {"_bps": "b/s", "_us": "µs"}
"""Units of columns by the suffixes of their names."""

TITLES = {
    "goodput_ratio": "goodput ÷ ideal",
    "fairness_jain": "fairness index (Jain)",
    "fairness_mean_deviation": "fairness φ (mean deviation)",
    "retransmission_ratio": "retransmitted ÷ sent segments",
    "packet_throughput": "packet throughput",
    "loss_ratio": "lost ÷ arrived units",
    "summary.loss_ratio": "lost ÷ sent units",
    "delay_s": "mean delay in the port (s)",
    "transfer_time_mean_s": "mean transfer time (s)",
    "transfer_time_p99_s": "transfer time, 99th percentile (s)",
    "delivery_time_p99_s": "delivery time, 99th percentile (s)",
}

SERIES_OF = ("values", "bps", "octets", "total")
"""`occupancy.values` is the occupancy, `lost.total` all that was lost."""

TABLES = ("source", "transport", "police")
"""`flows.transport.mss` is a key of a scenario, `flows.flow1.timeouts` a figure of a report."""

Look = Mapping[str, Any]
"""Colour, marker and line of a series."""


def label(name: str) -> str:
    """Label an axis with a column, and with the unit if the name implies it."""
    if name in TITLES:
        return TITLES[name]
    if name.startswith("classes."):
        return _of(*steps(name)[1:])
    part, *below = steps(name)
    if part == "flows" and below[1:] == ["loss_ratio"]:
        return f"lost ÷ sent packets of {part if below[0] == '*' else below[0]}"
    if len(below) > 1 and part in ("ports", "circuits", "flows") and below[0] not in TABLES:
        return _of(part if below[0] == "*" else below[0], *below[1 : -1 if below[-1] in SERIES_OF else None])
    if len(below) > 1 and part in ("port", "link", "flow", "node"):
        return _of(below[0], *below[1:])
    if endings := [ending for ending in ENDINGS if name.endswith(ending)]:
        ending = max(endings, key=len)  # a rate in Mb/s, not a time
        return f"{_spaced(name.removesuffix(ending))} ({ENDINGS[ending]})"
    return _spaced(name)


def _of(whose: str, *path: str) -> str:
    """Label a figure of an entry: what, of which entry, in which unit."""
    what, bracket, unit = label(".".join(path)).partition(" (")
    return f"{what} of {whose}{bracket}{unit}"


def _spaced(name: str) -> str:
    """Write a name, or the path of a key, in words."""
    return " ".join(steps(name)).replace("_", " ").removeprefix("flows ")


# --- paper


def images(figure: Any) -> dict[str, bytes]:
    """Save a figure as SVG and as PNG; the same figure gives the same octets."""
    return {kind: _saved(figure, kind) for kind in METADATA}


def svg(figure: Any) -> str:
    """Write a figure as SVG, as a part of a page."""
    return _saved(figure, "svg").decode()


METADATA = {"svg": ("Creator", "Date", "Format", "Type"), "png": ("Software",)}
"""What a file must not say, so that equal figures are equal files."""


def _saved(figure: Any, kind: str) -> bytes:
    import matplotlib as mpl

    data = io.BytesIO()
    with mpl.rc_context(plain_style()):
        figure.savefig(data, format=kind, dpi=DPI, metadata=dict.fromkeys(METADATA[kind]))
    return finished(data.getvalue(), kind)


def finished(data: bytes, kind: str) -> bytes:
    """Return a figure as its file is kept: a PNG in a third of its octets, an SVG in fewer lines."""
    match kind:
        case "png":
            return _small(data)
        case "svg":
            return compact(data.decode()).encode()
        case _:
            return data


def _small(png: bytes) -> bytes:
    """Store a PNG with 256 colours instead of all: a third of the octets.

    The colours of series are among them, also where a line is so short that few pixels have its colour.
    """
    from PIL import Image, ImageColor

    shares = (1.0, 0.75, 0.5, 0.25, 0.0)
    inks = [ImageColor.getrgb(colour) for colour in (*PALETTE, GREY)]
    own = [tuple(round(255 + share * (part - 255)) for part in ink) for ink in inks for share in shares]
    whole, chosen = Image.open(io.BytesIO(png)).convert("RGB"), Image.new("P", (1, 1))
    palette = whole.quantize(256 - len(own), dither=Image.Dither.NONE).getpalette() or []
    others = [triple for triple in zip(*[iter(palette)] * 3, strict=True) if not _is_near(triple, own)]
    chosen.putpalette([part for colour in (*own, *others) for part in colour])
    data = io.BytesIO()
    whole.quantize(palette=chosen, dither=Image.Dither.NONE).save(data, format="png", optimize=True, dpi=(DPI, DPI))
    return data.getvalue()


def _is_near(colour: Sequence[int], others: Iterable[Sequence[int]]) -> bool:
    """Return whether a colour would be confused with another: Pillow finds the nearest one of a palette to 6 bits."""
    return any(max(abs(one - two) for one, two in zip(colour, other, strict=True)) < 8 for other in others)


def plain_style() -> Any:
    """Return the Matplotlib settings of all figures, on a white ground."""
    paper = dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "white")
    plain = {key: COLOURS[value][1] if value in COLOURS else value for key, value in style("answer").items()}
    return {**plain, **paper}


@contextmanager
def paper(columns: int = 1, rows: int = 1, **ratios: Sequence[float]) -> Iterator[tuple[Any, Any]]:
    """Make an empty figure and its axes, row by row."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(plain_style()):
        figure = Figure(figsize=(WIDTH_IN * columns, HEIGHT_IN * rows), layout="constrained")
        yield figure, figure.subplots(rows, columns, squeeze=False, gridspec_kw=ratios)


@contextmanager
def paper_of(theme: Theme, rows: int) -> Iterator[tuple[Any, list[Any]]]:
    """An empty figure of a theme, and its axes from above to below."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    letters: Any = {"font.size": theme.letters_pt, "lines.linewidth": LINE_PT * theme.letters_pt}
    with mpl.rc_context({**plain_style(), **letters}):
        figure = Figure(figsize=(theme.width_in, theme.panel_in * rows), layout="constrained")
        axes = figure.subplots(rows, 1, squeeze=False)
        figure.align_ylabels(axes[:, 0])
        yield figure, list(axes[:, 0])


# --- marks


def looks(count: int) -> list[Look]:
    """Choose colour, marker and line of each series: 28 are distinct without colours, 56 with them."""
    colours, markers = cycle(PALETTE), cycle(MARKERS)
    return [
        {"color": next(colours), "marker": next(markers), "linestyle": DASHES[index % len(DASHES)]}
        for index in range(count)
    ]


def _bounds(value: Interval) -> tuple[float, float]:
    low, high = value["ci95"] or [value["mean"]] * 2
    return low, high


def bar(value: Interval) -> list[list[float]]:
    """Return the distances of an interval's ends from its mean, as Matplotlib needs them."""
    low, high = _bounds(value)
    return [[value["mean"] - low], [high - value["mean"]]]


def doubt(axes: Any, xs: Any, mean: Any, bounds: tuple[Any, Any], look: Look, place: tuple[int, int]) -> str:
    """Draw the interval of a line and return its form, "band" or "bar"; `place` is its index and the number of lines.

    Up to `BANDS` lines have bands. More bands would hide each other, so further lines have bars: at a few points, at
    different positions for each line, or side by side at all points if they are few.
    """
    from matplotlib.transforms import ScaledTranslation

    low, high = bounds
    index, lines = place
    if lines <= BANDS:
        edges = {"linewidth": 0.5, "edgecolor": (look["color"], 0.55)} if lines > 1 else {"linewidth": 0}
        axes.fill_between(xs, low, high, facecolor=(look["color"], 0.2 if lines == 1 else 0.15), **edges)
        return "band"
    step = 1 if len(xs) <= MARKED else len(xs) // MARKS
    few = slice(step * index // lines, None, step)
    aside = ScaledTranslation(APART_PT * (index - (lines - 1) / 2) / 72, 0, axes.figure.dpi_scale_trans)
    shifted = {"transform": axes.transData + aside} if step == 1 else {}
    axes.vlines(xs[few], low[few], high[few], color=look["color"], linewidth=0.9, **shifted)
    return "bar"


def cross(axes: Any, x: Interval, y: Interval, look: Look, name: str | None) -> None:
    """Draw a point with its two intervals."""
    mark = {"color": look["color"], "marker": look["marker"], "linestyle": "none", "ms": 5, "capsize": 2.5}
    axes.errorbar(x["mean"], y["mean"], xerr=bar(x), yerr=bar(y), **mark, label=name)


def band(
    axes: Any,
    xs: Sequence[float],
    values: Sequence[Interval],
    look: Look,
    name: str | None,
    place: tuple[int, int] = (0, 1),
) -> str:
    """Draw means with their intervals; see `doubt` for `place` and the result."""
    mean, bounds = [value["mean"] for value in values], zip(*map(_bounds, values), strict=True)
    low, high = map(list, bounds)
    drawn = doubt(axes, list(xs), mean, (low, high), look, place)
    axes.plot(xs, mean, **line(look, len(xs)), label=name)
    return drawn


def line(look: Look, points: int) -> dict[str, Any]:
    """Choose the markers of a line: on all points, or on some of many, at different places than other lines."""
    step = 1 if points <= MARKED else points // MARKS
    first = step * MARKERS.index(look["marker"]) // len(MARKERS)
    return {**look, "ms": 4, "linewidth": 1.3, "markevery": (first, step)}


def capped(value: Interval, most: float | None) -> Interval:
    """Cut an interval at the largest possible value: an occupancy cannot exceed the buffer."""
    if most is None or not value["ci95"] or value["ci95"][1] <= most:
        return value
    return {**value, "ci95": [value["ci95"][0], max(most, value["mean"])]}


# --- axes


def frame(axes: Any, x: str, y: str, *, grid: str = "both") -> None:
    """Name the axes with the unit of their numbers; times and rates get a readable unit."""
    axes.grid(axis=grid)
    for axis, text in ((axes.xaxis, x), (axes.yaxis, y)):
        low, high = sorted(map(abs, axis.get_view_interval()))
        titled(axis, text, math.sqrt(low * high) if axis.get_scale() == "log" else high)


def titled(axis: Any, text: str, largest: float) -> None:
    """Name an axis and write its numbers in the unit of the name, in groups of three digits."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    title, factor = readable(text, largest)
    axis.set_label_text(title)

    def written(value: float, _: object) -> str:
        return f"{value * factor:,.10g}".replace(",", " ").replace("-", "\N{MINUS SIGN}")

    axis.set_major_formatter(FuncFormatter(written))
    axis.set_minor_formatter(NullFormatter())


def from_zero(axes: Any, means: Sequence[float]) -> None:
    """Start the vertical axis at zero, for values that are never negative; bands below it are cut off."""
    if min(means, default=0.0) >= 0:
        axes.set_ylim(bottom=0)


def upward(axes: Any, means: Sequence[float], level: float | None = None) -> None:
    """Choose the vertical axis for values that are never negative: logarithmic if they span decades, else from zero.

    A logarithmic axis shows the `level` too.
    """
    if means and min(means) > 0 and max(means) >= DECADES_UP * min(means):
        shown = [*means, *([level] if level and level > 0 else [])]
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(bottom=min(shown) / 2, top=2 * max(shown))
    elif means and min(means) > NEARLY_ALIKE * max(means):
        axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
    else:
        from_zero(axes, means)


NEARLY_ALIKE = 0.5
"""Ratio of the smallest to the largest mean from which an axis does not begin at zero, which would leave it empty."""

DECADES_UP = 20
"""Ratio of the largest to the smallest mean from which a vertical axis is logarithmic."""


def noted(axes: Any, point: tuple[float, float], text: str, look: Look, level: float | None = None) -> None:
    """Write a text beside a point of a curve, in its colour, on the side away from a line at `level`.

    The limits of the axes must be final.
    """
    letters = {"fontsize": LETTER_PT, "color": look["color"], "fontweight": "bold"}
    ground = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5}
    side = -2 * LETTER_PT if level is not None and point[1] <= level else _beside(axes, point)
    axes.annotate(text, point, (6, side), textcoords="offset points", bbox=ground, **letters)


def _beside(axes: Any, point: tuple[float, float]) -> float:
    """Return the offset of a text above a point (points), or below one near the upper end of the axes."""
    _, height = axes.transAxes.inverted().transform(axes.transData.transform(point))
    return LETTER_PT if height < HIGH else -2 * LETTER_PT


HIGH = 0.88
"""Height, as a share of the axes, from which on no text fits above a point."""


def not_below_zero(axes: Any, across: Sequence[Interval], up: Sequence[Interval]) -> None:
    """End the axes at zero if intervals extend below but the means are not negative."""
    for means, limits, limit in ((across, axes.get_xlim, axes.set_xlim), (up, axes.get_ylim, axes.set_ylim)):
        if min((mean["mean"] for mean in means), default=0.0) >= 0 > limits()[0]:
            limit(0, limits()[1])


def headed(figure: Any, *titles: str) -> None:
    """Put titles above a figure, each on as many lines as it needs."""
    most = int(figure.get_figwidth() / (LETTER_IN * FONT_PT))
    lines = [line for title in titles for line in wrap(title, most)]
    if lines:
        figure.suptitle("\n".join(lines), fontsize=FONT_PT)


LETTER_IN = 0.0076
"""Mean width of a letter of one point (inches)."""


def spread(axes: Any, values: Sequence[float]) -> None:
    """Make the horizontal axis logarithmic if the range of the values requires it."""
    if values and min(values) > 0 and max(values) >= DECADE * min(values):
        log(axes)


def log(axes: Any) -> None:
    """Make the horizontal axis logarithmic."""
    axes.set_xscale("log")
    log_ticks(axes.xaxis, axes.get_xlim())


def log_ticks(axis: Any, ends: tuple[float, float]) -> None:
    """Put plain numbers at 1, 2 and 5; with many decades at 1 and 3 or only at 1, so that they do not overlap."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = ends
    decade_in = AXES * axis.axes.figure.get_figwidth() / max(math.log10(high / low), 0.1)
    room = decade_in / (LONGEST_NUMBER * axis.label.get_size() / 72) if axis.axis_name == "x" else math.inf
    apart = {(1, 2, 5): math.log10(2) * room, (1, 3): math.log10(3) * room}
    subs = next((each for each, gap in apart.items() if gap > 1 and high < DECADES * low), (1,))
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.15g}".replace(",", " ")))
    axis.set_minor_formatter(NullFormatter())


AXES, LONGEST_NUMBER = 0.7, 3.6
"""Share of the width of a figure that its axes have, and the room of a number on one, in sizes of letters."""

# --- legends


def legend(figure: Any, axes: Any, interval: str | None = None, title: str = "") -> None:
    """The names of the series, their common title, and the form of intervals: "band" or "bar"."""
    handles, labels = axes.get_legend_handles_labels()
    _listed(figure, dict(zip(labels, handles, strict=True)) | _interval(interval), title)


def named_alike(names: Sequence[str], drawn: Sequence[object]) -> list[str]:
    """Name the series for a legend; series with identical curves, of which only the last is visible, say so."""
    first = [drawn.index(each) for each in drawn]
    return [
        name if place == own else f"{name} (as {names[place]})"
        for own, (name, place) in enumerate(zip(names, first, strict=True))
    ]


def key(figure: Any, names: Sequence[str], looks: Sequence[Look], drawn: str = "band") -> None:
    """Make a legend of markers and lines together, for series that appear as both; `drawn` is the form of intervals."""
    from matplotlib.lines import Line2D

    handles: dict[str, Any] = {name: Line2D([], [], ms=5, **look) for name, look in zip(names, looks, strict=True)}
    _listed(figure, handles | _interval(drawn), handlelength=3)


def _interval(drawn: str | None, name: str = INTERVAL) -> dict[str, Any]:
    """Make the legend entry that explains bands or bars."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if drawn == "band":
        return {name: Patch(facecolor=GREY, alpha=0.2)}
    if drawn == "bar":
        return {name: Line2D([], [], marker="|", ms=9, markeredgewidth=1.2, linestyle="none", color=GREY)}
    return {}


def above(axes: Any, theme: Theme, title: str = "", doubts: tuple[str, str] = ("", "")) -> None:
    """Put a legend above its axes, row by row, where it covers nothing; `doubts` is the name and form of intervals.

    A panel with a single series has a legend as well, because nothing else shows the name.
    """
    handles, labels = axes.get_legend_handles_labels()
    width_in, letters_pt = 0.85 * theme.width_in, 0.9 * theme.letters_pt
    unique = dict(zip(labels, handles, strict=True)) | _interval(doubts[1], doubts[0])
    if not unique:
        return
    columns = _fitting(unique, width_in, letters_pt)
    axes.figure.set_figheight(
        axes.figure.get_figheight() + ROW * letters_pt / 72 * (math.ceil(len(unique) / columns) - 1)
    )
    names = [name for column in range(columns) for name in list(unique)[column::columns]]
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.1, "borderpad": 0.2}
    if title:
        place |= {"title": title, "title_fontsize": letters_pt, "alignment": "left"}
    letters = {"fontsize": letters_pt, "ncols": columns, "frameon": False, "handlelength": 1.8, "columnspacing": 1.2}
    axes.legend([unique[name] for name in names], names, **place, **letters)


ROW = 1.35
"""Height of a row of a legend above its axes, in sizes of its letters; the figure grows with all but the first."""


def _fitting(names: Iterable[str], width_in: float, letters_pt: float) -> int:
    """Count the entries of a legend that fit side by side."""
    from matplotlib.textpath import TextPath

    widest = max(TextPath((0, 0), name or " ", size=letters_pt).get_extents().width for name in names)
    columns = max(1, int(72 * width_in / (widest + MARK_PT * letters_pt / LETTER_PT)))
    rows = math.ceil(len(list(names)) / columns)
    return math.ceil(len(list(names)) / rows)


def duration(seconds: float) -> str:
    """A time in the unit in which it is read most easily: "20 ms"."""
    title, factor = readable("(s)", seconds * 1.0000001)
    return f"{seconds * factor:.4g} {title.strip('()')}"


def _listed(figure: Any, handles: Mapping[str, Any], title: str = "", **options: Any) -> None:
    """Put a legend below its figure, to be read row by row; the figure grows with its rows."""
    if not handles:
        return
    from matplotlib.textpath import TextPath

    width = MARK_PT + max(TextPath((0, 0), name, size=LETTER_PT).get_extents().width for name in handles)
    most = max(1, int(72 * figure.get_figwidth() / width))
    rows = math.ceil(len(handles) / most)
    columns = math.ceil(len(handles) / rows)
    figure.set_figheight(figure.get_figheight() + ROW_PT / 72 * max(0, rows + bool(title) - 2))
    names = [name for column in range(columns) for name in list(handles)[column::columns]]
    ordered = [handles[name] for name in names]
    if title:
        options |= {"title": title, "title_fontsize": LETTER_PT, "alignment": "left"}
    options |= {"ncols": columns, "frameon": False, "fontsize": LETTER_PT}
    figure.legend(ordered, names, loc="outside lower left", **options)
