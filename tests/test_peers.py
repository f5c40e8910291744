"""What is kept of the comparisons with ns-3 and the kernel, and a short one where ns-3 is installed."""

import importlib.util
import sys
from pathlib import Path
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
PAGE = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", ["ns3", "kernel"])
def test_the_page_has_the_tables_of_the_kept_results(table: str) -> None:
    for row in getattr(TABLES, table)():
        assert row in PAGE


def near(ours: float, theirs: float, percent: float) -> bool:
    return abs(TABLES.deviation(ours, theirs)) <= percent


def test_goodput_is_within_3_percent_of_ns_3_and_of_the_kernel() -> None:
    cases: list[dict[str, Any]] = TABLES.kept("ns3/queues.json") + TABLES.kept("kernel/result.json")
    assert len(cases) == 42
    for case in cases:
        theirs = case.get("ns3") or case["linux"]
        assert near(case["pushout"]["goodput_mbps"], theirs["goodput_mbps"], 3), case


def test_queues_are_within_10_percent_of_ns_3_but_for_those_that_the_page_names() -> None:
    differ = {
        (case["congestion"], case["queue"], case["flows"])
        for case in TABLES.kept("ns3/queues.json")
        if not near(case["pushout"]["queue_packets"], case["ns3"]["queue_packets"], 10)
    }
    cubic, dctcp = (
        (("cubic", "tail-drop", flows) for flows in (1, 10)),
        (("dctcp", "step", flows) for flows in (1, 2, 10)),
    )
    assert differ == {*cubic, *dctcp, ("reno", "fq-codel", 10)}


def test_recoveries_of_reno_are_within_20_percent_of_the_kernel_but_for_those_that_the_page_names() -> None:
    differ = [
        (case["flows"], case["mbps"], case["queue_bytes"] // TABLES.FRAME)
        for case in TABLES.kept("kernel/result.json")
        if case["congestion"] == "reno" and not near(case["pushout"]["recoveries"], case["linux"]["recoveries"], 20)
    ]
    assert differ == [(4, 10, 20)]


def test_recoveries_of_cubic_are_within_42_percent_of_the_kernel() -> None:
    for case in TABLES.kept("kernel/result.json"):
        assert near(case["pushout"]["recoveries"], case["linux"]["recoveries"], 42), case


@pytest.mark.timeout(300)
@pytest.mark.parametrize("flows", [1, 2])
def test_a_short_run_through_codel_agrees_with_an_installed_ns_3(flows: int, tmp_path: Path) -> None:
    try:
        program, _ = peers.ns3_program(tmp_path, "queues")
    except peers.MissingError as missing:
        pytest.skip(str(missing))
    queues = script("ns3/queues.py")
    case = queues.Case("reno", "codel", flows)
    ours, theirs = queues.ours(case, duration_s=20), queues.theirs(program, case, duration_s=20)
    assert near(ours["goodput_mbps"], theirs["goodput_mbps"], 3), (ours, theirs)
    assert near(ours["queue_packets"], theirs["queue_packets"], 10), (ours, theirs)
