"""The notebooks of the course run outside a clone and show what is stored in them.

By default those run that take seconds; `PUSHOUT_NOTEBOOKS=all`, as in the nightly run, has all.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT
from pushout.generate import notebooks

COURSE = sorted((ROOT / "docs" / "course").glob("*.ipynb"))
QUICK = ("7-home", "8-marks", "9-alpha", "10-why", "11-worst")
RUN = [file for file in COURSE if file.stem in QUICK or os.environ.get("PUSHOUT_NOTEBOOKS") == "all"]

LARGEST = 200_000
"""Octets of a notebook with its figures."""


def read(file: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return notebook


def code(notebook: dict[str, Any]) -> str:
    return "\n".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")


@pytest.mark.timeout(notebooks.LONGEST_S)
@pytest.mark.parametrize("file", RUN, ids=lambda file: file.stem)
def test_a_notebook_runs_in_an_empty_folder_and_shows_what_is_stored(file: Path) -> None:
    pytest.importorskip("nbclient", reason="notebooks need the extra docs")
    stored = file.read_text(encoding="utf-8")
    assert notebooks.texts(notebooks.executed(stored)) == notebooks.texts(json.loads(stored))


@pytest.mark.parametrize("file", COURSE, ids=lambda file: file.stem)
def test_a_notebook_needs_no_clone_and_has_its_outputs(file: Path) -> None:
    notebook = read(file)
    assert "scenarios/" not in code(notebook)
    assert not re.search(r"chdir|while ", code(notebook))
    shown = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    assert all(output["output_type"] in ("stream", "display_data", "execute_result") for output in shown)
    assert len(shown) >= 3
    assert file.stat().st_size < LARGEST
    assert file.read_text(encoding="utf-8") == notebooks.written(notebook), "as the program writes it"


@pytest.mark.parametrize("file", COURSE, ids=lambda file: file.stem)
def test_a_notebook_has_slides(file: Path) -> None:
    cells = read(file)["cells"]
    assert cells == [notebooks.on_slide(cell) for cell in cells]
    assert [cell["metadata"]["slideshow"]["slide_type"] for cell in cells].count("slide") >= 3


@pytest.mark.parametrize("file", [file for file in COURSE if "6-" not in file.stem], ids=lambda file: file.stem)
def test_a_figure_of_a_notebook_is_stored_as_a_picture(file: Path) -> None:
    shown = [output for cell in read(file)["cells"] for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in shown)


def test_the_nightly_run_repeats_all_of_them() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8"))["jobs"]
    assert any("make notebooks-again" in step.get("run", "") for job in jobs.values() for step in job["steps"])
    assert "PUSHOUT_NOTEBOOKS=all" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_what_a_cell_shows_does_not_say_when_it_ran() -> None:
    pieces = [{"output_type": "stream", "name": "stdout", "text": [line]} for line in ("a\n", "b\n")]
    cell = {"cell_type": "code", "execution_count": 7, "metadata": {"execution": {}, "tags": ["a"]}, "outputs": pieces}
    joined = [{"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]}]
    assert notebooks._lasting(cell) == {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"tags": ["a"]},
        "outputs": joined,
    }
