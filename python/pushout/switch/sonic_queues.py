"""How the queues of a port of SONiC are served and marked: `QUEUE`, `SCHEDULER`, `WRED_PROFILE` and the maps of a port.

*Source*: sonic-swss `doc/Configuration.md`; sonic-scheduler.yang, sonic-wred-profile.yang and sonic-port-qos-map.yang
(`dscp_to_tc_map`, `tc_to_queue_map`, `tc_to_pg_map`, `pfc_enable`); SAI `saischeduler.h` (a scheduler is WRR with
weight 1 unless it is given) and `saiwred.h` (thresholds are compared with the length of a queue).
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pushout.excerpt import quoted
from pushout.switch.sonic_tables import MOST_NUMBER, QUEUE, Tables

KINDS = ("STRICT", "DWRR", "WRR")
"""Types of schedulers (sonic-scheduler.yang)."""

ASSUMED = "WRR or DWRR"
"""Type of a queue without a scheduler: it shares the line with those beside it, in their way."""

FRAME = 1514
"""Bytes that the queue of the least weight may send in a turn: a full frame."""

PRIORITIES = range(8)
"""Traffic classes, which maps lead to queues and priority groups."""

CODEPOINTS = range(64)
"""Codepoints of differentiated services, which a map leads to traffic classes."""

MARKS_GREEN = ("ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red")
OTHER_MARKS = ("ecn_none", "ecn_yellow", "ecn_red", "ecn_yellow_red")
"""Values of `ecn` (sonic-wred-profile.yang): packets here have one colour, green."""


class Turn(NamedTuple):
    """How a scheduler serves a queue: its type, its weight, and the number of a queue with strict priority."""

    kind: str
    weight: int = 1
    number: int | None = None
    rates: tuple[tuple[str, str], ...] = ()
    """Keys of its class: its minimum and its maximum rate, and its burst."""


class Handling(NamedTuple):
    """What a port does with a queue: its turn, if a scheduler is known, and its profile that marks or drops early."""

    turn: Turn | None = None
    wred: str | None = None


class Queues:
    """The queues of the ports of a switch."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._rows = tables.of_numbers("QUEUE")

    def handling(self, port: str, number: int) -> Handling:
        """Return what a port does with one of its queues."""
        key = self._rows.get(port, {}).get(number)
        if key is None:
            return Handling()
        wred = self.tables.value("QUEUE", key, "wred_profile")
        if wred is not None:
            wred = self.tables.reference("QUEUE", key, "wred_profile", "WRED_PROFILE")
            wred = wred if self._acts(wred) else None
        return Handling(self._turn(key, number), wred)

    def _turn(self, key: str, number: int) -> Turn | None:
        if not self.tables.rows("SCHEDULER") or "scheduler" not in self.tables.rows("QUEUE")[key]:
            return None
        name = self.tables.reference("QUEUE", key, "scheduler", "SCHEDULER")
        kind = self.tables.value("SCHEDULER", name, "type")
        if kind not in KINDS:
            message = f"SCHEDULER|{name}: type must be one of {', '.join(KINDS)}, not {quoted(kind)}"
            self.tables.refuse(message, "SCHEDULER", name, "type")
        rates = self._rates(name)
        if kind == "STRICT":
            return Turn(kind, number=number, rates=rates)
        weight = self.tables.number("SCHEDULER", name, "weight", 1, least=1, most=100, unit="of shares")
        return Turn(kind, weight, rates=rates)

    def _rates(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return the rates of a scheduler, 0 for none, and their burst, if they count bytes (`meter_type`)."""
        row = self.tables.rows("SCHEDULER")[name]
        if (self.tables.value("SCHEDULER", name, "meter_type") or "bytes") != "bytes":
            return ()
        rates = {}
        for key, word in (("cir", "minimum"), ("pir", "maximum")):
            if rate := self.tables.number("SCHEDULER", name, key, 0, unit="of bytes a second"):
                rates[word] = f"{8 * rate} b/s"
        if len(rates) == 2 and int(row["cir"]) > int(row["pir"]):
            message = f"cir must be at most pir ({row['pir']}), not {row['cir']}"
            self.tables.refuse(f"SCHEDULER|{name}: {message}", "SCHEDULER", name, "cir")
        depth = "pbs" if "maximum" in rates else "cbs"
        if rates and depth in row:
            rates["burst"] = f"{self.tables.number('SCHEDULER', name, depth)} bytes"
        return tuple(rates.items())

    def scheduler(self, turns: Mapping[str, Turn | None]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Return the scheduler of a port whose classes have these turns, and the keys of each class."""
        if not any(turns.values()):
            return {}, {}
        for name in (name for name, turn in turns.items() if turn is None):
            self.tables.leave_out(f"QUEUE: the scheduler of {name} is not given: WRR with weight 1 is assumed")
        known = {name: turn or Turn(ASSUMED) for name, turn in turns.items()}
        strict = {name: turn.number for name, turn in known.items() if turn.number is not None}
        weighted = {name: turn for name, turn in known.items() if name not in strict}
        order = sorted(set(strict.values()), reverse=True)
        keys: dict[str, dict[str, Any]] = {name: {"priority": order.index(number)} for name, number in strict.items()}
        keys |= {name: {"weight": float(turn.weight)} for name, turn in weighted.items()}
        for name, turn in known.items():
            keys[name] |= dict(turn.rates)
        sharing = self._sharing(weighted) if weighted else {}
        if not strict and not any("minimum" in own for own in keys.values()):
            return {**sharing, "queues": "class"}, keys
        group = {"group": {**sharing, "queues": list(weighted)}} if weighted else {}
        return {"policy": "strict-priority", "queues": "class", **group}, keys

    def _sharing(self, weighted: Mapping[str, Turn]) -> dict[str, Any]:
        """Return how classes with weights share a line: by packets if all do, otherwise by bytes."""
        if all(turn.kind != "DWRR" for turn in weighted.values()):
            return {"policy": "wrr"}
        if packets := [name for name, turn in weighted.items() if turn.kind == "WRR"]:
            why = "that WRR counts packets is left out beside DWRR; the weight counts bytes"
            self.tables.leave_out(f"SCHEDULER of {', '.join(packets)}: {why}")
        quantum = -(-FRAME // min(turn.weight for turn in weighted.values()))
        return {"policy": "drr", "quantum": f"{quantum} bytes"}

    def of_group(self, sender: str, receiver: str, group: int) -> list[int]:
        """Return the queues of a receiving port that the traffic of a priority group enters."""
        groups = self._map(sender, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP")
        queues = self._queues(receiver)
        return sorted({queues.get(each, each) for each in PRIORITIES if groups.get(each, each) == group})

    def codepoints(self, senders: Iterable[str], receiver: str) -> dict[int, set[int]]:
        """Return for each queue of a receiving port the codepoints (DSCP) that enter it from any of these ports."""
        queues = self._queues(receiver)
        found: dict[int, set[int]] = {}
        for sender in senders:
            for each, priority in self._map(
                sender, "dscp_to_tc_map", "DSCP_TO_TC_MAP", CODEPOINTS, PRIORITIES[-1]
            ).items():
                found.setdefault(queues.get(priority, priority), set()).add(each)
        return found

    def _queues(self, port: str) -> dict[int, int]:
        return self._map(port, "tc_to_queue_map", "TC_TO_QUEUE_MAP")

    def is_paused(self, port: str, group: int) -> bool:
        """Return whether pause frames stop the senders of a priority group; without a list all of headroom are."""
        key = self._port(port)
        text = None if key is None else self.tables.value("PORT_QOS_MAP", key, "pfc_enable")
        if text is None:
            return True
        enabled = [each.strip() for each in str(text).split(",") if each.strip()]
        if wrong := [each for each in enabled if each not in map(str, PRIORITIES)]:
            message = f"pfc_enable must be a list of priorities from 0 to {PRIORITIES[-1]}, not {quoted(wrong[0])}"
            self.tables.refuse(f"PORT_QOS_MAP|{key}: {message}", "PORT_QOS_MAP", key or "", "pfc_enable")
        groups = self._map(port, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP")
        return any(groups.get(int(each), int(each)) == group for each in enabled)

    def _port(self, port: str) -> str | None:
        """Return the key of the row of `PORT_QOS_MAP` that has a port."""
        rows = self.tables.rows("PORT_QOS_MAP")
        return next((key for key in rows if port in [name.strip() for name in key.split(",")]), None)

    def _map(
        self, port: str, key: str, table: str, known: range = PRIORITIES, most: int = MOST_NUMBER[QUEUE]
    ) -> dict[int, int]:
        """Return the numbers that a map of a port gives to traffic classes, or to codepoints; none without a map."""
        row = self._port(port)
        if row is None or key not in self.tables.rows("PORT_QOS_MAP")[row]:
            return {}
        name = self.tables.reference("PORT_QOS_MAP", row, key, table)
        found = {}
        for each in self.tables.rows(table)[name]:
            unit = "of a traffic class" if known == CODEPOINTS else "of a queue or a group"
            value = self.tables.number(table, name, each, most=most, unit=unit)
            if each not in map(str, known):
                what = "codepoint" if known == CODEPOINTS else "traffic class"
                message = f"{table}|{name}: a key must be a {what} from 0 to {known[-1]}, not {quoted(each)}"
                self.tables.refuse(message, table, name, each)
            found[int(each)] = value
        return found

    def _acts(self, name: str) -> bool:
        """Return whether a profile marks or drops green packets."""
        ecn = self.tables.value("WRED_PROFILE", name, "ecn") or "ecn_none"
        if ecn not in (*MARKS_GREEN, *OTHER_MARKS):
            known = ", ".join((*MARKS_GREEN, *OTHER_MARKS))
            message = f"WRED_PROFILE|{name}: ecn must be one of {known}, not {quoted(ecn)}"
            self.tables.refuse(message, "WRED_PROFILE", name, "ecn")
        drops = str(self.tables.value("WRED_PROFILE", name, "wred_green_enable") or "false").lower()
        if drops not in ("true", "false"):
            message = f"WRED_PROFILE|{name}: wred_green_enable must be true or false, not {quoted(drops)}"
            self.tables.refuse(message, "WRED_PROFILE", name, "wred_green_enable")
        if ecn in OTHER_MARKS and drops == "false":
            why = f"with ecn {ecn} it does not mark green packets, and without wred_green_enable it drops none"
            self.tables.leave_out(f"WRED_PROFILE|{name} is left out: {why}")
        return ecn in MARKS_GREEN or drops == "true"

    def admission(self, name: str) -> dict[str, Any]:
        """Return the policy of a profile, for a port of one queue."""
        low, high = (self.tables.number("WRED_PROFILE", name, f"green_{end}_threshold") for end in ("min", "max"))
        share = self.tables.number("WRED_PROFILE", name, "green_drop_probability", 100, most=100, unit="of percent")
        action = "mark" if self.tables.value("WRED_PROFILE", name, "ecn") in MARKS_GREEN else "drop"
        if low > high:
            message = f"green_max_threshold must be at least green_min_threshold ({low}), not {high}"
            self.tables.refuse(f"WRED_PROFILE|{name}: {message}", "WRED_PROFILE", name, "green_max_threshold")
        if low == high:
            return {"policy": "step", "action": action, "threshold": f"{low} bytes"}
        levels = {"min_threshold": f"{low} bytes", "max_threshold": f"{high} bytes"}
        return {"policy": "red", "action": action, "weight": 1.0, "max_p": share / 100, **levels}
