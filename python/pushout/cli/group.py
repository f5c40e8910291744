"""The group of all commands: a name that it does not have leads to the nearest one."""

import click


class Group(click.Group):
    """Commands, of which a misspelt one is suggested."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            from pushout import _core

            raise click.UsageError(_core.unknown("command", name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)
