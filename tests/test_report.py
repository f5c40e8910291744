import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend

from conftest import FakeCore, command
from pushout.source import toml
from pushout.stats import interval
from pushout.study.chapter import Reproduction, draw
from pushout.study.charts import Chart
from pushout.study.headline import by_era
from pushout.study.model import StudyError, available, load
from pushout.study.plot import MARKS, chart, reach, shared
from pushout.study.prose import symbols
from pushout.study.report import basis, differing, files, markdown, render, shelves
from pushout.study.report import command as command_line
from pushout.study.tables import Note, row, tables
from pushout.study.tolerance import Tolerance
from pushout.study.values import of_plot
from test_study import CHARTS, NUMBER, REMARK, SENSITIVITY, TOML, outcome, toy

VOID = {"meta", "br", "link", "img", "col"}


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
        "2 / 3 independent numbers within 5\N{NO-BREAK SPACE}% of print",
        "1 / 1 sentences hold",
        "2 / 3 numbers and 1 of 1 sentences with every setting as printed",
        "0 choices fitted to the printed numbers",
        "✓ within",
        "✗ differs",
        "~ uncertain",
        "✓ holds",
        "Table\N{NO-BREAK SPACE}1",
        "section\N{NO-BREAK SPACE}4",
        "1 of 3 numbers lies within its tolerance, 1 is uncertain, 1 differs.",
        "the same verdict in all 400 bootstrap resamples",
    ):
        assert words in " ".join(re.split(r"[ \n]+", parsed.text))


def test_the_first_page_lists_the_claims_that_do_not_hold_with_the_first_sentence_of_why(tmp_path: Path) -> None:
    why = 'why = "It is the window. A larger one fits."'
    found = outcome(tmp_path, TOML.replace("> goodput", "< goodput").replace("\n\n[[plot]]", f"\n{why}\n\n[[plot]]"))
    text = render(Reproduction([draw(found)], 1.0))
    first = text[text.index('<section id="differs">') : text.index('<section id="reading">')]
    assert "1 of 1 claims does not hold:" in first
    assert '<a href="#toy-claim-larger-is-better">Larger segments reach more.</a>' in first
    assert "It is the window.</span>" in first
    assert "A larger one fits." not in first


def test_where_runs_are_counted_the_page_says_that_it_compares_their_means(tmp_path: Path) -> None:
    said = "The verdict counts the replications in which the check is true."
    assert said not in page(tmp_path)[0]
    found = outcome(tmp_path, TOML.replace("[[claim]]", "[[claim]]\nshare = 0.3"))
    assert said in render(Reproduction([draw(found)], 1.0))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("14 080 cells", "14_080 cells"),
        ("133.5 ± 0.1 Mb/s", "133.5_±_0.1_Mb/s"),
        ("with 250 and 300 kbytes", "with 250 and 300 kbytes"),
    ],
)
def test_no_line_ends_within_a_number(text: str, shown: str) -> None:
    assert symbols(text) == shown.replace("_", "\N{NO-BREAK SPACE}")


def test_what_a_study_says_is_text_not_markup(tmp_path: Path) -> None:
    said = TOML.replace("Does it work?", "Is a < b & <b>?").replace("Larger segments", "<i> and max_p")
    text = render(Reproduction([draw(outcome(tmp_path, said))], 1.0))
    assert "Is a &lt; b &amp; &lt;b&gt;?" in text
    assert "&lt;i&gt; and max<sub>p</sub> reach more" in text
    scheme = '[[scheme]]\nname = "RED"\ntext = "Up to max_p, below 80 % & above."\n\n[given]\n"80 %" = "the rule"\n'
    text = render(Reproduction([draw(outcome(tmp_path, f"{TOML}\n{scheme}"))], 1.0))
    assert "<p>Up to max<sub>p</sub>, below 80\N{NO-BREAK SPACE}% &amp; above.</p>" in text


