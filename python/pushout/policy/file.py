"""Policies in files of Python."""

import runpy
from pathlib import Path

from pushout.errors import PolicyError, PushoutError
from pushout.excerpt import place, quoted
from pushout.policy.program import Program


def read(path: str) -> Program:
    """Run a file of Python and return the policy that it defines; `FILE.py:NAME` chooses one of several."""
    file, colon, name = path.rpartition(":") if not path.endswith(".py") else (path, "", "")
    found = _policies(file if colon else path)
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
    if not Path(path).is_file():
        raise PolicyError(f"{place(path)}: no such file; a policy is a file of Python, as in my_epd.py")
    try:
        values = runpy.run_path(path)
    except PushoutError:
        raise
    except SyntaxError as error:
        raise PolicyError(f"{place(path)}:{error.lineno}:{error.offset}: {error.msg}") from None
    except Exception as error:
        raise PolicyError(f"{place(path)}: running it raises {type(error).__name__}: {error}") from None
    return {name: value for name, value in values.items() if isinstance(value, Program)}
