"""Fresh runs of Pushout beside what is kept of ns-3 and of the kernel, and a short one where ns-3 is installed."""

import importlib.util
import json
import math
import re
import sys
from pathlib import Path
from statistics import fmean, median
from types import ModuleType
from typing import Any

import pytest

from conftest import ROOT
from pushout.bench import peers


def script(path: str) -> ModuleType:
    """Import a script of the benchmarks."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / "benchmarks" / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


TABLES = script("tables.py")
TRIPS = script("kernel/trips.py")
BUCKET = script("kernel/run.py")
QUEUES = script("ns3/queues.py")
PAGE = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", ["ns3", "changed", "kernel", "trips", "files", "bbr"])
def test_the_page_has_the_tables_of_the_kept_results(table: str) -> None:
    for row in getattr(TABLES, table)():
        assert row in PAGE


def near(ours: float, theirs: float, percent: float) -> bool:
    return abs(TABLES.deviation(ours, theirs)) <= percent


def kept(path: str, **wanted: Any) -> dict[str, Any]:
    """Find the one case with these properties."""
    (case,) = (case for case in TABLES.kept(path) if all(case[key] == value for key, value in wanted.items()))
    found: dict[str, Any] = case
    return found


WORDS = " ".join(PAGE.split())


def said(template: str) -> list[float]:
    """The numbers that the page has in the places of `{}` of a sentence."""
    pattern = r"([\d.]+)".join(map(re.escape, template.split("{}")))
    (found,) = re.finditer(pattern, WORDS)
    return [float(number.rstrip(".")) for number in found.groups()]


def apart(case: dict[str, Any], peer: str, figure: str) -> float:
    """Return the distance of our figure from that of a peer, in whole percent; of runs their means."""
    sides = [case["pushout"], case[peer]]
    means = [TABLES.mean(side, figure) if isinstance(side, list) else side[figure] for side in sides]
    return abs(round(TABLES.deviation(*means)))


def test_the_set_up_beside_ns_3_is_that_of_the_script() -> None:
    rate, trip, duration, warmup = said("{} Mb/s, a round trip of {} ms, {} s of which {} s are warm-up. Senders have")
    assert (rate * 1e6, trip * 1e-3) == (QUEUES.RATE, 2 * QUEUES.DELAY_S)
    assert (duration, warmup) == (QUEUES.DURATION_S, QUEUES.WARMUP_S)
    limit, threshold, least, most = said(
        "Drop tail holds {} packets, one bandwidth-delay product; `step` marks above {}, "
        "`red` discards between {} and {}."
    )
    assert (limit, threshold) == (QUEUES.LIMIT, QUEUES.THRESHOLD)
    assert limit == math.ceil(rate * 1e6 * trip * 1e-3 / (8 * QUEUES.PACKET))
    red = QUEUES.QUEUES["red"]["admission"]  # ours count the packets on the line as well
    beyond = [f"{level + QUEUES.BEYOND:g} packets" for level in (least, most)]
    assert [red["min_threshold"], red["max_threshold"]] == beyond
    (spread, *starts) = said(
        "starts spread over {} ms, that of ns-3 over three spreads of the starts: {}, {} and {} ms."
    )
    assert (f"{spread:g} ms", 20) == (QUEUES.START_SPREAD, QUEUES.SEEDS)
    assert tuple(start / 1e3 for start in starts) == QUEUES.STARTS_S


def ran(path: str) -> dict[str, Any]:
    """Return the length of the runs whose results are kept, with their warm-up."""
    found: dict[str, Any] = json.loads((ROOT / "benchmarks" / path).read_text(encoding="utf-8"))
    return found


def test_the_set_up_beside_the_kernel_is_that_of_the_scripts() -> None:
    bucket, duration, warmup = said("with a bucket of {} ms, {} s of which {} s are warm-up. Nothing delays")
    assert (bucket / 1e3, warmup) == (BUCKET.BURST_S, BUCKET.WARMUP_S)
    assert duration == ran("kernel/result.json")["seconds"]
    frames, rate, lasts = said("A queue of {} frames at {} Mb/s lasts {} ms.")
    assert lasts == round(8e-3 * frames * TABLES.FRAME / rate)
    duration, warmup, _, late = said(
        "a constant delay, {} s of which {} s are warm-up. The kernel's side is the mean over two or three runs in "
        "which {} % of the packets left at most {} ms late;"
    )
    assert (warmup, late) == (TRIPS.WARMUP_S, TRIPS.LATE_MS)
    assert duration == ran("kernel/trips.json")["seconds"]
    (size,) = said("Files of {} kB, each over a connection of its own,")
    assert size * 1000 == TRIPS.FILE


def test_the_words_about_ns_3_follow_from_the_kept_results() -> None:
    goodput, queue = said(
        "Goodput agrees within {} % but for RED, the mean queue within {} % but for RED, FQ-CoDel with ten flows, "
        "CUBIC, and DCTCP with two flows."
    )
    (changed,) = said("All but the last agree within {} % when ns-3 is changed:")
    cases = TABLES.kept("ns3/queues.json")
    for case in cases:
        differs = (
            case["queue"] == "red"
            or case["congestion"] == "cubic"
            or (case["queue"], case["flows"]) in (("fq-codel", 10), ("step", 2))
        )
        assert (apart(case, "ns3", "goodput_mbps") <= goodput) or case["queue"] == "red", case
        assert (apart(case, "ns3", "queue_packets") <= queue) is not differs, case
        if differs and case["queue"] != "step":
            ours = case["pushout"]["queue_packets"]
            others = [figures["queue_packets"] for figures in case["changed"].values()]
            assert min(abs(round(TABLES.deviation(ours, other))) for other in others) <= changed, case
    (two,) = (case for case in cases if (case["queue"], case["flows"]) == ("step", 2))
    ours, theirs = said("DCTCP with two flows keeps {} packets here and {} in ns-3.")
    assert (ours, theirs) == tuple(round(two[side]["queue_packets"], 1) for side in ("pushout", "ns3"))


def test_the_words_about_the_token_bucket_follow_from_the_kept_results() -> None:
    goodput, cubic, reno = said(
        "Goodput agrees within {} %. With CUBIC the number of recoveries agrees within {} %, with Reno within {} %, "
        "but for one"
    )
    frames, rate, linux, ours = said("flow over {} frames at {} Mb/s, which has {} in Linux and {} here.")
    for case in TABLES.kept("kernel/result.json"):
        queue, deviation = case["queue_bytes"] / TABLES.FRAME, apart(case, "linux", "recoveries")
        assert apart(case, "linux", "goodput_mbps") <= goodput, case
        if (case["congestion"], case["flows"], case["mbps"], queue) == ("reno", 1, rate, frames):
            assert deviation > reno
            assert (round(case["linux"]["recoveries"]), round(case["pushout"]["recoveries"])) == (linux, ours)
        else:
            assert deviation <= (cubic if case["congestion"] == "cubic" else reno), case


def test_the_words_about_long_round_trips_follow_from_the_kept_results() -> None:
    goodput, queue, again, trip = said(
        "Goodput agrees within {} %; the mean queue within {} %; retransmissions within {} %, but for CUBIC over {} ms."
    )
    for case in TABLES.kept("kernel/trips.json"):
        if case["files"]:
            continue
        assert apart(case, "linux", "goodput_mbps") <= goodput, case
        assert apart(case, "linux", "queue_packets") <= queue, case
        assert (apart(case, "linux", "retransmissions") <= again) is (case["trip_ms"] != trip), case


def test_the_words_about_short_files_follow_from_the_kept_results() -> None:
    mean, median = said(
        "With the arrivals of the kernel the mean time of a run is within {} % and the median within {} %."
    )
    ours, theirs = said("with the first arrivals the 99th percentile is {} s, and {} s in Linux.")
    for case in TABLES.kept("kernel/trips.json"):
        if not case["files"]:
            continue
        pairs = list(
            zip(case["pushout"], case["linux"], strict=False)
        )  # seeds beyond those of the kernel have no partner
        for figure, percent in (("file_mean_s", mean), ("file_p50_s", median)):
            assert all(abs(round(TABLES.deviation(own[figure], other[figure]))) <= percent for own, other in pairs), (
                case
            )
        if case["queue"] == "codel":
            own, other = pairs[0]
            assert (round(own["file_p99_s"], 1), round(other["file_p99_s"], 1)) == (ours, theirs)


def test_the_words_about_the_bbr_of_linux_follow_from_the_kept_results() -> None:
    cases = TABLES.kept("kernel/bbr.json")
    rate = {case["name"]: [rates(case[side])["bbr"] for side in ("linux", "pushout", "unbounded")] for case in cases}
    both = [case for case in cases if "+" in case["congestion"]]
    assert [case["limit"] for case in both] == [33, 67, 1067]
    for case in both:
        for side in ("linux", "pushout"):
            found = rates(case[side])
            assert (found["bbr"] > found["cubic"]) == (case["limit"] < 1067), case["name"]
    told = said("Beside CUBIC behind one BDP it has {} Mb/s, ours {}, and without its bounds {}.")
    assert told == [round(each, 1) for each in rate["bbr+cubic-tail-drop-67-20-40-2-flows"]]
    (shallow,) = (case for case in cases if case["limit"] == 7)
    told = said("behind 7 packets Linux sent {} segments again, Pushout {}, and without bounds {}.")
    assert told == [round(TABLES.mean(shallow[side], "retransmissions")) for side in ("linux", "pushout", "unbounded")]
    theirs, ours = said("probes for the round trip every {} s, version 3 every {} s.")
    for case in both[:2]:
        for side, period in (("linux", theirs), ("pushout", ours)):
            assert period < median(run["probe_every_s"] for run in case[side]) < period + 0.5, case["name"]
    assert all(0.2 < run["probe_lasts_s"] < 0.3 for case in both[:2] for run in case["linux"] + case["pushout"])
    told = said("Behind sixteen BDP it has {} Mb/s, and ours {}; which rule makes the difference has not been tried.")
    assert told == [round(each, 1) for each in rate["bbr+cubic-tail-drop-1067-20-40-2-flows"]][:2]
    gains = said("The gains of the pace are {}, {} and {} in Linux, and {}, {} and {} here.")
    for case in cases[:4]:
        for run in case["linux"]:
            assert [float(gain) for gain, share in run["gains"].items() if share > 1] == gains[:3], case["name"]
        assert {float(gain) for run in case["pushout"] for gain in run["gains"]} == set(gains[3:]), case["name"]


def rates(runs: list[dict[str, Any]]) -> dict[str, float]:
    """Average the rates of runs by congestion control."""
    return {control: fmean(run["rates_mbps"][control] for run in runs) for control in runs[0]["rates_mbps"]}


def test_a_fresh_run_of_bbr_beside_cubic_has_the_signs_of_the_kernel() -> None:
    for case in TRIPS.BESIDE[3:]:
        found = rates(TRIPS.simulated(case, 60, 3))
        assert (found["bbr"] > found["cubic"]) == (case.limit < 1067), case.name


@pytest.mark.parametrize(
    "name", ["reno-tail-drop-20-60-3-flows", "cubic-codel-20-40-2-flows", "cubic-red-30-24-3-flows"]
)
def test_a_fresh_run_over_long_trips_is_near_that_of_the_kernel(name: str) -> None:
    (case,) = (case for case in TRIPS.CASES if case.name == name)
    ours, theirs = TRIPS.simulated(case, 60, 2), kept("kernel/trips.json", name=name)["linux"]
    for figure, percent in (("goodput_mbps", 2), ("queue_packets", 10), ("retransmissions", 25)):
        means = [fmean(run[figure] for run in side) for side in (ours, theirs)]
        assert near(means[0], means[1], percent), (figure, means)


def test_the_same_files_take_as_long_as_in_the_kernel() -> None:
    (case,) = (case for case in TRIPS.CASES if case.name == "reno-tail-drop-8-250-14-files")
    theirs = kept("kernel/trips.json", name=case.name)["linux"]
    ours = TRIPS.simulated(case, 60, len(theirs))
    for figure, percent in (("goodput_mbps", 5), ("file_mean_s", 10), ("file_p50_s", 10), ("file_p99_s", 15)):
        means = [fmean(run[figure] for run in side) for side in (ours, theirs)]
        assert near(means[0], means[1], percent), (figure, means)


@pytest.mark.parametrize(("congestion", "flows"), [("reno", 1), ("cubic", 4)])
def test_a_fresh_run_through_a_token_bucket_is_near_that_of_the_kernel(congestion: str, flows: int) -> None:
    theirs = kept("kernel/result.json", congestion=congestion, flows=flows, mbps=10, queue_bytes=50 * TABLES.FRAME)
    ours = BUCKET.simulated(BUCKET.Case(congestion, flows, 10, 50 * TABLES.FRAME), 50)
    assert near(ours["goodput_mbps"], theirs["linux"]["goodput_mbps"], 2), (ours, theirs)
    assert near(ours["recoveries"], theirs["linux"]["recoveries"], 25), (ours, theirs)


@pytest.mark.parametrize(("congestion", "queue", "flows"), [("reno", "tail-drop", 2), ("reno", "pie", 1)])
def test_a_fresh_run_is_near_that_of_ns_3(congestion: str, queue: str, flows: int) -> None:
    case = QUEUES.Case(congestion, queue, flows)
    ours, theirs = (
        QUEUES.ours(case, duration_s=20),
        kept("ns3/queues.json", congestion=congestion, queue=queue, flows=flows),
    )
    assert near(ours["goodput_mbps"], theirs["ns3"]["goodput_mbps"], 3), (ours, theirs)
    assert near(ours["queue_packets"], theirs["ns3"]["queue_packets"], 10), (ours, theirs)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("flows", [1, 2])
def test_a_short_run_through_codel_agrees_with_an_installed_ns_3(flows: int, tmp_path: Path) -> None:
    try:
        program, _ = peers.ns3_program(tmp_path, "queues")
    except peers.MissingError as missing:
        pytest.skip(str(missing))
    case = QUEUES.Case("reno", "codel", flows)
    ours, theirs = QUEUES.ours(case, duration_s=20), QUEUES.theirs(program, case, duration_s=20)
    assert near(ours["goodput_mbps"], theirs["goodput_mbps"], 3), (ours, theirs)
    assert near(ours["queue_packets"], theirs["queue_packets"], 10), (ours, theirs)
