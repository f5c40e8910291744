"""A scenario from a switch's own tables of SONiC: pools, profiles, priority groups and queues of `CONFIG_DB`.

*Source*: sonic-swss `doc/Configuration.md` (BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE, CABLE_LENGTH, PORT,
WRED_PROFILE, QUEUE); SAI `saibuffer.h`: α = 2^dynamic_th, `size` of a profile is reserved, `xoff` headroom, `xon` and
`xon_offset` are the conditions for resuming. The `size` of a pool is what its queues share, its `xoff` the headroom
that they share; reserved room lies outside of both, as the acceptance tests of Trident 2 and Tomahawk show.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pushout import kept
from pushout.errors import Argument, QuestionError
from pushout.excerpt import quoted
from pushout.quantity import SECONDS, split
from pushout.switch import sonic_tables
from pushout.switch.headroom import PS_PER_S, SPEED_M_PER_S, UDP_HEADERS
from pushout.switch.rows import LARGEST
from pushout.switch.sonic_queues import Handling, Queues
from pushout.switch.sonic_tables import GROUP, POOL, PROFILE, QUEUE, Tables, ranges
from pushout.switch.table import RESPONSES

MOST_EXPONENT = 8
"""Largest n, positive or negative, of α = 2^n in SAI."""

UNLIMITED = 1e9
"""A factor with which a dynamic threshold limits nothing: the queue has a static threshold, or none."""

MOST_SENDERS = 16
"""Lines of the scenario that send to one port, unless asked for; more would take longer and show nothing else."""

MOST_RTT_PS = 10**13
"""Largest round trip."""

BURST_FRAME, FULL_FRAME = 1024, 1500
"""Bytes of the frames of bursts and of bulk data, unless asked for."""

TCP_HEADERS = 40
"""Bytes of the IP and TCP headers of a full segment."""

BURST_BYTES, OFF_US = 100 * BURST_FRAME, 200
"""Bytes of a burst, whatever its frames, and the microseconds of silence after it."""

CELLS = {
    "Trident 2": 208,
    "Tomahawk": 208,
    "Tomahawk 2": 208,
    "Trident 3": 256,
    "Tomahawk 3": 254,
    "Tomahawk 5": 254,
    "Tomahawk 6": 420,
    "Spectrum": 96,
    "Spectrum 2": 144,
    "Spectrum 4": 192,
    "Tofino 2": 176,
}
"""Bytes of a cell of known chips (sonic-net/sonic-mgmt, tests/qos/files)."""


STANDARD_MBPS = {gigabits * 1000 for gigabits in RESPONSES}
"""Rates for which IEEE 802.3 has a time in which senders obey pauses."""


class Pool(NamedTuple):
    """A pool: its side, the room that its queues share, and the headroom that they share."""

    side: str
    shared: int
    headroom: int


@dataclass(frozen=True)
class Profile:
    """The thresholds of a queue, in bytes."""

    name: str
    pool: str
    reserved: int
    alpha: float
    limit: int | None
    xoff: int
    xon: int
    xon_offset: int | None

    @property
    def terms(self) -> dict[str, Any]:
        """Return the thresholds as keys of a class."""
        limit = {} if self.limit is None else {"limit": f"{self.limit} bytes"}
        return {"pool": self.pool, "alpha": self.alpha, **limit}

    @property
    def section(self) -> dict[str, Any]:
        """Return the class of a scenario with these thresholds."""
        found = {**self.terms, "reserved": f"{self.reserved} bytes"}
        if not self.xoff:
            return found
        offset = {} if self.xon_offset is None else {"xon_offset": f"{self.xon_offset} bytes"}
        return {**found, "pause": {"xoff": f"{self.xoff} bytes", "xon": f"{self.xon} bytes", **offset}}


class Imported(NamedTuple):
    """A scenario, and what the tables contain and the scenario does not: a line for each thing."""

    scenario: dict[str, Any]
    left_out: list[str]
    facts: list[str]
    """The entry that each class comes from, with its exponent of α."""
    admission: dict[str, dict[str, Any]]
    """For each class whose queue marks or drops early the policy that does so."""
    decisions: list[str]
    """What this model decided where the tables leave it open: lines of `facts` that a user should see."""


def looks_like(path: Path) -> bool:
    """Return whether a file has tables of SONiC."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    return f'"{POOL}"'.encode() in kept.content(path, LARGEST)


