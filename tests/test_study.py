import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import FakeCore, document
from pushout.cache import Cache, write
from pushout.study import charts
from pushout.study.bootstrap import counts
from pushout.study.chapter import Reproduction, draw
from pushout.study.charts import Chart
from pushout.study.expression import ExpressionError
from pushout.study.model import Study, StudyError, available, load
from pushout.study.outcome import Outcome, score, together
from pushout.study.reproduce import judge, reproduce
from pushout.study.tables import row as in_a_table

TOML = """
id = "toy"
title = "A toy"
source = "J. Doe"
question = "Does it work?"
setup = "setup.svg"

[figure]
goodput = "summary.goodput_ratio"
queue = "ports.bottleneck.occupancy_mean"

[[cases]]
id = "{scheme}.{mss}"
scenario = "base.toml"
[cases.axis.scheme]
UBR = ['policy="tail-drop"']
EPD = ['policy="epd"', "threshold=9"]
[cases.axis.mss]
1460 = ["mss=1460"]
9140 = ["mss=9140"]

[[number]]
id = "UBR.goodput"
source = "Table 1"
label = "UBR, MSS {}"
text = "goodput"
measure = 'goodput["UBR.{}"]'
published = { 1460 = 0.97, 9140 = 1.2 }
tolerance = { relative = 0.02 }

[[number]]
id = "queue"
source = "sec 4"
label = "all"
text = "mean queue"
unit = "cells"
measure = 'mean(queue["*"])'
published = 5400
tolerance = { absolute = 101.4 }
note = "typical"

[[claim]]
id = "larger-is-better"
source = "sec 4"
text = "Larger segments reach more."
check = 'all(goodput["*.9140"] > goodput["*.1460"])'

[[plot]]
title = "Goodput"
axis = "share"
numbers = "*.goodput.*"
"""

REMARK = """
[[remark]]
id = "queues-are-short"
source = "sec 5"
text = "The queue is much shorter than the goodput is high."
check = 'min(ratio["*"]) > 1'
why = "It is longer."

[quantity]
ratio = "goodput / queue"
"""

OFTEN = """
[[cases]]
id = "seldom.{what}"
scenario = "base.toml"
axis.what.once = ["duration=1"]

[[number]]
id = "both"
source = "Table 2"
label = "both"
text = "difference"
measure = 'goodput["UBR.1460"] - goodput["seldom.once"]'
published = 0
tolerance = { absolute = 1 }
note = "Print has no unit."
"""

TABLE = """
[[table]]
id = "two"
source = "Table 2"
column.queue = { text = "queue", measure = 'mean(queue["{case}.*"])', tolerance = { absolute = 9 } }
row.UBR = { queue = 5400 }
"""

NUMBER = TOML[TOML.index("[[number]]") : TOML.index("[[number]]", TOML.index("[[number]]") + 1)]

CHARTS = """
[[plot]]
kind = "curve"
title = "A curve"
source = "figure 1"
note = "Look here."
x = { label = "across", values = [1460, 9140], scale = "log" }
y = { label = "up" }
[[plot.line]]
label = "ours"
measure = 'goodput["UBR.{}"]'
printed = { 1460 = 0.9 }
[[plot.level]]
label = "ideal"
value = 1

[[plot]]
kind = "series"
title = "A series"
x = { label = "across", step = 0.5 }
y = { label = "up" }
[[plot.line]]
label = "ours"
measure = 'goodput["*"]'
printed = { "0.5" = 0.9 }
[[plot.level]]
label = "ideal"
value = 1

[[plot]]
kind = "bars"
title = "Bars"
x = { label = "across", categories = ["a", "b", "c", "d"] }
y = { label = "up" }
[[plot.line]]
label = "ours"
measure = 'goodput["*"]'
printed = [0.9, 0.9, 0.9, 0.9]
[[plot.level]]
label = "ideal"
value = 1
"""

SENSITIVITY = """
[[assumption]]
name = "size"
value = "small"
why = "It is not printed."

[[sensitivity]]
assumption = "size"
question = "Small or large?"
taken = "small"
cases = "UBR.*"
reps = 1
[sensitivity.value]
large = ["size=2"]
"""


