"""Read the entries of a `study.toml` into dataclasses; errors carry the position of the entry."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from pushout import _core
from pushout.errors import PushoutError
from pushout.study.expression import ExpressionError

T = TypeVar("T")


class EntryError(PushoutError, ValueError):
    """An entry is invalid; `at` is its path in the file."""

    def __init__(self, message: str, at: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.at = at


class Entries:
    """The entries of a list of tables; `at` is the path of the one being read."""

    def __init__(self, table: dict[str, Any], key: str) -> None:
        self.key = key
        self.entries = table.pop(key, [])
        self.at: tuple[str, ...] = (key,)
        if not isinstance(self.entries, list) or not all(isinstance(entry, dict) for entry in self.entries):
            raise EntryError(f"{key} must be a list of tables, not {self.entries!r:.40}; write [[{key}]]", self.at)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for index, entry in enumerate(self.entries):
            self.at = (self.key, str(index))
            yield entry


@contextmanager
def read(entries: Entries) -> Iterator[Entries]:
    """Raise every error of an entry as an `EntryError` with its path."""
    try:
        yield entries
    except KeyError as error:
        raise EntryError(f"{entries.key}: the key {error} is missing", entries.at) from error
    except (TypeError, AttributeError, ExpressionError, EntryError) as error:
        raise EntryError(f"{entries.key}: {error}", entries.at) from error


def each_of(table: dict[str, Any], key: str, make: Callable[[dict[str, Any]], T]) -> tuple[T, ...]:
    """Take a list of tables out of `table` and make something of each; an error has the path of its entry."""
    with read(Entries(table, key)) as entries:
        return tuple(make(entry) for entry in entries)


def keys(name: str, value: Any) -> dict[str, Any]:
    """Return the keys of a table; raise if the value is not a table."""
    if not isinstance(value, dict):
        raise TypeError(f"{name} must be a table, not {value!r}")
    return value


def made(kind: type[T], keys: dict[str, Any]) -> T:
    """Make a dataclass from the keys of a file; raise if a key is unknown or missing."""
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for key in keys:
        if key not in known:
            raise TypeError(_core.unknown("key", key, known))
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name not in keys and field.default is MISSING and field.default_factory is MISSING:
            raise KeyError(field.name)
    return kind(**keys)
