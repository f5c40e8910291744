"""The longest delay of a packet under a policy, on any input: `crates/worst` visits all its states."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pushout.question.never import Alone
from pushout.question.worst import Announce, Policy, about, answered, silent


@dataclass(frozen=True, eq=False, repr=False)
class DelayResult(Alone):
    """The longest delay of a packet in slots, proved, and an input that attains it."""

    @property
    def slots(self) -> int:
        """Slots from the arrival of the packet to the end of its transmission."""
        return int(self.document["delay_slots"])

    def _brief(self) -> str:
        return f"{self.document['policy']}: {self.slots} slots"


def delay(
    policy: Policy,
    ports: int,
    memory: int,
    parameters: Mapping[str, Any],
    states: int,
    frames: int | None = None,
    announce: Announce = silent,
) -> DelayResult:
    """Find the longest delay of a packet, on any input."""
    asked = about(policy, ports, memory, parameters, states, frames)
    return DelayResult(answered({**asked, "objective": "delay"}, announce))
