"""The command `pushout switch`: what its chip and its lines need, must count, or have counted."""

from pathlib import Path
from typing import Any

import click

from pushout.cli import completion
from pushout.cli.options import CELL, JSON, QOS, SET, Whole, allowed, console, no_sweep
from pushout.cli.page import HTML, write_page
from pushout.cli.streams import echo_json, tell_left_out

FRAME = Whole(64, 65_535)


@click.group(invoke_without_command=True)
@click.pass_context
def switch(context: click.Context) -> None:
    """Compare headroom with need, predict what tests of a switch must count, or explain counts."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@switch.command()
@click.argument("table", metavar="TABLE.csv", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--mtu", type=FRAME, metavar="BYTES", help="Largest frame of the class that loses nothing.")
@click.option("--smallest", type=FRAME, metavar="BYTES", help="Its smallest frame (default: mtu).")
@click.option("--other", type=Whole(0, 65_535), metavar="BYTES", help="Largest frame of other classes (default: mtu).")
@click.option("--cell", type=Whole(1, 65_535), metavar="BYTES", help="Size of the memory's cells.")
@HTML
@JSON
def headroom(table: Path, html: Path | None, as_json: bool, **given: int | None) -> None:
    """Compare the headroom that each line of a switch needs with what it is given.

    TABLE.csv has a row for each line, with the columns rate, cable, mtu and cell, and optionally given, line, smallest,
    other, response, share and share_size; without given the need is printed alone. Tables of SONiC
    (pg_profile_lookup.ini, config_db.json) have rates, cables and xoff; the options give what a table lacks.
    """
    from pushout.options import Headroom
    from pushout.switch.headroom import headroom

    result = headroom(Headroom(table, **given))
    if as_json:
        echo_json(result.document)
    else:
        from pushout.show import headroom as show

        show.headroom(result, console())
    write_page(html, result)


@switch.command()
@click.argument("profile", metavar="PROFILE", shell_complete=completion.scenario)
@click.option(
    "--packet", type=Whole(29, 65_535), default=64, show_default=True, metavar="BYTES", help="Size of the packets."
)
@click.option(
    "--lines", type=Whole(1, 64), metavar="N", help="Lines that fill their queues in turn (default: the profile's)."
)
@QOS
@CELL
@SET
@HTML
@JSON
def predict(profile: str, sets: tuple[str, ...], html: Path | None, as_json: bool, **given: Any) -> None:
    """Predict what acceptance tests must count: packets until a drop, a pause, a resumption, a loss and a mark.

    PROFILE is a scenario with a memory, or a switch's own tables of SONiC (buffers.json, config_db.json). A bench in
    the simulator sends packets to ports that stand still, through senders that ignore pauses, and counts: for each
    class alone, for its lines in turn, and for all of them together.
    """
    from pushout.options import Predict
    from pushout.switch.predict import predict

    with no_sweep(profile):
        result = predict(Predict(Path(profile), set=sets, **given), allowed())
    tell_left_out(result.left_out)
    if as_json:
        echo_json(result.document)
    else:
        from pushout.show import chip as show

        show.predicted(result, console())
    write_page(html, result)


@switch.command()
@click.argument("counts", metavar="COUNTS.csv", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--packet", type=Whole(29, 65_535), default=64, show_default=True, metavar="BYTES", help="Size of the packets."
)
@CELL
@click.option("--pool", type=Whole(1, 10**9), metavar="CELLS", help="Shared room of the pool, if it is known.")
@click.option(
    "--tolerance",
    type=Whole(0, 1000),
    metavar="PACKETS",
    help="Difference that is allowed (default: the least that is enough).",
)
@HTML
@JSON
def explain(counts: Path, html: Path | None, as_json: bool, **given: Any) -> None:
    """Find the configurations that explain what acceptance tests have counted: α, pool, reserved room, size of cells.

    COUNTS.csv has a row for each count, with the columns name (as switch predict calls it) and value, and optionally
    packet, the bytes of the packets, and lines, the number of lines that fill together. What the counts leave open is
    said; the simulator counts with each configuration, and the differences are its residuals.
    """
    from pushout.options import Explain
    from pushout.progress import Progress
    from pushout.switch.explain import explain

    with Progress("configurations") as progress:
        result = explain(Explain(counts, progress=progress, **given))
    if as_json:
        echo_json(result.document)
    else:
        from pushout.show import chip as show

        show.explained(result, console())
    write_page(html, result)
