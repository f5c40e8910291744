"""The network in a test of a transport, in virtual time."""

import math
from typing import NamedTuple, Self

from pushout import _core

PICOSECONDS = 1_000_000_000_000
"""Picoseconds in a second, the unit of time of the simulator."""

LONGEST = 50 * 86_400
"""Seconds of the longest run."""


class Delivery(NamedTuple):
    """A packet that was delivered or lost."""

    handle: int
    """The packet, as `Path.offer` returned it."""
    flow: int
    """Its flow."""
    to: int
    """The host to which it was sent."""
    octets: int
    """Its octets, IP header included."""
    sent: float
    """When it was offered, in seconds."""
    at: float
    """When it reached the host, or was lost, in seconds."""
    fate: str
    """`delivered`, `marked` (it arrived with CE), `cut` (it arrived without its data) or `lost`."""
    port: str | None
    """The port that marked or lost it."""
    rule: str | None
    """The rule by which the port decided."""
    reason: str | None
    """The reason, as reports name it."""

    @property
    def arrived(self) -> bool:
        """Whether its data reached the host."""
        return self.fate in ("delivered", "marked")


class Counts(NamedTuple):
    """How the packets of a flow in one direction have ended so far."""

    offered: int
    """Packets offered."""
    arrived: int
    """Packets that have reached the host with their data, marked ones included."""
    marked: int
    """Those of them that carried a mark."""
    cut: int
    """Packets that have reached the host without their data."""
    lost: int
    """Packets that were lost."""
    under_way: int
    """Packets on their way."""
    octets: int
    """Octets of the packets that have arrived, IP headers included."""

    @property
    def loss(self) -> float:
        """The share of the packets that have ended by their loss, from 0 to 1; 0 before any has ended."""
        return self.lost / max(self.offered - self.under_way, 1)

    @property
    def marks(self) -> float:
        """The share of the packets that have arrived with a mark, from 0 to 1; 0 before any has arrived."""
        return self.marked / max(self.arrived, 1)


class Queue(NamedTuple):
    """The content of a port."""

    packets: int
    """Packets, the one in transmission included."""
    octets: int
    """Octets of these packets."""
    held: int
    """What they take of the buffer, in its measure."""
    limit: int | None
    """The size of the buffer in this measure, if it has a limit."""


class Cause(NamedTuple):
    """A packet without which another one would have passed its port."""

    handle: int | None
    """The packet, if it was offered by the caller."""
    flow: str
    """Its flow, as the scenario file names it."""
    number: int
    """Its number in its flow, from 1."""
    at: float
    """When it came to the port, in seconds."""
    losses: int
    """Packets of the whole run that would be lost without it, itself included."""


class Why(NamedTuple):
    """Why a packet was lost or marked."""

    port: str
    """The port."""
    rule: str
    """The rule that decided, by its name in scenarios."""
    reason: str
    """The reason, as reports name it."""
    packets: int
    """Packets that it found there."""
    octets: int
    """Octets of these packets."""
    saved_by: list[Cause]
    """Earlier packets without any one of which it would have passed."""


