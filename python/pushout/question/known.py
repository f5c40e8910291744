"""Keys of classes that only some of the compared policies know; runs of the others leave them out, with a warning.

The factor of a dynamic threshold (`queue.NAME.alpha`) stands with a class, but belongs to the policies of its memory. A
memory without thresholds refuses it, which is right for a scenario, and would leave a comparison with such a policy
without an answer.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pushout import _core
from pushout.document import Document
from pushout.excerpt import excerpt
from pushout.names.port import Choice, section
from pushout.source import toml
from pushout.warning import Warned

FACTOR = "alpha"
"""The key: the factor of a class, and of its pool on the other side."""


def without_unknown(explained: Document, choices: Sequence[Choice]) -> tuple[tuple[Choice, ...], list[Warned]]:
    """Leave the factors of classes out for policies without them, if another policy of the comparison has them."""
    named = {name: keys for name, keys in explained.get("queue", {}).items() if _keys(name, keys)}
    takes = [_takes(explained, choice) for choice in choices]
    if not named or not any(takes) or all(takes):
        return tuple(choices), []
    bare = tuple(f"{section('queue', name)}={toml(_without(keys))}" for name, keys in named.items())
    found = [
        choice if taken else replace(choice, sets=(*choice.sets, *bare))
        for choice, taken in zip(choices, takes, strict=True)
    ]
    labels = ", ".join(choice.label for choice, taken in zip(choices, takes, strict=True) if not taken)
    keys = ", ".join(key for name, section_keys in named.items() for key in _keys(name, section_keys))
    why = f"the runs of {labels} are without {keys}, which no policy of these runs has"
    return tuple(found), [{"code": "left-out-key", "message": excerpt(why, 300)}]


def _keys(name: str, keys: Mapping[str, Any]) -> list[str]:
    """Return the factors that a class has, by their paths."""
    opposite = keys.get("opposite") or {}
    own = [FACTOR] if keys.get(FACTOR) is not None else []
    return [f"{section('queue', name)}.{key}" for key in (*own, *(["opposite.alpha"] if FACTOR in opposite else []))]


def _without(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a class without its factors."""
    found = {key: value for key, value in keys.items() if key != FACTOR and value is not None}
    if "opposite" in found:
        found["opposite"] = {key: value for key, value in found["opposite"].items() if key != FACTOR}
    return found


def _takes(explained: Document, choice: Choice) -> bool:
    """Return whether a policy of a memory has the factor under a choice."""
    given = dict(change.split("=", 1) for change in choice.sets)
    names = []
    for name, memory in explained.get("memory", {}).items():
        text = given.get(f"{section('memory', name)}.admission")
        table = memory["admission"] if text is None else tomllib.loads(f"it = {text}")["it"]
        names.append(table["policy"])
    known = {
        entry["name"]
        for entry in json.loads(_core.policies())
        if entry["kind"] == "admission" and any(parameter["name"] == FACTOR for parameter in entry["params"])
    }
    return any(name in known for name in names)