def toy(folder: Path, text: str = TOML) -> Study:
    place = folder / "toy"
    place.mkdir(exist_ok=True)
    (place / "study.toml").write_text(text, encoding="utf-8")
    (place / "base.toml").write_text('name = "lan"\n', encoding="utf-8")
    (place / "setup.svg").write_text("<svg/>", encoding="utf-8")
    return load("toy", folder)


def outcome(folder: Path, text: str = TOML, varied: Sequence[float] = ()) -> Outcome:
    """The toy, judged; `varied` is the goodput in every case for each value of its sensitivity."""
    study = toy(folder, text)
    runs = {
        case: [document(seed, goodput=0.985 if "9140" in case else 0.97) for seed in (1, 2, 3)] for case in study.cases
    }
    variants = [{f"UBR.{mss}": [document(1, goodput=goodput)] for mss in (1460, 9140)} for goodput in varied]
    return judge(study, runs, [variants] if varied else ())


def test_axes_span_the_cases(tmp_path: Path) -> None:
    cases = toy(tmp_path).cases
    assert list(cases) == ["UBR.1460", "UBR.9140", "EPD.1460", "EPD.9140"]
    assert cases["EPD.9140"].sets == ('policy="epd"', "threshold=9", "mss=9140")


def test_a_table_of_published_values_stands_for_several_numbers(tmp_path: Path) -> None:
    numbers = toy(tmp_path).numbers
    assert [number.id for number in numbers] == ["UBR.goodput.1460", "UBR.goodput.9140", "queue"]
    assert numbers[1].label == "UBR, MSS 9140"
    assert numbers[1].measure.uses == [("goodput", "UBR.9140")]
    assert numbers[2].published == 5400


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('id = "toy"', 'id = "top"', "must be the name of the folder, not 'top'"),
        ('title = "A toy"', "", "title"),
        ("[[plot]]", "[[plott]]", "plott"),
        ('axis = "share"', 'axis = "share"\ncolour = "red"', "colour"),
        ("relative = 0.02", "relativ = 0.02", "relativ"),
        ('goodput["UBR.{}"]', 'goodput["RED.{}"]', "unknown case 'RED.1460'"),
        ('numbers = "*.goodput.*"', 'numbers = "x"', "must match a number"),
        ('scenario = "base.toml"', 'scenario = "base.toml"\nextra = 1', "extra"),
        (
            'scenario = "base.toml"',
            'scenario = "base.toml"\nreps = 0',
            "cases: reps must be an integer of at least 1, not 0",
        ),
        ('id = "{scheme}.{mss}"', 'id = "{scheme}.{mss}}"', "cases: id must have only axes in braces, not"),
        ('id = "{scheme}.{mss}"', 'id = "{}.{mss}"', "cases: id must have only axes in braces, not"),
        ('id = "{scheme}.{mss}"', 'id = "{scheme.x}.{mss}"', "cases: id must have only axes in braces, not"),
        ('id = "{scheme}.{mss}"', 'id = "{scheme:>9}.{mss}"', "cases: id must have only axes in braces, not"),
        (
            'id = "toy"',
            'reps = "many"\nid = "toy"',
            "study.toml:2:8: reps must be an integer of at least 1, not 'many'",
        ),
        ("[[plot]]", '[quantity]\nqueue = "queue / 2"\n[[plot]]', "quantity: 'queue' must not be the name of a figure"),
        ('label = "all"\n', "", "label"),
        ("[figure]", "[figure", "study.toml:8:8: this is not TOML: "),
        ('text = "goodput"\n', "", "study.toml:22:3: number: the key 'text' is missing"),
        ('text = "Larger', 'tex = "Larger', 'claim: unknown key "tex"; did you mean "text"?'),
        ("[[plot]]", '[[plot]]\nkind = "pie"', "must be numbers, curve, series or bars, not 'pie'"),
        ("[[plot]]", SENSITIVITY.replace('"size"', '"shape"', 1) + "[[plot]]", "must be one of the study"),
        ("[[plot]]", SENSITIVITY.replace("UBR.*", "RED.*") + "[[plot]]", "must match a case, not ['RED.*']"),
        (
            "[[plot]]",
            CHARTS.replace("measure =", 'like = "theirs"\nmeasure =') + "[[plot]]",
            "must be the label of another line, not 'theirs'",
        ),
        ("[[plot]]", CHARTS.replace("printed =", "shown =") + "[[plot]]", "unknown key of the line 'ours': shown"),
        ("published = 5400", 'published = "5400"', "number: queue: published must be a number, not '5400'"),
        ("[[plot]]", "[[plot]]\neach = 3", "plot: each must be a table, not 3"),
        ("[[plot]]", "[[plot]]\neach.UBR = 3", "plot: each.UBR must be a table, not 3"),
        ("[[plot]]", TABLE.replace("source", "sort") + "[[plot]]", "table: the key 'source' is missing"),
        (
            "[[plot]]",
            TABLE.replace("UBR", "RED") + "[[plot]]",
            "table: 'mean(queue[\"RED.*\"])': unknown case 'RED.*'",
        ),
    ],
)
def test_a_mistake_in_a_study_is_named_when_it_is_read(tmp_path: Path, old: str, new: str, why: str) -> None:
    assert old in TOML
    with pytest.raises(StudyError, match=re.escape(why)):
        toy(tmp_path, TOML.replace(old, new))


