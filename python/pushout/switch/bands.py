"""The bands of `prio` and `ets`: a port with a class for each band, and a memory that gives each its own limit.

*Source*: Linux, `net/sched/sch_prio.c` (a band is served when those before it are empty; band N is the class N + 1) and
`net/sched/sch_ets.c` (strict bands first, the others by deficit round robin with the octets of `quanta`); tc-prio(8),
tc-ets(8): `priomap` gives each priority from 0 on its band.

A memory in which every packet takes one cell counts packets, one with cells of a byte counts bytes. So each band has
the limit of its own qdisc, and none takes the room of another.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from pushout.excerpt import quoted

MEMORY = "bands"
"""Name of the memory."""

CELLS = {"packets": "65535 bytes", "bytes": "1 bytes"}
"""Size of a cell with which a memory counts packets, which are all shorter, or bytes."""

PRIORITIES = 16
"""Priorities of a packet that have a band."""

PRIOMAP = (1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
"""Bands of the priorities with `prio`, unless it is given."""

MOST_BANDS = 16

USUAL, FRAME = 1000, 1514
"""Packets of a band without a qdisc of its own, the usual `txqueuelen`, and the bytes of a full frame."""

BY_QUEUE = ("codel", "pie")
"""Policies that have a state for each queue of a port."""


class Described(NamedTuple):
    """What a tree of qdiscs describes: the keys of a port, and its classes if it has several."""

    port: dict[str, Any]
    classes: Mapping[str, dict[str, Any]] = MappingProxyType({})
    """The keys of each class, beginning with that of packets of priority 0."""
    memory: Mapping[str, Any] = MappingProxyType({})
    """The memory of its limits; `size` is that of one port."""
    of_priority: tuple[str, ...] = ()
    """The class of each priority."""


class Bands(NamedTuple):
    """The bands of a qdisc: how many are strict, the octets of the others, and the band of each priority."""

    strict: int
    quanta: tuple[int, ...]
    of_priority: tuple[int, ...]

    @property
    def names(self) -> list[str]:
        """Return their names, as they are numbered in `priomap`."""
        return [f"band{number}" for number in range(self.strict + len(self.quanta))]


Refuse = Callable[[str], NoReturn]


def read(kind: str, options: Mapping[str, str], refuse: Refuse) -> Bands:
    """Read the options of `prio` or `ets`."""
    bands = _numbers(options.get("bands", "3" if kind == "prio" else ""), "bands", MOST_BANDS, refuse)
    if len(bands) != 1 or bands[0] < 1:
        refuse(f"the option bands must be a number from 1 to {MOST_BANDS}")
    count = bands[0]
    usual = PRIOMAP if kind == "prio" else ()
    given = _numbers(options["priomap"], "priomap", count - 1, refuse) if "priomap" in options else usual
    of_priority = (*(min(band, count - 1) for band in given), *[count - 1] * PRIORITIES)[:PRIORITIES]
    if kind == "prio":
        return Bands(count, (), of_priority)
    strict, *more = _numbers(options.get("strict", "0"), "strict", count, refuse) or (-1,)
    if strict < 0 or more:
        refuse(f"the option strict must be a number from 0 to {count}")
    quanta = _numbers(options.get("quanta", ""), "quanta", 2**31, refuse)
    if len(quanta) != count - strict or 0 in quanta:
        refuse(
            f"the option quanta must have a number of bytes for each of {count - strict} bands without strict priority"
        )
    return Bands(strict, quanta, of_priority)


def _numbers(text: str, key: str, most: int, refuse: Refuse) -> tuple[int, ...]:
    words = text.split()
    if not all(word.isascii() and word.isdecimal() and len(word) <= 10 and int(word) <= most for word in words):
        refuse(f"the option {key} must be numbers from 0 to {most}, not {quoted(text)}")
    return tuple(map(int, words))


def described(bands: Bands, ports: Mapping[int, Mapping[str, Any]], assume: Callable[[str], None]) -> Described | None:
    """Return the port of bands whose own qdiscs are these ports; None if they cannot be classes of one port.

    What a band without a qdisc gets is told to `assume`.
    """
    policies = {str(port.get("admission")) for port in ports.values()}
    units = {port["buffer"].split()[1] for port in ports.values()}
    admission = next(iter(ports.values())).get("admission")
    has_queues = any("scheduler" in port for port in ports.values())
    if has_queues or len(policies) > 1 or len(units) > 1 or (admission and admission["policy"] not in BY_QUEUE):
        return None
    (unit,) = units
    classes = _turns(bands)
    limits = {number: int(port["buffer"].split()[0]) for number, port in ports.items()}
    for number, name in enumerate(bands.names):
        if number not in limits:
            limits[number] = USUAL if unit == "packets" else USUAL * FRAME
            also = f" and {admission['policy']} as in the others" if admission else ""
            assume(f"the limit of band {number} (assumed: {limits[number]} {unit}, the usual qlen of ip link{also})")
        classes[name]["limit"] = f"{limits[number]} cells"
        classes[name] |= _ceiling(ports.get(number, {}))
    names = bands.names
    order = dict.fromkeys([names[bands.of_priority[0]], *names])
    return Described(
        {"memory": MEMORY, "scheduler": _scheduler(bands), **({"admission": admission} if admission else {})},
        {name: classes[name] for name in order},
        {"size": sum(limits.values()), "cell": CELLS[unit], "dt_check": "after"},
        tuple(names[band] for band in bands.of_priority),
    )


def _turns(bands: Bands) -> dict[str, dict[str, Any]]:
    """Return for each class its priority or its weight."""
    divisor = math.gcd(*bands.quanta)
    strict = {name: {"priority": number} for number, name in enumerate(bands.names[: bands.strict])}
    weights = [{"weight": float(quantum // divisor)} for quantum in bands.quanta]
    return {**strict, **dict(zip(bands.names[bands.strict :], weights, strict=True))}


def _scheduler(bands: Bands) -> dict[str, Any]:
    shared = bands.names[bands.strict :]
    turns = {"policy": "drr", "quantum": f"{math.gcd(*bands.quanta)} bytes"}
    if not bands.strict:
        return {**turns, "queues": "class"}
    group = {"group": {**turns, "queues": shared}} if shared else {}
    return {"policy": "strict-priority", "queues": "class", **group}


def _ceiling(port: Mapping[str, Any]) -> dict[str, Any]:
    """Return the maximum rate of a class whose qdisc is shaped.

    A bucket lets a packet start that it can pay, a maximum one that it can pay but for the burst: less a full frame.
    """
    if "shaper" not in port:
        return {}
    burst = int(port["shaper"]["burst"].split()[0])
    return {"maximum": port["shaper"]["rate"], "burst": f"{max(burst - FRAME, 0)} bytes"}


def of_ports(memory: Mapping[str, Any], ports: int) -> dict[str, Any]:
    """Return the section of the memory of a switch with this many ports, each with room for all its bands."""
    return {MEMORY: {**memory, "size": f"{memory['size'] * ports} cells"}}
