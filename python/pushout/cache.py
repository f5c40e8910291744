"""Results that need not be computed again, addressed by what they are the result of."""

import hashlib
import json
import os
import re
import threading
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

from pushout import _core
from pushout.document import Document
from pushout.parsing import parsed


@cache
def build() -> str:
    """A fingerprint of the simulator: any change of the compiled module makes old results invalid."""
    return hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()


@lru_cache(maxsize=16)
def digest(canonical: str) -> str:
    """What stands for a scenario; many seeds ask for the same one after the other."""
    return hashlib.sha256(canonical.encode()).hexdigest()


class Cache:
    """A folder of results; each is written beside its place and then moved there, so it is whole or absent.

    Each has a digest of itself and of its place: one that a disk has changed since counts as absent.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, canonical: str, seed: int) -> Path:
        """Where the result of a scenario (canonical JSON) with a seed is kept."""
        identity = json.dumps([build(), digest(canonical), seed])
        return self.folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:40]}.json"

    def __contains__(self, path: Path) -> bool:
        """Whether a result is kept at a path; a damaged file counts as none."""
        try:
            return bool(_report(path))
        except (FileNotFoundError, ValueError):
            return False

    def load(self, path: Path) -> Document:
        """The result kept at a path."""
        document: Document = parsed(_report(path))
        return document

    def put(self, path: Path, report: str) -> None:
        """Keep a result, which is JSON."""
        write(path, f"{_head(path, report)}{report}}}")


def _head(path: Path, report: str) -> str:
    """What stands before a report, which the report and the name of its file must agree with."""
    found = hashlib.sha256(f"{path.stem} {report}".encode()).hexdigest()
    return f'{{"digest": "{found}", "document": '


def _report(path: Path) -> str:
    """The report in a file; `ValueError` if it is not as it was written."""
    text = path.read_bytes().decode()
    report = text[len(_head(path, "")) : -1]
    if text != f"{_head(path, report)}{report}}}":
        raise ValueError(f"{path} is damaged")
    return report


def write(path: Path, content: str | bytes) -> None:
    """Replace a file as a whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        draft.write_bytes(content if isinstance(content, bytes) else content.encode())
        draft.replace(path)
    except OSError as error:  # people know the file, not its draft
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        discard(draft)


DRAFT = re.compile(r"\..+\.(json|parquet|csv|svg|png|pcapng|md|html)\.\d+\.\d+")
"""What drafts of Pushout's files are called, with the process and the thread that wrote them."""


def sweep_up(folder: Path) -> None:
    """Remove the drafts that processes left which were killed; for a moment at which none is at work in the folder."""
    with suppress(FileNotFoundError, NotADirectoryError):
        for file in folder.iterdir():
            if DRAFT.fullmatch(file.name):
                discard(file)


def discard(draft: Path) -> None:
    """Remove what may be left of a draft; that it cannot be is no news where it could not be written."""
    with suppress(OSError):
        draft.unlink(missing_ok=True)
