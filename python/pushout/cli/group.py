"""The group of all commands: each is loaded on demand, and a misspelt name suggests the nearest one."""

from importlib import import_module

import click

from pushout.cli.examples import EXAMPLES

MODULES = {
    "run": "run",
    **dict.fromkeys(("scenarios", "init"), "start"),
    **dict.fromkeys(("validate", "explain", "schema", "policies"), "scenarios"),
    "check": "check",
    "chip": "chip",
    "headroom": "headroom",
    "import": "importing",
    "mcp": "mcp",
    "worst": "worst",
    "plot": "plot",
    "lab": "lab",
    "why": "why",
    "reproduce": "reproduce",
    **dict.fromkeys(("compare", "merge", "sweep", "size"), "questions"),
    "bench": "bench",
}
"""The module of each command."""

KEYWORDS = {"import": "import_"}
"""The functions of commands whose name is a keyword of Python."""


def load(name: str) -> click.Command:
    """Load the command of this name and add an example to its help."""
    command: click.Command = getattr(import_module(f"pushout.cli.{MODULES[name]}"), KEYWORDS.get(name, name))
    command.epilog = f"\b\nExample:\n  {EXAMPLES[name]}"
    return command


class Group(click.Group):
    """A group that loads its commands on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names of all commands."""
        return sorted(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name, if it exists."""
        return load(cmd_name) if cmd_name in MODULES else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names."""
        name = args[0]
        if not name.startswith("-") and name not in MODULES:
            from pushout import _core

            raise click.UsageError(_core.unknown("command", name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)
