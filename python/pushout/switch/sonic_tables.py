"""Tables of SONiC as files have them: messages with their place, and what a reader leaves out."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from pushout.errors import QuestionError
from pushout.excerpt import excerpt, fitted, printable, quoted
from pushout.switch.rows import content

MOST_BYTES = 10**12
"""Bytes of a pool: no switch has more."""

POOL, PROFILE, GROUP, QUEUE = "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE"

TABLES = (POOL, PROFILE, GROUP, QUEUE)
"""Tables without which there is no memory."""

READ = (
    *(*TABLES, "QUEUE", "SCHEDULER", "WRED_PROFILE", "PORT_QOS_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP"),
    *("DSCP_TO_TC_MAP", "PORT", "CABLE_LENGTH"),
)
"""Tables that are read."""

MOST_NUMBER = {GROUP: 7, QUEUE: 63, "QUEUE": 63}
"""The last priority group of a port (802.1Q has eight priorities), and a queue that no chip has more than."""


LONGEST_LIST = 170
"""Characters of a list in a message about what is left out."""

DEFAULT_MBPS, DEFAULT_METRES = 100_000, 5.0
"""Speed and cable of a port for which the tables have none."""


class File(NamedTuple):
    """A file of tables: its name in messages, its text, and what it contains."""

    shown: str
    text: str
    document: dict[str, Any]


class Tables:
    """The tables of one or two files, messages with their place, and what has not been read."""

    def __init__(self, document: Mapping[str, Any], shown: str, files: Sequence[File] = ()) -> None:
        """Take tables, which messages call `shown`; those about a place of one of the `files` have its line."""
        self.shown, self.document, self.files = shown, document, files
        self.left_out: list[str] = []
        self._read: set[tuple[str, str, str]] = set()
        for name in READ:
            table = document.get(name, {})
            if name in TABLES and not (isinstance(table, dict) and table):
                self.refuse(f"{name} must be a table with at least one entry", name)
            for key, row in (table if isinstance(table, dict) else {"": table}).items():
                if not isinstance(row, dict):
                    message = f"{name}|{excerpt(key)} must be an object with keys and values, not {quoted(row)}"
                    self.refuse(message, name, key)

    @classmethod
    def of(cls, files: Sequence[File]) -> "Tables":
        """Put the tables of files together."""
        return cls(merged(file.document for file in files), ", ".join(file.shown for file in files), files)

    def refuse(self, message: str, *path: str) -> NoReturn:
        """Raise a message with the file and the line of a table, an entry or a key; of all files if none has it."""
        found = [(*_line_of(file.text, path), file.shown) for file in self.files]
        depth, line, shown = max(found, key=lambda each: each[0], default=(0, 0, self.shown))
        raise QuestionError(f"{shown}:{line}: {message}" if depth else f"{self.shown}: {message}")

    def leave_out(self, message: str) -> None:
        """Record once what the scenario lacks."""
        line = fitted(printable(f"{self.shown}: {message}"))
        if line not in self.left_out:
            self.left_out.append(line)

    def rows(self, table: str) -> dict[str, dict[str, Any]]:
        """Return the entries of a table, none if it is not there."""
        rows: dict[str, dict[str, Any]] = self.document.get(table, {})
        return rows

    def value(self, table: str, name: str, key: str) -> Any:
        """Return a value, None if it is not given."""
        self._read.add((table, name, key))
        return self.rows(table).get(name, {}).get(key)

    def number(
        self,
        table: str,
        name: str,
        key: str,
        default: int | None = None,
        *,
        least: int = 0,
        most: int = MOST_BYTES,
        unit: str = "of bytes",
    ) -> int:
        """Return a number; without a default it must be given."""
        text = self.value(table, name, key)
        if text is None and default is not None:
            return default
        is_number = isinstance(text, str | int) and re.fullmatch("[0-9]{1,13}", str(text), re.ASCII)
        if not is_number or not least <= int(text) <= most:
            at = f"{table}|{excerpt(name)}: {key}"
            self.refuse(f"{at} must be a number {unit} from {least} to {most}, not {quoted(text)}", table, name, key)
        return int(text)

    def reference(self, table: str, name: str, key: str, target: str) -> str:
        """Return the name of an entry of another table, which older files write as [TABLE|NAME]."""
        text = str(self.value(table, name, key) or "")
        found = text.strip("[]").removeprefix(f"{target}|")
        if found not in self.rows(target):
            message = f"{table}|{excerpt(name)}: {key} must name an entry of {target}, not {quoted(text)}"
            self.refuse(message, table, name, key)
        return found

    def of_numbers(self, table: str) -> dict[str, dict[int, str]]:
        """Return for each port the key of the row that each of its priority groups or queues has."""
        found: dict[str, dict[int, str]] = {}
        for key in self.rows(table):
            names, numbers = self._ports_and_numbers(table, key)
            for name in names:
                own = found.setdefault(name, {})
                if twice := own.keys() & numbers:
                    self.refuse(f"{table}|{key}: {name} must have number {min(twice)} once, not again", table, key)
                own.update(dict.fromkeys(numbers, key))
        return found

    def _ports_and_numbers(self, table: str, key: str) -> tuple[list[str], range]:
        """Return the ports and the numbers of a key."""
        names, _, numbers = key.partition("|")
        match = re.fullmatch("([0-9]{1,2})(?:-([0-9]{1,2}))?", numbers, re.ASCII)
        if not match:
            self.refuse(f"{table}: a key must be PORT|NUMBER or PORT|FIRST-LAST, not {quoted(key)}", table, key)
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last <= MOST_NUMBER[table]:
            message = f"{table}: the numbers of a key must rise, up to {MOST_NUMBER[table]}, not {quoted(key)}"
            self.refuse(message, table, key)
        return [name.strip() for name in names.split(",")], range(first, last + 1)

    def mbps(self, port: str) -> int:
        """Return the speed of a port in Mb/s."""
        speed = self.value("PORT", port, "speed")
        if speed is None:
            self.leave_out(f"PORT|{port}: speed is not given: {DEFAULT_MBPS} Mb/s is assumed")
            return DEFAULT_MBPS
        if not re.fullmatch("[1-9][0-9]{0,7}", str(speed), re.ASCII):
            self.refuse(f"PORT|{port}: speed must be a number of Mb/s, not {quoted(speed)}", "PORT", port, "speed")
        return int(speed)

    def mtu(self, port: str) -> int:
        """Return the bytes of the largest frame of a port, 0 if the tables do not have it."""
        return self.number("PORT", port, "mtu", 0, least=64, most=65_535)

    def metres(self, port: str) -> float:
        """Return the length of the cable of a port in m."""
        for name, lengths in self.rows("CABLE_LENGTH").items():
            if port in lengths:
                text = self.value("CABLE_LENGTH", name, port)
                match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,9})?) *m", str(text), re.ASCII)
                if not match:
                    message = f"CABLE_LENGTH: {port} must be a length, as in 40m, not {quoted(text)}"
                    self.refuse(message, "CABLE_LENGTH", name, port)
                return float(match[1])
        self.leave_out(f"CABLE_LENGTH: {port} is not given: {DEFAULT_METRES:g} m is assumed")
        return DEFAULT_METRES

    def leave_out_several(self, begin: str, names: Sequence[str], end: str) -> None:
        """Record several things for one reason, in as few lines as hold them whole."""
        line: list[str] = []
        for name in names:
            if line and len(", ".join((*line, name))) > LONGEST_LIST:
                self.leave_out(f"{begin}{', '.join(line)} {end}")
                line = []
            line.append(name)
        if line:
            self.leave_out(f"{begin}{', '.join(line)} {end}")

    def leave_out_unread(self, ports: Sequence[str]) -> None:
        """Record the keys that have not been read, those of the same entries in one line, and the other tables."""
        unread: dict[tuple[str, str], list[tuple[str, Any]]] = {}
        for table in READ:
            for name, row in self.rows(table).items():
                if table.endswith("_TO_TC_MAP") and not any((table, name, key) in self._read for key in row):
                    self.leave_out(f"{table}|{excerpt(name)} is left out: no port that sends has it")
                    continue
                for key, value in row.items():
                    of_ports = {"PORT": name, "CABLE_LENGTH": key, "PORT_QOS_MAP": name}.get(table)
                    is_used = of_ports is None or not {each.strip() for each in of_ports.split(",")}.isdisjoint(ports)
                    if (table, name, key) not in self._read and is_used:
                        unread.setdefault((table, key), []).append((name, value))
        alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for (table, key), entries in unread.items():
            names = tuple(name for name, _ in entries)
            alike.setdefault((table, names), []).append(f"{excerpt(key)} {_alternatives(each for _, each in entries)}")
        for (table, (name, *others)), keys in alike.items():
            more = f" and {len(others)} more" if others else ""
            are = "is" if len(keys) == 1 else "are"
            self.leave_out_several(f"{table}|{excerpt(name)}{more}: ", keys, f"{are} left out")
        other = [excerpt(name) for name in self.document if name not in READ]
        if other:
            what = "the table " if len(other) == 1 else "the tables "
            self.leave_out_several(what, other, "is left out" if len(other) == 1 else "are left out: they are not read")


MOST_VALUES = 3
"""Values of one key that a message lists."""


def _alternatives(values: Iterable[Any]) -> str:
    """Write the values that a key has, of many the first one."""
    first, *others = dict.fromkeys(map(quoted, values))
    if len(others) >= MOST_VALUES:
        return f"{first} and others"
    return " or ".join(filter(None, (", ".join((first, *others[:-1])), *others[-1:])))


def ranges(numbers: Iterable[int]) -> str:
    """Write numbers as tables of SONiC do, as in 0-2,5 for 0, 1, 2 and 5."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ",".join(str(each[0]) if len(each) == 1 else f"{each[0]}-{each[-1]}" for each in found)


