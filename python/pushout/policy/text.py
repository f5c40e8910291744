"""The text of a function, with its place in a file."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pushout.errors import PolicyError


@dataclass(frozen=True)
class Text:
    """A function as a syntax tree, and where it stands."""

    function: ast.FunctionDef
    file: str
    line: int
    """The number of lines before it."""
    column: int
    """The number of characters before each of its lines."""

    def refuse(self, node: ast.AST, why: str) -> NoReturn:
        """Refuse a part of the function."""
        line = getattr(node, "lineno", 1) + self.line
        column = getattr(node, "col_offset", 0) + 1 + self.column
        raise PolicyError(f"{self.file}:{line}:{column}: {why}")


def text_of(function: Callable[..., Any]) -> Text:
    """Read the text of a function."""
    name = getattr(function, "__name__", "the policy")
    try:
        lines, first = inspect.getsourcelines(function)
        file = Path(inspect.getsourcefile(function) or "").name
    except (OSError, TypeError):
        raise PolicyError(f"{name}: its text cannot be found; write it in a file or in a cell of a notebook") from None
    source = "".join(lines)
    dedented = textwrap.dedent(source)
    column = len(lines[0]) - len(lines[0].lstrip())
    try:
        tree = ast.parse(dedented).body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise PolicyError(f"{file}:{first}: write {name} as a function of its own lines") from None
    if not isinstance(tree, ast.FunctionDef):
        raise PolicyError(f"{file}:{first}: write {name} as a function with def")
    return Text(tree, file, first - 1, column)