def test_a_scheme_may_be_described_by_a_table(tmp_path: Path) -> None:
    scheme = '[[scheme]]\nname = "RED"\ntext = """Its states:\n\n| state | marked |\n|---|---|\n| first | D |\n"""\n'
    text = render(Reproduction([draw(outcome(tmp_path, f"{TOML}\n{scheme}"))], 1.0))
    assert '<th scope="col">marked</th>' in text and "<td>D</td>" in text


def test_a_place_in_the_paper_keeps_its_capitals_at_the_beginning_of_an_entry(tmp_path: Path) -> None:
    assert 'source = "sec 4"' in TOML
    text = render(Reproduction([draw(outcome(tmp_path, TOML.replace('"sec 4"', '"sec 4, K = 40 Mb/s"')))], 1.0))
    assert "<li>Section\N{NO-BREAK SPACE}4, K = 40 Mb/s: " in text


def test_the_list_of_studies_has_headings_where_studies_are_of_several_eras(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    old, new = outcome(tmp_path), outcome(tmp_path / "new", TOML)
    dated = [replace(each, study=replace(each.study, id=name)) for each, name in ((old, "001-toy"), (new, "110-toy"))]
    titles = [(title, [each.study.id for each in some]) for title, some in by_era(dated)]
    assert titles == [("As printed in 1995–1999", ["001-toy"]), ("New questions", ["110-toy"])]
    assert [title for title, _ in by_era(dated[:1])] == [""]
    assert "As printed in 1995–1999" in render(Reproduction([draw(each) for each in dated], 1.0))


def test_a_row_has_the_digits_that_print_deserves(tmp_path: Path) -> None:
    first, second = tables(outcome(tmp_path).findings)
    assert (first.source, second.source) == ("Table 1", "sec 4")
    (_, (near,)), (_, (far,)) = first.rows
    ((_, (edge,)),) = second.rows
    assert near and far and edge
    assert (near.what, near.printed, near.measured, near.doubt) == (
        "UBR, MSS 1460: goodput",
        "0.97",
        "0.970",
        "± <0.001",
    )
    assert (far.difference, far.tolerance, far.verdict) == ("−17.9 %", "± 2 %", "differs")
    assert (edge.what, edge.difference, edge.tolerance) == ("all: mean queue (cells)", "+102", "± 101")


@pytest.mark.parametrize(
    ("published", "values", "printed", "measured", "doubt", "difference"),
    [
        (23, [3.0, 10.0, 20.0], "23", "11", "± 21", "−52.2 %"),
        (5, [5.28, 5.29, 5.30], "5", "5.29", "± 0.02", "+5.8 %"),
        (0.79988, [0.7, 0.8, 0.9], "0.79988", "0.80", "± 0.25", "0.0 %"),
        (128154, [128154.0] * 3, "128\N{NO-BREAK SPACE}154", "128\N{NO-BREAK SPACE}154", "", "0.0 %"),
        (609, [609.33] * 3, "609", "609", "", "+0.1 %"),
        (6200, [5577.5, 5577.5, 5577.6], "6200", "5578", "± <1", "−10.04 %"),
        (-0.5, [-0.45, -0.45, -0.45], "−0.5", "−0.450", "", "+10.0 %"),
    ],
)
def test_digits_are_those_of_print_as_far_as_the_interval_leaves_them(
    tmp_path: Path,
    published: float,
    values: list[float],
    printed: str,
    measured: str,
    doubt: str,
    difference: str,
) -> None:
    (finding, *_) = outcome(tmp_path).findings
    number = replace(finding.number, published=published, tolerance=Tolerance("relative", 0.1))
    written = row(replace(finding, number=number, measured=interval(values)))
    assert (written.printed, written.measured, written.doubt) == (printed, measured, doubt)
    assert written.difference == difference


def test_a_note_stands_with_the_numbers_that_it_is_about(tmp_path: Path) -> None:
    noted = NUMBER + 'note = "mine"\n'
    other = NUMBER.replace('"UBR.goodput"', '"EPD.goodput"').replace("UBR", "EPD")
    (table, _) = tables(outcome(tmp_path, TOML.replace(NUMBER, noted + other)).findings)
    assert not table.columns
    assert [(len(run), note) for run, note in table.runs] == [(2, "mine"), (2, "")]
    assert table.notes == []
    queue = NUMBER.replace('"UBR.goodput"', '"UBR.queue"').replace('"goodput"', '"queue"') + 'note = "long"\n'
    (grid, _) = tables(outcome(tmp_path, TOML.replace(NUMBER, NUMBER + queue)).findings)
    assert grid.notes == [Note("queue", "long")]
    assert grid.tolerances == ["goodput, queue ± 2 %"]


def test_notes_are_paragraphs_lists_and_tables_and_lead_to_claims(tmp_path: Path) -> None:
    table = "| a | b |\n|---|---|\n| 1 | <2 |"
    why = f'why = """\nIt does not.\n\n- because of max_p of 5 %\n\n{table}\n\nSee `larger-is-better`.\n"""'
    given = '[given]\n"5 %" = "the rule"\n"| 1 | <2 |" = "the rule"\n'
    said = TOML.replace("> goodput", "< goodput").replace("\n\n[[plot]]", f"\n{why}\n\n[[plot]]")
    text = render(Reproduction([draw(outcome(tmp_path, f"{said}\n{given}"))], 1.0))
    assert Page(text).open == []
    for words in (
        "<li>because of max<sub>p</sub> of 5\N{NO-BREAK SPACE}%</li>",
        '<th scope="col">a</th>',
        "<td>&lt;2</td>",
        '<a href="#toy-claim-larger-is-better">larger-is-better</a>',
        '<dt id="toy-claim-larger-is-better">',
        '<span class="soft">It does not.</span>',
        "✗ does not hold",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("sure", "said"),
    [
        (None, "The check of the means"),
        (1.0, "The check of the means; the same verdict in all 400 bootstrap resamples"),
        (0.9975, "The check of the means; the same verdict in 99 % of 400 bootstrap resamples"),
        (0.5, "The check of the means; the same verdict in 50 % of 400 bootstrap resamples"),
    ],
)
def test_a_verdict_is_shown_with_its_certainty(tmp_path: Path, sure: float | None, said: str) -> None:
    (judgement,) = outcome(tmp_path).judgements
    assert basis(replace(judgement, sure=sure)) == said
    counted = replace(judgement, claim=replace(judgement.claim, share=0.3), evidence="true in 2 of 3", sure=sure)
    assert basis(counted) == said.replace("The check of the means", "The check, true in 2 of 3")


@pytest.mark.parametrize(("holds", "sign"), [(True, "✓ holds"), (False, "✗ does not hold")])
def test_a_verdict_that_other_replications_might_not_give_is_open_on_every_page(
    tmp_path: Path, sign: str, *, holds: bool
) -> None:
    found = outcome(tmp_path, TOML + REMARK)

    def shown(sure: float) -> tuple[str, str]:
        claim = replace(found.judgements[0], holds=holds, sure=sure)
        done = Reproduction([draw(replace(found, judgements=[claim]))], 1.0)
        return " ".join(Page(render(done)).text.split()), markdown(done)

    text, table = shown(0.949)
    head = text[text.index("What differs") :]
    said = f"{1 * holds} / 2 sentences hold: {1 * holds} of 1 claims, 0 of 1 remarks 1 verdict open"
    assert said in text[: text.index("How to read a study")]
    assert ("1 of the claims that hold is open" if holds else "open: Larger") in head
    assert f"{sign}, open — Larger" in text
    assert f"| {1 * holds} of 1 | 1 of 2 |" in table
    text, table = shown(0.95)
    assert f"{sign} — Larger" in text
    assert "verdict open" not in text
    assert "open: Larger" not in text
    assert f"| {1 * holds} of 1 | 0 of 2 |" in table


def test_all_that_the_page_leads_to_is_there(tmp_path: Path) -> None:
    text, parsed = page(tmp_path)
    places = set(re.findall(r'href="#([^"]+)"', re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)))
    assert {"toy-differs", "toy-numbers", "toy-figures", "toy-claims", "reading"} <= places <= set(parsed.ids)


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
    assert "var(--within)" in svg
    assert "var(--differs)" in svg
    assert "#010203" not in svg


