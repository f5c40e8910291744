"""The null model: what a calculation without a simulator gives for the numbers of a study; `[[null]]` of its file.

    numbers     patterns of ids of numbers; the first rule that fits a number counts
    value       an expression without figures: settings of the case, `{}` for the key of the number, a constant by name
    why         the calculation in words

An expression without figures cannot use a run. A number that no rule fits has no null: the calculation misses it. The
second null model chooses constants; see `constants`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from pushout.study.constants import UNKNOWN, Linear
from pushout.study.expression import Expression
from pushout.study.toml_entry import made

Constants = Mapping[str, float | None]
"""The stated values of the constants of a study; None if the settings do not give one."""


@dataclass(frozen=True)
class Null:
    """A rule of the null model, for the numbers whose ids fit its patterns."""

    numbers: tuple[str, ...]
    value: str
    why: str
    constants: Constants = field(default_factory=dict)

    @classmethod
    def read(cls, entry: dict[str, Any], constants: Constants) -> "Null":
        """Read one `[[null]]`."""
        patterns = entry.pop("numbers")
        uses = Expression(
            entry["value"].replace("{}", "1"), tuple(constants)
        ).uses  # raises here, where the rule stands
        if len(uses) > 1:
            raise TypeError(f"value of a null must use one constant, not {len(uses)}: {entry['value']}")
        several = (patterns,) if isinstance(patterns, str) else tuple(patterns)
        return made(cls, {**entry, "numbers": several, "constants": {name: constants[name] for name, _ in uses}})

    def fits(self, number: str) -> bool:
        """Return whether the rule is for a number."""
        return any(fnmatchcase(number, pattern) for pattern in self.numbers)

    def linear(self, key: str) -> Linear:
        """Write the value for a number with this key as a function of its constant."""
        if self.constants:
            ((name, stated),) = self.constants.items()
            base, one, two = (self._at(key, value) for value in (0, 1, 2))
            if abs(two - 2 * one + base) > 1e-9 * max(1, abs(two)):
                raise TypeError(f"value of a null must be linear in {name}: {self.value}")
            return Linear(name, base, one - base, stated)
        value = self._at(key, 0)
        name = f"factor of {self.value}" if value else f"value of {', '.join(self.numbers)}"
        return Linear(name, 0, value or 1, 1 if value else 0)

    def _at(self, key: str, constant: float) -> float:
        """Compute the value for a number with this key and a value of the constant."""
        expression = Expression(self.value.replace("{}", key), tuple(self.constants))
        return float(expression(lambda *_: constant))


def stated_constants(table: Mapping[str, Any]) -> dict[str, float | None]:
    """Read the table `[constant]`."""
    for name, value in table.items():
        if value != UNKNOWN and (not isinstance(value, int | float) or isinstance(value, bool)):
            raise TypeError(f"constant {name} must be a number or {UNKNOWN!r}, not {value!r}")
    return {name: None if value == UNKNOWN else float(value) for name, value in table.items()}


def linear_of(rules: Sequence[Null], number: str, text: str, key: str = "") -> tuple[float | None, Linear]:
    """Return the null of a number, None without a rule or a stated constant, and how it depends on a constant."""
    found = next((rule.linear(key) for rule in rules if rule.fits(number)), None)
    if found is None:
        return None, Linear(f"value of “{text}”", 0, 1, None)
    return (None if found.stated is None else found.at(found.stated)), found
