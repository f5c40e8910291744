"""Places of a scenario, by the names that every verb takes: ports, classes of ports, memories and their queues."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from pushout import _core
from pushout.document import Document, steps
from pushout.errors import Argument, QuestionError
from pushout.excerpt import excerpt
from pushout.names.load import busiest, loads
from pushout.names.port import MEMORY_CELLS, Holder, Line, Port, lines, ports, section
from pushout.policy.program import check_memory
from pushout.quantity import content, octets, split
from pushout.simulate import Job, listed
from pushout.source import Source
from pushout.warning import Warned

DEFAULT, ALL, QUEUE = "default", "all", "queue"
"""Words of places: the class of all other ports of switches, every place, and what precedes the name of a class."""

PORTS = "ports with a limited buffer"

FABRICS = ("leaf-spine", "fat-tree")
"""Templates in which ports of one class stand at many nodes."""


@dataclass(frozen=True)
class Queue:
    """A queue of a memory: its name in reports, and its class."""

    name: str
    group: str


@dataclass(frozen=True)
class Memory:
    """A memory at one node, or a partition of it."""

    name: str
    """Its name in reports: that of its section, and its node if several have one."""
    section: str
    cells: float
    cell_bytes: float
    queues: tuple[Queue, ...]
    """Those that are known before a run: not those of transfers that are yet to be drawn."""

    def sizes(self, text: str) -> dict[str, float]:
        """Convert a size to cells of the memory and bytes."""
        number, unit = split(text)
        size = number * self.cell_bytes if unit in ("cell", "cells") else octets(f"{number!r} {unit}") if unit else None
        return {} if size is None else {MEMORY_CELLS: size / self.cell_bytes, "bytes": size}


@dataclass(frozen=True)
class Place:
    """Where policies apply, and whose figures count."""

    name: str
    """As users write it: `bottleneck`, `fabric`, `memory.chip`, `memory.chip.queue.rdma`, `all`."""
    holders: tuple[Holder, ...]
    """The sections that hold its policies."""
    ports: tuple[Port, ...]
    """The ports that lose its units: those of a class, or those that share a memory."""
    memories: tuple[Memory, ...] = ()
    queue: str = ""
    """The class of its queues, if it is not the whole memory."""

    @staticmethod
    def of(port: Port) -> "Place":
        """Return the place of one port."""
        return Place(port.name, (port.holder,), (port,))

    @property
    def port(self) -> Port | None:
        """The port, if it is a single one."""
        return self.ports[0] if len(self.ports) == 1 and not self.memories else None

    @property
    def port_name(self) -> str:
        """The name of the port, if it is a single one; else empty."""
        return self.port.name if self.port else ""

    @property
    def is_foreseen(self) -> bool:
        """Return whether its queues are known before a run, if it is a class of them."""
        return not self.queue or any(each.group == self.queue for memory in self.memories for each in memory.queues)

    @property
    def measure(self) -> str:
        """The measure of its occupancy; empty if parts of it count in different measures."""
        if self.memories:
            is_shared = all(port.memory is not None for port in self.ports)
            return MEMORY_CELLS if is_shared and len({memory.cell_bytes for memory in self.memories}) == 1 else ""
        measures = {port.measure for port in self.ports}
        return measures.pop() if len(measures) == 1 else ""

    @property
    def room(self) -> float | None:
        """The most that it can hold, in its measure, if that is known."""
        if self.memories:
            return sum(memory.cells for memory in self.memories) if self.measure else None
        size = content(self.port.buffer) if self.port else None
        return size and size[0]

    def sizes(self, text: str) -> dict[str, float]:
        """Convert the size of one of its buffers or memories to all useful units."""
        return self.memories[0].sizes(text) if self.memories else self.ports[0].sizes(text) if self.ports else {}

    @property
    def pace(self) -> str:
        """What the rate is, in words, at which `sizes` converts bytes to time."""
        return self.ports[0].pace if self.ports else ""

    @property
    def whose(self) -> str:
        """Describe what belongs to it, for messages."""
        if self.port:
            return self.name
        count = "1 port" if len(self.ports) == 1 else f"{len(self.ports)} ports"
        return f"{self.name} ({count})"


@dataclass(frozen=True)
class Places:
    """The places of a scenario with overrides."""

    explained: Document
    source: Source
    sets: tuple[str, ...]

    @cached_property
    def ports(self) -> dict[str, Port]:
        """Every port by its name; the keys of one with a discipline name it, which the explained scenario does not."""
        found = ports(self.explained)
        if not self._disciplines:
            return found
        of = {name: self._disciplines.get(self._section(port)) for name, port in found.items()}
        return {
            name: replace(port, keys={**port.keys, "discipline": of[name]}) if of[name] else port
            for name, port in found.items()
        }

    @cached_property
    def _disciplines(self) -> dict[str, str]:
        """The discipline of each section of ports that has one, overrides included."""
        found = {name: keys.get("discipline") for name, keys in _table(self._written.get("port")).items()}
        for change in self.sets:
            path, _, value = change.partition("=")
            match steps(path):
                case ["port", name]:
                    found[name] = _parsed(value).get("discipline")
                case ["port", name, "discipline"]:
                    found[name] = value.strip().strip("\"'")
        return {name: discipline for name, discipline in found.items() if discipline}

    @cached_property
    def _lines(self) -> dict[str, Line]:
        return {line.name: line for line in lines(self.explained)}

    @cached_property
    def _written(self) -> Document:
        """The scenario as its file writes it."""
        return _core.Document(self.source.text, self.source.name).value()

    @cached_property
    def _sections(self) -> set[str]:
        """The names of all sections of ports, those of overrides included."""
        found = set(_table(self._written.get("port")))
        for change in self.sets:
            path, _, value = change.partition("=")
            names = steps(path)
            if names[0] == "port":
                found = found | {names[1]} if len(names) > 1 else set(_parsed(value))
        return found

    @cached_property
    def _hosts(self) -> set[str]:
        return {str(node["name"]) for node in self.explained["node"] if node["kind"] == "host"}

    def is_at_host(self, port: Port) -> bool:
        """Return whether a port sends for a host, not for a switch or router."""
        return self._lines[port.name].ends[0] in self._hosts

    def _section(self, port: Port) -> str:
        """Return the name of the section by which a port of a switch has its policies."""
        group = self._lines[port.name].group
        return next((name for name in (port.name, group) if name in self._sections), DEFAULT)

    def has_memory(self, name: str) -> bool:
        """Return whether the scenario has a memory of this name."""
        return name in self._memories

    def is_class(self, name: str) -> bool:
        """Return whether ports have this class."""
        return name in self._groups

    def is_written(self, name: str) -> bool:
        """Return whether the file of the scenario has a section of ports with this name."""
        return name in _table(self._written.get("port"))

    def named(self, at: str | Sequence[str], argument: str = "at") -> tuple[Place, ...]:
        """Find the places of these names, which may be one text with commas."""
        names = self._names(at, argument)
        for name in names:
            if names.count(name) > 1:
                raise QuestionError(Argument(argument), f" must name {excerpt(name)} once, not twice")
        return tuple(self._named(name, argument) for name in names)

    def _names(self, at: str | Sequence[str], argument: str) -> list[str]:
        """Split a text into names, unless a port has the text, with its commas, as its name."""
        if not isinstance(at, str):
            return list(at)
        return [at] if at in self.ports else listed(argument, at) or [at]

    def _named(self, name: str, argument: str = "at") -> Place:
        """Find the place of a name; a port comes before other places with that name."""
        if name in self.ports:
            return Place.of(self.ports[name])
        if name in self._groups:
            return self._class(name)
        if name == DEFAULT:
            return self._default()
        if name == ALL:
            return self._all()
        written = in_memory(name)
        if written and written.memory in self._memories and (not written.queue or written.queue in self._queues):
            return self._memory(written.memory, name, written.queue)
        self._check_no_flow(name, argument)
        raise QuestionError(Argument(argument), f": {_core.unknown('place', name, list(self._known()))}")

    def check_limited(self, place: Place) -> None:
        """Refuse a place with a port that has neither a limited buffer nor a share of a memory."""
        for port in place.ports:
            if not port.is_limited and port.memory is None:
                has = "" if place.port else f", which {excerpt(port.name)} does not have"
                holder = port.holder if port.name in self._sections else place.holders[0]
                others = [each.name for each in self._limited() if each.is_limited]
                other = f"choose {excerpt(others[0])}, or " if others else ""
                remedy = f"{other}give it one ({excerpt(holder.key('buffer'))}=…)"
                raise QuestionError(Argument("at"), f" {excerpt(place.name)} must have a limited buffer{has}: {remedy}")

    def _check_no_flow(self, name: str, argument: str) -> None:
        """Refuse the name of a flow, which has no queue."""
        flow = name.removeprefix("flow.")
        found = next((each for each in self.explained.get("flow", ()) if each["name"] == flow), None)
        if found is None:
            return
        ports = [port.name for port in self._limited()]
        port = f", as {excerpt(ports[0])}" if ports else ""
        why = f" must be a port, a class of ports or a memory, not a flow: choose the port where it waits{port}"
        control = f"{section('flow', flow)}.transport.congestion"
        has_control = found["transport"]["kind"] == "tcp"
        also = f"; to vary its congestion control, sweep {excerpt(control)}" if has_control else ""
        raise QuestionError(Argument(argument), f" {excerpt(name)}{why}{also}")

    @property
    def _queues(self) -> Mapping[str, Any]:
        """The classes of traffic in memories."""
        return _table(self.explained.get("queue"))

    def port(self, name: str) -> Port:
        """Find a port; those with a limited buffer come first in the list of names."""
        if name not in self.ports:
            names = sorted(self.ports, key=lambda each: not self.ports[each].is_limited)
            raise QuestionError(_core.unknown("port", name, names))
        return self.ports[name]

    def _known(self) -> Iterator[str]:
        """Yield the names of all places; those whose buffers are limited come first."""
        for name in self._memories:
            yield section("memory", name)
            yield from (section(f"{section('memory', name)}.{QUEUE}", queue) for queue in self._queues)
        limited = [port for port in self.ports.values() if port.is_limited]
        yield from (name for name in (*self._groups, DEFAULT) if name in self._sections)
        yield from (port.name for port in limited)
        yield from (ALL, *(name for name in (*self._groups, DEFAULT) if name not in self._sections))
        yield from (port.name for port in self.ports.values() if not port.is_limited)

    @cached_property
    def _groups(self) -> list[str]:
        """The classes of ports."""
        return list(dict.fromkeys(line.group for line in self._lines.values() if line.group))

    def _class(self, name: str) -> Place:
        """Find the ports of a class; some may have sections of their own."""
        found = [port for port in self.ports.values() if self._lines[port.name].group == name]
        own = [port for port in found if port.name in self._sections]
        common = [port for port in found if port.name not in self._sections]
        shared = (Holder(section("port", name), common[0].keys),) if common else ()
        return Place(name, (*shared, *(port.holder for port in own)), tuple(found))

    def _default(self) -> Place:
        """Find the ports of switches and routers without a section of their own or of their class."""
        at_switches = (port for port in self.ports.values() if not self.is_at_host(port))
        found = tuple(port for port in at_switches if self._section(port) == DEFAULT)
        if not found:
            raise QuestionError(f"{DEFAULT} must be a class of ports, not empty: every port has a section of its own")
        return Place(DEFAULT, (Holder(section("port", DEFAULT), found[0].keys),), found)

    def _all(self) -> Place:
        """Find every memory, and every port with a limited buffer of its own; of hosts only if there is no other."""
        shared = [self._memory(name, name, "") for name in self._memories]
        limited = [port for port in self._limited() if not shared or not self.is_at_host(port)]
        if not limited and not shared:
            raise self.nothing_limited()
        by_section: dict[str, Mapping[str, Any]] = {}
        for port in limited:
            by_section.setdefault(self._section(port), port.keys)
        holders = (Holder(section("port", name), keys) for name, keys in by_section.items())
        losing = {port.number: port for port in (*limited, *(port for place in shared for port in place.ports))}
        return Place(
            ALL,
            (*(holder for place in shared for holder in place.holders), *holders),
            tuple(losing[number] for number in sorted(losing)),
            tuple(memory for place in shared for memory in place.memories),
        )

    @cached_property
    def _memories(self) -> Mapping[str, Any]:
        """The sections of memories."""
        return _table(self.explained.get("memory"))

    def _memory(self, name: str, written: str, queue: str) -> Place:
        """Find a memory at every node that has it."""
        path = section("memory", name)
        sharing = tuple(port for port in self.ports.values() if port.memory == name)
        own = tuple(memory for memory in self._stores if memory.section == name)
        return Place(written if queue else path, (Holder(path, self._memories[name]),), sharing, own, queue)

    @cached_property
    def _stores(self) -> list[Memory]:
        """The memories of all nodes, as a report lists them; the shortest run names them."""
        shortest = [*self.sets, f"duration={SHORTEST}", "warmup=0 s", "measure={}"]
        scenario = _core.Scenario(self.source.text, self.source.name, shortest, None)
        report: Document = json.loads(scenario.run(None, False, None, _core.Reached()))
        return [self._store(entry) for entry in report.get("memories", ())]

    def _store(self, entry: Document) -> Memory:
        name = str(entry["name"])
        sections = [each for each in self._memories if InMemory(each, "").has(name)]
        queues = tuple(Queue(str(queue["name"]), str(queue["queue"])) for queue in entry["queues"])
        return Memory(name, max(sections, key=len), float(entry["cells"]), float(entry["cell_octets"]), queues)

    def by_default(self) -> tuple[Place, list[Warned]]:
        """Choose the place that decides about losses.

        That is the memory that ports share if no port of a switch or router has a limited buffer of its own, and else
        the port that has one. If several have, it is the busiest, in a fabric with its class.
        """
        limited = self._limited()
        if self._memories and all(self.is_at_host(port) for port in limited):
            return self._busiest_memory()
        if not limited:
            raise self.nothing_limited()
        is_fabric = self._written.get("topology", {}).get("template") in FABRICS
        return self._busiest_class(limited) if is_fabric else self._busiest_port()

    def _limited(self) -> list[Port]:
        """List the ports with limited buffers of their own: those of switches and routers, or else those of hosts."""
        limited = [port for port in self.ports.values() if port.is_limited]
        return [port for port in limited if not self.is_at_host(port)] or limited

    def _busiest_port(self) -> tuple[Place, list[Warned]]:
        """Choose the busiest port with a limited buffer, of a host as well."""
        limited = [port for port in self.ports.values() if port.is_limited]
        first = busiest(limited, self.explained)
        several = len(limited) > 1
        return Place.of(first), [self._warned(first.name, PORTS, len(limited), first)] if several else []

    def _busiest_class(self, limited: Sequence[Port]) -> tuple[Place, list[Warned]]:
        """Choose the class of the busiest of these ports."""
        first, classes = busiest(limited, self.explained), {self._section(port) for port in limited}
        name, several = self._section(first), len(classes) > 1
        return self._named(name), [self._warned(name, f"classes of {PORTS}", len(classes), first)] if several else []

    def _busiest_memory(self) -> tuple[Place, list[Warned]]:
        """Choose the memory of the busiest port that shares one."""
        first = busiest((port for port in self.ports.values() if port.memory is not None), self.explained)
        place = self._memory(str(first.memory), "", "")
        told = [self._warned(place.name, "memories", len(self._memories), first)] if len(self._memories) > 1 else []
        return place, told

    def _warned(self, chosen: str, kind: str, count: int, port: Port) -> Warned:
        """Warn that one of several places has been chosen because of its busiest port."""
        whose = (
            "it is the busiest, because its flows"
            if chosen == port.name
            else f"it has the busiest port: flows of {port.name}"
        )
        what = f"port {chosen}" if chosen == port.name else chosen
        load = loads(self.explained).get(port.name, 0.0)
        message = (
            f"{what} is used: of {count} {kind} {whose} may send {load:.3g} times its rate; choose another with at"
        )
        return {"code": "busiest-port", "message": message}

    @staticmethod
    def nothing_limited() -> QuestionError:
        """Explain that no place is limited, so that none can be chosen."""
        return QuestionError("no port has a limited buffer: choose a port with ", Argument("at"))


class InMemory(NamedTuple):
    """A place in memories, as its name writes it: a section, and a class of its queues or nothing."""

    memory: str
    queue: str

    def has(self, name: str) -> bool:
        """Return whether a memory of a report is of this section: it may have its node or a partition in its name."""
        return name == self.memory or name.startswith((f"{self.memory}@", f"{self.memory}/"))


def in_memory(name: str) -> InMemory | None:
    """Read `memory.NAME` or `memory.NAME.queue.CLASS`; None for other names."""
    match steps(name):
        case ["memory", memory]:
            return InMemory(memory, "")
        case ["memory", memory, "queue", queue]:
            return InMemory(memory, queue)
    return None


def everywhere(policies: Sequence[str], source: Source, sets: Sequence[str]) -> list[list[str]]:
    """Return the overrides that each policy in Python stands for: of `all`, those of every class that it has."""
    begin = f"{section('port', ALL)}."
    if not any(policy.startswith(begin) for policy in policies):
        return [[policy] for policy in policies]
    places = Places(json.loads(Job(source, tuple(sets), None).explain(None)), source, tuple(sets))
    if ALL in places.ports:
        return [[policy] for policy in policies]
    (whole,) = places.named(ALL)
    for holder in whole.holders:
        for policy in policies:
            if holder.is_memory and policy.startswith(begin):
                check_memory(holder.path, policy.removeprefix(begin).partition("=")[0])
    return [
        [f"{holder.path}.{policy.removeprefix(begin)}" for holder in whole.holders]
        if policy.startswith(begin)
        else [policy]
        for policy in policies
    ]


def named_policies(policies: Mapping[str, str], source: Source, sets: Sequence[str]) -> list[str]:
    """Return the overrides for policies that are given by their names, place by place."""
    if not policies:
        return []
    from pushout.names import port

    places = Places(json.loads(Job(source, tuple(sets), None).explain(None)), source, tuple(sets))
    entries = json.loads(_core.policies())
    found = ((places.named(place, "policies"), name) for place, name in policies.items())
    choices = (port.policies([name], [each for place in at for each in place.holders], entries) for at, name in found)
    return [change for each in choices for choice in each for change in choice.sets]


SHORTEST = "1 ns"
"""The duration of the run that only names memories and their queues."""


def _table(value: Any) -> Mapping[str, Any]:
    """Return a table of a scenario; one that is missing is empty."""
    return value if isinstance(value, Mapping) else {}


def _parsed(value: str) -> Mapping[str, Any]:
    """Parse the table of an override; empty if it is none, which the simulator has refused already."""
    try:
        return _table(tomllib.loads(f"it = {value}")["it"])
    except tomllib.TOMLDecodeError:
        return {}
