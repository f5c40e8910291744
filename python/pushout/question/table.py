"""Results as tables: one row per run, in Parquet with a manifest, in a folder or an object store."""

import json
import os
import platform
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushout import _core
from pushout.cache import build, write
from pushout.question import QuestionError
from pushout.question.quantity import split
from pushout.question.store import Run
from pushout.simulate import cores

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP = 65_536

UNITS = {"bps": "b/s", "s": "s", "cells": "cells", "bytes": "bytes", "percent": "%"}
"""Units by the endings of names."""


def column_of(path: str) -> str:
    """The column that a figure has: those of the summary stand without it."""
    return path.removeprefix("summary.")


PARTS = ("engine.", "flows.", "ports.", "circuits.", "summary.")


def path_of(name: str) -> str:
    """The path of a figure that somebody names: what says no part of the report is of the summary."""
    return name if name.startswith(PARTS) or name in ("duration_s", "warmup_s") else f"summary.{name}"


class Output:
    """Where results go: a folder, or whatever `pyarrow.fs` knows by a URI (`s3://bucket/folder?region=…`)."""

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.place = os.fspath(place)
        self.local = None if "://" in self.place else Path(self.place)
        if self.local is not None:
            self.local.mkdir(parents=True, exist_ok=True)
            return
        from pyarrow import fs

        try:
            self._fs, self._base = fs.FileSystem.from_uri(self.place)
        except (ValueError, TypeError) as error:
            raise OSError(0, str(error).splitlines()[0], self.place) from None

    def text(self, name: str, text: str) -> str:
        """Write a text; the place where it is."""
        return self.data(name, text.encode())

    def data(self, name: str, data: bytes) -> str:
        """Write octets; the place where they are."""
        if self.local is not None:
            write(self.local / name, data)
            return str(self.local / name)
        with self._open(name) as stream:
            stream.write(data)
        return self._full(name)

    def figure(self, name: str, figure: Any) -> list[str]:
        """Write a drawing as SVG, and as PNG for those who cannot use that; the places."""
        from pushout.question.plot import images

        return [self.data(f"{name}.{kind}", image) for kind, image in images(figure).items()]

    def parquet(self, name: str, schema: "pa.Schema", batches: Iterable["pa.Table"]) -> str:
        """Write a table; until it is whole nothing has its name."""
        import pyarrow.parquet as pq

        options: dict[str, Any] = {"compression": "zstd", "version": "2.6"}
        if self.local is None:
            place = self._full(name)
            with self._named(place), self._open(name) as stream, pq.ParquetWriter(stream, schema, **options) as writer:
                _write(writer, batches)
            return place
        draft = self.local / f".{name}.{os.getpid()}.{threading.get_ident()}"
        try:
            with self._named(str(self.local / name)), pq.ParquetWriter(draft, schema, **options) as writer:
                _write(writer, batches)
            draft.replace(self.local / name)
        finally:
            draft.unlink(missing_ok=True)
        return str(self.local / name)

    @staticmethod
    @contextmanager
    def _named(place: str) -> Iterator[None]:
        """Arrow tells what is wrong at length, but not always where."""
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error).splitlines()[0], place) from None

    def _open(self, name: str) -> Any:
        try:
            if self._fs.type_name != "s3":
                self._fs.create_dir(self._base, recursive=True)
            return self._fs.open_output_stream(f"{self._base}/{name}")
        except OSError as error:
            raise OSError(error.errno, str(error).splitlines()[0], self._full(name)) from None

    def _full(self, name: str) -> str:
        head, _, query = self.place.partition("?")
        return f"{head.rstrip('/')}/{name}" + (f"?{query}" if query else "")


def _write(writer: Any, batches: Iterable["pa.Table"]) -> None:
    for batch in batches:
        writer.write_table(batch, row_group_size=ROW_GROUP)


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
        texts = [
            None if value is None else value if isinstance(value, str) else json.dumps(value) for value in self.values
        ]
        found: dict[str, pa.Array] = {self.name: pa.array(texts, pa.string())}
        if (numbers := quantities(texts)) is not None:
            unit, values = numbers
            found[f"{self.name}_{unit}"] = pa.array(values, pa.float64())
        return found


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
    unit = units.pop().replace("%", "percent").replace("/", "_per_")
    return unit, [pair and pair[0] for pair in pairs]


@dataclass(frozen=True)
class Rows:
    """The columns that every part of a sweep's table has."""

    swept: Mapping[str, "pa.Array"]
    figures: Sequence[str]
    lists: frozenset[str]

    @staticmethod
    def of(points: Sequence[Mapping[str, Any]], names: Sequence[str], figures: Mapping[str, bool]) -> "Rows":
        """Columns for points with these values; `figures` says for each whether it is a list."""
        swept: dict[str, pa.Array] = {}
        for name in names:
            swept |= Swept(name, tuple(point.get(name) for point in points)).arrays()
        if both := sorted(swept.keys() & {column_of(path) for path in figures}):
            raise QuestionError(f'"{both[0]}" is the name of a figure and cannot be that of an axis')
        lists = frozenset(path for path, is_list in figures.items() if is_list)
        return Rows(swept, list(figures), lists)

    @property
    def schema(self) -> "pa.Schema":
        """Names and types, with version and build of the simulator."""
        import pyarrow as pa

        numbers = {True: pa.list_(pa.float64()), False: pa.float64()}
        fields = [("point", pa.int64()), *((name, array.type) for name, array in self.swept.items())]
        fields += [("seed", pa.uint64()), *((column_of(path), numbers[path in self.lists]) for path in self.figures)]
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
