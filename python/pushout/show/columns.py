"""Tables for a terminal of any width: numbers and names are never shortened or broken.

A table of figures that is too wide becomes several tables with the same first columns (`draw`); a table of texts
becomes a list of entries (`describe`).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pushout.show.sheet import Sheet

BETWEEN, AROUND = 3, 2
"""Spaces between two columns, and at the edges of a table."""

NARROW = 72
"""Least width for texts in columns."""

NOISE = 1e-12
"""An interval narrower than this share of its mean is a rounding error."""

Cell = str | Text


class Column(NamedTuple):
    """The head of a column, the alignment and style of its cells, and whether a text stays on one line."""

    title: str
    right: bool = True
    style: str = ""
    whole: bool = False


def draw(console: Console, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *, keys: int = 1) -> None:
    """Print a table; the first `keys` columns identify a row and are repeated in every part of a wide table."""
    table = _texts(rows)
    if isinstance(console, Sheet):
        console.table(_heads(columns), table, keys, "")
        return
    widest = [max((cell_len(row[index].plain) for row in table), default=0) for index in range(len(columns))]
    heads = [column.title for column in columns]
    if _across(_widths(heads, widest)) > console.width:
        heads = [_folded(head, width) for head, width in zip(heads, widest, strict=True)]
    widths = _widths(heads, widest)
    for part in _parts(widths, keys, console.width):
        shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, width=_across([widths[index] for index in part]))
        for index in part:
            _, right, style, _ = columns[index]
            side: Literal["left", "right"] = "right" if right else "left"
            shown.add_column(Text(heads[index]), justify=side, style=style, no_wrap=True, vertical="bottom")
        for row in table:
            shown.add_row(*(row[index] for index in part))
        console.print(shown, crop=False)


def describe(console: Console, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *, title: str = "") -> None:
    """Print a table of texts; on a narrow terminal, a list with the texts of an entry below its name."""
    if isinstance(console, Sheet):
        console.table(_heads(columns), _texts(rows), 1, title)
        return
    if console.width < NARROW:
        _listed(console, columns, rows, title)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=Text(title) if title else None, title_justify="left")
    for head, right, style, whole in columns:
        table.add_column(head, justify="right" if right else "left", style=style, no_wrap=whole, overflow="fold")
    for row in _texts(rows):
        table.add_row(*row)
    console.print(table)


def pairs(console: Console, lines: Sequence[tuple[str, str]]) -> None:
    """Print names with their values, side by side."""
    if isinstance(console, Sheet):
        console.table([("figure", False), ("value", True)], _texts(lines), 1, "")
        return
    width = max((len(title) for title, _ in lines), default=0)
    for title, value in lines:
        console.print(Text(title.ljust(width + 2)).append(value, style="bold"), soft_wrap=True)


def _heads(columns: Sequence[Column]) -> list[tuple[str, bool]]:
    return [(column.title, column.right) for column in columns]


def of_runs(told: str, count: int, reps: int) -> str:
    """Add the number of runs to a mean if it is less than the `reps` replications."""
    return told if count >= reps else f"{told} ({count} of {reps} runs)"


def _listed(console: Console, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], title: str) -> None:
    if title:
        console.print(Text(title, style="italic"))
    for row in _texts(rows):
        (_, name), *others = zip(columns, row, strict=False)
        console.print(name)
        for column, cell in others:
            console.print(Padding(Text(f"{column.title}: ").append(cell), (0, 0, 0, 4)))


def _texts(rows: Sequence[Sequence[Cell]]) -> list[list[Text]]:
    """Make texts of all cells, so that brackets are not markup."""
    return [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]


def _widths(heads: Sequence[str], widest: Sequence[int]) -> list[int]:
    """Compute the widths of columns: that of the widest cell or line of the head."""
    return [max(width, *map(cell_len, head.split("\n"))) for head, width in zip(heads, widest, strict=True)]


def _across(widths: Sequence[int]) -> int:
    return sum(widths) + BETWEEN * (len(widths) - 1) + AROUND


def _folded(head: str, width: int) -> str:
    """Break a head into lines no wider than the cells, if possible; words and names in a path stay whole."""
    lines: list[str] = []
    for line in head.split("\n"):
        first, *others = re.findall(r"[^ .]*[ .]*", line)
        lines.append(first)
        for word in others:
            if lines[-1] and cell_len(f"{lines[-1]}{word}".rstrip()) > width:
                lines.append("")
            lines[-1] += word
    return "\n".join(line.rstrip() for line in lines if line)


def _parts(widths: Sequence[int], keys: int, room: int) -> Iterator[list[int]]:
    """Split columns into tables: as many as fit, but at least one besides the keys."""
    always = list(range(keys))
    part = always[:]
    for index in range(keys, len(widths)):
        if len(part) > keys and _across([widths[other] for other in [*part, index]]) > room:
            yield part
            part = always[:]
        part.append(index)
    yield part
