"""Congestion controls in Python: functions about acknowledgements and losses of one connection."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from pushout.policy.decorator import also_without_brackets
from pushout.policy.parameters import Value
from pushout.policy.program import Program, declared


@also_without_brackets
def congestion(
    *,
    params: Mapping[str, Any] | None = None,
    state: Mapping[str, Value] | None = None,
    trace: Collection[str] = (),
    on_loss: Callable[..., Any] | None = None,
    echo_each: bool = False,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Program]:
    """Translate a function of an acknowledgement `x` and the state `s` to a congestion control; also without brackets.

    The function sets `s.window`, the congestion window in octets, and may set `s.threshold`, the slow-start threshold,
    and `s.pacing`, the rate in bits of data per second. `x.acked`, `x.rtt`, `x.flight`, `x.mss` and others are what it
    sees. It returns nothing.

    Parameters: `params`, `state`, `trace` and `name` as for `admission`; each connection has its own state. `on_loss`
    is a function that sets `s.window` to what the window falls to, for a loss, for a timeout (`x.by_timeout`) or for a
    mark (`x.by_mark`), by default half the window; `echo_each` has the receiver echo the marks of each segment, as
    DCTCP needs.
    """
    given = declared("congestion", "unit", name, None, params, trace, state=state, per_vc=None, per_queue=None)

    def decorate(on_ack: Callable[..., Any]) -> Program:
        functions = given.translated({"on_ack": ("ack", on_ack), "on_loss": ("loss", on_loss)})
        codes = {key: code.instructions for key, (_, code) in functions.items()}
        kept = {"state": dict(state)} if state else {}
        echoes = {"echo_each": True} if echo_each else {}
        return given.program(on_ack, functions, {**echoes, **kept, **codes})

    return decorate
