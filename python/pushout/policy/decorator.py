"""Decorators that also work without brackets: `@policy.scheduler` and `@policy.scheduler(name="mine")`."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload

Function = Callable[..., Any]
Options = ParamSpec("Options")
Made = TypeVar("Made", covariant=True)


class Decorator(Protocol[Options, Made]):
    """Make something of a function: at once, or with options first."""

    @overload
    def __call__(self, *args: Options.args, **kwargs: Options.kwargs) -> Callable[[Function], Made]: ...

    @overload
    def __call__(self, function: Function, /) -> Made: ...


def also_without_brackets(declare: Callable[Options, Callable[[Function], Made]]) -> Decorator[Options, Made]:
    """Let a function of keyword options, all with defaults, be a decorator by itself as well."""

    @wraps(declare)
    def either(function: Function | None = None, /, **options: Any) -> Any:
        decorate = cast(Callable[..., Callable[[Function], Made]], declare)(**options)
        return decorate if function is None else decorate(function)

    bare = inspect.Parameter("function", inspect.Parameter.POSITIONAL_ONLY, default=None, annotation=Function | None)
    declared = inspect.signature(declare)
    made = inspect.get_annotations(declare)["return"]
    either.__signature__ = declared.replace(  # type: ignore[attr-defined]  # help() and editors show both forms
        parameters=[bare, *declared.parameters.values()], return_annotation=made.__args__[-1] | made
    )
    return cast(Decorator[Options, Made], either)
