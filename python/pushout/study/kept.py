"""A report about some studies does not lose the others: what it had of them is judged anew from the cache."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pushout.cache import Cache
from pushout.study.chapter import Chapter
from pushout.study.model import StudyError, available, load
from pushout.study.reproduce import Plan


@dataclass(frozen=True)
class Kept:
    """The other studies of an earlier report: those of which every run is there, and those that have to go."""

    chapters: list[Chapter]
    gone: list[str]


def kept(report: Path, chosen: Collection[str], cache: Cache) -> Kept:
    """What remains of an earlier report (`reproduce.json`) about studies that are not chosen now.

    The cache knows runs by scenario, seed and simulator: what another version has computed, or what a study no longer
    asks for, does not stand beside the rest.
    """
    found = Kept([], [])
    for study, reps in _reported(report):
        if study in chosen or study not in available():
            continue
        try:
            plan = Plan(load(study), reps, cache)
        except StudyError:
            found.gone.append(study)
            continue
        if plan.is_kept(cache):
            found.chapters.append(plan.chapter(cache))
        else:
            found.gone.append(study)
    return found


def _reported(report: Path) -> Iterator[tuple[str, int]]:
    """The studies of a report with their replications; none if there is no report, or none that can be read."""
    try:
        studies = json.loads(report.read_text(encoding="utf-8"))["studies"]
        sizes = [(study["id"], [number["measured"]["n"] for number in study["numbers"]]) for study in studies]
    except (OSError, ValueError, KeyError, TypeError):
        return
    for study, reps in sizes:
        if reps:
            yield study, max(reps)
