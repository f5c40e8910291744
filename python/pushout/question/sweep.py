"""Run every point of a design with replications, one row per run."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from pushout import _core, trust
from pushout.answer.columns import Columns
from pushout.answer.frame import Pointed
from pushout.document import Document, steps
from pushout.errors import Argument, DesignError, ScenarioError
from pushout.excerpt import quoted
from pushout.literals import Drawing
from pushout.names.computed import needs, sources_of
from pushout.names.figures import column_of
from pushout.quantity import seconds
from pushout.question import mser
from pushout.question.campaign import CHUNK, Campaign, Chunk, Owned, every
from pushout.question.design import WARMUP, Design, Mser
from pushout.question.executor import Local, Variations
from pushout.question.factor import Level, Place
from pushout.question.manifest import begin, end, who
from pushout.question.replications import Fixed, Precision, Replications
from pushout.question.session import Session
from pushout.question.shard import PART, Shard, Split, part_of
from pushout.question.store import Run
from pushout.question.table import Rows, wider
from pushout.simulate import Job, Progress, check_room
from pushout.source import Source, load
from pushout.warning import Warned, of_scenario, union

ROWS = "rows"
"""The file of the rows, `rows.parquet` or `rows.csv`."""


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult(Pointed):
    """The result of a sweep."""

    warnings: list[Warned] = field(default_factory=list)
    """Anything that may mislead in the scenario at any point or in the figures, each with a `code` and a `message`."""

    def _brief(self) -> str:
        return f"{self.manifest['name']}: {len(self.points)} points, {super()._brief()}"

    @property
    def document(self) -> Document:
        """As printed by `pushout sweep --json`: the manifest, without the texts, and the mean of every figure."""
        document = {key: value for key, value in self.manifest.items() if key not in ("scenario", "sweep")}
        means = {name: self.means(name) for name in self.scalars()}
        document["means"] = [
            {"point": point, **values, "figures": {name: column[point] for name, column in means.items()}}
            for point, values in enumerate(self.points)
        ]
        document["warnings"] = self.warnings
        return document

    def plot(
        self, y: str = "goodput_ratio", x: str | None = None, *, by: str | None = None, kind: Drawing | None = None
    ) -> Any:
        """Draw the sweep with Matplotlib.

        `line`: a figure `y` over a swept number `x`; `cloud`: two figures against each other; `heat`: a figure `y` over
        two swept columns `x` and `by`; `cdf`: the distribution of `y` over runs (or over the entries of a list);
        `time`: a list `y` over time. There is a series for every value of the column `by`, by default of all swept
        columns except `x`. The default `kind` is a line if `x` is swept, a cloud if `x` is a figure, and a distribution
        without `x`.
        """
        from pushout.question.plot import draw

        return draw(self, y, x, by, kind)


SWEEP: dict[str, Any] = {"kind": "sweep"}

WARNED = 40
"""Largest number of points whose warnings are collected."""

WHOLE = "warmup=0 s"
"""The override of pilot runs: they are measured from the start."""


def sweep(
    design: Design, session: Session, *, head: Mapping[str, Any] = SWEEP, shard: Shard | None = None
) -> SweepResult:
    """Execute the runs that the store lacks; write rows and manifest if the session has an output.

    The manifest begins with `head`, which gives the kind of the question. With `shard` only the runs of this part are
    executed, and the output gets the file by which `merge` puts the parts together.
    """
    with _in_file(design):
        return _sweep(design, session, head, shard)


def _sweep(design: Design, session: Session, head: Mapping[str, Any], shard: Shard | None) -> SweepResult:
    start = time.monotonic()
    source = source_of(design)
    campaign = Campaign(source, session, _figures(design), design.engine, design.seed)
    of_part = {"shard": str(shard)} if shard else {}
    manifest = {**head, **of_part, **_manifest(design, Job(source, engine=design.engine))}
    if session.out:
        asked = (design.reps, design.seed, design.warmup, design.engine, design.figures, *of_part.values())
        session.out.claim((head["kind"], source.text, *asked, *design.points))
    begin(session.out, manifest)
    if session.out and shard:
        session.out.text(PART, part_of(design, source, shard).text)
    owned = Split(design, shard.count).owned(shard.number) if shard else every
    points = _warmed(campaign, design, owned) if design.warmup else list(design.points)
    names = list(dict.fromkeys(name for point in points for name in point.columns))
    parts, figures = _measured(campaign, points, design, owned)
    rows = Rows.of([point.columns for point in points], names, figures)
    table = Columns.joined([rows.part(first, part) for first, part in parts])
    if session.out:
        manifest["rows"] = session.out.rows(ROWS, table)
    if design.warmup:
        manifest["pilot_runs"] = sum(owned(point, 0) for point in range(len(points))) * design.warmup.reps
    manifest |= {"runs": table.rows, "computed": campaign.counts.computed, "wall_s": time.monotonic() - start}
    end(session.out, manifest)
    found = SweepResult(table, [dict(point.columns) for point in points], manifest)
    return replace(found, warnings=[*warnings(design), *_doubts(found)]) if head is SWEEP else found


def warnings(design: Design) -> list[Warned]:
    """Return the warnings of the scenario at the first points."""
    source, whole = source_of(design), (WHOLE,) if design.warmup else ()
    return union(of_scenario(source, (*point.sets, *whole)) for point in design.points[:WARNED])


def _doubts(found: SweepResult) -> list[Warned]:
    """Return the doubts about the runs of the first points, except wide intervals: every row has its interval."""
    asked = (*found.manifest["figures"], *trust.FILES)
    names = [name for name in dict.fromkeys(asked) if name in found.scalars()]
    warmup_s = seconds(found.manifest["scenario"]["warmup"])
    labelled = []
    for point, values in enumerate(found.points[:WARNED]):
        rows = found.of_point(point)

        def runs(name: str, rows: Columns = rows) -> Sequence[float | None]:
            return rows.plain(name) if name in rows else [None] * rows.rows

        doubts = trust.doubts(runs, names, warmup_s)
        label = f"({', '.join(str(values.get(name)) for name in found.telling(found.swept()))})" if values else ""
        labelled.append((label, [doubt for doubt in doubts if doubt.code != "wide-interval"]))
    return trust.warnings(labelled)


def loaded(design: Design, progress: Progress) -> Design:
    """Read the scenario of a design once for all, with the recordings that it replays."""
    with _in_file(design):
        return replace(design, scenario=source_of(design, progress))


def source_of(design: Design, progress: Progress | None = None) -> Source:
    """Read the scenario of a design, unless it has been read."""
    if isinstance(design.scenario, Source):
        return design.scenario
    try:
        points = [point.sets for point in design.points]
        return load(design.scenario, allow_files=design.allow_files, progress=progress, points=points)
    except ScenarioError as error:
        raise DesignError(design.tell(("scenario",), f"scenario: {error}")) from None


def validate(design: Design, sets: Sequence[str] = ()) -> None:
    """Raise `ScenarioError` or `QuestionError` unless every point can run and has the figures."""
    _validate(design, [[*point.sets, *sets] for point in design.points])


def look_over(design: Design) -> None:
    """Validate the first points: an error before a session is open leaves no files."""
    _validate(design, [list(point.sets) for point in design.points[:CHUNK]])


def _validate(design: Design, points: list[list[str]]) -> None:
    executor = Local()
    if design.warmup:  # in place of the scenario's warm-up
        points = [[*sets, WHOLE] for sets in points]
    try:
        with _in_file(design):
            source = source_of(design)
            explained = Job(source, engine=design.engine).explain()  # without overrides, as in the manifest
            _check_classes(design, json.loads(explained))
            figures = [*_figures(design), *(_pilot_figures(design.warmup) if design.warmup else [])]
            prepared = executor.prepare(Variations(source, points, design.engine), sources_of(figures))
            design.check_figures(prepared.figures)
            for seed, _ in prepared.heads:
                check_room(seed if design.seed is None else design.seed, design.reps.most)
    finally:
        executor.close()


def _check_classes(design: Design, explained: Document) -> None:
    """Refuse a varied key of a class of traffic that neither the scenario nor another override names.

    Such a key declares the class, which is legal, but no packet can enter it: all points would be alike.
    """
    sets = [*design.common.sets, *(each for factor in design.factors for level in factor.levels for each in level.sets)]
    given = [change.partition("=")[2] for change in sets]
    known = [*explained.get("queue", ()), *filter(None, map(_class_of, design.common.sets))]
    values = set(_texts(explained))
    for factor in design.factors:
        for change, at in (each for level in factor.levels for each in zip(level.sets, level.places, strict=True)):
            name = _class_of(change)
            if name is None or name in known or name in values or any(name in value for value in given):
                continue
            has = _core.unknown("class", name, known) if known else f"no class {quoted(name)}: the scenario has none"
            message = f"{change.partition('=')[0]}: {has}; no flow and no other key names it, so nothing would change"
            raise DesignError(design.tell(at, f"{at[0]}: {message}"))


def _class_of(change: str) -> str | None:
    """Return the class of traffic that an override is about."""
    first, *rest = steps(change.partition("=")[0].strip())
    return rest[0] if first == "queue" and len(rest) > 1 else None


def _texts(node: Any) -> Iterator[str]:
    """Yield all texts of a document, but for its keys."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping | list):
        for below in node.values() if isinstance(node, Mapping) else node:
            yield from _texts(below)


