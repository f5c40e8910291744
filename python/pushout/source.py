"""Read scenarios from files, texts or Python values.

Annotations stay texts, so that `help` shows the names of types.
"""

from __future__ import annotations

import errno
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, runtime_checkable

from pushout import shipped
from pushout.errors import Argument, ScenarioError, ScenarioNotFoundError
from pushout.excerpt import LONGEST_PATH, excerpt, place, quoted
from pushout.limits import DEEPEST

Overrides = Mapping[str, Any] | Iterable[str]
"""`{"flows.transport.mss": 9140}` or `["flows.transport.mss=9140"]`; in a mapping a policy may be a name."""

SIZE_LIMIT = 16 * 2**20
"""Largest size of a file in bytes; a larger one is rejected as a mistake."""

QUOTED = (".toml", ".json")
"""Suffixes of files of which messages quote a line."""

MARK = "\ufeff"
"""The byte order mark, which may begin a text once."""


class Source(NamedTuple):
    """The text of a scenario and its name in messages; without a name, messages give keys, not lines and columns."""

    text: str
    name: str


@runtime_checkable
class HasSource(Protocol):
    """An object that has the text of a scenario, as `pushout.Scenario`."""

    @property
    def source(self) -> Source: ...  # noqa: D102


ScenarioLike = str | os.PathLike[str] | Mapping[str, Any] | Source | HasSource
"""A path, the name of a shipped scenario, its text (TOML or JSON), its keys as a mapping, or a `Scenario`."""


def load(
    scenario: ScenarioLike,
    *,
    allow_files: Iterable[str | os.PathLike[str]] = (),
    progress: Callable[[float, float], None] | None = None,
    points: Iterable[Sequence[str]] = (),
) -> Source:
    """Read a scenario of any form; a string with a line break or an opening brace is a text, any other a path.

    Recordings that it replays and the list of its workload are read as well, and added to its text: regular files below
    the folder of the scenario (for a text or a mapping, below the current one) or below a folder of `allow_files`.
    `progress(packets, total)` is called while a long recording is read. Overrides of `points` may name others.
    """
    allowed = tuple(map(Path, allow_files))
    complete = partial(_complete, allowed=allowed, progress=progress, points=tuple(points))
    if isinstance(scenario, Source):
        return scenario
    if isinstance(scenario, Mapping):
        return complete(Source(json.dumps(known(scenario, "")), ""))
    if isinstance(scenario, str) and ("\n" in scenario or scenario.lstrip().startswith("{")):
        return complete(Source(utf_8(scenario.removeprefix(MARK), "a scenario"), "<text>"))
    if isinstance(scenario, HasSource):
        return scenario.source
    if not isinstance(scenario, str | os.PathLike):
        raise TypeError(f"the scenario must be a path, a text or a mapping of its keys, not {quoted(scenario)}")
    path = os.fspath(scenario)
    folder = Path() if path in ("", "-") else shipped.resolved(path).parent
    return complete(read(path), folder=folder)


def _complete(
    source: Source,
    allowed: Sequence[Path],
    folder: Path = Path(),
    progress: Callable[[float, float], None] | None = None,
    points: Sequence[Sequence[str]] = (),
) -> Source:
    """Add the files that a scenario names, whose paths are relative to a folder."""
    value = _naming(source)
    if not value:
        return source
    from pushout.recording import with_files

    return Source(with_files(source.text, value, folder, allowed, progress, points), source.name)


def _naming(source: Source) -> Mapping[str, Any]:
    """Return the keys of a scenario that may name files, without a reading of those that cannot."""
    if not any(word in source.text for word in ("replay", "workload", "sizes", "trace")):
        return {}
    from pushout import _core

    try:
        value: Mapping[str, Any] = _core.Document(*source).value()
    except ScenarioError:
        return {}  # what is wrong with it will be said when it is checked
    return value


def files(source: Source) -> list[str]:
    """Return the files that a scenario names."""
    value = _naming(source)
    if not value:
        return []
    from pushout.recording import named

    return named(value)


FOREIGN = {
    ".py": "a file of Python: a policy in it is given by --policy PLACE=FILE.py",
    **dict.fromkeys((".pcap", ".pcapng"), "a capture: pushout import makes a scenario of it"),
    **dict.fromkeys((".yaml", ".yml"), "YAML"),
    ".csv": "CSV: a scenario names a list of transfers in [workload], or a recording in a source",
}
"""Files of other kinds that are taken for scenarios, by their suffixes."""


