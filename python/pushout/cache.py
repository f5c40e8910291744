"""A cache of results, addressed by scenario, seed and simulator."""

import errno
import hashlib
import json
import os
import re
import threading
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

from pushout import _core, kept
from pushout.document import Document
from pushout.parsing import parsed

LARGEST = 2**31
"""Size of a file in bytes above which Pushout has not written it."""


@cache
def build() -> str:
    """Fingerprint the simulator: any change of the compiled module invalidates old results."""
    return hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()


@lru_cache(maxsize=16)
def digest(canonical: str) -> str:
    """Hash a scenario; cached, because many seeds in a row use the same one."""
    return hashlib.sha256(canonical.encode()).hexdigest()


class Cache:
    """A folder of results; each is written to a temporary file and then renamed, so it is complete or absent.

    Each has a digest of its content and its path: a result that the disk has corrupted counts as absent.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, canonical: str, seed: int) -> Path:
        """Return the path of the result of a scenario (canonical JSON) with a seed."""
        identity = json.dumps([build(), digest(canonical), seed])
        return self.folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:40]}.json"

    def __contains__(self, path: Path) -> bool:
        """Return whether a path holds a result; a damaged file counts as absent."""
        try:
            return bool(_report(path))
        except (FileNotFoundError, ValueError):
            return False
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.EFBIG):  # no result has been written there
                return False
            raise

    def load(self, path: Path) -> Document:
        """Read the result at a path."""
        document: Document = parsed(_report(path))
        return document

    def put(self, path: Path, report: str) -> None:
        """Store a result, which is JSON."""
        write(path, f"{_head(path, report)}{report}}}")


def _head(path: Path, report: str) -> str:
    """Return the header of a report: a digest of the report and of its file's name."""
    found = hashlib.sha256(f"{path.stem} {report}".encode()).hexdigest()
    return f'{{"digest": "{found}", "document": '


def _report(path: Path) -> str:
    """Read the report in a file; raise `ValueError` if it is not what was written."""
    text = kept.content(path, LARGEST).decode()
    report = text[len(_head(path, "")) : -1]
    if text != f"{_head(path, report)}{report}}}":
        raise ValueError(f"{path} is damaged")
    return report


def write(path: Path, content: str | bytes) -> None:
    """Replace a file atomically; a link at its place is refused."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        kept.check(path)
        with kept.draft(temporary) as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        temporary.replace(path)
    except OSError as error:  # users know the file, not its temporary copy
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        discard(temporary)


DRAFT = re.compile(r"\..+\.(json|parquet|csv|svg|png|pcapng|md|html)\.\d+\.\d+")
"""The names of temporary files, with the process and the thread that write them."""


def sweep_up(folder: Path) -> None:
    """Remove the temporary files of killed processes; call it only while no process uses the folder."""
    with suppress(FileNotFoundError, NotADirectoryError):
        for file in folder.iterdir():
            if DRAFT.fullmatch(file.name):
                discard(file)


def discard(temporary: Path) -> None:
    """Remove a temporary file; ignore failure, because the write has failed already."""
    with suppress(OSError):
        temporary.unlink(missing_ok=True)
