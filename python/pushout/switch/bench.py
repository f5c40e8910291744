"""The bench of an acceptance test: lines that fill queues of a class while their ports stand still, in the simulator.

A packet leaves a port of the bench only after all packets have come, and a pause reaches a sender only after it has
sent everything: so the counts are those of a tester that ignores pauses while the transmitters of the switch are off.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pushout.document import Document
from pushout.errors import QuestionError
from pushout.simulate import Job
from pushout.source import load
from pushout.switch.subject import PoolRoom, Subject, checked

RATE_BPS = 100 * 10**9
"""Rate of the lines that fill queues; counts do not depend on it."""

PS_PER_S = 10**12

UDP_HEADERS = 28
"""Bytes of the IP and UDP headers of a packet."""

LEAST_PACKET, MOST_PACKET = 29, 65_535
"""Bytes of a packet: a datagram carries at least one."""

GROWTH = 4
"""Factor by which a burst that lost nothing grows for the next attempt."""


class Queue(NamedTuple):
    """What the queue of a line has come to: packets, and the time for which its sender was stopped."""

    held: int
    headroom: int
    dropped: int
    marked: int
    paused_s: float


@dataclass(frozen=True)
class Bench:
    """A class of a switch on the bench, and the size of its packets in bytes."""

    subject: Subject
    packet: int

    @property
    def size(self) -> int:
        """Return the cells of a packet."""
        return self.subject.cells_of(self.packet)

    def fill(self, bursts: Sequence[int], *, together: bool = False, mark: str = "") -> list[Queue]:
        """Send a burst over each line, one after another or `together`; ports mark above the length `mark`."""
        return self._run(bursts, together=together, mark=mark)

    def drain(self, burst: int) -> int:
        """Send a burst over one line, then let packets leave; return how many leave until the sender may resume."""
        arrived = self._far(burst) + burst * self._sent(self.packet, RATE_BPS)
        slow = self._plugged_bps(burst)
        begins = self._sent(MOST_PACKET, RATE_BPS) + self._sent(MOST_PACKET, slow)
        (queue,) = self._run([burst], plugged=True)
        return round((queue.paused_s * PS_PER_S - (begins - arrived)) / self._sent(self.packet, slow))

    def _plugged_bps(self, burst: int) -> int:
        """Return the rate of a port that sends the largest packet until long after a burst has come."""
        return MOST_PACKET * 8 * PS_PER_S // (3 * self._far(burst))

    def _far(self, packets: int) -> int:
        """Return the delay in ps of a line on which a pause comes to a sender that has sent these packets."""
        return self._time(packets) + 2 * self._sent(MOST_PACKET, RATE_BPS)

    @staticmethod
    def _sent(octets: int, rate_bps: int) -> int:
        """Return the time in ps in which a packet is sent."""
        return octets * 8 * PS_PER_S // rate_bps

    def alone(self) -> Queue:
        """Fill the queue of one line until it loses packets."""
        held = self.subject.thresholds.alone + self.subject.pool.headroom
        return self._until_lost([min(held, self.subject.cells) // self.size + GROWTH])[0]

    def one_after_another(self, lines: int, first: int) -> list[Queue]:
        """Fill the queues of lines in turn, each until it loses packets; the first one holds `first`."""
        reserved = self.subject.thresholds.reserved // self.size
        return self._until_lost([max(first >> min(line, 40), reserved) + GROWTH for line in range(lines)])

    def together(self, lines: int) -> list[Queue]:
        """Fill the queues of lines at one rate, until each loses packets."""
        share = min(self.subject.cells // lines, self.subject.thresholds.alone) // self.size
        return self._until_lost([share + GROWTH] * lines, together=True)

    def _until_lost(self, bursts: list[int], *, together: bool = False) -> list[Queue]:
        """Fill queues by bursts that grow until each is too long for its queue."""
        while True:
            queues = self.fill(bursts, together=together)
            is_enough = min(bursts) * self.size > self.subject.cells  # a queue that never loses packets ends as well
            if is_enough or all(queue.dropped for queue in queues):
                return queues
            bursts = [burst * (1 if queue.dropped else GROWTH) for burst, queue in zip(bursts, queues, strict=True)]

    def _time(self, packets: int) -> int:
        """Return a time in ps in which a line sends more than these packets."""
        return (packets + 2) * -(-self.packet * 8 * PS_PER_S // RATE_BPS)

    def _run(
        self, bursts: Sequence[int], *, together: bool = False, mark: str = "", plugged: bool = False
    ) -> list[Queue]:
        """Run the bench until all packets have come, or until all have left behind a large one, the plug."""
        asked = self._scenario(bursts, together=together, mark=mark, plugged=plugged)
        job = Job(load(asked))
        checked(self.subject, job)
        return list(self._queues(job.run(None), len(bursts)))

    def _queues(self, report: Document, lines: int) -> Iterator[Queue]:
        """Yield the queue of each line in the pool of the class."""
        paused = {port["name"]: port.get("paused_s", 0.0) for port in report["ports"]}
        (memory,) = report["memories"]
        queues = {each["port"]: each for each in memory["queues"] if each["pool"] == self.subject.pool.name}
        for line in range(lines):
            name = f"in{line}" if self.subject.pool.side == "ingress" else f"out{line}"
            queue = queues[name]
            held, headroom = (queue[key] // self.size for key in ("occupancy_max", "headroom_max"))
            yield Queue(held, headroom, queue["dropped"], queue["marked"], paused[f"in{line}"])

    def _scenario(self, bursts: Sequence[int], *, together: bool, mark: str, plugged: bool) -> dict[str, Any]:
        """Return the scenario; lines are so long that a pause comes to a sender that has sent everything.

        The plug is a packet of a class with a pool of its own, so that it changes no threshold. Its time at the port is
        that of the fill, and the others leave soon: a pause, which is repeated until then, ends early.
        """
        lines, packets = range(len(bursts)), sum(bursts)
        far = self._far(packets)
        slow = self._plugged_bps(packets) if plugged else self.packet * 8 * PS_PER_S // (3 * far)
        if slow < 1:
            raise QuestionError("packet must be larger for a memory of this size: its ports would be slower than 1 b/s")
        duration = 3 * far + (self._sent(MOST_PACKET + (packets + 2) * self.packet, slow) if plugged else 0)
        port: dict[str, Any] = {"memory": "chip"}
        if mark:
            port["admission"] = {"policy": "step", "action": "mark", "threshold": mark}
        outs = lines if self.subject.pool.side == "egress" else range(1)
        starts = [0 if together else self._time(sum(bursts[:line])) for line in lines]
        flows = [
            self._flow(line, line if line in outs else 0, bursts[line], starts[line], bool(mark)) for line in lines
        ]
        sources = [f"source{line}" for line in lines]
        found = {
            "name": "chip",
            "duration": f"{duration} ps",
            "sample": f"{duration} ps",
            "adaptation": {"kind": "packet"},
            "node": [
                {"name": "switch", "kind": "router"},
                *({"name": name, "kind": "host"} for name in (*sources, *(f"sink{line}" for line in outs))),
            ],
            "link": [
                *(_link(f"in{line}", (f"source{line}", "switch"), RATE_BPS, far) for line in lines),
                *(_link(f"out{line}", ("switch", f"sink{line}"), slow, 0) for line in outs),
            ],
            "port": {f"out{line}": port for line in outs},
            "memory": {"chip": self._memory(len(bursts), plugged=plugged)},
            "queue": {self.subject.name: self._section()} if self.subject.section else {},
            "flow": flows,
        }
        if plugged:
            self._plug(found)
        return found if found["queue"] else {key: value for key, value in found.items() if key != "queue"}

    def _plug(self, scenario: dict[str, Any]) -> None:
        """Add the packet that occupies the port while queues fill."""
        name = f"{self.subject.name}-plug"
        (pool,) = [pool for pool in scenario["memory"]["chip"]["pool"] if pool not in self._pools]
        scenario["node"].append({"name": "plug", "kind": "host"})
        scenario["link"].append(_link("plug", ("plug", "switch"), RATE_BPS, 0))
        scenario["queue"][name] = {"pool": pool, "reserved": f"{self.subject.cells_of(MOST_PACKET)} cells"}
        source = _burst(1, MOST_PACKET)
        ends = {"name": "plug", "from": "plug", "to": "sink0", "queue": name}
        scenario["flow"].append({**ends, "source": source, "transport": {"kind": "udp"}})

    @property
    def _pools(self) -> list[str]:
        """Return the names of the pools of the class."""
        return [pool.name for pool in (self.subject.pool, self.subject.opposite) if pool is not None]

    def _section(self) -> dict[str, Any]:
        return {**self.subject.section, "pool": self.subject.pool.name}

    def _memory(self, lines: int, *, plugged: bool) -> dict[str, Any]:
        """Return the memory: shared room as in the profile, and what the queues of these lines reserve on top."""
        own, other = self.subject.pool, self.subject.opposite
        reserved = lines * self.subject.thresholds.reserved
        pools = {own.name: _pool(own, reserved)}
        if other is not None:
            pools[other.name] = _pool(other, 0)
        headroom = own.headroom + (other.headroom if other is not None else 0)
        # A pool may be no larger than the memory, whose own free room may be smaller: an unused pool takes the rest.
        size = self.subject.free + headroom + reserved + own.shared + (other.shared if other is not None else 0)
        rest = size - self.subject.free - headroom - reserved
        size += self.subject.cells_of(MOST_PACKET) if plugged else 0
        pools[_unused(pools)] = {"size": f"{size} cells", "headroom": f"{rest} cells", "side": "egress"}
        return {**self.subject.policy, "size": f"{size} cells", "pool": pools}

    def _flow(self, line: int, out: int, burst: int, start: int, reacts: bool) -> dict[str, Any]:
        source = _burst(burst, self.packet)
        flow = {"name": f"flow{line}", "from": f"source{line}", "to": f"sink{out}", "source": source}
        named = {"queue": self.subject.name} if self.subject.section else {}
        return {**flow, **named, "transport": {"kind": "udp", "ecn": reacts}, "start": f"{start} ps"}


def _burst(packets: int, octets: int) -> dict[str, Any]:
    """Return a source that sends packets of a size once, one behind another."""
    return {
        "kind": "on-off",
        "peak": f"{RATE_BPS} b/s",
        "burst": packets,
        "total": packets,
        "off": "1000000 s",
        "distribution": "periodic",
        "phase": "aligned",
        "size": f"{octets - UDP_HEADERS} bytes",
    }


def _pool(pool: PoolRoom, reserved: int) -> dict[str, Any]:
    size = {"size": f"{pool.shared + pool.headroom + reserved} cells", "side": pool.side}
    return {**size, "headroom": f"{pool.headroom} cells"} if pool.headroom else size


def _unused(pools: Mapping[str, Any]) -> str:
    """Return a name that no pool has."""
    return next(name for name in (f"rest{number}" for number in range(len(pools) + 1)) if name not in pools)


def _link(name: str, ends: tuple[str, str], rate: int, delay: int) -> dict[str, Any]:
    return {"name": name, "from": ends[0], "to": ends[1], "rate": f"{rate} b/s", "delay": f"{delay} ps"}
