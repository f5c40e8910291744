"""Compute the warm-up by MSER-5: the length of the initial period to discard.

K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five steady-state truncation heuristics for simulation", Winter
Simulation Conference 2000. Of the means of five samples each, drop the first d that make the standard error of the
rest smallest: min over d of S² / (n - d)². A minimum in the second half means that the run is too short.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pushout.errors import QuestionError

BATCH = 5


class WarmupError(QuestionError):
    """The runs do not determine a warm-up."""


def clock(figure: str) -> list[str]:
    """Name the figures with the times of the samples of a figure over time."""
    if not figure.endswith((".values", ".bps")):
        raise WarmupError(
            f"warmup must use a figure over time, which ends in .values (occupancy) or .bps (throughput), not {figure}"
        )
    head = figure.rsplit(".", 1)[0]
    return [f"{head}.start_s", f"{head}.step_s"]


def warmup_s(figure: str, runs: Sequence[Mapping[str, Any]]) -> float:
    """Compute the warm-up in seconds from the mean of a figure over replications."""
    start, step = (float(runs[0][path]) for path in clock(figure))
    curves = [run[figure] for run in runs]
    length = min(map(len, curves), default=0)
    mean = [sum(curve[index] for curve in curves) / len(curves) for index in range(length)]
    return start + step * BATCH * truncation(mean)


def truncation(samples: Sequence[float]) -> int:
    """Count the batches of five samples to drop; raise if that is more than half of them."""
    means = [sum(samples[k : k + BATCH]) / BATCH for k in range(0, len(samples) - BATCH + 1, BATCH)]
    count = len(means)
    if count < 2 * BATCH:
        raise WarmupError(
            f"MSER-5 needs at least {2 * BATCH * BATCH} samples over time, not {len(samples)}: "
            "simulate longer, or with a shorter `sample`"
        )
    best, least = 0, float("inf")
    mean = squares = 0.0
    # Go backwards, so that the sums grow by one entry at a time; the last few batches are too few by themselves.
    # Square deviations from the mean (B. P. Welford, Technometrics 1962): squares of rates in b/s would lose digits.
    for dropped in range(count - 1, -1, -1):
        rest = count - dropped
        deviation = means[dropped] - mean
        mean += deviation / rest
        squares += deviation * (means[dropped] - mean)
        if rest < BATCH:
            continue
        error = squares / (rest * rest)
        if error <= least:
            best, least = dropped, error
    if best > count // 2:
        raise WarmupError("MSER-5 finds no steady state in the first half of the run: simulate longer")
    return best
