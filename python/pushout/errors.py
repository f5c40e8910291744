"""What can go wrong. All of it is a `PushoutError`, and besides what Python calls such a mistake."""


class PushoutError(Exception):
    """What all exceptions of Pushout have in common: `except pushout.PushoutError` catches every one."""


class ScenarioError(PushoutError, ValueError):
    """A scenario that cannot be read or run: the message names file, line and column, the value and what is allowed."""

    point: int | None = None
    """Of several variations of a scenario the one that is wrong."""
    set: int | None = None
    """The override that is wrong, if it is not the file,"""
    figure: str | None = None
    """or the path of a figure that is not there,"""
    engine: bool = False
    """or whether it is the engine."""


class InternalError(PushoutError, RuntimeError):
    """A mistake in the simulator itself: the message says what and where, and the scenario and seed that led there."""


class FigureError(PushoutError, KeyError):
    """A path that leads to nothing in a document, and why."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(path, why)
        self.why = why

    def __str__(self) -> str:
        return f"no figure {self.args[0]}: {self.why}"


class QuestionError(PushoutError, ValueError):
    """A question that cannot be asked as it is: the message says what to change."""


class DesignError(QuestionError):
    """A sweep file that cannot be read: what is wrong, and where in it; `key` if with the key, not with its value."""

    def __init__(self, message: str, at: tuple[str | int, ...] = (), *, key: bool = False) -> None:
        super().__init__(message)
        self.at = at
        self.key = key
