"""Measures that compare runs, as the papers define them; measures of a single run are in its document."""

from collections.abc import Iterable, Mapping
from typing import Any

from pushout.document import figure


def gain(loss: float, plain: float) -> float | None:
    """Divide the loss with a remedy by the loss without: gains G and D of paper 004, section 5.1; below 1 it helps.

    If `loss` is that of plain error correction after decoding, this is the overcoding gain G; with gatekeeper and
    janitor it is the management gain D. `None` if nothing is lost without the remedy.

    >>> gain(0.01, 0.04)
    0.25
    """
    return loss / plain if plain > 0 else None


def saturation_point(curve: Iterable[tuple[float, float]], throughput: float = 1.0) -> float | None:
    """Find the smallest buffer such that it and every larger one reach a packet throughput (paper 004, section 5.2).

    `curve` holds pairs of buffer and throughput in any order; `None` if the largest buffer does not reach it.

    >>> saturation_point([(500, 0.9), (1000, 1.0), (2000, 1.0)])
    1000
    """
    point = None
    for buffer, reached in sorted(curve, reverse=True):
        if reached < throughput:
            break
        point = buffer
    return point


def improvement(plain: float, managed: float) -> float:
    """Share of the buffer that management saves: I = (B_FEC - B_FEC+BM) / B_FEC (paper 004, section 5.2).

    >>> round(improvement(6390, 3520), 4)
    0.4491
    """
    return (plain - managed) / plain


def mean_delay_s(document: Mapping[str, Any], port: str) -> float | None:
    """Compute the mean time of a unit in a port, transmission included, in seconds; `None` if no unit has left it.

    By Little's law it is the occupancy divided by the rate at which units leave the buffer. Units discarded after
    queueing contribute to the occupancy and therefore count. For a port that counts octets it is the mean over octets.

    >>> port = {"name": "a", "occupancy_unit": "cells", "occupancy_mean": 2.0, "units_out": 80, "units_given_up": 20}
    >>> mean_delay_s({"duration_s": 1.5, "warmup_s": 0.5, "ports": [port]}, "a")
    0.02
    """
    what = "octets" if figure(document, f"ports.{port}.occupancy_unit") == "bytes" else "units"
    left = figure(document, f"ports.{port}.{what}_out") + figure(document, f"ports.{port}.{what}_given_up")
    measured = document["duration_s"] - document["warmup_s"]
    return float(figure(document, f"ports.{port}.occupancy_mean")) * measured / left if left else None
