"""The files of the package can be read in an order: none needs, not even to run, one that needs it."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from conftest import ROOT

PACKAGE = ROOT / "python" / "pushout"


def name(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(file: Path, known: set[str]) -> Iterator[str]:
    """The files that a file imports anywhere: at its beginning, within a function, or only for types."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            inside = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (path if path in known else str(node.module) for path in inside)


def test_no_file_imports_one_that_imports_it() -> None:
    files = {name(file): file for file in (*PACKAGE.rglob("*.py"), PACKAGE / "_core.pyi")}
    assert len(files) > 50
    needed = {own: {path for path in imports(file, set(files)) if path in files} for own, file in files.items()}
    TopologicalSorter(needed).prepare()  # raises a CycleError that names the circle
