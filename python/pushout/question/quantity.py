"""Quantities as scenarios write them: a number and its unit."""

import math
import re
from decimal import Decimal

from pushout.errors import QuestionError
from pushout.excerpt import quoted

CELL_BYTES = 53

SCALES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0}

SIZES: dict[str, int] = {"byte": 1, "bytes": 1, **{f"{prefix}B": int(scale) for prefix, scale in SCALES.items()}}
RATES: dict[str, int] = {f"{prefix}b/s": int(scale) for prefix, scale in SCALES.items() if "i" not in prefix}
TIMES: dict[str, int] = {unit: round(scale / SECONDS["ps"]) for unit, scale in SECONDS.items()}

FINEST: dict[str, int] = {"cell": 1, "cells": 1, **SIZES, **RATES, **TIMES}
"""How many of the smallest steps that a scenario can tell apart are in a unit: bytes, bits per second, picoseconds."""

MICRO = "\N{MICRO SIGN}\N{GREEK SMALL LETTER MU}"

OTHERS = {"cell": "cells", "packet": "packets", "byte": "bytes", **{f"{sign}s": "us" for sign in MICRO}}
"""Other names of units: of one of something, or in print."""

QUANTITY = re.compile(rf"\s*([-+]?\d(?:_?\d)*(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([%A-Za-z/{MICRO}]*)\s*", re.ASCII)


def split(text: str) -> tuple[float, str]:
    """A number and its unit: "1000 cells" is (1000.0, "cells"), and "1 cell" has the same unit."""
    match = QUANTITY.fullmatch(text)
    if not match:
        raise QuestionError(f"{quoted(text)} is not a number with a unit, as in 1000 cells")
    number = float(match[1].replace("_", ""))
    if not math.isfinite(number):
        raise QuestionError(f"{quoted(text)} is too large a number")
    return number, OTHERS.get(match[2], match[2])


def nearest(number: float, unit: str) -> float:
    """The value next to a number, to six digits, that a scenario can have in this unit."""
    number = float(f"{number:.6g}")
    return round(number * FINEST[unit]) / FINEST[unit] if unit in FINEST else number


def alike(low: tuple[float, str], high: tuple[float, str]) -> tuple[float, float, str] | None:
    """Two quantities in one unit, sizes in bytes, rates and times in the finer of theirs; `None` if there is none."""
    (start, one), (end, other) = low, high
    for steps in (SIZES, RATES, TIMES):
        if one in steps and other in steps:
            unit = "bytes" if steps is SIZES else min(one, other, key=steps.__getitem__)
            return start * steps[one] / steps[unit], end * steps[other] / steps[unit], unit
    return (start, end, one) if one == other else None


def text(number: float, unit: str) -> str:
    """A number and its unit as a scenario has them, without an exponent."""
    return f"{Decimal(repr(number)).normalize():f} {unit}"


def scaled(text: str, unit: str) -> float | None:
    """The value of "149760 kb/s" in `unit`, here b/s; `None` if it has another unit."""
    number, own = split(text)
    prefix = own.removesuffix(unit)
    return number * SCALES[prefix] if own.endswith(unit) and prefix in SCALES else None


def octets(text: str) -> float | None:
    """The octets of "159 kB", "64 KiB" or "500 bytes"; `None` if it is no such size."""
    number, unit = split(text)
    return number if unit in ("byte", "bytes") else scaled(text, "B")


def content(text: str) -> tuple[float, str] | None:
    """How much a buffer such as "159 kB" or "1000 cells" holds, in bytes, cells or packets; `None` without a limit."""
    try:
        number, unit = split(text)
    except QuestionError:
        return None
    size = octets(text)
    if size is not None:
        return size, "bytes"
    return (number, f"{unit.removesuffix('s')}s") if unit in ("cell", "cells", "packet", "packets") else None


def seconds(text: str) -> float:
    """The seconds of "40 s" or "100 us"."""
    number, unit = split(text)
    return number * SECONDS[unit]


READABLE = {
    "s": {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9},
    "b/s": {"Gb/s": 1e9, "Mb/s": 1e6, "kb/s": 1e3, "b/s": 1.0},
    "bytes": {"GB": 1e9, "MB": 1e6, "kB": 1e3, "bytes": 1.0},
}
"""For the units that reports have, those in which people read such numbers, the largest first."""


def readable(title: str, largest: float) -> tuple[str, float]:
    """A title such as "delay (s)" with the unit in which numbers up to `largest` are read most easily: (ms), (µs), ….

    And what the numbers are to be multiplied by. A title without a unit that people scale is answered as it is.
    """
    what, bracket, own = title.removesuffix(")").rpartition("(")
    if not bracket or own not in READABLE:
        return title, 1.0
    unit = _easiest(largest, own)
    return f"{what}({unit})", 1 / READABLE[own][unit]


def _easiest(largest: float, own: str) -> str:
    """The unit in which a number is read most easily."""
    units = READABLE[own]
    return next((unit for unit, size in units.items() if largest >= size), list(units)[-1])


def grouped(number: float, digits: int = 0) -> str:
    """A number with so many digits after the point, and those before it in groups of three; with -2, whole hundreds."""
    rounded = round(number, digits) + 0.0  # no -0
    return f"{rounded:,.{max(0, digits)}f}".replace(",", " ")


def shown(value: object) -> str:
    """A swept value: 0.5, 1 (of 1.0), "1000 cells"; – where there is none."""
    return "–" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)


def spoken(text: str) -> str:
    """A quantity of a scenario with its digits in groups of three: "26172185 bytes" is "26 172 185 bytes"."""
    return re.sub(r"^\d+", lambda number: grouped(int(number[0])), text)


def brief(text: str) -> str:
    """The same in four digits, and the unit in which they are read most easily, if it has one: "26.17 MB"."""
    number, own = split(text)
    if own not in READABLE:
        return spoken(text)
    unit = _easiest(abs(number), own)
    return f"{number / READABLE[own][unit]:.4g} {unit}"


def word(unit: str) -> str:
    """A unit as part of a name."""
    return unit.replace("%", "percent").replace("/", "_per_")
