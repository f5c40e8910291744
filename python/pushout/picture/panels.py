"""The panels of a picture: each draws one thing of all runs that it is given."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pushout.document import REASONS
from pushout.errors import QuestionError
from pushout.literals import Panel
from pushout.picture import series, topology
from pushout.picture.series import Curve, Run
from pushout.question import drawing
from pushout.question.drawing import PALETTE, Look
from pushout.stats import interval

FLOWS = 4
"""Most flows that a panel draws one by one; with more it draws their sum, unless some are named."""

LOGARITHMIC = 8.0
"""From this ratio of the largest to the smallest value on, a distribution has a logarithmic axis."""

SHORT = {"bytes": "packets", "memory cells": "units"}
"""A port that counts octets loses packets, and one in a memory whatever its line carries."""

IN_WORDS = {
    "overflow": "buffer overflow",
    "partial": "rest of a broken frame",
    "early": "early discard",
    "random": "random discard",
    "front": "from the front",
    "pushed-out": "pushed out",
    "marked": "marked by the policer",
    "gatekeeper": "gatekeeper",
    "janitor": "janitor",
    "policed": "policer",
    "delay": "waited too long",
    "link": "lost by intent",
    "watchdog": "watchdog of pauses",
}
"""Reasons of losses."""


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


def of(panel: Panel, runs: Sequence[Run]) -> list[Drawn]:
    """The panels of this kind: one, but for losses, of which every run and port has its own."""
    return PANELS[panel](runs)


def _named(run: Run, name: str, runs: Sequence[Run], names: Sequence[str]) -> str:
    """Return the name of a series in a legend: the run, the port or flow, or both, if there are several."""
    if len(runs) == 1:
        return name
    return f"{run.name}, {name}" if len(names) > 1 else run.name


def _measured(run: Run, name: str, runs: Sequence[Run], names: Sequence[str], unit: str) -> str:
    """Return the name of a port's series, with the port's unit if `unit` is empty."""
    own = series.entry(run.documents[0], "ports", name)["occupancy_unit"]
    return _named(run, name, runs, names) + ("" if unit else f" ({own})")


def _queue_of(run: Run, name: str, runs: Sequence[Run], names: Sequence[str], unit: str) -> str:
    """Return the name of a queue in a legend: a single one in words."""
    named = _measured(run, name, runs, names, unit)
    return f"queue of {named}" if len(runs) == len(names) == 1 else named


def _queue(runs: Sequence[Run]) -> list[Drawn]:
    shown = [(run, series.entries(run, "ports", run.ports, "occupancy", "queue over time")) for run in runs]
    unit = _unit(runs, shown)

    def draw(axes: Any, points: int) -> Doubts:
        curves = [
            (_queue_of(run, name, runs, names, unit), series.curve(run, "ports", name, ("occupancy", "values"), points))
            for run, names in shown
            for name in names
        ]
        _buffers(axes, shown, max(curve.highest for _, curve in curves))
        return _over_time(axes, curves)

    return [Drawn(f"queue ({unit})" if unit else "queue", TIME, draw)]


def _delay(runs: Sequence[Run]) -> list[Drawn]:
    shown = [(run, _draining(run)) for run in runs]

    def draw(axes: Any, points: int) -> Doubts:
        curves = [
            (
                f"delay at {name}" if len(runs) == len(names) == 1 else _named(run, name, runs, names),
                series.curve(run, "ports", name, ("occupancy", "values"), points).scaled(run.drains_s[name]),
            )
            for run, names in shown
            for name in names
        ]
        return _over_time(axes, curves)

    return [Drawn("queueing delay (s)", TIME, draw)]


def _draining(run: Run) -> list[str]:
    """Return the ports whose queue over time is known, and how fast their lines send it."""
    names = series.entries(run, "ports", run.ports, "occupancy", "queue over time")
    if not (known := [name for name in names if name in run.drains_s]):
        raise QuestionError(
            f"{run.name} has no port whose rate and unit are known; a finished run has none: draw the scenario itself"
        )
    return known


def _unit(runs: Sequence[Run], shown: Sequence[tuple[Run, Sequence[str]]]) -> str:
    """In what occupancies are counted; nothing if ports differ."""
    units = {series.entry(run.documents[0], "ports", name)["occupancy_unit"] for run, names in shown for name in names}
    return units.pop() if len(units) == 1 else ""


def _buffers(axes: Any, shown: Sequence[tuple[Run, Sequence[str]]], highest: float) -> None:
    """A dashed line at the size of the buffer, if all have the same and the queue comes near it."""
    sizes = {run.buffers.get(name) for run, names in shown for name in names}
    size = sizes.pop() if len(sizes) == 1 else None
    if size and highest >= size[0] / 2:
        axes.axhline(size[0], color=drawing.GREY, linestyle=(0, (4, 2)), linewidth=0.9, label="buffer")


def _range(axes: Any, times: Any, bounds: tuple[Any, Any], look: drawing.Look, lines: int) -> Doubts:
    """Draw the least and the greatest value of each stretch of time as a column, so that short peaks have a width."""
    low, high = bounds
    if lines > 1:
        axes.step(times, high, where="mid", color=look["color"], linewidth=0.4, alpha=0.7)
        return Doubts()
    axes.fill_between(times, low, high, step="mid", facecolor=(look["color"], 0.3), linewidth=0)
    return Doubts(series.RANGE, "band")


def _over_time(axes: Any, curves: Sequence[tuple[str, Curve]]) -> Doubts:
    """Draw lines over time with their bands, and of the ranges of several lines only the upper ends."""
    found = Doubts()
    for index, ((name, curve), look) in enumerate(zip(curves, drawing.looks(len(curves)), strict=True)):
        if curve.band and curve.band_is == series.RANGE:
            found = _range(axes, curve.times, curve.band, look, len(curves))
        elif curve.band:
            drawn = drawing.doubt(axes, curve.times, curve.mean, curve.band, look, (index, len(curves)))
            found = Doubts(curve.band_is, drawn)
        axes.plot(curve.times, curve.mean, color=look["color"], linestyle=look["linestyle"], label=name)
    return found


def _drops(runs: Sequence[Run]) -> list[Drawn]:
    return _counted(runs, "losses", "losses over time", "lost")


def _marks(runs: Sequence[Run]) -> list[Drawn]:
    return _counted(runs, "marks", "marks over time", "marked")


def _counted(runs: Sequence[Run], key: str, why: str, what: str) -> list[Drawn]:
    """Draw the units that each port lost or marked, a panel each."""
    shown = [(run, name) for run in runs for name in series.entries(run, "ports", run.ports, key, why)]
    several_ports = len({name for _, name in shown}) > 1

    def panel(run: Run, port: str) -> Drawn:
        unit = series.entry(run.documents[0], "ports", port)["occupancy_unit"]
        title = ", ".join([run.name] * (len(runs) > 1) + [port] * several_ports)
        units = f"{what} {SHORT.get(unit, unit)}"

        def draw(axes: Any, points: int) -> Doubts:
            found = series.counts(run, port, key, points // 5)
            _bars(axes, found, what)
            axes.set_ylabel(f"{units}\nin {drawing.duration(found.width)}")
            return Doubts()

        return Drawn("", TIME, draw, title)

    return [panel(run, port) for run, port in shown]


def _bars(axes: Any, found: series.Counts, what: str) -> None:
    """Units in stretches of time, stacked by reason."""
    import numpy as np

    names = {
        reason: words if what == "lost" else words.replace("discard", "mark") for reason, words in IN_WORDS.items()
    }
    base = np.zeros(max([len(each) for each in found.units.values()], default=1))
    starts = found.start + found.width * np.arange(len(base))
    for reason, counts in found.units.items():
        heights = np.concatenate([counts, np.zeros(len(base) - len(counts))])
        colour = PALETTE[REASONS.index(reason) % len(PALETTE)]
        fill = {"width": found.width, "align": "edge", "color": colour, "linewidth": 0}
        axes.bar(starts, heights, bottom=base, label=names[reason], **fill)
        base = base + heights
    if not found.units:
        axes.text(0.5, 0.5, f"nothing was {what}", transform=axes.transAxes, ha="center", va="center")
        axes.set_ylim(0, 1)


def _pauses(runs: Sequence[Run]) -> list[Drawn]:
    shown = [(run, _most_paused(run)) for run in runs]

    def draw(axes: Any, points: int) -> Doubts:
        curves = [
            (f"{_named(run, name, runs, names)}, {of}" if len(found) > 1 else _named(run, name, runs, names), curve)
            for run, names in shown
            for name in names
            for found in [series.pauses(run, name, points // 5)]
            for of, curve in found.items()
        ]
        axes.set_ylim(0, 100)
        return _over_time(axes, [(name, _alone(curve)) for name, curve in curves])

    return [Drawn("time paused (%)", TIME, draw)]


PAUSED = 3
"""Ports that the panel of pauses draws at most: those that were paused most."""


def _most_paused(run: Run) -> list[str]:
    """The ports that were paused longest, among those to be shown."""

    def paused(name: str) -> float:
        return -float(series.entry(run.documents[0], "ports", name)["paused_s"])

    known = [entry["name"] for entry in run.documents[0]["ports"] if "pauses" in entry]
    names = [name for name in run.ports if name in known]
    return sorted(series.entries(run, "ports", names, "pauses", "pauses over time"), key=paused)[:PAUSED]


def _throughput(runs: Sequence[Run]) -> list[Drawn]:
    groups = [(run, _groups(run)) for run in runs]

    def draw(axes: Any, points: int) -> Doubts:
        curves = [
            (_named(run, name, runs, list(grouped)), series.total(run, members, points))
            for run, grouped in groups
            for name, members in grouped.items()
        ]
        curves = [(name, _alone(curve)) for name, curve in curves]
        return _over_time(axes, curves)

    return [Drawn("in-order data (b/s)", TIME, draw)]


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
            (_named(run, name, runs, names), _alone(series.curve(run, "flows", name, ("cwnd", "octets"), points)))
            for run, names in shown
            for name in names
        ]
        return _over_time(axes, curves)

    return [Drawn("congestion window (bytes)", TIME, draw)]


def _state(runs: Sequence[Run]) -> list[Drawn]:
    shown = [
        (run, name) for run in runs for name in series.entries(run, "ports", run.ports, "state", "state over time")
    ]
    several = len({name for _, name in shown}) > 1
    figures = dict.fromkeys(name for run, port in shown for name in series.state_names(run, port))

    def panel(figure: str) -> Drawn:
        def draw(axes: Any, points: int) -> Doubts:
            curves = [
                (_figure_named(run, port, queue, runs, several), _alone(curve))
                for run, port in shown
                for queue, curve in series.state(run, port, figure, points)[:FLOWS]
            ]
            return _over_time(axes, curves)

        return Drawn(figure, TIME, draw)

    return [panel(figure) for figure in figures]


def _figure_named(run: Run, port: str, queue: int | None, runs: Sequence[Run], several: bool) -> str:
    """Return the name of a figure of a port's policies in a legend: of several runs, ports or queues which one."""
    words = [run.name] * (len(runs) > 1) + [port] * (several or len(runs) == 1)
    return ", ".join([*words, *([] if queue is None else [f"queue {queue}"])])


