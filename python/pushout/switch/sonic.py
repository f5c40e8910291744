"""A scenario from a switch's own tables of SONiC: pools, profiles, priority groups and queues of `CONFIG_DB`.

*Source*: sonic-swss `doc/Configuration.md` (BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE, CABLE_LENGTH, PORT,
WRED_PROFILE, QUEUE); SAI `saibuffer.h`: α = 2^dynamic_th, `size` of a profile is reserved, `xoff` headroom, `xon` and
`xon_offset` are the conditions for resuming. The `size` of a pool is what its queues share, its `xoff` the headroom
that they share; reserved room lies outside of both, as the acceptance tests of Trident 2 and Tomahawk show.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pushout import kept
from pushout.errors import Argument, QuestionError
from pushout.excerpt import place, quoted
from pushout.switch import sonic_tables
from pushout.switch.headroom import SPEED_M_PER_S
from pushout.switch.rows import LARGEST
from pushout.switch.sonic_tables import GROUP, POOL, PROFILE, QUEUE, Tables, merged

MOST_EXPONENT = 8
"""Largest n, positive or negative, of α = 2^n in SAI."""

UNLIMITED = 1e9
"""A factor with which a dynamic threshold limits nothing: the queue has a static threshold, or none."""

MOST_SENDERS = 16
"""Lines of the scenario that send to one port; more would take longer and show nothing else."""

DEFAULT_MBPS, DEFAULT_METRES = 100_000, 5.0
"""Speed and cable of a port for which the tables have none."""

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

MOST_NUMBER = {GROUP: 7, QUEUE: 63, "QUEUE": 63}
"""The last priority group of a port (802.1Q has eight priorities), and a queue that no chip has more than."""

MARKS_GREEN = ("ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red")
OTHER_MARKS = ("ecn_none", "ecn_yellow", "ecn_red", "ecn_yellow_red")
"""Values of `ecn` (sonic-wred-profile.yang): packets here have one colour, green."""


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


def looks_like(path: Path) -> bool:
    """Return whether a file has tables of SONiC."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    return f'"{POOL}"'.encode() in kept.content(path, LARGEST)


def read(files: Sequence[Path], cell: int | None, name: str = "switch") -> Imported:
    """Return a scenario with the memory of a switch: lines that send to one port, in all classes of the tables."""
    shown = ", ".join(place(str(file)) for file in files)
    return tabled(merged(map(sonic_tables.read, files)), cell, name, shown)


def tabled(document: Mapping[str, Any], cell: int | None, name: str = "switch", shown: str = "tables") -> Imported:
    """Like `read`, for tables that have been read; messages call them `shown`."""
    tables = Tables(document, shown)
    if cell is None:
        known = ", ".join(f"{octets} ({chip})" for chip, octets in CELLS.items())
        raise QuestionError(Argument("cell"), f" must be given, as tables of SONiC have no size of cells: {known}")
    return Imported(_Switch(tables, cell).scenario(name), tables.left_out)


class _Port(NamedTuple):
    """A port of the switch, with the profiles of its priority groups and queues that lossless traffic does not use."""

    name: str
    lossless: tuple[str, ...]
    lossy: tuple[str, ...]
    ingress: str | None
    """The profile of a priority group of lossy traffic."""


