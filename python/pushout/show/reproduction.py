"""Print studies: their scores, and the differences from print with reasons, or every number and every claim."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from pushout.show.columns import Column, describe
from pushout.study.chapter import Reproduction
from pushout.study.headline import skill
from pushout.study.outcome import Judgement, Outcome, total
from pushout.study.prose import first_sentence
from pushout.study.tables import SIGNS, by_source, row

NUMBERS = [
    Column("number", right=False),
    *(Column(title, whole=True) for title in ("printed", "measured", "difference")),
    Column("verdict", right=False),
]
"""The columns for a number of a study."""

SCORE = [
    Column("study", right=False),
    *(Column(title, whole=True) for title in ("numbers", "null", "skill", "sentences", "as printed", "fitted")),
]
"""The columns of the score: independent numbers near print, those that the null models reach without and with
constants, the skill beside either, sentences that hold, numbers and sentences as printed, fitted choices."""


def reproduction(
    done: Reproduction, page: str, others: Sequence[str], console: Console, *, details: bool = False
) -> None:
    """Print the differences from print, or with `details` everything; then the score and the path of the report."""
    for index, outcome in enumerate(done.outcomes):
        if index:
            console.print()
        _numbers(outcome, console, details)
        for judgement in (*outcome.judgements, *outcome.remarks) if details else outcome.judgements:
            if details or not judgement.holds:
                _judged(judgement, console, details)
    console.print()
    describe(console, SCORE, list(_score(done.outcomes)), title="Measured compared with print")
    console.print(
        f"Report: {page}"
        + (f", which also contains the earlier results of {', '.join(others)}" if others else "")
        + ("" if details else "\nThe report has every number, claim and remark; --details prints them here."),
        soft_wrap=True,
    )


def _numbers(outcome: Outcome, console: Console, details: bool) -> None:
    """Print the numbers outside their tolerance, or all."""
    rows: list[list[str | Text]] = []
    shown = [each for each in outcome.findings if details or each.verdict != "within"]
    for source, findings in by_source(shown):
        rows.append([Text(source, style="dim")])
        for line in map(row, findings):
            verdict = f"{line.sign} {line.verdict}" + (f", {line.among}" if line.among else "")
            printed = line.printed + ("" if line.origin == "printed" else f" ({line.origin})")
            rows.append([f"  {line.what}", printed, line.measured, line.difference, verdict])
    within = len(outcome.findings) - sum(each.verdict != "within" for each in outcome.findings)
    title = f"{outcome.study.title}: {within} of {len(outcome.findings)} numbers within their tolerance"
    if rows:
        describe(console, NUMBERS, rows, title=title)
    else:
        console.print(Text(title, style="italic"))


def _judged(judgement: Judgement, console: Console, details: bool) -> None:
    """Print a claim or remark with its verdict and, if it does not hold, the reason; with `details` the evidence."""
    sign = SIGNS["within" if judgement.holds else "differs"]
    console.print(Text(f"{sign} {judgement.claim.text}"))
    below = [first_sentence(judgement.claim.why)] if judgement.claim.why and not judgement.holds else []
    if details:
        below.append(judgement.evidence)
    if judgement.open:
        below.append(f"open: {judgement.redrawn}")
    for text in below:
        console.print(Padding(Text(text, style="dim"), (0, 0, 0, 2)))


def _score(outcomes: Sequence[Outcome]) -> Iterator[list[str | Text]]:
    """Yield a row for each study; one for all that compare with print, if there are several, is below these."""
    compared = [each for each in outcomes if each.study.compares]
    named = [(f"{each.study.id}: {each.study.title}", [each]) for each in compared]
    if len(compared) > 1:
        named.append(("together", compared))
    named += [(f"{each.study.id}: {each.study.title}", [each]) for each in outcomes if not each.study.compares]
    for name, some in named:
        own = total(some)
        printed = own["as_printed"]
        yield [
            name,
            f"{own['independent_within_5pct']} of {own['independent']}",
            f"{own['null']}, {own['null_with_constants']}",
            f"{_skill(own, '')}, {_skill(own, '_with_constants')}",
            f"{own['sentences_held']} of {own['sentences']}",
            f"{printed['independent_within_5pct']}, {printed['sentences_held']}",
            str(own["fitted"]),
        ]


def _skill(own: Mapping[str, Any], beside: str) -> str:
    return "–" if own[f"skill{beside}"] is None else skill(own, beside)
