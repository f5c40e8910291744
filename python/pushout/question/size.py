"""A size: the smallest buffer (or threshold, or weight) that meets a goal, or the best one.

The goal is about the expectation of a figure. Every value is run until the 95 % interval of its mean lies on one side
of the goal, or `most` times; equal seeds at every value make neighbours comparable. Runs that all give the same have no
such interval: they are believed when there are enough of them that hardly any other run can give something else.
"""

import json
import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pushout._core import ScenarioError
from pushout.document import Document, FigureError, figure
from pushout.measures import improvement
from pushout.question import QuestionError, search
from pushout.question.campaign import Campaign, numbers
from pushout.question.port import Choice, Port
from pushout.question.quantity import split
from pushout.question.search import Found, Space, Tried
from pushout.question.session import Session
from pushout.question.store import Run
from pushout.question.sweep import Framed
from pushout.question.table import column_of, engine, path_of
from pushout.source import Source, toml
from pushout.stats import AGREEING, interval, unseen

LEAST, MOST, RESOLUTION = 8, 64, 0.02

WHOLE = ("cell", "cells", "byte", "bytes", "packet", "packets")


@dataclass(frozen=True)
class Goal:
    """What is wanted of a figure: at least or at most a level, or as much or as little as can be."""

    text: str
    path: str
    relation: str
    level: float | None = None

    @property
    def column(self) -> str:
        """The figure, as tables name it."""
        return column_of(self.path)

    def meets(self, value: float) -> bool:
        """Whether a mean does."""
        if self.level is None:
            return True
        return value >= self.level if self.relation == ">=" else value <= self.level


def goal(text: str) -> Goal:
    """Read `goodput_ratio>=0.98`, `ports.bottleneck.lost.overflow<=0` or `max packet_throughput`."""
    if match := re.fullmatch(r"\s*(.*\S)\s*(>=|<=|≥|≤)\s*(\S+)\s*", text):
        try:
            level = float(match[3])
        except ValueError:
            level = math.nan
        if not math.isfinite(level):
            raise QuestionError(f"goal {text!r}: {match[3]!r} is not a number")
        return Goal(text, _one(text, match[1]), {"≥": ">=", "≤": "<="}.get(match[2], match[2]), level)
    if match := re.fullmatch(r"\s*(max|min)\s+(\S+)\s*", text):
        return Goal(text, _one(text, match[2]), match[1])
    raise QuestionError(f"goal {text!r}: write FIGURE>=NUMBER, FIGURE<=NUMBER, max FIGURE or min FIGURE")


def _one(goal: str, name: str) -> str:
    """The path of a single figure."""
    if "*" in name:
        raise QuestionError(f"goal {goal!r}: {name} names many figures, and a goal is about one")
    return path_of(name)


@dataclass(frozen=True)
class Separate:
    """Replications until they leave no doubt on which side of the goal the mean is."""

    goal: Goal
    least: int = LEAST
    most: int = MOST

    def more(self, runs: Sequence[Run]) -> int:
        """Twice as many as there are, as long as they leave it open."""
        return len(runs) if judged(self.goal, runs, 0.0).sure else min(self.most, 2 * len(runs))


def judged(goal: Goal, runs: Sequence[Run], value: float) -> Tried:
    """What the runs of a value say about the goal."""
    known = numbers(runs, goal.path)
    if not known:
        return Tried(value, None, False, True)
    mean = interval(known)
    meets = goal.meets(mean["mean"])
    if goal.level is not None and min(known) == max(known):
        return Tried(value, mean, meets, len(known) >= AGREEING, unseen(len(known)))
    return Tried(value, mean, meets, all(goal.meets(end) == meets for end in mean["ci95"] or []))


@dataclass(frozen=True)
class Answer:
    """What one policy needs."""

    label: str
    value: float | None
    found: Found
    sizes: dict[str, float]
    tried: list[Tried] = field(repr=False)


