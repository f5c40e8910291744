"""Forest plots: which differences are clear, and the message that says so."""

import itertools

import pytest

from pushout.answer import drawing
from pushout.question.forest import Effect, Forest, message, order, panel

LOOK = drawing.looks(1)[0]


def effect(name: str, mean: float, half: float | None, *, is_exact: bool = False) -> Effect:
    ends = None if half is None else [mean - half, mean + half]
    return Effect(name, {"mean": mean, "ci95": ends, "n": 5}, LOOK, is_exact)


def forest(*effects: Effect, mean: float = 10.0, label: str = "mean delay in the port (s)") -> Forest:
    return Forest(label, "tail-drop", mean, effects)


@pytest.mark.parametrize(
    ("found", "is_clear"),
    [
        (effect("a", 1.0, 0.5), True),
        (effect("a", -1.0, 0.5), True),
        (effect("a", 0.4, 0.5), False),
        (effect("a", 0.5, 0.5), False),
        (effect("a", 0.0, 0.0), False),
        (effect("a", 1.0, None), False),
        (effect("a", 1.0, None, is_exact=True), True),
        (effect("a", 0.0, None, is_exact=True), False),
    ],
)
def test_a_difference_is_clear_if_its_interval_excludes_zero_or_nothing_is_drawn(found: Effect, is_clear: bool) -> None:
    assert found.is_clear == is_clear


def test_the_message_says_what_is_clear_and_nothing_else() -> None:
    delay = forest(effect("codel", -8.5, 1.0), effect("red", 0.4, 0.5), effect("pie", 2.0, 1.0))
    fair = forest(effect("codel", 0.1, 0.2), effect("red", -0.3, 0.5), label="fairness index (Jain)", mean=0.9)
    assert message([delay]) == "Compared with tail-drop: mean delay in the port: pie 20 % more, codel 85 % less"
    assert message([fair, delay]) == message([delay])
    assert message([fair]) == "No clear difference from tail-drop in fairness index (Jain)"
    lost = forest(effect("codel", 0.02, 0.01), label="lost ÷ arrived units", mean=0.0)
    assert message([lost]).endswith("lost ÷ arrived units: codel 0.02 more")
    assert "; lost ÷ arrived units" in message([delay, lost])


def test_of_many_policies_the_message_names_the_ends() -> None:
    many = forest(*(effect(f"p{number}", float(number), 0.1) for number in (3, 1, 4, 2)))
    assert message([many]).endswith("mean delay in the port: from 10 % more (p1) to 40 % more (p4)")
    assert order([many]) == ["p1", "p2", "p3", "p4"]


def test_a_panel_has_a_row_for_each_policy_in_the_unit_of_the_figure() -> None:
    short = forest(effect("a", -2e-3, 1e-3), mean=14e-3)
    with drawing.paper() as (_, grid):
        panel(grid[0][0], short, ["b", "a"], named=True)
        axes = grid[0][0]
    assert axes.get_xlabel() == "mean delay in the port,\nminus tail-drop (ms)"
    assert axes.get_title(loc="left") == "tail-drop: 14 ms"
    assert [text.get_text() for text in axes.get_yticklabels()] == ["b", "a"]
    assert axes.containers[0][0].get_ydata()[0] == 1


def test_numbers_of_an_axis_do_not_touch() -> None:
    small = forest(effect("a", 1e-3, 9e-3), effect("b", -2e-3, 6e-3), mean=1.0, label="goodput ÷ ideal")
    with drawing.paper(columns=3) as (figure, grid):
        figure.set_size_inches(2 * drawing.WIDTH_IN, 2)  # as a comparison does
        for axes in grid[0]:
            panel(axes, small, ["a", "b"], named=True)
        figure.draw_without_rendering()
        extents = [text.get_window_extent() for text in grid[0][0].get_xticklabels()]
    assert len(extents) >= 3
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(extents))
