"""What acceptance tests of a switch have to count: packets until a drop, a pause, a resumption, a loss and a mark."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pushout.answer.columns import Columns
from pushout.answer.frame import Tabled
from pushout.errors import Argument, QuestionError
from pushout.options import Predict
from pushout.quantity import grouped
from pushout.simulate import check_whole
from pushout.source import Source, load, overrides
from pushout.switch import sonic
from pushout.switch.bench import LEAST_PACKET, MOST_PACKET, Bench, Queue
from pushout.switch.subject import Subject, read

MOST_LINES = 64
"""Lines that fill queues one after another."""


@dataclass(frozen=True)
class Expected:
    """A number that a test has to count, in packets, with the margin that rounding decides."""

    name: str
    value: int
    cells: int
    margin: int
    why: str

    @property
    def document(self) -> dict[str, Any]:
        """Return the number as printed by `pushout switch predict --json`."""
        return {
            "name": self.name,
            "value": self.value,
            "unit": "packets",
            "cells": self.cells,
            "margin": self.margin,
            "why": self.why,
        }


@dataclass(frozen=True, eq=False, repr=False)
class ChipResult(Tabled):
    """The numbers that the acceptance tests of a switch have to count."""

    packet: int
    """Bytes of the packets."""
    expected: list[Expected]
    left_out: Sequence[str] = ()
    """What the tables of a switch contain and the bench does not, a line for each thing."""

    def _brief(self) -> str:
        """Count the numbers."""
        return f"{len(self.expected)} numbers with packets of {self.packet} bytes"

    def __getitem__(self, name: str) -> int:
        """Return the number of this name."""
        for each in self.expected:
            if each.name == name:
                return each.value
        from pushout import _core

        raise QuestionError(_core.unknown("number", name, [each.name for each in self.expected]))

    @cached_property
    def columns(self) -> Columns:  # type: ignore[override]
        """The numbers as a table."""
        rows = [each.document for each in self.expected]
        return Columns.of({name: [row[name] for row in rows] for name in rows[0]}, {})

    @property
    def document(self) -> dict[str, Any]:
        """As printed by `pushout switch predict --json`."""
        left_out = {"left_out": list(self.left_out)} if self.left_out else {}
        return {"packet_bytes": self.packet, "expected": [each.document for each in self.expected], **left_out}


def _profile(asked: Predict, allow_files: Sequence[Path]) -> tuple[Source, sonic.Imported | None]:
    """Read a scenario, or tables of SONiC with cells of `cell` bytes; return as well what these contain."""
    given, qos, cell = asked.profile, asked.qos, asked.cell
    path = Path(given) if isinstance(given, str | os.PathLike) and "\n" not in str(given) else None
    if path is not None and sonic.looks_like(path):
        check_within("cell", cell, 1, MOST_PACKET)
        found = sonic.read([path, *([Path(qos)] if qos is not None else [])], cell)
        return load(found.scenario), found
    source = load(given, allow_files=allow_files)
    for name, value in (("qos", qos), ("cell", cell)):
        if value is not None:
            raise QuestionError(Argument(name), " must be left out unless the profile is a file with tables of SONiC")
    return source, None


def predict(asked: Predict, allow_files: Sequence[Path] = ()) -> ChipResult:
    """Count what every class holds on a bench of its own; `pushout.chip_predict` documents the arguments."""
    packet, lines = asked.packet, asked.lines
    source, tables = _profile(asked, allow_files)
    check_within("packet", packet, LEAST_PACKET, MOST_PACKET)
    check_within("lines", lines, 1, MOST_LINES)
    subjects = read(source, overrides(asked.set))
    if tables is not None:  # each class has a bench of its own, and so the policy of its queue alone
        subjects = [replace(subject, marking=_marking(tables, subject.name)) for subject in subjects]
    names = [subject.name for subject in subjects]
    expected: list[Expected] = []
    for subject in subjects:
        of_memory = names.count(subject.name) > 1
        label = f"{subject.memory}.{subject.name}" if of_memory else subject.name
        expected += _Counts(label, Bench(subject, packet), lines or min(subject.lines, MOST_LINES)).all()
    return ChipResult(packet, expected, () if tables is None else tables.left_out)


def _marking(tables: sonic.Imported, name: str) -> dict[str, Any] | None:
    """Return the policy of a class whose queue marks."""
    policy = tables.admission.get(name)
    return policy if policy is not None and policy["action"] == "mark" else None


def check_within(name: str, value: int | None, least: int, most: int) -> None:
    """Refuse an argument that is given and not an integer of a range."""
    if value is None:
        return
    check_whole(name, value)
    if not least <= value <= most:
        raise QuestionError(Argument(name), f" must be from {least} to {most}, not {value}")


@dataclass(frozen=True)
class _Counts:
    """The numbers of a class on the bench, with the reasons."""

    label: str
    bench: Bench
    lines: int

    @property
    def subject(self) -> Subject:
        return self.bench.subject

    @cached_property
    def alone(self) -> Queue:
        """Return the full queue of one line."""
        return self.bench.alone()

    @cached_property
    def before_pause(self) -> int:
        """Return the packets that the queue of one line holds before the next one takes headroom or is lost."""
        most = self.alone.held
        if not self.alone.headroom:
            return most
        # A packet may take the last reserved cells and headroom: two fills decide.
        guess = most - self.alone.headroom
        while guess > 0 and self.bench.fill([guess])[0].headroom:
            guess -= 1
        while guess < most and not self.bench.fill([guess + 1])[0].headroom:
            guess += 1
        return guess

    @property
    def pauses(self) -> bool:
        """Return whether the sender is stopped, or would be: the class has headroom."""
        return "pause" in self.subject.section or self.alone.headroom > 0

    def all(self) -> list[Expected]:
        """Return all numbers of the class."""
        alone = [*self._fill(), *(self._lossless() if self.pauses else self._lossy()), *self._marks()]
        return [*alone, *(self._several() if self.lines > 1 else ())]

    def _number(self, name: str, value: int, why: str, margin: int = 0) -> Expected:
        return Expected(f"{self.label}.{name}", value, value * self.bench.size, margin, why)

    def _fill(self) -> Iterator[Expected]:
        reserved = self.subject.thresholds.reserved
        if reserved:
            why = f"each queue reserves {_cells(reserved)}, and {self._packet()}"
            yield self._number("fill", reserved // self.bench.size, why)

    def _lossy(self) -> Iterator[Expected]:
        yield self._number("drop", self.alone.held, self._threshold("is lost"), self._rounding)

    def _lossless(self) -> Iterator[Expected]:
        before, headroom = self.before_pause, self.alone.held - self.before_pause
        cause = "causes the pause" if "pause" in self.subject.section else "takes headroom"
        yield self._number("xoff", before, self._threshold(cause), self._rounding)
        if pause := self.subject.section.get("pause"):
            value = self.bench.drain(before + 1)
            yield self._number(
                "xon", value, self._resumes(pause, before + 1, value), self._rounding if "xon_offset" in pause else 0
            )
        taken = _cells(headroom * self.bench.size)
        why = f"behind {grouped(before)} packets the queue takes {taken} of headroom{self._headroom_limit()}"
        yield self._number("headroom", headroom, why)
        why = f"{grouped(before)} packets before the pause and {grouped(headroom)} in headroom; the next one is lost"
        yield self._number("loss", self.alone.held, why, self._rounding)

    def _headroom_limit(self) -> str:
        """Say which limit ends the headroom of a queue."""
        pool = self.subject.pool
        limit = self.subject.section.get("pause", {}).get("xoff")
        shared = f"of which pool {pool.name} has {grouped(pool.headroom)} cells for all lines"
        return f", {shared}" if limit is None else f" (xoff is {limit}), {shared}"

    def _resumes(self, pause: dict[str, Any], held: int, value: int) -> str:
        offset = f", or at most its limit less {pause['xon_offset']}" if "xon_offset" in pause else ""
        rest = _cells((held - value) * self.bench.size)
        return (
            f"of {grouped(held)} packets these leave before the queue holds no headroom, and at most {pause['xon']}"
            f"{offset}: it then holds {rest}"
        )

    def _marks(self) -> Iterator[Expected]:
        marking = self.subject.marking
        if marking is None or not self.alone.held:
            return
        keys = ["threshold"] if marking["policy"] == "step" else ["min_threshold", "max_threshold"]
        for key, name in zip(keys, ("mark", "mark_all"), strict=False):
            queue = self.bench.fill([self.alone.held], mark=marking[key])[0]
            if not queue.marked:
                continue
            why = f"the port marks what meets a queue above {marking[key]}; {self._packet()}"
            yield self._number(name, self.alone.held - queue.marked, why, 1)
            why = (
                f"of {grouped(self.alone.held)} packets, a full queue, those are marked that leave more than "
                f"{marking[key]} behind, if the switch marks when it sends"
            )
            yield self._number(f"{name}_dequeue", queue.marked, why, 1)

    def _several(self) -> Iterator[Expected]:
        """Yield the numbers of several lines: one filled after another, and all together."""
        name = "xoff" if self.pauses else "drop"
        turns = self.bench.one_after_another(self.lines, self.alone.held)
        shared = self.subject.thresholds.shared
        for number, queue in enumerate(turns[1:], 2):
            used = sum(
                max(0, self._before(each) * self.bench.size - self.subject.thresholds.reserved)
                for each in turns[: number - 1]
            )
            why = f"the lines before hold {grouped(used)} of the {grouped(shared)} shared cells"
            yield self._number(f"{name}.{number}", self._before(queue), why, self._rounding)
        yield from self._headroom_lines(turns)
        together = self.bench.together(self.lines)
        why = f"{self.lines} lines fill their queues at one rate{self._share()}"
        yield self._number(f"{name}.together", min(map(self._before, together)), why, 1)

    @staticmethod
    def _before(queue: Queue) -> int:
        return queue.held - queue.headroom

    def _headroom_lines(self, turns: Sequence[Queue]) -> Iterator[Expected]:
        """Yield how many lines find full headroom in a pool that they share, and what the next one finds."""
        full = next((line for line, queue in enumerate(turns) if queue.headroom < turns[0].headroom), None)
        if full is None:
            return
        pool = self.subject.pool
        why = (
            f"pool {pool.name} has {grouped(pool.headroom)} cells of headroom: after {full} lines with "
            f"{grouped(turns[0].headroom * self.bench.size)} each, this room is left for the next one"
        )
        yield self._number("headroom_rest", turns[full].headroom, why)

    @property
    def _rounding(self) -> int:
        """Return 1 if the fraction of a dynamic threshold decides about a packet."""
        return int(self.subject.alpha is not None)

    def _packet(self) -> str:
        size = self.bench.size
        return f"a packet of {self.bench.packet} bytes takes {_cells(size)} of {self.subject.cell} bytes"

    def _threshold(self, follows: str) -> str:
        """Say what limits the queue of one line."""
        thresholds, pool = self.subject.thresholds, self.subject.pool
        reserved = f" and {thresholds.reserved} reserved" if thresholds.reserved else ""
        next_one, shared = f"{self._packet()}; the next one {follows}", grouped(thresholds.shared)
        alpha = self.subject.alpha
        if alpha is None:
            policy = self.subject.policy["admission"]["policy"]
            return (
                f"{policy}: at most {grouped(round(thresholds.empty))} of the {shared} shared cells of pool {pool.name}"
                f"{reserved}; {next_one}"
            )
        end = alpha * thresholds.shared / (1 + alpha)
        return (
            f"α = {alpha:g}: the queue ends at {alpha:g} · {shared} / (1 + {alpha:g}) = {end:.1f} shared "
            f"cells of pool {pool.name}{reserved}{self._earlier(end)}; {next_one}"
        )

    def _earlier(self, end: float) -> str:
        """Say which other limit ends the queue before its dynamic threshold does, which would end it at `end` cells."""
        subject = self.subject
        used = self.before_pause * self.bench.size - subject.thresholds.reserved
        if used + self.bench.size > end:
            return ""
        limits = [f"the limit of the class ({subject.section['limit']})"] if "limit" in subject.section else []
        limits += [f"pool {subject.opposite.name} on the other side"] if subject.opposite is not None else []
        return f", but {' or '.join([*limits, f'the memory ({grouped(subject.free)} cells)'])} ends it earlier"

    def _share(self) -> str:
        alpha, shared = self.subject.alpha, self.subject.thresholds.shared
        if alpha is None:
            return ""
        share = alpha * shared / (1 + self.lines * alpha)
        return f": {alpha:g} · {grouped(shared)} / (1 + {self.lines} · {alpha:g}) = {share:.1f} shared cells each"


def _cells(number: int) -> str:
    return f"{grouped(number)} cell{'s' * (number != 1)}"
