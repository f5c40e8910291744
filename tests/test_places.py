"""Where results go: secrets of addresses are shown nowhere, and what killed processes left is swept up."""

import json
from pathlib import Path
from typing import Any

import pyarrow.fs
import pytest

from conftest import ROOT, command
from pushout.cli import main
from pushout.question.output import Output

LAN = str(ROOT / "scenarios" / "lan.toml")
SHORT = ["--set", "duration=5 ms", "--set", "warmup=0 s", "--set", "flows.start_spread=0 s", "--set", "sample=1 ms"]
STORE = "s3://KEY:SECRET@bucket/x?endpoint_override=127.0.0.1:1&scheme=http"
SIZE = ["--goal", "fairness_jain>=0.1", "--over", "port.bottleneck.buffer", "--least", "2", "--most", "2"]


def contents(folder: Path) -> bytes:
    """All that stands in the files of a folder, and their names."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return b"".join(str(file).encode() + file.read_bytes() for file in files)


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A sweep in the folder where the command runs."""
    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(f"scenario = '{LAN}'\nset = ['duration=1 ms', 'warmup=0 s']\n", encoding="utf-8")
    return "plan.toml"


@pytest.mark.parametrize(
    "address",
    [
        STORE,
        STORE.replace("SECRET", "SECRET/x"),
        "s3://KEY:SECRET@",
        "s3://KEY:SECRET@bucket/x?secret_key=SECRET",
        "unknown://KEY:SECRET@bucket/x",
    ],
)
def test_a_store_that_cannot_be_written_to_is_named_without_secrets(
    address: str, plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command("sweep", plan, "--out", address, code=1)
    out, err = capsys.readouterr()
    assert "***@" in err
    assert "SECRET" not in out + err
    assert b"SECRET" not in contents(tmp_path)


@pytest.mark.parametrize(
    "verb", [["sweep", "plan.toml"], ["compare", LAN, "--policies", "epd,ppd", "--reps", "2"], ["size", LAN, *SIZE]]
)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_no_stream_and_no_file_has_the_secrets_of_a_store(
    verb: list[str],
    form: list[str],
    plan: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "bucket").mkdir()
    found = (pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem()), "bucket/x")
    store: Any = type("FileSystem", (), {"from_uri": staticmethod(lambda address: found)})
    monkeypatch.setattr("pyarrow.fs.FileSystem", store)
    command(*verb, *(SHORT if verb[0] != "sweep" else []), "--out", STORE, *form)
    out, err = capsys.readouterr()
    manifest = json.loads((tmp_path / "bucket" / "x" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["rows"] == "s3://***@bucket/x/rows.parquet?endpoint_override=127.0.0.1:1&scheme=http"
    assert "SECRET" not in out + err
    assert b"SECRET" not in contents(tmp_path)


def test_a_path_that_was_meant_as_an_address_is_shown_without_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    command("explain", "--check", "s3://KEY:SECRET@bucket/x", code=3)
    assert capsys.readouterr().err == "s3:/***@bucket/x: no such file\n"
    command("explain", "--check", "s3://KEY:SECRET@bucket/x", "--json", code=3)
    assert "SECRET" not in "".join(capsys.readouterr())


DRAFTS = ["manifest.json.1.2", "rows.parquet.77.139", "rows.csv.1.2", "size.svg.1.2", "compare.png.1.2"]


def test_the_first_claim_of_a_folder_sweeps_up_the_drafts_of_killed_processes(tmp_path: Path) -> None:
    others = [".hidden.1.2", ".rows.parquet", "rows.parquet.1.2", ".rows.parquet.1", ".lock"]
    drafts = [f".{name}" for name in DRAFTS]
    drafts += ["cache/.0f3a.json.5.6", "figures/000/.01-lan.svg.1.2"]

    def leave() -> None:
        for name in (*drafts, *others):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()

    leave()
    first, second = Output(tmp_path), Output(tmp_path)
    first.claim([1])
    assert not [name for name in drafts if (tmp_path / name).exists()]
    assert all((tmp_path / name).exists() for name in others)
    leave()  # as if both were writing
    second.claim([1])
    assert all((tmp_path / name).exists() for name in drafts)
    Output(tmp_path).tidy()
    assert all((tmp_path / name).exists() for name in drafts)
    first.release()
    second.release()
    Output(tmp_path).tidy()
    assert not [name for name in drafts if (tmp_path / name).exists()]


def test_a_run_sweeps_up_the_drafts_of_killed_processes_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / ".result.json.1.2").touch()
    command("run", LAN, *SHORT, "--out", str(tmp_path))
    assert {file.name for file in tmp_path.iterdir()} == {"SHA256SUMS", "result.json", "replication-1.json"}


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "out of memory: use fewer threads"),
        (RuntimeError("can't start new thread"), "out of threads: use fewer (--jobs)"),
        (ImportError("no room", name="numpy"), "numpy: cannot be loaded: no room"),
    ],
)
def test_what_the_system_has_too_little_of_is_one_line(
    error: Exception, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def scarce(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("pushout.replicate.replicated", scarce)
    command("run", LAN, code=1)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(message)


def test_any_other_error_is_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("pushout.replicate.replicated", broken)
    with pytest.raises(RuntimeError, match="broken"):
        command("run", LAN)


@pytest.mark.parametrize("name", ["\x1b[2J.toml", "a\nb.toml", "\u202etxt.toml", "x" * 200 + ".toml", "\udcff.toml"])
def test_the_name_of_a_file_is_shown_on_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(Path(LAN).read_text(encoding="utf-8"), encoding="utf-8")
    command("explain", "--check", name)
    assert capsys.readouterr().out.count("\n") == 1
    command("explain", "--check", name, "--json")
    assert all(character.isprintable() or character == "\n" for character in capsys.readouterr().out)
    Path(name).write_text("name = 5\n", encoding="utf-8")
    command("explain", "--check", name, code=3)
    first = capsys.readouterr().err.splitlines()[0]
    assert first.isprintable()
    assert first.endswith(".toml:1:8: name must be a string, not 5")


def test_reproduce_claims_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = Output(tmp_path)
    other.claim(["sweep"])
    command("reproduce", "000", "--out", str(tmp_path), code=1)
    assert "another question is being answered there" in capsys.readouterr().err
    assert list((tmp_path / "cache").iterdir()) == []
    other.release()


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["run", LAN, "--set", "title=\udcff"], "--set"),
        (["explain", "--check", LAN, "--set=title=\udcff"], "--set"),
        (["compare", LAN, "--policies", "epd,\udcff"], "--policies"),
        (["size", LAN, "--goal", "max \udcff", "--over", "port.bottleneck.buffer"], "--goal"),
        (["list", "schemes", "\udcff"], "an argument"),
    ],
)
def test_an_argument_that_is_no_text_is_named(
    arguments: list[str], place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    (message,) = capsys.readouterr().err.splitlines()
    assert ended.value.code in (2, 3)
    assert message.startswith(place)
    assert "\\udcff" in message
