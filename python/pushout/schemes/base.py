"""A table of a scenario as an object: the base of the classes in `pushout.schemes`."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, NoReturn, Self

from pushout import _core
from pushout.catalogue import Entry, Param
from pushout.errors import ScenarioError
from pushout.excerpt import quoted
from pushout.source import plain


@dataclass(frozen=True, eq=False)
class Scheme(Mapping[str, Any]):
    """A scheme and its parameters: a read-only mapping, allowed wherever a table of a scenario is.

    It contains the name and the parameters that differ from their defaults. Types, units and words are checked at once;
    what depends on the port, as the size of its buffer, when the scenario is read.
    """

    def __new__(cls, *_args: Any, **given: Any) -> Self:
        """Refuse a parameter that the scheme does not have; the message has the nearest one."""
        known = [field.name for field in fields(cls) if field.init]
        if wrong := next((name for name in given if name not in known), None):
            raise TypeError(f"{cls.__name__}: {_core.unknown('argument', wrong, known)}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Refuse a value that the scheme cannot have at any port; the message names the parameter."""
        for param in _entries()[type(self).__name__]["params"]:
            value = plain(getattr(self, param["name"]))
            if value is not None and not _fits(value, param["schema"]):
                where = f"{type(self).__name__}: {param['name']} must be {_allowed(param)}"
                raise ScenarioError(f"{where}, not {quoted(value)}")

    def __getitem__(self, key: str) -> Any:
        return self._table()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table())

    def __len__(self) -> int:
        return len(self._table())

    def _table(self) -> dict[str, Any]:
        values = [(field, getattr(self, field.name)) for field in fields(self)]
        return {field.name: value for field, value in values if not field.init or value != field.default}


def unknown(name: str) -> NoReturn:
    """Raise the error for a class that does not exist: a scheme without a table is written by its name."""
    named = {_class(entry): entry for entry in _catalogue()}
    if name in named and not named[name]["table"]:
        entry = named[name]
        raise AttributeError(
            f"{entry['name']} has no class, because a scenario writes it without a table: {_instead(entry)}"
        )
    raise AttributeError(_core.unknown("class", name, sorted(_entries())))


def _instead(entry: Entry) -> str:
    """Say how Python names a scheme that has no table."""
    if entry["kind"] == "discipline":
        return f'give compare, or admission=, the name "{entry["name"]}"'
    return f'write Tcp({entry["kind"]}="{entry["name"]}")'


def _class(entry: Entry) -> str:
    """Return the name of the class that a scheme has, or would have."""
    return entry["table"]["class"] if entry["table"] else entry["name"].title().replace("-", "")


@cache
def _catalogue() -> Sequence[Entry]:
    entries: list[Entry] = json.loads(_core.policies())
    return entries


@cache
def _entries() -> Mapping[str, Entry]:
    """The schemes by their classes."""
    return {entry["table"]["class"]: entry for entry in _catalogue() if entry["table"]}


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Return whether a schema allows a value; the keys of a table are left to the reader of the scenario."""
    if either := schema.get("anyOf") or schema.get("oneOf"):
        return any(_fits(value, each) for each in either)
    if "enum" in schema or "const" in schema:
        return value in schema.get("enum", [schema.get("const")])
    if not isinstance(value, TYPES[schema["type"]]) or (isinstance(value, bool) and schema["type"] != "boolean"):
        return False
    if isinstance(value, str):
        return re.search(schema.get("pattern", ""), value) is not None
    if schema["type"] == "array":
        return all(_fits(plain(each), schema["items"]) for each in value)
    if schema["type"] in ("integer", "number"):
        return bool(schema.get("minimum", value) <= value <= schema.get("maximum", value))
    return True


TYPES: Mapping[str, Any] = {
    "array": list | tuple,
    "boolean": bool,
    "integer": int,
    "number": int | float,
    "object": Mapping,
    "string": str,
}


def _allowed(param: Param) -> str:
    """Describe the values of a parameter."""
    schema = param["schema"]
    if words := schema.get("enum"):
        return f"one of {', '.join(map(quoted, words))}"
    if (what := WORDS.get(schema.get("type", ""))) and param["unit"] == "-":
        return f"{what} from {schema['minimum']}" if "minimum" in schema else what
    if schema.get("type") == "array":
        return "a list of texts"
    example = _example(param)
    return f"a {param['unit']} with its unit" + (f", as in {quoted(example)}" if example else "")


WORDS = {
    "array": "a list",
    "boolean": "True or False",
    "integer": "a whole number",
    "number": "a number",
    "object": "a mapping",
    "string": "a text",
}


def _example(param: Param) -> Any:
    """Return a value that a parameter can have: its default, or an example of its schema."""
    schema = param["schema"]
    schemas = [schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return param["default"] or next((each["examples"][0] for each in schemas if each.get("examples")), None)
