"""Answers as tables: a row for every run of a sweep, or for every packet of a trace."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import TYPE_CHECKING, Any

from pushout import _core
from pushout.errors import QuestionError
from pushout.extras import need
from pushout.question.columns import NUMBERS, Columns
from pushout.question.table import column_of
from pushout.stats import Interval, interval

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa
    from rich.console import Console

NOTEBOOK_WIDTH = 100
"""So many letters are side by side in a notebook."""


@singledispatch
def display(result: object, console: "Console") -> None:
    """Print a result as its command does; `pushout.display` says how for each kind."""
    console.print(repr(result))


@singledispatch
def as_page(result: object) -> str:
    """An answer as a page; `pushout.page` says how for each kind."""
    raise TypeError(f"{type(result).__name__} has no page")


class Tabled:
    """What can be seen as a table; `columns` has it as arrays."""

    columns: Columns

    def __repr__(self) -> str:
        """What it is, in a line."""
        return f"<{type(self).__name__} {self._brief()}>"

    def _brief(self) -> str:
        """How large its table is, and what else tells it from others."""
        return f"{self.columns.rows} rows × {len(self.columns)} columns"

    def _repr_html_(self) -> str | None:
        """What the command prints, for a notebook; of a table by itself no command prints anything."""
        from rich.console import Console

        if display.dispatch(type(self)) is display.dispatch(object):
            return None
        console = Console(
            file=io.StringIO(), record=True, width=NOTEBOOK_WIDTH, highlight=False, markup=False, emoji=False
        )
        display(self, console)
        return console.export_html(inline_styles=True, code_format='<pre style="line-height: 1.3">{code}</pre>')

    def html(self) -> str:
        """The answer as one page that needs nothing from elsewhere: figures, numbers, how it was made."""
        return as_page(self)

    @cached_property
    def table(self) -> "pa.Table":
        """The table as Arrow has it (needs `pip install 'pushout[tables]'`, as the next three do)."""
        return self.columns.arrow()

    def to_arrow(self) -> "pa.Table":
        """The table as Arrow has it."""
        return self.table

    def to_polars(self) -> "polars.DataFrame":
        """The table as polars has it."""
        need("polars", "to_polars()")
        import polars

        frame = polars.from_arrow(self.table)
        assert isinstance(frame, polars.DataFrame)  # noqa: S101  (a table is no single column)
        return frame

    def to_pandas(self) -> "pandas.DataFrame":
        """The table as pandas has it."""
        need("pandas", "to_pandas()")
        return self.table.to_pandas()


@dataclass(frozen=True, eq=False, repr=False)
class Framed(Tabled):
    """A table by itself, or a result with a row for every run."""

    columns: Columns


@dataclass(frozen=True, eq=False, repr=False)
class Pointed(Framed):
    """A result whose rows belong to the points of a design."""

    points: list[dict[str, Any]]
    """The swept values of every point."""
    manifest: dict[str, Any]
    """Where the rows come from, as in `manifest.json`."""

    def of_point(self, point: int) -> Columns:
        """The rows of one point, in order of their seeds."""
        return self.columns.where("point", point)

    def swept(self) -> list[str]:
        """Every swept key and axis."""
        return list(dict.fromkeys(name for point in self.points for name in point))

    def telling(self, names: Sequence[str]) -> list[str]:
        """Those of some swept columns that it takes to tell points apart, if a label of an axis speaks for the others.

        A label may speak for keys that have whole tables as values, and for those that some points leave alone.
        """
        plain = [name for name in names if all(_is_plain(point.get(name)) for point in self.points)]
        return plain if self._combinations(plain) == self._combinations(names) else list(names)

    def _combinations(self, names: Sequence[str]) -> int:
        return len({tuple(str(point.get(name)) for name in names) for point in self.points})

    def scalars(self) -> list[str]:
        """The columns that are single figures of a run."""
        names = list(self.columns)
        return [name for name in names[names.index("seed") + 1 : -1] if self.columns.kinds[name] != "list"]

    def column(self, name: str) -> str:
        """The column that a figure has; one of the summary may be named as in a report (`summary.goodput_ratio`)."""
        for known in (name, column_of(name)):
            if known in self.columns:
                return known
        raise QuestionError(_core.unknown("column", name, list(self.columns)))

    def is_list(self, name: str) -> bool:
        """Whether a column has lists of numbers instead of single ones; refuse one that has neither."""
        kind = self.columns.kinds[self.column(name)]
        if kind not in (*NUMBERS, "list"):
            raise QuestionError(f"the column {name} holds no numbers")
        return kind == "list"

    def means(self, figure: str = "goodput_ratio") -> list[Interval | None]:
        """The mean of a figure at every point with its 95 % confidence interval; `None` where it was never measured."""
        if self.is_list(figure):
            raise QuestionError(f"{figure} is a list in every run, and what has a mean is a single figure")
        groups: dict[int, list[float]] = {}
        for point, value in zip(*map(self.columns.plain, ("point", self.column(figure))), strict=True):
            if value is not None:
                groups.setdefault(point, []).append(value)
        return [interval(groups[point]) if point in groups else None for point in range(len(self.points))]


def _is_plain(value: object) -> bool:
    """Whether a swept value is one to show: no table, and there at all."""
    return value is not None and not str(value).startswith("{")
