"""Rows of results as columns: held in NumPy, which the first table loads, passed to Arrow and CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pushout.extras import need

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

Kind = Literal["bool", "int64", "uint64", "float64", "string", "list"]
"""The type of a column's values; a `list` is one of numbers."""

NUMBERS = ("int64", "uint64", "float64")


@dataclass(frozen=True, eq=False, repr=False)
class Columns(Mapping[str, "NDArray[Any]"]):
    """A table: `columns["seed"]` is an array with a value for every row.

    A missing value is NaN in an array of real numbers; any other array then holds objects, among them `None`.
    """

    arrays: Mapping[str, NDArray[Any]]
    kinds: Mapping[str, Kind]
    notes: Mapping[str, str] = field(default_factory=dict)
    """Metadata of the table as a whole."""

    @staticmethod
    def of(
        values: Mapping[str, Sequence[Any]],
        kinds: Mapping[str, Kind] | None = None,
        notes: Mapping[str, str] | None = None,
    ) -> Columns:
        """Make columns of these values, where `None` is missing; a kind that is not given follows from the values."""
        found: dict[str, Kind] = {name: (kinds or {}).get(name) or _kind(column) for name, column in values.items()}
        return Columns({name: _array(values[name], kind) for name, kind in found.items()}, found, notes or {})

    @staticmethod
    def joined(parts: Sequence[Columns]) -> Columns:
        """Concatenate the rows of several tables with the same columns."""
        import numpy as np

        first = parts[0]
        arrays = {name: np.concatenate([part.arrays[name] for part in parts]) for name in first}
        return Columns(arrays, first.kinds, first.notes)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        """Count the columns."""
        return len(self.arrays)

    @property
    def rows(self) -> int:
        """Count the rows."""
        return next((len(array) for array in self.arrays.values()), 0)

    def plain(self, name: str) -> list[Any]:
        """Return a column as Python values, `None` where nothing was measured."""
        if self.kinds[name] == "list":
            return [None if entries is None else _without_nan(entries) for entries in self.arrays[name]]
        return _without_nan(self.arrays[name])

    def where(self, name: str, value: object) -> Columns:
        """Select the rows in which a column has this value."""
        chosen = self.arrays[name] == value
        return Columns({each: array[chosen] for each, array in self.arrays.items()}, self.kinds, self.notes)

    def parts(self, rows: int) -> Iterator[Columns]:
        """Split the table into parts of `rows` rows, at least one part."""
        for first in range(0, max(self.rows, 1), rows):
            arrays = {name: array[first : first + rows] for name, array in self.arrays.items()}
            yield Columns(arrays, self.kinds, self.notes)

    def arrow(self) -> pa.Table:
        """Convert the table to Arrow."""
        pa = need("pyarrow", "an Arrow table")
        schema = self.schema()
        return pa.table([self._arrow(name, schema.field(name).type) for name in self], schema=schema)

    def _arrow(self, name: str, kind: pa.DataType) -> pa.Array:
        """Convert a column to Arrow, where a missing number is null."""
        array = self.arrays[name]
        values = self.plain(name) if array.dtype == object else array
        return need("pyarrow", "an Arrow table").array(values, kind, from_pandas=array.dtype == float)

    def schema(self) -> pa.Schema:
        """Return names and types as an Arrow schema."""
        pa = need("pyarrow", "an Arrow table")
        types = {"list": pa.list_(pa.float64())}
        fields = [(name, types.get(kind) or getattr(pa, _ARROW.get(kind, kind))()) for name, kind in self.kinds.items()]
        return pa.schema(fields, self.notes or None)

    def records(self) -> Iterator[tuple[str, ...]]:
        """Yield the rows as texts for a CSV file; a missing value is empty, and a list is JSON."""
        yield from zip(*(map(_text, self.plain(name)) for name in self), strict=True)


_ARROW = {"bool": "bool_"}


def _kind(values: Iterable[Any]) -> Kind:
    """Infer the kind of values from their types."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {list}:
        return "list"
    if kinds == {bool}:
        return "bool"
    if kinds == {int}:
        return "int64"
    return "float64" if kinds <= {int, float} else "string"


def _array(values: Sequence[Any], kind: Kind) -> NDArray[Any]:
    import numpy as np

    if kind == "float64":
        return np.array(values, np.float64)  # None becomes NaN
    if kind in ("bool", "int64", "uint64") and None not in values:
        return np.array(values, kind)
    array = np.empty(len(values), object)
    for row, value in enumerate(values):
        array[row] = _array(value, "float64") if kind == "list" and value is not None else value
    return array


def _without_nan(array: NDArray[Any]) -> list[Any]:
    values: list[Any] = array.tolist()
    return [None if math.isnan(value) else value for value in values] if array.dtype == float else values


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | list):
        return json.dumps(value)
    return value if isinstance(value, str) else repr(value)
