"""Imports go one way, in the core and in the package; in no crate, package or page do files import in a circle."""

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from conftest import ROOT

CORE = ROOT / "crates" / "core" / "src"
CRATES = sorted(ROOT.glob("crates/*/src"))
WEB = ROOT / "web" / "src"
PACKAGE = ROOT / "python" / "pushout"

TESTS = re.compile(r"^#\[cfg\(test\)\]\n(?:pub\(crate\) )?mod \w+ \{\n.*?^\}\n", re.DOTALL | re.MULTILINE)
"""The tests in a file, which may use whatever they like."""

CORE_EXCEPTIONS = {
    ("program/values", "buffer/context"): "parameters of a program may be parts of a buffer, whose size its port gives",
    ("program/values", "buffer/size"): "the same parameters are written as the thresholds of schemes are",
    ("buffer/admission/follow_lqd/virtual_buffer", "link/line"): "a virtual queue is served at the pace of its line",
    ("memory/queue", "link/gate/pause"): "a pool that pauses repeats its frame before the pause of the standard ends",
}
"""Arrows of the core that go up, and why."""

FLOORS = [
    ["linktypes", "records"],
    ["literals", "excerpt", "kept", "parsing", "limits", "stats", "svg", "catalogue", "running", "capture", "progress"],
    ["errors", "shipped", "style"],
    ["extras", "flowlist", "path", "quantity"],
    ["recording"],
    ["source"],
    ["warning", "simulate"],
    ["document", "reading", "types"],
    ["measures", "cache", "trust", "policy", "exact", "qlog"],
    ["sums", "replicate", "names", "options"],
    ["answer"],
    ["question", "bench", "study", "schemes"],
    ["worst_case", "switch", "counterfactual", "tracing"],
    ["lab", "picture", "show"],
    ["result"],
    ["display"],
    ["page", "generate"],
    ["api"],
    ["scenario"],
    ["tools"],
    ["server"],
    ["cli"],
    ["__main__"],
]
"""The floors of the package, from the ground up: a module uses those on lower floors only."""

PACKAGE_EXCEPTIONS = {
    ("policy/conformance", "api"): "tries a policy in whole runs, as its author does; only when it is called",
}
"""Arrows of the package that go up, and why."""


def rust_files(crate: Path) -> dict[str, Path]:
    """The files of a crate under the names of their modules, as in `buffer/pool`."""
    named = {file.relative_to(crate).with_suffix(""): file for file in crate.rglob("*.rs")}
    return {str(name.parent if name.name == "mod" else name): file for name, file in named.items()}


def leaves(tree: str) -> Iterator[str]:
    """The paths of a `use` declaration: `a::{b, c::d}` has `a::b` and `a::c::d`."""
    start, brace, rest = tree.partition("{")
    if not brace:
        yield tree.strip()
        return
    depth, item = 0, ""
    for letter in rest.rpartition("}")[0] + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            yield from (start.strip() + leaf for leaf in leaves(item) if leaf)
            item = ""
        else:
            item += letter


def rust_imports(name: str, text: str, names: Mapping[str, Path]) -> set[str]:
    """The modules of its crate that a module names, without those of its tests."""
    code = re.sub(r"//[^\n]*", "", TESTS.sub("", text))
    uses = [leaf for tree in re.findall(r"\buse\s+([^;]*);", code) for leaf in leaves(tree)]
    inline = re.findall(r"(?<![\w$:])(?:crate|super|self)(?:::\w+)+", re.sub(r"\buse\s+[^;]*;", "", code))
    found = (resolved(name, path.partition(" as ")[0].split("::"), names) for path in (*uses, *inline))
    return {other for other in found if other and other != name}


def resolved(name: str, path: list[str], names: Mapping[str, Path]) -> str | None:
    """The module that a path names, seen from another one."""
    here = [] if path[0] == "crate" else name.split("/")
    ups = path.count("super")
    steps = [step for step in path if step not in ("crate", "self", "super")]
    whole = [*here[: len(here) - ups], *steps]
    ends = ("/".join(whole[:end]) for end in range(len(whole), len(whole) - len(steps), -1))
    return next((end for end in ends if end in names), None)


def rust_arrows(crate: Path = CORE) -> dict[str, set[str]]:
    """Every module of a crate with those that it uses; what only tests compile is left out."""
    names = rust_files(crate)
    texts = {name: file.read_text(encoding="utf-8") for name, file in names.items()}
    tests = {
        f"{name}/{child}".removeprefix("lib/")
        for name, text in texts.items()
        for child in re.findall(r"#\[cfg\(test\)\]\n(?:pub(?:\(crate\))? )?mod (\w+);", text)
    }
    return {name: rust_imports(name, text, names) for name, text in texts.items() if name not in {"lib", *tests}}


