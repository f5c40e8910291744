"""How much the flows of a scenario may send to each port."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any

from pushout.document import Document
from pushout.flowlist import transfers
from pushout.names.port import Line, Port, lines
from pushout.quantity import bits_per_second, seconds


class Routes:
    """The shortest routes of a scenario: the share of a flow's packets that each line can expect.

    Where the scenario spreads flows, flowlets or packets over all routes of equal length (routing `ecmp` and its like),
    every node divides what it forwards by the weights of its links; elsewhere everything takes the first of the lines.
    Links that are down, and routes that change during a run, are ignored.
    """

    def __init__(self, explained: Document) -> None:
        """Take an explained scenario."""
        self._is_spread = str(explained["routing"]).startswith("ecmp")
        self._beyond: dict[str, dict[str, list[Line]]] = {}
        for line in lines(explained):
            here, there = line.ends
            self._beyond.setdefault(here, {}).setdefault(there, []).append(line)

    @cached_property
    def _before(self) -> dict[str, list[str]]:
        """The neighbours from which lines lead to each node."""
        before: dict[str, list[str]] = {}
        for here, neighbours in self._beyond.items():
            for there in neighbours:
                before.setdefault(there, []).append(here)
        return before

    def shares(self, nodes: Iterable[str]) -> list[tuple[Line, float]]:
        """List the lines of a route through these nodes, with the share of what is sent that each carries."""
        return [each for begin, end in pairwise(nodes) for each in self._between(begin, end)]

    def _between(self, begin: str, end: str) -> list[tuple[Line, float]]:
        """List the lines of the shortest routes between two nodes, with their shares."""
        hops = self._hops(begin, end)
        if begin not in hops:
            return []
        found: list[tuple[Line, float]] = []
        shares: Mapping[str, float] = {begin: 1.0}
        for _ in range(hops[begin]):
            onward: dict[str, float] = defaultdict(float)
            for node, share in shares.items():
                chosen = self._onward(node, hops)
                weights = [line.weight for line in chosen]
                for line in chosen:
                    part = share * line.weight / sum(weights)
                    found.append((line, part))
                    onward[line.ends[1]] += part
            shares = onward
        return found

    def _onward(self, node: str, hops: Mapping[str, int]) -> list[Line]:
        """List the lines from a node on shortest routes: all of them, or the first."""
        nearer = [there for there in self._beyond[node] if hops.get(there, hops[node]) < hops[node]]
        chosen = [line for there in nearer for line in self._beyond[node][there]]
        return chosen if self._is_spread else chosen[:1]

    def _hops(self, begin: str, end: str) -> dict[str, int]:
        """Count the lines from nodes to the end, of those that are not farther from it than the beginning."""
        hops, waiting = {end: 0}, deque([end])
        while waiting and begin not in hops:
            node = waiting.popleft()
            for other in self._before.get(node, ()):
                if other not in hops:
                    hops[other] = hops[node] + 1
                    waiting.append(other)
        return hops


def loads(explained: Document) -> dict[str, float]:
    """Compute the largest offered load of each port, relative to its rate: the sum of the largest rates of its flows.

    The largest rate of a flow is that of its source or of the slowest line on its way. A flow that draws the hosts to
    which it sends counts with the first of them. The transfers of a workload count with their mean rate over the run.
    """
    routes = Routes(explained)
    found: dict[str, float] = defaultdict(float)
    for flow in explained["flow"]:
        shares = routes.shares([flow["from"], *flow["via"], flow["to"]])
        if not shares:
            continue
        most = min([*(line.rate_bps for line, _ in shares), *_own(flow["source"])])
        for line, share in shares:
            found[line.name] += share * most / line.rate_bps
    for (source, sink), octets in _most_sent(explained):
        for line, share in routes.shares([source, sink]):
            found[line.name] += share * 8 * octets / (line.rate_bps * seconds(explained["duration"]))
    return found


MOST_PAIRS = 1000
"""Pairs of hosts of a workload whose traffic is followed: those that exchange most."""


def _most_sent(explained: Document) -> list[tuple[tuple[str, str], int]]:
    """List pairs of hosts with the octets that the transfers of the workload bring from one to the other."""
    sent: Counter[tuple[str, str]] = Counter()
    for transfer in transfers(explained):
        sent[transfer.source, transfer.sink] += transfer.octets
    return sent.most_common(MOST_PAIRS)


def _own(source: Mapping[str, Any]) -> list[float]:
    """Return the largest rate of a source, if it has one."""
    own = bits_per_second(source.get("peak") or source.get("rate"))
    return [] if own is None else [own]


def busiest(known: Iterable[Port], explained: Document) -> Port:
    """Choose the port whose flows may send most, relative to its rate."""
    load = loads(explained)
    return max(known, key=lambda port: load.get(port.name, 0.0))
