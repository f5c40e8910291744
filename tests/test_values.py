"""The values of figures as tables."""

from dataclasses import replace
from pathlib import Path

import pytest

from pushout.stats import interval
from pushout.study.chapter import Reproduction, draw
from pushout.study.report import render
from pushout.study.values import of_plot, of_weighing
from test_report import Page
from test_study import CHARTS, SENSITIVITY, TOML, outcome


def test_numbers_measured_and_printed_are_the_values_of_a_plot_of_numbers(tmp_path: Path) -> None:
    values = of_plot(outcome(tmp_path), 0)
    assert values.heads == ["number", "measured", "printed"]
    assert values.rows == [("UBR, MSS 1460", ["0.970 ± <0.001", "0.97"]), ("UBR, MSS 9140", ["0.99 ± <0.01", "1.2"])]


@pytest.mark.parametrize(
    ("index", "rows"),
    [
        (1, [("1460", ["0.8750", "0.9"]), ("9140", ["0.8750", ""])]),
        (2, [("0", ["0.8750", ""]), ("0.5", ["0.8750", "0.9"]), ("1", ["0.8750", ""]), ("1.5", ["0.8750", ""])]),
        (3, [("a", ["0.8750", "0.9"]), ("b", ["0.8750", "0.9"]), ("c", ["0.8750", "0.9"]), ("d", ["0.8750", "0.9"])]),
    ],
)
def test_a_chart_has_a_row_per_place_and_a_column_for_what_is_printed(
    tmp_path: Path, index: int, rows: list[tuple[str, list[str]]]
) -> None:
    found = outcome(tmp_path, TOML + CHARTS)
    sure = [[[interval([0.875] * 3)] * len(line) for line in plot] for plot in found.curves]
    values = of_plot(replace(found, curves=sure), index)
    assert (values.caption, values.heads) == ("up", ["across", "ours", "ours, printed"])
    assert values.rows == rows
    assert values.levels == [("ideal", "1")]


def test_a_mean_has_the_digits_that_its_interval_leaves_and_an_unknown_one_none(tmp_path: Path) -> None:
    found = outcome(tmp_path, TOML + CHARTS)
    curves = [found.curves[0], [[interval([12345.0, 12347.0]), None]], *found.curves[2:]]
    values = of_plot(replace(found, curves=curves), 1)
    assert [cells[0] for _, cells in values.rows] == ["12\N{NO-BREAK SPACE}346 ± 13", ""]


def test_values_of_an_assumption_are_compared_by_numbers_or_else_by_claims(tmp_path: Path) -> None:
    found = outcome(tmp_path, TOML + SENSITIVITY, [0.9, 1.0])
    (weighing,) = found.weighings
    judged = [replace(variant, judgements=found.judgements) for variant in weighing.variants]
    values = of_weighing(replace(weighing, variants=judged))
    assert values.heads == ["size", "numbers within 5 %", "mean difference", "claims that hold"]
    assert values.rows[1] == ("large", ["1 of 2", "9.9 %", "1 of 1"])
    without = of_weighing(replace(weighing, variants=[replace(variant, findings=[]) for variant in judged]))
    assert (without.heads, without.rows[1]) == (["size", "claim 1"], ("large", ["holds"]))


def test_every_figure_of_the_page_has_its_values_and_a_name(tmp_path: Path) -> None:
    found = outcome(tmp_path, TOML + CHARTS + SENSITIVITY, [0.9, 1.0])
    text = render(Reproduction([draw(found)], 1.0))
    assert Page(text).open == []
    figures = text.split('<figure class="plot"')[1:]
    assert len(figures) == 5
    for figure in figures:
        assert '<svg role="img" aria-label="' in figure
        assert "<summary>Values</summary>" in figure
        assert figure.count('<th scope="row">') >= 2
