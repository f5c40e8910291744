"""Print findings: whether each holds, with the verdict on its comparison, its control and its range."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

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
