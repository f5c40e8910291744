"""Words that an argument may be: for type checkers, and for the command line, which loads no simulator to know them."""

from typing import Literal, get_args

Engine = Literal["fast", "reference"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

Drawing = Literal["line", "cloud", "heat", "cdf", "time"]

Search = Literal["auto", "bisect", "optuna"]
"""Ways to search; the first decides between the others."""
SEARCHES: tuple[Search, ...] = get_args(Search)

Panel = Literal["queue", "drops", "throughput", "cwnd", "occupancy", "fct", "goodput"]
"""What a picture of a run shows."""
PANELS: tuple[Panel, ...] = get_args(Panel)

ThemeName = Literal["paper", "slides"]
THEME_NAMES: tuple[ThemeName, ...] = get_args(ThemeName)

FORMATS = ("png", "svg", "pdf")
"""Files that a picture can be, by the ending of their names."""
