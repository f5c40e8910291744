"""As printed beside as fitted: `[[override]]` of a `study.toml`.

    assumption, printed     the assumption whose value departs from print, and what is printed
    set."CASES" = []        for a pattern of cases the overrides that restore the printed value
    unknown                 patterns of numbers without a value as printed, since the paper does not give the setting

A study is run twice: with the values that it takes, and with all of these as printed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from pushout.study.case import Case
from pushout.study.toml_entry import keys, made


@dataclass(frozen=True)
class Assumption:
    """A setting that the paper omits, our value and the reason; `fitted` if chosen with printed numbers in view."""

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
    unknown: tuple[str, ...] = ()

    @classmethod
    def read(cls, entry: dict[str, Any], assumptions: Iterable[Assumption], cases: Mapping[str, Case]) -> "Override":
        """Read one `[[override]]`."""
        name = entry.pop("assumption")
        found = next((each for each in assumptions if each.name == name), None)
        if found is None:
            raise TypeError(f"the override {name!r} is to no assumption of the study")
        sets = {pattern: tuple(changes) for pattern, changes in keys("set", entry.pop("set", {})).items()}
        unknown = tuple(entry.pop("unknown", ()))
        if not sets and not unknown:
            raise KeyError("set")
        check_patterns(f"the override {name!r}", sets, cases)
        return made(cls, {**entry, "assumption": found, "sets": sets, "unknown": unknown})

    def json(self) -> dict[str, str]:
        """As `reproduce --json` prints it."""
        taken = self.assumption
        return {"name": taken.name, "printed": self.printed, "taken": taken.value, "why": taken.why}


def as_printed(cases: Mapping[str, Case], overrides: Iterable[Override]) -> dict[str, Case]:
    """The cases that are different with every override as printed."""
    return changed(cases, [entry for override in overrides for entry in override.sets.items()])


def changed(cases: Mapping[str, Case], sets: Iterable[tuple[str, Sequence[str]]]) -> dict[str, Case]:
    """Add to each case the overrides of every pattern that it fits; return the cases that are different then."""
    patterns = list(sets)
    changes = {
        name: [change for pattern, changes in patterns if fnmatchcase(name, pattern) for change in changes]
        for name in cases
    }
    return {name: cases[name].changed(own) for name, own in changes.items() if own}


def check_patterns(place: str, patterns: Iterable[str], cases: Iterable[str]) -> None:
    """Raise if a pattern fits no case."""
    names = list(cases)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise TypeError(f"{place} changes no case: none fits {pattern!r}")


def fitted(assumptions: Iterable[Assumption], overrides: Iterable[Override]) -> int:
    """Count the choices made with printed numbers in view: the fitted assumptions and those that override print."""
    chosen = {each.name for each in assumptions if each.fitted}
    return len(chosen | {override.assumption.name for override in overrides})
