"""Single printed runs: how often a run of ours is like print, with an exact interval, and the data beside a study."""

import json
from pathlib import Path

import pytest

from conftest import FakeCore, command, document
from pushout.cache import Cache
from pushout.stats import share_interval
from pushout.study import model, single
from pushout.study.model import StudyError
from pushout.study.report import singles
from pushout.study.reproduce import judge, likenesses
from pushout.study.single import FILE, Likeness
from test_study import TOML, toy

SINGLE = """
[[single]]
numbers = "UBR.goodput.*"
why = "Table 1 is one run."
"""


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [(0, 10, 0.0, 0.308497), (10, 10, 0.691503, 1.0), (5, 20, 0.086571, 0.491046)],
)
def test_the_interval_of_a_share_is_that_of_clopper_and_pearson(count: int, of: int, low: float, high: float) -> None:
    """Tabulated values."""
    assert share_interval(count, of) == (pytest.approx(low, abs=2e-6), pytest.approx(high, abs=2e-6))


@pytest.mark.parametrize(
    ("values", "published", "counts", "verdict"),
    [
        ([0.0] * 191 + [23.0] * 5 + [30.0] * 4, 23, (191, 5, 4), "possible"),
        ([0.97] * 100 + [0.99] * 100, 0.98, (100, 0, 100), "usual"),
        ([0.974] * 100 + [0.9749] * 100, 0.97, (0, 200, 0), "usual"),
        ([5.0] + [1.0] * 399, 5, (399, 1, 0), "seldom"),
        ([1.0] * 200, 5, (200, 0, 0), "unseen"),
    ],
)
def test_runs_are_like_print_at_it_or_beyond(
    values: list[float], published: float, counts: tuple[int, int, int], verdict: str
) -> None:
    found = Likeness.count("", values, published)
    assert (found.below, found.at, found.above) == counts
    assert found.verdict == verdict
    assert found.like == counts[1] + min(counts[0], counts[2])


def test_the_words_say_one_run_of_how_many() -> None:
    assert str(Likeness("", 90, 20, 90)) == "usual: 110 of 200 runs are like print, one run of 2 (47.8 to 62.0 %)"
    assert str(Likeness("", 191, 5, 4)) == "possible: 9 of 200 runs are like print, one run of 22 (2.1 to 8.4 %)"
    assert str(Likeness("", 200, 0, 0)) == "unseen: 0 of 200 runs are like print (0.0 to 1.8 %)"


def test_at_full_size_every_single_run_has_200_beside_it_which_are_kept(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model.available, "__defaults__", (tmp_path,))
    monkeypatch.setattr(model.load, "__defaults__", (tmp_path,))
    found = toy(tmp_path, TOML + SINGLE)
    assert likenesses(found, Cache(tmp_path / "cache")) == {}, "nothing has been run"
    out = tmp_path / "reports"
    command("reproduce", "toy", "--full", "--out", str(out))
    assert len(core.runs) == 2 * 200 + 2 * 10
    data = json.loads((out / "single" / "toy.json").read_text(encoding="utf-8"))
    assert set(data["numbers"]) == {"UBR.goodput.1460", "UBR.goodput.9140"}
    (tmp_path / "toy" / FILE).write_text(json.dumps(data), encoding="utf-8")
    monkeypatch.setattr(single.kept, "__defaults__", (tmp_path,))
    own = judge(found, {case: [document(seed) for seed in (1, 2)] for case in found.cases})
    assert [each.number.id for each in singles(own)] == list(data["numbers"])
    (large,) = [each for each in own.json()["numbers"] if each["id"] == "UBR.goodput.9140"]
    assert (large["single_run"]["like"], large["single_run"]["runs"], large["single_run"]["verdict"]) == (
        (0, 200, "unseen")
    )
    moved = toy(tmp_path, (TOML + SINGLE).replace("9140 = 1.2", "9140 = 1.3"))
    assert list(single.kept(moved, tmp_path)) == ["UBR.goodput.1460"], "counts of another printed value do not count"


def test_a_share_of_one_run_of_20_needs_enough_runs(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="runs must be at least 200, not 20"):
        toy(tmp_path, TOML + SINGLE + "runs = 20\n")
    with pytest.raises(StudyError, match=r"must match a number, not 'RED\.\*'"):
        toy(tmp_path / "toy", TOML + SINGLE.replace("UBR.goodput.*", "RED.*"))
