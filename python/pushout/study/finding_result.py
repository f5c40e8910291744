"""Results of the runs of findings, stored as data beside the study: `findings.json`.

The documentation and the report read the data and run nothing. `inputs` is a digest of everything that determines the
runs and the verdicts, so that data of an earlier form of the study are recognised. The prose is not part of it: its
references are looked up in the data.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pushout import _core
from pushout.cache import write
from pushout.records import recorded
from pushout.shipped import STUDIES
from pushout.stats import Interval
from pushout.study.expression import definitions
from pushout.study.finding import Finding
from pushout.study.model import Study, StudyError
from pushout.study.samples import Checked

FILE = "findings.json"


@dataclass(frozen=True)
class Result:
    """Results of a finding; `range` by the names of its changes, `values` by the references of the prose."""

    id: str
    inputs: str
    seeds: Sequence[int]
    values: Mapping[str, Interval]
    comparison: Checked
    control: Checked
    range: Mapping[str, Checked]

    @property
    def failures(self) -> list[str]:
        """Name what does not hold."""
        parts = {"comparison": self.comparison, "control": self.control, **self.range}
        return [name for name, check in parts.items() if not check["holds"]]

    def json(self) -> dict[str, Any]:
        """Return the form in which it is kept."""
        return {**vars(self), "failures": self.failures}

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> "Result":
        """Read the form in which it is kept."""
        return cls(**{name: kept[name] for name in cls.__dataclass_fields__})


def inputs(study: Study, finding: Finding) -> str:
    """Hash what determines the runs and the verdicts of a finding: scenarios, overrides, checks, figures and seeds."""
    checks = [finding.comparison, finding.control.check, *finding.values.values()]
    cases = finding.cases.values()
    scenarios = {case.scenario for case in cases}
    parts = {
        "scenarios": sorted(hashlib.sha256(scenario.read_bytes()).hexdigest() for scenario in scenarios),
        "cases": {case.id: [case.scenario.name, *case.sets] for case in cases},
        "range": {change.name: dict(change.sets) for change in finding.range},
        "checks": [check.text for check in checks],
        "figures": definitions(study.figures, checks),
        "seeds": finding.seeds,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def document(results: Mapping[str, Sequence[Result]]) -> dict[str, Any]:
    """Return the document of `reproduce --findings --json`."""
    return {"studies": [{"id": study, "findings": [each.json() for each in found]} for study, found in results.items()]}


def save(results: Sequence[Result], folder: Path, study: str) -> None:
    """Write what the findings of a study gave, with the version of the simulator."""
    document = {"version": _core.VERSION, "findings": [result.json() for result in results]}
    write(folder / f"{study}.json", recorded(document))


def kept(study: Study, root: Path = STUDIES) -> dict[str, Result]:
    """Read the data of a study's findings, by their ids; empty if there are none."""
    file = root / study.id / FILE
    if not file.is_file():
        return {}
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        return {result.id: result for result in map(Result.read, document["findings"])}
    except (ValueError, LookupError, TypeError) as error:
        raise StudyError(f"{file}: the data of findings must be those that `make findings` writes: {error}") from error


def problem(study: Study, finding: Finding, result: Result | None) -> str:
    """Return why a finding fails: it was not run, has changed since its runs, or is wrong; empty if it stands."""
    if result is None:
        return "has not been run"
    if result.inputs != inputs(study, finding):
        return "has changed since its runs"
    return f"fails: {', '.join(result.failures)}" if result.failures else ""
