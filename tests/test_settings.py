"""As printed beside as fitted, independent numbers, milder forms and predictions of a study."""

import json
from pathlib import Path

import pytest

from conftest import FakeCore, document
from pushout.cache import Cache
from pushout.study import model
from pushout.study.chapter import Reproduction, draw
from pushout.study.headline import needing, predicted
from pushout.study.model import StudyError
from pushout.study.outcome import total
from pushout.study.previous_report import carried_over, sealed
from pushout.study.report import render
from pushout.study.reproduce import AS_PRINTED, DECIDED, judge, open_cases, reproduce
from pushout.study.settings import as_printed
from pushout.study.tables import row
from pushout.study.tolerance import half_a_digit, near
from test_report import Page
from test_study import CHARTS, SENSITIVITY, TOML, outcome, toy

OVERRIDE = """
[[assumption]]
name = "rate"
value = "half of it"
why = "It fits."

[[assumption]]
name = "clock"
value = "fast"
why = "It fits, too."
fitted = true

[[override]]
assumption = "rate"
printed = "all of it"
set."UBR.*" = ["rate=1"]
"""

CLAIM = """
[[claim]]
id = "never"
source = "sec 4"
text = "It never holds."
check = 'goodput["EPD.1460"] > 2'

"""

CHAPTER = """
headline = "In short: it works."
listed_figure = "Goodput"
references = ["A. Author: Toys"]

[conclusion]
stands = "All of it."
falls = "None."
adds = "A toy."
"""

MILDER = """
[claim.milder]
text = "At least one of them does."
check = 'any(goodput["*.9140"] > goodput["*.1460"])'
"""


def test_only_cases_that_an_override_names_are_run_again_as_printed(core: FakeCore, tmp_path: Path) -> None:
    study, cache = toy(tmp_path, TOML + OVERRIDE), Cache(tmp_path / "cache")
    assert list(as_printed(study.cases, study.overrides)) == ["UBR.1460", "UBR.9140"]
    reproduce([study], reps=2, cache=cache)
    assert (('policy="tail-drop"', "mss=1460", "rate=1"), 7) in core.runs
    assert len(core.runs) == 4 * 2 + 2 * 2
    reproduce([study], reps=AS_PRINTED + 2, cache=cache)
    assert len(core.runs) == 4 * (AS_PRINTED + 2) + 2 * AS_PRINTED


def test_cases_of_open_verdicts_are_run_until_they_may_be_decided(core: FakeCore, tmp_path: Path) -> None:
    toss = TOML.replace('all(goodput["*.9140"] > goodput["*.1460"])', 'goodput["UBR.9140"] > 0.9858')
    study, cache = toy(tmp_path, toss), Cache(tmp_path / "cache")
    (open_one,) = reproduce([study], reps=4, cache=cache).outcomes
    assert open_one.judgements[0].open
    assert open_cases(open_one) == {"UBR.9140": DECIDED}
    (decided,) = reproduce([study], reps=4, cache=cache, decide=True).outcomes
    assert {case: len(seeds) for case, seeds in decided.seeds.items()} == {
        "UBR.1460": 4,
        "UBR.9140": DECIDED,
        "EPD.1460": 4,
        "EPD.9140": 4,
    }
    settled = toy(tmp_path)
    reproduce([settled], reps=4, cache=cache, decide=True)
    assert len(core.runs) == 4 * 4 + DECIDED - 4, "nothing more where no verdict is open"


