"""The files that come with Pushout: `scenarios`, `studies` and `benchmarks`.

In a clone they are folders of the repository. A wheel holds copies inside the package, which `packaging/backend.py`
makes. A scenario has the name of its file, and the name can be given wherever a path is expected.
"""

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

_PACKAGE = Path(__file__).parent
_CLONE = _PACKAGE.parent.parent

IS_WHEEL = not (_CLONE / "pyproject.toml").is_file()
"""Whether the package is a wheel's, not that of a clone."""

ROOT = _PACKAGE / "shipped" if IS_WHEEL else _CLONE
"""The folder that holds them."""

SCENARIOS, STUDIES, BENCHMARKS = (ROOT / name for name in ("scenarios", "studies", "benchmarks"))

PAGE = ROOT / "lab.html" if IS_WHEEL else ROOT / "target" / "lab" / "lab.html"
"""The page of the lab, if it has been built."""

LIMITS = ROOT / "limits.md" if IS_WHEEL else ROOT / "docs" / "limits.md"
"""The page about what is not modelled."""

_NAME = re.compile(r"[\w-]+")
"""Characters of a name; anything else is a path."""

SCHEMA = "#:schema "
"""The beginning of the line that names the schema of a scenario to an editor."""


class Shipped(NamedTuple):
    """A scenario, or a sweep of one, that comes with Pushout."""

    name: str
    kind: str
    title: str
    """Its subject, in a sentence."""
    file: Path

    def text(self, schema: str | None = None) -> str:
        """Return the text of the file with this schema in its first line, or without that line."""
        first, _, rest = self.file.read_text(encoding="utf-8").partition("\n")
        if not first.startswith(SCHEMA):
            return f"{first}\n{rest}"
        return rest if schema is None else f"{SCHEMA}{schema}\n{rest}"

    def neighbours(self) -> list["Shipped"]:
        """List the shipped files that it names and the sweeps that name it."""
        named = _texts(_table(self.file))
        return [each for each in listed() if each.file.name in named or self.file.name in _texts(_table(each.file))]


def listed() -> list[Shipped]:
    """List all shipped scenarios, in order."""
    found = []
    for file in (SCENARIOS / f"{name}.toml" for name in names()):
        table = _table(file)
        found.append(Shipped(file.stem, "sweep" if "scenario" in table else "scenario", table["title"], file))
    return found


def names() -> list[str]:
    """List their names, in order."""
    return sorted(file.stem for file in SCENARIOS.glob("*.toml"))


def resolved(path: str | os.PathLike[str], folder: Path = Path()) -> Path:
    """Find the file for a path or a name in a folder.

    A file of exactly this name comes first, then NAME.toml in the folder, then the shipped scenario.
    """
    given = folder / path
    try:
        if not is_name(path) or (given.exists() and not given.is_dir()):
            return given
        found = [file for file in (folder / f"{path}.toml", SCENARIOS / f"{path}.toml") if file.is_file()]
    except OSError:  # no file can have so long a name, which is reported where the file is opened
        return given
    return found[0] if found else given


def is_name(path: str | os.PathLike[str]) -> bool:
    """Return whether this could be the name of a shipped scenario: it has neither folder nor dot."""
    return _NAME.fullmatch(os.fspath(path)) is not None


def typed(path: Path) -> str:
    """Write a path as a user types it: shipped files by name or from the clone, others from the current folder."""
    real = path.resolve()
    if real.parent == SCENARIOS.resolve():
        return real.stem
    if ROOT == _CLONE and real.is_relative_to(ROOT.resolve()):
        return real.relative_to(ROOT.resolve()).as_posix()
    return os.path.relpath(real) if real.is_relative_to(Path.cwd()) else str(real)


def _table(file: Path) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(file.read_text(encoding="utf-8"))


def _texts(value: Any) -> set[str]:
    """Yield every string in a table."""
    if isinstance(value, str):
        return {value}
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {text for each in inner for text in _texts(each)}
