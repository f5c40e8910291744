"""The page of findings, from the studies and the data of their runs: `docs/findings.md`."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pushout.generate.studies import PICTURES as OF_STUDIES
from pushout.generate.studies import copy_figure
from pushout.parsing import parsed
from pushout.records import recorded
from pushout.shipped import STUDIES
from pushout.study.digits import doubt
from pushout.study.finding import AGREEING, SEEDS, Finding
from pushout.study.finding_result import FILE, Result, kept, problem
from pushout.study.full_result import FILE as FULL
from pushout.study.full_result import is_outdated
from pushout.study.model import Study, available, load
from pushout.study.outcome import SETS
from pushout.study.prose_result import FILE as PROSE
from pushout.study.prose_result import complaints
from pushout.study.reference import UNKNOWN, filled, written
from pushout.study.samples import SURE, Checked
from pushout.study.single import FILE as SINGLE

PAGE = Path("docs/findings.md")
PICTURES = Path("docs/static/findings")
"""Folder of the figures of the page, written by `make findings`."""

HEAD = f"""# Findings

<!-- Generated from the `[[finding]]` entries of the studies and the data of their runs: `make findings`. -->

Results of the studies that were not known, or not written down. Each has a control, which is a run that puts the most
likely other explanation to the test, and a range of changes after which the result must still hold. All of it runs with
{SEEDS} seeds or more, or with {AGREEING} that agree where nothing is drawn; a verdict counts if {100 * SURE:g} % of
{SETS} bootstrap resamples or more agree. The documentation is not built while a result fails or its study has changed
since the runs.
"""


def page(root: Path = STUDIES) -> str:
    """Write the page: every finding whose runs are there, marked if it fails."""
    parts = [HEAD.strip()]
    for study in _studies(root):
        results = kept(study, root)
        parts += [_section(study, finding, results[finding.id]) for finding in study.findings if finding.id in results]
    return "\n\n".join(parts) + "\n"


def wrong(root: Path = STUDIES) -> list[str]:
    """List findings that fail, have changed since their runs or were never run, and outdated studies at full size."""
    found = []
    for study in _studies(root):
        results = kept(study, root)
        for finding in study.findings:
            if why := problem(study, finding, results.get(finding.id)):
                found.append(f"{study.id}: finding {finding.id!r} {why}: make findings")
    studies = [load(study, root) for study in available(root)]
    outdated = [study.id for study in studies if is_outdated(study, root)]
    found += [f"{study}: has changed since its runs at full size: make full" for study in outdated]
    return found + [complaint for study in studies for complaint in complaints(study, root)]


def take(report: Path) -> None:
    """Copy the data of findings from a report to their studies, with the commit, and the figures for the page."""
    commit = _commit()
    PICTURES.mkdir(parents=True, exist_ok=True)
    for study in _studies(STUDIES):
        data = report / "findings" / f"{study.id}.json"
        if data.is_file():
            _keep({"commit": commit, **_read(data)}, STUDIES / study.id / FILE)
        for finding in study.findings:
            copy_figure(report, study, finding.figure, _picture(study, finding))


KEPT = {"prose": PROSE, "full": FULL, "single": SINGLE}
"""Folders of a report with a file for each study, and the name of this file in the folder of the study."""


def take_kept(report: Path) -> None:
    """Copy the numbers of prose, full size and runs like print from a report to their studies, with the commit."""
    commit = _commit()
    for folder, name in KEPT.items():
        for data in sorted((report / folder).glob("*.json")):
            _keep({"commit": commit, **_read(data)}, STUDIES / data.stem / name)


def _keep(document: Mapping[str, Any], file: Path) -> None:
    file.write_text(recorded(document), encoding="utf-8")


def _read(data: Path) -> dict[str, Any]:
    """Read what a report keeps of the findings of a study."""
    try:
        found = parsed(data.read_bytes())
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise SystemExit(f"{data}: must be what pushout reproduce writes: run it again")
    return found


def _commit() -> str:
    """Name the commit of the working tree, with `-dirty` if files differ from it."""
    git = shutil.which("git")
    if git is None:
        raise OSError("make findings needs git, to name the commit of the runs")
    described = subprocess.run(  # noqa: S603 - no argument comes from outside
        [git, "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"],
        check=True,
        capture_output=True,
        text=True,
    )
    return described.stdout.strip()


def _studies(root: Path) -> list[Study]:
    return [study for study in (load(name, root) for name in available(root)) if study.findings]


def _section(study: Study, finding: Finding, result: Result) -> str:
    why, values = problem(study, finding, result), result.values
    failed = f"**This finding {why}.**" if why else ""
    parts = [
        f"## {finding.title}",
        failed,
        filled(finding.text, values),
        _figure(study, finding) if _picture(study, finding).is_file() else "",
        f"*Control.* {filled(finding.control.text, values)}{'' if result.control['holds'] else ' **It fails.**'}",
        f"*Range.* {_range(result)}",
        f"*Limits.* {filled(finding.limits, values)}",
        _details(finding, result),
        f"```sh\npushout reproduce --findings {study.id}\n```",
    ]
    return "\n\n".join(part for part in parts if part)


def _picture(study: Study, finding: Finding) -> Path:
    """Return the file of its figure: that of the study's page, or of the first finding with this figure."""
    if finding.figure == study.listed_figure:
        return OF_STUDIES / f"{study.id}.svg"
    first = next(each for each in study.findings if each.figure == finding.figure)
    return PICTURES / f"{first.id}.svg"


def _figure(study: Study, finding: Finding) -> str:
    """Show the figure, which has the durations and replications of the study."""
    page = f"[study {study.id.partition('-')[0]}](studies/{study.id}.md)"
    place = _picture(study, finding).relative_to("docs").as_posix()
    return f"![{finding.figure}]({place})\n\nThe figure is from {page} as it runs by itself."


def _range(result: Result) -> str:
    """Name the changes after which the comparison holds, and those after which it fails."""
    held = [name for name, check in result.range.items() if check["holds"]]
    failed = [name for name, check in result.range.items() if not check["holds"]]
    said = f"It holds with {'; '.join(held)}." if held else ""
    return f"{said} **It fails with {'; '.join(failed)}.**".strip() if failed else said


def _details(finding: Finding, result: Result) -> str:
    """Fold the checks with their values, and the numbers of the text with their intervals."""
    checks: Mapping[str, Checked] = {"comparison": result.comparison, "control": result.control, **result.range}
    rows = [
        f"| {name} | {'holds' if check['holds'] else 'fails'} | {_cell(check['evidence'])} |"
        for name, check in checks.items()
    ]
    numbers = [f"| `{name}` | {_interval(result, name)} |" for name in finding.values]
    return "\n".join(
        [
            f"<details><summary>Checks and numbers, {len(result.seeds)} seeds</summary>",
            "",
            "| check | verdict | values |",
            "|---|---|---|",
            *rows,
            "",
            "| number | mean and 95 % interval |",
            "|---|---|",
            *numbers,
            "",
            "</details>",
        ]
    )


def _cell(evidence: str) -> str:
    """Write evidence in a cell of a table."""
    return evidence.replace("|", "\\|").replace("*", "\\*")


def _interval(result: Result, name: str) -> str:
    if (measured := result.values.get(name)) is None:
        return UNKNOWN
    text = written(measured)
    return f"{text} {doubt(measured, len(text.partition('.')[2]))}".rstrip()
