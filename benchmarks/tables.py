"""The tables of docs/peers.md, from the results that benchmarks/ns3 and benchmarks/kernel keep: print them as Markdown.

.venv/bin/python benchmarks/tables.py
"""

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, median
from typing import Any

HERE = Path(__file__).parent
FRAME = 1514


def kept(path: str) -> list[dict[str, Any]]:
    """Read the cases of a result."""
    cases: list[dict[str, Any]] = json.loads((HERE / path).read_text(encoding="utf-8"))["cases"]
    return cases


def deviation(ours: float, theirs: float) -> float:
    """How far our figure is from theirs, in percent."""
    return 100 * (ours / theirs - 1)


def rows(heads: list[str], lines: Iterator[list[str]]) -> Iterator[str]:
    """A table in Markdown."""
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for cells in lines:
        yield f"| {' | '.join(cells)} |"


def mean(runs: list[dict[str, float]], key: str) -> float:
    """Average a figure over runs."""
    return fmean(run[key] for run in runs)


def ns3() -> Iterator[str]:
    """The table of the queues of ns-3."""
    heads = ["senders", "queue", "flows", "Mb/s: ns-3", "Pushout", "queue in packets: ns-3", "Pushout", "difference"]
    return rows(heads, (cells_of_ns3(case, case["ns3"]) for case in kept("ns3/queues.json")))


def cells_of_ns3(case: dict[str, Any], theirs: dict[str, float]) -> list[str]:
    """One row of it."""
    ours = case["pushout"]
    goodputs = [f"{figures['goodput_mbps']:.2f}" for figures in (theirs, ours)]
    queues = [f"{figures['queue_packets']:.1f}" for figures in (theirs, ours)]
    difference = f"{deviation(ours['queue_packets'], theirs['queue_packets']):+.0f} %"
    return [case["congestion"], case["queue"], str(case["flows"]), *goodputs, *queues, difference]


def changed() -> Iterator[str]:
    """The table of the mean queue in ns-3 as it is and with each change, beside ours."""
    heads = ["senders", "queue", "flows", "ns-3", "changed: what", "queue in packets", "Pushout", "difference"]
    return rows(heads, (cells for case in kept("ns3/queues.json") for cells in cells_of_changed(case)))


def cells_of_changed(case: dict[str, Any]) -> Iterator[list[str]]:
    """Rows of it for a case."""
    ours = case["pushout"]["queue_packets"]
    for change, figures in case["changed"].items():
        theirs = figures["queue_packets"]
        given = [case["congestion"], case["queue"], str(case["flows"]), f"{case['ns3']['queue_packets']:.1f}"]
        yield [*given, change, f"{theirs:.1f}", f"{ours:.1f}", f"{deviation(ours, theirs):+.0f} %"]


def trips() -> Iterator[str]:
    """The table of greedy flows over long round trips of the kernel."""
    heads = ["senders", "queue", "Mb/s", "round trip in ms", "flows", "Mb/s: Linux", "Pushout"]
    heads += ["queue in packets: Linux", "Pushout", "retransmissions: Linux", "Pushout", "difference"]
    greedy = (case for case in kept("kernel/trips.json") if case["flows"])
    return rows(heads, map(cells_of_trips, greedy))


def cells_of_trips(case: dict[str, Any]) -> list[str]:
    """One row of it."""
    sides = [case["linux"], case["pushout"]]
    given = [case["congestion"], case["queue"], *(str(case[key]) for key in ("mbps", "trip_ms", "flows"))]
    goodputs = [f"{mean(side, 'goodput_mbps'):.2f}" for side in sides]
    queues = [f"{mean(side, 'queue_packets'):.1f}" for side in sides]
    resent = [mean(side, "retransmissions") for side in sides]
    return [
        *given,
        *goodputs,
        *queues,
        *(f"{each:.0f}" for each in resent),
        f"{deviation(resent[1], resent[0]):+.0f} %",
    ]


def files() -> Iterator[str]:
    """The table of short files over long round trips of the kernel."""
    heads = ["senders", "queue", "Mb/s", "round trip in ms", "files a second", "of a run", "Linux: mean", "range"]
    heads += ["Pushout: mean", "range"]
    short = (case for case in kept("kernel/trips.json") if case["files"])
    return rows(heads, (cells for case in short for cells in cells_of_files(case)))


def cells_of_files(case: dict[str, Any]) -> Iterator[list[str]]:
    """Rows of it for a case."""
    given = [case["congestion"], case["queue"], *(str(case[key]) for key in ("mbps", "trip_ms", "files"))]
    shown = {"mean, s": "file_mean_s", "median, s": "file_p50_s", "99th percentile, s": "file_p99_s"}
    for what, key in (shown | {"timeouts": "timeouts"}).items():
        sides = (sorted(run[key] for run in case[side]) for side in ("linux", "pushout"))
        digits = 0 if key == "timeouts" else 2
        ranges = ((f"{fmean(runs):.{digits}f}", f"{runs[0]:.{digits}f} to {runs[-1]:.{digits}f}") for runs in sides)
        yield [*given, what, *(cell for pair in ranges for cell in pair)]


def kernel() -> Iterator[str]:
    """The table of the kernel's token bucket."""
    heads = ["senders", "flows", "rate in Mb/s", "queue in frames", "Mb/s: Linux", "Pushout"]
    heads += ["recoveries: Linux", "Pushout", "difference"]
    return rows(heads, (cells_of_kernel(case) for case in kept("kernel/result.json")))


def cells_of_kernel(case: dict[str, Any]) -> list[str]:
    """One row of it."""
    theirs, ours = case["linux"], case["pushout"]
    goodputs = [f"{figures['goodput_mbps']:.2f}" for figures in (theirs, ours)]
    recoveries = [f"{figures['recoveries']:.0f}" for figures in (theirs, ours)]
    difference = f"{deviation(ours['recoveries'], theirs['recoveries']):+.0f} %"
    given = [str(case["flows"]), str(case["mbps"]), str(case["queue_bytes"] // FRAME)]
    return [case["congestion"], *given, *goodputs, *recoveries, difference]


def bbr() -> Iterator[str]:
    """The table of the kernel's BBR, alone and beside CUBIC."""
    heads = ["senders", "buffer in packets", "Mb/s of BBR: Linux", "Pushout", "without bounds"]
    heads += [
        "retransmissions: Linux",
        "Pushout",
        "without bounds",
        "probe for the round trip every, s: Linux",
        "Pushout",
    ]
    return rows(heads, map(cells_of_bbr, kept("kernel/bbr.json")))


def cells_of_bbr(case: dict[str, Any]) -> list[str]:
    """One row of it."""
    sides = [case[side] for side in ("linux", "pushout", "unbounded")]
    rates = [f"{fmean(run['rates_mbps']['bbr'] for run in side):.1f}" for side in sides]
    resent = [f"{mean(side, 'retransmissions'):.0f}" for side in sides]
    every = [f"{median(run['probe_every_s'] for run in side if run['probe_every_s']):.1f}" for side in sides[:2]]
    return [case["congestion"].replace("+", ", "), str(case["limit"]), *rates, *resent, *every]


if __name__ == "__main__":
    for table in (ns3, changed, kernel, trips, files, bbr):
        print("\n".join(table()) + "\n")
