"""The optional libraries, which come with the extras `tables`, `search`, `cluster` and `mcp`."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pushout.errors import MissingExtraError

EXTRAS = {
    "duckdb": "tables",
    "pandas": "tables",
    "polars": "tables",
    "pyarrow": "tables",
    "optuna": "search",
    "ray": "cluster",
    "mcp": "mcp",
}
"""The extra that brings each library."""


def need(module: str, purpose: str) -> Any:
    """Import a module of such a library; if it is missing, say what needs it and how to install it."""
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        if has(library):  # for instance, there is not enough memory to load it
            raise OSError(0, f"cannot be loaded: {error}", library) from None
        raise MissingExtraError(
            f"{purpose} needs {library}, which is not installed: pip install 'pushout[{EXTRAS[library]}]'", library
        ) from None


def has(library: str) -> bool:
    """Return whether a library is installed."""
    return find_spec(library) is not None
