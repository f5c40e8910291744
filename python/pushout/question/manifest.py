"""The question that a folder answers: `manifest.json`, written before the first run and completed after the last."""

import json
from collections.abc import Mapping
from typing import Any

from pushout import kept
from pushout.cache import LARGEST
from pushout.parsing import parsed
from pushout.question.output import Output
from pushout.question.table import engine, host

MANIFEST = "manifest.json"

OUTCOME = ("complete", "rows", "runs", "pilot_runs", "computed", "wall_s", "engine", "host")
"""Keys of the answer, not of the question."""

FINER = ("reps", "least", "most", "resolution")
"""Keys that only refine the answer."""

FOLLOWS = ("name", "points", "columns", "figures")
"""Keys that follow from others."""


def begin(out: Output | None, question: Mapping[str, Any]) -> None:
    """Write the question; the folder notes how it differs from the question answered there before.

    This also checks before the first run that the folder can be written.
    """
    if out:
        before = _read(out)
        asked = json.loads(json.dumps(question))
        known = [key for key in asked if key in before and key not in (*OUTCOME, *FINER, *FOLLOWS)]
        out.replaced = [key for key in known if asked[key] != before[key]]
        _write(out, {**question, "complete": False})


def end(out: Output | None, manifest: Mapping[str, Any]) -> None:
    """Write that the answer is complete."""
    if out:
        _write(out, {**manifest, "complete": True})


def who(engine_name: str) -> dict[str, Any]:
    """Describe the program and machine of the runs."""
    return {"engine": {"name": engine_name, **engine()}, "host": host()}


def _read(out: Output) -> dict[str, Any]:
    """Read the manifest of a folder; empty if it cannot be read, as in object stores."""
    try:
        found = parsed(kept.content(out.local / MANIFEST, LARGEST)) if out.local else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(out: Output, manifest: Mapping[str, Any]) -> None:
    out.text(MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
