"""Generate the files of the repository that follow from the declarations: `python -m pushout.generate [--check]`.

`--pictures REPORT` copies the figures of the studies' pages from a report first, its score if it has every study,
and the data of findings. `--answers [ID …]` measures the numbers of pages again first, all of them or these; see
`answers`. `--check` names stale files, and the findings that fail or have changed since their runs.
"""

import json
import sys
from pathlib import Path

from pushout import _core
from pushout.generate import answers, figures, findings, studies, types
from pushout.generate.schemes import module
from pushout.policy.published import CONTROLS, PUBLISHED
from pushout.records import recorded

SCHEMES = Path("docs/schemes")
"""Folder of the pages of schemes, which are not tracked: `docs/conf.py` writes them for the site."""


def generated() -> dict[Path, str]:
    """Map every generated file below the working directory to its content."""
    schemas = {"scenario": _core.schema(), "result": _core.result_schema()}
    texts = {Path(f"schema/{name}.schema.json"): recorded(json.loads(text)) for name, text in schemas.items()}
    pages = {path: text for path, text in _pages().items() if SCHEMES not in path.parents}
    classes = {Path("python/pushout/schemes/__init__.py"): module(json.loads(_core.policies()))}
    files = {
        **texts,
        **classes,
        types.MODULE: types.module(json.loads(_core.result_schema())),
        **pages,
        figures.PAGE: figures.page(),
        **studies.pages(),
        findings.PAGE: findings.page(),
        **_oracles(),
        **_performance(),
    }
    return {**files, **answers.pages(files)}


def write_schemes(root: Path) -> None:
    """Write the pages of the schemes below the root of the repository, and remove pages of schemes that are no more."""
    _update({root / path: text for path, text in _pages().items() if SCHEMES in path.parents}, root / SCHEMES)


def _pages() -> dict[Path, str]:
    """Map the pages that the simulator writes from its declarations to their content."""
    return {Path("docs") / path: text for path, text in _core.docs()}


def _oracles() -> dict[Path, str]:
    """Write the published schemes in Python for the tests of the simulator, which compare them with its own."""
    published = {**PUBLISHED, **CONTROLS}
    tables = {name: {key: program[key] for key in program if key != "source"} for name, program in published.items()}
    return {Path("crates/core/tests/equivalence/programs/published.json"): recorded(tables)}


def _performance() -> dict[Path, str]:
    """Write the page about speed with the tables of the measurements stored next to it."""
    page = Path("docs/performance.md")
    if not page.is_file():
        return {}
    from pushout.bench.present import FILLED, fill

    text = page.read_text(encoding="utf-8")
    for part in FILLED:
        if part.file.is_file():
            text = fill(text, part, json.loads(part.file.read_text(encoding="utf-8")))
    return {page: text}


def stale(files: dict[Path, str], folder: Path = studies.FOLDER) -> list[Path]:
    """List files that are missing or differ, and pages in this folder that are none of the files."""
    wrong = [path for path, text in files.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    return wrong + [path for path in folder.glob("*.md") if path not in files]


def _update(files: dict[Path, str], folder: Path = studies.FOLDER) -> None:
    """Write stale files anew, and remove the other pages of the folder."""
    for path in stale(files, folder):
        if path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path], encoding="utf-8")
        else:
            path.unlink()


def main() -> int:
    """Write stale files, or with `--check` only name them."""
    if sys.argv[1:2] == ["--pictures"]:
        findings.take_kept(Path(sys.argv[2]))
        findings.take(Path(sys.argv[2]))  # first, while the working tree is that of the runs
        studies.pictures(Path(sys.argv[2]))
        if missing := studies.score(Path(sys.argv[2])):
            print(f"docs/score.md stays as it is: the report lacks {', '.join(missing)}", file=sys.stderr)
    if sys.argv[1:2] == ["--answers"]:
        answers.KEPT.write_text(answers.renewed(sys.argv[2:]), encoding="utf-8")
    if sys.argv[1:] == ["--check"]:
        return _checked(stale(generated()))
    _update(generated())
    return 0


def _checked(wrong: list[Path]) -> int:
    """Name what is stale, and findings that fail; return the exit code."""
    complaints = [
        *(f"{path} is stale: make generate" for path in wrong),
        *(f"{answers.KEPT} is stale: make answers ARGS={name}" for name in answers.outdated()),
        *findings.wrong(),
    ]
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    if not complaints:
        print("generated files: fresh")
    return 1 if complaints else 0
