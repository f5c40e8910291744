"""What a folder holds the answer to: `manifest.json`, written before the first run and completed after the last."""

import json
from collections.abc import Mapping
from typing import Any

from pushout.parsing import parsed
from pushout.question.output import Output
from pushout.question.table import engine, host

MANIFEST = "manifest.json"

OUTCOME = ("complete", "rows", "runs", "pilot_runs", "computed", "wall_s", "engine", "host")
"""What is no part of a question, but of its answer."""

FINER = ("reps", "least", "most", "resolution")
"""What makes the answer to a question finer."""

FOLLOWS = ("name", "points", "columns", "figures")
"""What follows from other parts of a question."""


def begin(out: Output | None, question: Mapping[str, Any]) -> None:
    """Write down what is asked; the folder remembers how that differs from what it holds the answer to.

    So it is known before the first run that one can write there.
    """
    if out:
        before = _read(out)
        asked = json.loads(json.dumps(question))
        known = [key for key in asked if key in before and key not in (*OUTCOME, *FINER, *FOLLOWS)]
        out.replaced = [key for key in known if asked[key] != before[key]]
        _write(out, {**question, "complete": False})


def end(out: Output | None, manifest: Mapping[str, Any]) -> None:
    """Write down that the answer is there."""
    if out:
        _write(out, {**manifest, "complete": True})


def who(engine_name: str) -> dict[str, Any]:
    """What did the runs, and where."""
    return {"engine": {"name": engine_name, **engine()}, "host": host()}


def _read(out: Output) -> dict[str, Any]:
    """What the folder holds; nothing if that cannot be told, as in object stores."""
    try:
        found = parsed((out.local / MANIFEST).read_text(encoding="utf-8")) if out.local else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(out: Output, manifest: Mapping[str, Any]) -> None:
    out.text(MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
