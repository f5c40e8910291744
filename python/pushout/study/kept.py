"""A report about some studies does not lose the others: what it had of them is judged anew from the cache."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pushout.cache import Cache
from pushout.study.chapter import Chapter
from pushout.study.model import StudyError, available, load
from pushout.study.reproduce import Plan, Stage, silent


@dataclass(frozen=True)
class Kept:
    """The other studies of an earlier report: those of which every run is there, and those that have to go."""

    chapters: list[Chapter]
    gone: list[str]


def kept(report: Path, chosen: Collection[str], cache: Cache, stage: Stage = silent) -> Kept:
    """What remains of an earlier report (`reproduce.json`) about studies that are not chosen now.

    The cache knows runs by scenario, seed and simulator: what another version has computed, or what a study no longer
    asks for, does not stand beside the rest.
    """
    found = Kept([], [])
    others = [(study, reps) for study, reps in _reported(report) if study in available() and study not in chosen]
    with stage("other studies drawn") as progress:
        for done, (study, reps) in enumerate(others, start=1):
            chapter = _chapter(study, reps, cache)
            if chapter:
                found.chapters.append(chapter)
            else:
                found.gone.append(study)
            progress(done, len(others))
    return found


def _chapter(name: str, reps: int, cache: Cache) -> Chapter | None:
    """A study as it was reported; none if it cannot be read any more, or a run is missing."""
    try:
        study = load(name)
    except StudyError:
        return None
    usual = reps == max(case.reps for case in study.cases.values())
    plan = Plan(study, None if usual else reps, cache)
    return plan.chapter(cache) if plan.is_kept(cache) else None


def _reported(report: Path) -> Iterator[tuple[str, int]]:
    """The studies of a report with their (most) replications; none if there is no report, or none that can be read."""
    try:
        studies = json.loads(report.read_text(encoding="utf-8"))["studies"]
        sizes = [(study["id"], [number["measured"]["n"] for number in study["numbers"]]) for study in studies]
    except (OSError, ValueError, KeyError, TypeError):
        return
    for study, reps in sizes:
        if reps:
            yield study, max(reps)
