"""The other studies of an earlier report stay in the new one: they are judged again from the cache."""

import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pushout.cache import Cache
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
    others = [(study, reps) for study, reps in _reported(report) if study in available() and study not in chosen]
    most = sum(1 for _ in cache.folder.iterdir())
    with stage("other studies drawn") as progress:
        for done, (study, reps) in enumerate(others, start=1):
            chapter = _chapter(study, reps, cache) if reps <= most else None
            if chapter:
                found.chapters.append(chapter)
            else:
                found.gone.append(study)
            progress(done, len(others))
    return found


def _chapter(name: str, reps: int, cache: Cache) -> Chapter | None:
    """Judge and draw a study as it was reported; None if it can no longer be read or a run is missing."""
    try:
        study = load(name)
    except StudyError:
        return None
    usual = reps == max(case.reps for case in study.cases.values())
    plan = Plan(study, None if usual else reps, cache)
    return plan.chapter(cache) if plan.is_kept(cache) else None


def sealed(document: Document) -> Document:
    """Add to a report's document a digest of itself."""
    return {**document, "digest": _digest(document)}


def _digest(document: Document) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _reported(report: Path) -> Iterator[tuple[str, int]]:
    """Yield each study of a report with its largest number of replications; nothing if the report is damaged."""
    try:
        document = parsed(report.read_text(encoding="utf-8"))
        is_whole = document.pop("digest") == _digest(document)
        sizes = [(str(study["id"]), _replications(study)) for study in document["studies"]] if is_whole else []
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return
    for study, reps in sizes:
        if reps:
            yield study, max(reps)


def _replications(study: Document) -> list[int]:
    """Count the runs behind each number of a study."""
    counts = [number["measured"]["n"] for number in study["numbers"]]
    if not all(type(count) is int and count > 0 for count in counts):
        raise ValueError("the number of replications must be an integer of at least 1")
    return counts
