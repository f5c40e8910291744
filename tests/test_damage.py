"""What a disk has changed counts as absent: a flipped bit costs a run, never a wrong row.

`make test` takes a sample of bits, `make hostile` 200 of each store (PUSHOUT_FLIPS).
"""

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import pushout
from conftest import FakeCore, command
from pushout.cache import Cache
from pushout.picture.finished import documents, is_finished
from pushout.question.store import Run, Store
from pushout.study import previous_report
from pushout.study.reproduce import reproduce
from test_study import toy
from test_sweep import PLAN, without_wall_time

FLIPS = int(os.environ.get("PUSHOUT_FLIPS", "20"))


def flipped(file: Path, seed: int) -> Iterator[int]:
    """Flip one random bit of a file after the other, each in the file as it was; the number of the bit."""
    data = file.read_bytes()
    stream = random.Random(seed)  # noqa: S311
    for _ in range(FLIPS):
        bit = stream.randrange(8 * len(data))
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        file.write_bytes(changed)
        yield bit


def whole(folder: Path) -> Path:
    """The file with the runs of a folder, without a log beside it."""
    file = folder / "cache" / "runs.sqlite"
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA journal_mode=DELETE")
    return file


@pytest.mark.timeout(0)
def test_a_flipped_bit_in_the_store_gives_the_same_rows_or_an_error(tmp_path: Path) -> None:
    rows = without_wall_time(pushout.sweep(PLAN, out=tmp_path / "right").table)
    right = whole(tmp_path / "right")
    computed = 0
    for bit in flipped(right, seed=1):
        out = tmp_path / "flipped"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(tmp_path / "right", out)
        try:
            result = pushout.sweep(PLAN, out=out)
        except OSError as error:
            assert error.filename == str(out / "cache" / "runs.sqlite"), bit
            continue
        assert without_wall_time(result.table).equals(rows), bit
        computed += result.manifest["computed"]
    assert computed > 0, "some flip hit a run"


def test_a_run_counts_only_with_all_that_was_written_of_it(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keys = [store.key(f"point {number}") for number in range(2)]
    store.put((key, seed, '{"summary.x": 0.25}', 0.5) for key in keys for seed in (1, 2**64 - 1))
    assert store.find(keys)[keys[0]] == {seed: Run(seed, {"summary.x": 0.25}, 0.5) for seed in (1, 2**64 - 1)}
    changes = [
        "figures = CAST('{\"summary.x\": 0.75}' AS BLOB)",
        "figures = NULL",
        "figures = 5",
        "wall_s = 0.75",
        "wall_s = NULL",
        "digest = NULL",
        "digest = zeroblob(16)",
        "seed = 2",
        "seed = 'x'",
    ]
    for change in changes:
        with closing(sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)) as database:
            database.execute("BEGIN")
            database.execute(f"UPDATE run SET {change} WHERE seed = 1")  # noqa: S608
            database.execute("COMMIT")
        assert {key: set(runs) for key, runs in store.find(keys).items()} == {key: {2**64 - 1} for key in keys}, change
        store.put((key, 1, '{"summary.x": 0.25}', 0.5) for key in keys)
        with closing(sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)) as database:
            database.execute("DELETE FROM run WHERE seed NOT IN (1, -1)")


def test_runs_of_one_point_are_none_of_another(tmp_path: Path) -> None:
    store = Store(tmp_path)
    one, other = store.key("one"), store.key("other")
    store.put([(one, 1, '{"summary.x": 1}', 0.5)])
    with closing(sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)) as database:
        database.execute("UPDATE run SET point = ?", (other,))
    assert store.find([one, other]) == {one: {}, other: {}}


def test_the_table_of_an_earlier_version_is_replaced(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)) as database:
        database.execute("CREATE TABLE run (point BLOB, seed INTEGER, figures TEXT, wall_s REAL)")
        database.execute("INSERT INTO run VALUES (x'00', 1, '{}', 0.5)")
    store = Store(tmp_path)
    key = store.key("point")
    store.put([(key, 1, "{}", 0.5)])
    assert Store(tmp_path).find([key]) == {key: {1: Run(1, {}, 0.5)}}


@pytest.mark.timeout(0)
def test_a_flipped_bit_in_the_result_of_a_study_is_a_run_to_be_done_again(core: FakeCore, tmp_path: Path) -> None:
    study, cache = toy(tmp_path), Cache(tmp_path / "cache")
    right = reproduce([study], reps=1, cache=cache).outcomes[0].json()
    victim = next(cache.folder.iterdir())
    document = cache.load(victim)
    for bit in flipped(victim, seed=2):
        assert victim not in cache, bit
    runs = len(core.runs)
    assert reproduce([study], reps=1, cache=cache).outcomes[0].json() == right
    assert (len(core.runs), cache.load(victim)) == (runs + 1, document)


