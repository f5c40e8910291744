"""Quantities as in scenarios: a number and its unit."""

import math
import re
from decimal import Decimal
from typing import Any

from pushout.errors import QuestionError
from pushout.excerpt import quoted

CELL_BYTES = 53

SCALES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0}

SIZES: dict[str, int] = {"byte": 1, "bytes": 1, **{f"{prefix}B": int(scale) for prefix, scale in SCALES.items()}}
RATES: dict[str, int] = {f"{prefix}b/s": int(scale) for prefix, scale in SCALES.items() if "i" not in prefix}
TIMES: dict[str, int] = {unit: round(scale / SECONDS["ps"]) for unit, scale in SECONDS.items()}

FINEST: dict[str, int] = {"cell": 1, "cells": 1, "packet": 1, "packets": 1, "BDP": 10**6, **SIZES, **RATES, **TIMES}
"""Units in the smallest steps of a scenario: cells, packets, millionths of a BDP, bytes, bits per second, ps."""

MICRO = "\N{MICRO SIGN}\N{GREEK SMALL LETTER MU}"

OTHERS = {"cell": "cells", "packet": "packets", "byte": "bytes", **{f"{sign}s": "us" for sign in MICRO}}
"""Alternative names of units: singular, or typographic."""

QUANTITY = re.compile(rf"\s*([-+]?\d(?:_?\d)*(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*([%A-Za-z/{MICRO}]*)\s*", re.ASCII)


def split(text: str) -> tuple[float, str]:
    """Split a quantity: "1000 cells" is (1000.0, "cells"), and "1 cell" has the same unit."""
    match = QUANTITY.fullmatch(text)
    if not match:
        raise QuestionError(f"the value must be a number with a unit, as in 1000 cells, not {quoted(text)}")
    number = float(match[1].replace("_", ""))
    if not math.isfinite(number):
        raise QuestionError(f"the value must be a smaller number, not {quoted(text)}")
    return number, OTHERS.get(match[2], match[2])


def nearest(number: float, unit: str) -> float:
    """Round a number to six digits and to a value that a scenario can have in this unit."""
    number = float(f"{number:.6g}")
    return round(number * FINEST[unit]) / FINEST[unit] if unit in FINEST else number


def alike(low: tuple[float, str], high: tuple[float, str]) -> tuple[float, float, str] | None:
    """Convert two quantities to a common unit: bytes for sizes, else the finer one; `None` if there is none."""
    (start, one), (end, other) = low, high
    for steps in (SIZES, RATES, TIMES):
        if one in steps and other in steps:
            unit = "bytes" if steps is SIZES else min(one, other, key=steps.__getitem__)
            return start * steps[one] / steps[unit], end * steps[other] / steps[unit], unit
    return (start, end, one) if one == other else None


def text(number: float, unit: str) -> str:
    """Write a number and its unit for a scenario, without an exponent."""
    return f"{Decimal(repr(number)).normalize():f} {unit}"


def scaled(text: str, unit: str) -> float | None:
    """Convert "149760 kb/s" to `unit`, here b/s; `None` if it has another unit."""
    number, own = split(text)
    prefix = own.removesuffix(unit)
    return number * SCALES[prefix] if own.endswith(unit) and prefix in SCALES else None


def bits_per_second(text: Any) -> float | None:
    """Convert a rate to bits per second; `None` if there is none or it counts something else, as in "200 per s"."""
    try:
        return scaled(str(text), "b/s")
    except QuestionError:
        return None


def octets(text: str) -> float | None:
    """Convert "159 kB", "64 KiB" or "500 bytes" to octets; `None` if it is not such a size."""
    number, unit = split(text)
    return number if unit in ("byte", "bytes") else scaled(text, "B")


def content(text: str) -> tuple[float, str] | None:
    """Convert a buffer such as "159 kB" or "1000 cells" to bytes, cells or packets; `None` without a limit."""
    try:
        number, unit = split(text)
    except QuestionError:
        return None
    size = octets(text)
    if size is not None:
        return size, "bytes"
    return (number, f"{unit.removesuffix('s')}s") if unit in ("cell", "cells", "packet", "packets") else None


def seconds(text: str) -> float:
    """Convert "40 s" or "100 us" to seconds."""
    number, unit = split(text)
    return number * SECONDS[unit]


def percent(share: float) -> str:
    """Write a share in percent, with two digits and never with a power of ten."""
    return f"{100 * share:{'.0f' if share >= 0.0995 else '.2g'}} %"


READABLE = {
    "s": {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9},
    "b/s": {"Gb/s": 1e9, "Mb/s": 1e6, "kb/s": 1e3, "b/s": 1.0},
    "bytes": {"GB": 1e9, "MB": 1e6, "kB": 1e3, "bytes": 1.0},
}
"""For the units of reports, the readable units, largest first."""


def readable(title: str, largest: float) -> tuple[str, float]:
    """Give a title such as "delay (s)" the most readable unit for numbers up to `largest`: (ms), (µs), ….

    Also return the factor for the numbers. A title without such a unit stays as it is.
    """
    what, bracket, own = title.removesuffix(")").rpartition("(")
    if not bracket or own not in READABLE:
        return title, 1.0
    unit = _easiest(largest, own)
    return f"{what}({unit})", 1 / READABLE[own][unit]


def _easiest(largest: float, own: str) -> str:
    """Choose the most readable unit for a number."""
    units = READABLE[own]
    return next((unit for unit, size in units.items() if largest >= size), list(units)[-1])


def grouped(number: float, digits: int = 0) -> str:
    """Write a number with `digits` decimals, in groups of three digits; with -2, rounded to hundreds."""
    rounded = round(number, digits) + 0.0  # no -0
    return f"{rounded:,.{max(0, digits)}f}".replace(",", " ")


def shown(value: object) -> str:
    """Write a swept value: 0.5, 1 (for 1.0), "1000 cells"; – if it is missing."""
    return "–" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)


def spoken(text: str) -> str:
    """Group the digits of a quantity: "26172185 bytes" becomes "26 172 185 bytes"."""
    return re.sub(r"^\d+", lambda number: grouped(int(number[0])), text)


def brief(text: str) -> str:
    """Write a quantity with four digits in its most readable unit: "26.17 MB"."""
    number, own = split(text)
    if own not in READABLE:
        return spoken(text)
    unit = _easiest(abs(number), own)
    return f"{number / READABLE[own][unit]:.4g} {unit}"


def word(unit: str) -> str:
    """Write a unit as part of a name."""
    return unit.replace("%", "percent").replace("/", "_per_")