def test_an_axis_of_numbers_is_written_short(tmp_path: Path) -> None:
    short = TOML.replace('1460 = ["mss=1460"]\n9140 = ["mss=9140"]', "").replace(
        "[cases.axis.mss]", '[cases.axis]\nmss = { values = [1460, 9140], set = ["mss={}"] }'
    )
    assert toy(tmp_path, short).cases == toy(tmp_path).cases


def test_a_sensitivity_runs_its_cases_with_other_settings(core: FakeCore, tmp_path: Path) -> None:
    study, cache = toy(tmp_path, TOML + SENSITIVITY), Cache(tmp_path / "cache")
    (weighing,) = reproduce([study], reps=2, cache=cache).outcomes[0].weighings
    assert len(core.runs) == 4 * 2 + 2
    assert [variant.value for variant in weighing.variants] == ["small", "large"]
    assert [len(variant.findings) for variant in weighing.variants] == [2, 2]
    assert (('policy="tail-drop"', "mss=9140", "size=2"), 7) in core.runs


def test_a_study_says_how_often_its_cases_are_run(core: FakeCore, tmp_path: Path) -> None:
    more = TOML.replace('scenario = "base.toml"', 'scenario = "base.toml"\nreps = 3')
    study = toy(tmp_path, "reps = 2\n" + more + OFTEN)
    (found,) = reproduce([study], cache=Cache(tmp_path / "cache")).outcomes
    assert found.seeds["UBR.1460"] == [7, 8, 9]
    assert found.seeds["seldom.once"] == [7, 8]
    by_id = {finding.number.id: finding.measured["n"] for finding in found.findings}
    assert (by_id["UBR.goodput.1460"], by_id["both"]) == (3, 2)
    asked = reproduce([study], reps=4, cache=Cache(tmp_path / "cache")).outcomes[0]
    assert {len(seeds) for seeds in asked.seeds.values()} == {4}


def test_a_study_at_full_size_runs_its_cases_more_often(core: FakeCore, tmp_path: Path) -> None:
    more = TOML.replace('scenario = "base.toml"', 'scenario = "base.toml"\nreps = 2\nfull = 5')
    study = toy(tmp_path, "reps = 1\n" + more + OFTEN)
    (found,) = reproduce([study.at_full_size()], cache=Cache(tmp_path / "cache")).outcomes
    assert (len(found.seeds["UBR.1460"]), len(found.seeds["seldom.once"])) == (5, 1)
    (usual,) = reproduce([study], cache=Cache(tmp_path / "cache")).outcomes
    assert len(usual.seeds["UBR.1460"]) == 2


def test_a_study_that_compares_with_no_print_is_in_no_score(tmp_path: Path) -> None:
    known = outcome(tmp_path)
    new = replace(known, study=replace(known.study, id="119-new"))
    assert together([known, new]) == together([known])
    assert together([new])["sentences"] == 0


def test_numbers_are_judged_by_their_tolerance(tmp_path: Path) -> None:
    near, far, edge = outcome(tmp_path).findings
    assert (near.verdict, far.verdict, edge.verdict) == ("within", "differs", "uncertain")
    assert near.measured["mean"] == pytest.approx(0.9702)
    assert near.relative_error == pytest.approx(0.0002 / 0.97)
    assert edge.difference == pytest.approx(102)


