"""Files with the rate of a line over time."""

from pathlib import Path

import pytest

from pushout import recording
from pushout.errors import ScenarioError


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
