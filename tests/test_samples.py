from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pushout.study.bootstrap import counts
from pushout.study.expression import Expression, ExpressionError
from pushout.study.outcome import SETS, SURE
from pushout.study.samples import Samples, Verdict


def check(text: str, share: float | None = None, **values: dict[str, Sequence[Any]]) -> Verdict:
    """The verdict on a check of figures, given their values in each replication of each case."""
    reps = {case: len(found) for figure in values.values() for case, found in figure.items()}
    documents = {
        case: [
            {name: found[case][index] for name, found in values.items() if case in found} for index in range(reps[case])
        ]
        for case in reps
    }
    samples = Samples({name: name for name in values}, documents, SETS)
    return samples.check(Expression(text, tuple(values), tuple(documents)), share)


def noise(count: int, seed: int = 1) -> list[float]:
    return np.random.RandomState(seed).normal(size=count).tolist()


def test_what_is_clearly_so_is_sure() -> None:
    for text, holds in (('x["a"] > x["b"]', True), ('x["a"] < x["b"]', False)):
        found = check(text, x={"a": [10 + value for value in noise(10)], "b": noise(10, 2)})
        assert (found.holds, found.sure, found.often) == (holds, 1.0, 10 * holds)


def test_what_is_equal_but_for_noise_is_open() -> None:
    both = noise(20)
    found = check('x["a"] > x["b"]', x={"a": [*both, 0.001], "b": [*(-value for value in reversed(both)), 0]})
    mirrored = check('x["a"] > x["b"]', x={"a": [*both, *(-value for value in both), 1e-3], "b": [0.0] * 41})
    assert mirrored.holds
    for each in (found, mirrored):
        assert each.sure is not None
        assert each.sure < SURE
    assert mirrored.sure == pytest.approx(0.5, abs=0.1)


def test_cases_that_share_their_noise_are_compared_pair_by_pair() -> None:
    both = noise(10)
    paired = check('x["a"] > x["b"]', x={"a": [value + 0.01 for value in both], "b": both})
    assert max(both) > min(both) + 1, "single replications overlap"
    assert paired.sure == 1.0
    apart = check('x["a"] > x["b"]', x={"a": [value + 0.01 for value in both], "b": both[1:] + both[:1]})
    assert apart.holds
    assert apart.sure is not None
    assert apart.sure < SURE
    fewer = check('x["a"] > x["b"]', x={"a": [value + 0.01 for value in both], "b": both[:9]})
    assert fewer.sure is not None
    assert fewer.sure < 1, "unequal numbers of replications are drawn apart"


def test_equal_cases_are_equal_in_every_set_and_a_constant_is_itself() -> None:
    both = [0.1 * value for value in noise(7)]
    assert check('x["a"] >= x["b"] and x["a"] <= x["b"]', x={"a": both, "b": both}).sure == 1.0
    third = check('max(x["*"]) <= 0.3 and min(x["*"]) >= 0.3', x={"a": [0.3] * 7, "b": [0.3] * 9})
    assert (third.holds, third.sure) == (True, 1.0)


def test_all_replications_count_for_the_means_and_the_first_ones_pair_by_pair() -> None:
    found = check('x["a"] > x["b"]', x={"a": [1.0, 1.0, 4.0], "b": [1.5, 0.5]})
    assert list(map(str, found.comparisons)) == ['2 > 1 [x["a"] > x["b"]]']
    assert (found.often, found.reps) == (1, 2)


@pytest.mark.parametrize(("reps", "settled"), [(3, 0.34), (10, 0.16), (40, 0.12)])
def test_tosses_of_a_coin_seem_settled_as_often_as_the_documentation_says(reps: int, settled: float) -> None:
    tosses = np.random.RandomState(7).normal(size=(4000, reps))
    holds = tosses @ counts(reps, SETS).T > 0
    sure = (holds[:, 1:] == holds[:, :1]).mean(axis=1)
    assert np.mean(sure >= SURE) == pytest.approx(settled, abs=0.02)


def test_what_was_not_measured_does_not_count_but_is_not_agreement() -> None:
    some = check('x["a"] > 1', x={"a": [None, 2.0, 3.0, None, 2.5]})
    assert list(map(str, some.comparisons)) == ['2.5 > 1 [x["a"] > 1]']
    assert (some.holds, some.often, some.reps) == (True, 3, 5)
    assert some.sure is not None
    assert some.sure == pytest.approx(1 - (2 / 5) ** 5, abs=0.02), "a set without a value has no verdict"
    entries = check('all(first(x["a"], 1) > 1) and mean(x["a"]) > 1', x={"a": [[2.0, None], [3.0, None]]})
    assert (entries.holds, entries.sure) == (True, 1.0)


