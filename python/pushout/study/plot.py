"""The drawings of a study as SVG, in the colours of the page or alone. Nothing else imports matplotlib."""

import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pushout.stats import Interval
from pushout.study.charts import Chart
from pushout.study.outcome import Finding, Variant, Weighing, score

INK, FAINT, MEASURED, PRINTED = "#010203", "#040506", "#070809", "#0a0b0c"
"""Stand-ins in the drawing for the colours of the page, which differ between light and dark."""

SERIES = ("#101112", "#131415", "#161718", "#191a1b", "#1c1d1e", "#1f2021")

COLOURS = {
    INK: ("currentColor", "#1b1f24"),
    FAINT: ("var(--faint)", "#d8dee4"),
    MEASURED: ("var(--measured)", "#0072b2"),
    PRINTED: ("var(--printed)", "#d55e00"),
    SERIES[0]: ("var(--series-1)", "#0072b2"),
    SERIES[1]: ("var(--series-2)", "#d55e00"),
    SERIES[2]: ("var(--series-3)", "#009e73"),
    SERIES[3]: ("var(--series-4)", "#aa4499"),
    SERIES[4]: ("var(--series-5)", "#56b4e9"),
    SERIES[5]: ("var(--series-6)", "#b8860b"),
}
"""What each stands for: in the page, and in a file of its own."""

DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))
MARKERS = "os^vDP"
MARKED = 14
"""Lines of at most as many points show each of them; longer ones are curves."""

TICKED = 8
"""Axes of at most as many values, evenly spaced, name each of them."""

WIDTHS = (12, 34)
"""Up to which length of their labels legends have three and two columns; beyond they have one."""

WIDTH_IN, HEIGHT_IN, ROW_IN, FRAME_IN = 4.4, 3.1, 0.34, 1.05


@dataclass(frozen=True)
class Drawing:
    """A finished drawing."""

    title: str
    svg: str

    def alone(self) -> str:
        """As a file of its own, dark on white."""
        svg = self.svg.replace("<svg ", '<svg style="background:#fff" ', 1)
        for stand_in, (_, colour) in COLOURS.items():
            svg = svg.replace(stand_in, colour)
        return svg

    def inline(self, name: str) -> str:
        """As part of a page: no prologue, no fixed size, ids of its own, the page's colours."""
        svg = self.svg[self.svg.index("<svg") :]
        svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)
        prefix = re.sub(r"\W+", "-", name.lower())
        svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)
        for stand_in, (colour, _) in COLOURS.items():
            svg = svg.replace(stand_in, colour)
        label = self.title.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
        return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def dots(title: str, axis: str, findings: Sequence[Finding]) -> Drawing:
    """One row per number: the printed value with its tolerance, the measured mean with its confidence interval."""
    return _draw(title, FRAME_IN + ROW_IN * len(findings), lambda axes: _dots(axes, axis, findings))


def chart(plot: Chart, curves: Sequence[Sequence[Interval | None]]) -> Drawing:
    """Means with their 95 % bands, and what is printed: points in the colour of their line, levels across."""
    labels = [line.label for line in plot.lines] + [level.label for level in plot.levels]
    rows = -(-len(labels) // min(2, _columns(labels)))
    kinds = {"curve": _curves, "series": _curves, "bars": _bars}
    return _draw(plot.title, HEIGHT_IN + 0.17 * rows, lambda axes: kinds[plot.kind](axes, plot, curves))


def spread(weighing: Weighing) -> Drawing:
    """One row per value of an assumption: the relative error of every number, and how many are near."""
    count = len(weighing.variants)
    return _draw(weighing.sensitivity.assumption, 0.75 + 0.5 * count, lambda axes: _spread(axes, weighing))


def _draw(title: str, height: float, fill: Callable[[Any], None]) -> Drawing:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(style(title)):
        figure = Figure(figsize=(WIDTH_IN, height), layout="constrained")
        axes = figure.subplots()
        fill(axes)
        handles, labels = axes.get_legend_handles_labels()
        unique = dict(zip(labels, handles, strict=True))
        if unique:
            looks = {"ncols": _columns(unique), "frameon": False, "fontsize": 8}
            figure.legend(unique.values(), unique.keys(), loc="outside upper left", **looks)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return Drawing(title, text.getvalue())


def _columns(labels: Iterable[str]) -> int:
    longest = max(map(len, labels))
    return 1 + sum(longest <= width for width in WIDTHS)


def style(title: str) -> Any:
    """How every drawing looks, in the stand-ins for the colours."""
    clear = dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none")
    ink = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK)
    text = {"svg.fonttype": "none", "svg.hashsalt": title, "font.size": 9, "font.family": "sans-serif"}
    spines = {"axes.spines.top": False, "axes.spines.right": False}
    return {**clear, **ink, **text, **spines, "axes.axisbelow": True, "grid.color": FAINT, "grid.linewidth": 0.6}


def _rows(axes: Any, labels: Sequence[str], axis: str) -> None:
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(-0.6, len(labels) - 0.4)
    axes.set_xlabel(axis)
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)
    axes.tick_params(left=False)


