"""Numbers that a paper took from a single run: how often one of our runs is like it; `[[single]]` of a study.

    numbers     patterns of numbers
    runs        replications at full size (200, the least)
    why         the place where the paper says, or shows, that it is one run

`reproduce --full` runs their cases and counts, for each number, the runs below print, at it (within half a unit of the
last printed digit) and above. The counts are kept beside the study with their commit: `single.json`. A run is *like
print* if it is at print or beyond it, on the side where fewer runs are; the share of such runs estimates the
probability of the printed run under the model.
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
from pushout.stats import share_interval
from pushout.study.case import counted
from pushout.study.expression import definitions
from pushout.study.tolerance import half_a_digit
from pushout.study.toml_entry import made

FILE = "single.json"

RUNS = 200
"""Least number of runs, and the default: a share of 0.05 is then known to within about 0.03."""

SELDOM = 0.05
"""A printed run is unlikely under the model if fewer runs than one of 20 are like it."""

Study = Any
"""A `Study` of the module `model`, which reads its single runs with this module."""


@dataclass(frozen=True)
class Single:
    """Numbers of a study that come from one run of the paper each."""

    numbers: tuple[str, ...]
    runs: int
    why: str

    @classmethod
    def read(cls, entry: dict[str, Any]) -> "Single":
        """Read one `[[single]]`."""
        runs = counted(entry.pop("runs", RUNS), "runs")
        if runs < RUNS:
            raise TypeError(f"runs must be at least {RUNS}, not {runs}")
        patterns = entry.pop("numbers")
        return made(
            cls, {**entry, "runs": runs, "numbers": tuple([patterns] if isinstance(patterns, str) else patterns)}
        )


@dataclass(frozen=True)
class Likeness:
    """Counts of runs below print, at it, and above; `inputs` is a digest of what determines the runs."""

    inputs: str
    below: int
    at: int
    above: int

    @classmethod
    def count(cls, inputs: str, values: Sequence[float], published: float) -> "Likeness":
        """Count the values of runs."""
        near = half_a_digit(published)
        below = sum(value < published - near for value in values)
        above = sum(value > published + near for value in values)
        return cls(inputs, below, len(values) - below - above, above)

    @property
    def runs(self) -> int:
        """Return the number of runs."""
        return self.below + self.at + self.above

    @property
    def like(self) -> int:
        """Return the number of runs that are like print."""
        return min(self.below, self.above) + self.at

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the probability of a run like print."""
        return share_interval(self.like, self.runs)

    @property
    def verdict(self) -> str:
        """`usual`, `possible` (the interval reaches one of 20), `seldom`, or `unseen` (no run is like print)."""
        low, high = self.interval
        if low >= SELDOM:
            return "usual"
        if high >= SELDOM:
            return "possible"
        return "seldom" if self.like else "unseen"

    def __str__(self) -> str:
        low, high = (f"{100 * end:.1f}" for end in self.interval)
        seldom = self.like and self.runs / self.like >= 1.5
        one = f", one run of {self.runs / self.like:.0f}" if seldom else ""
        return f"{self.verdict}: {self.like} of {self.runs} runs are like print{one} ({low} to {high} %)"

    def json(self) -> dict[str, Any]:
        """Return the part of `reproduce --json`."""
        own = {"runs": self.runs, "like": self.like, "probability": self.like / self.runs}
        return {**own, "ci95": list(self.interval), "verdict": self.verdict}


def inputs(study: Study, number: Any) -> str:
    """Hash what determines the runs of a number: scenarios, overrides, its measure and figures."""
    cases = [study.cases[case] for case in sorted({case for _, case in number.measure.uses})]
    parts = {
        "scenarios": sorted({hashlib.sha256(case.scenario.read_bytes()).hexdigest() for case in cases}),
        "cases": {case.id: [case.scenario.name, *case.sets] for case in cases},
        "measure": number.measure.text,
        "published": number.published,
        "figures": definitions(study.figures, [number.measure]),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def save(found: Mapping[str, Likeness], folder: Path, study: str) -> None:
    """Write the counts of a study's numbers, with the version of the simulator."""
    document = {"version": _core.VERSION, "numbers": {name: vars(each) for name, each in found.items()}}
    write(folder / f"{study}.json", recorded(document))


def kept(study: Study, root: Path = STUDIES) -> dict[str, Likeness]:
    """Read the counts of a study's numbers; those of other runs or of another printed value are left out."""
    file = root / study.id / FILE
    if not file.is_file():
        return {}
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        found = {name: Likeness(**each) for name, each in document["numbers"].items()}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise TypeError(f"{file}: the data must be those that `make full` writes: {error}") from error
    numbers = {number.id: number for number in study.numbers}
    return {
        name: each for name, each in found.items() if name in numbers and each.inputs == inputs(study, numbers[name])
    }
