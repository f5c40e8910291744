"""The worst input of a policy as a scenario: recorded arrivals, timed so that a run is the slotted model.

In a slot of the model any number of packets arrives, then each queue sends one. In the scenario the packets of a slot
follow each other `GAP` apart, and a line sends a packet in less than a slot; the difference is the slack. A queue that
starts with the k-th packet of a slot has sent its j-th packet k · gap + j · (slot − slack) after the slot began, which
is after the last arrival of the j-th slot and before the first of the next, as in the model, if

    n · gap < slack   and   K · slack < slot − n · gap

for at most n arrivals in a slot and busy periods of at most K slots. `Timing.of` chooses slack and slot so.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from pushout.cache import write as write_file
from pushout.document import Document
from pushout.errors import InternalError, QuestionError
from pushout.excerpt import place
from pushout.literals import ENGINES
from pushout.simulate import Job
from pushout.source import load, toml

OCTETS = 1250
"""Octets of a packet, and of a cell of the memory."""

GAP_PS = 110
"""Picoseconds from one arrival to the next; a packet takes 100 on the lines from the hosts, at 100 Tb/s."""

PS_PER_S = 10**12

SLOT_PS = 1_000_000
SLACK_PS = 10_000
"""The least slot, 1 us, and the least slack, 10 ns."""

REFUSED, IDLE = "refused", "idle"
"""Endings of the flows whose packets the optimum refuses, and of the flows of ports without arrivals.

