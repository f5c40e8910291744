"""The headroom that lines of a switch need, as `explain` computes it, compared with what they are given."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

from pushout.answer.columns import Columns, Kind
from pushout.answer.frame import Tabled
from pushout.errors import InternalError, QuestionError
from pushout.excerpt import quoted
from pushout.options import Headroom
from pushout.simulate import Job
from pushout.source import load
from pushout.switch.table import Amount, Line, made, read

Verdict = Literal["enough", "too little", "shared"]
"""The words of `explain`; a shared pool is enough for some of its lines, but not for all at once."""

SPEED_M_PER_S = 198e6
"""Speed of light in a cable, as SONiC has it."""

PS_PER_S = 10**12

UDP_HEADERS = 28
"""Bytes of the IP and UDP headers of a packet."""

AT_ONCE = 64
"""Lines in one scenario; each is explained by itself, so their number only affects the time."""

SENTENCE = re.compile(
    r'memory "chip", class "lossless" over "in(\d+)": the link needs (\d+) cells of headroom, and may take \d+: '
    r"(enough|too little|shared)(?:: the \d+ cells of its pool are enough for (\d+) of)?"
)
"""A sentence of `explain` about headroom: the line, its need, the verdict, the lines that its pool suffices for."""

SHORTENED: dict[str, dict[str, Any]] = {
    "cable": {"cable_m": 0.0},
    "response": {"response_bytes": 0},
    "other": {"other": 0},
}
"""The terms of a need, and the line without each."""

PACKETS = "packets"
"""What no other term explains: the packet that causes the pause, the one that the sender has begun, the pause frame."""


@dataclass(frozen=True)
class Row:
    """A line with the headroom that it needs and is given, in cells, and the verdict."""

    line: Line
    need: int
    terms: Mapping[str, int]
    """Bytes of each term of the need: cable, response of the sender, other traffic, packets of the class."""
    given: int | None
    lines: int
    """Number of lines of the shared pool, or 1."""
    lines_at_once: int | None
    """Number of these lines that can use their headroom at once, counted from the lines that need most."""

    @property
    def verdict(self) -> Verdict | None:
        """Return the verdict as in `explain`; None if the table does not say what is given."""
        if self.given is None or self.lines_at_once is None:
            return None
        if self.given < self.need:
            return "too little"
        return "shared" if self.lines_at_once < self.lines else "enough"

    @property
    def dominant(self) -> str:
        """Return the name of the largest term."""
        return max(self.terms, key=self.terms.__getitem__)

    @property
    def document(self) -> dict[str, Any]:
        """Return the row as printed by `pushout switch headroom --json`."""
        cell, pool = self.line.cell, self.line.pool_size
        size = pool.bytes(cell) if self.line.pool else None
        given = None if self.line.given is None else self.line.given.bytes(cell)
        return {
            "name": self.line.name,
            "need_bytes": self.need * cell,
            "need_cells": self.need,
            "given_bytes": given if given is None or size is None else min(given, size),
            "given_cells": self.given,
            "share": self.line.pool or None,
            "share_bytes": size,
            "share_ratio": self.need * cell / size if size else None,
            "lines": self.lines,
            "lines_at_once": self.lines_at_once,
            TERMS: dict(self.terms),
            "dominant": self.dominant,
            "verdict": self.verdict,
        }


TERMS = "terms_bytes"

KINDS: dict[str, Kind] = {
    **{"given_bytes": "int64", "given_cells": "int64", "lines_at_once": "int64", "verdict": "string"},
    **{"share": "string", "share_bytes": "int64", "share_ratio": "float64"},
}
"""Kinds of columns that may be empty."""


@dataclass(frozen=True, eq=False, repr=False)
class HeadroomResult(Tabled):
    """The headroom of every line of a table."""

    rows: list[Row]

    def _brief(self) -> str:
        """Count the rows and those with too little headroom."""
        short = sum(row.verdict == "too little" for row in self.rows)
        unknown = sum(row.verdict is None for row in self.rows)
        of_unknown = f", {unknown} of which only the need is known" if unknown else ""
        return f"{len(self.rows)} rows, {short} with too little headroom{of_unknown}"

    @cached_property
    def columns(self) -> Columns:  # type: ignore[override]
        """The rows as a table, with a column for each term."""
        rows = [_flat(row.document) for row in self.rows]
        return Columns.of({name: [row[name] for row in rows] for name in rows[0]}, KINDS)

    @property
    def document(self) -> dict[str, Any]:
        """As printed by `pushout switch headroom --json`."""
        return {"rows": [row.document for row in self.rows]}


def _flat(document: Mapping[str, Any]) -> dict[str, Any]:
    """Replace the terms of a row by a value each."""
    terms = {f"{name}_bytes": number for name, number in document[TERMS].items()}
    return {**{name: value for name, value in document.items() if name != TERMS}, **terms}


def headroom(asked: Headroom) -> HeadroomResult:
    """Compare the headroom of the lines of a table with their need."""
    given = {"mtu": asked.mtu, "smallest": asked.smallest, "other": asked.other, "cell": asked.cell}
    if isinstance(asked.table, str | os.PathLike):
        return compared(read(asked.table, given))
    return compared(made(asked.table, given))


def compared(lines: Sequence[Line]) -> HeadroomResult:
    """Compute the need of every line, and how many lines a shared pool carries at once."""
    pools = _pools(lines)
    needs = _needs([variant for line in lines for variant in _variants(line).values()])
    at_once = {name: _at_once(pool) for name, pool in pools.items()}
    return HeadroomResult([_row(line, needs, pools, at_once) for line in lines])


def _row(line: Line, needs: Mapping["_Key", int], pools: Mapping[str, list[Line]], at_once: Mapping[str, int]) -> Row:
    variants = {name: needs[_key(variant)] for name, variant in _variants(line).items()}
    need, given = variants.pop(PACKETS), None if line.given is None else line.given.cells(line.cell)
    terms = {name: (need - without) * line.cell for name, without in variants.items()}
    terms[PACKETS] = need * line.cell - sum(terms.values())
    if given is None or not line.pool:
        return Row(line, need, terms, given, 1, None if given is None else int(given >= need))
    given = min(given, line.pool_size.cells(line.cell))
    return Row(line, need, terms, given, len(pools[line.pool]), at_once[line.pool])


def _variants(line: Line) -> dict[str, Line]:
    """Return the line itself, under the name of the last term, and the line without each of the other terms."""
    return {PACKETS: line, **{name: replace(line, **less) for name, less in SHORTENED.items()}}


def _pools(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Group the lines with shared headroom by their pool."""
    pools: dict[str, list[Line]] = {}
    for line in lines:
        if not line.pool:
            continue
        members = pools.setdefault(line.pool, [])
        first = members[0] if members else line
        for column, own, other in (("cell", line.cell, first.cell), ("share_size", line.pool_size, first.pool_size)):
            if own != other:
                raise QuestionError(
                    f"{line.at}: {column} must be that of the first row of pool {quoted(line.pool)} ({first.at})"
                )
        members.append(line)
    return pools


