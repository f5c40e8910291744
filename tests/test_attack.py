"""Attacks: a planted weakness is found at its nearest point, within the budget; what holds everywhere stands."""

import json
from pathlib import Path

import pytest

from conftest import FakeCore, command
from pushout.cache import Cache
from pushout.errors import PushoutError
from pushout.study import model
from pushout.study.attack import Attack, Attacker, chosen, targets
from pushout.study.model import Study, StudyError
from test_finding import LARGER, study
from test_study import toy

WEAK = (
    LARGER
    + """
[[finding.search]]
name = "duration"
value."half" = ["duration=1"]
value."twice" = ["duration=4"]

[[finding.search]]
name = "sender"
value."CUBIC" = ["congestion=cubic"]
value."large segments everywhere" = ["mss=9140"]
"""
)
"""The simulator of the tests gives the same to both cases where all segments have 9140 octets: the planted weakness."""

SENSITIVE = """
[[sensitivity]]
assumption = "segments"
taken = "as printed"
cases = "*"
value."with delayed acknowledgements" = ["delayed=true"]

[[assumption]]
name = "segments"
value = "as printed"
why = "Print."

[[sensitivity]]
assumption = "segments"
taken = "as printed"
cases = "*"
value."with timestamps" = ["timestamps=true"]
value."all of 9140 octets" = ["mss=9140"]
"""


def attacked(found: Study, folder: Path, name: str, *, budget: int = 1000, seed: int = 100) -> Attack:
    (target,) = chosen([name], targets([found]), seed)
    return Attacker(target, seed, budget, Cache(folder / "cache")).attack()


def test_a_planted_weakness_is_found_at_its_nearest_point(core: FakeCore, tmp_path: Path) -> None:
    result = attacked(study(tmp_path, WEAK), tmp_path, "larger")
    assert result.fell is not None
    assert result.fell.changes == "sender: large segments everywhere"
    assert (result.fell.holds, result.fell.sure, result.fell.seeds) == (False, 1, 20)
    assert result.tried in (4, 5), "no change, then each value alone; two are equally near"
    assert result.runs == (result.tried - 1) * 2 * 5 + 2 * 20
    assert {seed for _, seed in core.runs} == set(range(100, 120)), "fresh seeds, and no others"


def test_a_budget_ends_the_search_before_the_weakness(core: FakeCore, tmp_path: Path) -> None:
    result = attacked(study(tmp_path, WEAK), tmp_path, "toy/larger", budget=20)
    assert (result.fell, result.tried, result.runs) == (None, 2, 20)
    assert len(core.runs) == 20


def test_a_finding_without_axes_is_attacked_in_its_range(core: FakeCore, tmp_path: Path) -> None:
    result = attacked(study(tmp_path, LARGER), tmp_path, "larger")
    assert core.runs
    assert (result.fell, result.open, result.stated, result.tried) == (None, None, True, 3)


def test_a_sentence_is_attacked_through_the_assumptions_of_its_study(core: FakeCore, tmp_path: Path) -> None:
    result = attacked(study(tmp_path, SENSITIVE), tmp_path, "larger-is-better")
    assert core.runs
    assert result.stated and result.fell is not None
    assert result.fell.changes == "segments: all of 9140 octets"


def test_a_number_draws_as_many_at_random(tmp_path: Path) -> None:
    known = targets([study(tmp_path, LARGER)])
    assert list(known) == ["toy/larger", "toy/larger-is-better"]
    assert {target.id for target in chosen(["5"], known, 1)} == set(known)
    assert [target.id for target in chosen(["1"], known, 1)] == [target.id for target in chosen(["1"], known, 1)]
    with pytest.raises(PushoutError, match='unknown finding or sentence "smaller"'):
        chosen(["smaller"], known, 1)
    with pytest.raises(PushoutError, match="must be at least 1, not 0"):
        chosen(["0"], known, 1)
    with pytest.raises(PushoutError, match="unknown finding or sentence"):
        chosen(["²"], known, 1)
    assert len(chosen(["9" * 5000], known, 1)) == len(known)


def test_an_axis_changes_a_case(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"must change a case: none fits 'FRED\.\*'"):
        study(tmp_path, LARGER + '[[finding.search]]\nname = "buffer"\nvalue."half" = { "FRED.*" = ["buffer=1"] }\n')


def test_the_command_prints_the_nearest_point_and_its_seeds(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(model.available, "__defaults__", (tmp_path,))
    monkeypatch.setattr(model.load, "__defaults__", (tmp_path,))
    study(tmp_path, WEAK)
    asked = ["reproduce", "--attack", "larger", "--out", str(tmp_path / "reports")]
    command(*asked, "--seed", "9", "--strict", code=4)
    printed = " ".join(capsys.readouterr().out.split())
    assert "✗ toy/larger falls" in printed
    assert "nearest point where it falls: sender: large segments everywhere" in printed
    assert "1 of 1 fell; seeds from 9" in printed
    command(*asked, "--budget", "10", "--json")
    (found,) = json.loads(capsys.readouterr().out)["attacks"]
    assert (found["runs"], found["budget"], found["fell"]) == (10, 10, None)
    assert found["seed"] >= 1
    command(*asked, "--budget", "1")
    assert "is not tried, as one point needs a larger budget" in " ".join(capsys.readouterr().out.split())
    command(*asked, "--full", code=2)
    command("reproduce", "--seed", "9", code=2)
    assert "are for --attack" in capsys.readouterr().err
    assert core.runs


def test_a_study_without_search_has_no_axes(tmp_path: Path) -> None:
    (target,) = targets([toy(tmp_path)]).values()
    assert target.axes == ()
