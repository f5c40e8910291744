"""Measurements that a scenario needs so that a picture of its run can be drawn."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pushout import _core
from pushout.document import Document, steps
from pushout.errors import Argument, QuestionError, ScenarioError
from pushout.excerpt import excerpt
from pushout.literals import PANELS, Panel
from pushout.names.figures import is_known, path_of
from pushout.names.load import loads
from pushout.names.place import InMemory, Places, in_memory
from pushout.names.port import Port, lines, ports
from pushout.picture.topology import Network, network
from pushout.quantity import CELL_BYTES, content, seconds
from pushout.simulate import listed

FEW_PORTS, FEW_FLOWS = 3, 4
"""Number of ports and flows in a picture unless they are named: more lines cannot be distinguished."""

SAMPLES, FEWEST, MOST = 4000, 1000, 20_000
"""Number of samples for a picture, and the range in which the scenario's own number is used."""

STEPS, FINEST = 20, 50_000
"""Samples while a line sends a full buffer, and how many a picture asks for at most because of them.

A queue does not fall faster than its line sends, unless a policy removes packets from it. So no peak between two
samples is higher than both by more than a `STEPS`th of the buffer.
"""

ETHERNET = 1500
"""Octets of a packet where a buffer is a number of packets."""

TRANSFERS = ("arrivals", "query", "list")
"""Sources that draw transfers; a document has no throughput of a flow of each."""

WINDOWS = 200
"""Windows in which throughput is measured, unless the scenario says how long they are."""


class Recording(NamedTuple):
    """Ports and flows in a picture of a scenario, and the overrides by which its run measures them."""

    title: str
    what: Sequence[Panel]
    sets: list[str]
    ports: list[str]
    flows: list[str]
    memories: list[InMemory]
    """Memories in the picture, or classes of their queues; none for the fullest."""
    buffers: dict[str, tuple[float, str]]
    """Capacity of each port, and its measure."""
    network: Network
    drains_s: dict[str, float]
    """The time in which the line of a port sends a byte, a cell or a full packet of its queue."""
    rates: dict[str, float]
    """What each port sends at most, in bits per second, by what a legend calls it."""


def panels(what: str | Iterable[str]) -> list[Panel]:
    """The panels of these names, which may be one text with commas."""
    chosen = list(dict.fromkeys(listed("what", what)))
    if not chosen:
        raise QuestionError(Argument("what"), f" must name a panel; allowed: {', '.join(PANELS)}")
    return list(dict.fromkeys(map(_panel, chosen)))


OF_FIGURES: dict[str, Panel] = {
    r"(summary|ports\..+)\.(loss_ratio|lost|lost\..+|losses.*)": "drops",
    r"(summary|ports\..+)\.(marks|marks\..+|marked|marked\..+)": "marks",
    r"ports\..+\.(pauses|pauses\..+|paused_s)": "pauses",
    r"ports\..+\.(occupancy|occupancy_(mean|max|p\d+))": "queue",
    r"ports\..+\.(delay|sojourn_\w+)_s|summary\.(sojourn|queueing|waiting)(_\w+)?": "sojourn",
    r"memories\..+\.(occupancy|occupancy_(mean|max))": "memory",
    r"(summary|flows\..+)\.(goodput_bps|throughput.*)": "throughput",
    r"summary\.goodput_ratio": "goodput",
    r"flows\..+\.cwnd.*": "cwnd",
    r"(ports|flows)\..+\.state.*": "state",
    r"(summary|flows\..+)\.transfer_times?_.+": "fct",
}
"""The panels that draw figures over time, or their distribution."""


FORMER: dict[str, Panel] = {"delay": "sojourn"}
"""Former names of panels: `delay` alone is that of a port, and `delay_p99` that of packets from end to end."""


OTHERS: dict[str, Panel] = {
    "bandwidth": "throughput",
    "backlog": "queue",
    "delay_over_time": "sojourn",
    "dropped": "drops",
    "loss_rate": "drops",
    "losses": "drops",
    "latency": "sojourn",
    "qlen": "queue",
    "queue_length": "queue",
    "rate": "throughput",
    "window": "cwnd",
}
"""Other words for panels."""


