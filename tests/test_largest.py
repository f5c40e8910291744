"""Searches for the largest value that meets a goal."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

import pushout
from conftest import command
from pushout.errors import QuestionError
from pushout.question.goal import Tried
from pushout.question.search import largest, smallest
from pushout.question.space import Space

CELLS = Space(100, 10_000, "cells", True, True)

LINE = """
name = "line"
duration = "1 s"
adaptation = { kind = "packet" }
node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
link = [
    { from = "a", to = "r", rate = "100 Mb/s", delay = "0 s" },
    { name = "out", from = "r", to = "b", rate = "8 Mb/s", delay = "0 s" },
]
port.out.buffer = "4 packets"
[[flow]]
name = "f"
from = "a"
to = "b"
source = { kind = "cbr", rate = "4 Mb/s", size = "972 bytes" }
transport = { kind = "udp" }
"""
"""Packets of 1000 bytes, 972 of them payload, on a line that carries a thousand of them in a second."""


def up_to(threshold: float) -> object:
    """A goal that is met up to a threshold."""

    def attempt(values: Sequence[float]) -> list[Tried]:
        return [Tried(value, {"mean": value, "ci95": None, "n": 1}, value <= threshold, True) for value in values]

    return attempt


def test_halving_finds_the_largest_value_to_the_resolution() -> None:
    stream = random.Random(1)  # noqa: S311
    for _ in range(50):
        threshold = stream.uniform(101, 9_999)
        found = largest(CELLS, up_to(threshold), 0.02, "auto")  # type: ignore[arg-type]
        assert found.method == "bisect"
        assert found.best is not None
        assert found.below is not None
        assert found.best.value <= threshold < found.below.value <= found.best.value * 1.0205


def test_a_goal_that_holds_from_a_value_on_is_left_to_optuna_or_refused() -> None:
    def from_on(values: Sequence[float]) -> list[Tried]:
        return [Tried(value, {"mean": value, "ci95": None, "n": 1}, value >= 777, True) for value in values]

    assert smallest(CELLS, from_on, 0, "bisect").best
    with pytest.raises(QuestionError, match="stays met as the value shrinks"):
        largest(CELLS, from_on, 0, "bisect")
    found = largest(CELLS, from_on, 0.02, "auto")
    assert (found.method, found.best and found.best.value) == ("optuna", 10_000)


def test_the_largest_rate_that_loses_nothing_is_that_of_the_line(tmp_path: Path) -> None:
    scenario = tmp_path / "line.toml"
    scenario.write_text(LINE)
    ends = {"low": "4 Mb/s", "high": "12 Mb/s"}
    result = pushout.size(scenario, "loss<=0", "flow.f.source.rate", largest=True, resolution=0.001, **ends)
    (answer,) = result.answers
    assert answer.value is not None
    # a thousand packets of 1000 bytes leave in a second, and four wait
    assert 1000 <= answer.value * 1e6 / 8000 <= 1005.1
    assert answer.sure
    (entry,) = result.document["answers"]
    assert "too_small" not in entry
    assert entry["too_large"] > entry["value"]
    assert entry["between"] == [entry["value"], entry["too_large"]]
    assert result.document["largest"]
    assert result.plot()


def test_the_table_says_what_fails_above_and_what_may_lie_beyond(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "line.toml"
    scenario.write_text(LINE)
    asked = ["size", str(scenario), "--goal", "loss<=0", "--over", "flow.f.source.rate", "--from", "1 Mb/s"]
    command(*asked, "--to", "4 Mb/s", "--largest", "--out", str(tmp_path / "high"))
    assert "the largest value tried meets the goal; more than 4 Mb/s may do so too (--to)" in capsys.readouterr().out
    command(*asked, "--to", "16 Mb/s", "--out", str(tmp_path / "low"))
    assert "for the largest that does use --largest" in capsys.readouterr().out


def test_the_best_value_has_no_direction(tmp_path: Path) -> None:
    scenario = tmp_path / "line.toml"
    scenario.write_text(LINE)
    with pytest.raises(QuestionError, match=r"max finds the best value, be it small or large: leave out `?largest"):
        pushout.size(scenario, "max goodput", "flow.f.source.rate", largest=True)
