"""Read recordings of traffic and lists of transfers, and add them to the scenarios that name them.

Both become texts in the scenario, so the simulator opens no file, and what they contain is part of the scenario's
identity: in caches, on clusters and on pages. `crates/core/src/source/recording.rs` says what the text of a recording
means, `crates/core/src/workload/rows.rs` what that of a list means.

A scenario may come from another person, so it names only regular files below its own folder, and no message quotes more
of a file than names of columns.
"""

import csv
import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pushout import flowlist, kept
from pushout.capture import CaptureError, is_capture, packets_of_flows
from pushout.capture import packets as captured
from pushout.errors import ScenarioError
from pushout.excerpt import excerpt, place, quoted

FINEST = 12
"""Decimals of a time in seconds: a picosecond."""

LONGEST_S = (2**63 - 1) // 10**FINEST
"""Seconds that the simulator can count, 106 days."""

COLUMNS = ("time", "bytes", "flow")
MOST_OCTETS = 2**40

MOST_PACKETS = 10_000_000
"""Packets of a recording, three hours of the longest capture that was tried: reading them takes half a minute."""

REPORTED = 2**15
"""Packets after which the caller receives how many are read."""

LARGEST_TRACE = 2**26
"""Bytes of a file with the rate of a line."""

LONGEST_NUMBER = 60
"""Letters of a number; a longer one is no table of packets."""

BACKWARDS = "its time is before that of the packet ahead; sort the file by time"

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_ ./-]{0,30}")
"""Text of a table that a message may show: a name of a column."""


ProgressCallback = Callable[[float, float], None]
"""Called with the packets that are read and about how many there are."""


class Packet(NamedTuple):
    """A packet of a recording: its time in units of 10^-digits seconds, its octets, and its row or number."""

    time: int
    digits: int
    octets: int
    number: int


class _Opened(NamedTuple):
    """A recording that is open: what its format calls a packet, the packets, and an estimate of their number."""

    unit: str
    packets: Iterator[Packet]
    total: Callable[[int], float]


class RowError(ValueError):
    """A row cannot be replayed; the message says which one and why."""


class FinerError(Exception):
    """A time has more decimals than expected."""


def with_files(
    text: str,
    value: Mapping[str, Any],
    folder: Path,
    allowed: Sequence[Path] = (),
    progress: ProgressCallback | None = None,
    points: Iterable[Sequence[str]] = (),
) -> str:
    """Add to the text of a scenario, whose keys are `value`, its files: recordings, a workload, sizes, rates of lines.

    The files lie below `folder` or one of the `allowed` ones. Overrides of `points` may name further recordings.
    """
    tables = {}
    if names := _absent(
        value, "recording", {key(*name): name for name in (*replayed(value), *_overridden(value, points))}
    ):
        tables["recording"] = _recordings(names, folder, allowed, progress)
    readers = dict.fromkeys(listed(value), rows) | dict.fromkeys(sized(value), sizes)
    readers |= dict.fromkeys(traced(value), rates)
    if texts := _absent(value, "rows", readers):
        tables["rows"] = {file: read(_allowed(file, folder, allowed)) for file, read in texts.items()}
    return flowlist.attached(text, tables) if tables else text


def named(value: Mapping[str, Any]) -> list[str]:
    """Return the files that a scenario names."""
    return [*(file for file, _ in replayed(value)), *listed(value), *sized(value), *traced(value)]


def _absent(value: Mapping[str, Any], table: str, names: dict[str, Any]) -> dict[str, Any]:
    """Return the names that a table of the scenario does not have; refuse a table that has only others."""
    known = value.get(table, {})
    absent = {name: file for name, file in names.items() if name not in known}
    if absent and known:
        raise ScenarioError(f"{table}: lacks {quoted(next(iter(absent)))}; leave the table out, then pushout writes it")
    return absent