def test_a_number_is_that_of_the_runs_in_which_it_was_measured(tmp_path: Path) -> None:
    study = toy(tmp_path)
    runs = [document(seed, goodput=goodput) for seed, goodput in enumerate((0.9, 0.9, 0.8))]
    runs[0]["summary"]["goodput_ratio"] = None
    measured = judge(study, dict.fromkeys(study.cases, runs)).findings[0].measured
    assert (measured["n"], measured["mean"]) == (2, pytest.approx(0.85, abs=0.001))
    found = judge(replace(study, claims=()), dict.fromkeys(study.cases, runs[:1]))
    assert [finding.number.id for finding in found.findings] == ["queue"], "without a value they are left out"
    assert "UBR, MSS 1460" not in draw(found).plots[0].svg


def test_print_lies_among_runs_of_which_some_give_less_and_some_more(tmp_path: Path) -> None:
    study = toy(tmp_path)

    def among(*goodputs: float) -> tuple[str, bool, str]:
        documents = [document(1, goodput=goodput) for goodput in goodputs]
        finding = judge(study, dict.fromkeys(study.cases, documents)).findings[0]  # 0.97 printed, ± 2 %
        return finding.verdict, finding.among, in_a_table(finding).among

    assert among(*[0.60] * 9, 0.98) == ("differs", True, "among our runs, 0.600 to 0.980")
    assert among(*[0.60] * 9, 0.96) == ("differs", False, "")
    assert among(0.96, 0.98, 0.97) == ("within", True, ""), "nothing to explain"
    assert among(0.60) == ("differs", False, ""), "one run is no range"
    counted = replace(
        judge(study, {case: [document(1, goodput=0.6)] for case in study.cases}).findings[0], runs=(0, 29)
    )
    assert in_a_table(counted).among == "among our runs, 0 to 29"


def test_a_claim_is_judged_on_the_means_with_its_evidence(tmp_path: Path) -> None:
    (judgement,) = outcome(tmp_path).judgements
    assert judgement.holds
    assert judgement.evidence.endswith("true in 3 of 3 replications")
    assert "true for 2 of 2" in judgement.evidence
    assert "UBR: 0.9852 > " in judgement.evidence


@pytest.mark.parametrize(("share", "holds"), [("0.3", True), ("0.4", False)])
def test_a_claim_of_what_happens_in_some_runs_asks_for_a_share_of_them(
    tmp_path: Path, share: str, *, holds: bool
) -> None:
    study = toy(tmp_path, TOML.replace("[[claim]]", f"[[claim]]\nshare = {share}"))
    large = [0.99, 0.96, 0.96]
    goodput = {case: large if "9140" in case else [0.97] * 3 for case in study.cases}
    runs = {case: [document(seed, goodput=value) for seed, value in enumerate(goodput[case])] for case in study.cases}
    (judgement,) = judge(study, runs).judgements
    assert judgement.holds == holds
    assert judgement.evidence == f"true in 1 of 3 replications; the claim requires a share of {share}"


def test_the_same_results_are_as_sure_again(tmp_path: Path) -> None:
    first = outcome(tmp_path, TOML + REMARK).json()
    counts.cache_clear()
    assert outcome(tmp_path, TOML + REMARK).json() == first


def test_only_a_study_itself_is_resampled_and_not_the_values_of_an_assumption(tmp_path: Path) -> None:
    found = outcome(
        tmp_path,
        TOML.replace('all(goodput["*.9140"] > goodput["*.1460"])', 'goodput["UBR.9140"] > goodput["UBR.1460"]')
        + SENSITIVITY,
        [0.9, 0.95],
    )
    assert [each.sure for each in found.judgements] == [1.0]
    variants = found.weighings[0].variants
    assert [each.sure for variant in variants for each in variant.judgements] == [None, None]


def test_a_claim_must_be_true_or_false(tmp_path: Path) -> None:
    study = toy(tmp_path, TOML.replace("all(goodput", "max(goodput").replace('> goodput["*.1460"])', "- 0)"))
    runs = {case: [document()] for case in study.cases}
    with pytest.raises(ExpressionError, match="true or false"):
        judge(study, runs)


