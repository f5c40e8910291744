"""Write `pushout.types`: a typed dictionary for every table of a report, from the schema of reports."""

import keyword
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pushout.document import REASONS

MODULE = Path("python/pushout/types.py")

HEAD = '''"""The tables of a report as types, so that editors and type checkers know their keys.

    from pushout.types import Flow

    flows: list[Flow] = pushout.run("lan").document["flows"]

A number that was measured is an `Interval` in the document of several replications. `docs/result.md` is the same list.
"""

# Generated from the keys of the report: make generate.

from typing import NotRequired, TypedDict

from pushout.stats import Interval
from pushout.warning import Warned

Count = int | Interval
"""A count; of several replications their mean."""

Number = float | None | Interval
"""A measured number; None where nothing was measured."""
'''

WARNINGS = "warnings"
"""The table of the report whose type is written by hand, since questions have it as well."""

ROOT = "Run"
WIDTH = 120
SINGULAR = {"memories": "memory", "classes": "class", "losses": "loss"}


Fields = tuple[tuple[str, str, str], ...]
"""The keys of a table, with their types and what they mean."""


def module(schema: Mapping[str, Any]) -> str:
    """Write the text of the module for a schema from `_core.result_schema()`."""
    classes: dict[Fields, list[str]] = {}
    _add(ROOT, "", schema, schema["$defs"], classes)
    return "\n\n".join([HEAD, *(_written(name, paths, fields) for fields, [name, *paths] in classes.items())])


def _add(
    name: str, path: str, table: Mapping[str, Any], shared: Mapping[str, Any], classes: dict[Fields, list[str]]
) -> str:
    """Add the class of a table, after those of the tables below it; alike ones share it. Return its name."""
    fields = []
    for key, found in table["properties"].items():
        value = _resolved(found, shared)
        kind, below = _kind(name, key, value, shared)
        if below is not None:
            kind = _add(kind, f"{path}.{key}".lstrip("."), below, shared, classes)
        whole = f"list[{kind}]" if value.get("type") == "array" else kind
        needed = key in table.get("required", ())
        fields.append((key, whole if needed else f"NotRequired[{whole}]", str(found.get("description", ""))))
    known = classes.setdefault(tuple(fields), [name])
    known.append(path)
    return known[0]


def _resolved(value: Mapping[str, Any], shared: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema in place of a reference to it, except of the kinds of numbers."""
    target = value.get("$ref", "").removeprefix("#/$defs/")
    return value if target in ("", "count", "number") else shared[target]


def _kind(
    name: str, key: str, value: Mapping[str, Any], shared: Mapping[str, Any]
) -> tuple[str, Mapping[str, Any] | None]:
    """Return the type of a value, or of the entries of a list, and the table whose class is to be written, if any."""
    if value.get("type") == "array":
        value = _resolved(value["items"], shared)
    if "$ref" in value:
        return value["$ref"].rpartition("/")[2].capitalize(), None
    if value["type"] != "object":
        return {"string": "str", "boolean": "bool", "integer": "int", "number": "float"}[value["type"]], None
    if key == WARNINGS:
        return "Warned", None
    if set(value["properties"]) == set(REASONS):
        entry = next(iter(value["properties"].values()))
        of_reason, _ = _kind(name, key, entry, shared)
        return f"dict[str, {f'list[{of_reason}]' if entry.get('type') == 'array' else of_reason}]", None
    return f"{'' if name == ROOT else name}{_camel(key)}", value


def _camel(key: str) -> str:
    """Return the name of a class for the entries of a key."""
    singular = SINGULAR.get(key, key.removesuffix("s") if key.endswith("s") and not key.endswith("ss") else key)
    return "".join(word.capitalize() for word in singular.split("_"))


def _written(name: str, paths: Sequence[str], fields: Fields) -> str:
    """Write the class of the tables at these paths; keys that are words of Python stand in a class of their own."""
    odd = [(key, kind) for key, kind, _ in fields if keyword.iskeyword(key) or not key.isidentifier()]
    base, before = "TypedDict", ""
    if odd:
        base = f"_{name}"
        pairs = ", ".join(f'"{key}": {kind}' for key, kind in odd)
        before = f'{base} = TypedDict("{base}", {{{pairs}}})\n\n\n'
    parent = paths[0].rpartition(".")[0]
    *first, last = (f"`{path.removeprefix(parent) if index else path}`" for index, path in enumerate(paths))
    places = f"{', '.join(first)} and {last}" if first else last
    what = "What a run measured." if name == ROOT else f"{places} of a report."
    lines = [f"{before}class {name}({base}):", *_docstring(what), ""]
    for key, kind, meaning in fields:
        if (key, kind) not in odd:
            lines.append(f"    {key}: {kind}")
            lines += _docstring(meaning.replace("\\", "\\\\"))
    return "\n".join(lines) + "\n"


def _docstring(meaning: str) -> list[str]:
    """Write a docstring within a class."""
    return textwrap.wrap(f'"""{meaning}"""', WIDTH, initial_indent="    ", subsequent_indent="    ")
