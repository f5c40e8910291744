"""Draw a measurement: the cost of a unit on a line, for each workload and simulator."""

import io
from typing import Any

from pushout.bench.peers import OURS
from pushout.bench.present import Row, rows, significant
from pushout.svg import compact

COLOURS = {OURS: "#0072b2", "ns-2": "#e69f00", "ns-3": "#009e73"}
"""Colours that colour-blind readers can distinguish (Okabe and Ito)."""
WIDTH_IN, ROW_IN, FRAME_IN = 7.0, 0.27, 1.0


def figure(document: dict[str, Any]) -> str:
    """Draw an SVG: medians as bars on a logarithmic axis, the range of the runs as whiskers."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    lines = [row for row in rows(document) if row.hop_ns]
    style: Any = {"svg.hashsalt": "bench", "svg.fonttype": "none", "font.size": 9}
    with mpl.rc_context(style):
        drawing = Figure(figsize=(WIDTH_IN, FRAME_IN + ROW_IN * len(lines)), layout="constrained")
        axes = drawing.subplots()
        for place, row in enumerate(reversed(lines)):
            _bar(axes, place, row)
        labels = [f"{row.workload}   {row.who}" for row in reversed(lines)]
        axes.set_yticks(range(len(lines)), labels)
        axes.set_xscale("log")
        axes.set_xlabel("ns per cell or packet and line (event loop; median, fastest and slowest run)")
        axes.grid(axis="x", linewidth=0.4)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        text = io.StringIO()
        drawing.savefig(text, format="svg", metadata={"Date": None})
    return compact(text.getvalue())


def _bar(axes: Any, place: int, row: Row) -> None:
    cost, wall = row.hop_ns or 0.0, row.entry["wall_s"]
    low, high = (cost * (1 - wall["min"] / wall["median"]), cost * (wall["max"] / wall["median"] - 1))
    colour = COLOURS.get(row.who.split()[0], "#999999")
    axes.barh(place, cost, xerr=[[low], [high]], height=0.7, color=colour, ecolor="#444444", capsize=2)
    where = {"xytext": (4, 0), "textcoords": "offset points", "va": "center", "fontsize": 8}
    axes.annotate(significant(cost), (cost + high, place), **where)
