"""Tables for a terminal of any width: no number and no name is ever shortened, or broken in two.

What does not fit beside each other stands below each other: figures in several tables that begin with the same columns
(`draw`), texts entry by entry (`describe`).
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

BETWEEN, AROUND = 3, 2
"""Blanks between two columns, and at the edges of a table."""

NARROW = 72
"""Texts are not set beside each other on less."""

NOISE = 1e-12
"""What an interval is no wider than, of its mean, comes from adding up."""

Cell = str | Text


class Column(NamedTuple):
    """What stands at the top, on which side its cells are, how they look, and whether a text stays on one line."""

    title: str
    right: bool = True
    style: str = ""
    whole: bool = False


def draw(console: Console, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *, keys: int = 1) -> None:
    """Print a table; the first `keys` columns say what a row is about, and begin every part of one that is too wide."""
    table = _texts(rows)
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
    """Print a table of texts; where it is too narrow for that, what is said of an entry stands below its name."""
    if console.width < NARROW:
        _listed(console, columns, rows, title)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=Text(title) if title else None, title_justify="left")
    for head, right, style, whole in columns:
        table.add_column(head, justify="right" if right else "left", style=style, no_wrap=whole, overflow="fold")
    for row in _texts(rows):
        table.add_row(*row)
    console.print(table)


def of_runs(told: str, count: int, reps: int) -> str:
    """A mean as it is told, with how many runs it is the mean of if that is not all of the `reps` replications."""
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
    """All cells as they are, whatever brackets they have."""
    return [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]


def _widths(heads: Sequence[str], widest: Sequence[int]) -> list[int]:
    """How wide columns are: as the widest cell, or the widest line of the head."""
    return [max(width, *map(cell_len, head.split("\n"))) for head, width in zip(heads, widest, strict=True)]


def _across(widths: Sequence[int]) -> int:
    return sum(widths) + BETWEEN * (len(widths) - 1) + AROUND


def _folded(head: str, width: int) -> str:
    """A head in more lines, no wider than the cells if that can be: words and the names of a path stay whole."""
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
    """Which columns stand beside each other: as many as there is room for, but one besides the keys at least."""
    always = list(range(keys))
    part = always[:]
    for index in range(keys, len(widths)):
        if len(part) > keys and _across([widths[other] for other in [*part, index]]) > room:
            yield part
            part = always[:]
        part.append(index)
    yield part