class Traffic(NamedTuple):
    """What is sent to the receiving port, beyond what the tables say."""

    queue: int | None = None
    """The only queue of the port whose traffic is sent, which its profile then marks."""
    senders: int | None = None
    """Lines that send; by default all ports but one, at most `MOST_SENDERS`."""
    rtt: str | None = None
    """The base round trip of the hosts; by default that of the cables alone."""
    mtu: int | None = None
    """Bytes of the frames of classes that lose nothing."""
    other: int | None = None
    """Bytes of the largest frame that meets a pause frame; by default the `mtu` of each port, if the tables have it."""


ANY = Traffic()
"""All queues, all ports, and no time but that of the cables."""


def read(files: Sequence[Path], cell: int | None, traffic: Traffic = ANY) -> Imported:
    """Return a scenario with the memory of a switch: lines that send to one port, in all classes of the tables."""
    return _imported(Tables.of([sonic_tables.read(file) for file in files]), cell, traffic)


def tabled(document: Mapping[str, Any], cell: int | None, traffic: Traffic = ANY) -> Imported:
    """Like `read`, for tables that have been read."""
    return _imported(Tables(document, "tables"), cell, traffic)


def named(found: Imported, folder: Path) -> Imported:
    """Name a scenario after its folder, so that results of several switches stand in folders of their own."""
    name = re.sub(r"[^\w-]+", "-", folder.resolve().name, flags=re.ASCII).strip("-")
    return found._replace(scenario={**found.scenario, "name": name or found.scenario["name"]})


def _imported(tables: Tables, cell: int | None, traffic: Traffic) -> Imported:
    if cell is None:
        known = ", ".join(f"{octets} ({chip})" for chip, octets in CELLS.items())
        raise QuestionError(Argument("cell"), f" must be given, as tables of SONiC have no size of cells: {known}")
    switch = _Switch(tables, cell, traffic)
    scenario, decisions = switch.scenario(), switch.decisions()
    return Imported(scenario, tables.left_out, [*switch.facts(), *decisions], switch.admission, decisions)


SCENARIO, SWEEP = "switch.toml", "alpha.toml"
"""The files of the scenario and of the sweep beside it."""

EXPONENTS = (-3, -1, 1, 3)
"""Values of dynamic_th that the sweep tries besides the one of the switch."""


def sweep_of(found: Imported, file: str) -> str | None:
    """Write a sweep over the α of a class with a dynamic threshold, a lossy one if there is any; None without one."""
    classes: dict[str, dict[str, Any]] = found.scenario["queue"]
    dynamic = {name: section for name, section in classes.items() if section["alpha"] != UNLIMITED}
    name = next((name for name, section in dynamic.items() if "pause" not in section), next(iter(dynamic), None))
    if name is None:
        return None
    alphas = sorted({*(2.0**exponent for exponent in EXPONENTS), classes[name]["alpha"]})
    kinds = {"lossless_drop" if "pause" in section else "lossy_drop" for section in classes.values()}
    figures = [*(f"memories.chip.{kind}" for kind in sorted(kinds, reverse=True)), "summary.goodput_ratio"]
    return (
        f"# Which alpha = 2^dynamic_th for {name}? {file} has {classes[name]['alpha']:g}.\n\n"
        f'name = "{found.scenario["name"]}-alpha"\nscenario = "{file}"\nreps = 20\nset = [\'duration="5 ms"\']\n'
        f"figures = {json.dumps(figures)}\n\n[grid]\nqueue.{name}.alpha = {alphas}\n"
    )


class _Port(NamedTuple):
    """A port of the switch, with the profiles of its priority groups of lossless traffic, and of all its queues."""

    name: str
    lossless: tuple[tuple[int, str], ...]
    queues: tuple[tuple[int, str], ...]
    ingress: str | None
    """The profile of a priority group of lossy traffic."""


