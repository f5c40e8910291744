"""The prose of studies: what holds its numbers and its words, and that a number changed at random is noticed."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import ROOT, document
from pushout.generate import findings, studies
from pushout.study import prose_result, sentences
from pushout.study.chapter import Reproduction, draw
from pushout.study.held import FREE, NUMBER, quantities, unheld
from pushout.study.model import Study, StudyError, available, load
from pushout.study.prose_result import check_settings, complaints, filled_study, inputs, save
from pushout.study.reference import REFERENCE
from pushout.study.report import render
from pushout.study.reproduce import judge
from pushout.study.samples import Samples
from test_study import CHARTS, REMARK, TOML, outcome, toy

SAID = 'stands = "EPD has {goodput:EPD.9140} of the line and print {printed:UBR.goodput.1460}. EPD is ahead."'

CONCLUSION = f'\n[conclusion]\n{SAID}\nfalls = "Nothing."\nadds = ""\n'

WORDS = '\n[[holds]]\ntext = "EPD is ahead."\ncheck = \'goodput["EPD.9140"] > goodput["EPD.1460"]\'\n'

WHOLE = TOML + CHARTS + CONCLUSION + WORDS


def filled_toy(folder: Path, text: str) -> Study:
    """Return a study with its prose filled."""
    return outcome(folder, text).study


def stands(folder: Path, sentence: str) -> str:
    """Fill a sentence of the conclusion."""
    text = TOML + CHARTS + CONCLUSION.replace(SAID, f"stands = '''{sentence}'''")
    conclusion = filled_toy(folder, text).conclusion
    assert conclusion
    return conclusion.stands


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("{goodput:EPD.9140}", "0.985"),
        ("{goodput:EPD.9140|1}", "1.0"),
        ("{100 * (goodput['EPD.9140'] - goodput['EPD.1460'])|1}", "1.5"),
        ("{goodput['EPD.9140'] / goodput['EPD.1460']|3}", "1.015"),
        ("{max(goodput['EPD.*'])}", "0.985"),
        ("{printed:UBR.goodput.1460}", "0.97"),
        ("{measured:UBR.goodput.1460|2}", "0.97"),
        ("{100 * (goodput['EPD.9140'] - printed['UBR.goodput.1460'])|1}", "1.5"),
        ("{printed['UBR.goodput.1460'] * 100}", "97"),
    ],
)
def test_a_reference_is_filled_with_what_the_runs_give(reference: str, said: str, tmp_path: Path) -> None:
    assert stands(tmp_path, f"It is {reference} here.") == f"It is {said} here."


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("It is 0.99.", "conclusion.stands: a number must be a reference, .* not '0.99.'; write {FIGURE:CASE}"),
        ("It is {goodput:EPD.914}.", "the reference {goodput:EPD.914}: .*unknown case 'EPD.914'.*write {FIGURE:CASE}"),
        ("It is {goodputs:EPD.9140}.", "the reference {goodputs:EPD.9140}: .*unknown figure 'goodputs'"),
        ("It is {88}.", "the reference \\{88\\} must use a figure of a case"),
        ("It is {printed:UBR.goodput.146}.", "printed: unknown number .UBR.goodput.146"),
    ],
)
def test_a_number_that_nothing_holds_is_refused_with_its_place(sentence: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=why) as error:
        stands(tmp_path, sentence)
    assert "toy/study.toml:" in str(error.value)


def test_a_reference_that_is_a_list_is_refused_with_the_study_and_the_reference(tmp_path: Path) -> None:
    with pytest.raises(
        StudyError, match=r"toy: the reference {goodput:EPD.\*} .* must be one number in every run, not"
    ):
        stands(tmp_path, "It is {goodput:EPD.*}.")


def with_number(study: Study, part: object, field: str) -> Study:
    """Append a number that nothing holds to one text of a study."""
    text = getattr(part, field)
    changed: Study = sentences.mapped(study, lambda each: f"{each} That is 17391 sheep." if each is text else each)
    return changed


def test_every_kind_of_text_refuses_a_number_that_nothing_holds(tmp_path: Path) -> None:
    scheme = '\n[[scheme]]\nname = "EPD"\ntext = "Early."\n'
    study = toy(tmp_path, WHOLE.replace(" and print {printed:UBR.goodput.1460}", "") + REMARK + scheme)
    kinds = {(type(part).__name__, field): part for part, field, _ in sentences.sentences(study)}
    assert {kind for kind, _ in kinds} >= {"Study", "Conclusion", "Scheme", "Number", "Claim", "Chart", "Line", "Level"}
    for (_, field), part in kinds.items():
        with pytest.raises(TypeError, match="not '17391'"):
            sentences.read(with_number(study, part, field), study.wordings)


@pytest.mark.parametrize(
    "text", ["in 1995", "RFC 1323", "section 4.1", "figures 5 and 6", "4.4BSD", "study 003", "N23"]
)
def test_years_documents_places_and_names_need_no_source(text: str) -> None:
    assert not unheld(f"It is {text}, as said.", ())


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("50, 100 and 150 kbytes", ""),
        ("50 to 150 kbytes", ""),
        ("50, 120 and 150 kbytes", "120"),
        ("1150 kbytes", "1150"),
        ("150.5 kbytes", "150.5"),
        ("150 %", "150"),
    ],
)
def test_a_setting_holds_lists_of_its_unit_and_no_other_number(text: str, word: str) -> None:
    assert unheld(f"With {text} it holds.", ["50 kbytes", "100 kbytes", "150 kbytes"]) == word


@pytest.mark.parametrize("name", available())
def test_the_settings_in_the_prose_of_a_study_are_those_of_its_runs(name: str) -> None:
    study = load(name)
    check_settings(study.id, study.settings, study.cases)


def test_a_setting_that_the_runs_do_not_have_is_named(tmp_path: Path) -> None:
    study = load("000-ubr-discard")
    wrong = [replace(each, sets={"lan.EPD.1460": ("flows.transport.mss=1400",)}) for each in study.settings[:1]]
    with pytest.raises(StudyError, match="000-ubr-discard: settings must be those of the cases, not '8192 cells'"):
        check_settings(study.id, wrong, {"lan.EPD.1460": study.cases["lan.EPD.1460"]})


# A number changed at random.

CHANGED = 60

Place = tuple[str, object, str, str, int, int]
"""A number of the prose: study, part, field, text, and where it begins and ends in the text."""


def numbers(study: Study) -> Iterator[Place]:
    """Yield the numbers of a study's prose that were typed: neither references, nor names, nor made from a table."""
    typed = tight((ROOT / "studies" / study.id / "study.toml").read_text(encoding="utf-8"))
    for part, field, text in sentences.sentences(study):
        free = [match.span() for pattern in FREE.values() for match in re.finditer(pattern, text)]
        free += [match.span() for match in REFERENCE.finditer(text)]
        free += [match.span() for name in study.names for match in re.finditer(re.escape(name), text)]
        for match in re.finditer(NUMBER, text):
            near = tight(text[max(0, match.start() - 9) : match.end() + 9])
            if near in typed and not any(low <= match.start() < high for low, high in free):
                yield study.id, part, field, text, *match.span()


