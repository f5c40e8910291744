"""Sweeps with the real simulator."""

import contextlib
import errno
import io
import json
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import pushout
from conftest import ROOT, command
from pushout.question import design, executor
from pushout.question import sweep as sweeps
from pushout.question.output import Output
from pushout.question.replications import Precision
from pushout.question.store import Run, Store
from pushout.show import answers as show

SWEEP = ROOT / "scenarios" / "sweep-small.toml"

TAIL_DROP = ['port.bottleneck.admission={policy="tail-drop"}']

PLAN: dict[str, Any] = {
    "name": "tiny",
    "scenario": str(ROOT / "scenarios" / "lan.toml"),
    "set": ["duration=20 ms", "flows.start_spread=1 ms"],
    "reps": 3,
    "figures": ["ports.bottleneck.occupancy_mean", "flows.*.goodput_bps"],
    "grid": {"port.bottleneck.buffer": ["200 cells", "400 cells"], "flows.transport.mss": [1460, 9140]},
    "axis": {"policy": {"tail-drop": TAIL_DROP}},
}


def without_wall_time(table: pa.Table) -> pa.Table:
    return table.drop_columns(["wall_s"])


def test_a_row_has_every_swept_key_the_seed_all_summary_figures_and_the_time_last(tmp_path: Path) -> None:
    result = pushout.sweep(PLAN, out=tmp_path)
    table = pq.read_table(tmp_path / "rows.parquet")
    assert table.equals(result.table)
    assert table.num_rows == 12
    names = table.column_names
    assert names[:7] == [
        "point",
        "port.bottleneck.buffer",
        "port.bottleneck.buffer_cells",
        "flows.transport.mss",
        "policy",
        "port.bottleneck.admission",
        "seed",
    ]
    assert names[-3:] == ["ports.bottleneck.occupancy_mean", "flows.*.goodput_bps", "wall_s"]
    row = table.slice(4, 1).to_pylist()[0]
    assert row["seed"] == 2
    sets = {"duration": "20 ms", "flows.start_spread": "1 ms", "port.bottleneck.buffer": "200 cells"}
    sets |= {"flows.transport.mss": 9140, "port.bottleneck.admission": {"policy": "tail-drop"}}
    run = pushout.run(PLAN["scenario"], set=sets, seed=2).document
    assert {f"summary.{key}": row[key] for key in run["summary"]} == {
        f"summary.{key}": value for key, value in run["summary"].items()
    }
    assert row["flows.*.goodput_bps"] == [flow["goodput_bps"] for flow in run["flows"]]


def test_the_manifest_says_where_the_rows_come_from(tmp_path: Path) -> None:
    pushout.sweep(PLAN, out=tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["complete"] is True
    assert (manifest["points"], manifest["runs"], manifest["computed"], manifest["seed"]) == (4, 12, 12, 1)
    assert manifest["scenario"]["name"] == "lan"
    assert {"version", "build", "name"} <= set(manifest["engine"])
    assert {"machine", "system", "cores", "python"} == set(manifest["host"])


def test_nothing_is_run_twice_and_more_is_only_the_difference(tmp_path: Path) -> None:
    assert pushout.sweep(PLAN, out=tmp_path).manifest["computed"] == 12
    assert pushout.sweep(PLAN, out=tmp_path).manifest["computed"] == 0
    assert pushout.sweep({**PLAN, "reps": 4}, out=tmp_path).manifest["computed"] == 4
    sizes = {"port.bottleneck.buffer": ["400 cells", "800 cells"], "flows.transport.mss": [1460, 9140]}
    assert pushout.sweep({**PLAN, "grid": sizes}, out=tmp_path).manifest["computed"] == 6
    figures = [*PLAN["figures"], "engine.cell_hops"]
    assert pushout.sweep({**PLAN, "figures": figures}, out=tmp_path).manifest["computed"] == 12
    assert pushout.sweep({**PLAN, "figures": []}, out=tmp_path).manifest["computed"] == 0


def test_nothing_stale_is_used_after_the_simulator_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pushout.sweep(PLAN, out=tmp_path)
    monkeypatch.setattr("pushout.question.store.build", lambda: "another")
    assert pushout.sweep(PLAN, out=tmp_path).manifest["computed"] == 12


def test_rows_are_the_same_on_one_thread_and_on_many() -> None:
    one, many = (pushout.sweep(PLAN, jobs=jobs).table for jobs in (1, 4))
    assert without_wall_time(one).equals(without_wall_time(many))


def test_several_threads_may_write_to_one_folder(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda _: pushout.sweep(PLAN, out=tmp_path).table.num_rows, range(4)))
    assert counts == [12] * 4
    assert pq.read_table(tmp_path / "rows.parquet").num_rows == 12
    assert sorted(file.name for file in tmp_path.iterdir()) == [".lock", "cache", "manifest.json", "rows.parquet"]


