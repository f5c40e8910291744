"""An answer as one page that needs nothing from elsewhere: pictures, the tables of its command, how it was made."""

import io
from collections.abc import Iterator, Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

from pushout import _core, display  # noqa: F401  (answers are printed by it)
from pushout.question import drawing
from pushout.question.compare import CompareResult
from pushout.question.frame import Tabled, as_page
from pushout.question.frame import display as printed
from pushout.question.quantity import grouped
from pushout.question.size import SizeResult
from pushout.question.sweep import SweepResult
from pushout.result import Result
from pushout.svg import embedded

WIDTH = 110
"""Letters side by side in the tables of a page; narrower screens scroll them."""

DRAWN = 4
"""Figures of a sweep that a page draws."""


def page(result: Tabled, command: str = "", figures: Sequence[Any] | None = None) -> str:
    """The page of an answer; `command` is what was typed for it, `figures` replace those that the answer has."""
    from jinja2 import Environment

    template = Path(__file__).with_name("answer.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    pictures = [
        (f"figure {number}", embedded(drawing.images(figure)["svg"].decode(), f"figure-{number}"))
        for number, figure in enumerate(_figures(result) if figures is None else figures, 1)
    ]
    return environment.from_string(template).render(
        title=_title(result),
        warnings=[warned["message"] for warned in getattr(result, "warnings", [])],
        pictures=pictures,
        table=_table(result),
        command=command,
        facts=list(_facts(result)),
    )


@as_page.register(Result)
@as_page.register(CompareResult)
@as_page.register(SizeResult)
@as_page.register(SweepResult)
def _plain(result: Any) -> str:
    return page(result)


def _table(result: Tabled) -> str:
    """Return the table that the command prints."""
    from rich.console import Console

    console = Console(file=io.StringIO(), record=True, width=WIDTH, highlight=False, markup=False, emoji=False)
    printed(result, console)
    return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


def _document(result: Any) -> dict[str, Any]:
    document: dict[str, Any] = result.document
    return document


@singledispatch
def _figures(result: Any) -> list[Any]:
    """The figures of an answer."""
    raise TypeError(f"{type(result).__name__} has no figures")


@_figures.register(Result)
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
