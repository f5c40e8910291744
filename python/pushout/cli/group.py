"""The group of all commands: each is loaded when it is asked for, and a misspelt name leads to the nearest one."""

from importlib import import_module

import click

from pushout.cli.examples import EXAMPLES

MODULES = {
    "run": "run",
    **dict.fromkeys(("scenarios", "init"), "start"),
    **dict.fromkeys(("validate", "explain", "schema", "policies"), "scenarios"),
    "plot": "plot",
    "reproduce": "reproduce",
    **dict.fromkeys(("compare", "sweep", "size"), "questions"),
    "bench": "bench",
}
"""The file of each command."""


def load(name: str) -> click.Command:
    """The command of this name, with an example in its help."""
    command: click.Command = getattr(import_module(f"pushout.cli.{MODULES[name]}"), name)
    command.epilog = f"\b\nExample:\n  {EXAMPLES[name]}"
    return command


class Group(click.Group):
    """Commands that are loaded one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all."""
        return sorted(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, if there is one."""
        return load(cmd_name) if cmd_name in MODULES else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names."""
        name = args[0]
        if not name.startswith("-") and name not in MODULES:
            from pushout import _core

            raise click.UsageError(_core.unknown("command", name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)
