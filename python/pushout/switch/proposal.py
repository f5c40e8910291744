"""Bound the rooms of a memory by counts of queues, and propose the configurations within these bounds.

Each count of a queue bounds the shared room B of its pool, for each α and each reserved room r: a packet of c cells is
accepted if s < α · (B − s), where s cells of shared room are in use, and refused from the next one on.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pushout.switch.counts import LIMITED, Count

ALPHAS = tuple(Fraction(2) ** exponent for exponent in range(-7, 4))
"""α = 2^n as switches are configured: from 1/128 to 8."""

MOST_CELLS = 10**9
"""Cells of a memory that is not bounded by a count."""

MOST_RESERVED = 10**6
"""Cells of reserved room that are tried: a queue reserves a few packets."""

MOST_TRIED = 5
"""Examples of a proposal: some counts, as those of a line of which an earlier one is missing, bound nothing."""

Cells = npt.NDArray[np.int64]
"""A number of cells for each reserved room."""


class Range(NamedTuple):
    """The integers from the first to the last."""

    low: int
    high: int

    def __and__(self, other: "Range") -> "Range":
        """Return the integers in both ranges."""
        return Range(max(self.low, other.low), min(self.high, other.high))

    @property
    def is_empty(self) -> bool:
        """Return whether there is none."""
        return self.low > self.high

    @property
    def middle(self) -> int:
        """Return the integer in the middle."""
        return (self.low + self.high) // 2


ANY = Range(0, MOST_CELLS)


class Rooms(NamedTuple):
    """Reserved and shared rooms with which counts agree: their ranges, and pairs of one of each."""

    reserved: Range
    shared: Range
    examples: list[tuple[int, int]]


class Proposal(NamedTuple):
    """Ranges of a configuration, before the simulator has tried it."""

    alpha: Fraction
    cells: tuple[int, ...]
    rooms: Rooms
    headroom: Range | None
    mark: Range | None
    xon: Range | None


def proposals(counts: Sequence[Count], sizes: Sequence[int], pool: Range, allowed: int) -> Iterator[Proposal]:
    """Yield the proposals: for each α, and each way in which packets take cells."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for size in sizes:
        alike.setdefault(tuple(-(-count.packet // size) for count in counts), []).append(size)
    for taken, cells in alike.items():
        rows = list(zip(counts, taken, strict=True))
        headroom, mark, xon = _headroom(rows, allowed), _mark(rows, allowed), _xon(rows)
        if any(found is not None and found.is_empty for found in (headroom, mark)):
            continue
        reserved = _reserved(rows, allowed)
        for alpha in ALPHAS:
            if (rooms := _rooms(rows, alpha, reserved, pool, allowed)) is not None:
                yield Proposal(alpha, tuple(cells), rooms, headroom, mark, xon)


Rows = Sequence[tuple[Count, int]]
"""Counts, each with the cells of its packets."""


def _of(rows: Rows, kind: str, line: int = 1, together: int = 1) -> Iterator[tuple[Count, int]]:
    return ((count, size) for count, size in rows if (count.kind, count.line, count.together) == (kind, line, together))


def _reserved(rows: Rows, allowed: int) -> Range:
    """Return the range of reserved room: all queues hold it, and `fill` counts its packets."""
    found = ANY
    for count, size in rows:
        if count.kind == "fill":
            found &= Range(max(0, (count.value - allowed) * size), (count.value + allowed + 1) * size - 1)
        elif count.kind in LIMITED:
            found &= Range(0, (count.value + allowed + 1) * size - 1)
    return found


def _headroom(rows: Rows, allowed: int) -> Range | None:
    """Return the range of headroom of a queue, if it is counted: by itself, or as packets after the pause."""
    found: Range | None = None
    for count, size in rows:
        value = None
        if count.kind == "headroom":
            value = count.value
        elif count.kind == "loss":
            before = next((other for other, taken in _of(rows, "xoff") if taken == size), None)
            value = None if before is None else count.value - before.value
        if value is not None:
            bounds = Range(max(0, (value - allowed) * size), (value + allowed + 1) * size - 1)
            found = bounds if found is None else found & bounds
    return found


def _mark(rows: Rows, allowed: int) -> Range | None:
    """Return the range of the threshold for marks: a packet is marked if it meets more cells."""
    found: Range | None = None
    for count, size in _of(rows, "mark"):
        bounds = Range(max(0, (count.value - 1 - allowed) * size), (count.value + allowed) * size - 1)
        found = bounds if found is None else found & bounds
    return found


def _xon(rows: Rows) -> Range | None:
    """Return the occupancy at which a sender may resume, if there is no xon_offset; None if counts contradict that."""
    found: Range | None = None
    for count, size in rows:
        before = next((other for other, _ in _of(rows, "xoff") if other.packet == count.packet), None)
        if count.kind == "xon" and before is not None:
            rest = max(0, before.value + 1 - count.value) * size
            bounds = Range(rest, rest + size - 1)
            found = bounds if found is None else found & bounds
    return None if found is None or found.is_empty else found


def _rooms(rows: Rows, alpha: Fraction, reserved: Range, pool: Range, allowed: int) -> Rooms | None:
    """Return the reserved and shared rooms with which all counts of queues agree; None if there are none."""
    own = np.arange(reserved.low, min(reserved.high, MOST_RESERVED) + 1, dtype=np.int64)
    low, high = np.full_like(own, pool.low), np.full_like(own, pool.high)
    for count, size in rows:
        value = _before_headroom(count, size, rows)
        used = None if value is None else _used_before(count, size, rows, own)
        if value is None or used is None:
            continue
        least, most = _bounds(Range(value - allowed, value + allowed), size, alpha, own, count.together)
        low, high = np.maximum(low, least + used), np.minimum(high, most + used)
    fits = low <= high
    if not fits.any():
        return None
    own, low, high = own[fits], low[fits], high[fits]
    last, steps = len(own) - 1, MOST_TRIED - 1
    tried = dict.fromkeys(last * step // steps for step in range(MOST_TRIED))
    examples = [(int(own[place]), _example(Range(int(low[place]), int(high[place])))) for place in tried]
    return Rooms(Range(int(own[0]), int(own[-1])), Range(int(low.min()), int(high.max())), examples)


def _example(shared: Range) -> int:
    """Return a shared room of a range; one without a bound has its least."""
    return shared.middle if shared.high < MOST_CELLS else shared.low


def _before_headroom(count: Count, size: int, rows: Rows) -> int | None:
    """Return the packets that a queue holds in reserved and shared room."""
    if count.kind in ("drop", "xoff"):
        return count.value
    if count.kind != "loss":
        return None
    taken = next((other.value for other, cells in _of(rows, "headroom") if cells == size), None)
    return None if taken is None else count.value - taken


def _used_before(count: Count, size: int, rows: Rows, reserved: Cells) -> Cells | None:
    """Return the shared room that lines before hold; None if one of them was not counted."""
    used = np.zeros_like(reserved)
    for line in range(1, count.line):
        before = next((other.value for other, cells in _of(rows, count.kind, line) if cells == size), None)
        if before is None:
            return None
        used += np.maximum(0, before * size - reserved)
    return used


def _bounds(values: Range, size: int, alpha: Fraction, reserved: Cells, together: int) -> tuple[Cells, Cells]:
    """Return the least and the most free shared room with which a queue ends at one of these numbers of packets.

    Of several lines that fill together the order of packets at one instant decides about one packet more or less.
    """
    slack = int(together > 1)
    over, under = alpha.numerator, alpha.denominator + together * alpha.numerator  # (1 + N α) / α, upside down
    low, high = max(0, values.low - slack), values.high + slack

    def held(packets: int) -> Cells:
        return np.maximum(0, packets * size - reserved)

    shares = np.maximum(held(low - 1) * under // over + 1, held(low) + (together - 1) * held(low - 1))
    least = np.where(low * size <= reserved, 0, shares)
    most = np.maximum(held(high) * under // over, together * held(high + 1) - 1)
    return least, np.where((high + 1) * size <= reserved, -1, most)  # the next packet would find reserved room
