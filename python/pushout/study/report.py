"""The reproduction as one page that needs nothing else: no script, no font, no picture from elsewhere."""

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from pathlib import Path

from pushout import _core
from pushout.study import prose
from pushout.study.case import Case
from pushout.study.chapter import ABREAST, Chapter, Reproduction, rows
from pushout.study.model import Study
from pushout.study.outcome import Finding, Judgement, Outcome, Weighing, score

SIGNS = {"within": "✓", "uncertain": "~", "differs": "✗"}

FULL = 0.6
"""Numbers under one heading make a table of two dimensions if they fill at least this share of it."""

SIGNIFICANT = 3
"""Digits that a measured value has at least, however few the printed one has."""

FEW = 4
"""So many columns are named one by one."""

NONE = 1e-12
"""Half of an interval that is only rounding."""

ALIKE = 0.005
"""Explanations whose mean differences from print are this near to each other are not told apart."""


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
class Note:
    """What is to be said about some numbers of a table: all of them if it names none."""

    about: str
    text: str


@dataclass(frozen=True)
class Table:
    """The numbers of one table or section of a paper.

    Without columns each row is one number; with columns `rows` holds a label and a number, or none, per column.
    `tolerances` says for these what is allowed.
    """

    source: str
    columns: list[str]
    rows: list[tuple[str, list[Row | None]]]
    notes: list[Note]
    tolerances: list[str]

    @property
    def runs(self) -> list[tuple[list[Row], str]]:
        """The numbers of a table without columns, those together that follow each other and share a note."""
        numbers = [cells[0] for _, cells in self.rows if cells[0]]
        found = [list(run) for _, run in groupby(numbers, key=lambda number: number.note)]
        whole = len(found) == 1 and len(numbers) > 1
        return [(run, "" if whole else run[0].note) for run in found]


def row(finding: Finding, places: int | None = None) -> Row:
    """Write a finding with the printed digits, or with so many places after the point as others beside it have.

    What is measured has as many, more if these are few, fewer if the interval leaves no more, and none if all
    replications give the same whole number.
    """
    number, measured = finding.number, finding.measured
    places = decimals(number.published) if places is None else places
    half = (measured["ci95"][1] - measured["mean"]) if measured["ci95"] else None
    digits = max(places, SIGNIFICANT - _before_the_point(number.published))
    if half and half > NONE:
        digits = min(digits, max(0, 2 - _before_the_point(half)))
    elif abs(measured["mean"] - round(measured["mean"])) < 1e-9:
        digits = 0
    tolerance = number.tolerance
    relative = tolerance.kind == "relative" and finding.relative_error is not None
    allowed = f"± {tolerance.size:.3g}" if not relative else f"± {100 * tolerance.size:.3g} %"
    apart = _percent(finding) if relative else _signed(finding.difference, digits)
    return Row(
        what=f"{number.label}: {number.text}" + (f" ({number.unit})" if number.unit else ""),
        printed=_grouped(number.published, places),
        measured=_grouped(measured["mean"], digits),
        doubt=_doubt(half, digits),
        difference=apart,
        verdict=finding.verdict,
        sign=SIGNS[finding.verdict],
        tolerance=allowed,
        note=number.note,
    )


def decimals(value: float) -> int:
    """The places after the point with which a value is written."""
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -int(exponent))


def _before_the_point(value: float) -> int:
    """Digits before the point; for less than one, minus the zeros after it."""
    return Decimal(repr(abs(value))).adjusted() + 1 if value else 1


def _grouped(value: float, digits: int) -> str:
    """A number with a true minus; from five digits on in groups of three."""
    text = f"{value:,.{digits}f}" if abs(value) >= 1e4 else f"{value:.{digits}f}"
    return text.replace(",", "\N{NO-BREAK SPACE}").replace("-", "−")


def _signed(value: float, digits: int) -> str:
    text = f"{abs(value):.{digits}f}"
    return text if not float(text) else ("−" if value < 0 else "+") + text


def _percent(finding: Finding) -> str:
    """The difference in percent, with one place more where one would not show that it is beyond the tolerance."""
    error, allowed = 100 * (finding.relative_error or 0), 100 * finding.number.tolerance.size
    close = finding.verdict != "within" and f"{abs(error):.1f}" == f"{allowed:.1f}"
    return _signed(error, 2 if close else 1) + " %"


