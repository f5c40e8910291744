"""The request for a picture, and the conversion of runs of all kinds to drawn data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pushout.document import Report
from pushout.errors import Argument, QuestionError
from pushout.literals import Panel
from pushout.names.place import Places, in_memory
from pushout.options import PANELS as DEFAULT
from pushout.picture import figure
from pushout.picture.figure import themed
from pushout.picture.finished import documents, is_finished
from pushout.picture.recording import Recording, entries, fillable, keeping, memories, panels, recording, where
from pushout.picture.series import Run
from pushout.source import Source
from pushout.style import Theme

__all__ = [
    "DEFAULT",
    "Request",
    "Run",
    "documents",
    "draw",
    "entries",
    "fillable",
    "is_finished",
    "labelled",
    "panels",
    "recorded",
    "themed",
]

WHOLE: Panel = "memory"
"""The panel of a memory, which stands for that of a queue."""


class Request(NamedTuple):
    """Panels, places, flows, looks and title of a picture."""

    what: Sequence[Panel]
    at: Sequence[str]
    flows: Sequence[str]
    theme: Theme
    title: str | None

    def recording(self, places: Places) -> Recording:
        """Return the measurements that a scenario needs for this picture."""
        shown, state = where(places, self.at), list[str]()
        if "state" in self.what:
            state = [*shown.ports, *self.flows] or keeping(places)
        ports = shown.ports or [name for name in state if name in places.ports]
        return recording(places.explained, self.what, ports, self.flows, places.sets, shown.memories, state)

    def fillable(self, places: Places) -> Sequence[Panel]:
        """Return those of its panels that a scenario can fill; a memory has one of its own instead of a queue."""
        shown = where(places, self.at)
        what = [WHOLE if panel == "queue" and shown.memories else panel for panel in self.what]
        return fillable(places.explained, what, shown.ports)

    def run(self, replications: Sequence[Report], planned: Recording | None = None) -> Run:
        """A run to be drawn, from the documents of its replications."""
        name = str(replications[0]["scenario"])
        if planned is None:
            shared, ports = memories(self.at), [name for name in self.at if not in_memory(name)]
            return Run(name, replications, name, self.flows, ports, shared)
        return Run(
            name,
            replications,
            planned.title,
            planned.flows,
            planned.ports,
            planned.memories,
            planned.buffers,
            planned.network,
            planned.drains_s,
            planned.rates,
        )


def draw(runs: Sequence[Run], request: Request) -> Any:
    """The picture."""
    return figure.draw(runs, request.what, request.theme, request.title)


def labelled(runs: Sequence[Run], given: Sequence[object], labels: Sequence[str]) -> list[Run]:
    """Runs with the names that are wanted in the legend: those given, or those of scenarios, or of their folders."""
    if labels and len(labels) != len(runs):
        raise QuestionError(
            Argument("labels"), f" must name each of the {len(runs)} runs, not {len(labels)}: separate names by commas"
        )
    names = list(labels) or [run.name for run in runs]
    if len(set(names)) < len(names):
        names = [
            Path(each.name if isinstance(each, Source) else each).stem
            if isinstance(each, str | Path | Source)
            else run.name
            for each, run in zip(given, runs, strict=True)
        ]
    if len(set(names)) < len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, 1)]
    return [run._replace(name=name) for run, name in zip(runs, names, strict=True)]


KEPT: tuple[tuple[Panel, str, str], ...] = (
    ("queue", "ports", "occupancy"),
    ("drops", "ports", "losses"),
    ("marks", "ports", "marks"),
    ("pauses", "ports", "pauses"),
    ("memory", "memories", "occupancy"),
    ("throughput", "flows", "throughput"),
    ("cwnd", "flows", "cwnd"),
    ("state", "ports", "state"),
    ("fct", "flows", "transfer_times_s"),
)
"""The part of a document, and the key of its entries, from which a panel is drawn."""


def recorded(document: Report) -> list[Panel]:
    """The panels for which a run has measured what they need."""
    first: list[Panel] = ["goodput"] if document["flows"] else []
    drawn: list[Panel] = ["fct", "slowdown"] if document.get("transfers") else []
    kept = [panel for panel, part, key in KEPT if any(key in entry for entry in document.get(part, []))]
    return list(dict.fromkeys([*first, *kept, *drawn]))
