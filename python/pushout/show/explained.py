"""Print a complete scenario in words: what it simulates, its network, its buffers and its traffic."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from pushout.document import Document
from pushout.flowlist import transfers
from pushout.names.port import Port, ports
from pushout.quantity import grouped, readable
from pushout.show.columns import Column, describe

MOST_ROWS = 20
"""Rows of a table; a scenario of thousands of ports has many equal ones, which share a row."""

IDLE = ("0 s", "0 cells", "0 bytes", "", None, False)
"""Values that a summary leaves out."""


def scenario(explained: Document, engine: str, notes: Sequence[str], console: Console) -> None:
    """Print a scenario with every default that it has; `notes` are sentences about its engine and its memories.

    `engine` is the one that runs it, which may differ from the one that it names.
    """
    console.print(Text(str(explained["name"]), style="bold").append(_titled(explained), style="default"))
    console.print(_run(explained, engine), soft_wrap=True)
    _table(console, "network", ("links", "from", "to", "rate", "delay", "repeats", "minimum"), _links(explained))
    _table(console, "buffers", ("ports", "buffer", "admission", "scheduler", "besides"), _ports(explained))
    _table(console, "memories", ("memory", "size", "admission", "ports"), _memories(explained))
    _table(console, "held back behind a link", ("link", "packets", "by"), _reorders(explained))
    _table(console, "pauses from outside", ("port", "queue", "from", "to"), _storms(explained))
    _table(console, "traffic", ("flows", "from", "to", "source", "transport", "start"), _flows(explained))
    console.print(_measured(explained), soft_wrap=True)
    for note in notes:
        console.print(f"note: {note}", soft_wrap=True)


def _titled(explained: Document) -> str:
    return f": {explained['title']}" if explained.get("title") else ""


def _run(explained: Document, engine: str) -> str:
    """Say how long a run is, what moves on its lines and which engine computes it."""
    warmup = explained["warmup"]
    counted = "all of it measured" if warmup in IDLE else f"measured after {warmup}"
    kinds = [f"{count} {kind if count == 1 else PLURALS[kind]}" for kind, count in _counts(explained["node"]).items()]
    return (
        f"{explained['duration']} simulated, {counted}; seed {explained['seed']}, engine {engine}; "
        f"{', '.join(kinds)}; {_moved(explained['adaptation'])}; routing {explained['routing']}."
    )


def _moved(adaptation: Mapping[str, Any]) -> str:
    """Say what moves on the lines, with the octets that these add."""
    if adaptation["kind"] == "aal5":
        return "cells of AAL5"
    given = {key: adaptation.get(key) for key in ("header", "minimum") if adaptation.get(key) not in IDLE}
    words = {"header": "each with {} more on its line", "minimum": "at least {} long there"}
    return ", ".join(["packets", *(words[key].format(value) for key, value in given.items())])


PLURALS = {"host": "hosts", "switch": "switches", "router": "routers"}


def _counts(entries: Iterable[Mapping[str, Any]], key: str = "kind") -> dict[str, int]:
    """Count the entries by a value that each of them has."""
    found: dict[str, int] = {}
    for entry in entries:
        found[entry[key]] = found.get(entry[key], 0) + 1
    return found


def _table(console: Console, title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of texts, without columns that are empty in every row; nothing if there is no row."""
    listed = list(rows)
    filled = [index for index in range(len(heads)) if any(row[index] for row in listed)]
    if not listed:
        return
    shown = [[row[index] for index in filled] for row in listed[:MOST_ROWS]]
    columns = [Column(heads[index], right=False, whole=index == filled[0]) for index in filled]
    describe(console, columns, shown, title=title)
    if len(listed) > MOST_ROWS:
        console.print(f"… and {len(listed) - MOST_ROWS} more kinds of {heads[0]} (--json has all)", style="dim")