def _panel(name: str) -> Panel:
    """Return the panel of a name, or the panel that draws the figure of that name."""
    for panel in PANELS:
        if panel == FORMER.get(name, name):
            return panel
    path = path_of(name)
    for pattern, panel in OF_FIGURES.items():
        if re.fullmatch(pattern, path):
            return panel
    if not is_known(path):
        unknown = _core.unknown("panel", name, list(PANELS))
        if here := OTHERS.get(name.lower()):
            unknown = unknown.replace(" (", f': it is called "{here}" here (', 1)
        raise QuestionError(Argument("what"), f": {unknown}")
    raise QuestionError(
        Argument("what"),
        f" {excerpt(name)}: no panel draws this figure, which a sweep shows in a column; panels: {', '.join(PANELS)}",
    )


def entries(what: str | Iterable[str], part: str) -> list[str]:
    """List the ports or the flows of the figures among some panels."""
    names = what.split(",") if isinstance(what, str) else list(what)
    paths = [steps(path_of(name.strip())) for name in names if "." in name]
    return list(dict.fromkeys(path[1] for path in paths if path[0] == part and path[1] != "*"))


class Shown(NamedTuple):
    """The places of a picture."""

    ports: list[str]
    memories: list[InMemory]


def where(places: Places, at: Sequence[str]) -> Shown:
    """Return the ports and memories of places; of a class of ports, or those that share a memory, the busiest."""
    found = places.named(at) if at else ()
    shown = [name for place in found for name in _most_loaded([port.name for port in place.ports], places.explained)]
    shared = [InMemory(memory.section, place.queue) for place in found for memory in place.memories]
    return Shown(list(dict.fromkeys(shown)), list(dict.fromkeys(shared)))


def memories(at: Iterable[str]) -> list[InMemory]:
    """Return the places in memories among names of places."""
    return [found for name in at if (found := in_memory(name))]


def recording(
    explained: Document,
    what: Sequence[Panel],
    at: Sequence[str],
    flows: Sequence[str],
    sets: Sequence[str] = (),
    shared: Sequence[InMemory] = (),
    state: Sequence[str] = (),
) -> Recording:
    """What to measure for these panels, at these ports and of these flows, else at the busiest and of the first.

    `sets` are the overrides of the scenario: an interval between samples that one of them gives stays. `shared` are the
    memories to be shown, by default the fullest, and `state` the ports and flows whose state is.
    """
    known = ports(explained)
    chosen = [_named("port", name, list(known)) for name in at] or _busiest(explained, known)
    shown = [_named("flow", name, _names(explained)) for name in flows]
    _check(explained, what, chosen)
    is_sampled = any(change.partition("=")[0].strip() == "sample" for change in sets)
    planned = [
        *_series(explained, what, chosen, shown, shared, state),
        *([] if is_sampled else _sampling(explained, what, chosen)),
    ]
    buffers = {name: size for name in chosen if (size := content(known[name].buffer))}
    title = str(explained.get("title") or explained["name"])
    drains, rates = _drains_s(known, chosen), dict(_rate(known[name]) for name in chosen)
    return Recording(title, what, planned, chosen, shown, list(shared), buffers, network(explained), drains, rates)


def _rate(port: Port) -> tuple[str, float]:
    """Return what a port sends at most, with its name in a legend; of a line whose rate changes the mean."""
    return f"{'mean rate' if port.changes else 'rate'} of {port.name}", port.sends_bps


OCTETS = {"bytes": 1, "cells": CELL_BYTES, "packets": ETHERNET}
"""Octets of the units in which ports count; packets are taken to be full."""


def _drains_s(known: Mapping[str, Port], names: Iterable[str]) -> dict[str, float]:
    """Return the time in which the line of each port sends a unit of its queue, if length and rate are known."""
    steady = (name for name in names if not known[name].changes)
    found = ((name, OCTETS.get(known[name].measure), known[name].sends_bps) for name in steady)
    return {name: 8 * octets / bps for name, octets, bps in found if octets}


