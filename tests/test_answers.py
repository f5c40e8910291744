"""Numbers and outputs on pages are those that the program gives: docs/answers.toml and docs/answers.json."""

import contextlib
import json
import re
from pathlib import Path

import pytest
import yaml

from conftest import ROOT
from pushout.generate import answers, facts
from pushout.generate.sentences import Sentence, SentenceError

COVERED = [
    *["README.md", "docs/index.md", "docs/how-to/size.md", "docs/how-to/memory.md", "docs/how-to/cellular.md"],
    *["docs/concepts/transports.md", "docs/concepts/warnings.md"],
]
"""Pages on which every number of the text has an answer or a reason."""


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def texts() -> dict[str, str]:
    """The pages with answers."""
    names = {page for answer in answers.declared() for page in answer.pages}
    return {name: Path(name).read_text(encoding="utf-8") for name in sorted(names)}


with contextlib.chdir(ROOT):
    QUICK = [answer for answer in answers.declared() if answer.runs and not answer.slow]
    PAGES = sorted(texts())
    RESULTS = list(answers.current())


def test_the_pages_have_the_numbers_of_the_answers() -> None:
    assert answers.faults(texts(), RESULTS) == []


def test_no_answer_is_older_than_its_scenario_command_or_version() -> None:
    assert answers.outdated() == [], "make answers ARGS=…, then make generate"


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("answer", QUICK, ids=lambda answer: answer.id)
def test_a_quick_answer_is_what_the_program_gives_now(answer: answers.Answer) -> None:
    assert answer.measure() == answers.kept()[answer.id]


def sentences(page: str) -> list[Sentence]:
    """The sentences with answers on a page."""
    return [sentence for answer in answers.declared() for sentence in answer.says if sentence.page == page]


@pytest.mark.parametrize("page", PAGES)
def test_a_number_changed_by_hand_is_found(page: str) -> None:
    text = Path(page).read_text(encoding="utf-8")
    for begin, end in (place for sentence in sentences(page) for place in sentence.places(text)):
        changed = text[:begin] + "7777" + text[end:]
        assert refused(page, changed), text[begin - 40 : end + 40]


def refused(page: str, text: str) -> bool:
    """Return whether the check finds a fault on a page with this text."""
    try:
        return any(fault.startswith(page) for fault in answers.faults({page: text}, RESULTS))
    except SentenceError:
        return True


def test_an_output_changed_by_hand_is_found() -> None:
    readme = Path("README.md").read_text(encoding="utf-8")
    assert not refused("README.md", readme)
    assert refused("README.md", readme.replace("5 300 ± 540", "5 400 ± 540"))
    assert refused("README.md", readme.replace("<!-- prints sweep-alpha -->", ""))


CODE = re.compile(r"^( *)```.*?^\1```|^---\n.*?^---\n|`[^`\n]*`|\]\([^)\n]*\)|<!--.*?-->", re.MULTILINE | re.DOTALL)
NAME = re.compile(
    r"RFC \d+(?:, \d+)*(?: and \d+)?|4\.4BSD|ECT\(1\)|\b(?:19|20)\d\d\b(?=[);:, ])"
    r"|\b(?:paper|model|study|studies) \d+(?: (?:to|and) \d+)?",
    re.IGNORECASE,
)
"""Names with digits, and years of publications."""
NUMBER = re.compile(r"(?<![\w.\-/])\d+(?:[ .,]\d+)*(?![\w\-]*[A-Za-z_])")


@pytest.mark.parametrize("page", COVERED)
def test_every_number_of_a_covered_page_has_an_answer_or_a_reason(page: str) -> None:
    text = Path(page).read_text(encoding="utf-8")
    known = [sentence.span(text) for sentence in sentences(page)]
    for entry in answers.given():
        if entry["page"] == page:
            found = [match.span() for match in re.finditer(re.escape(entry["text"]), text)]
            assert found, f"the page has no such words: {entry['text']}"
            known += found
    blank = text
    for pattern in (CODE, NAME):
        blank = pattern.sub(lambda found: re.sub(r"[^\n]", "x", found[0]), blank)
    open_ends = [
        match
        for match in NUMBER.finditer(blank)
        if not any(begin <= match.start() and match.end() <= end for begin, end in known)
    ]
    assert [text[max(0, match.start() - 30) : match.end() + 20] for match in open_ends] == []


def test_the_template_of_a_sentence_finds_and_replaces_its_numbers() -> None:
    sentence = Sentence("page.md", "EPD delivers {100 * goodput:.1f} % of it and {loser} less.", ("goodput > 0.9",))
    page = "First.\n\nEPD delivers 11.1 %\nof it and tail\ndrop less."
    values = sentence.values({"goodput": 0.962, "loser": "tail drop"})
    assert values == ["96.2", "tail drop"]
    assert sentence.filled(page, values) == page.replace("11.1", "96.2")
    assert len(sentence.differences(page, values)) == 1
    assert sentence.differences(sentence.filled(page, values), values) == []
    with pytest.raises(SentenceError, match="must hold for the sentence"):
        sentence.values({"goodput": 0.8, "loser": ""})
    with pytest.raises(SentenceError, match="once, not 2 times"):
        sentence.differences(page + page, values)
    with pytest.raises(SentenceError, match="must begin and end with a word"):
        Sentence("page.md", "it is {1}").differences("", [])


def test_the_hash_of_an_answer_follows_its_scenario_and_sentence() -> None:
    answer = answers.Answer("one", command="pushout run lan", says=(Sentence("README.md", "a {1} b"),))
    other = answers.Answer("one", command="pushout run lan", says=(Sentence("README.md", "a {2} b"),))
    assert answer.hash != other.hash
    assert "scenarios/lan.toml" in answer._files()
    assert "scenarios/incast.toml" not in answer._files()


def test_a_command_of_an_answer_stands_on_its_page() -> None:
    for answer in answers.declared():
        if answer.prints:
            assert answer.command in texts()[answer.prints]


def test_the_nightly_run_repeats_the_slow_answers() -> None:
    jobs = yaml.safe_load(Path(".github/workflows/nightly.yml").read_text(encoding="utf-8"))["jobs"]
    commands = [step.get("run", "") for job in jobs.values() for step in job["steps"]]
    assert any("make answers" in command and "git diff --exit-code" in command for command in commands)
    assert any(answer.slow for answer in answers.declared())


def test_speed_is_looked_up_in_the_measurement() -> None:
    measured = json.loads(Path("docs/performance.json").read_text(encoding="utf-8"))
    ours = {each["id"]: each for each in measured["workloads"]}
    assert facts.speed("W2", "ns_per_hop") == ours["W2"]["ns_per_cell_hop"] > 0
    assert facts.speed("W1-packet", "ns_per_hop") == ours["W1-packet"]["ns_per_packet_hop"] > 0
    assert facts.oldest()["Python"] == "3.11"
