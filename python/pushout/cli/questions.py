"""The commands that need many runs: `sweep`, `compare` and `size`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pushout.cli import completion, interrupt
from pushout.cli.options import (
    ALLOW,
    CACHE,
    CLUSTER,
    ENGINE,
    JOBS,
    JSON,
    PAIRED,
    PLACE,
    POLICY,
    SCENARIO,
    SEED,
    SET,
    Resolution,
    allowed,
    console,
    default_folder,
    given_policies,
    no_sweep,
    scenario_file,
)
from pushout.cli.page import HTML, write_page
from pushout.cli.streams import echo_json, tell
from pushout.cli.warn import warn
from pushout.errors import InternalError
from pushout.excerpt import place as shown_place
from pushout.literals import SEARCHES
from pushout.question import LEAST, MOST, REPS, RESOLUTION

if TYPE_CHECKING:
    from pushout.question.session import Session

OUT = click.option("--out", type=PLACE, metavar="DIR", help="Folder for the results, or s3://BUCKET/FOLDER.")


@contextmanager
def _session(
    out: str, cache: Path | None, jobs: int | None, cluster: str | None, *, about: bool = False
) -> Iterator["Session"]:
    """Open a session; finished runs are saved, even if the user interrupts or a run fails.

    `about`: the number of runs is an estimate.
    """
    if jobs is not None and cluster is not None:
        raise click.UsageError("--jobs counts threads of this machine and cannot be used with --cluster: leave out one")
    from pushout.cli.progress import Progress
    from pushout.question.session import Session, default_cache
    from pushout.question.store import RUNS

    place = (cache or default_cache(out)) / RUNS
    interrupt.keeping(place)
    with Progress("runs", about=about) as progress, Session.open(out, cache, jobs, cluster, progress) as session:
        try:
            yield session
        except InternalError as error:
            raise InternalError(f"{error}\nNothing is lost: finished runs are saved in {place}") from None


@contextmanager
def _replacing(
    place: str, cache: Path | None, jobs: int | None, cluster: str | None, *, about: bool = False
) -> Iterator["Session"]:
    """Open a session in a folder named after its scenario; report if it replaces the answer to another question."""
    with _session(place, cache, jobs, cluster, about=about) as session:
        try:
            yield session
        finally:
            if session.out and session.out.replaced:
                differs = ", ".join(session.out.replaced)
                tell(
                    f"{session.out.place} held the answer to another question (it differs in {differs}); this answer "
                    "replaces it. Finished runs are saved; to keep both answers, give each a folder (--out)."
                )


@click.command()
@click.argument("file", metavar="SWEEP.toml", shell_complete=completion.scenario)
@POLICY
@ALLOW
@OUT
@HTML
@CACHE
@JOBS
@CLUSTER
@JSON
def sweep(
    file: str,
    out: str | None,
    html: Path | None,
    cache: Path | None,
    jobs: int | None,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Run every point of a design and write one row per run.

    SWEEP.toml names a scenario and the keys to vary: grids, labelled axes, lists in parallel, random points. Results go
    to DIR/rows.parquet (rows.csv without the extra "tables"), their origin to DIR/manifest.json; DIR is results/NAME by
    default. Finished runs are not repeated: the same command resumes an interrupted sweep.
    """
    from pushout.cli.progress import Progress
    from pushout.question import design
    from pushout.question import sweep as question
    from pushout.question.given import with_policies

    plan = with_policies(design.read(file, allowed()), given_policies())
    with Progress("packets", about=True) as progress:
        plan = question.loaded(plan, progress)
    question.look_over(plan)
    place = out or str(question.default_out(plan))
    with _session(place, cache, jobs, cluster, about=plan.reps.least < plan.reps.most) as session:
        result = question.sweep(plan, session)
    if as_json:
        echo_json(result.document)
    else:
        from pushout.show import answers

        answers.sweep(result, console())
    write_page(html, result)