def test_a_result_at_the_place_of_another_counts_as_absent(core: FakeCore, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    reproduce([toy(tmp_path)], reps=1, cache=cache)
    one, other, *_ = cache.folder.iterdir()
    shutil.copy(one, other)
    assert (one in cache, other in cache) == (True, False)
    for text in ("", "{}", "[]", "null", '{"a":' * 1_000, '{"digest": "", "document": {}}'):
        one.write_text(text, encoding="utf-8")
        assert one not in cache, text[:20]


def report(tmp_path: Path, change: Any = None, digest: Any = None) -> Path:
    """A report about a study, of which a case has this many replications."""
    replications = {"collapse": 3 if change is None else change, "drop": 2}
    document = previous_report.sealed({"studies": [{"id": "000-ubr-discard", "replications": replications}]})
    path = tmp_path / "reproduce.json"
    path.write_text(json.dumps(document if digest is None else {**document, "digest": digest}), encoding="utf-8")
    return path


@pytest.mark.parametrize("count", ["a", "3", 1.5, -3, 0, True, None, [3], {"n": 3}, 1e400])
def test_a_report_with_an_impossible_number_of_replications_counts_as_none(count: Any, tmp_path: Path) -> None:
    found = previous_report.carried_over(
        report(tmp_path, {} if count is None else count), [], Cache(tmp_path / "cache")
    )
    assert (found.chapters, found.gone) == ([], [])


def test_a_report_of_more_runs_than_are_kept_is_none_of_this_version(tmp_path: Path) -> None:
    for count in (3, 10**6, 3 * 10**8):
        found = previous_report.carried_over(report(tmp_path, count), [], Cache(tmp_path / "cache"))
        assert (found.chapters, found.gone) == ([], ["000-ubr-discard"])


@pytest.mark.timeout(0)
def test_a_damaged_report_counts_as_none(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    path = report(tmp_path)
    assert previous_report.carried_over(path, [], cache).gone
    for bit in flipped(path, seed=3):
        assert not previous_report.carried_over(path, [], cache).gone, bit
    deep = '{"a":' * 1_000 + "1" + "}" * 1_000
    for text in ("", "[]", "null", "5", deep, '{"studies": 5, "digest": 5}', '{"studies": [{"id": 0}]}'):
        path.write_text(text, encoding="utf-8")
        assert not previous_report.carried_over(path, [], cache).gone
    assert not previous_report.carried_over(report(tmp_path, digest="0" * 64), [], cache).gone


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", ["result.json", "replication-1.json", "replication-2.json", "SHA256SUMS"])
def test_a_flipped_bit_in_a_result_is_an_error_never_a_figure(name: str, tmp_path: Path) -> None:
    command("run", "lan", "--set", "duration=10 ms", "--seed", "1", "--reps", "2", "--out", str(tmp_path))
    given = tmp_path / name if name == "result.json" else tmp_path
    right = documents(tmp_path)
    for bit in flipped(tmp_path / name, seed=4):
        assert is_finished(given)
        try:
            found = documents(given)
        except pushout.QuestionError as error:
            assert "SHA256SUMS" in str(error), bit
            continue
        assert name == "SHA256SUMS", bit  # a flip in the line of a file that is not read
        assert found == right, bit


@pytest.mark.timeout(0)
def test_a_flipped_bit_in_the_pages_of_rows_is_an_error(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    pushout.sweep(PLAN, out=tmp_path)
    rows = tmp_path / "rows.parquet"
    right, data = pq.read_table(rows), rows.read_bytes()
    footer = int.from_bytes(data[-8:-4], "little") + 8
    noticed = 0
    for _ in flipped(rows, seed=5):
        if rows.read_bytes()[-footer:] != data[-footer:]:
            continue  # the description of the table has no checksum
        try:
            assert pq.read_table(rows, page_checksum_verification=True).equals(right)
        except (OSError, ValueError):
            noticed += 1
    assert noticed > 0 or FLIPS < 100


def test_a_result_of_a_folder_without_checksums_is_not_drawn_but_a_file_that_a_user_saved_is(tmp_path: Path) -> None:
    command("run", "lan", "--set", "duration=10 ms", "--out", str(tmp_path))
    (tmp_path / "SHA256SUMS").unlink()
    with pytest.raises(pushout.QuestionError, match="has no SHA256SUMS beside it"):
        documents(tmp_path)
    (saved := tmp_path / "mine.json").write_bytes((tmp_path / "result.json").read_bytes())
    assert documents(saved)[0]["seed"] == 1


def test_the_cache_of_a_study_belongs_to_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)
    path = cache.path("{}", 1)
    monkeypatch.setattr("pushout.cache.build", lambda: "another build")
    assert cache.path("{}", 1) != path