Such a port needs a flow, since a memory has queues for flows only, and some policies count the queues; its packet comes
after the end.
"""


@dataclass(frozen=True)
class Timing:
    """The times of a scenario, in picoseconds."""

    slot_ps: int
    rate_bps: int
    arrivals: int
    """Most packets that arrive in a slot: n."""
    busy: int
    """Longest busy period of a queue, in slots: K."""

    @staticmethod
    def of(slots: Sequence[Mapping[str, Any]]) -> "Timing":
        """Choose the times for an input."""
        arrivals = max((len(slot["arrivals"]) for slot in slots), default=0)
        busy = max(_busy_periods(slots), default=0)
        slack = max(SLACK_PS, (arrivals + 1) * GAP_PS)
        slot = max(SLOT_PS, (busy + 2) * slack + arrivals * GAP_PS)
        timing = Timing(slot, round(Fraction(8 * OCTETS * PS_PER_S, slot - slack)), arrivals, busy)
        if not timing.is_exact:
            raise InternalError(f"the times of the scenario do not keep the order of the model: {timing}")
        return timing

    @property
    def slack_ps(self) -> Fraction:
        """The part of a slot in which a busy line sends nothing."""
        return self.slot_ps - Fraction(8 * OCTETS * PS_PER_S, self.rate_bps)

    @property
    def is_exact(self) -> bool:
        """Return whether every departure falls between the arrivals that it falls between in the model."""
        last = self.arrivals * GAP_PS
        return last < self.slack_ps and self.busy * self.slack_ps < self.slot_ps - last

    def __str__(self) -> str:
        """Give the inequalities with their numbers."""
        last, slack = self.arrivals * GAP_PS, float(self.slack_ps)
        return f"{last} ps < {slack:.0f} ps, and {self.busy} * {slack:.0f} ps < {self.slot_ps - last} ps"


def _busy_periods(slots: Sequence[Mapping[str, Any]]) -> Iterator[int]:
    """Yield the busy periods of all queues of both sides, in slots: they end when a queue has sent its last packet."""
    for side in ("policy", "optimum"):
        for queue in zip(*(slot[side] for slot in slots if side in slot), strict=True):
            busy = 0
            for length in queue:
                busy = busy + 1 if length > 0 else 0
                yield busy
                busy = 0 if length == 1 else busy


def write(document: Document, path: Path) -> dict[str, Any]:
    """Write the scenarios of an input beside each other, run them, and return what each run delivered.

    `NAME.toml` has the policy, `NAME-optimum.toml` the opponent, and `NAME.csv` the arrivals of both.
    """
    timing, recording = _write_policy(document, path)
    other = path.with_name(f"{path.stem}-optimum.toml")
    write_file(other, _scenario(document, timing, recording, optimum=True))
    return _verified({path: document["policy_count"], other: document["optimum_count"]})


def write_alone(document: Document, path: Path) -> dict[str, Any]:
    """Write the scenario of a counter-example, which is about the policy alone; run it, return what it delivered."""
    slots = [{**slot, "arrivals": [[port, True] for port, _ in slot["arrivals"]]} for slot in document["input"]]
    _write_policy({**document, "input": slots}, path)
    return _verified({path: document["policy_count"]})


def _write_policy(document: Document, path: Path) -> tuple[Timing, str]:
    """Write the arrivals and the scenario of the policy; returns its times and the name of the recording."""
    timing = Timing.of(document["input"])
    recording = checked(path).with_suffix(".csv")
    write_file(recording, _recording(document, timing))
    write_file(path, _scenario(document, timing, recording.name, optimum=False))
    return timing, recording.name


def checked(path: Path) -> Path:
    """Return the path of a scenario; refuse another ending."""
    if path.suffix != ".toml":
        raise QuestionError(f"{place(str(path))}: the file must end in .toml")
    return path


def _verified(expected: Mapping[Path, int]) -> dict[str, Any]:
    """Run scenarios on both engines, and compare what they deliver with the model."""
    delivered = {file: {engine: _delivered(file, engine) for engine in ENGINES} for file in expected}
    for file, count in expected.items():
        if wrong := {engine: found for engine, found in delivered[file].items() if found != count}:
            raise InternalError(f"{place(str(file))}: delivers {wrong}, and the model {count} packets")
    return {"scenarios": [str(file) for file in expected], "delivered": list(expected.values())}


def _delivered(file: Path, engine: Any) -> int:
    """Run a scenario; return the packets that its ports have sent."""
    ports = Job(load(file), (), engine).run(None)["ports"]
    return sum(port["units_out"] for port in ports if port["name"].startswith("port"))


def _flows(document: Document) -> dict[str, int]:
    """Map the names of the flows to their ports: those that the opponent takes, and those that it refuses."""
    pairs = {(port, takes) for slot in document["input"] for port, takes in slot["arrivals"]}
    flows = {_flow(port, takes=takes): port for port, takes in sorted(pairs, key=lambda pair: (pair[0], not pair[1]))}
    taken = {port for port, takes in pairs if takes}
    return flows | {f"port{port}-{IDLE}": port for port in range(document["ports"]) if port not in taken}


def _flow(port: int, *, takes: bool) -> str:
    return f"port{port}" if takes else f"port{port}-{REFUSED}"


def _recording(document: Document, timing: Timing) -> str:
    """Write the arrivals as a table with time, octets and flow; the first slot begins after one slot."""
    rows = ["time,bytes,flow"]
    for number, slot in enumerate(document["input"], 1):
        for place_in_slot, (port, takes) in enumerate(slot["arrivals"]):
            time = number * timing.slot_ps + place_in_slot * GAP_PS
            rows.append(row(time, _flow(port, takes=takes)))
    after = 2 * _duration(document, timing)
    rows += [row(after, name) for name in _flows(document) if name.endswith(IDLE)]
    return "\n".join(rows) + "\n"


def row(time_ps: int, flow: str) -> str:
    """Write a row of a recording: a packet of a flow at this time, in picoseconds."""
    return f"{time_ps // PS_PER_S}.{time_ps % PS_PER_S:012},{OCTETS},{flow}"


def _duration(document: Document, timing: Timing) -> int:
    """Return the duration of a run, in which the last packets are delivered, in picoseconds."""
    return (len(document["input"]) + timing.busy + 4) * timing.slot_ps


def _scenario(document: Document, timing: Timing, recording: str, *, optimum: bool) -> str:
    """Write the scenario of one side; the optimum gets only what it takes."""
    flows = {name: port for name, port in _flows(document).items() if not (optimum and name.endswith(REFUSED))}
    ports = range(document["ports"])
    side = document["against" if optimum else "policy"]
    count = document["optimum_count" if optimum else "policy_count"]
    lines = [
        *_heading(document, side, count),
        f"# Slots of {timing.slot_ps / 1e6:g} us: {timing},",
        "# so that each departure falls between the arrivals of its slot and of the next. Written by pushout worst.",
        "",
        *switch(
            "worst-optimum" if optimum else "worst",
            _duration(document, timing),
            timing.slot_ps,
            document,
            f"{timing.rate_bps} b/s",
        ),
        *policies(document["policies"]["against" if optimum else "policy"]),
        *(f'\n[port.port{port}]\nmemory = "shared"' for port in ports),
        "",
        "[flows.transport]",
        'kind = "udp"',
    ]
    return "\n".join([*lines, *(flow_section(name, port, recording) for name, port in flows.items())]) + "\n"


def switch(name: str, duration_ps: int, slot_ps: int, document: Document, rate: str) -> list[str]:
    """Write the beginning of a scenario: two hosts at each port of a switch, and the table of its memory."""
    ports = range(document["ports"])
    return [
        f"name = {json.dumps(name)}",
        f'duration = "{duration_ps} ps"',
        'warmup = "0 s"',
        f'sample = "{slot_ps} ps"',
        "",
        'node = [{ name = "switch", kind = "router" },',
        *(f'    {{ name = "{end}{port}", kind = "host" }},' for port in ports for end in ("from", "to")),
        "]",
        "link = [",
        *(line for port in ports for line in _links(port, rate)),
        "]",
        "",
        "[adaptation]",
        'kind = "packet"',
        "",
        "[memory.shared]",
        f'size = "{document["memory"]} cells"',
        f'cell = "{OCTETS} bytes"',
    ]


def _heading(document: Document, side: str, count: int) -> list[str]:
    """Say what the input shows."""
    size = f"{document['ports']} ports share"
    if "never" in document:
        return [
            f"# The shortest input on which {document['policy']} has {document['never']}: {size}",
            f"# {document['memory']} packets; it delivers {count} and loses {document['lost_count']}.",
        ]
    if "delay_slots" in document:
        return [
            f"# An input on which a packet under {document['policy']} waits {document['delay_slots']} slots: {size}",
            f"# {document['memory']} packets; it delivers {count} and loses {document['lost_count']}.",
        ]
    return [
        f"# The worst input of {document['policy']} against {document['against']}: {size}",
        f"# {document['memory']} packets, ratio {document['ratio']}. {side} delivers {count} packets of it.",
    ]


def _links(port: int, rate: str) -> list[str]:
    ends = f'name = "in{port}", from = "from{port}", to = "switch", rate = "100 Tb/s"'
    back = f'name = "port{port}", from = "switch", to = "to{port}", rate = "{rate}"'
    return [f'    {{ {each}, delay = "0 s" }},' for each in (ends, back)]


def flow_section(name: str, port: int, recording: str) -> str:
    """Write a flow of a recording to this port."""
    source = toml({"kind": "replay", "file": recording, "flow": name})
    return f'\n[[flow]]\nname = "{name}"\nfrom = "from{port}"\nto = "to{port}"\nsource = {source}'


def policies(table: Mapping[str, Any] | None) -> list[str]:
    """Write the policies of a memory; None stands for the optimum, which takes whatever it is sent."""
    return [f"{key} = {toml(value)}" for key, value in (table or SHARED).items()]


SHARED = {"admission": {"policy": "complete-sharing"}}
