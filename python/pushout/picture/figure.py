"""A picture of runs: its panels one below the other, in a theme, as a matplotlib figure and as a file."""

import io
import math
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from pushout import _core
from pushout.answer import drawing
from pushout.errors import Argument, QuestionError
from pushout.literals import Panel, ThemeName
from pushout.picture import panels
from pushout.picture.drawn import Drawn
from pushout.picture.series import Run
from pushout.style import NARROWEST_IN, THEMES, WIDEST_IN, Theme

DPI = 200

TITLED = 0.95
"""The share of its width that a title takes: some have wider letters than most."""


def themed(name: ThemeName, width: float | None) -> Theme:
    """The theme of this name, or a variation of it of another width (inches)."""
    if name not in THEMES:
        raise QuestionError(_core.unknown("theme", name, list(THEMES)))
    if width is not None and not NARROWEST_IN <= width <= WIDEST_IN:
        raise QuestionError(Argument("width"), f" must be from {NARROWEST_IN:g} to {WIDEST_IN:g} inches, not {width:g}")
    return THEMES[name] if width is None else THEMES[name]._replace(width_in=width)


def draw(runs: Sequence[Run], what: Sequence[Panel], theme: Theme, title: str | None = None) -> Any:
    """A figure with these panels of these runs; the title is that of the scenario, if all have the same."""
    drawn = [panel for name in what for panel in panels.of(name, runs)]
    with drawing.paper_of(theme, len(drawn)) as (figure, column):
        for axes, panel in zip(column, drawn, strict=True):
            doubts = panel.draw(axes, theme.points)
            if not panel.is_map:
                _bound(axes, panel, runs)
                drawing.frame(axes, panel.x, panel.y or axes.get_ylabel(), grid="y")
            if panel.names:
                _name(axes, panel.names)
            drawing.above(axes, theme, panel.title, doubts)
        _level(column, drawn)
        _lettered(column, theme)
        if heading := _heading(runs) if title is None else title:
            size = 1.1 * theme.letters_pt
            lines = wrap(heading, int(TITLED * theme.width_in / (drawing.LETTER_IN * size)))
            figure.suptitle("\n".join(lines), fontsize=size)
        if any(panel.is_map for panel in drawn):  # the layout of a colour bar changes a little each time
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
    return figure


def _bound(axes: Any, panel: Drawn, runs: Sequence[Run]) -> None:
    """Panels over time show the measured time; only the state of a policy may be negative."""
    if axes.get_yscale() == "linear":
        lowest = float(axes.dataLim.ymin)
        axes.set_ylim(bottom=lowest if -math.inf < lowest < 0 else 0.0)
        axes.locator_params(axis="y", nbins=5, min_n_ticks=3)
    if panel.is_over_time:
        documents = [document for run in runs for document in run.documents]
        axes.set_xlim(min(each["warmup_s"] for each in documents), max(each["duration_s"] for each in documents))


def _name(axes: Any, names: Sequence[str]) -> None:
    """Names instead of numbers below an axis; aslant where they would touch each other."""
    is_long = sum(map(len, names)) > LETTERS
    axes.set_xticks(range(1, len(names) + 1), names, rotation=30 if is_long else 0, ha="right" if is_long else "center")


LETTERS = 40
"""Letters of names that fit below the narrowest axis."""


def _level(column: Sequence[Any], drawn: Sequence[Drawn]) -> None:
    """Panels that show the same of several runs or ports have the same axis."""
    alike = [axes for axes, panel in zip(column, drawn, strict=True) if panel.title and not panel.is_map]
    highest = max((axes.get_ylim()[1] for axes in alike), default=0.0)
    for axes in alike:
        axes.set_ylim(top=highest)


def _lettered(column: Sequence[Any], theme: Theme) -> None:
    """Give each of several panels a letter, by which a text can name it."""
    for number, axes in enumerate(column if len(column) > 1 else ()):
        style = {"fontsize": 1.1 * theme.letters_pt, "fontweight": "bold", "va": "bottom", "ha": "right"}
        place = {
            "xycoords": "axes fraction",
            "xytext": (-0.6 * theme.letters_pt, 0.6 * theme.letters_pt),
            "textcoords": "offset points",
        }
        axes.annotate(chr(ord("a") + number % 26), (0, 1), **place, **style)


def _heading(runs: Sequence[Run]) -> str:
    titles = {run.title for run in runs}
    return titles.pop() if len(titles) == 1 else ""


def written(figure: Any, kind: str) -> bytes:
    """A figure as a file of this kind; the same figure gives the same octets."""
    import matplotlib as mpl

    metadata: dict[str, tuple[str, ...]] = {
        "svg": ("Creator", "Date", "Format", "Type"),
        "png": ("Software",),
        "pdf": ("Creator", "Producer", "CreationDate"),
    }
    data = io.BytesIO()
    with mpl.rc_context(drawing.plain_style()):
        figure.savefig(data, format=kind, dpi=DPI, metadata=dict.fromkeys(metadata[kind]))
    return drawing.finished(data.getvalue(), kind)