def test_every_kind_of_plot_shows_its_lines_what_is_printed_and_its_levels(tmp_path: Path) -> None:
    found = outcome(tmp_path, TOML + CHARTS)
    for drawing in draw(found).plots[1:]:
        root = ElementTree.fromstring(drawing.alone("figure 3"))  # noqa: S314
        words = "".join(root.itertext())
        assert words.index(drawing.title.split()[0]) < words.index("figure 3"), "the heading of a slide"
        for label in ("ours", "printed", "ideal", "across", "up", "95 % interval"):
            assert label in words
        assert len(drawing.svg) < 100_000, "one page holds fifty of them"
        assert words.index("ours") < words.index("95 % interval") < words.index("printed") < words.index("ideal")


def test_lines_of_many_points_have_marks_at_different_places(tmp_path: Path) -> None:
    _, _, series, _ = outcome(tmp_path, TOML + CHARTS).study.plots
    assert isinstance(series, Chart)
    (line, *_) = series.lines
    lines = tuple(replace(line, label=label, style=style, printed=()) for style, label in enumerate("abc"))
    values = [[interval([float(place)]) for place in range(30)]] * 3
    svg = chart(replace(series, lines=lines, levels=()), values).svg
    marks = re.findall(r'<use xlink:href="#[^"]*" x="([\d.]+)" y="[\d.]+" style="fill: #1[\d\w]+; stroke: #1', svg)
    assert 3 * 7 <= len(marks) <= 3 * (MARKS + 1), "with one each in the legend"
    assert len(set(marks)) >= len(marks) - 3


