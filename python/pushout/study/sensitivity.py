"""Vary an assumption and compare with print again: `[[sensitivity]]` of a `study.toml`.

assumption, question    the assumption to vary; with a question, competing explanations are compared
taken                   the label of the value that the study uses, which needs no further runs
cases, reps             the cases (a pattern, or several) to run again, and the number of replications (2)
value."LABEL" = []      for every other value, the overrides appended to those of each case, or a table of patterns
as_printed              whether all settings are as printed and `taken` names them, not the study's own value (false)
fit, predict            patterns of numbers: the former choose a value, which is held against the latter
fitted_on, predicts     the names of these two groups of numbers

Every number and claim that uses only these cases is judged again for each value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from pushout.study.case import Case
from pushout.study.settings import changed, check_patterns
from pushout.study.toml_entry import made

DEFAULT_REPS = 2


@dataclass(frozen=True)
class Sensitivity:
    """An assumption with its values; each has its cases, by the ids of those that they replace."""

    assumption: str
    question: str
    taken: str
    reps: int
    fit: tuple[str, ...]
    predict: tuple[str, ...]
    fitted_on: str
    predicts: str
    values: Mapping[str, Mapping[str, Case]]

    @classmethod
    def read(cls, entry: dict[str, Any], cases: Mapping[str, Case], printed: Mapping[str, Case]) -> "Sensitivity":
        """Read one `[[sensitivity]]`; `taken` comes first among the values, `printed` are cases as printed."""
        patterns = entry.pop("cases")
        patterns = [patterns] if isinstance(patterns, str) else patterns
        base = {**cases, **printed} if entry.pop("as_printed", False) else cases
        chosen = {name: case for name, case in base.items() if any(fnmatchcase(name, pattern) for pattern in patterns)}
        if not chosen:
            raise TypeError(f"cases of the sensitivity {entry['assumption']!r} must match a case, not {patterns!r}")
        values = {entry["taken"]: chosen}
        for label, sets in entry.pop("value").items():
            by_pattern = sets if isinstance(sets, dict) else {"*": sets}
            check_patterns(f"the value {label!r}", by_pattern, chosen)
            values[label] = {**chosen, **changed(chosen, by_pattern.items())}
        numbers = {key: tuple(entry.pop(key, ())) for key in ("fit", "predict")}
        names = {"question": "", "fitted_on": "", "predicts": ""}
        return made(cls, {**names, "reps": DEFAULT_REPS, **entry, **numbers, "values": values})
