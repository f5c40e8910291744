"""The tables of docs/peers.md, from the results that benchmarks/ns3 and benchmarks/kernel keep: print them as Markdown.

.venv/bin/python benchmarks/tables.py
"""

import json
from collections.abc import Iterator
from pathlib import Path
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


def ns3() -> Iterator[str]:
    """The table of the queues of ns-3."""
    heads = [
        "senders",
        "queue",
        "flows",
        "Mb/s: ns-3",
        "Pushout",
        "queue in packets: ns-3",
        "mended",
        "Pushout",
        "difference",
    ]
    return rows(heads, (cells_of_ns3(case) for case in kept("ns3/queues.json")))


def cells_of_ns3(case: dict[str, Any]) -> list[str]:
    """One row of it."""
    theirs, mended, ours = case["ns3"], case["mended"], case["pushout"]
    goodputs = [f"{figures['goodput_mbps']:.2f}" for figures in (theirs, ours)]
    queues = [f"{figures['queue_packets']:.1f}" for figures in (theirs, mended, ours)]
    difference = f"{deviation(ours['queue_packets'], mended['queue_packets']):+.0f} %"
    return [case["congestion"], case["queue"], str(case["flows"]), *goodputs, *queues, difference]


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


def mean(runs: list[dict[str, float]], key: str) -> float:
    """Give the mean of a figure over runs."""
    return sum(run[key] for run in runs) / len(runs)


def trips() -> Iterator[str]:
    """Give the table of greedy flows over long round trips."""
    heads = ["senders", "queue", "Mb/s", "round trip in ms", "flows", "Mb/s: Linux", "Pushout", "difference"]
    heads += ["queue in packets: Linux", "Pushout", "difference", "retransmissions: Linux", "Pushout", "difference"]
    return rows(heads, (cells_of_trips(case) for case in kept("kernel/trips.json") if case["flows"]))


def cells_of_trips(case: dict[str, Any]) -> list[str]:
    """Give one row of it."""
    cells = [case["congestion"], case["queue"], str(case["mbps"]), str(case["trip_ms"]), str(case["flows"])]
    for key, digits in (("goodput_mbps", 2), ("queue_packets", 1), ("retransmissions", 0)):
        theirs, ours = mean(case["linux"], key), mean(case["pushout"], key)
        cells += [f"{theirs:.{digits}f}", f"{ours:.{digits}f}", f"{deviation(ours, theirs):+.0f} %"]
    return cells


def files() -> Iterator[str]:
    """Give the table of files over long round trips."""
    heads = ["senders", "queue", "Mb/s", "round trip in ms", "files a second", "queue in packets: Linux", "Pushout"]
    heads += ["median in s: Linux", "Pushout", "99th percentile in s: Linux", "Pushout", "timeouts: Linux"]
    return rows(heads, (cells_of_files(case) for case in kept("kernel/trips.json") if case["files"]))


def cells_of_files(case: dict[str, Any]) -> list[str]:
    """Give one row of it."""
    cells = [case["congestion"], case["queue"], str(case["mbps"]), str(case["trip_ms"]), str(case["files"])]
    for key, digits in (("queue_packets", 1), ("file_p50_s", 3), ("file_p99_s", 3)):
        cells += [f"{mean(case[side], key):.{digits}f}" for side in ("linux", "pushout")]
    return [*cells, f"{mean(case['linux'], 'timeouts'):.0f}"]


if __name__ == "__main__":
    for table in (ns3, kernel, trips, files):
        print("\n".join(table()) + "\n")
