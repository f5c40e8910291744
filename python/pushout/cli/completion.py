"""Shell completion: `_PUSHOUT_COMPLETE=bash_source pushout` prints the script for a shell."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

VARIABLE = "_PUSHOUT_COMPLETE"
"""The environment variable in which a shell sends its request."""

ENDINGS = (".toml", ".json")


def answer(group: click.Group) -> int | None:
    """Answer a shell's request for its script or a completion; return the exit code, or None without a request."""
    asked = os.environ.get(VARIABLE)
    if not asked:
        return None
    from click.shell_completion import shell_complete

    return shell_complete(group, {}, "pushout", VARIABLE, asked)


def shipped_names(_context: click.Context, _parameter: click.Parameter, typed: str) -> "list[CompletionItem]":
    """Complete the names of shipped scenarios."""
    from click.shell_completion import CompletionItem

    from pushout import shipped

    return [CompletionItem(name) for name in shipped.names() if name.startswith(typed)]


def scenario(context: click.Context, parameter: click.Parameter, typed: str) -> "list[CompletionItem]":
    """Complete a scenario: files of this folder and shipped names; in other folders, any file."""
    from click.shell_completion import CompletionItem

    files = [file.name for file in sorted(Path().iterdir()) if file.suffix in ENDINGS and file.name.startswith(typed)]
    found = [*map(CompletionItem, files), *shipped_names(context, parameter, typed)]
    return found if found and "/" not in typed else [CompletionItem(typed, type="file")]