def fillable(explained: Document, what: Sequence[Panel], at: Sequence[str] = ()) -> list[Panel]:
    """Those of some panels that a scenario can fill at these ports; if none, `INSTEAD`, or its network.

    A memory stands for queues of ports without a buffer of their own.
    """
    lacks = _lacks(explained, at or _busiest(explained, ports(explained)))
    chosen, instead = ([panel for panel in group if panel not in lacks] for group in (what, INSTEAD))
    memory: list[Panel] = ["memory"] if "queue" in what and "queue" in lacks and "memory" not in lacks else []
    return list(dict.fromkeys([*memory, *chosen])) if chosen else instead or ["topology"]


OF_BUFFERS: tuple[Panel, ...] = ("queue", "sojourn", "drops", "marks", "occupancy")
"""Panels of ports with limited buffers."""

INSTEAD: tuple[Panel, ...] = ("memory", "fct", "slowdown")
"""Panels of a scenario whose ports share memories and whose sources draw transfers."""


def _lacks(explained: Document, at: Sequence[str]) -> dict[Panel, str]:
    """Panels that a scenario cannot fill, and what it takes to fill them."""
    lacks: dict[Panel, str] = {}
    if not _drains_s(ports(explained), at):
        lacks["sojourn"] = "port whose buffer is in bytes, cells or packets and whose line keeps its rate"
    if not at:
        lacks |= dict.fromkeys(OF_BUFFERS, "port with a limited buffer")
    if not explained.get("storm") and not any("pause" in keys for keys in explained.get("queue", {}).values()):
        lacks["pauses"] = "class that pauses"
    if not explained.get("memory"):
        lacks["memory"] = "memory that ports share"
    if not any(flow["transport"]["kind"] == "tcp" for flow in explained["flow"]):
        lacks["cwnd"] = "TCP flow"
        if not at:
            lacks["state"] = "port with a limited buffer and no TCP flow"
    kinds = {flow["source"]["kind"] for flow in explained["flow"]} | {each["kind"] for each in _workloads(explained)}
    if not kinds & {"file", *TRANSFERS}:
        lacks["fct"] = "flow that sends files"
    if not kinds & {*TRANSFERS}:
        lacks["slowdown"] = "transfer of a workload or a source (arrivals, query)"
    if all(flow["source"]["kind"] in TRANSFERS for flow in explained["flow"]):
        lacks |= dict.fromkeys(("throughput", "goodput"), "flow but those of transfers, which end")
    return lacks


def _workloads(explained: Document) -> list[Mapping[str, Any]]:
    """List the workload, if there is one."""
    return [explained["workload"]] if explained.get("workload") else []


def _check(explained: Document, what: Sequence[Panel], at: Sequence[str]) -> None:
    """Refuse panels that this scenario cannot fill."""
    lacks = _lacks(explained, at)
    for panel in what:
        if panel in lacks:
            others = ",".join(fillable(explained, [each for each in what if each not in lacks], at))
            raise QuestionError(
                f"{explained['name']} has no {lacks[panel]}, so there is no {panel} to draw: choose ",
                Argument("what"),
                f" {others}",
            )


def _names(explained: Document) -> list[str]:
    return [str(flow["name"]) for flow in explained["flow"]]


def _named(what: str, name: str, known: Sequence[str]) -> str:
    if name not in known:
        raise QuestionError(_core.unknown(what, name, list(known)))
    return name


def _busiest(explained: Document, known: dict[str, Port]) -> list[str]:
    """The ports with a limited buffer that may be sent most, compared with their rate."""
    return _most_loaded([name for name, port in known.items() if port.is_limited], explained)


def keeping(places: Places) -> list[str]:
    """Return those of the busiest ports whose policies keep state that a run can report; if none, of first flows."""
    from pushout.reading import explain

    def keeps(name: str) -> bool:
        try:
            explain(places.source, set=[*places.sets, f"measure.state={json.dumps([name], ensure_ascii=False)}"])
        except ScenarioError:
            return False
        return True

    busiest = _busiest(places.explained, ports(places.explained))
    found = [name for name in busiest if keeps(name)]
    return found or [name for name in _tcp_flows(places.explained, []) if keeps(name)]