def read(path: str, what: str = "scenario") -> Source:
    """Read a scenario file or another file of that format; `-` is the standard input."""
    if not path:
        raise ScenarioError(f"the path of a {what} must not be empty")
    try:
        if path == "-":
            if sys.stdin is None:
                raise ScenarioError(f"-: the standard input is closed, so it holds no {what}")
            return Source(_decode(_limited(sys.stdin.buffer, path, what), path), "<stdin>")
        path = os.fspath(shipped.resolved(path))
        with Path(path).open("rb") as file:
            if why := FOREIGN.get(Path(path).suffix.lower()):
                raise ScenarioError(f"{place(path)}: must be a {what} in TOML or JSON, not {why}")
            if os.fstat(file.fileno()).st_size > SIZE_LIMIT:
                raise _too_large(path, what)
            return Source(_decode(_limited(file, path, what), path), _name(path))
    except FileNotFoundError:
        raise _absent(path) from None
    except IsADirectoryError:
        raise ScenarioError(f"{place(path)}: is a directory, not a {what} file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, ScenarioError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ScenarioError(f"{place(path)}: cannot be read: {reason}") from None


def _name(path: str) -> str:
    """Name a file in messages: a link by its target if that is not named as a scenario, so that no line is quoted.

    `is_quotable` in `crates/core/src/language/message.rs` decides by this name.
    """
    target = Path(path).resolve()
    is_disguised = Path(path).suffix.lower() in QUOTED and target.suffix.lower() not in QUOTED
    return place(str(target) if is_disguised else path)


def _absent(path: str) -> ScenarioNotFoundError:
    """Raise the error for a missing file or a broken link."""
    link = Path(path).is_symlink()
    why = f"leads to {place(str(Path(path).readlink()))}, where no file is" if link else f"no such file{_meant(path)}"
    error = ScenarioNotFoundError(f"{place(path)}: {why}")
    error.errno, error.strerror, error.filename = errno.ENOENT, why, path
    return error


def _meant(path: str) -> str:
    """Suggest a shipped scenario for a path that does not exist."""
    names, stem = shipped.names(), Path(path).stem
    if shipped.is_name(path):
        from pushout import _core

        return f"; {_core.unknown('shipped scenario', path, names)}"
    return f"; the name of the shipped scenario is {stem}, without folder and suffix" if stem in names else ""


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
    """Return the text; refuse it if UTF-8 cannot encode it, as with arguments that are not valid text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ScenarioError(what, f" must be UTF-8 text, not {quoted(text)}") from None
    return text


def overrides(given: Overrides) -> list[str]:
    """Convert overrides to the form `key.path=value`."""
    if isinstance(given, Mapping):
        return [utf_8(f"{key}={_toml(known(value, str(key)))}", Argument("set")) for key, value in given.items()]
    if isinstance(given, str):
        raise TypeError('set must be {"key": value} or ["key=value"], not a single string')
    if not isinstance(given, Iterable):
        raise TypeError(f'set must be {{"key": value}} or ["key=value"], not {quoted(given)}')
    changes = list(given)
    if wrong := [change for change in changes if not isinstance(change, str)]:
        raise TypeError(f'set must contain strings "key=value", not {quoted(wrong[0])}')
    return [utf_8(change, Argument("set")) for change in changes]


def plain(value: Any) -> Any:
    """Convert numbers and arrays of NumPy, other number-like objects and mappings to Python's own types."""
    if isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    return value.tolist() if hasattr(value, "tolist") else value


POLICIES = ("admission", "pushout", "scheduler")
"""Keys whose values in Python may be names of policies, or tables as TOML writes them, as `compare` takes them."""


def _policy(text: str) -> Any:
    """Return the table of a policy that is given as a text; one that is no TOML is returned as it is."""
    if not text.lstrip().startswith("{"):
        return {"policy": text}
    import tomllib

    try:
        return tomllib.loads(f"it = {text}")["it"]
    except tomllib.TOMLDecodeError:
        return text


def known(value: Any, path: str, level: int = 0) -> Any:
    """Convert a value and everything in it to the types of JSON and TOML; messages call it `path`."""
    value = plain(value)
    if isinstance(value, str) and path.endswith(POLICIES) and path.rpartition(".")[2] in POLICIES:
        return _policy(value)
    where = f"{excerpt(path, LONGEST_PATH)}: " if path else ""
    if isinstance(value, Mapping | list | tuple) and level >= DEEPEST:
        raise ScenarioError(f"{where}tables and lists must be nested at most {DEEPEST} levels deep")
    if isinstance(value, Mapping):
        return {str(key): known(item, _join(path, str(key)), level + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [known(item, f"{path}[{index}]", level + 1) for index, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise ScenarioError(f"{where}the value must be a finite number, not {value}")
    if isinstance(value, bool | str | int | float):
        return value
    raise TypeError(f"{where}{quoted(value)} cannot be a value of a scenario{': leave the key out' * (value is None)}")


def _join(path: str, name: str) -> str:
    """Return the path of a key in a table; a name with a dot is quoted."""
    name = f'"{name}"' if "." in name else name
    return f"{path}.{name}" if path else name


def toml(value: Any, path: str = "") -> str:
    """Write a value as TOML on one line; messages call it `path`."""
    return _toml(known(value, path))


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | str) else repr(value)
