"""The longest delay of a packet under a policy, on any input: `crates/worst` visits all its states."""

from dataclasses import dataclass

from pushout.options import Worst
from pushout.worst_case.never import Alone
from pushout.worst_case.ratio import Announce, about, answered


@dataclass(frozen=True, eq=False, repr=False)
class DelayResult(Alone):
    """The longest delay of a packet in slots, proved, and an input that attains it."""

    @property
    def slots(self) -> int:
        """Slots from the arrival of the packet to the end of its transmission."""
        return int(self.document["delay_slots"])

    def _brief(self) -> str:
        return f"{self.document['policy']}: {self.slots} slots"


def delay(asked: Worst, announce: Announce | None = None) -> DelayResult:
    """Find the longest delay of a packet, on any input."""
    return DelayResult(answered({**about(asked), "objective": "delay"}, announce))
