"""Run studies and judge them: every number against print, every claim against its check."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any

from pushout.cache import Cache
from pushout.document import Document
from pushout.simulate import Job, run_all
from pushout.stats import Interval
from pushout.study.case import Case
from pushout.study.charts import Chart
from pushout.study.expression import Expression
from pushout.study.model import Claim, Number, Study
from pushout.study.samples import Samples
from pushout.study.sensitivity import Sensitivity


@dataclass(frozen=True)
class Finding:
    """A number beside print."""

    number: Number
    measured: Interval

    @property
    def difference(self) -> float:
        """Measured minus printed, in the unit of the number."""
        return self.measured["mean"] - self.number.published

    @property
    def relative_error(self) -> float | None:
        """The difference as a share of the printed value; none for a printed zero."""
        return self.difference / abs(self.number.published) if self.number.published else None

    @property
    def verdict(self) -> str:
        """`within` the tolerance, `uncertain` (only the confidence interval reaches into it), or `differs`."""
        allowed = self.number.tolerance.of(self.number.published)
        if abs(self.difference) <= allowed:
            return "within"
        low, high = self.measured["ci95"] or [self.measured["mean"]] * 2
        reaches = low <= self.number.published + allowed and high >= self.number.published - allowed
        return "uncertain" if reaches else "differs"

    def json(self) -> dict[str, Any]:
        """As `reproduce --json` prints it."""
        return {
            "id": self.number.id,
            "source": self.number.source,
            "published": self.number.published,
            "measured": self.measured,
            "relative_error": self.relative_error,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Judgement:
    """A claim, whether it holds (for the means, or often enough), and what that rests on."""

    claim: Claim
    holds: bool
    evidence: str

    def json(self) -> dict[str, Any]:
        """As `reproduce --json` prints it."""
        claim = self.claim
        return {
            "id": claim.id,
            "source": claim.source,
            "text": claim.text,
            "holds": self.holds,
            "evidence": self.evidence,
        }


@dataclass(frozen=True)
class Variant:
    """A value of an assumption, and what the study finds with it."""

    value: str
    findings: list[Finding]
    judgements: list[Judgement]

    @property
    def mean_error(self) -> float | None:
        """Mean of the relative errors without their signs; none if no number is compared."""
        errors = [abs(finding.relative_error) for finding in self.findings if finding.relative_error is not None]
        return fmean(errors) if errors else None

    def json(self) -> dict[str, Any]:
        """As `reproduce --json` prints it."""
        return {"value": self.value, "mean_error": self.mean_error, **score([self])}


@dataclass(frozen=True)
class Weighing:
    """An assumption, value by value; the first is the one that the study takes."""

    sensitivity: Sensitivity
    variants: list[Variant]

    @property
    def supported(self) -> str | None:
        """The value with which the numbers come closest to print."""
        judged = [variant for variant in self.variants if variant.mean_error is not None]
        return min(judged, key=lambda variant: variant.mean_error or 0.0).value if judged else None

    def json(self) -> dict[str, Any]:
        """As `reproduce --json` prints it."""
        return {
            "assumption": self.sensitivity.assumption,
            "question": self.sensitivity.question,
            "taken": self.sensitivity.taken,
            "supported": self.supported,
            "values": [variant.json() for variant in self.variants],
        }


@dataclass(frozen=True)
class Outcome:
    """A study that has been run; `curves` has for each plot an estimate per point of each line."""

    study: Study
    findings: list[Finding]
    judgements: list[Judgement]
    seeds: list[int]
    curves: list[list[list[Interval | None]]]
    weighings: list[Weighing]

    def json(self) -> dict[str, Any]:
        """As `reproduce --json` prints it."""
        return {
            "id": self.study.id,
            "assumptions": [vars(assumption) for assumption in self.study.assumptions],
            "numbers": [finding.json() for finding in self.findings],
            "claims": [judgement.json() for judgement in self.judgements],
            "sensitivities": [weighing.json() for weighing in self.weighings],
        }


@dataclass(frozen=True)
class Reproduction:
    """All studies that were asked for."""

    outcomes: list[Outcome]
    wall_s: float

    @property
    def failed(self) -> bool:
        """Whether a number is outside its tolerance or a claim does not hold."""
        return any(finding.verdict != "within" for outcome in self.outcomes for finding in outcome.findings) or any(
            not judgement.holds for outcome in self.outcomes for judgement in outcome.judgements
        )

    def beside(self, others: Iterable[Outcome]) -> "Reproduction":
        """The same together with other studies, in the order of their ids."""
        return replace(self, outcomes=sorted([*self.outcomes, *others], key=lambda outcome: outcome.study.id))

    def json(self) -> dict[str, Any]:
        """The document of `reproduce --json`."""
        studies = [outcome.json() for outcome in self.outcomes]
        return {"studies": studies, "score": score(self.outcomes), "wall_s": self.wall_s}


def score(outcomes: Iterable[Outcome | Variant]) -> dict[str, int]:
    """How many numbers there are and how near they come, how many claims and how many hold."""
    outcomes = list(outcomes)
    errors = [
        abs(finding.difference) / (abs(finding.number.published) or 1) for o in outcomes for finding in o.findings
    ]
    holds = [judgement.holds for outcome in outcomes for judgement in outcome.judgements]
    return {
        "numbers": len(errors),
        "within_5pct": sum(error <= 0.05 for error in errors),
        "within_10pct": sum(error <= 0.10 for error in errors),
        "claims": len(holds),
        "claims_held": sum(holds),
    }


def reproduce(
    studies: Sequence[Study],
    *,
    reps: int | None = None,
    cache: Cache,
    progress: Callable[[int, int], None] | None = None,
) -> Reproduction:
    """Run every case of the studies `reps` times, except what the cache holds, and judge the results.

    Without `reps` each study has its own number of replications.
    """
    start = time.monotonic()
    plans = [Plan(study, reps or study.reps, cache) for study in studies]
    tasks = {run.path: run for plan in plans for run in plan.runs() if run.path not in cache}
    mixed = [run for _, run in sorted(tasks.items())]  # long and short ones by turns, so that the time left can be told
    run_all([partial(run.execute, cache) for run in mixed], progress=progress)
    return Reproduction([plan.judge(cache) for plan in plans], time.monotonic() - start)


@dataclass(frozen=True)
class Run:
    """A replication of a case and where its result is kept."""

    job: Job
    seed: int
    path: Path

    def execute(self, cache: Cache) -> None:
        """Simulate and keep the result."""
        cache.put(self.path, self.job.report(self.seed))


Runs = Mapping[str, Sequence[Run]]
"""The replications of cases, by their ids."""


class Plan:
    """All runs of a study: those of its cases, and fewer of them for every other value of an assumption."""

    def __init__(self, study: Study, reps: int, cache: Cache) -> None:
        self.study = study
        self.cases = {case.id: _runs(case, reps, cache) for case in study.cases.values()}
        self.variants = [
            [
                {name: _runs(case, min(reps, sensitivity.reps), cache) for name, case in cases.items()}
                for cases in sensitivity.values.values()
            ]
            for sensitivity in study.sensitivities
        ]

    def runs(self) -> list[Run]:
        """Every run, some of them perhaps more than once."""
        groups = [self.cases, *(cases for values in self.variants for cases in values)]
        return [run for cases in groups for runs in cases.values() for run in runs]

    def is_kept(self, cache: Cache) -> bool:
        """Whether the cache holds every run."""
        return all(run.path in cache for run in self.runs())

    def judge(self, cache: Cache) -> Outcome:
        """Judge the study by the results that the cache holds."""
        seeds = [run.seed for run in next(iter(self.cases.values()), [])]
        load = lru_cache(maxsize=None)(cache.load)  # cases share runs
        variants = [[_documents(cases, load) for cases in values] for values in self.variants]
        return judge(self.study, _documents(self.cases, load), seeds, variants)


def _runs(case: Case, reps: int, cache: Cache) -> list[Run]:
    job = case.job()
    canonical = job.explain()
    return [Run(job, seed, cache.path(canonical, seed)) for seed in job.seeds(None, reps)]


def _documents(cases: Runs, load: Callable[[Path], Document]) -> dict[str, list[Document]]:
    return {case: [load(run.path) for run in runs] for case, runs in cases.items()}


def judge(
    study: Study,
    documents: dict[str, list[Document]],
    seeds: list[int],
    variants: Sequence[Sequence[dict[str, list[Document]]]] = (),
) -> Outcome:
    """Measure the numbers and check the claims of a study, given the documents of each case (one per seed).

    `variants` holds, for each sensitivity of the study and each of its values, the documents of its cases.
    """
    samples = Samples(study.figures, documents)
    charts = [plot.lines if isinstance(plot, Chart) else () for plot in study.plots]
    return Outcome(
        study,
        [Finding(number, samples.interval(number.measure)) for number in study.numbers],
        [_check(claim, samples) for claim in study.claims],
        seeds,
        [[samples.curve(line.measures) for line in lines] for lines in charts],
        [
            _weigh(study, sensitivity, documents)
            for sensitivity, documents in zip(study.sensitivities, variants, strict=bool(variants))
        ],
    )


def _weigh(study: Study, sensitivity: Sensitivity, values: Sequence[dict[str, list[Document]]]) -> Weighing:
    variants = []
    for value, documents in zip(sensitivity.values, values, strict=True):
        samples = Samples(study.figures, documents)
        numbers = [number for number in study.numbers if _within(number.measure, documents)]
        claims = [claim for claim in study.claims if _within(claim.check, documents)]
        findings = [Finding(number, samples.interval(number.measure)) for number in numbers]
        variants.append(Variant(value, findings, [_check(claim, samples) for claim in claims]))
    return Weighing(sensitivity, variants)


def _within(expression: Expression, cases: Collection[str]) -> bool:
    """Whether all that an expression looks at has been run."""
    return all(case in cases for _, case in expression.uses)


def _check(claim: Claim, samples: Samples) -> Judgement:
    holds, often, evidence = samples.check(claim.check)
    said = f"true in {often} of {samples.reps} replications"
    if claim.share is None:
        return Judgement(claim, holds, f"{evidence}; {said}")
    return Judgement(
        claim, often >= claim.share * samples.reps, f"{said}, where a share of {claim.share:g} is asked for"
    )
