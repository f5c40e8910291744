"""Null models: the numbers that a calculation without a simulator reaches, the skill beyond it, and its one sum."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pushout.generate import studies
from pushout.study.chapter import Reproduction, draw
from pushout.study.headline import skill as written
from pushout.study.model import Study, StudyError, available, load
from pushout.study.outcome import Hits, Outcome, score, skill, together
from pushout.study.prose_result import filled_study
from pushout.study.report import markdown, render
from pushout.study.tables import row
from pushout.study.values import of_plot
from test_report import Page
from test_study import CHARTS, TOML, outcome, toy

NULL = """
[[null]]
numbers = "UBR.goodput.*"
value = "0.5 + {} / 3000"
why = "A calculation for a test."

[[null]]
numbers = ["queue", "UBR.*"]
value = "5400"
why = "The printed value."
"""
"""0.987 for the printed 0.97 and 3.55 for 1.2; 5400 as printed. The simulator is near 0.97 and 5400."""


def nulls(study: Study) -> dict[str, float | None]:
    return {number.id: number.null for number in study.numbers}


def of_null(study: str) -> tuple[int, int, int]:
    """Count the independent numbers that the null models of a study reach, and all."""
    numbers = [number for number in load(study).numbers if number.independent]
    stated, chosen = ([each.null_is_near, each.constants_are_near] for each in numbers), len(numbers)
    return (*map(sum, zip(*stated, strict=True)), chosen) if numbers else (0, 0, 0)


def test_the_first_rule_that_fits_a_number_gives_its_null(tmp_path: Path) -> None:
    assert nulls(toy(tmp_path, TOML + NULL)) == {
        "UBR.goodput.1460": pytest.approx(0.5 + 1460 / 3000),
        "UBR.goodput.9140": pytest.approx(0.5 + 9140 / 3000),
        "queue": 5400,
    }
    assert set(nulls(toy(tmp_path)).values()) == {None}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"5400"', "'mean(queue[\"*\"])'", "null: 'mean(queue[\"*\"])': \"queue['*']\" is not allowed"),
        ('"5400"', '"queue"', "null: 'queue': unknown figure 'queue'"),
        ('"queue", "UBR.*"', '"missing"', "numbers of a null must match a number, not ['missing']"),
        ("why =", "reason =", 'null: unknown key "reason"'),
    ],
)
def test_a_null_model_uses_no_run_and_fits_a_number(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert old in NULL
    with pytest.raises(StudyError, match=re.escape(why)):
        toy(tmp_path, TOML + NULL.replace(old, new))


def test_a_number_of_its_own_has_no_null(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="queue: a number must not have the key null"):
        toy(tmp_path, TOML.replace("published = 5400", 'published = 5400\nnull = "5400"'))


@pytest.mark.parametrize(
    ("hits", "reached"),
    [
        ([Hits(31, 13, 39)], 18 / 26),
        ([Hits(6, 8, 13)], -0.4),
        ([Hits(14, 16, 16)], None),
        ([Hits(31, 13, 39), Hits(14, 16, 16)], 18 / 26),
        ([Hits(31, 13, 39), Hits(6, 8, 13)], 16 / 31),
        ([Hits(0, 0, 0)], None),
        ([], None),
    ],
)
def test_the_skill_is_the_part_of_what_the_null_model_misses(hits: list[Hits], reached: float | None) -> None:
    assert skill(hits) == (None if reached is None else pytest.approx(reached))


def test_null_and_skill_stand_in_the_document_per_study_together_and_as_printed(tmp_path: Path) -> None:
    done = Reproduction([draw(outcome(tmp_path, TOML + NULL))], 1.0)
    told = done.json()
    (study,) = told["studies"]
    for own in (told["score"], told["score"]["as_printed"], study["score"], study["as_printed"]):
        assert (own["null"], own["independent_within_5pct"], own["independent"]) == (2, 2, 3)
        assert own["skill"] == 0.0
        assert (own["null_with_constants"], own["skill_with_constants"]) == (2, 0.0)
    assert [number["null"] for number in study["numbers"]][-1] == 5400
    assert "2 of 3 | 2 | 0.00 | 2 | 0.00 |" in markdown(done)
    words = " ".join(Page(render(done)).text.split())
    assert "The null model reaches 2 of 3" in words
    assert "A calculation for a test." in words


def test_an_undefined_skill_is_written_in_words(tmp_path: Path) -> None:
    all_of_them = TOML + '\n[[null]]\nnumbers = "UBR.goodput.1460"\nvalue = "0.97"\nwhy = "Print."\n' + NULL
    all_of_them = all_of_them.replace('value = "0.5 + {} / 3000"', 'value = "1.2"')
    own = score([outcome(tmp_path, all_of_them)])
    assert (own["null"], own["skill"]) == (3, None)
    assert written(own) == "a calculation reaches all 3"
    assert written(score([])) == "no independent number"
    assert written({"skill": -0.4, "independent": 13}) == "−0.40"


def test_together_is_the_sum_of_the_rows_and_what_the_page_says(tmp_path: Path) -> None:
    """A study that asks a question of its own is neither in a row nor in the sum."""
    (tmp_path / "other").mkdir()
    found = outcome(tmp_path, TOML + NULL)
    other = outcome(tmp_path / "other")
    named = [renamed(found, "001-toy"), renamed(other, "102-toy"), renamed(other, "110-own")]
    done = Reproduction([draw(each) for each in named], 1.0)
    *rows, total = [cells(line) for line in markdown(done).splitlines()[2:]]
    assert [row[0].split(":")[0] for row in rows] == ["001-toy", "102-toy"]
    for column, cell in enumerate(total[1:], start=1):
        if "." not in cell:  # a skill is no sum
            assert numbers(cell) == [sum(each) for each in zip(*(numbers(row[column]) for row in rows), strict=True)]
    own = together(named)
    assert render(done).count("nothing printed") == 1
    assert total[1] == f"{own['independent_within_5pct']} of {own['independent']}"
    assert f"{own['independent_within_5pct']} / {own['independent']} independent numbers" in " ".join(
        Page(render(done)).text.split()
    ).replace("\N{NO-BREAK SPACE}", " ")


def renamed(found: Outcome, name: str) -> Outcome:
    return replace(found, study=replace(found.study, id=name))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|\n ").split("|")]


def numbers(cell: str) -> list[int]:
    return [int(part) for part in cell.split(" of ")]


@pytest.mark.parametrize("name", [name for name in available() if not name.startswith("11")])
def test_every_study_that_compares_numbers_declares_its_null(name: str) -> None:
    study = load(name)
    assert bool(study.nulls) == any(number.independent for number in study.numbers)


REACHED = {
    "000-ubr-discard": (13, 27, 39),
    "001-multi-hop": (12, 12, 12),
    "002-weighted-fair-epd": (3, 4, 4),
    "003-gfr-buffer-management": (177, 246, 348),
    "004-gatekeeper-janitor": (1, 5, 6),
    "101-chip-thresholds": (5, 52, 52),
    "102-router-buffers": (1, 2, 8),
    "103-dctcp": (2, 2, 7),
    "104-control-laws": (6, 6, 6),
    "105-l4s": (4, 4, 19),
    "106-leaf-spine": (0, 0, 0),
    "107-bbr-and-l4s": (2, 2, 10),
}
"""Independent numbers that the null model reaches, that it reaches with constants, and all."""


def test_what_the_null_models_reach_of_the_independent_numbers() -> None:
    """A number that enters the score, or leaves it, changes a denominator here."""
    assert {name: of_null(name) for name in available() if load(name).compares} == REACHED


def test_no_independent_number_repeats_a_setting_or_another_one() -> None:
    chips = [number for number in load("101-chip-thresholds").numbers if number.independent]
    assert not {number.published for number in chips} & {74, 34, 6, 8}, "the reserved rooms"
    ids = [number.id for name in ("001-multi-hop", "105-l4s") for number in load(name).numbers if number.independent]
    assert not [name for name in ids if ".second." in name or "cross" in name], "what adds up to the line"


def test_the_headline_of_the_chips_counts_its_predictions() -> None:
    study = load("101-chip-thresholds")
    ladders = [each for each in study.numbers if each.independent and each.id.startswith("silicon.th5.")]
    assert f"each of the {len(ladders)} values" in filled_study(study).headline
    assert {each.tolerance.of(each.published) for each in ladders} == {0.5}, "to the packet"


LADDER = """
[constant]
line = 1

