"""The lab: one page that animates runs in a browser and compares two policies under the same traffic.

`make lab` builds the page, and a wheel contains it. This module puts scenarios into it.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pushout import _core, shipped
from pushout.errors import Argument, QuestionError, ScenarioError
from pushout.question.load import busiest
from pushout.question.port import Choice, Holder, Port, policy_refused, ports, section
from pushout.question.port import policies as choices
from pushout.shipped import typed
from pushout.source import Overrides, ScenarioLike, Source, load, overrides

_GIVEN = '<script id="given" type="application/json">[]</script>'
"""The place in the page for scenarios that the user names."""

LETTERS = "AB"
"""Names of the compared runs on the page."""

MISSING = "the page is not built: run make lab, which needs Node.js, npm and the Rust target wasm32-unknown-unknown"


def page(scenarios: Sequence[ScenarioLike], policies: Sequence[str] = (), *, set: Overrides = ()) -> str:  # noqa: A002
    """Return the page as HTML, with these scenarios in it.

    Parameters: `policies` are one policy, or two to be compared, at the busiest port with a limited buffer, or in the
    memory that this port shares; `set` are overrides for all scenarios.
    """
    sets = tuple(overrides(set))
    if not shipped.PAGE.is_file():
        raise FileNotFoundError(MISSING)
    given = [_offer(number, each, policies, sets) for number, each in enumerate(scenarios, 1)]
    if policies and not given:
        raise QuestionError("policies need a scenario: name one, as in pushout lab lan --policies tail-drop,epd")
    text = json.dumps(given).replace("<", "\\u003c")  # nothing in it ends the element
    return shipped.PAGE.read_text(encoding="utf-8").replace(_GIVEN, _GIVEN.replace("[]", text))


def _offer(number: int, scenario: ScenarioLike, policies: Sequence[str], sets: tuple[str, ...]) -> dict[str, Any]:
    """Build what the page opens: `Preset` in web/src/presets.ts."""
    from pushout.reading import explain

    source = load(scenario)
    explained = explain(source, set=sets)
    port, chosen = _chosen(explained, policies)
    unread = ("measure.meter=[]",) if chosen and explained.get("measure", {}).get("meter") else ()
    runs = [[*sets, *unread, *choice.sets] for choice in chosen] or [list(sets)]
    for run, choice in zip(runs, chosen, strict=False):
        _check(source, run, choice)
    return {
        "name": f"given {number}",
        "title": explained.get("title") or explained["name"],
        "look": " against ".join(choice.label for choice in chosen),
        "file": typed(Path(source.name)) if Path(source.name).is_file() else source.name,
        "text": source.text,
        "runs": runs,
        **({"port": port} if port else {}),
    }


def _check(source: Source, run: Sequence[str], choice: Choice) -> None:
    """Refuse what the page could not open."""
    from pushout.reading import explain

    try:
        explain(source, set=run)
    except ScenarioError as error:
        if not choice.sets:
            raise
        raise policy_refused(error, choice, choice.sets[0]) from error


def _chosen(explained: dict[str, Any], policies: Sequence[str]) -> tuple[str | None, list[Choice]]:
    """Choose the port to look at, and the policies that its buffer, or the memory that it shares, has in each run."""
    if not policies:
        return None, []
    port = _busiest(explained)
    chosen = choices(policies, [_holder(port, explained)], json.loads(_core.policies()))
    if len(chosen) > len(LETTERS):
        raise QuestionError(Argument("policies"), f" must be one or two, not {len(chosen)}: the page compares two runs")
    return port.name, chosen


def _busiest(explained: dict[str, Any]) -> Port:
    """Choose the busiest port: of those with a limited buffer, or if there is none, of all."""
    known = ports(explained).values()
    return busiest([port for port in known if port.is_limited] or known, explained)


def _holder(port: Port, explained: dict[str, Any]) -> Holder:
    """Return what holds the policies of a port: the memory that it shares, or its own section."""
    if port.memory is None:
        return port.holder
    return Holder(section("memory", port.memory), explained["memory"][port.memory])