@pytest.mark.parametrize(("reps", "own"), [(4, ""), (None, "\nreps = 4")])
def test_a_later_report_keeps_a_study_whose_verdicts_were_decided(
    reps: int | None, own: str, core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toss = TOML.replace('all(goodput["*.9140"] > goodput["*.1460"])', 'goodput["UBR.9140"] > 0.9858')
    toss = toss.replace('scenario = "base.toml"', f'scenario = "base.toml"{own}')
    study, cache, report = toy(tmp_path, toss), Cache(tmp_path / "cache"), tmp_path / "reproduce.json"
    monkeypatch.setattr(model.available, "__defaults__", (tmp_path,))
    monkeypatch.setattr(model.load, "__defaults__", (tmp_path,))
    (decided,) = reproduce([study], reps=reps, cache=cache, decide=True).outcomes
    assert DECIDED in {len(seeds) for seeds in decided.seeds.values()}
    report.write_text(json.dumps(sealed({"studies": [decided.json()]})), encoding="utf-8")
    found = carried_over(report, [], cache)
    assert [chapter.outcome.seeds for chapter in found.chapters] == [decided.seeds]
    assert found.gone == []


def test_both_scores_stand_in_the_document_with_every_override(tmp_path: Path) -> None:
    study = toy(tmp_path, TOML + OVERRIDE)
    runs = {case: [document(goodput=0.985 if "9140" in case else 0.97)] for case in study.cases}
    printed = {case: [document(goodput=0.5)] for case in ("UBR.1460", "UBR.9140")}
    found = judge(study, runs, printed=printed)
    told = found.json()
    assert told["settings"] == {
        "fitted": 2,
        "overrides": [{"name": "rate", "printed": "all of it", "taken": "half of it", "why": "It fits."}],
    }
    assert (told["as_printed"]["within_5pct"], told["as_printed"]["claims_held"]) == (1, 0)
    own = total([found])
    assert (own["within_5pct"], own["claims_held"], own["fitted"]) == (2, 1, 2)
    assert own["as_printed"] == told["as_printed"]


def test_a_study_that_overrides_nothing_is_as_printed(tmp_path: Path) -> None:
    found = outcome(tmp_path)
    assert found.as_printed is found
    assert found.json()["settings"] == {"fitted": 0, "overrides": []}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('assumption = "rate"', 'assumption = "speed"', "the override 'speed' is to no assumption"),
        ('"UBR.*"', '"RED.*"', "the override 'rate' changes no case: none fits 'RED.*'"),
        ('printed = "all of it"', 'print = "all of it"', 'unknown key "print"; did you mean "printed"?'),
    ],
)
def test_a_mistake_in_an_override_is_named_when_it_is_read(tmp_path: Path, old: str, new: str, why: str) -> None:
    with pytest.raises(StudyError, match="override: ") as told:
        toy(tmp_path, TOML + OVERRIDE.replace(old, new))
    assert why in str(told.value)


def test_a_dependent_number_counts_apart_from_the_independent_ones(tmp_path: Path) -> None:
    text = TOML.replace('text = "mean queue"', 'text = "mean queue"\ndependent = "Table 1 has it, too."')
    found = outcome(tmp_path, text)
    own = total([found])
    assert (own["numbers"], own["independent"], own["independent_within_5pct"]) == (3, 2, 1)
    told = {number["id"]: (number["independent"], number["dependent"]) for number in found.json()["numbers"]}
    assert told["queue"] == (False, "Table 1 has it, too.")
    assert told["UBR.goodput.1460"] == (True, None)


def test_a_milder_form_stands_beside_a_claim_and_is_not_counted(tmp_path: Path) -> None:
    text = TOML.replace('goodput["*.9140"] > goodput["*.1460"])\'', 'goodput["*.9140"] > 0.98)\'', 1)
    found = outcome(tmp_path, text.replace("[[plot]]", MILDER + "[[plot]]"))
    (claim,) = found.judgements
    assert claim.milder is not None
    assert claim.milder.holds
    assert found.json()["claims"][0]["milder"] == {"text": "At least one of them does.", "holds": True}
    assert (total([found])["claims"], total([found])["sentences"]) == (1, 1)


def test_sentences_are_claims_and_remarks_together(tmp_path: Path) -> None:
    remark = '[[remark]]\nid = "r"\nsource = "sec 5"\ntext = "No."\ncheck = \'goodput["UBR.1460"] > 2\'\n'
    own = total([outcome(tmp_path, f"{TOML}\n{remark}")])
    assert (own["sentences"], own["sentences_held"]) == (2, 1)


