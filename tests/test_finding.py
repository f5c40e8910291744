"""Findings: what their file may say, their runs, the data, and the page that must not show what fails as true."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from rich.console import Console

from conftest import ROOT, FakeCore, command, document
from pushout.cache import Cache
from pushout.document import figure
from pushout.generate import findings as pages
from pushout.generate import studies as study_pages
from pushout.show.findings import verdicts
from pushout.stats import interval
from pushout.study import full_result, model, report
from pushout.study.chapter import Reproduction, draw
from pushout.study.finding import SEEDS, Change, Finding
from pushout.study.finding_result import FILE, Result, kept, problem, save
from pushout.study.finding_runs import check_range, run_findings
from pushout.study.model import Study, StudyError
from pushout.study.prose_result import check_settings
from pushout.study.reference import filled
from pushout.study.reproduce import judge
from test_study import CHARTS, TOML, toy

RATIO = "summary.goodput_ratio"

LARGER = """
[[finding]]
id = "larger"
title = "Segments of more than 9000 octets reach more"
text = "EPD reaches {goodput:EPD.9140} of the line, {gain} % more than with small segments."
limits = "One network. Print has {printed:UBR.goodput.1460}. Tail drop has {goodput:UBR.9140}."
comparison = 'goodput["EPD.9140"] > goodput["EPD.1460"]'
control = { text = "Any change would help.", check = 'goodput["control.once"] < goodput["EPD.9140"]' }
figure = "A curve"
set = ["duration=2"]
value.gain = '100 * (goodput["EPD.9140"] / goodput["EPD.1460"] - 1)'
settings."9000 octets" = []

[[finding.cases]]
id = "control.{what}"
scenario = "base.toml"
axis.what.once = ["duration=1"]

[[finding.range]]
name = "half the load"
set = ["load=1"]