def test_a_folder_is_for_one_question_at_a_time(tmp_path: Path) -> None:
    first, same, other = (Output(tmp_path) for _ in range(3))
    first.claim(["sweep", 1])
    same.claim(["sweep", 1])
    first.release()
    with pytest.raises(OSError, match="another question is being answered there"):
        other.claim(["sweep", 2])
    same.release()
    other.claim(["sweep", 2])
    other.claim(["sweep", 3])
    other.release()


def test_a_file_system_without_locks_takes_every_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(why: int) -> Callable[..., None]:
        def flock(*_: object) -> None:
            raise OSError(why, os.strerror(why))

        return flock

    monkeypatch.setattr("fcntl.flock", refused(errno.ENOLCK))
    Output(tmp_path).claim([1])
    monkeypatch.setattr("fcntl.flock", refused(errno.EIO))
    with pytest.raises(OSError, match=r"Input/output error: .*\.lock"):
        Output(tmp_path).claim([1])


def test_a_disk_without_room_for_the_lock_is_named(tmp_path: Path) -> None:
    script = f"from pushout.question.output import Output; Output({str(tmp_path)!r}).claim([1])"
    done = subprocess.run(
        [sys.executable, "-c", script],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.splitlines()[-1] == f"OSError: [Errno 27] File too large: '{tmp_path / '.lock'}'"


def test_of_many_who_want_a_folder_at_once_one_question_gets_it(tmp_path: Path) -> None:
    together = threading.Barrier(8)

    def claimed(number: int) -> bool:
        output = Output(tmp_path)
        together.wait()
        try:
            output.claim([number % 4])
        except OSError:
            return False
        finally:
            together.wait()
            output.release()
        return True

    with ThreadPoolExecutor(8) as pool:
        for _ in range(50):
            winners = {number % 4 for number, won in enumerate(pool.map(claimed, range(8))) if won}
            assert len(winners) == 1


def test_several_may_open_a_new_cache_at_the_same_moment(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for turn in range(20):
            folders = [tmp_path / str(turn)] * 8
            assert list(pool.map(lambda folder: Store(folder).close(), folders)) == [None] * 8


def test_points_that_are_the_same_are_run_once() -> None:
    result = pushout.sweep({**PLAN, "axis": {"label": {"one": TAIL_DROP, "other": TAIL_DROP}}})
    assert (result.manifest["runs"], result.manifest["computed"]) == (24, 12)


def test_replications_go_on_until_they_are_precise() -> None:
    reps = {"precision": 0.15, "of": "ports.bottleneck.occupancy_mean", "min": 3, "max": 40}
    plan = {**PLAN, "reps": reps}
    result = pushout.sweep({**plan, "figures": []}, jobs=2)
    counts = []
    for estimate in result.means("ports.bottleneck.occupancy_mean"):
        assert estimate is not None
        assert estimate["ci95"] is not None
        precise = estimate["ci95"][1] - estimate["mean"] <= 0.15 * estimate["mean"]
        assert precise or estimate["n"] == 40
        counts.append(estimate["n"])
    assert len(set(counts)) > 1
    again = pushout.sweep({**plan, "figures": []}, jobs=1)
    assert without_wall_time(again.table).equals(without_wall_time(result.table))


def test_how_many_more_follows_from_the_runs() -> None:
    rule = Precision(0.1, "x", 3, 100)
    close = [Run(seed, {"x": value}, 0.0) for seed, value in enumerate((5.0, 5.01, 4.99))]
    assert rule.more(close) == 3
    wide = [Run(seed, {"x": float(seed)}, 0.0) for seed in range(3)]
    assert rule.more(wide) == 6
    assert Precision(0.1, "x", 3, 5).more(wide) == 5
    loose = [Run(seed, {"x": value}, 0.0) for seed, value in enumerate((4.0, 5.0, 6.0, 4.0, 5.0, 6.0))]
    half = 2.5706 * 0.8944 / 6**0.5
    assert Precision(half / 5 / 1.1, "x", 3, 100).more(loose) == 8, "1.1² as many"
    assert Precision(half / 5 / 1.01, "x", 3, 100).more(loose) == 7, "one more at least"
    nothing = [Run(seed, {"x": None}, 0.0) for seed in range(3)]
    assert rule.more(nothing[:2]) == 3
    assert rule.more(nothing) == rule.more([*nothing, close[0]]) == 100, "one value has no interval"
    assert rule.more([*nothing, *close[:2]]) == 5


def test_runs_that_all_give_the_same_are_precise_only_when_there_are_many() -> None:
    def alike(count: int, *more: Run) -> list[Run]:
        return [*(Run(seed, {"x": 5.0}, 0.0) for seed in range(count)), *more]

    rule = Precision(0.1, "x", 5, 100)
    assert [rule.more(alike(count)) for count in (5, 10, 20, 40, 59, 80)] == [10, 20, 40, 59, 59, 80]
    nothing = Run(58, {"x": None}, 0.0)
    assert rule.more(alike(58, nothing)) == 60, "a run that measured nothing does not count"
    assert Precision(0.1, "x", 5, 20).more(alike(20)) == 20, "there may be too few of them allowed"
    assert rule.more(alike(5, Run(5, {"x": 5.001}, 0.0))) == 6, "what varies a little has an interval"


def test_a_sweep_says_that_runs_all_gave_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A buffer that holds everything loses nothing, whatever the seed."""
    file = tmp_path / "same.toml"
    scenario = SWEEP.parent / "mux-periodic.toml"
    text = f"scenario = '{scenario}'\nset = ['duration=1 ms']\nreps = {{ precision = 0.1, min = 3, max = 6, of = "
    file.write_text(text + "'ports.bottleneck.lost.overflow' }\n", encoding="utf-8")
    command("sweep", str(file), "--out", str(tmp_path / "out"))
    assert "± 0: all 6 runs gave the same" in capsys.readouterr().out


def test_a_list_cannot_be_precise_and_the_message_says_where_it_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "list.toml"
    path = "ports.bottleneck.occupancy_distribution.share"
    reps = f"reps = {{ precision = 0.1, of = '{path}' }}"
    file.write_text(f"scenario = '{SWEEP.parent}/mux-periodic.toml'\nset = ['duration=1 ms']\n{reps}\n", "utf-8")
    with pytest.raises(
        pushout.ScenarioError, match=rf"list.toml:3:32: reps: {path} must be a single figure of every run"
    ):
        pushout.sweep(file)


def test_single_runs_are_not_said_to_have_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "single.toml"
    file.write_text(f"scenario = '{SWEEP.parent}/mux-periodic.toml'\nset = ['duration=1 ms']\n", "utf-8")
    command("sweep", str(file), "--out", str(tmp_path / "out"))
    assert "single runs have no intervals." in capsys.readouterr().out


def test_a_point_where_nothing_could_be_measured_is_not_precise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No file of 5 MB ends within 50 ms."""
    file = tmp_path / "never.toml"
    reps = "{ precision = 0.9, min = 2, max = 3, of = 'transfer_time_mean_s' }"
    file.write_text(f"scenario = '{ROOT}/scenarios/lan.toml'\nset = ['duration=50 ms']\nreps = {reps}\n", "utf-8")
    command("sweep", str(file), "--out", str(tmp_path / "out"))
    note = "1 of 1 points have a wider interval than ± 90 % of the mean transfer_time_mean_s after 3 runs"
    assert note in capsys.readouterr().out


@pytest.mark.parametrize("question", ["sweep", "compare", "size"])
def test_a_mean_is_shown_with_its_number_of_runs_if_some_had_nothing_to_measure(
    question: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In 180 µs few of the servers are done with their files: one that begins at once."""
    incast = str(SWEEP.parent / "incast.toml")
    sets = ["topology.sources=2", "flows.source.size=64 KiB", "flows.start_spread=40 us", "duration=180 us"]
    more = [part for change in sets for part in ("--set", change)]
    file = tmp_path / "partly.toml"
    file.write_text(f"scenario = '{incast}'\nset = {sets}\nreps = 10\nfigures = ['transfer_time_mean_s']\n", "utf-8")
    policies = ["--policies", "tail-drop,ppd", "--reps", "10"]
    goal = ["--goal", "transfer_time_mean_s<=1", "--over", "port.bottleneck.buffer", "--most", "10"]
    arguments = {"sweep": [str(file)], "compare": [incast, *policies, *more], "size": [incast, *goal, *more]}
    command(question, *arguments[question], "--out", str(tmp_path / "out"))
    out = capsys.readouterr().out
    assert re.search(r"\(\d of \d+ runs\)", out)
    assert "the other runs could not measure" in out


@pytest.mark.parametrize(("precision", "told"), [(0.9, False), (1e-6, True)])
def test_a_sweep_says_which_points_are_less_precise_than_was_asked_for(
    precision: float, told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "precise.toml"
    scenario = SWEEP.parent / "mux-poisson.toml"
    reps = f"{{ precision = {precision}, min = 5, max = 6, of = 'ports.bottleneck.units_in' }}"
    text = f"scenario = '{scenario}'\nset = ['duration=105 ms']\nreps = {reps}\n"
    file.write_text(text, encoding="utf-8")
    command("sweep", str(file), "--out", str(tmp_path / "out"))
    note = "1 of 1 points have a wider interval than ± 0.0001 % of the mean ports.bottleneck.units_in after 6 runs"
    assert (note in capsys.readouterr().out) == told


def test_the_store_takes_every_seed_and_forgets_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    key = store.key("scenario")
    runs = [Run(seed, {"summary.x": 0.1 + seed, "list": [1, None]}, 0.5) for seed in (0, 2**63 - 1, 2**63, 2**64 - 1)]
    store.put((key, run.seed, json.dumps(run.figures), run.wall_s) for run in runs)
    store.close()
    again = Store(tmp_path)
    keys = [again.key(f"other {number}") for number in range(1200)]
    found = again.find([*keys, key])
    assert found.pop(key) == {run.seed: run for run in runs}
    assert found == {other: {} for other in keys}


def sweeping(out: Path, plan: Path = SWEEP) -> list[str]:
    script = "import pyarrow.parquet, pushout.question.sweep; print(flush=True); from pushout.cli import main; main()"
    return [sys.executable, "-c", script, "sweep", str(plan), "--out", str(out)]


def lasting(duration: str, folder: Path) -> Path:
    """The small sweep with runs of another length."""
    text = SWEEP.read_text(encoding="utf-8").replace('"lan.toml"', f"'{SWEEP.parent / 'lan.toml'}'")
    assert '"6 s"' in text
    plan = folder / "plan.toml"
    plan.write_text(text.replace('"6 s"', f'"{duration}"'), encoding="utf-8")
    return plan


@contextlib.contextmanager
def at_work(out: Path, plan: Path) -> Iterator[subprocess.Popen[str]]:
    """A sweep from the moment on at which the program is loaded; it does not outlive the block."""
    with subprocess.Popen(sweeping(out, plan), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def wait_for_runs(out: Path) -> None:
    """Until a sweep has kept its first runs."""
    log = out / "cache" / "runs.sqlite-wal"
    wait_for(lambda: log.exists() and log.stat().st_size > 20_000)


def octets(folder: Path) -> bytes:
    """The rows as bytes, without the times that no two runs share."""
    table = without_wall_time(pq.read_table(folder / "rows.parquet")).combine_chunks()
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def kept(out: Path) -> int:
    """Return the number of runs that a sweep has stored."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{out}/cache/runs.sqlite?mode=rw", uri=True)) as store:
            ((count,),) = store.execute("SELECT count(*) FROM run").fetchall()
            return int(count)
    except sqlite3.OperationalError:  # killed before there was a file, or a table
        return 0


@pytest.mark.timeout(200)
def test_a_sweep_that_is_killed_ten_times_ends_with_the_same_rows(tmp_path: Path) -> None:
    plan = lasting("1.5 s", tmp_path)
    undisturbed, out = tmp_path / "one", tmp_path / "other"
    with at_work(undisturbed, plan) as process:
        start = time.monotonic()
        process.communicate()
        longest = time.monotonic() - start
    moments = random.Random(1)  # noqa: S311
    left: list[int] = []
    while len(left) < 10:
        with at_work(out, plan) as process:
            time.sleep(moments.uniform(0, longest / 4))
            killed = process.poll() is None
        if killed:
            left.append(kept(out))
    assert left == sorted(left), "a kill loses nothing that was kept"
    assert any(0 < count < 240 for count in left), "some kill hit the sweep at work"
    before = kept(out)
    done = subprocess.run([*sweeping(out, plan), "--json"], check=True, capture_output=True)
    assert json.loads(done.stdout)["computed"] == 240 - before
    assert octets(out) == octets(undisturbed)
    assert sorted(file.name for file in out.iterdir()) == [".lock", "cache", "manifest.json", "rows.parquet"]


@pytest.mark.timeout(90)
def test_another_sweep_waits_until_the_folder_is_free(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, out = lasting("30 s", tmp_path), tmp_path / "out"
    other = tmp_path / "other.toml"
    other.write_text(f"scenario = '{SWEEP.parent / 'lan.toml'}'\nset = ['duration=1 ms']\n", encoding="utf-8")
    with at_work(out, plan) as process:
        wait_for(lambda: (out / "manifest.json").exists())
        command("sweep", str(other), "--out", str(out), code=1)
        assert capsys.readouterr().err.startswith(f"{out}: another question is being answered there; wait for it")
        process.kill()
    command("sweep", str(other), "--out", str(out))
    assert json.loads((out / "manifest.json").read_text(encoding="utf-8"))["complete"] is True


@pytest.mark.timeout(90)
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_keeps_what_is_finished(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    process = subprocess.Popen(sweeping(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_runs(tmp_path)
    process.send_signal(sent)
    _, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert "interrupted: finished runs are saved in" in err.splitlines()[-1]
    assert not (tmp_path / "rows.parquet").exists()
    assert json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))["complete"] is False


@pytest.mark.timeout(90)
def test_a_full_disk_is_one_message_and_what_was_kept_stays(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    once = sweeping(tmp_path, lasting("1.5 s", tmp_path))
    done = subprocess.run(once, preexec_fn=limit, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    (message,) = [line for line in done.stderr.splitlines() if not line.startswith("runs: ")]
    assert "runs.sqlite: " in message
    finished = subprocess.run([*once, "--json"], check=True, capture_output=True)
    assert json.loads(finished.stdout)["runs"] == 240


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"grid": {"port.bottleneck.bufer": ["1 cell"]}}, 'did you mean "buffer"'),
        ({"figures": ["ports.botleneck.units_in"]}, 'did you mean "bottleneck"'),
        ({"figures": ["ports.bottleneck.name"]}, "is not a number"),
        ({"engine": "slow"}, "slow"),
        ({"seed": 2**64 - 1}, "seed must be at most"),
        ({"scenario": "nowhere.toml"}, "nowhere.toml: no such file"),
        ({"reps": {"precision": 0.1, "of": "summary.godput"}}, 'unknown entry "godput"'),
    ],
)
def test_a_bad_sweep_is_one_message(
    change: dict[str, Any], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ValueError, match=why):
        pushout.sweep({**PLAN, **change})


def test_wrong_places_and_files_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("scenari = 'x'\n", encoding="utf-8")
    misspelt = tmp_path / "misspelt.toml"
    misspelt.write_text(f"scenario = '{SWEEP.parent}/lan.toml'\n[grid]\nflows.mss = [1]\n", encoding="utf-8")
    file = tmp_path / "file"
    file.touch()
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "runs.sqlite").write_text("no database at all, but long enough to be one\n" * 50, encoding="utf-8")
    for arguments, code in [
        ([str(wrong)], 3),
        ([str(misspelt)], 3),
        ([str(SWEEP.parent / "lan.toml")], 3),
        ([str(SWEEP), "--out", str(tmp_path), "--cache", str(damaged)], 1),
        ([str(tmp_path / "none.toml")], 3),
        ([str(SWEEP), "--out", str(file)], 1),
        ([str(SWEEP), "--out", f"{file}/below"], 1),
        ([str(SWEEP), "--out", "nothing://x"], 1),
        ([str(SWEEP), "--out", "s3://"], 1),
        ([str(SWEEP), "--out", str(tmp_path), "--cache", f"{file}/below"], 1),
        ([str(SWEEP), "--jobs", "0"], 2),
    ]:
        command("sweep", *arguments, code=code)
        out, err = capsys.readouterr()
        assert out == ""
        assert code == 2 or [line for line in err.splitlines()[1:] if not line.startswith(" ")] == [], err
        named = [word for word in arguments if not word.startswith("--")][-1]
        assert named in err or code == 2, err