def _figures(design: Design) -> list[str]:
    """List the figures to measure besides the summary, including the one that decides about replications."""
    of = [design.reps.of] if isinstance(design.reps, Precision) else []
    return list(dict.fromkeys((*design.figures, *of)))


def _pilot_figures(warmup: Mser) -> list[str]:
    """List the figures that pilot runs measure to compute the warm-up."""
    return [warmup.figure, *mser.clock(warmup.figure)]


@contextmanager
def _in_file(design: Design) -> Iterator[None]:
    """Add to an error in a point its position, in the sweep file or in its scenario."""
    try:
        yield
    except ScenarioError as error:
        raise _placed(design, error) from None


def _placed(design: Design, error: ScenarioError) -> ScenarioError:
    """Add to an error the position of the override in the sweep, or of the key in the scenario."""
    if error.figure is not None and (asked := _asked_for(design, error.figure)):
        error.args = (str(error.args[0]).replace(error.figure, asked),)
    places = design.places(error.point) if error.point is not None else []
    if error.set is not None:
        if error.set < len(design.policies):
            return ScenarioError(f"policies: {error.args[0]}")
        return error if error.set >= len(places) else _placed_at(design, places[error.set], error)
    if not design.origin:
        return error
    if error.figure is not None:
        at = design.place_of_figure(error.figure)
        return _placed_at(design, at, error) if at else ScenarioError(Argument("columns"), f": {error.args[0]}")
    if error.engine:
        return ScenarioError(design.tell(("engine",), str(error)))
    if error.point is None:
        return ScenarioError(_beside(str(error), f"the scenario is that of {design.origin}"))
    sets = ", ".join(design.points[error.point].sets[len(design.policies) :]) or "nothing"
    return ScenarioError(_beside(str(error), f"{design.origin} sets {sets}"))


