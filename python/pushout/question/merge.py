"""Put the parts of a sweep together: the sweep is answered anew, with the finished runs of the parts as its runs."""

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pushout import kept
from pushout.cache import LARGEST, build
from pushout.errors import Argument, QuestionError
from pushout.excerpt import place
from pushout.options import Folder, Kept
from pushout.parsing import parsed
from pushout.question.design import Design
from pushout.question.executor import Done, Prepared, Task, Variations, check
from pushout.question.manifest import MANIFEST
from pushout.question.session import Session, default_cache
from pushout.question.shard import PART, Part, Shard, Split, damaged, read_part
from pushout.question.store import RUNS, Run, Store
from pushout.question.sweep import SweepResult, sweep
from pushout.simulate import Progress, cores

MANY = 5
"""Missing parts that a message lists."""


@dataclass(frozen=True)
class Place:
    """The folder of a part, and the part that it holds."""

    folder: Path
    part: Part

    @property
    def shown(self) -> str:
        """Return the folder as messages name it."""
        return place(str(self.folder))


def merge(folders: Sequence[Folder], out: Folder, progress: Progress | None = None) -> SweepResult:
    """Put the parts in these folders together, in any order; write rows and manifest of the whole sweep to `out`."""
    places = _complete([_place(Path(folder)) for folder in folders])
    if any(_is_same(each.folder, out) for each in places):
        raise QuestionError(Argument("out"), f" must be another folder than those of the parts, not {place(str(out))}")
    design = _design(places[0])
    with Session.open(Kept(out=out), progress) as session:
        return sweep(design, replace(session, executor=_Runs(design, places, session.store.key)))


def _design(first: Place) -> Design:
    """Make the design anew from that of the first part, which all parts have."""
    try:
        return first.part.design()
    except (ValueError, TypeError, KeyError, AttributeError):
        raise damaged(first.folder / PART) from None


def _is_same(folder: Path, out: Folder) -> bool:
    return "://" not in str(out) and folder.resolve() == Path(out).resolve()


def _place(folder: Path) -> Place:
    """Read which part a folder holds; refuse one that is not complete."""
    shown = place(str(folder))
    if not folder.is_dir():
        raise QuestionError(f"{shown}: no such folder: name the folders of all parts")
    try:
        part = read_part(folder)
    except FileNotFoundError:
        why = f"{shown}: the folder must hold a part of a sweep, which sweep writes with "
        raise QuestionError(why, Argument("shard")) from None
    manifest = _manifest(folder)
    if manifest.get("complete") is not True:
        raise QuestionError(f"{shown}: part {part.shard} must be complete: run it again, it continues where it ended")
    if manifest.get("shard") != str(part.shard):
        raise QuestionError(f"{shown}: {MANIFEST} must be that of part {part.shard}: run that part again")
    if manifest["engine"].get("build") != build():
        why = "must have been run by this build of Pushout"
        raise QuestionError(f"{shown}: part {part.shard} {why}: merge with the build of the parts, or run it again")
    return Place(folder, part)


def _manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a part."""
    try:
        found = parsed(kept.content(folder / MANIFEST, LARGEST))
    except FileNotFoundError:
        found = {}
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("engine", {}), dict):
        raise damaged(folder / MANIFEST)
    return {"engine": {}, **found}


def _complete(places: Sequence[Place]) -> list[Place]:
    """Return the parts in order; refuse parts of other sweeps, parts that are there twice, and missing ones."""
    if not places:
        raise QuestionError("merge needs the folders of all parts")
    first, *others = places
    found = {first.part.shard.number: first}
    for each in others:
        shard = each.part.shard
        if each.part.question != first.part.question:
            raise QuestionError(f"{each.shown}: the part must be of the sweep of {first.shown}: leave out one of them")
        if shard.number in found:
            other = found[shard.number].shown
            raise QuestionError(f"{each.shown}: part {shard} is also in {other}: leave out one of them")
        found[shard.number] = each
    count = first.part.shard.count
    if missing := [str(Shard(number, count)) for number in range(1, count + 1) if number not in found]:
        listed = ", ".join(missing[:MANY]) + (f" and {len(missing) - MANY} more" if len(missing) > MANY else "")
        why = f"the folders must hold all {count} parts: name also that of {listed}, or run it ("
        raise QuestionError(why, Argument("shard"), ")")
    return [found[number] for number in sorted(found)]


def _stored(each: Place, keys: Sequence[bytes]) -> dict[bytes, dict[int, Run]]:
    """Look up runs in a part, whose store is open only here: a process may open fewer files than there may be parts."""
    file = default_cache(each.folder) / RUNS
    if not file.is_file():
        raise QuestionError(f"{place(str(file))} is missing: run part {each.part.shard} of the sweep again")
    with closing(Store(file.parent)) as store:
        return store.find(keys)


class _Runs:
    """An executor that finds each run in the part that it belongs to; it computes none."""

    def __init__(self, design: Design, places: Sequence[Place], key: Callable[[str], bytes]) -> None:
        self._split, self._places, self._key = Split(design, len(places)), places, key
        self._seed = design.seed
        self._sets: list[tuple[str, ...]] = []
        self._asked: list[tuple[int, bytes]] = []
        self._figures: list[str] = []
        self._done: list[Done] = []

    def prepare(self, variations: Variations, figures: Sequence[str]) -> Prepared:
        """Check points and figures together."""
        _, prepared = check(variations, figures, cores())
        self._sets = [tuple(sets) for sets in variations.points]
        self._asked = [(seed, self._key(identity)) for seed, identity in prepared.heads]
        self._figures = list(figures)
        return prepared

    def submit(self, tasks: Sequence[Task]) -> None:
        """Find runs of the current points."""
        keys = list({self._asked[task.point][1] for task in tasks})
        found: dict[bytes, dict[int, Run]] = {key: {} for key in keys}
        for each in self._places:
            for key, runs in _stored(each, keys).items():
                found[key] |= {seed: run for seed, run in runs.items() if self._has_figures(run)}
        for tag, point, seed in tasks:
            run = found[self._asked[point][1]].get(seed)
            if run is None:
                raise self._missing(point, seed)
            self._done.append((tag, json.dumps(run.figures), run.wall_s))

    def _has_figures(self, run: Run) -> bool:
        return all(path in run.figures for path in self._figures)

    def _missing(self, point: int, seed: int) -> QuestionError:
        first = self._asked[point][0] if self._seed is None else self._seed
        sets = self._sets[point]
        known = next(known for known in (sets, sets[:-1]) if self._split.has(known))  # the last may be the warm-up
        each = self._places[self._split.owner(known, seed - first) - 1]
        why = f"a run of part {each.part.shard} is damaged or missing"
        return QuestionError(f"{each.shown}: {why}: run that part again")

    def wait(self, _timeout_s: float) -> list[Done]:
        """Return the runs found since the last call."""
        done, self._done = self._done, []
        return done

    def under_way(self) -> float:
        """Return 0: nothing runs."""
        return 0.0

    def close(self) -> None:
        """Do nothing: no store stays open."""
