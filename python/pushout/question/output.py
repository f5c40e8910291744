"""Write results to a folder or an object store."""

import csv
import errno
import hashlib
import io
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from pushout import kept
from pushout.answer.columns import Columns
from pushout.cache import build, discard, sweep_up, write
from pushout.excerpt import masked
from pushout.extras import has, need

ROW_GROUP = 65_536

LOCK = ".lock"
"""The lock file of a folder; it stays, but is meaningless when no process holds its lock."""

LOCKLESS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
"""Error codes of file systems without locks."""


class Output:
    """A folder for results, or an object store that `pyarrow.fs` knows by its URI (`s3://bucket/folder?region=…`)."""

    def __init__(self, place: str | os.PathLike[str]) -> None:
        address = os.fspath(place)
        self.place = masked(address)
        """Its name in messages and files, without the secrets of an address."""
        self.local = None if "://" in address else Path(address)
        self.replaced: list[str] = []
        """The keys in which the question differs from the one answered in the folder before."""
        self._lock: BinaryIO | None = None
        if self.local is not None:
            self.local.mkdir(parents=True, exist_ok=True)
            return
        fs = need("pyarrow.fs", "writing to an object store")
        try:
            self._fs, self._base = fs.FileSystem.from_uri(address)
        except (ValueError, TypeError, OSError) as error:
            raise OSError(0, _first_line(error), self.place) from None
        if not self._base.strip("/"):
            raise OSError(0, "the address must name a bucket or folder, as in s3://BUCKET/FOLDER", self.place)

    def check(self, *names: str) -> None:
        """Refuse a folder whose lock or whose files of these names cannot be written, before anything else is."""
        if self.local is not None:
            kept.locked(self.local / LOCK).close()
            for name in names:
                kept.check(self.local / name)

    def claim(self, question: Iterable[object]) -> None:
        """Reserve a folder for one question until `release`: processes with the same question share it, others fail.

        The operating system releases a lock when its process ends, however it ends. The first process removes the
        temporary files of killed ones. Object stores and some network file systems have no locks.
        """
        if self.local is None:
            return
        self.release()
        self._lock = kept.locked(self.local / LOCK)
        mark = _mark(question)
        try:
            at_work = _shared(self._lock, mark, self._tidy)
        except ImportError:  # a system without fcntl
            self.release()
            return
        except OSError as error:
            self.release()
            if error.errno in LOCKLESS:
                return
            raise OSError(error.errno, error.strerror, str(self.local / LOCK)) from None
        if at_work != mark:
            self.release()
            why = "another question is being answered there; wait for it, or use another folder"
            raise OSError(errno.EBUSY, why, self.place)

    @contextmanager
    def claimed(self, question: Iterable[object]) -> Iterator[None]:
        """Reserve the folder for the length of a `with` block."""
        self.claim(question)
        try:
            yield
        finally:
            self.release()

    def release(self) -> None:
        """Release the folder."""
        if self._lock is not None:
            with suppress(OSError):  # on a full disk the unwritten mark is not needed
                self._lock.close()
            self._lock = None

    def tidy(self) -> None:
        """Remove the temporary files of killed processes, unless the folder is reserved."""
        if self.local is not None and not (self.local / LOCK).exists():
            self._tidy()
            return
        with suppress(OSError), self.claimed(["tidy"]):
            pass

    def _tidy(self) -> None:
        """Remove the temporary files of processes that were killed while they wrote."""
        assert self.local is not None  # noqa: S101
        for folder in (self.local, self.local / "cache", *self.local.glob("figures/*")):
            sweep_up(folder)

    def text(self, name: str, text: str) -> str:
        """Write a text and return its place."""
        return self.data(name, text.encode())

    def data(self, name: str, data: bytes) -> str:
        """Write octets and return their place."""
        if self.local is not None:
            write(self.local / name, data)
            return str(self.local / name)
        with self._open(name) as stream:
            stream.write(data)
        return self._full(name)

    def figure(self, name: str, figure: Any) -> list[str]:
        """Write a drawing as SVG, and as PNG for those who cannot use that; the places."""
        from pushout.answer.drawing import images

        return [self.data(f"{name}.{kind}", image) for kind, image in images(figure).items()]

    def rows(self, stem: str, columns: Columns) -> str:
        """Write a table as Parquet, or as CSV if Arrow is not installed, and return its place."""
        if has("pyarrow"):
            place, other = self.parquet(f"{stem}.parquet", columns), f"{stem}.csv"
        else:
            place, other = self._csv(f"{stem}.csv", columns), f"{stem}.parquet"
        if self.local is not None:  # the file of an earlier run in the other format
            discard(self.local / other)
        return place

    def parquet(self, name: str, columns: Columns) -> str:
        """Write a table as Parquet; the file gets its name when it is complete."""
        pq = need("pyarrow.parquet", "a Parquet file")
        options: dict[str, Any] = {"compression": "zstd", "version": "2.6", "write_page_checksum": True}
        with self._whole(name) as file, pq.ParquetWriter(file, columns.schema(), **options) as writer:
            for part in columns.parts(ROW_GROUP):
                writer.write_table(part.arrow(), row_group_size=ROW_GROUP)
        return self._full(name)

    def _csv(self, name: str, columns: Columns) -> str:
        """Write a table as CSV with a line of names; a missing value is an empty field, a list is JSON."""
        with self._whole(name) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="")
            csv.writer(text).writerows([list(columns), *columns.records()])
            text.flush()
            text.detach()
        return self._full(name)

    @contextmanager
    def _whole(self, name: str) -> Iterator[Any]:
        """Open a stream for a file that gets its name when it is complete."""
        with self._named(self._full(name)):
            if self.local is None:
                with self._open(name) as stream:
                    yield stream
                return
            draft = self.local / f".{name}.{os.getpid()}.{threading.get_ident()}"
            try:
                kept.check(self.local / name)
                with kept.draft(draft) as stream:
                    yield stream
                draft.replace(self.local / name)
            finally:
                discard(draft)

    @staticmethod
    @contextmanager
    def _named(place: str) -> Iterator[None]:
        """Shorten the long errors of Arrow and add the place, which they may lack."""
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror or _first_line(error), place) from None

    def _open(self, name: str) -> Any:
        try:
            if self._fs.type_name != "s3":
                self._fs.create_dir(self._base, recursive=True)
            return self._fs.open_output_stream(f"{self._base}/{name}")
        except OSError as error:
            raise OSError(error.errno, _first_line(error), self._full(name)) from None

    def _full(self, name: str) -> str:
        if self.local is not None:
            return str(self.local / name)
        head, _, query = self.place.partition("?")
        return f"{head.rstrip('/')}/{name}" + (f"?{query}" if query else "")


def _first_line(error: Exception) -> str:
    """Return the first line of an error of Arrow, without secrets: it may repeat an address."""
    return masked(str(error).splitlines()[0])


def _mark(question: Iterable[object]) -> str:
    """Hash a question and the simulator that answers it."""
    found = hashlib.sha256(build().encode())
    for part in question:
        found.update(repr(part).encode())
    return found.hexdigest()


def _shared(lock: BinaryIO, mark: str, alone: Callable[[], None]) -> str:
    """Take a shared lock and return the mark in the file: this one if no other process holds the lock.

    `alone` is called while no other process can take it.
    """
    import fcntl

    with suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        alone()
        lock.truncate(0)
        lock.write(mark.encode())
        lock.flush()
    # Another process may have written its mark between the two locks, so read it again.
    fcntl.flock(lock, fcntl.LOCK_SH)
    lock.seek(0)
    return lock.read(2 * len(mark)).decode(errors="replace")
