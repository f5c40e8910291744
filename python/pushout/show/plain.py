"""Print to a pipe or a file what Rich prints there, without loading it: that takes longer than a short run.

`tests/test_columns.py` compares the two.
"""

import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO, Union

if TYPE_CHECKING:
    from rich.console import Console

Piece = tuple[str, str]
"""A part of a line and its style, as Rich names styles."""

KNOWN = re.compile("[ -~¡-¬®-ÿ—…“”≤≥≈φ\u2013\u2212]*")
"""Texts whose characters all take one column; of others, Rich has a table."""


class Plain:
    """A console without colours and styles."""

    def __init__(self, width: int, file: TextIO | None = None) -> None:
        self.width = width
        self.file = file

    def write(self, line: str) -> None:
        """Write a line as it is."""
        (self.file or sys.stdout).write(f"{line}\n")

    def wrap(self, line: str) -> None:
        """Write a line; break it between words if it is too wide."""
        if columns(line) <= self.width:
            self.write(line)
            return
        from rich.console import Console

        Console(file=self.file, width=self.width, color_system=None, highlight=False, markup=False, emoji=False).print(
            line
        )


Paper = Union["Console", Plain]
"""What results are printed on."""


def columns(text: str) -> int:
    """Count the columns of a terminal that a text takes."""
    if KNOWN.fullmatch(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def say(paper: Paper, pieces: Sequence[Piece], *, whole: bool = False) -> None:
    """Print pieces on one line; unless it is `whole`, it may be broken."""
    if isinstance(paper, Plain):
        line = "".join(text for text, _ in pieces)
        (paper.write if whole else paper.wrap)(line)
        return
    from rich.text import Text

    paper.print(Text.assemble(*pieces), soft_wrap=whole)


def table(paper: Plain, heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]) -> None:
    """Print a table: a head of one line or several, a rule and the rows, as Rich does with its box SIMPLE_HEAD."""
    rows = [list(row) for row in rows]
    titles = [head.split("\n") for head in heads]
    deepest = max(map(len, titles))
    above = [[""] * (deepest - len(lines)) + lines for lines in titles]
    lines = [*map(list, zip(*above, strict=True)), *rows]
    widths = [max(map(columns, column)) for column in zip(*lines, strict=True)]
    shown = [_aligned(line, widths, right) for line in lines]
    edge = " " * columns(shown[0])
    rule = f" {'─' * (len(edge) - 2)} "
    for line in (edge, *shown[:deepest], rule, *shown[deepest:], edge):
        paper.write(line)


def _aligned(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    """Fill cells up to the widths of their columns."""
    filled = []
    for cell, width, to_the_right in zip(cells, widths, right, strict=True):
        space = " " * (width - columns(cell))
        filled.append(f"{space}{cell}" if to_the_right else f"{cell}{space}")
    return f" {'   '.join(filled)} "
