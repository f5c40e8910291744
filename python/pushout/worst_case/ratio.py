"""The exact worst case of a policy of a shared memory: `crates/worst` computes it."""

import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from pushout import _core
from pushout.answer.columns import Columns
from pushout.answer.frame import Tabled
from pushout.errors import Argument, QuestionError, ScenarioError, StatesError
from pushout.excerpt import quoted
from pushout.options import OPTIMUM, Policy, Ratio, Worst
from pushout.policy import Program, read
from pushout.simulate import check_whole
from pushout.source import plain
from pushout.worst_case import scenario as worst_scenario

IS_FILE = re.compile(r"\.py(:\w+)?$")

Announce = Callable[[int, int], None]
"""Receives the most states that a search can visit, and the megabytes that they take, before it begins."""

FRACTION = re.compile(r"\s*([0-9]{1,18})\s*/\s*([0-9]{1,18})\s*")


@dataclass(frozen=True, eq=False, repr=False)
class Shown(Tabled):
    """An answer about a policy, with an input that shows it."""

    document: dict[str, Any]
    """As printed by `pushout worst --json`."""

    @property
    def states(self) -> int:
        """States that an input can reach: of the policy, or pairs of both sides."""
        return int(self.document["states"])

    @property
    def input(self) -> list[dict[str, Any]]:
        """The slots: arrivals, as port and whether nothing is lost or the opponent takes it, and queues; or empty."""
        return list(self.document["input"] or [])

    def queues(self, side: str) -> dict[str, list[int]]:
        """Return the queues of a side before they send, as columns."""
        count = 1 if self.document["frames"] else self.document["ports"]
        return {f"{side}_{queue}": [slot[side][queue] for slot in self.input] for queue in range(count)}

    def check_memory(self) -> None:
        """Refuse to write an input of frames."""
        if self.document["frames"]:
            raise QuestionError("only the input of a shared memory can be written: leave out ", Argument("frames"))

    def plot(self) -> Any:
        """Draw the queues of all sides, slot by slot."""
        from pushout.worst_case.drawing import draw

        return draw(self.document)


