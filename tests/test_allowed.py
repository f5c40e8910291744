"""A scenario may come from another person: it names regular files below its own folder, and no message quotes one."""

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pushout
from conftest import Typed
from pushout import lab, shipped
from pushout.recording import MOST_PACKETS

PRIVATE = "4711-owned"

SCENARIO = """\
name = "replay"
duration = "10 ms"
adaptation = {{ kind = "packet" }}
node = [{{ name = "a", kind = "host" }}, {{ name = "b", kind = "host" }}]
link = [{{ name = "wire", from = "a", to = "b", rate = "8 Mb/s", delay = "0 s" }}]
port.wire.buffer = "5 packets"
port.wire.admission.policy = "tail-drop"
flows.transport.kind = "udp"
flow = [{{ name = "f", from = "a", to = "b", source = {{ kind = "replay", file = {file} }} }}]
"""
SWEEP = 'scenario = "s.toml"\n[grid]\nport.wire.buffer = ["5 packets"]\n'

VERBS = [
    ["run", "s.toml"],
    ["run", "s.toml", "--trace", "pcapng"],
    ["explain", "--check", "s.toml"],
    ["explain", "s.toml"],
    ["compare", "s.toml", "--policies", "tail-drop,as-is", "--reps", "2"],
    ["size", "s.toml", "--goal", "goodput_ratio>=0.5", "--over", "port.wire.buffer"],
    ["plot", "s.toml"],
    ["sweep", "w.toml"],
    ["explain", "--check", "w.toml"],
]


def given(folder: Path, file: str) -> Path:
    """A folder with a scenario and a sweep that name a file, beside a folder with a file that they must not read."""
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / "s.toml").write_text(SCENARIO.format(file=json.dumps(file)), encoding="utf-8")
    (folder / "in" / "w.toml").write_text(SWEEP, encoding="utf-8")
    (folder / "secret.csv").write_text(f"time,bytes,{PRIVATE}\n0,100,1\n", encoding="utf-8")
    return folder / "in"


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_no_verb_reads_a_file_outside_the_folder_of_the_scenario(verb: list[str], tmp_path: Path, typed: Typed) -> None:
    for name in ("../secret.csv", str(tmp_path / "secret.csv"), "link.csv", "/proc/self/environ", "/dev/zero"):
        folder = given(tmp_path, name)
        if name == "link.csv":
            (folder / name).symlink_to(tmp_path / "secret.csv")
        done = typed(folder, *verb)
        assert done.returncode == 3, (name, done.stderr)
        assert "must lie below the folder of the scenario" in done.stderr, name
        assert "--allow-files" in done.stderr, name
        assert PRIVATE not in done.stdout + done.stderr
        assert len(done.stderr) < 400


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_reads_a_file_of_an_allowed_folder(verb: list[str], tmp_path: Path, typed: Typed) -> None:
    done = typed(given(tmp_path, "../secret.csv"), *verb, "--allow-files", str(tmp_path))
    assert done.returncode == 0, done.stderr


def test_python_reads_a_file_of_an_allowed_folder(tmp_path: Path) -> None:
    folder = given(tmp_path, "../secret.csv")
    with pytest.raises(pushout.ScenarioError, match="in Python allow_files"):
        pushout.run(folder / "s.toml")
    source = pushout.load(folder / "s.toml", allow_files=[tmp_path])
    assert pushout.run(source)["ports.wire.units_in"] == 1
    assert pushout.sweep(folder / "w.toml", allow_files=[tmp_path]).table.num_rows == 1


def test_the_lab_reads_no_file_outside_the_folder_of_the_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "PAGE", tmp_path / "lab.html")
    (tmp_path / "lab.html").write_text('<script id="given" type="application/json">[]</script>', encoding="utf-8")
    folder = given(tmp_path, "../secret.csv")
    with pytest.raises(pushout.ScenarioError, match="must lie below the folder"):
        lab.page([folder / "s.toml"])
    assert "recording" in lab.page([pushout.load(folder / "s.toml", allow_files=[tmp_path])])


@pytest.mark.parametrize("kind", ["fifo", "folder", "circle", "nul"])
def test_a_special_file_in_the_folder_of_the_scenario_is_refused_at_once(
    kind: str, tmp_path: Path, typed: Typed
) -> None:
    folder = given(tmp_path, "a\0.csv" if kind == "nul" else "a.csv")
    if kind == "fifo":
        os.mkfifo(folder / "a.csv")
    elif kind == "folder":
        (folder / "a.csv").mkdir()
    elif kind == "circle":
        (folder / "a.csv").symlink_to("a.csv")
    done = typed(folder, "run", "s.toml")
    assert (done.returncode, "Traceback" in done.stderr) == (3, False), done.stderr
    assert "a.csv" in done.stderr or "\\u0000" in done.stderr or "file" in done.stderr


@pytest.mark.parametrize("line", ["", "time,bytes\n0,", "time,bytes\n", "time,bytes\n0,1\n0,1,"])
def test_a_message_about_a_file_quotes_no_more_than_names_of_columns(line: str, tmp_path: Path, typed: Typed) -> None:
    folder = given(tmp_path, "a.csv")
    (folder / "a.csv").write_text(f"{line}{PRIVATE}=/root,{PRIVATE}\n", encoding="utf-8")
    done = typed(folder, "run", "s.toml")
    assert done.returncode == 3
    assert f"{PRIVATE}=" not in done.stderr
    assert line == "" or PRIVATE not in done.stderr


def test_a_sweep_names_a_scenario_below_its_folder_or_a_shipped_one(tmp_path: Path, typed: Typed) -> None:
    secret = tmp_path / "secret.toml"
    secret.write_text(f'password = "{PRIVATE}"\n', encoding="utf-8")
    (tmp_path / "in").mkdir()
    for name in ("../secret.toml", str(secret), "/dev/zero", "/proc/self/environ"):
        (tmp_path / "in" / "w.toml").write_text(f'scenario = "{name}"\n', encoding="utf-8")
        for verb in (["sweep"], ["explain", "--check"]):
            done = typed(tmp_path / "in", *verb, "w.toml")
            assert done.returncode == 3, done.stderr
            assert "below the folder of the sweep" in done.stderr
            assert PRIVATE not in done.stderr
    (tmp_path / "in" / "w.toml").write_text('scenario = "lan"\n', encoding="utf-8")
    assert typed(tmp_path / "in", "explain", "--check", "w.toml").returncode == 0


def test_a_table_of_very_many_packets_is_refused_before_it_is_read(tmp_path: Path, typed: Typed) -> None:
    folder = given(tmp_path, "a.parquet")
    rows = pa.chunked_array([pa.array([0] * 1_000_000, pa.int64())] * (MOST_PACKETS // 1_000_000 + 1))
    pq.write_table(pa.table({"time": rows, "bytes": rows}), folder / "a.parquet")
    done = typed(folder, "run", "s.toml")
    assert done.returncode == 3
    assert f"must have at most {MOST_PACKETS} packets" in done.stderr