def _alone(curve: Curve) -> Curve:
    """A curve without its range: what is itself a mean over windows, or moves in steps, has none worth showing."""
    return Curve(curve.times, curve.mean) if curve.band_is == series.RANGE else curve


def _occupancy(runs: Sequence[Run]) -> list[Drawn]:
    shown = [(run, _sampled(run)) for run in runs]
    unit = _unit(runs, shown)

    def draw(axes: Any, _: int) -> Doubts:
        curves = [
            (_measured(run, name, runs, names, unit), series.distribution(run, name))
            for run, names in shown
            for name in names
        ]
        for (name, (levels, shares)), look in zip(curves, drawing.looks(len(curves)), strict=True):
            axes.plot(levels, shares, color=look["color"], linestyle=look["linestyle"], label=name)
        axes.set_xlim(left=0)
        axes.set_ylim(0, drawing.WHOLE)
        return Doubts()

    return [Drawn("share of time\nwith at most this", f"occupancy ({unit})" if unit else "occupancy", draw)]


def _sampled(run: Run) -> list[str]:
    """The ports whose occupancy was sampled."""
    ports = run.documents[0]["ports"]
    names = [port["name"] for port in ports if port["occupancy_distribution"]["share"] and "occupancy_p50" in port]
    chosen = [name for name in names if name in run.ports] if run.ports else names
    if not chosen:
        raise QuestionError(f"{run.name} has no port with a limited buffer whose occupancy was sampled")
    return chosen


