"""The command `pushout run`."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pushout.cli.options import (
    ENGINE,
    FAILURE,
    FOLDER,
    JOBS,
    JSON,
    PICTURE,
    REPS,
    SCENARIO,
    SEED,
    SET,
    console,
    default_folder,
    no_sweep,
    scenario_file,
    with_policies,
)
from pushout.cli.page import HTML, write_page
from pushout.cli.streams import echo_json, tell
from pushout.cli.warn import warn

if TYPE_CHECKING:
    from pushout.picture.recording import Recording
    from pushout.replicate import Replicated
    from pushout.simulate import Job, Progress

    Save = Callable[[Replicated, Path], None]


@click.command()
@SCENARIO
@SET
@click.option("--seed", type=SEED, metavar="N", help="Seed of the first replication (default: the scenario's).")
@click.option("--reps", type=REPS, default=1, metavar="R", help="Number of replications, with seeds N, N+1, …")
@ENGINE
@click.option("--audit", is_flag=True, help="Check that every unit and every byte is accounted for.")
@click.option(
    "--trace",
    "kinds",
    metavar="KINDS",
    help="Write packets to DIR: pcapng, parquet, qlog, or several (with qlog, of every port).",
)
@click.option(
    "--trace-ports", metavar="A,B,…", help="Ports to trace, or * for all (default: those with a limited buffer)."
)
@click.option(
    "--out",
    type=FOLDER,
    metavar="DIR",
    help="Write the result, and one file for each replication, there (with --trace by default results/NAME-trace).",
)
@click.option(
    "--plot",
    "picture",
    type=PICTURE,
    metavar="FILE",
    help="Measure queue, losses and throughput over time and draw them: a .png, .svg or .pdf.",
)
@HTML
@click.option(
    "--lab",
    "with_lab",
    is_flag=True,
    help="Write lab.html beside the page of --html, which opens the run there, unit by unit.",
)
@JOBS
@JSON
def run(
    scenario: str,
    sets: tuple[str, ...],
    kinds: str | None,
    trace_ports: str | None,
    out: Path | None,
    picture: Path | None,
    html: Path | None,
    with_lab: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Simulate a scenario and summarise the results.

    With --trace one replication runs, on the reference engine where links carry cells; its figures are the same.
    """
    from pushout.options import Run
    from pushout.progress import Progress
    from pushout.replicate import replicated
    from pushout.simulate import Job

    chosen = _trace_kinds(kinds, trace_ports, options["reps"])
    if with_lab and html is None:
        raise click.UsageError("--lab goes with --html FILE: write both, or open the scenario by pushout lab")
    with no_sweep(scenario):
        source = scenario_file(scenario)
        asked = Run(source, set=with_policies(source, sets), **options)
        job = Job(source, tuple(asked.set), asked.engine, asked.audit)
        known = job.warnings()
        link = _link(job, asked.seed) if with_lab else ""
    if chosen and out is None:
        out = Path(default_folder(f"{json.loads(job.explain())['name']}-trace"))
    if out is not None:
        _check_writable(out)
    planned = _to_measure(job) if picture or html else None
    if planned and planned.sets:
        job = replace(job, sets=(*job.sets, *planned.sets))
    warn(known)  # before a run that may take hours
    save: Save = _write_results
    with Progress("replications" if asked.reps > 1 else "") as progress:
        if chosen:
            result, save = _trace(job, chosen, trace_ports or "", asked.seed, progress)
        else:
            shown_only = asked.reps == 1 and not (as_json or out or picture or html)
            flows = _most_shown() if shown_only else None
            result = replicated(job, asked.seed, asked.reps, jobs=asked.jobs, progress=progress, flows=flows)
    warn(warned for warned in result.warnings if warned not in known)
    if planned:
        _draw(result, planned, picture, html, link)
    _finish(result, out, save, as_json=as_json)


def _to_measure(job: "Job") -> "Recording":
    """Return the measurements of a run that its picture needs, as far as the scenario has them."""
    from pushout.picture.recording import fillable, recording
    from pushout.picture.request import DEFAULT

    explained = json.loads(job.explain())
    return recording(explained, fillable(explained, DEFAULT), (), (), job.sets)


def _link(job: "Job", seed: int | None) -> str:
    """Return what follows the address of the lab to show the first replication there."""
    from pushout import lab, shipped

    if not shipped.PAGE.is_file():
        raise FileNotFoundError(lab.MISSING)
    return lab.link(job.source, set=[*job.sets, *([] if seed is None else [f"seed={seed}"])])


