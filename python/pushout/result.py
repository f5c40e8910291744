"""The result of `run`: the document, figures by path, tables and a picture."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pushout.answer.columns import Columns
from pushout.answer.frame import Framed, Tabled
from pushout.document import REASONS, Document, Report, figure
from pushout.errors import FigureError, QuestionError
from pushout.literals import Panel, ThemeName
from pushout.names.computed import Scene, in_memories, is_computed, sources
from pushout.names.computed import value as computed
from pushout.names.figures import is_known, path_of
from pushout.simulate import Job
from pushout.stats import Interval, interval
from pushout.trust import headlines
from pushout.warning import HasWarnings

if TYPE_CHECKING:
    from pushout.types import Run


@dataclass(frozen=True, eq=False, repr=False)
class Result(HasWarnings, Tabled):
    """The measurements of a run; `result["summary.goodput_ratio"]` is one figure.

    As a table it has a row for every replication, with its seed, the figures of the summary and the time of its event
    loop (`wall_s`); `flows` and `ports` are tables with a row for every flow or port of every replication.

        >>> pushout.run("scenarios/lan.toml", set={"duration": "1 s"}, reps=3).flows.to_polars()
    """

    document: "Run"
    """As printed by `pushout run --json`; with several replications every figure is `{mean, ci95, n}`."""
    replications: "list[Run]"
    """The document of each replication, in the order of the seeds."""
    job: Job | None = None
    """What was run, for figures that are computed from others."""

    def __getitem__(self, path: str) -> Any:
        """Find a figure such as `ports.bottleneck.occupancy_mean`; `*` gives that of every entry.

        Names are those of `compare` and `size` as well: `loss`, `delay_p99`, `memories.chip.lossy_drop`.
        """
        try:
            return figure(self.document, path)
        except FigureError:
            named = path_of(path)
            if is_computed(named) and self.job:
                return self._computed(named, Scene(self.job, {}))
            if named == path or not is_known(named):
                raise
            return figure(self.document, named)

    def _computed(self, path: str, scene: Scene) -> Interval | float | None:
        """Compute a figure of each replication from others; None where one of them has no value."""
        path = in_memories(path, [memory["name"] for memory in self.document.get("memories", ())])
        measured = [{source: figure(one, source) for source in sources(path)} for one in self.replications]
        values: list[Any] = [computed(path, of_one, scene) for of_one in measured]
        if len(values) == 1 and "seeds" not in self.document:
            return None if values[0] is None else float(values[0])
        return interval(values) if None not in values else None

    def __contains__(self, path: str) -> bool:
        """Return whether there is a figure at this path."""
        try:
            self[path]
        except FigureError:
            return False
        return True

    __iter__ = None
    """Raise `TypeError`: `flows`, `ports` and `table` are the sequences."""

    def _brief(self) -> str:
        seeds: list[int] = [one["seed"] for one in self.replications]
        summary: Report = self.document["summary"]
        told = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]}–{seeds[-1]}"
        first = [name for name in headlines(lambda name: [summary.get(name)]) if summary.get(name) is not None]
        names = (*(first or ["goodput_ratio"]), "fairness_jain")
        known = [(name, summary[name]) for name in names if summary.get(name) is not None]
        figures = [f"{name} {_interval(value)['mean']:.4g}" for name, value in known]
        counts = [f"{len(self.document['flows'])} flows", f"{len(self.document['ports'])} ports"]
        if self.warnings:
            counts.append(f"{len(self.warnings)} warning{'s' * (len(self.warnings) > 1)}")
        return f"{self.document['scenario']}: {', '.join([told, *figures, *counts])}"

    def json(self) -> str:
        """Write the document as text."""
        return json.dumps(self.document, indent=2, ensure_ascii=False)

    @cached_property
    def columns(self) -> Columns:  # type: ignore[override]
        """A row for every replication."""
        return _table({**one["summary"], "wall_s": one["engine"]["wall_s"]} for one in self._seeded())

    @cached_property
    def flows(self) -> Framed:
        """A row for every flow of every replication."""
        return Framed(_table(flow for one in self._seeded() for flow in one["flows"]))

    @cached_property
    def ports(self) -> Framed:
        """A row for every port of every replication; `lost.REASON` and `marked.REASON` count units by reason."""
        none = dict.fromkeys(REASONS, 0)
        ports = (port for one in self._seeded() for port in one["ports"])
        return Framed(
            _table({**port, "lost": none | port["lost"], "marked": none | port.get("marked", {})} for port in ports)
        )

    def _seeded(self) -> Iterator[Document]:
        """Return the replications, each with its seed first."""
        for document in self.replications:
            seed = {"seed": document["seed"]}
            lists = {part: [{**seed, **entry} for entry in document[part]] for part in ("flows", "ports")}
            yield {**document, **lists, "summary": {**seed, **document["summary"]}}

    def plot(
        self,
        what: str | Sequence[Panel] = (),
        *,
        at: Sequence[str] = (),
        ports: Sequence[str] = (),
        flows: Sequence[str] = (),
        title: str | None = None,
        theme: ThemeName = "paper",
        width: float | None = None,
    ) -> Any:
        """Draw with Matplotlib what the run recorded over time, and the goodput of every flow.

        `what` lists panels (queue, drops, throughput, cwnd, occupancy, memory, fct, goodput); the scenario must record
        their figures, which `pushout.plot` arranges by itself. For the other parameters see `pushout.plot`.

            >>> pushout.run("lan", set={"duration": "1 s"}).plot("goodput,occupancy", theme="slides")
        """
        from pushout.picture import request as pictures

        panels = pictures.panels(what) if what else pictures.recorded(self.document)
        if not panels:
            raise QuestionError(
                "nothing to draw: the scenario has no flow, and no port records its occupancy over time"
            )
        named = what or ()
        where = [*at, *ports] or pictures.entries(named, "ports")
        of = flows or pictures.entries(named, "flows")
        wanted = pictures.Request(panels, where, of, pictures.themed(theme, width), title)
        return pictures.draw([wanted.run(self.replications)], wanted)


def _interval(value: Any) -> Interval:
    """Return a figure as an interval, of one replication or of many."""
    return value if isinstance(value, Mapping) else {"mean": float(value), "ci95": None, "n": 1}  # type: ignore[return-value]


def _table(entries: Iterable[Mapping[str, Any]]) -> Columns:
    """Make a row of each entry and a column of each figure."""
    rows = [dict(_flat(entry)) for entry in entries]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return Columns.of({name: [row.get(name) for row in rows] for name in names}, {"seed": "uint64"})


def _flat(entry: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Flatten an entry: figures in nested tables get dotted names."""
    for key, value in entry.items():
        name = f"{path}.{key}" if path else key
        if isinstance(value, Mapping):
            yield from _flat(value, name)
        elif not isinstance(value, list) or all(isinstance(item, int | float | None) for item in value):
            yield name, value