class Path:
    """A network in virtual time, into which a test sends packets: the loop is `offer`, `next`, `take`.

    The keywords describe one bottleneck with a queue in each direction, between hosts `client1`, … and `server1`, …;
    `from_toml` takes any scenario of packets. Instants are seconds; the path has whole picoseconds. `copy()`
    makes another path that goes on alike. What is wrong raises `ValueError`, and a scenario that is refused
    `ScenarioError`.
    """

    def __init__(
        self,
        *,
        rate: str = "10 Mb/s",
        delay: str = "10 ms",
        policy: str = "tail-drop",
        buffer: str | None = None,
        rate_back: str | None = None,
        access: str = "10 Gb/s",
        loss: float = 0.0,
        hosts: int = 1,
        flows: int = 8,
        mtu: int = 1500,
        seed: int = 1,
        toml: str = "",
    ) -> None:
        texts = {"rate": rate, "delay": delay, "policy": policy, "access": access, "toml": toml}
        texts |= {key: text for key, text in (("buffer", buffer), ("rate_back", rate_back)) if text is not None}
        numbers = {"hosts": hosts, "flows": flows, "mtu": mtu, "seed": seed}
        self._path = _core.Path.build(list(texts.items()), list(numbers.items()), loss)

    @classmethod
    def from_toml(cls, text: str, *, mtu: int = 1500) -> Self:
        """Build the network of a scenario; its own flows are background traffic."""
        return cls._of(_core.Path.from_toml(text, mtu))

    @classmethod
    def _of(cls, path: _core.Path) -> Self:
        made = cls.__new__(cls)
        made._path = path
        return made

    def copy(self) -> Self:
        """Return another path in the same state."""
        return self._of(self._path.copy())

    @property
    def now(self) -> float:
        """The instant that the path has reached, in seconds."""
        return self._path.now() / PICOSECONDS

    def hosts(self) -> list[str]:
        """Return the names of the hosts."""
        return self._path.hosts()

    def host(self, name: str) -> int:
        """Return the host of this name."""
        return self._path.host(name)

    def reserve(self, one: int, other: int, flows: int) -> None:
        """Make room for this many flows at a time between two hosts, before the first packet."""
        self._path.reserve(one, other, flows)

    def open(self, one: int, other: int) -> int:
        """Open a flow between two hosts; either may send first."""
        return self._path.open(one, other)

    def close(self, flow: int) -> None:
        """Close a flow; its packets on their way go on."""
        self._path.close(flow)

    def flow_name(self, flow: int, to: int) -> str:
        """Return the name that a flow has in the scenario file, in the direction to this host."""
        return self._path.flow_name(flow, to)

    def offer(self, now: float, host: int, packet: int, flow: int, ecn: int = 0) -> int:
        """Send a packet of `packet` octets, IP header included, from a host to the other end of the flow.

        Returns its handle. `ecn` has the two bits of the IP header: 0 not capable, 1 ECT(1), 2 ECT(0).
        """
        if packet < 0:
            raise ValueError(f"a packet must have octets, not {packet}")
        return self._path.offer(_picoseconds(now), host, packet, flow, ecn)

    def next(self) -> float | None:
        """Return the next instant at which a packet may be delivered or lost: exact or early, never late.

        After two hours a number of seconds cannot hold every picosecond: then it is the first one that can be held.
        """
        due = self._path.next()
        return None if due is None else _seconds(due)

    def take(self, now: float) -> list[Delivery]:
        """Let the time pass to `now`, and return what has been delivered or lost since the last call."""
        return [_delivery(*packet) for packet in self._path.take(_picoseconds(now))]

    def queue(self, port: str) -> Queue:
        """Return what waits at a port: `bottleneck`, or in the other direction `bottleneck.back`."""
        return Queue(*self._path.queue(port))

    def counts(self, flow: int, to: int) -> Counts:
        """Return how the packets of a flow to this host have ended so far."""
        return Counts(*self._path.counts(flow, to))

    def why(self, handle: int) -> Why | None:
        """Return which earlier packets cost this one, which was lost or marked, its place; None for any other."""
        why = self._path.why(handle)
        if why is None:
            return None
        port, rule, reason, packets, octets, causes = why
        saved_by = [Cause(who, flow, number, at / PICOSECONDS, lost) for who, flow, number, at, lost in causes]
        return Why(port, rule, reason, packets, octets, saved_by)

    def explain(self) -> str:
        """Return what the network did so far, for the message of a failed test."""
        return self._path.explain()

    def scenario_file(self) -> str:
        """Return the scenario that repeats the run, for `pushout run`, `plot`, `compare` and `why`."""
        return self._path.scenario_file()


def _delivery(
    handle: int,
    flow: int,
    to: int,
    octets: int,
    sent: int,
    at: int,
    fate: str,
    decision: tuple[str, str, str] | None,
) -> Delivery:
    port, rule, reason = decision or (None, None, None)
    return Delivery(handle, flow, to, octets, sent / PICOSECONDS, at / PICOSECONDS, fate, port, rule, reason)


def _seconds(picoseconds: int) -> float:
    """Return an instant in seconds, not before it."""
    seconds = picoseconds / PICOSECONDS
    return seconds if _picoseconds(seconds) >= picoseconds else math.nextafter(seconds, math.inf)


def _picoseconds(seconds: float) -> int:
    """Return an instant in picoseconds; seconds have all of them for the first two hours."""
    if not 0 <= seconds <= LONGEST:
        raise ValueError(f"now must be at least 0 and within 50 days, not {seconds}")
    return round(seconds * PICOSECONDS)