def _doubt(half: float | None, digits: int) -> str:
    """Half of the interval; nothing if there is none or if all replications agree."""
    if not half or half < NONE:
        return ""
    text = f"{half:.{digits}f}"
    return f"± {text}" if float(text) else f"± <{10**-digits:.{digits}f}"


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


def shelves(chapter: Chapter) -> list[list[tuple[int, bool]]]:
    """The places of the plots as they stand on the page, and whether they stand three abreast.

    Those of one figure of a paper stand in a row of their own if they fill it.
    """
    runs = rows(chapter.outcome.study.plots)
    starts = [sum(map(len, runs[:index])) for index in range(len(runs))]
    places = [
        [(start + index, len(run) == ABREAST) for index in range(len(run))]
        for start, run in zip(starts, runs, strict=True)
    ]
    together = groupby(enumerate(places), key=lambda entry: entry[0] if entry[1][0][1] else -1)
    return [[place for _, run in group for place in run] for _, group in together]


def sections(outcome: Outcome) -> list[tuple[str, str]]:
    """The parts of a study's page: the end of their id, and their name."""
    there = {"figures": bool(outcome.study.plots), "claims": bool(outcome.judgements)}
    names = {"differs": "What differs", "again": "Run a row again"}
    parts = ("differs", "numbers", "figures", "claims", "assumptions", "again")
    return [(part, names.get(part, part.capitalize())) for part in parts if there.get(part, True)]


def differing(outcome: Outcome) -> list[tuple[str, list[str]]]:
    """Of each source the numbers that are not within their tolerance."""
    found = []
    for place, findings in by_source(outcome.findings):
        off = [
            f"{row(each).sign} {each.number.label}: {each.number.text}, {row(each).difference}"
            for each in findings
            if each.verdict != "within"
        ]
        if off:
            found.append((place, off))
    return found


def verdicts(outcome: Outcome) -> dict[str, int]:
    """How many numbers have each verdict."""
    found = Counter(finding.verdict for finding in outcome.findings)
    return {verdict: found[verdict] for verdict in SIGNS}


def word(outcome: Outcome, judgement: Judgement) -> str:
    """The verdict on a claim; one that holds for the means and seldom by itself holds on average."""
    if not judgement.holds:
        return "✗ does not hold"
    seldom = judgement.claim.share is None and 2 * judgement.often < len(outcome.seeds)
    return "✓ holds on average" if seldom else "✓ holds"


def checks(judgement: Judgement) -> list[tuple[str, str]]:
    """What was compared for a claim, each comparison with its sign; of lists, how many entries it is true of."""
    found = []
    for text, true in judgement.comparisons:
        if isinstance(true, tuple):
            found.append((f"{sum(true)} of {len(true)}", text))
        else:
            found.append((SIGNS["within" if true else "differs"], text))
    return found


