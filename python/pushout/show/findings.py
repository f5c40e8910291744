"""Print findings, with the verdicts on their comparison, control and range, and attacks on findings and sentences."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from pushout.study.attack import Attack
from pushout.study.finding_result import Result
from pushout.study.model import Study
from pushout.study.samples import Checked
from pushout.study.tables import SIGNS


def verdicts(studies: Sequence[Study], results: Mapping[str, Sequence[Result]], console: Console) -> None:
    """Print every finding of the studies, or that there is none."""
    if not results:
        console.print("These studies have no findings.")
    for study in studies:
        for finding, result in zip(study.findings, results[study.id], strict=True):
            failed = f", fails: {', '.join(result.failures)}" if result.failures else ""
            console.print(Text(f"{_sign(not result.failures)} {finding.title} ({study.id}){failed}"))
            for line in _lines(result):
                console.print(Padding(Text(line, style="dim"), (0, 0, 0, 2)))


def _lines(result: Result) -> Iterator[str]:
    """Write each check with its evidence."""
    checks: dict[str, Checked] = {"comparison": result.comparison, "control": result.control, **result.range}
    for name, check in checks.items():
        yield f"{_sign(check['holds'])} {name}: {check['evidence']}"


def _sign(holds: bool) -> str:
    return SIGNS["within" if holds else "differs"]


def attacks(found: Sequence[Attack], console: Console) -> None:
    """Print every attack: what was tried, and the nearest point that turned the verdict or left it open."""
    for each in found:
        verdict = (
            "falls" if each.fell else "stands" if each.tried else "is not tried, as one point needs a larger budget"
        )
        stated = "holds" if each.stated else "does not hold"
        console.print(
            Text(f"{_sign(not each.fell) if each.tried else SIGNS['uncertain']} {each.id} {verdict}: {each.text}")
        )
        lines = [f"stated: it {stated}; {each.tried} points, {each.runs} of {each.budget} runs"]
        for word, point in (("falls", each.fell), ("is open", each.open)):
            if point:
                sure = "" if point.sure is None else f", {100 * point.sure:.0f} % of the resamples agree"
                lines.append(f"nearest point where it {word}: {point.changes} ({point.seeds} seeds{sure})")
                lines.append(point.evidence)
        for line in lines:
            console.print(Padding(Text(line, style="dim"), (0, 0, 0, 2)))
    fell = sum(each.fell is not None for each in found)
    if found:
        tried = sum(each.tried > 0 for each in found)
        console.print(f"{fell} of {tried} fell; seeds from {found[0].seed}")
