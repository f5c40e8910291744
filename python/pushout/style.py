"""The style of all figures, of studies and of answers: colours, lines, markers and fonts.

Colours are placeholders until a figure is finished, because those of a page differ between light and dark mode.
"""

from typing import Any, NamedTuple

from pushout.literals import ThemeName

INK, FAINT, GROUND = "#010203", "#040506", "#070809"
"""Printed values are always hollow or dashed and in the colour of the text; colours are for measured values."""

VERDICTS = {"within": "#0a0b0c", "uncertain": "#0d0e0f", "differs": "#222324"}
"""The colours of verdicts, as in the tables."""

SERIES = ("#101112", "#131415", "#161718", "#191a1b", "#1c1d1e", "#1f2021", "#252627", "#28292a")

COLOURS = {
    INK: ("currentColor", "#1b1f24"),
    FAINT: ("var(--faint)", "#d8dee4"),
    GROUND: ("var(--ground)", "#ffffff"),
    VERDICTS["within"]: ("var(--within)", "#00598c"),
    VERDICTS["uncertain"]: ("var(--uncertain)", "#7a5c00"),
    VERDICTS["differs"]: ("var(--differs)", "#a33f00"),
    SERIES[0]: ("var(--series-1)", "#0072b2"),
    SERIES[1]: ("var(--series-2)", "#d55e00"),
    SERIES[2]: ("var(--series-3)", "#009e73"),
    SERIES[3]: ("var(--series-4)", "#aa4499"),
    SERIES[4]: ("var(--series-5)", "#3696d2"),
    SERIES[5]: ("var(--series-6)", "#b8860b"),
    SERIES[6]: ("var(--series-7)", "#7a5240"),
    SERIES[7]: ("var(--series-8)", "#6e6e6e"),
}
"""The colour for each placeholder: in the page, and in a separate file."""

DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.2, 1.2, 1.2)))
MARKERS = "os^vDPX"

FONT_PT = 9.5
"""Font size."""


class Theme(NamedTuple):
    """The size of pictures of runs for one purpose, and that of their letters."""

    width_in: float
    letters_pt: float

    @property
    def panel_in(self) -> float:
        """The height of a panel: room for its letters, and the rest in proportion to its width."""
        return 0.11 * self.letters_pt + 0.17 * self.width_in

    @property
    def points(self) -> int:
        """Return the number of points of a curve that a reader can distinguish across a picture."""
        return int(60 * self.width_in)


THEMES: dict[ThemeName, Theme] = {"paper": Theme(7.0, 8.0), "slides": Theme(10.0, 15.0)}
"""For a page of a paper, across both columns (one column: 3.5 inches), and for slides."""

NARROWEST_IN, WIDEST_IN = 2.5, 40.0
"""Widths between which pictures can be drawn."""


def adaptive(svg: str) -> str:
    """Return a drawing whose colours follow the page that it is part of, light or dark."""
    for variable, plain in COLOURS.values():
        svg = svg.replace(plain, variable)
    return svg


def style(title: str) -> Any:
    """Return the Matplotlib settings of every figure, with placeholder colours."""
    clear = dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none")
    ink = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK)
    letters = {"font.size": FONT_PT, "font.family": "sans-serif", "text.parse_math": False}
    text = {"svg.fonttype": "none", "svg.hashsalt": title, **letters}
    spines = {"axes.spines.top": False, "axes.spines.right": False}
    lines = {"axes.axisbelow": True, "grid.color": FAINT, "grid.linewidth": 0.6, "hatch.linewidth": 0.7}
    return {**clear, **ink, **text, **spines, **lines}