def test_the_score_counts_what_is_near(tmp_path: Path) -> None:
    done = Reproduction([draw(outcome(tmp_path))], 1.0)
    assert score(done.outcomes) == {
        "numbers": 3,
        "within_5pct": 2,
        "within_10pct": 2,
        "independent": 3,
        "independent_within_5pct": 2,
        "null": 0,
        "skill": pytest.approx(2 / 3),
        "null_with_constants": 0,
        "skill_with_constants": pytest.approx(2 / 3),
        "claims": 1,
        "claims_held": 1,
        "sentences": 1,
        "sentences_held": 1,
    }
    assert done.json()["score"] == score(done.outcomes) | {
        "beyond_tolerance": 2,
        "beyond_tolerance_among_runs": 0,
        "single_runs": 0,
        "single_runs_like_print": 0,
        "claims_open": 0,
        "remarks": 0,
        "remarks_held": 0,
        "remarks_open": 0,
        "fitted": 0,
        "as_printed": score(done.outcomes),
    }
    assert done.failed
    assert list(done.json()) == ["studies", "score", "wall_s"]
    (study,) = done.json()["studies"]
    assert list(study) == [
        *("id", "references", "conclusion", "assumptions", "settings", "score", "constants"),
        *("as_printed", "replications", "numbers", "claims", "remarks", "sensitivities", "prose"),
    ]
    keys = ["id", "source", "independent", "dependent", "derived", "published", "null", "null_with_constants"]
    assert list(study["numbers"][0]) == [
        *keys,
        *("measured", "runs", "relative_error", "verdict", "single_run", "note"),
    ]
    assert list(study["claims"][0]) == ["id", "source", "text", "holds", "sure", "evidence", "turns", "milder"]


def test_a_remark_is_judged_like_a_claim_but_not_counted_with_them(tmp_path: Path) -> None:
    found = outcome(tmp_path, TOML + REMARK)
    (remark,) = found.remarks
    assert not remark.holds
    assert remark.evidence.endswith("true in 0 of 3 replications")
    assert score([found])["claims"] == 1
    done = Reproduction([draw(found)], 1.0).json()
    assert [each["id"] for each in done["studies"][0]["remarks"]] == ["queues-are-short"]
    assert (done["score"]["remarks"], done["score"]["remarks_held"]) == (1, 0)


def test_a_quantity_is_worked_out_of_the_figures_of_each_run(tmp_path: Path) -> None:
    study = toy(tmp_path, TOML + REMARK)
    runs = {case: [document(seed, goodput=1, queue=seed) for seed in (1, 2)] for case in study.cases}
    (remark,) = judge(study, runs).remarks
    assert "0.375 > " in remark.evidence  # the mean of 1/2 and 1/4, not the mean 1 by the mean 3


def test_the_numbers_of_an_explanation_come_from_the_runs(tmp_path: Path) -> None:
    why = REMARK.replace(
        'why = "It is longer."', 'why = "It has {queue:EPD.1460} cells, {goodput:EPD.1460} of the line."'
    )
    study = toy(tmp_path, TOML + why)
    runs = {case: [document(seed, goodput=seed, queue=seed) for seed in (1, 2)] for case in study.cases}
    (remark,) = judge(study, runs).remarks
    assert remark.claim.why == "It has 3 cells, 1.5 of the line."
    with pytest.raises(
        StudyError, match=r"'queues-are-short', why: the reference {queue:EPD.146}.* unknown case 'EPD.146'"
    ):
        toy(tmp_path, TOML + why.replace("{queue:EPD.1460}", "{queue:EPD.146}"))


def test_a_quantity_with_an_unknown_figure_is_reported_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"quantity: 'goodput / queues': unknown figure 'queues'") as told:
        toy(tmp_path, TOML + REMARK.replace("goodput / queue", "goodput / queues"))
    assert "study.toml:" in str(told.value)


def test_results_are_kept_and_not_computed_again(core: FakeCore, tmp_path: Path) -> None:
    study, cache = toy(tmp_path), Cache(tmp_path / "cache")
    first = reproduce([study], reps=3, cache=cache)
    assert len(core.runs) == 12
    assert {seed for _, seed in core.runs} == {7, 8, 9}
    again = reproduce([study], reps=4, cache=cache)
    assert len(core.runs) == 16
    assert again.outcomes[0].seeds["UBR.1460"] == [7, 8, 9, 10]
    assert first.outcomes[0].findings[0].measured["n"] == 3


