"""Questions about exact worst cases in files: jobs without random numbers, which studies run beside simulations.

    policy = { policy = "dynamic-threshold", alpha = 2.0 }   # of a memory; with `frames`, of a port
    ports = 2                                                # or circuits that send frames
    memory = 8
    against = { policy = "harmonic" }                        # by default the optimum
    frames = 3
    states = 10_000_000

The keys are those of `crates/worst`, which answers.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pushout import _core
from pushout.document import Document, steps
from pushout.errors import ScenarioError
from pushout.excerpt import quoted
from pushout.limits import STATES
from pushout.source import Source

SEED = 1
"""The seed of the first replication; every replication gives the same answer."""


@dataclass(frozen=True)
class Exact:
    """A question with its overrides, in the form of a job of the simulator."""

    source: Source
    sets: tuple[str, ...] = ()

    @cached_property
    def question(self) -> dict[str, Any]:
        """Return the question as the solver reads it."""
        table: dict[str, Any] = {"states": STATES, **_core.Document(*self.source).value()}
        for change in self.sets:
            _put(table, change)
        return table

    def explain(self, seed: int | None = None) -> str:
        """Return the canonical JSON: two questions with equal canonical JSON are one question."""
        return json.dumps({"worst": self.question, "seed": SEED if seed is None else seed}, sort_keys=True)

    def seeds(self, first: int | None, reps: int) -> list[int]:
        """List the numbers of replications."""
        start = SEED if first is None else first
        return list(range(start, start + reps))

    def report(self, seed: int | None) -> str:
        """Answer once and return the document as JSON, without the slots of the input."""
        try:
            answer: Document = json.loads(_core.worst(json.dumps(self.question), _silent))
        except ScenarioError as error:
            raise ScenarioError(f"{self.source.name}: {error}") from None
        return json.dumps({"seed": seed, **{key: value for key, value in answer.items() if key != "input"}})

    def run(self, seed: int | None) -> Document:
        """Answer once."""
        document: Document = json.loads(self.report(seed))
        return document

    def words(self) -> list[str]:
        """Return the words of the command that asks the question."""
        asked = dict(self.question)
        policy, frames = dict(asked.pop("policy")), asked.pop("frames", None)
        count = ["--ports", asked["ports"]] if frames is None else ["--frames", frames, "--circuits", asked["ports"]]
        against = ["--against", asked["against"]["policy"]] if "against" in asked else []
        name = policy.pop("policy")
        sets = [word for key, value in policy.items() for word in ("--set", f"{key}={_word(value)}")]
        return ["worst", *map(str, (name, *count, "--memory", asked["memory"], *sets, *against))]


def _word(value: Any) -> str:
    """Write the value of a parameter as the command reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _silent(_states: int, _megabytes: int) -> None:
    """Announce nothing."""


def _put(table: dict[str, Any], change: str) -> None:
    """Apply an override, as in `policy.alpha=0.5`."""
    path, equals, text = change.partition("=")
    if not equals:
        raise ScenarioError(f"set {change}: an override is written KEY=VALUE")
    *above, key = steps(path.strip())
    for name in above:
        inner = table.get(name)
        if not isinstance(inner, Mapping):
            raise ScenarioError(f"set {change}: {name} must be a table, not {quoted(inner)}")
        table[name] = dict(inner)
        table = table[name]
    try:
        table[key] = tomllib.loads(f"it = {text}")["it"]
    except tomllib.TOMLDecodeError:
        raise ScenarioError(
            f"set {change}: the value must be one of TOML, as in 2 or 0.5, not {quoted(text)}"
        ) from None
