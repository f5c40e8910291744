"""Arguments, options, exit codes and the console that the commands share."""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.types import StringParamType

from pushout.cli import completion, streams
from pushout.errors import PushoutError, ScenarioError
from pushout.excerpt import LONGEST_PATH, excerpt, fitted, masked, printable, quoted
from pushout.limits import LEAST_RESOLUTION, MOST_JOBS, MOST_REPS
from pushout.literals import ENGINES, FORMATS

if TYPE_CHECKING:
    from rich.console import Console

    from pushout.source import Source

OK, FAILURE, USAGE, BAD_SCENARIO, MISSED, INTERNAL, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 4, 70, 130, 143

SCENARIO = click.argument("scenario", metavar="SCENARIO", shell_complete=completion.scenario)


def _to_print(_context: click.Context, _option: click.Parameter, as_json: bool) -> bool:
    """Refuse a closed output before a run that may take hours."""
    if as_json:
        streams.check_open()
    return as_json


JSON = click.option(
    "--json", "as_json", is_flag=True, callback=_to_print, help="Print one JSON document to standard output."
)


class Whole(click.IntRange):
    """An integer in a range."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the integer; only ASCII digits are allowed."""
        if isinstance(value, str) and not re.fullmatch(r" *[-+]?[0-9](_?[0-9]){0,30} *", value):
            self.fail(f"the value must be an integer, not {quoted(value)}.", param, ctx)
        return super().convert(value, param, ctx)


class Resolution(click.FloatRange):
    """The smallest relative difference that a search resolves."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the share."""
        if isinstance(value, str) and not re.fullmatch(r" *\+?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)? *", value):
            self.fail(f"the value must be a share from 0 to 1, not {quoted(value)}.", param, ctx)
        share: float = super().convert(value, param, ctx)
        if 0 < share < LEAST_RESOLUTION:
            self.fail(f"the value must be 0 or at least {LEAST_RESOLUTION:g}, not {share:g}.", param, ctx)
        return share


class Folder(click.Path):
    """A folder with a name that is not empty."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the path of the folder."""
        if value == "":
            self.fail(EMPTY, param, ctx)
        return super().convert(value, param, ctx)


class Place(StringParamType):
    """A folder or an address that is not empty."""

    def __init__(self, empty: str) -> None:
        self.empty = empty

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the folder or address."""
        return super().convert(value or self.fail(self.empty, param, ctx), param, ctx)


class FileOf(click.ParamType[Path]):
    """A file whose suffix gives its format."""

    name = "file"

    def __init__(self, formats: Sequence[str]) -> None:
        self.formats = formats

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Parse the path of the file."""
        path = Path(value)
        if path.suffix.removeprefix(".").lower() not in self.formats:
            *others, last = (f".{ending}" for ending in self.formats)
            allowed = f"{', '.join(others)} or {last}" if others else last
            self.fail(f"the file must end in {allowed}, not {quoted(masked(str(value)))}.", param, ctx)
        return path


EMPTY = "the value must not be empty: name a folder, or . for the current one"
PICTURE = FileOf(FORMATS)
FOLDER, PLACE = Folder(file_okay=False, path_type=Path), Place(EMPTY)

SEED = Whole(0, 2**64 - 1)
REPS, PAIRED = Whole(1, MOST_REPS), Whole(2, MOST_REPS)


