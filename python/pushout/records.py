"""Write a recording as JSON with one record a line, as the files of the repository are kept."""

import json
from typing import Any

MOST, MOST_OF_A_RECORD = 120, 400
"""Longest line with a value, and with a record: a table that holds words, numbers and lists of them."""


def recorded(document: Any) -> str:
    """Return the text of a file with this document."""
    return _value(document, "", 0) + "\n"


def _value(value: Any, indent: str, used: int) -> str:
    """Write a value on the rest of a line, of which its key has `used` characters, or each part of it on a line."""
    whole = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value:
        return whole
    if used + len(whole) <= (MOST_OF_A_RECORD if _is_record(value) else MOST):
        return whole
    below = indent + " "
    if isinstance(value, list):
        return _opened("[", [_value(part, below, len(below)) for part in value], "]", indent)
    keys = {key: f"{json.dumps(key, ensure_ascii=False)}: " for key in value}
    parts = [f"{keys[key]}{_value(part, below, len(below) + len(keys[key]))}" for key, part in value.items()]
    return _opened("{", parts, "}", indent)


def _opened(opening: str, parts: list[str], closing: str, indent: str) -> str:
    """Write each part on a line, between brackets."""
    return f"{opening}\n" + ",\n".join(f"{indent} {part}" for part in parts) + f"\n{indent}{closing}"


def _is_record(value: Any) -> bool:
    """Return whether a value is a table without a table in it, also not in a list."""
    if not isinstance(value, dict):
        return False
    inner = (each for part in value.values() for each in (part if isinstance(part, list) else [part]))
    return not any(isinstance(each, dict | list) for each in inner)
