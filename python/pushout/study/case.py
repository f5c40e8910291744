"""The runs of a study: the entries of `[[cases]]`, each a grid of cases.

A case is a scenario, or with `worst` in the place of `scenario` a question about a worst case (`pushout/exact.py`).
"""

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pushout.exact import Exact
from pushout.excerpt import quoted
from pushout.simulate import Job
from pushout.source import read


@dataclass(frozen=True)
class Case:
    """A scenario and its overrides; `reps` is the default number of replications, `full` that of `--full` if larger."""

    id: str
    scenario: Path
    sets: tuple[str, ...]
    reps: int
    full: int = 0
    is_worst: bool = False
    """Whether `scenario` is the file of a question about an exact worst case."""

    def job(self) -> Job | Exact:
        """Make the job of the case."""
        text = read(str(self.scenario))
        return Exact(text, self.sets) if self.is_worst else Job(text, self.sets)

    def changed(self, sets: Sequence[str]) -> "Case":
        """Add overrides to the case."""
        return replace(self, sets=(*self.sets, *sets))


def cases(grid: dict[str, Any], folder: Path, reps: int) -> Iterator[Case]:
    """Read one `[[cases]]` of a study in this folder; `reps` is the number of replications if the entry has none."""
    axes: Mapping[str, Mapping[str, list[str]]] = {name: _axis(values) for name, values in grid.pop("axis", {}).items()}
    pattern, is_worst = grid.pop("id"), "worst" in grid
    scenario = _beside(folder, grid.pop("worst" if is_worst else "scenario"))
    reps = counted(grid.pop("reps", 1 if is_worst else reps))
    full = counted(grid.pop("full", reps), "full")
    if grid:
        raise TypeError(
            f"unknown key of [[cases]]: {', '.join(grid)} (allowed: id, scenario or worst, axis, reps, full)"
        )
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        sets = tuple(change for axis, value in chosen.items() for change in axes[axis][value])
        yield Case(_named(pattern, chosen), scenario, sets, reps, full, is_worst)


def _named(pattern: str, chosen: Mapping[str, str]) -> str:
    """Write the id of a case: the value of an axis in place of its name in braces."""
    found = pattern
    for axis, value in chosen.items():
        found = found.replace(f"{{{axis}}}", value)
    if "{" in found or "}" in found:
        axes = ", ".join(f"{{{axis}}}" for axis in chosen) or "none, since the entry has no axis"
        raise TypeError(f"id must have only axes in braces, not {quoted(pattern)} (allowed: {axes})")
    return found


def counted(reps: object, name: str = "reps") -> int:
    """Return a number of replications; refuse what is not an integer of at least 1."""
    if not isinstance(reps, int) or isinstance(reps, bool) or reps < 1:
        raise TypeError(f"{name} must be an integer of at least 1, not {reps!r}")
    return reps


def _beside(folder: Path, name: str) -> Path:
    """Find a file that a study names, which other studies may share (`../../scenarios/lan.toml`)."""
    return Path(os.path.normpath(folder / name))


def _axis(values: Mapping[str, Any]) -> Mapping[str, list[str]]:
    if values.keys() != {"values", "set"}:
        return values
    return {str(value): [change.replace("{}", str(value)) for change in values["set"]] for value in values["values"]}
