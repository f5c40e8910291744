"""The command `pushout check`."""

from typing import TYPE_CHECKING, Any

import click

from pushout.cli.options import FAILURE, JSON, Whole, console
from pushout.cli.streams import echo_json, tell

if TYPE_CHECKING:
    from pushout.policy import Program


@click.command()
@click.argument("file", metavar="FILE.py")
@click.option("--worst", "is_worst", is_flag=True, help="Find the exact worst case in a shared memory instead.")
@click.option(
    "--ports", type=Whole(1, 8), default=2, show_default=True, metavar="N", help="Ports that share it, for --worst."
)
@click.option(
    "--memory", type=Whole(1, 2**40), default=8, show_default=True, metavar="B", help="Packets it holds, for --worst."
)
@JSON
def check(file: str, is_worst: bool, ports: int, memory: int, as_json: bool) -> None:
    """Translate a policy written in Python, and try it at ports of cells and of packets and in a shared memory.

    The file is run. Both engines must give the same, and every unit must be accounted for. A place that cannot have the
    policy is left out. FILE.py:NAME chooses one of several policies.

    With --worst the answer is that of `pushout worst FILE.py`, which has more options.
    """
    if is_worst:
        _print_worst(file, ports, memory, as_json=as_json)
        return
    from pushout import policy
    from pushout.policy.conformance import advice, faults, trials

    program = policy.read(file)
    found, hint = list(faults(program)), advice(program)
    facts = {**_facts(program), "tried": ", ".join(trial.where for trial in trials(program))}
    if as_json:
        echo_json({**facts, "advice": hint, "faults": found})
    else:
        for key, value in facts.items():
            click.echo(f"{key}: {value}")
        click.echo(f"conformance: {'; '.join(found) or 'both engines agree, and all units are accounted for'}")
        if hint:
            tell(f"hint: {hint}")
    if found:
        raise click.exceptions.Exit(FAILURE)


def _print_worst(file: str, ports: int, memory: int, *, as_json: bool) -> None:
    """Print the worst case of a policy."""
    from pushout.cli.worst import announce
    from pushout.exact import STATES
    from pushout.question.worst import OPTIMUM, worst

    result = worst(file, ports, memory, parameters={}, against=OPTIMUM, states=STATES, announce=announce)
    if as_json:
        echo_json(result.document)
        return
    from pushout.show import worst as show

    show.worst(result, console())


def _facts(program: "Program") -> dict[str, Any]:
    """Return the facts about a translated policy for a reader."""
    from pushout.policy.expressions import FUEL

    keys = {key: program[key] for key in ("name", "asks", "looks_at", "end") if key in program}
    longest = max(len(code) for code in program.instructions().values())
    return {**keys, "instructions": f"{longest} (at most {FUEL})"}