def by_source(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    """Numbers of one source together, in the order in which the sources first appear."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.number.source, []).append(finding)
    return list(groups.items())


def _table(source: str, findings: Sequence[Finding]) -> Table:
    labels = list(dict.fromkeys(finding.number.label for finding in findings))
    texts = list(dict.fromkeys(finding.number.text for finding in findings))
    places = {(finding.number.label, finding.number.text): finding for finding in findings}
    grid = len(labels) > 1 < len(texts) and FULL * len(labels) * len(texts) <= len(places) == len(findings)
    if not grid:
        rows = [row(finding) for finding in findings]
        shared = list(dict.fromkeys(each.note for each in rows))
        notes = [Note("", shared[0])] if len(shared) == 1 and shared[0] and len(rows) > 1 else []
        return Table(source, [], [(each.what, [each]) for each in rows], notes, [])
    units = {finding.number.text: finding.number.unit for finding in findings}
    named = [f"{text} ({units[text]})" if units[text] else text for text in texts]
    written = _written(findings)
    cells = {place: row(finding, written[_alike(finding)]) for place, finding in places.items()}
    across = [(label, [cells.get((label, text)) for text in texts]) for label in labels]
    down = [(name, [cells.get((label, text)) for label in labels]) for name, text in zip(named, texts, strict=True)]
    lines, columns = (down, labels) if len(texts) > len(labels) else (across, named)
    return Table(source, columns, lines, _notes(findings), _tolerances(cells, texts))


def _written(findings: Sequence[Finding]) -> dict[tuple[str, int], int]:
    """The places after the point that print has in a column: the files leave zeros at the end out."""
    found: dict[tuple[str, int], int] = {}
    for finding in findings:
        key = _alike(finding)
        found[key] = max(found.get(key, 0), decimals(finding.number.published))
    return found


def _alike(finding: Finding) -> tuple[str, int]:
    """What print writes alike: numbers of one kind with as many digits before the point."""
    return finding.number.text, _before_the_point(finding.number.published)


def _notes(findings: Sequence[Finding]) -> list[Note]:
    """Each note once, with what it is about: whole columns or rows of a table, or single numbers."""
    notes: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.number.note:
            notes.setdefault(finding.number.note, []).append(finding)
    return [Note(_about(group, findings), text) for text, group in notes.items()]


def _about(group: Sequence[Finding], findings: Sequence[Finding]) -> str:
    if len(group) == len(findings):
        return ""
    for side in ("text", "label"):
        names = list(dict.fromkeys(getattr(each.number, side) for each in group))
        if len(group) == sum(getattr(each.number, side) in names for each in findings):
            return ", ".join(names)
    return "; ".join(f"{each.number.label}, {each.number.text}" for each in group)


def _tolerances(cells: dict[tuple[str, str], Row], texts: Sequence[str]) -> list[str]:
    """What is allowed: for each text the usual tolerance, and where it is another one; the same for several, once."""
    said: dict[str, list[str]] = {}
    for text in texts:
        allowed = {label: cell.tolerance for (label, other), cell in cells.items() if other == text}
        usual = Counter(allowed.values()).most_common(1)[0][0]
        others: dict[str, list[str]] = {}
        for label, tolerance in allowed.items():
            if tolerance != usual:
                others.setdefault(tolerance, []).append(label)
        but = "".join(f", but {tolerance} for {'; '.join(labels)}" for tolerance, labels in others.items())
        said.setdefault(usual + but, []).append(text)
    return [f"{_several(names)} {tolerance}" for tolerance, names in said.items()]


def _several(names: Sequence[str]) -> str:
    """Names, or the first and the last of many."""
    return ", ".join(names) if len(names) <= FEW else f"{names[0]}, {names[1]} … {names[-1]}"


def verdict(weighing: Weighing) -> str:
    """What a comparison of explanations comes to, in a sentence or two."""
    errors = {each.value: each.mean_error for each in weighing.variants if each.mean_error is not None}
    by_error = sorted(errors.items(), key=lambda entry: entry[1])
    (best, least), rest = by_error[0], by_error[1:]
    alike = [value for value, error in by_error if error <= least + ALIKE]
    if len(alike) == len(by_error) > 1:
        return (
            f"The printed numbers do not tell these values apart: mean difference {100 * least:.1f} to "
            f"{100 * by_error[-1][1]:.1f} %.{_by_claims(weighing)}"
        )
    others = ", ".join(f"{100 * error:.1f} % with “{value}”" for value, error in rest)
    said = f"The printed numbers support “{best}”: mean difference {100 * least:.1f} %, against {others}."
    if len(alike) > 1:
        said += " The nearest of these are hardly told apart."
    return said + _by_claims(weighing)


def _by_claims(weighing: Weighing) -> str:
    """How many claims hold with each value, if that differs."""
    held = {variant.value: score([variant]) for variant in weighing.variants}
    if len({own["claims_held"] for own in held.values()}) == 1:
        return ""
    said = ", ".join(f"{own['claims_held']} of {own['claims']} with “{value}”" for value, own in held.items())
    return f" Claims that hold: {said}."


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
        "verdicts": verdicts,
        "checks": checks,
        "word": word,
        "differing": differing,
        "shelves": shelves,
        "anchor": prose.anchor,
        "place": prose.source,
        "sections": sections,
    }
    environment.filters["prose"] = prose.html
    environment.filters["symbols"] = prose.symbols
    environment.filters["lead"] = prose.first_sentence
    return environment.get_template("report.html.j2").render(
        reproduction=reproduction,
        outcomes=reproduction.outcomes,
        chapters=reproduction.chapters,
        version=_core.VERSION,
    )
