"""What speaks against a result: runs that are too short, or too few, for what they are asked.

Each doubt is a rule over the summaries of replications. Its limit is a convention, not a test: it says where to look
before the figures are believed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from pushout.document import Document
from pushout.stats import Interval, interval
from pushout.warning import Warned

WIDE = 0.25
"""Half of an interval may be this share of the mean."""

DRIFT, DRIFT_OF_ONE = 0.10, 0.25
"""The halves of the measured time may differ by this share of their mean, in one run by more."""

OPEN = 0.10
"""This share of the files may be under way when a run ends."""

FILES = ("transfer_time_mean_s", "transfer_time_p99_s")
SHARES = ("packet_throughput", "goodput_ratio")
"""What a result is known by: where files are sent their times, else what was delivered."""

Runs = Callable[[str], Sequence[Any]]
"""The values of a figure of the summary, one for each run; none where the scenario has no such figure."""


class Doubt(NamedTuple):
    """A doubt: its code, the figure that it is about, what it says, and how much there is of it."""

    code: str
    about: str
    message: str
    size: float


class Halves(NamedTuple):
    """A drift, and what it compares."""

    name: str
    second: str
    first: str


RATES = Halves("goodput_drift", "the goodput of the second half of the measured time", "the first")
TIMES = Halves("transfer_time_drift", "the time of the later half of the files", "the earlier half")
NONE = ("the second half of the", "the first half of the")


def headlines(runs: Runs) -> list[str]:
    """The figures by which a result is known first."""
    if known(runs, "transfers"):
        return list(FILES)
    return [name for name in SHARES if known(runs, name)][:1]


def doubts(runs: Runs, names: Sequence[str], warmup_s: float) -> list[Doubt]:
    """What speaks against the means of these figures, and against the runs as far as it concerns them."""
    of_files = [name.startswith("transfer") for name in names]
    rates = drifting(runs, RATES) if not all(of_files) else ()
    files = (*drifting(runs, TIMES), *open_files(runs)) if any(of_files) else ()
    return [*wide(runs, names), *rates, *files, *slow_starts(runs, warmup_s)]


def wide(runs: Runs, names: Iterable[str]) -> Iterator[Doubt]:
    """Intervals that are too wide to say much."""
    for name in names:
        values = known(runs, name)
        if values and (share := half_width(interval(values))) > WIDE:
            yield Doubt("wide-interval", name, f"{name}: {too_wide(share)}", share)


def half_width(mean: Interval) -> float:
    """Half of an interval as a share of its mean; 0 without an interval."""
    if mean["ci95"] is None or not mean["mean"]:
        return 0.0
    return (mean["ci95"][1] - mean["mean"]) / abs(mean["mean"])


def too_wide(share: float) -> str:
    """What is said of such an interval."""
    return (
        f"the interval is ± {100 * share:.0f} %: runs are too short or too few; lengthen duration or warmup, or take "
        "more replications"
    )


def drifting(runs: Runs, halves: Halves) -> Iterator[Doubt]:
    """Figures of the second half that are not those of the first."""
    if drift := _drift(known(runs, halves.name)):
        ratio = f"{(2 + drift) / (2 - drift):.2f} times that of {halves.first}" if abs(drift) < 2 else ""
        told = f"{halves.second} is {ratio}" if ratio else f"nothing was delivered in {NONE[drift > 0]} measured time"
        yield Doubt("drift", halves.name, f"{told}: lengthen warmup or duration", abs(drift))


def _drift(values: Sequence[float]) -> float:
    """The mean drift; 0 if it is small, or may be chance."""
    if not values:
        return 0.0
    mean = interval(values)
    low, high = mean["ci95"] or (mean["mean"], mean["mean"])
    is_large = abs(mean["mean"]) > (DRIFT if len(values) > 1 else DRIFT_OF_ONE)
    return mean["mean"] if is_large and not low <= 0 <= high else 0.0


def open_files(runs: Runs) -> Iterator[Doubt]:
    """Files that had not ended, and so have no time."""
    ended, left = (sum(known(runs, name)) for name in ("transfers", "transfers_unfinished"))
    if not left:
        return
    if not ended:
        message = "no file had ended when the runs did"
    elif left > OPEN * (ended + left):
        message = f"{left:.0f} of {ended + left:.0f} files had not ended, and their times are not counted"
    elif oldest := _outlasting(runs):
        message = f"open files had taken longer ({oldest:.4g} s) than any that had ended: the longest are not counted"
    else:
        return
    yield Doubt("unfinished-files", "transfers", f"{message}: lengthen duration", left / (ended + left))


def _outlasting(runs: Runs) -> float:
    """The mean age of the oldest open files, if in most runs it is above the time of any that ended."""
    ages, longest = (runs(name) for name in ("transfer_age_max_s", "transfer_time_max_s"))
    pairs = zip(ages, longest, strict=True)
    older = [age for age, time in pairs if age is not None and time is not None and age > time]
    return fmean(older) if 2 * len(older) > len(ages) else 0.0


def slow_starts(runs: Runs, warmup_s: float) -> Iterator[Doubt]:
    """A warm-up that ends too early; where there is none, the drift tells whether that matters."""
    most = max(known(runs, "flows_in_slow_start"), default=0.0)
    if warmup_s and most:
        flows = "1 flow was" if most == 1 else f"{most:.0f} flows were"
        message = f"{flows} still in slow start when the warm-up of {warmup_s:g} s ended: lengthen warmup"
        yield Doubt("slow-start", "flows_in_slow_start", message, most)


def known(runs: Runs, name: str) -> list[float]:
    """The values of a figure where it was measured."""
    return [value for value in runs(name) if value is not None]


def judged(document: Document, replications: Sequence[Document]) -> Document:
    """The document of a run with what speaks against its replications among its warnings."""

    def runs(name: str) -> list[float | None]:
        return [one["summary"].get(name) for one in replications]

    found = doubts(runs, headlines(runs), document["warmup_s"])
    return {**document, "warnings": [*document.get("warnings", []), *warnings([("", found)])]}


def warnings(labelled: Iterable[tuple[str, Iterable[Doubt]]]) -> list[Warned]:
    """Warnings for a document: of doubts about the same the strongest, with the labels of all."""
    groups: dict[tuple[str, str], list[tuple[str, Doubt]]] = {}
    for label, found in labelled:
        for doubt in found:
            groups.setdefault((doubt.code, doubt.about), []).append((label, doubt))
    return [_warning(group) for group in groups.values()]


def _warning(group: Sequence[tuple[str, Doubt]]) -> Warned:
    worst = max((doubt for _, doubt in group), key=lambda doubt: doubt.size)
    labels = ", ".join(dict.fromkeys(label for label, _ in group if label))
    most = " (most)" if len(group) > 1 and labels else ""
    return {"code": worst.code, "message": f"{labels}{most}: {worst.message}" if labels else worst.message}
