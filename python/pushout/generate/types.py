"""Write `pushout.types`: a typed dictionary for every table of a report, from the schema of reports."""

import keyword
import textwrap
from collections.abc import Iterator, Mapping, Sequence
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
SINGULAR = {"memories": "memory", "classes": "class", "queues": "queue"}


def module(schema: Mapping[str, Any]) -> str:
    """Write the text of the module for a schema from `_core.result_schema()`."""
    return "\n\n".join([HEAD, *_classes(ROOT, "", schema, schema["$defs"])])


def _classes(name: str, path: str, table: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[str]:
    """Yield the class of the table at a path after those of the tables below it."""
    fields = []
    for key, found in table["properties"].items():
        value = _resolved(found, shared)
        kind, below = _kind(name, key, value, shared)
        if below is not None:
            yield from _classes(kind, f"{path}.{key}".lstrip("."), below, shared)
        whole = f"list[{kind}]" if value.get("type") == "array" else kind
        needed = key in table.get("required", ())
        fields.append((key, whole if needed else f"NotRequired[{whole}]", str(found.get("description", ""))))
    yield _written(name, f"`{path}` of a report." if path else "What a run measured.", fields)


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


def _written(name: str, what: str, fields: Sequence[tuple[str, str, str]]) -> str:
    """Write a class; keys that are words of Python stand in a class of their own."""
    odd = [(key, kind) for key, kind, _ in fields if keyword.iskeyword(key) or not key.isidentifier()]
    base, before = "TypedDict", ""
    if odd:
        base = f"_{name}"
        pairs = ", ".join(f'"{key}": {kind}' for key, kind in odd)
        before = f'{base} = TypedDict("{base}", {{{pairs}}})\n\n\n'
    lines = [f"{before}class {name}({base}):", f'    """{what}"""', ""]
    for key, kind, meaning in fields:
        if (key, kind) not in odd:
            lines.append(f"    {key}: {kind}")
            told = meaning.replace("\\", "\\\\")
            lines += textwrap.wrap(f'"""{told}"""', WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines) + "\n"
