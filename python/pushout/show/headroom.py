"""The headroom of the lines of a switch."""

from rich.console import Console
from rich.text import Text

from pushout.quantity import grouped
from pushout.show.columns import Column, draw
from pushout.switch.headroom import HeadroomResult, Row

STYLES = {"enough": "green", "shared": "yellow", "too little": "red"}
"""The colour of each verdict."""


def headroom(result: HeadroomResult, console: Console) -> None:
    """Print a row for every line, and how many lines each shared pool carries at once."""
    numbers = ("need\n(bytes)", "given\n(bytes)", "need\n(cells)", "given\n(cells)")
    columns = [Column("line", right=False), Column("verdict", right=False), *map(Column, numbers)]
    columns += [Column("share", right=False), Column("largest term", right=False)]
    draw(console, columns, [_cells(row) for row in result.rows])
    pools = {row.line.pool: row for row in result.rows if row.line.pool}
    for name, row in pools.items():
        cells = row.line.pool_size.cells(row.line.cell)
        enough = (
            f"the {grouped(cells)} cells of pool {name} are enough for {row.lines_at_once} of {row.lines} lines at once"
        )
        console.print(enough, soft_wrap=True)


def _cells(row: Row) -> list[str | Text]:
    document = row.document
    keys = ("need_bytes", "given_bytes", "need_cells", "given_cells")
    numbers = ["–" if document[key] is None else grouped(document[key]) for key in keys]
    share = document["share_ratio"]
    part = f"{row.line.pool}: {100 * share:.3g} %" if share is not None else row.line.pool or "–"
    term = f"{row.dominant}: {100 * row.terms[row.dominant] / document['need_bytes']:.0f} %"
    return [row.line.name, _verdict(row), *numbers, part, term]


def _verdict(row: Row) -> str | Text:
    """Return the verdict, with the bytes that are missing."""
    if row.verdict is None:
        return "–"
    document = row.document
    missing = document["need_bytes"] - (document["given_bytes"] or 0)
    words = f"{row.verdict} by {grouped(missing)}" if row.verdict == "too little" and missing > 0 else row.verdict
    return Text(words, style=STYLES[row.verdict])
