"""The outcome of a study: every number compared with print, every claim with its verdict, every assumption varied."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from statistics import fmean
from typing import Any

from pushout.stats import Interval
from pushout.study.certificate import Turn
from pushout.study.evidence import Comparison
from pushout.study.model import Claim, Number, Study
from pushout.study.prose_result import NO_PROSE, Prose
from pushout.study.samples import SURE
from pushout.study.sensitivity import Sensitivity
from pushout.study.settings import fitted
from pushout.study.single import Likeness
from pushout.study.tolerance import NEAR

SETS = 400
"""Number of bootstrap resamples; it gives a share of 0.95 to within ± 0.02."""


def fits(number: str, patterns: Iterable[str]) -> bool:
    """Return whether the id of a number fits one of the patterns."""
    return any(fnmatchcase(number, pattern) for pattern in patterns)


@dataclass(frozen=True)
class Compared:
    """A number compared with print; `runs` are its smallest and largest value in several replications.

    `single` counts the runs like print, if print is one run. It is not `known` if it depends on a setting that is not
    printed, where all settings are as printed.
    """

    number: Number
    measured: Interval
    runs: tuple[float, float] | None = None
    known: bool = True
    single: Likeness | None = None

    @property
    def difference(self) -> float:
        """Measured minus printed, in the unit of the number."""
        return self.measured["mean"] - self.number.published

    @property
    def relative_error(self) -> float | None:
        """The difference as a share of the printed value; None for a printed zero."""
        return self.difference / abs(self.number.published) if self.number.published else None

    def is_near(self, share: float) -> bool:
        """Return whether it is within this share of print, or as near as the printed digits tell."""
        return self.known and abs(self.difference) <= self.number.allowed(share)

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
        """Return whether the printed value lies within the range of the replications, as a single run of theirs may.

        A further run falls between the smallest and the largest of n with probability (n − 1) / (n + 1). No run
        of the paper gave a derived value.
        """
        if self.runs is None or self.number.derived:
            return False
        return self.runs[0] <= self.number.published <= self.runs[1]

    def json(self) -> dict[str, Any]:
        """Return the part of `reproduce --json`."""
        return {
            "id": self.number.id,
            "source": self.number.source,
            "independent": self.number.independent,
            "dependent": self.number.dependent or self.number.derived or None,
            "derived": bool(self.number.derived),
            "published": self.number.published,
            "null": self.number.null,
            "null_with_constants": self.number.with_constants,
            "measured": self.measured,
            "runs": self.runs and list(self.runs),
            "relative_error": self.relative_error,
            "verdict": self.verdict,
            "single_run": self.single and self.single.json(),
            "note": self.number.note or None,
        }


@dataclass(frozen=True)
class Judgement:
    """A claim or a remark: whether it holds (for the means, or often enough), with which certainty and evidence.

    `sure` is the share of bootstrap resamples with the same verdict; None if every case ran once or there are no
    resamples. `comparisons` holds what was compared, each with its truth; `milder` judges the milder form; `turns` has
    the smallest changes that turn it.
    """

    claim: Claim
    holds: bool
    sure: float | None
    evidence: str
    comparisons: tuple[Comparison, ...] = ()
    milder: "Judgement | None" = None
    turns: tuple[Turn, ...] = ()

    @property
    def open(self) -> bool:
        """Return whether other replications may give the other verdict."""
        return self.sure is not None and self.sure < SURE

    @property
    def redrawn(self) -> str:
        """Return how sure the verdict is; empty if unknown. The share is never rounded up."""
        if self.sure is None:
            return ""
        share = f"{math.floor(100 * self.sure + 1e-9)} % of {SETS}" if self.sure < 1 else f"all {SETS}"
        return f"the same verdict in {share} bootstrap resamples"

    def json(self) -> dict[str, Any]:
        """Return the part of `reproduce --json`."""
        claim = self.claim
        return {
            "id": claim.id,
            "source": claim.source,
            "text": claim.text,
            "holds": self.holds,
            "sure": self.sure,
            "evidence": self.evidence,
            "turns": [vars(turn) for turn in self.turns],
            "milder": self.milder and {"text": self.milder.claim.text, "holds": self.milder.holds},
        }


@dataclass(frozen=True)
class Variant:
    """A value of an assumption, or all settings as printed, and the outcome with it."""

    value: str
    findings: list[Compared]
    judgements: list[Judgement]
    remarks: list[Judgement] = field(default_factory=list)

    @property
    def mean_error(self) -> float | None:
        """Mean of the relative errors without their signs; none if no number is compared."""
        return mean_error(self.findings)

    def error_of(self, patterns: Sequence[str]) -> float | None:
        """Average over the independent numbers whose ids fit one of the patterns."""
        return mean_error([each for each in self._fitting(patterns) if each.number.independent])

    def hits_of(self, patterns: Sequence[str]) -> "Hits":
        """Count the independent numbers whose ids fit one of the patterns, and those of them that are near print."""
        return Hits.count(self._fitting(patterns))

    def _fitting(self, patterns: Sequence[str]) -> list[Compared]:
        return [each for each in self.findings if fits(each.number.id, patterns)]

    def json(self) -> dict[str, Any]:
        """Return the part of `reproduce --json`."""
        return {"value": self.value, "mean_error": self.mean_error, **score([self])}


def mean_error(findings: Iterable[Compared]) -> float | None:
    """Mean of the relative errors without their signs; none if no number is compared."""
    errors = [abs(finding.relative_error) for finding in findings if finding.relative_error is not None]
    return fmean(errors) if errors else None


@dataclass(frozen=True)
class Prediction:
    """The value that comes closest on the numbers that were fitted, and what it and the best value reach on the others.

    Errors are means of relative errors without their signs, over independent numbers; `predicted_within_5pct` counts
    those of the `predicted_numbers` that the chosen value brings within 5 % of print.
    """

    chosen: str
    fitted: float
    predicted: float
    predicted_within_5pct: int
    predicted_numbers: int
    best: str
    best_predicted: float


@dataclass(frozen=True)
class Weighing:
    """An assumption, value by value, each with `reps` replications; the first value is that of the study."""

    sensitivity: Sensitivity
    variants: list[Variant]
    reps: int

    @property
    def supported(self) -> str | None:
        """The value for which the numbers are closest to print."""
        judged = [variant for variant in self.variants if variant.mean_error is not None]
        return min(judged, key=lambda variant: variant.mean_error or 0.0).value if judged else None

    @property
    def prediction(self) -> Prediction | None:
        """Return the prediction of a fit on some numbers for the others, if the sensitivity names both."""
        fit, predict = self.sensitivity.fit, self.sensitivity.predict
        errors = [(each, each.error_of(fit), each.error_of(predict)) for each in self.variants]
        known = [(each, own, other) for each, own, other in errors if own is not None and other is not None]
        if not known:
            return None
        chosen, best = min(known, key=lambda each: each[1]), min(known, key=lambda each: each[2])
        hits = chosen[0].hits_of(predict)
        return Prediction(chosen[0].value, *chosen[1:], hits.measured, hits.of, best[0].value, best[2])

    def json(self) -> dict[str, Any]:
        """Return the part of `reproduce --json`."""
        return {
            "assumption": self.sensitivity.assumption,
            "question": self.sensitivity.question,
            "taken": self.sensitivity.taken,
            "supported": self.supported,
            "prediction": self.prediction and vars(self.prediction),
            "values": [variant.json() for variant in self.variants],
        }


@dataclass(frozen=True)
class Outcome:
    """The outcome of a study; `seeds` of each case, `curves` with an estimate per point of each line of each plot.

    `printed` is the same study with every setting as printed; None if the study overrides none. `prose` has the numbers
    of the prose, which `study` has in the place of references.
    """

    study: Study
    findings: list[Compared]
    judgements: list[Judgement]
    remarks: list[Judgement]
    seeds: Mapping[str, Sequence[int]]
    curves: list[list[list[Interval | None]]]
    weighings: list[Weighing]
    printed: Variant | None = None
    prose: Prose = NO_PROSE

    @property
    def as_printed(self) -> "Outcome | Variant":
        """The study with every setting as printed, which may be the study itself."""
        return self.printed or self

    @property
    def fitted(self) -> int:
        """Return the number of choices that were made with the printed numbers in view."""
        return fitted(self.study.assumptions, self.study.overrides)

    def json(self) -> dict[str, Any]:
        """Return the part of `reproduce --json`."""
        conclusion = self.study.conclusion
        return {
            "id": self.study.id,
            "references": list(self.study.references),
            "conclusion": conclusion and vars(conclusion),
            "assumptions": [vars(assumption) for assumption in self.study.assumptions],
            "settings": {"fitted": self.fitted, "overrides": [override.json() for override in self.study.overrides]},
            "score": score([self]),
            "constants": [vars(constant) for constant in self.study.constants],
            "as_printed": score([self.as_printed]),
            "replications": {case: len(seeds) for case, seeds in self.seeds.items()},
            "numbers": [finding.json() for finding in self.findings],
            "claims": [judgement.json() for judgement in self.judgements],
            "remarks": [judgement.json() for judgement in self.remarks],
            "sensitivities": [weighing.json() for weighing in self.weighings],
            "prose": self.prose.json(),
        }


@dataclass(frozen=True)
class Hits:
    """Count of the `of` independent numbers within 5 % of print: measured, and by the null models."""

    measured: int
    null: int
    of: int
    constants: int = 0

    @classmethod
    def count(cls, findings: Iterable[Compared]) -> "Hits":
        """Count over the independent ones of these numbers."""
        independent = [finding for finding in findings if finding.number.independent]
        measured = sum(finding.is_near(NEAR) for finding in independent)
        nulls = sum(finding.number.null_is_near for finding in independent)
        constants = sum(finding.number.constants_are_near for finding in independent)
        return cls(measured, nulls, len(independent), constants)

    @property
    def beside_constants(self) -> "Hits":
        """Compare with the second null model in the place of the first."""
        return Hits(self.measured, self.constants, self.of)


def skill(hits: Iterable[Hits]) -> float | None:
    """Return the part of what the null model misses that the simulator reaches: (hits − null) / (n − null).

    Below zero, the calculation is nearer to print. A study of which it reaches all numbers cannot distinguish the two
    and is left out; the skill is undefined if no other is there.
    """
    able = [each for each in hits if each.null < each.of]
    missed = sum(each.of - each.null for each in able)
    return sum(each.measured - each.null for each in able) / missed if missed else None


def score(outcomes: Iterable[Outcome | Variant]) -> dict[str, Any]:
    """Count the numbers by their distance from print, and the sentences (claims and remarks together) that hold.

    `null` counts the independent numbers that the null models reach, `null_with_constants` those that they reach with
    chosen constants; see `skill` and `constants`.
    """
    outcomes = list(outcomes)
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    hits = [Hits.count(outcome.findings) for outcome in outcomes]
    claims = [judgement.holds for outcome in outcomes for judgement in outcome.judgements]
    remarks = [judgement.holds for outcome in outcomes for judgement in outcome.remarks]
    return {
        "numbers": len(findings),
        "within_5pct": sum(finding.is_near(NEAR) for finding in findings),
        "within_10pct": sum(finding.is_near(2 * NEAR) for finding in findings),
        "independent": sum(each.of for each in hits),
        "independent_within_5pct": sum(each.measured for each in hits),
        "null": sum(each.null for each in hits),
        "skill": skill(hits),
        "null_with_constants": sum(each.constants for each in hits),
        "skill_with_constants": skill(each.beside_constants for each in hits),
        "claims": len(claims),
        "claims_held": sum(claims),
        "sentences": len(claims + remarks),
        "sentences_held": sum(claims + remarks),
    }


def together(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """The total of all studies that compare with print."""
    return total(outcome for outcome in outcomes if outcome.study.compares)


def total(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Add up the scores of studies, with numbers beyond their tolerance, open verdicts, and all of it as printed."""
    outcomes = list(outcomes)
    beyond = [finding for outcome in outcomes for finding in outcome.findings if finding.verdict != "within"]
    claims = [judgement for outcome in outcomes for judgement in outcome.judgements]
    remarks = [judgement for outcome in outcomes for judgement in outcome.remarks]
    return score(outcomes) | {
        "beyond_tolerance": len(beyond),
        "single_runs": sum(each.single is not None for outcome in outcomes for each in outcome.findings),
        "single_runs_like_print": sum(
            each.single.verdict in ("usual", "possible")
            for outcome in outcomes
            for each in outcome.findings
            if each.single
        ),
        "beyond_tolerance_among_runs": sum(finding.among for finding in beyond),
        "claims_open": sum(claim.open for claim in claims),
        "remarks": len(remarks),
        "remarks_held": sum(remark.holds for remark in remarks),
        "remarks_open": sum(remark.open for remark in remarks),
        "fitted": sum(outcome.fitted for outcome in outcomes),
        "as_printed": score([outcome.as_printed for outcome in outcomes]),
    }
