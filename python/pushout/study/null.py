"""The null model: what a calculation without a simulator gives for the numbers of a study; `[[null]]` of its file.

    numbers     patterns of ids of numbers; the first rule that fits a number counts
    value       an expression without figures: settings of the case as constants, `{}` for the key of the number
    why         the calculation in words

An expression without figures cannot use a run. A number that no rule fits has no null: the calculation misses it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from pushout.study.expression import RUN, Expression
from pushout.study.toml_entry import made


@dataclass(frozen=True)
class Null:
    """A rule of the null model, for the numbers whose ids fit its patterns."""

    numbers: tuple[str, ...]
    value: str
    why: str

    @classmethod
    def read(cls, entry: dict[str, Any]) -> "Null":
        """Read one `[[null]]`."""
        patterns = entry.pop("numbers")
        Expression(entry["value"].replace("{}", "1"), ())  # raises here, where the rule stands, and not at a number
        return made(cls, {**entry, "numbers": (patterns,) if isinstance(patterns, str) else tuple(patterns)})

    def fits(self, number: str) -> bool:
        """Return whether the rule is for a number."""
        return any(fnmatchcase(number, pattern) for pattern in self.numbers)

    def of(self, key: str) -> float:
        """Compute the value for a number with this key."""
        return float(Expression(self.value.replace("{}", key), ())(_without_run))


def _without_run(figure: str, _: str = RUN) -> float:
    """Find a figure for a null model, which has none: `Expression` refuses every name before this is called."""
    raise AssertionError(figure)


def null_of(rules: Sequence[Null], number: str, key: str = "") -> float | None:
    """Return the value of the null model for a number; None if no rule fits it."""
    return next((rule.of(key) for rule in rules if rule.fits(number)), None)