@pytest.mark.parametrize(
    ("scenario", "text", "why"),
    [
        (
            "",
            "[grid]\nport.bottleneck.bufer = ['9 cells', '1 cell']",
            '3:26: grid: port.bottleneck.bufer="9 cells": un',
        ),
        ("", "[grid]\nduration = ['1 s', '1 parsec']", '3:20: grid: duration="1 parsec": '),
        ("", "set = ['durration=1 s']", "2:8: set: durration=1 s: unknown key"),
        ("", "[axis.a]\nx = ['sample=1 ms']\ny = ['sample=1 ms', 'warmup=x']", "4:21: axis: warmup=x: "),
        ("", "[[zip]]\nseed2 = [1]\nduration = ['1 s']", "3:10: zip: seed2=1: unknown key"),
        ("", "[random]\npoints = 1\nkeys.seed3 = { from = 1, to = 2 }", "4:14: random: seed3="),
        ("", "engine = 'slow'", "2:10: engine: "),
        ("", "figures = ['summary.goodput_ratio', 'ports.x.units_in']", "2:37: figures: no figure ports.x.units_in: "),
        ("", "reps = { precision = 0.1, of = 'good' }", "2:32: reps: no figure summary.good: "),
        ("", "figures = ['goodput_rati']", "2:12: figures: no figure summary.goodput_rati: "),
        ("", "warmup = { method = 'mser-5', figure = 'ports.x.occupancy.values' }", "2:40: warmup: no figure ports.x."),
        (None, "", "1:12: scenario: "),
    ],
)
def test_a_mistake_of_a_sweep_is_distinguished_from_one_of_its_scenario(
    scenario: str | None, text: str, why: str, tmp_path: Path
) -> None:
    file, base = tmp_path / "sweep.toml", tmp_path / "base.toml"
    if scenario is not None:
        base.write_text((SWEEP.parent / "lan.toml").read_text(encoding="utf-8") + scenario, encoding="utf-8")
    file.write_text(f"scenario = 'base.toml'\n{text}\n", encoding="utf-8")
    out = tmp_path / "out"
    for question in (lambda: pushout.sweep(file, out=out), lambda: sweeps.validate(design.read(file))):
        with pytest.raises(ValueError, match=f"^{re.escape(f'{file}:{why}')}"):
            question()
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[axis.goodput_ratio]\na = []", '2:7: "goodput_ratio" cannot have the column goodput_ratio'),
        (
            "figures = ['duration_s']\n[grid]\nduration = ['1 s', '2 s']",
            '4:1: "duration" cannot have the column duration_s',
        ),
    ],
)
def test_what_is_swept_under_the_name_of_a_figure_is_refused_before_the_first_run(
    text: str, why: str, tmp_path: Path
) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(f"scenario = '{SWEEP.parent / 'lan.toml'}'\n{text}\n", encoding="utf-8")
    for question in (lambda: pushout.sweep(file, out=tmp_path / "out"), lambda: sweeps.validate(design.read(file))):
        with pytest.raises(ValueError, match=f"^{re.escape(f'{file}:{why}')}.* rename the axis"):
            question()
    assert not (tmp_path / "out").exists()