@dataclass(frozen=True)
class SizeResult(Framed):
    """What a search found: an answer for every policy, and all that was tried."""

    document: Document
    """As printed by `pushout size --json`."""
    goal: Goal
    over: str
    space: Space
    us_per_unit: float | None
    answers: list[Answer]

    def plot(self) -> Any:
        """Draw the search."""
        from pushout.question import plot

        return plot.size(self)


@dataclass(frozen=True)
class Question:
    """What is asked: which goal, over which key, where, how exactly."""

    goal: Goal
    over: str
    space: Space
    port: Port | None = None
    resolution: float = RESOLUTION
    least: int = LEAST
    most: int = MOST
    method: str = "auto"


def space(explained: Document, over: str, low: str | None, high: str | None) -> Space:
    """Where to look: from `low` to `high`, by default around the value that the scenario has (1/32 to 4 times)."""
    now = _now(explained, over)
    if (low is None or high is None) and now is None:
        raise QuestionError(_unknown(explained, over))
    number, unit = now or (0.0, "")
    first = split(low) if low is not None else (number / 32, unit)
    last = split(high) if high is not None else (min(4 * number, 100.0) if unit == "%" else 4 * number, unit)
    units = {own for _, own in (first, last) if own} or ({unit} if unit else set())
    if len(units) > 1:
        raise QuestionError(f"--from and --to have different units: {' and '.join(sorted(units))}")
    own = units.pop() if units else ""
    texts = [text for text in (low, high) if text is not None]
    whole = own in WHOLE or (not own and bool(texts) and all(re.fullmatch(r"\d+", text.strip()) for text in texts))
    start, end = first[0], last[0]
    if whole:
        start, end = max(1.0, float(round(start))), float(round(end))
    if not start < end:
        raise QuestionError(f"there is nothing between --from {start:g} and --to {end:g}")
    return Space(start, end, own, whole, log=start > 0 and end >= 4 * start)


def _unknown(explained: Document, over: str) -> str:
    """Why the scenario does not say where to look."""
    try:
        value = figure(explained, over)
    except FigureError as error:
        return f"{over} has no value in the scenario ({error}): give --from and --to to say where to look"
    if isinstance(value, dict | list):
        what = "a table" if isinstance(value, dict) else "a list"
        return f"{over} is {what} in the scenario: --over takes a key with a number, as in port.bottleneck.buffer"
    return f"{over} is {value!r} in the scenario, which is no number: give --from and --to to say where to look"


def _now(explained: Document, over: str) -> tuple[float, str] | None:
    try:
        value = figure(explained, over)
    except FigureError:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value), ""
    try:
        return split(str(value))
    except QuestionError:
        return None


