"""Traces with the real simulator."""

import inspect
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import pushout
from conftest import ROOT, command

LAN = ROOT / "scenarios" / "lan.toml"
SHORT = {"duration": "0.3 s"}


def blocks(file: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and body of every block of a capture file."""
    while file:
        kind, length = struct.unpack("<II", file[:8])
        assert struct.unpack("<I", file[length - 4 : length]) == (length,)
        yield kind, file[8 : length - 4]
        file = file[length:]


def test_the_table_agrees_with_the_report() -> None:
    traced = pushout.trace(LAN, set=SHORT)
    plain = pushout.run(LAN, set=SHORT)
    assert {**traced.document, "engine": None} == {**plain.document, "engine": None}
    rows = traced.table
    assert set(rows["port"].to_pylist()) == {"bottleneck"}
    assert pc.sum(rows["units"]).as_py() == plain["ports.bottleneck.units_in"]
    assert pc.sum(rows["units_sent"]).as_py() == plain["ports.bottleneck.units_out"]
    assert pc.sum(rows["units_lost"]).as_py() == sum(plain["ports.bottleneck.lost"].values())
    lost = rows.filter(pc.greater(rows["units_lost"], 0))
    assert set(lost["reason"].to_pylist()) == {"early"}
    assert pc.min(pc.subtract(rows["done_ps"], rows["arrived_ps"])).as_py() >= 0


def test_all_ports_see_what_the_flows_sent() -> None:
    traced = pushout.trace(LAN, set={"duration": "0.15 s"}, ports=["access1", "access1.back"], audit=True)
    assert not traced.document["audit"]["failures"]
    frame = traced.to_polars()
    data, acks = (frame.filter(frame["port"] == port) for port in ("access1", "access1.back"))
    sent = next(flow for flow in traced.document["flows"] if flow["name"] == "flow1")["segments_sent"]
    assert data.height == pytest.approx(sent, abs=1)  # the SYN
    assert data["seq"].is_sorted()
    assert acks["ack"].drop_nulls().len() == acks.height


def test_the_capture_has_a_block_for_every_packet_and_its_time() -> None:
    traced = pushout.trace(LAN, set=SHORT)
    found = list(blocks(traced.pcapng))
    assert [kind for kind, _ in found[:3]] == [0x0A0D0D0A, 1, 6]
    assert len(found) == 2 + traced.table.num_rows
    high, low = struct.unpack("<II", found[2][1][4:12])
    assert (high << 32) + low == traced.table["done_ps"][0].as_py()
    comments = [body for _, body in found if b"cells: early" in body]
    assert len(comments) == pc.sum(pc.equal(traced.table["reason"], "early")).as_py()


def test_the_command_writes_what_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", str(LAN), "--set", "duration=0.1 s", "--out", str(tmp_path), "--json"]
    command(*arguments, "--trace", "pcapng,parquet", "--trace-ports", "bottleneck, bottleneck.back")
    out, err = capsys.readouterr()
    assert json.loads(out)["engine"]["name"] == "reference"
    told = [line for line in err.splitlines() if not line.startswith("warning: ")]
    assert told == [f"trace: {tmp_path}/trace.{kind}" for kind in ("pcapng", "parquet")]
    assert (tmp_path / "result.json").exists()
    table = pq.read_table(tmp_path / "trace.parquet")
    assert set(table["port"].to_pylist()) == {"bottleneck", "bottleneck.back"}


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["--trace", "pcapng", "--out", "x", "--reps", "2"], 2, "one replication"),
        (["--trace", "pcap", "--out", "x"], 3, '--trace: unknown kind of trace "pcap"; did you mean "pcapng"?'),
        (["--trace", "pcapng", "--out", "x", "--trace-ports", "botleneck"], 3, 'did you mean "bottleneck"'),
    ],
)
def test_a_mistake_is_one_message(
    arguments: list[str],
    code: int,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    command("run", str(LAN), "--set", "duration=5 ms", *arguments, code=code)
    assert why in capsys.readouterr().err


MARKING = {
    "duration": "0.3 s",
    "port.bottleneck.admission": {"policy": "step", "threshold": "9 kB"},
    "flows.transport.ecn": True,
}


def test_marks_are_in_the_table_of_a_trace_and_in_that_of_ports() -> None:
    traced = pushout.trace(ROOT / "scenarios" / "w1-packet.toml", set=MARKING)
    marked = pc.sum(pc.equal(traced.table["ecn"], 3)).as_py()
    result = pushout.run(ROOT / "scenarios" / "w1-packet.toml", set=MARKING)
    queued = result["ports.bottleneck.units_queued"]
    assert marked <= result["ports.bottleneck.marked.early"] <= marked + queued
    assert set(traced.table["ecn"].to_pylist()) == {0, 2, 3}
    ports = result.ports.to_polars()
    assert ports.filter(ports["name"] == "bottleneck")["marked.early"].item() == result["ports.bottleneck.marked.early"]


def test_a_person_sees_marks_and_their_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    sets = ["duration=0.3 s", 'port.bottleneck.admission={policy="step", threshold="9 kB"}', "flows.transport.ecn=true"]
    command("run", str(ROOT / "scenarios" / "w1-packet.toml"), *(word for pair in sets for word in ("--set", pair)))
    shown = capsys.readouterr().out
    assert "marked because" in shown
    assert "for marks" in shown


def test_both_engines_record_the_same_packets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for engine in ("fast", "reference"):
        arguments = ["--set", "duration=0.3 s", "--trace", "pcapng", "--trace-ports", "*", "--engine", engine, "--json"]
        command("run", str(ROOT / "scenarios" / "w1-packet.toml"), *arguments, "--out", str(tmp_path / engine))
        assert json.loads(capsys.readouterr().out)["engine"]["name"] == engine
        files.append((tmp_path / engine / "trace.pcapng").read_bytes())
    assert files[0] == files[1]


def test_a_policy_in_python_decides_in_a_traced_run() -> None:
    @pushout.policy.admission(asks="unit")
    def refuse(x: Any) -> bool:
        return x.total < 2

    traced = pushout.trace("w1-packet", policies={"bottleneck": refuse}, set={"duration": "50 ms"})
    run = pushout.run("w1-packet", policies={"bottleneck": refuse}, set={"duration": "50 ms"})
    lost = int(traced.columns["units_lost"].sum())
    assert lost == sum(run["ports.bottleneck.lost"].values()) > 0


@pytest.mark.parametrize("function", [pushout.trace, pushout.explain, pushout.validate, pushout.load, pushout.run])
def test_signatures_name_the_types_that_they_take(function: Any) -> None:
    assert inspect.signature(function).parameters["scenario"].annotation == "ScenarioLike"
