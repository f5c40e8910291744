"""What can go wrong. All of it is a `PushoutError`, and besides what Python calls such a mistake."""

from collections.abc import Callable
from dataclasses import dataclass

from pushout.excerpt import excerpt, fitted, masked, printable


@dataclass(frozen=True)
class Argument:
    """A piece of a message: an argument, named as functions name it; the command line has an option for it."""

    name: str


class PushoutError(Exception):
    """What all exceptions of Pushout have in common: `except pushout.PushoutError` catches every one.

    Its arguments are the pieces of its message: texts, arguments (`Argument`), and errors that it tells more about.
    """

    def told(self, named: Callable[[str], str]) -> str:
        """The message for people who know arguments by other names: `named` gives theirs."""
        return fitted(printable(masked(self._words(named))))

    def _words(self, named: Callable[[str], str]) -> str:
        return "".join(_told(piece, named) for piece in self.args)

    def __str__(self) -> str:
        return self.told(str)


def _told(piece: object, named: Callable[[str], str]) -> str:
    if isinstance(piece, Argument):
        return named(piece.name)
    return piece.told(named) if isinstance(piece, PushoutError) else str(piece)


class ScenarioError(PushoutError, ValueError):
    """A scenario that cannot be read or run: the message names file, line and column, the value and what is allowed."""

    point: int | None = None
    """Of several variations of a scenario the one that is wrong."""
    set: int | None = None
    """The override that is wrong, if it is not the file; the message begins with it,"""
    figure: str | None = None
    """or the path of a figure that is not there,"""
    engine: bool = False
    """or whether it is the engine."""

    def _words(self, named: Callable[[str], str]) -> str:
        """The message, with the name of the argument that the override was given in."""
        message = super()._words(named)
        return message if self.set is None else f"{named('set')} {message}"


class ScenarioNotFoundError(ScenarioError, FileNotFoundError):
    """A scenario's file, or another that is written like one, that is not there."""


class InternalError(PushoutError, RuntimeError):
    """A mistake in the simulator itself: the message says what and where, and the scenario and seed that led there."""

    def told(self, named: Callable[[str], str]) -> str:
        """The message in full, however long: it is for a report."""
        return self._words(named)


class MissingExtraError(PushoutError, ImportError):
    """A library that an extra of the package brings and that is not installed; the message says how to install it."""

    def __init__(self, message: str, library: str = "") -> None:
        super().__init__(message)
        self.name = library


class FigureError(PushoutError, KeyError):
    """A path that leads to nothing in a document, and why."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(path, why)
        self.why = why

    def _words(self, named: Callable[[str], str]) -> str:
        return f"no figure {excerpt(self.args[0])}: {self.why}"


class QuestionError(PushoutError, ValueError):
    """A question that cannot be asked as it is: the message says what to change."""


class DesignError(QuestionError):
    """A sweep file that cannot be read: what is wrong, and where in it; `key` if with the key, not with its value."""

    def __init__(self, message: str, at: tuple[str | int, ...] = (), *, key: bool = False) -> None:
        super().__init__(message)
        self.at = at
        self.key = key
