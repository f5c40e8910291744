"""An answer as one page that needs nothing from elsewhere: pictures, the tables of its command, how it was made.

A notebook shows the pictures and tables as a part of its own page.
"""

from collections.abc import Iterator, Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

from pushout import _core, display  # noqa: F401  (answers are printed by it)
from pushout.answer import drawing
from pushout.answer.frame import Tabled, as_fragment, as_page
from pushout.answer.frame import display as printed
from pushout.counterfactual import WhyResult
from pushout.picture.request import recorded
from pushout.quantity import grouped
from pushout.question.compare import CompareResult
from pushout.question.sized import SizeResult
from pushout.question.sweep import SweepResult
from pushout.result import Result
from pushout.style import adaptive
from pushout.svg import embedded
from pushout.switch.explain import ExplainResult
from pushout.switch.headroom import HeadroomResult
from pushout.switch.predict import ChipResult
from pushout.tracing import TraceResult

DRAWN = 4
"""Figures of a sweep that a page draws."""


def page(
    result: Tabled, command: str = "", figures: Sequence[Any] | None = None, title: str = "", lab: str = ""
) -> str:
    """The page of an answer; `command` is what was typed for it, `figures` and `title` replace those that it has.

    `lab` is an address that opens the run in the lab.
    """
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    drawn = _drawings(_figures(result) if figures is None else figures)
    return environment.from_string(_part("answer.html.j2")).render(
        title=title or _title(result),
        style=_part("answer.css"),
        warnings=[warned["message"] for warned in getattr(result, "warnings", [])],
        pictures=[(name, width, adaptive(svg)) for name, width, svg in drawn],
        tables=_tables(result),
        command=command,
        lab=lab,
        facts=list(_facts(result)),
    )


@as_page.register(Result)
@as_page.register(CompareResult)
@as_page.register(SizeResult)
@as_page.register(SweepResult)
@as_page.register(HeadroomResult)
@as_page.register(ChipResult)
@as_page.register(ExplainResult)
@as_page.register(WhyResult)
def _plain(result: Any) -> str:
    return page(result)


@as_fragment.register(Result)
@as_fragment.register(TraceResult)
@as_fragment.register(CompareResult)
@as_fragment.register(SizeResult)
@as_fragment.register(SweepResult)
@as_fragment.register(HeadroomResult)
@as_fragment.register(ChipResult)
@as_fragment.register(ExplainResult)
@as_fragment.register(WhyResult)
def fragment(result: Any) -> str:
    """The tables and figures of an answer, as a notebook shows them: figures on a white ground, for any theme."""
    drawn = _drawings(_figures(result))
    figures = "".join(f'<div style="{PAPER}; max-width: {width}px">{svg}</div>' for _, width, svg in drawn)
    return f'<style>{_part("answer.css")}</style><div class="pushout">{_tables(result)}</div>{figures}'


PAPER = "background: #fff; color: #000"
"""The style of a figure in a notebook, whose colours no page can ask for."""


def _part(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _drawings(figures: Sequence[Any]) -> list[tuple[str, int, str]]:
    """Write figures as parts of a page, each with its name and its greatest width in pixels."""
    return [
        (
            f"figure {number}",
            round(PIXELS_PER_INCH * figure.get_figwidth()),
            embedded(drawing.svg(figure), f"figure-{number}"),
        )
        for number, figure in enumerate(figures, 1)
    ]


PIXELS_PER_INCH = 120
"""Scale at which the letters of a figure are about as large as those of the page."""


def _tables(result: Tabled) -> str:
    """Return what the command prints, as tables and paragraphs."""
    from pushout.show.sheet import Sheet

    sheet = Sheet()
    printed(result, sheet)
    return sheet.html()


def _document(result: Any) -> dict[str, Any]:
    document: dict[str, Any] = result.document
    return document


@singledispatch
def _figures(result: Any) -> list[Any]:
    """The figures of an answer, if it has any."""
    return []


@_figures.register(Result)
def _of_run(result: Result) -> list[Any]:
    """The panels of what the run has recorded."""
    return [result.plot()] if recorded(result.document) else []


@_figures.register(WhyResult)
def _of_frame(result: WhyResult) -> list[Any]:
    """The decisions before a frame; a report of many decisions has no figure."""
    return [] if "report" in result.document else [result.plot()]


@_figures.register(CompareResult)
@_figures.register(SizeResult)
def _one(result: Any) -> list[Any]:
    return [result.plot()]


@_figures.register(SweepResult)
def _of_sweep(result: SweepResult) -> list[Any]:
    """Some figures over the number that was swept, or their distributions where none was."""
    columns = result.columns
    numbers = [name for name in list(columns)[: list(columns).index("seed")] if _is_number(result, name)]
    names = [name for name in result.manifest["figures"] if name in result.scalars()] or ["goodput_ratio"]
    return [result.plot(name, numbers[0] if numbers else None) for name in names[:DRAWN]]


def _is_number(result: SweepResult, name: str) -> bool:
    """Return whether a column has numbers, several of which were swept."""
    values = {value for value in result.columns.plain(name) if value is not None}
    return name != "point" and len(values) > 1 and all(isinstance(value, int | float) for value in values)


def _title(result: Any) -> str:
    manifest = getattr(result, "manifest", {})
    document = _document(result)
    scenario = manifest.get("scenario", {})
    name = manifest.get("title") or scenario.get("title") or document.get("title") or document.get("scenario")
    if isinstance(result, HeadroomResult):
        name = f"Headroom of {len(result.rows)} line{'s' * (len(result.rows) > 1)}"
    if isinstance(result, ChipResult):
        name = "What acceptance tests of a switch count"
    if isinstance(result, ExplainResult):
        name = "Configurations that explain counts"
    return str(name or manifest.get("name") or "Pushout")


def _facts(result: Any) -> Iterator[tuple[str, str]]:
    """Yield the facts that distinguish this answer from others of its command."""
    document = _document(result)
    yield "version", f"pushout {_core.VERSION}"
    seeds = document.get("seeds") or [document["seed"]] if "seed" in document or "seeds" in document else []
    if seeds:
        yield "seeds" if len(seeds) > 1 else "seed", ", ".join(map(str, seeds))
    if "duration_s" in document:
        yield "simulated time", f"{document['duration_s']:g} s, of which {document['warmup_s']:g} s are not counted"
    if isinstance(document.get("runs"), int):
        yield "runs", grouped(document["runs"])
    if sets := document.get("set"):
        yield "set", ", ".join(map(str, sets))
