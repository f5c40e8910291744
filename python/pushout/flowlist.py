"""Lists of flows: CSV, connection matrices of htsim, and flow files of the HPCC family.

*Source*: alibaba-edu/High-Precision-Congestion-Control, `simulation/mix` (flow.txt: a number of flows, then source,
destination, priority group, port, bytes, start in seconds; ConWeave leaves out the port); Broadcom/csg-htsim,
`sim/datacenter/connection_matrix.cpp` (src->dst, start in picoseconds, size in bytes; `trigger id N oneshot`, or
`barrier count M`: flows with `trigger N` start when a flow, or M flows, with `send_done_trigger N` have ended).
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from csv import DictReader
from decimal import Decimal
from typing import Any, BinaryIO, NamedTuple, NoReturn

from pushout.errors import PushoutError, ScenarioError
from pushout.excerpt import LONGEST_PATH, excerpt, quoted

LARGEST = 2**27
"""Bytes of a list."""

LONGEST_LINE = 2**16
"""Bytes of a line; a longer one is no list."""

MOST_FLOWS, MOST_NODES = 1_000_000, 65_536
"""Flows of a list, as many as a scenario may have, and hosts."""

MOST_BYTES = 10**15
"""Bytes of a flow."""

MOST_SECONDS = 10**6
"""The latest start."""

PS_PER_S = 10**12

COLUMNS = ("from", "to", "bytes", "start", "name", "class", "after")
"""Columns of the list that a matrix or a flow file becomes."""


class LineError(ValueError):
    """A line is no text, or too long; the message says which one."""


class Flow(NamedTuple):
    """A transfer: numbers of its hosts, bytes, start, line, class, name, and the names of those that it waits for."""

    source: int
    sink: int
    size: int
    start_ps: int
    line: int
    group: str = ""
    name: str = ""
    after: tuple[str, ...] = ()
    queue: str = ""
    """Its queue at ports with one for each class; the class above is one of the report."""


class Lines:
    """The lines of a file with values, and messages with their place; the file is read as far as it is asked for."""

    def __init__(self, file: BinaryIO, shown: str, error: type[PushoutError]) -> None:
        """Read `file`, which messages of the type `error` call `shown`."""
        self.shown, self.error = shown, error
        self.number = 0
        self.left_out: dict[str, str] = {}
        """What a reader does not use, with the place of its first line."""
        self._raw = decoded(file)
        self._ahead: list[str] = []

    def refuse(self, message: str) -> NoReturn:
        """Raise a message with the file and the current line."""
        raise self.error(f"{self.shown}:{self.number}: {message}")

    def leave_out(self, what: str) -> None:
        """Record that the current line has something that the reader does not use."""
        self.left_out.setdefault(excerpt(what, LONGEST_PATH), self.at)

    @property
    def at(self) -> str:
        """Return the file and the current line."""
        return f"{self.shown}:{self.number}"

    def raw(self) -> Iterator[str]:
        """Yield every line that has not been read, as it is written."""
        while self._ahead:
            yield self._ahead.pop()
        while True:
            try:
                line = next(self._raw, None)
            except LineError as error:
                raise self.error(f"{self.shown}: {error}") from None
            if line is None:
                return
            self.number += 1
            yield line

    def __iter__(self) -> Iterator[str]:
        """Yield the lines with values, without comments."""
        for line in self.raw():
            if value := line.split("#", 1)[0].strip():
                yield value

    def first(self) -> str:
        """Return the first line with a value; it is yielded again."""
        for line in self.raw():
            if line.split("#", 1)[0].strip():
                self._ahead.append(line)
                return line.split("#", 1)[0].strip()
        raise self.error(f"{self.shown}: the file must not be empty")

    def whole(self, text: str, what: str, most: int, least: int = 0) -> int:
        """Parse an integer of a range."""
        if not re.fullmatch("[0-9]{1,18}", text, re.ASCII) or not least <= int(text) <= most:
            self.refuse(f"{what} must be an integer from {least} to {most}, not {quoted(text)}")
        return int(text)

    def decimal(self, text: str, what: str, most: int) -> Decimal:
        """Parse a number from 0."""
        if (
            not re.fullmatch(r"[0-9]{1,18}(\.[0-9]{0,18})?([eE][-+]?[0-9]{1,2})?", text, re.ASCII)
            or Decimal(text) > most
        ):
            self.refuse(f"{what} must be a number from 0 to {most}, not {quoted(text)}")
        return Decimal(text)


def decoded(file: BinaryIO) -> Iterator[str]:
    """Yield the lines of a text; one without end must not fill the memory."""
    number, encoding = 1, "utf-8-sig"
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise LineError(f"line {number}: must be shorter than {LONGEST_LINE} bytes")
        try:
            yield line.decode(encoding)
        except UnicodeDecodeError:
            raise LineError(f"line {number}: is not UTF-8 text") from None
        number, encoding = number + 1, "utf-8"


def is_matrix(first: str) -> bool:
    """Return whether a file with this first line is a connection matrix."""
    return first.split()[0] in ("Nodes", "Connections")


def is_flow_file(first: str) -> bool:
    """Return whether a file with this first line is a flow file: the line has their number."""
    return re.fullmatch("[0-9]+", first, re.ASCII) is not None


def rows(file: BinaryIO, shown: str) -> str:
    """Return the rows of a list of any form as CSV, each on the line on which the file has it."""
    lines = Lines(file, shown, ScenarioError)
    first = lines.first()
    if is_matrix(first):
        return csv(matrix(lines).flows)
    if is_flow_file(first):
        return csv(flows(lines))
    if all(re.fullmatch("[0-9]+", word, re.ASCII) for word in first.split()):
        lines.refuse("must be a list of flows, not a topology; pushout import makes a scenario of both")
    return plain(lines)


def plain(lines: Lines) -> str:
    """Return the text of a table, if it is not too long; the simulator reads its rows."""
    text, size, count = ["\n"] * (lines.number - 1), 0, -1
    for line in lines.raw():
        count += bool(line.strip()) and not line.startswith("#")
        size += len(line)
        if count > MOST_FLOWS:
            lines.refuse(f"a scenario has at most {MOST_FLOWS} transfers; cut the list")
        if size > LARGEST:
            lines.refuse(f"a list must have at most {LARGEST >> 20} MiB; cut it")
        text.append(line)
    return "".join(text)


def csv(found: Iterable[Flow], host: Callable[[int], str] = str) -> str:
    """Write flows as CSV, each on its line, below a line that names the columns, `queue` only if any has one."""
    rows = list(found)
    has_queues = any(flow.queue for flow in rows)
    text, at = [",".join((*COLUMNS, "queue") if has_queues else COLUMNS)], 1
    for flow in rows:
        text += [""] * (flow.line - at - 1)
        ends = (host(flow.source), host(flow.sink))
        values = (
            *ends,
            flow.size,
            f"{flow.start_ps} ps",
            flow.name,
            flow.group,
            ";".join(flow.after),
            *([flow.queue] if has_queues else []),
        )
        text.append(",".join(map(str, values)))
        at = flow.line
    return "\n".join(text) + "\n"


def flows(lines: Lines) -> list[Flow]:
    """Read flows of the HPCC family: source, destination, priority group, perhaps a port, bytes, start in seconds."""
    found: list[Flow] = []
    rest = iter(lines)
    count = lines.whole(next(rest), "the number of flows", MOST_FLOWS)
    for line in rest:
        words = line.split()
        if len(words) not in (5, 6):
            lines.refuse(f"a flow must have source, destination, group, port, bytes and start, not {len(words)} values")
        group = lines.whole(words[2], "the priority group", 7)
        start = PS_PER_S * lines.decimal(words[-1], "the start", MOST_SECONDS)
        if len(words) == 6:
            lines.leave_out("the port of each flow")
        found.append(_flow(lines, words[0], words[1], words[-2], start)._replace(group=f"pg{group}"))
        _check_count(lines, len(found))
    if len(found) != count:
        lines.refuse(f"the file must have {count} flows, as its first line says, not {len(found)}")
    return found


def _check_count(lines: Lines, count: int) -> None:
    if count > MOST_FLOWS:
        lines.refuse(f"a scenario must have at most {MOST_FLOWS} flows")


def _flow(lines: Lines, source: str, sink: str, size: str, start_ps: Decimal) -> Flow:
    ends = [lines.whole(word, "a host of a flow", MOST_NODES - 1) for word in (source, sink)]
    if ends[0] == ends[1]:
        lines.refuse(f"a flow must have two hosts, not {ends[0]} twice")
    octets = lines.whole(size, "the bytes of a flow", MOST_BYTES, 1)
    return Flow(ends[0], ends[1], octets, int(start_ps), lines.number)


class Matrix(NamedTuple):
    """What a connection matrix contains: its nodes, 0 if it does not say so, and its flows."""

    nodes: int
    flows: list[Flow]


class _Connection(NamedTuple):
    """A line of a matrix: the flow, what starts it, and what its end starts."""

    flow: Flow
    trigger: str
    sets_off: tuple[str, ...]


def matrix(lines: Lines) -> Matrix:
    """Read a connection matrix of htsim."""
    nodes, counts = 0, {"Connections": -1, "Triggers": -1, "Failures": 0}
    found: list[_Connection] = []
    triggers: dict[str, _Trigger] = {}
    for line in lines:
        words = line.split()
        if words[0] == "Nodes" and len(words) == 2:
            nodes = lines.whole(words[1], "Nodes", MOST_NODES, 2)
        elif words[0] in counts and len(words) == 2:
            counts[words[0]] = lines.whole(words[1], words[0], MOST_FLOWS)
        elif words[0] == "trigger":
            trigger = _trigger(lines, words)
            if triggers.setdefault(trigger.number, trigger) is not trigger:
                lines.refuse(f"the trigger {trigger.number} must be described once")
        elif "->" in words[0]:
            found.append(_connection(lines, words))
            _check_count(lines, len(found))
        else:
            lines.refuse(
                "the line must be Nodes, Connections, Triggers, SRC->DST start PS size BYTES, or trigger id N oneshot, "
                f"not {quoted(line)}"
            )
        if counts["Failures"]:
            lines.refuse("Failures must be 0: write them as [[loss]] with down in the scenario")
    for name, count, has in (
        ("connections", counts["Connections"], len(found)),
        ("triggers", counts["Triggers"], len(triggers)),
    ):
        if count not in (has, -1):
            lines.refuse(f"the matrix must have {count} {name}, as it says, not {has}")
    return Matrix(nodes, _ordered(lines, found, triggers))


KEYS = ("start", "size", "trigger", "send_done_trigger", "recv_done_trigger", "id", "prio")
"""Keys of a connection; a priority is left out."""


def _connection(lines: Lines, words: list[str]) -> _Connection:
    source, _, sink = words[0].partition("->")
    if len(words) % 2 == 0:
        lines.refuse(f"a connection must have a value for each key, not {quoted(words[-1])} alone")
    keys = dict(zip(words[1::2], words[2::2], strict=True))
    for key in keys:
        if key not in KEYS:
            lines.refuse(f"a connection must have the keys {', '.join(KEYS)} only, not {quoted(key)}")
    if "prio" in keys:
        lines.leave_out(f"prio {keys['prio']}")
    if "size" not in keys or ("start" in keys) == ("trigger" in keys):
        lines.refuse("a connection must have size, in bytes, and either start, in picoseconds, or trigger")
    start = lines.decimal(keys.get("start", "0"), "start", MOST_SECONDS * PS_PER_S)
    flow = _flow(lines, source, sink, keys["size"], start)
    if "id" in keys:
        flow = flow._replace(name=f"id{lines.whole(keys['id'], 'id', MOST_BYTES, 1)}")
    ends = tuple(keys[key] for key in ("send_done_trigger", "recv_done_trigger") if key in keys)
    return _Connection(flow, keys.get("trigger", ""), ends)


class _Trigger(NamedTuple):
    """A trigger: its number, how many ends of flows it needs, 0 for one of any number, and its line."""

    number: str
    needed: int
    line: int


def _trigger(lines: Lines, words: list[str]) -> _Trigger:
    match = re.fullmatch("trigger id ([0-9]{1,9}) (?:oneshot|multishot|barrier count ([0-9]{1,9}))", " ".join(words))
    if not match:
        lines.refuse("a trigger must be trigger id N oneshot, multishot or barrier count M")
    return _Trigger(match[1], int(match[2] or 0), lines.number)


def _ordered(lines: Lines, found: list[_Connection], triggers: dict[str, _Trigger]) -> list[Flow]:
    """Return the flows, each with those whose end starts it; without triggers no flow needs a name."""
    if not any(connection.trigger for connection in found):
        return [connection.flow._replace(name="") for connection in found]
    sources: dict[str, list[str]] = {}
    named = [(connection, connection.flow.name or f"line{connection.flow.line}") for connection in found]
    for connection, name in named:
        for trigger in connection.sets_off:
            sources.setdefault(trigger, []).append(name)
    flows = []
    for connection, name in named:
        if connection.trigger:
            lines.number = connection.flow.line
            after = tuple(sources.get(connection.trigger, ()))
            _check_trigger(lines, connection.trigger, triggers, len(after))
        else:
            after = ()
        flows.append(connection.flow._replace(name=name, after=after))
    return flows


def _check_trigger(lines: Lines, number: str, triggers: dict[str, _Trigger], ends: int) -> None:
    """Refuse a trigger that does not go off when all flows have ended that name it."""
    if number not in triggers:
        lines.refuse(f"the trigger {quoted(number)} must be described: trigger id {number[:9]} oneshot")
    if ends == 0:
        lines.refuse(f"the trigger {number} must be the send_done_trigger or recv_done_trigger of a flow")
    needed = triggers[number].needed or 1
    if ends != needed:
        lines.refuse(
            f"the trigger {number} must wait for the end of all flows that name it, not for {needed} of {ends}: "
            "others are not modelled"
        )


class Transfer(NamedTuple):
    """A transfer of an explained scenario: its hosts, its octets, and whether it waits for others."""

    source: str
    sink: str
    octets: int
    waits: bool


def transfers(explained: Mapping[str, Any]) -> Iterator[Transfer]:
    """Yield the transfers of the workload of an explained scenario, which has all columns and host names."""
    workload = explained.get("workload")
    if workload:
        for row in DictReader(workload["data"].splitlines()):
            yield Transfer(row["from"], row["to"], int(row["bytes"]), bool(row["after"]))


def attached(text: str, tables: dict[str, dict[str, str]]) -> str:
    """Add tables of texts to the text of a scenario."""
    if text.lstrip().startswith("{"):
        return text.rstrip()[:-1] + "".join(f', "{name}": {json.dumps(table)}' for name, table in tables.items()) + "}"
    sections = (
        f"\n[{name}]\n" + "".join(f"{_basic(key)} = {_basic(value)}\n" for key, value in table.items())
        for name, table in tables.items()
    )
    return text + "".join(sections)


def _basic(text: str) -> str:
    """Write a text as a basic string of TOML, which has no pairs of surrogates and no DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
