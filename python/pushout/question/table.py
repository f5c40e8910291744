"""The table of a sweep: one row per run, with the swept values and the figures in columns."""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pushout import _core
from pushout.answer.columns import Columns, Kind
from pushout.cache import build
from pushout.errors import QuestionError
from pushout.names.figures import column_of
from pushout.quantity import split, word
from pushout.question.store import Run
from pushout.simulate import cores


@dataclass(frozen=True)
class Swept:
    """A column of swept values: as written, and as numbers if all have one unit."""

    name: str
    values: tuple[Any, ...]

    def columns(self) -> dict[str, tuple[Kind, Sequence[Any]]]:
        """Make one column or two, with an entry for each point."""
        kinds = {type(value) for value in self.values if value is not None}
        if kinds == {bool}:
            return {self.name: ("bool", self.values)}
        if kinds == {int} and all(-(2**63) <= value < 2**63 for value in self.values if value is not None):
            return {self.name: ("int64", self.values)}
        if kinds <= {int, float}:
            return {self.name: ("float64", self.values)}
        found: dict[str, tuple[Kind, Sequence[Any]]] = {self.name: ("string", self._texts())}
        if (numbers := self._numbers()) is not None:
            name, values = numbers
            found[name] = ("float64", values)
        return found

    def names(self) -> list[str]:
        """Return the names of these columns."""
        numbers = self._numbers()
        return [self.name] if numbers is None else [self.name, numbers[0]]

    def _numbers(self) -> tuple[str, list[float | None]] | None:
        """Return the name of the column with numbers, if there is one."""
        if not any(isinstance(value, str) for value in self.values):
            return None
        numbers = quantities(self._texts())
        return numbers and (f"{self.name}_{numbers[0]}", numbers[1])

    def _texts(self) -> list[str | None]:
        return [
            None if value is None else value if isinstance(value, str) else json.dumps(value) for value in self.values
        ]


def quantities(texts: Sequence[str | None]) -> tuple[str, list[float | None]] | None:
    """Parse texts such as "1000 cells" into numbers if all have one unit, which becomes part of a name."""
    try:
        pairs = [None if text is None else split(text.strip("\"'")) for text in texts]
    except QuestionError:
        return None
    units = {unit for _, unit in filter(None, pairs)}
    if len(units) != 1 or units == {""}:
        return None
    return word(units.pop()), [pair and pair[0] for pair in pairs]


KINDS: dict[type, Kind] = {type(None): "float64", int: "int64", float: "float64", list: "list"}
"""Types of values and the kinds of their columns; a column has the last kind that occurs."""


def wider(kind: type, other: type) -> type:
    """Widen the kind of a column for a value of another: the simulator writes a count as 7, a measure as 7.0."""
    return max(kind, other, key=list(KINDS).index)


@dataclass(frozen=True)
class Rows:
    """The columns of every part of a sweep's table; `figures` gives the kinds of their values."""

    swept: Mapping[str, tuple[Kind, Sequence[Any]]]
    figures: Mapping[str, type]

    @staticmethod
    def of(points: Sequence[Mapping[str, Any]], names: Sequence[str], figures: Mapping[str, type]) -> "Rows":
        """Make the columns for points with these values."""
        swept: dict[str, tuple[Kind, Sequence[Any]]] = {}
        for name in names:
            swept |= Swept(name, tuple(point.get(name) for point in points)).columns()
        return Rows(swept, figures)

    def part(self, first: int, points: Sequence[Sequence[Run]]) -> Columns:
        """Make the rows of points from the index `first` on, with version and build of the simulator."""
        numbers = [first + index for index, runs in enumerate(points) for _ in runs]
        runs = [run for runs in points for run in runs]
        columns: dict[str, Sequence[Any]] = {"point": numbers}
        columns |= {name: [values[point] for point in numbers] for name, (_, values) in self.swept.items()}
        columns["seed"] = [run.seed for run in runs]
        columns |= zip(map(column_of, self.figures), _by_figure(runs, list(self.figures)), strict=True)
        columns["wall_s"] = [run.wall_s for run in runs]
        return Columns.of(columns, self._kinds(), {"pushout": _core.VERSION, "build": build()})

    def _kinds(self) -> dict[str, Kind]:
        found: dict[str, Kind] = {name: kind for name, (kind, _) in self.swept.items()}
        found |= {column_of(path): KINDS[kind] for path, kind in self.figures.items()}
        return {**found, "point": "int64", "seed": "uint64", "wall_s": "float64"}


def _by_figure(runs: Sequence[Run], paths: Sequence[str]) -> list[list[Any]]:
    """Return the values of each figure, `None` for a run without it."""
    rows = [[*map(run.figures.get, paths)] for run in runs]
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in paths]


def host() -> dict[str, Any]:
    """Describe the machine of the runs, for the manifest."""
    return {
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "cores": cores(),
    }


def engine() -> dict[str, str]:
    """Describe the simulator, for the manifest."""
    return {"version": _core.VERSION, "build": build()}
