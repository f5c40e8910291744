"""Find the configurations of a memory that explain what acceptance tests have counted.

The bounds of all counts together leave a range, or nothing (`proposal`). They only propose: the simulator counts with
each proposal, and what it counts differently is its residual.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from pushout.answer.columns import Columns
from pushout.answer.frame import Tabled
from pushout.errors import PushoutError, QuestionError
from pushout.options import Explain, Predict
from pushout.simulate import Progress
from pushout.source import load
from pushout.switch.counts import Count, check, made, missing, read
from pushout.switch.predict import check_within
from pushout.switch.predict import predict as ask_predict
from pushout.switch.proposal import ALPHAS, ANY, MOST_CELLS, Proposal, Range, proposals
from pushout.switch.sonic import CELLS

TOLERANCES = (0, 1, 2, 4, 8, 16)
"""Packets by which counts may differ: acceptance tests allow 2 to 4."""

MOST_TOLERANCE = 1000


@dataclass(frozen=True)
class Configuration:
    """A configuration that explains counts; ranges are in cells."""

    alpha: Fraction
    cells: tuple[int, ...]
    """The sizes of cells, in bytes, with which packets take equally many cells."""
    reserved: Range
    shared: Range
    headroom: Range | None
    mark: Range | None
    xon: Range | None
    example: tuple[int, int]
    """Reserved and shared room of one configuration in these ranges: the one that the simulator has tried."""
    residuals: Mapping[str, int]
    """What the simulator counts with the example, less what was measured."""

    @property
    def worst(self) -> int:
        """Return the largest residual."""
        return _worst(self.residuals)

    @property
    def document(self) -> dict[str, Any]:
        """Return the configuration as printed by `pushout switch explain --json`."""
        ranges = {"headroom": self.headroom, "mark": self.mark, "xon": self.xon}
        reserved, shared = self.example
        return {
            "alpha": float(self.alpha),
            "cell_bytes": list(self.cells),
            "reserved_cells": list(self.reserved),
            "shared_cells": list(self.shared),
            **{f"{name}_cells": list(found) for name, found in ranges.items() if found is not None},
            "example": {"reserved_cells": reserved, "shared_cells": shared},
            "residuals": dict(self.residuals),
        }


@dataclass(frozen=True)
class Explanation:
    """The configurations that explain the counts of a class."""

    name: str
    tolerance: int
    """Packets by which counts may differ so that a configuration explains them."""
    configurations: list[Configuration]
    missing: str = ""
    """The name of a count without which that of a later line says nothing."""

    @property
    def verdict(self) -> str:
        """Return `one`, `several` or `none`: whether the counts tell configurations apart."""
        if not self.configurations:
            return "none"
        only = self.configurations[0]
        return "one" if len(self.configurations) == 1 and only.reserved.low == only.reserved.high else "several"

    @property
    def note(self) -> str:
        """Say what the counts leave open, and which count would decide."""
        if not self.configurations:
            return f"no α from {ALPHAS[0]} to {ALPHAS[-1]} explains the counts within {self.tolerance} packets"
        open_ = [name for name, differ in self._open().items() if differ]
        within = f" within {self.tolerance} packets" if self.tolerance else ""
        if not open_:
            return f"one configuration explains the counts{within}"
        if open_ == ["cell"] and len(self.configurations) == 1:
            sizes = "cells of each of these sizes give them, as packets of one size do not tell them apart"
            return f"one configuration explains the counts{within}; {sizes}"
        line = self.missing or "a second line filled after the first (drop.2, xoff.2)"
        advice = {
            "alpha": f"count {line}, or give pool",
            "reserved": "count fill, or more lines in turn",
            "cell": "count with packets of two sizes, or give cell",
        }
        return f"several configurations explain the counts{within}; open: {', '.join(open_)}; {advice[open_[0]]}"

    def _open(self) -> dict[str, bool]:
        return {
            "alpha": len({each.alpha for each in self.configurations}) > 1,
            "reserved": any(each.reserved.low < each.reserved.high for each in self.configurations),
            "cell": len({each.cells for each in self.configurations}) > 1 or len(self.configurations[0].cells) > 1,
        }

    @property
    def document(self) -> dict[str, Any]:
        """Return the explanation as printed by `pushout switch explain --json`."""
        return {
            "class": self.name,
            "verdict": self.verdict,
            "note": self.note,
            "tolerance": self.tolerance,
            "configurations": [each.document for each in self.configurations],
        }


@dataclass(frozen=True, eq=False, repr=False)
class ExplainResult(Tabled):
    """The configurations that explain measured counts, for each class."""

    explanations: list[Explanation]

    def _brief(self) -> str:
        """Count the configurations."""
        return ", ".join(f"{each.name or 'counts'}: {each.verdict}" for each in self.explanations)

    @cached_property
    def columns(self) -> Columns:  # type: ignore[override]
        """The configurations as a table."""
        rows = [
            (each.name, float(found.alpha), *found.reserved, *found.shared, found.worst)
            for each in self.explanations
            for found in each.configurations
        ]
        names = ("class", "alpha", "reserved_low", "reserved_high", "shared_low", "shared_high", "worst")
        return Columns.of({name: [row[place] for row in rows] for place, name in enumerate(names)}, {})

    @property
    def document(self) -> dict[str, Any]:
        """As printed by `pushout switch explain --json`."""
        return {"classes": [each.document for each in self.explanations]}


def explain(asked: Explain) -> ExplainResult:
    """Find the configurations that explain counts; `pushout.chip_explain` documents the arguments."""
    given, cell, pool, tolerance = asked.counts, asked.cell, asked.pool, asked.tolerance
    counts = read(given, asked.packet) if isinstance(given, str | os.PathLike) else made(given, asked.packet)
    check_within("cell", cell, 1, 65_535)
    check_within("pool", pool, 1, MOST_CELLS)
    check_within("tolerance", tolerance, 0, MOST_TOLERANCE)
    classes = dict.fromkeys(count.of for count in counts)
    sizes = sorted({cell} if cell is not None else set(CELLS.values()))
    known = ANY if pool is None else Range(pool, pool)
    of_classes = {name: [count for count in counts if count.of == name] for name in classes}
    for own in of_classes.values():
        check(own)
    return ExplainResult(
        [_explanation(name, own, sizes, known, tolerance, asked.progress) for name, own in of_classes.items()]
    )


def _explanation(
    name: str,
    counts: Sequence[Count],
    sizes: Sequence[int],
    pool: Range,
    tolerance: int | None,
    progress: Progress | None,
) -> Explanation:
    """Explain the counts of a class within the tolerance, by default within the least that is enough."""
    tried = TOLERANCES if tolerance is None else (tolerance,)
    for allowed in tried:
        found = list(proposals(counts, sizes, pool, allowed))
        if found:
            tried_out: list[Configuration] = []
            for proposal in found:
                if progress:
                    progress(len(tried_out), len(found))
                tried_out.append(_tried(proposal, counts))
            ordered = sorted(tried_out, key=lambda each: (each.worst, -each.alpha))
            return Explanation(name, allowed, ordered, missing(counts))
    return Explanation(name, tried[-1], [])


def _tried(proposal: Proposal, counts: Sequence[Count]) -> Configuration:
    """Count with the simulator what examples of a proposal give, until one gives all counts, and keep the best."""
    best: tuple[tuple[int, int], dict[str, int]] | None = None
    for example in proposal.rooms.examples:
        residuals = dict(_residuals(proposal, *example, counts))
        if best is None or _worst(residuals) < _worst(best[1]):
            best = example, residuals
        if not _worst(residuals):
            break
    assert best is not None  # noqa: S101  (a proposal has examples)
    return Configuration(
        alpha=proposal.alpha,
        cells=proposal.cells,
        reserved=proposal.rooms.reserved,
        shared=proposal.rooms.shared,
        headroom=proposal.headroom,
        mark=proposal.mark,
        xon=proposal.xon,
        example=best[0],
        residuals=best[1],
    )


def _worst(residuals: Mapping[str, int]) -> int:
    return max(map(abs, residuals.values()), default=0)


def _residuals(proposal: Proposal, reserved: int, shared: int, counts: Sequence[Count]) -> Iterator[tuple[str, int]]:
    """Yield what the simulator counts, less what was measured."""
    for packet in dict.fromkeys(count.packet for count in counts):
        own = [count for count in counts if count.packet == packet]
        for lines in dict.fromkeys(_lines(own)):
            found = _predicted(scenario(proposal, reserved, shared, lines), own[0], lines)
            for count in own:
                name = _name(count, found)
                if name is not None and (count.together == 1 or count.together == lines):
                    label = count.name if len({other.packet for other in counts}) == 1 else f"{count.name}@{packet}"
                    yield label, found[name] - count.value


def _predicted(asked: Mapping[str, Any], count: Count, lines: int) -> dict[str, int]:
    """Return what the simulator counts; a message names the counts, as the user has not written this scenario."""
    try:
        expected = ask_predict(Predict(load(asked), packet=count.packet, lines=lines)).expected
    except PushoutError as error:
        raise QuestionError(f"{count.at}: no bench can repeat these counts: ", error) from None
    return {each.name: each.value for each in expected}


def _lines(counts: Iterable[Count]) -> Iterator[int]:
    """Yield the numbers of lines that the bench needs for these counts."""
    counts = list(counts)
    yield max((count.line for count in counts), default=1)
    yield from (count.together for count in counts if count.together > 1)


ALIKE = {"xoff": ("xoff", "drop"), "loss": ("loss", "drop"), "drop": ("drop", "xoff")}
"""Names of one count for classes with headroom and without."""


def _name(count: Count, found: Mapping[str, int]) -> str | None:
    """Return the name of a count as `chip predict` calls it; a class without headroom has drop for xoff."""
    ending = f".{count.line}" if count.line > 1 else ".together" if count.together > 1 else ""
    kinds = ALIKE.get(count.kind, (count.kind,))
    return next((name for kind in kinds if (name := f"{CLASS}.{kind}{ending}") in found), None)


CLASS = "class"


def scenario(proposal: Proposal, reserved: int, shared: int, lines: int) -> dict[str, Any]:
    """Return a scenario in which a class has this configuration."""
    headroom = 0 if proposal.headroom is None else proposal.headroom.low
    size = shared + lines * (reserved + headroom)
    queue: dict[str, Any] = {"pool": "pool", "alpha": float(proposal.alpha), "reserved": f"{reserved} cells"}
    if headroom:
        xon = 0 if proposal.xon is None else proposal.xon.low
        queue["pause"] = {"xoff": f"{headroom} cells", "xon": f"{xon} cells"}
    port: dict[str, Any] = {"memory": "chip"}
    if proposal.mark is not None:
        port["admission"] = {"policy": "step", "action": "mark", "threshold": f"{proposal.mark.low} cells"}
    numbers = range(lines)
    udp = {"source": {"kind": "cbr", "rate": "1 Mb/s", "size": "36 bytes"}, "transport": {"kind": "udp"}}
    return {
        "name": "chip",
        "duration": "1 ns",
        "adaptation": {"kind": "packet"},
        "node": [
            {"name": "switch", "kind": "router"},
            *({"name": f"{end}{line}", "kind": "host"} for end in ("source", "sink") for line in numbers),
        ],
        "link": [
            *(_link(f"in{line}", (f"source{line}", "switch")) for line in numbers),
            *(_link(f"out{line}", ("switch", f"sink{line}")) for line in numbers),
        ],
        "port": {f"out{line}": port for line in numbers},
        "memory": {
            "chip": {
                "size": f"{max(size, 1)} cells",
                "cell": f"{proposal.cells[0]} bytes",
                "admission": {"policy": "dynamic-threshold", "alpha": 1.0},
                "pool": {"pool": {"side": "ingress" if headroom else "egress"}},
            }
        },
        "queue": {CLASS: queue},
        "flow": [
            {"name": f"flow{line}", "from": f"source{line}", "to": f"sink{line}", "queue": CLASS, **udp}
            for line in numbers
        ],
    }


def _link(name: str, ends: tuple[str, str]) -> dict[str, Any]:
    return {"name": name, "from": ends[0], "to": ends[1], "rate": "100 Gb/s", "delay": "0 s"}
