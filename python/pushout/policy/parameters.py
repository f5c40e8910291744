"""Parameters of programs: their values, units and limits."""

from dataclasses import dataclass
from typing import Any

from pushout.errors import QuestionError
from pushout.excerpt import quoted
from pushout.policy.attributes import Type

Value = bool | int | float | str


@dataclass(frozen=True)
class Parameter:
    """A parameter: its default, its type within the program, and its limits."""

    default: Value
    kind: Type
    low: float | None = None
    high: float | None = None

    def checked(self, name: str, value: Any) -> Value:
        """Return a value for it, or say what is wrong with it."""
        if isinstance(self.default, str):
            if not isinstance(value, str):
                raise QuestionError(f'{name} must be a quantity as in "{self.default}", not {quoted(value)}')
            return value
        if self.kind == "bool":
            if not isinstance(value, bool):
                raise QuestionError(f"{name} must be True or False, not {quoted(value)}")
            return value
        if isinstance(value, bool) or not isinstance(value, int if self.kind == "int" else int | float):
            wanted = "an integer" if self.kind == "int" else "a number"
            raise QuestionError(f"{name} must be {wanted}, not {quoted(value)}")
        if self.low is not None and value < self.low:
            raise QuestionError(f"{name} must be at least {self.low:g}, not {value:g}")
        if self.high is not None and value > self.high:
            raise QuestionError(f"{name} must be at most {self.high:g}, not {value:g}")
        return int(value) if self.kind == "int" else float(value)


def level(default: str) -> Parameter:
    """Declare an occupancy, as in "80 %" or "100 cells": an integer in the measure of the port."""
    return Parameter(default, "int")


def time(default: str) -> Parameter:
    """Declare a time, as in "5 ms": a float in seconds."""
    return Parameter(default, "float")


def rate(default: str) -> Parameter:
    """Declare a rate, as in "10 Mb/s": an integer in bits per second."""
    return Parameter(default, "int")


def number(default: float, *, low: float | None = None, high: float | None = None) -> Parameter:
    """Declare a float, within limits."""
    return Parameter(float(default), "float", low, high)


def whole(default: int, *, low: int | None = None, high: int | None = None) -> Parameter:
    """Declare an integer, within limits."""
    return Parameter(default, "int", low, high)


def parameter(name: str, given: Any) -> Parameter:
    """Declare a parameter by its default alone."""
    if isinstance(given, Parameter):
        return given
    if isinstance(given, bool):
        return Parameter(given, "bool")
    if isinstance(given, int):
        return Parameter(given, "int")
    if isinstance(given, float):
        return Parameter(given, "float")
    raise QuestionError(
        f'the parameter {name} must be a number, True, False, or policy.level("80 %") and its like, not {quoted(given)}'
    )
