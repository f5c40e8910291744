"""Schedulers and push-out policies in Python: functions that choose a queue by its number."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

from pushout.errors import QuestionError
from pushout.excerpt import quoted
from pushout.policy.attributes import Hook
from pushout.policy.decorator import also_without_brackets
from pushout.policy.parameters import Value
from pushout.policy.program import Declared, Hooks, Program, declared


@also_without_brackets
def scheduler(
    *,
    params: Mapping[str, Any] | None = None,
    state: Mapping[str, Value] | None = None,
    per_queue: Mapping[str, Value] | None = None,
    trace: Collection[str] = (),
    joined: Callable[..., Any] | None = None,
    sent: Callable[..., Any] | None = None,
    queues: Literal["circuit", "class"] = "circuit",
    stream: str | None = None,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Program]:
    """Translate a function that returns the number of the queue to serve next to a scheduler; also without brackets.

    Every circuit has a queue with its number, or with `queues="class"` every class of traffic at the port, in the order
    of their sections. `x.next_backlogged(after)` is the first queue behind another that may send, `x.least(s.NAME)` the
    one with the least value of its state, `x.longest()` the longest; `x.length(queue)`, `x.octets(queue)` (of the unit
    at its head), `x.weight(queue)` and `x.mcr(queue)` (of a class its `minimum`) are properties of a queue.

    Parameters: `params`, `state`, `trace`, `stream` and `name` as for `admission`; `per_queue` is what each queue
    keeps, read and assigned as `s.NAME[queue]`; `joined` is a function for a unit that has joined the queue `x.queue`,
    and `sent` one for a unit of `x.bytes` octets that is sent; both return nothing.
    """
    given = declared("scheduler", "unit", name, stream, params, trace, state=state, per_vc=None, per_queue=per_queue)
    if queues not in ("circuit", "class"):
        raise QuestionError(f"queues must be circuit or class, not {quoted(queues)}")
    others = {} if queues == "circuit" else {"queues": queues}
    return _choosing(given, "serve", {"joined": ("joined", joined), "sent": ("sent", sent)}, others)


@also_without_brackets
def pushout(
    *,
    params: Mapping[str, Any] | None = None,
    state: Mapping[str, Value] | None = None,
    per_queue: Mapping[str, Value] | None = None,
    trace: Collection[str] = (),
    end: Literal["tail", "head"] = "tail",
    stream: str | None = None,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Program]:
    """Translate a function that returns the number of the queue to give way, or -1, to a push-out policy.

    It is called when a unit finds no room; with -1 that unit is lost. `x.longest()`, `x.next_backlogged(after)` and
    `x.least(s.NAME)` look among the queues that can give way; `x.length(queue)` is the occupancy of a queue, `x.own`
    that of the unit's circuit, which is `x.vc`, and `x.size` what the unit adds.

    Parameters: `end` says which packet of the queue goes, the last (tail) or the first that waits (head); the others
    are those of `scheduler`.
    """
    if end not in ("tail", "head"):
        raise QuestionError(f"end must be tail or head, not {quoted(end)}")
    given = declared("pushout", "unit", name, stream, params, trace, state=state, per_vc=None, per_queue=per_queue)
    return _choosing(given, "give_way", {}, {"end": end})


def _choosing(
    given: Declared, choice: Hook, hooks: Hooks, others: Mapping[str, Any]
) -> Callable[[Callable[..., Any]], Program]:
    """Make the decorator for functions that choose a queue; `others` are keys of the table beside state and code."""

    def decorate(decide: Callable[..., Any]) -> Program:
        functions = given.translated({"code": (choice, decide), **hooks})
        codes = {key: code.instructions for key, (_, code) in functions.items()}
        state = {key: dict(values) for key, values in given.kept.items() if values}
        return given.program(decide, functions, {**others, **state, **codes})

    return decorate
