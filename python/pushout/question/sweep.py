"""A sweep: every point of a design, replicated, one row per run."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pushout import _core
from pushout._core import ScenarioError
from pushout.question import QuestionError, mser
from pushout.question.campaign import CHUNK, Campaign, Fixed, Precision
from pushout.question.design import Design, DesignError, Level, Place
from pushout.question.executor import Local, Variations
from pushout.question.session import Session
from pushout.question.store import Run
from pushout.question.table import Rows, column_of, engine, host, path_of
from pushout.simulate import Job
from pushout.source import Source, load
from pushout.stats import Interval, interval

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa

ROWS, MANIFEST = "rows.parquet", "manifest.json"


@dataclass(frozen=True)
class Framed:
    """A result with a row for every run."""

    table: "pa.Table"

    def to_polars(self) -> "polars.DataFrame":
        """The table as polars has it (needs `pip install pushout[tables]`)."""
        import polars

        frame = polars.from_arrow(self.table)
        assert isinstance(frame, polars.DataFrame)  # noqa: S101  (a table is no single column)
        return frame

    def to_pandas(self) -> "pandas.DataFrame":
        """The table as pandas has it (needs `pip install pushout[tables]`)."""
        return self.table.to_pandas()


@dataclass(frozen=True)
class SweepResult(Framed):
    """What a sweep found."""

    manifest: dict[str, Any]
    points: list[dict[str, Any]] = field(repr=False)
    """The swept values of every point."""

    def of_point(self, point: int) -> "pa.Table":
        """The rows of one point, in order of their seeds."""
        import pyarrow.compute as pc

        return self.table.filter(pc.equal(self.table["point"], point))

    def swept(self) -> list[str]:
        """Every swept key and axis."""
        return list(dict.fromkeys(name for point in self.points for name in point))

    def scalars(self) -> list[str]:
        """The columns that are single figures of a run."""
        import pyarrow as pa

        names = self.table.column_names
        own = names[names.index("seed") + 1 : -1]
        return [name for name in own if pa.types.is_floating(self.table.schema.field(name).type)]

    def check_column(self, name: str) -> None:
        """Refuse what is no column of the table."""
        names = self.table.column_names
        if name not in names:
            near = _core.nearest(name, names)
            hint = f"; did you mean {near!r}?" if near else ""
            raise QuestionError(f"there is no column {name!r}{hint} (there are: {', '.join(names)})")

    def means(self, figure: str = "goodput_ratio") -> list[Interval | None]:
        """The mean of a figure at every point with its 95 % confidence interval; `None` where it was never measured."""
        self.check_column(figure)
        groups: dict[int, list[float]] = {}
        for point, value in zip(*(self.table[name].to_pylist() for name in ("point", figure)), strict=True):
            if value is not None:
                groups.setdefault(point, []).append(value)
        return [interval(groups[point]) if point in groups else None for point in range(len(self.points))]

    def plot(self, y: str = "goodput_ratio", x: str | None = None, **options: Any) -> Any:
        """Draw it: a matplotlib figure. See `pushout.question.plot.sweep` for the kinds and options."""
        from pushout.question import plot

        return plot.sweep(self, y, x, **options)


def sweep(design: Design, session: Session, *, kind: str = "sweep") -> SweepResult:
    """Run what the store does not have; write rows and manifest if there is somewhere to write them."""
    with _in_file(design):
        return _sweep(design, session, kind)


def _sweep(design: Design, session: Session, kind: str) -> SweepResult:
    import pyarrow as pa

    start = time.monotonic()
    source = _source(design)
    campaign = Campaign(source, session, _figures(design), design.engine, design.seed)
    manifest = {"kind": kind, **_manifest(design, Job(source, engine=design.engine))}
    if session.out:  # also to know before the first run that one can write there
        session.out.text(MANIFEST, _json({**manifest, "complete": False}))
    points = _warmed(campaign, design) if design.warmup else list(design.points)
    names = list(dict.fromkeys(name for point in points for name in point.columns))
    parts, figures = _measured(campaign, points, design)
    rows = Rows.of([point.columns for point in points], names, figures)
    tables = (rows.table(first, part) for first, part in parts)
    collected: list[pa.Table] = []
    if session.out:
        manifest["rows"] = session.out.parquet(ROWS, rows.schema, _collecting(tables, collected))
    else:
        collected.extend(tables)
    runs = sum(map(len, collected))
    manifest |= {"runs": runs, "computed": campaign.counts.computed, "wall_s": time.monotonic() - start}
    if session.out:
        session.out.text(MANIFEST, _json({**manifest, "complete": True}))
    return SweepResult(pa.concat_tables(collected), manifest, [dict(point.columns) for point in points])


def _source(design: Design) -> Source:
    if isinstance(design.scenario, Source):
        return design.scenario
    try:
        return load(design.scenario)
    except ScenarioError as error:
        raise DesignError(design.tell(("scenario",), f"scenario: {error}")) from None


def validate(design: Design, sets: Sequence[str] = ()) -> None:
    """Raise `ScenarioError` unless every point could be run and has the figures."""
    points = [[*point.sets, *sets] for point in design.points]
    executor = Local()
    try:
        with _in_file(design):
            source = _source(design)
            Job(source, engine=design.engine).explain()  # by itself, as the manifest has it
            executor.prepare(Variations(source, points, design.engine), _figures(design))
    finally:
        executor.close()


def _figures(design: Design) -> list[str]:
    """Figures to be measured besides the summary, or to be known to exist: what decides about replications is one."""
    of = [design.reps.of] if isinstance(design.reps, Precision) else []
    return list(dict.fromkeys((*design.figures, *of)))


@contextmanager
def _in_file(design: Design) -> Iterator[None]:
    """A mistake in a point stands in the sweep file or in the scenario that it names; the message says where."""
    try:
        yield
    except ScenarioError as error:
        raise (ScenarioError(_told(design, error)) if design.origin else error) from None


def _told(design: Design, error: ScenarioError) -> str:
    """What is wrong, with its place: that of an override in the sweep file, or that in the scenario."""
    message = str(error)
    if message.startswith("no figure "):
        at = next((at for at, path in _named(design) if message.startswith(f"no figure {path}: ")), ("figures",))
        return design.tell(at, f"{'.'.join(map(str, at[:1]))}: {message}")
    if design.engine and message.startswith("engine: "):
        return design.tell(("engine",), message)
    point, override = getattr(error, "point", None), getattr(error, "set", None)
    if point is None:
        return _beside(message, f"this is the scenario of {design.origin}")
    sets, places = design.points[point].sets, design.places(point)
    if override is None:
        return _beside(message, f"it is so with what {design.origin} sets: {', '.join(sets) or 'nothing'}")
    if override >= len(places):  # no override of the sweep
        return message
    return design.tell(places[override], f"{places[override][0]}: {message.removeprefix('--set ')}")


def _named(design: Design) -> Iterator[tuple[Place, str]]:
    """Where figures are named, and their paths."""
    table = design.document.value() if design.document else {}
    yield from ((("figures", row), path_of(name)) for row, name in enumerate(table.get("figures", [])))
    if isinstance(design.reps, Precision):
        yield ("reps", "of"), design.reps.of
    if design.warmup:
        yield ("warmup", "figure"), design.warmup.figure


def _beside(message: str, more: str) -> str:
    """A message with more in its first line; below it stands the line of the file."""
    first, mark, line = message.partition("\n")
    return f"{first}; {more}{mark}{line}"


def _measured(
    campaign: Campaign, points: Sequence[Level], design: Design
) -> tuple[Iterator[tuple[int, list[list[Run]]]], dict[str, bool]]:
    """Run everything; the runs in parts, and which figures they have (whether each is a list).

    A sweep of a single chunk stays in memory; of a larger one the parts are read again from the store.
    """
    figures: dict[str, bool] = {}
    parts = _parts(campaign, points, design)
    if len(points) <= CHUNK:
        kept = list(parts)
        _notice(figures, kept)
        return iter(kept), figures
    for part in parts:
        _notice(figures, [part])
    computed = campaign.counts.computed
    again = _parts(campaign, points, design)
    campaign.counts.computed = computed
    return again, figures


def _parts(campaign: Campaign, points: Sequence[Level], design: Design) -> Iterator[tuple[int, list[list[Run]]]]:
    for first in range(0, len(points), CHUNK):
        sets = [point.sets for point in points[first : first + CHUNK]]
        later = max(0, len(points) - first - CHUNK) * design.reps.least
        yield first, list(campaign.measure(sets, design.reps, later=later))


def _notice(figures: dict[str, bool], parts: Sequence[tuple[int, list[list[Run]]]]) -> None:
    for _, points in parts:
        for runs in points:
            for run in runs:
                for path, value in run.figures.items():
                    figures[path] = figures.get(path, False) or isinstance(value, list)


def _collecting(tables: Iterator["pa.Table"], into: list["pa.Table"]) -> Iterator["pa.Table"]:
    for table in tables:
        into.append(table)
        yield table


def _warmed(campaign: Campaign, design: Design) -> list[Level]:
    """Every point with the warm-up that its pilot runs ask for."""
    assert design.warmup is not None  # noqa: S101
    warmup = design.warmup
    pilot = replace(campaign, figures=[warmup.figure, *mser.clock(warmup.figure)])
    found = []
    pilots = pilot.measure([(*point.sets, "warmup=0 s") for point in design.points], Fixed(warmup.reps))
    for point, runs in zip(design.points, pilots, strict=True):
        try:
            seconds = mser.warmup_s(warmup.figure, [run.figures for run in runs])
        except ValueError as error:
            raise mser.WarmupError(f"{_words(point.columns)}: {error}") from None
        change = f"warmup={round(seconds * 1e6)} us"
        found.append(Level({**point.columns, "warmup_s": seconds}, (*point.sets, change)))
    campaign.counts.runs = 0  # pilots have no rows
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
        "engine": {"name": design.engine or scenario["engine"], **engine()},
        "host": host(),
        "scenario": scenario,
        "sweep": design.text,
    }


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def default_out(design: Design) -> Path:
    """Where a sweep goes that is not told where."""
    return Path("results") / design.name
