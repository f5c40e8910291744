"""As printed beside as fitted: `[[override]]` of a `study.toml`.

    assumption, printed     the assumption whose value departs from print, and what is printed
    set."CASES" = []        for a pattern of cases the overrides that restore the printed value

A study is run twice: with the values that it takes, and with all of these as printed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from pushout.study.case import Case
from pushout.study.toml_entry import keys, made


@dataclass(frozen=True)
class Assumption:
    """What the paper does not say, what we take, and why; `fitted` if it was chosen with printed numbers in view."""

    name: str
    value: str
    why: str
    fitted: bool = False


@dataclass(frozen=True)
class Override:
    """A printed setting for which the study takes another one; `sets` restores it, by patterns of cases."""

    assumption: Assumption
    printed: str
    sets: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, entry: dict[str, Any], assumptions: Iterable[Assumption], cases: Mapping[str, Case]) -> "Override":
        """Read one `[[override]]`."""
        name = entry.pop("assumption")
        found = next((each for each in assumptions if each.name == name), None)
        if found is None:
            raise TypeError(f"the override {name!r} is to no assumption of the study")
        sets = {pattern: tuple(changes) for pattern, changes in keys("set", entry.pop("set")).items()}
        for pattern in sets:
            if not any(fnmatchcase(case, pattern) for case in cases):
                raise TypeError(f"the override {name!r} changes no case: none fits {pattern!r}")
        return made(cls, {**entry, "assumption": found, "sets": sets})

    def json(self) -> dict[str, str]:
        """As `reproduce --json` prints it."""
        taken = self.assumption
        return {"name": taken.name, "printed": self.printed, "taken": taken.value, "why": taken.why}


def as_printed(cases: Mapping[str, Case], overrides: Iterable[Override]) -> dict[str, Case]:
    """The cases that are different with every override as printed."""
    sets = [entry for override in overrides for entry in override.sets.items()]
    changes = {
        name: [change for pattern, changes in sets if fnmatchcase(name, pattern) for change in changes]
        for name in cases
    }
    return {name: cases[name].changed(changed) for name, changed in changes.items() if changed}


def fitted(assumptions: Iterable[Assumption], overrides: Iterable[Override]) -> int:
    """How many choices were made with printed numbers in view: the fitted assumptions and those that override print."""
    chosen = {each.name for each in assumptions if each.fitted}
    return len(chosen | {override.assumption.name for override in overrides})
