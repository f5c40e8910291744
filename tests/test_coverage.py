"""Confidence intervals hold what they promise, and what docs/concepts/statistics.md says of them."""

from collections.abc import Callable
from statistics import fmean

import numpy as np
import pytest
from numpy.typing import NDArray

import pushout
from conftest import ROOT
from pushout.stats import interval, student_t
from pushout.study import bootstrap

EXPERIMENTS, REPS, LOAD = 200, 10, 0.5

TRUTH = LOAD + LOAD**2 / (2 * (1 - LOAD))
"""Mean number of cells in M/D/1, the one in service included: L. Kleinrock, "Queueing Systems", vol. 1, section 5.6."""

SETS = {"duration": "25 ms", "warmup": "3 ms", "flows.source.rate": f"{LOAD * 15.552} Mb/s"}


@pytest.mark.timeout(180)
def test_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    plan = {
        "scenario": str(ROOT / "scenarios" / "mux-poisson.toml"),
        "set": [f"{key}={value}" for key, value in SETS.items()],
        "reps": EXPERIMENTS * REPS,
        "figures": ["ports.bottleneck.occupancy_mean"],
    }
    means = pushout.sweep(plan).table["ports.bottleneck.occupancy_mean"].to_pylist()
    assert fmean(means) == pytest.approx(TRUTH, rel=0.003)
    held = 0
    for first in range(0, len(means), REPS):
        low, high = interval(means[first : first + REPS])["ci95"] or [0.0, 0.0]
        held += low <= TRUTH <= high
    assert 0.92 * EXPERIMENTS <= held <= 0.98 * EXPERIMENTS


Numbers = NDArray[np.float64]
Drawing = Callable[[tuple[int, int]], Numbers]

STREAM = np.random.default_rng(1)
SAMPLES = 20_000
NEAR = 1.5
"""Percentage points between the page and this measurement: four standard errors of a share of these samples."""

ROWS = (ROOT / "docs" / "concepts" / "statistics.md").read_text(encoding="utf-8").splitlines()


def printed(label: str) -> list[float]:
    """The percentages in a row of the page."""
    (row,) = (row for row in ROWS if row.startswith(f"| {label} |"))
    return [float(cell.strip().removesuffix(" %")) for cell in row.strip("|").split("|")[1:]]


def normal(size: tuple[int, int]) -> Numbers:
    return STREAM.standard_normal(size)


def exponential(size: tuple[int, int]) -> Numbers:
    return STREAM.exponential(size=size)


def below_a_bound(share: float, drawing: Drawing) -> Drawing:
    """Put a share of the values at a bound of 0, and the others below it."""
    return lambda size: np.where(STREAM.random(size) < share, 0.0, -np.abs(drawing(size)))


HALF_NORMAL = (2 / np.pi) ** 0.5


@pytest.mark.parametrize(
    ("label", "drawing", "mean"),
    [
        ("normal, or a ratio of two such", normal, 0.0),
        ("exponential, or as skewed below a bound of 1", exponential, 1.0),
        ("half of the runs at the bound, others below as a normal", below_a_bound(0.5, normal), -HALF_NORMAL / 2),
        ("half of the runs at the bound, others below as an exponential", below_a_bound(0.5, exponential), -0.5),
        ("nine of ten runs at the bound, others below as an exponential", below_a_bound(0.9, exponential), -0.1),
    ],
)
def test_intervals_contain_the_mean_as_often_as_the_page_says(label: str, drawing: Drawing, mean: float) -> None:
    for reps, percent in zip((2, 3, 5, 10, 30, 100), printed(label), strict=True):
        values = drawing((SAMPLES, reps))
        half = student_t(0.95, reps - 1) * values.std(axis=1, ddof=1) / reps**0.5
        held = np.abs(values.mean(axis=1) - mean) <= half
        assert 100 * held.mean() == pytest.approx(percent, abs=NEAR), reps


def certainty(values: Numbers) -> Numbers:
    """The share of 400 resamples that agree with each sample (a row) on whether its mean is above 0."""
    verdicts = values @ bootstrap.counts(values.shape[1], 400).T > 0
    agreeing: Numbers = (verdicts[:, 1:] == verdicts[:, :1]).mean(axis=1)
    return agreeing


@pytest.mark.parametrize(
    ("label", "drawing", "mean"),
    [("normal figures", normal, 0.0), ("exponential, against a constant", exponential, 1.0)],
)
def test_a_toss_seems_settled_as_often_as_the_page_says(label: str, drawing: Drawing, mean: float) -> None:
    for reps, percent in zip((3, 5, 10, 20, 40, 100), printed(label), strict=True):
        settled = certainty(drawing((SAMPLES, reps)) - mean) >= 0.95
        assert 100 * settled.mean() == pytest.approx(percent, abs=NEAR), reps


def test_looking_again_and_again_settles_more_tosses() -> None:
    values = normal((SAMPLES // 2, 200))
    settled = np.any([certainty(values[:, :reps]) >= 0.95 for reps in (10, 20, 40, 100, 200)], axis=0)
    text = " ".join(ROWS)
    percent = float(text.partition("stops as soon as a toss seems settled, ")[2].partition(" %")[0])
    assert 100 * settled.mean() == pytest.approx(percent, abs=2 * NEAR)
