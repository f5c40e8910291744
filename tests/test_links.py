"""A folder of results may come from another person: no link, FIFO or device in it is followed."""

import os
from pathlib import Path

import pytest

from conftest import ROOT, Typed, command
from pushout import cache, kept, shipped

THEIRS = "the file of another user\n"

SHORT = ["--set", "duration=100 ms"]
COMPARE = ["compare", "lan", "--policies", "epd,ppd", "--reps", "2", *SHORT]
SWEEP = 'scenario = "lan"\nreps = 1\nset = ["duration=100 ms"]\n[grid]\nflows.transport.mss = [1460]\n'
TRACE = ["run", "lan", "--set", "duration=1 ms", "--trace", "pcapng,parquet", "--out", "out"]
SIZE = ["size", "lan", "--goal", "goodput_ratio>=0", "--over", "port.bottleneck.buffer", "--least", "2", *SHORT]
REPRODUCE = ["reproduce", "000", "--reps", "1", "--out", "out"]
WRITTEN = [
    *((name, [*COMPARE, "--out", "out"]) for name in ("manifest.json", "rows.parquet", "compare.svg", "compare.png")),
    *((name, [*COMPARE, "--out", "out"]) for name in (".lock", "compare.json", "cache")),
    *((f"cache/runs.sqlite{end}", [*COMPARE, "--out", "out"]) for end in ("", "-wal", "-shm", "-journal")),
    *((name, ["sweep", "w.toml", "--out", "out"]) for name in (".lock", "cache/runs.sqlite", "manifest.json")),
    *(
        (name, ["run", "lan", *SHORT, "--out", "out"])
        for name in ("SHA256SUMS", "result.json", "replication-1.json", ".writable")
    ),
    ("p.png", ["plot", "lan", *SHORT, "--out", "out/p.png"]),
    ("p.html", ["run", "lan", *SHORT, "--html", "out/p.html"]),
    ("p.svg", ["run", "lan", *SHORT, "--plot", "out/p.svg"]),
    *((name, [*SIZE, "--out", "out"]) for name in (".lock", "manifest.json", "size.json", "cache/runs.sqlite")),
    *((name, REPRODUCE) for name in (".lock", "cache")),
    ("bench.json", ["bench", "--reps", "1", "--workloads", "floor", "--out", "out"]),
]


@pytest.mark.parametrize(
    ("name", "arguments"), WRITTEN, ids=lambda value: value if isinstance(value, str) else value[0]
)
def test_no_verb_writes_through_a_link(name: str, arguments: list[str], tmp_path: Path, typed: Typed) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    secret = victim / "secret"
    secret.write_text(THEIRS, encoding="utf-8")
    (tmp_path / "w.toml").write_text(SWEEP, encoding="utf-8")
    link = tmp_path / "out" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(victim if name == "cache" else secret)
    done = typed(tmp_path, *arguments)
    assert secret.read_text(encoding="utf-8") == THEIRS
    assert list(victim.iterdir()) == [secret]
    assert done.returncode == 1, done.stderr
    assert "symbolic link" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["lan.toml", "scenario.schema.json"])
@pytest.mark.parametrize("is_broken", [False, True])
def test_a_new_folder_is_not_written_through_a_link(name: str, is_broken: bool, tmp_path: Path, typed: Typed) -> None:
    secret = tmp_path / "secret"
    if not is_broken:
        secret.write_text(THEIRS, encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).symlink_to(secret)
    done = typed(tmp_path, "init", "out", "--scenario", "lan")
    assert (done.returncode, name in done.stderr) == (1, True), done.stderr
    assert not secret.exists() if is_broken else secret.read_text(encoding="utf-8") == THEIRS


def test_the_lab_is_not_written_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shipped, "PAGE", ROOT / "web" / "src" / "index.html")
    secret = tmp_path / "secret"
    secret.write_text(THEIRS, encoding="utf-8")
    (tmp_path / "lab.html").symlink_to(secret)
    command("lab", "lan", "--out", str(tmp_path / "lab.html"), code=1)
    assert "symbolic link" in capsys.readouterr().err
    assert secret.read_text(encoding="utf-8") == THEIRS


def test_a_lock_file_that_is_a_hard_link_keeps_its_content(tmp_path: Path, typed: Typed) -> None:
    secret = tmp_path / "secret"
    secret.write_text(THEIRS, encoding="utf-8")
    (tmp_path / "out").mkdir()
    os.link(secret, tmp_path / "out" / ".lock")
    done = typed(tmp_path, *COMPARE, "--out", "out")
    assert secret.read_text(encoding="utf-8") == THEIRS
    assert (done.returncode, "hard link" in done.stderr) == (1, True), done.stderr


@pytest.mark.parametrize("arguments", [COMPARE, SIZE, ["sweep", "w.toml"]], ids=lambda words: words[0])
@pytest.mark.parametrize("name", [".lock", "manifest.json"])
def test_a_folder_that_cannot_be_claimed_gets_no_store_of_runs(
    name: str, arguments: list[str], tmp_path: Path, typed: Typed
) -> None:
    (tmp_path / "w.toml").write_text(SWEEP, encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).symlink_to(tmp_path / "secret")
    done = typed(tmp_path, *arguments, "--out", "out")
    assert (done.returncode, "symbolic link" in done.stderr) == (1, True), done.stderr
    assert {file.name for file in (tmp_path / "out").iterdir()} <= {name, ".lock"}


@pytest.mark.parametrize("name", [".lock", "cache/runs.sqlite", "manifest.json", "rows.parquet"])
def test_a_fifo_in_a_folder_of_results_is_refused_at_once(name: str, tmp_path: Path, typed: Typed) -> None:
    fifo = tmp_path / "out" / name
    fifo.parent.mkdir(parents=True)
    os.mkfifo(fifo)
    done = typed(tmp_path, *COMPARE, "--out", "out")
    assert done.returncode == 1, done.stderr
    assert f"{name}: must be a regular file, not a FIFO" in done.stderr


def test_a_link_at_the_place_of_a_draft_is_removed_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(THEIRS, encoding="utf-8")
    draft = tmp_path / ".x.json.1.1"
    draft.symlink_to(secret)
    with kept.draft(draft) as file:
        file.write(b"new")
    assert (secret.read_text(encoding="utf-8"), draft.read_bytes(), draft.is_symlink()) == (THEIRS, b"new", False)


def test_a_file_of_the_cache_that_is_a_fifo_or_a_device_counts_as_absent(tmp_path: Path) -> None:
    store = cache.Cache(tmp_path)
    fifo = store.path("{}", 1)
    os.mkfifo(fifo)
    assert fifo not in store
    device = store.path("{}", 2)
    device.symlink_to("/dev/zero")
    assert device not in store
