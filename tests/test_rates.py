"""Files with the rate of a line over time."""

import json
from pathlib import Path

import pytest

from conftest import command
from pushout import recording
from pushout.errors import ScenarioError
from pushout.names.port import ports

RADIO = """
name = "radio"
duration = "5 s"
adaptation = { kind = "packet" }
node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
link = [
    { from = "a", to = "r", rate = "1 Gb/s", delay = "1 ms" },
    { name = "radio", from = "r", to = "b", rate = LAW, delay = "20 ms" },
]
[port.radio]
buffer = "100 ms"
[[flow]]
name = "f"
from = "a"
to = "b"
source = { kind = "greedy" }
transport = { kind = "tcp", congestion = "cubic", profile = "linux" }
"""
"""A line with a law between a router and a host."""


LAWS = {
    '{ steps = [["0 s", "20 Mb/s"], ["2 s", "5 Mb/s"]] }': (11e6, "20 Mb/s, 5 Mb/s from 2 s"),
    '{ steps = [["0 s", "20 Mb/s"], ["1 s", "0 b/s"]], period = "2 s" }': (12e6, "20 Mb/s, 0 b/s from 1 s"),
    '{ grants = { every = "10 ms", size = "30 kB" } }': (24e6, "30 kB every 10 ms"),
    '{ states = { good = "50 Mb/s", bad = "2 Mb/s", to_bad = "1 per s", to_good = "3 per s" } }': (
        38e6,
        "50 Mb/s or 2 Mb/s, drawn",
    ),
    '{ trace = "cell.trace" }': (12_000 * 1999 / 5, "trace cell.trace"),
    '{ trace = "rates.csv", period = "5 s" }': (8.8e6, "trace rates.csv"),
}
"""Laws with their mean over 5 s, in bits per second, and how a table names them."""


def test_every_rate_that_names_a_file_is_found_and_those_with_their_text_are_not() -> None:
    links = [{"rate": {"trace": "a"}, "back": {"rate": {"trace": "b"}}}, {"rate": "1 Mb/s"}]
    wires = {"template": "dumbbell", "bottleneck": {"rate": {"trace": "c"}}, "access": [{"rate": {"trace": "d"}}]}
    assert list(recording.traced({"link": links, "topology": wires})) == ["a", "b", "c", "d"]
    assert list(recording.traced({"link": [{"rate": {"trace": "a", "data": "1\n"}}]})) == []


def test_the_text_of_a_file_is_added_to_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "cell.trace").write_text("1\n3\n")
    text = recording.with_files("name = 'x'\n", {"link": [{"rate": {"trace": "cell.trace"}}]}, tmp_path)
    assert '"cell.trace" = "1\\n3\\n"' in text, text


def test_a_file_that_is_too_large_is_refused_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "LARGEST_TRACE", 2**20)
    path = tmp_path / "cell.trace"
    path.write_text("123456\n" * 200_000)
    with pytest.raises(ScenarioError, match=r"cell\.trace:149797: a trace must have at most 1 MiB; cut it"):
        recording.rates(path)


@pytest.mark.parametrize("law", LAWS)
def test_verbs_take_the_mean_of_a_rate_that_changes(
    law: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cell.trace").write_text("0\n1\n3\n10\n", encoding="utf-8")
    (tmp_path / "rates.csv").write_text("# seconds, bits per second\n0 s, 10 Mb/s\n4, 4000000\n", encoding="utf-8")
    file = tmp_path / "radio.toml"
    file.write_text(RADIO.replace("LAW", law), encoding="utf-8")
    mean, name = LAWS[law]
    command("explain", str(file), "--json")
    explained = json.loads(capsys.readouterr().out)
    assert ports(explained)["radio"].rate_bps == pytest.approx(mean, rel=1e-6)
    command("explain", str(file))
    text = capsys.readouterr().out
    assert name in text
    assert "engine reference" in text
    command(
        "compare", str(file), "--policies", "as-is,fq-codel", "--at", "radio", "--reps", "2", "--set", 'duration="5 s"'
    )
    assert "fq-codel" in capsys.readouterr().out
