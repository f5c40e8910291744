"""Imports of the package: no cycle, not even at run time, and commands import only what they use."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

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


HEAVY = {
    *("numpy", "pyarrow", "polars", "pandas", "duckdb", "matplotlib", "rich", "jinja2", "markdown_it", "optuna", "ray"),
    *(
        "asyncio",
        "concurrent.futures",
        "importlib.metadata",
        "logging",
        "multiprocessing",
        "sqlite3",
        "ssl",
        "statistics",
        "tomllib",
    ),
    *(
        "pushout.api",
        "pushout.question.design",
        "pushout.study",
        "pushout.generate",
        "pushout.schemes",
        "pushout.show",
    ),
}
"""Each takes longer to load than a small scenario to check."""

LAN = str(ROOT / "scenarios" / "lan.toml")
SHORT = ["run", LAN, "--set", "duration=1 ms"]


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a command loads, which prints something and succeeds."""
    script = (
        "import sys\nfrom pushout.cli import main\ntry:\n    main(sys.argv[1:])\n"
        "except SystemExit as ended:\n    print(ended.code or 0, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    code, *loaded = done.stderr.splitlines()[-1].split()
    assert (code, done.stdout != "") == ("0", True)
    return set(loaded)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["explain", "--check", LAN],
        ["explain", LAN, "--json"],
        ["list", "--schema"],
        ["list", "schemes", "--json"],
    ],
)
def test_commands_that_run_nothing_load_nothing_heavy(arguments: list[str]) -> None:
    assert not HEAVY & loaded_by(*arguments)


@pytest.mark.parametrize("arguments", [SHORT, [*SHORT, "--json"], [*SHORT, "--reps", "2", "--json"]])
def test_a_run_whose_figures_are_printed_loads_no_library_of_arrays(arguments: list[str]) -> None:
    needed = {"concurrent.futures", "logging", "pushout.show"}
    needed |= {"statistics"} if "--reps" in arguments else set()
    needed |= set() if "--json" in arguments else {"rich"}
    assert not (HEAVY - needed) & loaded_by(*arguments)


def loaded_in_python(expression: str) -> set[str]:
    """The modules that an expression loads in an interpreter of its own."""
    script = f"import sys, pushout\n{expression}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "expression",
    [
        f"pushout.run({LAN!r}, set={{'duration': '1 ms'}})['summary.goodput_ratio']",
        f"repr(pushout.run({LAN!r}, set={{'duration': '1 ms'}}, reps=2))",
        f"pushout.explain({LAN!r})",
        "dir(pushout)",
    ],
)
def test_a_run_from_python_loads_no_library_of_arrays_drawings_or_pages(expression: str) -> None:
    heavy = (HEAVY - {"pushout.api", "concurrent.futures", "logging", "statistics"}) | {"tomlkit"}
    loaded = loaded_in_python(expression)
    assert not heavy & loaded
    assert not [name for name in loaded if re.match(r"pushout\.(question|switch|worst_case|picture|page)\b", name)]


def test_tables_and_pages_of_a_result_load_what_they_need() -> None:
    result = f"pushout.run({LAN!r}, set={{'duration': '1 ms'}})"
    assert "numpy" in loaded_in_python(f"{result}.columns")
    assert {"jinja2", "matplotlib"} <= loaded_in_python(f"{result}.html()")
