import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conftest import FakeCore, command
from pushout.study.chapter import Reproduction, draw
from pushout.study.report import command as command_line
from pushout.study.report import files, render, tables
from test_study import CHARTS, NUMBER, SENSITIVITY, TOML, outcome, toy

VOID = {"meta", "br", "link", "img"}


class Page(HTMLParser):
    """Tags in balance, text, ids, and whatever the page would load from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.loads: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [value for key, value in attrs if key == "id" and value]
        self.loads += [
            value
            for key, value in attrs
            if key in ("src", "href", "xlink:href") and value and not value.startswith("#")
        ]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for key, value in attrs if key == "id" and value]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def page(folder: Path) -> tuple[str, Page]:
    found = outcome(folder)
    text = render(Reproduction([draw(found)], 1.5))
    return text, Page(text)


def test_the_page_is_whole_and_needs_nothing_else(tmp_path: Path) -> None:
    text, parsed = page(tmp_path)
    assert parsed.open == []
    assert parsed.loads == []
    assert "@import" not in text
    assert re.findall(r"url\((?!#)", text) == []
    assert len(parsed.ids) == len(set(parsed.ids))
    assert 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text


def test_the_page_says_what_was_found(tmp_path: Path) -> None:
    _, parsed = page(tmp_path)
    for words in (
        "Does it work?",
        "2 / 3",
        "1 / 1",
        "✓ within",
        "✗ differs",
        "~ uncertain",
        "✓ holds",
        "Table 1",
    ):
        assert words in parsed.text


def test_what_a_study_says_is_text_not_markup(tmp_path: Path) -> None:
    found = outcome(tmp_path)
    study = toy(tmp_path, TOML.replace("Does it work?", "Is a < b & <b>?"))
    text = render(Reproduction([replace(draw(found), outcome=replace(found, study=study))], 1.0))
    assert "Is a &lt; b &amp; &lt;b&gt;?" in text


def test_a_row_has_the_digits_that_print_deserves(tmp_path: Path) -> None:
    first, second = tables(outcome(tmp_path).findings)
    assert (first.source, second.source) == ("Table 1", "sec 4")
    (_, (near,)), (_, (far,)) = first.rows
    ((_, (edge,)),) = second.rows
    assert near and far and edge
    assert (near.what, near.printed, near.measured, near.doubt) == (
        "UBR, MSS 1460: goodput",
        "0.970",
        "0.9702",
        "± 0.0002",
    )
    assert (far.difference, far.tolerance, far.verdict) == ("-17.9 %", "± 2 %", "differs")
    assert (edge.what, edge.difference, edge.tolerance) == ("all: mean queue (cells)", "+102", "± 101")


def test_numbers_with_common_labels_make_a_table_of_two_dimensions(tmp_path: Path) -> None:
    second = NUMBER.replace('"UBR.goodput"', '"EPD.goodput"').replace("UBR", "EPD")
    third = NUMBER.replace('"UBR.goodput"', '"UBR.queue"').replace("goodput", "queue")
    text = TOML.replace(NUMBER, NUMBER + second + third)
    found = outcome(tmp_path, text)
    first = tables(found.findings)[0]
    assert first.columns == ["goodput", "queue"]
    assert [label for label, _ in first.rows] == ["UBR, MSS 1460", "UBR, MSS 9140", "EPD, MSS 1460", "EPD, MSS 9140"]
    assert [cell is None for _, cells in first.rows for cell in cells] == [False, False] * 2 + [False, True] * 2


def test_a_drawing_is_svg_in_the_colours_of_the_page(tmp_path: Path) -> None:
    (drawing,) = draw(outcome(tmp_path)).plots
    svg = drawing.inline("toy")
    root = ElementTree.fromstring(svg)  # noqa: S314  (our own drawing)
    words = "".join(root.itertext())
    assert "UBR, MSS 1460" in words
    assert "share" in words
    assert "currentColor" in svg
    assert "var(--measured)" in svg
    assert "#010203" not in svg


def test_every_kind_of_plot_shows_its_lines_what_is_printed_and_its_levels(tmp_path: Path) -> None:
    found = outcome(tmp_path, TOML + CHARTS)
    for drawing in draw(found).plots[1:]:
        root = ElementTree.fromstring(drawing.alone())  # noqa: S314
        words = "".join(root.itertext())
        for label in ("ours", "printed", "ideal", "across", "up"):
            assert label in words


def test_a_plot_is_also_a_file_of_its_own(tmp_path: Path) -> None:
    found = outcome(tmp_path)
    ((path, svg),) = files(draw(found))
    assert path == Path("figures/toy/01-goodput.svg")
    assert "var(" not in svg
    assert "currentColor" not in svg


def test_explanations_are_compared_by_how_near_they_come(tmp_path: Path) -> None:
    found = outcome(tmp_path, TOML + SENSITIVITY, [0.9, 1.0])
    text = render(Reproduction([draw(found)], 1.0))
    assert "The printed numbers support “large” (small: 0 of 2 numbers" in text
    (weighing,) = found.json()["sensitivities"]
    assert weighing["supported"] == "large"
    assert [value["value"] for value in weighing["values"]] == ["small", "large"]


def test_a_row_can_be_run_again_with_the_printed_command(core: FakeCore, tmp_path: Path) -> None:
    case = toy(tmp_path).cases["EPD.9140"]
    program, *arguments = shlex.split(command_line(case, 2))
    assert program == "pushout"
    command(*arguments)
    assert sorted(core.runs) == [(case.sets, 7), (case.sets, 8)]


def test_the_command_names_the_scenario_as_one_would_type_it_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = toy(tmp_path).cases["EPD.9140"]
    monkeypatch.chdir(tmp_path)
    assert command_line(case, 1).startswith("pushout run toy/base.toml --set 'policy=\"epd\"'")
