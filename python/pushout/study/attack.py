"""Attack a finding or a sentence: search its declared range, with fresh seeds, for the nearest point that turns it.

The range has axes: those of `[[finding.search]]`, or else the changes of `[[finding.range]]`; for a sentence the
assumptions of `[[sensitivity]]` that concern its cases. A point changes some axes. Points are tried from the nearest:
fewer changed axes first, then values that stand earlier in their axes; equally near ones in random order. A point is
tried with a few seeds and, where these turn the verdict, with as many as the finding or the sentence has. It falls if
95 % of the bootstrap resamples agree; else it is open. A search ends with the first fall, or when its budget is spent.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import Any

from pushout import _core
from pushout.cache import Cache
from pushout.document import Document
from pushout.errors import PushoutError
from pushout.simulate import Progress, run_all
from pushout.study.case import Case
from pushout.study.expression import Expression, ExpressionError
from pushout.study.finding import AGREEING, Axis, Change, Finding
from pushout.study.model import Claim, Study
from pushout.study.outcome import SETS
from pushout.study.reproduce import Run, Stage, runs_of, silent
from pushout.study.samples import SURE, Samples
from pushout.study.sensitivity import Sensitivity

SCREEN = 5
"""Seeds with which a point is tried first."""

BUDGET = 100
"""Runs of an attack by default."""

Choice = tuple[tuple[str, Change], ...]
"""The changed axes of a point, each with its value."""


@dataclass(frozen=True)
class Target:
    """What is attacked: a check over cases, its verdict so far, the axes of its range, and its number of seeds."""

    id: str
    text: str
    study: Study
    check: Expression
    share: float | None
    cases: Mapping[str, Case]
    axes: tuple[Axis, ...]
    seeds: int
    is_finding: bool

    def points(self, order: Random) -> Iterator[Choice]:
        """Yield the points of the range from the nearest on, the unchanged one first."""
        for count in range(len(self.axes) + 1):
            level = [
                (sum(places), tuple((axis.name, axis.values[at]) for axis, at in zip(axes, places, strict=True)))
                for axes in combinations(self.axes, count)
                for places in product(*(range(len(axis.values)) for axis in axes))
            ]
            order.shuffle(level)
            yield from (choice for _, choice in sorted(level, key=lambda point: point[0]))


@dataclass(frozen=True)
class Point:
    """A tried point, its changes in words, whether the check held there, with which certainty, and the values."""

    changes: str
    holds: bool
    sure: float | None
    evidence: str
    seeds: int

    @property
    def is_open(self) -> bool:
        """Return whether other seeds may give the other verdict."""
        return self.sure is not None and self.sure < SURE


@dataclass(frozen=True)
class Attack:
    """The result of an attack: the stated verdict, the points tried, and the nearest that fell or is open."""

    id: str
    text: str
    stated: bool
    tried: int
    runs: int
    budget: int
    seed: int
    fell: Point | None
    open: Point | None

    def json(self) -> dict[str, Any]:
        """Return the part of `reproduce --attack --json`."""
        points = {name: point and vars(point) for name, point in (("fell", self.fell), ("open", self.open))}
        return {**vars(self), **points}


def targets(studies: Sequence[Study]) -> dict[str, Target]:
    """List what can be attacked, by `STUDY/ID`: every finding, claim and remark that compares runs."""
    found: dict[str, Target] = {}
    for study in studies:
        number = study.id.partition("-")[0]
        own = [_of_finding(study, finding) for finding in study.findings]
        own += [_of_sentence(study, claim) for claim in (*study.claims, *study.remarks) if claim.check.uses]
        found |= {f"{number}/{target.id}": replace(target, id=f"{number}/{target.id}") for target in own}
    return found


def _of_finding(study: Study, finding: Finding) -> Target:
    cases = {case: finding.cases[case] for _, case in finding.comparison.uses}
    axes = finding.search or (Axis("range", finding.range),)
    return Target(
        finding.id, finding.title, study, finding.comparison, None, cases, axes, finding.seeds, is_finding=True
    )


def _of_sentence(study: Study, claim: Claim) -> Target:
    cases = {case: study.cases[case] for _, case in claim.check.uses}
    axes = tuple(axis for each in study.sensitivities if (axis := _axis(each, cases)).values)
    seeds = max(case.reps for case in cases.values())
    return Target(claim.id, claim.text, study, claim.check, claim.share, cases, axes, seeds, is_finding=False)


def _axis(sensitivity: Sensitivity, cases: Mapping[str, Case]) -> Axis:
    """Make an axis of the values of an assumption, for the cases of a sentence."""
    values = []
    for label, changed in sensitivity.values.items():
        sets = {name: _added(cases[name], case) for name, case in changed.items() if name in cases}
        if any(sets.values()):
            values.append(Change(label, {name: each for name, each in sets.items() if each}))
    return Axis(sensitivity.assumption, tuple(values))


def _added(case: Case, changed: Case) -> tuple[str, ...]:
    """Return the overrides that were added to a case."""
    count = len(case.sets)
    return changed.sets[count:] if changed.sets[:count] == case.sets else ()


def chosen(names: Sequence[str], known: Mapping[str, Target], seed: int) -> list[Target]:
    """Find targets by `STUDY/ID` or by ID; a number draws as many of all at random."""
    found: list[Target] = []
    for name in names:
        if name.isascii() and name.isdigit():
            count = min(int(name[:9]), len(known))
            if count == 0:
                raise PushoutError("a number of findings and sentences must be at least 1, not 0")
            found += Random(seed).sample(list(known.values()), count)  # noqa: S311
            continue
        fitting = [target for full, target in known.items() if name in (full, full.partition("/")[2])]
        if not fitting:
            raise PushoutError(_core.unknown("finding or sentence", name, list(known)))
        found += fitting
    return found


class Attacker:
    """Runs points of a target within a budget."""

    def __init__(self, target: Target, seed: int, budget: int, cache: Cache, jobs: int | None = None) -> None:
        self.target = target
        self.seed = seed
        self.budget = budget
        self.cache = cache
        self.jobs = jobs
        self.spent = 0

    def attack(self, stage: Stage = silent) -> Attack:
        """Search until a point falls or the budget is spent."""
        target = self.target
        stated = target.is_finding or self._stated()
        fell = nearly = None
        tried = 0
        with stage(f"runs against {target.id}") as progress:
            for choice in target.points(Random(self.seed)):  # noqa: S311
                if (point := self._try(choice, stated, progress)) is None:
                    break
                tried += point.seeds > 0
                if point.seeds and (point.holds != stated or (target.is_finding and point.is_open)):
                    if not point.is_open:
                        fell = point
                        break
                    nearly = nearly or point
        return Attack(target.id, target.text, stated, tried, self.spent, self.budget, self.seed, fell, nearly)

    def _stated(self) -> bool:
        """Judge a sentence with the seeds of its study, which do not count."""
        runs = {name: runs_of(case, case.reps, self.cache) for name, case in self.target.cases.items()}
        return self._judged("", runs).holds

    def _try(self, choice: Choice, stated: bool, progress: Progress) -> Point | None:
        """Try a point; None if the budget does not suffice. One that cannot be or changes nothing has no seeds."""
        words = "; ".join(f"{axis}: {value.name}" for axis, value in choice) or "no change, fresh seeds"
        cases = {name: _changed(case, choice) for name, case in self.target.cases.items()}
        point = Point(words, stated, None, "", 0)
        few = min(SCREEN, self.target.seeds)
        for count in dict.fromkeys((few, self.target.seeds)):
            try:
                runs = {name: self._runs(case, count) for name, case in cases.items()}
            except PushoutError:
                return point
            if choice and not any(cases[name].sets != case.sets for name, case in self.target.cases.items()):
                return point
            cost = sum(len(each) for each in runs.values()) - (point.seeds * len(runs))
            if self.spent + cost > self.budget:
                return None if not point.seeds else point
            self.spent += cost
            point = self._judged(words, runs)
            progress(self.spent, self.budget)
            if point.holds == stated and not (self.target.is_finding and point.is_open):
                break
        return point

    def _runs(self, case: Case, count: int) -> list[Run]:
        job = case.job()
        canonical = job.explain()
        first = json.loads(canonical)["seed"] if case.is_worst else self.seed
        reps = min(count, AGREEING) if case.is_worst else count
        return [Run(job, seed, self.cache.path(canonical, seed)) for seed in job.seeds(first, reps)]

    def _judged(self, words: str, runs: Mapping[str, Sequence[Run]]) -> Point:
        """Run what the cache does not hold, and check."""
        missing = {run.path: run for each in runs.values() for run in each if run.path not in self.cache}
        run_all([partial(run.execute, self.cache) for run in missing.values()], jobs=self.jobs)
        load: Callable[[Path], Document] = self.cache.load
        documents = {name: [load(run.path) for run in each] for name, each in runs.items()}
        samples = Samples(self.target.study.figures, documents, SETS, self.target.study.units)
        seeds = min(map(len, runs.values()))
        try:
            found = samples.check(self.target.check, self.target.share)
        except ExpressionError as error:
            return Point(words, False, None, str(error), seeds)
        return Point(words, found.holds, found.sure, "; ".join(map(str, found.comparisons)), seeds)


def _changed(case: Case, choice: Choice) -> Case:
    for _, value in choice:
        case = value.of(case)
    return case


def document(attacks: Sequence[Attack]) -> dict[str, Any]:
    """Return the document of `reproduce --attack --json`."""
    return {"attacks": [each.json() for each in attacks], "fell": sum(each.fell is not None for each in attacks)}