def _asked_for(design: Design, source: str) -> str | None:
    """Return the figure of a design that is computed from another."""
    return next((path for path in _figures(design) if path != source and needs(path, source)), None)


def _placed_at(design: Design, at: Place, error: ScenarioError) -> ScenarioError:
    """Add a position in the sweep to the message."""
    return ScenarioError(design.tell(at, f"{at[0]}: {error.args[0]}"))


def _beside(message: str, more: str) -> str:
    """Append a text to the first line of a message; the quoted line of the file follows."""
    first, mark, line = message.partition("\n")
    return f"{first}; {more}{mark}{line}"


Part = tuple[int, list[list[Run]]]
"""The runs of some points, and the index of the first of these."""


def _measured(
    campaign: Campaign, points: Sequence[Level], design: Design, owned: Owned
) -> tuple[Iterator[Part], dict[str, type]]:
    """Execute all runs; return them in parts, and their figures with the kinds of their values.

    A sweep of a single chunk stays in memory; the parts of a larger one are read again from the store.
    """
    figures: dict[str, type] = {}
    parts = _parts(campaign, points, design, figures, owned)
    if len(points) <= CHUNK:
        return iter(list(parts)), figures
    for _ in parts:
        pass
    return _parts(campaign, points, design, {}, owned), figures


def _parts(
    campaign: Campaign, points: Sequence[Level], design: Design, figures: dict[str, type], owned: Owned
) -> Iterator[Part]:
    """Yield the runs of the points, and note their figures while others are under way."""
    return _executed(campaign, design, [point.sets for point in points], design.rule, owned, _Seen(figures).note)


