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
    titles = ("line", "need\n(bytes)", "need\n(cells)", "given\n(bytes)", "given\n(cells)", "largest term")
    columns = [Column(titles[0], right=False), *map(Column, titles[1:-1])]
    columns += [Column("share", right=False), Column(titles[-1], right=False), Column("verdict", right=False)]
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
    keys = ("need_bytes", "need_cells", "given_bytes", "given_cells")
    numbers = ["–" if document[key] is None else grouped(document[key]) for key in keys]
    share = document["share_ratio"]
    part = f"{row.line.pool}: {100 * share:.3g} %" if share is not None else row.line.pool or "–"
    term = f"{row.dominant}: {100 * row.terms[row.dominant] / document['need_bytes']:.0f} %"
    verdict = "–" if row.verdict is None else Text(row.verdict, style=STYLES[row.verdict])
    return [row.line.name, *numbers, part, term, verdict]
