"""Draw the figures of a study as SVG, in the colours of the page or standalone."""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, pairwise
from textwrap import wrap
from typing import Any

from pushout.stats import Interval
from pushout.study.charts import Chart
from pushout.study.digits import decimals, grouped
from pushout.study.outcome import Compared, Variant, Weighing, score
from pushout.style import COLOURS, DASHES, FAINT, FONT_PT, GROUND, INK, MARKERS, SERIES, VERDICTS, style
from pushout.svg import compact, embedded, identifier

DASHED = (0, (3, 1.6))
VERDICT_MARKS = {"within": "o", "uncertain": "s", "differs": "X"}

LIKE = 3.0
"""Plots of one figure of a paper share their axis if their ranges differ by at most this factor."""

MARKED = 14
"""Lines of at most this many points mark every point, longer ones some: markers distinguish lines without colours."""

MARKS = 9
"""Number of markers, at most, on a longer line; each line of a plot has them at different places."""

TICKED = 8
"""Axes of at most this many evenly spaced values label every value."""

LETTER_PT, HANDLE_PT = 5.1, 41
"""Mean width of a letter of a legend; width of a mark with the spaces around it."""

COLUMNS = (3, 2)
"""Numbers of columns of a legend, the first that fits; otherwise it has one."""

WIDTH_IN, HEIGHT_IN, ROW_IN, FRAME_IN = 4.3, 3.1, 0.34, 1.05
NARROW_IN = 3.6
"""Width of figures that stand three in a row, so that their letters keep their size."""

LINE_PT, LETTERS = 13, 40
"""Height of the lines above a standalone figure, and the bold letters that fit above the narrowest one."""

APART = 0.2
"""Least distance between two labels on the axis of percent, as a share of the axis."""


@dataclass(frozen=True)
class Drawing:
    """A finished figure."""

    title: str
    svg: str
    note: str = ""

    @property
    def label(self) -> str:
        """The title, escaped for markup."""
        return escape(self.title)

    def alone(self, place: str = "") -> str:
        """Write a standalone file, dark on white, with title and source above.

        The caption is the description for screen readers.
        """
        svg = _headed(self.svg, wrap(self.title, LETTERS), [place] if place else [])
        svg = svg.replace("<svg ", f'<svg style="background:#fff" role="img" aria-label="{self.label}" ', 1)
        if self.note:
            said = escape(self.note.replace("`", "").strip(), quote=False)
            end = svg.index(">", svg.index("<svg ")) + 1
            svg = f"{svg[:end]}\n <desc>{said}</desc>{svg[end:]}"
        for stand_in, (_, colour) in COLOURS.items():
            svg = svg.replace(stand_in, colour)
        return svg

    def inline(self, name: str) -> str:
        """Write the figure for a page: no prologue, no fixed size, unique ids, the colours of the page.

        The page holds the caption with the id `NAME-note`.
        """
        svg, prefix = embedded(self.svg, name), identifier(name)
        for stand_in, (colour, _) in COLOURS.items():
            svg = svg.replace(stand_in, colour)
        described = f'aria-describedby="{prefix}-note" ' if self.note else ""
        return svg.replace("<svg ", f'<svg role="img" aria-label="{self.label}" {described}', 1)


def _headed(svg: str, bold: Sequence[str], plain: Sequence[str]) -> str:
    """Add lines of text above a figure."""
    spans = [
        f'<tspan x="{LINE_PT / 2}" dy="{LINE_PT}" font-weight="{weight}">{escape(line, quote=False)}</tspan>'
        for weight, lines in (("bold", bold), ("normal", plain))
        for line in lines
    ]
    above = LINE_PT * (len(spans) + 1)

    def taller(size: re.Match[str]) -> str:
        width, height = size[1], float(size[2]) + above
        return f'width="{width}pt" height="{height}pt" viewBox="0 {-above} {width} {height}"'

    svg = re.sub(r'width="([\d.]+)pt" height="([\d.]+)pt" viewBox="0 0 \1 \2"', taller, svg, count=1)
    style = f"font-size: {FONT_PT}px; font-family: 'DejaVu Sans', sans-serif"
    text = f'<text y="{-above}" fill="{INK}" style="{style}">{"".join(spans)}</text>'
    return svg.replace("</svg>", f" {text}\n</svg>")


def dots(title: str, axis: str, findings: Sequence[Compared]) -> Drawing:
    """Draw one row per number: the printed value with its tolerance, the measured mean with its interval."""
    return _draw(title, FRAME_IN + ROW_IN * len(findings), lambda axes: _dots(axes, axis, findings))


