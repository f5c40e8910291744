"""The exceptions of Pushout. Each is a `PushoutError` and a subclass of the built-in exception that fits."""

from collections.abc import Callable
from typing import NamedTuple

from pushout.excerpt import excerpt, fitted, masked, printable


class Argument(NamedTuple):
    """A piece of a message: the name of a function's argument, which the command line shows as an option."""

    name: str


class PushoutError(Exception):
    """The base of all exceptions of Pushout: `except pushout.PushoutError` catches every one.

    Its arguments are the pieces of its message: texts, arguments (`Argument`) and inner errors.
    """

    def worded(self, named: Callable[[str], str]) -> str:
        """Return the message for a front end with other names of arguments: `named` translates them."""
        return fitted(printable(masked(self._words(named))))

    def _words(self, named: Callable[[str], str]) -> str:
        return "".join(_worded(piece, named) for piece in self.args)

    def __str__(self) -> str:
        return self.worded(str)


def _worded(piece: object, named: Callable[[str], str]) -> str:
    if isinstance(piece, Argument):
        return named(piece.name)
    return piece.worded(named) if isinstance(piece, PushoutError) else str(piece)


class ScenarioError(PushoutError, ValueError):
    """A scenario cannot be read or run: the message names file, line and column, the value and what is allowed."""

    point: int | None = None
    """The index of the invalid variation among several of a scenario."""
    set: int | None = None
    """The index of the invalid override, if the file is not at fault; the message begins with that override."""
    figure: str | None = None
    """Or: the path of a figure that does not exist."""
    engine: bool = False
    """Or: whether the engine is at fault."""
    further: tuple[str, ...] = ()
    """Messages of further mistakes of the scenario, at most nine, in the order of its text."""

    def _words(self, named: Callable[[str], str]) -> str:
        """Put the name of the override's argument before the message."""
        message = super()._words(named)
        return message if self.set is None else f"{named('set')} {message}"


class ScenarioNotFoundError(ScenarioError, FileNotFoundError):
    """The file of a scenario, or another file of that format, does not exist."""


class PolicyError(ScenarioError):
    """A policy in Python cannot be translated: the message names file, line and column, and what is allowed."""


class InternalError(PushoutError, RuntimeError):
    """A bug in the simulator: the message names the failure, its location, the scenario and the seed."""

    def worded(self, named: Callable[[str], str]) -> str:
        """Return the complete message, however long: it belongs in a bug report."""
        return self._words(named)


class MissingExtraError(PushoutError, ImportError):
    """A library of an extra is not installed; the message says how to install it."""

    def __init__(self, message: str, library: str = "") -> None:
        super().__init__(message)
        self.name = library


class FigureError(PushoutError, KeyError):
    """A document has no figure at this path; `why` gives the reason."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(path, why)
        self.why = why

    def _words(self, named: Callable[[str], str]) -> str:
        return f"no figure {excerpt(self.args[0])}: {self.why}"


class QuestionError(PushoutError, ValueError):
    """A question cannot be answered as asked: the message says what to change."""


class StatesError(QuestionError):
    """A search has met its limit of states: nothing is proved; the message says how many there can be."""


class DesignError(QuestionError):
    """A sweep file is invalid; the message says what is wrong and where; `key` if the key, not its value, is wrong."""

    def __init__(self, message: str, at: tuple[str | int, ...] = (), *, key: bool = False) -> None:
        super().__init__(message)
        self.at = at
        self.key = key
