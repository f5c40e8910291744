"""Certificates: the smallest change that turns a verdict, for cases worked out by hand."""

from pathlib import Path

import pytest

from conftest import FakeCore, document
from pushout.study.certificate import LIMIT, RUNS, Turn, margin
from pushout.study.chapter import Reproduction, draw
from pushout.study.expression import Expression
from pushout.study.report import render
from pushout.study.reproduce import judge
from test_attack import SENSITIVE
from test_report import Page
from test_study import TOML, toy

VALUES = {("g", "a"): 11.0, ("g", "b"): 9.0, ("g", "c"): 10.0, ("g", "d"): 0.0}


@pytest.mark.parametrize(
    ("check", "least"),
    [
        ('g["a"] > g["b"]', 0.2),
        ('g["b"] > g["a"]', 0.2),
        ('g["a"] < g["b"]', 0.2),
        ('g["a"] > g["b"] and g["c"] > g["b"]', 1 / 9.5),
        ('g["a"] > g["b"] or g["c"] > g["b"]', 0.2),
        ('not g["a"] < g["b"]', 0.2),
        ('all(g["[abc]"] > 8)', 1 / 8.5),
        ('g["a"] > 4', 7 / 7.5),
        ('g["a"] > 3', None),
        ('g["d"] < g["a"]', None),
    ],
)
def test_the_margin_is_how_far_the_sides_must_move(check: str, least: float | None) -> None:
    found = margin(Expression(check, ("g",), "abcd"), lambda *use: VALUES[use])
    assert found == (None if least is None else pytest.approx(least, rel=2e-3))


def test_a_sentence_says_what_turns_it(core: FakeCore, tmp_path: Path) -> None:
    """With large segments everywhere both sides are equal; of ten pairs of runs two are the other way round."""
    study = toy(tmp_path, TOML + SENSITIVE)
    large, small = [0.99] * 8 + [0.96, 0.96], [0.97] * 10

    def runs(goodput: list[float]) -> list[dict[str, object]]:
        return [document(seed, goodput=each) for seed, each in enumerate(goodput, 1)]

    documents = {case: runs(large if "9140" in case else small) for case in study.cases}
    same = {case: [document(1, goodput=0.97)] * 2 for case in study.cases}
    variants = [[documents, documents], [documents, documents, same]]
    found = judge(study, documents, variants)
    (judgement,) = found.judgements
    limit, ran, assumption = judgement.turns
    assert judgement.holds
    assert (limit.assumption, limit.change) == (LIMIT, "1.4 % of the compared values")
    assert ran == Turn(RUNS, "one run instead of 10: 2 of them give the other verdict")
    assert assumption == Turn("segments", "all of 9140 octets")
    assert found.json()["claims"][0]["turns"][2] == {"assumption": "segments", "change": "all of 9140 octets"}
    words = " ".join(Page(render(Reproduction([draw(found)], 1.0))).text.split())
    assert "Turned by: limit of the check, 1.4" in words and "segments, all of 9140 octets" in words