def size(
    source: Source,
    question: Question,
    choices: Sequence[Choice],
    session: Session,
    *,
    sets: Sequence[str] = (),
    seed: int | None = None,
    engine_name: str | None = None,
) -> SizeResult:
    """Search the answer for every choice of a policy."""
    start = time.monotonic()
    path = question.goal.path
    campaign = Campaign(source, session, [path], engine_name, seed)
    searches = [_Search(campaign, question, choice, tuple(sets)) for choice in choices]
    answers = [one.answer() for one in searches]
    factor = None
    if question.port and question.space.unit:
        factor = question.port.sizes(f"1 {question.space.unit}").get("us")
    document = _document(question, answers)
    table = _table(question, searches)
    result = SizeResult(table, document, question.goal, question.over, question.space, factor, answers)
    counts = {"runs": table.num_rows, "computed": campaign.counts.computed}
    document.update({**counts, "engine": engine(), "wall_s": time.monotonic() - start})
    if session.out:
        session.out.parquet("rows.parquet", table.schema, [table])
        session.out.text("size.json", json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        session.out.figure("size", result.plot())
    return result


class _Search:
    """The search for one policy, with every run that it took."""

    def __init__(self, campaign: Campaign, question: Question, choice: Choice, sets: tuple[str, ...]) -> None:
        self.campaign = campaign
        self.question = question
        self.choice = choice
        self.sets = sets
        self.runs: dict[float, list[Run]] = {}
        self.tried: dict[float, Tried] = {}

    def answer(self) -> Answer:
        question = self.question
        if question.goal.level is None:
            sign = 1 if question.goal.relation == "max" else -1
            found = search.best(question.space, self._try, self._confirm, sign)
        else:
            found = search.smallest(question.space, self._try, question.resolution, question.method)
        value = found.best.value if found.best else None
        sizes = {}
        if value is not None and question.port and question.space.unit:
            sizes = question.port.sizes(question.space.text(value))
        return Answer(self.choice.label, value, found, sizes, list(self.tried.values()))

    def _try(self, values: Sequence[float]) -> list[Tried]:
        question = self.question
        return self._measured(values, Separate(question.goal, question.least, question.most))

    def _confirm(self, values: Sequence[float]) -> list[Tried]:
        question = self.question
        return self._measured(values, Separate(question.goal, question.most, question.most))

    def _measured(self, values: Sequence[float], rule: Separate) -> list[Tried]:
        over, space = self.question.over, self.question.space
        points = [(*self.sets, *self.choice.sets, f"{over}={self._written(space, value)}") for value in values]
        for value, runs in zip(values, self._runs(values, points, rule), strict=True):
            self.runs[value] = runs
            self.tried[value] = judged(self.question.goal, runs, value)
        return [self.tried[value] for value in values]

    def _runs(self, values: Sequence[float], points: Sequence[Sequence[str]], rule: Separate) -> Iterator[list[Run]]:
        try:
            yield from self.campaign.measure(points, rule)
        except ScenarioError as error:
            if self.question.goal.path in str(error):
                raise QuestionError(f"goal {self.question.goal.text!r}: {error}") from None
            # --from and --to may be defaults, which the user has not seen
            texts = [self.question.space.text(value) for value in values]
            ends = texts[0] if len(texts) == 1 else f"values from {texts[0]} (--from) to {texts[-1]} (--to)"
            found = f"This was found when {self.question.over} was to have {ends}"
            raise ScenarioError(f"{error}\n{found}; other ends may do, or levels in % of the buffer.") from None

    @staticmethod
    def _written(space: Space, value: float) -> str:
        return toml(space.text(value)) if space.unit else space.text(value)


def _document(question: Question, answers: Sequence[Answer]) -> Document:
    space = question.space
    entries = []
    for answer in answers:
        below, best = answer.found.below, answer.found.best
        entry: Document = {"label": answer.label, "value": None if best is None else space.text(best.value)}
        entry["sizes"] = answer.sizes
        entry["too_small"] = None if below is None else space.text(below.value)
        entry["mean"] = best.mean if best else None
        entry["sure"] = all(end.sure for end in (best, below) if end is not None)
        entry["unseen"] = best.unseen if best else None
        entry["method"] = answer.found.method
        first = answers[0].value
        if answer is not answers[0] and first and answer.value is not None:
            entry["improvement"] = improvement(first, answer.value)
        points = sorted(answer.tried, key=lambda point: point.value)
        entry["tried"] = [{**vars(point), "value": space.text(point.value)} for point in points]
        entries.append(entry)
    ends = {"from": space.text(space.low), "to": space.text(space.high)}
    return {"goal": question.goal.text, "over": question.over, **ends, "answers": entries}


def _table(question: Question, searches: Sequence[_Search]) -> Any:
    """A row for every run: policy, value, seed, figure, time."""
    import pyarrow as pa

    rows = [
        (one.choice.label, value, run.seed, run.figures.get(question.goal.path), run.wall_s)
        for one in searches
        for value, runs in sorted(one.runs.items())
        for run in runs
    ]
    value = f"{question.over}_{question.space.unit.replace('%', 'percent')}" if question.space.unit else question.over
    names = ["policy", value, "seed", question.goal.column, "wall_s"]
    types = [pa.string(), pa.float64(), pa.uint64(), pa.float64(), pa.float64()]
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    arrays = [pa.array(list(column), kind) for column, kind in zip(columns, types, strict=True)]
    return pa.table(arrays, names=names)
