"""The command `pushout why`."""

from pathlib import Path
from typing import Any

import click

from pushout.cli.options import JSON, PICTURE, SCENARIO, SEED, SET, Whole, console, listed, no_sweep, scenario_file
from pushout.cli.page import write_figure
from pushout.cli.streams import echo_json

COUNT = Whole(1, 2**32)


@click.command()
@SCENARIO
@click.option(
    "--at",
    "--port",
    "at",
    multiple=True,
    callback=listed,
    metavar="PLACE,…",
    help="Where the frame was lost: a port, a class of ports or memory.NAME (default: anywhere).",
)
@click.option(
    "--loss",
    type=COUNT,
    metavar="K",
    help="The K-th lost frame there, after the warm-up (default: 1); with --flow of this flow.",
)
@click.option("--flow", metavar="NAME", help="The first lost frame of this flow, the K-th …")
@click.option("--frame", type=COUNT, metavar="N", help="… or the one with this number on its circuit, from 1.")
@click.option(
    "--ill",
    default="lost",
    show_default=True,
    metavar="KIND",
    help="What happened to the frame: lost, marked, trimmed, or late:TIME, longer than this time in the port.",
)
@click.option("--report", type=COUNT, metavar="N", help="Or the N decisions of the run whose refusal saves most.")
@click.option("--policies", multiple=True, metavar="A,B,…", help="Would these policies have saved it? As in compare.")
@click.option(
    "--reaction",
    type=click.Choice(["on", "off"]),
    default="on",
    show_default=True,
    help="Whether senders react to the refusal; off repeats the arrivals that were recorded.",
)
@click.option(
    "--last",
    type=Whole(1, 100_000),
    default=200,
    show_default=True,
    metavar="N",
    help="Decisions before the frame came that are tried, besides those while it waited: each is a run of its own.",
)
@SET
@click.option("--seed", type=SEED, metavar="N", help="Seed of the run (default: the scenario's).")
@click.option("--out", type=PICTURE, metavar="FILE", help="Draw the decisions: a .png, .svg or .pdf.")
@JSON
def why(
    scenario: str,
    at: tuple[str, ...],
    policies: tuple[str, ...],
    sets: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Find out which earlier decision would have saved a frame.

    A decision is the arrival of a frame at the port, or at a port that shares its memory. For each of the last ones
    before the loss a run is repeated in which this frame alone is refused: if the lost frame then passes, the decision
    would have saved it. The table has the losses of each of these runs, so that the price of saving it can be seen.
    """
    from pushout.counterfactual import why as question
    from pushout.options import Why
    from pushout.progress import Progress
    from pushout.show import why as show

    with no_sweep(scenario), Progress("counterfactuals") as progress:
        source = scenario_file(scenario)
        result = question(Why(source, at=at or None, policies=policies, set=sets, progress=progress, **options))
    if as_json:
        echo_json(result.document)
    else:
        show.why(result, console())
    if out is not None:  # last: without a disk the answer is there
        write_figure(result.plot(), out)
