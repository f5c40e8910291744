"""How much buffer would have lost nothing of a recording: the port of the simulator agrees to the octet."""

import csv
import json
import random
from decimal import Decimal
from pathlib import Path

import pytest

import pushout
from conftest import command
from pushout.errors import PushoutError
from pushout.switch import captured


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(file: str, seed: int, packets: int = 400) -> Path:
    """A table of packets in bursts, some of which come at the same time."""
    draw, time, rows = random.Random(seed), Decimal(0), []  # noqa: S311
    for _ in range(packets):
        time += Decimal(draw.choice([0, 0, 1, 12_345, 100_000, 3_000_001])) / 10**9
        rows.append((f"{time}", draw.choice([28, 40, 576, 1500])))
    with Path(file).open("w", newline="", encoding="utf-8") as table:
        csv.writer(table).writerows([("time", "bytes"), *rows])
    return Path(file)


@pytest.mark.parametrize("rate", ["8 Mb/s", "7777777 b/s", "1 Gb/s", "100 kb/s"])
@pytest.mark.parametrize("seed", range(3))
def test_the_buffer_loses_nothing_and_one_octet_less_loses_something(seed: int, rate: str) -> None:
    found = captured.read(write("a.csv", seed), rate)
    tables = captured.scenario(found, Path("a.toml"))
    assert not pushout.run(tables)["ports.line.lost"]
    assert pushout.run(tables)["ports.line.units_out"] == found.packets
    less = {"port.line.buffer": f"{found.buffer - 1} bytes"}
    assert pushout.run(tables, set=less)["ports.line.lost.overflow"] > 0


def test_the_command_answers_and_writes_a_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text("time,bytes\n0,1000\n0,500\n0.0005,1500\n2,40\n", encoding="utf-8")
    command("import", "a.csv", "--rate", "8 Mb/s", "--out", "a.toml", "--json")
    assert json.loads(capsys.readouterr().out) == {
        "file": "a.toml",
        "packets": 4,
        "bytes": 3040,
        "duration_s": 2.0,
        "mean_bps": 12160.0,
        "burst_bytes": 3000,
        "rate_bps": 8_000_000,
        "buffer_bytes": 3000,
        "buffer_s": 0.003,
    }
    assert not pushout.run("a.toml")["ports.line.lost"]
    command("import", "a.csv", "--rate", "8 Mb/s", "--out", "a.toml")
    assert "a buffer of 3000 bytes (3 ms at 8 Mb/s) loses nothing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a.csv", "--rate", "8"), "--rate must be as in 100 Mb/s, not '8'"),
        (("a.csv", "--rate", "fast"), "--rate must be as in 100 Mb/s, not 'fast'"),
        (("a.csv", "b.csv", "--rate", "8 Mb/s"), "be a recording alone with --rate, not 'time,bytes'"),
        (("none.csv", "--rate", "8 Mb/s"), "none.csv: no such file"),
        (("b.csv", "--rate", "8 Mb/s"), "b.csv: packet 3: its time is before"),
        (("short.csv", "--rate", "8 Mb/s"), "the shortest packet has 20 bytes"),
        (("a.csv", "--rate", "8 Mb/s", "--out", "inner/a.toml"), "write it beside a.csv"),
        (("a.csv",), "be a recording alone with --rate, not 'time,bytes'"),
        (("a.pcap",), "a.pcap: a capture needs the rate of its line: add --rate RATE"),
    ],
)
def test_what_cannot_be_answered_is_one_message(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("inner").mkdir()
    Path("a.csv").write_text("time,bytes\n0,1000\n", encoding="utf-8")
    Path("a.pcap").write_bytes(b"\xd4\xc3\xb2\xa1")
    Path("b.csv").write_text("time,bytes\n1,1000\n0,1000\n", encoding="utf-8")
    Path("short.csv").write_text("time,bytes\n1,20\n", encoding="utf-8")
    command("import", *words, code=2 if "belongs" in message else 3)
    err = capsys.readouterr().err
    assert message in err.replace("\n", " ")
    assert "Traceback" not in err
    assert not Path("imported.toml").exists()


def test_an_empty_recording_is_refused() -> None:
    Path("a.csv").write_text("time,bytes\n", encoding="utf-8")
    with pytest.raises(PushoutError, match="has no packets"):
        captured.read(Path("a.csv"), "8 Mb/s")
