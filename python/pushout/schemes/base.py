"""A table of a scenario as an object: the base of the classes in `pushout.schemes`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, eq=False)
class Scheme(Mapping[str, Any]):
    """A scheme and its parameters: a read-only mapping, allowed wherever a table of a scenario is.

    It contains the name and the parameters that differ from their defaults. Values are checked when the scenario is
    read.
    """

    def __getitem__(self, key: str) -> Any:
        return self._table()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table())

    def __len__(self) -> int:
        return len(self._table())

    def _table(self) -> dict[str, Any]:
        values = [(field, getattr(self, field.name)) for field in fields(self)]
        return {field.name: value for field, value in values if not field.init or value != field.default}
