"""Questions about exact worst cases as jobs, and as cases of a study."""

import json
from pathlib import Path

import pytest

import pushout
from pushout.cache import Cache
from pushout.errors import ScenarioError
from pushout.exact import Exact
from pushout.shipped import STUDIES
from pushout.source import Source
from pushout.study.finding_result import kept, problem
from pushout.study.model import load
from pushout.study.report import command
from pushout.study.reproduce import reproduce
from pushout.study.sentences import mapped

QUESTION = """
policy = { policy = "dynamic-threshold", alpha = 2.0 }
ports = 2
memory = 6
"""

WORST = "112-worst-cases"


def asked(*sets: str) -> Exact:
    return Exact(Source(QUESTION, "question.toml"), sets)


def test_a_question_is_answered_as_by_the_command_whatever_its_seed() -> None:
    first, second = asked("memory=8").run(1), asked("memory=8").run(2)
    expected = pushout.worst("dynamic-threshold", ports=2, memory=8, set={"alpha": 2})
    assert (first["seed"], second["seed"]) == (1, 2)
    assert {**first, "seed": 2} == second
    assert first["ratio"] == expected.document["ratio"] == "14/9"
    assert "input" not in first
    assert asked("policy.alpha=1.0").run(1)["value"] == 2


def test_two_texts_of_one_question_are_one_experiment() -> None:
    assert asked("memory=6").explain() == asked().explain()
    assert asked("memory=7").explain() != asked().explain()
    assert asked().seeds(None, 3) == [1, 2, 3]
    assert json.loads(asked().explain(4))["seed"] == 4


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("memory", "an override is written KEY=VALUE"),
        ("memory=much", "the value must be one of TOML, as in 2 or 0.5, not 'much'"),
        ("memory.size=2", "memory must be a table, not 6"),
        ("policy.alpha=-1.0", "question.toml: alpha must be greater than 0, not -1"),
    ],
)
def test_a_wrong_override_is_refused_with_the_reason(change: str, why: str) -> None:
    with pytest.raises(ScenarioError, match=why.replace(".", r"\.")):
        asked(change).run(1)


def test_a_study_asks_for_worst_cases_and_its_report_prints_the_commands(tmp_path: Path) -> None:
    study = load(WORST)
    some = {name: case for name, case in study.cases.items() if name in ("lqd.2.4", "lqd.2.6")}
    assert command(some["lqd.2.6"], 1) == "pushout worst longest-queue --ports 2 --memory 6"
    assert command(study.cases["epd.2.5"], 1) == (
        "pushout worst epd --frames 3 --circuits 2 --memory 8 --set 'threshold=5 cells' --set pass_eom=false"
    )
    (number, *_) = study.numbers
    part = study.__class__(**{**vars(study), "cases": some, "numbers": (number,), "values": {}, **NOTHING})
    part = mapped(part, lambda text: "")  # prose about other cases
    outcome = reproduce([part], cache=Cache(tmp_path)).chapters[0].outcome
    assert [each.verdict for each in outcome.findings] == ["within"]
    assert len(list(tmp_path.glob("*.json"))) == 2


NOTHING = dict.fromkeys(("claims", "remarks", "plots", "findings", "wordings"), ())
"""Parts of a study that a test leaves out."""


def test_the_findings_about_worst_cases_are_those_of_their_runs() -> None:
    study = load(WORST)
    results = kept(study, STUDIES)
    assert [problem(study, finding, results.get(finding.id)) for finding in study.findings] == [""] * 4
