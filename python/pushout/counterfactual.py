"""Why was this frame lost? Which earlier decision of the port would have saved it, and which policy."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pushout import _core
from pushout.answer.columns import Columns
from pushout.answer.frame import Tabled
from pushout.document import Document
from pushout.errors import Argument, QuestionError
from pushout.excerpt import quoted
from pushout.names.place import Place, Places
from pushout.names.port import Choice, policy_refused
from pushout.options import Policies, Why
from pushout.quantity import SECONDS, split
from pushout.question.ask import choices_at, named_places, read
from pushout.simulate import Job, check_whole
from pushout.source import Source

MOST_LAST = 100_000
"""The most decisions that can be tried."""

PS_PER_S = 10**12


@dataclass(frozen=True, eq=False, repr=False)
class WhyResult(Tabled):
    """The decisions that would have saved a frame, or those of a run whose refusal saves most."""

    document: Document
    """As printed by `pushout why --json`."""

    def _brief(self) -> str:
        """Say how many decisions were tried, and how many save the frame."""
        if "report" in self.document:
            return f"{self.document['frames']} frames, {len(self.document['report'])} decisions"
        return f"{self.document['decisions']} decisions, of which {len(self.document['saves'])} save the frame"

    @cached_property
    def columns(self) -> Columns:  # type: ignore[override]
        """The decisions as a table: those that save the frame, or those of the report."""
        rows: list[Document] = self.document.get("report") or self.document.get("saves") or []
        names = ["flow", "number", "time_s", "port", *(["saves"] if "report" in self.document else []), "losses"]
        return Columns.of({name: [row[name] for row in rows] for name in names}, {})

    def plot(self) -> Any:
        """Draw the decisions before the frame: those that would have saved it, and the losses of their worlds."""
        from pushout.answer import drawing

        if "report" in self.document:
            raise QuestionError("a report has no figure: ask about one frame (loss=1)")
        with drawing.paper(rows=2, height_ratios=(8, 1)) as (figure, ((axes,), (below,))):
            figure.set_figheight(drawing.HEIGHT_IN)
            _draw(axes, below, self.document)
            drawing.legend(figure, axes)
            lost = self.document["frame"]
            drawing.headed(figure, f"Frame {lost['number']} of {lost['flow']}: what would have saved it")
        return figure


def why(asked: Why) -> WhyResult:
    """Find the decisions that would have saved a frame; `pushout.why` documents the arguments."""
    source, explained, sets = read(asked)
    places = Places(explained, source, sets)
    named = named_places(asked.at, None, places)
    request = {
        "at": [port.name for place in named or () for port in place.ports],
        **_ill(asked.ill),
        **_which(asked),
        "reaction": asked.reaction,
        "last": _counted("last", asked.last, MOST_LAST),
    }
    policies = asked.policies
    rivals = _rivals(policies, named or (places.by_default()[0],), source, sets) if policies else []
    _check_flow(asked.flow, explained)
    job = Job(source, tuple(sets))
    answer = job.scenario.why(asked.seed, json.dumps(request), rivals, asked.progress)
    return WhyResult(json.loads(answer))


def _check_flow(name: str | None, explained: Document) -> None:
    """Refuse a flow that the scenario does not have; names of drawn transfers begin with that of their flow."""
    known = [str(flow["name"]) for flow in explained["flow"]]
    if name is not None and not explained.get("workload") and not any(name.startswith(each) for each in known):
        raise QuestionError(Argument("flow"), f": {_core.unknown('flow', name, known)}")


def _ill(ill: str) -> dict[str, Any]:
    """Parse what happened to the frame: a word, and for late frames a time."""
    word, _, time = ill.partition(":")
    if not time:
        return {"ill": word}
    try:
        number, unit = split(time)
    except QuestionError as error:
        raise QuestionError(Argument("ill"), ": ", error) from None
    if unit not in SECONDS or not number > 0:
        units = ", ".join(SECONDS)
        why = f" must have a time above 0 with a unit ({units}), as in late:5ms, not {quoted(time)}"
        raise QuestionError(Argument("ill"), why)
    most = number * SECONDS[unit]
    return {"ill": word, "late_ps": round(most * PS_PER_S)}


def _which(asked: Why) -> dict[str, Any]:
    """Say which frame is meant; refuse several ways at once."""
    loss, flow, frame, report = asked.loss, asked.flow, asked.frame, asked.report
    if frame is not None and flow is None:
        raise QuestionError(Argument("frame"), " needs a ", Argument("flow"), ", whose frame it is")
    counts = {"loss": loss, "frame": frame, "report": report}
    given = {name: _counted(name, value, 2**32) for name, value in counts.items() if value is not None}
    if len(given) > 1 or (report is not None and flow is not None):
        names = " or ".join(given if flow is None else [*given, "flow"])
        raise QuestionError(f"choose one frame, or a report of the whole run: not {names} together")
    return {**given, **({} if flow is None else {"flow": flow})}


def _counted(name: str, value: int, most: int) -> int:
    check_whole(name, value)
    if not 1 <= value <= most:
        raise QuestionError(Argument(name), f" must be from 1 to {most}, not {value}")
    return int(value)


def _rivals(policies: Policies, where: Sequence[Place], source: Source, sets: Sequence[str]) -> list[tuple[str, Any]]:
    """Check the scenario with each of the policies at the places."""
    return [(choice.label, _with(choice, source, sets)) for choice in choices_at(policies, where)]


def _with(choice: Choice, source: Source, sets: Sequence[str]) -> Any:
    from pushout.errors import ScenarioError

    try:
        return Job(source, (*sets, *choice.sets)).scenario
    except ScenarioError as error:
        override = error.set
        changed = None if override is None or override < len(sets) else choice.sets[override - len(sets)]
        raise (policy_refused(error, choice, changed) if changed else error) from None


def _draw(axes: Any, below: Any, document: Document) -> None:
    """Draw decisions by their time before the ill, and the losses of the worlds in which the frame is saved.

    Those in vain have a strip of their own `below`, because no number of losses belongs to them.
    """
    from pushout.answer import drawing

    end = document["rule"]["time_s"]
    flows = list(dict.fromkeys(each["flow"] for each in (*document["saves"], *document["others"])))
    for name, look in zip(flows, drawing.looks(len(flows)), strict=True):
        saving = [each for each in document["saves"] if each["flow"] == name]
        mark = {"color": look["color"], "marker": look["marker"], "linestyle": "none"}
        axes.plot([_s(each, end) for each in saving], [each["losses"] for each in saving], label=name, ms=4, **mark)
        tried = [_s(each, end) for each in document["others"] if each["flow"] == name]
        below.plot(tried, [0.0] * len(tried), "|", color=look["color"], ms=7)
    name = f"as it was: {document['losses']}"
    axes.axhline(document["losses"], color=drawing.GREY, linewidth=0.8, linestyle=":", label=name)
    if best := document["best"]:
        at = _s(best, end)
        is_late = at > _first(document, end) / 2  # the name stays within the axes
        aside = {"xytext": (-5 if is_late else 5, 0), "ha": "right" if is_late else "left", "va": "center"}
        name = f"frame {best['number']} of {best['flow']}"
        text = {"fontsize": drawing.LETTER_PT, "textcoords": "offset points"}
        axes.annotate(name, (at, best["losses"]), **aside, **text)
    for each in (axes, below):
        each.set_xlim(_first(document, end), 0.0)
    axes.locator_params(axis="y", integer=True)
    drawing.frame(axes, "", "frames lost in the run")
    axes.tick_params(axis="x", labelbottom=False)
    below.set_yticks([0.0], ["in vain"])
    below.tick_params(axis="y", length=0)
    drawing.frame(below, "refused this long before the loss (s)", "", grid="x")
    below.set_yticks([0.0], ["in vain"])


def _first(document: Document, end: float) -> float:
    """Return the beginning of the axis of time: a little before the first decision."""
    return 1.03 * min((_s(each, end) for each in (*document["saves"], *document["others"])), default=-1e-3)


def _s(decision: Document, end: float) -> float:
    return float(decision["time_s"] - end)
