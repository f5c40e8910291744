"""Read recordings of traffic, and add them to the scenarios that replay them.

A recording becomes a text in the scenario, so the simulator opens no file, and the packets are part of the scenario's
identity: in caches, on clusters and on pages. `crates/core/src/source/recording.rs` says what the text means.
"""

import csv
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

from pushout.capture import CaptureError, is_capture
from pushout.capture import packets as captured
from pushout.errors import ScenarioError
from pushout.excerpt import excerpt, place, quoted

FINEST = 12
"""Decimals of a time in seconds: a picosecond."""

COLUMNS = ("time", "bytes", "flow")
MOST_OCTETS = 2**40


class Packet(NamedTuple):
    """A packet of a recording: its time in units of 10^-digits seconds, and its octets."""

    time: int
    digits: int
    octets: int


class RowError(ValueError):
    """A row cannot be replayed; the message says which one and why."""


class FinerError(Exception):
    """A time has more decimals than expected."""


def with_recordings(text: str, value: Mapping[str, Any], folder: Path) -> str:
    """Add to the text of a scenario, whose keys are `value`, every recording that a source of it replays."""
    known = value.get("recording", {})
    names = [(file, flow) for file, flow in replayed(value) if key(file, flow) not in known]
    if not names:
        return text
    if known:
        raise ScenarioError(f"recording: lacks {quoted(key(*names[0]))}; leave the table out, then pushout writes it")
    found = {key(file, flow): recorded(folder / file, flow) for file, flow in names}
    if text.lstrip().startswith("{"):
        return f'{text.rstrip()[:-1]}, "recording": {json.dumps(found)}}}'
    lines = (f"{json.dumps(name)} = {json.dumps(data)}\n" for name, data in found.items())
    return f"{text}\n[recording]\n{''.join(lines)}"


def replayed(value: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Yield file and flow of every source that replays a file."""
    defaults = _table(_table(value.get("flows")).get("source"))
    flows = value.get("flow", [])
    sources = [_table(_table(flow).get("source")) for flow in flows] if isinstance(flows, list) else []
    for source in sources or [{}]:
        keys = {**defaults, **source} if source.get("kind", defaults.get("kind")) == defaults.get("kind") else source
        file, flow = keys.get("file"), keys.get("flow")
        if keys.get("kind") == "replay" and isinstance(file, str) and "data" not in keys:
            yield file, flow if isinstance(flow, str) else None


def key(file: str, flow: str | None) -> str:
    """Name a recording in a scenario."""
    return file if flow is None else f"{file}#{flow}"


def recorded(path: Path, flow: str | None = None) -> str:
    """Read a recording, or the rows of one flow in it, as the text that a scenario has."""
    try:
        return _encoded(path, flow)
    except (RowError, CaptureError) as error:
        raise ScenarioError(f"{place(str(path))}: {error}") from None
    except FileNotFoundError:
        why = "no such file; its path is relative to the scenario"
        raise ScenarioError(f"{place(str(path))}: {why}") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ScenarioError(f"{place(str(path))}: cannot be read: {why}") from None


def _encoded(path: Path, flow: str | None) -> str:
    """Encode a recording with as many decimals as its times have; a finer time than those before begins it anew."""
    for digits in range(FINEST + 1):
        try:
            octets = _records(_packets(path, flow), digits)
        except FinerError:
            continue
        if not octets:
            raise RowError("has no packets" if flow is None else f"no row has the flow {quoted(flow)}")
        return f"{10 ** (FINEST - digits)} ps;{b64encode(octets).decode()}"
    raise RowError(f"a time has more than {FINEST} decimals; the simulator counts picoseconds")


def _records(packets: Iterator[Packet], digits: int) -> bytes:
    octets, last = bytearray(), 0
    for number, packet in enumerate(packets, 1):
        if packet.digits > digits:
            raise FinerError
        time = packet.time * 10 ** (digits - packet.digits)
        if time < last:
            raise RowError(f"packet {number}: its time is before that of the packet ahead; sort the file by time")
        for value in (time - last, packet.octets):
            rest = value
            while rest > 0x7F:
                octets.append(rest & 0x7F | 0x80)
                rest >>= 7
            octets.append(rest)
        last = time
    return bytes(octets)


def _packets(path: Path, flow: str | None) -> Iterator[Packet]:
    """Yield the packets of a file of any format."""
    if is_capture(path):
        if flow is not None:
            raise RowError("a capture has no column flow; leave the key flow out")
        yield from (Packet(*packet) for packet in captured(path))
    elif path.suffix == ".parquet":
        yield from _rows(_parquet(path), flow, "row")
    else:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            yield from _rows(((reader.line_num, row) for row in reader if row), flow, "line")


def _rows(rows: Iterator[tuple[int, list[Any]]], flow: str | None, unit: str) -> Iterator[Packet]:
    """Yield the packets of a table, whose first row has the names of its columns."""
    names = [str(name).strip() for name in next(rows, (1, []))[1]]
    missing = [name for name in COLUMNS[: 2 if flow is None else 3] if name not in names]
    if missing:
        found = excerpt(", ".join(names)) or "nothing"
        raise RowError(
            f"{unit} 1: the column {missing[0]} is missing; the columns are time, bytes and perhaps flow, not {found}"
        )
    time, octets = names.index("time"), names.index("bytes")
    flows = names.index("flow") if flow is not None else None
    for number, row in rows:
        if len(row) < len(names):
            raise RowError(f"{unit} {number}: has {len(row)} values for {len(names)} columns")
        if flows is None or str(row[flows]) == flow:
            yield Packet(*_time(row[time], f"{unit} {number}"), _octets(row[octets], f"{unit} {number}"))


def _time(value: Any, where: str) -> tuple[int, int]:
    """Read a time in seconds exactly; a floating-point number stands for the shortest decimal that it is."""
    try:
        time = Decimal(str(value).strip())
        digits = max(-int(time.as_tuple().exponent), 0)
        if not time.is_finite() or time < 0 or (digits > FINEST and time != round(time, FINEST)):
            raise InvalidOperation
    except (InvalidOperation, ValueError):
        raise RowError(
            f"{where}: time must be a number of seconds from 0 with at most {FINEST} decimals, not {quoted(value)}"
        ) from None
    digits = min(digits, FINEST)
    return int(time.scaleb(digits)), digits


def _octets(value: Any, where: str) -> int:
    text = str(value).strip()
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= MOST_OCTETS:
        raise RowError(f"{where}: bytes must be a whole number from 1, not {quoted(value)}")
    return int(text)


def _parquet(path: Path) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows of a Parquet file, first the names of its columns."""
    from pushout.extras import need

    parquet = need("pyarrow.parquet", "a recording in Parquet")
    arrow = need("pyarrow", "a recording in Parquet")
    try:
        file = parquet.ParquetFile(path)
    except arrow.ArrowInvalid as error:
        raise RowError(f"is not a Parquet file: {error}") from None
    with file:
        names = [name for name in file.schema_arrow.names if name in COLUMNS]
        yield 0, names
        number = 0
        for batch in file.iter_batches(columns=names):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                number += 1
                yield number, list(row)


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