def tight(text: str) -> str:
    """Remove white space and the line breaks of TOML."""
    return re.sub(r"[\s\\]", "", text)


def other(number: str, dice: random.Random) -> str:
    """Change a digit or two of a number, as a slip of the pen does."""
    digits = [place for place, letter in enumerate(number) if letter.isdigit()]
    for place in dice.sample(digits, min(len(digits), dice.randint(1, 2))):
        digit = dice.choice([each for each in "123456789" if each != number[place]])
        number = number[:place] + digit + number[place + 1 :]
    return number


def test_sixty_numbers_changed_at_random_are_all_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "with_printed", lambda text, published: text)
    monkeypatch.setattr(sentences, "values", lambda study: {})
    loaded = {name: load(name) for name in available()}
    places = {(each[0], *each[3:]): each for study in loaded.values() for each in numbers(study)}
    assert len(places) > 400
    dice, survivors, noticed = random.Random(1998), [], Counter[str]()  # noqa: S311 - no secret
    for study, part, field, text, begin, end in dice.sample(list(places.values()), CHANGED):
        changed = text[:begin] + other(text[begin:end], dice) + text[end:]
        of = loaded[study]
        phrases = [*(setting.name for setting in of.settings), *of.given, *of.names]
        other_setting = quantities(changed) != quantities(text)  # which the kept numbers of the prose notice
        noticed["nothing holds it"] += bool(unheld(changed, phrases, *sentences._own(part, field)))
        if not unheld(changed, phrases, *sentences._own(part, field)) and not other_setting:
            survivors.append(f"{study}: {changed[max(0, begin - 40) : end + 40]!r} for {text[begin:end]}")
    assert survivors == []
    assert noticed["nothing holds it"] >= 0.95 * CHANGED


