"""Read scenarios and the catalogue without a run. It imports little.

Annotations stay texts, so that `help` shows the names of types.
"""

from __future__ import annotations

import json
from typing import Any

from pushout import _core
from pushout.catalogue import Entry
from pushout.errors import QuestionError
from pushout.literals import Engine
from pushout.source import Overrides, ScenarioLike, load, overrides
from pushout.warning import Warned, of_scenario


def validate(scenario: ScenarioLike, *, set: Overrides = ()) -> list[Warned]:  # noqa: A002
    """Raise `ScenarioError` unless the scenario can be run; return warnings about anything that may mislead."""
    return of_scenario(load(scenario), overrides(set))


def explain(
    scenario: ScenarioLike,
    *,
    set: Overrides = (),  # noqa: A002
    seed: int | None = None,
    engine: Engine | None = None,
) -> dict[str, Any]:
    """Return the complete scenario: templates expanded, overrides applied, defaults filled in."""
    from pushout.simulate import Job

    document: dict[str, Any] = json.loads(Job(load(scenario), tuple(overrides(set)), engine).explain(seed))
    return document


def reference_because(scenario: ScenarioLike, *, set: Overrides = ()) -> str | None:  # noqa: A002
    """Return why a scenario that names the fast engine runs on the reference engine; `None` if it does not."""
    return _core.Scenario(*load(scenario), overrides(set), None).reference_because()


def thresholds(scenario: ScenarioLike, *, set: Overrides = ()) -> list[str]:  # noqa: A002
    """List the limits of the queues of shared memories: a line for each class of every pool."""
    return _core.Scenario(*load(scenario), overrides(set), None).thresholds()


def paced(scenario: ScenarioLike, *, set: Overrides = ()) -> list[str]:  # noqa: A002
    """Say which senders pace and by which rate: a line for each size of bursts."""
    return _core.Scenario(*load(scenario), overrides(set), None).paced()


def opportunities(scenario: ScenarioLike, line: str, *, set: Overrides = ()) -> str:  # noqa: A002
    """Write in which milliseconds of the run a line could deliver packets of 1500 bytes, as mahimahi does."""
    return _core.Scenario(*load(scenario), overrides(set), None).opportunities(line)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario."""
    document: dict[str, Any] = json.loads(_core.schema())
    return document


def policies(name: str | None = None, *, kind: str | None = None) -> list[Entry]:
    """List every scheme that a scenario can name: its kind, its source, its parameters and its description.

    `name` selects the entries of that name, or that of a page, as `congestion-program`; `kind`, such as `admission`,
    `scheduler` or `source`, those of that kind.

        >>> pushout.policies("epd")[0]["params"]
    """
    entries: list[Entry] = json.loads(_core.policies())
    if kind is not None:
        kinds = list(dict.fromkeys(entry["kind"] for entry in entries))
        entries = [entry for entry in entries if entry["kind"] == kind]
        if not entries:
            raise QuestionError(_core.unknown("kind", str(kind), kinds))
    found = [entry for entry in entries if name in (None, entry["name"], f"{entry['kind']}-{entry['name']}")]
    if not found:
        raise QuestionError(_core.unknown("name", str(name), [entry["name"] for entry in entries]))
    return found
