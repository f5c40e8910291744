"""Warnings: valid scenarios, runs and answers that may still mislead."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from pushout import _core
from pushout.source import Source


class Warned(TypedDict):
    """A warning: a stable code for programs and a message for people."""

    code: str
    message: str


class HasWarnings:
    """A result whose document holds warnings."""

    document: Any

    @property
    def warnings(self) -> list[Warned]:
        """Anything that may mislead in the scenario or in the figures, each with a `code` and a `message`."""
        warnings: list[Warned] = self.document.get("warnings", [])
        return warnings


def of_scenario(source: Source, sets: Sequence[str]) -> list[Warned]:
    """Check a scenario with its overrides, and return warnings about anything that may mislead."""
    warnings: list[Warned] = json.loads(_core.Scenario(*source, sets, None).warnings())
    return warnings


def union(lists: Iterable[Sequence[Warned]]) -> list[Warned]:
    """Keep each warning once, in order of first occurrence."""
    return list({(warned["code"], warned["message"]): warned for each in lists for warned in each}.values())
