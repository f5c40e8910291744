"""Files of answers: the page of the option --html, and figures."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pushout.cli.options import FileOf
from pushout.cli.streams import tell
from pushout.excerpt import masked

if TYPE_CHECKING:
    from pushout.answer.frame import Tabled

HTML = click.option(
    "--html", type=FileOf(("html",)), metavar="FILE", help="Write the answer as one page, with its figures in it."
)


def write_page(
    file: Path | None, result: "Tabled", figures: list[Any] | None = None, title: str = "", lab: str = ""
) -> None:
    """Write the page of an answer, if one is wanted; `lab` is the address that shows the run in the lab."""
    if file is None:
        return
    from pushout.cache import write
    from pushout.page import page

    typed = click.get_current_context().find_root().obj or []
    file.parent.mkdir(parents=True, exist_ok=True)
    write(file, page(result, masked(shlex.join(["pushout", *typed])), figures, title, lab))
    tell(f"page: {file}")


def write_figure(figure: Any, file: Path) -> None:
    """Write a figure of matplotlib in the format that the name of its file ends with; a link is not followed."""
    from pushout.cache import write
    from pushout.picture.figure import written

    file.parent.mkdir(parents=True, exist_ok=True)
    write(file, written(figure, file.suffix[1:].lower()))
    tell(f"figure: {file}")
