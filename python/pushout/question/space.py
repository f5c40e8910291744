"""The range of a search."""

import difflib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pushout import quantity
from pushout.document import Document, figure, steps
from pushout.errors import Argument, FigureError, QuestionError
from pushout.excerpt import excerpt, quoted
from pushout.names.figures import did_you_mean
from pushout.names.port import quoted as as_step
from pushout.quantity import split
from pushout.source import toml

WHOLE = ("cell", "cells", "byte", "bytes", "packet", "packets")
"""Units counted in integers."""

PLAIN = ("", "cell", "cells", "packet", "packets", "%")
"""Units of the scenario that a number without unit takes; other units have alternatives, so they must be written."""

LEAST_SHARE, MOST_TIMES = 1 / 32, 4
"""The default range, relative to the scenario's value."""

LOW, HIGH = Argument("low"), Argument("high")
ENDS = (LOW, " and ", HIGH)
ASK = (": give the range by ", *ENDS)
NUMBER = " must be a key with a number, as in port.bottleneck.buffer"


@dataclass(frozen=True)
class Space:
    """The range of a search: from `low` to `high`, of integers or not, on a logarithmic or linear scale."""

    low: float
    high: float
    unit: str
    whole: bool
    log: bool

    def at(self, place: float) -> float:
        """Map a number between 0 and 1 to a value."""
        value = self.low * (self.high / self.low) ** place if self.log else self.low + (self.high - self.low) * place
        return self.round(value)

    def between(self, low: float, high: float) -> float:
        """Return the value in the middle of two."""
        return self.round(math.sqrt(low * high) if self.log else (low + high) / 2)

    def round(self, value: float) -> float:
        """Round to the nearest valid value."""
        return float(round(value)) if self.whole else quantity.nearest(value, self.unit)

    def text(self, value: float) -> str:
        """Write a value as in a scenario."""
        if self.unit:
            return quantity.text(int(value) if self.whole else value, self.unit)
        return f"{int(value)}" if self.whole else f"{value:.6g}"

    def toml(self, value: float) -> str:
        """Write a value as in an override."""
        return toml(self.text(value)) if self.unit else self.text(value)


def space(explained: Document, over: str, low: str | None, high: str | None, *, written: Any = None) -> Space:
    """Make the range from `low` to `high`, by default around the scenario's value.

    A key that the scenario writes (`written` is its value) need not exist in the explained one, as in a template.
    """
    now = _now(explained, over, written)
    if (low is None or high is None) and now is None:
        raise _unknown(explained, over, written is not None)
    number, unit = now or (0.0, "")
    most = min(MOST_TIMES * number, 100.0) if unit == "%" else MOST_TIMES * number
    start, one = _end(LOW, low) if low is not None else (LEAST_SHARE * number, unit)
    end, other = _end(HIGH, high) if high is not None else (most, unit)
    if unit not in PLAIN:
        _refuse_bare(low, high, f"{excerpt(over)} is {number:.10g} {unit}")
    units = (one or other or unit, other or one or unit)
    together = quantity.alike((start, units[0]), (end, units[1]))
    if together is None:
        raise QuestionError(LOW, " and ", HIGH, f" must have units that can be compared, not {one} and {other}")
    start, end, unit = together
    if not _is_finite(start, end, unit):
        first, last = excerpt(low or f"{start:g} {unit}"), excerpt(high or f"{end:g} {unit}")
        raise QuestionError(LOW, " and ", HIGH, f" must be closer together than {first} and {last}")
    whole = unit in WHOLE or (not unit and _are_whole(low, high))
    if whole and start < 0:
        raise QuestionError(LOW, f" must be at least 0, not {excerpt(low or '')}")
    asked = [
        f"{value:.10g} {unit}".strip() if text is None else excerpt(text) for value, text in ((start, low), (end, high))
    ]
    if one != other:  # an end without unit takes that of the other, so show it
        asked = [
            text if own else f"{text} (without unit, so {units[0]})"
            for text, own in zip(asked, (one, other), strict=True)
        ]
    return _ordered(start, end, unit, whole, f", not {asked[0]} and {asked[1]}")


def _refuse_bare(low: str | None, high: str | None, now: str) -> None:
    """Refuse ends without a unit, if all that are given have none; `now` says what the scenario has."""
    given = [(end, text) for end, text in ((LOW, low), (HIGH, high)) if text is not None]
    if given and not any(split(text)[1] for _, text in given):
        bare, text = given[0]
        raise QuestionError(bare, f" must have a unit, not be {excerpt(text)}: {now} in the scenario")


