"""Benchmarks of features: each entry of the table can be run, and the figures have the shape that the page shows."""

import json
import sys
from pathlib import Path

import pytest

import pushout
from conftest import ROOT
from pushout.bench import present

sys.path.insert(0, str(ROOT / "benchmarks"))
sys.path.insert(0, str(ROOT / "benchmarks" / "htsim"))
sys.path.insert(0, str(ROOT / "benchmarks" / "yats"))

import fat_tree
import features
import mux
import sweep

TINY = 1e-4
"""Factor of all durations: a run of 2 µs to 2 ms."""


@pytest.fixture(scope="module")
def document() -> dict[str, object]:
    small = [each for each in features.FEATURES if not {"W3-10000", "fat-tree 1024"} & set(each.aims)]
    return features.measured(small, reps=1, scale=TINY)


def test_every_feature_runs_on_every_workload_and_both_engines(document: dict[str, list[dict[str, object]]]) -> None:
    rows = document["features"]
    assert len(rows) > 40
    assert [row["problem"] for row in rows if row["problem"]] == []
    assert {row["workload"] for row in rows} <= set(features.BASES)


def test_no_feature_is_named_twice_and_each_base_is_known() -> None:
    names = [(each.group, each.name) for each in features.FEATURES]
    assert len(set(names)) == len(names)
    for each in features.FEATURES:
        assert {*each.aims, *([each.beside] if each.beside else [])} <= set(features.BASES)


def test_a_feature_changes_the_scenario() -> None:
    for each in features.FEATURES:
        for on in each.aims:
            base, run = (
                features.run_of(features.BASES[on], 1, "fast"),
                features.run_of(features.BASES[on], 1, "fast", each),
            )
            assert run.sets != base.sets or each.beside, each.name


def test_the_time_of_building_is_taken_off() -> None:
    run = features.run_of(features.BASES["W3-10"], 0.02, "fast")
    features.in_turn([run], 2)
    assert run.hops > 0
    assert 0 < run.empty_s < run.least_s
    assert run.loop_s == run.least_s - run.empty_s


def test_a_scenario_that_cannot_be_run_is_a_row_with_its_reason() -> None:
    wrong = features.Feature("wrong", "port", {"W3-100": 1.5}, ('.admission={policy="codel", target="5"}',))
    (row,) = features.measured([wrong], reps=1, scale=TINY)["features"]
    assert row["ratio"] is None
    assert "target" in row["problem"]


def test_the_table_has_the_aim_beside_each_figure() -> None:
    row = {"group": "port", "feature": "CoDel", "workload": "W3-100", "hop_ns": 33.31, "ratio": 1.4567, "engines": 0.5}
    rows = [
        {**row, "aim": 1.5, "aim_ns": None},
        {**row, "aim": None, "aim_ns": 70},
        {**row, "aim": None, "aim_ns": None},
    ]
    about = {"version": "1", "commit": "abc", "load": 0.5}
    lines = present.table_of_features({"machine": about, "reps": 3, "features": rows}).splitlines()
    space = present.SPACE
    assert lines[2] == f"| port | CoDel | W3-100 | 33.3 | 1.46 | ≤{space}1.5{space}× | 0.5 |"
    assert lines[3].split(" | ")[5] == f"≤{space}70{space}ns"
    assert lines[4].split(" | ")[5] == ""
    assert lines[-1] == "* Version 1, commit abc; load average at the start 0.50; least processor time of 3 turns."


def test_cases_slower_on_fast_are_listed_first() -> None:
    cases = [{"case": name, "ratio": ratio} for name, ratio in (("a", 0.5), ("b", 1.5), ("c", 1.01), ("d", None))]
    assert present.slower({"engines": cases}).splitlines() == [
        "b: 1.50",
        "c: 1.01",
        "2 of 3 cases take longer on fast than on reference; the largest ratio is 1.50 (b)",
    ]