class _Class(NamedTuple):
    """What queues have in common that are one class: the profile of the buffer, and what the port does with them."""

    profile: str
    handling: Handling


class _Switch:
    """The memory of a switch and its ports."""

    def __init__(self, tables: Tables, cell: int, traffic: Traffic) -> None:
        self.tables, self.cell, self.queue, self.count = tables, cell, traffic.queue, traffic.senders
        self.mtu, self.other = traffic.mtu, traffic.other
        self.pools = {name: self._pool(name) for name in tables.rows(POOL)}
        self.profiles = {name: self._profile(name) for name in tables.rows(PROFILE)}
        self.queues = Queues(tables)
        self.ports = self._ports()
        *self.senders, self.receiver = self._chosen()
        self.hosts_ps = self._hosts_ps(traffic.rtt)
        self.lossless = {port.name: self._of_numbers(self._entered(port)) for port in self.senders}
        self.lossy = self._of_numbers(self._others())
        self.names, self.entered = self._names()
        self.codepoints = self.queues.codepoints([port.name for port in self.senders], self.receiver.name)
        if not self.names:
            there = sorted({*self._others(), *(number for port in self.senders for number in self._entered(port))})
            has = f"no queue {self.queue}; there are {ranges(there).replace(',', ', ')}" if there else "no queue"
            self.tables.refuse(f"{QUEUE}|{self.receiver.name} must have an entry: {has}", QUEUE)
        self.admission = {
            name: self.queues.admission(each.handling.wred)
            for each, name in self.names.items()
            if each.handling.wred is not None
        }

    def _pool(self, name: str) -> Pool:
        side = self.tables.value(POOL, name, "type")
        if side not in ("ingress", "egress"):
            self.tables.refuse(f"{POOL}|{name}: type must be ingress or egress, not {quoted(side)}", POOL, name, "type")
        size = self.tables.number(POOL, name, "size", least=1)
        return Pool(side, size, self.tables.number(POOL, name, "xoff", 0))

    def _profile(self, name: str) -> Profile:
        row = self.tables.rows(PROFILE)[name]
        offset = self.tables.number(PROFILE, name, "xon_offset") if "xon_offset" in row else None
        alpha, limit = self._threshold(name)
        pool = self.tables.reference(PROFILE, name, "pool", POOL)
        xoff, xon = (self.tables.number(PROFILE, name, key, 0) for key in ("xoff", "xon"))
        if not xoff and (xon or offset):
            self.tables.leave_out(f"{PROFILE}|{name}: xon and xon_offset are left out, as there is no xoff")
        return Profile(
            name=re.sub(r"[^\w-]", "-", name, flags=re.ASCII),
            pool=pool,
            reserved=self.tables.number(PROFILE, name, "size", 0),
            alpha=alpha,
            limit=None if limit is None or limit >= self.pools[pool].shared else limit,
            xoff=xoff,
            xon=xon,
            xon_offset=offset,
        )

    def _threshold(self, name: str) -> tuple[float, int | None]:
        """Return α and the static limit of a profile."""
        text, static = (self.tables.value(PROFILE, name, key) for key in ("dynamic_th", "static_th"))
        if (text is None) == (static is None):
            both = "neither" if text is None else f"both, {quoted(text)} and {quoted(static)}"
            self.tables.refuse(
                f"{PROFILE}|{name}: one of dynamic_th and static_th must be given, not {both}", PROFILE, name
            )
        if text is None:
            return UNLIMITED, self.tables.number(PROFILE, name, "static_th")
        if not re.fullmatch("-?[0-9]", str(text), re.ASCII) or abs(int(text)) > MOST_EXPONENT:
            least, most = -MOST_EXPONENT, MOST_EXPONENT
            message = f"dynamic_th must be an integer n from {least} to {most}, of which α is 2^n, not {quoted(text)}"
            self.tables.refuse(f"{PROFILE}|{name}: {message}", PROFILE, name, "dynamic_th")
        return 2.0 ** int(text), None

    def _ports(self) -> list[_Port]:
        """Return the ports that have priority groups, in the order of the tables."""
        groups, queues = self._used(GROUP), self._used(QUEUE)
        found = []
        for name, own in groups.items():
            lossless = {number: profile for number, profile in own.items() if self.profiles[profile].xoff}
            ingress = next((profile for number, profile in own.items() if number not in lossless), None)
            found.append(_Port(name, tuple(lossless.items()), tuple(queues.get(name, {}).items()), ingress))
        if len(found) < 2:
            self.tables.refuse(f"{GROUP} must have entries of at least two ports, as Ethernet0|3-4", GROUP)
        return found

    def _used(self, table: str) -> dict[str, dict[int, str]]:
        """Return for each port the profile of each of its priority groups or queues."""
        found: dict[str, dict[int, str]] = {}
        for name, own in self.tables.of_numbers(table).items():
            for number, key in own.items():
                if str(self.tables.value(table, key, "profile") or "NULL") == "NULL":
                    why = "profile NULL is left out; the switch computes one as it starts"
                    self.tables.leave_out(f"{table}|{key}: {why}")
                    continue
                found.setdefault(name, {})[number] = self.tables.reference(table, key, "profile", PROFILE)
        return found

    def _chosen(self) -> list[_Port]:
        """Return the ports of the scenario: first one for every set of profiles, then others."""
        most = len(self.ports) - 1
        if self.count is not None and not 1 <= self.count <= most:
            why = (
                f" must be from 1 to {most}, as {GROUP} has {most + 1} ports and one of them receives, not {self.count}"
            )
            raise QuestionError(Argument("senders"), why)
        count = min(MOST_SENDERS, most) if self.count is None else self.count
        first = {port[1:]: port for port in reversed(self.ports)}.values()
        chosen = [*first, *(port for port in self.ports if port not in first)][: count + 1]
        return sorted(chosen, key=self.ports.index)

    def _delay_ps(self, port: _Port) -> int:
        """Return the delay of the cable of a port."""
        return round(self.tables.metres(port.name) / SPEED_M_PER_S * PS_PER_S)

    def _hosts_ps(self, rtt: str | None) -> int:
        """Return what hosts add to the round trip over the longest cables, in picoseconds."""
        if rtt is None:
            return 0
        number, unit = split(rtt)
        wanted = round(number * SECONDS[unit] * 1e12) if unit in SECONDS else 0
        cables = 2 * (max(map(self._delay_ps, self.senders)) + self._delay_ps(self.receiver))
        if not cables <= wanted <= MOST_RTT_PS:
            least = f"{cables / 1e6:g} us, that of the cables"
            raise QuestionError(
                Argument("rtt"), f" must be a time from {least}, to 10 s, as in '30 us', not {quoted(rtt)}"
            )
        return wanted - cables

    def _entered(self, sender: _Port) -> dict[int, str]:
        """Return the queues of the receiver that the lossless groups of a sender enter, with their profiles."""
        found: dict[int, str] = {}
        for group, profile in sender.lossless:
            if not self.queues.is_paused(sender.name, group):
                why = f"priority group {group} is left out: pfc_enable does not have it, so nothing stops its sender"
                self.tables.leave_out(f"PORT_QOS_MAP|{sender.name}: {why}")
                continue
            for number in self.queues.of_group(sender.name, self.receiver.name, group):
                if found.setdefault(number, profile) != profile:
                    why = f"priority group {group} is left out: it enters queue {number} with another profile"
                    self.tables.leave_out(f"{GROUP}|{sender.name}: {why}")
        return found

    def _others(self) -> dict[int, str]:
        """Return the queues of the receiver that no lossless group enters, with their profiles."""
        of_lossless = {
            number
            for port in (*self.senders, self.receiver)
            for group, _ in port.lossless
            for number in self.queues.of_group(port.name, self.receiver.name, group)
        }
        return {number: profile for number, profile in self.receiver.queues if number not in of_lossless}

    def _of_numbers(self, profiles: Mapping[int, str]) -> dict[_Class, list[int]]:
        """Return the classes of queues of the receiver, with their numbers."""
        found: dict[_Class, list[int]] = {}
        for number, profile in profiles.items():
            if self.queue in (None, number):
                handling = self.queues.handling(self.receiver.name, number)
                found.setdefault(_Class(profile, handling), []).append(number)
        for each, numbers in found.items():
            if len(numbers) > 1:
                why = f"of the queues {ranges(numbers)} with profile {each.profile}, which are alike, one is used"
                self.tables.leave_out(f"{QUEUE}|{self.receiver.name}: {why}; the others are left out")
        return found

    def _names(self) -> tuple[dict[_Class, str], dict[str, int]]:
        """Name the classes after their profiles, with their queues where a profile has several; give each a queue."""
        numbers: dict[_Class, set[int]] = {}
        for classes in (self.lossy, *self.lossless.values()):
            for each, own in classes.items():
                numbers.setdefault(each, set()).update(own)
        profiles = [each.profile for each in numbers]
        names = {
            each: self.profiles[each.profile].name
            + (f"-{ranges(own).replace(',', '-')}" if profiles.count(each.profile) > 1 else "")
            for each, own in numbers.items()
        }
        return names, {name: min(numbers[each]) for each, name in names.items()}

    @property
    def is_single(self) -> bool:
        """Return whether all traffic enters one queue of the receiver, so that its port is that queue."""
        return len(set(self.entered.values())) == 1

    def scenario(self) -> dict[str, Any]:
        """Return the scenario: its last port receives what the others send."""
        scheduler, turns = self._turns
        port = {"memory": "chip", **scheduler, **self._policy()}
        classes = {name: {**section, **turns.get(name, {})} for name, section in self._classes().items()}
        found = self._scenario(port, classes)
        self._leave_out()
        return found

    @cached_property
    def _turns(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the scheduler of the receiver's port, and the keys of each class: none if there is a single queue."""
        if self.is_single:
            return {}, {}
        for number in sorted(set(self.entered.values())):
            same = [name for name, own in self.entered.items() if own == number]
            if len(same) > 1:
                why = f"that {', '.join(same)} share queue {number} is left out: each has a queue of its own"
                self.tables.leave_out(f"{GROUP}: {why}")
        scheduler, keys = self.queues.scheduler({name: each.handling.turn for each, name in self.names.items()})
        return ({"scheduler": scheduler} if scheduler else {}), keys

    def _policy(self) -> dict[str, Any]:
        """Return the admission policy of the receiver's port: that of its queue, if it has a single one."""
        if self.is_single:
            policy = next(iter(self.admission.values()), None)
            return {} if policy is None else {"admission": policy}
        for each, name in self.names.items():
            if each.handling.wred is not None:
                why = "is left out: the port has one policy for all its queues; make a scenario of one with --queue"
                at = f"QUEUE|{self.receiver.name}|{self.entered[name]}"
                self.tables.leave_out(f"{at}: wred_profile {each.handling.wred} {why} {self.entered[name]}")
        return {}

    def facts(self) -> list[str]:
        """Say which entry of the tables each class comes from, and which codepoints (DSCP) enter its queue."""
        found = [self._way] if self.hosts_ps else []
        for each, name in self.names.items():
            text = self.tables.value(PROFILE, each.profile, "dynamic_th")
            alpha = "" if text is None else f"; alpha = 2^{text}, as dynamic_th is {text}"
            own = self.codepoints.get(self.entered[name])
            enters = f"; DSCP {ranges(own)}" if own else ""
            at = f"queue {self.entered[name]} of {self.receiver.name}"
            found.append(f"queue.{name}: {PROFILE}|{each.profile}, {at}{alpha}{enters}")
        return [*found, *self._headroom_facts()]

    @property
    def _way(self) -> str:
        """Say where the time of hosts stands: behind the port that receives, so that no headroom is larger."""
        longer = f"{self.hosts_ps / 1e6:g} us of the round trip are those of the hosts"
        return f"link.{self.receiver.name}: {longer}, all on the way to the receiver: headroom counts cables alone"

    def _leave_out(self) -> None:
        """Record what the scenario has no place for."""
        receiver = self.receiver.name
        names = [*(port.name for port in self.senders), receiver]
        self.tables.leave_out(f"{QUEUE} and QUEUE of ports other than {receiver} are left out: only it receives")
        if others := [port.name for port in self.ports if port.name not in names]:
            self.tables.leave_out(
                f"{GROUP}: {len(others)} ports are left out, from {others[0]} on: others are like them"
            )
        used = {each.profile for each in self.names} | {port.ingress for port in self.senders}
        unused = [name for name in self.profiles if name not in used]
        are = "is left out: no class of the scenario has it"
        are = are if len(unused) == 1 else "are left out: no class of the scenario has them"
        self.tables.leave_out_several(f"{PROFILE}|", unused, are)
        self.tables.leave_out_unread(names)

    def _scenario(self, port: dict[str, Any], classes: dict[str, dict[str, Any]]) -> dict[str, Any]:
        senders, receiver = self.senders, self.receiver
        return {
            "name": "switch",
            "title": f"The memory of a switch: {', '.join(self.pools)}",
            "duration": "2 ms",
            "sample": "1009 ns",
            "adaptation": {"kind": "packet"},
            "node": [
                {"name": "switch", "kind": "router"},
                *({"name": f"host-{each.name}", "kind": "host"} for each in (*senders, receiver)),
            ],
            "link": [
                *(self._link(each, (f"host-{each.name}", "switch")) for each in senders),
                self._link(receiver, ("switch", f"host-{receiver.name}")),
            ],
            "port": {receiver.name: port},
            "memory": {"chip": self._memory()},
            "queue": classes,
            "flow": list(self._flows()),
        }

    def _classes(self) -> dict[str, dict[str, Any]]:
        """Return the classes: those of queues of the receiver, and those of lossless groups."""
        ingress = next((port.ingress for port in self.senders if port.ingress), None)
        found = {}
        for each, name in self.names.items():
            found[name] = dict(self.profiles[each.profile].section)
            if "pause" in found[name]:
                found[name]["pause"] = {**found[name]["pause"], **self._response(each)}
            if (
                each not in self.lossy
                or ingress is None
                or self.pools[self.profiles[each.profile].pool].side != "egress"
            ):
                continue
            found[name]["opposite"] = self.profiles[ingress].terms
            if self.profiles[ingress].reserved:
                self.tables.leave_out(f"{PROFILE}|{ingress}: size is left out: only {each.profile} reserves room")
        return found

    def _memory(self) -> dict[str, Any]:
        """Return the memory with its pools, each as large as its shared room, its headroom and what queues reserve."""
        pools, reserved = {}, self._reserved()
        for name, pool in self.pools.items():
            headroom = self._headroom(name)
            size = pool.shared // self.cell + headroom + reserved[name]
            more = {"headroom": f"{headroom} cells"} if headroom else {}
            pools[name] = {"side": pool.side, "size": f"{size} cells", **more}
        return {
            "size": f"{max(self._rooms().values()) + sum(reserved.values())} cells",
            "cell": f"{self.cell} bytes",
            "admission": {"policy": "dynamic-threshold", "alpha": 1.0},
            "pool": pools,
        }

    def _reserved(self) -> dict[str, int]:
        """Return the cells that queues reserve in each pool."""
        reserved = dict.fromkeys(self.pools, 0)
        for each in self.names:
            queues = sum(each in classes for classes in self.lossless.values()) or 1
            profile = self.profiles[each.profile]
            reserved[profile.pool] += queues * self._cells(profile.reserved)
        return reserved

    def _rooms(self) -> dict[str, int]:
        """Return the cells of all ingress pools together, with their headroom, and of each egress pool.

        No memory is smaller than any of them. Every packet counts in one ingress pool, so these do not overlap; of the
        egress pools that of the lossless classes is usually the whole chip (`BUFFER_POOL` of SONiC's devices).
        """
        found: dict[str, int] = {}
        for name, pool in self.pools.items():
            key = name if pool.side == "egress" else "all ingress pools"
            found[key] = found.get(key, 0) + pool.shared // self.cell + self._headroom(name)
        return found

    def decisions(self) -> list[str]:
        """Say what the tables leave open: the size of the memory, and what the lossless classes are offered."""
        rooms, reserved = self._rooms(), sum(self._reserved().values())
        of_each = ", ".join(f"{cells} of {name}" for name, cells in rooms.items())
        size = f"memory.chip.size: {max(rooms.values()) + reserved} cells, the largest of {of_each}"
        why = "and what queues reserve: the tables have no size of the chip, and egress pools may overlap"
        return [*([f"{size}, {why}"] if len(rooms) > 1 else []), *self._offers()]

    def _offers(self) -> Iterator[str]:
        """Compare what bursts offer to each lossless class with its share of the line."""
        for each, name in self.names.items():
            ports = [port for port in self.senders if each in self.lossless[port.name]]
            if not ports or self._sends_bulk:
                continue
            offered, share = sum(map(self._offered_mbps, ports)) / 1000, self._share_mbps(name) / 1000
            more = ": more than it gets, so its senders are paused" if offered > share else ""
            yield f"queue.{name}: bursts offer {offered:.1f} Gb/s of its share of {share:.1f} Gb/s{more}"

    @property
    def _burst_frame(self) -> int:
        return self.mtu or BURST_FRAME

    @property
    def _burst_frames(self) -> int:
        return max(1, BURST_BYTES // self._burst_frame)

    def _offered_mbps(self, port: _Port) -> float:
        """Return the mean rate of the bursts of a sender."""
        bits, peak = 8 * self._burst_frames * self._burst_frame, self.tables.mbps(port.name)
        return bits / (bits / peak + OFF_US)

    def _share_mbps(self, name: str) -> float:
        """Return what a class gets of the line of the receiver while all classes send, and no strict priority."""
        line, (_, keys) = self.tables.mbps(self.receiver.name), self._turns
        weights = {of: own["weight"] for of, own in keys.items() if "weight" in own}
        share = line * weights[name] / sum(weights.values()) if name in weights else line
        most = keys.get(name, {}).get("maximum")
        return share if most is None else min(share, int(most.split()[0]) / 10**6)

    def _headroom(self, pool: str) -> int:
        """Return the cells of headroom of a pool: shared, or those of each of its queues."""
        if self.pools[pool].headroom:
            return self.pools[pool].headroom // self.cell
        own = [self.profiles[each.profile] for classes in self.lossless.values() for each in classes]
        return sum(self._cells(profile.xoff) for profile in own if profile.pool == pool)

    def _cells(self, octets: int) -> int:
        return -(-octets // self.cell)

    def _link(self, port: _Port, ends: tuple[str, str]) -> dict[str, Any]:
        """Return the line of a port, with its speed and the delay of its cable, and that of hosts to the receiver."""
        cable = self._delay_ps(port)
        named = {"name": port.name, "from": ends[0], "to": ends[1], "rate": f"{self.tables.mbps(port.name)} Mb/s"}
        if port is not self.receiver or not self.hosts_ps:
            return {**named, "delay": f"{cable} ps", **self._pause(port)}
        return {**named, "delay": f"{cable + self.hosts_ps} ps", "back": {"delay": f"{cable} ps"}}

    def _pause(self, port: _Port) -> dict[str, str]:
        """Return the random pause of a host whose bulk data meets that of others in one queue, against phase effects.

        It is as long as a frame, as S. Floyd and V. Jacobson (1992) recommend.
        """
        if not self._is_bulk_alone or port is self.receiver or len(self.senders) == 1:
            return {}
        frame = (self.mtu or FULL_FRAME) if self.lossless[port.name] else FULL_FRAME
        return {"pause": f"{-(-frame * 8 * 1000 // self.tables.mbps(port.name))} ns"}

    @property
    def _is_bulk_alone(self) -> bool:
        """Return whether all traffic is bulk data in one queue, with nothing random on its way."""
        return self._sends_bulk or (self.is_single and bool(self.lossy))

    @property
    def _sends_bulk(self) -> bool:
        """Return whether a lossless class carries bulk data: the port has one queue, and marks."""
        return self.is_single and bool(self.admission)

    def _response(self, of: _Class) -> dict[str, str]:
        """Return the time in which senders obey pauses: that of IEEE 802.3, if it has one for the rates of all."""
        ports = [port.name for port in self.senders if of in self.lossless[port.name]]
        rates = {self.tables.mbps(name) for name in ports}
        return {"response": "802.3"} if all(rate in STANDARD_MBPS for rate in rates) else {}

    def _largest_back(self, port: _Port) -> int:
        """Return the largest frame on the way to a sender, 0 if neither the tables nor the question have one."""
        return self.tables.mtu(port.name) if self.other is None else self.other

    def _headroom_facts(self) -> Iterator[str]:
        """Say what the need of headroom counts with, and what `switch headroom` would count otherwise."""
        for each, name in self.names.items():
            ports = [port for port in self.senders if each in self.lossless[port.name]]
            if not ports:
                continue
            frame = self.mtu or (FULL_FRAME if self._is_bulk_alone else BURST_FRAME)
            given = "" if self.mtu else " (--mtu gives others)"
            back = sorted({self._largest_back(port) for port in ports})
            most = f"frames of {back[-1]} bytes" if back[-1] else "acknowledgements alone (--other gives longer ones)"
            response = "that of 802.3" if self._response(each) else "none: 802.3 has no value for their rate"
            yield (
                f"queue.{name}: its headroom is that of frames of {frame} bytes{given}, against {most}; "
                f"response of the senders: {response}"
            )
            if any(len(self.lossless[port.name]) > 1 for port in ports):
                yield f"queue.{name}: each class of a line may send a pause frame first; switch headroom counts one"
        if any(self.lossless[port.name] and self._largest_back(port) for port in self.senders):
            yield "flow.back-NAME: 1 Mb/s of the largest frames, which delay pauses; fairness counts them as well"

    def _flows(self) -> Iterator[dict[str, Any]]:
        """Yield a flow of bulk data in the lossy classes and bursts in the lossless ones for each sender.

        A lossless class that the port marks carries bulk data as well: only its senders react.
        """
        lossy = list(self.lossy)
        segment = {"mss": self.mtu - TCP_HEADERS} if self.mtu else {}
        for number, port in enumerate(self.senders):
            if lossy:
                yield self._bulk(port, f"bulk-{port.name}", self.names[lossy[number % len(lossy)]])
            for each in self.lossless[port.name]:
                name = self.names[each]
                ending = f"-{name}" if len(self.lossless[port.name]) > 1 else ""
                if self._sends_bulk:
                    bulk = self._bulk(port, f"bulk-{port.name}{ending}", name)
                    yield {**bulk, "transport": {**bulk["transport"], **segment}}
                else:
                    yield self._burst(port, f"burst-{port.name}{ending}", name)
            if self.lossless[port.name] and self._largest_back(port):
                yield self._back(port)

    def _ends(self, port: _Port) -> dict[str, str]:
        return {"from": f"host-{port.name}", "to": f"host-{self.receiver.name}"}

    def _bulk(self, port: _Port, name: str, queue: str) -> dict[str, Any]:
        tcp = {"kind": "tcp", "profile": "linux", "ecn": True}
        bulk = {"name": name, **self._ends(port), "queue": queue}
        return {**bulk, "start_spread": "20 us", "source": {"kind": "greedy"}, "transport": tcp}

    def _burst(self, port: _Port, name: str, queue: str) -> dict[str, Any]:
        size = self._burst_frame - UDP_HEADERS
        times = {
            "burst": self._burst_frames,
            "off": f"{OFF_US} us",
            "distribution": "periodic",
            "size": f"{size} bytes",
        }
        source = {"kind": "on-off", "peak": f"{self.tables.mbps(port.name)} Mb/s", **times}
        udp = {"kind": "udp", "ecn": True}
        return {"name": name, **self._ends(port), "queue": queue, "source": source, "transport": udp}

    def _back(self, port: _Port) -> dict[str, Any]:
        """Return a few of the largest frames on the way to a sender, behind which its pause frames may wait."""
        size = self._largest_back(port) - UDP_HEADERS
        source = {"kind": "cbr", "rate": "1 Mb/s", "size": f"{size} bytes"}
        ends = {"from": f"host-{self.receiver.name}", "to": f"host-{port.name}"}
        queue = {"queue": self.names[next(iter(self.lossy))]} if self.lossy else {}
        return {"name": f"back-{port.name}", **ends, **queue, "source": source, "transport": {"kind": "udp"}}