def _ordered(start: float, end: float, unit: str, whole: bool, asked: str) -> Space:
    """Make the range, if it has two values or more; `asked` quotes its ends for the message."""
    if start <= end and whole:
        start, end = max(1.0, float(round(start))), float(round(end))
        asked += f" (whole {unit or 'numbers'} from 1)"
    if not start < end:
        raise QuestionError(LOW, " must be less than ", HIGH, asked)
    return Space(start, end, unit, whole, log=start > 0 and end >= 4 * start)


def _end(name: Argument, text: str) -> tuple[float, str]:
    """Parse one end of the range into a number and its unit."""
    try:
        return split(text)
    except QuestionError as error:
        raise QuestionError(name, ": ", error) from None


def _is_finite(start: float, end: float, unit: str) -> bool:
    """Return whether a range can be computed in floating point."""
    try:
        quantity.nearest(start, unit), quantity.nearest(end, unit)
    except OverflowError:
        return False
    return all(map(math.isfinite, (end - start, end / start if start else 0.0)))


def _are_whole(*texts: str | None) -> bool:
    """Return whether the given ends are integers."""
    given = [text for text in texts if text is not None]
    return bool(given) and all(re.fullmatch(r"\s*\d+\s*", text, re.ASCII) for text in given)


def _now(explained: Document, over: str, written: Any) -> tuple[float, str] | None:
    """Return the scenario's value, if it is a number."""
    try:
        value = figure(explained, over)
    except FigureError:
        value = written
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value), ""
    try:
        return split(str(value))
    except QuestionError:
        return None


def _unknown(explained: Document, over: str, written: bool) -> QuestionError:
    """Explain why the scenario does not give a range."""
    try:
        value = figure(explained, over)
    except FigureError:
        why = f"{excerpt(over)} has no value in the scenario"
        if written:
            why = (
                f"{excerpt(over)} is not a single value in the complete scenario (pushout explain), which writes it as "
                "several entries of other names"
            )
        elif named := near_keys(explained, over):
            return QuestionError(f"{why}; {did_you_mean(named)} Otherwise give the range by ", *ENDS)
        elif missing := _missing(explained, over):
            why = f"{why}, which has no {excerpt(missing)}"
        return QuestionError(why, *ASK)
    if isinstance(value, dict | list):
        what = "a table" if isinstance(value, dict) else "a list"
        return QuestionError(Argument("over"), NUMBER, f"; {excerpt(over)} is {what} in the scenario")
    if value == "unlimited":
        return QuestionError(f"{excerpt(over)} is {quoted(value)} in the scenario, not a number", *ASK)
    return QuestionError(Argument("over"), NUMBER, f"; {excerpt(over)} is {quoted(value)} in the scenario")


def near_keys(explained: Document, over: str) -> list[str]:
    """List keys with numbers that are like one without: those of the same last name, or with a name like its own."""
    known = {key: steps(key)[-1] for key in _keys(explained)}
    last = steps(over)[-1]
    names = [last] if last in known.values() else difflib.get_close_matches(last, set(known.values()), n=1)
    alike = [key for key, name in known.items() if name in names]
    if not alike and last == "buffer":  # ports that share a memory have no buffers of their own
        alike = [key for key in known if re.fullmatch(r"memory\.[^.]+\.size", key)]
    return sorted(alike, key=lambda key: -difflib.SequenceMatcher(None, over, key).ratio())[:NEAR]


def _missing(explained: Document, over: str) -> str:
    """Return the first part of a path that the scenario lacks; empty if it lacks only the last key."""
    names = steps(over)
    for count in range(1, len(names)):
        path = ".".join(map(as_step, names[:count]))
        try:
            figure(explained, path)
        except FigureError:
            return path
    return ""


NEAR = 3
"""Keys suggested at most."""


def _keys(node: Any) -> Iterator[str]:
    """Yield the paths of all numbers below a node of an explained scenario."""
    if isinstance(node, list):
        node = {entry["name"]: entry for entry in node if isinstance(entry, dict) and "name" in entry}
    for name, value in node.items() if isinstance(node, dict) else ():
        if isinstance(value, dict | list):
            yield from (f"{as_step(name)}.{key}" for key in _keys(value))
        elif _is_number(value):
            yield as_step(name)


def _is_number(value: Any) -> bool:
    """Return whether a value is a number, with a unit or without."""
    if isinstance(value, str):
        try:
            return bool(split(value))
        except QuestionError:
            return False
    return isinstance(value, int | float) and not isinstance(value, bool)
