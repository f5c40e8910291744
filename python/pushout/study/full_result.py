"""What a study gave at full size (`reproduce --full`), stored as data beside the study: `full.json`.

Its page prints the verdicts from the data, and runs nothing. `inputs` is a digest of everything that determines them,
so that data of an earlier form of the study are recognised.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from pushout import _core
from pushout.cache import write
from pushout.records import recorded
from pushout.shipped import STUDIES
from pushout.study.expression import definitions
from pushout.study.model import Study, StudyError
from pushout.study.outcome import Judgement, Outcome

FILE = "full.json"


class Verdict(TypedDict):
    """A verdict on a claim: whether it holds, the share of resamples that agree, and the same of its milder form."""

    holds: bool
    sure: float | None
    milder: bool | None


@dataclass(frozen=True)
class Full:
    """Verdicts on the claims of a study, by their ids, and the most replications that a case had."""

    inputs: str
    replications: int
    claims: Mapping[str, Verdict]


def full(outcome: Outcome) -> Full:
    """Take the verdicts from an outcome at full size."""
    most = max(len(seeds) for seeds in outcome.seeds.values())
    claims = {judgement.claim.id: _verdict(judgement) for judgement in outcome.judgements}
    return Full(inputs(outcome.study), most, claims)


def _verdict(judgement: Judgement) -> Verdict:
    milder = judgement.milder.holds if judgement.milder else None
    return {"holds": judgement.holds, "sure": judgement.sure, "milder": milder}


def inputs(study: Study) -> str:
    """Hash what determines the verdicts of a study at full size: scenarios, overrides, replications and checks."""
    cases = study.at_full_size().cases.values()
    claims = [claim for each in study.claims for claim in (each, each.milder) if claim]
    scenarios = {case.scenario for case in cases}
    parts = {
        "scenarios": sorted(hashlib.sha256(scenario.read_bytes()).hexdigest() for scenario in scenarios),
        "cases": {case.id: [case.scenario.name, case.reps, *case.sets] for case in cases},
        "checks": [[claim.check.text, claim.share] for claim in claims],
        "figures": definitions(study.figures, [claim.check for claim in claims]),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def save(outcome: Outcome, folder: Path) -> None:
    """Write what a study gave at full size, with the version of the simulator."""
    document = {"version": _core.VERSION, **vars(full(outcome))}
    write(folder / f"{outcome.study.id}.json", recorded(document))


def kept(study: Study, root: Path = STUDIES) -> tuple[str, Full] | None:
    """Read the data of a study with their commit; None if the study has none."""
    file = root / study.id / FILE
    if not file.is_file():
        return None
    try:
        document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return document["commit"], Full(*(document[name] for name in Full.__dataclass_fields__))
    except (ValueError, LookupError, TypeError) as error:
        raise StudyError(f"{file}: the data must be those that `make full` writes: {error}") from error


def is_outdated(study: Study, root: Path = STUDIES) -> bool:
    """Return whether the files of a study have changed since its runs at full size."""
    found = kept(study, root)
    return found is not None and found[1].inputs != inputs(study)
