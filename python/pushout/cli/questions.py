"""The commands that need many runs: `sweep`, `sweep merge` of its parts, `compare` and `size`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from pushout.cli import completion
from pushout.cli.answer import Answering, shared_options
from pushout.cli.options import (
    ALLOW,
    ENGINE,
    JSON,
    PAIRED,
    PLACE,
    POLICY,
    SCENARIO,
    SEED,
    SET,
    Resolution,
    allowed,
    given_policies,
    listed,
    no_sweep,
    scenario_file,
)
from pushout.cli.page import HTML
from pushout.cli.warn import warn
from pushout.literals import SEARCHES
from pushout.options import LEAST, MOST, REPS, RESOLUTION

SHARD = click.option(
    "--shard",
    metavar="I/N",
    help="Run only the I-th of N parts, in a folder of its own; pushout sweep merge puts parts together.",
)


@click.command()
@click.argument("file", metavar="SWEEP.toml", shell_complete=completion.scenario)
@click.option(
    "--columns",
    default="",
    metavar="FIGURE,…",
    help="Further figures of every run, as in loss,delay_p99,ports.bottleneck.lost: columns of rows and table.",
)
@POLICY
@ALLOW
@SHARD
@shared_options
def sweep(file: str, columns: str, shard: str | None, answering: Answering) -> None:
    """Run every point of a design and write one row per run.

    SWEEP.toml names a scenario and the keys to vary: grids, labelled axes, lists in parallel, random points. Results go
    to DIR/rows.parquet (rows.csv without the extra "tables"), their origin to DIR/manifest.json; DIR is results/NAME by
    default. Finished runs are not repeated: the same command resumes an interrupted sweep.

    pushout sweep merge FOLDER… --out DIR puts the parts of a sweep together.
    """
    from pushout.progress import Progress
    from pushout.question import design
    from pushout.question import sweep as question
    from pushout.question.given import with_columns, with_policies
    from pushout.question.shard import Shard, check_places

    part = None if shard is None else Shard.of(shard)
    if part and click.get_current_context().get_parameter_source("cache") == ParameterSource.ENVIRONMENT:
        answering = replace(answering, cache=None)  # a part has its runs in its folder
    with Progress("packets", about=True) as progress:
        plan = question.loaded(design.read(file, allowed()), progress)
    plan = with_columns(with_policies(plan, given_policies(question.source_of(plan), plan.common.sets)), columns)
    place = answering.out or str(question.default_out(plan, part))
    if part:
        check_places(place, answering.cache, part)
    question.look_over(plan)
    known = question.warnings(plan)
    warn(known)  # before runs that may take hours
    with answering.session(place, about=plan.reps.least < plan.reps.most) as session:
        result = question.sweep(plan, session, shard=part)
    warn(warned for warned in result.warnings if warned not in known)
    answering.give(result, place)


@click.command()
@click.argument("folders", metavar="FOLDER…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=PLACE, metavar="DIR", help="Folder for the whole sweep, or s3://BUCKET/FOLDER."
)
@HTML
@JSON
def merge(folders: tuple[Path, ...], out: str, html: Path | None, as_json: bool) -> None:
    """Put the parts of a sweep together.

    Each FOLDER holds a part that pushout sweep --shard I/N has run; their order does not matter. DIR gets the rows and
    the manifest that one process would have written, but for times, and the finished runs.
    """
    from pushout.progress import Progress
    from pushout.question import merge as question

    with Progress("runs") as progress:
        result = question.merge(folders, out, progress)
    Answering(out, html, None, None, None, as_json).give(result, out)


AT = click.option(
    "--at",
    "--port",
    "at",
    multiple=True,
    callback=listed,
    metavar="PLACE,…",
    help="Where the policies apply: ports, classes of ports as in fabric, memory.NAME, or all (default: the only place "
    "with limited room, or the busiest). --port is another name of this option.",
)
POLICIES: dict[str, Any] = {
    "multiple": True,
    "metavar": "A,B,…",
    "help": 'Names, tables such as \'{policy="epd", threshold="90 %"}\', several at once as in '
    '\'{admission="tail-drop", scheduler="fifo"}\', or as-is: that of the scenario.',
}
FIRST_SEED = click.option(
    "--seed", type=SEED, metavar="N", help="Seed of the first replication (default: the scenario's)."
)


@click.command()
@SCENARIO
@click.option("--policies", required=True, **POLICIES)
@AT
@SET
@FIRST_SEED
@click.option("--reps", type=PAIRED, default=REPS, show_default=True, metavar="R", help="Replications of each policy.")
@ENGINE
@click.option(
    "--figures",
    default="",
    metavar="FIGURE,…",
    help="Further figures to compare, as in loss,classes.udp.goodput,flows.flow3.timeouts.",
)
@shared_options
def compare(
    scenario: str, policies: tuple[str, ...], sets: tuple[str, ...], answering: Answering, **options: Any
) -> None:
    """Compare policies under the same traffic.

    Every policy runs with the same seeds, so differences from the first policy are taken seed by seed. Losses and
    occupancy are those of the place of --at, added up over its ports; of several places, those of the first. Goodput
    and fairness are those of all flows. Document, rows and figure (compare.svg, compare.png) go to DIR, by default
    results/NAME-compare.
    """
    from pushout.question import ask

    with no_sweep(scenario):
        asked = ask.comparison(scenario_file(scenario), policies, set=sets, **options)
    answering.answer(asked, "compare")


@click.command()
@SCENARIO
@click.option(
    "--goal",
    required=True,
    multiple=True,
    metavar="GOAL",
    help="FIGURE>=NUMBER, FIGURE<=NUMBER, max FIGURE or min FIGURE (repeatable: all must hold).",
)
@click.option("--over", required=True, metavar="KEY.PATH", help="Key to size, as in port.bottleneck.buffer.")
@click.option("--from", "low", metavar="VALUE", help="Smallest value to try (default: 1/32 of the scenario's).")
@click.option("--to", "high", metavar="VALUE", help="Largest value to try (default: 4 times the scenario's).")
@click.option("--policies", **POLICIES)
@AT
@SET
@FIRST_SEED
@click.option(
    "--least",
    type=PAIRED,
    metavar="R",
    default=LEAST,
    show_default=True,
    help="Smallest number of replications of a value.",
)
@click.option(
    "--most",
    type=PAIRED,
    metavar="R",
    default=MOST,
    show_default=True,
    help="Largest number of replications, for values near the goal.",
)
@click.option(
    "--resolution",
    type=Resolution(0, 1),
    metavar="SHARE",
    default=RESOLUTION,
    show_default=True,
    help="Stop when the bracket is narrower than this share of its upper end.",
)
@click.option(
    "--search",
    type=click.Choice(SEARCHES),
    default=SEARCHES[0],
    show_default=True,
    help="bisect halves the range, optuna tries values anywhere in it, auto chooses between them.",
)
@click.option("--largest", is_flag=True, help="Find the largest value that meets the goals, not the smallest.")
@ENGINE
@shared_options
def size(
    scenario: str, goal: tuple[str, ...], over: str, sets: tuple[str, ...], answering: Answering, **options: Any
) -> None:
    """Find the smallest buffer, threshold or weight for a goal, or with --largest the largest.

    If more is better (with --largest: less), the range is halved, and each value is replicated until it is clearly on
    one side of the goal. Otherwise, and for max and min, Optuna searches. Each policy's answer is in cells, in bytes
    and in time at the rate of the line, or of the port's shaper. Document, rows and figure (size.svg, size.png) go to
    DIR, by default results/NAME-size.
    """
    from pushout.question import ask

    with no_sweep(scenario):
        asked = ask.sizing(scenario_file(scenario), goal, over, set=sets, **options)
    answering.answer(asked, "size", about=True)
