"""Run the notebooks of the course and store their outputs: `python -m pushout.generate.notebooks [NOTEBOOK…]`.

They run in an empty folder, as from a wheel. What differs from run to run, as counts and times of cells, is not stored.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

COURSE = Path("docs/course")
LONGEST_S = 900


def executed(text: str) -> dict[str, Any]:
    """Return a notebook with the outputs of its cells, which run in an empty folder."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.reads(text, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=LONGEST_S, kernel_name="python3", resources=where).execute()
    found: dict[str, Any] = json.loads(nbformat.writes(notebook))
    cells = [on_slide(_lasting(cell)) for cell in found["cells"]]
    return {**found, "cells": cells, "metadata": json.loads(text)["metadata"]}


def on_slide(cell: dict[str, Any]) -> dict[str, Any]:
    """Return a cell with its place on slides: a text begins one, code and figures follow it, and checks are on none."""
    is_hidden = "remove-cell" in cell["metadata"].get("tags", [])
    place = "skip" if is_hidden else "slide" if cell["cell_type"] == "markdown" else "-"
    return {**cell, "metadata": {**cell["metadata"], "slideshow": {"slide_type": place}}}


def _lasting(cell: dict[str, Any]) -> dict[str, Any]:
    """Return a cell without what differs from run to run."""
    if cell["cell_type"] != "code":
        return cell
    metadata = {key: value for key, value in cell["metadata"].items() if key != "execution"}
    kept = [_in_a_line(each) for each in cell["outputs"] if not _is_removed(each)]
    outputs = [{**each, "execution_count": None} if "execution_count" in each else each for each in kept]
    return {**cell, "execution_count": None, "metadata": metadata, "outputs": _joined(outputs)}


def _in_a_line(output: dict[str, Any]) -> dict[str, Any]:
    """Return an output whose table for browsers is one text; nbformat gives each line of it a line of the file."""
    if "text/html" not in output.get("data", {}):
        return output
    return {**output, "data": {**output["data"], "text/html": "".join(output["data"]["text/html"])}}


def _is_removed(output: dict[str, Any]) -> bool:
    """Return whether an output is what the end of a progress bar leaves: nothing."""
    return output["output_type"] == "display_data" and not "".join(output["data"].get("text/html", "-"))


def _joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join the pieces of a stream, which a kernel sends at intervals of time."""
    found: list[dict[str, Any]] = []
    for each in outputs:
        if each["output_type"] == "stream" and found and found[-1].get("name") == each["name"]:
            found[-1] = {**each, "text": [*found[-1]["text"], *each["text"]]}
        else:
            found.append(each)
    return found


def written(notebook: dict[str, Any]) -> str:
    """Write a notebook as a file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def texts(notebook: dict[str, Any]) -> list[str]:
    """List what the cells print and what they return as texts, in order; figures are left out."""
    found = []
    for cell in notebook["cells"]:
        for each in cell.get("outputs", []):
            text = each.get("text") or ("" if "image/png" in each["data"] else each["data"].get("text/plain", ""))
            found += ["".join(text)] if text else []
    return found


def main(names: list[str]) -> None:
    """Run some notebooks of the course, or all, and store what they show."""
    for file in sorted(COURSE.glob("*.ipynb")):
        if not names or file.stem in names:
            file.write_text(written(executed(file.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
