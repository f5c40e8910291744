"""What a shell completes: `_PUSHOUT_COMPLETE=bash_source pushout` prints the script for it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

VARIABLE = "_PUSHOUT_COMPLETE"
"""The environment variable in which a shell says what it wants."""

ENDINGS = (".toml", ".json")


def answer(group: click.Group) -> int | None:
    """Answer a shell that asks for its script or for a completion, if one does; the exit code."""
    asked = os.environ.get(VARIABLE)
    if not asked:
        return None
    from click.shell_completion import shell_complete

    return shell_complete(group, {}, "pushout", VARIABLE, asked)


def shipped_names(_context: click.Context, _parameter: click.Parameter, typed: str) -> "list[CompletionItem]":
    """The names of shipped scenarios."""
    from click.shell_completion import CompletionItem

    from pushout import shipped

    return [CompletionItem(name) for name in shipped.names() if name.startswith(typed)]


def scenario(context: click.Context, parameter: click.Parameter, typed: str) -> "list[CompletionItem]":
    """What may stand where a scenario is asked for: the files here and the names; beyond this folder, any file."""
    from click.shell_completion import CompletionItem

    files = [file.name for file in sorted(Path().iterdir()) if file.suffix in ENDINGS and file.name.startswith(typed)]
    found = [*map(CompletionItem, files), *shipped_names(context, parameter, typed)]
    return found if found and "/" not in typed else [CompletionItem(typed, type="file")]
