"""Results as tables: a row for every run of a sweep, or for every packet of a trace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, singledispatch
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from pushout import _core
from pushout.answer.columns import NUMBERS, Columns
from pushout.errors import FigureError, QuestionError
from pushout.extras import need
from pushout.stats import Interval, interval

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa
    from rich.console import Console


T = TypeVar("T")

_LATER: dict[str, None] = {}


def later(*modules: str) -> None:
    """Name modules that register how results are shown; they are loaded when one is shown."""
    _LATER.update(dict.fromkeys(modules))


def loaded() -> None:
    """Load these modules."""
    for module in list(_LATER):
        import_module(module)
        _LATER.pop(module, None)


@singledispatch
def display(result: object, console: "Console") -> None:
    """Print a result as its command does; `pushout.display` registers a function for each kind."""
    console.print(repr(result))


@singledispatch
def as_page(result: object) -> str:
    """An answer as a page; `pushout.page` says how for each kind."""
    raise TypeError(f"{type(result).__name__} has no page")


@singledispatch
def as_fragment(result: object) -> str | None:
    """An answer as a part of a page, for notebooks; `pushout.page` says how for each kind."""
    return None


class Tabled:
    """A result that is also a table; `columns` holds it as arrays."""

    columns: Columns

    def __repr__(self) -> str:
        """Describe the result in one line."""
        return f"<{type(self).__name__} {self._brief()}>"

    def _brief(self) -> str:
        """Return the size of the table and what else identifies the result."""
        return f"{self.columns.rows} rows × {len(self.columns)} columns"

    def _repr_html_(self) -> str | None:
        """Show tables and figure in a notebook; None for a plain table, which no command prints."""
        loaded()
        return as_fragment(self)

    def html(self) -> str:
        """The answer as one self-contained page: figures, numbers and origin."""
        loaded()
        return as_page(self)

    @cached_property
    def table(self) -> "pa.Table":
        """Convert the table to Arrow (needs `pip install 'pushout[tables]'`, as do the next three)."""
        return self.columns.arrow()

    def to_arrow(self) -> "pa.Table":
        """Convert the table to Arrow."""
        return self.table

    def to_polars(self) -> "polars.DataFrame":
        """Convert the table to polars."""
        need("polars", "to_polars()")
        import polars

        frame = polars.from_arrow(self.table)
        assert isinstance(frame, polars.DataFrame)  # noqa: S101  (a table, never a single column)
        return frame

    def to_pandas(self) -> "pandas.DataFrame":
        """Convert the table to pandas."""
        need("pandas", "to_pandas()")
        return self.table.to_pandas()


@dataclass(frozen=True, eq=False, repr=False)
class Framed(Tabled):
    """A plain table, or a result with a row for every run."""

    columns: Columns


def labelled(label: object, entries: Mapping[str, T]) -> T:
    """Find the entry of a policy by its label, or by the name before its parameters if no other has it."""
    if isinstance(label, str) and label in entries:
        return entries[label]
    named = [entry for other, entry in entries.items() if other.split(",")[0] == label]
    if len(named) == 1:
        return named[0]
    if not any(entries):
        raise FigureError(str(label), "the question named no policies, so the answer has no label")
    raise FigureError(str(label), _core.unknown("policy", str(label), list(entries)))


@dataclass(frozen=True, eq=False, repr=False)
class Pointed(Framed):
    """A result whose rows belong to the points of a design."""

    points: list[dict[str, Any]]
    """The swept values of every point."""
    manifest: dict[str, Any]
    """The origin of the rows, as in `manifest.json`."""

    def of_point(self, point: int) -> Columns:
        """Select the rows of one point, in order of their seeds."""
        return self.columns.where("point", point)

    def swept(self) -> list[str]:
        """List every swept key and axis."""
        return list(dict.fromkeys(name for point in self.points for name in point))

    def telling(self, names: Sequence[str]) -> list[str]:
        """Choose the swept columns that distinguish the points, where the label of an axis replaces its keys.

        A label may replace keys whose values are tables, and keys that some points do not set.
        """
        plain = [name for name in names if all(_is_plain(point.get(name)) for point in self.points)]
        return plain if self._combinations(plain) == self._combinations(names) else list(names)

    def _combinations(self, names: Sequence[str]) -> int:
        return len({tuple(str(point.get(name)) for name in names) for point in self.points})

    def scalars(self) -> list[str]:
        """List the columns that are single figures of a run."""
        names = list(self.columns)
        return [name for name in names[names.index("seed") + 1 : -1] if self.columns.kinds[name] != "list"]

    def column(self, name: str) -> str:
        """Find the column of a figure; one of the summary may have its prefix (`summary.goodput_ratio`)."""
        from pushout.names.figures import column_of

        for known in (name, column_of(name)):
            if known in self.columns:
                return known
        raise QuestionError(_core.unknown("column", name, list(self.columns)))

    def is_list(self, name: str) -> bool:
        """Return whether a column has lists of numbers, not single ones; refuse one that has neither."""
        kind = self.columns.kinds[self.column(name)]
        if kind not in (*NUMBERS, "list"):
            raise QuestionError(f"the column {name} must hold numbers to be averaged or drawn")
        return kind == "list"

    def means(self, figure: str = "goodput_ratio") -> list[Interval | None]:
        """Average a figure at every point, with a 95 % confidence interval; `None` where it was never measured."""
        if self.is_list(figure):
            raise QuestionError(f"{figure} must be a single figure of every run, not a list")
        groups: dict[int, list[float]] = {}
        for point, value in zip(*map(self.columns.plain, ("point", self.column(figure))), strict=True):
            if value is not None:
                groups.setdefault(point, []).append(value)
        return [interval(groups[point]) if point in groups else None for point in range(len(self.points))]


def _is_plain(value: object) -> bool:
    """Return whether a swept value can be shown: it exists and is not a table."""
    return value is not None and not str(value).startswith("{")
