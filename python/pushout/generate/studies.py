"""Pages about the studies, for readers who want the finding and not the method: `docs/studies/`."""

import math
import shutil
from itertools import groupby
from pathlib import Path

from pushout.shipped import STUDIES
from pushout.study.full_result import Verdict, kept
from pushout.study.headline import era
from pushout.study.model import Claim, Study, available, load
from pushout.study.prose_result import filled_study

FOLDER = Path("docs/studies")
PICTURES = Path("docs/static/studies")
"""Folder of the figure of each study on its page, written by `make findings`."""

SCORE = Path("docs/score.md")


def pages() -> dict[Path, str]:
    """Map the page of each study, and their list, to its content."""
    studies = [filled_study(load(study)) for study in available()]
    return {FOLDER / "index.md": _list(studies)} | {FOLDER / f"{study.id}.md": _page(study) for study in studies}


def pictures(report: Path) -> None:
    """Copy from a report the figure that the page of each study shows."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for study in map(load, available()):
        if study.listed_figure:
            copy_figure(report, study, study.listed_figure, PICTURES / f"{study.id}.svg")


def copy_figure(report: Path, study: Study, title: str, target: Path) -> None:
    """Copy the plot with this title from a report; if the report lacks the study, the figure stays as it is."""
    place = [plot.title for plot in study.plots].index(title) + 1
    for figure in (report / "figures" / study.id).glob(f"{place:02}-*.svg"):
        shutil.copyfile(figure, target)


def score(report: Path) -> list[str]:
    """Copy the score of a report for `docs/validation.md`; return the studies that it lacks, without which it stays."""
    file = report / "score.md"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    missing = [study.id for study in map(load, available()) if study.compares and f"| {study.id}: " not in text]
    if not missing:
        SCORE.write_text(text, encoding="utf-8")
    return missing


def _list(studies: list[Study]) -> str:
    """The list of all studies under their headings, with what each found."""
    said = "What each study found, in a page. The report of `pushout reproduce` compares every number with print."
    parts = ["# Studies", said]
    for heading, some in groupby(studies, lambda study: era(study.id)):
        parts.append(f"## {heading}")
        parts += [f"**[{study.title}]({study.id}.md).** {_line(study.headline)}" for study in some]
    tree = "\n".join(study.id for study in studies)
    return "\n\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{tree}\n```"]) + "\n"


def _page(study: Study) -> str:
    """Write the question, the results, and the commands that show them."""
    parts = [f"# {study.title}", f"*{study.source}*", f"**{_line(study.headline)}**", *_figure(study)]
    parts += ["## What was asked", study.question.strip(), *_networks(study)]
    if study.conclusion:
        headings = {"stands": "What stands", "falls": "What falls", "adds": "What it adds"}
        for name, heading in headings.items():
            if text := getattr(study.conclusion, name):
                parts += [f"## {heading}", text.strip()]
    parts += at_full_size(study)
    parts += ["## Its figures", _figures(study)]
    return "\n\n".join(parts) + "\n"


def _figure(study: Study) -> list[str]:
    """The figure that the list of studies shows, if it has been drawn for the pages."""
    picture = PICTURES / f"{study.id}.svg"
    return [f"![{study.listed_figure}](../static/studies/{study.id}.svg)"] if picture.is_file() else []


def at_full_size(study: Study) -> list[str]:
    """The verdicts on its claims at full size, if it has been run so."""
    if (found := kept(study)) is None:
        return []
    commit, full = found
    ran = f"Commit `{commit[:8]}`, `pushout reproduce {study.id[:3]} --full`"
    said = f"{ran}; in brackets the share of bootstrap resamples with the verdict."
    claims = [_claim(claim, full.claims[claim.id]) for claim in study.claims]
    return [f"## With {full.replications} replications", said, "\n".join(claims)]


def _claim(claim: Claim, verdict: Verdict) -> str:
    """The verdict on a claim, and on its milder form."""
    word = "holds" if verdict["holds"] else "does not hold"
    sure = "" if verdict["sure"] is None else f" ({math.floor(100 * verdict['sure'])} %)"
    milder = ""
    if claim.milder:
        word_of_milder = "holds" if verdict["milder"] else "does not hold"
        milder = f" A milder form {word_of_milder}: {_line(claim.milder.text)}"
    return f"* *{_line(claim.text)}* It {word}{sure}.{milder}"


def _networks(study: Study) -> list[str]:
    """The pictures of its networks."""
    files = sorted((STUDIES / study.id).glob("*.svg"))
    return [f"![The network](../../studies/{study.id}/{file.name})" for file in files]


def _figures(study: Study) -> str:
    """The titles of the figures, and the command that draws them."""
    titles = "\n".join(f"* {plot.title}" for plot in study.plots)
    said = f"`reports/index.html` has them with all numbers; `reports/figures/{study.id}` has each as a file."
    return f"{titles}\n\n```sh\npushout reproduce {study.id}\n```\n\n{said}"


def _line(text: str) -> str:
    return " ".join(text.split())