def test_a_set_in_which_a_check_has_no_value_does_not_break_it() -> None:
    zeros = check('1 / x["a"] > 0', x={"a": [0.0, 1.0, 0.0]})
    assert (zeros.holds, zeros.often) == (True, 1)
    assert zeros.sure == pytest.approx(1 - (2 / 3) ** 3, abs=0.06)
    with pytest.raises(ExpressionError, match="division"):
        check('1 / x["a"] > 0', x={"a": [0.0, 0.0]})


def test_lists_count_as_far_as_the_shortest_reaches() -> None:
    found = check('all(x["a"] > x["b"])', x={"a": [[1.0, 2.0, 9.0], [1.0, 2.0], [1.0, 2.0, 9.0]], "b": [[0.0, 1.0]]})
    assert list(map(str, found.comparisons)) == ['true for 2 of 2 [x["a"] > x["b"]; 1: 1 > 0, 2: 2 > 1]']
    assert (found.holds, found.sure) == (True, 1.0)


def test_what_scatters_within_a_run_is_not_lost_in_the_mean_over_the_runs() -> None:
    runs = [[0.0, 2.0, 0.0, 2.0], [2.0, 0.0, 2.0, 0.0]]
    found = check('deviation(x["a"]) > 0.9 and max(x["a"]) > 1.9', x={"a": runs})
    assert (found.holds, found.sure, found.often) == (True, 1.0, 2), "their mean is 1, 1, 1, 1"
    assert [each.left for each in found.comparisons] == [1.0, 2.0]
    shares = check('all(abs(x["a"] / mean(x["a"]) - 1) < 0.5)', x={"a": runs})
    assert not shares.holds, "each time others get everything"


def test_a_run_in_which_nothing_was_measured_of_a_list_does_not_count() -> None:
    found = check('max(x["a"]) > 1', x={"a": [[2.0, 3.0], [None, 4.0], [4.0, 5.0]]})
    assert [each.left for each in found.comparisons] == [4.0]
    assert (found.holds, found.often) == (True, 2)


@pytest.mark.parametrize("runs", [[None, [1.0, 2.0], [3.0, 5.0]], [[1.0, 2.0], None, [3.0, 5.0]]])
def test_a_run_without_a_list_does_not_count_whichever_it_is(runs: list[Any]) -> None:
    documents = {"a": [{"x": run} for run in runs]}
    samples = Samples({"x": "x"}, documents, SETS)
    assert samples.check(Expression('all(x["a"] > 1.5)', ["x"], ["a"])).holds
    assert [each and each["mean"] for each in samples.curve([Expression('x["a"]', ["x"], ["a"])])] == [2.0, 3.5]
    assert samples.each(Expression('max(x["a"])', ["x"], ["a"])) == [2.0, 5.0]


def test_an_occupancy_is_shown_in_the_measure_of_its_port_and_a_rate_in_bits() -> None:
    port = {"name": "p", "occupancy_mean": 12.0, "occupancy_unit": "cells"}
    documents = {"a": [{"ports": [port], "summary": {"goodput_bps": 2e6}, "seed": 1}]}
    paths = {"queue": "ports.p.occupancy_mean", "rate": "summary.goodput_bps"}
    figures = {**paths, "half": Expression("rate / 2", tuple(paths)), "wait": Expression("queue / rate", tuple(paths))}
    text = 'queue["a"] > 10 and half["a"] > 5e5 and wait["a"] > 1e-6'
    found = Samples(figures, documents, units={"wait": "s"}).check(Expression(text, tuple(figures), ("a",)))
    assert [each.entries[0][1] for each in found.comparisons] == [
        "12 cells > 10 cells",
        "1 Mb/s > 0.5 Mb/s",
        "6 µs > 1 µs",
    ]


def test_one_replication_does_not_say_how_sure_it_is() -> None:
    assert check('x["a"] > x["b"]', x={"a": [2.0], "b": [1.0]}).sure is None
    assert check('x["a"] > 1', 1.0, x={"a": [2.0]}).sure is None
    assert check('x["a"] > x["b"]', x={"a": [2.0], "b": [1.0, 1.5]}).sure == 1.0


def test_a_share_of_the_runs_is_asked_for_in_every_set() -> None:
    half, all_of_them = [0.0, 2.0] * 10, [2.0] * 20
    found = check('x["a"] > 1', 0.5, x={"a": half})
    assert (found.holds, found.often, found.reps) == (True, 10, 20)
    assert found.sure == pytest.approx(0.59, abs=0.08), "10 and more of 20 tosses of a coin"
    assert check('x["a"] > 1', 0.5, x={"a": all_of_them}).sure == 1.0
    assert check('x["a"] > 1', 0.28, x={"a": [2.0] * 7 + [0.0] * 18}).holds, "7 of 25 are 28 %, whatever 0.28 · 25 is"


def test_the_draws_are_the_same_with_every_version_of_numpy() -> None:
    drawn = [[3, 2, 0, 0, 1, 0, 0, 0, 1, 3], [1, 1, 0, 1, 2, 0, 2, 0, 3, 0]]
    assert counts(10, 2).tolist() == [[1] * 10, *drawn]
