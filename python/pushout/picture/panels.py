"""The panels of a picture: each draws one thing of all runs that it is given."""

from collections.abc import Callable, Sequence
from typing import Any

from pushout.answer import drawing
from pushout.answer.drawing import Look
from pushout.errors import QuestionError
from pushout.literals import Panel
from pushout.picture import port_panels, series, topology
from pushout.picture.drawn import TIME, Doubts, Drawn, alone, named, over_time
from pushout.picture.series import Run
from pushout.stats import interval

FLOWS = 4
"""Most flows that a panel draws one by one; with more it draws their sum, unless some are named."""


LOGARITHMIC = 8.0
"""From this ratio of the largest to the smallest value on, a distribution has a logarithmic axis."""


def of(panel: Panel, runs: Sequence[Run]) -> list[Drawn]:
    """The panels of this kind: one, but for losses, of which every run and port has its own."""
    return PANELS[panel](runs)


def _throughput(runs: Sequence[Run]) -> list[Drawn]:
    groups = [(run, _groups(run)) for run in runs]

    def draw(axes: Any, points: int) -> Doubts:
        curves = [
            (named(run, name, runs, list(grouped)), series.total(run, members, points))
            for run, grouped in groups
            for name, members in grouped.items()
        ]
        curves = [(name, alone(curve)) for name, curve in curves]
        _line(axes, runs, max(curve.highest for _, curve in curves))
        return over_time(axes, curves)

    return [Drawn("in-order data (b/s)", TIME, draw)]


LEAST_SHARE = 0.25
"""A rate is drawn beside throughputs that reach this share of it; beside lower ones it would hide them."""


def _line(axes: Any, runs: Sequence[Run], highest: float) -> None:
    """Draw what the line sends at most beside throughputs, if all ports that are shown have the same rate."""
    rates = {name: rate for run in runs for name, rate in run.rates.items()}
    equal = set(rates.values())
    if len(equal) == 1 and highest >= LEAST_SHARE * (rate := equal.pop()):
        label = next(iter(rates)) if len(rates) == 1 else "rate of each port"
        axes.axhline(rate, color=drawing.GREY, linestyle=(0, (1, 2)), linewidth=0.9, label=label)


def _groups(run: Run) -> dict[str, list[str]]:
    """The flows whose throughputs are added up: each by itself, or by class, or all of them."""
    names = series.entries(run, "flows", run.flows, "throughput", "throughput over time")
    if run.flows or len(names) <= FLOWS:
        return {name: [name] for name in names}
    classes: dict[str, list[str]] = {}
    for name in names:
        of = series.entry(run.documents[0], "flows", name).get("class", "")
        classes.setdefault(f"class {of}" if of else "", []).append(name)
    if len(classes) == 1:
        return {f"all {len(names)} flows": names}
    return {of or "flows without a class": members for of, members in classes.items()}


