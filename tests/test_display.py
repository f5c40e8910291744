"""Texts of results: a line in Python, in a notebook tables and a figure."""

import html
import re
from typing import Any

import pytest

import pushout
from conftest import ROOT, command

SHORT = {"duration": "300 ms"}
ROWS = r"\d+ rows × \d+ columns"


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    lan, buffer = "scenarios/lan.toml", "port.bottleneck.buffer"
    swept = {"scenario": lan, "set": SHORT, "reps": 2, "grid": {buffer: ["500 cells", "900 cells"]}}
    return {
        "one": pushout.run(lan, set=SHORT),
        "run": pushout.run(lan, set=SHORT, reps=3),
        "compare": pushout.compare(lan, ["tail-drop", "epd"], set=SHORT, reps=2),
        "sweep": pushout.sweep(swept),
        "size": pushout.size(lan, "goodput_ratio>=0.0001", buffer, set=SHORT, low="400 cells", high="500 cells"),
        "trace": pushout.trace(lan, set=SHORT),
    }


@pytest.mark.parametrize(
    ("which", "said"),
    [
        ("one", r"<Result lan: seed 1, goodput_ratio 0\.\d+, fairness_jain 0\.\d+, 10 flows, 42 ports, \d warnings?>"),
        (
            "run",
            r"<Result lan: seeds 1–3, goodput_ratio 0\.\d+, fairness_jain 0\.\d+, 10 flows, 42 ports, \d warnings?>",
        ),
        ("compare", rf"<CompareResult lan: tail-drop, epd; 2 seeds, {ROWS}>"),
        ("sweep", r"<SweepResult sweep: 2 points, 4 rows × \d+ columns>"),
        (
            "size",
            rf"<SizeResult lan: goodput_ratio>=0.0001 over port.bottleneck.buffer: 400 cells, \d\.\d % lost; {ROWS}>",
        ),
        ("trace", rf"<TraceResult lan: seed 1, {ROWS}>"),
    ],
)
def test_a_result_is_a_line(results: dict[str, Any], which: str, said: str) -> None:
    assert re.fullmatch(said, repr(results[which]))
    assert len(repr(vars(results[which]).get("policies", ()))) < 500
    assert isinstance(hash(results[which]), int)


@pytest.mark.parametrize(
    ("which", "said"),
    [
        ("run", "flow10"),
        ("run", "Means over 3 replications"),
        ("compare", "minus tail-drop"),
        ("sweep", "900 cells"),
        ("size", "less than 400 cells may suffice"),
        ("trace", "flow10"),
    ],
)
def test_a_notebook_shows_tables_and_the_figure(results: dict[str, Any], which: str, said: str) -> None:
    shown = results[which]._repr_html_()
    tables, _, figure = shown.partition("<svg")
    assert "<pre" not in shown
    assert tables.count("<table>") >= 1
    assert said in html.unescape(re.sub("<[^>]*>", "", tables))
    assert "None" not in tables
    assert bool(figure) == (which != "trace")


def test_a_table_by_itself_is_a_line_in_a_notebook_as_well(results: dict[str, Any]) -> None:
    assert re.fullmatch(r"<Framed 30 rows × \d+ columns>", repr(results["run"].flows))
    assert results["run"].flows._repr_html_() is None


def test_a_result_is_asked_whether_it_has_a_figure_and_is_no_list(results: dict[str, Any]) -> None:
    run = results["run"]
    assert "summary.goodput_ratio" in run
    assert "ports.bottleneck.lost.front" in run
    assert "summary.goodput_ration" not in run
    with pytest.raises(TypeError, match="not iterable"):
        list(run)


@pytest.mark.parametrize("reps", [1, 2])
def test_every_class_of_flows_has_a_line(reps: int, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", str(ROOT / "scenarios" / "multi-hop.toml"), "--set", "duration=50 ms", "--set", "warmup=0 s"]
    command(*arguments, "--reps", str(reps))
    out = capsys.readouterr().out
    assert "class of flows" in out
    assert re.search(r"^ end-to-end +4 ", out, re.MULTILINE)
    assert re.search(r"^ cross +6 ", out, re.MULTILINE)
    assert "fairness of two classes" in out
    result = pushout.run(ROOT / "scenarios" / "multi-hop.toml", set={"duration": "50 ms", "warmup": "0 s"})
    sent = sum(flow["segments_sent"] for flow in result.document["flows"] if flow["class"] == "cross")
    assert reps > 1 or re.search(rf"^ cross .* {sent} ", out, re.MULTILINE)
