"""What a study found: every number beside print, every claim with its verdict, and what each assumption is worth."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from pushout.stats import Interval
from pushout.study.evidence import Comparison
from pushout.study.model import Claim, Number, Study
from pushout.study.sensitivity import Sensitivity

SETS = 400
"""The replications are drawn again so many times; that tells a share of 0.95 to ± 0.02."""

SURE = 0.95
"""A verdict that a smaller share of the redrawn sets of replications has is open."""


@dataclass(frozen=True)
class Finding:
    """A number beside print; `runs` are its least and its greatest value in one replication, if there are several."""

    number: Number
    measured: Interval
    runs: tuple[float, float] | None = None

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

    @property
    def among(self) -> bool:
        """Whether print lies among the single replications: if it is one run, one of ours may be like it.

        One more run falls between the least and the greatest of n with probability (n − 1) / (n + 1).
        """
        return self.runs is not None and self.runs[0] <= self.number.published <= self.runs[1]

    def json(self) -> dict[str, Any]:
        """As `reproduce --json` prints it."""
        return {
            "id": self.number.id,
            "source": self.number.source,
            "published": self.number.published,
            "measured": self.measured,
            "runs": self.runs and list(self.runs),
            "relative_error": self.relative_error,
            "verdict": self.verdict,
            "note": self.number.note or None,
        }


@dataclass(frozen=True)
class Judgement:
    """A claim or a remark, whether it holds (for the means, or often enough), how sure that is, and what it rests on.

    `sure` is the share of redrawn sets of replications with the same verdict; none where everything was run once, or
    nothing was redrawn. `comparisons` says what was compared, each with its truth.
    """

    claim: Claim
    holds: bool
    sure: float | None
    evidence: str
    comparisons: tuple[Comparison, ...] = ()

    @property
    def open(self) -> bool:
        """Whether other replications might well give the other verdict."""
        return self.sure is not None and self.sure < SURE

    @property
    def redrawn(self) -> str:
        """How sure the verdict is, in words; nothing where that is not known. The share is never rounded up."""
        if self.sure is None:
            return ""
        share = f"{math.floor(100 * self.sure + 1e-9)} % of {SETS}" if self.sure < 1 else f"all {SETS}"
        return f"the same verdict in {share} redrawn sets of replications"

    def json(self) -> dict[str, Any]:
        """As `reproduce --json` prints it."""
        claim = self.claim
        return {
            "id": claim.id,
            "source": claim.source,
            "text": claim.text,
            "holds": self.holds,
            "sure": self.sure,
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
    """An assumption, value by value, each run `reps` times; the first is the one that the study takes."""

    sensitivity: Sensitivity
    variants: list[Variant]
    reps: int

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
    """A study that has been run; `seeds` of each case, `curves` an estimate per point of each line of each plot."""

    study: Study
    findings: list[Finding]
    judgements: list[Judgement]
    remarks: list[Judgement]
    seeds: Mapping[str, Sequence[int]]
    curves: list[list[list[Interval | None]]]
    weighings: list[Weighing]

    def json(self) -> dict[str, Any]:
        """As `reproduce --json` prints it."""
        return {
            "id": self.study.id,
            "assumptions": [vars(assumption) for assumption in self.study.assumptions],
            "numbers": [finding.json() for finding in self.findings],
            "claims": [judgement.json() for judgement in self.judgements],
            "remarks": [judgement.json() for judgement in self.remarks],
            "sensitivities": [weighing.json() for weighing in self.weighings],
        }


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


def total(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """The score of studies, and besides: numbers beyond their tolerance, remarks that hold, verdicts that are open."""
    outcomes = list(outcomes)
    beyond = [finding for outcome in outcomes for finding in outcome.findings if finding.verdict != "within"]
    claims = [judgement for outcome in outcomes for judgement in outcome.judgements]
    remarks = [judgement for outcome in outcomes for judgement in outcome.remarks]
    return score(outcomes) | {
        "beyond_tolerance": len(beyond),
        "beyond_tolerance_among_runs": sum(finding.among for finding in beyond),
        "claims_open": sum(claim.open for claim in claims),
        "remarks": len(remarks),
        "remarks_held": sum(remark.holds for remark in remarks),
        "remarks_open": sum(remark.open for remark in remarks),
    }
