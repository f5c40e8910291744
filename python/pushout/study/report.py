"""The reproduction as one page that needs nothing else: no script, no font, no picture from elsewhere."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushout import _core
from pushout.study.case import Case
from pushout.study.chapter import Chapter, Reproduction
from pushout.study.model import Study
from pushout.study.outcome import Finding, Weighing, score

SIGNS = {"within": "✓", "uncertain": "~", "differs": "✗"}

FULL = 0.6
"""Numbers under one heading make a table of two dimensions if they fill at least this share of it."""


@dataclass(frozen=True)
class Row:
    """A finding in the words of the table."""

    what: str
    printed: str
    measured: str
    doubt: str
    difference: str
    verdict: str
    sign: str
    tolerance: str
    note: str


@dataclass(frozen=True)
class Table:
    """The numbers of one table or section of a paper.

    Without columns each row is one number; with columns `rows` holds a label and a number, or none, per column.
    """

    source: str
    columns: list[str]
    rows: list[tuple[str, list[Row | None]]]

    @property
    def notes(self) -> list[str]:
        """What is to be said about its numbers, each once."""
        return list(dict.fromkeys(row.note for _, cells in self.rows for row in cells if row and row.note))


def row(finding: Finding) -> Row:
    """Write a finding with as many digits as the printed value deserves."""
    number, measured = finding.number, finding.measured
    digits = 4 if abs(number.published) < 10 else 0 if abs(number.published) >= 1000 else 2
    printed = f"{number.published:.3f}" if digits == 4 else f"{number.published:g}"
    half = (measured["ci95"][1] - measured["mean"]) if measured["ci95"] else None
    relative = number.tolerance.kind == "relative" and finding.relative_error is not None
    allowed = f"± {number.tolerance.size:.3g}" if not relative else f"± {100 * number.tolerance.size:.3g} %"
    return Row(
        what=f"{number.label}: {number.text}" + (f" ({number.unit})" if number.unit else ""),
        printed=printed,
        measured=f"{measured['mean']:.{digits}f}",
        doubt="" if half is None else f"± {half:.{digits}f}",
        difference=f"{100 * (finding.relative_error or 0):+.1f} %" if relative else f"{finding.difference:+.{digits}f}",
        verdict=finding.verdict,
        sign=SIGNS[finding.verdict],
        tolerance=allowed,
        note=number.note,
    )


def command(case: Case, reps: int) -> str:
    """The command line that runs a case again."""
    sets = [part for change in case.sets for part in ("--set", change)]
    return shlex.join(["pushout", "run", _near(case.scenario), *sets, "--reps", str(reps)])


def serves(study: Study, case: Case) -> list[str]:
    """The numbers that a case is run for."""
    return [number.id for number in study.numbers if any(used == case.id for _, used in number.measure.uses)]


def _near(path: Path) -> str:
    """A path as one would type it here: relative if it lies below the current folder."""
    real = path.resolve()
    return os.path.relpath(real) if real.is_relative_to(Path.cwd()) else str(real)


def files(chapter: Chapter) -> Iterator[tuple[Path, str]]:
    """Every plot as a file of its own, for a lecture: `figures/STUDY/PLOT.svg`."""
    study = chapter.outcome.study
    for index, (plot, drawing) in enumerate(zip(study.plots, chapter.plots, strict=True), start=1):
        name = re.sub(r"\W+", "-", (plot.source or plot.title).lower()).strip("-")
        yield Path("figures") / study.id / f"{index:02}-{name}.svg", drawing.alone()


def tables(findings: Iterable[Finding]) -> list[Table]:
    """The numbers under the table or section of the paper that they come from."""
    return [_table(source, group) for source, group in by_source(findings)]


def by_source(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    """Numbers of one source together, in the order in which the sources first appear."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.number.source, []).append(finding)
    return list(groups.items())


def _table(source: str, findings: Sequence[Finding]) -> Table:
    labels = list(dict.fromkeys(finding.number.label for finding in findings))
    columns = list(dict.fromkeys(finding.number.text for finding in findings))
    places = {(finding.number.label, finding.number.text): row(finding) for finding in findings}
    grid = len(labels) > 1 < len(columns) and FULL * len(labels) * len(columns) <= len(places) == len(findings)
    if not grid:
        rows = [row(finding) for finding in findings]
        return Table(source, [], [(each.what, [each]) for each in rows])
    units = {finding.number.text: finding.number.unit for finding in findings}
    named = [f"{column} ({units[column]})" if units[column] else column for column in columns]
    return Table(source, named, [(label, [places.get((label, column)) for column in columns]) for label in labels])


def verdict(weighing: Weighing) -> str:
    """What a comparison of explanations comes to, in a sentence."""
    words = []
    for variant in weighing.variants:
        if variant.mean_error is not None:
            own = score([variant])
            near = f"{own['within_5pct']} of {own['numbers']} numbers within 5 %"
            words.append(f"{variant.value}: {near}, mean difference {100 * variant.mean_error:.1f} %")
    return f"The printed numbers support “{weighing.supported}” ({'; '.join(words)})."


def markdown(reproduction: Reproduction) -> str:
    """The score of each study, as a table for other pages."""
    head = "| study | numbers within 5 % | within 10 % | claims that hold |\n|---|---|---|---|\n"
    named = [(f"{each.study.id}: {each.study.title}", score([each])) for each in reproduction.outcomes]
    return head + "".join(
        f"| {name} | {own['within_5pct']} of {own['numbers']} | {own['within_10pct']} of {own['numbers']} "
        f"| {own['claims_held']} of {own['claims']} |\n"
        for name, own in [*named, ("together", score(reproduction.outcomes))]
    )


def render(reproduction: Reproduction) -> str:
    """The page."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "command": command,
        "serves": serves,
        "tables": tables,
        "score": score,
        "verdict": verdict,
    }
    return environment.get_template("report.html.j2").render(
        reproduction=reproduction,
        outcomes=reproduction.outcomes,
        chapters=reproduction.chapters,
        version=_core.VERSION,
    )
