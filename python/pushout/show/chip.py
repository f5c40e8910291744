"""The numbers of acceptance tests."""

from rich.console import Console

from pushout.question.chip import ChipResult
from pushout.question.quantity import grouped
from pushout.show.columns import Column, draw


def predicted(result: ChipResult, console: Console) -> None:
    """Print every number with its margin, then the reasons."""
    columns = [Column("number", right=False), Column("packets"), Column("cells"), Column("margin")]
    rows = [[each.name, grouped(each.value), grouped(each.cells), f"± {each.margin}"] for each in result.expected]
    draw(console, columns, rows)
    for each in result.expected:
        console.print(f"{each.name}: {each.why}", soft_wrap=True)
