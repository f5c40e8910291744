"""The types of the catalogue that `policies` returns: every scheme that a scenario can name."""

from typing import Any, TypedDict


class Param(TypedDict):
    """A parameter of an entry."""

    name: str
    unit: str
    required: bool
    default: Any
    doc: str
    schema: dict[str, Any]
    """The allowed values, as a JSON Schema."""


Table = TypedDict("Table", {"tag": str, "class": str})
"""The key of a scenario's table that holds the name, and the class of `pushout.schemes` for that table."""


class Entry(TypedDict):
    """A policy, a scheduler, a source or another named scheme."""

    name: str
    kind: str
    summary: str
    source: str
    experimental: bool
    table: Table | None
    """`None` if a scenario names the scheme without a table."""
    params: list[Param]
    header: str
    """The text at the top of its file, in Markdown."""


def meanings(param: Param) -> list[str]:
    """Explain each word that a parameter allows."""
    words = zip(param["schema"].get("enum", ()), param["schema"].get("enumDescriptions", ()), strict=False)
    return [f"`{word}`: {meaning}" for word, meaning in words]
