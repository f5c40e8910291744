"""What can be asked about the worst case of a policy: one set of options for command line, Python and tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

from pushout.exact import STATES

Policy = str | Mapping[str, Any]
"""A policy of a memory: its name, the table of its parameters, a table with `admission` and `pushout`, a program or its
file.
"""

OPTIMUM = "optimum"
"""The opponent that knows the whole input."""


@dataclass(frozen=True)
class About:
    """A policy and the sizes of what it decides about: a shared memory, or with `frames` one FIFO port."""

    policy: Policy
    _: KW_ONLY
    memory: int
    ports: int = 2
    set: Mapping[str, Any] | None = None
    states: int = STATES
    frames: int | None = None
    circuits: int = 1

    @property
    def count(self) -> int:
        """The number of ports, or of the circuits that send frames."""
        return self.ports if self.frames is None else self.circuits


@dataclass(frozen=True)
class Ratio(About):
    """The question how much more an opponent sends, or loses less."""

    against: Policy = OPTIMUM
    reach: Fraction | float | str | None = None
    search: bool = False
    objective: str = "throughput"


@dataclass(frozen=True)
class Never(About):
    """The question whether an event never happens."""

    event: str
    pause: Mapping[str, int] | None = None
