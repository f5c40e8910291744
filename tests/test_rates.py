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
    '{ grants = { every = "10 ms", size = "30 kB" } }': (24e6 * 499 / 500, "30 kB every 10 ms"),
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
    assert f"engine {'reference' if 'grants' in law or 'cell.trace' in law else 'fast'}" in text
    command(
        "compare", str(file), "--policies", "as-is,fq-codel", "--at", "radio", "--reps", "2", "--set", 'duration="5 s"'
    )
    assert "fq-codel" in capsys.readouterr().out


LATE = """
[[reorder]]
link = "radio"
packets = [12, 40]
by = "5 ms"
"""


def test_explain_says_what_happens_to_packets_behind_a_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "late.toml"
    keys = 'delay.steps = [["0 s", "20 ms"], ["3 s", "60 ms"]], repeat = { share = "10 %", delay = "8 ms", most = 3 }'
    file.write_text(RADIO.replace("LAW", '"10 Mb/s"').replace('"b", rate', f'"b", {keys}, rate'), encoding="utf-8")
    file.write_text(file.read_text(encoding="utf-8").replace(', delay = "20 ms" }', " }") + LATE, encoding="utf-8")
    command("explain", str(file))
    words = " ".join(capsys.readouterr().out.split())
    for part in ("20 ms, 60 ms from 3 s", "10 %, each 8 ms later", "packets 12, 40", "or a link repeats packets"):
        assert part in words, words
    command("run", str(file), "--json")
    (port,) = (port for port in json.loads(capsys.readouterr().out)["ports"] if port["name"] == "radio")
    assert port["held_back"] == 2
    assert port["repeats"] > 100


def test_a_link_becomes_a_trace_that_reads_back_with_the_same_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "radio.toml"
    file.write_text(RADIO.replace("LAW", '{ steps = [["0 s", "20 Mb/s"], ["2 s", "5 Mb/s"]] }'), encoding="utf-8")
    command("explain", str(file), "--opportunities", "radio")
    trace = capsys.readouterr().out
    times = [int(line) for line in trace.splitlines()]
    assert times == sorted(times)
    # 1500 octets take 0.6 ms at 20 Mb/s and 2.4 ms at 5 Mb/s; the packet in service at 2 s ends at 2001.6 ms
    assert (times[:3], len(times)) == ([1, 2, 2], 3333 + 1 + (5000 - 2002) * 10 // 24)
    (tmp_path / "radio.trace").write_text(trace, encoding="utf-8")
    file.write_text(RADIO.replace("LAW", '{ trace = "radio.trace" }'), encoding="utf-8")
    command("explain", str(file), "--json")
    assert ports(json.loads(capsys.readouterr().out))["radio"].rate_bps == pytest.approx(11e6, rel=1e-3)


@pytest.mark.parametrize(
    ("args", "code", "why"),
    [
        (("--opportunities", "radoi"), 3, 'unknown link "radoi"; did you mean "radio"?'),
        (("--opportunities", "radio", "--json"), 2, "--opportunities writes a trace: leave out --check and --json"),
        (
            (
                "--opportunities",
                "radio",
                "--set",
                'duration="1 ms"',
            ),
            3,
            "duration must be longer",
        ),
    ],
)
def test_a_trace_that_cannot_be_written_is_refused(
    args: tuple[str, ...], code: int, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "radio.toml"
    file.write_text(RADIO.replace("LAW", '"5 Mb/s"'), encoding="utf-8")
    command("explain", str(file), *args, code=code)
    assert why in capsys.readouterr().err