[[finding.range]]
name = "half the buffer of EPD"
set."EPD.*" = ["buffer=1"]
"""
"""The simulator of the tests gives 0.985 of the line with segments of 9140 octets, and 0.97 with others."""

BROKEN = LARGER.replace('["load=1"]', '["mss=9140"]')
"""A change after which both cases are the same."""


def study(folder: Path, text: str = LARGER) -> Study:
    return toy(folder, TOML + CHARTS + text)


def run(folder: Path, text: str = LARGER) -> tuple[Study, Result]:
    """Run the finding, and keep its data beside its study."""
    found = study(folder, text)
    (result,) = run_findings([found], cache=Cache(folder / "cache"))["toy"]
    save([result], folder, "toy")
    shutil.move(folder / "toy.json", folder / "toy" / FILE)
    return found, result


def test_a_finding_runs_its_cases_its_control_and_its_range_with_every_seed(core: FakeCore, tmp_path: Path) -> None:
    _, result = run(tmp_path)
    assert set(core.runs) == {
        (sets, seed)
        for seed in range(7, 7 + SEEDS)
        for sets in [
            ('policy="tail-drop"', "mss=9140", "duration=2"),
            ('policy="epd"', "threshold=9", "mss=9140", "duration=2"),
            ('policy="epd"', "threshold=9", "mss=1460", "duration=2"),
            ("duration=1", "duration=2"),
            ('policy="epd"', "threshold=9", "mss=9140", "duration=2", "load=1"),
            ('policy="epd"', "threshold=9", "mss=1460", "duration=2", "load=1"),
            ('policy="epd"', "threshold=9", "mss=9140", "duration=2", "buffer=1"),
            ('policy="epd"', "threshold=9", "mss=1460", "duration=2", "buffer=1"),
        ]
    }
    assert list(result.seeds) == list(range(7, 7 + SEEDS))
    assert list(result.range) == ["half the load", "half the buffer of EPD"]
    assert result.failures == []
    assert (result.control["holds"], result.control["sure"]) == (True, 1)
    assert result.control["evidence"] == '0.9717 < 0.9867 [goodput["control.once"] < goodput["EPD.9140"]]'


def test_every_number_of_the_prose_comes_from_the_data(core: FakeCore, tmp_path: Path) -> None:
    found, result = run(tmp_path)
    assert core.runs
    large, small = ([figure(document(seed, goodput=each), RATIO) for seed in result.seeds] for each in (0.985, 0.97))
    assert dict(result.values) == {
        "goodput:EPD.9140": interval(large),
        "goodput:UBR.9140": interval(large),
        "gain": interval([100 * (more / less - 1) for more, less in zip(large, small, strict=True)]),
    }
    assert (
        filled(found.findings[0].text, result.values)
        == "EPD reaches 0.987 of the line, 1.54 % more than with small segments."
    )


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("One network.", "One network, with 3.5 %.", "must be references, settings or names, not '3.5'"),
        ('settings."9000 octets" = []\n', "", "must be references, settings or names, not '9000'"),
        ('settings."9000 octets" = []', 'settings."8000 octets" = []\n', "must occur in the prose, not '8000 octets'"),
        (
            'settings."9000 octets" = []',
            'names = ["9000 octets"]',
            "must begin with a letter, not '9000 octets'",
        ),
        ("{goodput:UBR.9140}", "{goodput:UBR.9}", "unknown case 'UBR.9'"),
        ("{goodput:UBR.9140}", "{goodputs:UBR.9140}", "unknown figure 'goodputs'"),
        ("{gain} %", "some %", "value gain has no reference in the prose"),
        ("{gain} %", "{gian} %", 'unknown value "gian"'),
        ('figure = "A curve"', 'figure = "A cure"', 'unknown plot "A cure"'),
        ('set."EPD.*"', 'set."DPE.*"', "must change a case: none fits 'DPE.*'"),
        ('set = ["duration=2"]', "seeds = 19", "seeds must be at least 20, not 19"),
        ('id = "control.{what}"', 'id = "UBR.1460"', "a case of a finding must have a new id, not 'UBR.1460'"),
        (
            'goodput["control.once"] <',
            'goodput["UBR.1460"] <',
            "must be used by a check or a value, not 'control.once'",
        ),
        ("{printed:UBR.goodput.1460}", "{printed:UBR.goodput.146}", 'printed: unknown number "UBR.goodput.146"'),
        ("limits =", "limit =", "finding: the key 'limits' is missing"),
    ],
)
def test_a_finding_that_is_no_finding_is_refused(old: str, new: str, why: str, tmp_path: Path) -> None:
    assert old in LARGER
    with pytest.raises(StudyError) as error:
        study(tmp_path, LARGER.replace(old, new))
    assert why in str(error.value).replace("`", '"')
    assert "study.toml:" in str(error.value)


def test_a_range_broken_on_purpose_fails_the_finding_its_page_and_the_check(core: FakeCore, tmp_path: Path) -> None:
    found, result = run(tmp_path, BROKEN)
    assert core.runs
    assert result.failures == ["half the load"]
    page = pages.page(tmp_path)
    assert "**This finding fails: half the load.**" in page
    assert "It holds with half the buffer of EPD. **It fails with half the load.**" in page
    assert pages.wrong(tmp_path) == ["toy: finding 'larger' fails: half the load: make findings"]
    console = Console(record=True, width=200)
    verdicts([found], {"toy": [result]}, console)
    assert "✗ Segments of more than 9000 octets reach more (toy), fails: half the load" in console.export_text()


def test_a_control_that_fails_fails_the_finding(core: FakeCore, tmp_path: Path) -> None:
    _, result = run(tmp_path, LARGER.replace('axis.what.once = ["duration=1"]', 'axis.what.once = ["mss=9140"]'))
    assert core.runs
    assert result.failures == ["control"]
    assert "*Control.* Any change would help. **It fails.**" in pages.page(tmp_path)


def test_the_page_has_title_numbers_range_and_data_of_what_holds(core: FakeCore, tmp_path: Path) -> None:
    run(tmp_path)
    assert core.runs
    page = pages.page(tmp_path)
    assert pages.wrong(tmp_path) == []
    assert "## Segments of more than 9000 octets reach more\n\nEPD reaches 0.987 of the line, 1.54 % more" in page
    assert "*Range.* It holds with half the load; half the buffer of EPD." in page
    assert "| `gain` | 1.54 ± <0.01 |" in page
    assert "This finding" not in page


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('["load=1"]', '["load=2"]'),
        ('set = ["duration=2"]', 'set = ["duration=3"]'),
        ('> goodput["EPD.1460"]', '>= goodput["EPD.1460"]'),
        ('100 * (goodput["EPD.9140"]', '101 * (goodput["EPD.9140"]'),
        ('set = ["duration=2"]', 'set = ["duration=2"]\nseeds = 30'),
    ],
)
def test_a_finding_that_changed_since_its_runs_is_named(old: str, new: str, core: FakeCore, tmp_path: Path) -> None:
    _, result = run(tmp_path)
    assert core.runs
    changed = study(tmp_path, LARGER.replace(old, new))
    assert problem(changed, changed.findings[0], result) == "has changed since its runs"
    assert pages.wrong(tmp_path) == ["toy: finding 'larger' has changed since its runs: make findings"]
    assert "**This finding has changed since its runs.**" in pages.page(tmp_path)


def test_a_changed_scenario_or_figure_makes_data_old_and_prose_does_not(core: FakeCore, tmp_path: Path) -> None:
    found, result = run(tmp_path)
    assert core.runs
    reworded = study(tmp_path, LARGER.replace("One network.", "A network."))
    assert problem(reworded, reworded.findings[0], result) == ""
    other = toy(tmp_path, (TOML + CHARTS + LARGER).replace("summary.goodput_ratio", "summary.fairness_jain"))
    assert "has changed" in problem(other, other.findings[0], result)
    (tmp_path / "toy" / "base.toml").write_text('name = "wan"\n', encoding="utf-8")
    assert "has changed" in problem(found, found.findings[0], result)


def test_a_finding_without_runs_is_named_and_not_on_the_page(tmp_path: Path) -> None:
    study(tmp_path)
    assert pages.wrong(tmp_path) == ["toy: finding 'larger' has not been run: make findings"]
    assert kept(study(tmp_path), tmp_path) == {}
    assert "Segments" not in pages.page(tmp_path)


def test_a_verdict_that_other_seeds_may_turn_does_not_hold(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pushout.study.samples.SURE", 1.01)
    _, result = run(tmp_path)
    assert core.runs
    assert (result.comparison["holds"], result.comparison["sure"]) == (False, 1)


def test_damaged_data_are_named(tmp_path: Path) -> None:
    found = study(tmp_path)
    (tmp_path / "toy" / FILE).write_text(json.dumps({"findings": [{"id": "larger"}]}), encoding="utf-8")
    with pytest.raises(StudyError, match="the data of findings must be those that `make findings` writes"):
        kept(found, tmp_path)


def on_the_lan(folder: Path, *sets: str) -> Finding:
    """A finding whose prose says that these are the settings of a real scenario."""
    (finding,) = study(folder).findings
    cases = {name: replace(case, scenario=Path("scenarios/lan.toml"), sets=()) for name, case in finding.cases.items()}
    return replace(finding, cases=cases, settings=(Change("9000 octets", {"*": sets}),))


def test_a_setting_in_the_prose_must_be_that_of_the_runs(tmp_path: Path) -> None:
    same = on_the_lan(tmp_path, "flows.transport.mss=1460")
    check_settings("toy", same.settings, same.cases)
    with pytest.raises(StudyError, match="settings must be those of the cases, not '9000 octets', which changes"):
        other = on_the_lan(tmp_path, "flows.transport.mss=9000")
        check_settings("toy", other.settings, other.cases)


def test_a_change_of_the_range_must_change_a_compared_case(tmp_path: Path) -> None:
    finding = on_the_lan(tmp_path)
    check_range("toy", replace(finding, range=(Change("larger segments", {"EPD.*": ("flows.transport.mss=9140",)}),)))
    with pytest.raises(StudyError, match="range must change a compared case, not none, as 'equal segments' does"):
        check_range("toy", replace(finding, range=(Change("equal segments", {"*": ("flows.transport.mss=1460",)}),)))


def test_one_compared_case_that_a_change_of_the_range_changes_is_enough(tmp_path: Path) -> None:
    finding = on_the_lan(tmp_path)
    mixed = Change("one case", {"EPD.1460": ("flows.transport.mss=1400",), "EPD.9140": ("flows.transport.mss=1460",)})
    assert len({case for _, case in finding.comparison.uses}) > 1
    check_range("toy", replace(finding, range=(mixed,)))


def test_runs_that_agree_must_agree_after_each_change_of_the_range(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certain = LARGER.replace('figure = "A curve"', 'figure = "A curve"\nrandom = false')
    fixed = document(1)

    def changed_by_chance(seed: int, **_: float) -> dict[str, object]:
        return {**fixed, "seed": seed, "name": seed if "load=1" in " ".join(core.runs[-1][0]) else "same"}

    monkeypatch.setattr("conftest.document", changed_by_chance)
    with pytest.raises(StudyError, match=r"random must be true, not false: the runs of .* differ with the seed"):
        run(tmp_path, certain)


def test_a_number_that_one_run_lacks_is_not_averaged_over_the_others(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = document

    def without(seed: int, **figures: float) -> dict[str, object]:
        made = usual(seed, **figures)
        if seed == 9:
            made["summary"]["goodput_ratio"] = None
        return made

    monkeypatch.setattr("conftest.document", without)
    with pytest.raises(StudyError, match="a reference of a finding is not a number in every run"):
        run(tmp_path)
    assert core.runs


def test_runs_without_chance_need_two_seeds_that_must_agree(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certain = LARGER.replace('figure = "A curve"', 'figure = "A curve"\nrandom = false')
    with pytest.raises(StudyError, match=r"random must be true, not false: the runs of .* differ with the seed"):
        run(tmp_path, certain)
    fixed = document(1)
    monkeypatch.setattr("conftest.document", lambda seed, **_: {**fixed, "seed": seed, "engine": {"wall_s": seed}})
    (tmp_path / "again").mkdir()
    _, result = run(tmp_path / "again", certain)
    assert list(result.seeds) == [7, 8]
    assert core.runs


def test_the_check_of_generated_files_fails_with_a_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pushout import generate

    monkeypatch.setattr(generate, "generated", dict)
    monkeypatch.setattr(generate, "stale", lambda _: [])
    monkeypatch.setattr(generate.findings, "wrong", Mock(return_value=["toy: finding 'larger' fails: control"]))
    monkeypatch.setattr("sys.argv", ["generate", "--check"])
    assert generate.main() == 1
    assert "finding 'larger' fails" in capsys.readouterr().err


def test_the_report_shows_a_finding_that_fails_as_failed(
    core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = run(tmp_path, BROKEN)
    assert core.runs
    monkeypatch.setattr("pushout.study.report.kept", lambda study: kept(study, tmp_path))
    ((finding, text, why),) = report.findings(found)
    assert (finding.id, text[:18], why) == ("larger", "EPD reaches 0.987 ", "fails: half the load")
    runs = {case: [document(seed) for seed in (1, 2)] for case in found.cases}
    page = report.render(Reproduction([draw(judge(found, runs))], 1.0))
    assert '<span class="differs">✗ fails: half the load</span>' in page
    assert "Segments of more than 9000 octets reach more" in page


@pytest.fixture
def studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the command find only the studies of this folder."""
    monkeypatch.setattr(model.available, "__defaults__", (tmp_path,))
    monkeypatch.setattr(model.load, "__defaults__", (tmp_path,))
    return tmp_path


