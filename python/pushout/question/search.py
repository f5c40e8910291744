"""Search for a value: by bisection where more is better, otherwise with Optuna."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pushout.errors import Argument, QuestionError
from pushout.extras import need
from pushout.literals import Search
from pushout.question.goal import Tried, together

GRID = 5
"""Values tried first, together: they show whether the goal is monotone."""
TRIALS = 30
"""Values that Optuna tries."""
CONFIRMED = 3
"""The best values that run again to confirm the best one."""

Try = Callable[[Sequence[float]], list[Tried]]
"""Tries values together."""


class Range(Protocol):
    """The values of a search, from `low` to `high`."""

    @property
    def low(self) -> float:
        """The least value."""

    @property
    def high(self) -> float:
        """The greatest value."""

    def at(self, place: float) -> float:
        """Map a number between 0 and 1 to a value."""

    def between(self, low: float, high: float) -> float:
        """Return the value in the middle of two."""


@dataclass(frozen=True)
class Turned:
    """A range with the signs of its values changed, so that its smallest value is the largest one."""

    whole: Range

    @property
    def low(self) -> float:
        """The greatest value, with the other sign."""
        return -self.whole.high

    @property
    def high(self) -> float:
        """The least value, with the other sign."""
        return -self.whole.low

    def at(self, place: float) -> float:
        """Map a number between 0 and 1 to a value."""
        return -self.whole.at(1 - place)

    def between(self, low: float, high: float) -> float:
        """Return the value in the middle of two."""
        return -self.whole.between(-high, -low)


def turned(point: Tried) -> Tried:
    """Change the sign of a tried value."""
    return replace(point, value=-point.value, parts=tuple(map(turned, point.parts)))


@dataclass(frozen=True)
class SearchResult:
    """The result of a search: the answer if there is one, the largest value known to be too small, and the method.

    Of a search for the largest value, `below` is the smallest value known to be too large. For a largest or smallest
    mean, `others` are the values that ran as often to confirm it. `opposed` is the smallest value for the goals that
    need more, if it misses goals that need less: then no value meets all.
    """

    best: Tried | None
    below: Tried | None
    method: str
    others: tuple[Tried, ...] = ()
    opposed: Tried | None = None


def largest(space: Range, attempt: Try, resolution: float, method: Search) -> SearchResult:
    """Find the largest value that meets the goal: the smallest one of the turned range."""
    found = smallest(
        Turned(space),
        lambda values: list(map(turned, attempt([-value for value in values]))),
        resolution,
        method,
    )
    best, below, opposed = (end and turned(end) for end in (found.best, found.below, found.opposed))
    return replace(found, best=best, below=below, opposed=opposed)


def smallest(space: Range, attempt: Try, resolution: float, method: Search) -> SearchResult:
    """Find the smallest value that meets the goal. `method` is auto, bisect or optuna."""
    if method == "optuna":
        return _smallest_by_optuna(space, attempt)
    first = attempt(sorted({space.at(index / (GRID - 1)) for index in range(GRID)}))
    if not is_monotone(first):
        if method == "bisect":
            toward = "shrinks" if isinstance(space, Turned) else "grows"
            why = f" bisect needs a goal that stays met as the value {toward}: use optuna"
            raise QuestionError(Argument("search"), why)
        return _smallest_by_optuna(space, attempt)
    return _bisect(space, attempt, resolution, first)


def is_monotone(tried: Sequence[Tried]) -> bool:
    """Return whether "more is better" may hold: no value surely misses the goal above one that surely meets it.

    Of several goals some may hold below a value instead, as a short delay does while loss needs a large buffer.
    """
    goals = [[point.of(goal) for point in tried] for goal in range(_goals(tried))]
    return all(_is_rising(points) or (len(goals) > 1 and _is_falling(points)) for points in goals)


def _goals(tried: Sequence[Tried]) -> int:
    """Count the goals by which values were judged."""
    return max((len(point.parts) for point in tried), default=0) or 1


def _is_rising(tried: Sequence[Tried]) -> bool:
    """Return whether no value surely misses a goal above one that surely meets it."""
    sure = [point.meets for point in tried if point.sure]
    return sure == sorted(sure)


def _is_falling(tried: Sequence[Tried]) -> bool:
    """Return whether no value surely meets a goal above one that surely misses it."""
    return _is_rising(tried[::-1])


def rising(tried: Sequence[Tried]) -> tuple[int, ...]:
    """List the goals that hold from some value on; the smallest value that meets all of them is the answer, if any."""
    goals = range(_goals(tried))
    return tuple(goal for goal in goals if _is_rising([point.of(goal) for point in tried])) or tuple(goals)


def by_goals(point: Tried, goals: Sequence[int]) -> Tried:
    """Judge a value by some of the goals only."""
    return together([point.of(goal) for goal in goals])


def _bisect(space: Range, attempt: Try, resolution: float, first: Sequence[Tried]) -> SearchResult:
    """Halve the range between the last value that misses the goals that rise and the first that meets them."""
    goals = rising(first)
    last_miss = max((index for index, point in enumerate(first) if not by_goals(point, goals).meets), default=-1)
    if last_miss == len(first) - 1:
        return SearchResult(None, first[-1], "bisect")
    below, best = (first[last_miss] if last_miss >= 0 else None), first[last_miss + 1]
    while below is not None and best.value - below.value > resolution * abs(best.value):
        middle = space.between(below.value, best.value)
        if not below.value < middle < best.value:
            break
        (point,) = attempt([middle])
        below, best = (below, point) if by_goals(point, goals).meets else (point, best)
    return SearchResult(best, below, "bisect") if best.meets else SearchResult(None, below, "bisect", opposed=best)


def _optuna() -> Any:
    optuna = need("optuna", "this search")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _explore(space: Range, attempt: Try, loss: Callable[[Tried], float]) -> list[Tried]:
    """Try values that Optuna (TPE, with a fixed seed) chooses, one after the other."""
    optuna = _optuna()
    study = optuna.create_study(direction="minimize", sampler=optuna.samplers.TPESampler(seed=1))
    places = optuna.distributions.FloatDistribution(0.0, 1.0)
    for place in (0.0, 0.25, 0.5, 0.75, 1.0):
        study.enqueue_trial({"place": place})
    tried: dict[float, Tried] = {}
    for _ in range(TRIALS):
        trial = study.ask({"place": places})
        value = space.at(trial.params["place"])
        if value not in tried:
            (tried[value],) = attempt([value])
        study.tell(trial, loss(tried[value]))
    return sorted(tried.values(), key=lambda point: point.value)


def _smallest_by_optuna(space: Range, attempt: Try) -> SearchResult:
    def loss(point: Tried) -> float:
        place = (point.value - space.low) / (space.high - space.low)
        return place if point.meets else 2 - place

    tried = _explore(space, attempt, loss)
    best = next((point for point in tried if point.meets), None)
    missed = [point for point in tried if not point.meets and (best is None or point.value < best.value)]
    return SearchResult(best, missed[-1] if missed else None, "optuna")


def best(space: Range, attempt: Try, confirm: Try, sign: int) -> SearchResult:
    """Find the value with the largest (sign 1) or smallest (-1) mean; the three best run again, more often."""

    def loss(point: Tried) -> float:
        return -sign * point.mean["mean"] if point.mean else math.inf

    leaders = sorted(_explore(space, attempt, loss), key=loss)[:CONFIRMED]
    first, *others = sorted(confirm([point.value for point in leaders]), key=loss)
    return SearchResult(first, None, "optuna", tuple(others))


def between(tried: Iterable[Tried]) -> tuple[float | None, float | None]:
    """Bracket the answer by sure values.

    The ends are the largest value that misses the goal below all that meet it, and the smallest that meets it above all
    that miss it.
    """
    points = list(tried)
    goals = rising(sorted(points, key=lambda point: point.value))
    sure = [point for point in (by_goals(point, goals) for point in points) if point.sure]
    met, missed = ([point.value for point in sure if point.meets == meets] for meets in (True, False))
    low = max((value for value in missed if value < min(met, default=math.inf)), default=None)
    return low, min((value for value in met if value > max(missed, default=-math.inf)), default=None)
