import json
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import ROOT, command
from pushout.bench import measure, peers, plot, present, worker
from pushout.bench.workloads import FLOOR, WORKLOADS, Workload

SHORT = ("duration=500 ms",)
CELLS = Workload("W1-cell", "w1-cell.toml", SHORT)
PACKETS = Workload("W1-packet", "w1-packet.toml", SHORT, {"flows": 10, "duration": 0.5}, ("ns-2", "ns-3"))

ENTRY = {"id", "wall_s", "sim_s_per_s", "ns_per_cell_hop", "ns_per_packet_hop", "rss_bytes", "goodput_bps"}

FACTORS = {
    "b/s": 1.0,
    "kb/s": 1e3,
    "Mb/s": 1e6,
    "Gb/s": 1e9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "bytes": 1.0,
    "kB": 1e3,
    "MB": 1e6,
    "KiB": 1024.0,
    "cells": 53.0,
}


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without any peer."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(peers, "_ns3_home", lambda: None)


def pretend(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """An `ns` that does as told, and no ns-3."""
    program = folder / "ns"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setattr(peers, "_ns3_home", lambda: None)


def test_the_document_has_the_keys_that_are_promised(alone: None, tmp_path: Path) -> None:
    done = measure.bench([CELLS, PACKETS], reps=2, folder=tmp_path)
    assert {"machine", "workloads", "peers", "ratios"} <= set(done)
    assert [entry["id"] for entry in done["workloads"]] == ["W1-cell", "W1-packet"]
    cells, packets = done["workloads"]
    assert set(cells) == ENTRY | {"bytes_per_flow"}
    wall = cells["wall_s"]
    assert set(wall) == {"median", "min", "max", "n"}
    assert wall["n"] == 2
    assert 0 < wall["min"] <= wall["median"] <= wall["max"]
    assert cells["sim_s_per_s"] == pytest.approx(0.5 / wall["median"])
    assert cells["ns_per_cell_hop"] > 0
    assert cells["ns_per_packet_hop"] is None
    assert packets["ns_per_packet_hop"] > 0
    assert 0 < cells["goodput_bps"] < 155.52e6
    assert json.loads(json.dumps(done)) == done


def test_missing_peers_are_named_with_how_to_install_them(alone: None, tmp_path: Path) -> None:
    done = measure.bench([PACKETS], reps=1, folder=tmp_path)
    assert done["peers"] == done["ratios"] == []
    installs = {absent["peer"]: absent["install"] for absent in done["missing"]}
    assert "apt install ns2" in installs["ns-2"]
    assert set(installs) == {"ns-2", "ns-3"}
    assert "apt install ns2" in present.markdown(done)


def test_a_ratio_is_the_peers_median_over_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = '{"wall_s": 3.0, "goodput_bps": 1e6, "packet_hops": 1000, "rss_bytes": 4096}'
    pretend(tmp_path, monkeypatch, f"echo 'a warning'; echo '{line}'")
    done = measure.bench([CELLS, PACKETS], reps=1, peers=["ns-2"], folder=tmp_path)
    ours = done["workloads"][1]["wall_s"]["median"]
    assert [(one["workload"], one["against"], one["variant"]) for one in done["ratios"]] == [
        ("W1-packet", "ns-2", "List"),
        ("W1-packet", "ns-2", "Calendar"),
    ]
    assert done["ratios"][0]["ratio"] == pytest.approx(3.0 / ours)
    theirs = done["peers"][0]
    assert set(theirs) == ENTRY | {"peer", "variant"}
    assert theirs["ns_per_packet_hop"] == pytest.approx(3e6)
    assert theirs["sim_s_per_s"] == pytest.approx(0.5 / 3)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo 'no such class' >&2; exit 3", "ended with 3: no such class"),
        ("true", "printed no result"),
        ("echo segments", "printed no result"),
    ],
)
def test_a_peer_that_fails_is_reported_and_the_others_go_on(
    script: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(tmp_path, monkeypatch, script)
    done = measure.bench([PACKETS], reps=3, peers=["ns-2"], folder=tmp_path)
    assert done["workloads"][0]["wall_s"]["n"] == 3
    assert done["peers"] == []
    assert all(failure["why"].startswith(why) for failure in done["failures"])
    assert len(done["failures"]) == 2


def test_runs_take_turns_and_long_ones_are_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def run(self: measure.Series) -> None:
        order.append(self.workload.id)
        self.samples.append({"wall_s": 1.0, "cell_hops": 1})
        self.spent_s += 2 * measure.PATIENCE_S if self.workload is CELLS else 0.0

    monkeypatch.setattr(measure.Series, "run", run)
    done = measure.bench([CELLS, PACKETS], reps=3, peers=[], folder=Path())
    assert order == ["W1-cell", "W1-packet", "W1-packet", "W1-packet"]
    assert [entry["wall_s"]["n"] for entry in done["workloads"]] == [1, 3]


def test_the_floor_costs_more_with_more_cells() -> None:
    few, many = worker.floor(1_000_000), worker.floor(50_000_000)
    assert few["cell_hops"] == 1_000_000
    assert many["wall_s"] > few["wall_s"] > 0


def test_every_workload_is_a_scenario_with_the_flows_and_units_of_its_name() -> None:
    for name, workload in WORKLOADS.items():
        if name not in (FLOOR, "W4-100k", "W6-8192"):  # these take long to read
            explained = pushout.explain(workload.path, set=[*workload.sets, "duration=20 ms"])
            counts = [int(part) for part in name.split("-") if part.isdecimal() and name.startswith(("W3", "W6"))]
            assert [len(explained["flow"])] == (counts or [64 if name == "W5" else 10]), name
            is_of_cells = name == "W2" or name.startswith("W1-cell")
            assert explained["adaptation"]["kind"] == ("aal5" if is_of_cells else "packet"), name
            assert explained["duration"] == "20 ms"


def test_workloads_that_take_minutes_run_only_when_named(
    alone: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen: list[str] = []

    def run(self: measure.Series) -> None:
        chosen.append(self.workload.id)
        self.samples.append({"wall_s": 1.0, "packet_hops": 1})

    monkeypatch.setattr(measure.Series, "run", run)
    command("bench", "--reps", "1", "--out", str(tmp_path), "--json")
    assert "W6-1024" in chosen
    assert not {"W5", "W6-8192"} & set(chosen)
    command("bench", "--reps", "1", "--workloads", "W5", "--out", str(tmp_path), "--json")
    assert chosen[-1] == "W5"
    capsys.readouterr()


def test_a_permutation_has_a_file_for_every_host() -> None:
    explained: dict[str, Any] = pushout.explain(WORKLOADS["W6-128"].path)
    ends = [[flow[end] for flow in explained["flow"]] for end in ("from", "to")]
    assert all(len(set(hosts)) == 128 for hosts in ends)
    assert {flow["source"]["size"] for flow in explained["flow"]} == {"1 MB"}


def si(text: str) -> float:
    number, unit = text.split()
    return float(number) * FACTORS[unit]


@pytest.mark.parametrize("workload", [each for each in WORKLOADS.values() if each.peers], ids=lambda each: each.id)
def test_peers_get_the_values_of_the_scenario(workload: Workload) -> None:
    told = workload.dumbbell
    explained: dict[str, Any] = pushout.explain(workload.path, set=workload.sets)
    links = {link["name"]: link for link in explained["link"]}
    bottleneck = links["bottleneck"]
    access = next(link for name, link in links.items() if name.startswith("access"))
    assert told["flows"] == len(explained["flow"])
    assert told["duration"] == si(explained["duration"])
    assert (told["rate"], told["delay"]) == (si(bottleneck["rate"]), pytest.approx(si(bottleneck["delay"])))
    assert (told["access"], told["access_delay"]) == (si(access["rate"]), pytest.approx(si(access["delay"])))
    assert told["buffer"] == si(explained["port"]["bottleneck"]["buffer"])
    source, transport = explained["flow"][0]["source"], explained["flow"][0]["transport"]
    if "load" in told:
        assert told["load"] * told["rate"] == pytest.approx(told["flows"] * si(source["rate"]))
    else:
        assert told["mss"] == transport["mss"]
        assert si(transport["window"]) == 65536


@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed")
def test_ns2_carries_as_much_as_we_do(tmp_path: Path) -> None:
    told = {**WORKLOADS["W1-packet"].dumbbell, "duration": 3}
    short = Workload("W1-packet", "w1-packet.toml", ("duration=3 s",), told, ("ns-2",))
    done = measure.bench([short], reps=1, peers=["ns-2"], folder=tmp_path)
    ours = done["workloads"][0]
    assert len(done["peers"]) == 2
    for theirs in done["peers"]:
        assert theirs["goodput_bps"] == pytest.approx(ours["goodput_bps"], rel=0.03)
        hops = [entry["wall_s"]["median"] / entry["ns_per_packet_hop"] for entry in (ours, theirs)]
        assert hops[1] == pytest.approx(hops[0], rel=0.03)


def test_the_table_and_the_figure_show_every_contender(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = '{"wall_s": 3.0, "goodput_bps": 151600000, "packet_hops": 1000, "rss_bytes": 4096}'
    pretend(tmp_path, monkeypatch, f"echo '{line}'")
    done = measure.bench([PACKETS], reps=1, peers=["ns-2"], folder=tmp_path)
    table = present.markdown(done)
    assert [line.split(" | ")[1] for line in table.splitlines()[2:5]] == ["pushout", "ns-2 List", "ns-2 Calendar"]
    assert "151.6" in table
    svg = plot.figure(done)
    assert svg.count("ns-2") >= 2
    assert svg == plot.figure(done)


def test_the_page_is_filled_between_its_marks(alone: None, tmp_path: Path) -> None:
    done = measure.bench([CELLS], reps=1, folder=tmp_path)
    measured, *_ = present.FILLED
    begin, end = "<!-- measured: begin -->", "<!-- measured: end -->"
    page = f"# Speed\n{begin}\nold\n{end}\nAfter.\n"
    filled = present.fill(page, measured, done)
    assert "| W1-cell |" in filled
    assert "old" not in filled
    assert filled.endswith("After.\n")
    assert present.fill(filled, measured, done) == filled
    with pytest.raises(ValueError, match="must contain the marks"):
        present.fill("# Speed", measured, done)


def test_the_command_writes_json_table_and_figure(
    alone: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(WORKLOADS, "W1-cell", CELLS)
    arguments = ["bench", "--reps", "1", "--workloads", "W1-cell", "--out", str(tmp_path / "new" / "out")]
    command(*arguments, "--json")
    out, err = capsys.readouterr()
    assert json.loads(out) == json.loads((tmp_path / "new" / "out" / "bench.json").read_text(encoding="utf-8"))
    assert err == ""
    assert (tmp_path / "new" / "out" / "bench.svg").read_text(encoding="utf-8").startswith("<?xml")
    command(*arguments)
    out, _ = capsys.readouterr()
    assert "W1-cell" in out
    assert "apt install ns2" in out


@pytest.mark.parametrize("workload", [each for each in WORKLOADS.values() if each.native], ids=lambda each: each.id)
def test_a_program_decides_what_its_native_scheme_decides(workload: Workload) -> None:
    native = WORKLOADS[workload.native]
    program, scheme = (pushout.run(each.path, set=[*each.sets, "duration=300 ms"]) for each in (workload, native))
    assert program["ports.bottleneck.lost.early"] > 0
    for part in ("summary", "flows", "ports"):
        assert program.document[part] == scheme.document[part]


def test_the_ratio_of_a_program_is_its_median_over_that_of_the_native_scheme(
    alone: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(self: measure.Series) -> None:
        self.samples.append({"wall_s": 3.0 if self.workload.native else 2.0, "cell_hops": 1})

    monkeypatch.setattr(measure.Series, "run", run)
    pair = [WORKLOADS["W1-cell"], WORKLOADS["W1-cell-program"]]
    done = measure.bench(pair, reps=1, peers=[], folder=Path())
    assert done["programs"] == [{"workload": "W1-cell-program", "native": "W1-cell", "ratio": 1.5}]
    assert "W1-cell-program takes 1.5 times as long as W1-cell." in list(present.notes(done))
    assert measure.bench(pair[1:], reps=1, peers=[], folder=Path())["programs"] == []


def test_unknown_workloads_and_peers_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    command("bench", "--workloads", "W1-cel", code=2)
    assert 'did you mean "W1-cell"?' in capsys.readouterr().err
    command("bench", "--peers", "ns-4", code=2)
    assert "ns-2" in capsys.readouterr().err


def test_a_fabric_whose_flows_are_all_transfers_is_measured() -> None:
    sample = worker.simulate(str(ROOT / "benchmarks" / "w5.toml"), ["duration=1 ms"])
    assert sample["packet_hops"] > 0
    assert sample["bytes_per_flow"] is None


def test_a_worker_says_in_one_line_what_is_wrong(tmp_path: Path) -> None:
    program = list(peers.ours()[0].program)
    done = subprocess.run([*program, "run", str(tmp_path / "no.toml")], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
