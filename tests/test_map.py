"""The map of the code, ARCHITECTURE.md, has every room, and every path and name on it exists."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT
from test_layers import CORE, FLOORS, PACKAGE

MAP = ROOT / "ARCHITECTURE.md"
WEB = ROOT / "web" / "src"
ROOTS = [ROOT, CORE, PACKAGE, WEB]
"""Where a path on the map may start."""

SOURCES = [*ROOT.glob("crates/*/src/**/*.rs"), *PACKAGE.rglob("*.py"), *WEB.glob("*.ts")]

PATH = re.compile(r"[\w*.-]+(/[\w*.-]+)*/|[\w*.-]+(/[\w*.-]+)+|[\w*-]+\.(rs|py|ts|toml|mjs)")
NAME = re.compile(r"(\w+(::|\.))*\w+\(\)|\w+(::\w+)+|[A-Z]\w*[a-z]\w*|\w+!")
"""Names of code: `chosen()`, `Port::mark`, `Samples.check()`, `Reason`, `section!`."""

DEFINED = r"\b(fn|struct|enum|trait|type|const|def|class|interface|function)\s+{0}\b"


def quoted(text: str) -> list[str]:
    """Return the texts in backticks."""
    return re.findall(r"`([^`\n]+)`", text)


def blocks(page: str) -> Iterator[str]:
    """Give the paragraphs of a page, and the rows of its tables one by one; drawings are left out."""
    for block in re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE).split("\n\n"):
        yield from block.splitlines() if block.startswith("|") else [block]


def found(path: str) -> list[Path]:
    """Find the files or folders of a path, which may have wildcards."""
    return [file for root in ROOTS for file in root.glob(path)]


@cache
def code(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def is_defined(name: str, files: Iterable[Path]) -> bool:
    """Return whether one of the files defines a name and mentions the type that it belongs to."""
    *owners, last = re.findall(r"\w+", name)
    pattern = r"^macro_rules! {0}\b" if name.endswith("!") else DEFINED
    definition = re.compile(pattern.format(last), re.MULTILINE)
    return any(
        definition.search(code(file)) and all(re.search(rf"\b{owner}\b", code(file)) for owner in owners)
        for file in files
    )


def faults(page: str) -> list[str]:
    """Name every path that does not exist, and every name that no file defines; in a table, no file of its row."""
    wrong = []
    for block in blocks(page):
        texts = quoted(block)
        paths = {text: found(text) for text in texts if PATH.fullmatch(text)}
        wrong += [f"no file {path}" for path, files in paths.items() if not files]
        files = [file for files in paths.values() for file in files if file.is_file()]
        near = files if block.startswith("|") and files else SOURCES
        names = [text for text in texts if text not in paths and NAME.fullmatch(text)]
        wrong += [f"no name {name} in {block}" for name in names if not is_defined(name, near)]
    return wrong


def rooms() -> set[Path]:
    """Return every folder and top-level module of the core, and every top-level module of the package."""
    folders = {folder for folder in CORE.rglob("*") if folder.is_dir()}
    modules = {*CORE.glob("*.rs"), *PACKAGE.glob("*.py"), *(file.parent for file in PACKAGE.glob("*/__init__.py"))}
    return folders | modules - {CORE / "lib.rs", PACKAGE / "__init__.py"}


def missing(page: str) -> list[str]:
    """Name the rooms that a page does not name."""
    named = {file for path in quoted(page) if PATH.fullmatch(path) for file in found(path)}
    return sorted(str(room.relative_to(ROOT)) for room in rooms() - named)


def drawing(page: str, title: str) -> list[str]:
    """Return the lines of a drawing below its title."""
    match = re.search(rf"^```text\n{title}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert match
    return match[1].splitlines()


def test_every_room_is_on_the_map() -> None:
    assert len(rooms()) > 100
    assert missing(code(MAP)) == []


def test_a_room_without_a_row_is_found() -> None:
    page = code(MAP).replace("`police/`", "`crates/core/src/police/gcra.rs`").replace("`cli/`", "cli")
    assert missing(page) == ["crates/core/src/police", "python/pushout/cli"]


def test_every_path_and_name_on_the_map_exists() -> None:
    assert faults(code(MAP)) == []


def test_the_floors_of_the_core_are_drawn_as_lib_rs_has_them() -> None:
    floors = [line.strip().partition("  ")[0].split() for line in drawing(code(MAP), "the core")]
    order = re.findall(r"^pub mod (\w+);", code(CORE / "lib.rs"), re.MULTILINE)
    assert [name for floor in reversed(floors) for name in floor] == order


def test_the_floors_of_the_package_are_drawn_as_its_imports_go() -> None:
    drawn = " ".join(drawing(code(MAP), "the package"))
    assert [floor.split() for floor in drawn.split("<")] == FLOORS


def test_the_files_in_the_drawing_of_the_engine_exist() -> None:
    drawn = set(re.findall(r"[\w/]+\.rs|\w+/(?!\w)", "\n".join(drawing(code(MAP), "engine/cells"))))
    assert len(drawn) > 6
    assert [file for file in drawn if not list((CORE / "engine" / "cells").glob(f"**/{file}"))] == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Ports are in `link/port/`, `link/port/mod.rs` and `crates/core/src/link`.", 0),
        ("Ports are in `link/prot/` and in `prot.rs`; `studies/*/study.toml` and `studies/*/studies.toml`.", 3),
        ("A port keeps `Port::mark` and `chosen()`; `section!` declares keys; `--set` is an option.", 0),
        ("A port keeps `Port::marks_twice`, `chosen_by()`, `Prot` and `sections!`.", 4),
        ("| a mark | `link/port/arrive.rs` `Port::mark` |\n| a claim | `study/samples.py` `Samples.check()` |", 0),
        ("| a mark | `link/line.rs` `Port::mark` |\n| a claim | `study/outcome.py` `Samples.check()` |", 2),
        ("| a mark | `link/port/mod.rs` `Line::mark_all` |", 1),
    ],
)
def test_what_does_not_exist_is_found(text: str, count: int) -> None:
    assert len(faults(text)) == count


def test_drawings_may_shorten_paths() -> None:
    assert faults("```text\n`port/prot.rs`\n```\n") == []
