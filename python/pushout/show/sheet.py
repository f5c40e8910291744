"""The output of a command as HTML: tables are tables, lines are paragraphs."""

import io
from collections.abc import Sequence
from html import escape
from typing import Any

from rich.console import Console
from rich.text import Text

CLASSES = {"green": "good", "yellow": "fair", "red": "bad"}
"""The class of a colour on a page."""

COLUMNS = 10_000
"""Letters side by side: tables are never split, because a page scrolls them."""


class Sheet(Console):
    """A console that collects HTML; `columns.draw` and `columns.describe` give it whole tables."""

    def __init__(self) -> None:
        super().__init__(file=io.StringIO(), width=COLUMNS, highlight=False, markup=False, emoji=False)
        self._shown: list[str] = []

    def print(self, *objects: Any, style: Any = None, **_: Any) -> None:
        """Add a paragraph; how a terminal breaks it means nothing here."""
        text = " ".join(self._as_html(each) for each in objects).strip()
        if text:
            kind = f' class="{style}"' if style in ("dim", "bold") else ""
            self._shown.append(f"<p{kind}>{text}</p>")

    def table(self, heads: Sequence[tuple[str, bool]], rows: Sequence[Sequence[Text]], keys: int, title: str) -> None:
        """Add a table: of each column the head and whether numbers are right-aligned; `keys` columns name a row."""
        head = "".join(f'<th scope="col"{_aligned(right)}>{_head(text)}</th>' for text, right in heads)
        body = "\n".join(f"<tr>{self._as_row(heads, row, keys)}</tr>" for row in rows)
        caption = f"<caption>{escape(title)}</caption>" if title else ""
        table = f"<table>{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
        named = escape(title or _lines(next((text for text, _ in heads if text), "figures")).replace("<br>", " "))
        self._shown.append(f'<div class="wide" tabindex="0" role="region" aria-label="{named}">{table}</div>')

    def html(self) -> str:
        """Return all that was printed."""
        return "\n".join(self._shown)

    def _as_row(self, heads: Sequence[tuple[str, bool]], row: Sequence[Text], keys: int) -> str:
        cells = zip(heads, row, strict=False)
        return "".join(
            f'<th scope="row"{_aligned(right)}>{self._as_html(cell)}</th>'
            if index < keys
            else f"<td{_aligned(right)}>{self._as_html(cell)}</td>"
            for index, ((_, right), cell) in enumerate(cells)
        )

    def _as_html(self, given: Any) -> str:
        """Write a text as HTML, with what is bold, dim or coloured in it."""
        if not isinstance(given, Text):
            return _lines(str(given))
        whole = self.get_style(given.style)
        pieces = ((text, whole if style is None else whole + style) for text, style, _ in given.render(self) if text)
        return "".join(_styled(_lines(text), style) for text, style in pieces)


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _head(text: str) -> str:
    """Write the head of a column; a path may break at its dots on a narrow page."""
    return _lines(text).replace(".", ".<wbr>")


def _aligned(right: bool) -> str:
    return ' class="number"' if right else ""


def _styled(text: str, style: Any) -> str:
    """Mark a piece of a text up by its style."""
    text = f"<b>{text}</b>" if style.bold else text
    name = "dim" if style.dim else CLASSES.get(style.color.name if style.color else "", "")
    return f'<span class="{name}">{text}</span>' if name else text
