"""The commands about scenarios and their contents: `validate`, `explain`, `schema` and `policies`."""

from typing import TYPE_CHECKING

import click

from pushout.cli import completion
from pushout.cli.options import BAD_SCENARIO, JSON, SCENARIO, SET, allowed, console, no_sweep, scenario_file, worded
from pushout.cli.streams import echo_json, tell, tell_further
from pushout.cli.warn import warn
from pushout.errors import QuestionError, ScenarioError
from pushout.excerpt import masked, place

if TYPE_CHECKING:
    from pushout.warning import Warned


@click.command()
@click.argument("scenarios", metavar="SCENARIO…", nargs=-1, required=True, shell_complete=completion.scenario)
@SET
@JSON
def validate(scenarios: tuple[str, ...], sets: tuple[str, ...], as_json: bool) -> None:
    """Check scenarios and sweeps without running them.

    Every point of a sweep is checked.
    """
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


@click.command()
@SCENARIO
@SET
@JSON
def explain(scenario: str, sets: tuple[str, ...], as_json: bool) -> None:
    """Print a scenario in words: run, network, buffers, memories and traffic, with every default that matters.

    With --json the output is canonical JSON with all templates and defaults expanded, and itself a scenario. A note
    gives the reason if the reference engine runs a scenario because the fast engine cannot skip anything. For ports
    that share a memory, notes give the threshold of every class with its pool empty, half full and full.
    """
    from pushout import reading
    from pushout.warning import of_scenario

    with no_sweep(scenario):
        source = scenario_file(scenario)
        document = reading.explain(source, set=sets)
        because = reading.reference_because(source, set=sets)
        thresholds = reading.thresholds(source, set=sets)
        warn(of_scenario(source, sets))
    engine = document["engine"] if because is None else "reference"
    notes = [] if because is None else [f"the reference engine runs it, not {document['engine']}: {because}"]
    notes += thresholds
    if as_json:
        for note in notes:
            click.echo(f"note: {note}", err=True)
        echo_json(document)
        return
    from pushout.show import explained

    explained.scenario(document, engine, notes, console())


@click.command()
@JSON
def schema(as_json: bool) -> None:
    """Print the JSON Schema of scenario files, for editors."""
    from pushout import reading

    echo_json(reading.schema())


@click.command()
@click.argument("name", required=False)
@click.option("--kind", metavar="KIND", help="List only this kind, such as admission, scheduler or source.")
@JSON
def policies(name: str | None, kind: str | None, as_json: bool) -> None:
    """List all schemes that a scenario can name, or explain the one called NAME."""
    from pushout import reading

    try:
        entries = reading.policies(name, kind=kind)
    except QuestionError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        echo_json(entries)
        return
    from pushout.show import catalogue

    if name is None:
        catalogue.policies(entries, console())
    for entry in entries if name is not None else ():
        catalogue.policy(entry, console())
