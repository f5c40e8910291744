"""The command `pushout chip`."""

from pathlib import Path

import click

from pushout.cli import completion
from pushout.cli.options import CELL, JSON, QOS, SET, Whole, allowed, console, no_sweep
from pushout.cli.streams import echo_json


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
@JSON
def predict(
    profile: str,
    packet: int,
    lines: int | None,
    qos: Path | None,
    cell: int | None,
    sets: tuple[str, ...],
    as_json: bool,
) -> None:
    """Predict what acceptance tests must count: packets until a drop, a pause, a resumption, a loss and a mark.

    PROFILE is a scenario with a memory, or a switch's own tables of SONiC (buffers.json, config_db.json). A bench in
    the simulator sends packets to ports that stand still, through senders that ignore pauses, and counts: for each
    class alone, for its lines in turn, and for all of them together.
    """
    from pushout.question import chip as question

    with no_sweep(profile):
        source = question.profile(Path(profile), qos=qos, cell=cell, allow_files=allowed())
        result = question.predict(source, sets, packet=packet, lines=lines)
    if as_json:
        echo_json(result.document)
    else:
        from pushout.show import chip as show

        show.predicted(result, console())
