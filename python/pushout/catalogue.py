"""What `policies` says of everything that a scenario can name."""

from typing import Any, TypedDict


class Param(TypedDict):
    """A key of an entry."""

    name: str
    unit: str
    required: bool
    default: Any
    doc: str
    schema: dict[str, Any]
    """Which values it may have, as a JSON Schema."""


Table = TypedDict("Table", {"tag": str, "class": str})
"""The key of a scenario's table that holds the name, and the class of `pushout.schemes` that stands for the table."""


class Entry(TypedDict):
    """A policy, a scheduler, a source, or whatever else has a name."""

    name: str
    kind: str
    summary: str
    source: str
    experimental: bool
    table: Table | None
    """`None` if a scenario names it without a table of its own."""
    params: list[Param]
    header: str
    """The text at the top of its file, in Markdown."""


def meanings(param: Param) -> list[str]:
    """What each of the words means that can be the value of a parameter."""
    words = zip(param["schema"].get("enum", ()), param["schema"].get("enumDescriptions", ()), strict=False)
    return [f"`{word}`: {meaning}" for word, meaning in words]
