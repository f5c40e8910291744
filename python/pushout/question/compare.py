"""Compare policies under the same traffic.

Every policy runs with the same seeds. The random streams of a run belong to its components, so sources draw the same
numbers under every policy (common random numbers), and differences are taken seed by seed: variation between seeds
cancels as far as runs of one seed stay alike, which those of TCP do not for long. A. M. Law, "Simulation Modeling and
Analysis", sections 10.2 and 11.2.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any

from pushout import _core, trust
from pushout.answer.frame import Framed, labelled
from pushout.document import Document
from pushout.errors import Argument, FigureError, QuestionError, ScenarioError
from pushout.names.figures import column_of
from pushout.names.place import Place
from pushout.names.port import Choice, Port, policy_refused
from pushout.quantity import seconds
from pushout.question import sweep
from pushout.question.books import POINTS, Books
from pushout.question.books import RARE as RARE_AT_PLACE
from pushout.question.design import Design
from pushout.question.factor import Level
from pushout.question.replications import DRAWS, Fixed
from pushout.question.session import Session
from pushout.question.subject import Subject
from pushout.stats import Interval, interval
from pushout.warning import HasWarnings

if TYPE_CHECKING:
    from pushout.question.forest import Forest

FIGURES: dict[str, str] = {
    "transfer_time_mean_s": "mean transfer time (s)",
    "transfer_time_p99_s": "99th percentile of the transfer time (s)",
    "transfers_unfinished": "files unfinished at the end",
    "packet_throughput": "packet throughput",
    "goodput_ratio": "goodput ÷ ideal",
    "fairness_jain": "fairness (Jain)",
    "fairness_mean_deviation": "fairness φ (mean deviation)",
    "retransmission_ratio": "retransmitted ÷ sent",
    "delivery_time_p99_s": "99th percentile of the delivery time (s)",
    "loss_ratio": "units lost ÷ units in",
    "lossless_drop": "packets lost of lossless classes",
    "dropped": "packets lost",
    "occupancy_mean": "mean occupancy ({measure})",
    "occupancy_max": "largest occupancy ({measure})",
    "delay_s": "mean delay in the port (s)",
}
"""The figures compared, as far as the scenario has them."""

AT_PLACE = ("loss_ratio", "lossless_drop", "dropped", "occupancy_mean", "occupancy_max", "delay_s")
"""The figures of a place."""

RARE = ("retransmission_ratio", "transfers_unfinished", *RARE_AT_PLACE)
"""Figures that may be almost 0, so that their intervals are wide relative to the mean but still useful."""

BESIDE_ROWS_IN, OCCUPANCY_IN = 1.2, 3.2
"""Height of a forest besides its rows, and of the occupancy over time (inches)."""

UP = ("transfer_time_p99_s", "packet_throughput", "goodput_ratio")
ACROSS = ("fairness_jain", "delay_s", "loss_ratio")
"""Figures to draw: of `UP` the first on which the policies differ, and the first two such of `ACROSS`."""

PANELS = 3
"""Figures that are drawn beside each other."""

ALIKE = 1e-3
"""Means that differ by no more than this share look equal in a plot."""


@dataclass(frozen=True)
class Policy:
    """A compared policy: its runs in order of their seeds, figure by figure, and the occupancy over time."""

    choice: Choice
    runs: Mapping[str, Sequence[float | None]] = field(repr=False)
    occupancy: Sequence[Sequence[float]] = field(repr=False)
    point: int = 0
    """Its index among the policies."""
    draws: bool = True
    """Whether its runs draw random numbers. If not, its only run stands for all seeds."""

    def __getitem__(self, figure: str) -> Interval | None:
        """Average a figure over the seeds: `found["codel"]["delay_mean_s"]`; `None` where nothing was measured."""
        if _row_of(figure) not in self.runs:
            raise FigureError(figure, _core.unknown("figure", figure, list(self.runs)))
        return self.mean(figure)

    def mean(self, figure: str) -> Interval | None:
        """Average a figure."""
        known = [value for value in self.runs[_row_of(figure)] if value is not None]
        return interval(known) if known else None

    def minus(self, other: "Policy", figure: str) -> Interval | None:
        """Average the differences from another policy, seed by seed."""
        figure = _row_of(figure)
        pairs = _paired(self.runs[figure], other.runs[figure])
        known = [own - others for own, others in pairs if own is not None and others is not None]
        return interval(known) if known else None


@dataclass(frozen=True, eq=False, repr=False)
class CompareResult(HasWarnings, Framed):
    """The result of a comparison: `policies`, of which the first is the baseline; `found["codel"]` is one of them."""

    document: Document
    """As printed by `pushout compare --json`."""
    places: tuple[Place, ...]
    policies: list[Policy]
    start_s: float
    step_s: float
    asked: tuple[str, ...] = ()
    """The further figures to compare."""

    def __getitem__(self, label: str) -> Policy:
        """Find a policy by its label: `found["codel"]`; `found["codel"]["delay_mean_s"]` is one of its figures."""
        return labelled(label, {policy.choice.label: policy for policy in self.policies})

    __iter__ = None
    """Raise `TypeError`: `policies` is the sequence."""

    def _brief(self) -> str:
        labels = ", ".join(policy.choice.label for policy in self.policies)
        return f"{self.document['scenario']}: {labels}; {self.document['reps']} seeds, {super()._brief()}"

    @property
    def place(self) -> Place:
        """The place whose occupancy, losses and delay are compared: the first that has the policies."""
        return self.places[0]

    @property
    def port(self) -> Port | None:
        """The port whose figures are compared, if it is a single one."""
        return self.place.port

    @property
    def ports(self) -> tuple[Port, ...]:
        """The ports at all places that have the policies."""
        return _ports(self.places)

    def figures(self) -> list[str]:
        """List the figures asked for, and then those measured under any policy."""
        usual = [name for name in FIGURES if any(policy.mean(name) for policy in self.policies)]
        return list(dict.fromkeys((*self.asked, *usual)))

    def _drawn(self, names: Sequence[str], count: int) -> list[str]:
        """Choose the figures to draw: first those on which the policies differ."""
        known = [name for name in names if all(policy.mean(name) for policy in self.policies)]
        return sorted(known, key=self._are_alike)[:count]

    def _are_alike(self, name: str) -> bool:
        means = [mean["mean"] for policy in self.policies if (mean := policy.mean(name))]
        return max(means) - min(means) <= ALIKE * max(map(abs, means))

    def plot(self) -> Any:
        """Draw the differences from the first policy with their intervals, sorted, and the occupancy over time.

        The title states the clear differences. A hollow mark is a difference that the runs leave open.
        """
        from pushout.answer import drawing
        from pushout.question import forest

        looks = drawing.looks(len(self.policies))
        forests = self._forests(looks)
        rows = forest.ROW_IN * (len(self.policies) - 1) + BESIDE_ROWS_IN
        heights = (rows, OCCUPANCY_IN) if forests else (0.01, OCCUPANCY_IN)
        with drawing.paper(max(1, len(forests)), 2, height_ratios=heights) as (figure, grid):
            figure.set_size_inches(2 * drawing.WIDTH_IN, sum(heights))
            for axes, each in zip(grid[0], forests, strict=False):
                forest.panel(axes, each, forest.order(forests), named=each is forests[0])
            for axes in grid[0][len(forests) :]:
                axes.remove()
            below = figure.add_subplot(grid[1][0].get_gridspec()[1, :])
            for axes in grid[1]:
                axes.remove()
            drawn = self._draw_occupancy(below, looks)
            labels = [policy.choice.shown for policy in self.policies]
            names = drawing.named_alike(labels, [(policy.runs, policy.occupancy) for policy in self.policies])
            drawing.key(figure, names, looks, drawn)
            drawing.headed(figure, *([forest.message(forests)] if forests else []), self.title)
        return figure

    def _forests(self, looks: Sequence[Mapping[str, Any]]) -> list["Forest"]:
        """Return the differences to draw: of the figures asked for, the first of `UP` and the first two of `ACROSS`."""
        from pushout.question.forest import Effect, Forest

        first, *others = self.policies
        found = []
        asked = [name for name in self.asked if name in self._drawn(self.asked, len(self.asked))]
        names = dict.fromkeys((*asked, *self._drawn(UP, 1), *self._drawn(ACROSS, 2)))
        for name in list(names)[:PANELS]:
            minus = [(policy, look, policy.minus(first, name)) for policy, look in zip(others, looks[1:], strict=True)]
            effects = [
                Effect(policy.choice.shown, value, look, not (policy.draws or first.draws))
                for policy, look, value in minus
                if value
            ]
            if effects and (mean := first.mean(name)):
                found.append(Forest(self._label(name), first.choice.shown, mean["mean"], effects))
        return found

    @property
    def title(self) -> str:
        """Return the compared quantities in words."""
        return str(self.document.get("title") or self.document["scenario"])

    def _draw_occupancy(self, axes: Any, looks: Sequence[Mapping[str, Any]]) -> str:
        """Draw the occupancies over time; return the form of their intervals, empty if there are none."""
        from pushout.answer import drawing

        room, drawn = self.place.room, ""
        if not self.place.measure:
            axes.remove()
            return drawn
        width = _width(self.policies)
        for index, (policy, look) in enumerate(zip(self.policies, looks, strict=True)):
            columns = zip(*(_folded(samples, width) for samples in policy.occupancy), strict=True)
            means = [drawing.capped(interval(column), room) for column in columns]
            middle = self.start_s + (width - 1) / 2 * self.step_s
            times = [middle + index * width * self.step_s for index in range(len(means))]
            drawn = drawing.band(axes, times, means, look, policy.choice.shown, place=(index, len(self.policies)))
            axes.set_xlim(self.start_s, max(times))
        drawing.frame(axes, "time (s)", f"occupancy{self._whose} ({self.place.measure})", grid="y")
        axes.set_ylim(bottom=0)
        return drawn if any(policy.draws for policy in self.policies) else ""

    @property
    def _whose(self) -> str:
        """Name the place, unless it is the only one and a single port."""
        return "" if len(self.places) == 1 and self.place.port else f" at {self.place.name}"

    def _label(self, name: str) -> str:
        """Label an axis with a figure; unless one port has the policies, name the place."""
        from pushout.answer import drawing

        text = drawing.label(name)
        if not self._whose or name not in AT_PLACE:
            return text
        what, bracket, unit = text.partition(" (")
        return f"{what.removesuffix(' in the port')}{self._whose}{bracket}{unit}"


@dataclass(frozen=True)
class Comparison(Subject):
    """A comparison that has been read."""

    places: tuple[Place, ...]
    """The places that get the policies; figures are those of the first."""
    reps: int
    figures: tuple[str, ...]
    """Paths of further figures."""

    @property
    def ports(self) -> tuple[Port, ...]:
        """The ports at all places."""
        return _ports(self.places)

    @property
    def books(self) -> Books:
        """The figures of the first place."""
        return Books.of(self.places[0], self.explained)

    @cached_property
    def design(self) -> Design:
        """The planned runs: every policy with the same seeds."""
        return _planned(self)

    def __call__(self, session: Session) -> CompareResult:
        """Make it."""
        return _compared(self, session)


def _planned(asked: Comparison) -> Design:
    choices, explained, figures = asked.choices, asked.explained, asked.figures
    if len(choices) < 2:
        raise QuestionError("a comparison needs two policies or more, as in ", Argument("policies"), " tail-drop,epd")
    if many := [path for path in figures if "*" in path]:
        raise QuestionError(Argument("figures"), f" {many[0]}: the path must name a single figure, not many")
    watched = [*asked.sets, *asked.books.watch(explained)]
    points = tuple(Level({"policy": choice.label}, (*watched, *choice.sets)) for choice in choices)
    measured = tuple(dict.fromkeys((*asked.books.paths(), DRAWS, *figures)))
    name, reps = f"{explained['name']}-compare", Fixed(asked.reps)
    return Design(
        name, "", "", asked.source, points, reps, asked.seed, None, asked.engine, measured, once_without_chance=True
    )


@contextmanager
def policies_named(design: Design, choices: Sequence[Choice]) -> Iterator[None]:
    """Report errors in the overrides of a policy as errors of the policy that the user named."""
    try:
        yield
    except ScenarioError as error:
        if error.point is None:
            raise
        sets, choice = design.points[error.point].sets, choices[error.point]
        if error.set is None and choice.sets and error.figure is None:  # a key of the file that contradicts the policy
            raise ScenarioError(error, f"\nThis error occurs with the policy {choice.label}.") from None
        if error.set is None or error.set < len(sets) - len(choice.sets):
            raise
        raise policy_refused(error, choice, sets[error.set]) from None


def _compared(asked: Comparison, session: Session) -> CompareResult:
    """Execute the planned runs and evaluate them for every policy."""
    explained = asked.explained
    head = {**_where(asked.places), "policies": asked.listed(), "set": list(asked.sets)}
    with policies_named(asked.design, asked.choices):
        found = sweep.sweep(asked.design, session, head={"kind": "compare", **head})
    further = tuple(dict.fromkeys(map(_row_of, asked.figures)))
    for name in further:
        if found.is_list(name):
            raise QuestionError(Argument("figures"), f" {name}: the path must name a single figure, not a list")
    policies = [_policy(found, index, asked, further) for index in range(len(asked.choices))]
    result = CompareResult(found.columns, {}, asked.places, policies, *asked.books.clock(found.columns), further)
    doubted = trust.warnings((policy.choice.label, _doubts(found, policy, explained)) for policy in policies)
    result.document.update({**_document(result, found, explained), "warnings": [*asked.warnings, *doubted]})
    if session.out:
        session.out.text("compare.json", json.dumps(result.document, indent=2, ensure_ascii=False) + "\n")
        session.out.figure("compare", result.plot())
    return result


def _row_of(path: str) -> str:
    """Return the name of a figure; one of the whole run keeps its prefix where a place has a figure of this name."""
    column = column_of(path)
    return path if column in AT_PLACE else column


def _doubts(found: sweep.SweepResult, policy: Policy, explained: Document) -> list[trust.Doubt]:
    """List the doubts about the runs of a policy."""
    rows = found.of_point(policy.point)

    def runs(name: str) -> Sequence[float | None]:
        return policy.runs[name] if name in policy.runs else rows.plain(name) if name in rows else [None] * rows.rows

    return trust.doubts(
        runs, [name for name in policy.runs if name.rpartition(".")[2] not in RARE], seconds(explained["warmup"])
    )


def _ports(places: Sequence[Place]) -> tuple[Port, ...]:
    return tuple(port for place in places for port in place.ports)


def _where(places: Sequence[Place]) -> Document:
    """Write the places that have the policies."""
    first, names = places[0].port, [port.name for port in _ports(places)]
    return {"at": [place.name for place in places], "port": first and first.name, "ports": names}


def _paired(own: Sequence[float | None], others: Sequence[float | None]) -> Iterator[tuple[float | None, float | None]]:
    """Pair the runs of two policies seed by seed; the only run of a policy that draws nothing stands for all seeds."""
    count = max(len(own), len(others))
    return zip(*(runs if len(runs) == count else [*runs] * count for runs in (own, others)), strict=True)


def _width(policies: Sequence[Policy]) -> int:
    """Return how many samples of an occupancy are averaged for each drawn point."""
    return max(1, min(len(samples) for policy in policies for samples in policy.occupancy) // POINTS)


def _folded(samples: Sequence[float], width: int) -> list[float]:
    """Average `width` samples at a time; a remainder at the end is not drawn."""
    whole = len(samples) - len(samples) % width
    return [fmean(samples[first : first + width]) for first in range(0, whole, width)]


def _policy(found: sweep.SweepResult, point: int, asked: Comparison, further: Sequence[str]) -> Policy:
    """Collect the figures of a policy."""
    rows, explained = found.of_point(point), asked.explained
    measured = seconds(explained["duration"]) - seconds(explained["warmup"])
    absent = [None] * rows.rows
    columns = {name: column_of(name) for name in (*FIGURES, *further)}
    of_flows = {name: rows.plain(column) if column in rows else absent for name, column in columns.items()}
    runs = {**of_flows, **asked.books.figures(rows, measured)}
    return Policy(asked.choices[point], runs, asked.books.occupancy(rows), point, any(rows.plain(DRAWS)))


def _document(result: CompareResult, found: sweep.SweepResult, explained: Document) -> Document:
    baseline = result.policies[0]
    manifest = found.manifest
    entries = []
    for policy in result.policies:
        entry: Document = {"label": policy.choice.label, "sets": list(policy.choice.sets), "draws": policy.draws}
        entry["figures"] = {name: policy.mean(name) for name in result.figures()}
        if policy is not baseline:
            entry["difference"] = {name: policy.minus(baseline, name) for name in result.figures()}
        entries.append(entry)
    rest = {key: manifest[key] for key in ("runs", "computed", "engine", "wall_s")}
    asked = {"set": manifest["set"], "seed": manifest["seed"], "reps": manifest["reps"]["reps"]}
    asked["figures"] = list(result.asked)
    head = {
        "scenario": explained["name"],
        "title": explained.get("title", ""),
        **_where(result.places),
        "baseline": baseline.choice.label,
        **asked,
    }
    return {**head, "policies": entries, **rest}
