"""Quantities as scenarios write them: a number and its unit."""

import re

from pushout.question import QuestionError

CELL_BYTES = 53

SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0}

QUANTITY = re.compile(r"\s*([-+]?\d(?:_?\d)*(?:\.\d+)?(?:e[-+]?\d+)?)\s*([%A-Za-z/]*)\s*")


def split(text: str) -> tuple[float, str]:
    """A number and its unit: "1000 cells" is (1000.0, "cells")."""
    match = QUANTITY.fullmatch(text)
    if not match:
        raise QuestionError(f"{text!r} is not a number with a unit, as in 1000 cells")
    return float(match[1].replace("_", "")), match[2]


def scaled(text: str, unit: str) -> float | None:
    """The value of "149760 kb/s" in `unit`, here b/s; `None` if it has another unit."""
    number, own = split(text)
    prefix = own.removesuffix(unit)
    return number * SCALES[prefix] if own.endswith(unit) and prefix in SCALES else None


def octets(text: str) -> float | None:
    """The octets of "159 kB", "64 KiB" or "500 bytes"; `None` if it is no such size."""
    number, unit = split(text)
    return number if unit in ("byte", "bytes") else scaled(text, "B")


def seconds(text: str) -> float:
    """The seconds of "40 s" or "100 us"."""
    number, unit = split(text)
    return number * SECONDS[unit]
