"""Arrange the numbers, compared with print, in the tables of the paper."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from pushout.study.digits import before_the_point, decimals, deserved, doubt, grouped, signed
from pushout.study.outcome import Compared

SIGNS = {"within": "✓", "uncertain": "~", "differs": "✗"}

FULL = 0.6
"""Numbers under one heading form a table of two dimensions if they fill at least this share of it."""

SIGNIFICANT = 3
"""Smallest number of digits of a measured value, even if the printed one has fewer."""

FEW = 4
"""Largest number of numbered columns that are named one by one."""


@dataclass(frozen=True)
class Row:
    """The texts of a finding; for one beyond its tolerance, `among` names the runs between which print lies.

    `origin` says whether the value in `printed` is printed or derived.
    """

    id: str
    what: str
    printed: str
    origin: str
    measured: str
    doubt: str
    difference: str
    verdict: str
    sign: str
    among: str
    tolerance: str
    note: str


@dataclass(frozen=True)
class Note:
    """A note about some numbers of a table, or about all if it names none."""

    about: str
    text: str


@dataclass(frozen=True)
class Table:
    """The numbers of one table or section of a paper.

    Without columns each row is one number; with columns `rows` holds a label and a number, or None, per column.
    `tolerances` gives the allowed differences. `origin` is "derived" if no number of it is printed.
    """

    source: str
    columns: list[str]
    rows: list[tuple[str, list[Row | None]]]
    notes: list[Note]
    tolerances: list[str]
    origin: str

    @property
    def runs(self) -> list[tuple[list[Row], str]]:
        """Group consecutive numbers of a table without columns that share a note."""
        numbers = [cells[0] for _, cells in self.rows if cells[0]]
        found = [list(run) for _, run in groupby(numbers, key=lambda number: number.note)]
        whole = len(found) == 1 and len(numbers) > 1
        return [(run, "" if whole else run[0].note) for run in found]


def row(finding: Compared, places: int | None = None) -> Row:
    """Write a finding with the printed number of decimals, or that of its neighbours.

    The measured value has as many decimals; more if they are few, fewer if the interval justifies fewer, and none if
    all replications give the same integer.
    """
    number, measured = finding.number, finding.measured
    places = decimals(number.published) if places is None else places
    digits = deserved(measured, max(places, SIGNIFICANT - before_the_point(number.published)))
    tolerance = number.tolerance
    share = tolerance.share(number.published)
    allowed = f"± {tolerance.of(number.published):.3g}" if share is None else f"± {100 * share:.3g} %"
    apart = signed(finding.difference, digits) if share is None else _percent(finding, share)
    return Row(
        id=number.id,
        what=f"{number.label}: {number.text}" + (f" ({number.unit})" if number.unit else ""),
        printed=grouped(number.published, places),
        origin=number.origin,
        measured=grouped(measured["mean"], digits),
        doubt=doubt(measured, digits),
        difference=apart,
        verdict=finding.verdict,
        sign=SIGNS[finding.verdict],
        among=_among(finding, digits),
        tolerance=allowed,
        note=number.note,
    )


def _among(finding: Compared, digits: int) -> str:
    if finding.verdict == "within" or not finding.runs or not finding.among:
        return ""
    whole = all(float(value).is_integer() for value in finding.runs)
    least, greatest = (grouped(value, 0 if whole else digits) for value in finding.runs)
    return f"among our runs, {least} to {greatest}"


def _percent(finding: Compared, share: float) -> str:
    """Write the difference in percent, with a second decimal if one would not show that it exceeds the tolerance."""
    error, allowed = 100 * (finding.relative_error or 0), 100 * share
    close = finding.verdict != "within" and f"{abs(error):.1f}" == f"{allowed:.1f}"
    return signed(error, 2 if close else 1) + " %"


def tables(findings: Iterable[Compared]) -> list[Table]:
    """Group numbers by the table or section of the paper."""
    return [_table(source, group) for source, group in by_source(findings)]


def by_source(findings: Iterable[Compared]) -> list[tuple[str, list[Compared]]]:
    """Group numbers by source, in the order in which the sources first appear."""
    groups: dict[str, list[Compared]] = {}
    for finding in findings:
        groups.setdefault(finding.number.source, []).append(finding)
    return list(groups.items())


def _table(source: str, findings: Sequence[Compared]) -> Table:
    labels = list(dict.fromkeys(finding.number.label for finding in findings))
    texts = list(dict.fromkeys(finding.number.text for finding in findings))
    places = {(finding.number.label, finding.number.text): finding for finding in findings}
    origin = "derived" if all(finding.number.derived for finding in findings) else "printed"
    grid = len(labels) > 1 < len(texts) and FULL * len(labels) * len(texts) <= len(places) == len(findings)
    if not grid:
        rows = [row(finding) for finding in findings]
        shared = list(dict.fromkeys(each.note for each in rows))
        notes = [Note("", shared[0])] if len(shared) == 1 and shared[0] and len(rows) > 1 else []
        return Table(source, [], [(each.what, [each]) for each in rows], notes, [], origin)
    units = {finding.number.text: finding.number.unit for finding in findings}
    named = [f"{text} ({units[text]})" if units[text] else text for text in texts]
    written = _written(findings)
    cells = {place: row(finding, written[_alike(finding)]) for place, finding in places.items()}
    across = [(label, [cells.get((label, text)) for text in texts]) for label in labels]
    down = [(name, [cells.get((label, text)) for label in labels]) for name, text in zip(named, texts, strict=True)]
    lines, columns = (down, labels) if len(texts) > len(labels) else (across, named)
    return Table(source, columns, lines, _notes(findings), _tolerances(cells, texts), origin)


def _written(findings: Sequence[Compared]) -> dict[tuple[str, int], int]:
    """Count the decimals of a printed column, because the files omit trailing zeros."""
    found: dict[tuple[str, int], int] = {}
    for finding in findings:
        key = _alike(finding)
        found[key] = max(found.get(key, 0), decimals(finding.number.published))
    return found


def _alike(finding: Compared) -> tuple[str, int]:
    """Identify numbers printed in the same form: of one kind, with equally many digits before the point."""
    return finding.number.text, before_the_point(finding.number.published)


def _notes(findings: Sequence[Compared]) -> list[Note]:
    """Write each note once, with its subject: columns or rows of a table, or single numbers."""
    notes: dict[str, list[Compared]] = {}
    for finding in findings:
        if finding.number.note:
            notes.setdefault(finding.number.note, []).append(finding)
    return [Note(_about(group, findings), text) for text, group in notes.items()]


def _about(group: Sequence[Compared], findings: Sequence[Compared]) -> str:
    if len(group) == len(findings):
        return ""
    for side in ("text", "label"):
        names = list(dict.fromkeys(getattr(each.number, side) for each in group))
        if len(group) == sum(getattr(each.number, side) in names for each in findings):
            return ", ".join(names)
    return "; ".join(f"{each.number.label}, {each.number.text}" for each in group)


def _tolerances(cells: dict[tuple[str, str], Row], texts: Sequence[str]) -> list[str]:
    """Write the tolerances: for each text the usual one and its exceptions; equal ones are merged."""
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
    """List names; of many that differ only in a number, the first two and the last."""
    alike = [list(group) for _, group in groupby(names, key=lambda name: name.rstrip("0123456789"))]
    said = (f"{some[0]}, {some[1]} … {some[-1]}" if len(some) > FEW else ", ".join(some) for some in alike)
    return ", ".join(said)
