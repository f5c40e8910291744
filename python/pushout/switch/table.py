"""Read the lines of a switch and the headroom that each is given: a CSV table, or tables of SONiC."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from pushout import _core
from pushout.errors import Argument, QuestionError
from pushout.excerpt import quoted
from pushout.quantity import bits_per_second, octets, split
from pushout.switch import sonic_lines
from pushout.switch.rows import MOST_ROWS, content, of_csv, of_mappings

QUANTUM_BITS = 512
"""Bit times of a quantum, the unit of time of pause frames."""

GIGABIT = 10**9

RESPONSES = {10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905}
"""Quanta that IEEE 802.3 allows a port to obey a pause, by its rate in Gb/s, as SONiC lists them."""

SONIC = ("speed", "cable", "size", "xon", "xoff", "threshold", "xon_offset")
"""Columns of `pg_profile_lookup.ini`, in the usual order."""

SONIC_SUFFIX = ".ini"

TABLES_SUFFIX = ".json"
"""That of `config_db.json` and `buffers.json`."""


class Amount(NamedTuple):
    """An amount of memory: whole bytes, or cells."""

    number: int
    in_cells: bool = False

    def cells(self, cell: int) -> int:
        """Return the cells that hold it."""
        return self.number if self.in_cells else -(-self.number // cell)

    def bytes(self, cell: int) -> int:
        """Return its bytes."""
        return self.number * cell if self.in_cells else self.number


@dataclass(frozen=True)
class Line:
    """A line that carries a class without losses, and the headroom that the class is given at its receiving end.

    `mtu` and `smallest` are the bytes of the largest and the smallest frame of the class, `other` those of the largest
    frame in the other direction; `response_bytes` is the time in which the sender obeys a pause, in bytes of its line.
    """

    name: str
    rate_bps: int
    cable_m: float
    mtu: int
    smallest: int
    other: int
    cell: int
    response_bytes: int
    given: Amount | None
    """None if the table does not have it: then only the need is asked."""
    pool: str
    pool_size: Amount
    at: str
    """The file and the line of the row, for messages."""


class Wrong(Exception):  # noqa: N818  (never leaves this module: `_Row` adds the place)
    """A value is invalid; the argument is the condition that it must meet, or the end of a message."""


def _number(text: str, condition: str = "") -> tuple[float, str]:
    try:
        return split(text)
    except QuestionError:
        raise Wrong(*filter(None, [condition])) from None


def _size(least: int, most: int, *, or_none: bool = False) -> Callable[[str], int]:
    """Make a parser of sizes of frames and cells; `or_none` also allows 0."""

    def parse(text: str) -> int:
        number = _bytes(text)
        if number is None or not (least <= number <= most or (or_none and number == 0)):
            raise Wrong(f"{'0 or ' if or_none else ''}a number of bytes from {least} to {most}")
        return number

    return parse


def _bytes(text: str) -> int | None:
    """Convert "4096" or "4 KiB" to bytes; None if it is not a whole number of them."""
    try:
        number, unit = _number(text)
    except Wrong:
        return None
    size = number if unit == "" else octets(text)
    return int(size) if size is not None and size == int(size) else None


def _rate(text: str) -> int:
    rate = bits_per_second(text)
    if rate is None or not MEGABIT <= rate <= MOST_RATE:
        raise Wrong("a rate from 1 Mb/s to 10 Tb/s, as in 100 Gb/s")
    return int(rate)


MEGABIT, MOST_RATE = 10**6, 10**13

LONGEST_CABLE_M = 1_000_000


def _cable(text: str) -> float:
    lengths = {"": 1, "m": 1, "km": 1000}
    condition = f"a length from 0 to {LONGEST_CABLE_M} m, as in 300 m"
    number, unit = _number(text, condition)
    if unit not in lengths or not 0 <= number * lengths[unit] <= LONGEST_CABLE_M:
        raise Wrong(condition)
    return number * lengths[unit]


MOST_RESPONSE = 10**12
"""Bytes that a sender may send before it obeys; a response is at most a second of any line."""


def _response(text: str) -> int:
    """Convert "394 quanta", "394" or "24 kB" to bytes."""
    condition = "a number of quanta or bytes from 0, as in 394 quanta or 24 kB"
    number, unit = _number(text, condition)
    found = round(number * QUANTUM_BITS / 8) if unit in ("", "quanta") else _bytes(text)
    if found is None or not 0 <= found <= MOST_RESPONSE:
        raise Wrong(condition)
    return found


MOST_MEMORY = 10**12
"""Bytes of a memory: no switch has more."""


def _amount(text: str) -> Amount:
    """Convert "83968", "82 KiB" or "433 cells"."""
    condition = "a number of bytes or cells from 0, as in 83968 B or 433 cells"
    number, unit = _number(text, condition)
    found = int(number) if unit == "cells" and number == int(number) else _bytes(text)
    if found is None or not 0 <= found <= MOST_MEMORY:
        raise Wrong(condition)
    return Amount(found, in_cells=unit == "cells")


FRAME = _size(64, 65_535)

PARSERS: dict[str, Callable[[str], Any]] = {
    "line": str,
    "rate": _rate,
    "cable": _cable,
    "mtu": FRAME,
    "smallest": FRAME,
    "other": _size(64, 65_535, or_none=True),
    "cell": _size(1, 65_535),
    "response": _response,
    "given": _amount,
    "share": str,
    "share_size": _amount,
}
"""The columns of a table, and how their values are read."""

GIVABLE = ("mtu", "smallest", "other", "cell")
"""Columns whose value may be given for all rows."""


def _parsed(column: str, text: str) -> Any:
    """Parse the value of a column."""
    try:
        return PARSERS[column](text)
    except Wrong as wrong:
        raise Wrong(f"must be {wrong}, not {quoted(text)}") from None


class _Row:
    """The values of a row by column, and its place."""

    def __init__(self, at: str, values: Mapping[str, str]) -> None:
        self.at = at
        self.values = {column: text for column, text in values.items() if text != ""}

    def get(self, column: str, default: Any = None) -> Any:
        """Parse the value in a column; without one, or without a default, refuse the row."""
        if column not in self.values:
            return self.missing(column) if default is None else default
        try:
            return _parsed(column, self.values[column])
        except Wrong as wrong:
            self.refuse(f"{column} {wrong}")

    def missing(self, column: str) -> NoReturn:
        """Refuse a row without a value in this column."""
        message = f"{column} must be given: add the column"
        if column in GIVABLE:
            raise QuestionError(f"{self.at}: {message}, or give ", Argument(column), " for all rows")
        self.refuse(message)

    def refuse(self, message: str) -> NoReturn:
        """Raise a message with the place of the row."""
        raise QuestionError(f"{self.at}: {message}")

    def line(self) -> Line:
        """Read all values."""
        rate, mtu, cell, pool = self.get("rate"), self.get("mtu"), self.get("cell"), self.get("share", "")
        if not pool and "share_size" in self.values:
            self.refuse("share must name the pool whose size share_size is")
        size = self._memory("share_size", cell, None if pool else Amount(0))
        return Line(
            name=self.get("line", self.at),
            rate_bps=rate,
            cable_m=self.get("cable"),
            mtu=mtu,
            smallest=self._smallest(mtu),
            other=self.get("other", mtu),
            cell=cell,
            response_bytes=self._response(rate),
            given=self._memory("given", cell, size) if pool or "given" in self.values else None,
            pool=pool,
            pool_size=size,
            at=self.at,
        )

    def _smallest(self, mtu: int) -> int:
        """Read the size of the smallest frame."""
        smallest: int = self.get("smallest", mtu)
        if smallest > mtu:
            self.refuse(f"smallest must be at most mtu ({mtu}), not {smallest}")
        return smallest

    def _memory(self, column: str, cell: int, default: Amount | None) -> Amount:
        """Read an amount of memory; refuse more than a switch can have."""
        amount: Amount = self.get(column, default)
        if amount.bytes(cell) > MOST_MEMORY:
            self.refuse(f"{column} must be at most {MOST_MEMORY} bytes, not {amount.bytes(cell)}")
        return amount

    def _response(self, rate: int) -> int:
        """Read the response time in bytes; the default is that of IEEE 802.3 for the rate."""
        if "response" in self.values:
            response: int = self.get("response")
            if 8 * response > rate:
                self.refuse(f"response must be at most a second of the line, not {response} bytes")
            return response
        quanta = RESPONSES.get(rate // GIGABIT) if rate % GIGABIT == 0 else None
        if quanta is None:
            known = ", ".join(map(str, RESPONSES))
            self.refuse(f"response must be given, as in 394 quanta: it has a default at {known} Gb/s only")
        return quanta * QUANTUM_BITS // 8


def read(path: str | os.PathLike[str], given: Mapping[str, object]) -> list[Line]:
    """Read a table from a file; `given` has values for columns that it lacks."""
    shown, text = content(path)
    if Path(path).suffix.lower() == TABLES_SUFFIX:
        asked = {column for column, value in given.items() if value is not None}
        rows = sonic_lines.rows(Path(path), shown)
        own = ((at, {column: text for column, text in row.items() if column not in asked}) for at, row in rows)
        return _lines((_Row(at, values) for at, values in own), given, shown)
    of_file = _of_sonic if Path(path).suffix.lower() == SONIC_SUFFIX else _of_csv
    return _lines(of_file(text, shown), given, shown)


def made(rows: Iterable[Mapping[str, object]], given: Mapping[str, object]) -> list[Line]:
    """Read a table from mappings of columns."""
    found = ((at, _columns(row, at), row.values()) for at, row in of_mappings(rows, "rows"))
    return _lines((_Row(at, dict(zip(columns, texts, strict=True))) for at, columns, texts in found), given, "rows")


def _lines(rows: Iterable[_Row], given: Mapping[str, object], shown: str) -> list[Line]:
    common = {column: str(value).strip() for column, value in given.items() if value is not None}
    for column, text in common.items():
        try:
            _parsed(column, text)
        except Wrong as wrong:
            raise QuestionError(Argument(column), f" {wrong}") from None
    lines: list[Line] = []
    for row in rows:
        if len(lines) == MOST_ROWS:
            row.refuse(f"a table must have at most {MOST_ROWS} rows")
        row.values = {**common, **row.values}
        lines.append(row.line())
    if not lines:
        raise QuestionError(f"{shown}: the table must have at least one row with a line of the switch")
    return lines


OTHER_NAMES = {"name": "line", "port": "line", "speed": "rate", "length": "cable"}
"""Names of columns that other tables have."""


def _columns(given: Iterable[str], at: str) -> list[str]:
    """Return columns under their names here; refuse unknown columns, and columns that stand twice."""
    columns = [OTHER_NAMES.get(column, column) for column in given]
    for column in columns:
        if column not in PARSERS:
            raise QuestionError(f"{at}: {_core.unknown('column', column, list(PARSERS))}")
        if columns.count(column) > 1:
            raise QuestionError(f"{at}: column {column} must be given once")
    return columns


def _of_csv(text: str, shown: str) -> Iterator[_Row]:
    """Read lines of CSV below a line of columns."""
    columns: list[str] = []
    for at, values in of_csv(text, shown):
        if not columns:
            columns = [*_columns(values[:MOST_COLUMNS], at), *values[MOST_COLUMNS:]]
        elif len(values) != len(columns):
            raise QuestionError(f"{at}: the row must have {len(columns)} values, as the first line, not {len(values)}")
        else:
            yield _Row(at, dict(zip(columns, values, strict=True)))


MOST_COLUMNS = len(PARSERS) + 1
"""Columns that are checked: one more than there are is one that is unknown or twice there."""


def _of_sonic(text: str, shown: str) -> Iterator[_Row]:
    """Read the lines of a lookup table of SONiC: speed in Mb/s, cable, sizes in bytes; `xoff` is what is given."""
    columns: Sequence[str] = SONIC
    for number, line in enumerate(text.splitlines(), 1):
        words = line.replace("#", " ").split()
        if line.lstrip().startswith("#") or not words:
            columns = words if {"speed", "cable", "xoff"} <= set(words) else columns
            continue
        at = f"{shown}:{number}"
        if not len(SONIC) - 1 <= len(words) <= len(columns):
            raise QuestionError(f"{at}: the row must have the columns {' '.join(columns)}, not {len(words)} values")
        values = dict(zip(columns, words, strict=False))
        row = _Row(at, {"cable": values["cable"], "given": values["xoff"]})
        if not (values["speed"].isascii() and values["speed"].isdigit()):
            row.refuse(f"speed must be a number of Mb/s, not {quoted(values['speed'])}")
        row.values |= {"rate": f"{values['speed']} Mb/s", "line": f"{values['speed']} Mb/s, {values['cable']}"}
        yield row
