"""Requests for a picture, and the conversion of runs of all kinds to drawn data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pushout.document import Document
from pushout.errors import Argument, QuestionError
from pushout.literals import Panel
from pushout.picture import figure
from pushout.picture.figure import themed
from pushout.picture.finished import documents, is_finished
from pushout.picture.recording import Recording, entries, fillable, panels, recording
from pushout.picture.series import Run
from pushout.source import Source
from pushout.style import Theme

__all__ = [
    "DEFAULT",
    "Asked",
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

DEFAULT: tuple[Panel, ...] = ("queue", "drops", "throughput")
"""The panels of a picture for which none are named."""


class Asked(NamedTuple):
    """Panels, ports, flows, looks and title of a picture."""

    what: Sequence[Panel]
    ports: Sequence[str]
    flows: Sequence[str]
    theme: Theme
    title: str | None

    def recording(self, explained: Document, sets: Sequence[str] = ()) -> Recording:
        """Return the measurements that a scenario needs for this picture."""
        return recording(explained, self.what, self.ports, self.flows, sets)

    def run(self, replications: Sequence[Document], planned: Recording | None = None) -> Run:
        """A run to be drawn, from the documents of its replications."""
        name = str(replications[0]["scenario"])
        if planned is None:
            return Run(name, replications, name, self.flows, self.ports)
        return Run(name, replications, planned.title, planned.flows, planned.ports, planned.buffers, planned.network)


def draw(runs: Sequence[Run], asked: Asked) -> Any:
    """The picture."""
    return figure.draw(runs, asked.what, asked.theme, asked.title)


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
    ("memory", "memories", "occupancy"),
    ("throughput", "flows", "throughput"),
    ("cwnd", "flows", "cwnd"),
    ("fct", "flows", "transfer_times_s"),
)
"""The part of a document, and the key of its entries, from which a panel is drawn."""


def recorded(document: Document) -> list[Panel]:
    """The panels for which a run has measured what they need."""
    first: list[Panel] = ["goodput"] if document["flows"] else []
    return first + [panel for panel, part, key in KEPT if any(key in entry for entry in document.get(part, []))]