def _memory(runs: Sequence[Run]) -> list[Drawn]:
    shown = [(run, name) for run in runs for name in _fullest(run)]
    several = len({name for _, name in shown}) > 1

    def panel(run: Run, memory: str) -> Drawn:
        title = ", ".join([run.name] * (len(runs) > 1) + [memory] * several)
        return Drawn("memory (cells)", TIME, lambda axes, points: _sharing(axes, run, memory, points), title)

    return [panel(run, memory) for run, memory in shown]


def _fullest(run: Run) -> list[str]:
    """The fullest memories of a run: a fabric has many."""

    def free(name: str) -> float:
        memory = series.entry(run.documents[0], "memories", name)
        return 1.0 - float(memory["occupancy_max"]) / float(memory["cells"])

    known = [entry["name"] for entry in run.documents[0].get("memories", ())]
    shown = [name for name in known if any(each.has(name) for each in run.memories)]
    return sorted(series.entries(run, "memories", shown, "occupancy", "memory over time"), key=free)[:MEMORIES]


MEMORIES, QUEUES = 2, 3
"""Of more memories and queues only the fullest are drawn."""


def _sharing(axes: Any, run: Run, memory: str, points: int) -> Doubts:
    """Draw the occupancy of a memory in grey, of its fullest queues, and dotted their limits."""
    found = series.shared(run, memory, QUEUES, points)
    axes.fill_between(found.whole.times, found.whole.mean, color=drawing.GREY, alpha=0.25, linewidth=0, label="all")
    for (name, held, threshold), look in zip(found.queues, drawing.looks(len(found.queues)), strict=True):
        axes.plot(held.times, held.mean, color=look["color"], label=name)
        if threshold:
            axes.plot(threshold.times, threshold.mean, color=look["color"], linestyle=":", linewidth=0.9)
    return Doubts()


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
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)


