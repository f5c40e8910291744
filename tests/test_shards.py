"""Parts of a sweep that processes run without contact, and `merge`, which puts them together.

`make test` flips 20 bits in the files of parts, `make hostile` 200 (PUSHOUT_FLIPS).
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import pushout
from conftest import ROOT, command
from pushout.errors import QuestionError
from pushout.question import campaign, design, output, sweep
from pushout.question.shard import Part, Shard, Split
from pushout.schemes import Epd
from test_sweep import PLAN, without_wall_time

POINTS = {
    "random": {
        "points": 5,
        "keys": {"port.bottleneck.buffer": {"from": 200, "to": 900, "unit": "cells", "whole": True}},
    }
}
PRECISION = {"precision": 0.02, "of": "summary.goodput_ratio", "min": 4, "max": 9}
WARMED: Mapping[str, Any] = {
    "scenario": str(ROOT / "scenarios" / "mux-poisson.toml"),
    "set": ["duration=0.1 s", "sample=0.5 ms", "port.bottleneck.buffer=4000 cells", "measure.occupancy=['bottleneck']"],
    "reps": 2,
    "grid": {"flows.source.rate": ["5 Mb/s", "10 Mb/s", "14.4 Mb/s"]},
    "warmup": {"method": "mser-5", "figure": "ports.bottleneck.occupancy.values", "reps": 2},
}

PLANS: dict[str, Mapping[str, Any]] = {
    "fixed runs": PLAN,
    "one run of each point": {**PLAN, "reps": 1, "seed": 7},
    "runs until they are precise": {**PLAN, "reps": PRECISION},
    "a computed warm-up": WARMED,
    "random points": {**PLAN, "grid": {}, **POINTS},
    "objects as overrides": {
        **PLAN,
        "axis": {
            "policy": {
                "epd": {"port.bottleneck.admission": Epd(threshold="70 %")},
                "tail-drop": PLAN["axis"]["policy"]["tail-drop"],
            }
        },
    },
    "equal points": {**PLAN, "axis": {"twice": {"a": [], "b": []}}},
    "figures that some points lack": {
        **PLAN,
        "figures": [],
        "axis": {
            "policy": {
                "red": ['port.bottleneck.admission={policy="red"}'],
                "tail-drop": PLAN["axis"]["policy"]["tail-drop"],
            }
        },
    },
}


def parts(plan: Mapping[str, Any], folder: Path, count: int) -> list[Path]:
    """Run all parts of a sweep, in a random order, each in its folder."""
    numbers = random.Random(count).sample(range(1, count + 1), count)  # noqa: S311
    for number in numbers:
        pushout.sweep(plan, out=folder / f"part-{number}", shard=(number, count))
    return [folder / f"part-{number}" for number in numbers]


def rows(folder: Path) -> Any:
    """The rows in a folder, without times."""
    return without_wall_time(pq.read_table(folder / "rows.parquet"))


def manifest(folder: Path) -> dict[str, Any]:
    """The manifest in a folder, without times and places."""
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return {**found, "wall_s": 0, "rows": Path(found["rows"]).name}


def assert_equal(folder: Path, other: Path) -> None:
    """Two folders hold the same rows and manifest, but for times."""
    assert rows(folder).equals(rows(other), check_metadata=True)
    assert list(manifest(folder).items()) == list(manifest(other).items())


CASES = [(name, count) for name in PLANS for count in (1, 3)]
CASES += [(name, 50) for name in ("fixed runs", "a computed warm-up")]
"""The last have parts without runs."""


@pytest.mark.parametrize(("name", "count"), CASES)
def test_merged_parts_equal_the_sweep_of_one_process(name: str, count: int, tmp_path: Path) -> None:
    plan = PLANS[name]
    pushout.sweep(plan, out=tmp_path / "one")
    merged = pushout.merge(parts(plan, tmp_path, count), tmp_path / "whole")
    assert_equal(tmp_path / "whole", tmp_path / "one")
    assert merged.columns.rows == rows(tmp_path / "one").num_rows > 0


def test_a_sweep_of_many_chunks_is_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (campaign, sweep):
        monkeypatch.setattr(module, "CHUNK", 3)
    pushout.sweep(PLAN, out=tmp_path / "one")
    pushout.merge(parts(PLAN, tmp_path, 2), tmp_path / "whole")
    assert_equal(tmp_path / "whole", tmp_path / "one")


@pytest.mark.parametrize("arrow", [True, False])
def test_the_bytes_are_those_of_one_process(arrow: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not arrow:
        monkeypatch.setattr(output, "has", lambda _: False)
    whole, again = tmp_path / "whole", tmp_path / "again"
    pushout.merge(parts(PLAN, tmp_path, 3), whole)
    shutil.copytree(whole / "cache", tmp_path / "runs")
    pushout.sweep(PLAN, out=again, cache=tmp_path / "runs")  # with the times of the parts
    name = "rows.parquet" if arrow else "rows.csv"
    assert (whole / name).read_bytes() == (again / name).read_bytes()
    assert manifest(whole) == {**manifest(again), "computed": 12}


def test_a_merged_sweep_can_be_continued(tmp_path: Path) -> None:
    pushout.merge(parts(PLAN, tmp_path, 2), tmp_path / "whole")
    assert pushout.sweep(PLAN, out=tmp_path / "whole").manifest["computed"] == 0
    assert pushout.sweep({**PLAN, "reps": 4}, out=tmp_path / "whole").manifest["computed"] == 4


@pytest.mark.parametrize(("plan", "pairs"), [(PLAN, True), ({**PLAN, "reps": PRECISION}, False)])
def test_every_run_belongs_to_one_part_and_parts_are_balanced(plan: Mapping[str, Any], pairs: bool) -> None:
    sizes = {"port.bottleneck.buffer": [f"{cells} cells" for cells in range(100, 137)]}
    made = design.made({**plan, "grid": sizes})
    for count in (1, 2, 5, 12):
        split = Split(made, count)
        owners = [[split.owner(point.sets, number) for number in range(3)] for point in made.points]
        assert pairs or all(len(set(each)) == 1 for each in owners), "one part has all runs of a point"
        units = [owner for each in owners for owner in (each if pairs else each[:1])]
        numbers = [units.count(number) for number in range(1, count + 1)]
        assert sum(numbers) == len(units)
        assert max(numbers) - min(numbers) <= 1
        for number in range(1, count + 1):
            owned = split.owned(number)
            assert [[owned(point, each) for each in range(3)] for point in range(37)] == [
                [owner == number for owner in each] for each in owners
            ]


def test_no_part_gets_one_level_of_a_factor() -> None:
    grid = {
        "port.bottleneck.buffer": [f"{cells} cells" for cells in range(100, 120)],
        "flows.transport.mss": [1460, 9140],
    }
    made = design.made({**PLAN, "grid": grid, "reps": 1})
    split = Split(made, 2)
    first = [point.columns["flows.transport.mss"] for point in made.points if split.owner(point.sets, 0) == 1]
    assert len(first) == 20
    assert 5 < first.count(1460) < 15


def test_a_part_can_stay_in_memory() -> None:
    found = [pushout.sweep(PLAN, shard=f"{number}/5") for number in range(1, 6)]
    seeds = [run for each in found for run in zip(each.columns.plain("point"), each.columns.plain("seed"), strict=True)]
    assert sorted(seeds) == [(point, seed) for point in range(4) for seed in (1, 2, 3)]
    assert [each.document["shard"] for each in found] == ["1/5", "2/5", "3/5", "4/5", "5/5"]


SCRIPT = "import sys, pushout.cli; pushout.cli.main(sys.argv[1:])"


def test_a_part_that_was_killed_is_run_again(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('name = "slow"\nscenario = "lan.toml"\nset = ["duration=3 s"]\nreps = 30\n', encoding="utf-8")
    shutil.copy(ROOT / "scenarios" / "lan.toml", tmp_path)
    places = [tmp_path / "part-1", tmp_path / "part-2"]
    arguments = [
        sys.executable,
        "-c",
        SCRIPT,
        "sweep",
        str(plan),
        "--jobs",
        "1",
        "--shard",
        "2/2",
        "--out",
        str(places[1]),
    ]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for_runs(places[1] / "cache" / "runs.sqlite")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    pushout.sweep(plan, out=places[0], shard=(1, 2))
    with pytest.raises(QuestionError) as caught:
        pushout.merge(places, tmp_path / "whole")
    assert str(caught.value) == f"{places[1]}: part 2/2 must be complete: run it again, it continues where it ended"
    assert 0 < pushout.sweep(plan, out=places[1], shard=(2, 2)).manifest["computed"] < 15
    merged = pushout.merge(places, tmp_path / "whole")
    pushout.sweep(plan, out=tmp_path / "one")
    assert merged.manifest["computed"] == 30
    assert_equal(tmp_path / "whole", tmp_path / "one")


def _wait_for_runs(file: Path) -> None:
    """Wait until a store holds a run."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if file.is_file():
            with sqlite3.connect(file) as database:
                if database.execute("SELECT name FROM sqlite_master").fetchall() and database.execute(
                    "SELECT count(*) FROM run"
                ).fetchone() > (0,):
                    return
        time.sleep(0.02)
    raise AssertionError("no run was stored")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three parts of a sweep, two of another, and a whole one."""
    folder = tmp_path_factory.mktemp("parts")
    parts(PLAN, folder, 3)
    parts({**PLAN, "reps": 2}, folder / "other", 3)
    parts(PLAN, folder / "halves", 2)
    pushout.sweep(PLAN, out=folder / "sweep")
    return folder


def _damage_part(folder: Path) -> None:
    file = folder / "part-2" / "part.json"
    file.write_text(file.read_text(encoding="utf-8").replace("200 cells", "201 cells"), encoding="utf-8")


def _damage_runs(folder: Path) -> None:
    with sqlite3.connect(folder / "part-2" / "cache" / "runs.sqlite") as database:
        database.execute("UPDATE run SET wall_s = wall_s + 1")


def _set_manifest(**changes: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        file = folder / "part-2" / "manifest.json"
        file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **changes}), encoding="utf-8")

    return change


def _nothing(_folder: Path) -> None:
    pass


ALL = ["part-1", "part-2", "part-3"]


@pytest.mark.parametrize(
    ("names", "change", "message"),
    [
        (["part-3", "part-1"], _nothing, "the folders must hold all 3 parts: name also that of 2/3, or run it"),
        (["part-1"], _nothing, "the folders must hold all 3 parts: name also that of 2/3, 3/3, or run it"),
        ([*ALL, "part-2"], _nothing, "{}/part-2: part 2/3 is also in {}/part-2: leave out one of them"),
        (
            [*ALL[:2], "other/part-3"],
            _nothing,
            "{}/other/part-3: the part must be of the sweep of {}/part-1: leave out",
        ),
        (
            [*ALL[:2], "halves/part-1"],
            _nothing,
            "{}/halves/part-1: the part must be of the sweep of {}/part-1: leave out",
        ),
        (
            [*ALL, "sweep"],
            _nothing,
            "{}/sweep: the folder must hold a part of a sweep, which sweep writes with --shard",
        ),
        ([*ALL, "none"], _nothing, "{}/none: no such folder: name the folders of all parts"),
        (ALL, _damage_part, "{}/part-2/part.json is damaged: run that part of the sweep again"),
        (ALL, lambda folder: (folder / "part-2" / "part.json").write_text("[1"), "{}/part-2/part.json is damaged: run"),
        (ALL, lambda folder: (folder / "part-2" / "part.json").write_text("[]"), "{}/part-2/part.json is damaged: run"),
        (
            ALL,
            lambda folder: (folder / "part-2" / "manifest.json").write_text("{"),
            "{}/part-2/manifest.json is damaged",
        ),
        (
            ALL,
            lambda folder: (folder / "part-2" / "manifest.json").unlink(),
            "{}/part-2: part 2/3 must be complete: run",
        ),
        (ALL, _set_manifest(complete=False), "{}/part-2: part 2/3 must be complete: run it again"),
        (ALL, _set_manifest(shard="3/3"), "{}/part-2: manifest.json must be that of part 2/3: run that part again"),
        (ALL, _set_manifest(engine={"build": "1"}), "{}/part-2: part 2/3 must have been run by this build of Pushout"),
        (ALL, _set_manifest(engine=[]), "{}/part-2/manifest.json is damaged"),
        (ALL, _damage_runs, "{}/part-2: a run of part 2/3 is damaged or missing: run that part again"),
        (
            ALL,
            lambda folder: shutil.rmtree(folder / "part-2" / "cache"),
            "{}/part-2/cache/runs.sqlite is missing: run part",
        ),
    ],
)
def test_parts_that_are_no_sweep_get_one_message(
    names: Sequence[str],
    change: Callable[[Path], object],
    message: str,
    finished: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "p"
    shutil.copytree(finished, folder)
    change(folder)
    command("sweep", "merge", *(str(folder / name) for name in names), "--out", str(tmp_path / "whole"), code=3)
    out, err = capsys.readouterr()
    assert not out
    shown = err.replace(str(folder), "{}")
    assert shown.startswith(message)
    assert err.count("\n") == 1
    assert not (tmp_path / "whole" / "rows.parquet").exists()


def test_a_store_that_is_no_database_gets_one_message(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(finished, tmp_path / "p")
    file = tmp_path / "p" / "part-3" / "cache" / "runs.sqlite"
    file.write_bytes(b"no database" * 1000)
    command("sweep", "merge", *(str(tmp_path / "p" / name) for name in ALL), "--out", str(tmp_path / "whole"), code=1)
    assert capsys.readouterr().err.startswith(f"{file}: file is not a database")


FLIPS = int(os.environ.get("PUSHOUT_FLIPS", "20"))


@pytest.mark.parametrize("seed", range(FLIPS))
def test_a_flipped_bit_changes_no_row_without_a_message(seed: int, finished: Path, tmp_path: Path) -> None:
    stream = random.Random(seed)  # noqa: S311
    folder = tmp_path / "p"
    shutil.copytree(finished, folder)
    file = folder / stream.choice(ALL) / stream.choice(["part.json", "manifest.json", "cache/runs.sqlite"])
    data = bytearray(file.read_bytes())
    data[stream.randrange(len(data))] ^= 1 << stream.randrange(8)
    file.write_bytes(data)
    try:
        pushout.merge([folder / name for name in ALL], tmp_path / "whole")
    except (QuestionError, OSError) as error:
        assert str(folder) in str(error)
    else:
        assert rows(tmp_path / "whole").equals(rows(finished / "sweep"))


def test_out_is_a_folder_of_its_own(finished: Path) -> None:
    places = [finished / name for name in ALL]
    with pytest.raises(QuestionError, match="out must be another folder than those of the parts, not "):
        pushout.merge(places, finished / "other" / ".." / "part-1")


def test_a_folder_holds_one_part(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "part"
    shutil.copytree(finished / "part-1", folder)
    with pytest.raises(QuestionError, match="the folder holds part 1/3: give part 2/3 its own folder"):
        pushout.sweep(PLAN, out=folder, shard=(2, 3))
    assert pushout.sweep(PLAN, out=folder, shard=(1, 3)).manifest["computed"] == 0
    (folder / "part.json").write_text("damaged", encoding="utf-8")
    assert pushout.sweep(PLAN, out=folder, shard=(1, 3)).manifest["computed"] == 0, "repaired by the next run"
    pushout.merge([folder, finished / "part-2", finished / "part-3"], tmp_path / "whole")


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ({"out": "a", "cache": "b"}, "cache must be left out with shard: merge reads the runs of a part in its folder"),
        ({"out": "s3://bucket/part"}, "out must be a folder with shard: merge reads the runs of a part in its folder"),
    ],
)
def test_a_part_has_its_runs_in_its_folder(
    places: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(QuestionError) as caught:
        pushout.sweep(PLAN, shard=(1, 2), **places)
    assert str(caught.value) == message
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "wrong", ["0/4", "5/4", "1/10001", "1", "a/b", "1/4/2", "-1/4", "", "1e0/4", "٣/4", (1,), 4, (True, 2), (1.5, 2)]
)
def test_a_shard_is_one_of_some_parts(wrong: Any) -> None:
    with pytest.raises(QuestionError, match="shard must be I of N parts"):
        pushout.sweep(PLAN, shard=wrong)


def test_a_shard_may_be_written_in_several_ways() -> None:
    import numpy as np

    assert {Shard.of(each) for each in ("2/4", " 2 / 4 ", (2, 4), [2, 4], (np.int64(2), np.int64(4)))} == {Shard(2, 4)}


def test_the_commands_run_and_merge_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "scenarios" / "lan.toml", tmp_path)
    plan = 'scenario = "lan.toml"\nset = ["duration=20 ms"]\nreps = 2\n[grid]\nflows.transport.mss = [1460, 9140]\n'
    Path("plan.toml").write_text(plan, encoding="utf-8")
    for number in range(1, 6):
        command("sweep", "plan.toml", "--shard", f"{number}/5")
    shown = capsys.readouterr().out
    assert "Part 1/5 of the sweep: 1 run, 1 of them computed now" in shown
    assert "Part 5/5 of the sweep: 0 runs, 0 of them computed now" in shown
    folders = [f"results/plan-{number}-of-5" for number in range(1, 6)]
    command("sweep", "merge", *folders, "--out", "whole", "--json")
    document = json.loads(capsys.readouterr().out)
    assert (document["runs"], document["computed"], document["points"]) == (4, 4, 2)
    assert "shard" not in document
    command("sweep", "merge", *folders, "--out", "whole", "--html", "page.html")
    assert "4 runs, 0 of them computed now" in capsys.readouterr().out
    assert "<html" in Path("page.html").read_text(encoding="utf-8")
    command("sweep", "plan.toml", "--shard", "6/5", code=3)
    message = "--shard must be I of N parts, with I from 1 to N and N at most 10000, not '6/5'\n"
    assert capsys.readouterr().err == message
    command("sweep", "plan.toml", "--shard", "1/5", "--cache", "c", code=3)
    assert capsys.readouterr().err.startswith("--cache must be left out with --shard: ")
    monkeypatch.setenv("PUSHOUT_CACHE", "elsewhere")
    command("sweep", "plan.toml", "--shard", "1/5")
    assert not Path("elsewhere").exists()
    command("sweep", "merge", "--out", "whole", code=2)
    command("sweep", "merge", *folders, code=2)


def test_a_part_file_that_another_program_wrote_is_refused(tmp_path: Path) -> None:
    for plan in ([], {}, {"keys": {}}, {"keys": {"grid": 1}, "scenario": ["", ""], "text": "", "policies": []}):
        folder = tmp_path / "p"
        pushout.sweep(PLAN, out=folder, shard=(1, 1))
        part = Part(Shard(1, 1), plan)  # type: ignore[arg-type]
        (folder / "part.json").write_text(part.text, encoding="utf-8")
        with pytest.raises(QuestionError, match=r"part\.json is damaged: run that part of the sweep again"):
            pushout.merge([folder], tmp_path / "whole")