def _allowed(file: str, folder: Path, allowed: Sequence[Path]) -> Path:
    """Return the path of a file that a scenario names; refuse one outside the folders that it may read."""
    try:
        inside = kept.is_inside(folder / file, [folder, *allowed])
    except (OSError, ValueError, RuntimeError) as error:  # a NUL, or links in a circle
        why = (isinstance(error, OSError) and error.strerror) or "cannot be the path of a file"
        raise ScenarioError(f"{place(file)}: {why}") from None
    if not inside:
        how = "allow another with --allow-files DIR, in Python allow_files"
        raise ScenarioError(f"{place(file)}: must lie below the folder of the scenario that names it; {how}")
    return folder / file


def replayed(value: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Yield file and flow of every source that replays a file."""
    for keys in _sources(value):
        file, flow = keys.get("file"), keys.get("flow")
        if keys.get("kind") == "replay" and isinstance(file, str) and "data" not in keys:
            yield file, flow if isinstance(flow, str) else None


SOURCE = re.compile(r"""(flows|flow\.(?:[^."']+|"[^"]*"|'[^']*'))\.source\.(file|flow)""")
"""A key of an override that names a recording, or a flow in it."""


def _overridden(value: Mapping[str, Any], points: Iterable[Sequence[str]]) -> Iterator[tuple[str, str | None]]:
    """Yield file and flow of the recordings that the overrides of each point name in place of those of a source."""
    flows = value.get("flow", [])
    own = {str(flow.get("name")): _table(flow.get("source")) for flow in flows if isinstance(flow, Mapping)}
    for sets in points:
        named: dict[str, dict[str, str]] = {}
        for change in sets:
            name, _, text = change.partition("=")
            if match := SOURCE.fullmatch(name.strip()):
                named.setdefault(match[1], {})[match[2]] = text.strip().strip("\"'")
        for section, keys in named.items():
            at = section.partition(".")[2].strip("\"'")
            source = {**_table(_table(value.get("flows")).get("source")), **own.get(at, {}), **keys}
            if source.get("kind") == "replay" and isinstance(file := source.get("file"), str) and "data" not in source:
                flow = source.get("flow")
                yield file, flow if isinstance(flow, str) else None


def _sources(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the source of every flow, and that of flows that a template makes."""
    defaults = _table(_table(value.get("flows")).get("source"))
    flows = value.get("flow", [])
    sources = [_table(_table(flow).get("source")) for flow in flows] if isinstance(flows, list) else []
    has_others = "topology" in value or not sources
    for source in [*sources, {}] if has_others else sources:
        is_alike = source.get("kind", defaults.get("kind")) == defaults.get("kind")
        yield {**defaults, **source} if is_alike else source


def sized(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the file of every source whose sizes are in a file that is not read yet."""
    for keys in _sources(value):
        sizes = _table(keys.get("sizes"))
        if isinstance(file := sizes.get("file"), str) and "data" not in sizes:
            yield file


def traced(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the file of every rate of a line that is in a file which is not read yet."""
    links = value.get("link", [])
    wires = list(_table(value.get("topology")).values())
    ways = [*(links if isinstance(links, list) else []), *wires]
    ways += [way for wire in wires if isinstance(wire, list) for way in wire]
    for way in map(_table, ways):
        for keys in (way, _table(way.get("back"))):
            rate = _table(keys.get("rate"))
            if isinstance(file := rate.get("trace"), str) and "data" not in rate:
                yield file


def listed(value: Mapping[str, Any]) -> list[str]:
    """Return the file of the workload, if it has one that is not read yet."""
    workload = _table(value.get("workload"))
    file = workload.get("file")
    return [file] if isinstance(file, str) and "data" not in workload else []


def key(file: str, flow: str | None) -> str:
    """Name a recording in a scenario."""
    return file if flow is None else f"{file}#{flow}"


def _recordings(
    names: Mapping[str, tuple[str, str | None]],
    folder: Path,
    allowed: Sequence[Path],
    progress: ProgressCallback | None,
) -> dict[str, str]:
    """Read recordings by their names: the flows of one capture together."""
    flows: dict[str, list[str]] = {}
    for file, flow in names.values():
        flows.setdefault(file, []).extend([] if flow is None else [flow])
    found: dict[str, str] = {}
    for name, (file, flow) in names.items():
        path = _allowed(file, folder, allowed)
        if name in found:
            continue
        if len(flows[file]) > 1 and flow is not None:
            with _placed(path):
                found |= {key(file, each): text for each, text in _of_flows(path, flows[file], progress).items()}
        if name not in found:
            found[name] = recorded(path, flow, progress)
    return {name: found[name] for name in names}


def _of_flows(path: Path, flows: Sequence[str], progress: ProgressCallback | None) -> dict[str, str]:
    """Encode several flows of a capture; nothing of a file that is none, whose flows are read one by one."""
    with kept.opened(path) as file:
        if not is_capture(file, path):
            return {}
        packets: dict[str, list[Packet]] = {flow: [] for flow in flows}
        for count, (*packet, flow) in enumerate(packets_of_flows(file), 1):
            if progress is not None and count % REPORTED == 0:
                progress(count, count * os.fstat(file.fileno()).st_size / max(file.tell(), 1))
            if count > MOST_PACKETS:
                raise RowError(f"packet {count}: a recording must have at most {MOST_PACKETS} packets; cut it in parts")
            if flow in packets:
                packets[flow].append(Packet(*packet))
    found = {}
    for flow, listed_packets in packets.items():
        digits = max((packet.digits for packet in listed_packets), default=0)
        recording = _Opened("packet", iter(listed_packets), float)
        found[flow] = _text(_records(recording, digits, None), digits, flow)
    return found


def flows(path: Path) -> dict[str, tuple[int, int]]:
    """Count the packets and the octets of every flow of a capture, in the order of their first packets."""
    found: dict[str, tuple[int, int]] = {}
    with _placed(path), kept.opened(path) as file:
        if not is_capture(file, path):
            raise RowError("has no flows of addresses and ports: only captures have (pcap, pcapng)")
        for _, _, octets, _, flow in packets_of_flows(file):
            count, total = found.get(flow, (0, 0))
            found[flow] = (count + 1, total + octets)
    return found


def recorded(path: Path, flow: str | None = None, progress: ProgressCallback | None = None) -> str:
    """Read a recording, or the rows of one flow in it, as the text that a scenario has."""
    with _placed(path):
        return _encoded(path, flow, progress)


def packets(path: Path) -> Iterator[tuple[int, int]]:
    """Yield the time in picoseconds and the octets of every packet of a recording, in the order of time."""
    with _placed(path), kept.opened(path) as file:
        last = -1
        for packet in _packets(file, path, None).packets:
            time = packet.time * 10 ** (FINEST - packet.digits)
            if time < last:
                raise RowError(f"packet {packet.number}: {BACKWARDS}")
            last = time
            yield time, packet.octets
        if last < 0:
            raise RowError("has no packets")


def rows(path: Path) -> str:
    """Read a list of transfers, as the text that a scenario has."""
    with _placed(path), kept.opened(path) as file:
        return flowlist.rows(file, place(str(path)))


def sizes(path: Path) -> str:
    """Read a file with a table of sizes, as the text that a scenario has."""
    with _placed(path), kept.opened(path) as file:
        return flowlist.plain(flowlist.Lines(file, place(str(path)), ScenarioError))


def rates(path: Path) -> str:
    """Read a file with the rate of a line over time, as the text that a scenario has."""
    with _placed(path), kept.opened(path) as file:
        lines = flowlist.Lines(file, place(str(path)), ScenarioError)
        text = bytearray()  # a list of short lines would take ten times the memory
        for line in lines.raw():
            text += line.encode()
            if len(text) > LARGEST_TRACE:
                lines.refuse(f"a trace must have at most {LARGEST_TRACE >> 20} MiB; cut it")
        return text.decode()


@contextmanager
def _placed(path: Path) -> Iterator[None]:
    """Raise messages with the path of a file that cannot be read."""
    try:
        yield
    except (RowError, flowlist.LineError, CaptureError, csv.Error) as error:
        raise ScenarioError(f"{place(str(path))}: {error}") from None
    except FileNotFoundError:
        why = "no such file; its path is relative to the scenario"
        raise ScenarioError(f"{place(str(path))}: {why}") from None
    except OSError as error:
        raise ScenarioError(f"{place(str(path))}: cannot be read: {error.strerror or 'damaged'}") from None


def _encoded(path: Path, flow: str | None, progress: ProgressCallback | None) -> str:
    """Encode a recording with as many decimals as its times have; a finer time than those before begins it anew."""
    for digits in range(FINEST + 1):
        with kept.opened(path) as file:
            try:
                octets = _records(_packets(file, path, flow), digits, progress)
            except FinerError:
                continue
        return _text(octets, digits, flow)
    raise RowError(f"a time has more than {FINEST} decimals; the simulator counts picoseconds")


def _text(octets: bytes, digits: int, flow: str | None) -> str:
    """Write what a scenario has of a recording; refuse one without packets."""
    if not octets:
        raise RowError("has no packets" if flow is None else f"no row has the flow {quoted(flow)}")
    return f"{10 ** (FINEST - digits)} ps;{b64encode(octets).decode()}"


def _records(recording: _Opened, digits: int, progress: ProgressCallback | None) -> bytes:
    octets, last = bytearray(), 0
    for count, packet in enumerate(recording.packets, 1):
        if progress is not None and count % REPORTED == 0:
            progress(count, recording.total(count))
        if packet.digits > digits:
            raise FinerError
        where = f"{recording.unit} {packet.number}"
        time = packet.time * 10 ** (digits - packet.digits)
        if time < last:
            raise RowError(f"{where}: {BACKWARDS}")
        if time > LONGEST_S * 10**digits:
            raise RowError(f"{where}: its time must be at most {LONGEST_S} s (106 days), not later")
        if count > MOST_PACKETS:
            raise RowError(f"{where}: a recording must have at most {MOST_PACKETS} packets; cut it in parts")
        for value in (time - last, packet.octets):
            rest = value
            while rest > 0x7F:
                octets.append(rest & 0x7F | 0x80)
                rest >>= 7
            octets.append(rest)
        last = time
    return bytes(octets)


def _packets(file: BinaryIO, path: Path, flow: str | None) -> _Opened:
    """Open a recording of any format."""
    size = os.fstat(file.fileno()).st_size

    def by_place(count: int) -> float:
        """Estimate the packets of the file from the part that is read."""
        return count * size / max(file.tell(), 1)

    if is_capture(file, path):
        if flow is None:
            return _Opened("packet", (Packet(*packet) for packet in captured(file)), by_place)
        of_flow = (Packet(*packet) for *packet, each in packets_of_flows(file) if each == flow)
        return _Opened("packet", of_flow, by_place)
    if path.suffix == ".parquet":
        count, rows = _parquet(file)
        return _Opened("row", _since(_rows(rows, flow, "row")), lambda _: count)
    reader = csv.reader(flowlist.decoded(file))
    lines = ((reader.line_num, row) for row in reader if row)
    return _Opened("line", _since(_rows(lines, flow, "line")), by_place)


def _since(packets: Iterator[tuple[Packet, bool]]) -> Iterator[Packet]:
    """Yield the packets that are wanted; a table with times since 1970 begins with its first row, as captures do."""
    base: tuple[int, int] | None = None
    for packet, wanted in packets:
        if base is None:
            late = packet.time > LONGEST_S * 10**packet.digits
            base = (packet.time, packet.digits) if late else (0, 0)
        if not wanted:
            continue
        digits = max(packet.digits, base[1])
        since = packet.time * 10 ** (digits - packet.digits) - base[0] * 10 ** (digits - base[1])
        yield packet._replace(time=since, digits=digits)


def _rows(rows: Iterator[tuple[int, list[Any]]], flow: str | None, unit: str) -> Iterator[tuple[Packet, bool]]:
    """Yield the packets of a table, whose first row names its columns, and whether each is of the flow."""
    names = [str(name).strip() for name in next(rows, (1, []))[1]]
    _check_columns(names, COLUMNS[: 2 if flow is None else 3], unit)
    time, octets = names.index("time"), names.index("bytes")
    flows = names.index("flow") if flow is not None else None
    for number, row in rows:
        where = f"{unit} {number}"
        if len(row) != len(names):
            raise RowError(f"{where}: has {len(row)} values for {len(names)} columns")
        wanted = flows is None or str(row[flows]) == flow
        yield Packet(*_time(row[time], where), _octets(row[octets], where), number), wanted


def _check_columns(names: Sequence[str], needed: Sequence[str], unit: str) -> None:
    for name in needed:
        if name not in names:
            shown = [each if NAME.fullmatch(each) else "one that is not shown" for each in names[:8]]
            found = excerpt(", ".join(shown)) or "nothing"
            columns = "the columns are time, bytes and perhaps flow"
            raise RowError(f"{unit} 1: the column {name} is missing; {columns}, not {found}")
        if names.count(name) > 1:
            raise RowError(f"{unit} 1: the column {name} must be there once, not {names.count(name)} times")


def _time(value: Any, where: str) -> tuple[int, int]:
    """Read a time in seconds exactly; a floating-point number stands for the shortest decimal that it is."""
    try:
        text = str(value).strip()
        time = Decimal(text if len(text) <= LONGEST_NUMBER else "nan")
        digits = max(-int(time.as_tuple().exponent), 0)
        if not time.is_finite() or time < 0 or time.adjusted() >= FINEST or digits > LONGEST_NUMBER:
            raise InvalidOperation
        if digits > FINEST and time != round(time, FINEST):
            raise InvalidOperation
    except (InvalidOperation, ValueError):
        raise RowError(
            f"{where}: time must be a number of seconds from 0, with at most {FINEST} decimals, not {_shape(value)}"
        ) from None
    digits = min(digits, FINEST)
    return int(time.scaleb(digits)), digits


def _shape(value: Any) -> str:
    """Describe a value of a file, which a message does not quote."""
    text = str(value).strip()
    if not text:
        return "an empty field"
    return "another number" if set(text) <= set("0123456789.+-eE_") else f"a text of {len(text)} characters"


def _octets(value: Any, where: str) -> int:
    text = str(value)[: LONGEST_NUMBER + 1].strip()
    if not text.isascii() or not text.isdigit() or len(text) > LONGEST_NUMBER or not 0 < int(text) <= MOST_OCTETS:
        raise RowError(f"{where}: bytes must be a whole number from 1 to 2^40, not {_shape(value)}")
    return int(text)


def _parquet(stream: BinaryIO) -> tuple[int, Iterator[tuple[int, list[Any]]]]:
    """Return the number of rows of a Parquet file, and its rows, first the names of its columns."""
    from pushout.extras import need

    parquet = need("pyarrow.parquet", "a recording in Parquet")
    arrow = need("pyarrow", "a recording in Parquet")
    damaged = (arrow.ArrowException, OSError)
    try:
        file = parquet.ParquetFile(stream)
        count = file.metadata.num_rows
    except damaged:
        raise RowError(DAMAGED) from None
    if count > MOST_PACKETS:
        raise RowError(f"has {count} rows; a recording must have at most {MOST_PACKETS} packets")
    return count, _parquet_rows(file, damaged)


DAMAGED = "is not a Parquet file, or is damaged"


def _parquet_rows(file: Any, damaged: tuple[type[Exception], ...]) -> Iterator[tuple[int, list[Any]]]:
    """Yield the rows of a Parquet file, first the names of its columns."""
    try:
        names = [name for name in file.schema_arrow.names if name in COLUMNS]
        yield 0, names
        number = 0
        for batch in file.iter_batches(columns=names):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                number += 1
                yield number, list(row)
    except damaged:
        raise RowError(DAMAGED) from None


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
