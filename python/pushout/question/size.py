"""Find the smallest or largest buffer (or threshold, or weight) that meets a goal, or the best one.

Every value is replicated until it is sure on which side of the goal it is, or `most` times; equal seeds at every value
make neighbours comparable.
"""

import json
import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pushout import trust
from pushout.answer.columns import Columns
from pushout.document import Document
from pushout.errors import QuestionError, ScenarioError
from pushout.excerpt import quoted
from pushout.literals import SEARCHES, Search
from pushout.measures import improvement
from pushout.names.computed import LOSS, needs, sources_of
from pushout.names.figures import column_of, path_of
from pushout.names.place import Place
from pushout.names.port import Choice, Port, policy_refused
from pushout.options import LEAST, MOST, RESOLUTION
from pushout.quantity import seconds, word
from pushout.question import search
from pushout.question.campaign import Campaign
from pushout.question.executor import Variations, check
from pushout.question.goal import Goal, Separate, Tried, judged
from pushout.question.manifest import begin, end, who
from pushout.question.outlook import Outlook
from pushout.question.replications import DRAWS, Drawn, is_alone
from pushout.question.search import SearchResult
from pushout.question.session import Session
from pushout.question.sized import Answer, SizeResult, beyond_end, binding
from pushout.question.space import HIGH, LOW, Space
from pushout.question.store import Run
from pushout.question.subject import Subject
from pushout.question.table import engine
from pushout.simulate import check_room
from pushout.stats import AGREEING, Interval, interval
from pushout.warning import Warned

OF_LOSSES = re.compile(r"lost|loss|drop|packet_throughput")
"""Goals that speak of losses."""


@dataclass(frozen=True)
class Question:
    """The question: its goals, its key, its range, its resolution."""

    goals: tuple[Goal, ...]
    over: str
    space: Space
    place: Place | None = None
    resolution: float = RESOLUTION
    least: int = LEAST
    most: int = MOST
    method: Search = SEARCHES[0]
    largest: bool = False
    """Whether the largest value that meets the goals is the answer, and not the smallest."""

    @property
    def goal(self) -> Goal:
        """The only goal, or the first of several levels."""
        return self.goals[0]

    @property
    def paths(self) -> list[str]:
        """List the figures of the goals."""
        return [goal.path for goal in self.goals]

    @property
    def measured(self) -> list[str]:
        """List the figures to measure: those of the goals, and the loss unless one of them speaks of losses."""
        speaks = any(OF_LOSSES.search(path) for path in self.paths)
        return list(dict.fromkeys((*self.paths, DRAWS, *([] if speaks else [LOSS]))))

    def outlook(self, policies: int) -> Outlook:
        """Estimate the runs of the searches for this number of policies."""
        has_level = self.goal.level is not None
        by_halves = has_level and self.method != "optuna"
        space = search.Turned(self.space) if self.largest else self.space
        return Outlook(space, self.resolution, self.least, self.most, policies, has_level, by_halves)

    @property
    def port(self) -> Port | None:
        """The port whose key is sized, or that has the policies."""
        return self.place.port if self.place else None

    def sizes(self, value: float) -> dict[str, float]:
        """Convert a value to all useful units of the place."""
        return self.place.sizes(f"{value!r} {self.space.unit}") if self.place and self.space.unit else {}


@dataclass(frozen=True)
class Sizing(Subject):
    """A search for a size that has been read."""

    question: Question

    def __call__(self, session: Session) -> SizeResult:
        """Find it."""
        return _sized(self, session)


