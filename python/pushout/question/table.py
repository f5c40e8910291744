"""The table of a sweep: one row per run, with what was set and what was measured in columns."""

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from pushout import _core
from pushout.cache import build
from pushout.errors import QuestionError
from pushout.question.quantity import split, word
from pushout.question.store import Run
from pushout.simulate import cores

if TYPE_CHECKING:
    import pyarrow as pa


def column_of(path: str) -> str:
    """The column that a figure has: those of the summary stand without it."""
    return path.removeprefix("summary.")


PARTS = ("engine.", "flows.", "ports.", "circuits.", "summary.")


def path_of(name: str) -> str:
    """The path of a figure that somebody names: what says no part of the report is of the summary."""
    return name if name.startswith(PARTS) or name in ("duration_s", "warmup_s") else f"summary.{name}"


@dataclass(frozen=True)
class Swept:
    """A column of values that were set: as they were written, and as numbers where all have one unit."""

    name: str
    values: tuple[Any, ...]

    def arrays(self) -> dict[str, "pa.Array"]:
        """One array, or two, with an entry for each point."""
        import pyarrow as pa

        kinds = {type(value) for value in self.values if value is not None}
        if kinds == {bool}:
            return {self.name: pa.array(self.values, pa.bool_())}
        if kinds == {int} and all(-(2**63) <= value < 2**63 for value in self.values if value is not None):
            return {self.name: pa.array(self.values, pa.int64())}
        if kinds <= {int, float}:
            return {self.name: pa.array([_float(value) for value in self.values], pa.float64())}
        found: dict[str, pa.Array] = {self.name: pa.array(self._texts(), pa.string())}
        if (numbers := self._numbers()) is not None:
            name, values = numbers
            found[name] = pa.array(values, pa.float64())
        return found

    def names(self) -> list[str]:
        """The names of these arrays."""
        numbers = self._numbers()
        return [self.name] if numbers is None else [self.name, numbers[0]]

    def _numbers(self) -> tuple[str, list[float | None]] | None:
        """The column with the numbers of the texts, if they have one."""
        if not any(isinstance(value, str) for value in self.values):
            return None
        numbers = quantities(self._texts())
        return numbers and (f"{self.name}_{numbers[0]}", numbers[1])

    def _texts(self) -> list[str | None]:
        return [
            None if value is None else value if isinstance(value, str) else json.dumps(value) for value in self.values
        ]


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


def quantities(texts: Sequence[str | None]) -> tuple[str, list[float | None]] | None:
    """The numbers of texts such as "1000 cells", if all have one unit; the unit is made part of a name."""
    try:
        pairs = [None if text is None else split(text.strip("\"'")) for text in texts]
    except QuestionError:
        return None
    units = {unit for _, unit in filter(None, pairs)}
    if len(units) != 1 or units == {""}:
        return None
    return word(units.pop()), [pair and pair[0] for pair in pairs]


KINDS = (type(None), int, float, list)
"""What values of a figure can be; a column takes what comes last of them."""


def wider(kind: type, value: Any) -> type:
    """What a column has to take that took this kind until now: the simulator writes a count as 7, a measure as 7.0."""
    return max(kind, type(value), key=KINDS.index)


def kind_of(values: Iterable[Any]) -> "pa.DataType":
    """The type of a column with these values."""
    return _types()[reduce(wider, values, type(None))]


def _types() -> dict[type, "pa.DataType"]:
    import pyarrow as pa

    return {type(None): pa.float64(), int: pa.int64(), float: pa.float64(), list: pa.list_(pa.float64())}


@dataclass(frozen=True)
class Rows:
    """The columns that every part of a sweep's table has; `figures` says of which kind the values of each are."""

    swept: Mapping[str, "pa.Array"]
    figures: Mapping[str, type]

    @staticmethod
    def of(points: Sequence[Mapping[str, Any]], names: Sequence[str], figures: Mapping[str, type]) -> "Rows":
        """Columns for points with these values."""
        swept: dict[str, pa.Array] = {}
        for name in names:
            swept |= Swept(name, tuple(point.get(name) for point in points)).arrays()
        return Rows(swept, figures)

    @property
    def schema(self) -> "pa.Schema":
        """Names and types, with version and build of the simulator."""
        import pyarrow as pa

        types = _types()
        fields = [("point", pa.int64()), *((name, array.type) for name, array in self.swept.items())]
        fields += [("seed", pa.uint64()), *((column_of(path), types[kind]) for path, kind in self.figures.items())]
        return pa.schema([*fields, ("wall_s", pa.float64())], {"pushout": _core.VERSION, "build": build()})

    def table(self, first: int, points: Sequence[Sequence[Run]]) -> "pa.Table":
        """The rows of some points, the first of which has the number `first`."""
        import pyarrow as pa

        numbers = [first + index for index, runs in enumerate(points) for _ in runs]
        runs = [run for runs in points for run in runs]
        schema = self.schema
        columns: list[Any] = [pa.array(numbers, pa.int64())]
        columns += [array.take(columns[0]) for array in self.swept.values()]
        columns.append(pa.array([run.seed for run in runs], pa.uint64()))
        for path in self.figures:
            values = [run.figures.get(path) for run in runs]
            columns.append(pa.array(values, schema.field(column_of(path)).type))
        columns.append(pa.array([run.wall_s for run in runs], pa.float64()))
        return pa.table(columns, schema=schema)


def host() -> dict[str, Any]:
    """Where runs were done, for the manifest."""
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "cores": cores(),
    }


def engine() -> dict[str, str]:
    """What did the runs, for the manifest."""
    return {"version": _core.VERSION, "build": build()}
