"""Entries of a `study.toml`: what each of them becomes, and where it stands if something is wrong with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from pushout import _core
from pushout.errors import PushoutError
from pushout.study.expression import ExpressionError

T = TypeVar("T")


class EntryError(PushoutError, ValueError):
    """Something is wrong with an entry; `at` is where it stands."""

    def __init__(self, message: str, at: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.at = at


class Entries:
    """The entries of a list of tables; it knows which one is being read."""

    def __init__(self, table: dict[str, Any], key: str) -> None:
        self.key = key
        self.entries = table.pop(key, [])
        self.at: tuple[str, ...] = (key,)
        if not isinstance(self.entries, list) or not all(isinstance(entry, dict) for entry in self.entries):
            raise EntryError(f"{key}: write [[{key}]]", self.at)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for index, entry in enumerate(self.entries):
            self.at = (self.key, str(index))
            yield entry


@contextmanager
def read(entries: Entries) -> Iterator[Entries]:
    """Whatever goes wrong with an entry is told with its place."""
    try:
        yield entries
    except KeyError as error:
        raise EntryError(f"{entries.key}: the key {error} is missing", entries.at) from error
    except (TypeError, AttributeError, ExpressionError, EntryError) as error:
        raise EntryError(f"{entries.key}: {error}", entries.at) from error


def keys(name: str, value: Any) -> dict[str, Any]:
    """The keys of a table, or that what should be one is none."""
    if not isinstance(value, dict):
        raise TypeError(f"{name} is {value!r}: it is a table of keys")
    return value


def made(kind: type[T], keys: dict[str, Any]) -> T:
    """A dataclass from keys that a file names, or which of them is unknown or missing."""
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for key in keys:
        if key not in known:
            raise TypeError(_core.unknown("key", key, known))
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name not in keys and field.default is MISSING and field.default_factory is MISSING:
            raise KeyError(field.name)
    return kind(**keys)
