"""A policy in Python as a table of a scenario."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, overload

from pushout.errors import QuestionError
from pushout.excerpt import quoted
from pushout.policy.attributes import ATTRIBUTES, OF_CIRCUITS, Type
from pushout.policy.code import Names
from pushout.policy.parameters import Parameter, Value, parameter
from pushout.policy.text import text_of
from pushout.policy.translate import translate
from pushout.source import overrides as sets

Asks = Literal["frame", "unit"]


class Program(Mapping[str, Any]):
    """A translated policy: a read-only mapping, allowed wherever the table of a policy is.

    Call it with parameters for the same program with other values: `my_epd(threshold="60 %")`.
    """

    def __init__(self, table: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> None:
        self._table = dict(table)
        self._parameters = dict(parameters)

    def __getitem__(self, key: str) -> Any:
        return self._table[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"<policy {self._table['name']}: {len(self._table['code'])} instructions>"

    def __call__(self, **values: Any) -> "Program":
        """Return the same program with these values of its parameters."""
        params = dict(self._table["params"])
        for name, value in values.items():
            if name not in self._parameters:
                allowed = ", ".join(self._parameters) or "none"
                raise QuestionError(f"unknown parameter {quoted(name)} (allowed: {allowed})")
            params[name] = self._parameters[name].checked(name, value)
        return Program({**self._table, "params": params}, self._parameters)


@overload
def admission(function: Callable[..., Any], /) -> Program: ...


@overload
def admission(
    *,
    asks: Asks = "frame",
    params: Mapping[str, Any] | None = None,
    state: Mapping[str, Value] | None = None,
    per_vc: Mapping[str, Value] | None = None,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Program]: ...


def admission(
    function: Callable[..., Any] | None = None,
    /,
    *,
    asks: Asks = "frame",
    params: Mapping[str, Any] | None = None,
    state: Mapping[str, Value] | None = None,
    per_vc: Mapping[str, Value] | None = None,
    name: str | None = None,
) -> Program | Callable[[Callable[..., Any]], Program]:
    """Translate a function of an arrival `x`, and of its state `s`, to an admission policy; also without brackets.

    Parameters: `asks` is frame (at the first unit of each frame) or unit; `params` are parameters with their defaults,
    read as `x.NAME`; `state` is what the port keeps and `per_vc` what each circuit keeps, with initial values, read and
    assigned as `s.NAME`; `name` is what messages and tables call the policy, by default that of the function.

    The function returns False to accept, True to refuse, `policy.mark` to mark, or the name of a reason to refuse:
    early, random, marked, gatekeeper, delay, overflow or partial.
    """
    if asks not in ("frame", "unit"):
        raise QuestionError(f"asks must be frame or unit, not {quoted(asks)}")
    parameters = {key: parameter(key, value) for key, value in (params or {}).items()}
    names = Names(
        asks,
        {key: each.kind for key, each in parameters.items()},
        _types("state", state or {}),
        _types("per_vc", per_vc or {}),
    )
    _check_names(names)

    def decorate(decide: Callable[..., Any]) -> Program:
        text = text_of(decide)
        code = translate(text, names)
        used = {key: each for key, each in parameters.items() if key in code.params}
        table = {
            "policy": "program",
            "name": name or decide.__name__.replace("_", "-"),
            "asks": asks,
            "looks_at": "own" if code.looks_at & set(OF_CIRCUITS) else "total",
            "params": {key: each.checked(key, each.default) for key, each in used.items()},
            "state": dict(state or {}),
            "per_vc": dict(per_vc or {}),
            "code": code.instructions,
            "source": {"file": text.file, "lines": code.lines},
        }
        return Program(table, used)

    return decorate if function is None else decorate(function)


def _types(what: str, values: Mapping[str, Value]) -> dict[str, Type]:
    """The types of state, by its initial values."""
    types: dict[str, Type] = {}
    for name, value in values.items():
        if not isinstance(value, bool | int | float):
            raise QuestionError(f"{what}: {name} must begin with a number, True or False, not {quoted(value)}")
        types[name] = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
    return types


def _check_names(names: Names) -> None:
    """Refuse a name that stands for two values."""
    if taken := [name for name in names.params if name in ATTRIBUTES or name == "draw"]:
        raise QuestionError(f"the parameter {taken[0]} must have another name: x.{taken[0]} is what arrives")
    if both := [name for name in names.state if name in names.per_vc]:
        raise QuestionError(f"the state {both[0]} must be in state or in per_vc, not in both")


def overrides(policies: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Write policies of ports as overrides of a scenario."""
    if not isinstance(policies, Mapping):
        raise TypeError(f"policies must be a mapping of ports to policies, not {quoted(policies)}")
    return sets({f"port.{_quoted(port)}.admission": table for port, table in policies.items()})


def _quoted(port: str) -> str:
    """Write the name of a port as part of a path."""
    return json.dumps(port, ensure_ascii=False) if "." in port or '"' in port else port
