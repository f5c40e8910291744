"""The parts that all questions about one scenario share, read and checked."""

from dataclasses import dataclass

from pushout.document import Document
from pushout.literals import Engine
from pushout.names.port import Choice
from pushout.source import Source
from pushout.warning import Warned


@dataclass(frozen=True)
class Subject:
    """A scenario with its overrides, and the policies to run it under."""

    source: Source
    explained: Document
    """The complete scenario with `sets`, as `explain` returns it."""
    sets: tuple[str, ...]
    choices: tuple[Choice, ...]
    seed: int | None
    engine: Engine | None
    warnings: list[Warned]
    """Anything that may mislead in the scenario under any of the policies."""

    def listed(self) -> list[Document]:
        """Write the policies for documents."""
        return [{"label": choice.label, "sets": list(choice.sets)} for choice in self.choices]
