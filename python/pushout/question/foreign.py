"""Scenarios from files of other simulators: topologies and flows of the HPCC family, matrices of htsim, lines of tc.

*Source*: alibaba-edu/High-Precision-Congestion-Control, `simulation/mix` (topology.txt: nodes, switches, links; their
numbers; a link a line: two nodes, rate, delay, error rate; flow.txt: a number of flows, then source, destination,
priority group, port, bytes, start in seconds; ConWeave leaves out the port); Broadcom/csg-htsim,
`sim/datacenter/connection_matrix.cpp` (src->dst, start in picoseconds, size in bytes); iproute2, `tc qdisc show`, whose
sizes count 1024 bytes as Kb.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from pushout import kept
from pushout.errors import QuestionError
from pushout.excerpt import place, quoted

LARGEST = 2**26
"""Bytes of a file."""

MOST_FLOWS, MOST_NODES, MOST_LINKS = 100_000, 65_536, 262_144
"""What a scenario from files may have."""

MOST_BYTES = 10**15
"""Bytes of a flow."""

MOST_SECONDS = 10**6
"""The latest start."""

PS_PER_S = 10**12

STAR_RATE, STAR_DELAY = "100 Gb/s", "1 us"
"""Rate and delay of the lines of hosts around one switch, for flows without a topology."""

NEVER = "1000000 s"
"""The pause after a transfer: there is one for each flow."""


class Flow(NamedTuple):
    """A transfer: numbers of its hosts, bytes, start, class, and where it is written."""

    source: int
    sink: int
    size: int
    start_ps: int
    group: str
    at: str


class Link(NamedTuple):
    """A line both ways: numbers of its nodes, rate, delay, and the share of packets that it loses."""

    one: int
    other: int
    rate_bps: int
    delay_ps: int
    loss: float


@dataclass
class Imported:
    """What the files contain."""

    nodes: int = 0
    in_matrix: int = 0
    """Nodes of a connection matrix: they are the nodes unless there is a topology."""
    switches: set[int] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    port: dict[str, Any] = field(default_factory=dict)

    @property
    def octets(self) -> int:
        """Return the bytes of all flows."""
        return sum(flow.size for flow in self.flows)

    def summary(self) -> dict[str, Any]:
        """Count hosts, switches, lines and flows, with the traffic of the busiest receiver."""
        received: dict[int, int] = {}
        for flow in self.flows:
            received[flow.sink] = received.get(flow.sink, 0) + flow.size
        busiest = max(received, key=received.__getitem__, default=None)
        starts = [flow.start_ps / PS_PER_S for flow in self.flows]
        return {
            "hosts": self.nodes - len(self.switches),
            "switches": len(self.switches) or 1,
            "links": len(self.links) or self.nodes,
            "flows": len(self.flows),
            "bytes": self.octets,
            "first_start_s": min(starts, default=0.0),
            "last_start_s": max(starts, default=0.0),
            "busiest_receiver": None if busiest is None else f"host{busiest}",
            "busiest_receiver_bytes": received.get(busiest, 0) if busiest is not None else 0,
        }


class _Lines:
    """The lines of a file with values, and messages with their place."""

    def __init__(self, file: Path) -> None:
        self.shown = place(str(file))
        try:
            text = kept.content(file, LARGEST).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise QuestionError(f"{self.shown}: the file must be UTF-8 text; byte {error.start} is not") from None
        rows = ((number, line.split("#", 1)[0].strip()) for number, line in enumerate(text.splitlines(), 1))
        self.rows = [(number, line) for number, line in rows if line]
        self.number = 0

    def refuse(self, message: str) -> NoReturn:
        """Raise a message with the file and the current line."""
        raise QuestionError(f"{self.shown}:{self.number}: {message}")

    @property
    def at(self) -> str:
        """Return the file and the current line."""
        return f"{self.shown}:{self.number}"

    def __iter__(self) -> Iterator[str]:
        for number, line in self.rows:
            self.number = number
            yield line

    def whole(self, text: str, what: str, most: int, least: int = 0) -> int:
        """Parse an integer of a range."""
        if not re.fullmatch("[0-9]{1,18}", text, re.ASCII) or not least <= int(text) <= most:
            self.refuse(f"{what} must be an integer from {least} to {most}, not {quoted(text)}")
        return int(text)

    def decimal(self, text: str, what: str, most: int) -> Decimal:
        """Parse a number from 0."""
        if (
            not re.fullmatch(r"[0-9]{1,18}(\.[0-9]{0,18})?([eE][-+]?[0-9]{1,2})?", text, re.ASCII)
            or Decimal(text) > most
        ):
            self.refuse(f"{what} must be a number from 0 to {most}, not {quoted(text)}")
        return Decimal(text)


def read(files: Sequence[Path]) -> Imported:
    """Read files of any of these kinds, told apart by their contents; flows must be between hosts of the topology."""
    found = Imported()
    for file in files:
        lines = _Lines(file)
        if not lines.rows:
            raise QuestionError(f"{lines.shown}: the file must not be empty")
        _kind(lines)(lines, found)
    _check(found)
    return found


def _kind(lines: _Lines) -> Callable[[_Lines, Imported], None]:
    """Choose how a file is read, by its first line."""
    lines.number, first = lines.rows[0]
    words = first.split()
    if words[0] in ("Nodes", "Connections") or "->" in words[0]:
        return _matrix
    if words[0] == "qdisc":
        return _tc
    if not all(word.isdigit() for word in words) or len(words) not in (1, 3):
        lines.refuse(
            "the file must begin as a topology (nodes switches links), flows (their number), a matrix or qdisc, "
            f"not {quoted(first)}"
        )
    return _topology if len(words) == 3 else _flows


def _topology(lines: _Lines, found: Imported) -> None:
    """Read a topology of the HPCC family."""
    if found.links:
        lines.refuse("a topology must be given once")
    rows = iter(lines)
    head = next(rows).split()
    found.nodes = lines.whole(head[0], "the number of nodes", MOST_NODES, 2)
    switches = lines.whole(head[1], "the number of switches", found.nodes - 1, 1)
    links = lines.whole(head[2], "the number of links", MOST_LINKS, 1)
    while len(found.switches) < switches and (line := next(rows, None)) is not None:
        found.switches |= {lines.whole(word, "a switch", found.nodes - 1) for word in line.split()}
    for line in rows:
        found.links.append(_link(lines, line.split(), found.nodes))
    if (len(found.switches), len(found.links)) != (switches, links):
        lines.refuse(
            f"the topology must have {switches} switches and {links} links, as its first line says, not "
            f"{len(found.switches)} and {len(found.links)}"
        )


RATES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
TIMES = {"s": PS_PER_S, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}


def _link(lines: _Lines, words: Sequence[str], nodes: int) -> Link:
    if len(words) not in (4, 5):
        lines.refuse(f"a link must have two nodes, rate, delay and error rate, not {len(words)} values")
    one, other = (lines.whole(word, "a node of a link", nodes - 1) for word in words[:2])
    if one == other:
        lines.refuse(f"a link must join two nodes, not {one} with itself")
    rate = re.fullmatch(r"([0-9.]{1,15})([kKMGT]?)(?:bps|b/s)", words[2], re.ASCII)
    delay = re.fullmatch(r"([0-9.]{1,15})(s|ms|us|ns|ps)", words[3], re.ASCII)
    if not rate or not delay:
        lines.refuse(f"a link must have rate and delay as in 100Gbps 1us, not {quoted(' '.join(words[2:4]))}")
    rate_bps = int(lines.decimal(rate[1], "a rate", 10**15) * RATES[rate[2]])
    delay_ps = int(lines.decimal(delay[1], "a delay", 10**15) * TIMES[delay[2]])
    if not (1 <= rate_bps <= 10**15 and delay_ps <= PS_PER_S * 1000):
        lines.refuse(f"a link must have a rate from 1 b/s and a delay up to 1000 s, not {quoted(' '.join(words[2:4]))}")
    loss = float(lines.decimal(words[4], "the error rate", 1)) if len(words) == 5 else 0.0
    return Link(one, other, rate_bps, delay_ps, loss)


def _flows(lines: _Lines, found: Imported) -> None:
    """Read flows of the HPCC family: source, destination, priority group, perhaps a port, bytes, start in seconds."""
    rows = iter(lines)
    count = lines.whole(next(rows), "the number of flows", MOST_FLOWS)
    before = len(found.flows)
    for line in rows:
        words = line.split()
        if len(words) not in (5, 6):
            lines.refuse(f"a flow must have source, destination, group, port, bytes and start, not {len(words)} values")
        group = lines.whole(words[2], "the priority group", 7)
        found.flows.append(
            _flow(lines, words[0], words[1], words[-2], PS_PER_S * _start(lines, words[-1]), f"pg{group}")
        )
        if len(found.flows) > MOST_FLOWS:
            lines.refuse(f"a scenario must have at most {MOST_FLOWS} flows")
    if len(found.flows) - before != count:
        lines.refuse(f"the file must have {count} flows, as its first line says, not {len(found.flows) - before}")


def _start(lines: _Lines, text: str) -> Decimal:
    return lines.decimal(text, "the start", MOST_SECONDS)


def _flow(lines: _Lines, source: str, sink: str, size: str, start_ps: Decimal, group: str) -> Flow:
    ends = [lines.whole(word, "a host of a flow", MOST_NODES - 1) for word in (source, sink)]
    if ends[0] == ends[1]:
        lines.refuse(f"a flow must have two hosts, not {ends[0]} twice")
    octets = lines.whole(size, "the bytes of a flow", MOST_BYTES, 1)
    return Flow(ends[0], ends[1], octets, int(start_ps), group, lines.at)


def _matrix(lines: _Lines, found: Imported) -> None:
    """Read a connection matrix of htsim."""
    count = None
    before = len(found.flows)
    for line in lines:
        words = line.split()
        if words[0] == "Nodes" and len(words) == 2:
            found.in_matrix = lines.whole(words[1], "Nodes", MOST_NODES, 2)
        elif words[0] == "Connections" and len(words) == 2:
            count = lines.whole(words[1], "Connections", MOST_FLOWS)
        elif "->" in words[0]:
            found.flows.append(_connection(lines, words))
        else:
            lines.refuse(f"the line must be Nodes, Connections or SRC->DST start PS size BYTES, not {quoted(line)}")
        if len(found.flows) > MOST_FLOWS:
            lines.refuse(f"a scenario must have at most {MOST_FLOWS} flows")
    if count is not None and count != len(found.flows) - before:
        lines.refuse(f"the matrix must have {count} connections, as it says, not {len(found.flows) - before}")


IGNORED = ("id", "prio")
"""Keys of a connection that change nothing here."""


def _connection(lines: _Lines, words: Sequence[str]) -> Flow:
    source, _, sink = words[0].partition("->")
    if len(words) % 2 == 0:
        lines.refuse(f"a connection must have a value for each key, not {quoted(words[-1])} alone")
    keys = dict(zip(words[1::2], words[2::2], strict=True))
    for key in keys:
        if key not in ("start", "size", *IGNORED):
            lines.refuse(f"a connection must have the keys start, size, id and prio only, not {quoted(key)}")
    if "start" not in keys or "size" not in keys:
        lines.refuse("a connection must have start, in picoseconds, and size, in bytes")
    start = lines.decimal(keys["start"], "start", MOST_SECONDS * PS_PER_S)
    return _flow(lines, source, sink, keys["size"], start, "")


def _tc(lines: _Lines, found: Imported) -> None:
    """Read the root queue disciplines of `tc qdisc show`: one for all ports of switches."""
    for line in lines:
        words = line.split()
        if words[0] != "qdisc" or len(words) < 3:
            lines.refuse(f"the line must begin with qdisc KIND HANDLE, not {quoted(line)}")
        if "parent" in words or words[1] in ("noqueue", "mq", "ingress", "clsact"):
            continue
        if words[1] not in QDISCS:
            lines.refuse(f"the qdisc must be one of {', '.join(QDISCS)}, not {quoted(words[1])}")
        if found.port:
            lines.refuse("one root qdisc must be given: that of the device whose port the scenario is about")
        found.port = _port(lines, words[1], _options(words[3:]))


QDISCS = ("pfifo", "bfifo", "codel", "fq_codel", "pie", "red")
"""Queue disciplines that have a scheme here."""

FLAGS = ("root", "ecn", "adaptive", "harddrop", "nodrop", "bytemode")


def _options(words: Sequence[str]) -> dict[str, str]:
    """Return the options of a qdisc; flags have no value."""
    found, index = {}, 0
    while index < len(words):
        is_flag = words[index] in FLAGS or index + 1 == len(words)
        found[words[index]] = "" if is_flag else words[index + 1]
        index += 1 if is_flag else 2
    return found


def _port(lines: _Lines, kind: str, options: Mapping[str, str]) -> dict[str, Any]:
    """Return the port of a scenario with this queue discipline."""
    if "limit" not in options:
        lines.refuse(f"the qdisc {kind} must have a limit")
    buffer = _limit(lines, options["limit"], "packets" if kind in ("pfifo", "codel", "fq_codel", "pie") else "bytes")
    if kind in ("pfifo", "bfifo"):
        return {"buffer": buffer}
    if kind == "fq_codel":
        return {"buffer": buffer, "discipline": "fq-codel"}
    action = {"action": "mark"} if "ecn" in options else {}
    if kind == "red":
        low, high = (_limit(lines, options.get(key, ""), "bytes") for key in ("min", "max"))
        share = float(lines.decimal(options.get("probability", "0.02"), "probability", 1))
        levels = {"min_threshold": low, "max_threshold": high}
        return {"buffer": buffer, "admission": {"policy": "red", "max_p": share, **levels, **action}}
    times = (
        {"target": "target", "interval": "interval"} if kind == "codel" else {"target": "target", "tupdate": "update"}
    )
    keys = {ours: _time(lines, options[theirs]) for theirs, ours in times.items() if theirs in options}
    return {"buffer": buffer, "admission": {"policy": kind, "law": "linux", **keys, **action}}


def _limit(lines: _Lines, text: str, unit: str) -> str:
    """Convert a limit of tc: 1000p, 400000b or 30Kb, where K is 1024."""
    match = re.fullmatch("([0-9]{1,12})(p|b|Kb|Mb)?", text, re.ASCII)
    packets = match is not None and match[2] in ("p", None) and unit == "packets"
    if not match or int(match[1]) < 1 or not (packets or (unit == "bytes" and match[2] != "p")):
        lines.refuse(f"the limit must be a number of {unit}, as tc prints it, not {quoted(text)}")
    scale = {"Kb": 2**10, "Mb": 2**20}.get(match[2] or "", 1)
    return f"{int(match[1]) * scale} {unit}"


def _time(lines: _Lines, text: str) -> str:
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(s|ms|us|ns)", text, re.ASCII)
    if not match:
        lines.refuse(f"a time must be as tc prints it, as in 5ms, not {quoted(text)}")
    return f"{match[1]} {match[2]}"


def _check(found: Imported) -> None:
    """Refuse flows between nodes that are not hosts."""
    if not found.flows:
        raise QuestionError("no flows: give a file of flows (flow.txt) or a connection matrix (.cm) as well")
    if not found.links:
        found.nodes = max(found.in_matrix, *(1 + max(flow.source, flow.sink) for flow in found.flows))
    for flow in found.flows:
        for number in (flow.source, flow.sink):
            if number >= found.nodes or number in found.switches:
                what = (
                    "is a switch" if number in found.switches else f"has no line in a topology of {found.nodes} nodes"
                )
                raise QuestionError(f"{flow.at}: the ends of a flow must be hosts, not node {number}, which {what}")


def scenario(found: Imported, name: str) -> dict[str, Any]:
    """Return a scenario with these nodes, lines and flows; each flow is one transfer over TCP."""
    links = list(_links(found))
    return {
        "name": name,
        "title": f"{len(found.flows)} flows, imported",
        "duration": f"{_duration(found)} us",
        "routing": "ecmp",
        "adaptation": {"kind": "packet"},
        "node": [
            *({"name": f"switch{number}", "kind": "router"} for number in sorted(found.switches) or [0]),
            *(
                {"name": f"host{number}", "kind": "host"}
                for number in range(found.nodes)
                if number not in found.switches
            ),
        ],
        "link": links,
        **({"port": {"default": found.port}} if found.port else {}),
        **({"loss": losses} if (losses := list(_losses(found))) else {}),
        "flows": {"transport": {"kind": "tcp", "profile": "linux", **_reacts(found.port)}},
        "flow": [_transfer(number, flow) for number, flow in enumerate(found.flows, 1)],
    }


def _reacts(port: Mapping[str, Any]) -> dict[str, Any]:
    """Let senders react to marks if the ports mark."""
    return {"ecn": True} if port.get("admission", {}).get("action") == "mark" else {}


def _node(found: Imported, number: int) -> str:
    return f"switch{number}" if number in found.switches else f"host{number}"


def _links(found: Imported) -> Iterator[dict[str, Any]]:
    """Yield the lines: those of the topology, or one to a single switch for every host."""
    for number, link in enumerate(found.links, 1):
        ends = {"from": _node(found, link.one), "to": _node(found, link.other)}
        yield {"name": f"link{number}", **ends, "rate": f"{link.rate_bps} b/s", "delay": f"{link.delay_ps} ps"}
    for number in range(0 if found.links else found.nodes):
        ends = {"from": f"host{number}", "to": "switch0"}
        yield {"name": f"link{number + 1}", **ends, "rate": STAR_RATE, "delay": STAR_DELAY}


def _losses(found: Imported) -> Iterator[dict[str, Any]]:
    """Yield the random losses of lines, in both directions, independent of each other."""
    for number, link in enumerate(found.links, 1):
        for name in (f"link{number}", f"link{number}.back") if link.loss > 0 else ():
            yield {"link": name, "gilbert": {"to_bad": link.loss, "to_good": 1 - link.loss}}


def _transfer(number: int, flow: Flow) -> dict[str, Any]:
    group = {"class": flow.group} if flow.group else {}
    ends = {"from": f"host{flow.source}", "to": f"host{flow.sink}"}
    source = {"kind": "file", "size": f"{flow.size} bytes", "off": NEVER}
    return {"name": f"flow{number}", **ends, **group, "start": f"{flow.start_ps} ps", "source": source}


def _duration(found: Imported) -> int:
    """Return a duration in µs: after the last start twice the time of the busiest host at the slowest rate."""
    slowest = min((link.rate_bps for link in found.links), default=100 * 10**9)
    busy: dict[int, int] = {}
    for flow in found.flows:
        for number in (flow.source, -1 - flow.sink):
            busy[number] = busy.get(number, 0) + flow.size
    last = max(flow.start_ps for flow in found.flows) / PS_PER_S
    return int((last + 16 * max(busy.values()) / slowest) * 1e6) + 1000