class _Switch:
    """The memory of a switch and its ports."""

    def __init__(self, tables: Tables, cell: int) -> None:
        self.tables, self.cell = tables, cell
        self.pools = {name: self._pool(name) for name in tables.rows(POOL)}
        self.profiles = {name: self._profile(name) for name in tables.rows(PROFILE)}
        self.ports = self._ports()

    def _pool(self, name: str) -> Pool:
        side = self.tables.value(POOL, name, "type")
        if side not in ("ingress", "egress"):
            self.tables.refuse(f"{POOL}|{name}: type must be ingress or egress, not {quoted(side)}")
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
            self.tables.refuse(f"{PROFILE}|{name}: one of dynamic_th and static_th must be given, not {both}")
        if text is None:
            return UNLIMITED, self.tables.number(PROFILE, name, "static_th")
        if not re.fullmatch("-?[0-9]", str(text), re.ASCII) or abs(int(text)) > MOST_EXPONENT:
            least, most = -MOST_EXPONENT, MOST_EXPONENT
            message = f"dynamic_th must be an integer n from {least} to {most}, of which α is 2^n, not {quoted(text)}"
            self.tables.refuse(f"{PROFILE}|{name}: {message}")
        return 2.0 ** int(text), None

    def _ports(self) -> list[_Port]:
        """Return the ports that have priority groups, in the order of the tables."""
        groups, queues = self._used(GROUP), self._used(QUEUE)
        found = []
        for name, own in groups.items():
            lossless = {number: profile for number, profile in own.items() if self.profiles[profile].xoff}
            lossy = {number: profile for number, profile in own.items() if number not in lossless}
            others = [profile for number, profile in queues.get(name, {}).items() if number not in lossless]
            ingress = next(iter(lossy.values()), None)
            found.append(_Port(name, tuple(dict.fromkeys(lossless.values())), tuple(dict.fromkeys(others)), ingress))
        if len(found) < 2:
            self.tables.refuse(f"{GROUP} must have entries of at least two ports, as Ethernet0|3-4")
        return found

    def _used(self, table: str) -> dict[str, dict[int, str]]:
        """Return for each port the profile of each of its priority groups or queues."""
        found: dict[str, dict[int, str]] = {}
        for key in self.tables.rows(table):
            names, numbers = self._queues(table, key)
            if str(self.tables.value(table, key, "profile") or "NULL") == "NULL":
                self.tables.leave_out(f"{table}|{key}: profile NULL is left out; the switch computes one as it starts")
                continue
            profile = self.tables.reference(table, key, "profile", PROFILE)
            for name in names:
                own = found.setdefault(name, {})
                if twice := own.keys() & numbers:
                    self.tables.refuse(f"{table}|{key}: {name} must have number {min(twice)} once, not again")
                own.update(dict.fromkeys(numbers, profile))
        return found

    def _queues(self, table: str, key: str) -> tuple[list[str], range]:
        """Return the ports and the numbers of a key."""
        names, _, numbers = key.partition("|")
        match = re.fullmatch("([0-9]{1,2})(?:-([0-9]{1,2}))?", numbers, re.ASCII)
        if not match:
            self.tables.refuse(f"{table}: a key must be PORT|NUMBER or PORT|FIRST-LAST, not {quoted(key)}")
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last <= MOST_NUMBER[table]:
            self.tables.refuse(
                f"{table}: the numbers of a key must rise, up to {MOST_NUMBER[table]}, not {quoted(key)}"
            )
        return [name.strip() for name in names.split(",")], range(first, last + 1)

    def scenario(self, name: str) -> dict[str, Any]:
        """Return the scenario: its last port receives what the others send."""
        *senders, receiver = self._chosen()
        marking = self._marking(receiver.name)
        classes = self._classes(senders, receiver)
        found = self._scenario(name, senders, receiver, marking, classes)
        self._leave_out([*senders, receiver], classes)
        return found

    def _leave_out(self, ports: Sequence[_Port], classes: Mapping[str, Mapping[str, Any]]) -> None:
        """Record what the scenario has no place for."""
        receiver = ports[-1].name
        names = [port.name for port in ports]
        self.tables.leave_out(f"{QUEUE} and QUEUE of ports other than {receiver} are left out: only it receives")
        if others := [port.name for port in self.ports if port.name not in names]:
            self.tables.leave_out(
                f"{GROUP}: {len(others)} ports are left out, from {others[0]} on: others are like them"
            )
        opposite = {port.ingress for port in ports[:-1]}
        for name in self.profiles:
            if name not in classes and name not in opposite:
                self.tables.leave_out(f"{PROFILE}|{name} is left out: no class of the scenario has it")
        self.tables.leave_out_unread(names)

    def _scenario(
        self,
        name: str,
        senders: Sequence[_Port],
        receiver: _Port,
        marking: dict[str, Any] | None,
        classes: Mapping[str, dict[str, Any]],
    ) -> dict[str, Any]:
        return {
            "name": name,
            "title": f"The memory of a switch: {', '.join(self.pools)}",
            "duration": "2 ms",
            "sample": "1009 ns",
            "adaptation": {"kind": "packet"},
            "node": [
                {"name": "switch", "kind": "router"},
                *({"name": f"host-{port.name}", "kind": "host"} for port in (*senders, receiver)),
            ],
            "link": [
                *(self._link(port.name, (f"host-{port.name}", "switch")) for port in senders),
                self._link(receiver.name, ("switch", f"host-{receiver.name}")),
            ],
            "port": {receiver.name: {"memory": "chip", **({"admission": marking} if marking else {})}},
            "memory": {"chip": self._memory(senders, receiver, classes)},
            "queue": {self.profiles[profile].name: section for profile, section in classes.items()},
            "flow": list(self._flows(senders, receiver)),
        }

    def _chosen(self) -> list[_Port]:
        """Return the ports of the scenario: first one for every set of profiles, then others."""
        first = {port[1:]: port for port in reversed(self.ports)}.values()
        chosen = [*first, *(port for port in self.ports if port not in first)][: MOST_SENDERS + 1]
        return sorted(chosen, key=self.ports.index)

    def _classes(self, senders: Sequence[_Port], receiver: _Port) -> dict[str, dict[str, Any]]:
        """Return the classes by their profile: those of lossless groups, and those of queues of the receiver."""
        lossless = dict.fromkeys(profile for port in senders for profile in port.lossless)
        found = {profile: self.profiles[profile].section for profile in (*receiver.lossy, *lossless)}
        ingress = next((port.ingress for port in senders if port.ingress), None)
        for profile in receiver.lossy:
            if ingress is not None and self.pools[self.profiles[profile].pool].side == "egress":
                found[profile]["opposite"] = self.profiles[ingress].terms
                if self.profiles[ingress].reserved:
                    self.tables.leave_out(f"{PROFILE}|{ingress}: size is left out: only {profile} reserves room")
        return found

    def _memory(
        self, senders: Sequence[_Port], receiver: _Port, classes: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return the memory: as large as what its ingress pools share, their headroom, and what queues reserve."""
        reserved = dict.fromkeys(self.pools, 0)
        for profile in classes:
            queues = sum(profile in port.lossless for port in senders) or 1
            reserved[self.profiles[profile].pool] += queues * self._cells(self.profiles[profile].reserved)
        pools = {}
        for name, pool in self.pools.items():
            headroom = self._headroom(name, senders)
            size = pool.shared // self.cell + headroom + reserved[name]
            more = {"headroom": f"{headroom} cells"} if headroom else {}
            pools[name] = {"side": pool.side, "size": f"{size} cells", **more}
        sizes = dict.fromkeys(("ingress", "egress"), 0)
        for name, pool in self.pools.items():
            sizes[pool.side] += int(pools[name]["size"].split()[0]) - reserved[name]
        return {
            "size": f"{max(sizes.values()) + sum(reserved.values())} cells",
            "cell": f"{self.cell} bytes",
            "admission": {"policy": "dynamic-threshold", "alpha": 1.0},
            "pool": pools,
        }

    def _headroom(self, pool: str, senders: Sequence[_Port]) -> int:
        """Return the cells of headroom of a pool: shared, or those of each of its queues."""
        if self.pools[pool].headroom:
            return self.pools[pool].headroom // self.cell
        own = [self.profiles[profile] for port in senders for profile in port.lossless]
        return sum(self._cells(profile.xoff) for profile in own if profile.pool == pool)

    def _cells(self, octets: int) -> int:
        return -(-octets // self.cell)

    def _link(self, port: str, ends: tuple[str, str]) -> dict[str, Any]:
        """Return the line of a port, with its speed and the delay of its cable."""
        delay = round(self._metres(port) / SPEED_M_PER_S * 1e9)
        named = {"name": port, "from": ends[0], "to": ends[1]}
        return {**named, "rate": self._rate(port), "delay": f"{delay} ns"}

    def _rate(self, port: str) -> str:
        speed = self.tables.value("PORT", port, "speed")
        if speed is None:
            self.tables.leave_out(f"PORT|{port}: speed is not given: {DEFAULT_MBPS} Mb/s is assumed")
            speed = DEFAULT_MBPS
        if not re.fullmatch("[1-9][0-9]{0,7}", str(speed)):
            self.tables.refuse(f"PORT|{port}: speed must be a number of Mb/s, not {quoted(speed)}")
        return f"{speed} Mb/s"

    def _metres(self, port: str) -> float:
        for name, lengths in self.tables.rows("CABLE_LENGTH").items():
            if port in lengths:
                text = self.tables.value("CABLE_LENGTH", name, port)
                match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,9})?) *m", str(text), re.ASCII)
                if not match:
                    self.tables.refuse(f"CABLE_LENGTH: {port} must be a length, as in 40m, not {quoted(text)}")
                return float(match[1])
        self.tables.leave_out(f"CABLE_LENGTH: {port} is not given: {DEFAULT_METRES:g} m is assumed")
        return DEFAULT_METRES

    def _flows(self, senders: Sequence[_Port], receiver: _Port) -> Iterator[dict[str, Any]]:
        """Yield a flow of bulk data in the lossy classes and bursts in the lossless ones for each sender."""
        for number, port in enumerate(senders):
            ends = {"from": f"host-{port.name}", "to": f"host-{receiver.name}"}
            if receiver.lossy:
                profile = receiver.lossy[number % len(receiver.lossy)]
                tcp = {"kind": "tcp", "profile": "linux", "ecn": True}
                source = {"kind": "greedy"}
                bulk = {"name": f"bulk-{port.name}", **ends, "queue": self.profiles[profile].name}
                yield {**bulk, "start_spread": "20 us", "source": source, "transport": tcp}
            for profile in port.lossless:
                times = {"burst": 100, "off": "200 us", "distribution": "periodic", "size": "996 bytes"}
                burst = {"kind": "on-off", "peak": self._rate(port.name), **times}
                name = f"burst-{port.name}" + (f"-{self.profiles[profile].name}" if len(port.lossless) > 1 else "")
                udp = {"kind": "udp", "ecn": True}
                yield {"name": name, **ends, "queue": self.profiles[profile].name, "source": burst, "transport": udp}

    def _marking(self, port: str) -> dict[str, Any] | None:
        """Return the policy that marks at a port, if a queue of it has a profile with ECN: the first such profile."""
        taken: str | None = None
        for key in self.tables.rows("QUEUE"):
            names, numbers = self._queues("QUEUE", key)
            if self.tables.value("QUEUE", key, "wred_profile") is None or port not in names:
                continue
            name = self.tables.reference("QUEUE", key, "wred_profile", "WRED_PROFILE")
            wide = f"QUEUE|{key}: wred_profile {name}"
            if not self._marks(name):
                continue
            if taken in (None, name):
                taken = name
                only = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"
                self.tables.leave_out(f"{wide} marks every class of the port, not queue {only} alone")
            else:
                self.tables.leave_out(f"{wide} is left out: the port has one policy, {taken}")
        return None if taken is None else self._wred(taken)

    def _marks(self, name: str) -> bool:
        """Return whether a profile marks green packets; one that drops them is left out."""
        ecn = self.tables.value("WRED_PROFILE", name, "ecn") or "ecn_none"
        if ecn not in (*MARKS_GREEN, *OTHER_MARKS):
            known = ", ".join((*MARKS_GREEN, *OTHER_MARKS))
            self.tables.refuse(f"WRED_PROFILE|{name}: ecn must be one of {known}, not {quoted(ecn)}")
        if ecn in OTHER_MARKS:
            self.tables.leave_out(f"WRED_PROFILE|{name} is left out: with ecn {ecn} it does not mark green packets")
        return ecn in MARKS_GREEN

    def _wred(self, name: str) -> dict[str, Any]:
        low, high = (self.tables.number("WRED_PROFILE", name, f"green_{end}_threshold") for end in ("min", "max"))
        share = self.tables.number("WRED_PROFILE", name, "green_drop_probability", 100, most=100, unit="of percent")
        if low >= high:
            return {"policy": "step", "action": "mark", "threshold": f"{low} bytes"}
        levels = {"min_threshold": f"{low} bytes", "max_threshold": f"{high} bytes"}
        return {"policy": "red", "action": "mark", "weight": 1.0, "max_p": share / 100, **levels}