def _slowdown(runs: Sequence[Run]) -> list[Drawn]:
    import numpy as np
    from matplotlib.ticker import LogLocator

    found = [series.slowdowns(run) for run in runs]

    def draw(axes: Any, _: int) -> Doubts:
        for run, groups, look in zip(runs, found, drawing.looks(len(runs)), strict=True):
            named = f"{run.name}, " if len(runs) > 1 else ""
            for what, values, line in (("median", groups.median, "-"), ("99th percentile", groups.p99, "--")):
                style: dict[str, Any] = {"color": look["color"], "marker": look["marker"], "ms": 3.5}
                axes.plot(groups.octets, values, linestyle=line, label=f"{named}{what}", **style)
        _spread_out(axes, np.concatenate([groups.octets for groups in found]))
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        return Doubts()

    return [Drawn("slowdown", "size of the transfer (bytes)", draw)]


def _goodput(runs: Sequence[Run]) -> list[Drawn]:
    def draw(axes: Any, _: int) -> Doubts:
        count = len(runs)
        for index, (run, look) in enumerate(zip(runs, drawing.looks(count), strict=True)):
            columns = zip(
                *([flow["goodput_bps"] for flow in document["flows"]] for document in run.documents), strict=True
            )
            for place, values in enumerate(columns, 1):
                mean = interval(list(values))
                at = place + (index - (count - 1) / 2) * 0.6 / count
                mark = {"color": look["color"], "fmt": look["marker"], "ms": 3.5, "capsize": 2}
                label = run.name if place == 1 and count > 1 else None
                axes.errorbar(at, mean["mean"], yerr=drawing.bar(mean), label=label, **mark)
        return Doubts(series.INTERVAL, "bar") if any(len(run.documents) > 1 for run in runs) else Doubts()

    if not all(document["flows"] for run in runs for document in run.documents):
        raise QuestionError("nothing to draw: no flow has a goodput")
    names = [flow["name"] for flow in runs[0].documents[0]["flows"]]
    return [Drawn("goodput (b/s)", "flow", draw, names=[_short(name) for name in names] if len(names) <= NAMED else [])]


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
    "queue": _queue,
    "drops": _drops,
    "marks": _marks,
    "pauses": _pauses,
    "delay": _delay,
    "throughput": _throughput,
    "cwnd": _cwnd,
    "state": _state,
    "occupancy": _occupancy,
    "memory": _memory,
    "fct": _fct,
    "slowdown": _slowdown,
    "goodput": _goodput,
    "topology": _topology,
}
"""Functions that draw the panels."""
