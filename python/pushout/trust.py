"""Doubts about a result: runs that are too short, or too few, for the question.

Each doubt is a rule over the summaries of replications. Its limit is a convention, not a test: it says what to check
before the figures are trusted.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pushout.document import Document
from pushout.stats import Interval, interval
from pushout.stats import mean as average
from pushout.warning import Warned

WIDE = 0.25
"""Largest half-width of an interval, as a share of the mean."""

DRIFT, DRIFT_OF_ONE = 0.10, 0.25
"""Largest difference of the two halves of the measured time, as a share of their mean; a single run may have more."""

OPEN = 0.10
"""Largest share of files that may be unfinished when a run ends."""

FILES = ("transfer_time_mean_s", "transfer_time_p99_s")
SHARES = ("packet_throughput", "goodput_ratio")
"""The main figures of a result: transfer times where files are sent, else delivery."""

NAMED = 3
"""Runs that a warning names; it counts the others."""

Runs = Callable[[str], Sequence[Any]]
"""Returns the values of a figure of the summary, one for each run; none where the scenario has no such figure."""


class Doubt(NamedTuple):
    """A doubt: its code, its figure, its message and its size."""

    code: str
    about: str
    message: str
    size: float


class Halves(NamedTuple):
    """A figure of drift, and the names of the two halves that it compares."""

    name: str
    second: str
    first: str


RATES = Halves("goodput_drift", "the goodput of the second half of the measured time", "the first")
TIMES = Halves("transfer_time_drift", "the time of the later half of the files", "the earlier half")
NONE = ("the second half of the", "the first half of the")


def headlines(runs: Runs) -> list[str]:
    """List the main figures of a result."""
    if known(runs, "transfers"):
        return list(FILES)
    return [name for name in SHARES if known(runs, name)][:1]


def doubts(runs: Runs, names: Sequence[str], warmup_s: float) -> list[Doubt]:
    """List the doubts about the means of these figures and about the runs behind them."""
    of_files = [name.startswith("transfer") for name in names]
    rates = drifting(runs, RATES) if not all(of_files) else ()
    files = (*drifting(runs, TIMES), *open_files(runs)) if any(of_files) else ()
    return [*wide(runs, names), *rates, *files, *slow_starts(runs, warmup_s)]


def wide(runs: Runs, names: Iterable[str]) -> Iterator[Doubt]:
    """Find intervals that are too wide."""
    for name in names:
        values = known(runs, name)
        if values and (share := half_width(interval(values))) > WIDE:
            yield Doubt("wide-interval", name, f"{name}: {too_wide(share)}", share)


def half_width(mean: Interval) -> float:
    """Return the half-width of an interval as a share of its mean; 0 without an interval."""
    if mean["ci95"] is None or not mean["mean"]:
        return 0.0
    return (mean["ci95"][1] - mean["mean"]) / abs(mean["mean"])


def too_wide(share: float) -> str:
    """Write the message for such an interval."""
    return (
        f"the interval is ± {100 * share:.0f} %: runs are too short or too few; lengthen duration or warmup, or take "
        "more replications"
    )


def drifting(runs: Runs, halves: Halves) -> Iterator[Doubt]:
    """Find figures that differ between the two halves."""
    if drift := _drift(known(runs, halves.name)):
        ratio = f"{(2 + drift) / (2 - drift):.2f} times that of {halves.first}" if abs(drift) < 2 else ""
        told = f"{halves.second} is {ratio}" if ratio else f"nothing was delivered in {NONE[drift > 0]} measured time"
        yield Doubt("drift", halves.name, f"{told}: lengthen warmup or duration", abs(drift))


def _drift(values: Sequence[float]) -> float:
    """Average the drift; 0 if it is small or may be chance."""
    if not values:
        return 0.0
    mean = interval(values)
    low, high = mean["ci95"] or (mean["mean"], mean["mean"])
    is_large = abs(mean["mean"]) > (DRIFT if len(values) > 1 else DRIFT_OF_ONE)
    return mean["mean"] if is_large and not low <= 0 <= high else 0.0


def open_files(runs: Runs) -> Iterator[Doubt]:
    """Find unfinished files, which have no transfer time."""
    ended, left = (sum(known(runs, name)) for name in ("transfers", "transfers_unfinished"))
    if not left:
        return
    if not ended:
        message = "no file was finished when the runs ended"
    elif left > OPEN * (ended + left):
        message = f"{left:.0f} of {ended + left:.0f} files were unfinished, and their times are not counted"
    elif oldest := _outlasting(runs):
        message = f"unfinished files had taken longer ({oldest:.4g} s) than any finished one; they are not counted"
    else:
        return
    yield Doubt("unfinished-files", "transfers", f"{message}: lengthen duration", left / (ended + left))


def _outlasting(runs: Runs) -> float:
    """Average the age of the oldest unfinished files, if it exceeds every transfer time in most runs; else 0."""
    ages, longest = (runs(name) for name in ("transfer_age_max_s", "transfer_time_max_s"))
    pairs = zip(ages, longest, strict=True)
    older = [age for age, time in pairs if age is not None and time is not None and age > time]
    return average(older) if 2 * len(older) > len(ages) else 0.0


def slow_starts(runs: Runs, warmup_s: float) -> Iterator[Doubt]:
    """Find a warm-up that ends too early; without a warm-up, the drift shows whether that matters."""
    most = max(known(runs, "flows_in_slow_start"), default=0.0)
    if warmup_s and most:
        flows = "1 flow was" if most == 1 else f"{most:.0f} flows were"
        message = f"{flows} still in slow start when the warm-up of {warmup_s:g} s ended: lengthen warmup"
        yield Doubt("slow-start", "flows_in_slow_start", message, most)


def known(runs: Runs, name: str) -> list[float]:
    """List the values of a figure in the runs that measured it."""
    return [value for value in runs(name) if value is not None]


def judged(document: Document, replications: Sequence[Document]) -> Document:
    """Add the doubts about the replications to the warnings of a run's document."""

    def runs(name: str) -> list[float | None]:
        return [one["summary"].get(name) for one in replications]

    found = doubts(runs, headlines(runs), document["warmup_s"])
    return {**document, "warnings": [*document.get("warnings", []), *warnings([("", found)])]}


def warnings(labelled: Iterable[tuple[str, Iterable[Doubt]]]) -> list[Warned]:
    """Turn doubts into warnings: of several about the same figure keep the strongest, with all labels."""
    groups: dict[tuple[str, str], list[tuple[str, Doubt]]] = {}
    for label, found in labelled:
        for doubt in found:
            groups.setdefault((doubt.code, doubt.about), []).append((label, doubt))
    return [_warning(group) for group in groups.values()]


def _warning(group: Sequence[tuple[str, Doubt]]) -> Warned:
    worst = max((doubt for _, doubt in group), key=lambda doubt: doubt.size)
    named = list(dict.fromkeys(label for label, _ in group if label))
    labels = ", ".join(named[:NAMED]) + (f" and {len(named) - NAMED} others" if len(named) > NAMED else "")
    most = " (most)" if len(group) > 1 and labels else ""
    return {"code": worst.code, "message": f"{labels}{most}: {worst.message}" if labels else worst.message}