def _grouped(entries: Iterable[tuple[str, Sequence[str]]]) -> Iterator[list[str]]:
    """Join entries whose texts are equal: their names in short, then the texts."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, texts in entries:
        groups.setdefault(tuple(texts), []).append(name)
    for texts, names in groups.items():
        yield [_span(names), *texts]


def _span(names: Sequence[str]) -> str:
    """Write names in short: "access1 … access10 (10)"."""
    if len(names) <= 2:
        return ", ".join(names)
    return f"{names[0]} … {names[-1]} ({len(names)})"


def _links(explained: Document) -> Iterator[list[str]]:
    """Join links that differ only in the number at the end of their names and ends."""

    def texts(link: Mapping[str, Any]) -> Sequence[str]:
        back = link.get("back") or {}
        forth, reverse = ([_changing(keys.get(key, link[key])) for key in ("rate", "delay")] for keys in (link, back))
        both = zip(forth, reverse, strict=True)
        rate, delay = (one if one == other else f"{one}, back {other}" for one, other in both)
        return [
            *(re.sub(r"\d+$", "N", link[end]) for end in ("from", "to")),
            _rate(rate),
            delay,
            _repeats(link),
            _own_minimum(link, explained),
        ]

    return _grouped((link["name"], texts(link)) for link in explained["link"])


def _changing(law: Any) -> str:
    """Write how a rate or a delay changes, in a few words; a constant one as it is."""
    if not isinstance(law, Mapping):
        return str(law)
    if grants := law.get("grants"):
        return f"{grants['size']} every {grants['every']}"
    if states := law.get("states"):
        return f"{states['good']} or {states['bad']}, drawn"
    if trace := law.get("trace"):
        return f"trace {trace}"
    steps = law["steps"]
    first = ", ".join(value if at == 0 else f"{value} from {time}" for at, (time, value) in enumerate(steps[:3]))
    return first if len(steps) <= 3 else f"{first}, … ({len(steps)} steps)"


def _repeats(link: Mapping[str, Any]) -> str:
    """Write which packets a link repeats, if it repeats any."""
    keys = link.get("repeat")
    return f"{keys['share']}, each {keys['delay']} later" if keys else ""


def _reorders(explained: Document) -> Iterator[list[str]]:
    for entry in explained.get("reorder", []):
        numbers = ", ".join(map(str, entry.get("packets") or ()))
        yield [entry["link"], entry.get("share") or f"packets {numbers}", entry["by"]]


def _own_minimum(link: Mapping[str, Any], explained: Document) -> str:
    """Write the least size of packets on a link, if it is not that of all links."""
    minimum = link.get("minimum")
    return "" if minimum in (None, explained["adaptation"].get("minimum")) else str(minimum)


def _rate(text: str) -> str:
    """Write a rate in its most readable unit."""
    if not (found := re.fullmatch(r"(\d+(?:\.\d+)?) (k|M|G)?b/s", text)):
        return text
    bps = float(found[1]) * {"k": 1e3, "M": 1e6, "G": 1e9, None: 1.0}[found[2]]
    unit, factor = readable("(b/s)", bps)
    return f"{bps * factor:.6g} {unit.strip('()')}"


def _ports(explained: Document) -> Iterator[list[str]]:
    """Describe the ports that have a limit or a policy of their own; the others queue without limit."""

    def texts(port: Port) -> Sequence[str]:
        others = {key: value for key, value in port.keys.items() if key not in PLAIN and value not in IDLE}
        besides = ", ".join(f"{key} {_policy(value)}" for key, value in others.items())
        return [_buffer(port), _policy(port.keys["admission"]), _policy(port.keys["scheduler"]), besides]

    known = ports(explained).values()
    shown = [port for port in known if port.is_limited or port.keys["admission"]["policy"] != "tail-drop"]
    yield from _grouped((port.name, texts(port)) for port in shown)
    if rest := len([port for port in known if port not in shown and not port.memory]):
        yield [f"{rest} {'others' if shown else 'ports'}", "unlimited", "", "", ""]


PLAIN = ("buffer", "admission", "scheduler", "memory")
"""Keys of a port that have columns of their own."""


def _buffer(port: Port) -> str:
    """Write the size of a buffer, and the time that its line takes to send it."""
    time_us = port.sizes(port.buffer).get("us") if port.is_limited else None
    if time_us is None:
        return port.buffer
    unit, factor = readable("(s)", time_us / 1e6)
    return f"{port.buffer} ({time_us / 1e6 * factor:.3g} {unit.strip('()')} at {port.pace})"


def _memories(explained: Document) -> Iterator[list[str]]:
    sharing = _counts((keys for keys in explained["port"].values() if keys.get("memory")), "memory")

    def texts(name: str, memory: Mapping[str, Any]) -> Sequence[str]:
        size = f"{memory['size']} in cells of {memory['cell']}" if memory.get("cell") else str(memory["size"])
        return [size, _policy(memory["admission"]), str(sharing.get(name, 0))]

    return _grouped((name, texts(name, memory)) for name, memory in explained.get("memory", {}).items())


def _storms(explained: Document) -> Iterator[list[str]]:
    for storm in explained.get("storm", []):
        yield [str(storm.get(key) or "") for key in ("port", "queue", "from", "to")]


def _flows(explained: Document) -> Iterator[list[str]]:
    def texts(flow: Mapping[str, Any]) -> Sequence[str]:
        ends = (re.sub(r"\d+$", "N", flow[end]) for end in ("from", "to"))
        return [*ends, _policy(flow["source"], "kind"), _transport(flow["transport"]), _start(flow, explained)]

    yield from _grouped((flow["name"], texts(flow)) for flow in explained["flow"])
    if listed := list(transfers(explained)):
        hosts = (len({transfer.source for transfer in listed}), len({transfer.sink for transfer in listed}))
        ends = [f"{count} {'host' if count == 1 else 'hosts'}" for count in hosts]
        waiting = sum(transfer.waits for transfer in listed)
        source = f"list, {grouped(sum(transfer.octets for transfer in listed), 0)} bytes"
        start = f"listed, {waiting} after others" if waiting else "listed"
        yield [f"workload ({len(listed)})", *ends, source, _transport(explained["flows"]["transport"]), start]


def _start(flow: Mapping[str, Any], explained: Document) -> str:
    """Write when a flow starts, if the flows of its kind start together."""
    starts = {str(each.get("start", "0 s")) for each in explained["flow"]}
    return "" if starts == {"0 s"} else str(flow.get("start", "0 s")) if len(starts) <= MOST_ROWS else "at random"


OF_TRANSPORT = ("profile", "congestion", "mss", "window", "ecn", "l4s", "sack", "pacing", "recovery")
"""Keys of a transport that say most about it; the others are in the JSON."""


def _transport(transport: Mapping[str, Any]) -> str:
    chosen = {key: transport[key] for key in OF_TRANSPORT if transport.get(key) not in IDLE}
    control = chosen.get("congestion")
    named = {"congestion": f"program {control['name']}"} if isinstance(control, Mapping) else {}
    return _policy({"kind": transport["kind"], **chosen, **named}, "kind")


def _policy(table: Any, tag: str = "policy") -> str:
    """Write a table as its name with its parameters: "epd, threshold 7373 cells"."""
    if not isinstance(table, Mapping):
        return _text(table)
    given = {key: value for key, value in table.items() if key != tag and value not in IDLE}
    parts = [_text(key) if value is True else f"{_text(key)} {_text(value)}" for key, value in given.items()]
    return ", ".join([*([str(table[tag])] if tag in table else []), *parts])


MOST_LETTERS = 60
"""Letters of a value in a summary: a recording has millions."""


def _text(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return grouped(value, 0) if value == int(value) else f"{value:g}"
    text = value.replace("_", " ") if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…"


SERIES = ("occupancy", "losses", "memories", "cwnd", "state", "meter", "window", "transfers", "delivery")
"""Keys of `measure` that make a run record more than its sums."""


def _measured(explained: Document) -> str:
    """Say what a run records over time."""
    measure = explained.get("measure") or {}
    named = {key: value for key, value in measure.items() if key in SERIES and value}
    kept = [f"{key} of {_span(value)}" if isinstance(value, list) else key for key, value in named.items()]
    over_time = f"Records {', '.join(kept)}; samples" if kept else "Records nothing over time; samples"
    return f"{over_time} queues every {explained['sample']}. --json has every key, as a scenario in full."
