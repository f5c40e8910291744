"""Tables on pages are what the commands print; scenarios and sweeps on them are right."""

import fnmatch
import json
import math
import re
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import pushout
from conftest import ROOT, command
from pushout import _core
from pushout.question import design, sweep
from pushout.show import answers as show


def blocks(page: str, kind: str) -> list[str]:
    """The blocks of a page that are marked as of this kind."""
    text = (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def printed(design: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The words of every line that the command prints before it says how many runs there were."""
    result = pushout.sweep({**design, "scenario": design["scenario"].removesuffix(".toml")})
    show.sweep(result, Console(width=200, highlight=False))
    table, _, _ = capsys.readouterr().out.partition(" runs, ")
    return [line.split() for line in table.splitlines()[:-1] if line.strip(" ─")]


def test_the_table_of_the_page_of_sweeps_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Of its five buffers one: the others take most of the time."""
    design = tomllib.loads((ROOT / "scenarios" / "sweep-small.toml").read_text(encoding="utf-8"))
    design["grid"] = {"port.bottleneck.buffer": ["1000 cells"]}
    head, *rows = [line.split() for line in blocks("sweep.md", "text")[0].splitlines() if line.strip(" ─")]
    assert len(rows) == 20
    assert printed(design, capsys) == [head, *(row for row in rows if "1000" in row)]


def test_the_table_of_the_page_of_networks_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    design = next(tomllib.loads(block) for block in blocks("network.md", "toml") if "two-routers" in block)
    (table,) = (block for block in blocks("network.md", "text") if "runs" in block)
    assert printed(design, capsys) == [line.split() for line in table.splitlines() if line.strip(" ─")]


BASE = """
name = "base"
duration = "1 s"
topology = { template = "dumbbell", sources = 2, access = LINK, bottleneck = LINK, egress = LINK }
""".replace("LINK", '{ rate = "10 Mb/s", delay = "1 ms" }')
TRAFFIC = '[flows]\nsource = { kind = "greedy" }\ntransport = { kind = "tcp" }\n'

PAGES = [
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "docs" / "how-to").glob("*.md"),
    *(ROOT / "docs" / "concepts").glob("*.md"),
    *(ROOT / "docs" / "course").glob("*.md"),
]


def snippets(kind: str) -> list[Any]:
    """The blocks of this kind on all pages, also in lists, each with where it stands."""
    found = []
    for page in (*PAGES, ROOT / "README.md"):
        text = page.read_text(encoding="utf-8")
        for block in re.finditer(rf"^( *)```{kind}\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, block.start()) + 1
            found.append(pytest.param(page, textwrap.dedent(block[2]), id=f"{page.name}:{line}"))
    return found


def combined(table: dict[str, Any]) -> list[int]:
    """Return the number of values of each part of a sweep whose every combination is a point."""
    rows = [lengths(each)[0] for each in table.get("zip", [])]
    levels = [len(axis) for axis in table.get("axis", {}).values()]
    return [*lengths(table.get("grid", {})), *levels, *rows, table.get("random", {}).get("points", 1)]


def lengths(value: Any) -> list[int]:
    """The lengths of all lists in a table, at any depth."""
    if not isinstance(value, dict):
        return [len(value)]
    return [length for each in value.values() for length in lengths(each)]


def chosen(value: Any) -> set[tuple[str, str]]:
    """The policies and kinds that a scenario names, at any depth."""
    if isinstance(value, list):
        return set().union(*map(chosen, value))
    if not isinstance(value, dict):
        return set()
    named = {(key, each) for key, each in value.items() if key in ("policy", "kind") and isinstance(each, str)}
    return named.union(*map(chosen, value.values()))


@pytest.mark.parametrize(("page", "text"), snippets("toml"))
def test_what_a_page_prints_of_a_scenario_or_a_sweep_is_right(
    page: Path, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part of a sweep is completed by a scenario; a part of a scenario is appended to the one of its page."""
    monkeypatch.chdir(tmp_path)
    whole = page.read_text(encoding="utf-8")
    for name, table in re.findall(r"Save as `(\S+\.(?:csv|json))`:\n\n```(?:text|json)\n(.*?)```", whole, re.DOTALL):
        Path(name).write_text(table, encoding="utf-8")
    for made in re.findall(r"^pushout (init .*--sonic .*)$", whole, re.MULTILINE):
        command(*made.split())
    table = tomllib.loads(text)
    if "duration" not in table and table.keys() & {"scenario", "grid", "axis", "zip", "random", "reps", "warmup"}:
        common = {"scenario": "lan", "set": ['measure.occupancy=["bottleneck"]']}
        plan = design.design(table if "scenario" in table else common | table)
        sweep.look_over(plan)
        assert len(plan.points) == math.prod(combined(table)), "each combination is a point"
        return
    if page.name == "network.md":
        scenario = pushout.explain((ROOT / "scenarios" / "two-routers.toml").read_text(encoding="utf-8") + text)
    else:
        default = {} if "workload" in table else tomllib.loads(TRAFFIC)["flows"]
        scenario = pushout.explain({**tomllib.loads(BASE), **table, "flows": {**default, **table.get("flows", {})}})
    assert chosen(table) <= chosen(scenario)


NOTEBOOKS = sorted((ROOT / "docs" / "course").glob("*.ipynb"))


def test_every_notebook_of_the_course_has_exercises_and_solutions() -> None:
    assert len(NOTEBOOKS) >= 11
    index = (ROOT / "docs" / "course" / "index.md").read_text(encoding="utf-8")
    for file in NOTEBOOKS:
        notebook = json.loads(file.read_text(encoding="utf-8"))
        text = "".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
        assert "## Exercises" in text.split("## Solutions")[0]
        assert f"({file.name})" in index


def test_the_figures_of_the_readme_are_there_and_say_what_they_show() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    places = re.findall(r"!\[.+\]\((.+\.svg)\)", readme)
    assert len(places) == 3, "a picture for each kind of reader"
    texts = [set(re.findall(r"<text[^>]*>([^<]*)</text>", (ROOT / place).read_text("utf-8"))) for place in places]
    assert {"memory (cells)", "bottleneck/lossy"} <= texts[0]
    assert {"fq-codel", "delivery time, 99th percentile of call,", "occupancy (packets)"} <= texts[1]
    assert {"printed", "priority group"} <= texts[2]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f" {place}\n" in makefile or "/studies/" in place for place in places)


def test_the_readme_is_short_and_has_nothing_of_another_version() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 140
    named = set(re.findall(r"\b\d+\.\d+\.\d+\b", readme))
    version = pushout.__version__.partition("-")[0]
    assert named <= {version}, "figures of an older version mislead"


def test_the_catalogue_lists_the_pages_of_every_kind() -> None:
    """Sphinx refuses a page that no table of contents names; the site is built seldom, this test often."""
    listed = re.findall(r"^schemes/\S+$", (ROOT / "docs/catalogue.md").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {path.removesuffix(".md") for path, _ in _core.docs() if path.startswith("schemes/")}
    assert {page for page in pages if not any(fnmatch.fnmatch(page, each) for each in listed)} == set()


DRAWING = [
    page
    for pattern in ("**/*.md", "**/*.ipynb")
    for page in sorted((ROOT / "docs").glob(pattern))
    if re.search(r"code-cell|\"cells\"", text := page.read_text(encoding="utf-8")) and "plot(" in text
]


@pytest.mark.parametrize("page", DRAWING, ids=lambda page: page.name)
def test_a_page_that_draws_shows_its_figures(page: Path) -> None:
    """Without this line a notebook shows `<Figure size …>` in the place of each figure."""
    assert "%matplotlib inline" in page.read_text(encoding="utf-8")
