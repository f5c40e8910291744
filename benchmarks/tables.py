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
    heads = ["senders", "queue", "flows", "Mb/s: ns-3", "Pushout", "queue in packets: ns-3", "Pushout", "difference"]
    return rows(heads, (cells_of_ns3(case) for case in kept("ns3/queues.json")))


def cells_of_ns3(case: dict[str, Any]) -> list[str]:
    """One row of it."""
    theirs, ours = case["ns3"], case["pushout"]
    goodputs = [f"{figures['goodput_mbps']:.2f}" for figures in (theirs, ours)]
    queues = [f"{figures['queue_packets']:.1f}" for figures in (theirs, ours)]
    difference = f"{deviation(ours['queue_packets'], theirs['queue_packets']):+.0f} %"
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


if __name__ == "__main__":
    for table in (ns3, kernel):
        print("\n".join(table()) + "\n")
