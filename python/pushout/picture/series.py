"""Arrays for a picture from documents of runs: figures over time and distributions."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pushout.document import REASONS, Report
from pushout.errors import QuestionError
from pushout.stats import student_t

if TYPE_CHECKING:
    import numpy as np

    from pushout.names.place import InMemory
    from pushout.picture.topology import Network

    Array = np.ndarray[Any, np.dtype[np.float64]]


class Run(NamedTuple):
    """A run to be drawn: what its legend calls it, and the document of each replication."""

    name: str
    documents: Sequence[Report]
    title: str = ""
    flows: Sequence[str] = ()
    """Flows to be shown; none for the default."""
    ports: Sequence[str] = ()
    memories: Sequence["InMemory"] = ()
    """Memories to be shown, or classes of their queues; none for the fullest."""
    buffers: Mapping[str, tuple[float, str]] = {}
    network: "Network | None" = None
    """Its nodes and lines, if they are known: not of a finished run."""
    drains_s: Mapping[str, float] = {}
    """The time in which the line of a port sends a byte or a cell of its queue, if it is known."""
    rates: Mapping[str, float] = {}
    """What each port sends at most, in bits per second, by what a legend calls it; empty if it is not known."""


INTERVAL, RANGE = "95 % interval", "min–max"
"""Meaning of bands: the uncertainty of the mean of several replications, or the range of the samples of one."""


class Curve(NamedTuple):
    """A series over time, in steps: a mean, and the range about it that is shown as a band, if there is one."""

    times: "Array"
    mean: "Array"
    band: "tuple[Array, Array] | None" = None
    band_is: str = ""
    """Meaning of the band."""

    @property
    def highest(self) -> float:
        """The greatest value that is drawn."""
        return float((self.band[1] if self.band else self.mean).max())

    def scaled(self, factor: float) -> "Curve":
        """Return the curve in another unit."""
        band = self.band and (factor * self.band[0], factor * self.band[1])
        return self._replace(mean=factor * self.mean, band=band)


def having(run: Run, part: str, names: Sequence[str], key: str) -> list[str]:
    """The names of the ports or flows that have a series; only some of them if names are given."""
    found = [entry["name"] for entry in run.documents[0].get(part, []) if key in entry]
    return [name for name in found if name in names] if names else found


def entries(run: Run, part: str, names: Sequence[str], key: str, why: str) -> list[str]:
    """Like `having`; refuse a run that has none, with the remedy."""
    chosen = having(run, part, names, key)
    if not chosen:
        how = remedy("memories" if part == "memories" else key, run)
        raise QuestionError(f"{run.name} has no {why}: draw the scenario itself, or run it again with --set '{how}'")
    return chosen


REMEDIES = {
    "occupancy": 'measure.occupancy=["PORT"]',
    "losses": 'measure.losses=["PORT"]',
    "marks": 'measure.marks=["PORT"]',
    "pauses": 'measure.pauses=["PORT"]',
    "cwnd": 'measure.cwnd=["FLOW"]',
    "state": 'measure.state=["PORT"]',
    "memories": 'measure.memories=["MEMORY"]',
    "throughput": 'measure.window="100 ms"',
    "transfer_times_s": "measure.transfers=true",
}
"""The override that has a run keep a series; PORT, FLOW and MEMORY stand for names."""


def remedy(key: str, run: Run) -> str:
    """The override that has this run keep a series."""
    document = run.documents[0]
    limited = [port["name"] for port in document["ports"] if "occupancy_p50" in port]
    flows = [flow["name"] for flow in document["flows"]]
    port, flow = (limited or ["PORT"])[0], (flows or ["FLOW"])[0]
    memory = next((each["name"] for each in document.get("memories", [])), "MEMORY")
    return REMEDIES[key].replace("PORT", port).replace("FLOW", flow).replace("MEMORY", memory)


def entry(document: Report, part: str, name: str) -> Report:
    """The port or flow of this name."""
    found: Report = next(each for each in document[part] if each["name"] == name)
    return found


def curve(run: Run, part: str, name: str, keys: tuple[str, str], points: int) -> Curve:
    """A series of a port or a flow, as `points` means over equal stretches of time, or as few as there are samples.

    Of one replication the band reaches from the least to the greatest sample of each stretch; of several it is the
    95 % interval of the mean.
    """
    import numpy as np

    table, values = keys
    tables = [entry(document, part, name)[table] for document in run.documents]
    rows = np.array([each[values] for each in tables], dtype=float)
    return _curve(rows, float(tables[0]["start_s"]), float(tables[0]["step_s"]), points)


def state_names(run: Run, part: str, name: str) -> list[str]:
    """The names of the variables that the policies of a port, or the congestion control of a flow, keep."""
    figures = entry(run.documents[0], part, name)["state"]["figures"]
    return list(dict.fromkeys(figure["name"] for figure in figures))


def state(run: Run, part: str, of: str, name: str, points: int) -> list[tuple[int | None, Curve]]:
    """A variable of a port or a flow over time; if each queue of a port has one, the largest first."""
    import numpy as np

    tables = [entry(document, part, of)["state"] for document in run.documents]
    places = [place for place, each in enumerate(tables[0]["figures"]) if each["name"] == name]
    found = []
    for place in places:
        rows = np.array([each["figures"][place]["values"] for each in tables], dtype=float)
        curve = _curve(rows, float(tables[0]["start_s"]), float(tables[0]["step_s"]), points, signed=True)
        found.append((tables[0]["figures"][place].get("queue"), curve))
    return sorted(found, key=lambda each: -each[1].highest)


def changes(run: Run, part: str, of: str, name: str) -> bool:
    """Return whether a variable of a port or a flow has more than one value in a run."""
    figures = (each for document in run.documents for each in entry(document, part, of)["state"]["figures"])
    return len({value for figure in figures if figure["name"] == name for value in figure["values"]}) > 1


def _curve(rows: "Array", start: float, step: float, points: int, signed: bool = False) -> Curve:
    """Rows of samples, one for each replication, as a mean and a band over time; `signed` values may be negative."""
    import numpy as np

    width = max(1, -(-rows.shape[1] // points))
    whole = rows[:, : rows.shape[1] // width * width].reshape(len(rows), -1, width)
    means = whole.mean(axis=2)
    times = start + step * (width * np.arange(means.shape[1]) + (width - 1) / 2)
    if len(rows) > 1:
        half = student_t(0.95, len(rows) - 1) * means.std(axis=0, ddof=1) / np.sqrt(len(rows))
        mean = means.mean(axis=0)
        low = mean - half if signed else np.maximum(mean - half, 0.0)
        return Curve(times, mean, (low, mean + half), INTERVAL)
    if width == 1:
        return Curve(times, means[0])
    return Curve(times, means[0], (whole[0].min(axis=1), whole[0].max(axis=1)), RANGE)


class Shared(NamedTuple):
    """A memory over time: what all queues hold together, and of the fullest ones what each holds and may hold."""

    whole: Curve
    queues: list[tuple[str, Curve, Curve | None]]


def shared(run: Run, memory: str, most: int, points: int) -> Shared:
    """The occupancy of a memory, and of its `most` fullest queues with their thresholds, at most the room to share."""
    first = entry(run.documents[0], "memories", memory)
    classes = {each.queue for each in run.memories if each.has(memory) and each.queue}
    shown = [queue for queue in first["queues"] if not classes or queue["queue"] in classes]
    fullest = sorted(shown, key=lambda queue: -queue["occupancy_max"])[:most]

    room = {pool["name"]: pool["shared"] for pool in first["pools"]}

    def of(queue: str, key: str) -> Curve | None:
        entries = [entry(entry(document, "memories", memory), "queues", queue) for document in run.documents]
        most = room[entries[0]["pool"]] if key == "threshold" else first["cells"]
        return _clipped([each[key] for each in entries], most, points)

    names = [queue["name"] for queue in fullest if queue["occupancy_max"]]
    queues = [(name, held, of(name, "threshold")) for name in names if (held := of(name, "occupancy"))]
    return Shared(curve(run, "memories", memory, ("occupancy", "values"), points), queues)


def _clipped(tables: Sequence[Report], most: float, points: int) -> Curve | None:
    """A series without its range, nowhere above `most`; none if it has no values."""
    import numpy as np

    rows = np.array([each["values"] for each in tables], dtype=float)
    if np.isnan(rows).all():
        return None
    found = _curve(np.fmin(rows, most), float(tables[0]["start_s"]), float(tables[0]["step_s"]), points)
    return Curve(found.times, found.mean)


def total(run: Run, names: Sequence[str], points: int) -> Curve:
    """Throughput of some flows together."""
    import numpy as np

    def together(document: Report) -> Any:
        return np.sum([entry(document, "flows", name)["throughput"]["bps"] for name in names], axis=0)

    first = entry(run.documents[0], "flows", names[0])["throughput"]
    rows = np.array([together(document) for document in run.documents], dtype=float)
    middle = float(first["start_s"]) + float(first["window_s"]) / 2
    return _curve(rows, middle, float(first["step_s"]), points)


NICE = (1.0, 2.0, 5.0, 10.0)


class Counts(NamedTuple):
    """Units lost or marked at a port in each of equal stretches of time, by reason, on average over replications."""

    start: float
    width: float
    units: "dict[str, Array]"


def counts(run: Run, port: str, key: str, points: int) -> Counts:
    """The losses or the marks of a port in at most `points` stretches of a round length."""
    import numpy as np

    tables = [entry(document, "ports", port)[key] for document in run.documents]
    start, step = float(tables[0]["start_s"]), float(tables[0]["step_s"])
    count = len(next(iter(tables[0]["units"].values())))
    least = step * count / points
    width = next(nice for power in range(-13, 13) for nice in (10.0**power * each for each in NICE) if nice >= least)
    places = np.minimum((np.arange(count) * step / max(width, step)).astype(int), points)
    found = {}
    for reason in REASONS:
        rows = [table["units"].get(reason, []) for table in tables]
        if any(map(any, rows)):
            means = np.mean([row if len(row) else np.zeros(count) for row in rows], axis=0)
            found[reason] = np.asarray(np.bincount(places, weights=means), dtype=float)
    return Counts(start, max(width, step), found)


def pauses(run: Run, port: str, points: int) -> dict[str, Curve]:
    """The share of time in which each class was stopped at a port, in percent."""
    import numpy as np

    tables = [entry(document, "ports", port)["pauses"] for document in run.documents]
    start, step = float(tables[0]["start_s"]), float(tables[0]["step_s"])
    found = {}
    for index, each in enumerate(tables[0]["classes"]):
        rows = 100 * np.array([table["classes"][index]["share"] for table in tables], dtype=float)
        found[each["name"]] = _curve(rows, start + step / 2, step, points)
    return found


def pooled(run: Run, key: Callable[[Report], Sequence[float]]) -> "Array":
    """The sorted values of all replications."""
    import numpy as np

    return np.sort(np.concatenate([np.asarray(key(document), dtype=float) for document in run.documents]))


def transfer_times(run: Run) -> "Array":
    """The sorted times of all transfers that ended: those of the chosen flows, or drawn by sources."""

    def of(document: Report) -> list[float]:
        drawn = [each["time_s"] for each in document.get("transfers", []) if _is_chosen(each["name"], run)]
        sent = [
            time for flow in document["flows"] if flow["name"] in names for time in flow.get("transfer_times_s", [])
        ]
        return sent + [time for time in drawn if time is not None]

    has_drawn = any(document.get("transfers") for document in run.documents)
    names = [] if has_drawn else entries(run, "flows", run.flows, "transfer_times_s", "transfer times")
    times = pooled(run, of)
    if not len(times):
        raise QuestionError(f"{run.name} has no transfer that ended: make it longer (duration)")
    return times


def _is_chosen(transfer: str, run: Run) -> bool:
    """Return whether a drawn transfer, named FLOW.NUMBER, is of a flow to be shown."""
    return not run.flows or transfer.rpartition(".")[0] in run.flows


class Slowdowns(NamedTuple):
    """Slowdowns of transfers in groups of about equal number by size: the middle size of each group."""

    octets: "Array"
    median: "Array"
    p99: "Array"


GROUPS, LEAST = 20, 5
"""Most groups of transfers by size, and the least transfers of each."""


def slowdowns(run: Run) -> Slowdowns:
    """The slowdowns of drawn transfers that ended, by size."""
    import numpy as np

    listed = [each for document in run.documents for each in document.get("transfers", [])]
    ended = [each for each in listed if each["slowdown"] is not None and _is_chosen(each["name"], run)]
    if not ended:
        how = "make it longer (duration)" if listed else "run it again with --set 'measure.transfers=true'"
        raise QuestionError(f"{run.name} has no drawn transfer that ended: {how}")
    ended.sort(key=lambda each: each["octets"])
    octets, slowness = (np.array([each[key] for each in ended], dtype=float) for key in ("octets", "slowdown"))
    even = np.linspace(0, len(ended), max(1, min(GROUPS, len(ended) // LEAST)), endpoint=False)
    starts = np.unique(np.searchsorted(octets, octets[even.astype(int)]))  # transfers of one size stay together
    parts = np.split(np.arange(len(ended)), starts[1:])
    middle, median = (np.array([np.median(values[part]) for part in parts]) for values in (octets, slowness))
    p99 = np.array([np.percentile(slowness[part], 99, method="inverted_cdf") for part in parts])  # as in the document
    return Slowdowns(middle, median, p99)


def distribution(run: Run, port: str) -> "tuple[Array, Array]":
    """The occupancies at which bins begin, and the share of samples that are in a lower bin, over all replications."""
    import numpy as np

    tables = [entry(document, "ports", port)["occupancy_distribution"] for document in run.documents]
    width = max(table["bin"] for table in tables)
    folded = [_folded(table["share"], width // table["bin"]) for table in tables]
    longest = max(map(len, folded))
    shares = np.mean([[*row, *[0.0] * (longest - len(row))] for row in folded], axis=0)
    return width * np.arange(longest + 1), np.concatenate([[0.0], np.cumsum(shares)])


def _folded(shares: Sequence[float], factor: int) -> list[float]:
    return [sum(shares[start : start + factor]) for start in range(0, len(shares), factor)]
