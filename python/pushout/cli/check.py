"""The command `pushout check`."""

from typing import TYPE_CHECKING, Any

import click

from pushout.cli.options import FAILURE, JSON
from pushout.cli.streams import echo_json, tell

if TYPE_CHECKING:
    from pushout.policy import Program


@click.command()
@click.argument("file", metavar="FILE.py")
@JSON
def check(file: str, as_json: bool) -> None:
    """Translate a policy written in Python, and try it at ports of cells and of packets.

    The file is run. Both engines must give the same, and every unit must be accounted for. FILE.py:NAME chooses one of
    several policies.
    """
    from pushout import policy
    from pushout.policy.conformance import advice, faults

    program = policy.read(file)
    found, hint = list(faults(program)), advice(program)
    facts = _facts(program)
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


def _facts(program: "Program") -> dict[str, Any]:
    """Return the facts about a translated policy for a reader."""
    from pushout.policy.expressions import FUEL

    keys = {key: program[key] for key in ("name", "asks", "looks_at", "end") if key in program}
    longest = max(len(code) for code in program.instructions().values())
    return {**keys, "instructions": f"{longest} (at most {FUEL})"}
