"""Numbers measured against printed, as SVG that takes its colours from the page. The only file that knows matplotlib."""

import io
import re
from collections.abc import Sequence

from pushout.study.reproduce import Finding

INK, FAINT = "#010203", "#040506"
"""Stand-ins in the drawing for the colours of the page, which differ between light and dark."""

COLOURS = {INK: "currentColor", FAINT: "var(--faint)"}

MEASURED, PRINTED = "#0072b2", "#d55e00"
"""Blue and vermilion of Okabe and Ito's palette, told apart by every eye; the marks differ too."""

WIDTH_IN, ROW_IN, FRAME_IN = 4.4, 0.34, 1.05


def dots(title: str, axis: str, findings: Sequence[Finding]) -> str:
    """One row per number: the printed value with its tolerance, the measured mean with its confidence interval."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style = {"svg.fonttype": "none", "svg.hashsalt": title, "font.size": 9, "font.family": "sans-serif"}
    ink = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK)
    with mpl.rc_context(style | ink):
        figure = Figure(figsize=(WIDTH_IN, FRAME_IN + ROW_IN * len(findings)), layout="constrained")
        axes = figure.subplots()
        for row, finding in enumerate(findings):
            _row(axes, len(findings) - 1 - row, finding)
        axes.set_yticks(range(len(findings)), [finding.number.label for finding in reversed(findings)])
        axes.set_ylim(-0.6, len(findings) - 0.4)
        axes.set_xlabel(axis)
        axes.grid(axis="x", color=FAINT, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(left=False)
        handles, labels = axes.get_legend_handles_labels()
        unique = dict(zip(labels, handles, strict=True))
        figure.legend(unique.values(), unique.keys(), loc="outside upper left", ncols=3, frameon=False, fontsize=8)
        text = io.StringIO()
        FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None, "Creator": None})
    return _inline(text.getvalue(), title)


def _row(axes, row: int, finding: Finding) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    number, measured = finding.number, finding.measured
    allowed = number.tolerance.of(number.published)
    axes.barh(row, 2 * allowed, left=number.published - allowed, height=0.62, color=FAINT, label="tolerance")
    axes.plot(
        number.published, row, "D", markersize=6, markerfacecolor="none", color=PRINTED, label="printed", zorder=3
    )
    low, high = measured["ci95"] or [measured["mean"]] * 2
    axes.errorbar(
        measured["mean"],
        row,
        xerr=[[measured["mean"] - low], [high - measured["mean"]]],
        fmt="o",
        markersize=4.5,
        capsize=3,
        color=MEASURED,
        label="measured, 95 % CI",
        zorder=4,
    )


def _inline(svg: str, title: str) -> str:
    """Make a stand-alone SVG part of a page: no prologue, no fixed size, ids of its own, the page's colours."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)
    prefix = re.sub(r"\W+", "-", title.lower())
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)
    for stand_in, colour in COLOURS.items():
        svg = svg.replace(stand_in, colour)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{title}: measured beside printed" ', 1)