def _sized(asked: Sizing, session: Session) -> SizeResult:
    """Search the answer for every policy."""
    start = time.monotonic()
    explained, question, choices = asked.explained, asked.question, asked.choices
    if session.out:
        session.out.claim(("size", asked.source.text, question, choices, asked.sets, asked.seed, asked.engine))
    written = _written(asked)
    head = {"kind": "size", "name": f"{explained['name']}-size", **written, "policies": asked.listed()}
    manifest = {**head, **who(explained["engine"])}
    begin(session.out, {**manifest, "scenario": explained})
    campaign = Campaign(asked.source, session, question.measured, asked.engine, asked.seed)
    campaign.scenes.store_network(asked.sets, explained)
    outlook = question.outlook(len(choices))
    searches = [_Search(campaign, question, choice, asked.sets, outlook) for choice in choices]
    answers = [one.answer() for one in searches]
    goals = [goal.text for goal in question.goals]
    document = {**written, "goals": goals, "answers": _entries(question, choices, answers)}
    table = _table(question, searches)
    factor, pace = question.sizes(1).get("us"), question.place.pace if question.place else ""
    result = SizeResult(table, document, question.goals, question.over, question.space, factor, answers, pace)
    warmup_s = seconds(explained["warmup"])
    doubted = trust.warnings(
        doubt for one, answer in zip(searches, answers, strict=True) for doubt in one.doubts(answer, warmup_s)
    )
    losing = [_losing(answer, question) for answer in answers if answer.loses]
    warned = [*asked.warnings, *losing, *doubted]
    counts = {"runs": table.rows, "computed": campaign.counts.computed}
    document.update({**counts, "engine": engine(), "wall_s": time.monotonic() - start, "warnings": warned})
    if session.out:
        rows = session.out.rows("rows", table)
        session.out.text("size.json", json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        session.out.figure("size", result.plot())
        end(session.out, {**manifest, "scenario": explained, "rows": rows, **counts, "wall_s": document["wall_s"]})
    return result


def _losing(answer: Answer, question: Question) -> Warned:
    """Warn about an answer that meets a goal of delivered units by losing others."""
    assert answer.value is not None, "what loses has a value"  # noqa: S101
    where = f"{answer.label} at {question.space.text(answer.value)}".removeprefix(" at ")
    message = f"{where}: {answer.loses}, and no goal speaks of loss: add a goal such as loss<=0.1 %"
    return {"code": "losing-answer", "message": message}


def from_valid(asked: Sizing) -> Sizing:
    """Double the lower end while the scenario refuses it by itself, as a buffer in which no packet fits."""
    question = asked.question
    space = question.space
    while space.low < space.high and _is_refused(asked, space.low):
        space = replace(space, low=space.round(2 * space.low))
    return replace(asked, question=replace(question, space=space)) if space.low < space.high else asked


def _is_refused(asked: Sizing, value: float) -> bool:
    """Return whether the scenario refuses a value of the key, whatever other keys say."""
    (point,) = _points(asked.question, asked.choices[0], asked.sets, (value,))
    try:
        check(Variations(asked.source, [point], asked.engine), (), threads=1)
    except ScenarioError as error:
        return error.set == len(point) - 1
    return False


def look_over(asked: Sizing) -> None:
    """Raise errors at the ends of the search before anything is run or written."""
    question = asked.question
    ends = (question.space.low, question.space.high)
    check_room(int(asked.explained["seed"]), question.most)
    for choice in asked.choices:
        points = _points(question, choice, asked.sets, ends)
        try:
            check(Variations(asked.source, points, asked.engine), sources_of(question.measured), threads=1)
        except ScenarioError as error:
            raise _explained(error, question, ends, points, choice) from None


def _points(question: Question, choice: Choice, sets: Sequence[str], values: Sequence[float]) -> list[tuple[str, ...]]:
    return [(*sets, *choice.sets, f"{question.over}={question.space.toml(value)}") for value in values]


def _explained(
    error: ScenarioError, question: Question, values: Sequence[float], points: Sequence[Sequence[str]], choice: Choice
) -> QuestionError | ScenarioError:
    """Turn an error in a point of a search into one about the question."""
    if error.figure is not None:
        asked = next((goal for goal in question.goals if needs(goal.path, error.figure)), question.goal)
        why = str(error).replace(error.figure, asked.path)  # not the source of a computed figure
        return QuestionError(f"goal {quoted(asked.text)}: {asked.meant() or why}")
    # Show the ends, which may be defaults that the user has not seen.
    first, last = (question.space.text(value) for value in (values[0], values[-1]))
    ends = [first] if len(values) == 1 else [f"values from {first} (", LOW, f") to {last} (", HIGH, ")"]
    # The value may be invalid by itself, or because of levels that the scenario gives in cells.
    last_set = len(points[0]) - 1
    instead = "" if error.set == last_set else ", or levels in % of the buffer"
    if error.set == last_set:
        error.set = None
    elif error.set is not None and error.set >= last_set - len(choice.sets):
        error = policy_refused(error, choice, points[0][error.set])
    found = f"\nThis error occurs when {question.over} is set to "
    return ScenarioError(error, found, *ends, f"; use other ends{instead}.")


class _Search:
    """The search for one policy, with all its runs."""

    def __init__(
        self, campaign: Campaign, question: Question, choice: Choice, sets: tuple[str, ...], outlook: Outlook
    ) -> None:
        self.campaign = campaign
        self.question = question
        self.choice = choice
        self.sets = sets
        self.outlook = outlook
        self.runs: dict[float, list[Run]] = {}
        self.tried: dict[float, Tried] = {}

    def answer(self) -> Answer:
        question = self.question
        self.outlook.begin()
        if question.goal.level is None:
            sign = 1 if question.goal.relation == "max" else -1
            found = search.best(question.space, self._try, self._confirm, sign)
        else:
            extreme = search.largest if question.largest else search.smallest
            found = extreme(question.space, self._try, question.resolution, question.method)
        self._check_measured()
        value = found.best.value if found.best else None
        sizes = {} if value is None else question.sizes(value)
        tried = list(self.tried.values())
        loss = None if value is None else self._loss(self.runs[value])
        rivals, beside = self._rivals(found), self.choice.beside
        return Answer(self.choice.label, value, found, sizes, tried, rivals, beside, question.largest, loss)

    def _loss(self, runs: Sequence[Run]) -> Interval | None:
        """Average the share of lost units, if it was measured."""
        known = [share for run in runs if (share := run.figures.get(LOSS)) is not None]
        return interval(known) if known and LOSS not in self.question.paths else None

    def _rivals(self, found: SearchResult) -> list[float]:
        """List values that may be as good as the best: the interval of the difference, seed by seed, contains zero."""
        return sorted(other.value for other in found.others if found.best and not self._apart(found.best, other))

    def _apart(self, one: Tried, other: Tried) -> bool:
        path = self.question.goal.path
        pairs = zip(self.runs[one.value], self.runs[other.value], strict=True)
        figures = [(left.figures.get(path), right.figures.get(path)) for left, right in pairs]
        known = [left - right for left, right in figures if left is not None and right is not None]
        if is_alone(self.runs[one.value]) and is_alone(self.runs[other.value]):
            return known != [0.0]
        if len(known) < AGREEING and min(known, default=0.0) == max(known, default=0.0):
            return False  # an interval of width 0 does not prove a difference
        low, high = interval(known)["ci95"] or (0.0, 0.0)
        return low > 0 or high < 0

    def _try(self, values: Sequence[float]) -> list[Tried]:
        question = self.question
        return self._measured(values, Drawn(Separate(question.goals, question.least, question.most)))

    def _confirm(self, values: Sequence[float]) -> list[Tried]:
        question = self.question
        return self._measured(values, Drawn(Separate(question.goals, question.most, question.most)))

    def _measured(self, values: Sequence[float], rule: Drawn) -> list[Tried]:
        points = _points(self.question, self.choice, self.sets, values)
        for value, runs in zip(values, self._runs(values, points, rule), strict=True):
            self.runs[value] = runs
            self.tried[value] = judged(self.question.goals, runs, value)
        sided = search.turned if self.question.largest else lambda point: point
        known = {value: sided(point) for value, point in self.tried.items()}
        self.outlook.tried([known[value] for value in values], list(known.values()))
        if len(self.tried) >= search.GRID:  # the first values cover the range
            self._check_measured()
        return [self.tried[value] for value in values]

    def doubts(self, answer: Answer, warmup_s: float) -> Iterator[tuple[str, list[trust.Doubt]]]:
        """Yield the doubts about the runs at the ends of the bracket, labelled with policy and value."""
        for point in answer.ends:

            def figures(name: str, runs: Sequence[Run] = self.runs[point.value]) -> list[float | None]:
                return [run.figures.get(path_of(name)) for run in runs]

            where = f"{answer.label} at {self.question.space.text(point.value)}".removeprefix(" at ")
            yield where, trust.doubts(figures, [goal.column for goal in self.question.goals], warmup_s)

    def _check_measured(self) -> None:
        """Raise if no value has the figure of a goal, for instance because no file was finished."""
        for number, goal in enumerate(self.question.goals):
            if not any(point.of(number).mean for point in self.tried.values()):
                raise self._unmeasured(goal)

    def _unmeasured(self, goal: Goal) -> QuestionError:
        """Return the error for a figure that no run measured."""
        space = self.question.space
        whose = f" of {self.choice.label}" if self.choice.label else ""
        values = ", ".join(space.text(value) for value in sorted(self.tried))
        where = f"with {self.question.over} at {values}"
        return QuestionError(
            f"goal {quoted(goal.text)}: no run{whose} measured the figure {goal.column}, {where}. "
            "Lengthen duration, or choose another figure."
        )

    def _runs(self, values: Sequence[float], points: Sequence[Sequence[str]], rule: Drawn) -> Iterator[list[Run]]:
        try:
            yield from self.campaign.prepare(points).runs(rule, later=self.outlook.later)
        except ScenarioError as error:
            raise _explained(error, self.question, values, points, self.choice) from None


def _written(asked: Sizing) -> Document:
    """Write the question for answer and manifest."""
    explained, question = asked.explained, asked.question
    space, place, port = question.space, question.place, question.port
    texts = [goal.text for goal in question.goals]
    return {
        "scenario": explained["name"],
        "title": explained.get("title", ""),
        **({"goal": texts[0]} if len(texts) == 1 else {"goals": texts}),
        "over": question.over,
        "from": space.text(space.low),
        "to": space.text(space.high),
        "at": place and place.name,
        "port": port and port.name,
        "set": list(asked.sets),
        "seed": explained["seed"],
        "least": question.least,
        "most": question.most,
        "resolution": question.resolution,
        "search": question.method,
        **({"largest": True} if question.largest else {}),
    }


def _entries(question: Question, choices: Sequence[Choice], answers: Sequence[Answer]) -> list[Document]:
    first = answers[0]
    entries = [_entry(answer, question, None if answer is first else first.value) for answer in answers]
    return [{**entry, "sets": list(choice.sets)} for choice, entry in zip(choices, entries, strict=True)]


def _entry(answer: Answer, question: Question, plain: float | None) -> Document:
    """Write the answer for one policy; `plain` is that of the first policy, unless this is the first."""
    space, below, best = question.space, answer.found.below, answer.found.best
    tried = sorted(answer.tried, key=lambda point: point.value)
    saved = {}
    if plain and answer.value is not None and not question.largest:
        saved = {"improvement": improvement(plain, answer.value)}
    return {
        "label": answer.label,
        "value": best and space.text(best.value),
        "sizes": answer.sizes,
        "too_large" if question.largest else "too_small": below and space.text(below.value),
        **({"opposed": space.text(opposed.value)} if (opposed := answer.found.opposed) else {}),
        "mean": best and best.mean,
        "loss": answer.loss,
        "sure": answer.sure,
        "unseen": best and best.unseen,
        "method": answer.found.method,
        "at_end": _at_ends(answer, question),
        **({"binds": [goal.text for goal in binding(question.goals, answer)]} if len(question.goals) > 1 else {}),
        **_doubt(answer, space),
        **saved,
        "tried": [_tried(point, question) for point in tried],
    }


def _tried(point: Tried, question: Question) -> Document:
    """Write a tried value, with the judgement for each of several goals."""
    entry = {key: value for key, value in vars(point).items() if key != "parts"}
    pairs = zip(question.goals, point.parts, strict=False)
    parts = [{"goal": goal.text, "mean": part.mean, "meets": part.meets, "sure": part.sure} for goal, part in pairs]
    return {**entry, "value": question.space.text(point.value), **({"goals": parts} if parts else {})}


def _at_ends(answer: Answer, question: Question) -> list[str]:
    """List the ends of the range (`from`, `to`) beyond which the answer may lie."""
    space, found = question.space, answer.found
    if question.goal.level is not None:
        if found.opposed is not None:
            return []
        if found.best is None:
            return [beyond_end(answer, question.goals)]
        is_least = space.whole and space.low == 1 and not question.largest  # nothing whole is smaller
        if found.below is not None or is_least:
            return []
        return ["to"] if question.largest else ["from"]
    leading = [*([] if answer.value is None else [answer.value]), *answer.rivals]
    gaps = {
        "from": [value - space.low for value in leading if space.low > 1 or not space.whole],
        "to": [space.high - value for value in leading if space.unit != "%" or space.high < 100],
    }
    near = question.resolution * max(map(abs, leading), default=0.0)
    return [end for end, apart in gaps.items() if min(apart, default=math.inf) <= near]


def _doubt(answer: Answer, space: Space) -> dict[str, Any]:
    """Write the bracket of the answer, or the rivals of the best value."""
    if answer.found.method == "bisect":
        return {"between": [None if end is None else space.text(end) for end in answer.span]}
    return {"rivals": [space.text(value) for value in answer.rivals]} if answer.found.others else {}


def _table(question: Question, searches: Sequence[_Search]) -> Columns:
    """Make a row of every run: policy, value, seed, figures of the goals, time."""
    paths = list(dict.fromkeys(question.paths))
    rows = [
        (one.choice.label, value, run.seed, *map(run.figures.get, paths), run.wall_s)
        for one in searches
        for value, runs in sorted(one.runs.items())
        for run in runs
    ]
    value = f"{question.over}_{word(question.space.unit)}" if question.space.unit else question.over
    names = ["policy", value, "seed", *map(column_of, paths), "wall_s"]
    columns = dict(zip(names, zip(*rows, strict=True) if rows else ([] for _ in names), strict=True))
    return Columns.of(columns, {"policy": "string", value: "float64", "seed": "uint64", "wall_s": "float64"})
