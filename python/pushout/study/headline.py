"""Sentences about settings: those that differ from print, results that need them, the prediction of a fit."""

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pushout import _core
from pushout.study.model import Study
from pushout.study.outcome import Judgement, Outcome, Weighing, score


def written() -> str:
    """The version that wrote the page, when, and on which kind of machine."""
    now = datetime.now(UTC)
    return f"Pushout {_core.VERSION}, {now.day} {now:%B %Y}, {platform.system()} on {platform.machine()}"


def listed_figure(outcome: Outcome) -> int | None:
    """The place of the figure that the list of studies shows."""
    titles = [plot.title for plot in outcome.study.plots]
    return titles.index(outcome.study.listed_figure) if outcome.study.listed_figure else None


ERAS = {"0": "As printed in 1995–1999", "10": "As printed since", "11": "New questions"}
"""The headings of the list of studies, by how the ids under them begin; the last that fits counts."""


def era(study: str) -> str:
    """The heading under which a study is listed, by its id."""
    fitting = [title for begin, title in ERAS.items() if study.startswith(begin)]
    return fitting[-1] if fitting else ""


def by_era(outcomes: Sequence[Outcome]) -> list[tuple[str, list[Outcome]]]:
    """The studies under their headings; a heading that stands alone is left out."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(era(outcome.study.id), []).append(outcome)
    return list(groups.items()) if len(groups) > 1 else [("", list(outcomes))]


def overridden(study: Study) -> set[str]:
    """The assumptions whose value departs from print."""
    return {override.assumption.name for override in study.overrides}


def needing(outcome: Outcome) -> str:
    """Return the results that need the values taken instead of the printed ones."""
    if outcome.printed is None:
        return ""
    own, printed = score([outcome]), score([outcome.printed])
    said = (
        f"With all of these as printed {printed['independent_within_5pct']} of {printed['independent']} independent "
        f"numbers are within 5 %, instead of {own['independent_within_5pct']}, and {printed['sentences_held']} of "
        f"{printed['sentences']} sentences hold, instead of {own['sentences_held']}."
    )
    taken = [*outcome.judgements, *outcome.remarks]
    other = [*outcome.printed.judgements, *outcome.printed.remarks]
    return said + _changed("Only as taken", taken, other) + _changed("Only as printed", other, taken)


def skill(own: Mapping[str, Any], beside: str = "") -> str:
    """Write the skill of a score, or why it is undefined; `beside` is "_with_constants" for the second null model."""
    found = own[f"skill{beside}"]
    if found is not None:
        return f"{found:.2f}".replace("-", "−")
    return f"a calculation reaches all {own['independent']}" if own["independent"] else "no independent number"


def chosen(study: Study) -> list[str]:
    """Write the constants of the second null model, each with the table for which it stands."""
    return [
        f"{each.name} = {each.value:.4g}{f', {each.table}' if each.table else ''}: {each.adds} more"
        for each in study.constants
    ]


def _changed(when: str, some: list[Judgement], others: list[Judgement]) -> str:
    """The sentences that hold in one case and not in the other."""
    pairs = zip(some, others, strict=True)
    names = [f"`{one.claim.id}`" for one, other in pairs if one.holds and not other.holds]
    return f" {when} hold: {', '.join(names)}." if names else ""


def predicted(weighing: Weighing) -> str:
    """Return what the best-fitting value reaches on the other numbers."""
    found = weighing.prediction
    if found is None:
        return ""
    said = (
        f"Fitted on {weighing.sensitivity.fitted_on} alone, “{found.chosen}” comes closest (mean difference "
        f"{100 * found.fitted:.1f} %). It predicts {weighing.sensitivity.predicts} with {100 * found.predicted:.1f} % "
        f"({found.predicted_within_5pct} of {found.predicted_numbers} independent numbers within 5 %)"
    )
    if found.best == found.chosen:
        return f"{said}, and no other value does better."
    return f"{said}; the best value there, “{found.best}”, has {100 * found.best_predicted:.1f} %."
