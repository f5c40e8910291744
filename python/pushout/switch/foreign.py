"""Scenarios from files of other simulators: topologies and flows of the HPCC family, matrices of htsim, lines of tc.

*Source*: alibaba-edu/High-Precision-Congestion-Control, `simulation/mix` (topology.txt: nodes, switches, links; their
numbers; a link a line: two nodes, rate, delay, error rate). `qdisc.py` reads what tc prints, `pushout/flowlist.py` the
lists of flows.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pushout import kept
from pushout.capture import is_capture
from pushout.errors import QuestionError
from pushout.excerpt import place, quoted
from pushout.flowlist import MOST_NODES, PS_PER_S, Flow, Lines, csv, flows, is_flow_file, is_matrix, matrix
from pushout.switch import bands, home, qdisc
from pushout.switch.bands import Described
from pushout.switch.captured import largest_burst, line_rate

LARGEST = 2**26
"""Bytes of a file."""

MOST_LINKS = 262_144
"""Lines of a topology."""

STAR_RATE, STAR_DELAY = "100 Gb/s", "1 us"
"""Rate and delay of the lines of hosts around one switch, for flows without a topology."""

YOURS = "give the rate of yours, as in --rate '2.4 Mb/s', or for htb the lines of tc class show as well"
"""The remedy where disciplines wait for the line of their device, whose rate tc does not print."""

MOST_IMPORTED = 200_000
"""Flows that are written into a scenario: larger files would not be read again."""


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
    places: list[tuple[int, str]] = field(default_factory=list)
    """For every list of flows the number of the first one, and the path of its file."""
    qdiscs: Described = field(default_factory=lambda: Described({}))
    """The port of every switch, with its classes."""
    rate_bps: int | None = None
    """The rate of the line to each host of a single switch, unless it is `STAR_RATE`."""
    left_out: list[str] = field(default_factory=list)
    """What the files contain and the scenario does not, each with its place."""

    def add(self, lines: Lines, flows: Sequence[Flow]) -> None:
        """Add the flows of a file."""
        self.places.append((len(self.flows), lines.shown))
        self.flows += flows
        if len(self.flows) > MOST_IMPORTED:
            lines.refuse(f"a scenario with more than {MOST_IMPORTED} flows must name the file in [workload]")

    @property
    def rates(self) -> list[str]:
        """Return the rates to which the port of every switch is limited."""
        shaped = [self.port["shaper"]["rate"]] if "shaper" in self.port else []
        return shaped + [keys["maximum"] for keys in self.qdiscs.classes.values() if "maximum" in keys]

    @property
    def is_unlimited(self) -> bool:
        """Return whether queues form only behind lines of `STAR_RATE`, which no file has asked for."""
        return bool(self.port) and not (self.links or self.rates or self.rate_bps)

    @property
    def unlimited(self) -> str:
        """Return what is said of a port without a rate of its own; empty if there is one."""
        told = f"no qdisc limits the rate, so that queues form behind lines of {STAR_RATE}: {YOURS}"
        return told if self.is_unlimited else ""

    @property
    def reaction(self) -> str:
        """Return what is said of senders where a port may mark their packets; empty without a port."""
        if _reacts(self.port):
            return "flows over TCP have ecn = true, because the port marks"
        return "flows over TCP are without ecn = true, because the port does not mark" if self.port else ""

    @property
    def is_home(self) -> bool:
        """Return whether there is only a port, which then is that of a router at home."""
        return bool(self.port) and not (self.flows or self.links or self.places)

    @property
    def port(self) -> dict[str, Any]:
        """Return the keys of the port of every switch."""
        return self.qdiscs.port

    def place(self, number: int) -> str:
        """Return where a flow is written."""
        file = next(shown for first, shown in reversed(self.places) if first <= number)
        return f"{file}:{self.flows[number].line}"

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
        between = max(starts, default=0.0) - min(starts, default=0.0)
        if self.is_home:
            return {"home": list(home.TRAFFIC), "left_out": self.left_out}
        return {
            "hosts": self.nodes - len(self.switches),
            "switches": len(self.switches) or 1,
            "links": len(self.links) or self.nodes,
            "flows": len(self.flows),
            "bytes": self.octets,
            "first_start_s": min(starts, default=0.0),
            "last_start_s": max(starts, default=0.0),
            "mean_bps": 8 * self.octets / between if between else None,
            "burst_bytes": largest_burst((flow.start_ps, flow.size) for flow in self.flows if not flow.after),
            "busiest_receiver": None if busiest is None else f"host{busiest}",
            "busiest_receiver_bytes": received.get(busiest, 0) if busiest is not None else 0,
            "left_out": self.left_out,
        }


def read(files: Sequence[Path], rate: str | None = None) -> Imported:
    """Read files of any of these kinds, told apart by their contents; flows must be between hosts of the topology.

    Without a topology, `rate` is that of the line to each host.
    """
    found = Imported(rate_bps=None if rate is None else line_rate(rate))
    for file in files:
        with kept.opened(file) as opened:
            if is_capture(opened, file):
                raise QuestionError(f"{place(str(file))}: a capture needs the rate of its line: add --rate RATE")
            lines = Lines(opened, place(str(file)), QuestionError)
            _kind(lines)(lines, found)
            found.left_out += [f"{at}: {what} is left out" for what, at in lines.left_out.items()]
    _check(found)
    return found


def is_recording(file: Path) -> bool:
    """Return whether a file is a capture or a table of packets, and none of the kinds that `read` takes."""
    if not file.is_file():
        return True  # the reader of recordings says what is wrong
    with kept.opened(file) as opened:
        if is_capture(opened, file):
            return True
        start = opened.read(4096).decode(errors="replace").splitlines()
    first = next((line.strip() for line in start if line.strip() and not line.startswith("#")), "")
    if first.isprintable() and first[:4] != "PAR1" and not {"time", "bytes"} & set(re.split(r"\W+", first)):
        return False  # a text that is no table of packets
    return re.match(r"(?:Nodes|Connections|qdisc|class)\b|[0-9[{]", first) is None


def _kind(lines: Lines) -> Callable[[Lines, Imported], None]:
    """Choose how a file is read, by its first line."""
    first = lines.first()
    words = first.split()
    if is_matrix(first):
        return _matrix
    if is_flow_file(first):
        return _flows
    if words[0] in ("qdisc", "class") or first.startswith(("[", "{")):
        return _tc
    if {"from", "to"} <= set(re.split(r"[,\s]+", first)):
        lines.refuse('a list of transfers needs no import: a scenario names it, as in [workload] kind = "list"')
    if not all(word.isdigit() for word in words) or len(words) != 3:
        lines.refuse(
            "the file must begin as a topology (nodes switches links), flows (their number), a matrix or qdisc (tc "
            "qdisc show), or, as a capture or with columns time and bytes, be a recording alone with --rate, not "
            f"{quoted(first)}"
        )
    return _topology


def _flows(lines: Lines, found: Imported) -> None:
    """Read a flow file."""
    found.add(lines, flows(lines))


def _matrix(lines: Lines, found: Imported) -> None:
    """Read a connection matrix."""
    nodes, connections = matrix(lines)
    found.in_matrix = max(nodes, found.in_matrix)
    found.add(lines, connections)


def _topology(lines: Lines, found: Imported) -> None:
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


def _link(lines: Lines, words: Sequence[str], nodes: int) -> Link:
    if len(words) not in (4, 5):
        lines.refuse(f"a link must have two nodes, rate, delay and error rate, not {len(words)} values")
    one, other = (lines.whole(word, "a node of a link", nodes - 1) for word in words[:2])
    if one == other:
        lines.refuse(f"a link must join two nodes, not {one} with itself")
    rate = re.fullmatch(r"([0-9.]{1,20})([kKMGT]?)(?:bps|b/s)?", words[2], re.ASCII)
    delay = re.fullmatch(r"([0-9.]{1,15})(s|ms|us|ns|ps)", words[3], re.ASCII)
    if not rate or not delay:
        lines.refuse(f"a link must have rate and delay as in 100Gbps 1us, not {quoted(' '.join(words[2:4]))}")
    rate_bps = int(lines.decimal(rate[1], "a rate", 10**15) * RATES[rate[2]])
    delay_ps = int(lines.decimal(delay[1], "a delay", 10**15) * TIMES[delay[2]])
    if not (1 <= rate_bps <= 10**15 and delay_ps <= PS_PER_S * 1000):
        lines.refuse(f"a link must have a rate from 1 b/s and a delay up to 1000 s, not {quoted(' '.join(words[2:4]))}")
    loss = float(lines.decimal(words[4], "the error rate", 1)) if len(words) == 5 else 0.0
    return Link(one, other, rate_bps, delay_ps, loss)


def _tc(lines: Lines, found: Imported) -> None:
    """Read the queue disciplines of `tc qdisc show`: one port for all switches."""
    if found.port:
        lines.refuse("one root qdisc must be given: that of the device whose port the scenario is about")
    found.qdiscs = qdisc.read(lines)


def _check(found: Imported) -> None:
    """Refuse flows between nodes that are not hosts, and a second rate of lines."""
    if found.links and found.rate_bps is not None:
        raise QuestionError("--rate is for hosts around one switch: the topology has the rates of its lines")
    if found.is_home:
        return
    if not found.flows:
        raise QuestionError("no flows: give a file of flows (flow.txt) or a connection matrix (.cm) as well")
    if not found.links:
        found.nodes = max(found.in_matrix, *(1 + max(flow.source, flow.sink) for flow in found.flows))
    for index, flow in enumerate(found.flows):
        for number in (flow.source, flow.sink):
            if number >= found.nodes or number in found.switches:
                what = (
                    "is a switch" if number in found.switches else f"has no line in a topology of {found.nodes} nodes"
                )
                where = found.place(index)
                raise QuestionError(f"{where}: the ends of a flow must be hosts, not node {number}, which {what}")


def scenario(found: Imported, name: str) -> dict[str, Any]:
    """Return a scenario with these nodes, lines and flows; each flow is one transfer of its workload, over TCP."""
    if found.is_home:
        if found.is_unlimited:
            raise QuestionError(f"no qdisc limits the rate, and the line of a home must have one: {YOURS}")
        return home.scenario(found.qdiscs, name, found.rate_bps, _reacts(found.port))
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
        **_classes(found),
        **({"loss": losses} if (losses := list(_losses(found))) else {}),
        "flows": {"transport": {"kind": "tcp", "profile": "linux", **_reacts(found.port)}},
        "workload": {"kind": "list", "data": csv(_rows(found), _host)},
    }


def _rows(found: Imported) -> Iterator[Flow]:
    """Yield the flows with a name, each for its line of the list, and with its queue at a port of several."""
    for number, flow in enumerate(found.flows, 1):
        bands = found.qdiscs.of_priority
        queue = bands[int(flow.group.removeprefix("pg") or 0)] if bands else ""
        yield flow._replace(line=number + 1, name=flow.name or f"flow{number}", queue=queue)


def _classes(found: Imported) -> dict[str, Any]:
    """Return the classes of the port, and the memory that each switch has for them."""
    if not found.qdiscs.classes:
        return {}
    ends = [end for link in found.links for end in link[:2]]
    ports = max((ends.count(switch) for switch in found.switches), default=found.nodes)
    return {"memory": bands.of_ports(found.qdiscs.memory, ports), "queue": dict(found.qdiscs.classes)}


def _host(number: int) -> str:
    return f"host{number}"


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
        back = {} if found.rate_bps is None else {"back": {"rate": f"{found.rate_bps} b/s"}}
        yield {"name": f"link{number + 1}", **ends, "rate": STAR_RATE, "delay": STAR_DELAY, **back}


def _losses(found: Imported) -> Iterator[dict[str, Any]]:
    """Yield the random losses of lines, in both directions, independent of each other."""
    for number, link in enumerate(found.links, 1):
        for name in (f"link{number}", f"link{number}.back") if link.loss > 0 else ():
            yield {"link": name, "gilbert": {"to_bad": link.loss, "to_good": 1 - link.loss}}


def _duration(found: Imported) -> int:
    """Return a duration in µs: after the last start twice the time of the busiest host at the slowest rate."""
    rates = [*(link.rate_bps for link in found.links), *(int(rate.split()[0]) for rate in found.rates)]
    rates += [] if found.rate_bps is None else [found.rate_bps]
    slowest = min(rates, default=100 * 10**9)
    busy: dict[int, int] = {}
    for flow in found.flows:
        for number in (flow.source, -1 - flow.sink):
            busy[number] = busy.get(number, 0) + flow.size
    last = max(flow.start_ps for flow in found.flows) / PS_PER_S
    return int((last + 16 * max(busy.values()) / slowest) * 1e6) + 1000
