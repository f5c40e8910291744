"""The command line. What is slow to load is loaded by the command that needs it."""

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pushout import streams, verbs
from pushout.bench.verb import bench
from pushout.errors import InternalError, PushoutError, QuestionError, ScenarioError
from pushout.options import (
    BAD_SCENARIO,
    ENGINE,
    FAILURE,
    FOLDER,
    INTERNAL,
    INTERRUPTED,
    JSON,
    MISSED,
    OK,
    REPS,
    SCENARIO,
    SEED,
    SET,
    USAGE,
    console,
    no_sweep,
    option,
    scenario_file,
)
from pushout.streams import echo_json

if TYPE_CHECKING:
    from pushout.catalogue import Entry
    from pushout.study.chapter import Reproduction

REPORT = "reproduce.json"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="pushout", message="%(prog)s %(version)s")
def cli() -> None:
    """A laboratory for buffer management at switches.

    A SCENARIO is a TOML or JSON file; - reads the standard input.
    """


@cli.command()
@SCENARIO
@SET
@click.option("--seed", type=SEED, metavar="N", help="Seed of the first replication (default: the scenario's).")
@click.option("--reps", type=REPS, default=1, metavar="R", help="How many replications, with seeds N, N+1, …")
@ENGINE
@click.option("--audit", is_flag=True, help="Check that every unit and every byte is accounted for.")
@click.option("--trace", "kinds", metavar="KINDS", help="Write every packet to DIR: pcapng, parquet or both.")
@click.option(
    "--trace-ports", metavar="A,B,…", help="Ports to trace, or * for all (default: those with a limited buffer)."
)
@click.option("--out", type=FOLDER, metavar="DIR", help="Write the result, and one file for each replication, there.")
@JSON
def run(
    scenario: str,
    sets: tuple[str, ...],
    seed: int | None,
    reps: int,
    engine: str | None,
    audit: bool,
    kinds: str | None,
    trace_ports: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Simulate a scenario and summarise what happened.

    With --trace it is one replication on the reference engine; its figures are the same.
    """
    from pushout import api
    from pushout.progress import Progress

    if trace_ports is not None and kinds is None:
        raise click.UsageError("--trace-ports says which ports --trace KINDS is about: give both, or leave both out")
    if kinds is not None and out is None:
        raise click.UsageError("--trace needs --out DIR, where the packets are written")
    if kinds is not None and (reps > 1 or engine not in (None, "reference")):
        given = f"--reps {reps}" if reps > 1 else f"--engine {engine}"
        raise click.UsageError(f"--trace is for one replication on the reference engine: leave out {given}")
    if out is not None:
        _check_writable(out)
    save: Callable[[Any, Path], None] = _write_results
    options: Any = {"set": sets, "seed": seed, "audit": audit}
    with no_sweep(scenario), Progress("replications") as progress:
        if kinds is not None:
            result, save = _trace(scenario_file(scenario), kinds, trace_ports or "", options)
        else:
            options |= {"reps": reps, "engine": engine}
            result = api.run(scenario_file(scenario), progress=progress, **options)
    if as_json:
        echo_json(result.document)
    else:
        from pushout import show

        show.result(result.document, console())
    if out is not None:  # last, so that what cannot be written has at least been shown
        sys.stdout.flush()
        save(result, out)
    failures = result.document.get("audit", {}).get("failures", [])
    for failure in failures:
        click.echo(f"audit: {failure}", err=True)
    if failures:
        raise click.exceptions.Exit(FAILURE)


def _trace(scenario: Path, kinds: str, ports: str, options: Any) -> tuple["Any", Callable[["Any", Path], None]]:
    """Run once and keep every packet: the result, and what writes it."""
    from pushout import api
    from pushout.question import trace
    from pushout.question.output import Output

    chosen = trace.kinds(kinds)
    traced = api.trace(scenario, ports=[name.strip() for name in ports.split(",") if name.strip()], **options)

    def save(result: "Any", out: Path) -> None:
        _write_results(result, out)
        for path in trace.save(traced, Output(out), chosen):
            click.echo(f"trace: {path}", err=True)

    return api.Result(traced.document, [traced.document]), save


def _check_writable(out: Path) -> None:
    """Find out before a run, not after it."""
    from pushout.cache import discard, write

    out.mkdir(parents=True, exist_ok=True)
    try:
        write(out / ".writable", b"")
    except OSError as error:  # people know the folder, not what was tried in it
        raise OSError(error.errno, error.strerror, str(out)) from None
    discard(out / ".writable")


def _write_results(result: "Any", out: Path) -> None:
    """Write the document and those of the replications, in place of what an earlier run left."""
    from pushout.cache import write

    out.mkdir(parents=True, exist_ok=True)
    write(out / "result.json", result.json() + "\n")
    documents = {f"replication-{document['seed']}.json": document for document in result.replications}
    for name, document in documents.items():
        write(out / name, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    for file in out.glob("replication-*.json"):
        if re.fullmatch(r"replication-\d+\.json", file.name) and file.name not in documents:
            file.unlink()


@cli.command()
@click.argument("scenarios", metavar="SCENARIO…", nargs=-1, required=True)
@SET
@JSON
def validate(scenarios: tuple[str, ...], sets: tuple[str, ...], as_json: bool) -> None:
    """Check scenarios and sweeps without running them.

    Of a sweep, every point is checked.
    """
    from pushout import api
    from pushout.question import design
    from pushout.question import sweep as question

    verdicts = []
    for scenario in scenarios:
        try:
            if design.is_sweep(scenario):
                question.validate(design.read(scenario), sets)
            else:
                api.validate(scenario_file(scenario), set=sets)
            verdicts.append({"scenario": scenario, "valid": True, "error": None})
        except (ScenarioError, QuestionError) as error:
            why = error.told(option)
            verdicts.append({"scenario": scenario, "valid": False, "error": why})
            click.echo(why, err=True)
    if as_json:
        echo_json(verdicts)
    else:
        for verdict in verdicts:
            if verdict["valid"]:
                click.echo(f"{verdict['scenario']}: valid")
    if not all(verdict["valid"] for verdict in verdicts):
        raise click.exceptions.Exit(BAD_SCENARIO)


@cli.command()
@SCENARIO
@SET
@JSON
def explain(scenario: str, sets: tuple[str, ...], as_json: bool) -> None:
    """Print a scenario in full, with templates and defaults expanded.

    The output is canonical JSON, with --json or without, and can be run as it is.
    """
    from pushout import api

    with no_sweep(scenario):
        document = api.explain(scenario_file(scenario), set=sets)
    echo_json(document)


@cli.command()
@JSON
def schema(as_json: bool) -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from pushout import api

    echo_json(api.schema())


@cli.command()
@click.argument("name", required=False)
@JSON
def policies(name: str | None, as_json: bool) -> None:
    """List all that a scenario can name, or explain one NAME."""
    from pushout import api

    entries = api.policies()
    if name is not None:
        entries = _named(entries, name)
    if as_json:
        echo_json(entries)
        return
    from pushout import show

    if name is None:
        show.policies(entries, console())
    for entry in entries if name is not None else ():
        show.policy(entry, console())


def _named(entries: "list[Entry]", name: str) -> "list[Entry]":
    found = [entry for entry in entries if entry["name"] == name]
    if found:
        return found
    from pushout import _core

    raise click.UsageError(_core.unknown("name", name, [entry["name"] for entry in entries]))


@cli.command()
@click.argument("studies", metavar="[STUDY]…", nargs=-1)
@click.option("--reps", type=REPS, metavar="R", help="Replications of each case (default: as many as its study names).")
@click.option(
    "--out",
    type=FOLDER,
    default=Path("reports"),
    show_default=True,
    metavar="DIR",
    help="Where the report goes, and where results are kept, so that an interrupted run can be resumed.",
)
@click.option("--strict", is_flag=True, help="Exit with 4 if a number misses its tolerance or a claim fails.")
@JSON
def reproduce(studies: tuple[str, ...], reps: int | None, out: Path, strict: bool, as_json: bool) -> None:
    """Run published studies and compare with the printed numbers.

    A STUDY is named by its id or the beginning of it, such as 000; without one, all are run. The report is
    DIR/index.html. Other studies that it already has stay in it, as long as their results are those of this version.
    """
    from pushout.cache import Cache
    from pushout.progress import Progress
    from pushout.study.kept import kept
    from pushout.study.model import load
    from pushout.study.reproduce import reproduce as run_studies

    chosen = [load(study) for study in _studies(studies)]
    cache = Cache(out / "cache")
    try:
        done = run_studies(chosen, reps=reps, cache=cache, stage=Progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"finished runs are kept in {cache.folder}; the same command goes on") from None
    others = kept(out / REPORT, [study.id for study in chosen], cache, Progress)
    if others.gone:
        click.echo(
            f"no longer in the report, their results are not of this version: {', '.join(others.gone)}", err=True
        )
    _write_report(done.beside(others.chapters), out)
    if as_json:
        echo_json(done.json())
    else:
        from pushout import show

        show.reproduction(
            done, str(out / "index.html"), [other.outcome.study.id for other in others.chapters], console()
        )
    if strict and done.failed:
        raise click.exceptions.Exit(MISSED)


def _write_report(done: "Reproduction", out: Path) -> None:
    """Write the report: a page, a document, the score for other pages, and every drawing by itself."""
    from pushout.cache import write
    from pushout.study.report import files, markdown, render

    write(out / REPORT, json.dumps(done.json(), indent=2, ensure_ascii=False) + "\n")
    write(out / "score.md", markdown(done))
    write(out / "index.html", render(done))
    for chapter in done.chapters:
        for path, drawing in files(chapter):
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            write(out / path, drawing)


def _studies(wanted: Sequence[str]) -> list[str]:
    from pushout import _core
    from pushout.study.model import available

    known = available()
    for name in wanted:
        if not any(study.startswith(name) for study in known):
            raise click.UsageError(_core.unknown("study", name, known))
    return [study for study in known if not wanted or any(study.startswith(name) for name in wanted)]


for command in (verbs.compare, verbs.sweep, verbs.size, bench):
    cli.add_command(command)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    streams.prepare()
    try:
        status = _run(list(sys.argv[1:] if args is None else args))
    except KeyboardInterrupt as interrupt:
        detail = f": {interrupt}" if str(interrupt) else ""
        click.echo(f"interrupted{detail}", err=True)
        sys.stdout.flush()
        # Simulations under way cannot be stopped; nobody waits for them.
        os._exit(INTERRUPTED)
    sys.exit(status)


def _run(args: list[str]) -> int:
    try:
        with cli.make_context("pushout", args) as context:
            cli.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        error.show()
        if "unexpected extra argument" in error.message and "--set" in args:
            click.echo("A value with a space in it is quoted, as in --set 'duration=1 s'.", err=True)
        return USAGE
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        streams.drop()
        return FAILURE
    except OSError as error:
        # Nothing is written but into folders, and files are replaced: what exists already is in the way of a folder.
        why = "is a file, not a folder" if isinstance(error, FileExistsError) else error.strerror or error
        if error.filename is None:
            streams.drop()
        click.echo(f"{streams.place(error)}: {why}", err=True)
        return FAILURE
    except InternalError as error:
        click.echo(str(error), err=True)
        return INTERNAL
    except PushoutError as error:
        click.echo(error.told(option), err=True)
        return BAD_SCENARIO
    return OK