def test_the_value_that_fits_some_numbers_is_held_against_the_others(tmp_path: Path) -> None:
    text = SENSITIVITY.replace("reps = 1", 'reps = 1\nfit = ["*.1460"]\npredict = ["*.9140"]')
    prediction = outcome(tmp_path, TOML + text, [0.96, 1.19]).weighings[0].prediction
    assert prediction is not None
    assert (prediction.chosen, prediction.best) == ("small", "large")
    assert prediction.predicted == pytest.approx(1 - 0.96 / 1.2, abs=0.001)
    assert (prediction.predicted_within_5pct, prediction.predicted_numbers) == (0, 1)
    assert prediction.best_predicted == pytest.approx(1 - 1.19 / 1.2, abs=0.001)
    assert outcome(tmp_path, TOML + SENSITIVITY, [0.96, 1.19]).weighings[0].prediction is None


@pytest.mark.parametrize(
    ("published", "share", "allowed"),
    [
        (0.977, 0.05, 0.04885),
        (2800, 0.05, 140),
        (0.6, 0.05, 0.05),  # half of the last digit is 8 %
        (2, 0.05, 0.2),  # half of the last digit would be 25 %: at most 10 %
        (2, 0.10, 0.2),
        (0, 0.05, 0),
    ],
)
def test_the_rule_is_five_percent_or_half_of_the_last_printed_digit(
    published: float, share: float, allowed: float
) -> None:
    assert near(published, share) == pytest.approx(allowed)


def test_what_follows_from_the_settings_has_to_agree_in_every_printed_digit(tmp_path: Path) -> None:
    assert half_a_digit(12.9) == pytest.approx(0.05)
    assert half_a_digit(128154) == pytest.approx(0.5)
    exact = TOML.replace("tolerance = { relative = 0.02 }", "exact = true")
    (near_by, *_) = outcome(tmp_path, exact).findings
    assert near_by.verdict == "within", "0.9702 for 0.97"
    (further, *_) = outcome(tmp_path, exact.replace("0.97,", "0.96,")).findings
    assert further.verdict == "differs"


def test_a_row_shows_what_the_rule_allows(tmp_path: Path) -> None:
    def shown(published: str, tolerance: str = "") -> tuple[str, str]:
        text = TOML.replace("tolerance = { relative = 0.02 }", tolerance).replace("0.97,", f"{published},")
        line = row(outcome(tmp_path, text).findings[0])
        return line.tolerance, line.difference

    assert shown("0.97") == ("± 5 %", "0.0 %")
    assert shown("0.6") == ("± 8.33 %", "+61.7 %")
    assert shown("0.97", "exact = true") == ("± 0.005", "0.000")
    assert shown("0") == ("± 0", "+0.97")


def test_a_tolerance_that_is_wider_than_the_rule_needs_a_reason(tmp_path: Path) -> None:
    wide = TOML.replace("absolute = 101.4", "absolute = 300").replace('note = "typical"\n', "")
    with pytest.raises(
        StudyError, match="the tolerance of queue is wider than the default one: give the reason as note"
    ):
        toy(tmp_path, wide)


def test_the_page_marks_what_departs_from_print_and_says_what_needs_it(tmp_path: Path) -> None:
    text = TOML.replace("[[claim]]", CLAIM + "[[claim]]", 1)
    study = toy(tmp_path, text + OVERRIDE)
    runs = {case: [document(goodput=0.985 if "9140" in case else 0.97)] for case in study.cases}
    printed = {case: [document(goodput=0.5)] for case in ("UBR.1460", "UBR.9140")}
    found = judge(study, runs, printed=printed)
    words = " ".join(Page(render(Reproduction([draw(found)], 1.0))).text.split())
    assert "≠ rate" in words
    assert "clock fitted" in words
    assert "2 choices fitted to the printed numbers" in words
    assert needing(found) == (
        "With all of these as printed 1 of 3 independent numbers are within 5 %, instead of 2, and 0 of 2 sentences "
        "hold, instead of 1. Only as taken hold: `larger-is-better`."
    )


