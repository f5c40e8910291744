"""The command `pushout chip`."""

from pathlib import Path

import click

from pushout.cli import completion
from pushout.cli.options import CELL, JSON, QOS, SET, Whole, allowed, console, no_sweep
from pushout.cli.page import HTML, write_page
from pushout.cli.streams import echo_json, tell_left_out


@click.group(invoke_without_command=True)
@click.pass_context
def chip(context: click.Context) -> None:
    """Predict what acceptance tests of a switch must count, or explain what they have counted."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@chip.command()
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
def predict(
    profile: str,
    packet: int,
    lines: int | None,
    qos: Path | None,
    cell: int | None,
    sets: tuple[str, ...],
    html: Path | None,
    as_json: bool,
) -> None:
    """Predict what acceptance tests must count: packets until a drop, a pause, a resumption, a loss and a mark.

    PROFILE is a scenario with a memory, or a switch's own tables of SONiC (buffers.json, config_db.json). A bench in
    the simulator sends packets to ports that stand still, through senders that ignore pauses, and counts: for each
    class alone, for its lines in turn, and for all of them together.
    """
    from pushout.question import chip as question

    with no_sweep(profile):
        read = question.profile(Path(profile), qos=qos, cell=cell, allow_files=allowed())
        result = question.predict(read, sets, packet=packet, lines=lines)
    tell_left_out(result.left_out)
    if as_json:
        echo_json(result.document)
    else:
        from pushout.show import chip as show

        show.predicted(result, console())
    write_page(html, result)


@chip.command()
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
def explain(
    counts: Path,
    packet: int,
    cell: int | None,
    pool: int | None,
    tolerance: int | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Find the configurations that explain what acceptance tests have counted: α, pool, reserved room, size of cells.

    COUNTS.csv has a row for each count, with the columns name (as chip predict calls it) and value, and optionally
    packet, the bytes of the packets, and lines, the number of lines that fill together. What the counts leave open is
    said; the simulator counts with each configuration, and the differences are its residuals.
    """
    from pushout.progress import Progress
    from pushout.question.chip_counts import read
    from pushout.question.chip_explain import explain as question

    with Progress("configurations") as progress:
        result = question(read(counts, packet), cell=cell, pool=pool, tolerance=tolerance, progress=progress)
    if as_json:
        echo_json(result.document)
    else:
        from pushout.show import chip as show

        show.explained(result, console())
    write_page(html, result)