def _draw(result: "Replicated", planned: "Recording", file: Path | None, html: Path | None, link: str = "") -> None:
    """Write the picture of a run, and its page, with the lab beside it if the page has a link into it."""
    from pushout.cache import write
    from pushout.picture import figure, request

    wanted = request.Request(planned.what, (), (), request.themed("paper", None), None)
    runs = [wanted.run(result.replications, planned)]
    if file:
        drawn = request.draw(runs, wanted)
        file.parent.mkdir(parents=True, exist_ok=True)
        write(file, figure.written(drawn, file.suffix[1:].lower()))
        tell(f"figure: {file}")
    if html:
        from pushout.result import Result

        untitled = request.draw(runs, wanted._replace(title=""))  # the page has the title itself
        write_page(html, Result(*result), [untitled], planned.title, f"lab.html{link}" if link else "")
        if link:
            from pushout import lab

            write(html.with_name("lab.html"), lab.page([]).encode())
            tell(f"lab: {html.with_name('lab.html')}")


def _trace_kinds(kinds: str | None, ports: str | None, reps: int) -> list[str]:
    """Parse the kinds of trace; refuse unknown kinds first, then options that exclude each other."""
    if kinds is None:
        if ports is not None:
            raise click.UsageError("--trace-ports needs --trace KINDS: give both, or leave both out")
        return []
    from pushout import tracing as trace

    chosen = trace.kinds(kinds)
    if "qlog" in chosen and ports is not None:
        raise click.UsageError("--trace qlog needs every port: leave out --trace-ports")
    if reps > 1:
        raise click.UsageError(f"--trace runs one replication: leave out --reps {reps}")
    return chosen


def _most_shown() -> int:
    """Return from how many flows on only the first are listed."""
    from pushout.show.result import MANY

    return MANY


def _finish(result: "Replicated", out: Path | None, save: "Save", *, as_json: bool) -> None:
    """Show a result, write it, and fail if its audit fails."""
    if as_json:
        echo_json(result.document)
    else:
        from pushout.show.result import result as show

        show(result.document, console())
    if out is not None:  # last, so that the result is shown even if it cannot be written
        sys.stdout.flush()
        save(result, out)
    failures = result.document.get("audit", {}).get("failures", [])
    for failure in failures:
        tell(f"audit: {failure}")
    if failures:
        raise click.exceptions.Exit(FAILURE)


def _trace(
    job: "Job", chosen: list[str], ports: str, seed: int | None, progress: "Progress"
) -> tuple["Replicated", "Save"]:
    """Run once and record every packet; return the result and the function that writes it."""
    from pushout import tracing as trace
    from pushout.question.output import Output
    from pushout.replicate import Replicated
    from pushout.simulate import listed

    traced = trace.traced(job, trace.ALL if "qlog" in chosen else listed("trace_ports", ports), seed, progress)

    def save(result: Replicated, out: Path) -> None:
        _write_results(result, out)
        for path in trace.save(traced, Output(out), chosen):
            tell(f"trace: {path}")

    return Replicated(traced.document, [traced.document]), save


def _check_writable(out: Path) -> None:
    """Check before a run that the folder can be written, and remove temporary files of killed processes."""
    from pushout.cache import discard, write
    from pushout.question.output import Output

    Output(out).tidy()
    try:
        write(out / ".writable", b"")
    except OSError as error:  # users know the folder, not the trial file in it
        raise OSError(error.errno, error.strerror, str(out)) from None
    discard(out / ".writable")


def _write_results(result: "Replicated", out: Path) -> None:
    """Write the document and those of the replications, replacing the files of an earlier run."""
    from pushout import sums
    from pushout.cache import write
    from pushout.cli.streams import json_text

    out.mkdir(parents=True, exist_ok=True)
    documents = {f"replication-{document['seed']}.json": document for document in result.replications}
    texts = {
        name: json_text(document) + "\n" for name, document in {"result.json": result.document, **documents}.items()
    }
    for name, text in texts.items():
        write(out / name, text)
    for file in out.glob("replication-*.json"):
        if re.fullmatch(r"replication-\d+\.json", file.name) and file.name not in documents:
            file.unlink()
    sums.put(out, texts)  # last: what a kill leaves of two runs does not agree
