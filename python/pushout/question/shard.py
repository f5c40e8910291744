"""Parts of a sweep that processes run without contact, and the file by which `merge` puts the parts together.

Which part a run belongs to follows from the design alone: points are sorted by the hash of their overrides, so that no
part gets all points with large buffers, and then dealt in turn. If each point has a fixed number of runs, its runs are
dealt; otherwise the number follows from the point's own runs, and one part runs all of them.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pushout import kept
from pushout.cache import LARGEST
from pushout.errors import Argument, QuestionError
from pushout.excerpt import place, quoted
from pushout.options import Folder
from pushout.parsing import parsed
from pushout.question.campaign import Owned
from pushout.question.design import Design
from pushout.question.design import design as designed
from pushout.question.given import with_policies
from pushout.question.replications import Fixed
from pushout.source import Source, plain

PART = "part.json"
"""The file with the design in the folder of a part."""

MOST_PARTS = 10_000

TEXT = re.compile(r"\s*([0-9]{1,6})\s*/\s*([0-9]{1,6})\s*", re.ASCII)
"""A part as an argument, as in 1/4."""


@dataclass(frozen=True)
class Shard:
    """One of `count` parts of a sweep, counted from 1."""

    number: int
    count: int

    def __post_init__(self) -> None:
        """Refuse numbers that name no part."""
        whole = all(isinstance(each, int) and not isinstance(each, bool) for each in (self.number, self.count))
        if not whole or not 1 <= self.number <= self.count <= MOST_PARTS:
            allowed = f" must be I of N parts, with I from 1 to N and N at most {MOST_PARTS}"
            raise QuestionError(Argument("shard"), f"{allowed}, not {quoted(str(self))}")

    def __str__(self) -> str:
        """Write it as an argument of the command."""
        return f"{self.number}/{self.count}"

    @staticmethod
    def of(value: object) -> "Shard":
        """Make a shard from "1/4" or (1, 4)."""
        if isinstance(value, str) and (match := TEXT.fullmatch(value)):
            return Shard(int(match[1]), int(match[2]))
        if isinstance(value, tuple | list) and len(value) == 2:
            return Shard(*map(plain, value))
        raise QuestionError(Argument("shard"), f" must be I of N parts, as in 1/4, not {quoted(value)}")


class Split:
    """The division of a sweep's runs into parts."""

    def __init__(self, design: Design, count: int) -> None:
        self._count = count
        distinct = {point.sets for point in design.points}
        self._ranks = {sets: rank for rank, sets in enumerate(sorted(distinct, key=_hash))}
        self._points = design.points
        self._runs = design.reps.reps if isinstance(design.reps, Fixed) and not design.warmup else 0
        """The runs of each point if they are dealt, else 0."""

    def owner(self, sets: tuple[str, ...], replication: int) -> int:
        """Return the number of the part that has a replication of the point with these overrides."""
        rank = self._ranks[sets]
        return (rank * self._runs + replication if self._runs else rank) % self._count + 1

    def has(self, sets: tuple[str, ...]) -> bool:
        """Return whether a point has these overrides."""
        return sets in self._ranks

    def owned(self, number: int) -> Owned:
        """Return the rule by which a part finds its runs."""
        return lambda point, replication: self.owner(self._points[point].sets, replication) == number


def _hash(sets: tuple[str, ...]) -> bytes:
    return hashlib.sha256("\0".join(sets).encode()).digest()


def check_places(out: Folder | None, cache: Folder | None, shard: Shard) -> None:
    """Refuse places where `merge` would not find the runs of this part alone."""
    if cache is not None:
        raise QuestionError(Argument("cache"), " must be left out with ", Argument("shard"), ": ", KEPT)
    if out is None:
        return
    if "://" in os.fspath(out):
        raise QuestionError(Argument("out"), " must be a folder with ", Argument("shard"), ": ", KEPT)
    found = _number(Path(out))
    if found is not None and found != shard:
        raise QuestionError(f"{place(os.fspath(out))}: the folder holds part {found}: give part {shard} its own folder")


KEPT = "merge reads the runs of a part in its folder"


def _number(folder: Path) -> Shard | None:
    """Return which part a folder holds; None if it holds none, or a damaged one."""
    try:
        return read_part(folder).shard
    except (QuestionError, OSError):
        return None


class Part(NamedTuple):
    """The contents of `part.json`."""

    shard: Shard
    plan: Mapping[str, Any]

    @property
    def text(self) -> str:
        """Write the file: the plan, and a digest by which damage is found."""
        content = {"shard": [self.shard.number, self.shard.count], "plan": self.plan}
        return json.dumps({"digest": _digest(content), **content}, ensure_ascii=False, default=plain) + "\n"

    @property
    def question(self) -> str:
        """Return a digest of all that the parts of one sweep have in common."""
        return _digest({"count": self.shard.count, "plan": self.plan})

    def design(self) -> Design:
        """Make the design anew."""
        plan = self.plan
        design = designed({**plan["keys"], "scenario": "-"}, text=plan["text"])
        return with_policies(replace(design, scenario=Source(*plan["scenario"])), tuple(plan["policies"]))


def _digest(content: object) -> str:
    text = json.dumps(content, ensure_ascii=False, sort_keys=False, default=plain)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def part_of(design: Design, source: Source, shard: Shard) -> Part:
    """Describe a part of a sweep whose scenario has been read."""
    keys = {key: value for key, value in design.keys.items() if key != "scenario"}
    plan = {"keys": keys, "scenario": list(source), "text": design.text, "policies": list(design.policies)}
    return Part(shard, plan)


def read_part(folder: Path) -> Part:
    """Read which part a folder holds; a damaged file raises `QuestionError`."""
    try:
        table = parsed(kept.content(folder / PART, LARGEST))
        digest = table.pop("digest")
        if digest != _digest(table):
            raise ValueError(digest)
        return Part(Shard.of(table["shard"]), table["plan"])
    except (ValueError, TypeError, KeyError, AttributeError):
        raise damaged(folder / PART) from None


def damaged(file: Path) -> QuestionError:
    """Say that a file of a part is not what was written."""
    return QuestionError(f"{place(str(file))} is damaged: run that part of the sweep again")
