"""What can be read of scenarios, and of what they may contain, without a run. It loads little."""

import json
from typing import Any

from pushout import _core
from pushout.catalogue import Entry
from pushout.errors import QuestionError
from pushout.literals import Engine
from pushout.source import Overrides, Scenario, load, overrides
from pushout.warning import Warned, of_scenario


def validate(scenario: Scenario, *, set: Overrides = ()) -> list[Warned]:  # noqa: A002
    """Raise `ScenarioError` unless the scenario could be run; what is no mistake, but may mislead."""
    return of_scenario(load(scenario), overrides(set))


def explain(
    scenario: Scenario,
    *,
    set: Overrides = (),  # noqa: A002
    seed: int | None = None,
    engine: Engine | None = None,
) -> dict[str, Any]:
    """The scenario in full: templates expanded, overrides applied, defaults filled in."""
    from pushout.simulate import Job

    document: dict[str, Any] = json.loads(Job(load(scenario), tuple(overrides(set)), engine).explain(seed))
    return document


def reference_because(scenario: Scenario, *, set: Overrides = ()) -> str | None:  # noqa: A002
    """Why a scenario runs on the reference engine although it asks for the fast one; `None` if it does not."""
    text, name = load(scenario)
    return _core.reference_because(text, name, overrides(set))


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario."""
    document: dict[str, Any] = json.loads(_core.schema())
    return document


def policies(name: str | None = None, *, kind: str | None = None) -> list[Entry]:
    """Everything that can be named in a scenario: its kind, its source, its parameters, what its authors meant.

    With a `name`, only what has it; with a `kind` such as `admission`, `scheduler` or `source`, only what is of it.

        >>> pushout.policies("epd")[0]["params"]
    """
    entries: list[Entry] = json.loads(_core.policies())
    if kind is not None:
        kinds = list(dict.fromkeys(entry["kind"] for entry in entries))
        entries = [entry for entry in entries if entry["kind"] == kind]
        if not entries:
            raise QuestionError(_core.unknown("kind", str(kind), kinds))
    found = [entry for entry in entries if name in (None, entry["name"])]
    if not found:
        raise QuestionError(_core.unknown("name", str(name), [entry["name"] for entry in entries]))
    return found