# The kept numbers.


def test_words_that_the_runs_contradict_are_named_with_the_values(tmp_path: Path) -> None:
    study = toy(tmp_path, WHOLE)
    runs = {case: [document(seed, goodput=0.9) for seed in (1, 2)] for case in study.cases}
    (false,) = judge(study, runs).prose.false
    assert false.startswith("'EPD is ahead.', 0.9002 > 0.9002 is false")
    page = render(Reproduction([draw(judge(study, runs))], 1.0))
    assert "the runs contradict these words of the study:" in page and "&#39;EPD is ahead.&#39;" in page
    assert not outcome(tmp_path, WHOLE).prose.false


def test_a_number_that_was_not_measured_is_named_and_stays_open(tmp_path: Path) -> None:
    study = toy(tmp_path, WHOLE)
    runs = {case: [document(seed) for seed in (1, 2)] for case in study.cases}
    for run in runs["EPD.9140"]:
        run["summary"]["goodput_ratio"] = None
    prose = prose_result.measured(study, Samples(study.figures, runs))
    assert any("{goodput:EPD.9140}" in each and "must be measured" in each for each in prose.false)
    filled = sentences.with_values(study, prose.values)
    assert filled.conclusion.stands.startswith("EPD has ? of the line")


def test_the_words_of_a_comparison_must_be_in_the_prose(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"text must be a piece of the prose, not 'EPD is behind.'"):
        toy(tmp_path, WHOLE.replace('text = "EPD is ahead."', 'text = "EPD is behind."'))


def kept(folder: Path, text: str = WHOLE) -> Study:
    """Run a study, and keep the numbers of its prose beside it."""
    found = outcome(folder, text)
    save(found.prose, folder, "toy")
    (folder / "toy.json").rename(folder / "toy" / prose_result.FILE)
    return toy(folder, text)


def test_pages_are_filled_with_the_kept_numbers(tmp_path: Path) -> None:
    read = kept(tmp_path)
    study = filled_study(read, tmp_path)
    assert list(complaints(read, tmp_path)) == []
    assert study.conclusion and study.conclusion.stands.startswith("EPD has 0.985 of the line and print 0.97.")
    assert "EPD has 0.985 of the line" in studies._page(study)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{goodput:EPD.9140}", "{goodput:EPD.1460}"),
        ('> goodput["EPD.1460"]\'', '> 0.5 * goodput["EPD.1460"]\''),
        ('goodput = "summary.goodput_ratio"', 'goodput = "summary.goodput_bps"'),
    ],
)
def test_kept_numbers_of_another_form_of_the_study_are_named(old: str, new: str, tmp_path: Path) -> None:
    assert old in WHOLE
    kept(tmp_path)
    changed = toy(tmp_path, WHOLE.replace(old, new))
    assert list(complaints(changed, tmp_path)) == ["toy: its prose has changed since its runs: make findings"]


def test_kept_words_that_do_not_hold_are_named_by_the_check_of_generated_files(tmp_path: Path) -> None:
    contrary = WHOLE.replace('> goodput["EPD.1460"]\'', '< goodput["EPD.1460"]\'')
    study = kept(tmp_path, contrary)
    assert any("the runs contradict its prose: 'EPD is ahead.'" in each for each in complaints(study, tmp_path))
    assert any("toy: the runs contradict its prose" in each for each in findings.wrong(tmp_path))


def test_a_kept_number_changed_by_hand_is_named(tmp_path: Path) -> None:
    study = kept(tmp_path)
    file = tmp_path / "toy" / prose_result.FILE
    text = file.read_text(encoding="utf-8")
    assert '"n": 3' in text
    file.write_text(text.replace('"n": 3', '"n": 4', 1), encoding="utf-8")
    with pytest.raises(StudyError, match="a number was changed by hand"):
        list(complaints(study, tmp_path))


def test_damaged_numbers_of_the_prose_are_named(tmp_path: Path) -> None:
    study = kept(tmp_path)
    (tmp_path / "toy" / prose_result.FILE).write_text("{}", encoding="utf-8")
    with pytest.raises(StudyError, match=r"prose.json: the data must be those that `make findings` writes"):
        list(complaints(study, tmp_path))


@pytest.mark.parametrize("name", available())
def test_the_kept_numbers_of_every_study_belong_to_it_and_its_words_hold(name: str) -> None:
    study = load(name)
    assert prose_result.kept(study).inputs == inputs(study)
    assert list(complaints(study)) == []
