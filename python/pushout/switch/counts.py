"""Read what acceptance tests of a switch have counted: a CSV table with a name, a number of packets and their size."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pushout import _core
from pushout.errors import QuestionError
from pushout.excerpt import quoted
from pushout.switch.bench import LEAST_PACKET, MOST_PACKET
from pushout.switch.rows import MOST_ROWS, content, of_csv, of_mappings

MOST_PACKETS = 2_000_000
"""The largest count: no memory holds more packets."""

MOST_LINES = 64
"""Lines that fill their queues together, or one after another."""

KINDS = ("fill", "drop", "xoff", "xon", "headroom", "loss", "mark")
"""Counts of one line; those of `drop` and `xoff` also have numbers of lines, or `together`."""

LIMITED = ("drop", "xoff", "loss")
"""Counts that a dynamic threshold ends."""

TOGETHER = "together"

NAME = re.compile(rf"(?:(?P<of>.+)\.)?(?P<kind>{'|'.join(KINDS)})(?:\.(?P<line>[0-9]{{1,2}}|{TOGETHER}))?", re.ASCII)


class Count(NamedTuple):
    """A count of a class: its kind, the line in turn or the number of lines together, and the size of packets."""

    name: str
    of: str
    kind: str
    line: int
    """Number of the line in turn, from 1."""
    together: int
    """Number of lines that fill together, or 1."""
    value: int
    packet: int
    at: str
    """The file and the line of the row, for messages."""


COLUMNS = ("name", "value", "packet", "lines")


def read(path: str | os.PathLike[str], packet: int) -> list[Count]:
    """Read a table from a file; `packet` is the size of packets in rows without one."""
    shown, text = content(path)
    return _counts(_rows(text, shown), packet, shown)


def made(rows: Mapping[str, int] | Iterable[Mapping[str, object]], packet: int) -> list[Count]:
    """Read a table from a mapping of names to counts, or from mappings of columns."""
    given: Iterable[Mapping[str, object]] = (
        [{"name": name, "value": value} for name, value in rows.items()] if isinstance(rows, Mapping) else rows
    )
    return _counts(of_mappings(given, "counts"), packet, "counts")


def _rows(text: str, shown: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows below the line of columns, whose last values may be left out."""
    rows = of_csv(text, shown)
    _, columns = next(rows, ("", []))
    for at, values in rows:
        if len(values) > len(columns):
            raise QuestionError(f"{at}: the row must have at most {len(columns)} values, not {len(values)}")
        yield at, dict(zip(columns, values, strict=False))


def _counts(rows: Iterable[tuple[str, dict[str, str]]], packet: int, shown: str) -> list[Count]:
    found: dict[tuple[str, int], Count] = {}
    for at, row in rows:
        if len(found) == MOST_ROWS:
            raise QuestionError(f"{at}: a table must have at most {MOST_ROWS} rows")
        count = _count(at, row, packet)
        if (count.name, count.packet) in found:
            raise QuestionError(f"{at}: {quoted(count.name)} must be counted once with packets of {count.packet} bytes")
        found[count.name, count.packet] = count
    if not found:
        raise QuestionError(f"{shown}: the table must have the columns name and value, and at least one count")
    return list(found.values())


def _count(at: str, row: Mapping[str, str], packet: int) -> Count:
    for column in row:
        if column not in COLUMNS:
            raise QuestionError(f"{at}: {_core.unknown('column', column, list(COLUMNS))}")
    name = row.get("name", "")
    match = NAME.fullmatch(name)
    if not match:
        raise QuestionError(f"{at}: {_core.unknown('count', name.rpartition('.')[2], list(KINDS))}")
    kind, line = match["kind"], match["line"] or "1"
    if match["line"] and kind not in ("drop", "xoff"):
        raise QuestionError(f"{at}: only drop and xoff have numbers of lines, not {quoted(name)}")
    lines = _whole(at, row, "lines", 2, MOST_LINES) if line == TOGETHER else 1
    number = 1 if line == TOGETHER else int(line)
    if not 1 <= number <= MOST_LINES:
        raise QuestionError(f"{at}: the number of a line must be from 1 to {MOST_LINES}, not {number}")
    size = _whole(at, row, "packet", LEAST_PACKET, MOST_PACKET) if row.get("packet") else packet
    value = _whole(at, row, "value", 0, MOST_PACKETS)
    return Count(name, match["of"] or "", kind, number, lines, value, size, at)


def _whole(at: str, row: Mapping[str, str], column: str, least: int, most: int) -> int:
    text = row.get(column, "")
    if not re.fullmatch("[0-9]{1,10}", text, re.ASCII) or not least <= int(text) <= most:
        raise QuestionError(f"{at}: {column} must be an integer from {least} to {most}, not {quoted(text)}")
    return int(text)


def check(counts: Sequence[Count]) -> None:
    """Refuse counts of a class that decide nothing, and more packets than can be counted again in seconds."""
    at = counts[0].at
    if not any(count.kind in LIMITED for count in counts):
        raise QuestionError(f"{at}: a class must have a count drop, xoff or loss; the others do not depend on α")
    if all(count.line > 1 for count in counts if count.kind in LIMITED):
        raise QuestionError(f"{at}: {counts[0].name} must come with {missing(counts)}, the count of the line before it")
    packets = sum(count.value * count.together for count in counts if count.kind in ("drop", "xoff"))
    if packets > MOST_ALL:
        raise QuestionError(f"{at}: all lines of a class must hold at most {MOST_ALL} packets, not {packets}")


def missing(counts: Sequence[Count]) -> str:
    """Return the name of a count without which that of the next line bounds nothing; empty if there is none."""
    names = {(count.kind, count.line) for count in counts}
    lacking = ((count.kind, count.line - 1) for count in counts if count.line > 1)
    kind, line = next((each for each in lacking if each not in names), ("", 1))
    return f"{kind}.{line}" if line > 1 else kind


MOST_ALL = 2 * MOST_PACKETS
"""Packets of all counts of a class: a memory holds its lines at one time, and the bench sends as many several times."""
