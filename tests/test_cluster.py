"""Sweeps on a real Ray cluster: the rows of a local run, whatever is lost on the way."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import pushout
from cluster import PLAN
from conftest import ROOT, command
from programs import PLAN as PROGRAMS

pytest.importorskip("ray")


@pytest.mark.nightly
@pytest.mark.timeout(240)
def test_rows_are_those_of_a_local_run_whatever_is_lost(tmp_path: Path) -> None:
    arguments = [sys.executable, str(ROOT / "tests" / "cluster.py"), str(tmp_path)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=230)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"lost": ["worker", "node"], "computed": 80}
    local = pushout.sweep(PLAN).table.drop_columns(["wall_s"])
    assert pq.read_table(tmp_path / "rows.parquet").drop_columns(["wall_s"]).equals(local)


@pytest.mark.timeout(120)
def test_policies_written_in_python_give_the_rows_of_a_local_run() -> None:
    rows = [pushout.sweep(PROGRAMS, cluster=cluster).table.drop_columns(["wall_s"]) for cluster in (None, "local")]
    assert rows[0].num_rows == 20
    assert rows[1].equals(rows[0])


@pytest.mark.nightly
@pytest.mark.timeout(120)
def test_a_signal_to_end_keeps_what_is_finished_and_is_one_message(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(f"scenario = '{ROOT / 'scenarios' / 'lan.toml'}'\nreps = 400\nset = ['duration=5 s']\n")
    script = "from pushout.cli import main; main()"
    arguments = [sys.executable, "-c", script, "sweep", str(plan), "--cluster", "local", "--out", str(tmp_path)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while not (line := process.stderr.readline()).startswith("runs: "):
        assert line, "the sweep has ended"
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    (message,) = [line for line in err.splitlines() if not line.startswith("runs: ")]
    assert message.startswith("interrupted: finished runs are saved in")


@pytest.mark.timeout(120)
def test_a_cluster_that_does_not_answer_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = "from pushout.cli import main; main()"
    sweep = str(ROOT / "scenarios" / "sweep-small.toml")
    arguments = ["sweep", sweep, "--cluster", "127.0.0.1:1", "--out", str(tmp_path)]
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    (message,) = done.stderr.splitlines()
    assert message.startswith("127.0.0.1:1: no Ray cluster answers: ")


@pytest.mark.parametrize("port", ["65536", "99999", "7" * 5_000, "٣", "-1", "x"])
def test_what_is_no_port_is_one_message(port: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = str(ROOT / "scenarios" / "sweep-small.toml")
    command("sweep", sweep, "--cluster", f"127.0.0.1:{port}", "--out", str(tmp_path), code=1)
    (message,) = capsys.readouterr().err.splitlines()
    assert message.startswith("127.0.0.1:")
    assert "must be an integer below 65536" in message


def test_without_ray_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    command("sweep", str(ROOT / "scenarios" / "sweep-small.toml"), "--cluster", "auto", "--out", str(tmp_path), code=1)
    assert capsys.readouterr().err == "a cluster needs ray, which is not installed: pip install 'pushout[cluster]'\n"
