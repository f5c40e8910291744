"""Finished runs as `pushout run --out` leaves them: read again to be drawn."""

import re
from pathlib import Path
from typing import Any

from pushout import kept
from pushout.cache import LARGEST
from pushout.document import Document
from pushout.errors import QuestionError
from pushout.excerpt import place
from pushout.parsing import parsed
from pushout.sums import DamagedError, content

RESULT = "result.json"


def is_finished(given: object) -> bool:
    """Return whether a name stands for a finished run: a folder with its result, or a file that looks like one."""
    if not isinstance(given, str | Path) or "\n" in str(given):
        return False
    path = Path(given)
    try:
        return (path / RESULT).is_file() or (path.suffix == ".json" and _looks_like_result(path))
    except (OSError, ValueError):
        return False


def _looks_like_result(path: Path) -> bool:
    """Return whether a file holds a result or has the name of one: a damaged result is no scenario."""
    if path.name == RESULT or re.fullmatch(r"replication-\d+\.json", path.name):
        return path.is_file()
    try:
        return _is_result(parsed(kept.content(path, LARGEST)))
    except (OSError, ValueError):
        return False


def _is_result(found: Any) -> bool:
    return isinstance(found, dict) and {"engine", "flows", "ports"} <= found.keys() and "seed" in found


def documents(given: str | Path) -> list[Document]:
    """The documents of the replications of a finished run; of a single file the one that it holds."""
    path = Path(given)
    replications = [file for file in path.glob("replication-*.json") if re.search(r"-\d+\.json$", file.name)]
    files = sorted(replications, key=lambda file: int(file.stem.rpartition("-")[2])) or [path / RESULT]
    folder = path.is_dir()
    found = [_read(file, alone=not folder) for file in (files if folder else [path])]
    if "seeds" in found[0]:
        raise QuestionError(
            f"{place(str(path))} has the means of several replications: name the folder with the files of each"
        )
    return found


def _read(file: Path, *, alone: bool) -> Any:
    """Read a result; one of a folder must be what was written there."""
    try:
        document = parsed(content(file, alone=alone))
    except DamagedError as error:
        raise QuestionError(f"{place(str(file))}: {error}") from None
    except OSError as error:
        raise QuestionError(f"{place(str(file))}: cannot be read: {error.strerror}") from None
    except ValueError:
        document = None
    if not _is_result(document):
        raise QuestionError(f"{place(str(file))} has no result of a run: pushout run --out writes one")
    return document
