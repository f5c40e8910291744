"""Rates of lines that change: their mean, and how a table names them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pushout.quantity import SECONDS, octets, scaled, split

OPPORTUNITY_BITS = 12_000
"""Bits of an opportunity in a trace of milliseconds: 1500 octets."""


def mean_bps(rate: Any, duration: str) -> float:
    """Return the mean rate of a line of an explained scenario over its duration, in bits per second.

    For two drawn states it is the mean of a long time.
    """
    if not isinstance(rate, Mapping):
        return _bps(rate)
    if grants := rate.get("grants"):
        return 8 * (octets(grants["size"]) or 0.0) / _seconds(grants["every"])
    if states := rate.get("states"):
        bad, good = (float(str(states[key]).split()[0]) for key in ("to_bad", "to_good"))
        return (good * _bps(states["good"]) + bad * _bps(states["bad"])) / ((good + bad) or 1.0)
    end = _seconds(duration)
    rows = rate["steps"] if "steps" in rate else _rows(rate["data"])
    period = rate.get("period")
    if rows and len(rows[0]) == 1:
        times = [int(time) for (time,) in rows]
        lap = times[-1] if period in (None, "as-read") else 1000 * _seconds(period)
        return OPPORTUNITY_BITS * _before(times, lap, 1000 * end) / end
    table = [(_seconds(time), _bps(bps)) for time, bps in rows]
    if period is None:
        return _work(table, end) / end
    laps, rest = divmod(end, _seconds(period))
    return (laps * _work(table, _seconds(period)) + _work(table, rest)) / end


def named(rate: Any) -> str:
    """Write how the rate of a line changes, in a few words; a constant rate as it is."""
    if not isinstance(rate, Mapping):
        return str(rate)
    if grants := rate.get("grants"):
        return f"{grants['size']} every {grants['every']}"
    if states := rate.get("states"):
        return f"{states['good']} or {states['bad']}, drawn"
    if trace := rate.get("trace"):
        return f"trace {trace}"
    steps = rate["steps"]
    first = ", ".join(bps if at == 0 else f"{bps} from {time}" for at, (time, bps) in enumerate(steps[:3]))
    return first if len(steps) <= 3 else f"{first}, … ({len(steps)} steps)"


def _before(times: Sequence[int], lap: float, end: float) -> float:
    """Count the opportunities before an instant, in milliseconds; one at the end of a lap belongs to the next one."""
    laps = max(math.ceil(end / lap - 1e-9) - 1, 0)
    return laps * len(times) + sum(time < end - laps * lap - 1e-9 for time in times)


def _rows(data: Any) -> list[Sequence[str]]:
    """Split the text of a trace into the words of its lines, without comments."""
    lines = (line.strip("\ufeff \t") for line in str(data).splitlines())
    return [_words(line) for line in lines if line and not line.startswith("#")]


def _words(line: str) -> Sequence[str]:
    for mark in ",;\t":
        if mark in line:
            return [word.strip() for word in line.split(mark, 1)]
    if len(words := line.split()) <= 2:
        return words
    half = 2 if words[1] in SECONDS else 1
    return [" ".join(words[:half]), " ".join(words[half:])]


def _work(table: Sequence[tuple[float, float]], end: float) -> float:
    """Return the bits that a table of times and rates sends until an instant."""
    ends = [*(time for time, _ in table[1:]), end]
    return sum(bps * max(min(stop, end) - start, 0.0) for (start, bps), stop in zip(table, ends, strict=True))


def _seconds(text: Any) -> float:
    number, unit = split(str(text))
    return number * SECONDS[unit or "s"]


def _bps(text: Any) -> float:
    bps = scaled(f"{text} b/s" if not split(str(text))[1] else str(text), "b/s")
    assert bps is not None, "a rate must be in b/s"  # noqa: S101
    return bps
