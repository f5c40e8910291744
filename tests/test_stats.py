import math

import pytest
from scipy import stats as oracle

from pushout.stats import agreeing, interval, student_t, unseen


@pytest.mark.parametrize("dof", [1, 2, 3, 4, 5, 9, 10, 29, 30, 99, 1000, 10_001])
@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.9, 0.95, 0.999])
def test_the_t_quantile_agrees_with_an_independent_one(dof: int, confidence: float) -> None:
    expected = oracle.t.ppf((1 + confidence) / 2, dof)
    assert student_t(confidence, dof) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("confidence", "dof"), [(0.0, 5), (1.0, 5), (0.95, 0)])
def test_there_is_no_quantile_outside_the_distribution(confidence: float, dof: int) -> None:
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        student_t(confidence, dof)


def test_the_interval_agrees_with_an_independent_one() -> None:
    values = [0.97, 0.98, 0.975, 0.99, 0.965]
    found = interval(values)
    low, high = oracle.t.interval(0.95, 4, loc=oracle.tmean(values), scale=oracle.sem(values))
    assert found["ci95"] == pytest.approx([low, high], rel=1e-12)
    assert found["n"] == 5


def test_one_replication_has_a_mean_but_no_interval() -> None:
    assert interval([3.0]) == {"mean": 3.0, "ci95": None, "n": 1}


def test_equal_values_have_an_interval_without_width() -> None:
    found = interval([2.0, 2.0, 2.0])
    assert found["ci95"] == [2.0, 2.0]
    assert not math.isnan(found["mean"])


@pytest.mark.parametrize("n", [1, 8, 59, 64, 1000])
def test_what_equal_values_leave_open_agrees_with_an_independent_bound(n: int) -> None:
    high = oracle.binomtest(0, n, alternative="less").proportion_ci(0.95, method="exact").high
    assert unseen(n) == pytest.approx(high, rel=1e-9)
    assert agreeing(unseen(n) * 1.000001) == n