Note = Callable[[list[Run]], list[Run]]
"""Called with the runs of a point as soon as they are complete; returns them."""


def _executed(
    campaign: Campaign,
    design: Design,
    points: Sequence[Sequence[str]],
    rule: Replications,
    owned: Owned,
    note: Note = list,
) -> Iterator[Part]:
    """Yield the runs of the points chunk by chunk; points without a run that is owned have none."""
    for first in range(0, len(points), CHUNK):
        some = range(first, min(first + CHUNK, len(points)))
        own = [point for point in some if any(owned(point, number) for number in range(rule.least))]
        found: dict[int, list[Run]] = {point: [] for point in some}
        if own:
            chunk = _prepared(campaign, design, points, own)
            later = float(max(0, len(points) - first - CHUNK) * rule.least * len(own) / len(some))
            runs = chunk.runs(rule, later=partial(_later, later), owned=_among(own, owned))
            found |= zip(own, map(note, runs), strict=True)
        yield first, list(found.values())


def _among(own: Sequence[int], owned: Owned) -> Owned:
    """Count points as a chunk of these points does."""
    return lambda place, replication: owned(own[place], replication)


def _later(runs: float, _points: int, _wanted: Sequence[int]) -> float:
    """Return the runs known to follow: the least number for all later points."""
    return runs


def _prepared(campaign: Campaign, design: Design, points: Sequence[Sequence[str]], own: Sequence[int]) -> Chunk:
    """Check some of the points and look up their finished runs."""
    try:
        chunk = campaign.prepare([points[point] for point in own])
    except ScenarioError as error:
        if error.point is not None:
            error.point = own[error.point]
        raise
    design.check_figures(chunk.figures)
    return chunk


class _Seen:
    """The figures of runs and the kinds of their values, which nearly every run has like another."""

    def __init__(self, figures: dict[str, type]) -> None:
        self._figures = figures
        self._combinations: set[tuple[tuple[str, ...], tuple[type, ...]]] = set()

    def note(self, runs: list[Run]) -> list[Run]:
        """Record the figures of these runs, and return the runs."""
        for run in runs:
            combination = tuple(run.figures), tuple(map(type, run.figures.values()))
            if combination not in self._combinations:
                self._combinations.add(combination)
                for path, kind in zip(*combination, strict=True):
                    self._figures[path] = wider(self._figures.get(path, type(None)), kind)
        return runs


def _warmed(campaign: Campaign, design: Design, owned: Owned) -> list[Level]:
    """Add to every point the warm-up computed from its pilot runs, if this process executes its runs."""
    assert design.warmup is not None  # noqa: S101
    warmup = design.warmup
    pilot = replace(campaign, figures=_pilot_figures(warmup))
    points = [(*point.sets, WHOLE) for point in design.points]
    pilots = (runs for _, part in _executed(pilot, design, points, Fixed(warmup.reps), owned) for runs in part)
    found = []
    for point, runs in zip(design.points, pilots, strict=True):
        if not runs:
            found.append(point)
            continue
        try:
            microseconds = round(mser.warmup_s(warmup.figure, [run.figures for run in runs]) * 1e6)
        except mser.WarmupError as error:
            raise mser.WarmupError(f"{_words(point.columns)}: {error}") from None
        found.append(Level({**point.columns, WARMUP: microseconds / 1e6}, (*point.sets, f"warmup={microseconds} us")))
    return found


def _words(columns: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in columns.items()) or "the scenario"


def _manifest(design: Design, job: Job) -> dict[str, Any]:
    scenario = json.loads(job.explain())
    reps = design.reps
    return {
        "name": design.name,
        "title": design.title,
        "points": len(design.points),
        "columns": design.columns,
        "figures": [column_of(path) for path in design.figures],
        "seed": scenario["seed"] if design.seed is None else design.seed,
        "reps": vars(reps),
        **who(design.engine or scenario["engine"]),
        "scenario": scenario,
        "sweep": design.text,
        **({"policies": list(design.policies)} if design.policies else {}),
    }


def default_out(design: Design, shard: Shard | None = None) -> Path:
    """Return the default folder of a sweep, or of a part of it."""
    return Path("results") / (f"{design.name}-{shard.number}-of-{shard.count}" if shard else design.name)
