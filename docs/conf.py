"""How the site is built: `make docs`. Pages are Markdown; those with a kernel are run while they are built."""

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "python"))

from docutils import nodes  # noqa: E402
from sphinx.errors import ConfigError  # noqa: E402

from pushout import _core  # noqa: E402
from pushout.generate import findings, write_schemes  # noqa: E402
from pushout.study.prose import UNIT  # noqa: E402

if problems := findings.wrong():
    raise ConfigError("\n".join(problems))
write_schemes(ROOT)

project = "Pushout"
author = "The Pushout developers"
release = version = _core.VERSION

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["score.md"]
html_theme = "furo"
html_title = f"Pushout {release}"
html_static_path = ["static"]
html_css_files = ["tables.css"]
html_copy_source = False
html_show_copyright = False
PAGE = ROOT / "target" / "lab" / "lab.html"
html_extra_path = [str(PAGE)] if PAGE.is_file() else []
templates_path: list[str] = []

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_cache_path = str(ROOT / "target" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 900

autodoc_member_order = "bysource"
autodoc_typehints = "description"
suppress_warnings = ["mystnb.unknown_mime_type"]


def _as_restructured(_app: Any, _what: str, _name: str, _thing: Any, _options: Any, lines: list[str]) -> None:
    """Docstrings are Markdown, autodoc reads reStructuredText: code in single backticks, and indented blocks of it."""
    text = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", "\n".join(lines))
    text = re.sub(r"(^|\n\n)(?=    (?! |>>>))", r"\1::\n\n", text)
    lines[:] = text.split("\n")


def _unbroken(_app: Any, page: nodes.document) -> None:
    """No line breaks between a number and its unit, as in the report."""
    as_it_is = nodes.FixedTextElement | nodes.literal | nodes.math | nodes.raw
    for text in list(page.findall(nodes.Text)):
        if text.parent is not None and not isinstance(text.parent, as_it_is):
            text.parent.replace(text, nodes.Text(UNIT.sub("\N{NO-BREAK SPACE}", text)))


def _without_lab(_app: Any, page: nodes.document) -> None:
    """Leave only the words of links to the page of the lab, which has not been built."""
    for link in [raw for raw in page.findall(nodes.raw) if re.match(r"<a href=\"\S*lab\.html", raw.astext())]:
        end = next(raw for raw in link.parent.findall(nodes.raw) if raw.astext() == "</a>")
        link.parent.remove(end)
        link.parent.remove(link)


def setup(app: Any) -> None:
    """What Sphinx calls when it begins."""
    if PAGE.is_file():
        app.tags.add("lab")  # pages link to it
    else:
        app.connect("doctree-read", _without_lab)
    app.connect("doctree-read", _unbroken)
    app.connect("autodoc-process-docstring", _as_restructured)
