"""Policies in files of Python."""

import inspect
import re
import runpy
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pushout import _core
from pushout.errors import PolicyError, PushoutError
from pushout.excerpt import excerpt, place, quoted
from pushout.policy.controls import congestion
from pushout.policy.program import Program, admission
from pushout.policy.queues import pushout, scheduler


def read(path: str) -> Program:
    """Run a file of Python and return the policy that it defines; `FILE.py:NAME` chooses one of several."""
    is_choice = ":" in path and not path.endswith(".py")
    file, name = path.rsplit(":", 1) if is_choice else (path, "")
    found = _policies(file)
    if name:
        if name in found:
            return found[name]
        raise PolicyError(f"{place(file)}: no policy {quoted(name)} (it has: {', '.join(found) or 'none'})")
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise PolicyError(f"{place(path)}: the file must define a policy: a function with @policy.admission()")
    first = next(iter(found))
    raise PolicyError(f"{place(path)}: name one of its policies, as in {path}:{first} (it has: {', '.join(found)})")


def _policies(path: str) -> dict[str, Program]:
    """The policies of a file, by name."""
    try:
        is_file = Path(path).is_file()
    except (OSError, ValueError):  # a NUL, or a name that is too long
        is_file = False
    if not is_file:
        name = place(path) or "the empty path"
        raise PolicyError(f"{name}: no such file; a policy is a file of Python, as in my_epd.py")
    try:
        values = runpy.run_path(path)
    except SyntaxError as error:
        raise PolicyError(f"{place(path)}:{error.lineno or 1}:{error.offset or 1}: {error.msg}") from None
    except PolicyError:
        raise  # it names file, line and column
    except PushoutError as error:
        raise PolicyError(f"{_where(path, error)}: {error}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise PolicyError(f"{_where(path, error)}: {_why(error)}") from None
    return {name: value for name, value in values.items() if isinstance(value, Program)}


def _where(path: str, error: BaseException) -> str:
    """Name the file, and the last of its lines that was running."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == path]
    return f"{place(path)}:{lines[-1]}" if lines else place(path)


def _why(error: BaseException) -> str:
    """Return how the file ended; the text of a foreign exception may itself fail."""
    if isinstance(error, SystemExit):
        return "it must not end the program, as sys.exit() does: define a policy and return"
    kind = type(error).__name__
    try:
        if meant := _argument(str(error)):
            return meant
        return f"running it raises {kind}: {excerpt(str(error), LONGEST)}"
    except Exception:
        return f"running it raises {kind}, whose text cannot be made"


DECORATORS: dict[str, Callable[..., Any]] = {
    "admission": admission,
    "scheduler": scheduler,
    "pushout": pushout,
    "congestion": congestion,
}

ARGUMENT = re.compile(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'.*")


def _argument(text: str) -> str:
    """Return the message about an argument that a decorator of this package does not have; else empty."""
    match = ARGUMENT.fullmatch(text)
    if not match or match[1] not in DECORATORS:
        return ""
    allowed = list(inspect.signature(DECORATORS[match[1]]).parameters)
    return f"policy.{match[1]}: {_core.unknown('argument', match[2], allowed)}"


LONGEST = 150
"""Characters that a message shows of a foreign exception."""
