"""Convert the prose of a study, in Markdown with paragraphs, lists and small tables, to HTML."""

import re
from collections.abc import Collection
from functools import cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

SUBSCRIPT = re.compile(r"\b([A-Za-z]{1,3})_([a-z]{1,4})\b(?![^<]*>)")
"""A symbol with its index, such as max_p, outside tags."""

UNIT = re.compile(r"(?<=\d) (?=%|[µm]?s\b|[kMG]?b/s\b|±|\d{3}\b)|(?<=±) (?=\d)")
"""The space between a number and its unit, its sign, or its next three digits."""


SCROLL = '<div class="scroll" tabindex="0" role="region" aria-label="Table">'
"""The container of a table that may be wider than the page."""


def html(text: str, study: str = "", claims: Collection[str] = ()) -> str:
    """Convert Markdown to HTML; the id of a claim in backticks becomes a link. Markup in the text stays text."""
    found = _markdown().render(text).replace("<th>", '<th scope="col">')
    found = found.replace("<table>", SCROLL + "<table>").replace("</table>", "</table></div>")

    def link(match: re.Match[str]) -> str:
        claim = match[1]
        return f'<a href="#{anchor(study, claim)}">{claim}</a>' if claim in claims else match[0]

    parts = re.split(r"(<code>.*?</code>)", found)
    return "".join(
        re.sub(r"<code>(.*?)</code>", link, part) if part.startswith("<code>") else _set(part) for part in parts
    )


def symbols(text: str) -> str:
    """Convert a line of text to HTML, with indices and units typeset."""
    return _set(escape(text, quote=False))


def _set(text: str) -> str:
    """Lower the indices, and prevent line breaks within a number or between it and its unit or sign."""
    return UNIT.sub("\N{NO-BREAK SPACE}", SUBSCRIPT.sub(r"\1<sub>\2</sub>", text))


def anchor(study: str, claim: str) -> str:
    """Return the id of a claim in the page."""
    return f"{study}-claim-{claim}"


def first_sentence(text: str) -> str:
    """Return the first sentence of a note."""
    return re.split(r"(?<=[.?!])\s|\n\n", text.strip(), maxsplit=1)[0]


def asked(question: str) -> str:
    """Return the sentence of a text that asks; the first one if none does."""
    sentences = re.split(r"(?<=[.?!])\s+", question.strip())
    return next((sentence for sentence in sentences if sentence.endswith("?")), sentences[0])


def source(place: str) -> str:
    """Write out a place in a paper (the files abbreviate sec and app), without a line break before its number."""
    full = re.sub(r"\bsec\b", "section", re.sub(r"\bapp\b", "appendix", place))
    return re.sub(r"([a-z]) (?=[\dA-Z])", "\\1\N{NO-BREAK SPACE}", full)


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")