def _most_loaded(names: Sequence[str], explained: Document) -> list[str]:
    """Return the first few of these ports by their load."""
    load = loads(explained)
    return sorted(names, key=lambda name: -load.get(name, 0.0))[:FEW_PORTS]


def _series(
    explained: Document,
    what: Sequence[Panel],
    at: list[str],
    flows: list[str],
    shared: Sequence[InMemory],
    state: Sequence[str],
) -> list[str]:
    """Overrides that have a run keep what these panels show, besides what it keeps already."""
    asked = explained.get("measure", {})
    wanted: dict[str, Any] = {}
    if {"queue", "sojourn"} & set(what) and at:
        wanted["occupancy"] = at
    if "drops" in what and at:
        wanted["losses"] = at
    if "marks" in what and at:
        wanted["marks"] = at
    if "pauses" in what:
        wanted["pauses"] = pausable(explained)
    if "state" in what and (state or at):
        wanted["state"] = list(state or at)
    if "memory" in what:
        wanted["memories"] = list(dict.fromkeys(each.memory for each in shared)) or list(explained["memory"])
    if "cwnd" in what and (windowed := _tcp_flows(explained, flows)):
        wanted["cwnd"] = windowed
    if {"fct", "slowdown"} & set(what):
        wanted["transfers"] = True
    if "throughput" in what and not asked.get("window"):
        wanted["window"] = f"{max(1, _measured_ps(explained) // WINDOWS)} ps"
    kept = {key: value for key, value in wanted.items() if not isinstance(value, list)}
    lists = {key: list(dict.fromkeys([*asked.get(key, []), *wanted[key]])) for key in wanted if key not in kept}
    return [f"measure.{key}={json.dumps(value, ensure_ascii=False)}" for key, value in {**kept, **lists}.items()]


def pausable(explained: Document) -> list[str]:
    """Return the ports that can be paused: by a storm, or by a switch at the end of the line.

    The simulator leaves out those that no memory pauses.
    """
    hosts = {node["name"] for node in explained["node"] if node["kind"] == "host"}
    to_switches = [line.name for line in lines(explained) if line.ends[1] not in hosts]
    return list(dict.fromkeys([*to_switches, *(storm["port"] for storm in explained.get("storm", []))]))


def _tcp_flows(explained: Document, flows: list[str]) -> list[str]:
    """The flows that have a congestion window: all that are named, or the first few."""
    known = [str(flow["name"]) for flow in explained["flow"] if flow["transport"]["kind"] == "tcp"]
    return [name for name in flows if name in known] if flows else known[:FEW_FLOWS]


SAMPLED = {"queue", "sojourn", "drops", "marks", "pauses", "cwnd", "state", "occupancy", "memory"}
"""Panels over time, in intervals between samples, or of samples."""


def _sampling(explained: Document, what: Sequence[Panel], at: Sequence[str]) -> list[str]:
    """An override of the interval between samples, if that of the scenario gives too few or too many of them."""
    if not SAMPLED & set(what):
        return []
    measured = _measured_ps(explained)
    given = round(seconds(explained["sample"]) * 1e12)
    fewest = max(FEWEST, _to_see_peaks(explained, at) if {"queue", "sojourn"} & set(what) else 0)
    if fewest <= measured / max(1, given) <= max(MOST, fewest):
        return []
    return [f'sample="{max(1, measured // max(SAMPLES, fewest))} ps"']


def _to_see_peaks(explained: Document, at: Sequence[str]) -> int:
    """Count the samples of a run that has `STEPS` of them while the fastest of these ports sends a full buffer."""
    known = ports(explained)
    rates = {line.name: line.rate_bps for line in lines(explained)}
    sizes = {name: size for name in at if (size := content(known[name].buffer)) and size[0]}
    drains_s = [8 * amount * OCTETS[unit] / rates[name] for name, (amount, unit) in sizes.items()]
    return min(FINEST, round(STEPS * _measured_ps(explained) / 1e12 / min(drains_s))) if drains_s else 0


def _measured_ps(explained: Document) -> int:
    """The measured time in picoseconds."""
    return round((seconds(explained["duration"]) - seconds(explained["warmup"])) * 1e12)
