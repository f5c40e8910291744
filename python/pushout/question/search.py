"""How to look for a value: by halving where more is better, by Optuna where nobody knows."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pushout.errors import Argument, QuestionError
from pushout.extras import need
from pushout.literals import Search
from pushout.question.goal import Tried
from pushout.question.space import Space

GRID = 5
"""Values that are tried first, together: they show whether the goal is monotone."""
TRIALS = 30
"""Values that Optuna tries."""
CONFIRMED = 3
"""The best of these, which are run again when the best one is wanted."""

Try = Callable[[Sequence[float]], list[Tried]]
"""Have values tried, all at once."""


@dataclass(frozen=True)
class Found:
    """What a search ended with: the answer if there is one, the largest value known to be too small, and the way.

    Of the largest or smallest mean there are also the `others` that were run as often to confirm it.
    """

    best: Tried | None
    below: Tried | None
    method: str
    others: tuple[Tried, ...] = ()


def smallest(space: Space, attempt: Try, resolution: float, method: Search) -> Found:
    """The smallest value that meets the goal. `method` is auto, bisect or optuna."""
    if method == "optuna":
        return _smallest_by_optuna(space, attempt)
    first = attempt(sorted({space.at(index / (GRID - 1)) for index in range(GRID)}))
    if not is_monotone(first):
        if method == "bisect":
            why = "the goal is met, missed and met again as the value grows: use "
            raise QuestionError(why, Argument("search"), " optuna")
        return _smallest_by_optuna(space, attempt)
    return _bisect(space, attempt, resolution, first)


def is_monotone(tried: Sequence[Tried]) -> bool:
    """Whether nothing speaks against "more is better": no value surely misses above one that surely meets the goal."""
    sure = [point.meets for point in tried if point.sure]
    return sure == sorted(sure)


def _bisect(space: Space, attempt: Try, resolution: float, first: Sequence[Tried]) -> Found:
    """Halve the interval between the last value that misses the goal and the first that meets it."""
    last_miss = max((index for index, point in enumerate(first) if not point.meets), default=-1)
    if last_miss == len(first) - 1:
        return Found(None, first[-1], "bisect")
    below, best = (first[last_miss] if last_miss >= 0 else None), first[last_miss + 1]
    while below is not None and best.value - below.value > resolution * best.value:
        middle = space.between(below.value, best.value)
        if not below.value < middle < best.value:
            break
        (point,) = attempt([middle])
        below, best = (below, point) if point.meets else (point, best)
    return Found(best, below, "bisect")


def _optuna() -> Any:
    optuna = need("optuna", "this search")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _explore(space: Space, attempt: Try, loss: Callable[[Tried], float]) -> list[Tried]:
    """Let Optuna (TPE, with a fixed seed) choose values one after the other."""
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


def _smallest_by_optuna(space: Space, attempt: Try) -> Found:
    def loss(point: Tried) -> float:
        place = (point.value - space.low) / (space.high - space.low)
        return place if point.meets else 2 - place

    tried = _explore(space, attempt, loss)
    best = next((point for point in tried if point.meets), None)
    missed = [point for point in tried if not point.meets and (best is None or point.value < best.value)]
    return Found(best, missed[-1] if missed else None, "optuna")


def best(space: Space, attempt: Try, confirm: Try, sign: int) -> Found:
    """The value with the largest (sign 1) or smallest (-1) mean; the three best are run again, more often."""

    def loss(point: Tried) -> float:
        return -sign * point.mean["mean"] if point.mean else math.inf

    leaders = sorted(_explore(space, attempt, loss), key=loss)[:CONFIRMED]
    first, *others = sorted(confirm([point.value for point in leaders]), key=loss)
    return Found(first, None, "optuna", tuple(others))


def between(tried: Iterable[Tried]) -> tuple[float | None, float | None]:
    """Between which values what is needed lies, as far as sure ones say.

    The largest that misses the goal below all that meet it, and the smallest that meets it above all that miss it.
    """
    sure = [point for point in tried if point.sure]
    met, missed = ([point.value for point in sure if point.meets == meets] for meets in (True, False))
    low = max((value for value in missed if value < min(met, default=math.inf)), default=None)
    return low, min((value for value in met if value > max(missed, default=-math.inf)), default=None)
