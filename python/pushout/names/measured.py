"""The measurements that figures need: questions add them to their runs, and say so."""

import json
import re
from collections.abc import Sequence

from pushout.document import Document, steps
from pushout.names.computed import sources_of
from pushout.names.port import ports
from pushout.warning import Warned

OF_DELIVERIES = re.compile(r"(delivery_time_(?!mean|sd)|round_trip_)\w+|rpm")
"""Figures that the report has only with `measure.delivery`; mean and deviation of a flow come from a sample."""

OF_SOJOURN = "sojourn_"
"""What figures of a port begin with that the report has only with `measure.sojourn`."""


def added(explained: Document, paths: Sequence[str]) -> list[str]:
    """List the overrides by which a scenario measures these figures, besides what it measures already."""
    asked = explained.get("measure", {})
    named = [steps(path) for path in sources_of(paths)]
    found = []
    if not asked.get("delivery") and any(OF_DELIVERIES.fullmatch(names[-1]) for names in named):
        found.append("measure.delivery=true")
    known, already = ports(explained), asked.get("sojourn", [])
    waited = [names[1] for names in named if names[0] == "ports" and names[-1].startswith(OF_SOJOURN)]
    further = [name for name in dict.fromkeys(waited) if name in known and name not in already]
    if further:
        found.append(f"measure.sojourn={json.dumps([*already, *further], ensure_ascii=False)}")
    return found


def warnings(overrides: Sequence[str]) -> list[Warned]:
    """Say that these measurements were added."""
    if not overrides:
        return []
    what = " and ".join(overrides)
    return [{"code": "measured", "message": f"added {what}, which the figures asked for need"}]
