"""Figures that questions compute from others: losses of the network, totals over reasons, drops of lossless classes.

The simulator measures the paths of `sources`, and `value` computes a figure of a run from them.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from pushout.document import REASONS, Document, steps
from pushout.errors import QuestionError
from pushout.names.port import lines, quoted
from pushout.simulate import Job
from pushout.source import Source

LOSS, LOST, MARKS = "summary.loss_ratio", "summary.lost", "summary.marks"
"""The share and the number of the units lost at all ports, and the units marked there."""

OF_THE_NETWORK = ("topology", "node", "link")
"""Keys whose overrides change the ports of a scenario."""


def is_at_host(explained: Document) -> list[bool]:
    """Return for each port, in the order of the report, whether it sends what a host puts into the network."""
    hosts = {node["name"] for node in explained["node"] if node["kind"] == "host"}
    return [line.ends[0] in hosts for line in lines(explained)]


class Scenes:
    """The scenarios of many points. Those with equal networks are explained once: a recording makes that slow."""

    def __init__(self, source: Source, engine: str | None) -> None:
        self._source, self._engine = source, engine
        self._at_host: dict[tuple[str, ...], list[bool]] = {}

    def store_network(self, sets: Sequence[str], explained: Document) -> None:
        """Store which ports hosts have in a scenario that is explained already."""
        self._at_host[_of_network(sets)] = is_at_host(explained)

    def of(self, sets: Sequence[str]) -> "Scene":
        """Return the scenario of a point."""
        return Scene(Job(self._source, tuple(sets), self._engine), self._at_host)


def _of_network(sets: Sequence[str]) -> tuple[str, ...]:
    """Return the overrides that may change the network."""
    return tuple(change for change in sets if change.strip().startswith(OF_THE_NETWORK))


class Scene:
    """A scenario as far as computed figures need it, explained and measured only when asked."""

    def __init__(self, job: Job, at_host: dict[tuple[str, ...], list[bool]]) -> None:
        self._job, self._at_host = job, at_host

    @cached_property
    def _explained(self) -> Document:
        explained: Document = json.loads(self._job.explain())
        return explained

    @property
    def is_at_host(self) -> list[bool]:
        """Return for each port whether it sends what a host puts into the network; see `is_at_host`."""
        network = _of_network(self._job.sets)
        if network not in self._at_host:
            self._at_host[network] = is_at_host(self._explained)
        return self._at_host[network]

    @cached_property
    def _memories(self) -> dict[str, list[bool]]:
        shortest = Job(self._job.source, (*self._job.sets, "warmup=0 s", "duration=1 ns"), self._job.engine)
        pausing = {name for name, keys in self._explained.get("queue", {}).items() if "pause" in keys}
        entries = shortest.run(None).get("memories", [])
        return {entry["name"]: [queue["queue"] in pausing for queue in entry["queues"]] for entry in entries}

    @property
    def memories(self) -> list[str]:
        """List the names of the memories in the report."""
        return list(self._memories)

    def is_lossless(self, memory: str) -> list[bool]:
        """Return for each queue of a memory, in the order of the report, whether its class pauses."""
        return self._memories[memory]


Value = Callable[[Sequence[str], Sequence[Any], Scene], float | None]
"""Computes a figure from the name of its entry, the values of its sources and the scenario."""


class Computed(NamedTuple):
    """A figure that the simulator does not report: the paths of its sources, and its value."""

    sources: tuple[str, ...]
    value: Value
    unit: str
    meaning: str


def _sum(_names: Sequence[str], values: Sequence[Any], _scene: Scene) -> float:
    return sum(_flat(values))


def _flat(values: Sequence[Any]) -> Iterator[float]:
    """Yield every number of nested lists; a missing one counts zero."""
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        elif value is not None:
            yield value


def _loss(_names: Sequence[str], values: Sequence[Any], scene: Scene) -> float | None:
    *lost, units = values
    sent = sum(count for count, is_at_host in zip(units, scene.is_at_host, strict=True) if is_at_host)
    return sum(_flat(lost)) / sent if sent else None


def _loss_at_port(_names: Sequence[str], values: Sequence[Any], _scene: Scene) -> float | None:
    lost, units = values
    return float(sum(_flat(lost)) / units) if units else None


def _loss_of_flow(_names: Sequence[str], values: Sequence[Any], _scene: Scene) -> float | None:
    sent, received = values
    return max(0.0, 1 - received / sent) if sent else None


def _variation(_names: Sequence[str], values: Sequence[Any], _scene: Scene) -> float | None:
    long, least = values
    return None if long is None or least is None else float(long - least)


def _lost_of(lossless: bool) -> Value:
    """Make the sum over the queues of the classes that pause, or over those of all others."""

    def lost(names: Sequence[str], values: Sequence[Any], scene: Scene) -> float | None:
        (dropped,) = values
        pairs = zip(dropped, scene.is_lossless(names[0]), strict=True)
        return float(sum(count for count, is_lossless in pairs if is_lossless is lossless))

    return lost


def _variations(part: str) -> dict[str, Computed]:
    """Return the delay variation of each flow, or class of flows: how much longer than the shortest packets take."""
    of = f"{part}.{{}}.delivery_time"
    words = {"p50": "half of the packets", "p95": "95 % of them", "p99": "99 % of them", "max": "any of them"}
    return {
        f"{part}.*.delay_variation_{name}_s": Computed(
            (f"{of}_{name}_s", f"{of}_min_s"),
            _variation,
            "s",
            f"The most that {count} took longer than the fastest: the packet delay variation of RFC 5481, section 4.2.",
        )
        for name, count in words.items()
    }


def _everywhere(key: str) -> tuple[str, ...]:
    """Return the paths of a count by reason, at all ports."""
    return tuple(f"ports.*.{key}.{reason}" for reason in REASONS)


COMPUTED: dict[str, Computed] = {
    LOSS: Computed(
        (*_everywhere("lost"), "ports.*.units_in"),
        _loss,
        "1",
        "Cells or packets lost at all ports, over those that hosts sent into the network, acknowledgements included.",
    ),
    LOST: Computed(_everywhere("lost"), _sum, "count", "Cells or packets lost at all ports."),
    MARKS: Computed(_everywhere("marked"), _sum, "count", "Cells or packets marked at all ports."),
    "ports.*.lost.total": Computed(("ports.{}.lost.*",), _sum, "count", "Units lost for all reasons together."),
    "ports.*.marked.total": Computed(("ports.{}.marked.*",), _sum, "count", "Units marked for all reasons together."),
    "ports.*.loss_ratio": Computed(
        ("ports.{}.lost.*", "ports.{}.units_in"), _loss_at_port, "1", "Units lost at the port, over `units_in`."
    ),
    **_variations("flows"),
    "flows.*.loss_ratio": Computed(
        ("flows.{}.segments_sent", "flows.{}.segments_received"),
        _loss_of_flow,
        "1",
        "Packets of the flow that did not arrive, over those sent; at the end those on the way count as well.",
    ),
    "memories.*.lost": Computed(("memories.{}.queues.*.dropped",), _sum, "count", "Packets lost by all queues."),
    "memories.*.marks": Computed(("memories.{}.queues.*.marked",), _sum, "count", "Packets of all queues marked."),
    "memories.*.lossless_drop": Computed(
        ("memories.{}.queues.*.dropped",),
        _lost_of(lossless=True),
        "count",
        "Packets lost by the queues of classes that pause: 0 if the headroom suffices.",
    ),
    "memories.*.lossy_drop": Computed(
        ("memories.{}.queues.*.dropped",),
        _lost_of(lossless=False),
        "count",
        "Packets lost by the queues of all other classes.",
    ),
}
"""The figures that are computed; a `*` in a name stands for an entry, which `{}` in a source repeats."""


def _computed(path: str) -> tuple[Computed, list[str]] | None:
    """Find a computed figure and the name of the entry in its path; it is computed for one entry."""
    if "*" in path and path in COMPUTED:
        example = path.replace("*", "NAME")
        raise QuestionError(f"figure {path} must name a single entry, as in {example}, not all of them")
    if path in COMPUTED:
        return COMPUTED[path], []
    part, *rest = steps(path)
    if len(rest) < 2 or rest[0] == "*":
        return None
    found = COMPUTED.get(".".join([part, "*", *rest[1:]]))
    return found and (found, rest[:1])


def in_memories(path: str, names: Sequence[str]) -> str:
    """Name in the path of a memory its only partition, or the only node that has it, as the report does."""
    part, *rest = steps(path)
    if part != "memories" or not rest or rest[0] in names:
        return path
    found = [name for name in names if re.fullmatch(rf"{re.escape(rest[0])}(/\d+|@.+)", name)]
    return ".".join(["memories", *map(quoted, [*found, *rest[1:]])]) if len(found) == 1 else path


def sources(path: str) -> tuple[str, ...]:
    """Return the paths that the simulator measures for a figure."""
    found = _computed(path)
    return tuple(each.format(*map(quoted, found[1])) for each in found[0].sources) if found else (path,)


def sources_of(paths: Sequence[str]) -> list[str]:
    """Return the paths that the simulator measures for several figures."""
    return list(dict.fromkeys(source for path in paths for source in sources(path)))


def needs(path: str, source: str) -> bool:
    """Return whether a figure is, or is computed from, another."""
    return source in (path, *sources(path))


def is_computed(path: str) -> bool:
    """Return whether a figure is computed from others."""
    return _computed(path) is not None


def value(path: str, measured: Mapping[str, Any], scene: Scene) -> Any:
    """Return a figure of a run from what the simulator measured in it."""
    found = _computed(path)
    if found is None:
        return measured.get(path)
    return found[0].value(found[1], [measured[source] for source in sources(path)], scene)