Curves = Sequence[Sequence[Interval | None]]
"""For each line of a plot an estimate per point."""


def chart(plot: Chart, curves: Curves, limits: tuple[float, float] | None = None, *, narrow: bool = False) -> Drawing:
    """Draw means with their 95 % bands, and printed values: hollow markers in the colour of their line, dashed levels.

    `limits` are those of the vertical axis; by default they follow from the values.
    """
    labels = [line.label for line in plot.lines] + ["95 % interval", *(level.label for level in plot.levels)]
    width = NARROW_IN if narrow else WIDTH_IN
    rows = -(-len(labels) // _columns(labels, width))
    kinds = {"curve": _curves, "series": _curves, "bars": _bars}

    def fill(axes: Any) -> None:
        kinds[plot.kind](axes, plot, curves)
        (_lying if plot.lying else _frame)(axes, plot, limits or reach(plot, curves))

    height = FRAME_IN + ROW_IN * len(plot.categories) * len(plot.lines) ** 0.5 if plot.lying else HEIGHT_IN
    return _draw(plot.title, height + 0.17 * rows, fill, width=width)


def reach(plot: Chart, curves: Curves) -> tuple[float, float]:
    """Compute the range of the axis of values: from zero, unless a mean is negative; of a logarithm from the least."""
    known = [value for values in curves for value in values if value]
    printed = [y for line in plot.lines for _, y in line.printed] + [level.value for level in plot.levels]
    means = [value["mean"] for value in known] + printed
    bounds = [bound for value in known for bound in value["ci95"] or [value["mean"]]]
    if plot.y_scale == "log":
        positive = [mean for mean in means if mean > 0] or [1.0]
        return 0.7 * min(positive), 1.4 * max(bounds + positive)
    low, high = min(0.0, *means), max(0.0, *bounds, *printed) or 1.0
    return (low - 0.04 * (high - low) if low < 0 else 0.0), high + 0.05 * (high - low)


def shared(reaches: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Compute common limits for plots to be compared; None if their ranges differ too much."""
    highest = [high for _, high in reaches]
    return (min(low for low, _ in reaches), max(highest)) if max(highest) <= LIKE * min(highest) else None


def spread(weighing: Weighing) -> Drawing:
    """Draw one row per value of an assumption: the relative error of every number, and the count near print."""
    count = len(weighing.variants)
    return _draw(weighing.sensitivity.assumption, 0.75 + 0.5 * count, lambda axes: _spread(axes, weighing))


def _draw(title: str, height: float, fill: Callable[[Any], None], *, width: float = WIDTH_IN) -> Drawing:
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context(style(title)):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots()
        fill(axes)
        handles, labels = axes.get_legend_handles_labels()
        unique = dict(sorted(zip(labels, handles, strict=True), key=lambda entry: _rank(entry[1])))
        if unique:
            looks = {"ncols": _columns(list(unique), width), "frameon": False, "fontsize": 8.5}
            figure.legend(unique.values(), unique.keys(), loc="outside upper left", **looks)
        text = io.StringIO()
        canvas: Any = FigureCanvasSVG(figure)  # savefig would draw everything twice
        canvas.print_svg(text, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return Drawing(title, compact(text.getvalue()))


def _rank(handle: Any) -> int:
    """Rank an entry of the legend: measured, interval, printed, levels."""
    return int(getattr(handle, "rank", 0))


def _later(artist: Any, rank: int) -> None:
    artist.rank = rank


def _columns(labels: Sequence[str], width: float) -> int:
    """Choose the columns of a legend for a figure of this width in inches; the first columns have one entry more."""

    def fits(count: int) -> bool:
        rows, longer = divmod(len(labels), count)
        ends = accumulate(rows + (column < longer) for column in range(count))
        columns = [labels[start:end] for start, end in pairwise((0, *ends)) if start < end]
        return sum(HANDLE_PT + LETTER_PT * max(map(len, column)) for column in columns) <= 72 * width

    return next((count for count in COLUMNS if fits(count)), 1)


def _rows(axes: Any, labels: Sequence[str], axis: str) -> None:
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(-0.6, len(labels) - 0.4)
    axes.set_xlabel(axis)
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(left=False)


def _dots(axes: Any, axis: str, findings: Sequence[Compared]) -> None:
    axes.use_sticky_edges = False  # leave room for a marker at the end of a bar
    for row, finding in enumerate(reversed(findings)):
        published, mean = finding.number.published, finding.measured["mean"]
        allowed = finding.number.tolerance.of(published)
        band = {"height": 0.62, "facecolor": FAINT, "edgecolor": INK, "linewidth": 0.5, "label": "tolerance"}
        _later(axes.barh(row, 2 * allowed, left=published - allowed, **band), 4)
        (mark,) = axes.plot(
            published, row, "D", ms=6.5, markerfacecolor="none", color=INK, zorder=5, label=finding.number.origin
        )
        _later(mark, 3)
        low, high = finding.measured["ci95"] or [mean, mean]
        rank = list(VERDICTS).index(finding.verdict)
        label = f"measured, {finding.verdict}" if rank else "measured, 95 % interval"
        look = {"fmt": VERDICT_MARKS[finding.verdict], "ms": 5, "color": VERDICTS[finding.verdict], "capsize": 3}
        _later(axes.errorbar(mean, row, xerr=[[mean - low], [high - mean]], label=label, zorder=4, **look), rank)
    _rows(axes, [finding.number.label for finding in reversed(findings)], axis)


def _frame(axes: Any, plot: Chart, limits: tuple[float, float]) -> None:
    for level, dash in zip(plot.levels, DASHES[1:] * len(plot.levels), strict=False):
        _later(axes.axhline(level.value, color=INK, linewidth=1, linestyle=dash, label=level.label), 3)
    axes.set_yscale(plot.y_scale)
    if plot.y_scale == "log":
        axes.yaxis.set_major_formatter(lambda value, _: grouped(value, decimals(float(value))))
    axes.set_ylim(*limits)
    if plot.kind == "series" and axes.get_xlim()[0] < 0 <= min(plot.places(1)):
        axes.set_xlim(left=0)
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    axes.grid(axis="y")


def _lying(axes: Any, plot: Chart, limits: tuple[float, float]) -> None:
    """Frame bars that lie: the values are along the horizontal axis, the first category is on top."""
    for level, dash in zip(plot.levels, DASHES[1:] * len(plot.levels), strict=False):
        _later(axes.axvline(level.value, color=INK, linewidth=1, linestyle=dash, label=level.label), 3)
    axes.set_xscale(plot.y_scale)
    axes.set_xlim(*limits)
    _rows(axes, plot.categories, plot.y_label)
    axes.invert_yaxis()


def _curves(axes: Any, plot: Chart, curves: Curves) -> None:
    for index, (line, values) in enumerate(zip(plot.lines, curves, strict=True)):
        colour, dash = SERIES[line.style % len(SERIES)], DASHES[line.style // len(SERIES) % len(DASHES)]
        marker = "" if line.dashed else MARKERS[line.style % len(MARKERS)]
        known = [(x, value) for x, value in zip(plot.places(len(values)), values, strict=True) if value]
        places = [x for x, _ in known]
        bounds = [value["ci95"] or [value["mean"]] * 2 for _, value in known]
        edges = {"edgecolor": (colour, 0.55), "linewidth": 0.5 if len(curves) > 1 else 0}
        axes.fill_between(places, *zip(*bounds, strict=True), facecolor=(colour, 0.22), **edges)
        means = [value["mean"] for _, value in known]
        look = {"color": colour, "linestyle": DASHED if line.dashed else dash, "linewidth": 1.4, "marker": marker}
        axes.plot(places, means, **look, ms=4, markevery=_marked(len(means), index, len(curves)), label=line.label)
        _printed(axes, line.printed, colour, line.origin)
    axes.set_xscale(plot.scale)
    if plot.kind == "curve" and (_evenly_few(plot.x) if plot.scale == "linear" else len(plot.x) <= MARKED):
        axes.set_xticks(plot.x, [f"{x:g}" for x in plot.x])
        axes.minorticks_off()
    if any(_is_sure(value) for values in curves for value in values):
        _later(axes.fill_between([], [], [], color=INK, alpha=0.22, linewidth=0, label="95 % interval"), 1)


def _marked(points: int, index: int, lines: int) -> tuple[int, int]:
    """Choose the first marked point of a line and the step to the next."""
    if points <= MARKED:
        return 0, 1
    step = -(-points // MARKS)
    return index * step // lines, step


def _is_sure(value: Interval | None) -> bool:
    """Return whether a value has a visible interval."""
    return bool(value and value["ci95"] and value["ci95"][1] > value["ci95"][0])


def _evenly_few(places: Sequence[float]) -> bool:
    gaps = [right - left for left, right in pairwise(places)]
    return 0 < len(gaps) < TICKED and max(gaps) < 1.5 * min(gaps)


GROUP = 0.72
"""The part of a category that its bars take; the rest keeps categories apart."""


def _bars(axes: Any, plot: Chart, curves: Curves) -> None:
    width = GROUP / len(plot.lines)
    draw, error, size = (axes.barh, "xerr", "height") if plot.lying else (axes.bar, "yerr", "width")
    for index, (line, values) in enumerate(zip(plot.lines, curves, strict=True)):
        offset = (index + 0.5) * width - GROUP / 2
        for place, value in zip(plot.places(len(values)), values, strict=True):
            if value:
                low, high = value["ci95"] or [value["mean"]] * 2
                doubt = {error: [[value["mean"] - low], [high - value["mean"]]], "ecolor": INK, "capsize": 1.5}
                look = {"facecolor": SERIES[line.style % len(SERIES)], "edgecolor": GROUND, "linewidth": 0.5}
                draw(place + offset, value["mean"], **{size: width}, **look, **doubt, label=line.label)
        points = [(place + offset, value) for place, value in line.printed]
        _printed(axes, [point[::-1] for point in points] if plot.lying else points, INK, line.origin)
    if any(_is_sure(value) for values in curves for value in values):
        doubt = {error: [0.0], "fmt": "none", "ecolor": INK, "capsize": 2}
        _later(axes.errorbar([float("nan")], [0.0], **doubt, label="95 % interval"), 1)
    if not plot.lying:
        axes.set_xticks(plot.x, plot.categories)


def _printed(axes: Any, points: Sequence[tuple[float, float]], colour: str, origin: str) -> None:
    if points:
        look = {"ms": 6.5, "markerfacecolor": "none", "markeredgewidth": 1.3, "zorder": 4}
        axes.plot(*zip(*points, strict=True), "D", color=colour, **look)
        _later(axes.plot([], [], "D", color=INK, label=origin, **look)[0], 2)


def _spread(axes: Any, weighing: Weighing) -> None:
    numbers = any(variant.findings for variant in weighing.variants)
    labels = []
    for row, variant in enumerate(reversed(weighing.variants)):
        own = score([variant])
        said = [f"{own['within_5pct']}/{own['numbers']} within 5 %"] if numbers else []
        said += [f"{own['claims_held']}/{own['claims']} claims"] if own["claims"] else []
        taken = " (taken)" if variant.value == weighing.sensitivity.taken else ""
        labels.append(f"{variant.value}{taken}\n{', '.join(said)}")
        (_errors if numbers else _verdicts)(axes, row, variant)
    if numbers:
        _relative(axes)
    else:
        axes.set_xticks(range(1, 1 + max(len(variant.judgements) for variant in weighing.variants)))
        axes.margins(x=0.15)
    _rows(axes, labels, "difference from print (%)" if numbers else "claim, as numbered below")


def _errors(axes: Any, row: int, variant: Variant) -> None:
    errors = [100 * finding.relative_error for finding in variant.findings if finding.relative_error is not None]
    near = [error for error in errors if abs(error) <= 5]
    far = [error for error in errors if abs(error) > 5]
    within, differs = VERDICTS["within"], VERDICTS["differs"]
    axes.plot(near, [row] * len(near), "o", ms=5, color=within, alpha=0.75, label="a number within 5 % of print")
    axes.plot(far, [row] * len(far), "x", ms=5, color=differs, alpha=0.85, label="farther")


def _verdicts(axes: Any, row: int, variant: Variant) -> None:
    for place, judgement in enumerate(variant.judgements, start=1):
        looks = ("o", VERDICTS["within"], "holds") if judgement.holds else ("x", VERDICTS["differs"], "does not hold")
        _later(axes.plot(place, row, looks[0], ms=6, color=looks[1], label=looks[2])[0], int(not judgement.holds))


def _relative(axes: Any) -> None:
    """Make an axis of percent with a finer scale near zero."""
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_xscale("symlog", linthresh=10)
    axes.autoscale_view(scaley=False)  # compute the margins on this scale
    ticks: list[int] = []
    for tick in (sign * step for step in (0, 10, 100, 5, 1000, 20, 50, 500, 200) for sign in (-1, 1)):
        place = _place(axes, tick)
        if 0 <= place <= 1 and all(abs(place - _place(axes, other)) >= APART for other in ticks):
            ticks.append(tick)
    axes.set_xticks(sorted(ticks), [f"{tick:+d}".replace("-", "−") if tick else "0" for tick in sorted(ticks)])
    axes.minorticks_off()


def _place(axes: Any, value: float) -> float:
    """Return the position of a value on the axis, between 0 and 1."""
    return float(axes.transAxes.inverted().transform(axes.transData.transform((value, 0)))[0])
