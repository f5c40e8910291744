"""Functions whose arguments are the fields of a frozen dataclass, which command line, Python and tools share.

The dataclass declares names, types and defaults of a verb once; the function gets them as one object.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")


def takes(options: Callable[P, T]) -> Callable[[Callable[[T], R]], Callable[P, R]]:
    """Give a function the arguments of a dataclass; `help`, editors and type checkers show these."""

    def taking(function: Callable[[T], R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            return function(_made(options, function.__name__, args, kwargs))

        own = inspect.signature(options)
        returned = inspect.signature(function).return_annotation
        called.__signature__ = own.replace(return_annotation=returned)  # type: ignore[attr-defined]
        called.__annotations__ = {name: each.annotation for name, each in own.parameters.items()} | {"return": returned}
        return called

    return taking


def _made(options: Callable[..., T], name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> T:
    """Make the options; a wrong argument is one of the function, not of its dataclass."""
    try:
        inspect.signature(options).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}() {error}") from None
    return options(*args, **kwargs)