def test_studies_that_end_before_others_are_judged_aside_with_the_same_result(core: FakeCore, tmp_path: Path) -> None:
    study, cache = toy(tmp_path), Cache(tmp_path / "cache")
    longer = replace(study, cases={name: case.changed(["longer"]) for name, case in study.cases.items()})
    together = reproduce([longer, study], reps=3, cache=cache)
    apart = [reproduce([each], reps=3, cache=cache) for each in (longer, study)]
    assert len(core.runs) == 24
    assert [outcome.json() for outcome in together.outcomes] == [done.outcomes[0].json() for done in apart]
    assert [chapter.plots for chapter in together.chapters] == [done.chapters[0].plots for done in apart]


def test_results_of_another_build_are_computed_again(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, cache = toy(tmp_path), Cache(tmp_path / "cache")
    reproduce([study], cache=cache)
    runs = len(core.runs)
    reproduce([study], cache=cache)
    assert len(core.runs) == runs
    monkeypatch.setattr("pushout.cache.build", lambda: "another build")
    reproduce([study], cache=cache)
    assert len(core.runs) == 2 * runs


def test_an_interrupted_run_loses_at_most_what_was_under_way(core: FakeCore, tmp_path: Path) -> None:
    study, cache = toy(tmp_path), Cache(tmp_path / "cache")
    core.interrupt_after = 5
    with pytest.raises(KeyboardInterrupt):
        reproduce([study], reps=3, cache=cache)
    under_way = os.cpu_count() or 1
    assert 5 - under_way <= len(list(cache.folder.iterdir())) <= 5
    core.interrupt_after = None
    reproduce([study], reps=3, cache=cache)
    assert 12 <= len(core.runs) <= 12 + under_way


def test_a_damaged_result_is_computed_again(core: FakeCore, tmp_path: Path) -> None:
    study, cache = toy(tmp_path), Cache(tmp_path / "cache")
    reproduce([study], reps=1, cache=cache)
    victim = next(cache.folder.iterdir())
    victim.write_text("{", encoding="utf-8")
    reproduce([study], reps=1, cache=cache)
    assert len(core.runs) == 5
    assert cache.load(victim)["scenario"] == "lan"


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "report"
    write(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write(path, "new \ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", available())
def test_every_study_can_be_read_and_uses_all_its_cases(name: str) -> None:
    study = load(name)
    used = {case for number in study.numbers for _, case in number.measure.uses}
    claims = (*study.claims, *study.remarks)
    used |= {case for claim in claims for _, case in claim.check.uses}
    used |= {case for value in study.values.values() for _, case in value.uses}
    used |= {case for wording in study.wordings for _, case in wording.check.uses}
    charts = [plot for plot in study.plots if isinstance(plot, Chart)]
    used |= {case for chart in charts for line in chart.lines for measure in line.measures for _, case in measure.uses}
    assert used == set(study.cases)
    assert study.assumptions
    ids = [entry.id for entry in (*study.numbers, *study.claims, *study.remarks)]
    assert len(ids) == len(set(ids))


def test_schemes_of_study_000_have_one_order_for_both_sizes() -> None:
    """Checks compare the lists of cases that fit two patterns, entry by entry."""
    cases = load("000-ubr-discard").cases

    def schemes(network: str, size: str) -> list[str]:
        return [case.split(".")[1] for case in cases if case.startswith(f"{network}.") and case.endswith(f".{size}")]

    for network in ("lan", "access", "fifty"):
        small, large = (schemes(network, size) for size in ("1460", "9140"))
        assert small == large


def test_a_line_looks_alike_in_every_plot_unless_another_line_has_its_colour() -> None:
    def chart(*labels: str, **like: str) -> dict[str, object]:
        lines = [{"label": label, "measure": "{}"} for label in labels]
        lines += [{"label": label, "measure": "{}", "like": other} for label, other in like.items()]
        return {"kind": "curve", "title": "", "x": {"label": "", "values": [1]}, "y": {"label": ""}, "line": lines}

    plots = charts.read([chart("A", "B", "C"), chart("D"), chart("C", "E"), chart("D", "A")], (), {}, ())
    styles = [{line.label: line.style for line in plot.lines} for plot in plots if isinstance(plot, Chart)]
    assert styles == [{"A": 0, "B": 1, "C": 2}, {"D": 3}, {"C": 2, "E": 4}, {"D": 3, "A": 0}]
    many = charts.read([chart(*map(str, range(charts.STYLES))), chart("new")], (), {}, ())
    assert isinstance(many[1], Chart)
    assert many[1].lines[0].style == 0, "there are no more"
    alike = charts.read([chart("A", "B", b="B"), chart(a="A")], (), {}, ())
    looks = [(line.style, line.dashed) for plot in alike if isinstance(plot, Chart) for line in plot.lines]
    assert looks == [(0, False), (1, False), (1, True), (0, False)]


def test_a_plot_is_drawn_for_each_of_several(tmp_path: Path) -> None:
    several = """
[[plot]]
kind = "curve"
title = "Goodput of {each}"
x = { label = "{each}, across", values = [1460] }
y = { label = "up" }
each.UBR = { note = "Low.", x.values = [1460, 9140] }
each.EPD = { note = "High." }
[[plot.line]]
label = "ours"
measure = 'goodput["{each}.{}"]'
"""
    first, second = (plot for plot in toy(tmp_path, TOML + several).plots if isinstance(plot, Chart))
    assert (first.title, first.note, first.x_label) == ("Goodput of UBR", "Low.", "UBR, across")
    assert (second.title, second.note, second.x) == ("Goodput of EPD", "High.", (1460.0,))
    assert [measure.text for measure in first.lines[0].measures] == ['goodput["UBR.1460"]', 'goodput["UBR.9140"]']
    assert [measure.text for measure in second.lines[0].measures] == ['goodput["EPD.1460"]']


def test_the_printed_numbers_of_study_000_are_those_of_its_tables() -> None:
    printed = {number.id: number.published for number in load("000-ubr-discard").numbers}
    assert {
        number: value for number, value in printed.items() if number.startswith("lan.") and "ideal" not in number
    } == {
        "lan.UBR.goodput.1460": 0.977,
        "lan.UBR.goodput.9140": 0.990,
        "lan.EPD.goodput.1460": 0.975,
        "lan.EPD.goodput.9140": 0.991,
        "lan.UBR.fairness.1460": 0.895,
        "lan.UBR.fairness.9140": 0.916,
        "lan.EPD.fairness.1460": 0.916,
        "lan.EPD.fairness.9140": 0.930,
        "lan.FBA.goodput.1460": 0.971,
        "lan.FBA.goodput.9140": 0.998,
        "lan.RED.goodput.1460": 0.980,
        "lan.RED.goodput.9140": 0.974,
        "lan.FBA.fairness.1460": 0.968,
        "lan.FBA.fairness.9140": 0.974,
        "lan.RED.fairness.1460": 0.964,
        "lan.RED.fairness.9140": 0.941,
        "lan.avgbuf.RED.1460": 2800,
        "lan.avgbuf.RED.9140": 4000,
        "lan.avgbuf.other.1460": 5500,
        "lan.avgbuf.other.9140": 6200,
    }


CASE_2 = (2, 4, 8, 10, 10, 15, 15, 18, 18, 20)
MCRS = {
    "table1_equal": (1,) * 10,
    "table2_case1": tuple(range(1, 11)),
    **dict.fromkeys(("table3_case2", "table4_buffershare", "table5_LAN", "table6_WAN", "table7_idle_mcr"), CASE_2),
    **dict.fromkeys(("table8_idle_nomcr", "table9_greedy_nomcr"), (0,) * 5 + CASE_2[5:]),
}


def test_the_printed_rows_of_study_003_agree_with_their_totals_efficiencies_and_fairness() -> None:
    printed = {number.id: number.published for number in load("003-gfr-buffer-management").numbers}
    rows = [name.removesuffix(".total") for name in printed if name.endswith(".total")]
    assert len(rows) == 35
    for row in rows:
        rates = {vc: printed[f"{row}.rates.{vc}"] for vc in range(1, 11) if f"{row}.rates.{vc}" in printed}
        excess = [rate - MCRS[row.split(".")[0]][vc - 1] for vc, rate in rates.items()]
        assert sum(rates.values()) == pytest.approx(printed[f"{row}.total"], abs=0.061)
        assert sum(rates.values()) / 136.58 == pytest.approx(printed[f"{row}.eff"], abs=6e-4)
        jain = sum(excess) ** 2 / (len(excess) * sum(each**2 for each in excess))
        assert jain == pytest.approx(printed[f"{row}.fairness"], abs=1.1e-3)