def test_the_command_keeps_data_and_fails_strictly_only_with_a_finding(
    core: FakeCore, studies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study(studies)
    out = studies / "reports"
    command("reproduce", "--findings", "--out", str(out), "--strict", "--json")
    (printed,) = json.loads(capsys.readouterr().out)["studies"]
    kept_data = json.loads((out / "findings" / "toy.json").read_text(encoding="utf-8"))
    assert printed == {"id": "toy", "findings": kept_data["findings"]}
    assert kept_data["findings"][0]["seeds"] == list(range(7, 7 + SEEDS))
    study(studies, BROKEN)
    command("reproduce", "--findings", "--out", str(out), "--strict", code=4)
    assert "fails: half the load" in capsys.readouterr().out
    assert (
        "half the load"
        in json.loads((out / "findings" / "toy.json").read_text(encoding="utf-8"))["findings"][0]["failures"]
    )
    assert core.runs


def test_the_command_says_that_a_study_has_no_findings(
    core: FakeCore, studies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy(studies)
    command("reproduce", "--findings", "--out", str(studies / "reports"))
    assert "These studies have no findings." in capsys.readouterr().out
    assert core.runs == []


@pytest.mark.parametrize("option", [["--reps", "3"], ["--full"], ["--decide"], ["--details"]])
def test_findings_have_their_own_replications(
    option: list[str], studies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study(studies)
    command("reproduce", "--findings", *option, code=2)
    assert "--findings has its own replications" in capsys.readouterr().err


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an archive of the source has no commit")
def test_the_data_are_taken_from_a_report_with_the_commit(
    core: FakeCore, studies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study(studies)
    out = studies / "reports"
    command("reproduce", "--findings", "--out", str(out))
    assert core.runs
    monkeypatch.setattr(pages, "STUDIES", studies)
    monkeypatch.setattr(pages, "PICTURES", studies / "pictures")
    pages.take(out)
    document = json.loads((studies / "toy" / FILE).read_text(encoding="utf-8"))
    assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?", document["commit"])
    assert pages.wrong(studies) == []
    for damaged in ("{", "[]"):
        (out / "findings" / "toy.json").write_text(damaged, encoding="utf-8")
        with pytest.raises(SystemExit, match="must be what pushout reproduce writes"):
            pages.take(out)


FULL = TOML.replace('scenario = "base.toml"', 'scenario = "base.toml"\nfull = 12', 1)
"""More replications at full size."""


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an archive of the source has no commit")
def test_what_a_study_gave_at_full_size_is_kept_and_named_once_its_files_change(
    core: FakeCore, studies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = toy(studies, FULL)
    out = studies / "reports"
    command("reproduce", "toy", "--full", "--out", str(out))
    assert core.runs
    monkeypatch.setattr(pages, "STUDIES", studies)
    pages.take_kept(out)
    taken = full_result.kept(found, studies)
    assert taken is not None
    commit, full = taken
    assert (re.fullmatch(r"[0-9a-f]{40}(-dirty)?", commit) is not None, full.replications) == (True, 12)
    assert full.claims["larger-is-better"]["holds"]
    assert pages.wrong(studies) == []
    changed = [
        ("full = 12", "full = 13"),
        ('"mss=9140"', '"mss=9141"'),
        ('> goodput["*.1460"]', '>= goodput["*.1460"]'),
    ]
    for old, new in changed:
        toy(studies, FULL.replace(old, new))
        assert pages.wrong(studies) == ["toy: has changed since its runs at full size: make full"]
    toy(studies, FULL.replace("Larger segments reach more.", "Reworded."))
    assert pages.wrong(studies) == []


def test_a_study_without_more_replications_keeps_nothing_at_full_size(core: FakeCore, studies: Path) -> None:
    toy(studies)
    command("reproduce", "toy", "--full", "--out", str(studies / "reports"))
    assert core.runs
    assert not (studies / "reports" / "full").exists()


def test_the_page_of_a_study_lists_its_claims_as_they_are_at_full_size(
    studies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = toy(studies, FULL)
    claims = {claim.id: {"holds": False, "sure": 0.996, "milder": None} for claim in found.claims}
    document = {"commit": "c" * 40, "inputs": full_result.inputs(found), "replications": 12, "claims": claims}
    (studies / "toy" / full_result.FILE).write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.setattr(full_result.kept, "__defaults__", (studies,))
    heading, _, verdicts_at_full_size = study_pages.at_full_size(found)
    assert heading == "## With 12 replications"
    assert "* *Larger segments reach more.* It does not hold (99 %)." in verdicts_at_full_size
