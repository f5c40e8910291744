"""Words that an argument may be: for type checkers, and for the command line, which loads no simulator to know them."""

from typing import Literal, get_args

Engine = Literal["fast", "reference"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

Drawing = Literal["line", "cloud", "heat", "cdf", "time"]

Search = Literal["auto", "bisect", "optuna"]
"""Ways to search; the first decides between the others."""
SEARCHES: tuple[Search, ...] = get_args(Search)