_Key = tuple[float, ...]


def _key(line: Line) -> _Key:
    """Return all that the need of a line depends on."""
    sizes = (line.mtu, line.smallest, line.other, line.cell)
    return (line.rate_bps, line.cable_m, *sizes, line.response_bytes)


def _needs(lines: Iterable[Line]) -> dict[_Key, int]:
    """Return the cells that each line needs."""
    by_cell: dict[int, dict[_Key, Line]] = {}
    for line in lines:
        by_cell.setdefault(line.cell, {})[_key(line)] = line
    found: dict[_Key, int] = {}
    for distinct in by_cell.values():
        keys = list(distinct)
        for first in range(0, len(keys), AT_ONCE):
            some = keys[first : first + AT_ONCE]
            answers = _explained(scenario([distinct[key] for key in some], PRIVATE))
            found |= {key: answer.need for key, answer in zip(some, answers, strict=True)}
    return found


PRIVATE = Amount(1, in_cells=True)
"""Headroom of a class where only the need matters."""


def _at_once(pool: Sequence[Line]) -> int:
    """Return the number of lines of a pool that can use its headroom at once."""
    size = pool[0].pool_size.cells(pool[0].cell)
    if size == 0:
        return 0
    answer = next(_explained(scenario(pool, Amount(size, in_cells=True), shared=True)))
    return {"enough": len(pool), "shared": answer.lines_at_once, "too little": 0}[answer.verdict]