def _assignments(context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if "=" not in value.lstrip("="):
            raise click.BadParameter(f"the value must be key.path=value, not {quoted(value)}")
    return (*context.meta.get(_POLICIES, ()), *values)  # overrides may set parameters of the policies


_POLICIES = "pushout.policies"
"""Key of the policies of `--policy`, which come before the overrides."""


_TYPED = "pushout.typed"
"""Key of the texts that the user typed for these policies."""


_PAGE = "see docs/limits.md"
"""What messages say of names that are not modelled; a wheel has the page, but not at this path."""


def worded(error: PushoutError, context: click.Context) -> str:
    """Return the message of an error with the options that were typed: a policy of `--policy` is an override inside."""
    typed = context.meta.get(_TYPED, [])
    number = error.set if isinstance(error, ScenarioError) else None
    if number is None or number >= len(typed):
        return error.worded(option).replace(_PAGE, "see pushout list limits")
    shown, end = str(error.args[0]), context.meta[_POLICIES][number][-LIKE:]
    why = shown.partition(f"{end}: ")[2] or shown
    return fitted(printable(f"--policy {excerpt(typed[number], LONGEST_PATH)}: {why}"))


LIKE = 12
"""Characters at the end of an override that a message shows of every one."""


def listed(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> str | None:
    """Join the values of an option that may be given several times: each is a list with commas."""
    return ",".join(values) if values else None


def _programs(context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> None:
    given = [value.partition("=")[::2] for value in values]
    if wrong := [value for value, (place, file) in zip(values, given, strict=True) if not place or not file]:
        is_name = re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", wrong[0])
        instead = f"; for a policy of the catalogue use compare --policies {wrong[0]}" if is_name else ""
        instead = f", as in bottleneck={wrong[0].lstrip('=')}" if wrong[0].endswith(".py") else instead
        raise click.BadParameter(f"the value must be PLACE=FILE.py, not {quoted(wrong[0])}{instead}")
    if given and not context.resilient_parsing:
        from pushout import policy

        made = [(f"{place}={file}", _given_to(place, policy.read(file))) for place, file in given]
        context.meta[_POLICIES] = [each for _, sets in made for each in sets]
        context.meta[_TYPED] = [typed for typed, sets in made for _ in sets]


def _given_to(place: str, program: Mapping[str, Any]) -> list[str]:
    """Give a policy in Python to the ports, or classes of ports, of a text with commas."""
    from pushout import policy
    from pushout.simulate import listed as names_of

    return policy.overrides(dict.fromkeys(names_of("policy", place), program))


_SETS = click.option(
    "--set",
    "sets",
    multiple=True,
    metavar="KEY.PATH=VALUE",
    callback=_assignments,
    help="Override a key of the scenario (repeatable). The value is parsed as TOML; anything else is a string.",
)
POLICY = click.option(
    "--policy",
    multiple=True,
    is_eager=True,
    expose_value=False,
    metavar="PLACE=FILE.py",
    callback=_programs,
    help="Give ports, or a class of ports as in fabric, the policy of a Python file (repeatable), which is run. "
    "FILE.py:NAME chooses one of several.",
)


SHARE = 0.9
"""The share of the free memory that a command may take by default."""

ALL_MEMORY = 2**63
"""More bytes than a machine can address: a larger limit means this one."""


def _free_memory() -> int | None:
    """Return the octets of memory that the system can still give, as Linux estimates it."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), None)


def _limit_memory(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    """End the process with a message before the system runs out of memory."""
    if context.resilient_parsing:
        return
    from pushout import _core

    limit = _free_memory()
    if value is not None:
        from pushout.quantity import SIZES, split

        try:
            number, unit = split(value)
        except PushoutError as error:
            raise click.BadParameter(str(error)) from None
        if unit not in SIZES or number <= 0:
            raise click.BadParameter(f"the value must be a size greater than 0, as in 4 GB, not {quoted(value)}")
        limit = round(min(number * SIZES[unit], ALL_MEMORY))
    elif limit is not None:
        limit = round(SHARE * limit)
    if limit is not None:
        asked = "--memory" if value is not None else "nine tenths of what was free"
        message = (
            f"Error: {context.info_name} needs more than {limit / 1e9:.3g} GB of memory ({asked}). Shorten duration, "
            "limit buffers, lower the rates of sources, or measure less; --memory SIZE allows more."
        )
        _core.limit_memory(limit, message, BAD_SCENARIO)


MEMORY = click.option(
    "--memory",
    expose_value=False,
    metavar="SIZE",
    callback=_limit_memory,
    help="End with a message above this memory, as in 4 GB (default: nine tenths of what is free; Linux).",
)


_ALLOWED = "pushout.allowed"
"""Key of the folders of `--allow-files`."""


def _allow(context: click.Context, _option: click.Parameter, folders: tuple[Path, ...]) -> None:
    context.meta[_ALLOWED] = folders


ALLOW = click.option(
    "--allow-files",
    type=FOLDER,
    multiple=True,
    expose_value=False,
    metavar="DIR",
    callback=_allow,
    help="Let a scenario name files below this folder too, not only below its own (repeatable).",
)


def allowed() -> tuple[Path, ...]:
    """Return the folders of `--allow-files`."""
    return tuple(click.get_current_context().meta.get(_ALLOWED, ()))


def given_policies(source: "Source", sets: Sequence[str]) -> tuple[str, ...]:
    """Return the policies of `--policy` as overrides of a scenario with `sets`: `all` stands for all its classes."""
    meta = click.get_current_context().meta
    policies, typed = meta.get(_POLICIES, []), meta.get(_TYPED, [])
    if not policies:
        return ()
    from pushout.names.place import everywhere

    made = everywhere(policies, source, sets)
    meta[_POLICIES] = [each for changes in made for each in changes]
    meta[_TYPED] = [text for text, changes in zip(typed, made, strict=True) for _ in changes]
    return tuple(meta[_POLICIES])


def with_policies(source: "Source", sets: tuple[str, ...]) -> tuple[str, ...]:
    """Return the overrides of `--policy` and `--set` for a scenario."""
    own = sets[len(click.get_current_context().meta.get(_POLICIES, ())) :]
    return (*given_policies(source, own), *own)


def SET(command: Any) -> Any:  # noqa: N802  (a group of options, as the others are options)
    """Add the options that override keys of a scenario."""
    return SET_ALONE(POLICY(command))


def SET_ALONE(command: Any) -> Any:  # noqa: N802
    """Add these options without `--policy`."""
    return _SETS(ALLOW(MEMORY(command)))


ENGINE = click.option(
    "--engine",
    type=click.Choice(ENGINES),
    metavar="E",
    help=f"{' or '.join(ENGINES)} (default: the scenario's).",
)

JOBS = click.option("--jobs", type=Whole(1, MOST_JOBS), metavar="N", help="Threads (default: every core).")
CLUSTER = click.option(
    "--cluster",
    type=Place("the value must not be empty: name ray://HOST:PORT, HOST:PORT, auto or local"),
    metavar="ADDRESS",
    help="Run on a Ray cluster: ray://HOST:PORT, HOST:PORT, auto (the cluster of this machine) or local.",
)
CACHE = click.option(
    "--cache",
    type=FOLDER,
    envvar="PUSHOUT_CACHE",
    metavar="DIR",
    help="Folder of finished runs, which are not repeated (default: cache in DIR).",
)


QOS = click.option(
    "--qos",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="More tables of SONiC: QUEUE, SCHEDULER and WRED_PROFILE say what is served and marked.",
)
CELL = click.option(
    "--cell",
    type=Whole(1, 65_535),
    metavar="BYTES",
    help="Size of the cells of a memory that tables of SONiC describe.",
)


def default_folder(name: str) -> str:
    """Return the default folder for the results of a scenario: one folder in results, even if the name has slashes."""
    return f"results/{name.replace('/', '-')}"


def scenario_file(path: str) -> "Source":
    """Read the scenario of the command line: a file, even if its name looks like the text of one."""
    from pushout.progress import Progress
    from pushout.source import load

    with Progress("packets", about=True) as progress:
        return load(Path(path), allow_files=allowed(), progress=progress)


OTHERS = {"low": "from", "high": "to", "own": "policy"}
"""Arguments of functions whose options have different names."""


def option(argument: str) -> str:
    """Return the option for an argument of a function."""
    return f"--{OTHERS.get(argument, argument).replace('_', '-')}"


@contextmanager
def no_sweep(path: str) -> Iterator[None]:
    """Reject a sweep file where a scenario is expected."""
    try:
        yield
    except ScenarioError:
        from pushout.question import design

        other = design.looks_like(path)
        if not other:
            raise
        fix = "run it with pushout sweep" if other == "sweep" else "use the scenario that it names"
        raise ScenarioError(f"{path}: the file must be a scenario, not a {other}: {fix}") from None


def console() -> "Console":
    """Make the console that prints tables."""
    from rich.console import Console

    # Brackets and colons in names are not markup.
    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else _piped_width())


PIPED = 200
"""The width of tables in a pipe or a file, in characters, unless COLUMNS is set."""


def _piped_width() -> int:
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if re.fullmatch("[1-9][0-9]{0,5}", columns) else PIPED
