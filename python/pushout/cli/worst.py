"""The command `pushout worst` with its questions: `ratio`, `never`, `delay` and `grid`."""

import re
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pushout.cli.options import FAILURE, JSON, FileOf, Whole, console
from pushout.cli.page import write_figure
from pushout.cli.streams import echo_json, tell
from pushout.excerpt import quoted
from pushout.literals import FORMATS

if TYPE_CHECKING:
    from pushout.worst_case.delay import DelayResult
    from pushout.worst_case.never import NeverResult
    from pushout.worst_case.ratio import WorstResult

SIZES = ("ports", "memory")
"""Keys of a grid that are no parameters of the policy."""

NOTED_MB = 10
"""A search that takes less memory is not announced."""

UNPROVED = 3
"""The status of an answer that is not proved, as of a search that meets its limit."""

SCENARIO_FILE = ".toml"
"""The ending of a file with a scenario; others are figures."""

ABOUT_POLICY = "which is about the policy"
BESIDE: Mapping[str, Mapping[str, str]] = {
    "never": dict.fromkeys(
        ("--grid", "--against", "--reach"), f"cannot be used with --never, {ABOUT_POLICY}: leave out one"
    ),
    "delay": dict.fromkeys(
        ("--grid", "--against", "--reach", "--search"), f"cannot be used with --objective delay, {ABOUT_POLICY}"
    ),
    "grid": {"--out": "writes one input and cannot be used with --grid: leave out one"},
    "ratio": {"--pause": "stops senders and needs --never lossless_drop"},
}
"""Options that do not belong to a question, and why."""