class _Answer(NamedTuple):
    """What `explain` says of the headroom of a line."""

    need: int
    verdict: str
    lines_at_once: int


def _explained(asked: Mapping[str, Any]) -> Iterator[_Answer]:
    """Yield the answers of `explain` about the lines of a scenario, in their order."""
    found = {}
    for sentence in Job(load(asked)).scenario.thresholds():
        if match := SENTENCE.match(sentence):
            number, need, verdict, at_once = match.groups()
            found[int(number)] = _Answer(int(need), verdict, int(at_once or 0))
    if len(found) != len(asked["link"]) - 1:
        raise InternalError(f"explain describes the headroom of {len(found)} lines, not of {len(asked['link']) - 1}")
    return (found[number] for number in range(len(found)))


def scenario(lines: Sequence[Line], xoff: Amount, *, shared: bool = False) -> dict[str, Any]:
    """Return a scenario in which these lines bring a class that pauses into one memory.

    Each class gets `xoff` of headroom; if it is `shared`, all lines together.
    """
    cell, amount = lines[0].cell, f"{xoff.number} {'cells' if xoff.in_cells else 'bytes'}"
    pool = {"side": "ingress", **({"headroom": amount} if shared else {})}
    size = (xoff.cells(cell) * (1 if shared else len(lines)) + Amount(ROOM).cells(cell)) * cell
    ports = {name: {"memory": "chip"} for name in ("out", *(f"in{number}.back" for number in range(len(lines))))}
    return {
        "name": "headroom",
        "duration": "1 us",
        "adaptation": {"kind": "packet"},
        "node": [{"name": "switch", "kind": "router"}, {"name": "sink", "kind": "host"}, *_hosts(lines)],
        "link": [
            {"name": "out", "from": "switch", "to": "sink", "rate": f"{lines[0].rate_bps} b/s", "delay": "0 s"},
            *_links(lines),
        ],
        "port": ports,
        "memory": {
            "chip": {
                "size": f"{size} bytes",
                "cell": f"{cell} bytes",
                "pool": {"lossless": pool, "lossy": {}},
            }
        },
        "queue": {
            "lossless": {"pool": "lossless", "pause": {"xoff": amount, "xon": "0 cells"}},
            "rest": {"pool": "lossy"},
        },
        "flow": list(_flows(lines)),
    }


ROOM = 2**18
"""Bytes of a memory beside its headroom, more than the largest frames; the need does not depend on them."""


def _hosts(lines: Sequence[Line]) -> Iterator[dict[str, Any]]:
    """Yield the senders; the time in which one obeys is its latency."""
    for number, line in enumerate(lines):
        latency = -(-line.response_bytes * 8 * PS_PER_S // line.rate_bps)
        yield {"name": f"a{number}", "kind": "host", "latency": f"{latency} ps"}


def _links(lines: Sequence[Line]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines):
        delay = round(line.cable_m / SPEED_M_PER_S * PS_PER_S)
        ends = {"name": f"in{number}", "from": f"a{number}", "to": "switch"}
        yield {**ends, "rate": f"{line.rate_bps} b/s", "delay": f"{delay} ps"}


def _flows(lines: Sequence[Line]) -> Iterator[dict[str, Any]]:
    """Yield the flows of the class, with its smallest and largest frames, and other traffic against them."""
    for number, line in enumerate(lines):
        sizes = dict.fromkeys((line.mtu, line.smallest))
        for size in sizes:
            yield _flow(f"f{number}-{size}", (f"a{number}", "sink"), "lossless", size)
        if line.other:
            yield _flow(f"g{number}", ("sink", f"a{number}"), "rest", line.other)


def _flow(name: str, ends: tuple[str, str], queue: str, frame: int) -> dict[str, Any]:
    source = {"kind": "cbr", "rate": "1 Mb/s", "size": f"{frame - UDP_HEADERS} bytes"}
    udp = {"kind": "udp"}
    return {"name": name, "from": ends[0], "to": ends[1], "queue": queue, "source": source, "transport": udp}
