"""Allowed values of arguments: for type checkers, and for the command line, which lists them without the simulator."""

from typing import Literal, get_args

Engine = Literal["fast", "reference"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

Drawing = Literal["line", "cloud", "heat", "cdf", "time"]

Search = Literal["auto", "bisect", "optuna"]
"""Search methods; the first chooses between the others."""
SEARCHES: tuple[Search, ...] = get_args(Search)

Panel = Literal[
    "queue",
    "drops",
    "marks",
    "pauses",
    "sojourn",
    "throughput",
    "cwnd",
    "state",
    "occupancy",
    "memory",
    "fct",
    "slowdown",
    "goodput",
    "topology",
]
"""Panels of a picture of a run."""
PANELS: tuple[Panel, ...] = get_args(Panel)

ThemeName = Literal["paper", "slides"]
THEME_NAMES: tuple[ThemeName, ...] = get_args(ThemeName)

FORMATS = ("png", "svg", "pdf")
"""Files that a picture can be, by the ending of their names."""
