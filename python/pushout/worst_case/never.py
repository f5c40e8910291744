"""What a policy never does, on any input: `crates/worst` visits all its states."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pushout.answer.columns import Columns
from pushout.errors import Argument, QuestionError
from pushout.excerpt import quoted
from pushout.options import Never
from pushout.simulate import check_whole
from pushout.worst_case import pauses as worst_pauses
from pushout.worst_case import scenario as worst_scenario
from pushout.worst_case.ratio import Announce, Shown, about, answered


@dataclass(frozen=True, eq=False, repr=False)
class Alone(Shown):
    """An answer about a policy alone, with an input that shows it."""

    @cached_property
    def columns(self) -> Columns:  # type: ignore[override]
        """The slots of the input as a table: arrivals, losses and queues before they send."""
        table: dict[str, list[int]] = {"slot": list(range(len(self.input)))}
        for port in range(self.document["ports"]):
            arrivals = [[kept for place, kept in slot["arrivals"] if place == port] for slot in self.input]
            table[f"arrivals_{port}"] = [len(each) for each in arrivals]
            table[f"losses_{port}"] = [each.count(False) for each in arrivals]
        return Columns.of(table | self.queues("policy"))

    def write(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Write the input as a scenario, run it on both engines, and return what the run delivered."""
        self.check_memory()
        return worst_scenario.write_alone(self.document, Path(path))

    def plot(self) -> Any:
        """Draw the queues of the input, slot by slot."""
        if not self.input:
            raise QuestionError("no input can be drawn, since the event never happens")
        return super().plot()


@dataclass(frozen=True, eq=False, repr=False)
class NeverResult(Alone):
    """A proof that an event never happens, or the input with the fewest arrivals and slots on which it does."""

    @property
    def proved(self) -> bool:
        """Whether the event happens on no input."""
        return bool(self.document["proved"])

    def write(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Write the input as a scenario, run it on both engines, and return what the run delivered."""
        if self.proved:
            raise QuestionError("no input can be written, since the event never happens: leave out ", Argument("out"))
        if self.document["pause"]:
            return worst_pauses.write(self.document, Path(path))
        return super().write(path)

    def _brief(self) -> str:
        answer = "proved" if self.proved else "refuted"
        return f"{self.document['policy']}: never {self.document['never']}, {answer}"


def never(asked: Never, announce: Announce | None = None) -> NeverResult:
    """Prove that an event never happens, or find the shortest input on which it does."""
    pause = {} if asked.pause is None else {"pause": _thresholds(asked.pause)}
    return NeverResult(answered({**about(asked), **pause, "never": asked.event}, announce))


PAUSE = ("xoff", "xon", "headroom", "response")
"""What a question about senders that a memory stops can give, in packets and slots."""


def _thresholds(pause: Mapping[str, int]) -> dict[str, int]:
    """Return the pauses of a question; refuse what is none."""
    if wrong := [key for key in pause if key not in PAUSE]:
        raise QuestionError(Argument("pause"), f" cannot have {quoted(wrong[0])} (allowed: {', '.join(PAUSE)})")
    for key, value in pause.items():
        check_whole(f"pause {key}", value)
        if value < 0:
            raise QuestionError(Argument("pause"), f" must have {key} of at least 0, not {value}")
    return dict(pause)
