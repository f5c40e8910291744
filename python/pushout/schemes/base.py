"""A table of a scenario as an object: what the classes of `pushout.schemes` have in common."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, eq=False)
class Scheme(Mapping[str, Any]):
    """A scheme and its parameters: a read-only mapping, which can stand wherever a table of a scenario can.

    In it are the name, and the parameters that are not at their defaults. The values are read when the scenario is:
    what is wrong with one is said then.
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
