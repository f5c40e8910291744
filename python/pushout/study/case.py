"""One run of a study."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pushout.simulate import Job
from pushout.source import read


@dataclass(frozen=True)
class Case:
    """A scenario and its overrides; `reps` is the default number of replications, `full` that of `--full` if larger."""

    id: str
    scenario: Path
    sets: tuple[str, ...]
    reps: int
    full: int = 0

    def job(self) -> Job:
        """Make the job of the case."""
        return Job(read(str(self.scenario)), self.sets)

    def changed(self, sets: Sequence[str]) -> "Case":
        """Add overrides to the case."""
        return replace(self, sets=(*self.sets, *sets))
