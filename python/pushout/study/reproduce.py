"""Run studies and judge them: every number against print, every claim against its check."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pushout.document import Document, figure
from pushout.simulate import Job, run_all
from pushout.stats import Interval, interval
from pushout.study.cache import Cache
from pushout.study.expression import ExpressionError, Value
from pushout.study.model import Case, Claim, Number, Study

DEFAULT_REPS = 10


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
    """A claim, whether it holds for the means, and what that rests on."""

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
class Outcome:
    """A study that has been run."""

    study: Study
    findings: list[Finding]
    judgements: list[Judgement]
    seeds: list[int]

    def json(self) -> dict[str, Any]:
        """As `reproduce --json` prints it."""
        return {
            "id": self.study.id,
            "assumptions": [vars(assumption) for assumption in self.study.assumptions],
            "numbers": [finding.json() for finding in self.findings],
            "claims": [judgement.json() for judgement in self.judgements],
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

    def json(self) -> dict[str, Any]:
        """The document of `reproduce --json`."""
        studies = [outcome.json() for outcome in self.outcomes]
        return {"studies": studies, "score": score(self.outcomes), "wall_s": self.wall_s}


def score(outcomes: Iterable[Outcome]) -> dict[str, int]:
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
    reps: int = DEFAULT_REPS,
    cache: Cache,
    progress: Callable[[int, int], None] | None = None,
) -> Reproduction:
    """Run every case of the studies `reps` times, except what the cache holds, and judge the results."""
    start = time.monotonic()
    wanted = {(study.id, case.id): _wanted(case, reps, cache) for study in studies for case in study.cases.values()}
    tasks = {run.path: run for runs in wanted.values() for run in runs if run.path not in cache}
    run_all([partial(run.execute, cache) for run in tasks.values()], progress=progress)
    outcomes = []
    for study in studies:
        runs = {case: wanted[study.id, case] for case in study.cases}
        documents = {case: [cache.load(run.path) for run in of_case] for case, of_case in runs.items()}
        seeds = [run.seed for run in next(iter(runs.values()), [])]
        outcomes.append(judge(study, documents, seeds))
    return Reproduction(outcomes, time.monotonic() - start)


@dataclass(frozen=True)
class _Run:
    """A replication of a case and where its result is kept."""

    job: Job
    seed: int
    path: Path

    def execute(self, cache: Cache) -> None:
        cache.put(self.path, self.job.run(self.seed))


def _wanted(case: Case, reps: int, cache: Cache) -> list[_Run]:
    job = case.job()
    canonical = job.explain()
    return [_Run(job, seed, cache.path(canonical, seed)) for seed in job.seeds(None, reps)]


def judge(study: Study, documents: dict[str, list[Document]], seeds: list[int]) -> Outcome:
    """Measure the numbers and check the claims of a study, given the documents of each case (one per seed)."""
    samples = _Samples(study, documents)
    findings = [Finding(number, samples.measure(number)) for number in study.numbers]
    judgements = [samples.check(claim) for claim in study.claims]
    return Outcome(study, findings, judgements, seeds)


class _Samples:
    """The figures of the cases, replication by replication: equal seeds make the cases comparable pair by pair."""

    def __init__(self, study: Study, documents: dict[str, list[Document]]) -> None:
        self.paths = study.figures
        self.documents = documents
        self.reps = min((len(runs) for runs in documents.values()), default=0)

    def one(self, index: int, name: str, case: str) -> Value:
        value = figure(self.documents[case][index], self.paths[name])
        return tuple(value) if isinstance(value, list) else value

    def average(self, name: str, case: str) -> Value:
        values = [self.one(index, name, case) for index in range(self.reps)]
        if isinstance(values[0], tuple):
            return tuple(sum(column) / self.reps for column in zip(*values, strict=True))
        return sum(values) / self.reps

    def measure(self, number: Number) -> Interval:
        return interval([number.measure(partial(self.one, index)) for index in range(self.reps)])

    def check(self, claim: Claim) -> Judgement:
        holds = claim.check(self.average)
        if not isinstance(holds, bool):
            raise ExpressionError(f"the claim {claim.id} gives {holds!r}: a claim is true or false")
        often = sum(claim.check(partial(self.one, index)) for index in range(self.reps))
        evidence = f"{claim.check.evidence(self.average)}; true in {often} of {self.reps} replications"
        return Judgement(claim, holds, evidence)
