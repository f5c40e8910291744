"""The numbers of a study's prose, stored as data beside the study: `prose.json`.

Pages read the data and run nothing. `inputs` is a digest of everything that determines the numbers, so that data of an
earlier form of the study are recognised.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushout import _core
from pushout.cache import write
from pushout.records import recorded
from pushout.shipped import STUDIES
from pushout.stats import Interval
from pushout.study import sentences
from pushout.study.case import Case
from pushout.study.expression import ExpressionError, UnmeasuredError, definitions
from pushout.study.finding import Change
from pushout.study.held import quantities
from pushout.study.model import Study, StudyError
from pushout.study.samples import Checked, Samples

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "prose.json"


@dataclass(frozen=True)
class Prose:
    """The numbers of a study's prose by their references, and the checks of its words by their texts."""

    inputs: str
    values: Mapping[str, Interval]
    holds: Mapping[str, Checked]

    @property
    def false(self) -> list[str]:
        """List the comparisons in words that the runs contradict, with the values."""
        return [f"{text!r}, {check['evidence']}" for text, check in self.holds.items() if not check["holds"]]

    def json(self) -> dict[str, Any]:
        """Return the form in which it is kept."""
        return dict(vars(self))

    @property
    def digest(self) -> str:
        """Hash all of it, so that a number changed by hand is recognised."""
        return hashlib.sha256(json.dumps(self.json(), sort_keys=True).encode()).hexdigest()


NO_PROSE = Prose("", {}, {})


def measured(study: Study, samples: Samples) -> Prose:
    """Measure the numbers of the prose, and check its words; a number without a value counts as contradicted words."""
    values, holds = {}, {wording.text: samples.checked(wording.check) for wording in study.wordings}
    for reference, expression in study.values.items():
        try:
            values[reference] = samples.estimate(expression)
        except UnmeasuredError as error:
            holds[f"{{{reference}}}"] = {"holds": False, "sure": None, "evidence": str(error)}
        except ExpressionError as error:
            raise StudyError(f"{study.id}: the reference {{{reference}}} of the prose: {error}") from error
    return Prose(inputs(study), values, holds)


def check_settings(place: str, settings: Iterable[Change], cases: Mapping[str, Case]) -> None:
    """Raise if the prose states a setting that a case does not have."""
    for setting in settings:
        for name, case in cases.items():
            other = setting.of(case)
            if other != case and other.job().explain() != case.job().explain():
                message = f"{place}: settings must be those of the cases, not {setting.name!r}"
                raise StudyError(f"{message}, which changes {name!r}")


def inputs(study: Study) -> str:
    """Hash what determines the numbers of the prose: scenarios, overrides, replications, references and checks.

    The quantities that are no references belong to it: one that becomes another setting of the study needs a look.
    """
    checks = [*study.values.values(), *(wording.check for wording in study.wordings)]
    used = {case for check in checks for _, case in check.uses}
    cases = [case for name, case in study.cases.items() if name in used]
    parts = {
        "scenarios": sorted({hashlib.sha256(case.scenario.read_bytes()).hexdigest() for case in cases}),
        "cases": {case.id: [case.scenario.name, case.reps, *case.sets] for case in cases},
        "checks": [check.text for check in checks],
        "figures": definitions(study.figures, checks),
        "quantities": [number for _, _, text in sentences.sentences(study) for number in quantities(text)],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def save(prose: Prose, folder: Path, study: str) -> None:
    """Write the numbers of a study's prose, with the version of the simulator."""
    document = {"version": _core.VERSION, "digest": prose.digest, **prose.json()}
    write(folder / f"{study}.json", recorded(document))


def kept(study: Study, root: Path = STUDIES) -> Prose:
    """Read the numbers of a study's prose; none if they have not been kept."""
    file = root / study.id / FILE
    if not file.is_file():
        return NO_PROSE
    try:
        document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        found = Prose(*(document[name] for name in Prose.__dataclass_fields__))
        if document["digest"] != found.digest:
            raise ValueError("a number was changed by hand")
    except (ValueError, LookupError, TypeError) as error:
        raise StudyError(f"{file}: the data must be those that `make findings` writes: {error}") from error
    return found


def filled_study(study: Study, root: Path = STUDIES) -> Study:
    """Fill the references of a study's prose with the kept numbers."""
    filled: Study = sentences.with_values(study, kept(study, root).values)
    return filled


def complaints(study: Study, root: Path = STUDIES) -> "Iterator[str]":
    """Yield what is wrong with the kept numbers of the prose: they are of other runs, or its words do not hold."""
    if not study.values and not study.wordings:
        return
    found = kept(study, root)
    if found.inputs != inputs(study):
        yield f"{study.id}: its prose has changed since its runs: make findings"
    for text in found.false:
        yield f"{study.id}: the runs contradict its prose: {text}"
