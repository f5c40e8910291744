"""What the commands have in common: arguments, options, exit codes, the console."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.types import StringParamType

from pushout.cli import completion
from pushout.errors import ScenarioError
from pushout.excerpt import quoted
from pushout.limits import LEAST_RESOLUTION, MOST_JOBS, MOST_REPS
from pushout.literals import ENGINES, FORMATS

if TYPE_CHECKING:
    from rich.console import Console

OK, FAILURE, USAGE, BAD_SCENARIO, MISSED, INTERNAL, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 4, 70, 130, 143

SCENARIO = click.argument("scenario", metavar="SCENARIO", shell_complete=completion.scenario)
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on the standard output.")


class Whole(click.IntRange):
    """A whole number between two, which a message calls so."""

    name = "whole number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; its digits are those of ASCII, as everywhere."""
        if isinstance(value, str) and not re.fullmatch(r" *[-+]?[0-9](_?[0-9]){0,30} *", value):
            self.fail(f"{quoted(value)} is not a valid whole number.", param, ctx)
        return super().convert(value, param, ctx)


class Resolution(click.FloatRange):
    """A share of which a search makes a difference."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The share."""
        if isinstance(value, str) and not re.fullmatch(r" *\+?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)? *", value):
            self.fail(f"{quoted(value)} is not a valid share.", param, ctx)
        share: float = super().convert(value, param, ctx)
        if 0 < share < LEAST_RESOLUTION:
            self.fail(f"it must be 0 or at least {LEAST_RESOLUTION:g}, not {share:g}.", param, ctx)
        return share


class Folder(click.Path):
    """A folder, which has a name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The folder as a path."""
        if value == "":
            self.fail(EMPTY, param, ctx)
        return super().convert(value, param, ctx)


class Place(StringParamType):
    """A folder or an address, which is not empty."""

    def __init__(self, empty: str) -> None:
        self.empty = empty

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The place as a text."""
        return super().convert(value or self.fail(self.empty, param, ctx), param, ctx)


class FileOf(click.ParamType[Path]):
    """A file whose name says in which of some formats it is."""

    name = "file"

    def __init__(self, formats: Sequence[str]) -> None:
        self.formats = formats

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The file as a path."""
        path = Path(value)
        if path.suffix.removeprefix(".").lower() not in self.formats:
            *others, last = (f".{ending}" for ending in self.formats)
            allowed = f"{', '.join(others)} or {last}" if others else last
            self.fail(f"it must end in {allowed}, not {quoted(path.name)}.", param, ctx)
        return path


EMPTY = "it is empty: name a folder, or . for the one you are in"
PICTURE = FileOf(FORMATS)
FOLDER, PLACE = Folder(file_okay=False, path_type=Path), Place(EMPTY)

SEED = Whole(0, 2**64 - 1)
REPS, PAIRED = Whole(1, MOST_REPS), Whole(2, MOST_REPS)


def _assignments(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if "=" not in value.lstrip("="):
            raise click.BadParameter(f"{quoted(value)} is not key.path=value")
    return values


SET = click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY.PATH=VALUE",
    callback=_assignments,
    help="Override a key of the scenario; may be repeated. The value is read as TOML or, if it is none, as a text.",
)

ENGINE = click.option(
    "--engine",
    type=click.Choice(ENGINES),
    metavar="E",
    help=f"{' or '.join(ENGINES)} (default: the scenario's).",
)

JOBS = click.option("--jobs", type=Whole(1, MOST_JOBS), metavar="N", help="Threads (default: every core).")
CLUSTER = click.option(
    "--cluster",
    type=Place("it is empty: name ray://HOST:PORT, HOST:PORT, auto or local"),
    metavar="ADDRESS",
    help="Run on a Ray cluster: ray://HOST:PORT, HOST:PORT, auto (the one this machine is in) or local.",
)
CACHE = click.option(
    "--cache",
    type=FOLDER,
    envvar="PUSHOUT_CACHE",
    metavar="DIR",
    help="Where runs are kept, so that none is done twice (default: the folder cache in DIR).",
)


def default_folder(name: str) -> str:
    """Where the results of a scenario go by default: one folder in results, whatever its name."""
    return f"results/{name.replace('/', '-')}"


def scenario_file(path: str) -> Path:
    """On the command line a scenario is always a file, whatever its name looks like."""
    return Path(path)


OTHERS = {"low": "from", "high": "to"}
"""Arguments of functions whose options have other names."""


def option(argument: str) -> str:
    """The option that stands for an argument of a function."""
    return f"--{OTHERS.get(argument, argument)}"


@contextmanager
def no_sweep(path: str) -> Iterator[None]:
    """Tell who names a sweep where a scenario is wanted."""
    try:
        yield
    except ScenarioError:
        from pushout.question import design

        other = design.looks_like(path)
        if not other:
            raise
        more = "pushout sweep runs it" if other == "sweep" else "it names the one that was run"
        raise ScenarioError(f"{path}: this is a {other}, not a scenario: {more}") from None


def console() -> "Console":
    """Where tables go."""
    from rich.console import Console

    # Brackets and colons in names are no markup.
    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else _piped_width())


PIPED = 200
"""The width of tables in a pipe or a file, in letters, unless COLUMNS says otherwise."""


def _piped_width() -> int:
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if re.fullmatch("[1-9][0-9]{0,5}", columns) else PIPED
