"""Schedulers and push-out policies in Python: functions that choose a queue by its number."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, overload

from pushout.errors import QuestionError
from pushout.excerpt import quoted
from pushout.policy.parameters import Value, parameter
from pushout.policy.program import Hooks, Kind, Program, names_of, program, translated

Decorator = Callable[[Callable[..., Any]], Program]


@overload
def scheduler(function: Callable[..., Any], /) -> Program: ...


@overload
def scheduler(
    *,
    params: Mapping[str, Any] | None = None,
    state: Mapping[str, Value] | None = None,
    per_queue: Mapping[str, Value] | None = None,
    joined: Callable[..., Any] | None = None,
    sent: Callable[..., Any] | None = None,
    stream: str | None = None,
    name: str | None = None,
) -> Decorator: ...


def scheduler(
    function: Callable[..., Any] | None = None,
    /,
    *,
    params: Mapping[str, Any] | None = None,
    state: Mapping[str, Value] | None = None,
    per_queue: Mapping[str, Value] | None = None,
    joined: Callable[..., Any] | None = None,
    sent: Callable[..., Any] | None = None,
    stream: str | None = None,
    name: str | None = None,
) -> Program | Decorator:
    """Translate a function that returns the number of the queue to serve next to a scheduler; also without brackets.

    Every circuit has a queue with its number. `x.next_backlogged(after)` is the first queue behind another that may
    send, `x.least(s.NAME)` the one with the least value of its state, `x.longest()` the longest; `x.length(queue)`,
    `x.octets(queue)` (of the unit at its head), `x.weight(queue)` and `x.mcr(queue)` are properties of a queue.

    Parameters: `params`, `state`, `stream` and `name` as for `admission`; `per_queue` is what each queue keeps, read
    and assigned as `s.NAME[queue]`; `joined` is a function for a unit that has joined the queue `x.queue`, and `sent`
    one for a unit of `x.bytes` octets that is sent; both return nothing.
    """
    parameters = {key: parameter(key, value) for key, value in (params or {}).items()}
    kept = {"state": state or {}, "per_queue": per_queue or {}}

    def decorate(decide: Callable[..., Any]) -> Program:
        hooks: Hooks = {"code": ("serve", decide), "joined": ("joined", joined), "sent": ("sent", sent)}
        return _chosen("scheduler", (name or decide.__name__, stream), hooks, parameters, (kept, {}))

    return decorate if function is None else decorate(function)


@overload
def pushout(function: Callable[..., Any], /) -> Program: ...


@overload
def pushout(
    *,
    params: Mapping[str, Any] | None = None,
    state: Mapping[str, Value] | None = None,
    per_queue: Mapping[str, Value] | None = None,
    end: Literal["tail", "head"] = "tail",
    stream: str | None = None,
    name: str | None = None,
) -> Decorator: ...


def pushout(
    function: Callable[..., Any] | None = None,
    /,
    *,
    params: Mapping[str, Any] | None = None,
    state: Mapping[str, Value] | None = None,
    per_queue: Mapping[str, Value] | None = None,
    end: Literal["tail", "head"] = "tail",
    stream: str | None = None,
    name: str | None = None,
) -> Program | Decorator:
    """Translate a function that returns the number of the queue to give way, or -1, to a push-out policy.

    It is called when a unit finds no room; with -1 that unit is lost. `x.longest()`, `x.next_backlogged(after)` and
    `x.least(s.NAME)` look among the queues that can give way; `x.length(queue)` is the occupancy of a queue, `x.own`
    that of the unit's circuit, which is `x.vc`, and `x.size` what the unit adds.

    Parameters: `end` says which packet of the queue goes, the last (tail) or the first that waits (head); the others
    are those of `scheduler`.
    """
    if end not in ("tail", "head"):
        raise QuestionError(f"end must be tail or head, not {quoted(end)}")
    parameters = {key: parameter(key, value) for key, value in (params or {}).items()}
    kept = {"state": state or {}, "per_queue": per_queue or {}}

    def decorate(decide: Callable[..., Any]) -> Program:
        hooks: Hooks = {"code": ("give_way", decide)}
        return _chosen("pushout", (name or decide.__name__, stream), hooks, parameters, (kept, {"end": end}))

    return decorate if function is None else decorate(function)


def _chosen(
    kind: Kind,
    called: tuple[str, str | None],
    hooks: Hooks,
    parameters: Mapping[str, Any],
    tables: tuple[Mapping[str, Mapping[str, Value]], Mapping[str, Any]],
) -> Program:
    """Build a program that chooses queues; `tables` are its state, and its other keys."""
    kept, others = tables
    functions = translated(names_of("unit", parameters, {**kept, "per_vc": {}}), hooks)
    codes = {key: code.instructions for key, (_, code) in functions.items()}
    state = {key: dict(values) for key, values in kept.items() if values}
    return program(kind, called, functions, parameters, {**others, **state, **codes})
