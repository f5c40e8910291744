"""The check of a policy in Python: `pushout explain --check FILE.py`."""

import re
from typing import TYPE_CHECKING, Any

import click

from pushout.cli.options import FAILURE
from pushout.cli.streams import echo_json, tell

if TYPE_CHECKING:
    from pushout.policy import Program


def is_policy(path: str) -> bool:
    """Return whether an argument names a file of Python, perhaps with one of its policies."""
    return re.search(r"\.py(:[^/]*)?$", path) is not None


def policy(file: str, *, as_json: bool) -> None:
    """Translate a policy and try it; print the facts about it, and fail if the engines disagree or a balance is off."""
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


def _facts(program: "Program") -> dict[str, Any]:
    """Return the facts about a translated policy for a reader."""
    from pushout.policy.expressions import FUEL

    keys = {key: program[key] for key in ("name", "asks", "looks_at", "end") if key in program}
    longest = max(len(code) for code in program.instructions().values())
    return {**keys, "instructions": f"{longest} (at most {FUEL})"}
