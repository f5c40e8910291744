"""Run findings: the comparison and the control, and the comparison again after each change of the range."""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from pushout.cache import Cache
from pushout.simulate import run_all
from pushout.stats import interval
from pushout.study.expression import Expression
from pushout.study.finding import Finding
from pushout.study.finding_result import Result, inputs
from pushout.study.model import Study, StudyError
from pushout.study.outcome import SETS
from pushout.study.prose_result import check_settings
from pushout.study.reproduce import Runs, Stage, runs_of, silent
from pushout.study.samples import Samples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pushout.document import Document


class Trial:
    """All runs of a finding: those of its cases, and those of the compared cases after each change of the range."""

    def __init__(self, study: Study, finding: Finding, cache: Cache) -> None:
        self.study = study
        self.finding = finding
        check_settings(f"{study.id}: finding {finding.id!r}", finding.settings, finding.cases)
        check_range(study.id, finding)
        compared = {case for _, case in finding.comparison.uses}
        self.cases = {name: runs_of(case, finding.seeds, cache) for name, case in finding.cases.items()}
        self.changed = [
            {name: runs_of(change.of(finding.cases[name]), finding.seeds, cache) for name in compared}
            for change in finding.range
        ]

    def judge(self, cache: Cache) -> Result:
        """Judge the finding from the results in the cache."""
        load = lru_cache(maxsize=None)(cache.load)  # a change of one case leaves the runs of others as they are
        if not self.finding.random:
            self._check_agreement(load)
        samples = _samples(self.study, self.cases, load)
        checks = [_samples(self.study, cases, load).checked(self.finding.comparison) for cases in self.changed]
        return Result(
            id=self.finding.id,
            inputs=inputs(self.study, self.finding),
            seeds=[run.seed for run in next(iter(self.cases.values()))],
            values={name: interval(_measured(value, samples)) for name, value in self.finding.values.items()},
            comparison=samples.checked(self.finding.comparison),
            control=samples.checked(self.finding.control.check),
            range={change.name: check for change, check in zip(self.finding.range, checks, strict=True)},
        )

    def _check_agreement(self, load: "Callable[[Path], Document]") -> None:
        """Raise if runs differ by more than the seed, though nothing is drawn in them."""
        for cases in (self.cases, *self.changed):
            for name, runs in cases.items():
                first, *others = ({**load(run.path), "seed": None, "engine": None} for run in runs)  # it has the time
                if any(other != first for other in others):
                    message = f"{self.study.id}: finding {self.finding.id!r}: random must be true, not false"
                    raise StudyError(f"{message}: the runs of {name!r} differ with the seed")


def run_findings(
    studies: Sequence[Study], *, cache: Cache, jobs: int | None = None, stage: Stage = silent
) -> dict[str, list[Result]]:
    """Run the findings of studies, except what the cache holds; return the results of each study that has findings."""
    trials = [Trial(study, finding, cache) for study in studies for finding in study.findings]
    runs = {
        run.path: run
        for trial in trials
        for cases in (trial.cases, *trial.changed)
        for each in cases.values()
        for run in each
        if run.path not in cache
    }
    with stage("runs") as progress:
        run_all([partial(run.execute, cache) for run in runs.values()], jobs=jobs, progress=progress)
    results: dict[str, list[Result]] = {}
    with stage("findings judged") as progress:
        for done, trial in enumerate(trials, start=1):
            results.setdefault(trial.study.id, []).append(trial.judge(cache))
            progress(done, len(trials))
    return results


def check_range(study: str, finding: Finding) -> None:
    """Raise if an entry of the range leaves every compared case as it is."""
    compared = [finding.cases[name] for name in sorted({case for _, case in finding.comparison.uses})]
    for change in finding.range:
        if all(change.of(case).job().explain() == case.job().explain() for case in compared):
            message = f"{study}: finding {finding.id!r}: range must change a compared case, not none"
            raise StudyError(f"{message}, as {change.name!r} does")


def _samples(study: Study, cases: Runs, load: "Callable[[Path], Document]") -> Samples:
    documents = {name: [load(run.path) for run in runs] for name, runs in cases.items()}
    return Samples(study.figures, documents, SETS, study.units)


def _measured(value: Expression, samples: Samples) -> list[float]:
    """Evaluate a number of the prose in every replication; refuse what is not a number in one of them."""
    values = samples.each(value)
    if len(values) < samples.reps(value) or not all(isinstance(each, int | float) for each in values):
        raise StudyError(f"{value.text}: a reference of a finding is not a number in every run")
    return values
