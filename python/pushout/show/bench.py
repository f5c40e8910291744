"""Print a speed measurement: its table and its notes."""

from typing import Any

from rich.console import Console
from rich.text import Text

from pushout.bench.peers import OURS
from pushout.bench.present import HEADINGS, notes, rows
from pushout.show.columns import Column, draw


def measurement(document: dict[str, Any], console: Console) -> None:
    """Print the table and the notes."""
    columns = [Column(heading, right=index >= 2) for index, heading in enumerate(HEADINGS)]
    lines = [[Text(cell, style="bold" if row.who == OURS else "") for cell in row.cells()] for row in rows(document)]
    draw(console, columns, lines, keys=2)
    for note in notes(document):
        console.print(Text(note), soft_wrap=True)
