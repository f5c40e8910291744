"""The command `pushout headroom`."""

from pathlib import Path

import click

from pushout.cli.options import JSON, Whole, console
from pushout.cli.page import HTML, write_page
from pushout.cli.streams import echo_json

FRAME = Whole(64, 65_535)


@click.command()
@click.argument("table", metavar="TABLE.csv", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--mtu", type=FRAME, metavar="BYTES", help="Largest frame of the class that loses nothing.")
@click.option("--smallest", type=FRAME, metavar="BYTES", help="Its smallest frame (default: mtu).")
@click.option("--other", type=Whole(0, 65_535), metavar="BYTES", help="Largest frame of other classes (default: mtu).")
@click.option("--cell", type=Whole(1, 65_535), metavar="BYTES", help="Size of the memory's cells.")
@HTML
@JSON
def headroom(
    table: Path,
    mtu: int | None,
    smallest: int | None,
    other: int | None,
    cell: int | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Compare the headroom that each line of a switch needs with what it is given.

    TABLE.csv has a row for each line, with the columns rate, cable, mtu, cell and given, and optionally line, smallest,
    other, response, share and share_size. A table of SONiC (pg_profile_lookup.ini) has rates, cables and xoff; the
    options give what a table lacks.
    """
    from pushout.question.headroom import headroom as question
    from pushout.question.headroom_table import read

    given = {"mtu": mtu, "smallest": smallest, "other": other, "cell": cell}
    result = question(read(table, given))
    if as_json:
        echo_json(result.document)
    else:
        from pushout.show import headroom as show

        show.headroom(result, console())
    write_page(html, result)
