"""Print the catalogue: all entries in a table, or the page of one."""

import json

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from pushout.catalogue import Entry, meanings
from pushout.show.columns import Column, describe

READING_WIDTH = 100
"""Largest width of running text."""


def policies(entries: list[Entry], console: Console) -> None:
    """Print the catalogue."""
    titles = ("name", "kind", "what it does", "parameters")
    rows: list[list[str | Text]] = []
    for entry in entries:
        name = Text(entry["name"], style="bold")
        if entry["experimental"]:
            name.append(" (experimental)", style="dim")
        params = ", ".join(param["name"] for param in entry["params"]) or "–"
        rows.append([name, entry["kind"], entry["summary"], params])
    describe(console, [Column(title, right=False, whole=title in ("name", "kind")) for title in titles], rows)


def policy(entry: Entry, console: Console) -> None:
    """Print one entry of the catalogue: its description and its parameters."""
    console.print(Text(entry["summary"], style="bold"))
    console.print(Markdown(entry["header"]), width=min(console.width, READING_WIDTH))
    if not entry["params"]:
        console.print(f"\n{entry['name']} has no parameters.")
        return
    titles = ("parameter", "unit", "default", "meaning")
    rows: list[list[str | Text]] = []
    for param in entry["params"]:
        default = "required" if param["required"] else "not set"
        if param["default"] is not None:
            default = json.dumps(param["default"], ensure_ascii=False)
        meaning = "\n".join([param["doc"], *meanings(param)])
        rows.append([Text(param["name"], style="bold"), param["unit"], default, meaning])
    describe(console, [Column(title, right=False, whole=title == "parameter") for title in titles], rows)
