"""Checksums of the files of a folder, in the format of `sha256sum`: what a disk has changed is not shown as right."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from pushout import kept
from pushout.cache import LARGEST, write

SUMS = "SHA256SUMS"
"""The file with the checksums; `sha256sum --check SHA256SUMS` reads it."""

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


class DamagedError(ValueError):
    """A file is not the one that was written; the message says why."""


def put(folder: Path, files: Mapping[str, str]) -> None:
    """Write the checksums of these texts, whose files are in the folder."""
    lines = (f"{_digest(text.encode())}  {name}\n" for name, text in files.items())
    write(folder / SUMS, "".join(lines))


def content(path: Path, *, alone: bool = False) -> bytes:
    """Read a file of a folder of results; `alone` allows one without checksums beside it, as a user has saved it."""
    data = kept.content(path, LARGEST)
    try:
        listed = kept.content(path.parent / SUMS, LARGEST).decode("ascii", "replace")
    except FileNotFoundError:
        if alone:
            return data
        raise DamagedError(
            f"has no {SUMS} beside it, so it cannot be checked: run it again with this version"
        ) from None
    found = filter(None, map(_LINE.fullmatch, listed.splitlines()))
    known = {line[2]: line[1] for line in found}
    if path.name not in known and alone:
        return data
    if known.get(path.name) != _digest(data):
        raise DamagedError(f"is not what {SUMS} says that was written: run it again")
    return data


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
