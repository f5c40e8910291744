"""`pushout explain`: a scenario in words, or in full as JSON."""

import json
from typing import Any

import pytest

import pushout
from conftest import command
from pushout import shipped
from pushout.simulate import Job
from pushout.source import load
from pushout.study.model import STUDIES
from pushout.study.model import load as study_of

SCENARIOS = [each.name for each in shipped.listed() if each.kind == "scenario"]


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    command("explain", *arguments)
    return capsys.readouterr().out


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_shipped_scenario_has_a_page_of_words(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, name)
    explained = pushout.explain(name)
    assert text.startswith(f"{name}: {explained['title'][:20]}")
    assert len(text.splitlines()) < 80
    assert all(kind in text for kind in ("network", "traffic"))
    for port in explained["port"].values():
        assert port["buffer"] in text
        assert port["buffer"] == "unlimited" or port["admission"]["policy"] in text
    assert all(flow["source"]["kind"] in text for flow in explained["flow"])


def test_equal_links_and_flows_share_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "w3-100")
    row = next(line for line in text.splitlines() if "access1" in line)
    assert row.split() == ["access1", "…", "access100", "(100)", "sourceN", "left", "100", "Mb/s", "1", "ms"]
    assert "flow1 … flow100 (100)" in text
    assert "1250 kB (10 ms at line rate)" in text


def test_a_change_is_seen_in_the_words(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "lan", "--set", "flow.flow3.start=7 s", "--set", "port.bottleneck.buffer=1000 cells")
    assert "1000 cells (2.83 ms at line rate)" in text
    assert any("flow3" in line and "7 s" in line for line in text.splitlines())


def test_with_json_it_is_a_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    document: dict[str, Any] = json.loads(said(capsys, "lan", "--json"))
    assert document == pushout.explain("lan")
    assert pushout.explain(document) == document


def test_notes_about_engine_and_memories_are_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "multi-hop-fcvc")
    assert "note: the reference engine runs it, not fast: with credits" in told
    assert "engine reference; " in told
    assert "engine fast" not in told
    notes = [line for line in said(capsys, "chip").splitlines() if line.startswith("note: ")]
    assert [("answers" in note, "bulk" in note) for note in notes] == [(True, False), (False, True)]


ETHERNET = 'adaptation={ kind = "packet", header = "38 bytes", minimum = "84 bytes" }'


def test_what_lines_add_to_packets_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    plain = said(capsys, "w3-100")
    assert "packets; routing" in plain
    assert "minimum" not in plain
    text = said(capsys, "w3-100", "--set", ETHERNET)
    assert "packets, each with 38 bytes more on its line, at least 84 bytes long there; routing" in text
    assert "minimum" not in text.partition("network")[2], "no link has one of its own"
    one = said(capsys, "w3-100", "--set", ETHERNET, "--set", "link.bottleneck.minimum=512 bytes")
    row = next(line for line in one.splitlines() if line.strip().startswith("bottleneck"))
    assert "512 bytes" in row


def test_pauses_from_outside_and_watchdogs_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    storm = 'storm=[{ port = "bottleneck", from = "1 s", to = "2 s" }]'
    watchdog = 'port.bottleneck.watchdog={ detect = "200 ms", restore = "400 ms" }'
    text = said(capsys, "w3-100", "--set", storm, "--set", watchdog)
    row = next(line for line in text.splitlines() if line.split()[-4:] == ["1", "s", "2", "s"])
    assert row.split()[0] == "bottleneck"
    assert "watchdog" in text
    assert "200 ms" in text


def _again(job: Job) -> None:
    """What `explain` writes of a scenario is read back, to the same."""
    text = job.explain()
    document = json.loads(text)
    assert json.loads(Job(load(document)).explain()) == document, job.sets


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_shipped_scenario_is_read_back_from_its_json(name: str) -> None:
    _again(Job(load(name)))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("study", sorted(each.name for each in STUDIES.iterdir() if (each / "study.toml").is_file()))
def test_every_case_of_a_study_is_read_back_from_its_json(study: str) -> None:
    jobs = [case.job() for case in study_of(study).cases.values() if not case.is_worst]
    for job in {(job.source.text, job.sets): job for job in jobs if isinstance(job, Job)}.values():
        _again(job)