def _cwnd(runs: Sequence[Run]) -> list[Drawn]:
    known = [(run, series.entries(run, "flows", run.flows, "cwnd", "congestion windows")) for run in runs]
    shown = [(run, names if run.flows else names[: max(1, FLOWS // len(runs))]) for run, names in known]

    def draw(axes: Any, points: int) -> Doubts:
        curves = [
            (named(run, name, runs, names), alone(series.curve(run, "flows", name, ("cwnd", "octets"), points)))
            for run, names in shown
            for name in names
        ]
        return over_time(axes, curves)

    counts = {(len(names), sum("segments_sent" in flow for flow in run.documents[0]["flows"])) for run, names in shown}
    few = next((f"\nof {some} of {most} flows" for some, most in sorted(counts) if some < most), "")
    return [Drawn(f"congestion window{few} (bytes)", TIME, draw)]


def _fct(runs: Sequence[Run]) -> list[Drawn]:
    import numpy as np

    samples = [series.transfer_times(run) for run in runs]

    def draw(axes: Any, _: int) -> Doubts:
        for run, values, look in zip(runs, samples, drawing.looks(len(runs)), strict=True):
            shares = 1 - np.arange(1, len(values) + 1) / len(values)
            name = f"{run.name}, {len(values)} transfers" if len(runs) > 1 else f"{len(values)} transfers"
            places, steps = np.concatenate([values[:1], values]), np.concatenate([[1.0], shares])
            kind: Look = {"color": look["color"], "linestyle": look["linestyle"]}
            axes.step(places, steps, where="post", label=name, **kind)
        _spread_out(axes, np.concatenate(samples))
        if min(map(len, samples)) >= TAIL:
            axes.set_yscale("log")
            axes.set_ylim(top=drawing.WHOLE)
        else:
            axes.set_ylim(0, drawing.WHOLE)
        return Doubts()

    return [Drawn("fraction of transfers\nthat take longer", "transfer time (s)", draw)]


TAIL = 100
"""From this number of transfers on, the fraction that takes longer has a logarithmic axis: high percentiles show."""


def _spread_out(axes: Any, values: Any) -> None:
    """Make the axis to the right logarithmic if the values differ much."""
    if values.max() >= LOGARITHMIC * values.min() > 0:
        drawing.log(axes)
    else:
        axes.set_xlim(left=0)


def _slowdown(runs: Sequence[Run]) -> list[Drawn]:
    import numpy as np
    from matplotlib.ticker import LogLocator

    found = [series.slowdowns(run) for run in runs]

    def draw(axes: Any, _: int) -> Doubts:
        looks = drawing.looks(max(2, len(runs)))
        for run, groups, look in zip(runs, found, looks, strict=False):
            named = f"{run.name}, " if len(runs) > 1 else ""
            other = look if len(runs) > 1 else looks[1]  # of several runs, the colour says which one it is
            full: dict[str, Any] = {"color": look["color"], "marker": look["marker"], "ms": 3.5}
            hollow = {**full, "color": other["color"], "marker": other["marker"], "markerfacecolor": "white"}
            axes.plot(groups.octets, groups.median, linestyle="-", label=f"{named}median", **full)
            axes.plot(groups.octets, groups.p99, linestyle="--", label=f"{named}99th percentile", **hollow)
        _spread_out(axes, np.concatenate([groups.octets for groups in found]))
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        return Doubts()

    return [Drawn("slowdown", "size of the transfer (bytes)", draw)]


def _goodput(runs: Sequence[Run]) -> list[Drawn]:
    def draw(axes: Any, _: int) -> Doubts:
        count, highest = len(runs), 0.0
        for index, (run, look) in enumerate(zip(runs, drawing.looks(count), strict=True)):
            label = run.name if count > 1 else None
            for name, values in _goodputs(run).items():
                mean = interval(values)
                at = 1 + names.index(name) + (index - (count - 1) / 2) * 0.6 / count
                mark = {"color": look["color"], "fmt": look["marker"], "ms": 3.5, "capsize": 2, "clip_on": False}
                axes.errorbar(at, mean["mean"], yerr=drawing.bar(mean), label=label, **mark)
                label, highest = None, max(highest, (mean["ci95"] or [mean["mean"]])[-1])
        axes.set_xlim(0.5, len(names) + 0.5)
        axes.set_ylim(0, highest * drawing.WHOLE or 1.0)
        return Doubts(series.INTERVAL, "bar") if any(len(run.documents) > 1 for run in runs) else Doubts()

    if not all(document["flows"] for run in runs for document in run.documents):
        raise QuestionError("nothing to draw: no flow has a goodput")
    names = list(dict.fromkeys(name for run in runs for name in _goodputs(run)))
    return [Drawn("goodput (b/s)", "flow", draw, names=[_short(name) for name in names] if len(names) <= NAMED else [])]


def _goodputs(run: Run) -> dict[str, list[float]]:
    """Return the goodput of each flow, for each replication."""
    flows = zip(*(document["flows"] for document in run.documents), strict=True)
    return {each[0]["name"]: [flow["goodput_bps"] for flow in each] for each in flows}


NAMED, LETTERS = 12, 16
"""Largest number of flows with names below the axis, and the letters shown of a name."""


def _short(name: str) -> str:
    """The beginning and the end of a long name."""
    return name if len(name) <= LETTERS else f"{name[: LETTERS // 2 - 1]}…{name[-LETTERS // 2 :]}"


def _topology(runs: Sequence[Run]) -> list[Drawn]:
    def panel(run: Run, network: topology.Network) -> Drawn:
        def draw(axes: Any, _: int) -> Doubts:
            topology.draw(axes, network, run.documents)
            return Doubts()

        return Drawn("", "", draw, run.name if len(runs) > 1 else "", is_map=True)

    networks = [(run, run.network) for run in runs]
    lacking = next((run.name for run, network in networks if network is None), None)
    if lacking is not None:
        raise QuestionError(
            f"{lacking} is a finished run, which does not say how nodes are linked: draw the scenario itself"
        )
    return [panel(run, network) for run, network in networks if network is not None]


PANELS: dict[Panel, Callable[[Sequence[Run]], list[Drawn]]] = {
    "queue": port_panels.queue,
    "drops": port_panels.drops,
    "marks": port_panels.marks,
    "pauses": port_panels.pauses,
    "sojourn": port_panels.sojourn,
    "throughput": _throughput,
    "cwnd": _cwnd,
    "state": port_panels.state,
    "occupancy": port_panels.occupancy,
    "memory": port_panels.memory,
    "fct": _fct,
    "slowdown": _slowdown,
    "goodput": _goodput,
    "topology": _topology,
}
"""Functions that draw the panels."""
