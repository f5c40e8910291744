"""Finished runs as `pushout run --out` leaves them: read again to be drawn."""

import json
from pathlib import Path
from typing import Any

from pushout.document import Document
from pushout.errors import QuestionError
from pushout.excerpt import place

RESULT = "result.json"


def is_finished(given: object) -> bool:
    """Whether a name stands for a finished run: a folder with its result, or a file that looks like one."""
    if not isinstance(given, str | Path) or "\n" in str(given):
        return False
    path = Path(given)
    try:
        return (path / RESULT).is_file() or (path.suffix == ".json" and _is_result(path))
    except (OSError, ValueError):
        return False


def _is_result(path: Path) -> bool:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and {"engine", "flows", "ports"} <= found.keys() and "seed" in found


def documents(given: str | Path) -> list[Document]:
    """The documents of the replications of a finished run; of a single file the one that it holds."""
    path = Path(given)
    files = sorted(path.glob("replication-*.json"), key=lambda file: int(file.stem.rpartition("-")[2])) or [
        path / RESULT
    ]
    found = [_read(file) for file in (files if path.is_dir() else [path])]
    if "seeds" in found[0]:
        raise QuestionError(
            f"{place(str(path))} has the means of several replications: name the folder with the files of each"
        )
    return found


def _read(file: Path) -> Any:
    try:
        if not _is_result(file):
            raise QuestionError(f"{place(str(file))} has no result of a run: pushout run --out writes one")
        return json.loads(file.read_bytes())
    except OSError as error:
        raise QuestionError(f"{place(str(file))}: cannot be read: {error.strerror}") from None
