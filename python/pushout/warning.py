"""Warnings: what is no mistake in a scenario, a run or an answer, but may mislead."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from pushout import _core
from pushout.source import Source


class Warned(TypedDict):
    """A warning: a word for programs, which stays the same, and a message for people."""

    code: str
    message: str


class HasWarnings:
    """A result whose document holds warnings."""

    document: dict[str, Any]

    @property
    def warnings(self) -> list[Warned]:
        """What may mislead in the scenario or in the figures, each with a `code` and a `message`."""
        warnings: list[Warned] = self.document.get("warnings", [])
        return warnings


def of_scenario(source: Source, sets: Sequence[str]) -> list[Warned]:
    """Check a scenario with its overrides, and say what may mislead in it."""
    warnings: list[Warned] = json.loads(_core.validate(source.text, source.name, sets))
    return warnings


def union(lists: Iterable[Sequence[Warned]]) -> list[Warned]:
    """Each warning once, in the order in which they come."""
    return list({(warned["code"], warned["message"]): warned for each in lists for warned in each}.values())