def test_a_mistake_in_a_later_part_of_a_large_sweep_stands_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "CHUNK", 2)
    file = tmp_path / "sweep.toml"
    sizes = "['100 cells', '200 cells', '300 cells', 'none at all']"
    text = (
        f"scenario = '{SWEEP.parent / 'lan.toml'}'\nset = ['duration=1 ms']\n[grid]\nport.bottleneck.buffer = {sizes}"
    )
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r'sweep\.toml:4:66: grid: port\.bottleneck\.buffer="none at all": '):
        pushout.sweep(file)


def test_an_argument_of_a_wrong_type_is_named() -> None:
    with pytest.raises(TypeError, match="the design must be the path of a sweep file or a mapping of its keys, not 3"):
        pushout.sweep(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cluster must be a string, not 3"):
        pushout.sweep(PLAN, cluster=3)  # type: ignore[arg-type]


def test_a_mistake_of_the_scenario_of_a_sweep_says_whether_it_is_one_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # messages have room for the line of a file if its path is short
    file, base = Path("sweep.toml"), Path("base.toml")
    text = (SWEEP.parent / "lan.toml").read_text(encoding="utf-8")
    file.write_text("scenario = 'base.toml'\n[grid]\nport.bottleneck.buffer = ['5000 cells']\n", encoding="utf-8")
    for mistake, told in [
        ("[flos]\n", f"base.toml:[0-9]+:2: flos: unknown key .*; the scenario is that of {file}\n"),
        ("[", f"base.toml:[0-9]+:2: this is not TOML: .*; the scenario is that of {file}\n"),
    ]:
        base.write_text(text + mistake, encoding="utf-8")
        with pytest.raises(ValueError, match=told):
            pushout.sweep(file)
    base.write_text(text.replace('"90 %"', '"7373 cells"'), encoding="utf-8")
    with pytest.raises(ValueError, match=r"base.toml:\d+:\d+: .*; .*sweep.toml sets .*=\"5000 cells\""):
        pushout.sweep(file)


@pytest.mark.parametrize(("in_the_way", "out"), [("folder/.lock/x", "folder"), ("file", "file/folder")])
def test_a_folder_that_cannot_be_written_is_found_before_the_first_run(
    in_the_way: str, out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder where a file must be and the reverse are in the way of every user, permissions only of some."""
    monkeypatch.setattr(executor.Local, "submit", lambda *_: pytest.fail("a run begins"))
    (tmp_path / in_the_way).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / in_the_way).touch()
    command("sweep", str(SWEEP), "--out", str(tmp_path / out), code=1)
    assert str(tmp_path / in_the_way.partition("/x")[0]) in capsys.readouterr().err


@pytest.mark.parametrize("question", ["sweep", "compare", "size"])
def test_seeds_without_room_are_refused_before_anything_is_written(question: str, tmp_path: Path) -> None:
    lan, last = ROOT / "scenarios" / "lan.toml", 2**64 - 1
    asked: dict[str, Callable[[], Any]] = {
        "sweep": lambda: pushout.sweep({**PLAN, "set": [*PLAN["set"], f"seed={last}"]}, out=tmp_path / "out"),
        "compare": lambda: pushout.compare(lan, "ppd,epd", seed=last, out=tmp_path / "out"),
        "size": lambda: pushout.size(
            lan, "goodput_ratio>=1", "port.bottleneck.buffer", seed=last, out=tmp_path / "out"
        ),
    }
    with pytest.raises(pushout.ScenarioError, match=r"seed must be at most .* for \d+ replications"):
        asked[question]()
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_replaced_is_named_and_not_its_draft(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        pushout.sweep({**PLAN, "reps": 1}, out=tmp_path)
    assert caught.value.filename == str(tmp_path / "rows.parquet")


def test_results_can_go_wherever_arrow_can_write(tmp_path: Path) -> None:
    place = f"file://{tmp_path}/below"
    result = pushout.sweep(PLAN, out=place, cache=tmp_path / "cache")
    assert result.manifest["rows"] == f"{place}/rows.parquet"
    assert pq.read_table(tmp_path / "below" / "rows.parquet").equals(result.table)


def test_one_line_of_sql_answers(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    result = pushout.sweep(PLAN, out=tmp_path)
    query = f"""SELECT avg(goodput_ratio) FROM '{tmp_path}/rows.parquet' WHERE "port.bottleneck.buffer_cells" < 300"""  # noqa: S608
    ((mean,),) = duckdb.sql(query).fetchall()
    polars = result.to_polars()
    assert mean == pytest.approx(polars.filter(polars["point"] < 2)["goodput_ratio"].mean())
    pandas = result.to_pandas()
    assert mean == pytest.approx(pandas[pandas["point"] < 2]["goodput_ratio"].mean())


def test_a_person_sees_means_and_where_the_rows_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tiny.toml"
    lan = ROOT / "scenarios" / "lan.toml"
    file.write_text(
        f"scenario = '{lan}'\nreps = 2\nset = ['duration=20 ms']\n[grid]\nflows.transport.mss = [1460, 9140]\n",
        encoding="utf-8",
    )
    command("sweep", str(file), "--out", str(tmp_path / "out"))
    out, _ = capsys.readouterr()
    assert "±" in out
    assert "4 runs, 4 of them computed now" in out
    assert "rows.parquet" in out
    command("sweep", str(file), "--out", str(tmp_path / "out"), "--json")
    document = json.loads(capsys.readouterr().out)
    assert document["computed"] == 0
    assert document["means"][1]["figures"]["goodput_ratio"]["n"] == 2


def test_a_key_that_changes_no_run_is_named() -> None:
    grid = {"queue.lossy.alpha": [0.0625, 8.0], "queue.absent.alpha": [1.0, 2.0]}
    sets = ["duration=1 ms", "queue.absent.reserved=0 cells"]
    plan = {"scenario": str(ROOT / "scenarios" / "tomahawk.toml"), "set": sets, "reps": 2, "grid": grid}
    console = Console(file=io.StringIO(), width=120)
    show.sweep(pushout.sweep({"name": "idle", **plan}), console)
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert "queue.absent.alpha changes nothing: every run has the same figures" in said
    assert "queue.lossy.alpha changes nothing" not in said


def test_a_class_that_nothing_names_is_refused_and_the_near_one_named() -> None:
    plan = {"name": "x", "scenario": str(ROOT / "scenarios" / "tomahawk.toml"), "set": ["duration=1 ms"], "reps": 2}
    with pytest.raises(
        pushout.PushoutError,
        match=r'^grid: queue\.losy\.alpha: unknown class "losy"; did you mean "lossy"\?.* no flow and no other key',
    ):
        pushout.sweep({**plan, "grid": {"queue.losy.alpha": [1.0, 2.0]}})
    with pytest.raises(pushout.PushoutError, match=r'^axis: queue\.bulk\.alpha: unknown class "bulk" \(allowed'):
        pushout.sweep({**plan, "axis": {"a": {"1": ["queue.bulk.alpha=1.0"]}}})
    lan = {**plan, "scenario": str(ROOT / "scenarios" / "lan.toml")}
    with pytest.raises(pushout.PushoutError, match=r"queue\.bulk\.alpha: no class 'bulk': the scenario has none"):
        pushout.sweep({**lan, "grid": {"queue.bulk.alpha": [1.0, 2.0]}})


def test_a_class_may_be_declared_where_another_key_names_it() -> None:
    plan = {"name": "x", "scenario": str(ROOT / "scenarios" / "tomahawk.toml"), "set": ["duration=100 us"], "reps": 2}
    flow = next(flow["name"] for flow in pushout.Scenario("tomahawk").explain()["flow"] if flow["queue"] == "lossy")
    grid = {"queue.own.alpha": [1.0, 2.0], "queue.own.pool": ["lossy"], f"flow.{flow}.queue": ["own"]}
    assert len(pushout.sweep({**plan, "grid": grid}).points) == 2


def test_large_figures_have_a_unit_in_which_they_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    figures = ["flows.flow1.goodput_bps", "ports.bottleneck.occupancy_mean", "ports.bottleneck.units_in"]
    curve = [f"ports.bottleneck.occupancy.{key}" for key in ("values", "start_s", "step_s")]
    plan: dict[str, Any] = {"scenario": str(ROOT / "scenarios" / "lan.toml"), "figures": [*figures, *curve], "reps": 3}
    plan["set"] = ["duration=300 ms", "flows.start_spread=1 ms", "measure.occupancy=['bottleneck']"]
    plan["grid"] = {"port.bottleneck.buffer": ["53 kB", "106 kB"], "flows.transport.mss": [1000, 1460]}
    show.sweep(pushout.sweep(plan), Console(width=200))
    out = capsys.readouterr().out
    assert {"(Mb/s)", "(cells)"} <= set(re.findall(r"\(.*?\)", out)), "a port of cells counts them"
    assert "step_s" not in out, "when samples were taken is no result"
    assert not re.search(r"\d \d{3} \d{3}", out)


def test_counts_are_whole_numbers_whatever_their_values() -> None:
    """A fairness of exactly 1 is a measure, a file that ended is a count, and so is what was never lost."""
    figures = ["flows.flow1.timeouts", "ports.bottleneck.lost.front", "flows.flow1.transfer_time_mean_s"]
    lan: dict[str, Any] = {"scenario": str(ROOT / "scenarios" / "lan.toml"), "reps": 2}
    quiet = pushout.sweep({**lan, "set": ["topology.sources=1", "duration=9 ms"], "figures": figures}).table.schema
    busy = pushout.sweep({**lan, "set": ["duration=1 s"], "figures": figures}).table.schema
    assert quiet == busy
    assert {str(busy.field(name).type) for name in ("transfers", *figures[:2])} == {"int64"}
    assert {str(busy.field(name).type) for name in ("fairness_jain", "transfer_time_mean_s", figures[2])} == {"double"}


def test_figures_that_another_question_asked_for_in_between_stay(tmp_path: Path) -> None:
    first = {**PLAN, "figures": ["flows.*.goodput_bps"]}
    other = {**PLAN, "figures": ["ports.bottleneck.occupancy_max"]}
    computed = [pushout.sweep(plan, out=tmp_path).manifest["computed"] for plan in (first, other, first, other)]
    assert computed == [12, 12, 0, 0]


def test_a_question_that_is_asked_again_after_another_one_computes_nothing(tmp_path: Path) -> None:
    other = {**PLAN, "grid": {"port.bottleneck.buffer": ["300 cells"]}}
    computed = [pushout.sweep(plan, out=tmp_path).manifest["computed"] for plan in (PLAN, other, PLAN)]
    assert computed == [12, 3, 0]


def test_a_program_goes_by_its_name_and_parameters() -> None:
    @pushout.policy.congestion(params={"add": 1.0})
    def steady(x: Any, s: Any) -> None:
        s.window += int(x.add * x.mss)

    short = {"scenario": "w1-packet", "set": ["duration=100 ms", "warmup=0 s"]}
    result = pushout.sweep({**short, "grid": {"flows.transport.congestion": ["cubic", steady, steady(add=2.0)]}})
    shown = [point["flows.transport.congestion"] for point in result.points]
    assert shown == ["cubic", "steady, add 1.0", "steady, add 2.0"]
    first = steady

    @pushout.policy.congestion(params={"add": 1.0})
    def steady(x: Any, s: Any) -> None:
        s.window += int(2 * x.add * x.mss)

    with pytest.raises(pushout.QuestionError, match="must have programs of different names, not "):
        pushout.sweep({**short, "grid": {"flows.transport.congestion": [first, steady]}})