PORT = click.option(
    "--port",
    metavar="A,B,…",
    help="Port or ports that get the policies (default: the only one with a limited buffer).",
)
POLICIES: dict[str, Any] = {
    "multiple": True,
    "metavar": "A,B,…",
    "help": 'Names, tables such as \'{policy="epd", threshold="90 %"}\', or as-is: that of the scenario.',
}
FIRST_SEED = click.option(
    "--seed", type=SEED, metavar="N", help="Seed of the first replication (default: the scenario's)."
)


@click.command()
@SCENARIO
@click.option("--policies", required=True, **POLICIES)
@PORT
@SET
@FIRST_SEED
@click.option("--reps", type=PAIRED, default=REPS, show_default=True, metavar="R", help="Replications of each policy.")
@ENGINE
@click.option(
    "--figures",
    default="",
    metavar="PATH,…",
    help="Further figures to compare, as in classes.udp.goodput_bps,flows.flow3.timeouts.",
)
@OUT
@HTML
@CACHE
@JOBS
@CLUSTER
@JSON
def compare(
    scenario: str, out: str | None, html: Path | None, cache: Path | None, as_json: bool, **options: Any
) -> None:
    """Compare policies under the same traffic.

    Every policy runs with the same seeds, so differences from the first policy are taken seed by seed. With several
    ports, occupancy, losses and delay are those of the first; goodput and fairness are those of all flows. Document,
    rows and figure (compare.svg, compare.png) go to DIR, by default results/NAME-compare.
    """
    from pushout.question import ask

    jobs, cluster = options.pop("jobs"), options.pop("cluster")
    policies, sets = options.pop("policies"), options.pop("sets")
    with no_sweep(scenario):
        asked = ask.comparison(scenario_file(scenario), policies, set=sets, **options)
    warn(asked.warnings)
    place = out or default_folder(f"{asked.explained['name']}-compare")
    with _replacing(place, cache, jobs, cluster) as session:
        result = asked(session)
    warn(warned for warned in result.warnings if warned not in asked.warnings)
    if as_json:
        echo_json(result.document)
    else:
        from pushout.show import answers

        answers.comparison(result, shown_place(place), console())
    write_page(html, result)


@click.command()
@SCENARIO
@click.option("--goal", required=True, metavar="GOAL", help="FIGURE>=NUMBER, FIGURE<=NUMBER, max FIGURE or min FIGURE.")
@click.option("--over", required=True, metavar="KEY.PATH", help="Key to size, as in port.bottleneck.buffer.")
@click.option("--from", "low", metavar="VALUE", help="Smallest value to try (default: 1/32 of the scenario's).")
@click.option("--to", "high", metavar="VALUE", help="Largest value to try (default: 4 times the scenario's).")
@click.option("--policies", **POLICIES)
@PORT
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
@ENGINE
@OUT
@HTML
@CACHE
@JOBS
@CLUSTER
@JSON
def size(scenario: str, out: str | None, html: Path | None, cache: Path | None, as_json: bool, **options: Any) -> None:
    """Find the smallest buffer, threshold or weight for a goal.

    If more is better, the range is halved, and each value is replicated until it is clearly on one side of the goal.
    Otherwise, and for max and min, Optuna searches. Each policy's answer is in cells, in bytes and in microseconds at
    line rate. Document, rows and figure (size.svg, size.png) go to DIR, by default results/NAME-size.
    """
    from pushout.question import ask

    jobs, cluster = options.pop("jobs"), options.pop("cluster")
    goal, over, sets = options.pop("goal"), options.pop("over"), options.pop("sets")
    with no_sweep(scenario):
        asked = ask.sizing(scenario_file(scenario), goal, over, set=sets, **options)
    warn(asked.warnings)
    place = out or default_folder(f"{asked.explained['name']}-size")
    with _replacing(place, cache, jobs, cluster, about=True) as session:
        result = asked(session)
    warn(warned for warned in result.warnings if warned not in asked.warnings)
    if as_json:
        echo_json(result.document)
    else:
        from pushout.show import answers

        answers.size(result, shown_place(place), console())
    write_page(html, result)