def test_a_chapter_has_conclusion_references_pictures_and_a_line_in_the_list(tmp_path: Path) -> None:
    head = TOML.replace('setup = "setup.svg"', 'setup = ["setup.svg", "second.svg"]\n' + CHAPTER)
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "second.svg").write_text("<svg><title>second</title></svg>", encoding="utf-8")
    found = outcome(tmp_path, head)
    text = render(Reproduction([draw(found)], 1.0))
    words = " ".join(Page(text).text.split())
    for said in (
        "In short: it works.",
        "What stands All of it.",
        "What falls None.",
        "What we add A toy.",
        "A. Author: Toys",
    ):
        assert said in words
    assert "<title>second</title>" in text
    assert text.count('aria-label="Goodput"') == 3, "in the list, at the head of the chapter and among its figures"
    assert found.json()["conclusion"] == {"stands": "All of it.", "falls": "None.", "adds": "A toy."}
    assert found.json()["references"] == ["A. Author: Toys"]
    with pytest.raises(StudyError, match="no plot has the title 'Delay'"):
        toy(tmp_path, head.replace('listed_figure = "Goodput"', 'listed_figure = "Delay"'))


def test_the_page_says_what_a_fit_predicts(tmp_path: Path) -> None:
    names = 'fit = ["*.1460"]\npredict = ["*.9140"]\nfitted_on = "Table 1"\npredicts = "Table 2"'
    found = outcome(tmp_path, TOML + SENSITIVITY.replace("reps = 1", f"reps = 1\n{names}"), [0.96, 1.19])
    said = predicted(found.weighings[0])
    assert said.startswith(
        "Fitted on Table 1 alone, “small” comes closest (mean difference 1.0 %). It predicts Table 2 with"
    )
    assert "the best value there, “large”, has" in said
    assert said in " ".join(Page(render(Reproduction([draw(found)], 1.0))).text.split()).replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_a_plot_of_one_run_shows_the_first_replication_alone(tmp_path: Path) -> None:
    single = CHARTS.replace('title = "A series"', 'title = "A series"\none_run = true')
    found = outcome(tmp_path, TOML + single)
    curves = {plot.title: found.curves[place] for place, plot in enumerate(found.study.plots)}
    assert {point["n"] for line in curves["A series"] for point in line if point} == {1}
    assert {point["n"] for line in curves["A curve"] for point in line if point} == {3}


def sets_of(study: model.Study) -> dict[str, dict[str, tuple[str, ...]]]:
    """The overrides of every case, by the values of the first sensitivity."""
    values = study.sensitivities[0].values
    return {value: {name: case.sets for name, case in cases.items()} for value, cases in values.items()}


def test_a_sensitivity_may_vary_the_settings_as_printed(tmp_path: Path) -> None:
    text = TOML + OVERRIDE + SENSITIVITY.replace("reps = 1", "reps = 1\nas_printed = true")
    own, varied = sets_of(toy(tmp_path, text)).values()
    assert own == {name: ('policy="tail-drop"', f"mss={name[4:]}", "rate=1") for name in ("UBR.1460", "UBR.9140")}
    assert varied == {name: (*sets, "size=2") for name, sets in own.items()}
    (taken, _) = sets_of(toy(tmp_path, text.replace("as_printed = true", "as_printed = false"))).values()
    assert taken == {name: sets[:-1] for name, sets in own.items()}


def test_a_value_of_a_sensitivity_may_differ_by_patterns_of_cases(tmp_path: Path) -> None:
    by_case = 'large = { "*.9140" = ["size=2"] }'
    text = TOML + SENSITIVITY.replace('large = ["size=2"]', by_case)
    own, varied = sets_of(toy(tmp_path, text)).values()
    assert varied == {**own, "UBR.9140": (*own["UBR.9140"], "size=2")}
    with pytest.raises(StudyError, match=r"sensitivity: the value 'large' changes no case: none fits 'EPD\.\*'"):
        toy(tmp_path, text.replace('"*.9140" = ["size', '"EPD.*" = ["size'))
