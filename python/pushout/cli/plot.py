"""The command `pushout plot`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pushout.cli import completion
from pushout.cli.options import (
    ENGINE,
    JOBS,
    JSON,
    PICTURE,
    REPS,
    SEED,
    SET,
    default_folder,
    listed,
    no_sweep,
    scenario_file,
)
from pushout.cli.page import write_figure
from pushout.cli.streams import echo_json
from pushout.cli.warn import warn
from pushout.literals import PANELS, THEME_NAMES
from pushout.options import PANELS as SHOWN

if TYPE_CHECKING:
    from pushout.source import Source


@click.command()
@click.argument("runs", metavar="RUN_OR_SCENARIO…", nargs=-1, required=True, shell_complete=completion.scenario)
@click.option(
    "--what",
    metavar="A,B,…",
    default=",".join(SHOWN),
    show_default=True,
    help=f"Panels: {', '.join(PANELS)}; or figures that have one, as in loss,ports.bottleneck.occupancy.",
)
@click.option("--out", type=PICTURE, metavar="FILE", help="A .png, .svg or .pdf (default: results/NAME-plot.png).")
@click.option(
    "--at",
    "--ports",
    "at",
    multiple=True,
    callback=listed,
    metavar="PLACE,…",
    help="Ports, classes of ports or memory.NAME to show (default: the busiest ports with a limited buffer). --ports "
    "is another name of this option.",
)
@click.option("--flows", default="", metavar="A,B,…", help="Flows to show (default: the first, or all together).")
@click.option("--labels", default="", metavar="A,B,…", help="Names of the runs in legends, one for each.")
@click.option("--title", metavar="TEXT", help="Title of the figure (default: that of the scenario).")
@click.option("--theme", type=click.Choice(THEME_NAMES), default="paper", show_default=True, help="Size and letters.")
@click.option("--width", type=float, metavar="INCHES", help="Width (default: paper 7, slides 10; 3.5 for one column).")
@SET
@click.option("--seed", type=SEED, metavar="N", help="Seed of the first replication (default: the scenario's).")
@click.option("--reps", type=REPS, default=1, metavar="R", help="How many replications, with seeds N, N+1, …")
@ENGINE
@JOBS
@JSON
def plot(
    runs: tuple[str, ...],
    out: Path | None,
    sets: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Draw one run or several on one figure.

    A scenario is run and measures what the figure shows. A folder that `pushout run --out` has written is drawn from
    what was measured then.
    """
    from pushout import api
    from pushout.progress import Progress

    sources = _scenarios(runs, sets)
    options["at"] = options["at"] or ""
    with Progress("replications" if options["reps"] > 1 else "") as progress:
        drawn = api.plot([sources.get(given, given) for given in runs], set=sets, progress=progress, **options)
    place = out or Path(f"{default_folder(_name(runs))}-plot.png")
    write_figure(drawn, place)
    if as_json:
        echo_json({"file": str(place), "panels": options["what"].split(","), "runs": list(runs)})


def _scenarios(runs: tuple[str, ...], sets: tuple[str, ...]) -> "dict[str, Source]":
    """Those that are scenarios, with what may mislead in them told."""
    from pushout.picture.finished import is_finished
    from pushout.warning import of_scenario

    found = dict.fromkeys(given for given in runs if not is_finished(given))
    sources = {}
    for given in found:
        with no_sweep(given):
            sources[given] = scenario_file(given)
            warn(of_scenario(sources[given], sets), about=given if len(found) > 1 else "")
    return sources


def _name(runs: tuple[str, ...]) -> str:
    """Return the name of a figure that has no title."""
    return "-".join(Path(given).stem for given in runs[:3])
