"""A network with the load of its lines and their losses: hosts below, switches in tiers above them."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from pushout.answer import drawing
from pushout.document import Document, Report
from pushout.names.port import lines
from pushout.quantity import percent
from pushout.style import COLOURS, FAINT

NAMED = 16
"""Largest number of nodes in a row with names."""

ASIDE_PT = 1.4
"""Distance of the two directions of a link from its middle, in line widths."""

LOSSES = 8
"""Largest number of lines whose share of losses is written."""

LOWEST_LOSS = 0.5e-4
"""Shares of losses that would be written as 0.00 % are not written."""


class Way(NamedTuple):
    """One direction of a link: its port, its ends, and how many links of the same two nodes come before it."""

    name: str
    ends: tuple[str, str]
    number: int
    rate_bps: float


class Network(NamedTuple):
    """Nodes by tier, hosts first, each tier from left to right, and the lines between them."""

    tiers: Sequence[Sequence[str]]
    ways: Sequence[Way]


class Traffic(NamedTuple):
    """Load of a line: the share of its rate, and the share of arrived units that were lost."""

    load: float
    loss: float


def network(explained: Document) -> Network:
    """Lay out the network of a scenario."""
    known: dict[tuple[str, str], int] = defaultdict(int)
    ways = []
    for line in lines(explained):
        if line.name in explained["port"]:
            ways.append(Way(line.name, line.ends, known[line.ends], line.rate_bps))
            known[line.ends] += 1
    return Network(_tiers(explained["node"], explained["link"]), ways)


def _tiers(nodes: Sequence[Mapping[str, Any]], links: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Rows of nodes by their distance from the nearest host, each in the order of its neighbours in the row above."""
    beside: dict[str, list[str]] = defaultdict(list)
    for link in links:
        beside[link["from"]].append(link["to"])
        beside[link["to"]].append(link["from"])
    distance = {node["name"]: 0 for node in nodes if node["kind"] == "host"}
    waiting = deque(distance)
    while waiting:
        node = waiting.popleft()
        for other in beside[node]:
            if other not in distance:
                distance[other] = distance[node] + 1
                waiting.append(other)
    tiers: list[list[str]] = [[] for _ in range(max(distance.values(), default=0) + 1)]
    for node in nodes:
        tiers[distance.get(node["name"], 0)].append(node["name"])
    for below, above in reversed(list(pairwise(tiers))):
        places = {name: place for place, name in enumerate(above)}
        below.sort(key=lambda name: _mean([places[other] for other in beside[name] if other in places]))
    return tiers


def _mean(places: Sequence[int]) -> float:
    return sum(places) / len(places) if places else 0.0


def traffic(network: Network, documents: Sequence[Report]) -> dict[str, Traffic]:
    """Measure what each line carried, as means over replications."""
    found: dict[str, list[Traffic]] = defaultdict(list)
    rates = {way.name: way.rate_bps for way in network.ways}
    for document in documents:
        seconds = document["duration_s"] - document["warmup_s"]
        for port in document["ports"]:
            lost = sum(port["lost"].values()) / port["units_in"] if port["units_in"] else 0.0
            found[port["name"]].append(Traffic(8 * port["octets_out"] / seconds / rates[port["name"]], lost))
    return {name: Traffic(*(sum(each) / len(each) for each in zip(*all_, strict=True))) for name, all_ in found.items()}


def draw(axes: Any, network: Network, documents: Sequence[Report]) -> None:
    """Draw nodes and lines: the colour of a line is its load, and the share of its losses stands beside it."""
    from matplotlib.collections import LineCollection

    at = places(network)
    carried = traffic(network, documents)
    letters = axes.xaxis.label.get_size()
    width = drawing.LINE_PT * letters * 1.6
    axes.set_xlim(-0.04, 1.04)
    axes.set_ylim(-0.25, len(network.tiers) - 0.75)
    axes.set_axis_off()
    axes.figure.draw_without_rendering()  # settles the size of the axes, on which distances in points depend
    segments = [_segment(axes, at, way, width) for way in network.ways]
    idle = Traffic(0.0, 0.0)
    drawn = LineCollection(segments, cmap=_colours(), linewidths=width)
    drawn.set_array([carried.get(way.name, idle).load for way in network.ways])
    drawn.set_clim(0, 1)
    axes.add_collection(drawn)
    bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.8, pad=0.02, aspect=14)
    bar.set_label("load of the line")
    bar.outline.set_visible(False)
    _losses(axes, network, segments, carried, letters)
    _nodes(axes, network, at, letters)


LOSS_AT = 0.62
"""Where the share of losses stands on a line."""


def _colours() -> Any:
    """From the grey of an idle line to the purple of a full one, which is seen on a white page and on a dark one."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("load", [COLOURS[FAINT][1], drawing.PALETTE[4], drawing.PALETTE[3]])


def places(network: Network) -> dict[str, tuple[float, float]]:
    """Return the place of every node."""
    return {
        name: ((index + 0.5) / len(tier), float(height))
        for height, tier in enumerate(network.tiers)
        for index, name in enumerate(tier)
    }


def _segment(axes: Any, at: Mapping[str, tuple[float, float]], way: Way, width: float) -> Any:
    """Place a line beside the straight way between its nodes: to the right of it, as seen in its direction."""
    import numpy as np

    ends = axes.transData.transform([at[way.ends[0]], at[way.ends[1]]])
    along = ends[1] - ends[0]
    right = np.array([along[1], -along[0]]) / (np.hypot(*along) or 1.0)
    aside = right * ASIDE_PT * width * (0.5 + way.number) * axes.figure.dpi / 72
    return axes.transData.inverted().transform(ends + aside)


def _losses(
    axes: Any, network: Network, segments: Sequence[Any], carried: Mapping[str, Traffic], letters: float
) -> None:
    """Write the share of losses on the lines that lose most, beyond the name of the node where they begin."""
    shares = [(carried[way.name].loss, place) for place, way in enumerate(network.ways) if way.name in carried]
    look = {"color": drawing.PALETTE[1], "size": 0.85 * letters}
    if max(shares, default=(0.0, 0))[0] >= LOWEST_LOSS:
        axes.text(
            0.5, -0.04, "% of units lost before the line", transform=axes.transAxes, ha="center", va="top", **look
        )
    for loss, place in sorted(shares, reverse=True)[:LOSSES]:
        if loss < LOWEST_LOSS:
            return
        begin, end = segments[place]
        axes.text(
            *(begin + LOSS_AT * (end - begin)),
            percent(loss),
            **look,
            ha="center",
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
            zorder=4,
        )


def _nodes(axes: Any, network: Network, at: Mapping[str, tuple[float, float]], letters: float) -> None:
    """Draw hosts as circles and switches as squares, with names where a row has room for them."""
    for height, tier in enumerate(network.tiers):
        xs, ys = zip(*(at[name] for name in tier), strict=True) if tier else ((), ())
        axes.plot(xs, ys, "o" if height == 0 else "s", color=drawing.GREY, ms=0.5 * letters, zorder=3, clip_on=False)
        room = axes.bbox.width / axes.figure.dpi * 72 / max(len(tier), 1)
        longest = max(map(len, tier), default=0)
        if len(tier) > NAMED or longest * 0.6 * letters > room:
            continue
        for name in tier:
            below = height == 0
            offset = (0, -0.6 * letters if below else 0.6 * letters)
            where = {"textcoords": "offset points", "ha": "center", "va": "top" if below else "bottom"}
            ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.75}
            axes.annotate(name, at[name], offset, size=letters, annotation_clip=False, bbox=ground, **where)
