"""Studies that were run: every number beside print, every claim, the score."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from pushout.cli.show.columns import Column, describe
from pushout.study.chapter import Reproduction
from pushout.study.outcome import total
from pushout.study.tables import SIGNS, by_source, row

NUMBERS = [
    Column("number", right=False),
    *(Column(title, whole=True) for title in ("printed", "measured", "difference")),
    Column("verdict", right=False),
]
"""What is said of a number of a study."""


def reproduction(done: Reproduction, page: str, others: Sequence[str], console: Console) -> None:
    """Every number beside print, every claim, the score, where the report is and which other studies it has."""
    for outcome in done.outcomes:
        rows: list[list[str | Text]] = []
        for source, findings in by_source(outcome.findings):
            rows.append([Text(source, style="dim")])
            for line in map(row, findings):
                verdict = f"{line.sign} {line.verdict}" + (f", {line.among}" if line.among else "")
                rows.append([f"  {line.what}", line.printed, line.measured, line.difference, verdict])
        describe(console, NUMBERS, rows, title=outcome.study.title)
        for judgement in (*outcome.judgements, *outcome.remarks):
            sign = SIGNS["within" if judgement.holds else "differs"]
            doubt = f"; open: {judgement.redrawn}" if judgement.open else ""
            console.print(Text(f"{sign} {judgement.claim.text}\n  {judgement.evidence}{doubt}"))
    counts = total(done.outcomes)
    among = counts["beyond_tolerance_among_runs"]
    beyond = f"{counts['beyond_tolerance']} beyond their tolerance, {among} of them among our runs"
    held, doubt = f"{counts['claims_held']} of {counts['claims']} claims", f"{counts['claims_open']} of the claims"
    if counts["remarks"]:
        held += f" and {counts['remarks_held']} of {counts['remarks']} remarks"
        doubt += f" and {counts['remarks_open']} of the remarks"
    console.print(
        f"\n{counts['within_5pct']} of {counts['numbers']} numbers within 5 %, {counts['within_10pct']} within 10 %; "
        f"{beyond}; {held} hold; open: {doubt}.\nReport: {page}"
        + (f", which also has what was kept of {', '.join(others)}" if others else ""),
        soft_wrap=True,
    )