[[null]]
numbers = "UBR.*"
value = "line * 0.95"
why = "A full line."

[[assumption]]
name = "a"
value = "b"
why = "c"
fitted = true

[[number]]
id = "other"
source = "Table 2"
label = "{}"
text = "goodput"
measure = 'goodput["UBR.1460"]'
published = { 1 = 0.5, 2 = 0.51, 3 = 0.77 }
"""
"""In Table 1 print has 0.97 and 1.2, in Table 2 what no rule fits."""


def test_a_constant_is_chosen_that_reaches_the_most_numbers(tmp_path: Path) -> None:
    """With one choice the pair of 0.5 and 0.51 counts more than 1.2, which is all that the line can add to 0.97."""
    found = toy(tmp_path, TOML + LADDER)
    (constant,) = found.constants
    assert (constant.name, constant.table, constant.adds) == ("value of “goodput”", "", 2)
    assert 0.95 * 0.51 <= constant.value <= 1.05 * 0.5
    reached = {number.id: (number.null_is_near, number.constants_are_near) for number in found.numbers}
    assert reached["UBR.goodput.1460"] == (True, True)
    assert reached["other.2"] == (False, True)
    assert reached["other.3"] == (False, False)
    (tmp_path / "two").mkdir()
    two = toy(
        tmp_path / "two", TOML + LADDER + LADDER[LADDER.index("[[ass") : LADDER.index("[[num")].replace('"a"', '"d"')
    )
    assert [constant.adds for constant in two.constants] in ([2, 1], [1, 2])
    assert sum(number.constants_are_near for number in two.numbers) == 4


def test_without_a_fitted_choice_the_null_has_no_constant(tmp_path: Path) -> None:
    found = toy(tmp_path, TOML + LADDER.replace("fitted = true", "fitted = false"))
    assert found.constants == ()
    assert [number.with_constants for number in found.numbers] == [number.null for number in found.numbers]


def test_what_no_setting_gives_has_a_null_only_with_constants(tmp_path: Path) -> None:
    found = toy(tmp_path, TOML + LADDER[: LADDER.index("[[number]]")].replace("line = 1", 'line = "not printed"'))
    assert [number.null for number in found.numbers] == [None, None, None]
    assert sum(number.constants_are_near for number in found.numbers) == 1


@pytest.mark.parametrize(
    ("value", "why"),
    [("line * line", "must be linear in line"), ("lime", 'unknown figure "lime"'), ("1 / line", "1 / line")],
)
def test_a_null_is_linear_in_its_constant(tmp_path: Path, value: str, why: str) -> None:
    with pytest.raises(StudyError, match=re.escape(why).replace('"', "['\"]")):
        toy(tmp_path, TOML + LADDER.replace("line * 0.95", value))


IDLE = TOML.replace("tolerance = { relative = 0.02 }", 'idle_of = "1.21"')


def test_a_nearly_full_link_is_held_to_what_it_leaves_idle(tmp_path: Path) -> None:
    """Of 1.21 print leaves 0.24 and 0.01: 5 % of them are 0.012 and, by the last digit but at most 10 %, 0.001."""
    numbers = toy(tmp_path, IDLE).numbers
    assert [number.allowed(0.05) for number in numbers[:2]] == [pytest.approx(0.012), pytest.approx(0.001)]
    assert [number.tolerance.of(number.published) for number in numbers[:2]] == [
        pytest.approx(0.012),
        pytest.approx(0.001),
    ]
    with pytest.raises(StudyError, match="either idle_of or a tolerance"):
        toy(tmp_path / "toy", IDLE.replace('idle_of = "1.21"', 'idle_of = "1.21"\ntolerance = { relative = 0.02 }'))


def test_a_number_that_needs_an_unprinted_setting_is_missed_as_printed(tmp_path: Path) -> None:
    unknown = LADDER[: LADDER.index("[[number]]")] + '[[override]]\nassumption = "a"\nprinted = "nothing"\n'
    found = outcome(tmp_path, TOML + unknown + 'unknown = ["UBR.goodput.1460"]\n')
    assert score([found])["independent_within_5pct"] == 2
    assert score([found.as_printed])["independent_within_5pct"] == 1


DERIVED = """
[[number]]
id = "formula"
source = "closed form"
label = "EPD"
text = "goodput"
measure = 'goodput["EPD.1460"]'
published = 0.99
derived = "A formula."
"""


def test_a_derived_number_is_never_called_printed_and_gets_no_share(tmp_path: Path) -> None:
    only = TOML.replace(TOML[TOML.index("[[number]]") : TOML.index("[[claim]]")], DERIVED)
    only = only[: only.index("[[plot]]")] + '[[plot]]\ntitle = "G"\naxis = "share"\nnumbers = "formula"\n'
    found = outcome(tmp_path, only)
    (number,) = found.json()["numbers"]
    assert (number["derived"], number["independent"], number["dependent"]) == (True, False, "A formula.")
    assert (number["verdict"], score([found])["within_5pct"]) == ("differs", 0), "0.97 for 0.99 is not exact"
    assert row(found.findings[0]).origin == "derived"
    assert not replace(found.findings[0], runs=(0.5, 1.5)).among
    drawn = draw(found)
    assert "derived" in drawn.plots[0].svg and "printed" not in drawn.plots[0].svg
    text = render(Reproduction([drawn], 1.0))
    section = text[text.index('id="toy-numbers"') : text.index('id="toy-figures"')]
    assert "Derived" in section and "rinted" not in section


def test_the_points_of_a_formula_are_derived_in_a_chart(tmp_path: Path) -> None:
    found = outcome(tmp_path, TOML + CHARTS.replace("printed =", "derived ="))
    drawn = draw(found)
    assert all("derived" in plot.svg and "printed" not in plot.svg for plot in drawn.plots[1:])
    assert of_plot(found, 1).heads == ["across", "ours", "ours, derived"]


def test_the_score_of_a_report_is_taken_only_with_every_study_that_compares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "SCORE", tmp_path / "docs.md")
    names = [name for name in available() if load(name).compares]
    (tmp_path / "score.md").write_text("".join(f"| {name}: title | 1 |\n" for name in names[1:]), encoding="utf-8")
    assert studies.score(tmp_path) == names[:1]
    assert not (tmp_path / "docs.md").exists()
    whole = "".join(f"| {name}: title | 1 |\n" for name in names)
    (tmp_path / "score.md").write_text(whole, encoding="utf-8")
    assert studies.score(tmp_path) == []
    assert (tmp_path / "docs.md").read_text(encoding="utf-8") == whole