@dataclass(frozen=True, eq=False, repr=False)
class WorstResult(Shown):
    """The worst case of a policy: the ratio, proved in both directions, and the input that shows it."""

    @property
    def ratio(self) -> Fraction | None:
        """What the opponent sends, divided by what the policy sends, on the worst input; None if it is unbounded."""
        ratio = self.document["ratio"]
        return None if ratio == "unbounded" else Fraction(ratio)

    @property
    def proved(self) -> bool:
        """Whether no input is worse; False if a search has found the ratio, which is a lower bound then."""
        return bool(self.document["proved"])

    @property
    def excess_loss(self) -> Fraction:
        """Packets that the policy loses in addition to those of the opponent, for each one that the opponent sends."""
        return Fraction(self.document["excess_loss"])

    @cached_property
    def columns(self) -> Columns:  # type: ignore[override]
        """The slots of the input as a table: arrivals, and the queues of both sides before they send."""
        table: dict[str, list[int]] = {"slot": list(range(len(self.input)))}
        for port in range(self.document["ports"]):
            counts = [sum(place == port for place, _ in slot["arrivals"]) for slot in self.input]
            table[f"arrivals_{port}"] = counts
        return Columns.of(table | self.queues("policy") | self.queues("optimum"))

    def write(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Write the input as scenarios, run them on both engines, and return what each run delivered.

        Besides `path`, which has the policy, there are a scenario with the opponent's and the recorded arrivals.
        """
        self.check_memory()
        return worst_scenario.write(self.document, Path(path))

    def _brief(self) -> str:
        return f"{self.document['policy']}: {self.document['ratio']}"


def worst(asked: Ratio, announce: Announce | None = None) -> WorstResult:
    """Find the worst case of a policy; with `search`, a question with too many states gets a lower bound."""
    check_objective(asked.objective, ("throughput", "losses"))
    question = about(asked)
    question |= {} if asked.against == OPTIMUM else {"against": _with(_table("against", asked.against), {})}
    question |= {"reach": _fraction(asked.reach)} if asked.reach is not None else {}
    question |= {"search": True} if asked.search else {}
    return WorstResult({**answered(question, announce), "objective": asked.objective})


UNFAIRNESS = (
    " must be one of throughput, losses, delay, not unfairness: each port with packets sends one in each slot, so that "
    "two ports which always have packets send equally many; never asks whether a port is starved"
)


def check_objective(objective: str, allowed: Sequence[str]) -> None:
    """Refuse an objective that is not defined, with the reason."""
    if objective == "unfairness":
        raise QuestionError(Argument("objective"), UNFAIRNESS)
    if objective not in allowed:
        raise QuestionError(Argument("objective"), f": {_core.unknown('objective', objective, list(allowed))}")


def about(asked: Worst) -> dict[str, Any]:
    """Return the part of a question that names the policy and the sizes."""
    sizes = {"ports": asked.count, "memory": asked.memory, "states": asked.states}
    sizes |= {} if asked.frames is None else {"frames": asked.frames}
    for name, value in sizes.items():
        check_whole(name, value)
        if value < 0:
            raise QuestionError(Argument(name), f" must be greater than 0, not {value}")
    return {"policy": _with(_table("policy", asked.policy), asked.set or {}), **sizes}


def _with(table: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a policy with values of its parameters; programs of push-out are named as such."""
    values = {key: plain(value) for key, value in parameters.items()}
    if not isinstance(table, Program):
        return {**table, **values}
    program = dict(table(**values)) if values else dict(table)
    return {"pushout": program} if table.kind == "pushout" else program


def _fraction(reach: Fraction | float | str) -> str:
    """Write a ratio as the simulator reads it, as in 5/4; it refuses what is no ratio."""
    try:
        return str(Fraction(reach).limit_denominator(10**6))
    except (ValueError, ZeroDivisionError, OverflowError):
        return str(reach)


def number(text: str) -> Any:
    """Parse a value of a parameter: a number, a fraction as in 1/2, or a word."""
    if (match := FRACTION.fullmatch(text)) and int(match[2]):
        return exact(Fraction(int(match[1]), int(match[2])))
    try:
        value = float(text)
    except ValueError:
        return {"true": True, "false": False}.get(text.strip(), text.strip())
    if not math.isfinite(value):
        raise QuestionError(f"the value must be a finite number, not {quoted(text)}")
    return int(text) if re.fullmatch(r"\s*[-+]?[0-9]+\s*", text) else value


def exact(value: Fraction) -> float | int:
    """Return a fraction as the number that the simulator computes with."""
    return value.numerator if value.denominator == 1 else float(value)


def _table(name: str, policy: Policy) -> Mapping[str, Any]:
    """Return the table of a policy; a file of Python is run and translated."""
    if isinstance(policy, str):
        if not IS_FILE.search(policy):
            return {"policy": policy}
        policy = read(policy)
    if isinstance(policy, Program):
        if policy.kind == "scheduler":
            raise QuestionError(name, f" must be an admission or push-out policy, not a program for {policy.kind}")
        return policy
    if isinstance(policy, Mapping):
        return {str(key): plain(value) for key, value in policy.items()}
    raise TypeError(f"{name} must be the name of a policy or a table of parameters, not {quoted(policy)}")


def answered(asked: Mapping[str, Any], announce: Announce | None) -> dict[str, Any]:
    """Ask the simulator; its messages name the keys of the question, which are arguments here."""
    try:
        answer: dict[str, Any] = json.loads(
            _core.worst(json.dumps(asked), announce or (lambda _states, _megabytes: None))
        )
    except StatesError as error:
        raise StatesError(*_named(str(error))) from None
    except ScenarioError as error:
        raise QuestionError(*_named(str(error))) from None
    return answer


def _named(message: str) -> tuple[Argument | str, str]:
    """Divide a message into the argument that it begins with, and the rest."""
    name, space, rest = message.partition(" ")
    if name in ("ports", "memory", "states", "against", "reach", "frames", "never", "pause"):
        return Argument(name), space + rest
    return "", message