class Questions(click.Group):
    """The questions about a policy; without the name of one, the options decide which it is."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the question before the policy, unless it is there."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [chosen(args), *args]
        return super().parse_args(ctx, args)


def chosen(args: list[str]) -> str:
    """Return the question that options mean; refuse options that do not belong to it."""
    names = [word.partition("=")[0] for word in args if word.startswith("--")]
    means = {"never": "--never" in names, "delay": "--objective delay" in " ".join(args).replace("=", " ")}
    means |= {"grid": "--grid" in names, "ratio": True}
    question = next(name for name, is_meant in means.items() if is_meant)
    if beside := [name for name in BESIDE[question] if name in names]:
        raise click.UsageError(f"{beside[0]} {BESIDE[question][beside[0]]}")
    return question


@click.group(cls=Questions)
def worst() -> None:
    """Find the exact worst case of a policy of a shared memory, with a proof.

    A policy is one of the catalogue, or a program in FILE.py (or FILE.py:NAME), which is run.

    Packets of equal length arrive at N ports in slots, in any number and order, and each port sends one a slot. The
    answer holds for every input. With --frames, circuits send frames of L cells, in any interleaving, to one FIFO port
    of B cells with the policy tail-drop, ppd or epd; whole frames count.

    Without the name of a question, pushout worst POLICY asks for the ratio; --never EVENT, --objective delay and --grid
    KEY=LIST ask the others.
    """


def _keys(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> dict[str, Any]:
    """Parse parameters of the policy, as in alpha=1/2."""
    from pushout.worst_case.ratio import number

    pairs = [value.partition("=") for value in values]
    if wrong := [value for value, (key, _, text) in zip(values, pairs, strict=True) if not key or not text]:
        raise click.BadParameter(f"the value must be KEY=VALUE, not {quoted(wrong[0])}")
    return {key.strip(): number(text) for key, _, text in pairs}


def _grid(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> dict[str, list[Any]]:
    """Parse lists of values, as in alpha=1/2,1,2."""
    from pushout.worst_case.ratio import number

    pairs = [value.partition("=") for value in values]
    given = zip(values, pairs, strict=True)
    if wrong := [value for value, (key, _, text) in given if not key or not all(map(str.strip, text.split(",")))]:
        raise click.BadParameter(f"the value must be KEY=VALUE,VALUE,…, not {quoted(wrong[0])}")
    grid = {key.strip(): [number(each) for each in text.split(",")] for key, _, text in pairs}
    for key in SIZES:
        if wrong := [value for value in grid.get(key, []) if not isinstance(value, int)]:
            raise click.BadParameter(f"{key} must be integers, not {quoted(wrong[0])}")
    return grid


def _pause(_context: click.Context, _option: click.Parameter, value: str | None) -> dict[str, Any] | None:
    """Parse the pauses of senders, as in xoff=3,response=2."""
    if value is None:
        return None
    parts = [re.fullmatch(r"\s*(\w+)\s*=\s*([0-9]{1,18})\s*", each) or each for each in value.split(",")]
    if wrong := [each for each in parts if isinstance(each, str)]:
        raise click.BadParameter(f"the value must be KEY=N,…, as in xoff=3,response=2, not {quoted(wrong[0])}")
    pairs = [(part[1], int(part[2])) for part in parts if not isinstance(part, str)]
    keys = [key for key, _ in pairs]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise click.BadParameter(f"{quoted(twice[0])} must be given once, not {keys.count(twice[0])} times")
    return dict(pairs)


POLICY = click.argument("policy", metavar="POLICY|FILE.py")
SET = click.option(
    "--set",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_keys,
    help="Set a parameter of the policy, as in alpha=1/2 (repeatable).",
)
PORTS = click.option(
    "--ports", type=Whole(1, 8), default=2, show_default=True, metavar="N", help="Ports that share the memory."
)
ROOM = click.option("--memory", type=Whole(1, 2**40), metavar="B", help="Packets that the memory holds.")
STATES = click.option(
    "--states", type=Whole(1, 2**28), metavar="LIMIT", help="Most states to visit (default: 10 million)."
)
FRAMES = click.option(
    "--frames", type=Whole(2, 1000), metavar="L", help="Cells of a frame: one FIFO port instead of a memory."
)
CIRCUITS = click.option(
    "--circuits", type=Whole(1, 8), metavar="V", help="Circuits that send such frames (default: 1)."
)
OUT = click.option(
    "--out",
    type=FileOf(("toml", *FORMATS)),
    metavar="FILE",
    help="Write the input as scenarios, and run them (.toml), or draw the queues (.png, .svg or .pdf).",
)
AGAINST = click.option(
    "--against", default="optimum", show_default=True, metavar="POLICY", help="Opponent: optimum or a policy."
)
OBJECTIVE = click.option(
    "--objective",
    default="throughput",
    show_default=True,
    metavar="WHAT",
    help="Compare packets sent (throughput) or lost in addition (losses).",
)
SEARCH = click.option(
    "--search",
    is_flag=True,
    help="Beyond the limit of states search a bad input, without a proof (ends with status 3).",
)
REACH = click.option("--reach", metavar="RATIO", help="Print the shortest input with at least this ratio, as in 5/4.")


def question(*own: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a question: the options that all of them have, and its own between."""

    def adding(function: Callable[..., None]) -> Callable[..., None]:
        command = function
        for option in reversed((POLICY, *own, PORTS, ROOM, SET, STATES, FRAMES, CIRCUITS, JSON)):
            command = option(command)
        return worst.command()(command)

    return adding


