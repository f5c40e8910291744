"""Estimates of the length of a search, compared with its real length."""

from collections.abc import Callable, Sequence

from pushout.question import search
from pushout.question.goal import Tried
from pushout.question.outlook import Outlook, halvings
from pushout.question.space import Space

CELLS = Space(100, 10_000, "cells", True, True)
LEAST, MOST = 8, 64


def searched(threshold: float, runs: Callable[[float], int], policies: int = 1) -> tuple[list[float], int]:
    """The totals that a search for several policies foretold before each value, and how many runs it took."""
    outlook = Outlook(CELLS, 0.05, LEAST, MOST, policies)
    taken, totals = 0, []
    for _ in range(policies):
        outlook.begin()
        so_far: dict[float, Tried] = {}

        def attempt(values: Sequence[float], so_far: dict[float, Tried] = so_far) -> list[Tried]:
            nonlocal taken
            totals.append(taken + LEAST * len(values) + outlook.later(len(values), [LEAST] * len(values)))
            so_far |= {value: Tried(value, None, value >= threshold, True, runs=runs(value)) for value in values}
            taken += sum(so_far[value].runs for value in values)
            outlook.tried([so_far[value] for value in values], list(so_far.values()))
            return [so_far[value] for value in values]

        search.smallest(CELLS, attempt, 0.05, "auto")
    return totals, taken


def near(goal: float) -> Callable[[float], int]:
    """Near the goal a value takes all its runs."""
    return lambda value: MOST if abs(value - goal) < 0.3 * goal else LEAST


def test_a_total_is_never_far_from_what_the_search_takes() -> None:
    for threshold in (150, 700, 2_500, 9_000):
        totals, taken = searched(threshold, near(threshold), policies=2)
        assert all(0.4 * taken < total < 2.5 * taken for total in totals), (totals, taken)


def test_the_last_value_leaves_nothing_but_its_own_runs() -> None:
    totals, taken = searched(700, lambda _: LEAST)
    assert LEAST < totals[-1] - (taken - LEAST) < MOST


def test_a_value_that_has_all_its_runs_grows_no_more() -> None:
    outlook = Outlook(CELLS, 0.05, LEAST, MOST, 0, left=1)
    assert outlook.later(1, [MOST]) == 0
    assert outlook.later(1, [LEAST]) == (MOST - LEAST) / 2, "one that stays, one that takes them all"
    outlook.counts += [LEAST] * 10
    assert outlook.later(1, [LEAST]) == (MOST - LEAST) / 12, "as those before it"


def test_without_chance_a_value_takes_one_run() -> None:
    outlook = Outlook(CELLS, 0.05, LEAST, MOST, 1)
    outlook.begin()
    points = [Tried(CELLS.at(index / 4), None, index > 2, True, 0.0, 1) for index in range(search.GRID)]
    outlook.tried(points, points)
    assert outlook.later(0, []) == outlook.left == halvings(CELLS, CELLS.at(0.5), CELLS.at(0.75), 0.05)


def test_halving_is_foretold_to_the_step() -> None:
    tried: list[float] = []

    def attempt(values: Sequence[float]) -> list[Tried]:
        tried.extend(values)
        return [Tried(value, None, value > 9_999, True) for value in values]

    search.smallest(CELLS, attempt, 0.02, "auto")
    assert len(tried) - search.GRID == halvings(CELLS, 3162, 10_000, 0.02)


def test_without_a_level_thirty_values_are_tried_and_the_best_again() -> None:
    outlook = Outlook(CELLS, 0.05, 2, 2, 1, has_level=False, by_halves=False)
    assert outlook.later(0, []) == 2 * search.TRIALS
    outlook = Outlook(CELLS, 0.05, 2, 4, 1, has_level=False, by_halves=False)
    assert outlook.later(0, []) == 3 * search.TRIALS + search.CONFIRMED