def merged(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Put the tables of files together; entries of a later file are added to those of an earlier one."""
    found: dict[str, Any] = {}
    for document in documents:
        for name, table in document.items():
            before = found.get(name)
            found[name] = {**before, **table} if isinstance(before, dict) and isinstance(table, dict) else table
    return found


TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:]')
"""What decides where a value of a JSON text stands."""


def _line_of(text: str, path: Sequence[str]) -> tuple[int, int]:
    """Return how much of a path a JSON text has, and the line of that part; the last such line counts."""
    depth, line, last = 0, 0, ""
    keys: list[str] = []
    for found in TOKENS.finditer(text):
        if found[0] in "{[":
            keys.append("")
        elif found[0] in "}]":
            keys.pop()
        elif found[0] == ":" and keys:
            keys[-1] = json.loads(last)
            if len(keys) >= depth and keys == list(path[: len(keys)]):
                depth, line = len(keys), text.count("\n", 0, found.start()) + 1
        last = found[0]
    return depth, line


def read(file: Path) -> File:
    """Read the tables of a file."""
    shown, text = content(file)
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise QuestionError(f"{shown}:{error.lineno}: the file must be JSON: {error.msg}") from None
    except RecursionError:
        raise QuestionError(f"{shown}: the tables must not be nested deeply") from None
    if not isinstance(document, dict):
        raise QuestionError(
            f"{shown}: the file must be a JSON object with the tables of CONFIG_DB, not {quoted(document)}"
        )
    return File(shown, text, document)