def _sizes(given: dict[str, Any], out: Path | None = None, grid: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Check options that belong together, and return those that are given."""
    if given["memory"] is None and "memory" not in (grid or {}):
        raise click.UsageError("--memory must be given: the packets that the memory holds")
    if out and out.suffix == SCENARIO_FILE and given["frames"]:
        raise click.UsageError("--out writes inputs of a shared memory and cannot be used with --frames: leave out one")
    if given["circuits"] and not given["frames"]:
        raise click.UsageError("--circuits counts senders of frames and needs --frames")
    return {name: value for name, value in given.items() if value is not None}


@question(AGAINST, OBJECTIVE, REACH, SEARCH, OUT)
def ratio(out: Path | None, as_json: bool, **given: Any) -> None:
    """Find the largest ratio of what an opponent sends to what the policy sends.

    The optimum knows the whole input. No input exceeds the ratio for ever, and the printed input attains it. A search
    that meets its limit of states proves nothing and ends with status 3.
    """
    from pushout.options import Ratio
    from pushout.worst_case.ratio import worst

    result = worst(Ratio(**_sizes(given, out)), announce)
    _print(result, out, as_json=as_json)
    if not result.proved:
        raise click.exceptions.Exit(UNPROVED)


@question(
    click.argument("event", required=False),
    click.option("--never", "named", hidden=True),
    click.option(
        "--pause",
        metavar="KEY=N,…",
        callback=_pause,
        help="For lossless_drop: N senders that the memory stops. xoff: packets of headroom that each may take; "
        "response: slots in which a stopped one still sends; perhaps xon, and headroom of all together.",
    ),
    OUT,
)
def never(event: str | None, named: str | None, out: Path | None, as_json: bool, **given: Any) -> None:
    """Prove that an event never happens, or print the shortest input with it, with status 1.

    EVENT is starved: a packet is refused while the queue of its port is empty; loss; 'loss while room': a packet is
    refused or pushed out, although the memory is not full; with --frames 'broken frame': a cell is lost after the first
    cells of its frame were queued; or with --pause lossless_drop: a packet of a lossless class is lost, although the
    memory stops its sender.
    """
    from pushout.options import Never
    from pushout.worst_case.never import never

    if (event is None) == (named is None):
        raise click.UsageError("EVENT must be given once, as in starved")
    result = never(Never(event=str(named or event), **_sizes(given, out)), announce)
    _print(result, out, as_json=as_json)
    if not result.proved:
        raise click.exceptions.Exit(FAILURE)


@question(click.option("--objective", hidden=True), OUT)
def delay(objective: str | None, out: Path | None, as_json: bool, **given: Any) -> None:
    """Find the longest time from the arrival of a packet to the end of its transmission."""
    from pushout.options import Worst
    from pushout.worst_case.delay import delay

    _print(delay(Worst(**_sizes(given, out)), announce), out, as_json=as_json)


@question(
    click.argument("keys", nargs=-1, metavar="KEY=LIST…", callback=_grid),
    click.option("--grid", "named", multiple=True, callback=_grid, hidden=True),
    *(AGAINST, OBJECTIVE, REACH, SEARCH),
)
def grid(keys: dict[str, list[Any]], named: dict[str, list[Any]], as_json: bool, **given: Any) -> None:
    """Print the ratio for each value of a parameter, of ports or of memory, as in alpha=1/2,1,2."""
    from pushout.options import Ratio
    from pushout.worst_case.ratio import worst

    if not (lists := {**keys, **named}):
        raise click.UsageError("KEY=LIST must be given, as in alpha=1/2,1,2")
    given = _sizes(given, grid=lists)
    points = []
    for at in (dict(zip(lists, values, strict=True)) for values in product(*lists.values())):
        sizes = {key: at[key] for key in SIZES if key in at}
        own = {key: value for key, value in at.items() if key not in SIZES}
        points.append((at, worst(Ratio(**{**given, **sizes, "set": {**given["set"], **own}}), announce)))
    _print_grid(points, list(lists), as_json=as_json)


def announce(states: int, megabytes: int) -> None:
    """Say what a search can need, before it begins; a small one needs no words."""
    from pushout.quantity import grouped

    if megabytes >= NOTED_MB:
        tell(f"note: the search visits at most {grouped(states)} states, which take at most {grouped(megabytes)} MB")


def _print(result: "WorstResult | NeverResult | DelayResult", out: Path | None, *, as_json: bool) -> None:
    """Print an answer, and write its input: scenarios before it, a drawing after it."""
    from pushout.show import worst as show

    verified = result.write(out) if out is not None and out.suffix == SCENARIO_FILE else None
    if as_json:
        echo_json({**result.document, **({"verified": verified} if verified else {})})
    else:
        show.answer(result, console())
        if verified:
            counts = " of ".join(map(str, verified["delivered"]))
            click.echo(f"verified: {counts}, on both engines; {', '.join(verified['scenarios'])}")
    if out is not None and out.suffix != SCENARIO_FILE:  # last, so that the answer is there without a disk
        write_figure(result.plot(), out)


def _print_grid(points: "list[tuple[dict[str, Any], WorstResult]]", names: list[str], *, as_json: bool) -> None:
    """Print a row for each point, without its input."""
    rows = [
        {"at": at, **{key: value for key, value in result.document.items() if key != "input"}} for at, result in points
    ]
    if as_json:
        echo_json({"rows": rows})
        return
    from pushout.show import worst as show

    show.grid(rows, names, console())
