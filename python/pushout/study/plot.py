"""Numbers measured against printed, as SVG in the colours of the page. Nothing else imports matplotlib."""

import io
import re
from collections.abc import Sequence
from typing import Any

from pushout.study.reproduce import Finding

INK, FAINT, MEASURED, PRINTED = "#010203", "#040506", "#070809", "#0a0b0c"
"""Stand-ins in the drawing for the colours of the page, which differ between light and dark."""

COLOURS = {
    INK: "currentColor",
    FAINT: "var(--faint)",
    MEASURED: "var(--measured)",
    PRINTED: "var(--printed)",
}

WIDTH_IN, ROW_IN, FRAME_IN = 4.4, 0.34, 1.05


def dots(title: str, axis: str, findings: Sequence[Finding]) -> str:
    """One row per number: the printed value with its tolerance, the measured mean with its confidence interval."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_style(title)):
        figure = Figure(figsize=(WIDTH_IN, FRAME_IN + ROW_IN * len(findings)), layout="constrained")
        axes = figure.subplots()
        for row, finding in enumerate(reversed(findings)):
            _row(axes, row, finding)
        axes.set_yticks(range(len(findings)), [finding.number.label for finding in reversed(findings)])
        axes.set_ylim(-0.6, len(findings) - 0.4)
        axes.set_xlabel(axis)
        axes.grid(axis="x", color=FAINT, linewidth=0.6)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(left=False)
        handles, labels = axes.get_legend_handles_labels()
        unique = dict(zip(labels, handles, strict=True))
        figure.legend(unique.values(), unique.keys(), loc="outside upper left", ncols=3, frameon=False, fontsize=8)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return _inline(text.getvalue(), title)


def _style(title: str) -> Any:
    clear = dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none")
    ink = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK)
    text = {"svg.fonttype": "none", "svg.hashsalt": title, "font.size": 9, "font.family": "sans-serif"}
    return {**clear, **ink, **text, "axes.axisbelow": True}


def _row(axes: Any, row: int, finding: Finding) -> None:
    published, mean = finding.number.published, finding.measured["mean"]
    allowed = finding.number.tolerance.of(published)
    axes.barh(row, 2 * allowed, left=published - allowed, height=0.62, color=FAINT, label="tolerance")
    axes.plot(published, row, "D", ms=6, markerfacecolor="none", color=PRINTED, label="printed", zorder=3)
    low, high = finding.measured["ci95"] or [mean, mean]
    doubt = {"xerr": [[mean - low], [high - mean]], "capsize": 3, "label": "measured, 95 % CI"}
    axes.errorbar(mean, row, fmt="o", ms=4.5, color=MEASURED, zorder=4, **doubt)


def _inline(svg: str, title: str) -> str:
    """Make a stand-alone SVG part of a page: no prologue, no fixed size, ids of its own, the page's colours."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg, count=2)
    prefix = re.sub(r"\W+", "-", title.lower())
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)
    for stand_in, colour in COLOURS.items():
        svg = svg.replace(stand_in, colour)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{title}: measured beside printed" ', 1)