def web_arrows() -> dict[str, set[str]]:
    """Every file of the page with those that it imports."""
    files = {file.stem: file.read_text(encoding="utf-8") for file in WEB.glob("*.ts")}
    pattern = re.compile(r'^(?:im|ex)port [^"]*"\./([\w-]+)"', re.MULTILINE)
    return {name: set(pattern.findall(text)) - {name} for name, text in files.items()}


def python_arrows() -> dict[str, set[str]]:
    """Every module of the package with those that it imports, at once or when it is called; not for types alone."""
    files = {str(file.relative_to(PACKAGE).with_suffix("")): file for file in PACKAGE.rglob("*.py")}
    names = {name.removesuffix("/__init__"): file for name, file in files.items() if name != "__init__"}
    return {name: set(python_imports(name, file, names)) - {name} for name, file in names.items()}


def python_imports(name: str, file: Path, names: Mapping[str, Path]) -> Iterator[str]:
    """The modules of the package that a file imports."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    typed = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in typed or not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            whole = f"{module}.{alias.name}".strip(".").split(".")
            ends = ("/".join(whole[1:end]) for end in range(len(whole), 1, -1))
            if whole[0] == "pushout" and (found := next((end for end in ends if end in names), None)):
                yield found


def room(name: str) -> str:
    """The module at the top that a module belongs to."""
    return name.partition("/")[0]


def upward(arrows: Mapping[str, set[str]], floors: Mapping[str, int], *, level: bool) -> set[tuple[str, str]]:
    """The arrows between rooms that do not go down; on one `level` none may go either."""
    return {
        (name, other)
        for name, others in arrows.items()
        for other in others
        if room(name) != room(other)
        and (floors[room(other)] > floors[room(name)] or (level and floors[room(other)] == floors[room(name)]))
    }


def circle(arrows: Mapping[str, set[str]]) -> list[str]:
    """The files of a circle, if there is one; a file may use those of the folder that it belongs to."""
    down = {name: {other for other in others if not name.startswith(f"{other}/")} for name, others in arrows.items()}
    try:
        TopologicalSorter(down).prepare()
    except CycleError as found:
        return list(found.args[1])
    return []


def test_modules_of_the_core_use_those_above_them_in_lib_rs() -> None:
    order = re.findall(r"^pub mod (\w+);", (CORE / "lib.rs").read_text(encoding="utf-8"), re.MULTILINE)
    arrows = rust_arrows()
    floors = {name: at for at, name in enumerate(order)}
    assert {room(name) for name in arrows} == set(order)
    assert len(arrows) > 300
    assert upward(arrows, floors, level=False) == set(CORE_EXCEPTIONS)


def test_modules_of_the_package_use_lower_floors() -> None:
    arrows = python_arrows()
    floors = {name: at for at, floor in enumerate(FLOORS) for name in floor}
    assert {room(name) for name in arrows} == set(floors)
    assert len(arrows) > 120
    assert upward(arrows, floors, level=True) == set(PACKAGE_EXCEPTIONS)


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.parent.name)
def test_no_files_of_a_crate_import_each_other_in_a_circle(crate: Path) -> None:
    arrows = rust_arrows(crate)
    assert any(arrows.values())
    assert circle(arrows) == []


def test_no_files_of_the_package_or_of_the_page_import_each_other_in_a_circle() -> None:
    assert web_arrows()["strip"] >= {"layout", "motion", "run"}
    assert circle(python_arrows()) == circle(web_arrows()) == []


def test_paths_in_braces_are_found_and_those_of_tests_are_not() -> None:
    names = dict.fromkeys(["units", "pace", "buffer", "buffer/pool", "buffer/size", "link/port"], CORE)
    text = """
use super::size::{Level, Measure};
use crate::{buffer::pool::{self, Pool}, units};
fn at() -> crate::link::port::Port { todo!() } // crate::memory
#[cfg(test)]
mod tests {
    use crate::scenario;
}
use crate::pace;
"""
    assert rust_imports("buffer/red", text, names) == {"buffer/size", "buffer/pool", "units", "pace", "link/port"}


def test_a_circle_and_an_arrow_up_are_found() -> None:
    arrows = {"a": {"b/c"}, "b/c": {"b", "d"}, "b": {"b/c"}, "d": {"a"}}
    assert set(circle(arrows)) == {"a", "b/c", "d"}
    assert upward(arrows, {"a": 2, "b": 1, "d": 3}, level=False) == {("b/c", "d")}
