"""The commands that ask questions of many runs. What is slow to load is loaded when it is needed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pushout.options import CACHE, CLUSTER, JOBS, JSON, console

if TYPE_CHECKING:
    from pushout.question.session import Session

OUT = click.option("--out", metavar="DIR", help="Where results go: a folder, or s3://BUCKET/FOLDER.")


@contextmanager
def _session(out: str, cache: Path | None, jobs: int | None, cluster: str | None) -> Iterator["Session"]:
    """Where runs are kept and done; what is finished when the user interrupts is kept."""
    from pushout.progress import Progress
    from pushout.question.session import Session

    with Progress("runs") as progress, Session.open(out, cache, jobs, cluster, progress) as session:
        try:
            yield session
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"finished runs are kept in {session.store.path}; the same command goes on"
            ) from None


@click.command()
@click.argument("file", metavar="SWEEP.toml")
@OUT
@CACHE
@JOBS
@CLUSTER
@JSON
def sweep(file: str, out: str | None, cache: Path | None, jobs: int | None, cluster: str | None, as_json: bool) -> None:
    """Run every point of a design and write one row per run.

    SWEEP.toml names a scenario and what to vary: grids, labelled axes, lists that go together, random points. The
    results are in DIR/rows.parquet, where they come from in DIR/manifest.json; DIR is results/NAME by default. What has
    been run is not run again, so the same command goes on after an interruption.
    """
    from pushout.question import design, show
    from pushout.question import sweep as question

    plan = design.read(file)
    place = out or str(question.default_out(plan))
    with _session(place, cache, jobs, cluster) as session:
        result = question.sweep(plan, session)
    if as_json:
        click.echo(json.dumps(show.sweep_document(result), indent=2, ensure_ascii=False))
    else:
        show.sweep(result, console())