def test_a_figure_is_described_by_its_caption(tmp_path: Path) -> None:
    noted = CHARTS.replace('title = "A series"', 'title = "A series"\nnote = "It rises & falls."')
    chapter = draw(outcome(tmp_path, TOML + noted))
    text = render(Reproduction([chapter], 1.0))
    described = re.findall(r'aria-describedby="([^"]*)"', text)
    assert described
    assert set(described) <= set(Page(text).ids)
    assert any("<desc>It rises &amp; falls.</desc>" in svg for _, svg in files(chapter))


def test_axes_begin_at_zero_and_are_shared_within_a_figure_of_the_paper(tmp_path: Path) -> None:
    _, curve, *_ = outcome(tmp_path, TOML + CHARTS).study.plots
    assert isinstance(curve, Chart)
    bare = replace(curve, levels=(), lines=(replace(curve.lines[0], printed=()),))
    low, high = reach(bare, [[interval([4.0, 6.0]), None]])
    assert low == 0
    assert high > 5
    assert reach(bare, [[interval([-4.0])]])[0] < -4
    assert shared([(0, 5), (0, 14)]) == (0, 14)
    assert shared([(0, 5), (0, 16)]) is None


def test_a_logarithmic_axis_begins_below_the_least_value_and_writes_its_powers_out(tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    log = CHARTS.replace('y = { label = "up" }', 'y = { label = "up", scale = "log" }')
    _, curve, *_ = outcome(tmp_path, TOML + log).study.plots
    assert isinstance(curve, Chart)
    bare = replace(curve, levels=(), lines=(replace(curve.lines[0], printed=()),))
    values = [[interval([120000.0]), interval([0.2])]]
    low, high = reach(bare, values)
    assert 0.1 < low < 0.2 and high > 120000
    assert reach(bare, [[None]]) == (0.7, 1.4)
    words = "".join(ElementTree.fromstring(chart(bare, values).svg).itertext())  # noqa: S314
    assert "100\N{NO-BREAK SPACE}000" in words and "mathdefault" not in words
    with pytest.raises(StudyError, match="scale of the plot 'A curve' must be linear or log, not 'logarithm'"):
        toy(tmp_path / "bad", TOML + log.replace('"log"', '"logarithm"'))


def test_bars_have_no_hatches_and_lie_where_the_names_of_categories_are_long(tmp_path: Path) -> None:
    *_, bars = outcome(tmp_path, TOML + CHARTS).study.plots
    assert isinstance(bars, Chart)
    lying = replace(bars, categories=("tail drop", "complete sharing", "longest queue pushed out", "EPD"))
    assert (bars.lying, lying.lying) == (False, True)
    values = [[interval([1.0, 3.0])] * 4]
    for plot in (bars, lying):
        svg = chart(plot, values).svg
        assert "<pattern" not in svg
        words = "".join(ElementTree.fromstring(svg).itertext())  # noqa: S314
        for name in (*plot.categories, "up", "printed", "ideal", "95 % interval"):
            assert name in words


@pytest.mark.parametrize("name", available())
def test_the_legend_of_every_figure_fits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn with the font that the estimate of its width is for."""
    legends: list[tuple[Figure, Legend]] = []
    draw_legend = Figure.legend

    def kept(figure: Figure, *args: Any, **looks: Any) -> Legend:
        legends.append((figure, draw_legend(figure, *args, **looks)))
        return legends[-1][1]

    monkeypatch.setattr(Figure, "legend", kept)
    for plot in load(name).plots:
        if isinstance(plot, Chart):
            count = len(plot.x) if plot.kind != "series" else 3
            chart(plot, [[interval([1.0, 2.0])] * count for _ in plot.lines])
    for figure, legend in legends:
        assert legend.get_window_extent().width <= figure.bbox.width


def test_three_plots_of_one_figure_stand_side_by_side(tmp_path: Path) -> None:
    three = CHARTS.replace('title = "A series"', 'title = "A series"\nsource = "figure 1"')
    three = three.replace('title = "Bars"', 'title = "Bars"\nsource = "figure 1"')
    chapter = draw(outcome(tmp_path, TOML + three))
    assert shelves(chapter) == [[(0, False)], [(1, True), (2, True), (3, True)]]


def test_a_plot_is_also_a_file_of_its_own(tmp_path: Path) -> None:
    found = outcome(tmp_path)
    ((path, svg),) = files(draw(found))
    assert path == Path("figures/toy/01-goodput.svg")
    assert "var(" not in svg
    assert "currentColor" not in svg


def test_explanations_are_compared_by_how_near_they_come(tmp_path: Path) -> None:
    found = outcome(tmp_path, TOML + SENSITIVITY, [0.9, 1.0])
    text = render(Reproduction([draw(found)], 1.0))
    assert "The printed numbers support “large”: mean difference" in text
    (small, large) = (100 * (variant.mean_error or 0) for variant in found.weighings[0].variants)
    assert f"“large”: mean difference {large:.1f} %, against {small:.1f} % with “small”" in text.replace(
        "\N{NO-BREAK SPACE}", " "
    )
    (weighing,) = found.json()["sensitivities"]
    assert weighing["supported"] == "large"
    assert [value["value"] for value in weighing["values"]] == ["small", "large"]


def test_equally_near_explanations_are_not_distinguished(tmp_path: Path) -> None:
    found = outcome(tmp_path, TOML + SENSITIVITY, [0.9, 0.901])
    text = render(Reproduction([draw(found)], 1.0))
    errors = [100 * variant.mean_error for variant in found.weighings[0].variants if variant.mean_error is not None]
    ends = [f"{error:.1f}" for error in sorted(errors)]
    said = f"The printed numbers do not distinguish these values: mean difference {' to '.join(ends)} %."
    assert said in text.replace("\N{NO-BREAK SPACE}", " ")


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
    ours = next(iter(load("002-weighted-fair-epd").cases.values()))
    assert command_line(ours, 1).startswith("pushout run studies/002-weighted-fair-epd/port.toml --set")


def test_what_a_case_is_run_for_is_found_among_the_numbers(tmp_path: Path) -> None:
    text, page_of = page(tmp_path)
    leads = set(re.findall(r'href="#(toy-number-[^"]*)"', text))
    assert leads == {"toy-number-UBR.goodput.1460", "toy-number-UBR.goodput.9140", "toy-number-queue"}
    assert leads <= set(page_of.ids)
    assert "<code>queue</code>" in text


def test_a_comparison_stands_over_its_expression_and_lists_entry_by_entry(tmp_path: Path) -> None:
    text, page_of = page(tmp_path)
    assert "true for 2 of 2" in page_of.text
    assert "<li><span>UBR</span> <b>" in text
    assert 'goodput["*.9140"] > goodput["*.1460"]' in page_of.text


def test_a_title_of_any_signs_is_a_drawing_whose_references_are_in_it(tmp_path: Path) -> None:
    title = "a \"<b>&' of toys"
    found = draw(outcome(tmp_path, TOML.replace('title = "A toy"', f"title = {toml(title)}")))
    for drawing in found.plots:
        for svg in (drawing.inline("toy"), drawing.alone("figure 1")):
            root = ElementTree.fromstring(svg)  # noqa: S314  (our own drawing)
            ids = {element.get("id") for element in root.iter()}
            used = re.findall(r"url\(#([^)]+)\)", svg)
            used += [href[1:] for each in root.iter() for name, href in each.items() if name.endswith("href")]
            assert set(used) <= ids


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The axes of all figures that are drawn."""
    found: list[Any] = []
    subplots = Figure.subplots

    def kept(figure: Figure) -> Any:
        found.append(subplots(figure))
        return found[-1]

    monkeypatch.setattr(Figure, "subplots", kept)
    return found


def charted(folder: Path, kind: str) -> Chart:
    """The bare plot of this kind: one line, and nothing printed."""
    found = next(plot for plot in outcome(folder, TOML + CHARTS).study.plots if getattr(plot, "kind", "") == kind)
    assert isinstance(found, Chart)
    return replace(found, levels=(), lines=(replace(found.lines[0], printed=()),))


@pytest.mark.parametrize(("start", "left"), [(0.0, 0.0), (0.5, 0.475), (-0.5, -0.525)])
def test_a_series_that_begins_at_zero_has_no_margin_there(
    tmp_path: Path, drawn: list[Any], start: float, left: float
) -> None:
    chart(replace(charted(tmp_path, "series"), x=(start, 0.25)), [[interval([1.0, 2.0])] * 3])
    assert drawn[0].get_xlim()[0] == pytest.approx(left), "otherwise one of 5 % of the range of 0.5"


@pytest.mark.parametrize(("x", "named"), [((10, 17, 24), True), ((10, 17, 80), False), ((10, 17), True)])
def test_an_axis_names_its_values_if_they_are_few_and_even(
    tmp_path: Path, drawn: list[Any], x: tuple[float, ...], *, named: bool
) -> None:
    chart(replace(charted(tmp_path, "curve"), x=x, scale="linear"), [[interval([1.0, 2.0])] * len(x)])
    assert ([tick.get_text() for tick in drawn[0].get_xticklabels()] == [f"{each}" for each in x]) is named


def mean_of(cell: str) -> Any:
    """The mean in a cell of a table, for a comparison to its last digit."""
    written = cell.split(" ")[0].replace("\N{NO-BREAK SPACE}", "").replace("−", "-")
    return pytest.approx(float(written), abs=0.51 * 10.0 ** -len(written.partition(".")[2]))


def heights(axes: Any) -> list[float]:
    """The heights of bars that stand."""
    return [patch.get_height() for patch in axes.patches]


def test_a_plot_shows_the_values_of_its_table(tmp_path: Path, drawn: list[Any]) -> None:
    found = outcome(tmp_path, TOML + CHARTS)
    draw(found)
    dots, curve, series, bars = ([cells for _, cells in of_plot(found, index).rows] for index in range(4))
    assert [len(rows) for rows in (dots, curve, series, bars)] == [2, 2, 4, 4]
    for axes, rows in zip(drawn[1:3], (curve, series), strict=True):
        (line,) = (line for line in axes.lines if line.get_label() == "ours")
        assert list(line.get_ydata()) == [mean_of(cells[0]) for cells in rows]
    assert heights(drawn[3]) == [mean_of(cells[0]) for cells in bars]
    marks: list[Any] = [each for each in drawn[0].containers if isinstance(each, ErrorbarContainer)]
    measured = [mark.lines[0].get_xdata()[0] for mark in marks]
    assert measured[::-1] == [mean_of(cells[0]) for cells in dots]
    printed = [line.get_xdata()[0] for line in drawn[0].lines if line.get_label() == "printed"]
    assert printed[::-1] == [mean_of(cells[1]) for cells in dots]


@pytest.mark.parametrize("values", [[2.0], [1.0, 3.0]])
def test_bars_of_one_run_have_no_interval(tmp_path: Path, drawn: list[Any], values: list[float]) -> None:
    svg = chart(charted(tmp_path, "bars"), [[interval(values)] * 4]).svg
    assert heights(drawn[0]) == [2.0] * 4
    assert ("95 % interval" in svg) is (len(values) > 1)


def test_a_number_that_differs_is_listed_with_the_runs_around_it_if_there_are_any(tmp_path: Path) -> None:
    found = outcome(tmp_path)
    assert differing(found) == [
        ("Table 1", ["✗ UBR, MSS 9140: goodput, −17.9 %"]),
        ("sec 4", ["~ all: mean queue, +102"]),
    ]
    off = [replace(each, runs=(0.9, 1.3)) for each in found.findings if each.number.id == "UBR.goodput.9140"]
    ((_, (line,)),) = differing(replace(found, findings=off))
    assert line == "✗ UBR, MSS 9140: goodput, −17.9 % (among our runs, 0.90 to 1.30)"


@pytest.mark.parametrize(("count", "width"), [(1, 0.0), (2, 0.5)])
def test_bands_have_edges_where_several_may_overlap(tmp_path: Path, drawn: list[Any], count: int, width: float) -> None:
    plot = charted(tmp_path, "curve")
    chart(replace(plot, lines=plot.lines * count), [[interval([1.0, 2.0])] * 2] * count)
    bands = [band for band in drawn[0].collections if band.get_label() != "95 % interval"]
    assert [list(band.get_linewidths()) for band in bands] == [[width]] * count


HOSTILE = "a \"<b>& 'url(#x)'"
"""A title with everything that markup treats as its own."""


def test_titles_of_studies_and_plots_are_text_in_the_page_and_in_every_drawing(tmp_path: Path) -> None:
    said = TOML + CHARTS
    for title in ("A toy", "Goodput", "A curve", "A series", "Bars"):
        said = said.replace(f'title = "{title}"', f"title = '''{title} {HOSTILE}'''")
    reproduction = Reproduction([draw(outcome(tmp_path, said))], 1.0)
    page = render(reproduction)
    parsed = Page(page)
    assert parsed.open == []
    assert f"A toy {HOSTILE}" in parsed.text
    assert "<b>&" not in page and 'a "<b>' not in page
    for _, drawing in files(reproduction.chapters[0]):
        root = ElementTree.fromstring(drawing)  # noqa: S314 - our own drawing
        assert HOSTILE in str(root.get("aria-label"))
        assert HOSTILE.replace(" ", "") in "".join(root.itertext()).replace(" ", "").replace("\n", "")


def test_every_reference_within_the_page_and_its_drawings_has_its_id(tmp_path: Path) -> None:
    reproduction = Reproduction([draw(outcome(tmp_path, TOML + CHARTS))], 1.0)
    page = render(reproduction)
    texts = [page, *(drawing for _, drawing in files(reproduction.chapters[0]))]
    for text in texts:
        used = set(re.findall(r"url\(#([^)]+)\)", text)) | set(
            re.findall(r'(?:href|aria-describedby)="#?([\w-]+)"', text)
        )
        assert used <= set(re.findall(r'\bid="([^"]+)"', text))
    assert any("url(#" in text for text in texts)
