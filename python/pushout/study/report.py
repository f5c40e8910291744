"""The reproduction as one page that needs nothing else: no script, no font, no picture from elsewhere."""

import os
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from pushout import _core
from pushout.study.model import Case, Study
from pushout.study.plot import dots
from pushout.study.reproduce import Finding, Outcome, Reproduction, score

SIGNS = {"within": "✓", "uncertain": "~", "differs": "✗"}


@dataclass(frozen=True)
class Row:
    """A finding in the words of the table."""

    what: str
    printed: str
    measured: str
    difference: str
    verdict: str
    sign: str
    tolerance: str
    note: str


def row(finding: Finding) -> Row:
    """Write a finding with as many digits as the printed value deserves."""
    number, measured = finding.number, finding.measured
    digits = 4 if abs(number.published) < 10 else 0 if abs(number.published) >= 1000 else 2
    printed = f"{number.published:.3f}" if digits == 4 else f"{number.published:g}"
    mean = f"{measured['mean']:.{digits}f}"
    half = (measured["ci95"][1] - measured["mean"]) if measured["ci95"] else None
    relative = number.tolerance.kind == "relative" and finding.relative_error is not None
    allowed = f"± {number.tolerance.size:.3g}" if not relative else f"± {100 * number.tolerance.size:.3g} %"
    return Row(
        what=f"{number.label}: {number.text}" + (f" ({number.unit})" if number.unit else ""),
        printed=printed,
        measured=mean if half is None else f"{mean} ± {half:.{digits}f}",
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


def plots(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """The title and the drawing of each plot of a study."""
    by_id = {finding.number.id: finding for finding in outcome.findings}
    for plot in outcome.study.plots:
        yield plot.title, dots(plot.title, plot.axis, [by_id[number] for number in plot.numbers])


def tables(findings: Iterable[Finding]) -> list[tuple[str, list[Row]]]:
    """The rows under the table or section of the paper that they come from."""
    groups = groupby(findings, key=lambda finding: finding.number.source)
    return [(source, [row(finding) for finding in group]) for source, group in groups]


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
        "plots": plots,
        "tables": tables,
        "score": score,
    }
    return environment.get_template("report.html.j2").render(
        reproduction=reproduction,
        outcomes=reproduction.outcomes,
        version=_core.VERSION,
    )
