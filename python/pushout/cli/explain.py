"""The command `pushout explain`, and with `--check` the check of scenarios, sweeps and policies."""

from typing import TYPE_CHECKING

import click

from pushout.cli import completion
from pushout.cli.options import BAD_SCENARIO, JSON, SET, allowed, console, no_sweep, scenario_file, worded
from pushout.cli.streams import echo_json, tell, tell_further
from pushout.cli.warn import warn
from pushout.errors import QuestionError, ScenarioError
from pushout.excerpt import masked, place, quoted

if TYPE_CHECKING:
    from pushout.warning import Warned


@click.command()
@click.argument("files", metavar="SCENARIO|FILE.py…", nargs=-1, required=True, shell_complete=completion.scenario)
@click.option(
    "--check", "checks", is_flag=True, help="Check scenarios and sweeps without running them, or try a policy."
)
@click.option(
    "--opportunities",
    "line",
    metavar="LINK",
    help="Write when a link could deliver packets, one millisecond a line, as mahimahi reads them.",
)
@SET
@JSON
def explain(files: tuple[str, ...], checks: bool, line: str | None, sets: tuple[str, ...], as_json: bool) -> None:
    """Print a scenario in words, or with --check find mistakes in scenarios, sweeps and policies.

    The page has run, network, buffers, memories and traffic, with every default that matters. With --json the output is
    canonical JSON with all templates and defaults expanded, and itself a scenario. A note gives the reason if the
    reference engine runs a scenario because the fast engine cannot skip anything. For ports that share a memory, notes
    give the threshold of every class with its pool empty, half full and full. For senders that pace they give the rate.

    With --opportunities the output is a trace for mahimahi: the millisecond of each packet of 1500 bytes that the link
    could deliver until the end of the run, whichever way its rate changes.

    With --check every point of a sweep is checked, and several files may be named. The policy of a FILE.py, which is
    run, is translated and tried at ports of cells and of packets and in a shared memory, as far as these can have it:
    both engines must give the same, and every unit must be accounted for. FILE.py:NAME chooses one of several.
    """
    from pushout.cli import check

    policies = [file for file in files if check.is_policy(file)]
    if policies and not checks:
        raise click.UsageError(f"{quoted(policies[0])} is the file of a policy: add --check, which tries it")
    if len(files) > 1 and (policies or not checks):
        several = "" if policies else ", unless --check is given"
        raise click.UsageError(f"the file must be one argument, not {len(files)}{several}")
    if policies and sets:
        raise click.UsageError("--set changes a scenario and cannot be used with the file of a policy: leave out one")
    if line is not None and (checks or as_json):
        raise click.UsageError("--opportunities writes a trace: leave out --check and --json")
    if line is not None:
        _write_opportunities(files[0], line, sets)
    elif policies:
        check.policy(policies[0], as_json=as_json)
    elif checks:
        _check(files, sets, as_json=as_json)
    else:
        _explain(files[0], sets, as_json=as_json)


def _explain(scenario: str, sets: tuple[str, ...], *, as_json: bool) -> None:
    """Print a scenario in words, or as JSON in its explicit form."""
    from pushout import reading
    from pushout.warning import of_scenario

    with no_sweep(scenario):
        source = scenario_file(scenario)
        document = reading.explain(source, set=sets)
        because = reading.reference_because(source, set=sets)
        thresholds = reading.thresholds(source, set=sets)
        paced = reading.paced(source, set=sets)
        warn(of_scenario(source, sets))
    engine = document["engine"] if because is None else "reference"
    notes = [] if because is None else [f"the reference engine runs it, not {document['engine']}: {because}"]
    notes += thresholds + paced
    if as_json:
        for note in notes:
            click.echo(f"note: {note}", err=True)
        echo_json(document)
        return
    from pushout.show import explained

    explained.scenario(document, engine, notes, console())


def _write_opportunities(scenario: str, line: str, sets: tuple[str, ...]) -> None:
    """Print the trace of a line."""
    from pushout import reading

    with no_sweep(scenario):
        click.echo(reading.opportunities(scenario_file(scenario), line, set=sets), nl=False)


def _check(scenarios: tuple[str, ...], sets: tuple[str, ...], *, as_json: bool) -> None:
    """Check scenarios and sweeps; print a verdict about each."""
    verdicts = []
    for scenario in scenarios:
        try:
            warnings = _checked(scenario, sets)
            verdicts.append({"scenario": masked(scenario), "valid": True, "error": None, "warnings": warnings})
            warn(warnings, about=scenario)
        except (ScenarioError, QuestionError) as error:
            why = worded(error, click.get_current_context())
            verdict = {"scenario": masked(scenario), "valid": False, "error": why, "warnings": []}
            further = getattr(error, "further", ())
            verdicts.append({**verdict, "further": list(further)} if further else verdict)
            tell(why)
            tell_further(error)
    if as_json:
        echo_json(verdicts)
    else:
        for verdict in verdicts:
            if verdict["valid"]:
                click.echo(f"{place(str(verdict['scenario']))}: valid")
    if not all(verdict["valid"] for verdict in verdicts):
        raise click.exceptions.Exit(BAD_SCENARIO)


def _checked(path: str, sets: tuple[str, ...]) -> "list[Warned]":
    """Check a scenario or a sweep; return the warnings about the scenario."""
    from pushout import reading

    try:
        with no_sweep(path):
            return reading.validate(scenario_file(path), set=sets)
    except ScenarioError:
        from pushout.question import design, sweep

        if design.looks_like(path) != "sweep":
            raise
        sweep.validate(design.read(path, allowed()), sets)
        return []
