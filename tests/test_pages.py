"""Tables on pages are what the commands print."""

import re
import tomllib
from typing import Any

import pytest
from rich.console import Console

import pushout
from conftest import ROOT
from pushout.cli.show import answers as show


def blocks(page: str, kind: str) -> list[str]:
    """The blocks of a page that are marked as of this kind."""
    text = (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def printed(design: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The words of every line that the command prints before it says how many runs there were."""
    result = pushout.sweep({**design, "scenario": str(ROOT / "scenarios" / design["scenario"].split("/")[-1])})
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
    design = next(tomllib.loads(block) for block in blocks("network.md", "toml") if "two-routers.toml" in block)
    (table,) = (block for block in blocks("network.md", "text") if "runs" in block)
    assert printed(design, capsys) == [line.split() for line in table.splitlines() if line.strip(" ─")]
