"""The command `pushout worst`."""

import re
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
    from pushout.question.delay import DelayResult
    from pushout.question.never import Alone, NeverResult
    from pushout.question.worst import WorstResult


SIZES = ("ports", "memory")
"""Keys of a grid that are no parameters of the policy."""

NOTED_MB = 10
"""A search that takes less memory is not announced."""


def _keys(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> dict[str, Any]:
    """Parse parameters of the policy, as in alpha=1/2."""
    from pushout.question.worst import number

    pairs = [value.partition("=") for value in values]
    if wrong := [value for value, (key, _, text) in zip(values, pairs, strict=True) if not key or not text]:
        raise click.BadParameter(f"the value must be KEY=VALUE, not {quoted(wrong[0])}")
    return {key.strip(): number(text) for key, _, text in pairs}


def _grid(_context: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> dict[str, list[Any]]:
    """Parse lists of values, as in alpha=1/2,1,2."""
    from pushout.question.worst import number

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


@click.command()
@click.argument("policy", metavar="POLICY|FILE.py")
@click.option(
    "--ports", type=Whole(1, 8), default=2, show_default=True, metavar="N", help="Ports that share the memory."
)
@click.option("--memory", type=Whole(1, 2**40), metavar="B", help="Packets that the memory holds.")
@click.option(
    "--set",
    "parameters",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_keys,
    help="Set a parameter of the policy, as in alpha=1/2 (repeatable).",
)
@click.option(
    "--against", default="optimum", show_default=True, metavar="POLICY", help="Opponent: optimum or a policy."
)
@click.option(
    "--objective",
    default="throughput",
    show_default=True,
    metavar="WHAT",
    help="Compare packets sent (throughput) or lost in addition (losses), or find the longest delay (delay).",
)
@click.option("--states", type=Whole(1, 2**28), metavar="LIMIT", help="Most states to visit (default: 10 million).")
@click.option(
    "--search",
    is_flag=True,
    help="Beyond the limit of states search a bad input, without a proof (ends with status 3).",
)
@click.option(
    "--grid",
    multiple=True,
    metavar="KEY=LIST",
    callback=_grid,
    help="Print the ratio for each value of a parameter, of ports or of memory, as in alpha=1/2,1,2 (repeatable).",
)
@click.option("--frames", type=Whole(2, 1000), metavar="L", help="Cells of a frame: one FIFO port instead of a memory.")
@click.option("--circuits", type=Whole(1, 8), metavar="V", help="Circuits that send such frames (default: 1).")
@click.option("--reach", metavar="RATIO", help="Print the shortest input with at least this ratio, as in 5/4.")
@click.option(
    "--never",
    "event",
    metavar="EVENT",
    help="Prove instead that an event never happens, or print the shortest input with it: loss, 'loss while room', "
    "starved (of frames: 'broken frame'; with --pause: lossless_drop).",
)
@click.option(
    "--pause",
    metavar="KEY=N,…",
    callback=_pause,
    help="With --never lossless_drop: N senders that the memory stops. xoff: packets of headroom that each may take; "
    "response: slots in which a stopped one still sends; perhaps xon, and headroom of all together.",
)
@click.option(
    "--out",
    type=FileOf(("toml", *FORMATS)),
    metavar="FILE",
    help="Write the input as scenarios, and run them (.toml), or draw the queues (.png, .svg or .pdf).",
)
@JSON
def worst(
    policy: str,
    ports: int,
    memory: int | None,
    parameters: dict[str, Any],
    against: str,
    objective: str,
    states: int | None,
    search: bool,
    grid: dict[str, list[Any]],
    frames: int | None,
    circuits: int | None,
    reach: str | None,
    event: str | None,
    pause: dict[str, Any] | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Find the exact worst case of a policy of a shared memory, with a proof.

    A policy is one of the catalogue, or a program in FILE.py (or FILE.py:NAME), which is run.

    Packets of equal length arrive at N ports in slots, in any number and order, and each port sends one a slot. The
    answer is the largest ratio of what an optimum that knows the whole input sends to what the policy sends; no input
    exceeds it for ever, and the printed input attains it. A search that meets its limit of states proves nothing and
    ends with status 3.

    With --frames, circuits send frames of L cells, in any interleaving, to one FIFO port of B cells with the policy
    tail-drop, ppd or epd; whole frames count.

    With --objective delay the answer is the longest time from the arrival of a packet to the end of its transmission.

    With --never, the answer is a proof for all inputs, or a counter-example with status 1. Starved: a packet is refused
    while the queue of its port is empty. Loss while room: a packet is refused or pushed out, although the memory is not
    full. Broken frame: a cell is lost after the first cells of its frame were queued. With --pause, lossless_drop: a
    packet of a lossless class is lost, although the memory stops its sender.
    """
    from pushout.exact import STATES
    from pushout.question.delay import delay
    from pushout.question.never import never
    from pushout.question.worst import worst as question

    if memory is None and "memory" not in grid:
        raise click.UsageError("--memory must be given: the packets that the memory holds")
    if grid and out:
        raise click.UsageError("--out writes one input and cannot be used with --grid: leave out one")
    if out and out.suffix == ".toml" and frames:
        raise click.UsageError("--out writes inputs of a shared memory and cannot be used with --frames: leave out one")
    if circuits and not frames:
        raise click.UsageError("--circuits counts senders of frames and needs --frames")
    if pause and event is None:
        raise click.UsageError("--pause stops senders and needs --never lossless_drop")
    if event is not None:
        given = {"--grid": bool(grid), "--against": against != "optimum", "--reach": reach is not None}
        if beside := [option for option, is_given in given.items() if is_given]:
            raise click.UsageError(f"{beside[0]} cannot be used with --never, which is about the policy: leave out one")
        count = ports if frames is None else circuits or 1
        proof = never(policy, event, count, memory or 0, parameters, states or STATES, frames, pause, announce=announce)
        _print_alone(proof, out, as_json=as_json)
        if not proof.proved:
            raise click.exceptions.Exit(FAILURE)
        return
    if objective == "delay":
        given = {
            "--grid": bool(grid),
            "--against": against != "optimum",
            "--reach": reach is not None,
            "--search": search,
        }
        if beside := [option for option, is_given in given.items() if is_given]:
            raise click.UsageError(f"{beside[0]} cannot be used with --objective delay, which is about the policy")
        count = ports if frames is None else circuits or 1
        longest = delay(policy, count, memory or 0, parameters, states or STATES, frames, announce=announce)
        _print_alone(longest, out, as_json=as_json)
        return

    def ask(at: dict[str, Any]) -> "WorstResult":
        sizes: dict[str, Any] = {"ports": ports, "memory": memory, **at}
        own = {key: value for key, value in at.items() if key not in SIZES}
        return question(
            policy,
            sizes["ports"] if frames is None else circuits or 1,
            sizes["memory"],
            parameters={**parameters, **own},
            against=against,
            states=states or STATES,
            reach=reach,
            frames=frames,
            search=search,
            objective=objective,
            announce=announce,
        )

    if grid:
        _print_grid([(at, ask(at)) for at in _points(grid)], list(grid), as_json=as_json)
        return
    result = ask({})
    verified = _run_of(result, out)
    if as_json:
        echo_json({**result.document, **({"verified": verified} if verified else {})})
    else:
        from pushout.show import worst as show

        show.worst(result, console())
        if verified:
            counts = " of ".join(map(str, verified["delivered"]))
            click.echo(f"verified: {counts}, on both engines; {', '.join(verified['scenarios'])}")
    _draw(result, out)
    if not result.proved:
        raise click.exceptions.Exit(UNPROVED)


UNPROVED = 3
"""The status of an answer that is not proved, as of a search that meets its limit."""


def _run_of(result: "WorstResult | Alone", out: Path | None) -> dict[str, Any] | None:
    """Write the scenarios of an input, if they are wanted, and return what their runs delivered."""
    return result.write(out) if out is not None and out.suffix == SCENARIO_FILE else None


def _draw(result: "WorstResult | Alone", out: Path | None) -> None:
    """Draw an input, if that is wanted: last, so that the answer is there without a disk."""
    if out is not None and out.suffix != SCENARIO_FILE:
        write_figure(result.plot(), out)


SCENARIO_FILE = ".toml"
"""The ending of a file with a scenario; others are figures."""


def announce(states: int, megabytes: int) -> None:
    """Say what a search can need, before it begins; a small one needs no words."""
    from pushout.question.quantity import grouped

    if megabytes >= NOTED_MB:
        tell(f"note: the search visits at most {grouped(states)} states, which take at most {grouped(megabytes)} MB")


def _print_alone(result: "NeverResult | DelayResult", out: Path | None, *, as_json: bool) -> None:
    """Print an answer about the policy alone: a proof, a counter-example or the longest delay."""
    from pushout.question.never import NeverResult
    from pushout.show import worst as show

    verified = _run_of(result, out)
    if as_json:
        echo_json({**result.document, **({"verified": verified} if verified else {})})
    else:
        if isinstance(result, NeverResult):
            show.never(result, console())
        else:
            show.delay(result, console())
        if verified:
            click.echo(f"verified: {verified['delivered'][0]}, on both engines; {verified['scenarios'][0]}")
    _draw(result, out)


def _points(grid: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """List the points of a grid."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


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
