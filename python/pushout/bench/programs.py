"""Shipped schemes written again as policies in Python, to measure what a program costs beside its native scheme."""

from typing import Any

from pushout import policy


@policy.admission(asks="frame", params={"threshold": policy.level("2500 cells")})
def epd(x: Any) -> Any:
    """Refuse frames as the port of `scenarios/w1-cell.toml` does."""
    return x.total >= x.threshold