def _dots(axes: Any, axis: str, findings: Sequence[Finding]) -> None:
    axes.use_sticky_edges = False  # a mark at the end of a bar has room, too
    for row, finding in enumerate(reversed(findings)):
        published, mean = finding.number.published, finding.measured["mean"]
        allowed = finding.number.tolerance.of(published)
        axes.barh(row, 2 * allowed, left=published - allowed, height=0.62, color=FAINT, label="tolerance")
        axes.plot(published, row, "D", ms=6, markerfacecolor="none", color=PRINTED, label="printed", zorder=3)
        low, high = finding.measured["ci95"] or [mean, mean]
        doubt = {"xerr": [[mean - low], [high - mean]], "capsize": 3, "label": "measured, 95 % CI"}
        axes.errorbar(mean, row, fmt="o", ms=4.5, color=MEASURED, zorder=4, **doubt)
    _rows(axes, [finding.number.label for finding in reversed(findings)], axis)


def _frame(axes: Any, plot: Chart) -> None:
    for level, dash in zip(plot.levels, DASHES[1:] * len(plot.levels), strict=False):
        axes.axhline(level.value, color=PRINTED, linewidth=1, linestyle=dash, label=level.label)
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    axes.grid(axis="y")


def _curves(axes: Any, plot: Chart, curves: Sequence[Sequence[Interval | None]]) -> None:
    for line, values in zip(plot.lines, curves, strict=True):
        colour, dash = SERIES[line.style % len(SERIES)], DASHES[line.style // len(SERIES) % len(DASHES)]
        marker = MARKERS[line.style % len(MARKERS)] if len(values) <= MARKED else ""
        known = [(x, value) for x, value in zip(plot.places(len(values)), values, strict=True) if value]
        places = [x for x, _ in known]
        bounds = [value["ci95"] or [value["mean"]] * 2 for _, value in known]
        axes.fill_between(places, *zip(*bounds, strict=True), color=colour, alpha=0.22, linewidth=0)
        means = [value["mean"] for _, value in known]
        axes.plot(places, means, color=colour, linestyle=dash, linewidth=1.3, marker=marker, ms=3.5, label=line.label)
        _printed(axes, line.printed, colour)
    axes.set_xscale(plot.scale)
    if plot.kind == "curve" and (_evenly_few(plot.x) if plot.scale == "linear" else len(plot.x) <= MARKED):
        axes.set_xticks(plot.x, [f"{x:g}" for x in plot.x])
        axes.minorticks_off()
    _frame(axes, plot)


def _evenly_few(places: Sequence[float]) -> bool:
    gaps = [right - left for left, right in pairwise(places)]
    return 0 < len(gaps) < TICKED and max(gaps) < 1.5 * min(gaps)


def _bars(axes: Any, plot: Chart, curves: Sequence[Sequence[Interval | None]]) -> None:
    width = 0.8 / len(plot.lines)
    for index, (line, values) in enumerate(zip(plot.lines, curves, strict=True)):
        offset = (index + 0.5) * width - 0.4
        colour = SERIES[line.style % len(SERIES)]
        for x, value in zip(plot.places(len(values)), values, strict=True):
            if value:
                low, high = value["ci95"] or [value["mean"]] * 2
                doubt = {"yerr": [[value["mean"] - low], [high - value["mean"]]], "ecolor": INK, "capsize": 1.5}
                axes.bar(x + offset, value["mean"], width * 0.92, color=colour, label=line.label, **doubt)
        _printed(axes, [(x + offset, y) for x, y in line.printed], INK)
    axes.set_xticks(plot.x, plot.categories, rotation=0 if sum(map(len, plot.categories)) < 55 else 60)
    _frame(axes, plot)


def _printed(axes: Any, points: Sequence[tuple[float, float]], colour: str) -> None:
    if points:
        style = {"ms": 6, "markerfacecolor": "none", "markeredgewidth": 1.3, "zorder": 4, "label": "printed"}
        axes.plot(*zip(*points, strict=True), "D", color=colour, **style)


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
    _rows(axes, labels, "difference from print (%)" if numbers else "claim")


def _errors(axes: Any, row: int, variant: Variant) -> None:
    errors = [100 * finding.relative_error for finding in variant.findings if finding.relative_error is not None]
    near = [error for error in errors if abs(error) <= 5]
    far = [error for error in errors if abs(error) > 5]
    axes.plot(near, [row] * len(near), "o", ms=4.5, color=MEASURED, alpha=0.75, label="within 5 % of print")
    axes.plot(far, [row] * len(far), "x", ms=4.5, color=PRINTED, alpha=0.85, label="farther")


def _verdicts(axes: Any, row: int, variant: Variant) -> None:
    for place, judgement in enumerate(variant.judgements, start=1):
        looks = ("o", MEASURED, "holds") if judgement.holds else ("x", PRINTED, "does not")
        axes.plot(place, row, looks[0], ms=6, color=looks[1], label=looks[2])


def _relative(axes: Any) -> None:
    """An axis of percent, fine near zero."""
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_xscale("symlog", linthresh=10)
    axes.autoscale_view(scaley=False)  # the margins are to be those of this scale
    near = any(abs(edge) < 40 for edge in axes.get_xlim())
    steps = (5, 10, 20, 50, 100, 200, 500) if near else (10, 100, 1000)
    ticks = [tick for tick in (*(-step for step in reversed(steps)), 0, *steps) if _reaches(axes, tick)]
    axes.set_xticks(ticks, [f"{tick:+d}" if tick else "0" for tick in ticks])
    axes.minorticks_off()


def _reaches(axes: Any, tick: float) -> bool:
    low, high = axes.get_xlim()
    return bool(low <= tick <= high)
