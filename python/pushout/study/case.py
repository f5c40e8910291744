"""One run of a study."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pushout.simulate import Job
from pushout.source import read


@dataclass(frozen=True)
class Case:
    """A scenario and what is changed in it; `reps` is how often it is run if nobody asks otherwise."""

    id: str
    scenario: Path
    sets: tuple[str, ...]
    reps: int

    def job(self) -> Job:
        """What to simulate."""
        return Job(read(str(self.scenario)), self.sets)

    def changed(self, sets: Sequence[str]) -> "Case":
        """The same case with further overrides."""
        return replace(self, sets=(*self.sets, *sets))
