"""Names for the sentences of pages about the program itself: its schemes, studies and measurements of speed."""

import json
import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pushout
from pushout import shipped
from pushout.generate.sentences import spaced, word
from pushout.study.model import available, load


def names() -> dict[str, Any]:
    """Return the names that every sentence may use."""
    return {
        "pushout": pushout,
        "module": import_module,
        "word": word,
        "spaced": spaced,
        "schemes": pushout.policies,
        "studies": studies,
        "scenarios": shipped.names,
        "notebooks": lambda: sorted(Path("docs/course").glob("*.ipynb")),
        "findings": lambda: re.findall(r"^## ", Path("docs/findings.md").read_text(encoding="utf-8"), re.MULTILINE),
        "oldest": oldest,
        "half": half,
        "below": lambda mean: mean["ci95"][1] < 0,
        "above": lambda mean: mean["ci95"][0] > 0,
        "unclear": lambda mean: mean["ci95"][0] <= 0 <= mean["ci95"][1],
        "missing": missing,
        "score": score,
        "speed": speed,
    }


@lru_cache
def studies(comparing: bool = False, old: bool = False) -> list[str]:
    """List all studies, or those that compare with printed numbers, or those of the papers of 1995 to 1999."""
    known = [study for study in available() if not comparing or load(study).compares]
    return [study for study in known if not old or study.startswith("0")]


def half(mean: Mapping[str, Any]) -> float:
    """Return half of the 95 % interval of a mean."""
    low, high = mean["ci95"]
    return float(high - low) / 2


def oldest() -> dict[str, str]:
    """Return the oldest versions of Rust and Python that are promised."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    workspace = tomllib.loads(Path("Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    return {"Python": project["requires-python"].removeprefix(">="), "Rust": workspace["rust-version"]}


def speed(workload: str, figure: str, peer: str | None = None) -> float:
    """Find a figure of a workload in the measurement of docs/performance.md; `ns_per_hop` is of any unit."""
    measured = json.loads(Path("docs/performance.json").read_text(encoding="utf-8"))
    if peer is None:
        entries = [each for each in measured["workloads"] if each["id"] == workload]
    else:
        entries = [
            each for each in measured["peers"] if (each["id"], f"{each['peer']} {each['variant']}") == (workload, peer)
        ]
    (entry,) = entries
    return float(entry["ns_per_cell_hop"] or entry["ns_per_packet_hop"] if figure == "ns_per_hop" else entry[figure])


def missing() -> str:
    """List what the README names as missing: the bold words of the page about limits."""
    found = re.findall(r"\*\*(?:An? )?(.+?)\*\*", Path("docs/limits.md").read_text(encoding="utf-8"))
    *first, last = (re.sub(r"^[A-Z](?=[a-z]+\b(?!-))", lambda letter: letter[0].lower(), each) for each in found)
    return f"{', '.join(first)} or {last}"


def score(figure: str) -> tuple[int, int]:
    """Read how many of how many of all studies together, by the title of a column of docs/score.md."""
    head, _, *rows = Path("docs/score.md").read_text(encoding="utf-8").splitlines()
    titles, whole = ([cell.strip() for cell in row.strip("|").split("|")] for row in (head, rows[-1]))
    count, _, of = whole[titles.index(figure)].partition(" of ")
    return int(count), int(of or count)
