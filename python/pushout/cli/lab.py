"""The command `pushout lab`."""

import tempfile
import webbrowser
from contextlib import nullcontext
from pathlib import Path

import click

from pushout.cli import completion
from pushout.cli.options import FAILURE, JSON, SET_ALONE, FileOf, no_sweep, scenario_file
from pushout.cli.streams import echo_json, tell


@click.command()
@click.argument("scenarios", metavar="[SCENARIO]…", nargs=-1, shell_complete=completion.scenario)
@click.option(
    "--policies",
    multiple=True,
    metavar="A,B",
    help="One policy, or two to compare, at the busiest port with a limited buffer (default: that of the scenario).",
)
@click.option(
    "--policy",
    "own",
    multiple=True,
    metavar="[PLACE=]FILE.py",
    help="Give ports of run A the policy of a Python file, which is run (repeatable; default: the busiest port); run B "
    "is without it. FILE.py:NAME chooses one of several.",
)
@SET_ALONE
@click.option("--out", type=FileOf(("html",)), metavar="FILE", help="Write the page to this file, and do not open it.")
@click.option("--link", is_flag=True, help="Print what follows the address of the page to show one scenario there.")
@JSON
def lab(
    scenarios: tuple[str, ...],
    policies: tuple[str, ...],
    own: tuple[str, ...],
    sets: tuple[str, ...],
    out: Path | None,
    link: bool,
    as_json: bool,
) -> None:
    """Open the lab: watch a run unit by unit, and compare two policies under the same traffic.

    The page runs the simulator in the browser. It is one file that works without a server and can be sent to others.
    Without SCENARIO it offers experiments of the studies.
    """
    from pushout import lab as page
    from pushout import shipped
    from pushout.cache import write

    if link:
        if len(scenarios) != 1 or out:
            raise click.UsageError("--link needs one SCENARIO, and no --out: it prints a link and writes no page")
        with no_sweep(scenarios[0]):
            found = page.link(scenario_file(scenarios[0]), policies, own=own, set=sets)
        echo_json({"link": found}) if as_json else click.echo(f"lab.html{found}")
        return
    if not shipped.PAGE.is_file():
        tell(page.MISSING)
        raise click.exceptions.Exit(FAILURE)
    with no_sweep(scenarios[0]) if scenarios else nullcontext():
        text = page.page([scenario_file(each) for each in scenarios], policies, own=own, set=sets)
    place = out or Path(tempfile.mkdtemp(prefix="pushout-lab-")) / "lab.html"
    place.parent.mkdir(parents=True, exist_ok=True)
    write(place, text.encode())
    opened = out is None and webbrowser.open(place.resolve().as_uri())
    if as_json:
        echo_json({"file": str(place), "opened": opened})
    else:
        tell(f"page: {place}" if out or opened else f"no browser found: open {place} in one")
