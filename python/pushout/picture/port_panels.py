"""The panels of ports and memories: queues, delays, losses, marks, pauses, the state of policies, occupancies."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pushout.answer import drawing
from pushout.answer.drawing import PALETTE
from pushout.document import REASONS
from pushout.errors import QuestionError
from pushout.picture import series
from pushout.picture.drawn import TIME, Doubts, Drawn, alone, named, over_time
from pushout.picture.series import Run

SERIES = 4
"""Most queues of which the state of a policy is drawn."""

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


class Curved(NamedTuple):
    """A port of a run with its name in the legend and its look, the same in every panel."""

    run: Run
    port: str
    name: str
    look: drawing.Look


def queue(runs: Sequence[Run]) -> list[Drawn]:
    """Draw the occupancy of ports over time, with a panel for each unit in which they count."""
    shown = [(run, series.entries(run, "ports", run.ports, "occupancy", "queue over time")) for run in runs]

    def panel(unit: str, ports: Sequence[Curved]) -> Drawn:
        def draw(axes: Any, points: int) -> Doubts:
            way = ("occupancy", "values")
            curves = [(each.name, series.curve(each.run, "ports", each.port, way, points)) for each in ports]
            _buffers(axes, ports, max(curve.highest for _, curve in curves))
            return over_time(axes, curves, [each.look for each in ports])

        return Drawn(f"queue ({unit})", TIME, draw)

    return [panel(unit, ports) for unit, ports in _by_unit(runs, shown, "queue of ").items()]


def _by_unit(runs: Sequence[Run], shown: Sequence[tuple[Run, Sequence[str]]], what: str) -> dict[str, list[Curved]]:
    """Sort ports by the unit in which they count; a single one is called `what` it is of."""
    all_ = [(run, name, named(run, name, runs, names)) for run, names in shown for name in names]
    found: dict[str, list[Curved]] = {}
    for (run, name, title), look in zip(all_, drawing.looks(len(all_)), strict=True):
        unit = series.entry(run.documents[0], "ports", name)["occupancy_unit"]
        found.setdefault(unit, []).append(Curved(run, name, f"{what}{title}" if len(all_) == 1 else title, look))
    return found


def sojourn(runs: Sequence[Run]) -> list[Drawn]:
    """Draw the time in which the line of each port sends its queue."""
    shown = [(run, _draining(run)) for run in runs]

    def draw(axes: Any, points: int) -> Doubts:
        curves = [
            (
                f"sojourn at {name}" if len(runs) == len(names) == 1 else named(run, name, runs, names),
                series.curve(run, "ports", name, ("occupancy", "values"), points).scaled(run.drains_s[name]),
            )
            for run, names in shown
            for name in names
        ]
        return over_time(axes, curves)

    of = "\nof full packets" if _unit(runs, shown) == "packets" else ""
    return [Drawn(f"sojourn time{of} (s)", TIME, draw)]


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


def _buffers(axes: Any, ports: Sequence[Curved], highest: float) -> None:
    """A dashed line at the size of the buffer, if all have the same and the queue comes near it."""
    sizes = {each.run.buffers.get(each.port) for each in ports}
    size = sizes.pop() if len(sizes) == 1 else None
    if size and highest >= size[0] / 2:
        axes.axhline(size[0], color=drawing.GREY, linestyle=(0, (4, 2)), linewidth=0.9, label="buffer")


def drops(runs: Sequence[Run]) -> list[Drawn]:
    """Draw the units that ports lose, by reason."""
    return _counted(runs, "losses", "losses over time", "lost")


def marks(runs: Sequence[Run]) -> list[Drawn]:
    """Draw the units that ports mark, by reason."""
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
        axes.set_ylim(0, 2)
        axes.locator_params(axis="y", integer=True)


def pauses(runs: Sequence[Run]) -> list[Drawn]:
    """Draw the share of time in which classes are stopped."""
    shown = [(run, _most_paused(run)) for run in runs]

    def draw(axes: Any, points: int) -> Doubts:
        curves = [
            (f"{named(run, name, runs, names)}, {of}" if len(found) > 1 else named(run, name, runs, names), curve)
            for run, names in shown
            for name in names
            for found in [series.pauses(run, name, points)]
            for of, curve in found.items()
        ]
        axes.set_ylim(0, 100)
        return over_time(axes, [(name, alone(curve)) for name, curve in curves])

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


def state(runs: Sequence[Run]) -> list[Drawn]:
    """Draw what the policies of ports and the congestion controls of flows keep."""
    shown = [each for run in runs for each in _keeping(run)]
    several = len({name for _, _, name in shown}) > 1
    figures = list(dict.fromkeys(name for each in shown for name in series.state_names(*each)))
    moving = [name for name in figures if any(series.changes(*each, name) for each in shown)] or figures

    def panel(figure: str) -> Drawn:
        def draw(axes: Any, points: int) -> Doubts:
            curves = [
                (_figure_named(run, name, queue, runs, several), alone(curve))
                for run, part, name in shown
                for queue, curve in series.state(run, part, name, figure, points)[:SERIES]
            ]
            return over_time(axes, curves)

        constant = len(figures) - len(moving) if figure == moving[-1] else 0
        few = f"constant: {constant} other figure{'s' * (constant > 1)}, not drawn" if constant else ""
        return Drawn(_with_unit(figure), TIME, draw, few)

    return [panel(figure) for figure in moving]


def _with_unit(figure: str) -> str:
    """Write the name of a figure with its unit in brackets, if it ends with one."""
    for ending, unit in (("_bps", "b/s"), ("_s", "s")):
        if figure.endswith(ending):
            return f"{figure.removesuffix(ending).replace('_', ' ')} ({unit})"
    return figure


def _keeping(run: Run) -> list[tuple[Run, str, str]]:
    """Return the ports and flows of a run that have a state over time, each with its part of the document."""
    flows = [(run, "flows", name) for name in series.having(run, "flows", run.flows, "state")]
    if flows and not series.having(run, "ports", run.ports, "state"):
        return flows
    return [
        (run, "ports", name) for name in series.entries(run, "ports", run.ports, "state", "state over time")
    ] + flows


def _figure_named(run: Run, name: str, queue: int | None, runs: Sequence[Run], several: bool) -> str:
    """Return the name of a figure in a legend: of several runs, ports or flows, and queues which one."""
    words = [run.name] * (len(runs) > 1) + [name] * (several or len(runs) == 1)
    return ", ".join([*words, *([] if queue is None else [f"queue {queue}"])])


def occupancy(runs: Sequence[Run]) -> list[Drawn]:
    """Draw the distribution of occupancies, with a panel for each unit in which ports count."""

    def panel(unit: str, ports: Sequence[Curved]) -> Drawn:
        def draw(axes: Any, _: int) -> Doubts:
            for each in ports:
                levels, shares = series.distribution(each.run, each.port)
                axes.plot(levels, shares, color=each.look["color"], linestyle=each.look["linestyle"], label=each.name)
            axes.set_xlim(left=0)
            axes.set_ylim(0, drawing.WHOLE)
            return Doubts()

        return Drawn("share of time\nwith at most this", f"occupancy ({unit})", draw)

    return [panel(unit, ports) for unit, ports in _by_unit(runs, [(run, _sampled(run)) for run in runs], "").items()]


def _sampled(run: Run) -> list[str]:
    """The ports whose occupancy was sampled."""
    ports = run.documents[0]["ports"]
    names = [port["name"] for port in ports if port["occupancy_distribution"]["share"] and "occupancy_p50" in port]
    chosen = [name for name in names if name in run.ports] if run.ports else names
    if not chosen:
        raise QuestionError(f"{run.name} has no port with a limited buffer whose occupancy was sampled")
    return chosen


def memory(runs: Sequence[Run]) -> list[Drawn]:
    """Draw what memories and their queues hold."""
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
    if any(threshold for _, _, threshold in found.queues):
        axes.plot([], [], color=drawing.GREY, linestyle=":", linewidth=0.9, label="what a queue may hold")
    return Doubts()
