"""Studies that were run: the score of each, what differs from print and why, or every number and every claim."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from pushout.cli.show.columns import Column, describe
from pushout.study.chapter import Reproduction
from pushout.study.outcome import Judgement, Outcome, total
from pushout.study.prose import first_sentence
from pushout.study.tables import SIGNS, by_source, row

NUMBERS = [
    Column("number", right=False),
    *(Column(title, whole=True) for title in ("printed", "measured", "difference")),
    Column("verdict", right=False),
]
"""What is said of a number of a study."""

SCORE = [
    Column("study", right=False),
    *(Column(title, whole=True) for title in ("within 5 %", "within 10 %", "claims", "remarks")),
]
"""How a study comes out: numbers near print, and claims and remarks that hold."""


def reproduction(
    done: Reproduction, page: str, others: Sequence[str], console: Console, *, details: bool = False
) -> None:
    """What of each study differs from print, or in detail all of it; the score; where the report is and what it has."""
    for index, outcome in enumerate(done.outcomes):
        if index:
            console.print()
        _numbers(outcome, console, details)
        for judgement in (*outcome.judgements, *outcome.remarks) if details else outcome.judgements:
            if details or not judgement.holds:
                _judged(judgement, console, details)
    console.print()
    describe(console, SCORE, list(_score(done.outcomes)), title="Measured beside print")
    console.print(
        f"Report: {page}"
        + (f", which also has what was kept of {', '.join(others)}" if others else "")
        + ("" if details else "\nEvery number, claim and remark is there, or here with --details."),
        soft_wrap=True,
    )


def _numbers(outcome: Outcome, console: Console, details: bool) -> None:
    """Numbers beside print: those that are not within their tolerance, or all."""
    rows: list[list[str | Text]] = []
    shown = [each for each in outcome.findings if details or each.verdict != "within"]
    for source, findings in by_source(shown):
        rows.append([Text(source, style="dim")])
        for line in map(row, findings):
            verdict = f"{line.sign} {line.verdict}" + (f", {line.among}" if line.among else "")
            rows.append([f"  {line.what}", line.printed, line.measured, line.difference, verdict])
    within = len(outcome.findings) - sum(each.verdict != "within" for each in outcome.findings)
    title = f"{outcome.study.title}: {within} of {len(outcome.findings)} numbers within their tolerance"
    if rows:
        describe(console, NUMBERS, rows, title=title)
    else:
        console.print(Text(title, style="italic"))


def _judged(judgement: Judgement, console: Console, details: bool) -> None:
    """A claim or a remark and its verdict; why one does not hold, in short or with what was compared."""
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
    """A row for each study, and one for several of them together."""
    named = [(f"{each.study.id}: {each.study.title}", [each]) for each in outcomes]
    if len(outcomes) > 1:
        named.append(("together", list(outcomes)))
    for name, some in named:
        own = total(some)
        yield [
            name,
            f"{own['within_5pct']} of {own['numbers']}",
            f"{own['within_10pct']} of {own['numbers']}",
            f"{own['claims_held']} of {own['claims']}",
            f"{own['remarks_held']} of {own['remarks']}",
        ]
