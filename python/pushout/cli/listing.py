"""The command `pushout list`: schemes, scenarios, figures, limits, and the schema of scenario files."""

from typing import TYPE_CHECKING

import click

from pushout.cli.completion import shipped_names
from pushout.cli.options import JSON, console
from pushout.cli.streams import echo_json
from pushout.errors import QuestionError

if TYPE_CHECKING:
    from pushout.shipped import Shipped


@click.group("list", invoke_without_command=True)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of scenario files, for editors.")
@JSON
@click.pass_context
def list_(context: click.Context, schema: bool, as_json: bool) -> None:
    """List schemes, scenarios, figures or limits, explain one, or print the schema of scenario files."""
    if schema and context.invoked_subcommand is not None:
        raise click.UsageError(f"--schema cannot be used with {context.invoked_subcommand}: leave out one")
    if schema:
        from pushout import reading

        echo_json(reading.schema())
    elif context.invoked_subcommand is None:
        click.echo(context.get_help())


@list_.command()
@click.argument("name", required=False)
@click.option("--kind", metavar="KIND", help="List only this kind, such as admission, scheduler or source.")
@JSON
def schemes(name: str | None, kind: str | None, as_json: bool) -> None:
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


@list_.command()
@click.argument("name", required=False, shell_complete=shipped_names)
@JSON
def scenarios(name: str | None, as_json: bool) -> None:
    """List the scenarios that come with Pushout, or print the one called NAME.

    Every command takes such a name in place of a file.
    """
    from pushout import shipped

    if name is not None:
        _print(named(name), as_json)
        return
    listed = shipped.listed()
    if as_json:
        echo_json([_entry(each) for each in listed])
        return
    from pushout.show.columns import Column, describe

    titles = ("name", "kind", "subject")
    rows = [list(each[:3]) for each in listed]
    describe(console(), [Column(title, right=False, whole=title != titles[-1]) for title in titles], rows)


@list_.command()
@click.argument("part", required=False, metavar="[TEXT]")
@JSON
def figures(part: str | None, as_json: bool) -> None:
    """List the figures that --goal, --columns, --figures and --what take, or those with TEXT in name or meaning.

    NAME in a figure stands for a flow, a port, a memory, a class or a queue.
    """
    from pushout.names.figures import rows

    found = [
        each for each in rows() if part is None or part.lower() in f"{each.name} {each.short} {each.meaning}".lower()
    ]
    if not found:
        raise click.UsageError(f"no figure has {part!r} in its name or meaning")
    if as_json:
        echo_json([each._asdict() for each in found])
        return
    from pushout.show.columns import Column, describe

    titles = ("name", "short name", "meaning")
    columns = [Column(title, right=False, whole=title == "name") for title in titles]
    describe(console(), columns, [[each.name, each.short, each.meaning] for each in found])


@list_.command()
@click.argument("part", required=False, metavar="[TEXT]")
def limits(part: str | None) -> None:
    """Print what Pushout does not model, and what to use instead: the whole page, or the lines with TEXT."""
    from pushout import shipped

    page = shipped.LIMITS.read_text(encoding="utf-8").replace("**", "")
    found = [line for line in page.splitlines() if part is None or part.lower() in line.lower()]
    if not found:
        raise click.UsageError(f"no line of the page has {part!r}; without TEXT the whole page is printed")
    click.echo("\n".join(found))


def _print(chosen: "Shipped", as_json: bool) -> None:
    if as_json:
        echo_json({**_entry(chosen), "text": chosen.text()})
    else:
        click.echo(chosen.text(), nl=False)


def _entry(each: "Shipped") -> dict[str, str]:
    return {"name": each.name, "kind": each.kind, "title": each.title, "file": str(each.file)}


def named(name: str) -> "Shipped":
    """Return the shipped scenario of this name."""
    from pushout import _core, shipped

    for each in shipped.listed():
        if each.name == name:
            return each
    raise click.UsageError(_core.unknown("shipped scenario", name, shipped.names()))
