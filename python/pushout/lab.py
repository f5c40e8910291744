"""The lab: one page that animates runs in a browser and compares two policies under the same traffic.

`make lab` builds the page, and a wheel contains it. This module puts scenarios into it.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pushout import _core, shipped
from pushout.errors import Argument, QuestionError
from pushout.question.port import Choice, by_default
from pushout.question.port import policies as choices
from pushout.shipped import typed
from pushout.source import Overrides, Scenario, load, overrides

_GIVEN = '<script id="given" type="application/json">[]</script>'
"""The place in the page for scenarios that the user names."""

LETTERS = "AB"
"""What the page calls the runs that it compares."""

MISSING = "the page is not built: run make lab, which needs Node.js, npm and the Rust target wasm32-unknown-unknown"


def page(scenarios: Sequence[Scenario], policies: Sequence[str] = (), *, set: Overrides = ()) -> str:  # noqa: A002
    """Return the page as HTML, with these scenarios in it.

    Parameters: `policies` are one policy, or two to be compared, at the busiest port with a limited buffer; `set` are
    overrides for all scenarios.
    """
    sets = tuple(overrides(set))
    if not shipped.PAGE.is_file():
        raise FileNotFoundError(MISSING)
    given = [_offer(number, each, policies, sets) for number, each in enumerate(scenarios, 1)]
    if policies and not given:
        raise QuestionError("policies need a scenario: name one, as in pushout lab lan --policies tail-drop,epd")
    text = json.dumps(given).replace("<", "\\u003c")  # nothing in it ends the element
    return shipped.PAGE.read_text(encoding="utf-8").replace(_GIVEN, _GIVEN.replace("[]", text))


def _offer(number: int, scenario: Scenario, policies: Sequence[str], sets: tuple[str, ...]) -> dict[str, Any]:
    """Build what the page opens: `Preset` in web/src/presets.ts."""
    from pushout.reading import explain

    source = load(scenario)
    explained = explain(source, set=sets)
    chosen = _chosen(explained, policies)
    return {
        "name": f"given {number}",
        "title": explained.get("title") or explained["name"],
        "look": " against ".join(choice.label for choice in chosen),
        "file": typed(Path(source.name)) if Path(source.name).is_file() else source.name,
        "text": source.text,
        "runs": [[*sets, *choice.sets] for choice in chosen] or [list(sets)],
    }


def _chosen(explained: dict[str, Any], policies: Sequence[str]) -> list[Choice]:
    if not policies:
        return []
    port, _ = by_default(explained)
    chosen = choices(policies, [port], json.loads(_core.policies()))
    if len(chosen) > len(LETTERS):
        raise QuestionError(Argument("policies"), f" must be one or two, not {len(chosen)}: the page compares two runs")
    return chosen
