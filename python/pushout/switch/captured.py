"""Scenarios from recordings: what a line carried, and how much buffer would have lost nothing of it."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pushout import capture, kept
from pushout.errors import QuestionError
from pushout.excerpt import place, quoted
from pushout.flowlist import PS_PER_S
from pushout.kept import is_inside
from pushout.quantity import bits_per_second
from pushout.recording import flows, packets

WINDOW_PS = PS_PER_S // 1000
"""Length of a burst: a millisecond."""

DIVIDED_RECORDS = (
    "{}: that records longer than 9216 bytes are one packet, since segmentation offload joined them; they are divided "
    "into packets of up to 1500 bytes"
)
"""What is said about a capture of a host with segmentation offload."""

MOST_FLOWS = 1000
"""Flows of a capture that a scenario can have one by one."""

DRAIN_S = 1
"""Time that a run has beyond the last packet, besides what the buffer takes to empty."""


@dataclass(frozen=True)
class Captured:
    """What a recording contains, and what it does at a line of a rate."""

    file: Path
    rate_bps: int
    packets: int
    octets: int
    last_ps: int
    """Time of the last packet; the first one is at 0, or later in a table."""
    burst: int
    """Most octets that come within a millisecond."""
    buffer: int
    """Octets of the smallest buffer that loses nothing, with the packet in transmission."""
    divided: bool
    """Whether records were several packets, which a network card had joined or was to divide."""
    flows: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Packets and octets of each flow by addresses, ports and protocol, if it is asked for."""

    def summary(self) -> dict[str, Any]:
        """Return what a command prints."""
        seconds = self.last_ps / PS_PER_S
        return {
            "packets": self.packets,
            "bytes": self.octets,
            "duration_s": seconds,
            "mean_bps": 8 * self.octets / seconds if seconds else None,
            "burst_bytes": self.burst,
            "rate_bps": self.rate_bps,
            "buffer_bytes": self.buffer,
            "buffer_s": 8 * self.buffer / self.rate_bps,
            **({"flows": list(self._flows())} if self.flows else {}),
            **({"left_out": [DIVIDED_RECORDS.format(place(str(self.file)))]} if self.divided else {}),
        }

    def _flows(self) -> Iterator[dict[str, Any]]:
        """Yield the flows with their names in the scenario."""
        for number, (flow, (count, octets)) in enumerate(self.flows.items(), 1):
            yield {"name": f"flow{number}", "flow": flow, "packets": count, "bytes": octets}


OF_TC = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([kmgt]?)bit", re.ASCII | re.IGNORECASE)
"""A rate as tc writes it, as in 20Mbit; it ignores the case of the letters."""

OCTETS = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([kKMGT]?)B(?:/s|ps)", re.ASCII)


def line_rate(text: str) -> int:
    """Read the rate of a line, in bits per second, as in a scenario or as tc writes it."""
    if of_tc := OF_TC.fullmatch(text.strip()):
        text = f"{of_tc[1]} {of_tc[2].lower() if of_tc[2] in 'kK' else of_tc[2].upper()}b/s"
    bps = bits_per_second(text)
    if bps is None or bps < 1:
        octets = OCTETS.fullmatch(text.strip())
        bits = f": rates are in bits, write {8 * float(octets[1]):.12g} {octets[2]}b/s" if octets else ""
        raise QuestionError(f"--rate must be as in 100 Mb/s, not {quoted(text)}{bits}")
    return round(bps)


def read(file: Path, rate: str, *, by_flow: bool = False) -> Captured:
    """Read a recording, and send it over a line of this rate; `by_flow` counts each flow of a capture."""
    line, bursts, count, octets, last = _Line(line_rate(rate)), _Bursts(), 0, 0, 0
    for time, size in packets(file):
        line.send(time, size)
        bursts.add(time, size)
        count, octets, last = count + 1, octets + size, time
    with kept.opened(file) as opened:
        divided = capture.is_capture(opened, file) and capture.joins(opened)
    found = flows(file) if by_flow else {}
    if len(found) > MOST_FLOWS:
        raise QuestionError(
            f"{place(str(file))}: must have at most {MOST_FLOWS} flows, not {len(found)}: leave --flows out, or keep "
            "some packets alone, as with tshark -Y 'tcp.port == 443' -w FILE"
        )
    return Captured(file, line.rate, count, octets, last, bursts.most, line.most, divided, found)


class _Line:
    """A line and its queue, with the times of `crates/core/src/link/line.rs`: whole picoseconds with a remainder."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.most = 0
        self._free = self._carry = self._held = 0
        self._stays: deque[tuple[int, int]] = deque()

    def send(self, now: int, octets: int) -> None:
        """Queue a packet; what leaves at this instant makes room first."""
        while self._stays and self._stays[0][0] <= now:
            self._held -= self._stays.popleft()[1]
        if now > self._free:
            self._free, self._carry = now, 0
        whole, rest = divmod(8 * octets * PS_PER_S, self.rate)
        extra, self._carry = divmod(self._carry + rest, self.rate)
        self._stays.append((self._free + whole, octets))
        self._free += whole + extra
        self._held += octets
        self.most = max(self.most, self._held)


class _Bursts:
    """Most octets within a window that begins with any of them."""

    def __init__(self) -> None:
        self.most = 0
        self._sum = 0
        self._window: deque[tuple[int, int]] = deque()

    def add(self, time: int, octets: int) -> None:
        """Count octets at an instant; instants come in order."""
        self._window.append((time, octets))
        self._sum += octets
        while self._window[0][0] <= time - WINDOW_PS:
            self._sum -= self._window.popleft()[1]
        self.most = max(self.most, self._sum)


def largest_burst(events: Iterable[tuple[int, int]]) -> int:
    """Return the most octets that start within a millisecond."""
    bursts = _Bursts()
    for time, octets in sorted(events):
        bursts.add(time, octets)
    return bursts.most


def scenario(found: Captured, out: Path) -> dict[str, Any]:
    """Return a scenario in which one host sends the recording to another one, through a buffer that loses nothing."""
    if not is_inside(found.file, [out.parent]):
        beside = place(str(found.file))
        raise QuestionError(f"{place(str(out))}: a scenario names files below its folder: write it beside {beside}")
    name = found.file.resolve().relative_to(out.parent.resolve()).as_posix()
    drain = 8 * found.buffer // found.rate_bps + DRAIN_S
    return {
        "name": out.stem,
        "title": f"{found.packets} recorded packets over one line",
        "duration": f"{found.last_ps // PS_PER_S + 1 + drain} s",
        "adaptation": {"kind": "packet"},
        "node": [{"name": "sender", "kind": "host"}, {"name": "receiver", "kind": "host"}],
        "link": [
            {"name": "line", "from": "sender", "to": "receiver", "rate": f"{found.rate_bps} b/s", "delay": "1 ms"},
        ],
        "port": {"line": {"buffer": f"{found.buffer} bytes"}},
        "flow": list(_senders(name, found.flows)),
    }


def _senders(file: str, flows: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield a flow that sends the recording, or one for each of its flows."""
    ends, udp = {"from": "sender", "to": "receiver"}, {"kind": "udp"}
    whole = {"kind": "replay", "file": file}
    if not flows:
        yield {"name": "recorded", **ends, "source": whole, "transport": udp}
    for number, flow in enumerate(flows, 1):
        yield {"name": f"flow{number}", **ends, "source": {**whole, "flow": flow}, "transport": udp}
