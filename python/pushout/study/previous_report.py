"""The other studies of an earlier report stay in the new one: they are judged again from the cache."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pushout import kept
from pushout.cache import LARGEST, Cache
from pushout.document import Document
from pushout.parsing import parsed
from pushout.study.chapter import Chapter
from pushout.study.model import StudyError, available, load
from pushout.study.reproduce import Plan, Stage, silent


@dataclass(frozen=True)
class CarriedOver:
    """The other studies of an earlier report: those whose every run is in the cache, and those to be removed."""

    chapters: list[Chapter]
    gone: list[str]


def carried_over(report: Path, chosen: Collection[str], cache: Cache, stage: Stage = silent) -> CarriedOver:
    """Judge again the studies of an earlier report (`reproduce.json`) that are not chosen now.

    The cache identifies runs by scenario, seed and simulator. Results of another version, or of runs that a study no
    longer asks for, are not mixed with the rest.
    """
    found = CarriedOver([], [])
    others = [(study, runs) for study, runs in _reported(report) if study in available() and study not in chosen]
    most = sum(1 for _ in cache.folder.iterdir())
    with stage("other studies drawn") as progress:
        for done, (study, runs) in enumerate(others, start=1):
            chapter = _chapter(study, runs, cache) if max(runs.values()) <= most else None
            if chapter:
                found.chapters.append(chapter)
            else:
                found.gone.append(study)
            progress(done, len(others))
    return found


def _chapter(name: str, runs: Mapping[str, int], cache: Cache) -> Chapter | None:
    """Judge and draw a study with the reported `runs` of each case; None if it cannot be read or a run is missing."""
    try:
        study = load(name)
    except StudyError:
        return None
    usual = all(runs.get(case.id, 0) >= case.reps for case in study.cases.values())
    plan = Plan(study, None if usual else min(runs.values()), cache, runs)
    return plan.chapter(cache) if plan.is_kept(cache) else None


def sealed(document: Document) -> Document:
    """Add to a report's document a digest of itself."""
    return {**document, "digest": _digest(document)}


def _digest(document: Document) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _reported(report: Path) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Yield each study of a report with the replications of its cases; nothing if the report is damaged."""
    try:
        document = parsed(kept.content(report, LARGEST))
        is_whole = document.pop("digest") == _digest(document)
        sizes = [(str(study["id"]), _replications(study)) for study in document["studies"]] if is_whole else []
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return
    yield from ((study, runs) for study, runs in sizes if runs)


def _replications(study: Document) -> dict[str, int]:
    """Return how often each case of a study has run."""
    runs = dict(study["replications"])
    if not all(type(count) is int and count > 0 for count in runs.values()):
        raise ValueError("the number of replications must be an integer of at least 1")
    return runs
