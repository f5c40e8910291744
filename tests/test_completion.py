"""The section of completion times computed a second time, plainly, from the list of transfers."""

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

import pushout
from pushout.literals import Engine

MSS, HEADERS, ACK = 1000, 40, 40
RATES, DELAYS = (10_000_000, 4_000_000, 25_000_000), (Fraction(1, 1000), Fraction(3, 1000), Fraction(1, 2000))
"""The lines from each sender to the receiver, which are alike both ways."""

EDGES = (1, 999, 1000, 1001, 99_999, 100_000, 100_001, 999_999, 1_000_000, 1_000_001)

NETWORK: dict[str, Any] = {
    "name": "completion",
    "adaptation": {"kind": "packet"},
    "node": [
        {"name": "a", "kind": "host"},
        {"name": "b", "kind": "host"},
        {"name": "left", "kind": "router"},
        {"name": "right", "kind": "router"},
        {"name": "z", "kind": "host"},
    ],
    "link": [
        {"name": "a", "from": "a", "to": "left", "rate": "10 Mb/s", "delay": "1 ms"},
        {"name": "b", "from": "b", "to": "left", "rate": "10 Mb/s", "delay": "1 ms"},
        {"name": "middle", "from": "left", "to": "right", "rate": "4 Mb/s", "delay": "3 ms"},
        {"name": "z", "from": "right", "to": "z", "rate": "25 Mb/s", "delay": "500 us"},
    ],
    "measure": {"transfers": True},
    "flows": {"transport": {"kind": "tcp", "mss": MSS, "delayed_ack": False}},
}


def ideal(octets: int) -> Fraction:
    """The time of a transfer in an empty network: its packets wait at each line for those before them."""
    sizes = [MSS] * (octets // MSS) + [octets % MSS] * bool(octets % MSS)
    at = [Fraction(0)] * len(sizes)
    for rate, delay in zip(RATES, DELAYS, strict=True):
        free = Fraction(0)
        for number, size in enumerate(sizes):
            free = max(free, at[number]) + Fraction(8 * (size + HEADERS), rate)
            at[number] = free + delay
    back = sum(Fraction(8 * ACK, rate) + delay for rate, delay in zip(RATES, DELAYS, strict=True))
    return at[-1] + back


def spread(values: Sequence[float]) -> dict[str, Any]:
    """Count, mean, and the smallest value that a share of all values does not exceed."""
    ordered = sorted(values)

    def least(permille: int) -> float | None:
        return next((each for rank, each in enumerate(ordered, 1) if 1000 * rank >= permille * len(ordered)), None)

    mean = sum(ordered) / len(ordered) if ordered else None
    return {"count": len(ordered), "mean": mean, **{f"p{name}": least(p) for name, p in PERMILLES.items()}}


PERMILLES = {"50": 500, "95": 950, "99": 990, "999": 999}


def section(rows: Sequence[dict[str, Any]], warmup: float, end: float) -> dict[str, Any]:
    """The section of completion times, from the rows of the transfers."""
    counted = [row for row in rows if row["start_s"] is not None and warmup <= row["start_s"] <= end]

    def of(least: int, most: float) -> dict[str, Any]:
        own = [row for row in counted if least <= row["octets"] < most]
        open_ = [(end - row["start_s"]) / float(ideal(row["octets"])) for row in own if row["time_s"] is None]
        ended = [row["time_s"] / float(ideal(row["octets"])) for row in own if row["time_s"] is not None]
        return {**spread(ended), "unfinished": len(open_), "unfinished_max": max(open_, default=None)}

    ages = [end - row["start_s"] for row in counted if row["time_s"] is None]
    sizes = {"all": (0, 1e18), "short": (0, 1e5), "medium": (100_000, 1e6), "long": (1_000_000, 1e18)}
    return {
        "count": len(counted) - len(ages),
        "unfinished": len(ages),
        "unfinished_age_max_s": max(ages, default=None),
        "slowdown": {name: of(*bounds) for name, bounds in sizes.items()},
    }


def flat(found: Any) -> Any:
    """Numbers of a nested document, to twelve digits."""
    if isinstance(found, dict):
        return {key: flat(value) for key, value in found.items()}
    return found if found is None else pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize(("count", "seed"), [(1, 1), (3, 2), (10, 3), (150, 4)])
def test_completion_times_are_those_of_the_list(count: int, seed: int, engine: Engine) -> None:
    draws = random.Random(seed)  # noqa: S311
    sizes = list(EDGES) if count == len(EDGES) else [draws.choice(EDGES) for _ in range(count)]
    sizes = [10_000] if count == 1 else sizes
    starts = [draws.randrange(0, 60_000_000) for _ in sizes]  # µs
    starts[-1] = 10_000_000 if count > 1 else starts[-1]  # exactly the end of the warm-up
    lines = [f"{draws.choice('ab')},z,{size},{start} us" for size, start in zip(sizes, starts, strict=True)]
    times = {"duration": "60 s", "warmup": "10 s" if count > 1 else "0 s", "engine": engine}
    workload = {"kind": "list", "data": "\n".join(["from,to,bytes,start", *lines])}
    report = pushout.run({**NETWORK, **times, "workload": workload}, audit=True).document
    found = section(report["transfers"], 10.0 if count > 1 else 0.0, 60.0)
    fct = report["summary"]["fct"]
    assert fct == flat(found)
    assert [row["octets"] for row in report["transfers"]] == sizes
    assert (fct["unfinished"] > 0) is (count == 150)


def test_a_query_without_one_of_its_answers_is_unfinished() -> None:
    wire = {"rate": "100 Mb/s", "delay": "10 us"}
    scenario = {
        "name": "queries",
        "duration": "2 s",
        "warmup": "500 ms",
        "adaptation": {"kind": "packet"},
        "topology": {"template": "leaf-spine", "leaves": 2, "spines": 1, "hosts": 3, "host": wire, "fabric": wire},
        "flows": {
            "source": {"kind": "query", "fan_in": 3, "size": "30 kB", "rate": "20 per s"},
            "transport": {"kind": "tcp"},
        },
        "loss": [{"link": "host2->leaf1", "down": [["0 s", "2 s"]]}],
        "measure": {"transfers": True},
    }
    report = pushout.run(scenario).document
    of_query: dict[tuple[str, float], list[float | None]] = {}
    for row in report["transfers"]:
        if row["start_s"] >= 0.5:
            of_query.setdefault((row["to"], row["start_s"]), []).append(row["time_s"])
    assert all(len(times) == 3 for times in of_query.values())
    ended = [max(filter(None, times)) for times in of_query.values() if None not in times]
    query = report["summary"]["query"]
    assert query == flat({**spread(ended), "unfinished": len(of_query) - len(ended)})
    assert 0 < query["unfinished"] < len(of_query)