def test_the_script_writes_its_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "features.json"
    options = ["--only", "codel", "--reps", "1", "--scale", str(TINY), "--json", str(file)]
    monkeypatch.setattr(sys, "argv", ["features.py", *options])
    features.main()
    assert "| port | CoDel | W3-100 |" in capsys.readouterr().out
    written = json.loads(file.read_text(encoding="utf-8"))
    assert {"machine", "reps", "scale", "features"} == set(written)
    assert {row["feature"] for row in written["features"]} == {"CoDel", "FQ-CoDel", "program CoDel"}


def test_every_case_of_packets_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {case.name for case in features.cases()}
    assert {"lan", "w3-100", "W3-100-codel"} <= known
    assert any(name.startswith("106-leaf-spine") for name in known)
    monkeypatch.setattr(features, "SHORT_S", 0.0)
    chosen = [case for case in features.cases() if case.name in ("lan", "w3-100")]
    (row,) = features.both_engines(chosen, 1, 0.02)
    assert row["case"] == "w3-100", "cells are no packets"
    assert row["fast_s"] >= 0 < row["reference_s"]


@pytest.mark.parametrize("hosts", [16, 128])
def test_htsim_is_given_the_parameters_of_the_scenario(hosts: int) -> None:
    given = pushout.explain(fat_tree.BENCHMARKS / "w6.toml", set={"topology.radix": fat_tree.RADIX[hosts]})
    flow, port = given["flow"][0], given["port"]["edge1->host1"]
    assert len(given["flow"]) == hosts
    assert flow["to"] == f"host{hosts // fat_tree.RADIX[hosts] + 1}", "the host at the same place of the next pod"
    assert given["duration"] == f"{fat_tree.DURATION_S * 1e3:g} ms"
    assert flow["source"]["size"] == f"{fat_tree.FILE_BYTES / 1e6:g} MB"
    assert port["buffer"] == f"{fat_tree.BUFFER_BYTES / 1e3:g} kB"


@pytest.mark.parametrize("case", mux.CASES, ids=lambda case: case.name)
def test_yats_is_given_the_parameters_of_the_scenario(case: mux.Case) -> None:
    given = pushout.explain(mux.SCENARIOS / case.file, set=list(case.sets))
    flow, port = given["flow"][0], given["port"]["bottleneck"]
    line_bps = mux.LINE_BPS

    def bps(rate: str) -> float:
        number, unit = rate.split()
        return float(number) * {"b/s": 1, "kb/s": 1e3, "Mb/s": 1e6}[unit]

    assert len(given["flow"]) == mux.SOURCES
    assert line_bps / bps(flow["source"]["rate"]) == pytest.approx(case.gap)
    assert (flow["source"]["kind"], case.source) in {("cbr", "cbr"), ("poisson", "geo")}
    assert port.get("buffer") in (f"{mux.BUFFER_CELLS} cells", None, "unlimited")
    if case.increment:
        assert line_bps / bps(flow["police"]["rate"]) == pytest.approx(case.increment)
        assert flow["police"]["action"] == "drop"
    else:
        assert "police" not in flow


def test_the_table_of_cells_compares_times_of_a_cell() -> None:
    case = {
        "name": "periodic",
        "pushout": {"cpu_s": 0.1, "sent": 1, "cell_ns": 24.41},
        "yats": {"cpu_s": 0.2, "cell_ns": 48.8},
        "ratio": 1.9992,
    }
    about = {"version": "1", "commit": "abc", "load": None}
    document = {"machine": about, "commit": "0123456789", "reps": 3, "cases": [case]}
    lines = present.table_of_cells(document).splitlines()
    assert lines[2] == f"| periodic | 0.1 | 24.4 | 0.2 | 48.8 | 2{present.SPACE}× |"
    assert lines[-1] == "* Version 1, commit abc; luayats 01234567; least processor time of 3 turns."


def test_the_cost_of_a_sweep_is_measured() -> None:
    measured = sweep.measure(2, 2, "1 ms")
    assert 0 < measured["busy_share"] < 1
