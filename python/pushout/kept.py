"""Open files without following links to other files.

A folder of results or a scenario may come from another person. A link in it must not make Pushout write to a file, or
read one, that the command does not name.
"""

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

FOLLOWED = "is a symbolic link, which Pushout does not follow here: remove it, or use another folder"
SHARED = "has another name (a hard link), so writing to it would change another file: remove it, or use another folder"

_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""Opening a FIFO without a writer must not wait."""


PART = 2**20
"""Bytes that are read at a time."""


def check(path: Path, *, in_place: bool = False) -> None:
    """Refuse to write at a path that leads elsewhere; `in_place` if the file is changed, not replaced."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    _check(found, path, in_place=in_place)


def _check(found: os.stat_result, path: Path, *, in_place: bool) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, FOLLOWED, str(path))
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        raise OSError(errno.EINVAL, f"must be a regular file, not {_kind(found.st_mode)}", str(path))
    if in_place and stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        raise OSError(errno.EMLINK, SHARED, str(path))


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a folder"))
    return next((name for holds, name in kinds if holds(mode)), "a device")


def folder(path: Path) -> Path:
    """Make a folder inside a folder of results; refuse a link to another place."""
    check(path)
    path.mkdir(parents=True, exist_ok=True)
    return path


def draft(path: Path) -> BinaryIO:
    """Create a temporary file; anything that stands at its path, as a link does, is removed first."""
    path.unlink(missing_ok=True)
    return path.open("xb")


def locked(path: Path) -> BinaryIO:
    """Open a lock file for reading and writing; refuse everything but a regular file of one name."""
    check(path, in_place=True)
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _NO_FOLLOW | _NO_WAIT, 0o666)
    except OSError as error:  # the link came between the check and here
        raise OSError(error.errno, FOLLOWED if error.errno == errno.ELOOP else error.strerror, str(path)) from None
    try:
        _check(os.fstat(handle), path, in_place=True)
    except OSError:
        os.close(handle)
        raise
    return os.fdopen(handle, "a+b")


def opened(path: Path) -> BinaryIO:
    """Open a regular file for reading; a FIFO, which would wait, and a device, which may never end, are refused."""
    handle = os.open(path, os.O_RDONLY | _NO_WAIT | getattr(os, "O_BINARY", 0))
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise OSError(errno.EINVAL, f"must be a regular file, not {_kind(mode)}", str(path))
    return os.fdopen(handle, "rb")


def content(path: Path, most: int) -> bytes:
    """Read a regular file of at most this size."""
    parts, size = [], 0
    with opened(path) as file:
        while part := file.read(PART):  # a single read of `most` bytes would reserve as many
            parts.append(part)
            size += len(part)
            if size > most:
                raise OSError(errno.EFBIG, f"larger than {most >> 20} MiB, the limit", str(path))
    return b"".join(parts)


def is_inside(path: Path, folders: Iterable[str | os.PathLike[str]]) -> bool:
    """Return whether a file lies below one of these folders once every link in its path is followed."""
    real = path.resolve()
    return any(real.is_relative_to(Path(each).resolve()) for each in folders)
