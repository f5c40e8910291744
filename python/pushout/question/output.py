"""Where results go: a folder, or an object store."""

import csv
import errno
import hashlib
import io
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from pushout.cache import build, discard, sweep_up, write
from pushout.excerpt import masked
from pushout.extras import has, need
from pushout.question.columns import Columns

ROW_GROUP = 65_536

LOCK = ".lock"
"""The file in a folder that says what is at work there; it stays, but means nothing once that has ended."""

LOCKLESS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
"""What file systems without locks answer."""


class Output:
    """Where results go: a folder, or whatever `pyarrow.fs` knows by a URI (`s3://bucket/folder?region=…`)."""

    def __init__(self, place: str | os.PathLike[str]) -> None:
        address = os.fspath(place)
        self.place = masked(address)
        """What messages and files call it: without the secrets of an address."""
        self.local = None if "://" in address else Path(address)
        self.replaced: list[str] = []
        """In what the question differs to which the folder had the answer before."""
        self._lock: TextIO | None = None
        if self.local is not None:
            self.local.mkdir(parents=True, exist_ok=True)
            return
        fs = need("pyarrow.fs", "writing to an object store")
        try:
            self._fs, self._base = fs.FileSystem.from_uri(address)
        except (ValueError, TypeError, OSError) as error:
            raise OSError(0, _first_line(error), self.place) from None
        if not self._base.strip("/"):
            raise OSError(0, "names no bucket or folder, as in s3://BUCKET/FOLDER", self.place)

    def claim(self, question: Iterable[object]) -> None:
        """Keep a folder for one question until `release`: whoever asks the same may join, who asks another is refused.

        The system's locks end with the process that holds them, however it ends. Whoever is the first sweeps up what
        processes left that were killed. Object stores, and some file systems of networks, have no locks.
        """
        if self.local is None:
            return
        self.release()
        self._lock = (self.local / LOCK).open("a+", encoding="utf-8")
        mark = _mark(question)
        try:
            at_work = _shared(self._lock, mark, self._tidy)
        except ImportError:  # a system whose locks are others
            self.release()
            return
        except OSError as error:
            self.release()
            if error.errno in LOCKLESS:
                return
            raise OSError(error.errno, error.strerror, str(self.local / LOCK)) from None
        if at_work != mark:
            self.release()
            why = "another question is being answered there: wait until it is done, or write to another folder"
            raise OSError(errno.EBUSY, why, self.place)

    @contextmanager
    def claimed(self, question: Iterable[object]) -> Iterator[None]:
        """The same for the length of a `with` block."""
        self.claim(question)
        try:
            yield
        finally:
            self.release()

    def release(self) -> None:
        """Let others have the folder."""
        if self._lock is not None:
            with suppress(OSError):  # what a full disk has no room for is not missed
                self._lock.close()
            self._lock = None

    def tidy(self) -> None:
        """Remove the drafts of killed processes unless a question is at work in the folder, without claiming it."""
        if self.local is not None and not (self.local / LOCK).exists():
            self._tidy()
            return
        with suppress(OSError), self.claimed(["tidy"]):
            pass

    def _tidy(self) -> None:
        """Remove the drafts of processes that were killed while they wrote."""
        assert self.local is not None  # noqa: S101
        for folder in (self.local, self.local / "cache", *self.local.glob("figures/*")):
            sweep_up(folder)

    def text(self, name: str, text: str) -> str:
        """Write a text; the place where it is."""
        return self.data(name, text.encode())

    def data(self, name: str, data: bytes) -> str:
        """Write octets; the place where they are."""
        if self.local is not None:
            write(self.local / name, data)
            return str(self.local / name)
        with self._open(name) as stream:
            stream.write(data)
        return self._full(name)

    def figure(self, name: str, figure: Any) -> list[str]:
        """Write a drawing as SVG, and as PNG for those who cannot use that; the places."""
        from pushout.question.drawing import images

        return [self.data(f"{name}.{kind}", image) for kind, image in images(figure).items()]

    def rows(self, stem: str, columns: Columns) -> str:
        """Write a table as Parquet, or as CSV where Arrow is not installed; the place."""
        if has("pyarrow"):
            place, other = self.parquet(f"{stem}.parquet", columns), f"{stem}.csv"
        else:
            place, other = self._csv(f"{stem}.csv", columns), f"{stem}.parquet"
        if self.local is not None:  # what an earlier run left in the other form
            discard(self.local / other)
        return place

    def parquet(self, name: str, columns: Columns) -> str:
        """Write a table as Parquet; until it is whole nothing has its name."""
        pq = need("pyarrow.parquet", "a Parquet file")
        options: dict[str, Any] = {"compression": "zstd", "version": "2.6"}
        with self._whole(name) as file, pq.ParquetWriter(file, columns.schema(), **options) as writer:
            for part in columns.parts(ROW_GROUP):
                writer.write_table(part.arrow(), row_group_size=ROW_GROUP)
        return self._full(name)

    def _csv(self, name: str, columns: Columns) -> str:
        """Write a table as CSV with a line of names; nothing is an empty field, a list is JSON."""
        with self._whole(name) as file:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="")
            csv.writer(text).writerows([list(columns), *columns.records()])
            text.flush()
            text.detach()
        return self._full(name)

    @contextmanager
    def _whole(self, name: str) -> Iterator[Any]:
        """A stream for a file that has its name when it is whole, not before."""
        with self._named(self._full(name)):
            if self.local is None:
                with self._open(name) as stream:
                    yield stream
                return
            draft = self.local / f".{name}.{os.getpid()}.{threading.get_ident()}"
            try:
                with draft.open("wb") as stream:
                    yield stream
                draft.replace(self.local / name)
            finally:
                discard(draft)

    @staticmethod
    @contextmanager
    def _named(place: str) -> Iterator[None]:
        """Arrow tells what is wrong at length, but not always where."""
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
    """What Arrow says first; it may repeat an address."""
    return masked(str(error).splitlines()[0])


def _mark(question: Iterable[object]) -> str:
    """What stands for a question, answered by this simulator."""
    found = hashlib.sha256(build().encode())
    for part in question:
        found.update(repr(part).encode())
    return found.hexdigest()


def _shared(lock: TextIO, mark: str, alone: Callable[[], None]) -> str:
    """Take a lock together with others; the mark of what is at work: this one if no other process has the lock.

    `alone` is called while none of the others can take it.
    """
    import fcntl

    with suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        alone()
        lock.truncate(0)
        lock.write(mark)
        lock.flush()
    # Between the two locks somebody else may have been alone: what counts is what stands there now.
    fcntl.flock(lock, fcntl.LOCK_SH)
    lock.seek(0)
    return lock.read()
