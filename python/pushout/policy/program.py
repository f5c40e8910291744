"""A policy in Python as a table of a scenario."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pushout.document import steps
from pushout.errors import QuestionError
from pushout.excerpt import excerpt, quoted
from pushout.policy.attributes import ATTRIBUTES, CONTROLS, OF_CONNECTIONS, Hook, Type
from pushout.policy.code import Code, Names
from pushout.policy.decorator import also_without_brackets
from pushout.policy.parameters import Parameter, Value, parameter
from pushout.policy.text import Text, text_of
from pushout.policy.translate import translate
from pushout.source import overrides as sets

Asks = Literal["frame", "unit"]
Kind = Literal["admission", "scheduler", "pushout", "congestion"]


class Program(Mapping[str, Any]):
    """A translated policy: a read-only mapping, allowed wherever the table of a policy is.

    Call it with parameters for the same program with other values: `my_epd(threshold="60 %")`; `every` sets its clock.
    """

    def __init__(self, table: Mapping[str, Any], parameters: Mapping[str, Parameter], kind: Kind = "admission") -> None:
        self._table = dict(table)
        self.kind = kind
        self._parameters = dict(parameters)

    def __getitem__(self, key: str) -> Any:
        return self._table[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"<policy {self._table['name']}: {sum(map(len, self.instructions().values()))} instructions>"

    @property
    def is_of_memories(self) -> bool:
        """Return whether only memories can have the policy: it looks at other queues by their numbers."""
        return self.kind == "admission" and any(
            word in line for line in self["code"] for word in ("= x.length[", "= longest", "= next_backlogged")
        )

    def instructions(self) -> dict[str, list[str]]:
        """Return the instructions of each function, by key."""
        keys = [key for key in ("code", "at_head", "joined", "sent", "on_ack", "on_loss") if key in self._table]
        codes: dict[str, list[str]] = {key: self._table[key] for key in keys}
        return {**codes, "tick": self._table["tick"]["code"]} if "tick" in self._table else codes

    def __call__(self, **values: Any) -> "Program":
        """Return the same program with these values of its parameters."""
        params, clock = dict(self._table["params"]), dict(self._table.get("tick", {}))
        if clock and "every" in values:
            clock["every"] = values.pop("every")
        for name, value in values.items():
            if name not in self._parameters:
                allowed = ", ".join(self._parameters) or "none"
                raise QuestionError(f"unknown parameter {quoted(name)} (allowed: {allowed})")
            params[name] = self._parameters[name].checked(name, value)
        changed = {"params": params, **({"tick": clock} if clock else {})}
        return Program({**self._table, **changed}, self._parameters, self.kind)


@dataclass(frozen=True)
class Declared:
    """The checked options of a decorator, which the decorators of all kinds share."""

    kind: Kind
    name: str | None
    """By default that of the function."""
    stream: str | None
    """The name of its random numbers."""
    parameters: Mapping[str, Parameter]
    kept: Mapping[str, Mapping[str, Value]]
    """The state with its initial values, by what keeps it."""
    trace: Sequence[str]
    """State that reports show over time."""
    names: Names

    def translated(self, hooks: "Hooks") -> "Functions":
        """Translate the functions of the policy."""
        texts = {key: (hook, text_of(function)) for key, (hook, function) in hooks.items() if function is not None}
        return {key: (text, translate(text, self.names, hook)) for key, (hook, text) in texts.items()}

    def program(self, decide: Callable[..., Any], functions: "Functions", table: Mapping[str, Any]) -> Program:
        """Build the program; `table` has the keys of its kind."""
        read = {name for _, code in functions.values() for name in code.params}
        used = {key: each for key, each in self.parameters.items() if key in read}
        common = {
            "policy": "program",
            "name": (self.name or decide.__name__).replace("_", "-"),
            "params": {key: each.checked(key, each.default) for key, each in used.items()},
            **({"limits": limits} if (limits := _limits(used)) else {}),
            "source": _source(functions),
            **({} if self.stream is None else {"stream": self.stream}),
            **({"trace": list(self.trace)} if self.trace else {}),
        }
        return Program({**common, **table}, used, self.kind)


def declared(
    kind: Kind,
    asks: Asks,
    name: str | None,
    stream: str | None,
    params: Mapping[str, Any] | None,
    trace: Collection[str],
    **kept: Mapping[str, Value] | None,
) -> Declared:
    """Check the options of a decorator."""
    parameters = {key: parameter(key, value) for key, value in (params or {}).items()}
    initial = {key: values or {} for key, values in kept.items()}
    own = CONTROLS if kind == "congestion" else {}
    shown = _traced(trace, initial, own)
    return Declared(kind, name, stream, parameters, initial, shown, _names(asks, parameters, initial, own))


def _traced(trace: Collection[str], kept: Mapping[str, Mapping[str, Value]], own: Mapping[str, Type]) -> list[str]:
    """Return the names of a trace in the order of their declaration; refuse others."""
    names = {trace} if isinstance(trace, str) else set(trace)
    known = [*own, *kept.get("state", {}), *kept.get("per_queue", {})]
    if unknown := sorted(str(name) for name in names.difference(known)):
        allowed = ", ".join(known) or "none"
        raise QuestionError(
            f"trace must name state of the port or of queues, not {quoted(unknown[0])} (it has: {allowed})"
        )
    return [name for name in known if name in names]


@also_without_brackets
def admission(
    *,
    asks: Asks = "frame",
    params: Mapping[str, Any] | None = None,
    state: Mapping[str, Value] | None = None,
    per_vc: Mapping[str, Value] | None = None,
    per_queue: Mapping[str, Value] | None = None,
    trace: Collection[str] = (),
    at_head: Callable[..., Any] | None = None,
    tick: Callable[..., Any] | None = None,
    every: str | None = None,
    stream: str | None = None,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Program]:
    """Translate a function of an arrival `x`, and of its state `s`, to an admission policy; also without brackets.

    Parameters: `asks` is frame (at the first unit of each frame) or unit; `params` are parameters with their defaults,
    read as `x.NAME`; `state` is what the port keeps, `per_vc` what each circuit and `per_queue` what each queue keeps,
    with initial values, read and assigned as `s.NAME`; `trace` names state of the port or of queues that pictures and
    the lab show over time, as in {"average"}; `at_head` is a function that answers when a unit comes to the
    head of its queue; `tick` is one that a clock calls, and `every` the time between two calls, as in "15 ms";
    `stream` is the name of its random numbers; `name` is what messages and tables call the policy, by default that of
    the function.

    The function returns False to accept, True to refuse, `policy.mark` to mark, or the name of a reason to refuse:
    early, random, marked, gatekeeper, delay, overflow or partial. "mark random" marks for another reason than early.
    `at_head` returns the same, `tick` nothing.
    """
    if asks not in ("frame", "unit"):
        raise QuestionError(f"asks must be frame or unit, not {quoted(asks)}")
    if (tick is None) != (every is None):
        raise QuestionError('tick and every must be given together, as in tick=update, every="15 ms"')
    given = declared("admission", asks, name, stream, params, trace, state=state, per_vc=per_vc, per_queue=per_queue)

    def decorate(decide: Callable[..., Any]) -> Program:
        functions = given.translated(
            {"code": ("arrival", decide), "at_head": ("head", at_head), "tick": ("tick", tick)}
        )
        table = {
            "asks": asks,
            "looks_at": _looks_at(functions),
            **{key: dict(values) for key, values in given.kept.items() if values or key != "per_queue"},
            **_instructions(functions, every),
        }
        return given.program(decide, functions, table)

    return decorate


Functions = Mapping[str, tuple[Text, Code]]
"""The functions of a policy by the key of their instructions: their texts, and what they are translated to."""


Hooks = Mapping[str, tuple[Hook, Callable[..., Any] | None]]
"""Functions of a policy, with their roles."""


def _names(
    asks: Asks,
    parameters: Mapping[str, Parameter],
    kept: Mapping[str, Mapping[str, Value]],
    own: Mapping[str, Type],
) -> Names:
    """The names of parameters and state, with their types; `own` is the state that a congestion control has anyway."""
    types = {key: _types(key, values) for key, values in kept.items()}
    if taken := [name for name in types["state"] if name in own]:
        raise QuestionError(f"the state {taken[0]} must not be declared: every congestion control has it")
    types["state"] = {**own, **types["state"]}
    names = Names(asks, {key: each.kind for key, each in parameters.items()}, **types)
    _check_names(names, OF_CONNECTIONS if own else ATTRIBUTES)
    return names


def _limits(parameters: Mapping[str, Parameter]) -> dict[str, dict[str, float]]:
    """The limits of parameters that have any."""
    limits = {name: {"low": each.low, "high": each.high} for name, each in parameters.items()}
    given = {name: {key: it for key, it in each.items() if it is not None} for name, each in limits.items()}
    return {name: each for name, each in given.items() if each}


def _looks_at(functions: Functions) -> str:
    """Return the books that a policy reads."""
    looks_at = {each for _, code in functions.values() for each in code.looks_at}
    return next((each for each in ("queues", "own") if each in looks_at), "total")


def _instructions(functions: Functions, every: str | None) -> dict[str, Any]:
    """The keys with instructions."""
    codes: dict[str, Any] = {key: code.instructions for key, (_, code) in functions.items()}
    return {**codes, "tick": {"every": every, "code": codes["tick"]}} if "tick" in codes else codes


def _source(functions: Functions) -> dict[str, Any]:
    """Return the lines of the instructions."""
    sources = {key: {"file": text.file, "lines": code.lines} for key, (text, code) in functions.items()}
    return {**sources.pop(next(iter(sources))), **sources}


def _types(what: str, values: Mapping[str, Value]) -> dict[str, Type]:
    """The types of state, by its initial values."""
    types: dict[str, Type] = {}
    for name, value in values.items():
        if not isinstance(value, bool | int | float):
            raise QuestionError(f"{what}: {name} must begin with a number, True or False, not {quoted(value)}")
        types[name] = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
    return types


def _check_names(names: Names, attributes: Mapping[str, Type]) -> None:
    """Refuse a name that stands for two values."""
    if taken := [name for name in names.params if name in attributes or name == "draw"]:
        raise QuestionError(f"the parameter {taken[0]} must have another name: x.{taken[0]} is what arrives")
    kept = [*names.state, *names.per_vc, *names.per_queue]
    if both := [name for name in kept if kept.count(name) > 1]:
        raise QuestionError(f"the state {both[0]} must be in one of state, per_vc and per_queue")


PoliciesByPort = Mapping[str, Mapping[str, Any] | Sequence[Mapping[str, Any]]]
"""Policies by port, class of ports (`fabric`, `default`) or `memory.NAME`: one, or several of different kinds."""


def overrides(policies: PoliciesByPort) -> list[str]:
    """Write policies of ports and memories as overrides of a scenario."""
    if not isinstance(policies, Mapping):
        raise TypeError(f"policies must be a mapping of places to policies, not {quoted(policies)}")
    each = {place: [given] if isinstance(given, Mapping) else given for place, given in policies.items()}
    return sets({_key(place, _kind(table)): table for place, tables in each.items() for table in tables})


def _key(place: str, kind: Kind) -> str:
    """Return the key of the policy of this kind at a port, a class of ports or a memory; that of a control at flows."""
    if kind == "congestion":
        return _key_of_flows(place)
    match steps(place):
        case ["memory", name]:
            check_memory(place, kind)
            return f"memory.{_quoted(name)}.{kind}"
        case ["memory", _, "queue", _]:
            raise QuestionError(
                f"{excerpt(place)} must be the memory itself, not a class of its queues: "
                "one program decides for all of them"
            )
    return f"port.{_quoted(place)}.{kind}"


def _key_of_flows(place: str) -> str:
    """Return the key of the congestion control of all flows, or of those of a section."""
    match steps(place):
        case ["flows"]:
            return "flows.transport.congestion"
        case ["flow", name]:
            return f"flow.{_quoted(name)}.transport.congestion"
    raise QuestionError(
        f"{excerpt(place)} must be flows, or flow.NAME for the flows of a section: "
        "a congestion control belongs to senders"
    )


def check_memory(place: str, kind: str) -> None:
    """Refuse a scheduler as the policy of a memory."""
    if kind == "scheduler":
        raise QuestionError(
            f"{excerpt(place)} must be given an admission or push-out policy, not a program for {kind}: "
            "a memory has no scheduler"
        )


def _kind(table: Mapping[str, Any]) -> Kind:
    return table.kind if isinstance(table, Program) else "admission"


def _quoted(port: str) -> str:
    """Write the name of a port as part of a path."""
    return json.dumps(port, ensure_ascii=False) if "." in port or '"' in port else port
