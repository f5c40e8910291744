"""Where a scenario comes from: a file, a text, or values made in Python."""

import errno
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pushout import shipped
from pushout.errors import Argument, ScenarioError, ScenarioNotFoundError
from pushout.excerpt import LONGEST_PATH, excerpt, place, quoted
from pushout.limits import DEEPEST

Overrides = Mapping[str, Any] | Iterable[str]
"""`{"flows.transport.mss": 9140}` or `["flows.transport.mss=9140"]`."""

SIZE_LIMIT = 16 * 2**20
"""A larger file (bytes) is not a scenario but a mistake."""

MARK = "\ufeff"
"""The byte order mark with which a text may begin, once."""


class Source(NamedTuple):
    """The text of a scenario and the name that messages give it; without one they name keys, not lines and columns."""

    text: str
    name: str


Scenario = str | os.PathLike[str] | Mapping[str, Any] | Source
"""A path, the name of a shipped scenario, the text of one (TOML or JSON), its keys as a mapping, or a source."""


def load(scenario: Scenario) -> Source:
    """Read a scenario from wherever it is; a text is told from a path by its line breaks or its opening brace."""
    if isinstance(scenario, Source):
        return scenario
    if isinstance(scenario, Mapping):
        return Source(json.dumps(_known(scenario, "")), "")
    if isinstance(scenario, str) and ("\n" in scenario or scenario.lstrip().startswith("{")):
        return Source(utf_8(scenario.removeprefix(MARK), "a scenario"), "<text>")
    if not isinstance(scenario, str | os.PathLike):
        raise TypeError(f"a scenario is a path, a text, or a mapping of its keys; this is {quoted(scenario)}")
    return read(os.fspath(scenario))


def read(path: str, what: str = "scenario") -> Source:
    """Read a scenario file, or another one that is written like it; `-` is the standard input."""
    if not path:
        raise ScenarioError(f"the path of a {what} is empty")
    try:
        if path == "-":
            return Source(_decode(_limited(sys.stdin.buffer, path, what), path), "<stdin>")
        path = os.fspath(shipped.resolved(path))
        with Path(path).open("rb") as file:
            if os.fstat(file.fileno()).st_size > SIZE_LIMIT:
                raise _too_large(path, what)
            return Source(_decode(_limited(file, path, what), path), place(path))
    except FileNotFoundError:
        raise _absent(path) from None
    except IsADirectoryError:
        raise ScenarioError(f"{place(path)}: is a directory, not a {what} file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, ScenarioError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ScenarioError(f"{place(path)}: cannot be read: {reason}") from None


def _absent(path: str) -> ScenarioNotFoundError:
    """What is not there: the file, or what a link with its name leads to."""
    link = Path(path).is_symlink()
    why = f"leads to {place(str(Path(path).readlink()))}, where no file is" if link else f"no such file{_meant(path)}"
    error = ScenarioNotFoundError(f"{place(path)}: {why}")
    error.errno, error.strerror, error.filename = errno.ENOENT, why, path
    return error


def _meant(path: str) -> str:
    """What a name or a path that leads nowhere may stand for."""
    known, stem = shipped.names(), Path(path).stem
    if shipped.is_name(path):
        from pushout import _core

        return f"; {_core.unknown('shipped scenario', path, known)}"
    return f"; the shipped scenario is called {stem}, without folder and ending" if stem in known else ""


def _limited(file: BinaryIO, path: str, what: str) -> bytes:
    data = file.read(SIZE_LIMIT + 1)
    if len(data) > SIZE_LIMIT:
        raise _too_large(path, what)
    return data


def _too_large(path: str, what: str) -> ScenarioError:
    return ScenarioError(f"{place(path)}: larger than {SIZE_LIMIT >> 20} MiB, the limit for a {what}")


def _decode(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise ScenarioError(f"{place(path)}:{line}:{column}: not UTF-8 text") from None


def utf_8(text: str, what: str | Argument) -> str:
    """The text, unless UTF-8 cannot write it: the command line has such characters for octets that are no text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ScenarioError(what, f" must be UTF-8 text, not {quoted(text)}") from None
    return text


def overrides(given: Overrides) -> list[str]:
    """Bring overrides into the form `key.path=value`."""
    if isinstance(given, Mapping):
        return [utf_8(f"{key}={_toml(_known(value, str(key)))}", Argument("set")) for key, value in given.items()]
    if isinstance(given, str):
        raise TypeError('set takes {"key": value} or ["key=value"], not one text')
    if not isinstance(given, Iterable):
        raise TypeError(f'set takes {{"key": value}} or ["key=value"]; this is {quoted(given)}')
    changes = list(given)
    if wrong := [change for change in changes if not isinstance(change, str)]:
        raise TypeError(f'set takes {{"key": value}} or ["key=value"], and {quoted(wrong[0])} is no "key=value"')
    return [utf_8(change, Argument("set")) for change in changes]


def plain(value: Any) -> Any:
    """A number or an array of NumPy, whatever else answers like a number, or any mapping, as Python's own."""
    if isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    return value.tolist() if hasattr(value, "tolist") else value


def _known(value: Any, path: str, level: int = 0) -> Any:
    """A value at this level as one that JSON and TOML know, with all that is in it; `path` is what messages call it."""
    value = plain(value)
    where = f"{excerpt(path, LONGEST_PATH)}: " if path else ""
    if isinstance(value, Mapping | list | tuple) and level >= DEEPEST:
        raise ScenarioError(f"{where}tables and lists must be nested at most {DEEPEST} levels deep")
    if isinstance(value, Mapping):
        return {str(key): _known(item, _join(path, str(key)), level + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_known(item, f"{path}[{index}]", level + 1) for index, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise ScenarioError(f"{where}{value} is not a number")
    if isinstance(value, bool | str | int | float):
        return value
    raise TypeError(f"{where}{quoted(value)} cannot be a value of a scenario{': leave the key out' * (value is None)}")


def _join(path: str, name: str) -> str:
    """The path of a key in a table; the name is quoted if it holds a dot."""
    name = f'"{name}"' if "." in name else name
    return f"{path}.{name}" if path else name


def toml(value: Any, path: str = "") -> str:
    """Write a value as TOML on one line; `path` is what messages call it."""
    return _toml(_known(value, path))


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | str) else repr(value)
