"""Confidence intervals hold what they promise."""

from statistics import fmean

import pytest

import pushout
from conftest import ROOT
from pushout.stats import interval

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
